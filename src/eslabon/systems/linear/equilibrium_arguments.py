"""What is asked of `equilibrium`, by name or as arrays, with one leading axis for all of it."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eslabon.arguments import finite, floats, mapping, states
from eslabon.compiler.evaluate import evaluate
from eslabon.errors import InputError, ModelError, format_value, suggest
from eslabon.formulas.applied_loads import check_external
from eslabon.formulas.quantities import quantity
from eslabon.model import Model
from eslabon.model.configuration import normalize, velocity_names
from eslabon.solve.constraints.closed_configurations import jacobian_at
from eslabon.solve.designs import DESCRIBED, Designs
from eslabon.solve.prescribed import as_configuration
from eslabon.systems.linear.steady_search import Steady

Floats = NDArray[np.float64]


class Asked(NamedTuple):
    """Lanes of configurations to begin with, what acts on them and how they move, the actuators
    that give what is needed, and whether the whole configuration is given."""

    lead: tuple[int, ...]
    q: Floats
    system: Steady
    free: tuple[int, ...]
    whole: bool

    @property
    def fixed(self) -> list[int]:
        """The coordinates that do not change in the search: those of held joints."""
        m, held = self.system.m, set(self.system.held)
        whole = [
            j.name for j in m.joints if j.nv and set(range(m.nv)[m.velocities[j.name]]) <= held
        ]
        return [k for name in whole for k in range(m.nq)[m.coordinates[name]]]


def asked(m: Model, q: Any, tau: Any, v: Any, guess: Any, external: Any, parameters: Any) -> Asked:
    """Everything with one leading axis, checked."""
    whole = q is not None and not isinstance(q, Mapping)
    if whole and tau is not None:
        raise ModelError(
            "equilibrium takes the configuration q and finds the forces tau, or the other way round; give one of them."
        )
    if whole and guess is not None:
        raise ModelError(
            "the configuration q is given, so that there is nothing to search from; leave guess out."
        )
    places, values, held = _joints(m, {} if whole or q is None else q)
    rates, moving = _rates(m, v)
    held = tuple(sorted({*held, *moving}))
    free = tuple(k for k, place in enumerate(m.actuated_velocities) if whole or place in held)
    wrenches = {
        name: states(w, f"external[{name!r}]", 6, "a wrench", "components")
        for name, w in mapping(external, "external").items()
    }
    check_external(m, tuple(wrenches))
    numbers = {
        name: finite(x, f"parameters[{name!r}]")
        for name, x in mapping(parameters, "parameters").items()
    }
    m.check_parameters(tuple(numbers))
    begin = states(q, "q", m.nq, m.name) if whole else as_configuration(m, guess)
    forces = _forces(m, tau, free)
    arrays = [begin, values, rates, forces, *wrenches.values()]
    lead = _together([*(x.shape[:-1] for x in arrays), *(x.shape for x in numbers.values())])

    def flat(x: Floats, own: int = 1) -> Floats:
        core = x.shape[x.ndim - own :]
        return np.array(np.broadcast_to(x, (*lead, *core)).reshape(prod(lead), *core))

    begin = flat(begin)
    begin[:, places] = flat(values)
    begin = np.asarray(normalize(m, begin))
    given = (
        {name: flat(w) for name, w in wrenches.items()},
        {name: flat(x, 0) for name, x in numbers.items()},
    )
    designs = (
        Designs(tuple(numbers), np.stack([*given[1].values()], axis=-1)) if numbers else DESCRIBED
    )
    if numbers:
        evaluate(m, quantity(m, "gravity_forces"), parameters=tuple(numbers))(
            begin, *designs.inputs
        )  # refuses what cannot be
    rates = (
        flat(rates)
        if not isinstance(v, Mapping)
        else _completed(m, begin, flat(rates), moving, designs)
    )
    return Asked(lead, begin, Steady(m, rates, flat(forces), *given, held), free, whole)


def _together(shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        listed = ", ".join(str(s) for s in dict.fromkeys(shapes))
        raise InputError(
            f"the leading axes {listed} do not fit together; give one of each for all, or one for each."
        ) from None


def _named(
    m: Model, given: Mapping[str, Any], word: str, sizes: Mapping[str, int]
) -> dict[str, Floats]:
    """Finite numbers (..., n) by the name of what has n of them; a single number needs no axis."""
    made = {}
    for name, value in given.items():
        if name not in sizes:
            raise ModelError(
                f"{word} names {format_value(name)}, which {m.name} has not{suggest(name, sizes)}"
            )
        array = finite(value, f"{word}[{name!r}]")
        n = sizes[name]
        if n == 1 and (array.ndim == 0 or array.shape[-1] != 1):
            array = array[..., None]
        if array.ndim == 0 or array.shape[-1] != n:
            raise InputError(
                f"{word}[{name!r}] has shape {array.shape}; {n} numbers in the last axis are expected."
            )
        made[name] = array
    return made


def _joined(made: Mapping[str, Floats]) -> Floats:
    """Values of several names side by side."""
    lead = _together([x.shape[:-1] for x in made.values()])
    parts = [np.broadcast_to(x, (*lead, x.shape[-1])) for x in made.values()]
    return np.concatenate(parts, axis=-1) if parts else np.zeros(0)


def _joints(m: Model, q: Mapping[str, Any]) -> tuple[list[int], Floats, tuple[int, ...]]:
    """Coordinates that are given by the names of their joints, their values, and the velocities
    that are held by it."""
    made = _named(m, mapping(q, "q"), "q", {j.name: j.nq for j in m.joints if j.nv})
    places = [k for name in made for k in range(m.nq)[m.coordinates[name]]]
    return places, _joined(made), tuple(k for name in made for k in range(m.nv)[m.velocities[name]])


def _rates(m: Model, v: Any) -> tuple[Floats, tuple[int, ...]]:
    """Velocities, zero where none are given, and which are given: of joints, or single ones such as
    'ball.wz'."""
    if v is None:
        return np.zeros(m.nv), ()
    if not isinstance(v, Mapping):
        rates = states(v, "v", m.nv, m.name, "velocities")
        return rates, tuple(
            int(k) for k in np.flatnonzero(np.abs(rates.reshape(-1, m.nv)).max(axis=0, initial=0.0))
        )
    single = {name: (k,) for k, name in enumerate(velocity_names(m))}
    known = {
        **single,
        **{j.name: tuple(range(m.nv)[m.velocities[j.name]]) for j in m.joints if j.nv},
    }
    made = _named(m, mapping(v, "v"), "v", {name: len(places) for name, places in known.items()})
    moving = [k for name in made for k in known[name]]
    if len(set(moving)) < len(moving):
        raise ModelError(f"v names a velocity of {m.name} twice: {', '.join(made)}.")
    values = _joined(made)
    rates = np.zeros((*values.shape[:-1], m.nv))
    rates[..., moving] = values
    return rates, tuple(moving)


def _completed(m: Model, q: Floats, v: Floats, given: tuple[int, ...], designs: Designs) -> Floats:
    """Velocities with those of the other joints that loops ask for, the least ones."""
    if not m.closed or not given:
        return v
    J = jacobian_at(m, q, designs)
    others = [k for k in range(m.nv) if k not in given]
    v = v.copy()
    v[:, others] -= np.einsum(
        "lij,lj->li", np.linalg.pinv(J[:, :, others], rcond=1e-8), np.einsum("lij,lj->li", J, v)
    )
    return np.where(np.abs(v) > 1e-14 * np.abs(v).max(initial=0.0), v, 0.0)


def _forces(m: Model, tau: Any, free: tuple[int, ...]) -> Floats:
    """The actuators' forces, zero where none are given; those of held joints are not for the caller
    to give."""
    names = [velocity_names(m)[k] for k in m.actuated_velocities]
    if tau is None:
        return np.zeros(m.nu)
    if not isinstance(tau, Mapping):
        if free:
            raise ModelError(
                f"the actuators of held joints ({', '.join(names[k] for k in free)}) give what is needed; name the others, as "
                "in tau={'joint': 1.0}."
            )
        return states(tau, "tau", m.nu, m.name, "actuators")
    made = _named(m, tau, "tau", dict.fromkeys(names, 1))
    for k in free:
        if names[k] in made:
            raise ModelError(
                f"'{names[k]}' is held, and its actuator gives what is needed; leave it out of tau."
            )
    values = _joined(made)
    forces = np.zeros((*values.shape[:-1], m.nu))
    forces[..., [names.index(name) for name in made]] = values
    return forces


def costs(m: Model, weights: Any) -> Floats:
    """What each actuator's force costs."""
    if weights is None:
        return np.ones(m.nu)
    made = floats(weights, "weights").ravel()
    if len(made) != m.nu or not (made > 0).all() or not np.isfinite(made).all():
        raise ModelError(
            f"weights needs a positive number for each of the {m.nu} actuators; it is {format_value(weights)}."
        )
    return made
