"""Modal control by model assignment along a trajectory (Rojas, 5.6)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import Floats
from eslabon.model import Model
from eslabon.model.configuration import difference
from eslabon.motion.law_data import LawData
from eslabon.motion.motion_forms import as_trajectory
from eslabon.motion.trajectory import Trajectory
from eslabon.systems.control.commanded_coordinates import commanded, require_full
from eslabon.systems.control.control_law import ControlLaw
from eslabon.systems.control.gain_schedule import GainSchedule, tabulated
from eslabon.systems.control.gliding import gliding
from eslabon.systems.control.state_feedback import commanded_model
from eslabon.systems.control.weight_matrices import numbers


def modal(
    m: Model, reference: Any, frequency: ArrayLike, damping: ArrayLike = 1.0, *, times: ArrayLike | None = None,
    guess: Any = None,
) -> ControlLaw:  # fmt: skip
    """The law that gives small errors the model x'' + 2 Psi Omega x' + Omega^2 x = 0 along a
    motion:

        tau = tau_d + Kp (q_d - q) + Kd (v_d - v),    Kp = U Omega^2 - W,    Kd = 2 U Psi Omega - V,

    where dtau = U da + V dv + W dq is the mechanism's linear model at the reference (Rojas, 5.6;
    the exact W). Gains and tau_d are tabulated from one batched linearization and interpolated by
    cubic polynomials. With loops all is in independent coordinates, and the passive joints'
    dependence is in U, V and W.

    Parameters
    ----------
    m : the mechanism; its actuators determine all its motions, but for passive spins of rods
        between ball joints, which are left to themselves.
    reference : what is to be followed, any motion, as in `es.as_trajectory`.
    frequency, damping : the diagonals of Omega, in rad/s, and Psi: one number, or one for each
        commanded coordinate.
    times : when to tabulate; if left out, as often as the gains need.
    guess : a configuration, or the name of a mode, from which loops are closed, if the reference
        tells actuated joints only.

    Returns
    -------
    a `ControlLaw`, whose data are the times t of the tables, Kp and Kd (times, actuators,
    coordinates), and tau, the forces that go with the reference.

    >>> import eslabon as es
    >>> m = es.load("five_bar")
    >>> path = es.paths.joint_path([[2.0, 1.0], [2.3, 1.2]], es.paths.cycloidal(1.0))
    >>> law = es.control.modal(m, path, frequency=10.0)
    >>> motion = m.simulate(m.assemble([2.02, 0.99]), None, 2.0, law)
    >>> motion.end[0][list(m.actuated_coordinates)].round(4)
    array([2.3, 1.2])
    """
    followed, own = as_trajectory(m, reference), list(commanded(m))
    require_full(m, "modal control")
    w, zeta = numbers(frequency, "frequency", len(own)), numbers(damping, "damping", len(own))

    def sampled(t: Floats) -> Floats:
        """Kp, Kd and tau_d side by side."""
        state = followed.completed_at(t, guess)
        lm = gliding(m, state, t)
        U, V, W, F = commanded_model(m, lm, own)
        back = np.linalg.pinv(F)
        Kp, Kd = back @ (U * w**2 - W), back @ (U * (2 * zeta * w) - V)
        return np.concatenate([Kp, Kd, lm.tau[..., None]], axis=-1)

    t, values = tabulated(sampled, followed, times)
    return scheduled_feedback(m, followed, t, values, "modal")


def scheduled_feedback(
    m: Model, followed: Trajectory, t: Floats, values: Floats, title: str
) -> ControlLaw:
    """tau = tau_d + Kp (q_d - q) + Kd (v_d - v), with Kp, Kd and tau_d side by side at times,
    (times, actuators, 2n + 1)."""
    own = list(commanded(m))
    k = len(own)

    def law(n: Any, t: Any, q: Any, v: Any) -> Any:
        qd, vd, _ = n.reference(t, q, v)
        table = n.schedule(t)
        push = table[:, :k] @ difference(m, qd, q)[own, :] + table[:, k : 2 * k] @ (vd - v)[own, :]
        return table[:, 2 * k] + push

    Kp, Kd, tau = values[..., :k], values[..., k : 2 * k], values[..., 2 * k]
    data = {"t": t, "Kp": Kp, "Kd": Kd, "tau": tau}
    parts = LawData({"schedule": GainSchedule(t, values), "reference": followed})
    return ControlLaw(law, m=m, title=title, data=data, numbers=parts)
