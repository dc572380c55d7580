"""The inertia of a body as the ten numbers in which the equations of motion are linear."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi

from eslabon.formulations.symbols import SX, cross, lean, product
from eslabon.model import Body


@dataclass(frozen=True)
class Inertia:
    """Mass m, first moment h = m c, and second moments Sigma = integral of r r^T dm, about the body's frame.

    Sigma = tr(J)/2 1 - J for the usual inertia J about the same point. With the matrix U = skew(w') + skew(w)^2 that
    gives the acceleration of any point r of the body as a + U r, force and moment are m a + U h and
    h x a + 2 vect(U Sigma): the fewest products there are.
    """

    mass: SX
    first: SX
    second: SX

    @staticmethod
    def of(body: Body) -> Inertia:
        """From mass, centre of mass c and inertia I about it: Sigma = tr(I)/2 1 - I + m c c^T."""
        mass, c, I = casadi.SX(body.mass), casadi.SX(casadi.vertcat(*body.com)), casadi.SX(body.inertia_matrix())
        return Inertia(lean(mass), lean(mass * c), lean(casadi.trace(I) / 2 * casadi.SX.eye(3) - I + mass * c @ c.T))

    @staticmethod
    def of_numbers(numbers: Any) -> Inertia:
        """From (m, hx, hy, hz, Sxx, Syy, Szz, Sxy, Sxz, Syz)."""
        m, hx, hy, hz, xx, yy, zz, xy, xz, yz = (numbers[k] for k in range(10))
        rows = [casadi.horzcat(xx, xy, xz), casadi.horzcat(xy, yy, yz), casadi.horzcat(xz, yz, zz)]
        return Inertia(lean(m), lean(casadi.vertcat(hx, hy, hz)), lean(casadi.vertcat(*rows)))

    def numbers(self) -> SX:
        """The ten numbers in a column."""
        S = self.second
        return casadi.vertcat(self.mass, self.first, S[0, 0], S[1, 1], S[2, 2], S[0, 1], S[0, 2], S[1, 2])

    def force(self, U: SX, a: SX) -> SX:
        """The force that gives the frame's origin the acceleration a and the body the motion of U."""
        return lean(self.mass * a + product(U, self.first))

    def moment(self, U: SX, a: SX) -> SX:
        """The moment about the frame's origin, likewise: J w' + w x J w + h x a."""
        S = self.second
        # 2 vect(U Sigma), with the products that share an entry of Sigma taken together
        turning = casadi.vertcat(
            U[2, 1] * S[1, 1]
            - U[1, 2] * S[2, 2]
            + S[1, 2] * (U[2, 2] - U[1, 1])
            + U[2, 0] * S[0, 1]
            - U[1, 0] * S[0, 2],
            U[0, 2] * S[2, 2]
            - U[2, 0] * S[0, 0]
            + S[0, 2] * (U[0, 0] - U[2, 2])
            + U[0, 1] * S[1, 2]
            - U[2, 1] * S[0, 1],
            U[1, 0] * S[0, 0]
            - U[0, 1] * S[1, 1]
            + S[0, 1] * (U[1, 1] - U[0, 0])
            + U[1, 2] * S[0, 2]
            - U[0, 2] * S[1, 2],
        )
        return lean(lean(turning) + cross(self.first, a))

    def matrix(self) -> SX:
        """The 6x6 inertia about the frame's origin, angular part first (Yime, eq. 38)."""
        S, h = self.second, casadi.skew(self.first)
        J = casadi.trace(S) * casadi.SX.eye(3) - S
        return lean(casadi.blockcat([[J, h], [h.T, self.mass * casadi.SX.eye(3)]]))
