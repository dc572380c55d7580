"""The things a mechanism is made of, as plain immutable records that say of each field what it can
hold.

Every number in them may be a float, an expression of parameters, or, once symbols are put in, a
CasADi expression. A body's frame is the outer frame of the joint that carries it; a quantity
without a frame of its own is in body axes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from eslabon.answers import Answer, Column, Table, quantities_table
from eslabon.model.constraints import ClosureKind
from eslabon.model.fields import (
    Colour,
    Coordinates,
    Form,
    Intervals,
    Kind,
    MeshFile,
    Moments,
    PerCoordinate,
    Placement,
    Side,
    Size,
    Word,
    declare,
    per_velocity,
    quantity,
    reference,
    specs_of,
    vector_in,
)
from eslabon.model.joints import JointKind
from eslabon.model.poses import End, Number, Pose, Triple, symmetric_rows
from eslabon.numerics.scalars import Computed, matrix

GROUND = "ground"
Values = tuple[Number, ...]  # one number for each degree of freedom of a joint


class Item(Answer):
    """What all items share: where they stand in a description and what sentences call them."""

    section: ClassVar[str]
    word: ClassVar[str]
    room: ClassVar[str]  # the kinds of items that share their names
    stands: ClassVar[
        tuple[str, str] | None
    ]  # the fields with the body it stands on and where on it, if it has a place
    name: str

    def __init_subclass__(
        cls,
        section: str = "",
        word: str = "",
        room: str = "",
        stands: tuple[str, str] | None = None,
    ) -> None:
        if section:
            cls.section, cls.word, cls.room, cls.stands = section, word, room or word, stands

    def contents(self) -> Iterator[Table]:
        """Its fields with their units."""
        specs = specs_of(type(self)).items()
        cells = (x for name, spec in specs for x in spec.cells(name, self))
        yield quantities_table([(Column("name"), self.name), *cells])


@dataclass(frozen=True)
class Body(Item, section="bodies", word="body", room="body or frame"):
    """A rigid body: mass, centre of mass, and inertia about it as (Ixx, Iyy, Izz, Ixy, Ixz, Iyz),
    matrix entries."""

    name: str
    mass: Number = quantity("kg", minimum=0.0)
    com: Triple = vector_in("m")
    inertia: tuple[Number, ...] = declare(Moments(), (0.0,) * 6)

    def inertia_matrix(self) -> Computed:
        """The 3 x 3 inertia about the centre of mass, in body axes."""
        return matrix(symmetric_rows(self.inertia))


@dataclass(frozen=True)
class Joint(Item, section="joints", word="joint", room="joint or loop", stands=("parent", "at")):
    """A joint of the tree, from a parent body to the child it carries. Optional data have one value
    for each degree of freedom."""

    name: str
    kind: JointKind = declare(Kind(joints_only=True))
    parent: str = reference("body")
    child: str = reference("body")
    at: Pose = declare(Placement(), Pose())
    home: Values | None = declare(PerCoordinate(), None)
    limits: tuple[tuple[Number, Number], ...] | None = declare(Intervals(), None)
    velocity_limit: Values | None = per_velocity("rad/s", "m/s", minimum=0.0, angle=True)
    effort_limit: Values | None = per_velocity("N m", "N", minimum=0.0)
    viscous: Values | None = per_velocity("N m s/rad", "N s/m", minimum=0.0, unsaid=0.0)
    coulomb: Values | None = per_velocity("N m", "N", minimum=0.0, unsaid=0.0)
    stiffness: Values | None = per_velocity(
        "N m/rad", "N/m", minimum=0.0, unsaid=0.0, of_coordinates=True
    )
    rest: Values | None = per_velocity(
        "rad", "m", unsaid=0.0, beside="stiffness", of_coordinates=True, angle=True
    )
    motor_inertia: Values | None = per_velocity(
        "kg m²", "kg", minimum=0.0, unsaid=0.0, geared="kg m²"
    )
    gear_ratio: Values | None = per_velocity("", "rad/m", unsaid=1.0, beside="motor_inertia")

    @property
    def nq(self) -> int:
        return self.kind.nq

    @property
    def nv(self) -> int:
        return self.kind.nv


@dataclass(frozen=True)
class Loop(Item, section="loops", word="loop", room="joint or loop"):
    """A cut joint, or a constraint by itself: it holds the second end's frame in the first end's
    frame as its kind says."""

    name: str
    kind: ClosureKind = declare(Kind(joints_only=False))
    first: End = declare(Side())
    second: End = declare(Side())


@dataclass(frozen=True)
class Coupling(Item, section="couplings", word="coupling", room="joint or loop"):
    """A gear or mimic between two joints of one degree of freedom: joint = ratio * source + offset.

    Without a source it drives its joint: joint = offset, a function of the time `t`.
    """

    name: str
    joint: str = reference("joint")
    source: str | None = reference("joint", None)
    ratio: Number = quantity("", "m/rad", "rad/m", default=1.0, of=("joint", "source"))
    offset: Number = quantity("rad", "m", angle=True, of=("joint",))


@dataclass(frozen=True)
class Spring(Item, section="springs", word="spring"):
    """A spring-damper between a point of one body and a point of another, without load at its
    length."""

    name: str
    first: End = declare(Side(point=True))
    second: End = declare(Side(point=True))
    stiffness: Number = quantity("N/m", minimum=0.0)
    damping: Number = quantity("N s/m", minimum=0.0)
    length: Number = quantity("m", minimum=0.0)


@dataclass(frozen=True)
class Wrench(Item, section="wrenches", word="wrench", stands=("body", "at")):
    """A force and a moment on a body at one of its points, in the axes of the ground or of the
    body.

    Without values it is a place where the caller's own wrench enters, by this name.
    """

    name: str
    body: str = reference("body")
    at: Triple = vector_in("m")
    force: Triple | None = vector_in("N", None)
    moment: Triple | None = vector_in("N m", None)
    axes: str = declare(Word((GROUND, "body")), GROUND)

    @property
    def given(self) -> bool:
        """Whether its value comes from the caller."""
        return self.force is None and self.moment is None


@dataclass(frozen=True)
class Frame(Item, section="frames", word="frame", room="body or frame", stands=("body", "at")):
    """A named frame on a body."""

    name: str
    body: str = reference("body")
    at: Pose = declare(Placement(), Pose())


@dataclass(frozen=True)
class Mode(Item, section="modes", word="mode"):
    """A named configuration: the assembly mode that is meant, or any other worth a name. Joints
    that are left out stand at home."""

    name: str
    coordinates: tuple[tuple[str, Values], ...] = declare(Coordinates(), ())


@dataclass(frozen=True)
class Shape(Item, section="shapes", word="shape", stands=("body", "at")):
    """What a body looks like, or a part of it: it is drawn, and nothing else depends on it.

    `size` is, by kind, box: the lengths along x, y, z; cylinder and capsule: the radius, and the
    length along z (of a capsule between the centres of its ends); sphere: the radius; mesh: the
    scale along x, y, z of what is in the file. All stand with their middle at `at`, a mesh with its
    file's origin. `colour` is "#rrggbb", or "" for that of the drawing.
    """

    name: str
    body: str = reference("body")
    kind: str = declare(Form())
    size: tuple[Number, ...] = declare(Size())
    at: Pose = declare(Placement(), Pose())
    colour: str = declare(Colour(), "")
    file: str = declare(MeshFile(), "")


ITEMS: dict[str, type[Any]] = {
    kind.section: kind for kind in (Body, Joint, Loop, Coupling, Spring, Wrench, Frame, Mode, Shape)
}


@dataclass(frozen=True)
class Description:
    """All that a file says of a mechanism. Numbers may be expressions of the parameters. Its `repr`
    decides which compiled code it shares."""

    name: str
    gravity: Triple = (0.0, 0.0, -9.81)
    parameters: tuple[tuple[str, Number], ...] = ()
    bodies: tuple[Body, ...] = ()
    joints: tuple[Joint, ...] = ()
    loops: tuple[Loop, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    springs: tuple[Spring, ...] = ()
    wrenches: tuple[Wrench, ...] = ()
    frames: tuple[Frame, ...] = ()
    modes: tuple[Mode, ...] = ()
    shapes: tuple[Shape, ...] = field(default=(), repr=False)  # no number depends on them
    actuated: tuple[str, ...] = ()
    note: str = field(default="", compare=False)
