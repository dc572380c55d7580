"""The plain iteration of Newton and Gauss on rotation invariants, step by step (Rojas, 3.3.1): to be looked at.

`inverse_kinematics` is what finds configurations. It is damped and iterates on the error of the rotation; here the equations
are the thesis' own, with and without the redundant one of the trace.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from eslabon.arguments import choice, count, positive, states, text
from eslabon.compiler.evaluate import evaluate
from eslabon.displays import displayed
from eslabon.errors import InputError, format_value
from eslabon.formulas.quantities import quantity
from eslabon.model.configuration import integrate
from eslabon.solve.batches import flattened
from eslabon.solve.given_poses import checked_poses
from eslabon.solve.inverse.arm import Arm, prepared

if TYPE_CHECKING:
    from eslabon.model import Model

Floats = NDArray[np.float64]

ROWS = {
    "invariants": [0, 1, 2, 3, 4, 5, 6],
    "vector": [0, 1, 2, 4, 5, 6],
}  # with the row of the trace, and without


@displayed
@dataclass(frozen=True, eq=False, repr=False)
class Iterations:
    """An iteration, iterate by iterate; leading axes of the poses follow the first.

    Attributes
    ----------
    q : the iterates, (k + 1, ..., nq), the guess first.
    residual : the norm of the equations at each, (k + 1, ...), lengths in units of the arm's reach.
    condition : the condition number of J at each, (k + 1, ...).
    v, a : velocities and accelerations of the joints at the last iterate, where twist and acceleration were given.

    >>> import eslabon as es
    >>> m = es.load("puma560")
    >>> found = m.newton_gauss(m.pose([0.3, 0.7, -2.6, 0.2, 0.8, 0.1]), guess=[0.3, 0.8, -2.5, 0.1, 0.7, 0.2])
    >>> bool(found.residual[-1] < 1e-12)
    True
    """

    q: Floats
    residual: Floats
    condition: Floats
    v: Floats | None = None
    a: Floats | None = None

    def __repr__(self) -> str:
        last = f"{np.max(self.residual[-1], initial=0.0):.2g}"
        return f"<Iterations: {len(self.q) - 1} steps, residual {last}, condition number {np.max(self.condition[-1], initial=0.0):.2g}>"


def newton_gauss(
    m: Model, pose: ArrayLike, guess: ArrayLike | None = None, frame: str | None = None, *, twist: ArrayLike | None = None,
    acceleration: ArrayLike | None = None, equations: str = "invariants", iterations: int = 20, tolerance: float = 1e-12,
    dtype: DTypeLike = float,
) -> Iterations:  # fmt: skip
    """Solve J dθ = -f, θ <- θ + dθ (eq. 3.3.1.10) with

        f = [2 vect P - 2 vect R; tr P - tr R; p - p*],   J = [(1 tr P - P) A; -2 vect(P)^T A; dp/dθ]   (3.3.1.9, 3.3.1.19)

    until no residual is above the tolerance, and rates and accelerations from the same J (3.3.2, 3.3.3).
    """
    rows, most = ROWS[choice(equations, "equations", ROWS)], count(iterations, "iterations")
    number, tolerance = _arithmetic(dtype), positive(tolerance, "tolerance", zero=True)
    arm = prepared(m, None if frame is None else text(frame, "frame"), None)
    start = states(m.home() if guess is None else guess, "guess", m.nq, m.name)
    moved = {
        name: (states(x, name, 6, "a frame", "components"), 1)
        for name, x in (("twist", twist), ("acceleration", acceleration))
        if x is not None
    }
    if "acceleration" in moved and "twist" not in moved:
        raise InputError(
            "newton_gauss takes the acceleration of a frame together with its twist; give twist too."
        )
    lead, (q, target, *spatial) = flattened(
        guess=(start, 1), pose=(checked_poses(pose), 2), **moved
    )
    wanted, turned = (x[:, rows] for x in _invariants(arm, target))
    iterates, residuals, conditions = [], [], []
    q, wanted = q.astype(number), wanted.astype(number)
    while True:
        f, S = _invariants(arm, arm.pose(q.astype(float)))
        f, J = f[:, rows].astype(number) - wanted, (S[:, rows] @ _jacobian(arm, q)).astype(number)
        iterates.append(q.astype(float))
        residuals.append(np.linalg.norm(f, axis=-1))
        conditions.append(np.linalg.cond(J))
        inverse = np.linalg.pinv(J)
        if len(iterates) > most or not residuals[-1].max(initial=0.0) > tolerance:
            break
        step = arm.velocities(_times(inverse, -f).astype(float))
        q = np.asarray(integrate(m, q.astype(float), step)).astype(number)
    rates = _rates(arm, iterates[-1], turned, S[:, rows], inverse, spatial)
    history = (
        np.reshape(x, (len(x), *lead, *x[0].shape[1:])) for x in (iterates, residuals, conditions)
    )
    return Iterations(*history, *(x.reshape((*lead, m.nv)) for x in rates))


def _invariants(arm: Arm, pose: Floats) -> tuple[Floats, Floats]:
    """2 vect P, tr P - 3 and p, and the matrix S of their rates for a twist: the equations towards the unit pose."""
    return arm.task.equations(pose, arm.task.of_pose(np.eye(4)))


def _jacobian(arm: Arm, q: Any) -> Floats:
    J: Floats = evaluate(arm.m, quantity(arm.m, "jacobian"), frame=arm.task.frame, axes="aligned")(
        np.asarray(q, dtype=float)
    )
    return J[..., arm.moving]


def _rates(
    arm: Arm, q: Floats, turned: Floats, S: Floats, inverse: Floats, spatial: list[Floats]
) -> list[Floats]:
    """J v = S(R) V and J a = S(R) A - S(P) J' v: the target's own rotation stands on the right (3.3.2.9, 3.3.3.5)."""
    if not spatial:
        return []

    def solved(right: Floats) -> Floats:
        return arm.velocities(_times(inverse, right.astype(inverse.dtype)).astype(float))

    made = [solved(_times(turned, spatial[0]))]
    if len(spatial) > 1:
        bias = evaluate(
            arm.m, quantity(arm.m, "acceleration"), frame=arm.task.frame, axes="aligned"
        )(q, made[0], np.zeros(arm.m.nv))
        made.append(solved(_times(turned, spatial[1]) - _times(S, bias)))
    return made


def _times(M: Any, b: Any) -> Any:
    return np.einsum("...ij,...j->...i", M, b)


def _arithmetic(dtype: DTypeLike) -> np.dtype[Any]:
    """Single or double precision."""
    try:
        number = np.dtype(dtype)
    except TypeError:
        number = np.dtype(object)
    if number not in (np.float32, np.float64):
        raise InputError(
            f"dtype is float, or np.float32 for single precision; it is {format_value(dtype)}."
        )
    return number
