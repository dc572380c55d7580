"""Refinement of a problem: configurations as near to their targets as they get, with loops closed.

The least of |r(q)|^2 / 2 is sought, r the weighted errors of all rows, under Phi(q) = 0 and within
the joints' limits (`numerics.constrained_least_squares`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eslabon.arguments import Floats
from eslabon.compiler.evaluate import evaluate
from eslabon.model import Model
from eslabon.model.configuration import integrate, normalize
from eslabon.model.scale import velocity_scales
from eslabon.numerics.constrained_least_squares import Terms, refine
from eslabon.numerics.subspaces import pseudo_inverse
from eslabon.numerics.tolerances import COINCIDENT
from eslabon.solve.kernels import TERMS
from eslabon.solve.problem import Problem
from eslabon.solve.ranges import Ranges

if TYPE_CHECKING:
    from eslabon.solve.solver import Lanes

Flags = NDArray[np.bool_]


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
        """The terms at configurations, by comparable velocities."""
        r, Jr, phi, J, multipliers, H = (
            np.array(y) for y in self._terms(q, lanes.x, *lanes.inputs)
        )
        columns = self.scale
        return Terms(r, Jr * columns, phi, J * columns, multipliers, H * columns[:, None] * columns)

    def descend(self, lanes: Lanes) -> tuple[Floats, Any]:
        """Steps until nothing is gained, for all lanes side by side: configurations, and how
        many."""
        q = self._with_held(self.ranges.admitted(np.array(lanes.start)), lanes.x)
        found = refine(_Refined(self, lanes), q)
        return self.ranges.turned(found.q, lanes.start), found.steps

    def _with_held(self, q: Floats, x: Floats) -> Floats:
        places = self.problem.coordinates(self.m)
        q[:, places] = x[:, : len(places)]
        return q

    def at_limits(self, q: Floats) -> tuple[Flags, Flags]:
        """Which velocities belong to joints that stand at their lower, and at their upper limit."""
        low, high = np.zeros((2, len(q), self.m.nv), dtype=bool)
        own, slack = q[:, self.coordinates], COINCIDENT / 1000
        low[:, self.velocities] = own <= self.ranges.lower[self.coordinates] + slack
        high[:, self.velocities] = own >= self.ranges.upper[self.coordinates] - slack
        return low, high

    def moved(self, q: Floats, way: Floats) -> Floats:
        """Configurations after a step, within the limits."""
        q, places = (
            np.array(normalize(self.m, integrate(self.m, q, way * self.scale))),
            self.coordinates,
        )
        q[:, places] = np.clip(q[:, places], self.ranges.lower[places], self.ranges.upper[places])
        return q

    def corrected(self, q: Floats, lanes: Lanes) -> Floats:
        """Configurations near their targets brought to them by the least steps."""
        for _ in range(4):
            t = self.terms(q, lanes)
            A, miss = np.concatenate([t.Jr, t.J], axis=-2), np.concatenate([t.r, t.phi], axis=-1)
            way = -np.einsum("lij,lj->li", pseudo_inverse(A), miss)
            q = np.asarray(normalize(self.m, integrate(self.m, q, way * self.scale)))
        return q


class _Refined:
    """A refinement of some lanes, as `numerics.constrained_least_squares` takes it."""

    def __init__(self, refinement: Refinement, lanes: Lanes) -> None:
        self._lanes, self._refinement = lanes, refinement
        self.free, self.moved = refinement.free, refinement.moved
        self.at_limits = refinement.at_limits

    def terms(self, q: Floats, lanes: NDArray[np.intp]) -> Terms:
        return self._refinement.terms(q, self._lanes.take(lanes))


def _places(size: int, slices: Any) -> Any:
    return np.array([k for own in slices for k in range(size)[own]], dtype=int)
