"""The first closed configuration of a mechanism, that everything else starts from."""

from __future__ import annotations

from typing import Any

import numpy as np

from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.formula import Argument, Formula
from eslabon.coordinates.designs import DESCRIBED, Designs
from eslabon.errors import AssemblyError
from eslabon.formulas.inputs import Q
from eslabon.formulas.kinematics.closure import equations, row_names
from eslabon.model import Model
from eslabon.model.configuration import integrate
from eslabon.numerics.least_squares import descent, orthogonal_step

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
    """A configuration near the guess (by default the home of the description) that closes every loop."""
    start = np.array(m.home() if guess is None else guess, dtype=float)
    found, error = close_each(m, start[None], restarts=restarts)
    if np.sqrt(error[0]) < CLOSED:
        return found[0]
    phi = np.abs(residuals_at(m, found[0]))
    raise AssemblyError(
        f"{m.name} does not close from this start: '{row_names(m)[int(phi.argmax())]}' violates loop closure by "
        f"{phi.max():.3g} (m or rad) at best; start nearer to a closed configuration, or check the lengths."
    )


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


def close_from(m: Model, q: Floats, designs: Designs = DESCRIBED) -> tuple[Floats, Floats]:
    """Where damped least squares over all coordinates lead from configurations (k, nq), so that redundant rows and more
    degrees of freedom than rows do no harm, and the errors |Phi|^2 left there."""

    def equations(q: Floats, *values: Floats) -> tuple[Floats, Floats]:
        return closure_at(
            m, q, Designs(designs.names, np.stack(values, axis=-1)) if values else DESCRIBED
        )

    step = orthogonal_step(equations, lambda q, v: integrate(m, q, v))
    found = descent(step, q, *designs.inputs, goal=ROUND_OFF**2, iterations=200, patient=False)
    return found.q, found.error
