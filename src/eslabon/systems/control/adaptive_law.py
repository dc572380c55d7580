"""Passivity-based adaptive control by the regressor (Slotine and Li, 1987)."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from eslabon.errors import ModelError
from eslabon.formulas.applied_loads import joint_resistance, motor_inertia, wrenches
from eslabon.formulas.dynamics import passive_regressor
from eslabon.formulas.formulations.body_jacobians import virtual_work
from eslabon.formulas.motion_state import MotionState
from eslabon.model import Model
from eslabon.model.configuration import difference
from eslabon.motion.law_data import LawData, matrix
from eslabon.motion.motion_forms import as_trajectory
from eslabon.systems.control.commanded_coordinates import (
    actuators,
    commanded,
    reference_accelerations,
    require_full,
    spread,
    whole_velocities,
    with_own_spins,
    without_work_in_spins,
)
from eslabon.systems.control.control_law import ControlLaw
from eslabon.systems.control.weight_matrices import gain, numbers
from eslabon.systems.identification.inertial_parameters import base_parameters


def adaptive(
    m: Model, reference: Any, rate: ArrayLike, Kd: ArrayLike, adaptation: ArrayLike = 1.0
) -> ControlLaw:
    """The law that follows a motion without knowing the inertias. With the reference velocity v_r =
    v_d + rate (q_d - q) and s = v - v_r,

        tau = Y(q, v, v_r, a_r) p - Kd s,    dp/dt = -Gamma Y^T s,

    where M a_r + C v_r + g = Y p is linear in the base parameters p, and dM/dt - 2 C skew. Then s^T
    M s / 2 plus (p - p_true)^T Gamma^-1 (p - p_true) / 2 falls with s^T Kd s, whatever the true
    parameters are: s and the error go to zero. The estimates, which are the law's states, need not
    become the true values unless the motion excites them all.

    With loops v_r and a_r are completed to motions that keep them closed, and the forces are those
    of virtual work. Springs, friction, motors' own inertia and wrenches of the model count as
    known. Passive spins of rods between ball joints are left to themselves: v_r has them as they
    are, so that s has no momentum along them; the rods' inertias are symmetric about their axes.

    Parameters
    ----------
    m : the mechanism; its inertias are where the estimates start from. Simulate another one to see
        it learn.
    reference : what is to be followed, any motion, as in `es.as_trajectory`.
    rate : 1/s, one number or one for each commanded coordinate (see `computed_torque`).
    Kd : N m s/rad, or N s/m: a number, one for each, or a matrix.
    adaptation : Gamma, how fast estimates change: one number, or one for each base parameter.

    Returns
    -------
    a `ControlLaw`, whose states are the estimates. Its data are the base parameters of the
    mechanism it was designed for, with their meaning in `data["base"].expressions`, the reference,
    and the gains rate, Kd and adaptation.

    >>> import eslabon as es
    >>> m = es.load("elbow")
    >>> law = es.control.adaptive(m, [0.5, 1.0], rate=5.0, Kd=20.0, adaptation=5.0)
    >>> law
    <adaptive of elbow: 2 actuators, 6 states>
    >>> loaded = m.with_payload("tool", mass=0.5)
    >>> loaded.simulate([0.0, 0.0], None, 10.0, law).end[0].round(3)
    array([0.5, 1. ])
    """
    followed, own = as_trajectory(m, reference), list(commanded(m))
    require_full(m, "adaptive control")
    if m.rheonomic:
        raise ModelError(
            f"the constraints of {m.name} depend on the time, which adaptive control has no place for."
        )
    base = base_parameters(m)
    if not len(base):
        raise ModelError(
            f"no motion of {m.name} tells anything of its inertias: there is nothing to adapt."
        )
    w, D = numbers(rate, "rate", len(own)), gain(Kd, "Kd", len(own))
    gamma = numbers(adaptation, "adaptation", len(base))

    columns = list(base.columns)

    def law(n: Any, t: Any, q: Any, v: Any, p: Any) -> Any:
        qd, vd, ad = n.reference(t, q, v)
        error, slip = difference(m, qd, q)[own, :], (vd - v)[own, :]
        vr = whole_velocities(m, q, vd[own, :] + n.rate * error)
        vr = with_own_spins(m, q, v, vr)
        ar = reference_accelerations(m, q, v, vr, ad[own, :] + n.rate * slip)
        Y = passive_regressor(MotionState(m, q, v), vr, ar)[:, columns]
        s = v - vr
        known = (
            joint_resistance(m, q, v)
            + motor_inertia(m) * ar
            - virtual_work(m, q, wrenches(m, q, v, {}))
        )
        needed = Y @ p + known - spread(m, n.Kd @ s[own, :])
        needed = without_work_in_spins(m, q, v, needed)
        return actuators(m, q, needed), -n.adaptation * (Y.T @ s)

    gains = {"rate": w, "Kd": D, "adaptation": gamma}
    parts = LawData({"reference": followed, **{name: matrix(x) for name, x in gains.items()}})
    data = {"base": base, "reference": followed, **gains}
    return ControlLaw(law, base.values, m=m, title="adaptive", data=data, numbers=parts)
