"""The things a mechanism is made of, as plain immutable records.

Every number in them may be a float, an expression of parameters, or, once symbols are put in, a CasADi expression.
A body's frame is the outer frame of the joint that carries it; a quantity without a frame of its own is in body axes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from eslabon.displays import displayed
from eslabon.model.constraints import ClosureKind
from eslabon.model.joints import JointKind
from eslabon.numerics.rotations import rotation_from_rpy
from eslabon.numerics.scalars import Array, matrix, vector

GROUND = "ground"

Number = Any  # float, ParameterExpression or casadi.SX
Triple = tuple[Number, Number, Number]
ORIGIN: Triple = (0.0, 0.0, 0.0)


@displayed
@dataclass(frozen=True)
class Pose:
    """Where a frame stands in another: a position, then roll, pitch and yaw about the fixed axes x, y, z."""

    position: Triple = ORIGIN
    rpy: Triple = ORIGIN

    def rotation(self) -> Array:
        """R = Rz(yaw) Ry(pitch) Rx(roll)."""
        return self._rotation

    @cached_property
    def _rotation(self) -> Array:
        made = rotation_from_rpy(self.rpy)
        if isinstance(made, np.ndarray):
            made.flags.writeable = False  # it is asked for again and again, and everybody is given the same
        return made

    def translation(self) -> Array:
        return vector(*self.position)


@displayed
@dataclass(frozen=True)
class Body:
    """A rigid body: mass, centre of mass, and inertia about it as (Ixx, Iyy, Izz, Ixy, Ixz, Iyz), matrix entries."""

    name: str
    mass: Number = 0.0
    com: Triple = ORIGIN
    inertia: tuple[Number, ...] = (0.0,) * 6

    def inertia_matrix(self) -> Array:
        """The 3 x 3 inertia about the centre of mass, in body axes."""
        xx, yy, zz, xy, xz, yz = self.inertia
        return matrix([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


Values = tuple[Number, ...]  # one number for each degree of freedom of a joint


@displayed
@dataclass(frozen=True)
class Joint:
    """A joint of the tree, from a parent body to the child it carries. Optional data have one value for each degree of freedom."""

    name: str
    kind: JointKind
    parent: str
    child: str
    at: Pose = Pose()
    home: Values | None = None
    limits: tuple[tuple[Number, Number], ...] | None = None
    velocity_limit: Values | None = None
    effort_limit: Values | None = None
    viscous: Values | None = None
    coulomb: Values | None = None
    stiffness: Values | None = None
    rest: Values | None = None
    motor_inertia: Values | None = None
    gear_ratio: Values | None = None

    @property
    def nq(self) -> int:
        return self.kind.nq

    @property
    def nv(self) -> int:
        return self.kind.nv


@displayed
@dataclass(frozen=True)
class End:
    """One side of a cut joint: a frame on a body."""

    body: str
    at: Pose = Pose()


@displayed
@dataclass(frozen=True)
class Loop:
    """A cut joint, or a constraint by itself: it holds the second end's frame in the first end's frame as its kind says."""

    name: str
    kind: ClosureKind
    first: End
    second: End


@displayed
@dataclass(frozen=True)
class Coupling:
    """A gear or mimic between two joints of one degree of freedom: joint = ratio * source + offset.

    Without a source it drives its joint: joint = offset, a function of the time `t`.
    """

    name: str
    joint: str
    source: str | None = None
    ratio: Number = 1.0
    offset: Number = 0.0


@displayed
@dataclass(frozen=True)
class Spring:
    """A spring-damper between a point of one body and a point of another, without load at its length."""

    name: str
    first: End
    second: End
    stiffness: Number = 0.0
    damping: Number = 0.0
    length: Number = 0.0


@displayed
@dataclass(frozen=True)
class Wrench:
    """A force and a moment on a body at one of its points, in the axes of the ground or of the body.

    Without values it is a place where the caller's own wrench enters, by this name.
    """

    name: str
    body: str
    at: Triple = ORIGIN
    force: Triple | None = None
    moment: Triple | None = None
    axes: str = GROUND

    @property
    def given(self) -> bool:
        """Whether its value comes from the caller."""
        return self.force is None and self.moment is None


@displayed
@dataclass(frozen=True)
class Frame:
    """A named frame on a body."""

    name: str
    body: str
    at: Pose = Pose()


@displayed
@dataclass(frozen=True)
class Shape:
    """What a body looks like, or a part of it: it is drawn, and nothing else depends on it.

    `size` is, by kind, box: the lengths along x, y, z; cylinder and capsule: the radius, and the length along z (of a capsule
    between the centres of its ends); sphere: the radius; mesh: the scale along x, y, z of what is in the file. All stand with
    their middle at `at`, a mesh with its file's origin. `colour` is "#rrggbb", or "" for that of the drawing.
    """

    name: str
    body: str
    kind: str
    size: tuple[Number, ...]
    at: Pose = Pose()
    colour: str = ""
    file: str = ""


@dataclass(frozen=True)
class Mode:
    """A named configuration: the assembly mode that is meant, or any other worth a name. Joints that are left out stand
    at home."""

    name: str
    coordinates: tuple[tuple[str, Values], ...] = ()


@dataclass(frozen=True)
class Description:
    """All that a file says of a mechanism. Numbers may be expressions of the parameters."""

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
    shapes: tuple[Shape, ...] = ()
    actuated: tuple[str, ...] = ()
    note: str = field(default="", compare=False)
