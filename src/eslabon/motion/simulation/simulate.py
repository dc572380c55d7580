"""The one way into the room: from a user's arguments to a `Trajectory`."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.errors import report_singularity, user_stacklevel
from eslabon.formulas.formulations.formulation import Formulation
from eslabon.model import Model
from eslabon.model.scale import characteristic_length
from eslabon.motion.loads import Loads
from eslabon.motion.signals import Occurrences, Statistics
from eslabon.motion.simulation import adaptive_steps, fixed_steps, run_options, step_formulas
from eslabon.motion.simulation.actuation import Control, as_control
from eslabon.motion.simulation.adaptive_steps import Event
from eslabon.motion.simulation.applied_system import System, forces_along
from eslabon.motion.simulation.constraint_projection import at_time
from eslabon.motion.simulation.controller_memory import within
from eslabon.motion.simulation.joint_stops import Stops, stops_of
from eslabon.motion.simulation.native_laws import Law
from eslabon.motion.simulation.python_laws import Called, RaisedError
from eslabon.motion.simulation.sampled_laws import Sampler
from eslabon.motion.simulation.simulation_errors import (
    Interrupted,
    SimulationError,
    SimulationWarning,
    SingularMotionError,
)
from eslabon.motion.simulation.singular_passages import (
    Passages,
    list_names,
    lost_ranks,
    refuse_undetermined,
)
from eslabon.motion.trajectory import Trajectory, columns
from eslabon.progress import Progress
from eslabon.solve.constraints.closure_violation import VIOLATIONS

Run = fixed_steps.Run | adaptive_steps.Run | adaptive_steps.Runs

UNMET = 1e-8  # rad or m: a miss of implicit equations that the user hears of


def simulate(
    m: Model,
    q0: ArrayLike,
    v0: ArrayLike | None,
    t: ArrayLike,
    control: Any = None,
    *,
    method: str = "DOP853",
    formulation: str | Formulation | None = None,
    constraints: str | None = None,
    independent: tuple[str, ...] | None = None,
    step: float | None = None,
    every: int = 1,
    hold: bool = False,
    saturate: bool = False,
    stops: bool | Stops = False,
    friction: str = "smooth",
    rtol: float = 1e-8,
    atol: ArrayLike | None = None,
    events: Mapping[str, Event] | Iterable[Event] | Event | None = None,
    external: Mapping[str, ArrayLike] | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    singular: str = "warn",
    progress: bool | None = None,
    threads: int | None = None,
) -> Trajectory:
    """Integrate the equations of motion.

    Parameters
    ----------
    q0, v0 : array_like, (..., nq) and (..., nv) Where the motion starts; None for v0 is rest, or as
        little motion as constraints that depend on the time allow. Leading axes are trajectories,
        and broadcast.
    t : a duration, (start, end), or three or more times at which to report.
    control : the actuators' forces: None; an array (..., nu); forces in time, as arrays (times,
        values) that hold from one time to the next, or as a `Table`; a law marked with `traced`,
        which becomes native; any Python function tau = control(t, q, v), which is called at every
        evaluation (once a step with `hold`) and so is slower; or either law `sampled` with a period
        of its own. A Python function sees read-only arrays, and what it gives is copied.
    method : "DOP853", "RK45" (explicit), "LSODA", "Radau", "BDF" (stiff, with exact Jacobians) are
        SciPy's, and choose their steps. "rk4" (order 4) and "symplectic" (order 2, without energy
        drift; see `step_formulas.midpoint`) take fixed ones in native code, thousands of
        trajectories at once.
    formulation : of the tree's equations, a word as in `forward_dynamics` or a `Formulation`; the
        word "bond_graph" is known to `m.simulate` alone.
    constraints : how loops are imposed: "multipliers", "udwadia_kalaba", or "elimination" of
        dependent coordinates (adaptive methods only), which re-selects the independent ones where
        they go bad.
    independent : names of the coordinates that elimination keeps throughout, as in
        `forward_dynamics`.
    step : the step of the fixed methods, shortened where it does not divide an interval; the
        longest one of the others.
    every : how many fixed steps from one report to the next, if t does not say it.
    hold : whether the control is asked once a step and held, as a digital controller does; for
        fixed steps. `sampled` does it with a period, a delay and more.
    saturate : whether the actuators' forces stay within the effort limits of their joints;
        `motion.tau_commanded` is what the control asked for, `motion.tau` what acted.
    stops : whether joints bounce off their limits: True, or `Stops(stiffness, damping)`.
    friction : "smooth" takes the joints' Coulomb friction as F tanh(v / 0.001), which creeps where
        a joint would stick; "sharp" as F sign(v), so that joints stick (adaptive methods only).
    rtol, atol : tolerances of the adaptive methods; atol is one number or one for each of the
        state. Left out it is 1e-10, for lengths times the characteristic length of the mechanism.
    events : functions of t, q and v whose zeros are looked for, by name or not, with `terminal` and
        `direction` as in SciPy; for one trajectory by an adaptive method. They are looked at four
        times a step, and once more where these values bend towards zero; a function that oscillates
        faster needs a shorter `step`.
    external : wrenches (..., 6) on bodies or frames in their own axes, constant in time.
    parameters : values in place of the model's own, by name, lengths too; arrays are many designs,
        each with a trajectory of its own, which starts from a configuration that closes in it
        (`m.assemble(..., parameters=...)`).
    singular : what becomes of a motion that passes a singular configuration, where branches of the
        loops meet: "warn", "error" or "ignore". It goes on along its tangent; another branch would
        be as good. `motion.statistics.passages` lists them.
    progress : whether to show a bar; if left out, on a terminal and after two seconds.
    threads : how many threads share many trajectories.

    >>> import eslabon as es
    >>> m = es.load("double_pendulum")
    >>> motion = simulate(m, [0.5, 0.0], [0.0, 0.0], 2.0)
    >>> motion
    <Trajectory of double_pendulum: 0 to 2 s, ... times, DOP853>
    >>> bool(abs(motion.energy.total - motion.energy.total[0]).max() < 1e-6)
    True
    >>> simulate(m, [[0.5, 0.0], [0.6, 0.0]], None, 2.0, method="rk4", step=1e-3, every=100).q.shape
    (2, 21, 2)
    """
    run_options.check_words(m, method, singular, hold, progress, threads)
    times, report = run_options.times_of(t)
    longest = run_options.step_of(step, times)
    values = run_options.parameters_of(m, parameters)
    designs = Loads(parameters=values).designs
    stopped = stops_of(m, stops, longest, designs)
    loads = Loads(run_options.wrenches(m, external), values, stopped)
    words = run_options.formulation_of(
        m, formulation, constraints, independent, method, bool(stopped)
    )
    forces = as_control(m, control, times[0], times[-1], hold)
    system = System(
        m,
        loads,
        *words,
        run_options.effort_limits(m, saturate, designs),
        run_options.friction_of(m, friction, method, constraints),
    )
    x0 = run_options.start(system, forces, q0, v0, times[0])
    if m.closed:
        refuse_undetermined(system, x0, times[0])
    forces = forces.over(x0.shape[:-1]) if isinstance(forces, Sampler) else forces
    size = m.nq + m.nv + (forces.size if isinstance(forces, Law) else 0)
    named, tolerances = (
        run_options.events_of(events, method),
        run_options.tolerances(
            rtol, run_options.default_atol(m, size) if atol is None else atol, size
        ),
    )
    passages = Passages(m, singular != "ignore", x0.shape[:-1], system.designs)
    run: Run
    with Progress(f"simulate {m.name}", progress) as bar:
        if method in step_formulas.METHODS:
            grid = run_options.grid(times, report, longest, every, method)
            how = step_formulas.METHODS[method]
            run_options.refuse_for_fixed(how, forces)
            if isinstance(forces, Sampler):
                forces.check(*grid)
            run = fixed_steps.Run(
                system, how, forces, hold, x0, *grid, passages, bar.update, threads
            )
        else:
            settings = adaptive_steps.Settings(
                method, *tolerances, longest or math.inf, report, named
            )
            run_options.refuse_for_adaptive(settings, every, hold, x0.ndim > 1)
            runs = adaptive_steps.Runs if x0.ndim > 1 else adaptive_steps.Run
            run = runs(system, forces, x0, times, settings, passages, bar.update)
        motion = _integrated(run, lambda: _motion(system, forces, method, run, bar.seconds))
    if singular == "warn":
        _warn_of_misses(m, run)
    return _past_singularities(_unbroken(motion), passages, singular)


def _integrated(run: Any, motion: Callable[[], Trajectory]) -> Trajectory:
    """The motion that a run makes; what there is of it is in the exception if something stops
    it."""
    try:
        run.integrate()
    except KeyboardInterrupt:
        sentence = f"stopped at t = {run.reached:g} s; what there is so far is in the exception's `motion`."
        raise Interrupted(sentence, motion()) from None
    except RaisedError as error:
        part = motion()
        sentence = f"{part.name} was integrated to t = {run.reached:g} s, where {error}"
        raise SimulationError(
            f"{sentence} The motion so far is in the exception's `motion`.", part
        ) from error.__cause__
    made = motion()
    if trouble := getattr(run, "trouble", ""):
        raise SimulationError(
            f"{made.name} cannot be integrated beyond t = {made.t[-1]:g} s: {trouble}", made
        )
    if (unmet := getattr(run, "worst", 0.0)) > UNMET:
        _warn(
            f"{made.name}: the symplectic method met its implicit equations to {unmet:.1g} only; take a shorter step."
        )
    return made


def _motion(system: System, control: Control, method: str, run: Run, seconds: float) -> Trajectory:
    m, made = system.m, run.outcome()
    q, v = made.x[..., : m.nq], made.x[..., m.nq :]
    state = q[..., :0] if made.state is None else made.state
    asked, tau = made.asked, made.tau
    if asked is None or tau is None:
        asked = forces_along(
            m, None if isinstance(control, Called | Sampler) else control, made.t, q, v, state
        )
        tau = within(asked, system.limit)
    own = system.designs.along()
    closure = (
        at_time(m, VIOLATIONS, made.t, made.x, designs=own)[0]
        if m.closed
        else np.zeros(q.shape[:-1])
    )
    events = {
        name: Occurrences(t, x[:, : m.nq], x[:, m.nq : m.nq + m.nv]) for name, (t, x) in made.events.items()
    }  # fmt: skip
    told = run.passages.told(run.branches)
    statistics = Statistics(method, made.steps, made.evaluations, seconds, told)
    groups = {
        "q": q, "v": v, "tau": tau, "tau_commanded": asked, "x": state, "closure": closure,
    }  # fmt: skip
    if made.a is not None:  # where something is held, states alone do not tell accelerations
        groups["a"] = made.a
    return Trajectory(made.t, groups, columns(m), m.name, events, statistics, m, system.loads)


def _warn(sentence: str) -> None:
    warnings.warn(sentence, SimulationWarning, stacklevel=user_stacklevel())


def _past_singularities(motion: Trajectory, passages: Passages, singular: str) -> Trajectory:
    """The motion; that it passed a singular configuration is told as the caller wants it."""
    first, passed = passages.first, np.isfinite(passages.first)
    if not passed.any():
        return motion
    many = f" in {int(passed.sum())} of {first.size} trajectories, the first" if first.ndim else ""
    passage = min(motion.statistics.passages, key=lambda p: p.t)
    sentence = (
        f"{motion.name} passes a singular configuration, where branches of its loops meet,{many} at t = {first.min():g} s: "
        f"{list_names(passage.loops)} {'loses' if len(passage.loops) == 1 else 'lose'} {passage.ranks} "
        f"{'rank' if passage.ranks == 1 else 'ranks'} there; it goes on along its tangent."
    )
    if singular == "error":
        raise SingularMotionError(sentence, motion.until(first.min()))
    report_singularity(singular, sentence)
    return motion


def _warn_of_misses(m: Model, run: Run) -> None:
    """Say which lengths decide where a motion turns to another branch, since a singular
    configuration is missed by little."""
    misses = [(miss, branch) for branch in run.branches.values() for miss in branch.misses]
    if not misses:
        return
    (t, _, misfit, q), branch = min(misses, key=lambda pair: pair[0].misfit)
    loops, _ = lost_ranks(m, t, q, branch.system.designs)
    length = misfit * float(characteristic_length(m.nominal))
    _warn(
        f"{m.name} misses a singular configuration at t = {t:g} s, where {list_names(loops)} would lose a rank, by {length:.1g} m; "
        "the motion depends on that length."
    )


def _unbroken(motion: Trajectory) -> Trajectory:
    """The motion, with a warning if some of many trajectories broke down, or an error if all
    did."""
    good: Any = np.isfinite(motion.q).all(axis=-1) & np.isfinite(motion.v).all(axis=-1)
    broken = ~good[..., -1]  # what is no number stays none
    if not broken.any():
        return motion
    reach = motion.t[np.maximum(good.sum(axis=-1) - 1, 0)]
    advice = "Numbers are no longer finite there; a shorter step or an adaptive method may help."
    if broken.ndim == 0:
        raise SimulationError(
            f"{motion.name} broke down after t = {reach:g} s. {advice}", motion.until(reach)
        )
    if broken.all():
        raise SimulationError(f"all {broken.size:,} trajectories of {motion.name} broke down, the last one after "
            f"t = {reach.max():g} s. {advice}", motion)  # fmt: skip
    first = tuple(int(i) for i in np.argwhere(broken)[0])
    _warn(f"{int(broken.sum()):,} of {broken.size:,} trajectories of {motion.name} broke down, the first of them, number "
        f"{first[0] if len(first) == 1 else first}, after t = {reach[first]:g} s. {advice}")  # fmt: skip
    return motion
