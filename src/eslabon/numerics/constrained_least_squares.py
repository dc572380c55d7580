"""The least of |r(q)|^2 / 2 under Phi(q) = 0 and within limits, for batches, by singular values.

Sequential quadratic programming: a step goes back onto the manifold of Phi,

    s_n = -J^T (J J^T + mu 1)^+ Phi,    mu = damping |Phi|^2,

and along it by Newton's method with the exact Hessian of the Lagrangian, its eigenvalues taken as
positive; coordinates that stand at a limit and would go beyond are held. Where r = 0 can be reached
this is quadratic convergence to it, else to a point from which no allowed motion leads nearer. With
no r it closes loops: dependent rows and more unknowns than rows do no harm, and of Phi that does not
vanish anywhere near, the least is found. No lane depends on another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from eslabon.numerics.least_squares import LOOK
from eslabon.numerics.tolerances import RANK

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class RefinementSettings:
    """How a refinement goes; motions are in radians, or metres over the characteristic length.

    Attributes
    ----------
    steps : at most.
    longest : motion of any coordinate in one step.
    damping : of the steps back onto the manifold, for starts far from it.
    rank : singular values of J, over the largest, that count as zero.
    flat : curvatures, over the largest, below which a motion counts as flat.
    level : a gradient along the manifold, over the error, from which no motion leads nearer.
    closed : a violation of Phi that is round-off.
    shorter : what a step that gains nothing is multiplied by.
    tries : such shorter steps, at most.
    gain : the part of what is left that a step gains at least; with less, a lane ends.
    stalled : a lane ends where `LOOK` steps leave more than this part of what was left.
    """

    steps: int = 100
    longest: float = 0.5
    damping: float = 0.0
    rank: float = RANK
    flat: float = 1e-7
    level: float = 1e-9
    closed: float = 1e-13
    shorter: float = 0.35
    tries: int = 12
    gain: float = 0.0
    stalled: float = 1.0


SETTINGS = RefinementSettings()


class Terms(NamedTuple):
    """r, its Jacobian, Phi, J, multipliers, and the Hessian of the Lagrangian, for lanes; columns are
    comparable velocities."""

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

    @property
    def size(self) -> Floats:
        """|Phi|, which every step back onto the manifold lessens; the largest row need not fall."""
        return np.asarray(np.sqrt(np.einsum("...i,...i", self.phi, self.phi)))

    def take(self, which: Places) -> Terms:
        return Terms(*(y[which] for y in self))


class Equations(Protocol):
    """What is refined; lanes are the first axis, and told by their places in the batch."""

    @property
    def free(self) -> Floats:
        """1 for each velocity that may move, 0 for those that are held."""

    def terms(self, q: Floats, lanes: Places) -> Terms:
        """The terms at solutions of some lanes."""

    def moved(self, q: Floats, way: Floats) -> Floats:
        """Solutions after a step in comparable velocities, within the limits."""

    def at_limits(self, q: Floats) -> tuple[Flags, Flags]:
        """Which velocities belong to coordinates at their lower, and at their upper limit."""


class Refined(NamedTuple):
    """Where lanes end, |Phi| there, and how many steps were taken."""

    q: Floats
    size: Floats
    steps: NDArray[np.int64]


def refine(equations: Equations, start: Floats, settings: RefinementSettings = SETTINGS) -> Refined:
    """Steps until nothing is gained, for all lanes side by side, from starts (k, n).

    >>> class Circle:  # the nearest point of a circle to (3, 4)
    ...     free = np.ones(2)
    ...     def terms(self, q, lanes):
    ...         r, one = q - np.array([3.0, 4.0]), np.tile(np.eye(2), (len(q), 1, 1))
    ...         phi, J = (q**2).sum(axis=1, keepdims=True) - 1, 2 * q[:, None]
    ...         force = -(r * q).sum(axis=1, keepdims=True) / (2 * (q**2).sum(axis=1, keepdims=True))
    ...         return Terms(r, one, phi, J, force, one * (1 + 2 * force[..., None]))
    ...     def moved(self, q, way):
    ...         return q + way
    ...     def at_limits(self, q):
    ...         return (np.zeros(q.shape, dtype=bool),) * 2
    >>> refine(Circle(), np.array([[1.0, 0.0]])).q.round(12)
    array([[0.6, 0.8]])
    """
    q, n = np.array(start), len(equations.free)
    terms = equations.terms(q, np.arange(len(q)))
    steps = np.zeros(len(q), dtype=np.int64)
    active = np.flatnonzero(np.isfinite(terms.error) & np.isfinite(terms.violation))
    left = _left(terms)
    for taken in range(1, settings.steps + 1 if n else 0):
        here = terms.take(active)
        way, back, slope = _direction(equations, q[active], here, settings)
        size = np.abs(here.r).max(axis=-1, initial=0.0)
        level = (slope < settings.level * size) | (size < np.finfo(float).eps)
        onward = ~(level & (here.violation < settings.closed))
        active, way, back = active[onward], way[onward], back[onward]
        if not len(active):
            break
        before = _left(terms.take(active))
        moved = _step(equations, q, terms, active, way, back, settings)
        steps[active] += 1
        after = _left(terms.take(active))
        if settings.gain:
            moved &= after <= (1 - settings.gain) * before
        if settings.stalled < 1 and taken % LOOK == 0:
            moved &= after <= settings.stalled * left[active]
            left = _left(terms)
        active = active[moved]
        if not len(active):
            break
    return Refined(q, terms.size, steps)


def _left(terms: Terms) -> Floats:
    """What is left of r and of Phi together, squared."""
    return np.asarray(2 * terms.error + terms.size**2)


def _direction(
    equations: Equations, q: Floats, terms: Terms, settings: RefinementSettings
) -> tuple[Floats, Floats, Floats]:
    """The step of each lane, the way back onto the manifold J^+, and the size of the gradient along
    it."""
    low, high = equations.at_limits(q)
    free, J, H = np.tile(equations.free, (len(q), 1)), terms.J, terms.H
    g, slope = np.einsum("lij,li->lj", terms.Jr, terms.r), np.zeros((len(q), 1))
    for _ in range(3):
        back, rows = _inverse(J * free[:, None, :], terms.size, settings)
        s = -np.einsum("lij,lj->li", back, terms.phi)
        if terms.r.shape[1]:
            P = np.eye(len(equations.free)) * free[:, None, :] - np.swapaxes(rows, 1, 2) @ rows
            slope = np.einsum("lij,lj->li", P, g)
            along = np.einsum("lij,lj->li", P, g + np.einsum("lij,lj->li", H, s))
            s = s - np.einsum("lij,lj->li", P, _newton_steps(P, H, along, settings.flat))
        out = (low & (s < 0)) | (high & (s > 0))
        if not (out & (free > 0)).any():
            break
        free = np.where(out, 0.0, free)
    longest = np.abs(s).max(axis=-1, keepdims=True, initial=0.0) / settings.longest
    return s * free / np.maximum(1.0, longest), back, np.abs(slope).max(axis=-1, initial=0.0)


def _step(
    equations: Equations, q: Floats, terms: Terms, active: Places, way: Floats, back: Floats,
    settings: RefinementSettings,
) -> Flags:  # fmt: skip
    """Take the steps, shorter where they gain nothing; which lanes have moved. Changes q and terms.

    A straight step leaves the manifold by its square; it is judged after that is taken back, since
    else a step that leads on would seem to lose (Maratos).
    """
    moved, share = np.zeros(len(active), dtype=bool), np.ones(len(active))
    # Of the largest violation the penalty is exact from the sum of the multipliers on.
    penalty = 2.0 * np.maximum(1.0, np.abs(terms.multipliers[active]).sum(axis=-1))
    alone = not terms.r.shape[1]

    def merit(terms: Terms, penalty: Floats) -> Floats:
        """Of a violation what is more than round-off, which is larger than the square of a small error."""
        if alone:
            return terms.size
        return np.asarray(
            terms.error + penalty * np.maximum(terms.violation - settings.closed, 0.0)
        )

    before = merit(terms.take(active), penalty)
    for _ in range(settings.tries):
        open_ = np.flatnonzero(~moved)
        if not len(open_):
            break
        lanes = active[open_]
        trial = equations.moved(q[lanes], way[open_] * share[open_, None])
        made = equations.terms(trial, lanes)
        if made.phi.shape[1] and not alone:
            trial = equations.moved(trial, -np.einsum("lij,lj->li", back[open_], made.phi))
            made = equations.terms(trial, lanes)
        better = merit(made, penalty[open_]) < before[open_]
        better &= np.isfinite(made.J).all(axis=(1, 2))
        at = lanes[better]
        q[at], moved[open_[better]] = trial[better], True
        for mine, new in zip(terms, made, strict=True):
            mine[at] = new[better]
        share[open_[~better]] *= settings.shorter
    return moved


def _newton_steps(P: Floats, H: Floats, along: Floats, flat: float) -> Floats:
    """Newton's steps on the manifold, its curvatures taken as positive."""
    curvature, V = np.linalg.eigh(P @ ((H + np.swapaxes(H, 1, 2)) / 2) @ P)
    size = np.abs(curvature)
    least = flat * size.max(axis=-1, keepdims=True, initial=0.0) + np.finfo(float).tiny
    inner = np.einsum("lji,lj->li", V, along) / np.maximum(size, least)
    return np.asarray(np.einsum("lij,lj->li", V, inner))


def _inverse(J: Floats, size: Floats, settings: RefinementSettings) -> tuple[Floats, Floats]:
    """The damped J^+, and the rows that span the range of J^T, for each lane."""
    n = J.shape[-1]
    if not J.shape[1] or not n:
        return np.zeros((len(J), n, J.shape[1])), np.zeros((len(J), 0, n))
    U, values, Vt = np.linalg.svd(J, full_matrices=False)
    kept = values > settings.rank * np.maximum(values[:, :1], np.finfo(float).tiny)
    mu = settings.damping * size[:, None] ** 2
    gains = np.where(kept, values / np.where(kept, values**2 + mu, 1.0), 0.0)
    return np.einsum("lji,lj,lkj->lik", Vt, gains, U), Vt * kept[..., None]
