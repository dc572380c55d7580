"""The equations of one instant of a design in motion: closure and prescribed motion, for parameters that are sought.

A configuration is a variable of the program and closes its loops by the equality constraint Phi(q, p) = 0; the velocities and
accelerations are variables too, which keep J v = 0 and J v' = gamma. So nothing is inverted in the graph, iterates need not be
assembled on the way, and first and second derivatives stay small. The alternative, parameters alone as variables with the mechanism
assembled anew at each step, fails where a step leads to a design that does not close; here the solver closes it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.errors import ModelError
from eslabon.formulas.kinematics.closure import equations
from eslabon.mechanism import Mechanism
from eslabon.model.configuration import (
    coordinate_rates,
    integrate,
    lengths_of_quaternions,
    normalize,
)
from eslabon.model.scale import characteristic_length
from eslabon.numerics.scalars import casadi
from eslabon.optimize.prescribed_motion import Prescribed
from eslabon.solve.constraints.independent_coordinates import partition
from eslabon.solve.singular.actuated_motions import error_rows, measured_bodies
from eslabon.solve.singular.conditions import PARTS, reachable_twists
from eslabon.solve.singular.parallel_condition import symbolic_parallel_condition

SMALL = 6  # rows of a matrix whose determinant is written out
STEPS, NEWTON = 16, 12  # of the way in the parameters, and of Newton's method at each
ARRIVED, CLOSES = 1e-10, 1e-6  # m or rad
LARGEST = 0.5  # rad or m, of a step


class InstantEquations:
    """Symbols p, q, v, a and data of one instant, and what is zero there.

    `parameters` are the symbols by name, `residual` the columns (configuration, velocities, accelerations), `parallel` the
    dependent columns of the closure Jacobian (None for a tree), and `jacobian` that of the configuration's equations.
    """

    def __init__(self, m: Mechanism, names: Sequence[str], given: Prescribed) -> None:
        self.m, self.names, self.given = m, tuple(names), given
        self.p = casadi.SX.sym("p", len(self.names))
        self.parameters = (
            dict(zip(self.names, casadi.vertsplit(self.p), strict=True)) if self.names else {}
        )
        self.q, self.v, self.a = (
            casadi.SX.sym("q", m.nq),
            casadi.SX.sym("v", m.nv),
            casadi.SX.sym("a", m.nv),
        )
        self.data = casadi.SX.sym("data", given.data(np.zeros(1)).shape[1])
        found = given.equations(m, self.parameters, self.q, self.v, self.a, self.data)
        self.parallel: Any = None
        if m.closed:
            split = partition(m)
            phi, J, gamma, _ = equations(
                m.with_symbols(self.parameters), self.q, self.v, split.rows
            )
            self.parallel = J[:, list(split.dependent)]
            own = phi, J @ self.v, J @ self.a - gamma
            found = tuple(casadi.vertcat(x, y) for x, y in zip(own, found, strict=True))
        self.residual = tuple(casadi.densify(casadi.SX(x)) for x in found)
        self.jacobian = casadi.jacobian(self.residual[0], self.q) @ coordinate_rates(m, self.q)
        self.lengths = casadi.vertcat(
            casadi.SX(0, 1), *(x - 1 for x in lengths_of_quaternions(m, self.q).values())
        )
        inputs = [self.p, self.q, self.v, self.a, self.data]
        whole = [*self.residual, casadi.densify(self.jacobian)]
        self._numbers = casadi.Function("instant", inputs, casadi.cse(whole))
        self._places = casadi.Function(
            "configuration", [self.p, self.q, self.data], casadi.cse([whole[0], whole[-1]])
        )

    @property
    def inputs(self) -> list[Any]:
        """The symbols, in their order."""
        return [self.p, self.q, self.v, self.a, self.data]

    @property
    def moved(self) -> bool:
        """Whether the motion of the joints depends on the parameters at all."""
        return bool(casadi.depends_on(casadi.vertcat(*self.residual), self.p))

    def signs(self) -> list[Any]:
        """Determinants whose signs tell branches apart, each over the lengths of its columns, from -1 to 1: of the closure Jacobian's
        dependent columns, and of the motion's equations. Those of large matrices are left out."""
        matrices = [
            x for x in (self.parallel, self.jacobian) if x is not None and 0 < x.shape[0] <= SMALL
        ]
        return [_signed_volume(x) for x in matrices]

    def parallel_conditioning(self) -> Any:
        """k + 1/k, where 1/k is the parallel condition of `m.conditions`."""
        m = self.m.with_symbols(self.parameters)
        unit, measured = characteristic_length(m), measured_bodies(self.m)
        c = symbolic_parallel_condition(m, self.q, unit, measured, error_rows(self.m))
        return c + 1 / c

    def serial_conditioning(self, frame: str, part: str) -> Any:
        """`conditioning` of the way from the independent velocities to a frame's translation or rotation."""
        span = reachable_twists(self.m, frame, part)
        if span.basis.shape[1] != span.rank:
            raise ModelError(
                f"the {part} of '{frame}' has {span.basis.shape[1]} directions and {span.rank} degrees of freedom in {self.m.name}, so that "
                "it has no dexterity of its own."
            )
        J = self.m.jacobian(self.q, frame, axes="aligned", parameters=self.parameters)[
            PARTS[part], :
        ]
        if self.parallel is not None:
            split = partition(self.m)
            _, C, _, _ = equations(self.m.with_symbols(self.parameters), self.q, None, split.rows)
            follow = casadi.solve(self.parallel, C[:, list(split.independent)])
            J = J[:, list(split.independent)] - J[:, list(split.dependent)] @ follow
        S = casadi.DM(span.basis.T) @ J
        return conditioning(S @ S.T)

    # -- numbers ------------------------------------------------------------------------------------------------------

    def evaluated(
        self, p: Floats, q: Floats, v: Floats, a: Floats, data: Floats
    ) -> tuple[Floats, ...]:
        """The residuals (n, rows) and the Jacobian (n, rows, nv) at n instants, of the same parameters or of n designs."""
        return self._at(self._numbers, p, q, v, a, data)

    def _at(self, f: Any, p: Floats, *columns: Floats) -> tuple[Floats, ...]:
        n = len(columns[0])
        *left, J = (
            x.full()
            for x in f.map(n)(np.broadcast_to(p, (n, len(self.names))).T, *(x.T for x in columns))
        )
        return *(x.T for x in left), J.reshape(J.shape[0], n, -1).transpose(1, 0, 2)

    def continued(self, p0: Floats, q: Floats, p1: Floats, data: Floats) -> tuple[Floats, Any]:
        """What configurations (n, nq) become as the parameters go from p0 to p1, straight, and which of them close there."""
        closes: Any = np.ones(len(q), dtype=bool)
        for part in np.linspace(0.0, 1.0, STEPS + 1)[1:]:
            q, closes = self.corrected(p0 + part * (p1 - p0), q, data)
        return q, closes

    def reached(self, p0: Floats, q: Floats, p1: Floats, data: Floats) -> tuple[Floats, Floats]:
        """The parameters as near to p1 as the configurations of a motion (n, nq) close on the straight way from p0, less a step
        where that is not all the way, and those configurations."""
        way = [(p0, q)]
        for part in np.linspace(0.0, 1.0, STEPS + 1)[1:]:
            p = p0 + part * (p1 - p0)
            new, closes = self.corrected(p, way[-1][1], data)
            if not closes.all():
                return way[max(len(way) - 2, 0)]
            way.append((p, new))
        return way[-1]

    def corrected(
        self, p: Floats, q: Floats, data: Floats, most: int = NEWTON
    ) -> tuple[Floats, Any]:
        """Newton's method from configurations (n, nq), so many steps at most, and which of them it closes."""
        for _ in range(most):
            left, J = self._at(self._places, p, q, data)
            if np.abs(left).max(initial=0.0) < ARRIVED:
                break
            step = -_solved(J, left)
            step *= np.minimum(
                1.0, LARGEST / np.maximum(np.abs(step).max(axis=1, keepdims=True), 1e-300)
            )
            q = np.asarray(normalize(self.m, integrate(self.m, q, step)))
        left, _ = self._at(self._places, p, q, data)
        return q, np.abs(left).max(axis=1, initial=0.0) < CLOSES

    def rates(self, p: Floats, q: Floats, data: Floats) -> tuple[Floats, Floats, Floats]:
        """q with the velocities and accelerations that keep the equations: both are linear in what is sought."""
        zero = np.zeros((len(q), self.m.nv))
        _, left, _, J = self.evaluated(p, q, zero, zero, data)
        v = -_solved(J, left)
        _, _, left, _ = self.evaluated(p, q, v, zero, data)
        return q, v, -_solved(J, left)


def _solved(J: Floats, right: Floats) -> Floats:
    """Damped where a matrix is singular, as it may be on the way."""
    if not J.shape[1]:
        return np.zeros((len(J), J.shape[2]))
    back = np.swapaxes(J, -1, -2)
    size = np.square(J).sum(axis=(1, 2), keepdims=True) + 1e-300
    gram = back @ J + 1e-14 * size * np.eye(J.shape[-1])
    return np.linalg.solve(gram, back @ right[..., None])[..., 0]


def conditioning(G: Any) -> Any:
    """kappa_F - n + 2 of a matrix A with the n x n matrix G = A^T A or A A^T; kappa_F is the condition number by Frobenius' norm.

    With the singular values between the extreme ones at their geometric mean it is k + 1/k, where k is the condition number
    by the extreme ones, and otherwise more: so it is at most c + 1/c only if 1/k is at least c. For n = 2 that is exact.
    """
    n = G.shape[0]
    inverse = casadi.inv_minor(G) if n <= SMALL else casadi.inv(G)
    return casadi.sqrt(casadi.trace(G) * casadi.trace(inverse)) - n + 2


def _signed_volume(A: Any) -> Any:
    """The determinant over the lengths of the columns, which are the lever arms of joints: of a four-bar the sine of its transmission
    angle. Rows, which are directions, vanish where links are all across them, as they are when two come into line."""
    volume = casadi.det(A)
    for k in range(A.shape[1]):
        volume = volume / casadi.sqrt(casadi.sumsqr(A[:, k]) + 1e-300)
    return volume
