"""Inverse kinematics: configurations that bring frames to targets (Rojas, 3.3.1 and 3.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from eslabon.arguments import LARGEST, Floats, count, flag
from eslabon.compiler.evaluate import evaluate
from eslabon.errors import AssemblyError, InputError, InverseKinematicsError, ModelError
from eslabon.formulas.kinematics.frames import chosen_frame, moving_bodies
from eslabon.model import Model
from eslabon.model.memory import per_model
from eslabon.numerics.ordering import stable_order
from eslabon.numerics.tolerances import DISTINCT
from eslabon.solve.batches import flattened
from eslabon.solve.branch_assembly import Assembly, assembled
from eslabon.solve.configurations import Configurations, distinct, distinct_marks
from eslabon.solve.constraints.closed_configurations import unclosed
from eslabon.solve.designs import Designs, designs_of
from eslabon.solve.determinacy import determinacy
from eslabon.solve.driven import at_instants
from eslabon.solve.pose_search import POSE_SEARCH, STARTS
from eslabon.solve.prescribed import as_configuration, home
from eslabon.solve.problem import Problem
from eslabon.solve.ranges import Ranges
from eslabon.solve.rows import Orientation, Position
from eslabon.solve.solve_options import PLAIN, Options, read_options
from eslabon.solve.solver import SETTINGS, Lanes, Solved, Solver
from eslabon.solve.target import Target


def inverse_kinematics(
    m: Model,
    target: Any,
    guess: Any = None,
    *,
    solutions: int = 1,
    report: bool = False,
    **options: Any,
) -> Any:
    """Configurations for targets; see `Mechanism.inverse_kinematics`."""
    report = flag(report, "report")
    solutions = solutions if type(solutions) is int else count(solutions, "solutions", 1)
    if type(target) is np.ndarray and target.shape == (4, 4) and solutions == 1 and not m.closed:
        found = _one_pose(m, target, guess, options)
        if found is not None and (found.converged or report):
            return found if report else found.q
    solutions, o = count(solutions, "solutions", 1), read_options("inverse_kinematics", options)
    own, problem, x, o = at_instants(m, _as_targets(target), o)
    if not problem.rows:
        raise ModelError(
            "inverse_kinematics takes the pose that a frame is to have, (..., 4, 4), or es.Target(...)."
        )
    start = None if guess is None else as_configuration(own, guess)
    found = reached(own, problem, x, start, o, solutions, strict=not report)
    if report or solutions == 1:
        return found if report else found.q
    return np.where(np.asarray(found.converged)[..., None], found.q, np.nan)


def _as_targets(target: Any) -> Any:
    if isinstance(target, Target) or (
        isinstance(target, list | tuple) and any(isinstance(x, Target) for x in target)
    ):
        return target
    if target is None:
        raise ModelError(
            "inverse_kinematics takes the pose that a frame is to have, (..., 4, 4), or es.Target(...)."
        )
    return Target(pose=target)


def _one_pose(
    m: Model, pose: Floats, guess: Any, options: Mapping[str, Any]
) -> Configurations | None:
    """The configuration of a tree for one pose of its only frame, in one native call or two; None
    where there is more to it."""
    o = PLAIN
    if options:
        o = read_options("inverse_kinematics", options)
        if o.parameters is not None or o.t is not None or o.continuation:
            return None
    if guess is not None and (type(guess) is not np.ndarray or guess.shape != (m.nq,)):
        return None
    search = PoseSearch.of(m, o.limits)
    found = search(pose, guess, o.tolerance, o.restarts)
    if found is None:
        return None
    q, distance, angle, steps, _, verdict = found
    return Configurations(q, np.bool_(verdict > 0), distance, angle, int(steps))


class PoseSearch:
    """The search for one pose of a tree's frame, as `Solver.search` does it for a batch, in native
    code."""

    @staticmethod
    @per_model
    def of(m: Model, limits: bool) -> PoseSearch:
        return PoseSearch(m, limits)

    def __init__(self, m: Model, limits: bool) -> None:
        frame = chosen_frame(m, None).name
        problem = Problem(rows=(Orientation(frame), Position(frame)))
        ranges = Ranges.of(m) if limits else Ranges.of(m).unlimited
        self._solver = Solver(m, problem, ranges)
        self._native = evaluate(m, POSE_SEARCH, problem=problem).native
        self._unmoved = self._solver.unmoved
        self._limits = ranges.lower, ranges.upper, float(ranges.are_limited)
        self._none, self._home = np.zeros((STARTS, m.nq)), m.home()

    def _starts(self, x: Floats, guess: Floats | None, count: int) -> Floats:
        """The starts nearest to a target; what does not move the frame is as guessed."""
        solver = self._solver
        begin = solver.starts.q[solver.starts.nearest_to_one(x * solver.weights, count)]
        if guess is not None and self._unmoved.any():
            begin[:, self._unmoved] = guess[self._unmoved]
        return begin

    def __call__(self, pose: Floats, guess: Floats | None, tolerance: float, restarts: int) -> Any:
        """What the kernel gives; None where the general way has more to say."""
        steps = 0.0
        if guess is not None:
            found = self._native(guess, pose, guess, self._none, 1.0, tolerance, *self._limits)
            if found[5] > 0 or (
                found[5] == 0 and not restarts and SETTINGS.near < found[4] < np.inf
            ):
                return found
            if found[5] < 0 or not restarts or not np.isfinite(guess).all():
                return None
            steps = found[3]
        elif not (np.isfinite(pose).all() and np.abs(pose).max() <= LARGEST):
            return None
        reference = self._home if guess is None else guess
        count = min(restarts + (guess is None), STARTS + 1)
        x = np.concatenate([pose[:3, :3].ravel(), pose[:3, 3]])
        begin, rows = self._starts(x, guess, count), self._none.copy()
        rows[: count - 1] = begin[1:]
        found = self._native(
            begin[0], pose, reference, rows, float(count), tolerance, *self._limits
        )
        return (*found[:3], found[3] + steps, *found[4:]) if found[5] > 0 else None


def reached(
    m: Model, problem: Problem, x: Floats, guess: Floats | None, o: Options = PLAIN, solutions: int = 1,
    strict: bool = True,
) -> Configurations:  # fmt: skip
    """Configurations for values (..., size), from a guess or without one.

    With loops, a target that determines the mechanism is approached along a straight way first, so
    that the branch of the guess is kept.
    """
    _check_moving(m, problem)
    if o.continuation:
        start = home(m) if guess is None else guess
        return assembled(m, problem, x, start, o, strict)
    designs = designs_of(m, o.parameters, o.limits)
    start = home(m) if guess is None else guess
    lead, (begin, goal, p) = flattened(
        guess=(start, 1), targets=(x, 1), parameters=(designs.values, 1)
    )
    ranges = Ranges.of(m) if o.limits else Ranges.of(m).unlimited
    solver = Solver(m, problem, ranges, o.tolerance, designs.names, o.threads)
    lanes, guessed = Lanes(begin, goal, p), guess is not None or m.closed
    if solutions > 1:
        found, lead = _several(solver, lanes, guessed, solutions), (*lead, solutions)
    else:
        found = _one_each(solver, lanes, guessed, o)
    parts = (y.reshape(lead)[()] for y in (found.good, found.distance, found.angle, found.steps))
    made = Configurations(found.q.reshape(*lead, m.nq), *parts)
    if strict:
        own = Designs(designs.names, p)
        _refuse(m, problem, made, found.violation.reshape(lead), o.limits, solutions > 1, own)
    return made


def _check_moving(m: Model, problem: Problem) -> None:
    """Refuse frames that no joint moves."""
    moving = moving_bodies(m)
    for frame in problem.frames:
        if m.frame(frame).body not in moving:
            raise ModelError(f"{m.name}: no joint moves '{frame}'; prescribe a frame that moves.")


def _one_each(solver: Solver, lanes: Lanes, guessed: bool, o: Options) -> Solved:
    """A configuration for each lane: on the branch of its guess where there are loops and the
    target determines the mechanism, else by a search."""
    m, problem = solver.m, solver.problem
    found = determinacy(m, problem) if m.closed else None
    if found is None or found.open or found.surplus or not len(lanes.x):
        return solver.solve(lanes, guessed, o.restarts)
    task = Assembly(m, problem, solver.ranges, strict=False, o=o)
    designs = Designs(solver.names, lanes.p[:, None])
    q, _, _ = task.solve(lanes.start.copy(), lanes.x[:, None], designs)
    made = solver.verified(q[:, 0], lanes, np.zeros(len(q), dtype=np.int64))
    left = np.flatnonzero(~made.good)
    if len(left):
        again = solver.solve(lanes.take(left), guessed, o.restarts)
        for mine, other in zip(made, again, strict=True):
            mine[left] = other
    return made


def _several(solver: Solver, lanes: Lanes, guessed: bool, count: int) -> Solved:
    """Different configurations of each lane, the nearest to its guess first, from every start;
    places that are left over have the best one, and are not good."""
    rows = [_several_of(solver, lanes.take([k]), guessed, count) for k in range(len(lanes.x))]
    if not rows:
        nothing = np.zeros((0, count))
        return Solved(np.zeros((0, count, solver.m.nq)), nothing > 0, *(nothing,) * 4)
    return Solved(*(np.stack(y) for y in zip(*rows, strict=True)))


def _several_of(solver: Solver, lane: Lanes, guessed: bool, count: int) -> Solved:
    every, steps = solver.arrivals(lane, guessed)
    every = every[solver.ranges.contain(every)]
    order = stable_order(solver.ranges.apart(every, lane.start))
    every = every[order]
    kept = every[_different(solver.m, solver.ranges, every, count)]
    if not len(kept):
        kept = solver.solve(lane, guessed, solver.settings.restarts).q
        found = solver.verified(kept, lane, np.array([steps]))
    else:
        own = lane.take(np.zeros(len(kept), dtype=int))
        found = solver.verified(kept, own, np.full(len(kept), steps))
    fill = [0] * (count - len(found.q))
    made = Solved(*(np.concatenate([y, y[fill]]) for y in found))
    made.good[len(found.q) :] = False
    return made


def _different(m: Model, ranges: Ranges, q: Floats, most: float = np.inf) -> list[int]:
    """Which configurations are different, those before the others; with loops, passive motions make
    no difference."""
    if not m.closed or not len(q):
        return distinct(q, ranges.apart, 1e3 * DISTINCT, most)
    return distinct_marks(m, q, most)


def _refuse(
    m: Model, problem: Problem, made: Configurations, violation: Floats, limits: bool, several: bool,
    designs: Designs,
) -> None:  # fmt: skip
    """Raise where a target is not reached, with how near the nearest configuration comes."""
    good = np.atleast_1d(made.converged)
    good = good.any(axis=-1, keepdims=True) | good if several else good  # of several, one is enough
    if good.all():
        return
    at = tuple(np.argwhere(~good)[0])
    which = f"target {tuple(int(k) for k in at)}" if made.q.ndim > 1 else "this target"
    frames = ", ".join(f"'{name}'" for name in problem.frames)
    worst, rows = float(np.atleast_1d(violation)[at]), good.shape[: good.ndim - several]
    own = designs[int(np.ravel_multi_index(at[: len(rows)], rows))].told if designs.names else ""
    if unclosed(m, np.array([worst]))[0]:
        raise AssemblyError(
            f"{m.name}{own} does not close on the way to {which}: its loops are violated by {worst:.3g} "
            "(rad, or lengths of its size); give another guess."
        )
    distance, angle = (float(np.atleast_1d(y)[at]) for y in (made.distance, made.angle))
    within = " within its limits" if limits else ""
    raise InverseKinematicsError(
        f"{m.name}{own} does not reach {which} with {frames}{within}: the nearest configuration found misses "
        f"it by {distance:.3g} m and {angle:.3g} rad. Ask for less, give another guess or more restarts, or "
        "take the nearest with report=True."
    )


def modes_of_target(m: Model, problem: Problem, x: Floats, o: Options, most: int = 16) -> Floats:
    """The different configurations that reach a target, which must leave nothing open that a pose
    would not."""
    if x.ndim != 1:
        raise InputError("assembly_modes takes one target; call it for each.")
    found = reached(m, problem, x, None, o, solutions=most)
    frame = problem.frames[0]
    whole = Problem(rows=(*problem.rows, Orientation(frame), Position(frame)))
    left = determinacy(m, problem).open - determinacy(m, whole).open
    if left > 0:
        raise ModelError(
            f"this target leaves {left} degree{'s' * (left > 1)} of freedom of {m.name} open, so that there "
            "are no single modes; ask for more of the frame, such as planar=(x, y, angle) or its pose."
        )
    return np.asarray(found.q[found.converged])
