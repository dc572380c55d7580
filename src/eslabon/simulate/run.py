"""The one way into the room: from a user's arguments to a `Motion`."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import Floats
from eslabon.errors import tell_of_singularity
from eslabon.model import Model
from eslabon.simulate import adaptive, fixed, projection, run_options, steps
from eslabon.simulate.adaptive import Event
from eslabon.simulate.control import Called, Control, RaisedError, Table, as_control
from eslabon.simulate.errors import Interrupted, SimulationError, SimulationWarning, SingularMotionError
from eslabon.simulate.motion import Motion, Occurrences, Statistics, columns
from eslabon.simulate.progress import Progress
from eslabon.simulate.system import System, forces_along
from eslabon.solvers.assembly import residual

UNMET = 1e-8  # rad or m: a miss of implicit equations that the user hears of


def simulate(
    m: Model,
    q0: ArrayLike,
    v0: ArrayLike | None,
    t: ArrayLike,
    control: Any = None,
    *,
    method: str = "DOP853",
    formulation: str | None = None,
    constraints: str | None = None,
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
        slower by far. It sees read-only arrays, and what it gives is copied.
    method : "DOP853", "RK45" (explicit), "LSODA", "Radau", "BDF" (stiff, with exact Jacobians) are SciPy's, and choose
        their steps. "rk4" (order 4) and "symplectic" (order 2, without energy drift; see `steps.midpoint`) take fixed
        ones in native code, thousands of trajectories at once.
    formulation : of the tree's equations, as in `forward_dynamics`.
    constraints : how loops are imposed: "multipliers", "udwadia_kalaba", or "elimination" of dependent coordinates
        (adaptive methods only), which re-selects the independent ones where they go bad.
    step : the step of the fixed methods, shortened where it does not divide an interval; the longest one of the others.
    every : how many fixed steps from one report to the next, if t does not say it.
    hold : whether the control is asked once a step and held, as a digital controller does; for fixed steps.
    rtol, atol : tolerances of the adaptive methods.
    events : functions of t, q and v whose zeros are looked for, by name or not, with `terminal` and `direction` as in
        SciPy; for one trajectory by an adaptive method.
    external : wrenches (..., 6) on bodies or frames in their own axes, constant in time.
    parameters : values in place of the model's own.
    singular : what becomes of a motion that passes a singular configuration, where branches of the loops meet: "warn",
        "error" or "ignore". Momentum carries it on, but another branch would be as good.
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
    run_options.check_words(m, method, singular, hold, progress, threads, parameters)
    times, report = run_options.times_of(t)
    longest = run_options.step_of(step, times)
    words = run_options.formulation_of(m, formulation, constraints, method)
    forces = as_control(m, control, times[0], times[-1])
    system = System(m, run_options.wrenches(m, external), run_options.parameters_of(m, parameters), *words)
    x0 = run_options.start(system, forces, q0, v0)
    named, tolerances = run_options.events_of(events, method), run_options.tolerances(rtol, atol, x0.shape[-1])
    with Progress(f"simulate {m.name}", progress) as bar:
        if method in steps.METHODS:
            grid = run_options.grid(times, report, longest, every, method)
            motion = _fixed(system, forces, hold, steps.METHODS[method], x0, *grid, bar, threads)
        else:
            run_options.refuse_fixed(method, every, hold)
            settings = adaptive.Settings(method, *tolerances, longest or math.inf, report, named)
            run = _many_adaptive if x0.ndim > 1 else _one_adaptive
            motion = run(system, forces, x0, times, settings, bar)
    return _past_singularities(m, motion, singular)


# Runs ----------------------------------------------------------------------------------------------------------------


def _fixed(
    system: System, control: Control, hold: bool, method: steps.Method, x0: Floats, t: Floats, every: int, bar: Progress,
    threads: int | None,
) -> Motion:  # fmt: skip
    rows = fixed.Rows(t, np.empty((*x0.shape[:-1], len(t), x0.shape[-1])), every)
    rows.x[..., 0, :] = x0
    if isinstance(control, Called):
        run_options.refuse(method is not steps.RK4, f"{method.name} runs in native code, which a Python function cannot "
            "enter: mark it with `traced` if it can be traced, or use rk4.")  # fmt: skip
        run = fixed.in_python(system, control, hold, rows, bar)
    else:
        run = fixed.in_machine_code(system, method, control, hold, rows, bar, threads)

    def motion() -> Motion:
        count = (rows.done - 1) * every
        statistics = Statistics(method.name, count, count * method.evaluations, bar.seconds)
        tau = None if rows.tau is None else rows.tau[..., : rows.done, :]
        return _motion(system, control, t[: rows.done], rows.x[..., : rows.done, :], tau, statistics)

    try:
        for _ in run:
            if not _finite(rows.x[..., rows.done - 1, :]).any():
                break
    except KeyboardInterrupt:
        raise _interrupted(motion()) from None
    except RaisedError as error:
        raise SimulationError(_stopped(system.m, t[rows.done - 1], error), motion()) from error.__cause__
    if rows.worst > UNMET:
        sentence = f"the symplectic method met its implicit equations to {rows.worst:.1g} only; take a shorter step."
        warnings.warn(f"{system.m.name}: {sentence}", SimulationWarning, stacklevel=3)
    return _unbroken(motion())


def _one_adaptive(
    system: System, control: Control, x0: Floats, t: Floats, settings: adaptive.Settings, bar: Progress
) -> Motion:
    run = adaptive.Run(system, control, t, settings, bar)
    try:
        run.integrate(x0)
    except KeyboardInterrupt:
        raise _interrupted(_from_run(run, bar)) from None
    except RaisedError as error:
        raise SimulationError(_stopped(system.m, run.t[-1], error) if run.t else str(error),
            _from_run(run, bar)) from error.__cause__  # fmt: skip
    motion = _from_run(run, bar)
    if run.trouble:
        reach = motion.t[-1]
        raise SimulationError(f"{system.m.name} cannot be integrated beyond t = {reach:g} s: {run.trouble}", motion)
    _tell_of_tolerance(system.m, [run])
    return motion


def _many_adaptive(
    system: System, control: Control, x0: Floats, t: Floats, settings: adaptive.Settings, bar: Progress
) -> Motion:
    """One after another, at common times; a trajectory that breaks down is NaN from there on."""
    run_options.refuse(not settings.report, "adaptive methods take other steps for every trajectory; say at which times to "
        "report all of them by an array t.")  # fmt: skip
    run_options.refuse(bool(settings.events), "events are looked for in one trajectory at a time.")
    batch = x0.shape[:-1]
    x = np.full((*batch, len(t), x0.shape[-1]), np.nan)
    tau = np.full((*batch, len(t), system.m.nu), np.nan) if isinstance(control, Called) else None
    runs: list[adaptive.Run] = []

    def motion() -> Motion:
        return _motion(system, control, t, x, tau, _costs(runs, bar))

    def keep(run: adaptive.Run, index: tuple[int, ...]) -> None:
        reached = np.isin(run.t, t)
        rows = projection.project(system.m, np.reshape(run.x, (-1, x.shape[-1]))[reached])
        x[index][: len(rows)] = rows
        if tau is not None:
            tau[index][: len(rows)] = np.reshape(run.tau, (-1, system.m.nu))[reached]

    for index in np.ndindex(batch):
        own = control.pick(batch, index) if isinstance(control, Table) else control
        run = adaptive.Run(system.pick(batch, index), own, t, settings, bar.part(len(runs), math.prod(batch)))
        runs.append(run)
        try:
            run.integrate(x0[index])
        except KeyboardInterrupt:
            keep(run, index)
            raise _interrupted(motion()) from None
        except RaisedError as error:
            keep(run, index)
            raise SimulationError(_stopped(system.m, (run.t or [t[0]])[-1], error), motion()) from error.__cause__
        keep(run, index)
    _tell_of_tolerance(system.m, runs)
    return _unbroken(motion())


def _costs(runs: Sequence[adaptive.Run], bar: Progress) -> Statistics:
    total = sum(r.steps for r in runs), sum(r.evaluations for r in runs)
    return Statistics(runs[0].settings.method, *total, bar.seconds)


def _from_run(run: adaptive.Run, bar: Progress) -> Motion:
    m, events = run.system.m, {}

    def states(rows: Sequence[Floats]) -> Floats:
        return projection.project(m, np.reshape(rows, (-1, m.nq + m.nv)))

    for name, happened in run.found.items():
        x = states([x for _, x in happened])
        events[name] = Occurrences(np.array([t for t, _ in happened]), x[:, : m.nq], x[:, m.nq :])
    tau = np.reshape(run.tau, (-1, m.nu)) if isinstance(run.control, Called) else None
    return _motion(run.system, run.control, np.array(run.t), states(run.x), tau, _costs([run], bar), events)


def _motion(
    system: System,
    control: Control,
    t: Floats,
    x: Floats,
    tau: Floats | None,
    statistics: Statistics,
    events: Mapping[str, Occurrences] | None = None,
) -> Motion:
    m = system.m
    q, v = x[..., : m.nq], x[..., m.nq :]
    if not isinstance(control, Called):
        tau = forces_along(m, control, t, q, v)
    assert tau is not None
    closure = residual(m, q) if m.closed else np.zeros(x.shape[:-1])
    return Motion(t, q, v, tau, closure, m.name, columns(m), events or {}, statistics, system)


# Endings -------------------------------------------------------------------------------------------------------------


def _finite(x: Floats) -> Any:
    return np.isfinite(x).all(axis=-1)


def _interrupted(motion: Motion) -> Interrupted:
    reached = f"t = {motion.t[-1]:g} s" if len(motion.t) else "the start"
    return Interrupted(f"stopped at {reached}; what there is so far is in the exception's `motion`.", motion)


def _stopped(m: Model, t: float, error: RaisedError) -> str:
    return f"{m.name} was integrated to t = {t:g} s, where {error} The motion so far is in the exception's `motion`."


def _tell_of_tolerance(m: Model, runs: Sequence[adaptive.Run]) -> None:
    """Warn where tolerances could not be met."""
    loosened = [t for run in runs for t in run.loosened]
    if loosened:
        sentence = (
            f"{m.name}: the tolerance cannot be met near the singular configuration at t = {loosened[0]:g} s, where round-off "
            "decides; it was loosened to pass it."
        )
        warnings.warn(sentence, SimulationWarning, stacklevel=4)


def _past_singularities(m: Model, motion: Motion, singular: str) -> Motion:
    """The motion; that it passed a singular configuration is told as the caller wants it."""
    if not m.closed or singular == "ignore" or len(motion.t) < 2:
        return motion
    passed = projection.crossings(m, motion.q)
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
        f"{m.name} passes a singular configuration, where branches of its loops meet,{many} between t = {before:g} and "
        f"{after:g} s; it goes on as its momentum carries it."
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
