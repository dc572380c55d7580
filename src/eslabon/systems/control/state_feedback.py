"""State feedback about an equilibrium: the gains of a linear design as a law of the nonlinear
mechanism."""

from __future__ import annotations

from typing import Any

import numpy as np

from eslabon.arguments import Floats, finite
from eslabon.errors import InputError, ModelError, SingularityError, format_value
from eslabon.model import Model, as_model
from eslabon.model.configuration import difference, velocity_names
from eslabon.motion.law_data import LawData, matrix
from eslabon.numerics.scalars import casadi
from eslabon.numerics.tolerances import RANK
from eslabon.solve.constraints.constraint_structure import structure
from eslabon.systems.control.control_law import ControlLaw


def independent_places(m: Model, lm: Any) -> list[int]:
    """The places in v of a linear model's coordinates."""
    names = velocity_names(m)
    unknown = [name for name in lm.coordinates if name not in names]
    if unknown:
        raise InputError(
            f"the linear model is not one of {m.name}, which has no velocity '{unknown[0]}'."
        )
    return [names.index(name) for name in lm.coordinates]


def require_commanded(m: Model, lm: Any, own: list[int]) -> None:
    """Refuse a linear model in other coordinates than the commanded ones: these do not determine
    the motion there."""
    if independent_places(m, lm) != own:
        raise SingularityError(
            f"{', '.join(velocity_names(m)[k] for k in own)} do not determine the motion of {m.name} somewhere along the "
            "reference: it passes a singular configuration of its actuators, which no law of theirs can; choose another motion."
        )


def commanded_model(m: Model, lm: Any, own: list[int]) -> tuple[Floats, ...]:
    """U, V, W and F of the commanded coordinates: passive spins have the accelerations that they
    take by themselves, and their angles and speeds are those of the reference."""
    spins = structure(m).partition.spins
    places = independent_places(m, lm)
    rest = [k for k, place in enumerate(places) if place not in spins]
    loose = [k for k, place in enumerate(places) if place in spins]
    if [places[k] for k in rest] != own:
        require_commanded(m, lm, own)
    if not loose:
        return lm.U, lm.V, lm.W, lm.F
    at = np.ix_(range(len(lm.U)), rest, loose), np.ix_(range(len(lm.U)), loose, loose)
    share = lm.U[at[0]] @ np.linalg.pinv(lm.U[at[1]], rcond=RANK)

    def reduced(A: Floats) -> Floats:
        return A[..., rest, :] - share @ A[..., loose, :]

    return *(reduced(A)[..., rest] for A in (lm.U, lm.V, lm.W)), reduced(lm.F)


def linear_model(m: Model, lm: Any) -> Any:
    """One linear model of a mechanism at an equilibrium."""
    for word in ("A", "B", "coordinates", "q", "v", "tau"):
        if not hasattr(lm, word):
            raise InputError(f"a linear model is what m.linearize gives; it is {format_value(lm)}.")
    if np.ndim(lm.A) > 2:
        raise InputError(
            f"there are {len(lm.A)} linear models here; a law is about one of them, such as lm[0]."
        )
    if not lm.equilibrium:
        raise ModelError(
            f"the linear model of {m.name} is about no equilibrium: it would move off by itself. Linearize where it rests, or "
            "follow a motion with modal or tracking_lqr."
        )
    return lm


def gain_matrix(K: Any, inputs: int, states: int) -> Floats:
    """Gains given as an array, or as what `place` or `lqr` found."""
    made = finite(getattr(K, "K", K), "K")
    if made.shape[-2:] != (inputs, states):
        raise InputError(
            f"K has shape {made.shape}; {(inputs, states)} is expected: a row for each actuator."
        )
    return made


def displacement(m: Model, places: list[int], q: Any, v: Any, q0: Any, v0: Any) -> Any:
    """x: how far a state is from another, in independent coordinates and velocities; angles the
    short way round."""
    return casadi.vertcat(difference(m, q, q0)[places, :], (v - v0)[places, :])


def state_feedback(m: Model, lm: Any, K: Any) -> ControlLaw:
    """The law tau = tau_0 - K x, where x is how far the mechanism is from the equilibrium of a
    linear model.

    Parameters
    ----------
    m : the mechanism.
    lm : its linear model at an equilibrium, as `m.linearize` gives it.
    K : (actuators, states), or what `place` or `lqr` found for it; with leading axes gains for each
        trajectory of a simulation.

    Returns
    -------
    a `ControlLaw`, whose data are K, q, v and tau at the equilibrium, and the names of the states
    x: changes of independent coordinates and then of their velocities.

    >>> import eslabon as es
    >>> m = es.load("cart_pole")
    >>> lm = m.linearize([0.0, 0.0])
    >>> law = es.control.state_feedback(m, lm, es.control.lqr(lm, Q=1.0, R=0.1))
    >>> m.simulate([0.2, 0.3], None, 20.0, law).end[0].round(4) + 0.0
    array([0., 0.])
    """
    lm = linear_model(as_model(m), lm)
    places = independent_places(m, lm)
    gains = gain_matrix(K, m.nu, 2 * len(places))

    def law(n: Any, t: Any, q: Any, v: Any) -> Any:
        return n.tau - n.K @ displacement(m, places, q, v, n.q, n.v)

    names = tuple(map(str, getattr(lm, "states", ())))
    data = {"K": gains, "q": lm.q, "v": lm.v, "tau": lm.tau, "states": names}
    about = {"q": matrix(lm.q), "v": matrix(lm.v), "tau": matrix(lm.tau)}
    parts = LawData({"K": matrix(gains, 2), **about})
    return ControlLaw(law, m=m, title="state_feedback", data=data, numbers=parts)
