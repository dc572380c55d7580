"""Computed torque: inverse dynamics of the desired acceleration and of what corrects the error."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from eslabon.model import Model
from eslabon.model.configuration import difference
from eslabon.motion.law_data import LawData, matrix
from eslabon.motion.motion_forms import as_trajectory
from eslabon.systems.control.commanded_coordinates import commanded, forces_for
from eslabon.systems.control.control_law import ControlLaw
from eslabon.systems.control.weight_matrices import numbers


def computed_torque(
    m: Model, reference: Any, frequency: ArrayLike, damping: ArrayLike = 1.0
) -> ControlLaw:
    """The law that makes the error of the commanded coordinates obey e'' + 2 zeta w e' + w^2 e = 0:

        tau = ID(q, v, a_d + 2 zeta w (v_d - v) + w^2 (q_d - q)).

    The commanded coordinates are those of the actuated joints (independent ones, where there are
    more actuators than degrees of freedom, which then share the forces with the least norm). With
    loops the inverse dynamics is that of the closed mechanism, by virtual work. Motions that no
    actuator determines follow their own dynamics (partial feedback linearization; Spong, 1994).

    Parameters
    ----------
    m : the mechanism, or what is thought of it.
    reference : what is to be followed, any motion, as in `es.as_trajectory`.
    frequency : w in rad/s, one number or one for each commanded coordinate.
    damping : the ratio zeta; 1 is critical.

    >>> import eslabon as es
    >>> m = es.load("planar_3rrr")
    >>> q0 = m.assemble([0.5, 0.4, 0.5])
    >>> law = es.control.computed_torque(m, [0.6, 0.5, 0.6], frequency=10.0)
    >>> motion = m.simulate(q0, None, 2.0, law)
    >>> motion.end[0][list(m.actuated_coordinates)].round(5)
    array([0.6, 0.5, 0.6])
    """
    followed, own = as_trajectory(m, reference), list(commanded(m))
    w, zeta = numbers(frequency, "frequency", len(own)), numbers(damping, "damping", len(own))

    def law(n: Any, t: Any, q: Any, v: Any) -> Any:
        qd, vd, ad = n.reference(t, q, v)
        error, rate = difference(m, qd, q)[own, :], (vd - v)[own, :]
        wanted = ad[own, :] + 2 * n.damping * n.frequency * rate + n.frequency**2 * error
        return forces_for(m.with_time(t), q, v, wanted)

    gains = {"frequency": w, "damping": zeta}
    parts = LawData({**{name: matrix(x) for name, x in gains.items()}, "reference": followed})
    return ControlLaw(law, m=m, title="computed_torque", data=gains, numbers=parts)
