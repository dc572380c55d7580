"""The solver of configuration problems: a batch of lanes, each with its start, its value and its
design.

    walk      native damped steps from every start, until they arrive or stall
    search    walk from the guess, then from other starts, those nearest to the target first
    refine    sequential quadratic programming, for the last digits and for targets out of reach
    solve     search, refine what has not arrived, and verify all by the forward kinematics
    follow    continuation along straight ways of what is prescribed, on the branch of the start

A lane's result depends on its own start, value and design alone: starts are the same for all lanes,
and which of them come first is a matter of the lane's target.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eslabon.arguments import Floats
from eslabon.compiler.evaluate import evaluate
from eslabon.model import Model
from eslabon.model.memory import per_model
from eslabon.model.scale import characteristic_length
from eslabon.numerics import continuation
from eslabon.numerics.least_squares import DAMPING, Found, walk
from eslabon.numerics.tolerances import CONVERGED
from eslabon.solve.branch_kernels import ADVANCE, ADVANCE_DESIGN, BRANCH
from eslabon.solve.constraints.closed_configurations import residuals_at, unclosed
from eslabon.solve.designs import DESCRIBED, Designs, characteristic_lengths
from eslabon.solve.determinacy import determinacy
from eslabon.solve.kernels import MISSED, STEPS
from eslabon.solve.problem import CLOSURE_ALONE, Problem
from eslabon.solve.ranges import Ranges

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

Flags = NDArray[np.bool_]
Places = NDArray[np.intp]


@dataclass(frozen=True)
class SearchSettings:
    """How configurations are searched for.

    Attributes
    ----------
    starts : configurations spread over the ranges of the joints.
    restarts : of them that a target may have.
    wide : lanes that take hardly longer than one.
    together : lanes that are worked on at once, for the sake of memory.
    near : an error |r|^2 from which a refinement mostly arrives.
    place : how much more a start's place counts than its orientation, which the last joints mend.
    """

    starts: int = 256
    restarts: int = 32
    wide: int = 256
    together: int = 8192
    near: float = 1e-12
    place: float = 4.0


SETTINGS = SearchSettings()


class Lanes(NamedTuple):
    """A batch: starts (k, nq), values (k, size), and the values of designs (k, names)."""

    start: Floats
    x: Floats
    p: Floats

    def take(self, which: Any) -> Lanes:
        return Lanes(*(y[which] for y in self))

    def repeated(self, count: int) -> Lanes:
        """Each lane so many times, one after the other."""
        return Lanes(*(np.repeat(y, count, axis=0) for y in self))

    @property
    def inputs(self) -> tuple[Floats, ...]:
        """The designs as native code takes them."""
        return tuple(self.p[:, k] for k in range(self.p.shape[1]))


class Solved(NamedTuple):
    """Configurations (k, nq), whether each solves its lane, what it misses in metres and radians,
    by how much it violates closure, and the steps taken."""

    q: Floats
    good: Flags
    distance: Floats
    angle: Floats
    violation: Floats
    steps: Any


class Starts(NamedTuple):
    """Configurations to start from, the values that each has, weighted, (numbers, starts), the
    squares of their lengths, and a tree of them."""

    q: Floats
    values: Floats
    squares: Floats
    tree: cKDTree

    @staticmethod
    def of(q: Floats, values: Floats) -> Starts:
        from scipy.spatial import cKDTree

        squares = np.square(values).sum(axis=-1)
        return Starts(q, np.ascontiguousarray(values.T), squares, cKDTree(values))

    def nearest(self, x: Floats, first: int, count: int) -> Places:
        """For weighted values (lanes, numbers) the starts in the order of their distances, from the
        first-th on, (lanes, count)."""
        return np.asarray(self.tree.query(x, k=range(first + 1, first + count + 1))[1])

    def nearest_to_one(self, x: Floats, count: int) -> Places:
        """The first ones for one value: without the tree, which takes longer to be asked."""
        far = self.squares - 2.0 * np.einsum("i,ij->j", x, self.values)
        near = far.argpartition(count - 1)[:count]
        return near[far[near].argsort()]


@dataclass(frozen=True, eq=False)
class Solver:
    """A problem of a mechanism, within which ranges its joints stay, and how near is near enough.

    `tolerance` is in radians, or metres over the characteristic length. `names` are the parameters
    that each lane brings values of.
    """

    m: Model
    problem: Problem
    ranges: Ranges
    tolerance: float = CONVERGED
    names: tuple[str, ...] = ()
    threads: int | None = None
    settings: SearchSettings = field(default=SETTINGS)

    @cached_property
    def goal(self) -> float:
        """The error |r|^2 at which all rows are within the tolerance."""
        weights = [1.0, *(rows.weight for rows in self.problem.rows)]
        return self.tolerance**2 * min(weights)

    @cached_property
    def _steps(self) -> Callable[..., Any]:
        return evaluate(self.m, STEPS, self.names, problem=self.problem)

    @cached_property
    def _missed(self) -> Callable[..., Any]:
        return evaluate(self.m, MISSED, self.names, problem=self.problem)

    # -- from one start ---------------------------------------------------------------------------------

    def walk(self, lanes: Lanes, patient: bool = False) -> Found:
        """From each start towards its value, until it arrives or stalls.

        What the limits hold up tries again without them, and keeps what then ends inside. With
        patience nothing stalls.
        """
        begin = self._with_held(self.ranges.admitted(lanes.start), lanes.x)
        lanes = lanes._replace(start=begin)
        found = self._walk(lanes, self.ranges, patient)
        left = np.flatnonzero(found.error > self.goal)
        if len(left) and self.ranges.are_limited:
            end = self._walk(lanes.take(left), self.ranges.unlimited, patient)
            inside = self.ranges.turned(end.q, begin[left])
            good = (end.error <= self.goal) & self.ranges.contain(inside)
            found.q[left[good]], found.error[left[good]] = inside[good], end.error[good]
            found.steps[left] += end.steps
        return found

    def _walk(self, lanes: Lanes, ranges: Ranges, patient: bool) -> Found:
        size = self.problem.size(self.m)

        def steps(q: Floats, best: Floats, error: Floats, given: Floats, *others: Any) -> Any:
            x, p = given[:, :size], tuple(given[:, k] for k in range(size, given.shape[1]))
            limits = ranges.lower, ranges.upper
            return self._steps(q, best, error, x, *others, *limits, *p, threads=self.threads)

        given = np.concatenate([lanes.x, lanes.p], axis=-1)
        return walk(steps, lanes.start, given, self.goal, DAMPING, patient)

    def _with_held(self, q: Floats, x: Floats) -> Floats:
        places = self.problem.coordinates(self.m)
        if not places:
            return q
        q = q.copy()
        q[:, places] = x[:, : len(places)]
        return q

    # -- from other starts --------------------------------------------------------------------------------

    def search(self, lanes: Lanes, guessed: bool, restarts: int) -> Found:
        """For each lane the first configuration found, else the best: from its guess, if it has
        one, then from the starts nearest to its target."""
        k = len(lanes.x)
        best = Found(np.array(lanes.start), np.full(k, np.inf), np.zeros(k, dtype=np.int64))
        left, tried, allowed = np.arange(k), 0, restarts + 1
        if restarts or not guessed:
            allowed = min(allowed, len(self.starts.q) + guessed)
        while tried < allowed and len(left):
            own = lanes.take(left)
            if guessed and tried == 0:
                begin = own.start[:, None]
            else:  # few lanes try several starts at once, more the longer it takes
                count = max(1, min(allowed - tried, self.settings.wide // len(left), tried))
                begin = self.nearest_starts(own, tried - guessed, count, guessed)
            found = self._first_of(begin, own)
            best.steps[left] += found.steps
            better = found.error < best.error[left]
            best.q[left[better]], best.error[left[better]] = found.q[better], found.error[better]
            left, tried = left[best.error[left] > self.goal], tried + begin.shape[1]
        return best

    @cached_property
    def weights(self) -> Floats:
        """What each number of a value counts when near targets are told from far ones."""
        return _value_weights(self.m, self.problem)

    @cached_property
    def unmoved(self) -> Flags:
        """The coordinates that the problem does not solve for."""
        return _unmoved(self.m, self.problem)

    @cached_property
    def starts(self) -> Starts:
        """Configurations spread over the ranges, with loops closed ones; joints that do not move a
        frame of the rows are at home."""
        return _starts(self.m, self.problem, self.ranges.are_limited)

    def nearest_starts(self, lanes: Lanes, first: int, count: int, guessed: bool) -> Floats:
        """For each lane starts in the order of their distances from its target, from the first-th
        on, (lanes, count, nq); what does not move a frame is as guessed."""
        q = self.starts.q[self.starts.nearest(lanes.x * self.weights, first, count)]
        some = guessed and self.unmoved.any()
        return np.where(self.unmoved, lanes.start[:, None], q) if some else q

    def _first_of(self, begin: Floats, lanes: Lanes) -> Found:
        """Of several starts (lanes, starts, nq) the first that arrives, else the one that comes
        nearest; steps are counted up to it."""
        k, count, n = begin.shape
        end = self.walk(lanes.repeated(count)._replace(start=begin.reshape(-1, n)))
        error, steps = end.error.reshape(k, count), end.steps.reshape(k, count)
        first = np.where(error <= self.goal, -np.inf, error).argmin(axis=1)
        arrived = error[np.arange(k), first] <= self.goal
        counted = (np.arange(count) <= first[:, None]) | ~arrived[:, None]
        return Found(
            end.q.reshape(begin.shape)[np.arange(k), first],
            error[np.arange(k), first],
            np.where(counted, steps, 0).sum(axis=1),
        )

    # -- all of it ------------------------------------------------------------------------------------------

    def solve(self, lanes: Lanes, guessed: bool, restarts: int) -> Solved:
        """A configuration for each lane: from its start, then from other starts; else the
        nearest."""
        most = self.settings.together
        parts = [slice(k, k + most) for k in range(0, len(lanes.x), most)] or [slice(0, 0)]
        each = [self._solve(lanes.take(part), guessed, restarts) for part in parts]
        return Solved(*(np.concatenate(y) for y in zip(*each, strict=True)))

    def _solve(self, lanes: Lanes, guessed: bool, restarts: int) -> Solved:
        found = self.search(lanes, guessed, restarts)
        out = (found.error > self.goal) & ((found.error < self.settings.near) | (restarts > 0))
        q, steps = found.q, found.steps
        if (
            out.any()
        ):  # the last word on what seems out of reach; with loops, from where they are closed
            own = lanes.take(out)
            q[out], more = self.refine(own if self.m.closed else own._replace(start=q[out]))
            steps[out] += more
        return self.verified(self.ranges.turned(q, lanes.start), lanes, steps)

    def refine(self, lanes: Lanes) -> tuple[Floats, Any]:
        """Configurations that come as near to their targets as they can, next to the starts, with
        loops closed and within the limits; and the steps taken."""
        from eslabon.solve.refinement import Refinement

        return Refinement(self.m, self.problem, self.ranges, self.names).descend(lanes)

    def verified(self, q: Floats, lanes: Lanes, steps: Any) -> Solved:
        """Configurations with what they miss, by the forward kinematics and all closure rows."""
        m, designs = self.m, Designs(self.names, lanes.p)
        distance, angle = (np.array(y) for y in self._missed(q, lanes.x, *lanes.inputs))
        violation = np.zeros(len(q))
        if m.closed:
            violation = np.abs(residuals_at(m, q, designs)).max(axis=-1, initial=0.0)
        near = self.tolerance * characteristic_lengths(m, designs if self.names else DESCRIBED)
        good = (distance <= near) & (angle <= self.tolerance) & ~unclosed(m, violation)
        good &= self.ranges.contain(q)
        return Solved(q, good, distance, angle, violation, steps)

    # -- several ----------------------------------------------------------------------------------------------

    def arrivals(self, lanes: Lanes, guessed: bool) -> tuple[Floats, int]:
        """All configurations that any start leads one lane to, the first ones first, and the
        steps."""
        begin = self.starts.q
        if guessed:
            begin = np.where(self.unmoved, lanes.start, begin)
            begin = np.vstack([lanes.start, begin])
        every = lanes.take(np.zeros(len(begin), dtype=int))._replace(start=begin)
        end = self.walk(every)
        q = self.ranges.turned(end.q[end.error <= self.goal], lanes.start)
        return q, int(end.steps.sum())


def _unmoved(m: Model, problem: Problem) -> Flags:
    """The coordinates that the problem does not solve for."""
    free = set(problem.free(m))
    unmoved = np.ones(m.nq, dtype=bool)
    for joint in m.joints:
        if free & set(range(m.nv)[m.velocities[joint.name]]):
            unmoved[m.coordinates[joint.name]] = False
    return unmoved


def _value_weights(m: Model, problem: Problem) -> Floats:
    """What each number of a value counts when near targets are told from far ones."""
    length = float(characteristic_length(m))
    parts = [np.zeros(len(problem.coordinates(m)))]
    parts += [rows.value_weights(length, SETTINGS.place) for rows in problem.rows]
    return np.concatenate(parts)


@per_model
def _starts(m: Model, problem: Problem, limited: bool) -> Starts:
    ranges = Ranges.of(m, float(characteristic_length(m)))
    ranges = ranges if limited else ranges.unlimited
    q = np.where(_unmoved(m, problem), m.home(), ranges.spread(SETTINGS.starts))
    if m.closed:
        q = _closed_starts(m, ranges, q)
    values = problem.values(m, q) * _value_weights(m, problem)
    return Starts.of(q, values)


def _closed_starts(m: Model, ranges: Ranges, q: Floats) -> Floats:
    """Closed configurations next to given ones; those that do not close stay out, and home is
    one."""
    from eslabon.solve.constraints.closed_configurations import close

    solver = Solver(m, CLOSURE_ALONE, ranges)
    found = solver.walk(Lanes(q, np.zeros((len(q), 0)), np.zeros((len(q), 0))))
    return np.vstack([close(m), found.q[found.error <= solver.goal]])


# -- continuation ----------------------------------------------------------------------------------------


class BranchEquations:
    """A problem as what `numerics.continuation` follows."""

    def __init__(
        self,
        m: Model,
        problem: Problem,
        names: tuple[str, ...] = (),
        threads: int | None = None,
    ) -> None:
        self.m, self.problem, self.names, self.threads = m, problem, names, threads
        self.scales = problem.rate_scales(m)
        own = np.abs(Designs(names).own(m).values)
        self.design_scales = 1 / np.where(own > 0, own, float(characteristic_length(m)))
        found = determinacy(m, problem)
        self.surplus = bool(found.surplus)
        self._determined = not (found.open or found.surplus)
        changing: dict[str, Any] = {"changing": names} if names else {}
        formula = ADVANCE_DESIGN if names else ADVANCE
        self._advance = evaluate(m, formula, names, problem=problem, **changing)

    def values(self, q: Floats, p: Floats) -> Floats:
        return self.problem.values(self.m, q, Designs(self.names, p) if self.names else DESCRIBED)

    def displacement(self, to: Floats, start: Floats) -> Floats:
        return self.problem.displacement(self.m, to, start)

    def along(self, start: Floats, dx: Floats) -> Floats:
        return self.problem.along(self.m, start, dx)

    def advance(
        self, q: Floats, x: Floats, dx: Floats, p: Floats, dp: Floats, whole: Flags
    ) -> continuation.Reached:
        changes = (dp,) if self.names else ()
        designs = tuple(p[:, k] for k in range(len(self.names)))
        given = q, x, dx, *changes, whole.astype(float), *designs
        made = self._advance(*given, threads=self.threads)
        q, good, bent, pivot, regular = made
        # Unless something stays open, pivots tell of singular configurations.
        firm = pivot > BRANCH.pivot if self._determined else np.ones(len(q), dtype=bool)
        return continuation.Reached(q, good > 0, bent, firm, regular >= BRANCH.regular)


def follow(
    m: Model, problem: Problem, start: Floats, x: Floats, designs: Designs = DESCRIBED,
    first: Designs = DESCRIBED, threads: int | None = None,
) -> continuation.Track:  # fmt: skip
    """From closed configurations (lanes, nq) of designs `first` along the straight ways from row to
    row of values (lanes, rows, size) in designs (lanes, rows, names). No row raises: those that
    were not reached are marked lost."""
    p = designs.over(*x.shape[:2]).values
    begin = first.over(len(start)).values if designs.names else p[:, 0]
    equations = BranchEquations(m, problem, designs.names, threads)
    return continuation.follow(equations, start, begin, x, p)
