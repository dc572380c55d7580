"""Closed configurations of a mechanism that everything else starts from: home, and others around
it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.formula import Argument, Formula
from eslabon.errors import AssemblyError, ModelError, ModelWarning, user_stacklevel
from eslabon.formulas.inputs import Q
from eslabon.formulas.kinematics.closure import equations, row_names
from eslabon.model import Model
from eslabon.model.configuration import integrate
from eslabon.model.memory import per_model
from eslabon.model.scale import (
    characteristic_length,
    row_scales,
    row_units,
    velocity_scales,
)
from eslabon.numerics.constrained_least_squares import RefinementSettings, Terms, refine
from eslabon.numerics.least_squares import DAMPING, STALLED
from eslabon.numerics.subspaces import null_space, rank
from eslabon.numerics.tolerances import CONVERGED, INPUT_DIGITS, ROUND_OFF
from eslabon.solve.designs import DESCRIBED, Designs, row_scales_of, velocity_scales_of


@dataclass(frozen=True)
class ClosingSettings:
    """How a closed configuration is searched for.

    Attributes
    ----------
    refinement : of closure from one start: to a tenth of what round-off leaves, unless a start
        stalls.
    restarts : other starts, at most.
    spread : how far the last of them are from the first, in radians or metres over L.
    fruitless : starts in a row that come no nearer to closing, after which no more are tried.
    free : singular values of J, over the largest, below which rounded numbers explain that a degree
        of freedom is resisted.
    """

    refinement: RefinementSettings = field(
        default_factory=lambda: RefinementSettings(
            steps=200, damping=DAMPING, closed=ROUND_OFF / 10, gain=1e-10, stalled=STALLED
        )
    )
    restarts: int = 30
    spread: float = 3.0
    fruitless: int = 6
    free: float = 1e-5


@dataclass(frozen=True)
class SurroundingsSettings:
    """Which closed configurations around home stand for all of them.

    Attributes
    ----------
    trials : configurations beside a singular home that are tried for one of full rank.
    near : how far these are from home, in radians or metres over L.
    distances : how far configurations around home are from it, one after the other.
    """

    trials: int = 5
    near: float = 0.1
    distances: tuple[float, ...] = (0.1, 0.3, 1.0, 0.1, 0.3, 1.0)


SETTINGS = ClosingSettings()
SURROUNDINGS = SurroundingsSettings()


def closure(m: Model, q: Any) -> list[Any]:
    """Phi(q) and its Jacobian J, by the velocities, in comparable rows."""
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
    """Phi and J at configurations (..., nq), as numbers, in radians or metres over L; for designs,
    of each at its own."""
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
            own = designs[at].mechanism(m)
            rows = np.array(constraint(own, np.zeros(0)), dtype=float).ravel()
            phi[..., *at, :] = rows * row_scales(own)
    return phi, np.zeros((*lead, _rows(m), m.nv))


def residuals_at(m: Model, q: Floats, designs: Designs = DESCRIBED) -> Floats:
    """Phi at configurations, as numbers."""
    return closure_at(m, q, designs)[0]


def jacobian_at(m: Model, q: Floats, designs: Designs = DESCRIBED) -> Floats:
    """J at configurations, as numbers."""
    return closure_at(m, q, designs)[1]


def comparable_jacobian_at(m: Model, q: Floats, designs: Designs = DESCRIBED) -> Floats:
    """The same by velocities in rad/s or L/s, so that its singular values do not depend on the unit
    of length."""
    return jacobian_at(m, q, designs) / velocity_scales_of(m, designs)[..., None, :]


def close(m: Model, guess: Floats | None = None, restarts: int = SETTINGS.restarts) -> Floats:
    """A configuration near the guess (by default the home of the description) that closes every
    loop; of a mechanism whose numbers are rounded so that it closes nowhere, the best fit."""
    start = np.array(m.home() if guess is None else guess, dtype=float)
    if np.isfinite(start).all() and not np.isfinite(jacobian_at(m, start)).all():
        raise ModelError(
            f"the equations of the loops of {m.name} are beyond the range of numbers: its lengths go up "
            f"to {characteristic_length(m):.3g} m; take another unit of length."
        )
    found, error = close_each(m, start[None], restarts=restarts)
    if np.sqrt(error[0]) < CONVERGED:
        return found[0]
    near, left = best_fit(m, start)
    if left < closure_tolerance(m):
        return near
    phi = np.abs(residuals_at(m, found[0]))
    worst = int(phi.argmax())
    raise AssemblyError(
        f"{m.name} does not close from this start: '{row_names(m)[worst]}' violates loop closure by "
        f"{violation_text(m, phi, worst)} at best; start nearer to a closed configuration, or check the lengths."
    )


@per_model
def closure_tolerance(m: Model) -> float:
    """The largest violation of closure of a closed configuration: `CONVERGED`, or, of a mechanism
    that closes nowhere near home, ten times what its best fit leaves there, if the decimals of its
    numbers explain that. A warning says so."""
    start = np.array(m.home(), dtype=float)
    if np.sqrt(close_each(m, start[None])[1][0]) < CONVERGED:
        return CONVERGED
    near, gap = best_fit(m, start)
    if not gap < INPUT_DIGITS:
        return CONVERGED
    phi = residuals_at(m, near)
    name = row_names(m)[int(np.abs(phi).argmax())]
    warnings.warn(
        f"{m.name}: no configuration closes loop '{name}' better than to {violation_text(m, phi)}, "
        "as if its numbers were rounded; the best fit counts as closed. Give the numbers with more "
        "digits.",
        ModelWarning,
        stacklevel=user_stacklevel(),
    )
    return 10 * gap


def best_fit(m: Model, start: Floats) -> tuple[Floats, float]:
    """The configuration next to a start that violates closure least, and by how much.

    Motions that the loops resist by no more than the decimals of their numbers are degrees of
    freedom, along which nothing moves.
    """
    near, error = close_from(m, start[None], least=SETTINGS.free)
    return near[0], float(np.sqrt(error[0]))


def unclosed(m: Model, left: Floats) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which violations of closure are too large for a closed configuration."""
    open_ = np.asarray(~(left < CONVERGED))
    if open_.any() and (left[open_] < INPUT_DIGITS).any():
        open_ = ~(left < closure_tolerance(m))
    return open_


def violation_text(
    m: Model, phi: Floats, row: int | None = None, design: Designs = DESCRIBED
) -> str:
    """How much comparable rows of a design violate loop closure, the worst of them or a given one,
    in its own unit.

    >>> import eslabon as es
    >>> m = es.load("five_bar")
    >>> violation_text(m, np.array([0.0, 0.5, 0.0, 0.0, 0.1]))
    '0.05 m'
    """
    row = int(np.abs(phi).argmax()) if row is None else row
    scale = row_scales_of(m, design if design.names else DESCRIBED)[row]
    return f"{abs(float(phi[row] / scale)):.3g} {row_units(m)[row]}"


def close_each(
    m: Model, start: Floats, designs: Designs = DESCRIBED, restarts: int = SETTINGS.restarts
) -> tuple[Floats, Floats]:
    """Configurations near starts (k, nq) that close every loop, each in its own design, and the
    errors |Phi|^2 left there.

    From the starts themselves first, then from others ever farther around them, always the same
    ones, as long as they come nearer to closing.
    """
    rng, fruitless = np.random.default_rng(0), np.zeros(len(start), dtype=np.int64)
    best, error = close_from(m, start, designs)
    for k in range(1, restarts + 1):
        lanes = np.flatnonzero(~(np.sqrt(error) < CONVERGED) & (fruitless < SETTINGS.fruitless))
        if not len(lanes):
            break
        away = rng.normal(size=m.nv) * SETTINGS.spread * k / restarts / velocity_scales(m)
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
    """Where a refinement of nothing but closure leads from configurations (k, nq), over all
    coordinates, so that redundant rows and more degrees of freedom than rows do no harm, and the
    errors |Phi|^2 left there."""
    found = refine(_Closing(m, designs), q, replace(SETTINGS.refinement, rank=least))
    return found.q, found.size**2


class _Closing:
    """Closure alone, as `numerics.constrained_least_squares` takes it: no errors, and no limits."""

    def __init__(self, m: Model, designs: Designs) -> None:
        self.m, self.designs = m, designs
        self.scale, self.free = np.asarray(velocity_scales(m), dtype=float), np.ones(m.nv)

    def terms(self, q: Floats, lanes: Any) -> Terms:
        own = self.designs[lanes] if self.designs.names else DESCRIBED
        phi, J = (np.array(y) for y in closure_at(self.m, q, own))
        k, n = len(q), self.m.nv
        nothing = np.zeros((k, 0)), np.zeros((k, 0, n))
        return Terms(*nothing, phi, J / self.scale, np.zeros((k, 0)), np.zeros((k, 0, 0)))

    def moved(self, q: Floats, way: Floats) -> Floats:
        return np.asarray(integrate(self.m, q, way / self.scale))

    def at_limits(self, q: Floats) -> tuple[Any, Any]:
        return (np.zeros((len(q), self.m.nv), dtype=bool),) * 2


@per_model
def generic(m: Model) -> np.ndarray:
    """A closed configuration near home at which the constraints have their full rank: home itself,
    or one beside it."""
    rng, best = np.random.default_rng(1), close(m)
    most = rank_at(m, best)
    for _ in range(SURROUNDINGS.trials):
        trial = beside(m, best, rng)
        if rank_at(m, trial) > most:
            best, most = trial, rank_at(m, trial)
    return best


def rank_at(m: Model, q: np.ndarray) -> int:
    """The rank of the closure Jacobian at a configuration."""
    return int(rank(comparable_jacobian_at(m, q)))


def beside(
    m: Model, q: np.ndarray, rng: np.random.Generator, far: float = SURROUNDINGS.near
) -> np.ndarray:
    """A closed configuration a short way off, along the degrees of freedom."""
    free = null_space(comparable_jacobian_at(m, q))
    step = free @ rng.normal(size=free.shape[1]) * far / velocity_scales(m)
    closed, error = close_from(m, integrate(m, q, step)[None])
    return q if unclosed(m, np.sqrt(error))[0] else closed[0]


def around(m: Model) -> Iterator[np.ndarray]:
    """Closed configurations, home first and then farther and farther off."""
    rng, q = np.random.default_rng(2), generic(m)
    yield q
    for far in SURROUNDINGS.distances:
        yield beside(m, q, rng, far)
