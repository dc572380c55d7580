"""The first closed configuration of a mechanism, that everything else starts from."""

from __future__ import annotations

from typing import Any

import numpy as np

from eslabon.errors import AssemblyError
from eslabon.graph.evaluator import Formula, evaluate
from eslabon.graph.native.signature import Argument
from eslabon.kinematics.closure import equations, row_names
from eslabon.least_squares import descent, orthogonal_step
from eslabon.model import Model
from eslabon.model.configuration import integrate

Floats = np.ndarray[Any, np.dtype[np.float64]]

CLOSED = 1e-10  # metres and radians: a hundred times what round-off leaves in a mechanism of a few metres
ROUND_OFF = 1e-13
RESTARTS = 30
FRUITLESS = 6  # starts in a row that come no nearer to closing, after which no more are tried


def closure(m: Model, q: Any) -> list[Any]:
    """Phi(q) and its Jacobian J, by the velocities."""
    return list(equations(m, q, None, tuple(range(_rows(m))))[:2])


def _rows(m: Model) -> int:
    return len(row_names(m))


CLOSURE = Formula(
    "closure",
    closure,
    ("q",),
    (Argument("residual", lambda m: (_rows(m),)), Argument("J", lambda m: (_rows(m), m.nv))),
    seldom=True,
)


def closure_at(m: Model, q: Floats) -> tuple[Floats, Floats]:
    """Phi and J at configurations (..., nq), as numbers."""
    if not _rows(m) or not m.nv:
        from eslabon.kinematics.closure import constraint

        phi = np.array(constraint(m, np.asarray(q)), dtype=float).ravel() if _rows(m) else np.zeros(0)
        return np.broadcast_to(phi, (*np.shape(q)[:-1], len(phi))), np.zeros((*np.shape(q)[:-1], len(phi), m.nv))
    phi, J = evaluate(m, CLOSURE)(q)
    return phi, J


def residuals_at(m: Model, q: Floats) -> Floats:
    """Phi at configurations, as numbers."""
    return closure_at(m, q)[0]


def jacobian_at(m: Model, q: Floats) -> Floats:
    """J at configurations, as numbers."""
    return closure_at(m, q)[1]


def close(m: Model, guess: Floats | None = None, restarts: int = RESTARTS) -> Floats:
    """A configuration near the guess (by default the home of the description) that closes every loop.

    From the guess itself first, then from starts ever farther around it, always the same ones, as long as they come
    nearer to closing.
    """
    start = np.array(m.home() if guess is None else guess, dtype=float)
    rng, fruitless = np.random.default_rng(0), 0
    best, error = close_from(m, start)
    for k in range(1, restarts + 1):
        if np.sqrt(error) < CLOSED:
            return best
        away = rng.normal(size=m.nv) * 3.0 * k / restarts
        q, left = close_from(m, integrate(m, start, away))
        fruitless = 0 if left < 0.9 * error else fruitless + 1
        if left < error:
            best, error = q, left
        if fruitless >= FRUITLESS:
            break
    if np.sqrt(error) < CLOSED:
        return best
    phi = np.abs(residuals_at(m, best))
    raise AssemblyError(
        f"{m.name} does not close from this start: '{row_names(m)[int(phi.argmax())]}' violates loop closure by "
        f"{phi.max():.3g} (m or rad) at best; start nearer to a closed configuration, or check the lengths."
    )


def close_from(m: Model, q: Floats) -> tuple[Floats, float]:
    """Where damped least squares over all coordinates lead, so that redundant rows and more degrees of freedom than rows
    do no harm, and the error |Phi|^2 left there."""
    step = orthogonal_step(lambda q: closure_at(m, q), lambda q, v: integrate(m, q, v))
    found = descent(step, q[None], goal=ROUND_OFF**2, iterations=200, patient=False)
    return found.q[0], float(found.error[0])
