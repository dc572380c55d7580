"""The mechanism: a description with its numbers put in. Immutable, and ignorant of every algorithm."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, Self, TypeVar

import numpy as np

from eslabon.arguments import floats, known_words
from eslabon.errors import InputError, ModelError, ModelWarning, depth_of_user, shown, suggest
from eslabon.model.admissible import check_numbers, suspicions
from eslabon.model.expressions import Expression, dependency_order, number, substitute
from eslabon.model.items import (
    GROUND,
    Body,
    Description,
    Frame,
    Joint,
    Loop,
    Mode,
    Shape,
)
from eslabon.model.memory import Table
from eslabon.model.validation import TIME, check_name, check_structure, tree_order, uses_time

T = TypeVar("T")


def _put_in(items: Callable[[Description], T]) -> cached_property[T]:
    """Items of the description with the parameters' values in place of expressions."""
    return cached_property(lambda m: substitute(items(m.description), m._values))


class Model:
    """An articulated system: bodies on a tree of joints, loops that close it, and all that acts on it.

    ``m.bodies[k]`` is the body that ``m.joints[k]`` carries, parents come before children, and ``q`` and ``v`` follow
    the joints. The numbers are those of the parameters' values; `with_parameters` gives another mechanism.
    """

    description: Description
    _symbols: dict[str, Any]

    def __init__(self, description: Description, symbols: Mapping[str, Any] | None = None) -> None:
        ordered = description if symbols else tree_order(check_structure(description))
        self.__dict__.update(description=ordered, _symbols=dict(symbols or {}))
        if not symbols:
            check_numbers(self)

    # -- what it is made of -------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self.description.name

    @property
    def note(self) -> str:
        """Where the numbers come from, and what was inferred."""
        return self.description.note

    gravity = _put_in(lambda d: d.gravity)
    bodies = _put_in(lambda d: d.bodies)
    joints = _put_in(lambda d: d.joints)
    loops = _put_in(lambda d: d.loops)
    couplings = _put_in(lambda d: d.couplings)
    springs = _put_in(lambda d: d.springs)
    wrenches = _put_in(lambda d: d.wrenches)
    frames = _put_in(lambda d: d.frames)
    shapes = _put_in(lambda d: d.shapes)

    @property
    def actuated(self) -> tuple[str, ...]:
        """The names of the actuated joints, in their order."""
        return self.description.actuated

    @cached_property
    def modes(self) -> Mapping[str, np.ndarray]:
        """The named configurations."""
        made = {}
        for mode in substitute(self.description.modes, self._values):
            made[mode.name] = self.home()
            for joint, values in mode.coordinates:
                made[mode.name][self.coordinates[joint]] = values
            made[mode.name].flags.writeable = False
        return Table(made)

    def with_mode(self, name: str, q: Any) -> Self:
        """The mechanism with a configuration kept under a name: `guess=name` starts there, and `save` writes it.

        >>> import eslabon as es
        >>> m = es.load("five_bar")
        >>> other = m.assembly_modes([2.0, 1.0])[1]
        >>> m = m.with_mode("crossed", other)
        >>> m.assemble([2.1, 1.1], guess="crossed").round(3)
        array([ 2.1  , -2.899,  1.1  ,  2.857])
        """
        check_name(name, "mode")
        try:
            values = np.array(q, dtype=float)
        except (TypeError, ValueError):
            values = np.array(np.nan)
        if values.shape != (self.nq,) or not np.isfinite(values).all():
            raise ModelError(f"the mode '{name}' needs one configuration of {self.nq} finite coordinates.")
        for j in self.joints:  # quaternions of length one, or a sentence
            values[self.coordinates[j.name]] = j.kind.normalize(values[self.coordinates[j.name]])
        placed = tuple((j.name, tuple(values[self.coordinates[j.name]].tolist())) for j in self.joints if j.nq)
        kept = tuple(mode for mode in self.description.modes if mode.name != name)
        return type(self)(replace(self.description, modes=(*kept, Mode(name, placed))))

    def configuration(self, name: str) -> np.ndarray:
        """The coordinates of a mode."""
        return _find(self.modes, name, f"{self.name} has no mode", "; keep one with with_mode.")

    # -- parameters ---------------------------------------------------------------------------------------------

    @cached_property
    def parameters(self) -> Mapping[str, float]:
        """The free parameters and their values; those defined by an expression follow them."""
        return Table({n: x for n, x in self.description.parameters if not isinstance(x, Expression)})

    @cached_property
    def _values(self) -> dict[str, Any]:
        """Every parameter's value, symbols in place of the floats they stand for."""
        values: dict[str, Any] = {**self.parameters, **({TIME: 0.0} if self.rheonomic else {}), **self._symbols}
        definitions = dict(self.description.parameters)
        for name in dependency_order(definitions):
            if name not in values:
                values[name] = definitions[name].evaluate(values)
        return values

    def with_parameters(self, **values: float) -> Self:
        """The mechanism with other values of some parameters, checked again.

        >>> import eslabon as es
        >>> m = es.load("five_bar")
        >>> m.with_parameters(L2=0.05).parameters["L2"]
        0.05
        """
        self.check_parameters(values)
        if TIME in values and TIME not in self.parameters:
            raise ModelError(f"{self.name}: the time is no parameter; give it to a call, as t={shown(values[TIME])}.")
        changed = {name: number(x, f"parameter '{name}'") for name, x in values.items()}
        for name, x in changed.items():
            if isinstance(x, Expression):
                raise ModelError(f"{self.name}: parameter '{name}' needs a plain number; it is {shown(values[name])}.")
        parameters = tuple((n, changed.get(n, x)) for n, x in self.description.parameters)
        return type(self)(replace(self.description, parameters=parameters))

    def with_symbols(self, symbols: Mapping[str, Any]) -> Self:
        """The mechanism with CasADi symbols in place of some parameters' values: what the graphs are traced with."""
        self.check_parameters(symbols)
        return type(self)(self.description, symbols)

    @property
    def symbols(self) -> Mapping[str, Any]:
        """The symbols in place of parameters' values and the time."""
        return self._symbols

    @cached_property
    def plain(self) -> Model:
        """The mechanism with the parameters' own values, whatever symbols were put in."""
        return self if not self._symbols else Model(self.description)

    @cached_property
    def rheonomic(self) -> bool:
        """Whether its constraints depend on the time."""
        return uses_time(self.description)

    def with_time(self, t: Any) -> Self:
        """The mechanism with a symbol for the time that its constraints depend on."""
        if not self.rheonomic:
            return self
        made = type(self)(self.description, {**self._symbols, TIME: t})
        vars(made)["plain"] = self.plain  # with what is already known of it
        return made

    @property
    def time(self) -> Any:
        """The time: a symbol, or zero."""
        return self._values.get(TIME, 0.0)

    def check_parameters(self, names: Iterable[str]) -> None:
        """Refuse names that are not free parameters of this mechanism."""
        definitions = dict(self.description.parameters)
        for name in names:
            if name == TIME and self.rheonomic:
                continue
            if isinstance(definitions.get(name), Expression):
                raise ModelError(
                    f"{self.name}: parameter '{name}' is defined as '{definitions[name]}'; change what it is made of."
                )
            known_words([name], self.parameters, f"{self.name}: there is no parameter")

    # -- structure ----------------------------------------------------------------------------------------------

    @cached_property
    def nq(self) -> int:
        """The number of coordinates."""
        return sum(j.nq for j in self.description.joints)

    @cached_property
    def nv(self) -> int:
        """The number of velocities."""
        return sum(j.nv for j in self.description.joints)

    @cached_property
    def nu(self) -> int:
        """The number of actuator forces: the degrees of freedom of the actuated joints."""
        return sum(self.joint(name).nv for name in self.actuated)

    @cached_property
    def coordinates(self) -> Mapping[str, slice]:
        """Where each joint's coordinates stand in q."""
        return _slices((j.name, j.nq) for j in self.description.joints)

    @cached_property
    def velocities(self) -> Mapping[str, slice]:
        """Where each joint's velocities stand in v."""
        return _slices((j.name, j.nv) for j in self.description.joints)

    @cached_property
    def actuated_velocities(self) -> tuple[int, ...]:
        """The places in v of the actuator forces."""
        return tuple(k for name in self.actuated for k in range(self.nv)[self.velocities[name]])

    @cached_property
    def actuated_coordinates(self) -> tuple[int, ...]:
        """The places in q of the actuated joints, as in `q[..., m.actuated_coordinates]`."""
        return tuple(k for name in self.actuated for k in range(self.nq)[self.coordinates[name]])

    def index(self, *joints: str) -> int | list[int]:
        """The place of a joint's coordinate in q, as in `q[..., m.index("elbow")]`; a list for a joint of several
        coordinates, and for several joints.

        >>> import eslabon as es
        >>> m = es.load("delta")
        >>> m.index("arm2"), m.index("elbow1a"), m.index("arm1", "arm2")
        (5, [1, 2], [0, 5])
        """
        return self._places(joints, self.coordinates)

    def velocity_index(self, *joints: str) -> int | list[int]:
        """The place in v, as `index` gives it in q."""
        return self._places(joints, self.velocities)

    def _places(self, joints: tuple[str, ...], places: Mapping[str, slice]) -> int | list[int]:
        found = [k for name in joints for k in range(self.nq)[places[self.joint(name).name]]]
        return found[0] if len(joints) == len(found) == 1 else found

    def named(self, values: Any) -> dict[str, Any]:
        """Coordinates `(..., nq)`, velocities `(..., nv)` or actuator forces `(..., nu)` by the names of their joints.

        Which they are follows from how many there are; where two numbers agree, so do the joints. A joint of several
        coordinates keeps a last axis for them.

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
            raise InputError(f"{self.name} has {sizes}; an array of shape {x.shape} is none of these.")
        joints, places = own[x.shape[-1]]
        made, start = {}, 0
        for name in joints:
            size = len(range(self.nq)[places[name]])
            made[name] = x[..., start] if size == 1 else x[..., start : start + size]
            start += size
        return {name: value if np.ndim(value) else float(value) for name, value in made.items()}

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """For each joint the place of the body it starts from; -1 is the ground."""
        place = {GROUND: -1, **self.body_places}
        return tuple(place[j.parent] for j in self.description.joints)

    @cached_property
    def body_places(self) -> Mapping[str, int]:
        """The place of each body in `bodies`, and of the joint that carries it in `joints`."""
        return Table({b.name: k for k, b in enumerate(self.description.bodies)})

    @cached_property
    def carriers(self) -> Mapping[str, Joint]:
        """The joint that carries each body."""
        return Table({j.child: j for j in self.joints})

    @property
    def closed(self) -> bool:
        """Whether loops or couplings bind the coordinates."""
        return bool(self.description.loops or self.description.couplings)

    def body(self, name: str) -> Body:
        return _find(self._by_name["body"], name, f"{self.name} has no body")

    def joint(self, name: str) -> Joint:
        return _find(self._by_name["joint"], name, f"{self.name} has no joint")

    def loop(self, name: str) -> Loop:
        return _find(self._by_name["loop"], name, f"{self.name} has no loop")

    def frame(self, name: str) -> Frame:
        """A named frame; a body's name stands for the body's own frame, and `ground` for the ground's."""
        return _find(self._by_name["frame"], name, f"{self.name} has no frame or body")

    def shape(self, name: str) -> Shape:
        return _find(self._by_name["shape"], name, f"{self.name} has no shape")

    @cached_property
    def _by_name(self) -> dict[str, dict[str, Any]]:
        own = (*self.frames, *(Frame(b.name, b.name) for b in self.description.bodies), Frame(GROUND, GROUND))
        rooms: dict[str, Iterable[Any]] = {
            "body": self.bodies, "joint": self.joints, "loop": self.loops, "frame": own, "shape": self.shapes,
        }  # fmt: skip
        return {room: {item.name: item for item in items} for room, items in rooms.items()}

    def neutral(self) -> np.ndarray:
        """The configuration in which every joint's outer frame is its inner one."""
        return np.array([x for j in self.joints for x in j.kind.neutral()], dtype=float)

    def home(self) -> np.ndarray:
        """The configuration the description starts from: each joint's `home` where it has one, else neutral."""
        homes = (j.kind.neutral() if j.home is None else j.home for j in self.joints)
        return np.array([x for home in homes for x in home], dtype=float)

    @cached_property
    def suspicions(self) -> tuple[str, ...]:
        """What is allowed but looks wrong, a sentence each."""
        return tuple(suspicions(self))

    def warn(self, known: Iterable[str] = ()) -> Self:
        """Say aloud what looks wrong and is not known, as `ModelWarning`."""
        for sentence in self.suspicions:
            if sentence not in known:
                warnings.warn(f"{self.name}: {sentence}", ModelWarning, stacklevel=depth_of_user())
        return self

    # -- as a value ---------------------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Model):
            return NotImplemented
        return self.description == other.description and self._symbols == other._symbols

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self.description)

    @cached_property
    def digest(self) -> str:
        """A fingerprint of all that numbers depend on: of the description but for its shapes."""
        return hashlib.sha256(repr(replace(self.description, shapes=())).encode()).hexdigest()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.description, self._symbols or None)  # compiled code stays behind

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a mechanism cannot be changed; build another one instead of setting '{name}'.")

    def __repr__(self) -> str:
        d = self.description
        counts = [(len(d.bodies), "body", "bodies"), (len(d.joints), "joint", "joints")]
        counts += [(len(d.loops), "loop", "loops"), (self.nu, "actuator", "actuators")]
        return f"<Mechanism {self.name}: {', '.join(f'{n} {one if n == 1 else many}' for n, one, many in counts)}>"


def _slices(sizes: Iterable[tuple[str, int]]) -> Mapping[str, slice]:
    places, start = {}, 0
    for name, size in sizes:
        places[name] = slice(start, start + size)
        start += size
    return Table(places)


def _find(items: Mapping[str, Any], name: str, refusal: str, otherwise: str | None = None) -> Any:
    try:
        return items[name]
    except (KeyError, TypeError):  # the latter for what cannot be a name, such as a list
        raise ModelError(f"{refusal} {shown(name)}{suggest(name, items, otherwise)}") from None
