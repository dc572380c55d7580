"""Write a mechanism in code. Every reader ends here too, so a mistake is caught and worded in one
place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from eslabon.arguments import choice, text
from eslabon.errors import ModelError, format_value, located
from eslabon.model.constraints import ClosureKind
from eslabon.model.items import ITEMS, Coupling, Description, Item, Joint
from eslabon.model.joints import JointKind
from eslabon.model.model import Model
from eslabon.model.parameter_expressions import (
    Number,
    NumberLike,
    ParameterExpression,
    check_parameter_name,
    parameter,
)
from eslabon.model.parameter_units import number_with_unit
from eslabon.model.parsing import (
    AxisLike,
    LimitsLike,
    MomentsLike,
    NumbersLike,
    PoseLike,
    TripleLike,
    triple,
)
from eslabon.model.poses import ORIGIN
from eslabon.model.schema import check_name, make_item, references


class Builder:
    """A mechanism in the making.

    >>> import eslabon as es
    >>> b = es.Builder("pendulum", gravity=(0, -9.81, 0))
    >>> L = b.parameter("L", 0.5)
    >>> _ = b.body("rod", mass=1.0, com=(L / 2, 0, 0), inertia=(0, L**2 / 12, L**2 / 12))
    >>> _ = b.joint("q1", "revolute", "ground", "rod", axis="z")
    >>> b.build()
    <Mechanism pendulum: 1 body, 1 joint, 0 loops, 1 actuator>
    """

    def __init__(self, name: str, gravity: TripleLike = (0.0, 0.0, -9.81), note: str = "") -> None:
        with located("name"):
            self._name = check_name(name, "mechanism")
        with located("note"):
            self._note = text(note, "the note")
        with located("gravity"):
            self._gravity = triple(gravity, "gravity", "m/s²")
        self._parameters: dict[str, Number] = {}
        self._items: dict[str, list[Any]] = {section: [] for section in ITEMS}
        self._actuated: list[str] | None = None
        self._kinds: dict[str, JointKind] = {}  # of the joints
        # What was written of items that name a joint which came later: its units are checked then
        self._early: list[tuple[type[Item], str, Mapping[str, object], str]] = []

    def parameter(self, name: str, value: NumberLike) -> ParameterExpression:
        """A named number, or one defined by an expression of others; use what it returns, or its
        name in text.

        >>> import eslabon as es
        >>> b = es.Builder("rod")
        >>> L = b.parameter("L", 0.5)
        >>> _ = b.body("bar", mass=1.0, com=(L / 2, 0, 0)).joint("q", "revolute", "ground", "bar")
        >>> m = b.build()
        >>> m.body("bar").com, m.with_parameters(L=1.0).body("bar").com
        ((0.25, 0.0, 0.0), (0.5, 0.0, 0.0))
        """
        with located("parameters", str(name)):
            check_parameter_name(name)
            if name in self._parameters:
                raise ModelError(f"parameter '{name}' is given twice; names are unique.")
            self._parameters[name] = number_with_unit(value, f"parameter '{name}'")
        return parameter(name)

    def body(
        self,
        name: str,
        mass: NumberLike = 0.0,
        com: TripleLike = ORIGIN,
        inertia: MomentsLike | None = None,
    ) -> Self:
        """A body: `com` in body axes, `inertia` about the centre of mass as 3 numbers (the
        diagonal), as the 6 entries (Ixx, Iyy, Izz, Ixy, Ixz, Iyz) of the matrix, or as a 3x3
        matrix. The off-diagonal entries carry their sign: Ixy is minus the integral of x y dm. Left
        out, they are zero: a massless link between two joints is legal.

        >>> import eslabon as es
        >>> b = es.Builder("rod").body("bar", mass=1.0, com=(0.5, 0, 0), inertia=(0, 0.1, 0.1))
        >>> b.joint("q", "revolute", "ground", "bar").build().body("bar").mass
        1.0
        """
        return self.add("bodies", name, mass=mass, com=com, inertia=inertia)

    def joint(
        self,
        name: str,
        kind: str | JointKind,
        parent: str,
        child: str,
        at: PoseLike | None = None,
        axis: AxisLike | None = None,
        *,
        pitch: NumberLike | None = None,
        home: NumbersLike | None = None,
        limits: LimitsLike | None = None,
        velocity_limit: NumbersLike | None = None,
        effort_limit: NumbersLike | None = None,
        viscous: NumbersLike | None = None,
        coulomb: NumbersLike | None = None,
        stiffness: NumbersLike | None = None,
        rest: NumbersLike | None = None,
        motor_inertia: NumbersLike | None = None,
        gear_ratio: NumbersLike | None = None,
    ) -> Self:
        """A joint that carries `child` on `parent`; `at` is the pose of its inner frame on the
        parent: xyz, (xyz, rpy) or a 4x4 matrix. The optional data take one number, or one for each
        degree of freedom.

        >>> import eslabon as es
        >>> b = es.Builder("rod").body("bar", mass=1.0)
        >>> _ = b.joint("q", "revolute", "ground", "bar", axis="y", limits=(-1, 1))
        >>> b.build().joint("q").kind
        Revolute(axis=(0.0, 1.0, 0.0))
        """
        return self.add(
            "joints",
            name,
            kind=kind,
            parent=parent,
            child=child,
            at=at,
            axis=axis,
            pitch=pitch,
            home=home,
            limits=limits,
            velocity_limit=velocity_limit,
            effort_limit=effort_limit,
            viscous=viscous,
            coulomb=coulomb,
            stiffness=stiffness,
            rest=rest,
            motor_inertia=motor_inertia,
            gear_ratio=gear_ratio,
        )

    def loop(
        self,
        name: str,
        kind: str | ClosureKind,
        body_a: str,
        body_b: str,
        first: PoseLike | None = None,
        second: PoseLike | None = None,
        axis: AxisLike | None = None,
        *,
        pitch: NumberLike | None = None,
        length: NumberLike | None = None,
        angle: NumberLike | None = None,
        offset: NumberLike | None = None,
    ) -> Self:
        """A cut joint between two bodies, or a constraint that is no joint
        (`eslabon.model.closures`): `first` is the pose of its frame on `body_a`, `second` on
        `body_b`. `length` belongs to a distance, `angle` to a constant angle, `offset` to a point
        on a plane; they may depend on the time `t`.

        >>> import eslabon as es
        >>> b = es.Builder("rope").body("bar", mass=1.0, com=(1, 0, 0))
        >>> _ = b.joint("q", "revolute", "ground", "bar", home=0.5)
        >>> ends = {"first": (0, 2, 0), "second": (2, 0, 0)}
        >>> b.loop("rope", "distance", "ground", "bar", **ends, length=2.2).build().dof
        0
        """
        ends = {"first": {"body": body_a, "at": first}, "second": {"body": body_b, "at": second}}
        return self.add(
            "loops",
            name,
            kind=kind,
            axis=axis,
            pitch=pitch,
            length=length,
            angle=angle,
            offset=offset,
            **ends,
        )

    def couple(
        self,
        name: str,
        joint: str,
        source: str | None = None,
        ratio: NumberLike = 1.0,
        offset: NumberLike = 0.0,
    ) -> Self:
        """A gear or mimic: the coordinate of `joint` is `ratio` times that of `source` plus
        `offset`, which may depend on the time `t`; without a source it is `offset`, as `drive`
        says.

        >>> import eslabon as es
        >>> b = es.Builder("gears").body("big").body("small")
        >>> _ = b.joint("a", "revolute", "ground", "big").joint("b", "revolute", "ground", "small")
        >>> b.couple("mesh", "b", "a", ratio=-2.0).build().dof
        1
        """
        if source is None:
            return self.drive(name, joint, offset)
        return self.add("couplings", name, joint=joint, source=source, ratio=ratio, offset=offset)

    def drive(self, name: str, joint: str, motion: NumberLike) -> Self:
        """A driving constraint: the coordinate of `joint` is `motion`, an expression of the time
        `t` and of parameters.

        >>> import eslabon as es
        >>> b = es.Builder("fan").body("blade", mass=1.0, com=(0.1, 0, 0))
        >>> _ = b.joint("q", "revolute", "ground", "blade").drive("motor", "q", "0.3*sin(2*t)")
        >>> b.build().rheonomic
        True
        """
        return self._append(Coupling, name, {"joint": joint, "offset": motion}, "drive")

    def spring(
        self,
        name: str,
        body_a: str,
        body_b: str,
        first: TripleLike = ORIGIN,
        second: TripleLike = ORIGIN,
        stiffness: NumberLike = 0.0,
        damping: NumberLike = 0.0,
        length: NumberLike = 0.0,
    ) -> Self:
        """A spring-damper between the point `first` of `body_a` and the point `second` of `body_b`.

        >>> import eslabon as es
        >>> b = es.Builder("swing").body("bar", mass=1.0, com=(0.5, 0, 0))
        >>> _ = b.joint("q", "revolute", "ground", "bar")
        >>> _ = b.spring("s", "ground", "bar", (0, 1, 0), (1, 0, 0), stiffness=50.0, length=1.0)
        >>> b.build().springs[0].stiffness
        50.0
        """
        ends = {"first": {"body": body_a, "at": first}, "second": {"body": body_b, "at": second}}
        return self.add(
            "springs", name, **ends, stiffness=stiffness, damping=damping, length=length
        )

    def wrench(
        self,
        name: str,
        body: str,
        force: TripleLike | None = None,
        moment: TripleLike | None = None,
        at: TripleLike = ORIGIN,
        axes: str = "ground",
    ) -> Self:
        """A constant force and moment on a body at one of its points, in the axes of the ground or
        of the body. With neither force nor moment it is a place for a wrench given later, in the
        call, by this name.

        >>> import eslabon as es
        >>> b = es.Builder("lift", gravity=(0, 0, 0)).body("load", mass=2.0)
        >>> _ = b.joint("d", "prismatic", "ground", "load")
        >>> b.wrench("push", "load", force=(0, 0, 5)).build().inverse_dynamics([0.0], [0.0], [0.0])
        array([-5.])
        """
        return self.add("wrenches", name, body=body, force=force, moment=moment, at=at, axes=axes)

    def frame(self, name: str, body: str, at: PoseLike | None = None) -> Self:
        """A named frame on a body.

        >>> import eslabon as es
        >>> b = es.Builder("rod").body("bar", mass=1.0).joint("q", "revolute", "ground", "bar")
        >>> b.frame("tip", "bar", at=(1.0, 0, 0)).build().pose([0.0], "tip")[:3, 3]
        array([1., 0., 0.])
        """
        return self.add("frames", name, body=body, at=at)

    def shape(
        self,
        name: str,
        body: str,
        kind: str,
        size: NumbersLike | None = None,
        at: PoseLike | None = None,
        colour: str = "",
        file: str = "",
    ) -> Self:
        """What a body, or the ground, looks like in drawings: a "box" of the lengths (x, y, z), a
        "cylinder" or "capsule" of (radius, length) along z, a "sphere" of a radius, or a "mesh"
        from a `file` (STL, OBJ, DAE, PLY, ...), its size the scale. `at` is where its middle, or
        the origin of the file, stands on the body; `colour` is "#rrggbb", or a common name such as
        "orange".

        >>> import eslabon as es
        >>> b = es.Builder("pendulum").body("rod", mass=1.0)
        >>> _ = b.joint("q", "revolute", "ground", "rod", axis="y")
        >>> _ = b.shape("bob", "rod", "sphere", 0.05, at=(0, 0, -0.5), colour="#d55e00")
        >>> b.build().shapes[0].size
        (0.05,)
        """
        return self.add(
            "shapes", name, body=body, kind=kind, size=size, at=at, colour=colour, file=file
        )

    def mode(self, name: str, coordinates: Mapping[str, NumbersLike]) -> Self:
        """A named configuration, joint by joint; `guess=name` starts there. Joints that are left
        out stand at home.

        >>> import eslabon as es
        >>> b = es.Builder("rod").body("bar", mass=1.0).joint("q", "revolute", "ground", "bar")
        >>> b.mode("up", {"q": 1.5}).build().modes["up"]
        array([1.5])
        """
        return self.add("modes", name, coordinates=coordinates)

    def actuate(self, *joints: str) -> Self:
        """The joints that motors drive. Left out, a tree is driven at every moving joint and a
        closed chain at none; called without names, none is driven.

        >>> import eslabon as es
        >>> b = es.Builder("rod").body("bar", mass=1.0).joint("q", "revolute", "ground", "bar")
        >>> b.actuate("q").build().actuated
        ('q',)
        """
        for name in joints:
            with located("actuated"):
                if not isinstance(name, str):
                    raise ModelError(
                        f"actuate takes the names of joints, as in b.actuate('q1', 'q2'); it was given {format_value(name)}."
                    )
        self._actuated = [*(self._actuated or []), *joints]
        return self

    def describe(self) -> Description:
        """What has been said so far.

        >>> import eslabon as es
        >>> b = es.Builder("rod").body("bar", mass=1.0).joint("q", "revolute", "ground", "bar")
        >>> b.describe().name
        'rod'
        """
        while self._early:
            make_item(*self._early.pop(0), self._kinds)
        actuated = self._actuated
        if actuated is None:
            closed = self._items["loops"] or self._items["couplings"]
            actuated = [] if closed else [j.name for j in self._items["joints"] if j.nv]
        return Description(
            self._name,
            self._gravity,
            tuple(self._parameters.items()),
            actuated=tuple(actuated),
            note=self._note,
            **{kind: tuple(items) for kind, items in self._items.items()},
        )

    def build(self) -> Model:
        """The finished mechanism, checked."""
        return Model(self.describe()).warn()

    def add(self, section: str, name: str, **written: object) -> Self:
        """An item of a section with the keys that a file has for it; None is as good as nothing.

        >>> import eslabon as es
        >>> b = es.Builder("rod").add("bodies", "bar", mass="800 g")
        >>> b.joint("q", "revolute", "ground", "bar").build().body("bar").mass
        0.8
        """
        section = choice(section, "section", ITEMS)
        return self._append(ITEMS[section], name, written)

    def _append(
        self, item: type[Item], name: str, written: Mapping[str, object], word: str = ""
    ) -> Self:
        made = make_item(item, name, written, word, self._kinds)
        self._items[item.section].append(made)
        if isinstance(made, Joint):
            self._kinds[name] = made.kind
        elif any(of == "joint" and x not in self._kinds for _, of, x in references(made)):
            self._early.append((item, name, written, word))
        return self
