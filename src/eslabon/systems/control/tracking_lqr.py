"""The linear quadratic regulator along a trajectory."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import Floats
from eslabon.errors import InputError
from eslabon.model import Model
from eslabon.model.configuration import velocity_names
from eslabon.motion.law_data import LawData
from eslabon.motion.motion_forms import as_trajectory
from eslabon.solve.constraints.constraint_structure import structure
from eslabon.systems.control.commanded_coordinates import commanded
from eslabon.systems.control.control_law import ControlLaw
from eslabon.systems.control.gain_schedule import GainSchedule, tabulated
from eslabon.systems.control.gliding import gliding
from eslabon.systems.control.lqr import FiniteHorizon, finite_horizon_lqr, lqr
from eslabon.systems.control.state_feedback import (
    commanded_model,
    displacement,
    independent_places,
    require_commanded,
)
from eslabon.systems.linear.linear_model import LinearModel


class _Models(NamedTuple):
    """Linear models along a motion: A, B, the forces, the names of the states, and the places of
    their coordinates."""

    A: Floats
    B: Floats
    tau: Floats
    states: tuple[str, ...]
    places: list[int]

    @staticmethod
    def without_spins(m: Model, lm: LinearModel) -> _Models:
        """Those of the commanded coordinates."""
        own = list(commanded(m))
        U, V, W, F = commanded_model(m, lm, own)
        back, n = np.linalg.inv(U), len(own)
        A, B = (
            np.zeros((*U.shape[:-2], 2 * n, 2 * n)),
            np.zeros((*U.shape[:-2], 2 * n, F.shape[-1])),
        )
        A[..., :n, n:] = np.eye(n)
        A[..., n:, :n], A[..., n:, n:], B[..., n:, :] = -back @ W, -back @ V, back @ F
        names = [velocity_names(m)[k] for k in own]
        return _Models(A, B, lm.tau, (*names, *(f"{x}'" for x in names)), own)


def tracking_lqr(
    m: Model, reference: Any, Q: ArrayLike, R: ArrayLike, *, end: ArrayLike | None = None,
    times: ArrayLike | None = None, guess: Any = None,
) -> ControlLaw:  # fmt: skip
    """The law tau = tau_d - K(t) x for which errors x = (dq, dv) of the independent coordinates
    along a motion cost least: Riccati's differential equation, backward from its end, for the
    linear models along it (see `finite_horizon_lqr`).

    Mechanisms that are not fully actuated are driven too, if the reference is a motion that they
    can make. Passive spins of rods between ball joints are left to themselves: x has the commanded
    coordinates.

    Parameters
    ----------
    m : the mechanism.
    reference : what is to be followed, any motion, as in `es.as_trajectory`; a motion with an end.
    Q, R : what states and forces cost, as in `lqr`.
    end : what an error at the end costs, as Q; if left out, what it would cost from then on, by
        `lqr` there. After the end the last gains hold.
    times : when to tabulate; if left out, as often as the gains need.
    guess : a configuration, or the name of a mode, from which loops are closed, if the reference
        tells actuated joints only.

    Returns
    -------
    a `ControlLaw`, whose data are the times t of the tables, K (times, actuators, states), S
    (times, states, states), with x^T S x the cost to come from x, tau, the forces that go with the
    reference, and the names of the states.

    >>> import eslabon as es
    >>> m = es.load("five_bar")
    >>> path = es.paths.joint_path([[2.0, 1.0], [2.3, 1.2]], es.paths.cycloidal(1.0))
    >>> law = es.control.tracking_lqr(m, path, Q=[100.0, 100.0, 1.0, 1.0], R=1.0)
    >>> motion = m.simulate(m.assemble([2.02, 0.99]), None, 2.0, law)
    >>> motion.end[0][list(m.actuated_coordinates)].round(3)
    array([2.3, 1.2])
    """
    followed = as_trajectory(m, reference)
    if followed.held:
        raise InputError("a configuration to be held has no end; use lqr and state_feedback there.")

    def models(t: Floats) -> _Models:
        lm = gliding(m, followed.completed_at(t, guess), t)
        if structure(m).partition.spins:
            return _Models.without_spins(m, lm)
        if not followed.whole:
            require_commanded(m, lm, list(commanded(m)))
        return _Models(lm.A, lm.B, lm.tau, tuple(lm.states), independent_places(m, lm))

    def optimal(t: Floats, lm: _Models) -> FiniteHorizon:
        last = lqr((lm.A[-1], lm.B[-1]), Q, R).S if end is None else end
        return finite_horizon_lqr(t, lm.A, lm.B, Q, R, last)

    def sampled(t: Floats) -> Floats:
        """K and tau_d side by side."""
        lm = models(t)
        return np.concatenate([optimal(t, lm).K, lm.tau[..., None]], axis=-1)

    t, values = tabulated(sampled, followed, times)
    lm = models(t)
    found, places = optimal(t, lm), lm.places

    def law(n: Any, t: Any, q: Any, v: Any) -> Any:
        qd, vd, _ = n.reference(t, q, v)
        now = n.schedule(t)
        return now[:, -1] - now[:, :-1] @ displacement(m, places, q, v, qd, vd)

    data = {"t": t, "K": found.K, "S": found.S, "tau": lm.tau, "states": lm.states}
    parts = LawData({"schedule": GainSchedule(t, values), "reference": followed})
    return ControlLaw(law, m=m, title="tracking_lqr", data=data, numbers=parts)
