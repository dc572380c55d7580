"""What a user asks for, as plain data: shapes, times, steps and events; a sentence for what cannot be."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.dynamics.applied import check_external
from eslabon.dynamics.closed import WAYS
from eslabon.dynamics.equations import FORMULATIONS
from eslabon.errors import AssemblyError, suggest
from eslabon.graph.native import InputError
from eslabon.graph.native.arguments import Floats, as_floats
from eslabon.kinematics.closure import TORN
from eslabon.model import Mechanism
from eslabon.simulate import equations
from eslabon.simulate.adaptive import Event
from eslabon.simulate.system import System


def refuse(condition: bool, sentence: str) -> None:
    """An `InputError` if the condition holds."""
    if condition:
        raise InputError(sentence)


def times_of(t: ArrayLike) -> tuple[Floats, bool]:
    """The times, and whether they are those to report."""
    times = as_floats(t, "t")
    times = np.array([0.0, float(times)]) if times.ndim == 0 else times
    refuse(
        times.ndim != 1 or len(times) < 2, f"t is a duration, a start and an end, or times; its shape is {times.shape}."
    )
    refuse(not np.isfinite(times).all(), "t holds a number that is not finite.")
    wrong = np.flatnonzero(np.diff(times) <= 0)
    if len(wrong):
        k = wrong[0]
        raise InputError(f"t must increase; {times[k + 1]:g} follows {times[k]:g}.")
    return times, len(times) > 2


def check_tolerances(rtol: Any, atol: Any) -> None:
    """Refuse what is no tolerance."""
    for name, value, least in (("rtol", rtol, 1e-15), ("atol", atol, 0.0)):
        given = as_floats(value, name)
        good = np.isfinite(given).all() and bool((given >= least).all())
        refuse(
            not good or (name == "rtol" and given.ndim > 0),
            f"{name} must be a number greater than zero; it is {value!r}.",
        )


def check_step(step: float | None, times: Floats) -> None:
    """Refuse a step that is no length of time, or longer than all there is."""
    if step is None:
        return
    refuse(isinstance(step, str) or np.ndim(step) != 0, f"step is a length of time in seconds; it is {step!r}.")
    refuse(not step > 0, f"step must be greater than zero; it is {step!r}.")
    length = times[-1] - times[0]
    refuse(step > length * (1 + 1e-9), f"step is {step:g} s, longer than the whole run of {length:g} s.")


def grid(times: Floats, report: bool, step: float | None, every: int, method: str) -> tuple[Floats, int]:
    """The times to report, and how many steps lie between two of them."""
    refuse(int(every) != every or every < 1, f"every must be a whole number of steps, at least 1; it is {every!r}.")
    if report:
        refuse(every != 1, "t already says when to report; leave out every, or give a duration.")
        return times, 1 if step is None else _whole(np.diff(times).max() / step)
    if step is None:
        raise InputError(f"{method} needs a step, such as step=1e-3.")
    start, length = times[0], times[-1] - times[0]
    count = _whole(length / step)
    numbers = np.append(np.arange(0, count, every), count)
    return start + length * (numbers / count), min(int(every), count)


def _whole(ratio: float) -> int:
    """How many steps fill an interval: none longer than asked, but for round-off."""
    return max(1, math.ceil(ratio * (1 - 1e-9)))


def wrenches(m: Mechanism, external: Mapping[str, ArrayLike]) -> dict[str, Floats]:
    """Wrenches by body or frame, (..., 6)."""
    check_external(m, tuple(external))
    made = {name: as_floats(w, f"the wrench on {name}") for name, w in sorted(external.items())}
    for name, wrench in made.items():
        refuse(wrench.shape[-1:] != (6,), f"the wrench on {name} has shape {wrench.shape}; (..., 6) is expected.")
        refuse(not np.isfinite(wrench).all(), f"the wrench on {name} holds a number that is not finite.")
    return made


def parameters_of(m: Mechanism, parameters: Mapping[str, ArrayLike]) -> dict[str, Floats]:
    """Values of parameters by name."""
    m.check_parameters(parameters)
    return {name: np.asarray(as_floats(p, name)) for name, p in sorted(parameters.items())}


def formulation_of(m: Mechanism, name: str | None, method: str) -> str | None:
    """The formulation, if there is one of that name for this mechanism and method."""
    known = tuple(dict.fromkeys((*FORMULATIONS, *WAYS))) if m.closed else tuple(FORMULATIONS)
    refuse(name is not None and name not in known, f"there is no formulation {name!r}{suggest(str(name), known)}")
    fixed = method in ("rk4", "symplectic")
    refuse(fixed and name == "gibbs_appell" and m.closed, f"the explicit equations divide the velocities of {m.name} anew on "
        f"the way, which {method} in native code cannot; use an adaptive method, or leave formulation out.")  # fmt: skip
    refuse(
        method == "symplectic" and name is not None,
        "the symplectic method has its own equations; leave formulation out.",
    )
    return name


def start(system: System, q0: ArrayLike, v0: ArrayLike | None) -> Floats:
    """The state at the start, (..., n)."""
    m = system.m
    v0 = np.zeros(m.nv) if v0 is None else v0
    parts = []
    for name, given, size, noun in (("q0", q0, m.nq, "coordinates"), ("v0", v0, m.nv, "velocities")):
        array = as_floats(given, name)
        refuse(array.ndim == 0, f"{name} is a single number; {m.name} has {size} {noun}.")
        count = array.shape[-1]
        refuse(count != size, f"{name} has {count} values in its last axis; {m.name} has {size} {noun}.")
        refuse(not np.isfinite(array).all(), f"{name} holds a number that is not finite.")
        parts.append(array)
    for place in equations.quaternions(m):
        short = np.linalg.norm(parts[0][..., place], axis=-1).min() < 1e-6
        refuse(short, "q0 has a quaternion of length zero, which is no orientation.")
    try:
        batch = np.broadcast_shapes(parts[0].shape[:-1], parts[1].shape[:-1], system.batch)
    except ValueError:
        shapes = f"q0 has {parts[0].shape[:-1]}, v0 {parts[1].shape[:-1]}, what drives it {system.batch}"
        raise InputError(f"leading axes do not fit together: {shapes}.") from None
    x = np.concatenate([np.broadcast_to(p, (*batch, p.shape[-1])) for p in parts], axis=-1)
    if m.closed:
        _check_closed(m, x.reshape(-1, x.shape[-1]))
    return equations.settled(m, x)


def _check_closed(m: Mechanism, x: Floats) -> None:
    """Refuse a start that tears the loops."""
    from eslabon.kinematics.assembly import project, residual

    open_by = float(residual(m, x[:, : m.nq]).max(initial=0.0))
    if not open_by <= TORN:
        raise AssemblyError(f"q0 leaves the loops of {m.name} open by {open_by:.3g} (m or rad); assemble it from the "
            "actuated joints, or bring it onto the loops with m.project.")  # fmt: skip
    across = float(np.abs(project(m, x[:, : m.nq], x[:, m.nq :])[1] - x[:, m.nq :]).max(initial=0.0))
    if not across <= TORN * max(1.0, float(np.abs(x[:, m.nq :]).max(initial=0.0))):
        raise AssemblyError(f"v0 tears the loops of {m.name}: {across:.3g} (m or rad a second) of it is against them; take "
            "it from m.complete, or bring it onto the loops with m.project.")  # fmt: skip


def events_of(given: Any) -> dict[str, Event]:
    """Events by name; those without are called after their function."""
    if given is None:
        return {}
    refuse(
        not callable(given) and not isinstance(given, Iterable), f"events are functions of t, q and v; it is {given!r}."
    )
    if isinstance(given, Mapping):
        named = dict(given)
    else:
        functions: Sequence[Any] = [given] if callable(given) else list(given)
        named = {}
        for f in functions:
            name = getattr(f, "__name__", type(f).__name__).strip("<>")
            name = name if name not in named else f"{name}{len(named)}"
            named[name] = f
    for name, f in named.items():
        refuse(not callable(f), f"the event '{name}' is {f!r}; a function of t, q and v is expected.")
    return named
