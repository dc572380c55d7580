"""Refinement: configurations as near to their targets as they get, with loops closed.

The least of |r(q)|^2 / 2 is sought, r the weighted errors of all rows, under Phi(q) = 0 and within the
joints' limits: sequential quadratic programming for a whole batch. A step goes back onto the
constraint manifold, s_n = -J^+ Phi, and along it by Newton's method with the exact Hessian of the
Lagrangian, its eigenvalues taken as positive; joints that stand at a limit and would go beyond are
held. Where a target can be reached this is quadratic convergence to r = 0, else to a configuration
from which no allowed motion leads nearer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eslabon.arguments import Floats
from eslabon.compiler.evaluate import evaluate
from eslabon.model import Model
from eslabon.model.configuration import integrate, normalize
from eslabon.model.scale import velocity_scales
from eslabon.numerics.tolerances import COINCIDENT
from eslabon.solve.kernels import TERMS
from eslabon.solve.problem import Problem
from eslabon.solve.ranges import Ranges

if TYPE_CHECKING:
    from eslabon.solve.solver import Lanes

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class RefinementSettings:
    """How a refinement goes; motions are in radians, or metres over the characteristic length.

    Attributes
    ----------
    steps : at most.
    longest : motion of any joint in one step.
    rank : singular values of J, over the largest, that count as zero.
    flat : curvatures, over the largest, below which a motion counts as flat.
    level : a gradient along the manifold, over the error, from which no motion leads nearer.
    closed : a violation of closure that is round-off.
    shorter : what a step that gains nothing is multiplied by.
    tries : such shorter steps, at most.
    """

    steps: int = 100
    longest: float = 0.5
    rank: float = 1e-9
    flat: float = 1e-7
    level: float = 1e-9
    closed: float = 1e-13
    shorter: float = 0.35
    tries: int = 12


SETTINGS = RefinementSettings()


class Terms(NamedTuple):
    """r, its Jacobian, Phi, J, multipliers, and the Hessian of the Lagrangian, for lanes."""

    r: Floats
    Jr: Floats
    phi: Floats
    J: Floats
    multipliers: Floats
    H: Floats

    @property
    def error(self) -> Floats:
        return np.asarray(np.einsum("...i,...i", self.r, self.r) / 2)

    @property
    def violation(self) -> Floats:
        return np.asarray(np.abs(self.phi).max(axis=-1, initial=0.0))


class Refinement:
    """A problem of a mechanism within its ranges."""

    def __init__(
        self, m: Model, problem: Problem, ranges: Ranges, names: tuple[str, ...] = ()
    ) -> None:
        self.m, self.problem, self.ranges = m, problem, ranges
        self._terms = evaluate(m, TERMS, names, problem=problem)
        self.scale = 1 / np.asarray(velocity_scales(m), dtype=float)
        self.free = np.zeros(m.nv)
        self.free[problem.free(m)] = 1.0
        limited = [j for j in m.joints if j.limits is not None]
        self.velocities = _places(m.nv, (m.velocities[j.name] for j in limited))
        self.coordinates = _places(m.nq, (m.coordinates[j.name] for j in limited))

    def terms(self, q: Floats, lanes: Lanes) -> Terms:
        return Terms(*(np.array(y) for y in self._terms(q, lanes.x, *lanes.inputs)))

    def descend(self, lanes: Lanes) -> tuple[Floats, Any]:
        """Steps until nothing is gained, for all lanes side by side: configurations, and how many."""
        q = self._with_held(self.ranges.admitted(np.array(lanes.start)), lanes.x)
        terms, steps = self.terms(q, lanes), np.zeros(len(q), dtype=np.int64)
        active = np.flatnonzero(np.isfinite(terms.error) & np.isfinite(terms.violation))
        for _ in range(SETTINGS.steps if self.m.nv else 0):
            if not len(active):
                break
            here = Terms(*(y[active] for y in terms))
            way, back, slope = self._direction(q[active], here)
            size = np.abs(here.r).max(axis=-1, initial=0.0)
            level = (slope < SETTINGS.level * size) | (size < np.finfo(float).eps)
            onward = ~(level & (here.violation < SETTINGS.closed))
            active, way, back = active[onward], way[onward], back[onward]
            moved = self._step(q, lanes, terms, active, way, back)
            steps[active] += 1
            active = active[moved]
        return self.ranges.turned(q, lanes.start), steps

    def _with_held(self, q: Floats, x: Floats) -> Floats:
        places = self.problem.coordinates(self.m)
        q[:, places] = x[:, : len(places)]
        return q

    def _direction(self, q: Floats, terms: Terms) -> tuple[Floats, Floats, Floats]:
        """The step of each lane in comparable velocities, the way back onto the manifold J^+, and the
        size of the gradient along it."""
        low, high = self._standing(q)
        free = np.tile(self.free, (len(q), 1))
        J, H = terms.J * self.scale, terms.H * self.scale[:, None] * self.scale
        g = np.einsum("lij,li->lj", terms.Jr * self.scale, terms.r)
        for _ in range(3):
            back, P = _projections(J * free[:, None, :], free)
            s = -np.einsum("lij,lj->li", back, terms.phi)
            slope = np.einsum("lij,lj->li", P, g)
            along = np.einsum("lij,lj->li", P, g + np.einsum("lij,lj->li", H, s))
            s = s - np.einsum("lij,lj->li", P, _newton_steps(P, H, along))
            out = (low & (s < 0)) | (high & (s > 0))
            if not (out & (free > 0)).any():
                break
            free = np.where(out, 0.0, free)
        longest = np.abs(s).max(axis=-1, keepdims=True, initial=0.0) / SETTINGS.longest
        return s * free / np.maximum(1.0, longest), back, np.abs(slope).max(axis=-1, initial=0.0)

    def _standing(self, q: Floats) -> tuple[Flags, Flags]:
        """Which velocities belong to joints that stand at their lower, and at their upper limit."""
        low, high = np.zeros((2, len(q), self.m.nv), dtype=bool)
        own, slack = q[:, self.coordinates], COINCIDENT / 1000
        low[:, self.velocities] = own <= self.ranges.lower[self.coordinates] + slack
        high[:, self.velocities] = own >= self.ranges.upper[self.coordinates] - slack
        return low, high

    def _step(
        self, q: Floats, lanes: Lanes, terms: Terms, active: Any, way: Floats, back: Floats
    ) -> Flags:
        """Take the steps, shorter where they gain nothing; which lanes have moved. Changes q and terms.

        A straight step leaves the manifold by its square; it is judged after that is taken back, since
        else a step that leads on would seem to lose (Maratos).
        """
        moved, share = np.zeros(len(active), dtype=bool), np.ones(len(active))
        # Of the largest violation the penalty is exact from the sum of the multipliers on.
        penalty = 2.0 * np.maximum(1.0, np.abs(terms.multipliers[active]).sum(axis=-1))
        before = terms.error[active] + penalty * _beyond_round_off(terms.violation[active])
        for _ in range(SETTINGS.tries):
            open_ = np.flatnonzero(~moved)
            if not len(open_):
                break
            own = lanes.take(active[open_])
            trial = self._moved(q[active[open_]], way[open_] * share[open_, None])
            made = self.terms(trial, own)
            if self.m.closed:
                trial = self._moved(trial, -np.einsum("lij,lj->li", back[open_], made.phi))
                made = self.terms(trial, own)
            after = made.error + penalty[open_] * _beyond_round_off(made.violation)
            better = after < before[open_]
            at = active[open_[better]]
            q[at], moved[open_[better]] = trial[better], True
            for mine, new in zip(terms, made, strict=True):
                mine[at] = new[better]
            share[open_[~better]] *= SETTINGS.shorter
        return moved

    def corrected(self, q: Floats, lanes: Lanes) -> Floats:
        """Configurations near their targets brought to them by the least steps."""
        for _ in range(4):
            t = self.terms(q, lanes)
            A = np.concatenate([t.Jr, t.J], axis=-2) * self.scale
            miss = np.concatenate([t.r, t.phi], axis=-1)
            way = -np.einsum("lij,lj->li", np.linalg.pinv(A, rcond=SETTINGS.rank), miss)
            q = np.asarray(normalize(self.m, integrate(self.m, q, way * self.scale)))
        return q

    def _moved(self, q: Floats, way: Floats) -> Floats:
        """Configurations after a step, within the limits."""
        q, places = (
            np.array(normalize(self.m, integrate(self.m, q, way * self.scale))),
            self.coordinates,
        )
        q[:, places] = np.clip(q[:, places], self.ranges.lower[places], self.ranges.upper[places])
        return q


def _places(size: int, slices: Any) -> Any:
    return np.array([k for own in slices for k in range(size)[own]], dtype=int)


def _beyond_round_off(violation: Floats) -> Floats:
    """What of a violation of closure is more than round-off, which is larger than the square of a small
    error."""
    return np.maximum(violation - SETTINGS.closed, 0.0)


def _newton_steps(P: Floats, H: Floats, along: Floats) -> Floats:
    """Newton's steps on the manifold, its curvatures taken as positive."""
    curvature, V = np.linalg.eigh(P @ ((H + np.swapaxes(H, 1, 2)) / 2) @ P)
    size = np.abs(curvature)
    least = SETTINGS.flat * size.max(axis=-1, keepdims=True, initial=0.0) + np.finfo(float).tiny
    inner = np.einsum("lji,lj->li", V, along) / np.maximum(size, least)
    return np.asarray(np.einsum("lij,lj->li", V, inner))


def _projections(J: Floats, free: Floats) -> tuple[Floats, Floats]:
    """J^+ and the projection onto what J and held joints leave free, for each lane."""
    n = J.shape[-1]
    if not J.shape[1] or not n:
        return np.zeros((len(J), n, J.shape[1])), np.eye(n) * free[:, None, :]
    U, size, Vt = np.linalg.svd(J, full_matrices=False)
    kept = size > SETTINGS.rank * np.maximum(size[:, :1], np.finfo(float).tiny)
    inverse = np.where(kept, 1 / np.where(kept, size, 1.0), 0.0)
    rows = Vt * kept[..., None]
    back = np.einsum("lji,lj,lkj->lik", Vt, inverse, U)
    return back, np.eye(n) * free[:, None, :] - np.swapaxes(rows, 1, 2) @ rows
