"""A formulation as a value: the functions that give a tree's equations, and the table of ours.

A formulation is how the equations of a tree are written. Each of ours is a file of this folder, and
none calls another, so that every one of them checks the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial

from eslabon.compiler.calls import inlined
from eslabon.compiler.source_digest import code_digest
from eslabon.formulas.applied_loads import Wrenches
from eslabon.formulas.formulations import crba, gibbs_appell, lagrange, lie, quaternion, rnea
from eslabon.formulas.formulations.christoffel import christoffel_matrix
from eslabon.model import Model
from eslabon.numerics.scalars import Expression, casadi

InverseDynamics = Callable[[Model, Expression, Expression, Expression, Wrenches], Expression]
EquationsOfMotion = Callable[
    [Model, Expression, Expression, Wrenches], tuple[Expression, Expression]
]


@dataclass(frozen=True)
class Formulation:
    """How the equations of a tree are written: rigid bodies and weights, without motors and
    friction.

    Attributes
    ----------
    name : what messages call it.
    inverse_dynamics : the joint forces, called as `(m, q, v, a, wrenches)` with wrenches by body.
    equations_of_motion : M and h of the joint forces M v' + h, called as `(m, q, v, wrenches)`.
    own_mass_matrix : M called as `(m, q)`, where that takes less than `equations_of_motion`.
    own_coriolis_matrix : C called as `(m, q, v)`, with dM/dt - 2 C skew, where the formulation has
        an expression of its own; otherwise C follows from its M by Christoffel's symbols.
    """

    name: str
    inverse_dynamics: InverseDynamics
    equations_of_motion: EquationsOfMotion
    own_mass_matrix: Callable[[Model, Expression], Expression] | None = None
    own_coriolis_matrix: Callable[[Model, Expression, Expression], Expression] | None = None

    @cached_property
    def digest(self) -> str:
        """A fingerprint of its functions, by which evaluators tell formulations apart."""
        return code_digest(
            self.name,
            self.inverse_dynamics,
            self.equations_of_motion,
            self.own_mass_matrix,
            self.own_coriolis_matrix,
        )

    def mass_matrix(self, m: Model, q: Expression) -> Expression:
        """M(q) of the rigid bodies."""
        if self.own_mass_matrix is not None:
            return self.own_mass_matrix(m, q)
        v = casadi.SX.sym("v", m.nv)
        M, _ = self.equations_of_motion(m, q, v, {})
        return casadi.substitute(M, v, casadi.SX.zeros(m.nv))

    def coriolis_matrix(self, m: Model, q: Expression, v: Expression) -> Expression:
        """C(q, v) of the rigid bodies, with dM/dt - 2 C skew."""
        if self.own_coriolis_matrix is not None:
            return self.own_coriolis_matrix(m, q, v)
        return christoffel_matrix(m, q, v, inlined(self.mass_matrix(m, q)))


def affine_terms(
    inverse_dynamics: InverseDynamics, m: Model, q: Expression, v: Expression, wrenches: Wrenches
) -> tuple[Expression, Expression]:
    """M and h of an inverse dynamics, which is affine in the accelerations."""
    a = casadi.SX.sym("a", m.nv)
    forces = casadi.densify(inverse_dynamics(m, q, v, a, wrenches))
    return casadi.jacobian(forces, a), casadi.substitute(forces, a, casadi.SX.zeros(m.nv))


def _lagrange_coriolis_matrix(m: Model, q: Expression, v: Expression) -> Expression:
    """Rojas, eq. 4.3.33."""
    return lagrange.matrices(m, q, v)[1]


def _quaternion_coriolis_matrix(m: Model, q: Expression, v: Expression) -> Expression:
    """Méndez, section 5: Christoffel's symbols from the derivatives of the Jacobians."""
    return quaternion.matrices(m, q, v)[1]


NEWTON_EULER = Formulation(
    "newton_euler", rnea.inverse_dynamics, rnea.equations_of_motion, crba.mass_matrix
)
LAGRANGE = Formulation(
    "lagrange",
    lagrange.inverse_dynamics,
    lagrange.equations_of_motion,
    own_coriolis_matrix=_lagrange_coriolis_matrix,
)
LIE = Formulation("lie", lie.inverse_dynamics, partial(affine_terms, lie.inverse_dynamics))
GIBBS_APPELL = Formulation(
    "gibbs_appell",
    gibbs_appell.inverse_dynamics,
    partial(affine_terms, gibbs_appell.inverse_dynamics),
)
QUATERNION = Formulation(
    "quaternion",
    quaternion.inverse_dynamics,
    quaternion.equations_of_motion,
    own_coriolis_matrix=_quaternion_coriolis_matrix,
)

# By the words that callers use. Lagrange's equations are written in Kane's form, and have both
# names.
FORMULATIONS: Mapping[str, Formulation] = {
    "newton_euler": NEWTON_EULER,
    "lagrange": LAGRANGE,
    "kane": LAGRANGE,
    "lie": LIE,
    "gibbs_appell": GIBBS_APPELL,
    "quaternion": QUATERNION,
}
