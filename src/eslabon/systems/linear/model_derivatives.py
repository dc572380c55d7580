"""How a linear model changes with a parameter, and what follows it: nothing, the forces that keep
the state, or the equilibrium."""

from __future__ import annotations

from typing import Any

import numpy as np

from eslabon.arguments import Floats, choice
from eslabon.errors import ModelError
from eslabon.model.configuration import coordinate_rates
from eslabon.solve.constraints.derivative_requests import derivative_at
from eslabon.systems.linear.linear_model import LinearModel
from eslabon.systems.linear.linearize import sensitivity

FOLLOWING = ("nothing", "forces", "coordinates")
LEFT = 1e-8  # of the forces at work: what nothing balances


def model_derivative(
    lm: LinearModel, parameter: str, following: str = "nothing", held: Any = None
) -> dict[str, Floats]:
    """The derivatives of a linear model's matrices and accelerations by a parameter; `held` are
    frames, or joints, that stay in place of the independent coordinates."""
    choice(following, "following", FOLLOWING)
    moved, sped = (None, None) if held is None else _held(lm, parameter, held)
    made = sensitivity(lm, parameter, moved, sped)
    if following == "forces":
        return sensitivity(lm, parameter, moved, sped, _following_forces(lm, made, parameter))
    if following == "coordinates":
        if held is not None:
            raise ModelError(
                'following="coordinates" lets the equilibrium move, and held keeps it; give one of the two.'
            )
        return sensitivity(lm, parameter, _following_equilibrium(lm, made, parameter))
    return made


def _held(lm: LinearModel, parameter: str, held: Any) -> tuple[Floats, Floats]:
    """How the independent coordinates and their velocities follow a parameter while the motion of
    joints or frames stays."""
    m, given, i = (
        lm.layout.model,
        lm.layout.request.parameters,
        list(lm.layout.partition.independent),
    )
    changes = derivative_at(m, "configuration", parameter, "closed", held, given, lm.q)
    rates = np.linalg.pinv(np.asarray(coordinate_rates(m, lm.q), dtype=float))
    sped = (
        derivative_at(m, "velocities", parameter, "closed", held, given, lm.q, lm.v)
        if np.any(lm.v)
        else np.zeros(m.nv)
    )
    return _times(rates, changes)[..., i], sped[..., i]


def _following_forces(lm: LinearModel, made: dict[str, Floats], parameter: str) -> Floats:
    """How the actuators' forces change if the accelerations of the independent coordinates are to
    stay: F tau' = -U a', the minimum-norm solution where that leaves a choice, which moves with
    F."""
    missing = -_times(lm.U, made["a"][..., list(lm.layout.partition.independent)])
    inverse = np.linalg.pinv(lm.F) if lm.F.size else np.swapaxes(lm.F, -1, -2)
    tau = np.broadcast_to(lm.tau, (*lm.batch, lm.F.shape[-1]))
    turned = _times(np.swapaxes(made["F"], -1, -2), _times(np.swapaxes(inverse, -1, -2), tau))
    found = _times(inverse, missing) + turned - _times(inverse, _times(lm.F, turned))
    left = np.abs(_times(lm.F, found) - missing).max(initial=0.0)
    if left > LEFT * max(float(np.abs(missing).max(initial=0.0)), _acting(lm)):
        raise ModelError(
            f"no forces of the actuators of {lm.name} keep the state where it is when '{parameter}' changes ({left:.3g} N or N m "
            'is missing in a direction they do not reach); let the equilibrium move with following="coordinates", or hold the '
            'forces with following="nothing".'
        )
    return found


def _following_equilibrium(lm: LinearModel, made: dict[str, Floats], parameter: str) -> Floats:
    """How the independent coordinates of an equilibrium move under the same forces: A_21 x' =
    -a'."""
    if not np.all(lm.equilibrium) or np.any(lm.v):
        raise ModelError(
            f"following=\"coordinates\" is for an equilibrium at rest that moves with '{parameter}', and {lm.name} moves or "
            'accelerates at this state; linearize it at m.equilibrium(...).q, or take following="forces".'
        )
    n = lm.dof
    answer, missing = lm.A[..., n:, :n], -made["a"][..., list(lm.layout.partition.independent)]
    found = _times(np.linalg.pinv(answer, rcond=1e-11), missing) if n else missing
    left = np.abs(_times(answer, found) - missing).max(initial=0.0)
    if left > LEFT * max(
        float(np.abs(missing).max(initial=0.0)), float(np.abs(lm.A).max(initial=0.0))
    ):
        raise ModelError(
            f"the equilibrium of {lm.name} does not move smoothly with '{parameter}': it has no stiffness in a direction in which "
            'the parameter pushes; let the forces keep it with following="forces".'
        )
    return found


def _acting(lm: LinearModel) -> float:
    """The size of the forces that a radian or metre calls up."""
    return float(np.abs(lm.W).max(initial=0.0))


def _times(A: Any, x: Floats) -> Floats:
    made: Floats = np.einsum("...ij,...j->...i", A, x)
    return made
