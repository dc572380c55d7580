"""The one way into the room: from what a user asks to a `Motion`."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.errors import suggest, tell_of_singularity
from eslabon.graph.native.arguments import Floats
from eslabon.kinematics.assembly import residual
from eslabon.model import Mechanism
from eslabon.simulate import adaptive, asked, equations, fixed, loops, steps
from eslabon.simulate.adaptive import Event
from eslabon.simulate.control import Called, as_control
from eslabon.simulate.errors import Interrupted, SimulationError, SimulationWarning, SingularMotionError
from eslabon.simulate.motion import Motion, Occurrences, Statistics, columns
from eslabon.simulate.progress import Progress
from eslabon.simulate.system import System

UNMET = 1e-8  # rad or m: a miss of implicit equations that the user hears of


def simulate(
    m: Mechanism,
    q0: ArrayLike,
    v0: ArrayLike | None,
    t: ArrayLike,
    control: Any = None,
    *,
    method: str = "DOP853",
    formulation: str | None = None,
    step: float | None = None,
    every: int = 1,
    hold: bool = False,
    rtol: float = 1e-8,
    atol: ArrayLike = 1e-10,
    events: Mapping[str, Event] | Iterable[Event] | Event | None = None,
    external: Mapping[str, ArrayLike] | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    singular: str = "warn",
    progress: bool | None = None,
    threads: int | None = None,
) -> Motion:
    """Integrate the equations of motion.

    Parameters
    ----------
    q0, v0 : array_like, (..., nq) and (..., nv)
        Where the motion starts; None for v0 is rest. Leading axes are trajectories, and broadcast.
    t : a duration, (start, end), or three or more times at which to report.
    control : the actuators' forces: None; an array (..., nu); a `Table` in time; a law marked with `traced`, which
        becomes native; or any Python function tau = control(t, q, v), which is called at every evaluation and so is
        slower by far.
    method : "DOP853", "RK45" (explicit), "LSODA", "Radau", "BDF" (stiff, with exact Jacobians) are SciPy's, and choose
        their steps. "rk4" (order 4) and "symplectic" (order 2, without energy drift; see `steps.midpoint`) take fixed
        ones in native code, thousands of trajectories at once.
    formulation : of the accelerations, as in `forward_dynamics`. With loops, "gibbs_appell" integrates the explicit
        equations (adaptive methods only) and divides the velocities anew where the division goes bad.
    step : the step of the fixed methods, shortened where it does not divide an interval; the longest one of the others.
    every : how many fixed steps from one report to the next, if t does not say it.
    hold : whether the control is asked once a step and held, as a digital controller does; for fixed steps.
    rtol, atol : tolerances of the adaptive methods.
    events : functions of t, q and v whose zeros are looked for, by name or not, with `terminal` and `direction` as in
        SciPy; for one trajectory by an adaptive method.
    external : wrenches (..., 6) on bodies or frames in their own axes, constant in time.
    parameters : values in place of the model's own.
    singular : what becomes of a motion that passes a posture at which branches of the loops meet: "warn", "error" or
        "ignore". Momentum carries it on, but another way would be as good.
    progress : whether to show a bar; if left out, on a terminal and after two seconds.
    threads : how many threads share many trajectories.

    >>> import eslabon as es
    >>> m = es.load("double_pendulum")
    >>> motion = simulate(m, [0.5, 0.0], [0.0, 0.0], 2.0)
    >>> motion
    <Motion of double_pendulum: 0 to 2 s, ... times, DOP853>
    >>> bool(abs(motion.energy.total - motion.energy.total[0]).max() < 1e-6)
    True
    >>> simulate(m, [[0.5, 0.0], [0.6, 0.0]], None, 2.0, method="rk4", step=1e-3, every=100).q.shape
    (2, 21, 2)
    """
    equations.check(m)
    asked.refuse(
        m.closed and method == "symplectic", f"{m.name} has loops, which the symplectic method does not keep; use rk4."
    )
    asked.refuse(m.closed and bool(parameters), f"{m.name} has loops, which other parameters move; simulate "
        "m.with_parameters(...) instead.")  # fmt: skip
    known = (*adaptive.METHODS, *steps.METHODS)
    asked.refuse(method not in known, f"there is no method '{method}'{suggest(str(method), known)}")
    words = ("warn", "error", "ignore")
    asked.refuse(singular not in words, f"singular is 'warn', 'error' or 'ignore'; it is {singular!r}.")
    times, report = asked.times_of(t)
    asked.check_step(step, times)
    asked.check_tolerances(rtol, atol)
    forces = as_control(m, control, times[0], times[-1])
    system = System(m, forces, asked.wrenches(m, external or {}), asked.parameters_of(m, parameters or {}), hold,
        asked.formulation_of(m, formulation, method))  # fmt: skip
    x0 = asked.start(system, q0, v0)
    with Progress(f"simulate {m.name}", progress) as bar:
        if method in steps.METHODS:
            asked.refuse(events is not None, f"events are looked for by adaptive methods; {method} is none.")
            grid = asked.grid(times, report, step, every, method)
            return _unmistaken(m, _fixed(system, steps.METHODS[method], x0, *grid, bar, threads), singular)
        asked.refuse(every != 1, f"{method} chooses its own steps; say when to report by an array t instead of every.")
        asked.refuse(hold, f"{method} chooses its own steps; forces are held from step to step by rk4 and symplectic.")
        settings = adaptive.Settings(method, rtol, atol, step or math.inf, report, asked.events_of(events))
        run = _many_adaptive if x0.ndim > 1 else _one_adaptive
        return _unmistaken(m, run(system, x0, times, settings, bar), singular)


# Runs ----------------------------------------------------------------------------------------------------------------


def _fixed(
    system: System, method: steps.Method, x0: Floats, t: Floats, every: int, bar: Progress, threads: int | None
) -> Motion:
    rows = fixed.Rows(t, np.empty((*x0.shape[:-1], len(t), x0.shape[-1])), every)
    rows.x[..., 0, :] = x0
    run = fixed.in_machine_code(system, method, rows, bar, threads)
    if isinstance(system.control, Called):
        asked.refuse(method.name != "rk4", f"{method.name} runs in native code, which a Python function cannot enter: mark "
            "it with `traced` if it can be traced, or use rk4.")  # fmt: skip
        run = fixed.in_python(system, method, rows, bar)

    def motion() -> Motion:
        count = (rows.done - 1) * every
        statistics = Statistics(method.name, count, count * method.evaluations, bar.seconds)
        tau = None if rows.tau is None else rows.tau[..., : rows.done, :]
        return _motion(system, t[: rows.done], rows.x[..., : rows.done, :], {}, statistics, tau)

    try:
        for _ in run:
            if not _finite(rows.x[..., rows.done - 1, :]).any():
                break
    except KeyboardInterrupt:
        raise _interrupted(motion()) from None
    if rows.worst > UNMET:
        sentence = f"the symplectic method met its implicit equations to {rows.worst:.1g} only; take a shorter step."
        warnings.warn(f"{system.m.name}: {sentence}", SimulationWarning, stacklevel=3)
    return _unbroken(motion())


def _one_adaptive(system: System, x0: Floats, t: Floats, settings: adaptive.Settings, bar: Progress) -> Motion:
    run = adaptive.Run(system, t, settings, bar)
    try:
        run.integrate(x0)
    except KeyboardInterrupt:
        raise _interrupted(_from_run(run, bar)) from None
    motion = _from_run(run, bar)
    if run.trouble:
        reach = motion.t[-1]
        raise SimulationError(f"{system.m.name} cannot be integrated beyond t = {reach:g} s: {run.trouble}", motion)
    return motion


def _many_adaptive(system: System, x0: Floats, t: Floats, settings: adaptive.Settings, bar: Progress) -> Motion:
    """One after another, at common times; a trajectory that breaks down is NaN from there on."""
    asked.refuse(not settings.report, "adaptive methods take other steps for every trajectory; say at which times to "
        "report all of them by an array t.")  # fmt: skip
    asked.refuse(bool(settings.events), "events are looked for in one trajectory at a time.")
    batch = x0.shape[:-1]
    x = np.full((*batch, len(t), system.n), np.nan)
    runs: list[adaptive.Run] = []
    try:
        for index in np.ndindex(batch):
            runs.append(adaptive.Run(system.pick(batch, index), t, settings, bar.part(len(runs), math.prod(batch))))
            runs[-1].integrate(x0[index])
            reached = np.reshape(runs[-1].x, (-1, system.n))[np.isin(runs[-1].t, t)]
            x[index][: len(reached)] = equations.settled(system.m, reached)
    except KeyboardInterrupt:
        raise _interrupted(_motion(system, t, x, {}, _costs(runs, bar))) from None
    return _unbroken(_motion(system, t, x, {}, _costs(runs, bar)))


def _costs(runs: Sequence[adaptive.Run], bar: Progress) -> Statistics:
    total = sum(r.steps for r in runs), sum(r.evaluations for r in runs)
    return Statistics(runs[0].settings.method, *total, bar.seconds)


def _from_run(run: adaptive.Run, bar: Progress) -> Motion:
    def states(rows: Sequence[Floats]) -> Floats:
        return equations.settled(run.system.m, np.reshape(rows, (-1, run.system.n)))

    nq, events = run.system.m.nq, {}
    for name, happened in run.found.items():
        x = states([x for _, x in happened])
        events[name] = Occurrences(np.array([t for t, _ in happened]), x[:, :nq], x[:, nq:])
    return _motion(run.system, np.array(run.t), states(run.x), events, _costs([run], bar))


def _motion(
    system: System,
    t: Floats,
    x: Floats,
    events: Mapping[str, Occurrences],
    statistics: Statistics,
    tau: Floats | None = None,
) -> Motion:
    m = system.m
    late: dict[str, Callable[[Motion], Floats]] = {
        "tau": lambda motion: system.forces(motion.t, motion.q, motion.v) if tau is None else tau,
        "a": lambda motion: system.accelerations(motion.q, motion.v, motion.tau),
        "energy": lambda motion: system.energy(motion.q, motion.v),
    }
    closure = residual(m, x[..., : m.nq]) if m.closed else np.zeros(x.shape[:-1])
    return Motion(t, x[..., : m.nq], x[..., m.nq :], closure, m.name, columns(m), events, statistics, late)


# Endings -------------------------------------------------------------------------------------------------------------


def _finite(x: Floats) -> Any:
    return np.isfinite(x).all(axis=-1)


def _interrupted(motion: Motion) -> Interrupted:
    reached = f"t = {motion.t[-1]:g} s" if len(motion.t) else "the start"
    return Interrupted(f"stopped at {reached}; what there is so far is in the exception's `motion`.", motion)


def _unmistaken(m: Mechanism, motion: Motion, singular: str) -> Motion:
    """The motion; where it passed a singular posture of the loops, that is told as the caller asked."""
    if not m.closed or singular == "ignore" or len(motion.t) < 2:
        return motion
    passed = loops.crossings(m, motion.q)
    if not passed.any():
        return motion
    rows = passed.reshape(-1, passed.shape[-1]).any(axis=0)
    before, after = motion.t[int(rows.argmax())], motion.t[int(rows.argmax()) + 1]
    many = (
        f" in {int(passed.any(axis=-1).sum())} of {passed[..., 0].size} trajectories, the first"
        if passed.ndim > 1
        else ""
    )
    sentence = (
        f"{m.name} passes a singular posture, where branches of its loops meet,{many} between t = {before:g} and {after:g} s; "
        "it goes on as its momentum carries it."
    )
    if singular == "error":
        raise SingularMotionError(sentence, motion.until(before))
    tell_of_singularity(singular, sentence)
    return motion


def _unbroken(motion: Motion) -> Motion:
    """The motion, with a warning if some of many trajectories broke down, or an error if all did."""
    broken = ~(_finite(motion.q[..., -1, :]) & _finite(motion.v[..., -1, :]))  # what is no number stays none
    if not broken.any():
        return motion
    good = _finite(motion.q) & _finite(motion.v)
    reach = motion.t[np.maximum(good.sum(axis=-1) - 1, 0)]
    advice = "Numbers are no longer finite there; a shorter step or an adaptive method may help."
    if broken.ndim == 0:
        part = motion.until(reach)
        raise SimulationError(f"{motion.name} broke down after t = {reach:g} s. {advice}", part)
    if broken.all():
        raise SimulationError(f"all {broken.size:,} trajectories of {motion.name} broke down, the last one after "
            f"t = {reach.max():g} s. {advice}", motion)  # fmt: skip
    first = tuple(int(i) for i in np.argwhere(broken)[0])
    which = first[0] if len(first) == 1 else first
    sentence = (
        f"{int(broken.sum()):,} of {broken.size:,} trajectories of {motion.name} broke down, the first of them, number"
    )
    warnings.warn(f"{sentence} {which}, after t = {reach[first]:g} s. {advice}", SimulationWarning, stacklevel=4)
    return motion
