"""Singular configurations that a motion passes, where branches of the loops meet: looked for on the
way from step to step, whatever is reported, and told to the user. Nothing of a motion depends on
it."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.calls import subroutine
from eslabon.compiler.formula import Argument, Formula
from eslabon.errors import SingularityError
from eslabon.formulas.kinematics.closure import equations, row_names
from eslabon.formulas.kinematics.symbols import symmetric
from eslabon.formulas.linear_solvers import factors
from eslabon.model import Model
from eslabon.model.configuration import coordinate_velocities
from eslabon.motion.signals import Passage
from eslabon.motion.simulation.applied_system import System
from eslabon.motion.simulation.branch_neighbours import RANK_DISTANCE, SETTINGS, Branch
from eslabon.motion.simulation.branch_rates import BranchRates
from eslabon.motion.simulation.constraint_projection import at_time, project_with_distance
from eslabon.numerics.scalars import Expression, casadi
from eslabon.solve.constraints.closed_configurations import CLOSURE
from eslabon.solve.constraints.independent_coordinates import partition
from eslabon.solve.designs import DESCRIBED, Designs

NEAR = 0.3  # rad or m between two states at which the constraints can be compared
AIM = 0.05  # the same as far as steps are short enough
FINE = 0.02  # the same where they seem to have turned over: a singular configuration nearer than half of it counts as passed
FARTHEST = 100.0  # what moves farther from step to step diverges
BLOCK = 256  # steps that are looked at together
LOST = 0.02  # a singular value of J over the largest, below which a rank is lost there
TAKES_PART = 0.02  # the share of a row in the lost ones with which its loop is named


def turn(m: Model, before: Expression, after: Expression) -> Expression:
    """Less than zero if the loops may have lost a constraint for an instant between two
    configurations.

    Rows that span those of J, each orthogonal to the others, are L^-T J by the pivots of J J^T. The
    one whose pivot goes through zero is turned over: its scalar product with itself after the step
    is negative. Of configurations far apart nothing is known.
    """

    def rows(q: Expression, t: Expression) -> Expression:
        J = equations(m.with_time(t), q, None, partition(m.nominal).rows).J
        return factors(symmetric(J @ J.T)).inward(J)

    across = subroutine("across", rows, m.nq, 1)
    products = casadi.sum2(across(before, m.time) * across(after, m.time))
    return casadi.mmin(casadi.vertcat(NEAR - casadi.norm_inf(after - before), products))


_ENDS = tuple(Argument(name, lambda m: (m.nq,)) for name in ("before", "after"))
TURN = Formula("turn", turn, _ENDS, (Argument("turn", ()),), rare=True)


class Passages:
    """Where the trajectories of a run passed singular configurations: all of them of one
    trajectory, the first ones of many. `first` is when they did first, (...,), infinite where they
    did not.

    States come step by step with `add`, or many at once with `look`.
    """

    def __init__(
        self, m: Model, wanted: bool, batch: tuple[int, ...] = (), designs: Designs = DESCRIBED
    ) -> None:
        self._m, self._steps, self._designs = m, list[tuple[float, Floats]](), designs.along()
        self.wanted = wanted and m.closed
        self.first = np.full(batch, np.inf)
        self.found: list[Passage] = []

    def add(self, t: float, x: Floats) -> None:
        """The state after one more step, kept until there are enough to look at."""
        if self.wanted:
            self._steps.append((t, x))
            if len(self._steps) > BLOCK:
                self.finish()

    def finish(self) -> None:
        """Look at what was added."""
        if len(self._steps) > 1:
            t, x = zip(*self._steps, strict=True)
            self.look(np.array(t), np.stack(x, axis=-2))
            del self._steps[:-1]

    def stride(self, x: Floats, step: float) -> int:
        """How many steps of a run at the states x may lie between two that are looked at."""
        speed = float(np.nanmax(np.abs(x[..., self._m.nq : self._m.nq + self._m.nv]), initial=0.0))
        return int(np.clip(AIM / max(speed * step, 1e-300), 1, 64))

    def look(self, t: Floats, x: Floats, threads: int | None = None) -> None:
        """Look at the states (..., steps, n) at times (steps,), each some steps after the one
        before."""
        q = x[..., : self._m.nq]
        ends = q[..., :-1, :], q[..., 1:, :]
        suspect = at_time(self._m, TURN, t[1:], *ends, designs=self._designs, threads=threads) < 0
        if self.first.ndim:
            suspect &= np.isinf(self.first)[..., None]
        if suspect.any():
            pairs = np.stack([x[..., :-1, :][suspect], x[..., 1:, :][suspect]])
            k, own = np.nonzero(suspect)[-1], self._designs.over(*suspect.shape)[suspect]
            places = [tuple(at[:-1].tolist()) for at in np.argwhere(suspect)]
            passed = _passages(self._m, np.stack([t[k], t[k + 1]]), pairs, own)
            for place, when, q, design in passed:
                at = places[place]
                if not self.first.ndim or when < self.first[at]:
                    self.first[at] = min(when, self.first[at])
                    lost = lost_ranks(self._m, when, q, design)
                    self.found.append(Passage(when, *lost, 1.0, 0, at))

    def told(self, branches: Mapping[tuple[int, ...], BranchRates]) -> tuple[Passage, ...]:
        """The passages, with what the rates of each trajectory tell of those near them; without
        those that they refused."""
        for branch in branches.values():
            branch.finish()
        self.found = [p for p in self.found if not _missed(p, branches.get(p.trajectory))]
        if self.first.ndim:  # a pair of states that is looked at later may be the earlier one
            self.found = [p for p in self.found if p.t == self.first[p.trajectory]]
        self.first[...] = np.inf
        for p in self.found:
            self.first[p.trajectory] = min(p.t, self.first[p.trajectory])
        return tuple(
            _with_evaluations(p, self.found, branches.get(p.trajectory)) for p in self.found
        )


def _missed(p: Passage, branch: BranchRates | None) -> bool:
    """Whether the branch did not go through, by a length too small to be seen from step to step."""
    misses = () if branch is None else branch.misses
    return any(abs(miss.t - p.t) < miss.within for miss in misses)


def _with_evaluations(p: Passage, every: list[Passage], branch: BranchRates | None) -> Passage:
    """A passage with the interpolated evaluations that are nearer to it than to any other of its
    trajectory."""
    if branch is None:
        return p
    times = np.array([other.t for other in every if other.trajectory == p.trajectory])
    own = [d for t, d in branch.interpolated if abs(t - p.t) <= np.abs(times - t).min()]
    return p._replace(interpolated=len(own), distance=min(own, default=p.distance))


def _passages(
    m: Model, t: Floats, x: Floats, designs: Designs
) -> list[tuple[int, float, Floats, Designs]]:
    """The first singular configurations that are passed between pairs of states (2, pairs, n) at
    times (2, pairs), each with the number of its pair, its time and its design. Between near states
    a motion is nearly a cubic."""
    from scipy.interpolate import CubicHermiteSpline

    q, h = x[..., : m.nq], t[1] - t[0]
    far = np.clip(np.abs(q[1] - q[0]).max(), FINE, FARTHEST)
    s = np.linspace(0.0, 1.0, 1 + math.ceil(far / FINE))
    rates = coordinate_velocities(m, q, x[..., m.nq : m.nq + m.nv]) * h[:, None]
    between = np.moveaxis(CubicHermiteSpline([0.0, 1.0], q, rates)(s), 0, 1)
    before, after = between[:, :-1], between[:, 1:]
    when = np.broadcast_to(t[1][:, None], before.shape[:-1])
    each = designs.along()
    turned = at_time(m, TURN, when, before, after, designs=each) < 0
    turned &= np.abs(after - before).max(axis=-1) < NEAR
    own = each.over(*turned.shape)[turned]
    turned[turned] = _turned(m, when[turned], before[turned], after[turned], own)
    found = []
    for k in np.flatnonzero(turned.any(axis=-1)).tolist():
        i, design = int(turned[k].argmax()), designs.over(len(h))[k]
        ends = between[k, i : i + 2]
        distance = at_time(m, RANK_DISTANCE, t[0, k], ends, designs=design)
        share = float(distance[0] / distance.sum())  # it falls to zero and rises in proportion
        place = s[i] + share * (s[i + 1] - s[i])
        found.append(
            (k, float(t[0, k] + h[k] * place), (1 - share) * ends[0] + share * ends[1], design)
        )
    return found


def lost_ranks(m: Model, t: float, q: Floats, design: Designs) -> tuple[tuple[str, ...], int]:
    """The loops whose rows of J depend on one another at a singular configuration, and how many
    ranks are lost."""
    rows = partition(m.nominal).rows  # without those that are dependent everywhere
    U, size, _ = np.linalg.svd(at_time(m, CLOSURE, t, q, designs=design)[1][list(rows)])
    ranks = max(int(np.sum(size < LOST * size[0])), 1)
    share = np.sum(U[:, -ranks:] ** 2, axis=1)
    names = [row_names(m)[row] for row, part in zip(rows, share, strict=True) if part > TAKES_PART]
    return tuple(dict.fromkeys(names)), ranks


def refuse_undetermined(system: System, x: Floats, t: float) -> None:
    """Refuse starts (..., n) where branches meet and the velocities do not tell along which of them
    they go."""
    m, designs = system.m, system.designs.over(*x.shape[:-1])
    near = project_with_distance(m, x, t, designs)[1] < SETTINGS.near
    for at in map(tuple, np.argwhere(near)):
        if not Branch(m, designs[at]).is_determined(t, x[at]):
            loops, _ = lost_ranks(m, t, x[at][: m.nq], designs[at])
            number = f" (trajectory {', '.join(map(str, at))})" if at else ""
            raise SingularityError(
                f"{m.name} starts in a singular configuration{number}, where branches of {list_names(loops)} meet, and its "
                "velocities do not tell along which of them it goes on. Give a v0 along one, or start beside it."
            )


def list_names(names: tuple[str, ...]) -> str:
    """Some names of loops, in a sentence."""
    if len(names) > 4:
        return f"{', '.join(names[:3])} and {len(names) - 3} more loops"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _turned(m: Model, t: Floats, before: Floats, after: Floats, designs: Designs) -> Floats:
    """Whether a singular value of J goes through zero between configurations (pairs, nq).

    On the other side the directions that J = U S V^T takes for its rows, P = U V^T, are turned
    over, and P P'^T, else near one, has an eigenvalue near -1. Of redundant rows only the rank
    counts.
    """
    J = at_time(m, CLOSURE, t, np.stack([before, after]), designs=designs)[1]
    U, _, V = np.linalg.svd(J, full_matrices=False)
    rank = len(partition(m.nominal).rows)
    P = U[..., :rank] @ V[..., :rank, :]
    change = P[0] @ np.swapaxes(P[1], -1, -2)
    least = np.linalg.eigvalsh(change + np.swapaxes(change, -1, -2))[..., 0] / 2
    return np.asarray(least < -0.5)
