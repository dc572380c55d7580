"""Configurations from which a frame moves evenly in all directions (Rojas, eq. 3.3.1.12)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eslabon.arguments import Floats, flag, text
from eslabon.formulas.kinematics.frames import chosen_frame
from eslabon.model import Model
from eslabon.model.configuration import integrate
from eslabon.model.scale import characteristic_length, velocity_scales
from eslabon.numerics.ordering import stable_order
from eslabon.solve.constraints.closed_configurations import comparable_jacobian_at
from eslabon.solve.constraints.independent_coordinates import partition
from eslabon.solve.ranges import Ranges
from eslabon.solve.singular.closing_steps import closed_near
from eslabon.solve.singular.conditions import conditions


@dataclass(frozen=True)
class SearchSettings:
    """How a well-conditioned configuration is searched for.

    Attributes
    ----------
    samples : configurations that are compared first.
    starts : the best of them, from each of which a search begins.
    halving : rounds, after each of which the worse half of the searches ends, down to a quarter.
    rounds, trials : of each search at most, and configurations that are tried in a round.
    distance : how far off these are at first, in rad or metres over L.
    growth, decay : of the distance after a round that found a better one, and after one that did
        not.
    least : the distance at which a search ends.
    polish : steps of the simplex search from the best of these.
    seed : of the directions that are tried.
    """

    samples: int = 1000
    starts: int = 12
    halving: int = 20
    rounds: int = 120
    trials: int = 16
    distance: float = 0.3
    growth: float = 1.4
    decay: float = 0.8
    least: float = 1e-5
    polish: int = 200
    seed: int = 0


SETTINGS = SearchSettings()


def well_conditioned(m: Model, frame: str | None = None, *, limits: bool = True) -> Floats:
    """A configuration of greatest reciprocal condition number, of the lesser of the two kinds that
    `m.conditions` reports: for a tree that of least condition number of the frame's Jacobian
    (Rojas, eq. 3.3.1.12).

    The best of a sample of configurations are improved by a local search along the motions that
    keep the loops closed, and within the limits of the joints; the best of all is returned, always
    the same.

    >>> import eslabon as es
    >>> m = es.load("puma560")
    >>> bool(m.conditions(well_conditioned(m)).serial > m.conditions(m.home()).serial)
    True
    """
    chosen = chosen_frame(m, frame if frame is None else text(frame, "frame")).name
    limited = flag(limits, "limits")
    ranges = Ranges.of(m, float(characteristic_length(m)))
    search = _Search(m, chosen, ranges if limited else ranges.unlimited, limited)
    q = search.samples()
    best = q[stable_order(-search.value(q))[: SETTINGS.starts]]
    best = search.improved(best)
    return search.polished(best[stable_order(-search.value(best))[0]])


@dataclass(frozen=True, eq=False)
class _Search:
    m: Model
    frame: str
    ranges: Ranges
    limited: bool

    def samples(self) -> Floats:
        """Configurations spread over the ranges of the joints, or over the workspace; the home of
        the description first."""
        from eslabon.solve.workspace.sampled_workspace import workspace

        home = np.asarray(self.m.home(), dtype=float)[None]
        if not self.m.closed:
            return np.concatenate(
                [self.ranges.admitted(home), self.ranges.spread(SETTINGS.samples)]
            )
        return workspace(self.m, self.frame, samples=SETTINGS.samples, limits=self.limited).q

    def value(self, q: Floats) -> Floats:
        """The lesser reciprocal condition number; of what does not close, or only beyond a limit,
        -1."""
        good = np.asarray(np.isfinite(q).all(axis=-1))
        if self.m.closed:
            good &= self.ranges.contain(np.where(good[:, None], q, 0.0))
        value = np.full(len(q), -1.0)
        if good.any():
            found = conditions(self.m, q[good], self.frame)
            value[good] = np.minimum(found.parallel, found.serial)
        return value

    def tangents(self, q: Floats) -> Floats:
        """Velocities that keep the loops closed, (k, nv, n), of unit size in rad/s or L/s."""
        scales = velocity_scales(self.m)
        if not self.m.closed:
            return np.broadcast_to(np.diag(1 / scales), (len(q), self.m.nv, self.m.nv))
        Vt = np.linalg.svd(comparable_jacobian_at(self.m, q))[2]
        first = self.m.nv - len(partition(self.m).independent)
        return np.swapaxes(Vt[:, first:], -1, -2) / scales[:, None]

    def moved(self, q: Floats, v: Floats) -> Floats:
        """Configurations further on, NaN where loops do not close."""
        made = np.asarray(integrate(self.m, q, v))
        return closed_near(self.m, made) if self.m.closed else self.ranges.admitted(made)

    def improved(self, q: Floats) -> Floats:
        """Searches in random directions, each with its own step, from all starts at once; those
        that fall behind end."""
        rng = np.random.default_rng(SETTINGS.seed)
        q, best, far = q.copy(), self.value(q), np.full(len(q), SETTINGS.distance)
        for number in range(1, SETTINGS.rounds + 1):
            if number % SETTINGS.halving == 0 and len(q) > SETTINGS.starts // 4:
                left = stable_order(-best)[: len(q) // 2]
                q, best, far = q[left], best[left], far[left]
            lanes = np.flatnonzero(far > SETTINGS.least)
            if not len(lanes):
                break
            basis = self.tangents(q[lanes])
            ways = rng.normal(size=(SETTINGS.trials, basis.shape[-1])) / np.sqrt(basis.shape[-1])
            v = np.einsum("nvk,tk,n->ntv", basis, ways, far[lanes])
            tried = self.moved(
                np.repeat(q[lanes], SETTINGS.trials, axis=0), v.reshape(-1, self.m.nv)
            )
            value = self.value(tried).reshape(len(lanes), -1)
            k = value.argmax(axis=1)
            top, better = value[np.arange(len(lanes)), k], value.max(axis=1) > best[lanes]
            own = lanes[better]
            q[own] = tried.reshape(len(lanes), SETTINGS.trials, -1)[better, k[better]]
            best[own] = top[better]
            far[lanes] *= np.where(better, SETTINGS.growth, SETTINGS.decay)
        return q

    def polished(self, q: Floats) -> Floats:
        """The end of SciPy's simplex search from one configuration."""
        from scipy.optimize import minimize

        basis = self.tangents(q[None])[0]

        def at(x: Floats) -> Floats:
            return self.moved(q[None], (basis @ x)[None])

        start = np.vstack([np.zeros(basis.shape[1]), 0.02 * np.eye(basis.shape[1])])
        found = minimize(
            lambda x: -float(self.value(at(x))[0]),
            start[0],
            method="Nelder-Mead",
            options={"maxiter": SETTINGS.polish, "initial_simplex": start, "adaptive": True},
        )
        better = at(found.x)
        return better[0] if self.value(better)[0] > self.value(q[None])[0] else q
