"""Configurations that reach targets, or come as near as they can: sequential quadratic programming for a whole batch.

The least of |r(q)|^2 / 2 is sought, r the weighted errors of all parts, under Phi(q) = 0 and within the joints' limits.
A step goes back onto the constraint manifold, s_n = -J^+ Phi, and along it by Newton's method with the exact Hessian of
the Lagrangian, its eigenvalues taken as positive; joints that stand at a limit and would go beyond are held. Where a
target can be reached this is quadratic convergence to r = 0, else to a point where no allowed motion leads nearer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eslabon.arguments import choice, count, flag, positive
from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.formula import Argument, Formula
from eslabon.errors import (
    SINGULAR_CHOICES,
    AssemblyError,
    InputError,
    InverseKinematicsError,
    ModelError,
    report_singularity,
)
from eslabon.formulas.inputs import Q
from eslabon.formulas.kinematics.closure import equations, row_names
from eslabon.formulas.kinematics.frames import placement
from eslabon.model import Model
from eslabon.model.configuration import coordinate_rates, difference, integrate, normalize
from eslabon.model.scale import velocity_scales
from eslabon.numerics.scalars import casadi
from eslabon.solve.assembly.prescription import start
from eslabon.solve.batches import flattened, leading
from eslabon.solve.configurations import Configurations
from eslabon.solve.damped_step import Damped
from eslabon.solve.designs import Designs, designs_of
from eslabon.solve.ranges import Ranges, distinct
from eslabon.solve.singular.conditions import conditions
from eslabon.solve.targets.parts import Orientation, Position
from eslabon.solve.targets.rates import freedom
from eslabon.solve.targets.target import Given, Target, given

Floats = NDArray[np.float64]

TOLERANCE = 1e-10  # metres and radians
CLOSED = 1e-10
ITERATIONS = 100
RESTARTS = 12
MODES = 16  # of a target, at most
STARTS = 48  # for several solutions
LONGEST = 0.5  # radians, or lengths in units of the mechanism's size, of one step
RANK, FLAT = 1e-9, 1e-7  # of the largest singular value, and of the largest curvature
NEAR = 0.3  # the same, from one row of a motion towards the next
SHORTEST = 1 / 64  # of the way between two rows
LEVEL = 1e-9  # a gradient along the manifold, against the error, where no motion leads nearer
ROUND_OFF = 1e-14


def reach(
    m: Model, targets: list[Target], guess: Any = None, *, solutions: int = 1, limits: bool = True,
    tolerance: float = TOLERANCE, restarts: int = RESTARTS, strict: bool = True, parameters: Any = None,
) -> Configurations:  # fmt: skip
    """Configurations that bring frames where targets ask, from a guess (the closed home if left out), with `parameters` each in
    its own design.

    >>> import eslabon as es
    >>> m = es.load("five_bar")
    >>> found = reach(m, [Target("point", position=m.pose(m.assemble([2.0, 1.0]))[:3, 3])])
    >>> bool(found.converged), bool(found.distance < 1e-10)
    (True, True)
    """
    solutions, restarts = count(solutions, "solutions", 1), count(restarts, "restarts")
    limits, strict, tolerance = (
        flag(limits, "limits"),
        flag(strict, "strict"),
        positive(tolerance, "tolerance"),
    )
    asked, designs = given(m, targets), designs_of(m, parameters, limits)
    lead, (x, begin, own) = flattened(
        targets=(asked.values, 1), guesses=(start(m, guess), 1), parameters=(designs.values, 1)
    )
    search = Search(
        m, asked, Ranges.of(m) if limits else Ranges.of(m).unlimited, tolerance, designs.names
    )
    x = np.concatenate([x, own], axis=-1) if designs.names else x
    found = search.several(x, begin, solutions) if solutions > 1 else search.one(x, begin, restarts)
    lead = (*lead, solutions) if solutions > 1 else lead
    parts = (y.reshape(lead)[()] for y in (found.good, found.distance, found.angle, found.steps))
    made = Configurations(found.q.reshape(*lead, m.nq), *parts)
    if strict:
        _refuse(m, asked, made, found.left, limits, solutions > 1, Designs(designs.names, own))
    return made


def reach_along(
    m: Model, targets: list[Target], guess: Any = None, *, limits: bool = True, tolerance: float = TOLERANCE,
    strict: bool = True, singular: str = "ignore", parameters: Any = None,
) -> Configurations:  # fmt: skip
    """Configurations for targets (rows, ...) that are a motion: each follows from the one before on its branch. With
    `parameters` the rows are of one design, or each of its own.

    Between two rows the errors are taken to zero in as many parts as keep every joint's motion small, so that what is
    reached does not depend on the spacing of rows.
    """
    limits, strict, tolerance = (
        flag(limits, "limits"),
        flag(strict, "strict"),
        positive(tolerance, "tolerance"),
    )
    asked, designs = given(m, targets), designs_of(m, parameters, limits)
    lead = leading(targets=(asked.values, 1), parameters=(designs.values, 1))
    if asked.values.ndim != 2 or len(lead) != 1 or not len(asked.values):
        raise InputError(
            f"a motion of targets has one axis for its rows; these have the leading axes {lead}."
        )
    search = Search(
        m, asked, Ranges.of(m) if limits else Ranges.of(m).unlimited, tolerance, designs.names
    )
    begin, own = start(m, guess), designs.over(*lead)
    if begin.ndim != 1:
        raise InputError("a motion starts from one configuration; give one guess.")
    rows = np.concatenate(
        [np.broadcast_to(asked.values, (*lead, asked.values.shape[-1])), own.values], axis=-1
    )
    found = [search.one(rows[:1], begin[None], RESTARTS)]
    for x in rows[1:]:
        found.append(search.onward(found[-1].q, x[None]))
    lanes = _Found(*(np.concatenate(y) for y in zip(*found, strict=True)))
    made = Configurations(lanes.q, lanes.good, lanes.distance, lanes.angle, lanes.steps)
    if strict:
        _refuse(m, asked, made, lanes.left, limits, False, own)
    if (
        choice(singular, "singular", SINGULAR_CHOICES) != "ignore"
        and m.closed
        and (lanes.left < CLOSED).all()
    ):
        passed = conditions(m, lanes.q, parameters=parameters).crossings
        if len(passed):
            report_singularity(singular, f"between rows {passed[0]} and {passed[0] + 1} of the motion {m.name} passes a singular "
                "configuration, where its branches meet; another way is as good.")  # fmt: skip
    return made


def modes_of(m: Model, target: Target, limits: bool) -> Floats:
    """The different configurations that reach a target, which must leave nothing open that a pose would not."""
    found = reach(m, [target], solutions=MODES, limits=limits)
    if found.q.ndim != 2:
        raise InputError("assembly_modes takes one target; call it for each.")
    parts = given(m, [target]).parts
    whole = (
        *parts,
        *(
            kind(part.frame, part.unit, 1.0)
            for part in parts[:1]
            for kind in (Orientation, Position)
        ),
    )
    if (left := freedom(m, parts, found.q[0]) - freedom(m, whole, found.q[0])) > 0:
        raise ModelError(
            f"this target leaves {left} degree{'s' * (left > 1)} of freedom of {m.name} open, so that there are no single modes; "
            "ask for more of the frame, such as planar=(x, y, angle) or its pose."
        )
    return found.q[found.converged]


class _Found(NamedTuple):
    """Lanes of configurations: errors |r|^2 / 2, violations of closure, what is missed, whether all is well, and steps."""

    q: Floats
    error: Floats
    left: Floats
    distance: Floats
    angle: Floats
    good: Any
    steps: Any


class Search:
    """Targets for one mechanism within its ranges; the values of parameters, if some are given, stand behind each target's
    numbers."""

    def __init__(
        self,
        m: Model,
        asked: Given,
        ranges: Ranges,
        tolerance: float,
        parameters: tuple[str, ...] = (),
    ) -> None:
        self.m, self.ranges, self.tolerance = m, ranges, tolerance
        self.parts, self.size = asked.parts, asked.values.shape[-1]
        self._missed = evaluate(m, MISSED, parameters, parts=asked.parts)
        self._evaluated = evaluate(m, TERMS, parameters, parts=asked.parts)
        self.rows = error_rows(asked.parts)
        self.scale = 1 / velocity_scales(m) if m.nv else np.ones(0)
        self.limited = np.array([k for j in m.joints if j.limits is not None for k in range(m.nv)[m.velocities[j.name]]], dtype=int)  # fmt: skip
        self.places = np.array([k for j in m.joints if j.limits is not None for k in range(m.nq)[m.coordinates[j.name]]], dtype=int)  # fmt: skip

    def terms(self, q: Floats, x: Floats, shift: Floats | None = None) -> _Terms:
        """What steps are made of; with a shift of the errors, a target on the way."""
        shift = np.zeros((len(q), self.rows)) if shift is None else shift
        target, design = self._split(x)
        return _Terms(*(np.array(y) for y in self._evaluated(q, target, shift, *design)))

    def missed(self, q: Floats, x: Floats) -> tuple[Floats, Floats]:
        """The largest distance and angle that any part misses."""
        target, design = self._split(x)
        distance, angle = self._missed(q, target, *design)
        return distance, angle

    def _split(self, x: Floats) -> tuple[Floats, list[Floats]]:
        """The numbers of targets, and the values of each parameter."""
        return x[..., : self.size], list(np.moveaxis(x[..., self.size :], -1, 0))

    def one(self, x: Floats, begin: Floats, restarts: int) -> _Found:
        """From each guess, and where that does not reach the target from other starts: the nearest is kept.

        The k-th other start is as far from every guess, so that a lane finds the same in any batch.
        """
        best = self.descend(begin, x)
        rng = np.random.default_rng(0)
        for k in range(restarts):
            lost = np.flatnonzero(~best.good)
            if not len(lost):
                break
            away = rng.normal(size=self.m.nv) * self.scale * (0.2 + 2.0 * k / max(1, restarts - 1))
            found = self.descend(
                integrate(self.m, begin[lost], np.tile(away, (len(lost), 1))), x[lost]
            )
            better = (found.left < CLOSED) & (
                (found.error < best.error[lost]) | ~(best.left[lost] < CLOSED)
            )
            for mine, new in zip(best, found, strict=True):
                mine[lost[better]] = new[better]
        return best

    def onward(self, q: Floats, x: Floats) -> _Found:
        """The configuration (1, nq) for a target that one before it leads to."""
        off, share, step = self.terms(q, x).r, 0.0, 1.0
        while True:
            following = min(1.0, share + step)
            found = self.descend(q, x, (1.0 - following) * off)
            moved = np.abs(difference(self.m, found.q, q) / self.scale).max(initial=0.0)
            arrived = found.left[0] < CLOSED and (
                following < 1.0 or found.good[0] or step <= SHORTEST
            )
            if (arrived and moved < NEAR) or step <= SHORTEST:
                q, share = found.q, following
                if share >= 1.0:
                    return found
            else:
                step /= 2

    def several(self, x: Floats, begin: Floats, solutions: int) -> _Found:
        """Different configurations of each target, the nearest to its guess first; what is left over is not good."""
        rows = []
        away = np.random.default_rng(1).normal(
            size=(STARTS, self.m.nv)
        )  # for all targets, in a batch or alone
        away *= self.scale * np.linspace(0.0, 3.0, STARTS)[:, None]
        for target, first in zip(x, begin, strict=True):
            found = self.descend(integrate(self.m, np.repeat(first[None], STARTS, axis=0), away), np.repeat(target[None], STARTS, axis=0))  # fmt: skip
            order = np.argsort(
                np.where(found.good, self.ranges.apart(found.q, first), np.inf), kind="stable"
            )
            order = order[: max(1, int(found.good.sum()))]
            kept = order[distinct(found.q[order], self.ranges.apart, 1e-5, solutions)]
            kept = np.r_[kept, np.repeat(kept[:1], solutions - len(kept))]
            row = _Found(*(y[kept] for y in found))
            row.good[min(solutions, len(np.unique(kept))) :] = False
            rows.append(row)
        if not rows:
            return self.descend(np.zeros((0, self.m.nq)), x)
        return _Found(*(np.concatenate(y) for y in zip(*rows, strict=True)))

    def descend(self, q: Floats, x: Floats, shift: Floats | None = None) -> _Found:
        """Steps until nothing is gained, for all lanes side by side."""
        m, begin = self.m, q
        q, shift = (
            self.ranges.admitted(np.array(q)),
            np.zeros((len(q), self.rows)) if shift is None else shift,
        )
        terms = self.terms(q, x, shift)
        steps, lanes = np.zeros(len(q), dtype=np.int64), np.arange(len(q))
        for _ in range(ITERATIONS if m.nv else 0):
            if not len(lanes):
                break
            here = _Terms(*(y[lanes] for y in terms))
            way, back, slope = self._direction(q[lanes], here)
            size = np.abs(here.r).max(axis=-1, initial=0.0)
            settled = (slope < LEVEL * size) | (size < ROUND_OFF)
            onward = ~(settled & (here.violation < 1e-13))
            lanes, way, back = lanes[onward], way[onward], back[onward]
            taken = self._taken(q, (x, shift), terms, lanes, way, back)
            steps[lanes] += 1
            lanes = lanes[taken]
        q = self.ranges.turned(q, begin)
        distance, angle = self.missed(q, x)
        left = terms.violation
        good = (
            (left < CLOSED)
            & (distance <= self.tolerance)
            & (angle <= self.tolerance)
            & self.ranges.contain(q)
        )
        return _Found(
            q, terms.error, left, np.array(distance), np.array(angle), np.array(good), steps
        )

    def _direction(self, q: Floats, terms: _Terms) -> tuple[Floats, Floats, Floats]:
        """The step of each lane in comparable velocities, the way back onto the manifold J^+, and the size of the gradient
        along it."""
        low, high = self._standing(q)
        free = np.ones((len(q), self.m.nv))
        J, H = terms.J * self.scale, terms.H * self.scale[:, None] * self.scale
        g = np.einsum("lij,li->lj", terms.Jr * self.scale, terms.r)
        for _ in range(3):
            back, P = _onto(J * free[:, None, :], free)
            s = -np.einsum("lij,lj->li", back, terms.phi)
            slope = np.einsum("lij,lj->li", P, g)
            along = np.einsum("lij,lj->li", P, g + np.einsum("lij,lj->li", H, s))
            curvature, V = np.linalg.eigh(P @ ((H + np.swapaxes(H, 1, 2)) / 2) @ P)
            size = np.abs(curvature)
            size = np.maximum(size, FLAT * size.max(axis=-1, keepdims=True, initial=0.0) + 1e-300)
            s = s - np.einsum(
                "lij,lj->li",
                P,
                np.einsum("lij,lj->li", V, np.einsum("lji,lj->li", V, along) / size),
            )
            out = (low & (s < 0)) | (high & (s > 0))
            if not (out & (free > 0)).any():
                break
            free = np.where(out, 0.0, free)
        s = s * free / np.maximum(1.0, np.abs(s).max(axis=-1, keepdims=True, initial=0.0) / LONGEST)
        return s, back, np.abs(slope).max(axis=-1, initial=0.0)

    def _standing(self, q: Floats) -> tuple[Any, Any]:
        """Which velocities belong to joints that stand at their lower, and at their upper limit."""
        low, high = np.zeros((2, len(q), self.m.nv), dtype=bool)
        low[:, self.limited] = q[:, self.places] <= self.ranges.lower[self.places] + 1e-12
        high[:, self.limited] = q[:, self.places] >= self.ranges.upper[self.places] - 1e-12
        return low, high

    def _taken(
        self,
        q: Floats,
        asked: tuple[Floats, Floats],
        terms: _Terms,
        lanes: Floats,
        way: Floats,
        back: Floats,
    ) -> Any:
        """Take the steps, shorter where they gain nothing; which lanes have moved. Changes q and terms.

        A straight step leaves the manifold by its square; it is judged after that is taken back, since else a step that
        leads on would seem to lose (Maratos).
        """
        moved, share = np.zeros(len(lanes), dtype=bool), np.ones(len(lanes))
        # Of the largest violation the penalty is exact from the sum of the multipliers on.
        penalty = 2.0 * np.maximum(1.0, np.abs(terms.multipliers[lanes]).sum(axis=-1))
        before = terms.error[lanes] + penalty * _beyond_round_off(terms.violation[lanes])
        for _ in range(12):
            open_ = np.flatnonzero(~moved)
            if not len(open_):
                break
            here = tuple(y[lanes[open_]] for y in asked)
            trial = self._moved(q[lanes[open_]], way[open_] * share[open_, None])
            made = self.terms(trial, *here)
            if self.m.closed:
                trial = self._moved(trial, -np.einsum("lij,lj->li", back[open_], made.phi))
                made = self.terms(trial, *here)
            better = made.error + penalty[open_] * _beyond_round_off(made.violation) < before[open_]
            at = lanes[open_[better]]
            q[at], moved[open_[better]] = trial[better], True
            for mine, new in zip(terms, made, strict=True):
                mine[at] = new[better]
            share[open_[~better]] *= 0.35
        return moved

    def corrected(self, q: Floats, x: Floats) -> Floats:
        """Configurations near their targets brought to them by the least steps."""
        for _ in range(4):
            t = self.terms(q, x)
            A = np.concatenate([t.Jr, t.J], axis=-2) * self.scale
            miss = np.concatenate([t.r, t.phi], axis=-1)
            way = -np.einsum("lij,lj->li", np.linalg.pinv(A, rcond=RANK), miss)
            q = normalize(self.m, integrate(self.m, q, way * self.scale))
        return np.asarray(q)

    def _moved(self, q: Floats, way: Floats) -> Floats:
        """Configurations after a step, within the limits."""
        q = np.array(normalize(self.m, integrate(self.m, q, way * self.scale)))
        q[:, self.places] = np.clip(
            q[:, self.places], self.ranges.lower[self.places], self.ranges.upper[self.places]
        )
        return q


def _beyond_round_off(violation: Floats) -> Floats:
    """What of a violation of closure is more than round-off, which is larger than the square of a small error."""
    return np.maximum(violation - 1e-13, 0.0)


def _onto(J: Floats, free: Floats) -> tuple[Floats, Floats]:
    """J^+ and the projection onto what J and held joints leave free, for each lane."""
    n = J.shape[-1]
    if not J.shape[1] or not n:
        return np.zeros((len(J), n, J.shape[1])), np.eye(n) * free[:, None, :]
    U, size, Vt = np.linalg.svd(J, full_matrices=False)
    kept = size > RANK * np.maximum(size[:, :1], 1e-300)
    back = np.einsum("lji,lj,lkj->lik", Vt, np.where(kept, 1 / np.maximum(size, 1e-300), 0.0), U)
    rows = Vt * kept[..., None]
    return back, np.eye(n) * free[:, None, :] - np.swapaxes(rows, 1, 2) @ rows


# Formulas ------------------------------------------------------------------------------------------------------------


class _Terms(NamedTuple):
    """r, its Jacobian, Phi, J, multipliers, and the Hessian of the Lagrangian, for lanes of configurations."""

    r: Floats
    Jr: Floats
    phi: Floats
    J: Floats
    multipliers: Floats
    H: Floats

    @property
    def error(self) -> Floats:
        return np.einsum("...i,...i", self.r, self.r) / 2

    @property
    def violation(self) -> Floats:
        return np.abs(self.phi).max(axis=-1, initial=0.0)


def errors(m: Model, q: Any, x: Any, parts: tuple[Any, ...]) -> Any:
    """The weighted errors of all parts."""
    rows, place = [], 0
    placed = {
        name: placement(m, q, m.frame(name)) for name in dict.fromkeys(part.frame for part in parts)
    }
    for part in parts:
        R, p = placed[part.frame]
        rows.append(np.sqrt(part.weight) * part.error(R, p, x[place : place + part.size]))
        place += part.size
    return casadi.vertcat(*rows)


def terms(m: Model, q: Any, x: Any, shift: Any, parts: tuple[Any, ...]) -> list[Any]:
    """What a step is made of; multipliers are those that leave the least of the gradient."""
    rates = coordinate_rates(m, q)
    r = errors(m, q, x, parts) - shift
    Jr = casadi.jacobian(r, q) @ rates
    phi, J, *_ = equations(m, q, None, tuple(range(len(row_names(m)))))
    force = casadi.SX.sym("multipliers", phi.shape[0])
    slope = Jr.T @ r + J.T @ force
    H = casadi.jacobian(slope, q) @ rates
    found = -Damped(J.T, 1e-12).solve_exactly(Jr.T @ r) if phi.shape[0] else casadi.SX(0, 1)
    H = casadi.substitute(H, force, casadi.densify(found)) if phi.shape[0] else H
    return [casadi.densify(y) for y in (r, Jr, phi, J, found, H)]


def missed(m: Model, q: Any, x: Any, parts: tuple[Any, ...]) -> list[Any]:
    """The largest distance and angle that any part misses."""
    place, each = 0, []
    for part in parts:
        each.append(
            part.missed(*placement(m, q, m.frame(part.frame)), x[place : place + part.size])
        )
        place += part.size
    return [casadi.mmax(casadi.vertcat(*column)) for column in zip(*each, strict=True)]


def error_rows(parts: tuple[Any, ...]) -> int:
    """How many rows the errors have."""
    return sum(part.error_rows for part in parts)


_X = Argument("x", lambda m, parts: (sum(part.size for part in parts),), "numbers of the target")
TERMS = Formula(
    "target_terms", terms, (Q, _X, Argument("shift", lambda m, parts: (error_rows(parts),))),
    (
        Argument("r", lambda m, parts: (error_rows(parts),)), Argument("Jr", lambda m, parts: (error_rows(parts), m.nv)),
        Argument("phi", lambda m, parts: (len(row_names(m)),)), Argument("J", lambda m, parts: (len(row_names(m)), m.nv)),
        Argument("multipliers", lambda m, parts: (len(row_names(m)),)), Argument("H", lambda m, parts: (m.nv, m.nv)),
    ),
    {"parts": ()}, rare=True,
)  # fmt: skip
MISSED = Formula(
    "target_missed",
    missed,
    (Q, _X),
    (Argument("distance", ()), Argument("angle", ())),
    {"parts": ()},
    rare=True,
)


def _refuse(
    m: Model,
    asked: Given,
    made: Configurations,
    left: Floats,
    limits: bool,
    several: bool,
    designs: Designs,
) -> None:
    """A sentence where a target is not reached, with how near the nearest configuration comes."""
    good = np.atleast_1d(made.converged)
    good = good.any(axis=-1, keepdims=True) | good if several else good  # of several, one is enough
    if good.all():
        return
    at = tuple(np.argwhere(~good)[0])
    which = f"target {tuple(int(k) for k in at)}" if made.q.ndim > 1 else "this target"
    frames = ", ".join(f"'{name}'" for name in dict.fromkeys(part.frame for part in asked.parts))
    worst, rows = float(left.reshape(good.shape)[at]), good.shape[: good.ndim - several]
    name = f"{m.name}{designs[int(np.ravel_multi_index(at[: len(rows)], rows))].told if designs.names else ''}"
    if not worst < CLOSED:
        raise AssemblyError(
            f"{name} does not close on the way to {which}: loops are violated by {worst:.3g} (rad, or lengths of its size)."
        )
    distance, angle = (float(np.atleast_1d(y)[at]) for y in (made.distance, made.angle))
    within = " within its limits" if limits else ""
    raise InverseKinematicsError(
        f"{name} does not reach {which} with {frames}{within}: the nearest configuration found misses it by {distance:.3g} m "
        f"and {angle:.3g} rad. Ask for less, give another guess, or take the nearest with strict=False."
    )
