"""A run's arguments as plain data: shapes, times, steps and events; a sentence for what cannot
be."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import Floats, choice, count, finite, flag, mapping, positive, states
from eslabon.errors import SINGULAR_CHOICES, AssemblyError, InputError, ModelError, format_value
from eslabon.formulas.applied_loads import check_external
from eslabon.formulas.constrained.constraint_solvers import METHODS
from eslabon.formulas.formulations.formulation import Formulation
from eslabon.formulas.motion_state import chosen_formulation
from eslabon.formulas.structure import Partition
from eslabon.model import Model, as_model
from eslabon.model.configuration import coordinate_units, normalize, velocity_units
from eslabon.model.scale import characteristic_length
from eslabon.motion.simulation import adaptive_steps, step_formulas
from eslabon.motion.simulation.actuation import Control, Table
from eslabon.motion.simulation.adaptive_steps import Event
from eslabon.motion.simulation.applied_system import System
from eslabon.motion.simulation.constraint_projection import at_time
from eslabon.motion.simulation.integrate import METHODS as ADAPTIVE
from eslabon.motion.simulation.native_laws import Law
from eslabon.motion.simulation.python_laws import Called, frozen
from eslabon.motion.simulation.sampled_laws import Sampler
from eslabon.numerics.scalars import casadi
from eslabon.numerics.tolerances import ROUND_OFF
from eslabon.solve.constraints.closure_violation import VIOLATIONS, accepts
from eslabon.solve.constraints.independent_coordinates import partition_by
from eslabon.solve.constraints.massless_motions import refuse_massless, refuse_massless_values
from eslabon.solve.designs import DESCRIBED, Designs, designs_of, symbols_in

MOST = 10**8  # rows of a motion
ATOL = 1e-10  # rad, or over the characteristic length


def refuse(condition: bool, sentence: str) -> None:
    """An `InputError` if the condition holds."""
    if condition:
        raise InputError(sentence)


def check_words(
    m: Model, method: Any, singular: Any, hold: Any, progress: Any, threads: Any
) -> None:
    """Refuse words that are none, and methods that do not suit the mechanism."""
    if not as_model(m).nv:
        raise ModelError(f"{m.name} has no joint that moves: there is nothing to simulate.")
    choice(method, "method", (*ADAPTIVE, *step_formulas.METHODS))
    choice(singular, "singular", SINGULAR_CHOICES)
    flag(hold, "hold")
    if progress is not None:
        flag(progress, "progress")
    if threads is not None:
        count(threads, "threads", 1)
    refuse(
        m.closed and method == "symplectic",
        f"{m.name} has {'driving constraints' if m.rheonomic else 'loops'}, which the symplectic method does not keep; use rk4.",
    )


def times_of(t: ArrayLike) -> tuple[Floats, bool]:
    """The times, and whether they are those to report."""
    times = frozen(finite(t, "t"))
    times = np.array([0.0, float(times)]) if times.ndim == 0 else times
    refuse(
        times.ndim != 1 or len(times) < 2,
        f"t is a duration, a start and an end, or times; its shape is {times.shape}.",
    )
    wrong = np.flatnonzero(np.diff(times) <= 0)
    if len(wrong):
        k = wrong[0]
        raise InputError(f"t must increase; {times[k + 1]:g} follows {times[k]:g}.")
    return times, len(times) > 2


def tolerances(rtol: Any, atol: Any, size: int) -> tuple[float, Floats]:
    """Check the relative and the absolute tolerance, which may be one for each number of a
    state."""
    relative, absolute = positive(rtol, "rtol"), frozen(finite(atol, "atol"))
    refuse(not 1e-15 <= relative < 1, f"rtol lies between 1e-15 and 1; it is {format_value(rtol)}.")
    refuse(bool((absolute < 0).any()), f"atol is not less than zero; it is {format_value(atol)}.")
    refuse(absolute.shape not in ((), (size,)), f"atol is one number, or {size} for the coordinates, velocities and states of a law; "
        f"its shape is {absolute.shape}.")  # fmt: skip
    return relative, absolute


def default_atol(m: Model, size: int) -> Floats:
    """The absolute tolerance where none is given: `ATOL` for angles and what a law remembers, for
    lengths times the characteristic length."""
    lengths = [unit in ("m", "m/s") for unit in (*coordinate_units(m), *velocity_units(m))]
    if not any(lengths):
        return np.array(ATOL)
    atol = np.full(size, ATOL)
    atol[: len(lengths)][lengths] *= float(characteristic_length(m.nominal))
    return atol


def step_of(step: Any, times: Floats) -> float | None:
    """A length of time, not longer than all there is."""
    if step is None:
        return None
    length, whole = positive(step, "step"), times[-1] - times[0]
    refuse(
        length > whole * (1 + 1e-9),
        f"step is {length:g} s, longer than the whole run of {whole:g} s.",
    )
    return length


def grid(
    times: Floats, report: bool, step: float | None, every: Any, method: str
) -> tuple[Floats, int]:
    """The times to report, and how many steps lie between two of them."""
    every = count(every, "every", 1)
    if report:
        refuse(every != 1, "t already says when to report; leave out every, or give a duration.")
        return times, 1 if step is None else _whole(np.diff(times).max() / step)
    if step is None:
        raise InputError(f"{method} needs a step, such as step=1e-3.")
    start, length = times[0], times[-1] - times[0]
    number = _whole(length / step)
    refuse(number / every > MOST, f"{number:,} steps of {step:g} s would be reported {number // every:,} times, more than fits "
        "into memory; take a longer step, or report fewer of them with every.")  # fmt: skip
    numbers = np.append(np.arange(0, number, every), number)
    return start + length * (numbers / number), min(every, number)


def _whole(ratio: float) -> int:
    """How many steps fill an interval: none longer than asked, but for round-off."""
    return max(1, math.ceil(ratio * (1 - 1e-9)))


def refuse_for_fixed(method: step_formulas.Method, control: Control) -> None:
    """Refuse a law in a method that it cannot enter."""
    called = isinstance(control.law if isinstance(control, Sampler) else control, Called)
    refuse(called and method is not step_formulas.RK4, f"{method.name} runs in native code, which a "
        "Python function cannot enter: mark it with `traced` if it can be traced, or use rk4.")  # fmt: skip
    refuse(isinstance(control, Law) and bool(control.size) and method is not step_formulas.RK4, f"{method.name} has no place for "
        "the states of a law; use rk4 or an adaptive method, or sample the law.")  # fmt: skip


def refuse_for_adaptive(
    settings: adaptive_steps.Settings, every: Any, hold: bool, many: bool
) -> None:
    """Refuse options of the fixed-step methods, and for many trajectories what can be done for one
    only."""
    own = f"{settings.method} chooses its own steps"
    refuse(
        count(every, "every", 1) != 1, f"{own}; say when to report by an array t instead of every."
    )
    refuse(hold, f"{own}; forces are held from step to step by rk4 and symplectic.")
    refuse(many and not settings.report, "adaptive methods take other steps for every trajectory; say at which times to report "
        "all of them by an array t.")  # fmt: skip
    refuse(many and bool(settings.events), "events are looked for in one trajectory at a time.")


def wrenches(m: Model, external: Any) -> dict[str, Floats]:
    """Wrenches by body or frame, (..., 6)."""
    given = mapping(external, "external")
    check_external(m, tuple(given))
    made = {name: frozen(finite(w, f"the wrench on {name}")) for name, w in sorted(given.items())}
    for name, wrench in made.items():
        refuse(
            wrench.shape[-1:] != (6,),
            f"the wrench on {name} has shape {wrench.shape}; (..., 6) is expected.",
        )
    return made


def parameters_of(m: Model, parameters: Any) -> dict[str, Floats]:
    """Values of parameters by name, such as the mechanism can have and with which every motion
    moves some mass."""
    designs_of(m, parameters)
    given = mapping(parameters, "parameters")
    made = {name: frozen(finite(p, f"parameter '{name}'")) for name, p in sorted(given.items())}
    if made and not m.closed:
        refuse_massless_values(m, made)
    else:
        refuse_massless(m.nominal)
    return made


def formulation_of(
    m: Model, formulation: Any, constraints: Any, independent: Any, method: str, stops: bool
) -> tuple[Formulation | None, str | None, Partition | None]:
    """How the equations are written and the loops imposed, and which coordinates are independent by
    the caller's choice, if there is such a way for this mechanism and method."""
    refuse(
        isinstance(formulation, str) and formulation == "bond_graph",
        "formulation 'bond_graph' is a word of the mechanism's own method: call m.simulate(..., formulation='bond_graph'), "
        "or pass the Formulation value instead of the word.",
    )
    written = chosen_formulation(formulation)
    refuse(
        written is not None and method == "symplectic",
        "the symplectic method has its own equations; leave formulation out.",
    )
    if constraints is not None:
        choice(constraints, "constraints", METHODS)
        refuse(not m.closed, f"{m.name} has no loops; leave constraints out.")
    fixed = method in step_formulas.METHODS
    refuse(
        stops and constraints == "elimination",
        f"elimination has no place for the stops of {m.name}; use other constraints.",
    )
    refuse(fixed and constraints == "elimination", f"elimination re-selects the independent coordinates of {m.name} on the "
        f"way, which {method} in native code cannot; use an adaptive method, or other constraints.")  # fmt: skip
    return (
        written,
        constraints,
        None if independent is None else partition_by(m, independent, constraints),
    )


def effort_limits(m: Model, saturate: Any, designs: Designs = DESCRIBED) -> tuple[float, ...]:
    """The largest forces of the actuators, if they are to be kept: their joints' effort limits, the
    same in all designs."""
    if not flag(saturate, "saturate"):
        return ()
    own = m if designs.lead else designs.mechanism(m)
    joints = [own.joint(name) for name in m.actuated]
    bound = tuple(float(x) for j in joints for x in (j.effort_limit or (math.inf,) * j.nv))
    changing = ", ".join(symbols_in(m, designs.names, _efforts)) if designs.lead else ""
    refuse(bool(changing), f"effort limits of {m.name} depend on {changing}: leave saturate out, or simulate m.variant(...) of one design "
        "after the other.")  # fmt: skip
    refuse(not np.isfinite(bound).any(), f"no actuated joint of {m.name} has an effort limit; give one with "
        'm.with_joint(name, effort_limit=...), or leave saturate out.')  # fmt: skip
    return bound


def friction_of(m: Model, friction: Any, method: str, constraints: Any) -> str:
    """How Coulomb friction is written; refused where the choice would change nothing, or cannot be
    kept."""
    chosen = choice(friction, "friction", ("smooth", "sharp"))
    if chosen == "sharp":
        refuse(all(j.coulomb is None for j in m.joints), f"no joint of {m.name} has Coulomb friction; give one with "
            "m.with_joint(name, coulomb=...), or leave friction out.")  # fmt: skip
        refuse(method in step_formulas.METHODS, f"{method} takes fixed steps, and sticking joints need adaptive ones: "
            "choose another method, or leave friction out.")  # fmt: skip
        refuse(constraints == "elimination", "sharp friction goes with the constraints 'multipliers' and 'udwadia_kalaba'; "
            "choose one of these, or leave friction out.")  # fmt: skip
    return chosen


def _efforts(m: Model) -> Any:
    """The effort limits of actuated joints as a column."""
    return casadi.vertcat(*(x for name in m.actuated for x in m.joint(name).effort_limit or ()))


def start(
    system: System, control: Control, q0: ArrayLike, v0: ArrayLike | None, t: float
) -> Floats:
    """The state at the start, (..., n), and behind it the states of a law, or what it remembers.
    Rest, where constraints drive the mechanism, is as little motion as they allow."""
    m = system.m
    q = states(q0, "q0", m.nq, m.name)
    v = states(np.zeros(m.nv) if v0 is None else v0, "v0", m.nv, m.name, "velocities")
    law = control.law if isinstance(control, Sampler) else control
    own = law.state if isinstance(law, Law | Called) else np.zeros(0)
    driven = control.values.shape[:-2] if isinstance(control, Table) else own.shape[:-1]
    numbers = law.numbers.batch if isinstance(law, Law) else ()
    try:
        driven = np.broadcast_shapes(driven, numbers)
        given = np.broadcast_shapes(system.loads.batch, driven)
        batch = np.broadcast_shapes(q.shape[:-1], v.shape[:-1], given)
    except ValueError:
        raise InputError(f"leading axes do not fit together: q0 has {q.shape[:-1]}, v0 {v.shape[:-1]}, wrenches and parameters "
            f"{[w.shape[:-1] for w in system.loads.external.values()] + [p.shape for p in system.loads.parameters.values()]}, the control "
            f"{driven}.") from None  # fmt: skip
    remembered = np.zeros(3 * m.nu if isinstance(control, Sampler | Called) else 0)
    x = np.concatenate(
        [np.broadcast_to(p, (*batch, p.shape[-1])) for p in (q, v, remembered, own)], axis=-1
    )
    refuse(not x.size, f"q0 and v0 hold no trajectory at all: their leading axes are {batch}.")
    x[..., : m.nq] = normalize(m, x[..., : m.nq])
    # What needs no projection does not wait for one to be compiled.
    return (
        system.projected(x, t)
        if m.closed and _violation(system, x, t, v0 is None) > ROUND_OFF
        else x
    )


def _violation(system: System, x: Floats, t: float, resting: bool) -> float:
    """By how much starts violate loop closure; refused where that is too much."""
    m, designs = system.m, system.designs.over(*x.shape[:-1])
    words = [*([f"t={t:g}"] if m.rheonomic else []), *(["parameters=..."] if designs.names else [])]
    when, how = (
        f" at t = {t:g} s" if m.rheonomic else "",
        f"m.project(..., {', '.join(words)})" if words else "m.project",
    )
    both = at_time(m, VIOLATIONS, t, x[..., : m.nq + m.nv], designs=designs)
    violation, across = (float(np.max(y)) for y in both)

    def worst(of: Floats) -> str:
        """Whose the largest violation is."""
        at = np.unravel_index(int(np.argmax(of)), np.shape(of))
        number = f" (trajectory {', '.join(map(str, at))})" if at else ""
        return f"{m.name}{designs[at].told if designs.names else ''}{number}"

    if not accepts(violation):
        raise AssemblyError(f"q0 violates loop closure of {worst(both[0])} by {violation:.3g} (rad, or lengths of its size){when}; assemble it from the "
            f"actuated joints, or project it with {how}.")  # fmt: skip
    if not (resting or accepts(across)):
        raise AssemblyError(f"v0 violates loop closure of {worst(both[1])} by {across:.3g} (rad, or lengths of its size, a second; of the largest velocity above 1){when}; "
            f"take it from m.complete, project it with {how}, or give v0=None for as little motion as the loops allow.")  # fmt: skip
    return max(violation, across)


def events_of(given: Any, method: str) -> dict[str, Event]:
    """Events by name; those without are called after their function."""
    if given is None:
        return {}
    refuse(
        method in step_formulas.METHODS,
        f"events are looked for by adaptive methods; {method} is none.",
    )
    if isinstance(given, Mapping):
        named = dict(given)
    else:
        try:
            functions: Sequence[Any] = [given] if callable(given) else list(given)
        except TypeError:
            raise InputError(
                f"events are functions of t, q and v; it is {format_value(given)}."
            ) from None
        named = {}
        for f in functions:
            name = getattr(f, "__name__", type(f).__name__).strip("<>")
            name = name if name not in named else f"{name}{len(named)}"
            named[name] = f
    for name, f in named.items():
        refuse(not isinstance(name, str), f"events have names; {name!r} is none.")
        refuse(
            not callable(f),
            f"the event '{name}' is {format_value(f)}; a function of t, q and v is expected.",
        )
        for word in ("terminal", "direction"):
            value: Any = getattr(f, word, 0)
            refuse(not issubclass(type(value), Real | np.bool_) or not abs(value) < math.inf, f"{word} of the event '{name}' is a number, as in "
                f"SciPy; it is {format_value(value)}.")  # fmt: skip
    return named
