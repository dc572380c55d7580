"""Proportional and derivative control with gravity compensation."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from eslabon.formulas.kinematics.symbols import zeros
from eslabon.formulas.motion_state import MotionState
from eslabon.model import Model
from eslabon.model.configuration import difference
from eslabon.motion.law_data import LawData, matrix
from eslabon.motion.motion_forms import as_trajectory
from eslabon.systems.control.commanded_coordinates import actuators, commanded, require_full, spread
from eslabon.systems.control.control_law import ControlLaw
from eslabon.systems.control.weight_matrices import gain


def pd_gravity(m: Model, reference: Any, Kp: ArrayLike, Kd: ArrayLike) -> ControlLaw:
    """tau = Kp (q_d - q) + Kd (v_d - v) + what holds the mechanism at rest in q (Takegaki and
    Arimoto, 1981).

    What holds it are the forces of inverse dynamics without motion: its weight and its springs;
    with loops by virtual work. The energy of a fixed reference, v^T M v / 2 + e^T Kp e / 2, falls
    with v^T Kd v: every such mechanism comes to rest there, whatever its inertias. Of a tree that
    is not fully actuated the actuated joints' own weights are compensated. Passive spins of rods
    between ball joints are left to themselves.

    Parameters
    ----------
    m : the mechanism.
    reference : any motion, as in `es.as_trajectory`; most often a configuration.
    Kp, Kd : for the commanded coordinates (see `computed_torque`), in N m/rad and N m s/rad, or N/m
        and N s/m: a number, one for each, or a matrix.

    >>> import eslabon as es
    >>> m = es.load("five_bar")
    >>> law = es.control.pd_gravity(m, [2.1, 1.1], Kp=1.0, Kd=0.1)
    >>> m.simulate(m.assemble([2.0, 1.0]), None, 5.0, law).end[0][list(m.actuated_coordinates)].round(4)
    array([2.1, 1.1])
    """
    followed, own = as_trajectory(m, reference), list(commanded(m))
    if m.closed:
        require_full(m, "gravity compensation")
    P, D = gain(Kp, "Kp", len(own)), gain(Kd, "Kd", len(own), definite=False)

    def law(n: Any, t: Any, q: Any, v: Any) -> Any:
        now = m.with_time(t)
        qd, vd, _ = n.reference(t, q, v)
        push = n.Kp @ difference(m, qd, q)[own, :] + n.Kd @ (vd - v)[own, :]
        weight = MotionState(now, q, zeros(m.nv)).joint_forces(zeros(m.nv))
        return actuators(now, q, weight + spread(m, push))

    parts = LawData({"Kp": matrix(P), "Kd": matrix(D), "reference": followed})
    return ControlLaw(law, m=m, title="pd_gravity", data={"Kp": P, "Kd": D}, numbers=parts)
