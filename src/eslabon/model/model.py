"""The mechanism: a description with its numbers put in. Immutable, and ignorant of every
algorithm."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import LOOKUP_ERRORS, floats, instance, mapping
from eslabon.errors import (
    InputError,
    ModelError,
    ModelWarning,
    format_value,
    suggest,
    user_stacklevel,
)
from eslabon.model.items import (
    GROUND,
    Body,
    Coupling,
    Description,
    Frame,
    Joint,
    Loop,
    Mode,
    Shape,
    Spring,
    Wrench,
)
from eslabon.model.memory import FrozenDict
from eslabon.model.parameter_expressions import (
    Number,
    substitute,
)
from eslabon.model.parametric import Parametric
from eslabon.model.schema import check_name
from eslabon.model.validation import (
    TIME,
    check_numbers,
    check_structure,
    implausible,
    tree_order,
    uses_time,
)
from eslabon.numerics.scalars import Expression

T = TypeVar("T")


class Model(Parametric[Description]):
    """An articulated system: bodies on a tree of joints, loops that close it, and all that acts on
    it.

    ``m.bodies[k]`` is the body that ``m.joints[k]`` carries, parents come before children, and
    ``q`` and ``v`` follow the joints. The numbers are those of the parameters' values;
    `with_parameters` gives another mechanism.
    """

    _called = "a mechanism"

    def __init__(
        self, description: Description, symbols: Mapping[str, Expression | float] | None = None
    ) -> None:
        ordered = description if symbols else tree_order(check_structure(description))
        self.__dict__.update(description=ordered, _symbols=dict(symbols or {}))
        if not symbols:
            check_numbers(self)

    # -- what it is made of ------------------------------------------------------------------------

    @classmethod
    def from_description(
        cls, description: Description, symbols: Mapping[str, Expression | float] | None = None
    ) -> Self:
        """The mechanism of a description, with CasADi symbols in place of some parameters' values.

        >>> import eslabon as es
        >>> m = es.load("five_bar")
        >>> es.Mechanism.from_description(m.description) == m
        True
        """
        instance(description, "description", Description, "that of a mechanism, as m.description")
        return cls(description, mapping(symbols, "symbols"))

    @cached_property
    def gravity(self) -> tuple[Any, ...]:
        """The acceleration of gravity, a vector in the ground's axes.

        >>> import eslabon as es
        >>> es.load("double_pendulum").gravity
        (0.0, -9.81, 0.0)
        """
        return substitute(self.description.gravity, self.values)

    @cached_property
    def bodies(self) -> tuple[Body, ...]:
        """The bodies, parents first: `bodies[k]` is carried by `joints[k]`.

        >>> import eslabon as es
        >>> [body.name for body in es.load("five_bar").bodies]
        ['link2', 'link3', 'link5', 'link4']
        """
        return substitute(self.description.bodies, self.values)

    @cached_property
    def joints(self) -> tuple[Joint, ...]:
        """The joints of the tree, parents first; `q` and `v` follow them.

        >>> import eslabon as es
        >>> [(joint.name, joint.kind.kind) for joint in es.load("cart_pole").joints]
        [('x', 'prismatic'), ('theta', 'revolute')]
        """
        return substitute(self.description.joints, self.values)

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """The loops: cut joints and other constraints between two bodies.

        >>> import eslabon as es
        >>> [(loop.name, loop.first.body, loop.second.body) for loop in es.load("five_bar").loops]
        [('tip', 'link3', 'link4')]
        """
        return substitute(self.description.loops, self.values)

    @cached_property
    def couplings(self) -> tuple[Coupling, ...]:
        """Gears, mimic joints and drives: one joint's coordinate given by another's, or by the
        time.

        >>> import eslabon as es
        >>> b = es.Builder("gears").body("big").body("small")
        >>> _ = b.joint("a", "revolute", "ground", "big").joint("b", "revolute", "ground", "small")
        >>> m = b.couple("mesh", "b", "a", ratio=-2.0).build()
        >>> [(coupling.joint, coupling.source, coupling.ratio) for coupling in m.couplings]
        [('b', 'a', -2.0)]
        """
        return substitute(self.description.couplings, self.values)

    @cached_property
    def springs(self) -> tuple[Spring, ...]:
        """Springs and dampers between points of two bodies.

        >>> import eslabon as es
        >>> [spring.name for spring in es.load("four_bar_spring").springs]
        ['diagonal']
        """
        return substitute(self.description.springs, self.values)

    @cached_property
    def wrenches(self) -> tuple[Wrench, ...]:
        """Wrenches that act on bodies: constant ones, and those that calls give as `external`.

        >>> import eslabon as es
        >>> b = es.Builder("lift").body("load", mass=2.0).joint("d", "prismatic", "ground", "load")
        >>> [wrench.name for wrench in b.wrench("push", "load", force=(0, 0, 5)).build().wrenches]
        ['push']
        """
        return substitute(self.description.wrenches, self.values)

    @cached_property
    def frames(self) -> tuple[Frame, ...]:
        """The named frames on bodies, such as a tool.

        >>> import eslabon as es
        >>> [(frame.name, frame.body) for frame in es.load("planar_3rrr").frames]
        [('centre', 'platform')]
        """
        return substitute(self.description.frames, self.values)

    @cached_property
    def shapes(self) -> tuple[Shape, ...]:
        """What bodies look like, where that was said: boxes, cylinders, capsules, spheres, meshes.

        >>> import eslabon as es
        >>> es.load("elbow").shapes
        ()
        """
        return substitute(self.description.shapes, self.values)

    @property
    def actuated(self) -> tuple[str, ...]:
        """The names of the actuated joints, in their order.

        >>> import eslabon as es
        >>> es.load("planar_3rrr").actuated
        ('theta1', 'theta4', 'theta6')
        """
        return self.description.actuated

    @cached_property
    def modes(self) -> Mapping[str, np.ndarray]:
        """The named configurations.

        >>> import eslabon as es
        >>> m = es.load("elbow").with_mode("bent", [0.0, 1.0])
        >>> m.modes["bent"]
        array([0., 1.])
        """
        made = {}
        for mode in substitute(self.description.modes, self.values):
            made[mode.name] = self.home()
            for joint, values in mode.coordinates:
                made[mode.name][self.coordinates[joint]] = values
            made[mode.name].flags.writeable = False
        return FrozenDict(made)

    def with_mode(self, name: str, q: ArrayLike) -> Self:
        """The mechanism with a configuration kept under a name: `guess=name` starts there, and
        `save` writes it.

        >>> import eslabon as es
        >>> m = es.load("five_bar")
        >>> other = m.assembly_modes([2.0, 1.0])[1]
        >>> m = m.with_mode("crossed", other)
        >>> m.assemble([2.1, 1.1], guess="crossed").round(3)
        array([ 2.1  , -2.899,  1.1  ,  2.857])
        """
        check_name(name, "mode")
        try:
            values = floats(q, "q").copy()
        except InputError:
            values = np.array(np.nan)
        if values.shape != (self.nq,) or not np.isfinite(values).all():
            raise ModelError(
                f"the mode '{name}' needs one configuration of {self.nq} finite coordinates."
            )
        for j in self.joints:  # quaternions of length one, or a sentence
            values[self.coordinates[j.name]] = j.kind.normalize(values[self.coordinates[j.name]])
        placed = tuple(
            (j.name, tuple(values[self.coordinates[j.name]].tolist())) for j in self.joints if j.nq
        )
        kept = tuple(mode for mode in self.description.modes if mode.name != name)
        return type(self)(replace(self.description, modes=(*kept, Mode(name, placed))))

    def configuration(self, name: str) -> np.ndarray:
        """The coordinates of a mode.

        >>> import eslabon as es
        >>> es.load("elbow").with_mode("bent", [0.0, 1.0]).configuration("bent")
        array([0., 1.])
        """
        return _find(self.modes, name, f"{self.name} has no mode", "; keep one with with_mode.")

    # -- parameters --------------------------------------------------------------------------------

    @property
    def _definitions(self) -> Mapping[str, Number]:
        return dict(self.description.parameters)

    @cached_property
    def _variables(self) -> Mapping[str, float]:
        return {TIME: 0.0} if self.rheonomic else {}

    def _with_values(self, values: Mapping[str, float]) -> Description:
        parameters = tuple((n, values.get(n, x)) for n, x in self.description.parameters)
        return replace(self.description, parameters=parameters)

    def with_parameters(self, **values: float | str) -> Self:
        """The mechanism with other values of some parameters, checked again.

        >>> import eslabon as es
        >>> m = es.load("five_bar")
        >>> m.with_parameters(L2=0.05).parameters["L2"]
        0.05
        """
        if TIME in self._variables and TIME in values:
            given = f"give it to a call, as t={format_value(values[TIME])}"
            raise ModelError(f"{self.name}: the time is no parameter; {given}.")
        return super().with_parameters(**values)

    def _units_of_parameter(self, name: str) -> tuple[str, ...]:
        from eslabon.model.free_numbers import parameter_units

        unit = parameter_units(self)[name]
        return () if unit is None else (unit,)

    def variant(self, **values: float | str) -> Self:
        """The mechanism with other values of some parameters, checked again, that shares native
        code with this one: the values are inputs of it. So thousands of designs compile nothing
        anew, where each `with_parameters` has code of its own, which is a little faster.

        >>> import eslabon as es
        >>> m = es.load("five_bar")
        >>> [round(float(m.variant(L2=L).assemble([2.0, 1.0])[1]), 3) for L in (0.03, 0.04, 0.05)]
        [-1.118, -1.212, -1.308]
        """
        made = self.with_parameters(**values)
        vars(made).update(
            variant_of=self.variant_of or self, varied=tuple(sorted({*self.varied, *values}))
        )
        return made

    @cached_property
    def rheonomic(self) -> bool:
        """Whether its constraints depend on the time.

        >>> import eslabon as es
        >>> es.load("five_bar").rheonomic
        False
        """
        return uses_time(self.description)

    def with_time(self, t: Expression | float) -> Self:
        """The mechanism with a symbol for the time that its constraints depend on.

        >>> import eslabon as es
        >>> m = es.load("five_bar")
        >>> m.with_time(0.5) is m
        True
        """
        if not self.rheonomic:
            return self
        return self._with_substituted({**self._symbols, TIME: t})

    @property
    def time(self) -> Any:
        """The time: a symbol, or zero.

        >>> import eslabon as es
        >>> es.load("five_bar").time
        0.0
        """
        return self.values.get(TIME, 0.0)

    # -- structure ---------------------------------------------------------------------------------

    @cached_property
    def nq(self) -> int:
        """The number of coordinates.

        >>> import eslabon as es
        >>> es.load("stewart_gough").nq
        22
        """
        return sum(j.nq for j in self.description.joints)

    @cached_property
    def nv(self) -> int:
        """The number of velocities.

        >>> import eslabon as es
        >>> es.load("stewart_gough").nv
        21
        """
        return sum(j.nv for j in self.description.joints)

    @cached_property
    def nu(self) -> int:
        """The number of actuator forces: the degrees of freedom of the actuated joints.

        >>> import eslabon as es
        >>> es.load("stewart_gough").nu
        6
        """
        return sum(self.joint(name).nv for name in self.actuated)

    @cached_property
    def coordinates(self) -> Mapping[str, slice]:
        """Where each joint's coordinates stand in q.

        >>> import eslabon as es
        >>> es.load("delta").coordinates["arm2"]
        slice(5, 6, None)
        """
        return _slices((j.name, j.nq) for j in self.description.joints)

    @cached_property
    def velocities(self) -> Mapping[str, slice]:
        """Where each joint's velocities stand in v.

        >>> import eslabon as es
        >>> es.load("delta").velocities["arm2"]
        slice(5, 6, None)
        """
        return _slices((j.name, j.nv) for j in self.description.joints)

    @cached_property
    def actuated_velocities(self) -> tuple[int, ...]:
        """The places in v of the actuator forces.

        >>> import eslabon as es
        >>> es.load("planar_3rrr").actuated_velocities
        (0, 3, 5)
        """
        return tuple(k for name in self.actuated for k in range(self.nv)[self.velocities[name]])

    @cached_property
    def actuated_coordinates(self) -> tuple[int, ...]:
        """The places in q of the actuated joints, as in `q[..., m.actuated_coordinates]`.

        >>> import eslabon as es
        >>> m = es.load("five_bar")
        >>> m.home()[list(m.actuated_coordinates)].round(3)
        array([2.094, 1.047])
        """
        return tuple(k for name in self.actuated for k in range(self.nq)[self.coordinates[name]])

    def index(self, *joints: str) -> int | list[int]:
        """The place of a joint's coordinate in q, as in `q[..., m.index("elbow")]`; a list for a
        joint of several coordinates, and for several joints.

        >>> import eslabon as es
        >>> m = es.load("delta")
        >>> m.index("arm2"), m.index("elbow1a"), m.index("arm1", "arm2")
        (5, [1, 2], [0, 5])
        """
        return self._places(joints, self.coordinates)

    def velocity_index(self, *joints: str) -> int | list[int]:
        """The place in v, as `index` gives it in q.

        >>> import eslabon as es
        >>> es.load("delta").velocity_index("arm2")
        5
        """
        return self._places(joints, self.velocities)

    def _places(self, joints: tuple[str, ...], places: Mapping[str, slice]) -> int | list[int]:
        found = [k for name in joints for k in range(self.nq)[places[self.joint(name).name]]]
        return found[0] if len(joints) == len(found) == 1 else found

    def named(self, values: ArrayLike) -> dict[str, Any]:
        """Coordinates `(..., nq)`, velocities `(..., nv)` or actuator forces `(..., nu)` by the
        names of their joints.

        Which they are follows from how many there are; where two numbers agree, so do the joints. A
        joint of several coordinates keeps a last axis for them.

        >>> import eslabon as es
        >>> m = es.load("elbow")
        >>> m.named([0.5, 0.2])
        {'theta1': 0.5, 'theta2': 0.2}
        """
        x = floats(values, "what is to be named")
        every = tuple(j.name for j in self.joints if j.nv)
        own = {
            self.nu: (self.actuated, self.velocities),
            self.nv: (every, self.velocities),
            self.nq: (every, self.coordinates),
        }
        if not x.ndim or x.shape[-1] not in own:
            sizes = f"{self.nq} coordinates, {self.nv} velocities and {self.nu} actuator forces"
            raise InputError(
                f"{self.name} has {sizes}; an array of shape {x.shape} is none of these."
            )
        joints, places = own[x.shape[-1]]
        made, start = {}, 0
        for name in joints:
            size = len(range(self.nq)[places[name]])
            made[name] = x[..., start] if size == 1 else x[..., start : start + size]
            start += size
        return {name: value if np.ndim(value) else float(value) for name, value in made.items()}

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """For each joint the place of the body it starts from; -1 is the ground.

        >>> import eslabon as es
        >>> es.load("five_bar").parents
        (-1, 0, -1, 2)
        """
        place = {GROUND: -1, **self.body_places}
        return tuple(place[j.parent] for j in self.description.joints)

    @cached_property
    def body_places(self) -> Mapping[str, int]:
        """The place of each body in `bodies`, and of the joint that carries it in `joints`.

        >>> import eslabon as es
        >>> es.load("five_bar").body_places["link5"]
        2
        """
        return FrozenDict({b.name: k for k, b in enumerate(self.description.bodies)})

    @cached_property
    def carriers(self) -> Mapping[str, Joint]:
        """The joint that carries each body.

        >>> import eslabon as es
        >>> es.load("five_bar").carriers["link3"].name
        'theta3'
        """
        return FrozenDict({j.child: j for j in self.joints})

    @property
    def closed(self) -> bool:
        """Whether loops or couplings bind the coordinates.

        >>> import eslabon as es
        >>> es.load("five_bar").closed, es.load("elbow").closed
        (True, False)
        """
        return bool(self.description.loops or self.description.couplings)

    def body(self, name: str) -> Body:
        """A body by its name.

        >>> import eslabon as es
        >>> es.load("planar_3rrr").body("platform").mass
        0.70994
        """
        return _find(self._by_name["body"], name, f"{self.name} has no body")

    def joint(self, name: str) -> Joint:
        """A joint of the tree by its name: its kind, place, home, limits, friction and motor.

        >>> import eslabon as es
        >>> es.load("delta").joint("arm1").limits
        ((-0.8726646259971648, 1.5707963267948966),)
        """
        return _find(self._by_name["joint"], name, f"{self.name} has no joint")

    def loop(self, name: str) -> Loop:
        """A loop by its name.

        >>> import eslabon as es
        >>> es.load("five_bar").loop("tip").kind.kind
        'revolute'
        """
        return _find(self._by_name["loop"], name, f"{self.name} has no loop")

    def frame(self, name: str) -> Frame:
        """A named frame; a body's name stands for the body's own frame, and `ground` for the
        ground's.

        >>> import eslabon as es
        >>> es.load("planar_3rrr").frame("centre").body
        'platform'
        """
        return _find(self._by_name["frame"], name, f"{self.name} has no frame or body")

    def shape(self, name: str) -> Shape:
        """A shape by its name.

        >>> import eslabon as es
        >>> es.load("elbow").shape("hand")
        Traceback (most recent call last):
            ...
        eslabon.errors.ModelError: elbow has no shape 'hand' (known: none).
        """
        return _find(self._by_name["shape"], name, f"{self.name} has no shape")

    @cached_property
    def _by_name(self) -> dict[str, dict[str, Any]]:
        own = (
            *self.frames,
            *(Frame(b.name, b.name) for b in self.description.bodies),
            Frame(GROUND, GROUND),
        )
        rooms: dict[str, Iterable[Any]] = {
            "body": self.bodies,
            "joint": self.joints,
            "loop": self.loops,
            "frame": own,
            "shape": self.shapes,
        }
        return {room: {item.name: item for item in items} for room, items in rooms.items()}

    def neutral(self) -> np.ndarray:
        """The configuration in which every joint's outer frame is its inner one.

        >>> import eslabon as es
        >>> es.load("five_bar").neutral()
        array([0., 0., 0., 0.])
        """
        return np.array([x for j in self.joints for x in j.kind.neutral()], dtype=float)

    def home(self) -> np.ndarray:
        """The configuration the description starts from: each joint's `home` where it has one, else
        neutral.

        >>> import eslabon as es
        >>> es.load("planar_3rrr").home().round(3)
        array([ 0.524,  2.094, -2.618,  0.524,  2.094,  0.524,  2.094])
        """
        homes = (j.kind.neutral() if j.home is None else j.home for j in self.joints)
        return np.array([x for home in homes for x in home], dtype=float)

    @cached_property
    def plausibility_warnings(self) -> tuple[str, ...]:
        """What is allowed but looks wrong, a sentence each.

        >>> import eslabon as es
        >>> es.load("elbow").plausibility_warnings
        ()
        """
        return tuple(str(warning) for warning in implausible(self))

    def warn(self, known: Iterable[str] = ()) -> Self:
        """Say aloud what looks wrong and is not known, as `ModelWarning`.

        >>> import eslabon as es
        >>> es.load("five_bar").warn()
        <Mechanism five_bar: 4 bodies, 4 joints, 1 loop, 2 actuators>
        """
        for sentence in self.plausibility_warnings:
            if sentence not in known:
                warnings.warn(
                    f"{self.name}: {sentence}", ModelWarning, stacklevel=user_stacklevel()
                )
        return self

    # -- as a value --------------------------------------------------------------------------------

    def __reduce__(self) -> tuple[Any, ...]:
        if self.variant_of is not None:
            return _variant, (
                self.variant_of,
                {name: self.parameters[name] for name in self.varied},
            )
        return super().__reduce__()

    def __repr__(self) -> str:
        d = self.description
        counts = [(len(d.bodies), "body", "bodies"), (len(d.joints), "joint", "joints")]
        counts += [(len(d.loops), "loop", "loops"), (self.nu, "actuator", "actuators")]
        return f"<Mechanism {self.name}: {', '.join(f'{n} {one if n == 1 else many}' for n, one, many in counts)}>"


def as_model(m: object, name: str = "m") -> Model:
    """The mechanism itself, or a sentence for whatever else is given in its place.

    >>> as_model("five_bar")
    Traceback (most recent call last):
        ...
    eslabon.errors.ModelError: m is a mechanism, as es.load gives one; it is 'five_bar'.
    """
    return instance(m, name, Model, "a mechanism, as es.load gives one")


def _variant(base: Model, values: Mapping[str, float]) -> Model:
    """A variant from another process."""
    return base.variant(**values)


def _slices(sizes: Iterable[tuple[str, int]]) -> Mapping[str, slice]:
    places, start = {}, 0
    for name, size in sizes:
        places[name] = slice(start, start + size)
        start += size
    return FrozenDict(places)


def _find(items: Mapping[str, T], name: str, refusal: str, otherwise: str | None = None) -> T:
    try:
        return items[name]
    except LOOKUP_ERRORS:  # a KeyError, or what cannot be a name, such as a list
        raise ModelError(
            f"{refusal} {format_value(name)}{suggest(name, items, otherwise)}"
        ) from None
