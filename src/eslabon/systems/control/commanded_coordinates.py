"""Which velocities a law commands, and which actuators' forces give them: of trees, and of loops by
virtual work.

The commanded velocities are the actuated ones, in the order of the actuators, wherever these are
independent; with more actuators than degrees of freedom they are independent ones, and the
actuators share the forces with the least norm.
"""

from __future__ import annotations

from eslabon.errors import ModelError
from eslabon.formulas import dynamics
from eslabon.formulas.constrained.constraint_solvers import actuator_forces
from eslabon.formulas.constrained.independent_motion import IndependentMotion
from eslabon.formulas.constrained.passive_spin_dynamics import follow_spins
from eslabon.formulas.kinematics import closure
from eslabon.formulas.kinematics.closure import Closure
from eslabon.formulas.kinematics.symbols import zeros
from eslabon.formulas.motion_state import Method, MotionState
from eslabon.model import Model
from eslabon.model.configuration import coordinate_rates, velocity_names
from eslabon.numerics.scalars import Expression, casadi
from eslabon.solve.constraints.constraint_structure import structure


def commanded(m: Model) -> tuple[int, ...]:
    """The places of the commanded velocities."""
    if not m.nu:
        raise ModelError(
            f"{m.name} has no actuators, so that no law can drive it; add some with m.with_actuated."
        )
    own = m.actuated_velocities
    independent = structure(m.nominal).partition.driven
    if not independent:
        raise ModelError(f"the loops of {m.name} leave it no motion that a law could command.")
    if set(own) <= set(independent):
        return own
    if set(independent) <= set(own):
        return independent
    loose = [velocity_names(m)[k] for k in independent if k not in own]
    raise ModelError(
        f"the actuators of {m.name} depend on one another and leave {', '.join(loose)} uncontrolled; actuate other joints."
    )


def fully_actuated(m: Model) -> bool:
    """Whether the actuators determine every motion."""
    return set(structure(m.nominal).partition.independent) <= set(m.actuated_velocities)


def require_full(m: Model, what: str) -> None:
    """Refuse a mechanism with motions that no actuator determines, passive spins apart."""
    loose = [velocity_names(m)[k] for k in structure(m.nominal).uncontrolled]
    if loose:
        raise ModelError(
            f"{what} of {m.name}: its actuators leave {', '.join(loose)} uncontrolled; actuate it too, or use "
            "computed_torque (which controls the actuated joints alone) or lqr with state_feedback."
        )


def _closure(m: Model, q: Expression, v: Expression | None) -> tuple[Closure, IndependentMotion]:
    """The equations of the loops, and how all velocities follow from the commanded ones."""
    p = structure(m.nominal).partition
    found = closure.equations(m, q, v, p.rows)
    return found, IndependentMotion(found.J, commanded(m), p.dependent)


def spread(m: Model, values: Expression) -> Expression:
    """A column along all velocities, with the values at the commanded ones and zeros elsewhere."""
    made = zeros(m.nv)
    made[list(commanded(m)), :] = values
    return made


def whole_velocities(m: Model, q: Expression, own: Expression) -> Expression:
    """All velocities of a motion that keeps the loops closed, from the commanded ones."""
    if not m.closed:
        return spread(m, own)
    found, motion = _closure(m, q, None)
    return motion.whole(own, -found.rate)


def whole_accelerations(m: Model, q: Expression, v: Expression, own: Expression) -> Expression:
    """All accelerations of a motion that keeps the loops closed, from the commanded ones."""
    if not m.closed:
        return spread(m, own)
    found, motion = _closure(m, q, v)
    return motion.whole(own, found.gamma)


def reference_accelerations(
    m: Model, q: Expression, v: Expression, w: Expression, own: Expression
) -> Expression:
    """The rate of all reference velocities w, along the true motion v: J w' = -(dJ/dt) w."""
    if not m.closed:
        return spread(m, own)
    held = casadi.SX.sym("w", m.nv)
    found, motion = _closure(m, q, None)
    turning = casadi.jtimes(found.J @ held, q, coordinate_rates(m, q) @ v)
    return motion.whole(own, -casadi.substitute(casadi.densify(turning), held, w))


def with_own_spins(m: Model, q: Expression, v: Expression, w: Expression) -> Expression:
    """Reference velocities w with passive spins as they are: those with which v - w has no momentum
    along a spin."""
    known = structure(m.nominal)
    if not known.partition.spins:
        return w
    s = MotionState(m, q, v, Method(structure=known))
    N, M = s.spin_motions, s.equations.M
    own = zeros(m.nv)
    return w + follow_spins(N, M, own, -(M @ (v - w)), _spin_floor(m)).a


def without_work_in_spins(m: Model, q: Expression, v: Expression, needed: Expression) -> Expression:
    """Forces along all velocities with those that passive spins' own accelerations take."""
    known = structure(m.nominal)
    if not known.partition.spins:
        return needed
    s = MotionState(m, q, v, Method(structure=known))
    return follow_spins(s.spin_motions, s.equations.M, zeros(m.nv), needed, _spin_floor(m)).forces


def _spin_floor(m: Model) -> list[float]:
    known = structure(m.nominal)
    return [known.floor[k] for k in known.partition.spins]


def forces_for(m: Model, q: Expression, v: Expression, a: Expression) -> Expression:
    """The actuators' forces that give the commanded velocities the accelerations a, whatever the
    others do."""
    s = MotionState(m, q, v, Method(structure=structure(m.nominal)))
    if fully_actuated(m):
        return actuators(m, q, s.joint_forces(whole_accelerations(m, q, v, a)))
    return dynamics.hybrid_dynamics(s, spread(m, a))[0]


def actuators(m: Model, q: Expression, needed: Expression) -> Expression:
    """The actuators' forces that do the virtual work of forces along all velocities of the tree."""
    if not m.closed:
        return needed[list(m.actuated_velocities), :]
    p = structure(m.nominal).partition
    return actuator_forces(
        needed,
        closure.equations(m, q, None, p.rows).J,
        p,
        m.actuated_velocities,
        None,
        "elimination",
    ).forces
