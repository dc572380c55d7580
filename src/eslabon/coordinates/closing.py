"""The first closed configuration of a mechanism, that everything else starts from."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.formula import Argument, Formula
from eslabon.coordinates.designs import DESCRIBED, Designs
from eslabon.errors import AssemblyError, ModelWarning, user_stacklevel
from eslabon.formulas.inputs import Q
from eslabon.formulas.kinematics.closure import equations, row_names
from eslabon.model import Model
from eslabon.model.configuration import integrate
from eslabon.model.memory import per_model
from eslabon.numerics.least_squares import descent, orthogonal_step

Floats = np.ndarray[Any, np.dtype[np.float64]]

CLOSED = 1e-10  # metres and radians: a hundred times what round-off leaves in a mechanism of a few metres
INPUT_DIGITS = 1e-6  # of the size: what the decimals of a file may leave a loop open by
ROUND_OFF = 1e-13
FREE = (
    1e-5  # of the largest singular value of J: what rounded numbers may make of a degree of freedom
)
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
    (Q,),
    (Argument("residual", lambda m: (_rows(m),)), Argument("J", lambda m: (_rows(m), m.nv))),
    rare=True,
)


def closure_at(m: Model, q: Floats, designs: Designs = DESCRIBED) -> tuple[Floats, Floats]:
    """Phi and J at configurations (..., nq), as numbers; for designs, of each at its own."""
    if not _rows(m) or not m.nv:
        return _rigid_closure(m, q, designs)
    phi, J = evaluate(m, CLOSURE, designs.names)(q, *designs.inputs)
    return phi, J


def _rigid_closure(m: Model, q: Floats, designs: Designs) -> tuple[Floats, Floats]:
    """The same where nothing is to be closed, or nothing moves."""
    from eslabon.formulas.kinematics.closure import constraint

    lead = np.broadcast_shapes(np.shape(q)[:-1], designs.lead)
    phi = np.zeros((*lead, _rows(m)))
    if _rows(m):
        for at in np.ndindex(designs.lead):
            phi[..., *at, :] = np.array(
                constraint(designs[at].mechanism(m), np.zeros(0)), dtype=float
            ).ravel()
    return phi, np.zeros((*lead, _rows(m), m.nv))


def residuals_at(m: Model, q: Floats, designs: Designs = DESCRIBED) -> Floats:
    """Phi at configurations, as numbers."""
    return closure_at(m, q, designs)[0]


def jacobian_at(m: Model, q: Floats, designs: Designs = DESCRIBED) -> Floats:
    """J at configurations, as numbers."""
    return closure_at(m, q, designs)[1]


def close(m: Model, guess: Floats | None = None, restarts: int = RESTARTS) -> Floats:
    """A configuration near the guess (by default the home of the description) that closes every loop; of a mechanism whose
    numbers are rounded so that it closes nowhere, the one that comes nearest to that."""
    start = np.array(m.home() if guess is None else guess, dtype=float)
    found, error = close_each(m, start[None], restarts=restarts)
    if np.sqrt(error[0]) < CLOSED:
        return found[0]
    near, left = best_fit(m, start)
    if left < closure_tolerance(m):
        return near
    phi = np.abs(residuals_at(m, found[0]))
    raise AssemblyError(
        f"{m.name} does not close from this start: '{row_names(m)[int(phi.argmax())]}' violates loop closure by "
        f"{phi.max():.3g} (m or rad) at best; start nearer to a closed configuration, or check the lengths."
    )


@per_model
def closure_tolerance(m: Model) -> float:
    """By how much a closed configuration may violate closure: `CLOSED`, or, of a mechanism that closes nowhere near home,
    ten times what home is left open by at best, if the decimals of its numbers explain that. A warning says so."""
    start = np.array(m.home(), dtype=float)
    if np.sqrt(close_each(m, start[None])[1][0]) < CLOSED:
        return CLOSED
    near, gap = best_fit(m, start)
    if not gap < decimals_of(m):
        return CLOSED
    name = row_names(m)[int(np.abs(residuals_at(m, near)).argmax())]
    warnings.warn(
        f"{m.name}: no configuration closes loop '{name}' better than to {gap:.2g} (m or rad), as if its numbers were rounded; "
        "the best fit counts as closed. Give the numbers with more digits.",
        ModelWarning,
        stacklevel=user_stacklevel(),
    )
    return 10 * gap


def best_fit(m: Model, start: Floats) -> tuple[Floats, float]:
    """The configuration next to a start that violates closure least, and by how much. Motions that the loops resist by no more
    than the decimals of their numbers are degrees of freedom, along which nothing moves."""
    near, error = close_from(m, start[None], least=FREE)
    return near[0], float(np.sqrt(error[0]))


def decimals_of(m: Model) -> float:
    """What the digits of published numbers may leave a loop open by: radians, or metres of a mechanism of a metre and more."""
    places = [j.at.position for j in m.joints]
    places += [end.at.position for loop in m.loops for end in (loop.first, loop.second)]
    longest = max((float(np.linalg.norm(np.array(p, dtype=float))) for p in places), default=1.0)
    return INPUT_DIGITS * min(1.0, longest or 1.0)


def unclosed(m: Model, left: Floats) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which violations of closure are too large for a closed configuration."""
    open_ = np.asarray(~(left < CLOSED))
    if open_.any() and (left[open_] < decimals_of(m)).any():
        open_ = ~(left < closure_tolerance(m))
    return open_


def close_each(
    m: Model, start: Floats, designs: Designs = DESCRIBED, restarts: int = RESTARTS
) -> tuple[Floats, Floats]:
    """Configurations near starts (k, nq) that close every loop, each in its own design, and the errors |Phi|^2 left there.

    From the starts themselves first, then from others ever farther around them, always the same ones, as long as they come
    nearer to closing.
    """
    rng, fruitless = np.random.default_rng(0), np.zeros(len(start), dtype=np.int64)
    best, error = close_from(m, start, designs)
    for k in range(1, restarts + 1):
        lanes = np.flatnonzero(~(np.sqrt(error) < CLOSED) & (fruitless < FRUITLESS))
        if not len(lanes):
            break
        away = rng.normal(size=m.nv) * 3.0 * k / restarts
        q, left = close_from(
            m, integrate(m, start[lanes], away), designs[lanes] if designs.names else designs
        )
        fruitless[lanes] = np.where(left < 0.9 * error[lanes], 0, fruitless[lanes] + 1)
        better = left < error[lanes]
        best[lanes[better]], error[lanes[better]] = q[better], left[better]
    return best, error


def close_from(
    m: Model, q: Floats, designs: Designs = DESCRIBED, least: float = ROUND_OFF
) -> tuple[Floats, Floats]:
    """Where damped least squares over all coordinates lead from configurations (k, nq), so that redundant rows and more
    degrees of freedom than rows do no harm, and the errors |Phi|^2 left there."""

    def equations(q: Floats, *values: Floats) -> tuple[Floats, Floats]:
        return closure_at(
            m, q, Designs(designs.names, np.stack(values, axis=-1)) if values else DESCRIBED
        )

    step = orthogonal_step(equations, lambda q, v: integrate(m, q, v), least)
    found = descent(step, q, *designs.inputs, goal=ROUND_OFF**2, iterations=200, patient=False)
    return found.q, found.error
