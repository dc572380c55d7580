"""A mechanism at q, v under given loads: what every quantity of dynamics starts from.

A state knows by which method its equations are written and its loops imposed. Trees and closed
chains are one case: M v' + h = B tau + J^T lambda and J v' = gamma, of which a tree has no rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

from eslabon.arguments import choice
from eslabon.errors import ModelError
from eslabon.formulas.applied_loads import Wrenches, joint_resistance, motor_inertia, wrenches
from eslabon.formulas.constrained.constraint_solvers import (
    METHODS,
    ConstrainedMass,
    ConstraintMethod,
    ConstraintSolver,
    Effort,
    Elimination,
    actuator_forces,
    joint_condition,
)
from eslabon.formulas.constrained.passive_spin_dynamics import (
    FollowedSpins,
    follow_spins,
    spin_motions,
)
from eslabon.formulas.formulations.formulation import FORMULATIONS, NEWTON_EULER, Formulation
from eslabon.formulas.kinematics import closure
from eslabon.formulas.kinematics.ball_loops import aligned_loops
from eslabon.formulas.kinematics.closure import Closure
from eslabon.formulas.kinematics.symbols import zeros
from eslabon.formulas.linear_solvers import OrthogonalFactors
from eslabon.formulas.structure import Partition, Structure
from eslabon.model import Model
from eslabon.model.scale import velocity_scales
from eslabon.numerics.scalars import Expression, casadi


class Equations(NamedTuple):
    """M and h of the forces M v' + h along all velocities."""

    M: Expression
    h: Expression


@dataclass(frozen=True)
class Method:
    """What is chosen before symbols come in: how equations are written and loops are imposed.

    Attributes
    ----------
    formulation : of the tree's equations; None is the one with the fewest operations.
    constraints : the method for loops, by name; None is the one with the fewest operations.
    structure : what the model's numbers say of its equations; trees need it for their checks alone.
    partition : takes the place of the structure's own.
    regularization : as in `ConstrainedMass`, for all retained rows.
    align : whether rows of ball loops may be in the axes of the body that carries them, which makes
        them shorter.
    """

    formulation: Formulation | None = None
    constraints: str | None = None
    structure: Structure | None = None
    partition: Partition | None = None
    regularization: tuple[float, ...] = ()
    align: bool = True


@dataclass(frozen=True, eq=False)
class MotionState:
    """A mechanism at q, v under given loads: what every quantity of dynamics starts from.

    `external` are wrenches by the name of a body, a frame or an open wrench. `known_equations` are
    M and h, where somebody has computed them already. Terms are built when they are first asked
    for.
    """

    m: Model
    q: Expression
    v: Expression
    method: Method = field(default_factory=Method)
    external: Wrenches = field(default_factory=dict)
    known_equations: Equations | None = None

    @staticmethod
    def at_rest(m: Model, q: Expression) -> MotionState:
        """A mechanism that does not move, without loads."""
        return MotionState(m, q, zeros(m.nv))

    @property
    def structure(self) -> Structure:
        """What the model's numbers say of its equations."""
        if self.method.structure is not None:
            return self.method.structure
        return Structure(
            Partition((), tuple(range(self.m.nv)), ())
        )  # of a tree that checks nothing

    @cached_property
    def partition(self) -> Partition:
        """The rows that are imposed, and a partitioning of the velocities."""
        p = self.method.partition or self.structure.partition
        if self.method.regularization:
            return replace(p, rows=self.structure.rows)
        return p

    @cached_property
    def wrenches(self) -> Wrenches:
        """All wrenches by body, in its own axes about its own origin."""
        return wrenches(self.m, self.q, self.v, self.external)

    @cached_property
    def equations(self) -> Equations:
        """M and h: rigid bodies by the formulation, motors, springs, friction and wrenches."""
        if self.known_equations is not None:
            return self.known_equations
        formulation = self.method.formulation or NEWTON_EULER
        M, h = formulation.equations_of_motion(self.m, self.q, self.v, self.wrenches)
        spare, resistance = motor_inertia(self.m), joint_resistance(self.m, self.q, self.v)
        return Equations(M + casadi.diag(spare), h + resistance)

    def joint_forces(self, a: Expression) -> Expression:
        """M a + h, by the formulation's inverse dynamics: the force along every velocity."""
        formulation = self.method.formulation or NEWTON_EULER
        rigid = formulation.inverse_dynamics(self.m, self.q, self.v, a, self.wrenches)
        return rigid + motor_inertia(self.m) * a + joint_resistance(self.m, self.q, self.v)

    @cached_property
    def aligned_rows(self) -> tuple[str, ...]:
        """The loops whose rows are in the axes of the body that carries them."""
        return aligned_loops(self.m, self.partition.rows) if self.method.align else ()

    @cached_property
    def closure(self) -> Closure:
        """Phi of all rows; J, gamma and Phi_t of the rows that are imposed.

        Of loops with `aligned_rows` as in `closure.equations`, so that the multipliers of a ball
        joint are the force on its second body in the same axes. A tree has no rows.
        """
        if not self.m.closed:
            return Closure(zeros(0), zeros(0, self.m.nv), zeros(0), zeros(0))
        every = tuple(range(len(closure.row_names(self.m))))
        phi, *others = closure.equations(self.m, self.q, self.v, every, self.aligned_rows)
        return Closure(phi, *(x[list(self.partition.rows), :] for x in others))

    def acceleration_gap(self, a: Expression) -> Expression:
        """J a - gamma, by which accelerations violate the constraints."""
        return self.closure.J @ a - self.closure.gamma

    def checks(self, condition: Expression, a: Expression | None = None) -> list[Expression]:
        """What a quantity returns after its values; with loops first by how much the state, and
        given accelerations, violate them."""
        if not self.m.closed:
            return [condition]
        if not self.partition.rows:  # of loops that hold nothing it is that of M alone
            condition = joint_condition(casadi.SX(1), condition)
        known, v = self.closure, self.v
        gap = None if a is None else self.acceleration_gap(a)
        violated = closure.violation(self.m, known.phi, known.J @ v + known.rate, v, gap)
        return [violated, condition]

    @cached_property
    def constrained_mass(self) -> ConstrainedMass:
        """M and J, with what helps to solve equations with them."""
        known = self.structure
        return ConstrainedMass(
            self.equations.M,
            self.closure.J,
            self.partition,
            known.penalty,
            self.method.regularization,
            known.floor,
            velocity_scales(self.m),
        )

    def solver(self, columns: int = 1) -> ConstraintSolver:
        """The method for constraints, for so many right-hand sides; multipliers if none is named.

        Elimination takes fewer operations on most mechanisms, but needs independent coordinates
        that determine the others well, and others where they do not.
        """
        return constraint_method(self.method.constraints)(self.constrained_mass, columns)

    @cached_property
    def elimination(self) -> Elimination:
        """The null-space method for many right-hand sides: equations in independent velocities."""
        return Elimination(self.constrained_mass, columns=2 * self.m.nv)

    def actuation(self, tau: Expression) -> Expression:
        """B tau: the actuator forces among those of all velocities, column by column."""
        force = zeros(self.m.nv, tau.shape[1])
        force[list(self.m.actuated_velocities), :] = tau
        return force

    @cached_property
    def dependent_factors(self) -> OrthogonalFactors:
        """Factors of the columns of J along the dependent velocities."""
        return OrthogonalFactors(self.closure.J[:, list(self.partition.dependent)])

    @cached_property
    def spin_motions(self) -> Expression:
        """The passive spins as motions of all joints, a column for each."""
        known, p = self.structure, self.partition
        return spin_motions(self.m, known.spins, p, self.closure.J, self.dependent_factors)

    def prescribed(self, a: Expression) -> FollowedSpins:
        """A motion that is prescribed, in which passive spins follow their own dynamics, and the
        forces M v' + h along all velocities that it takes."""
        needed, known, p = self.joint_forces(a), self.structure, self.partition
        if not p.spins:
            return FollowedSpins(a, needed)
        floor = [known.floor[k] for k in p.spins]
        return follow_spins(self.spin_motions, self.equations.M, a, needed, floor)

    def effort(self, needed: Expression, weights: Sequence[float] | None = None) -> Effort:
        """The actuator forces u with B u + J^T lambda = needed, and lambda, by virtual work.

        Of a tree they are the actuated ones of all joint forces. `needed` are the forces M v' + h of
        a prescribed motion; `weights` are the costs of the actuators where they are redundant.
        """
        if not self.m.closed:
            return Effort(needed[list(self.m.actuated_velocities), :], zeros(0), casadi.SX(1))
        check_actuation(self.m, self.structure)
        name = self.method.constraints  # virtual work takes the fewest operations
        method = "elimination" if name is None else choice(name, "constraints", METHODS)
        return actuator_forces(
            needed,
            self.closure.J,
            self.partition,
            self.m.actuated_velocities,
            weights,
            method,
            velocity_scales(self.m),
            self.dependent_factors if method == "elimination" else None,
        )


@dataclass(frozen=True)
class StateFunction:
    """A function of a motion state, called as formulas are: with a model, symbols and options.

    With `by` it is the derivative of such a function, which takes what it is differentiated by.
    """

    function: Callable[..., Any]
    by: bool = False

    def __call__(
        self, m: Model, *inputs: Any, external: Wrenches | None = None, **options: Any
    ) -> Any:
        first, given = (inputs[:1], inputs[1:]) if self.by else ((), inputs)
        q, v, others = given[0], zeros(m.nv), given[1:]
        if others:  # without velocities it is a state at rest
            v, others = others[0], others[1:]
        chosen = {x.name: options.pop(x.name) for x in fields(Method) if x.name in options}
        state = MotionState(m, q, v, Method(**chosen), external or {})
        return self.function(state, *first, *others, **options)


def constraint_method(name: str | None) -> ConstraintMethod:
    """The method for constraints of that name; multipliers without one."""
    return METHODS["multipliers" if name is None else choice(name, "constraints", METHODS)]


def check_actuation(m: Model, structure: Structure) -> None:
    """Refuse to prescribe a motion that the actuators leave uncontrolled, naming a joint of it.

    Passive spins need no control.
    """
    if structure.uncontrolled:
        first, count = structure.uncontrolled[0], len(structure.partition.driven)
        owner = next(j.name for j in m.joints if first in range(m.nv)[m.velocities[j.name]])
        besides = " besides passive spins" if structure.spins else ""
        raise ModelError(
            f"{m.name} has {count} degrees of freedom{besides} and its actuators "
            f"({', '.join(m.actuated) or 'none'}) leave {len(structure.uncontrolled)} of them "
            f"uncontrolled, such as the motion of '{owner}'; actuate it too, or ask for the hybrid "
            "problem with hybrid_dynamics."
        )


def chosen_formulation(
    value: str | Formulation | None, known: Mapping[str, Formulation] = FORMULATIONS
) -> Formulation | None:
    """The formulation that a caller names or gives; None is left to be chosen."""
    if value is None or isinstance(value, Formulation):
        return value
    if isinstance(value, str) and value in METHODS:
        raise ModelError(
            f"{value!r} is a method for constraints, not a formulation; pass constraints={value!r}."
        )
    try:
        return known[choice(value, "formulation", known)]
    except ModelError as error:
        note = "'kane' and 'lagrange' are the same: Lagrange's equations in Kane's form."
        raise ModelError(f"{error} {note}") from None
