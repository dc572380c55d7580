"""Observers of linear models: what is not measured, estimated from what is.

Whatever its order, an observer of x' = A x + B u, y = C x + D u is a linear system (Luenberger,
1971)

    z' = F z + G (y - D u) + Z B u,     x_hat = M z + N (y - D u),     Z A - F Z = G C,   M Z + N C = 1,

whose state follows Z x: the error z - Z x obeys e' = F e. Of full order Z = M = 1, N = 0, G = L and
F = A - L C. In discrete time a prime is the next value, and the measurement at hand corrects the
estimate at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from eslabon.answers import Answer, Block, Column, matrix_table, quantities_table
from eslabon.arguments import Floats, finite, floats, states
from eslabon.errors import InputError, format_value
from eslabon.numerics.scalars import is_symbolic, times
from eslabon.systems.control.pole_placement import place
from eslabon.systems.linear.linear_system import LinearSystem, format_poles
from eslabon.systems.linear.numerical_failures import explained
from eslabon.systems.linear.ranks import require_observable


class ObserverSteps(NamedTuple):
    """An observer's matrices and what it does with them, for numbers and symbols alike; y is what
    is measured less D u."""

    F: Any
    G: Any
    Z: Any
    M: Any
    N: Any

    def estimate(self, z: Any, y: Any) -> Any:
        """x_hat."""
        return times(self.M, z) + times(self.N, y)

    def advance(self, z: Any, y: Any, x: Any, drive: Any) -> Any:
        """z', with B u for `drive`."""
        return times(self.F, z) + times(self.G, y) + times(self.Z, drive)


class LinearObserver(Answer):
    """What estimates the states of a linear `plant` by its `steps`, for numbers and symbols alike;
    y is what is measured less D u.

    Its `size` is the number of its own states, and `start` gives these for an estimate.
    """

    plant: LinearSystem
    size: Any
    steps: Any
    start: Any

    @property
    def period(self) -> float | None:
        """The sampling period in seconds; None in continuous time."""
        return self.plant.period

    def estimate(self, z: Any, y: Any) -> Any:
        """x_hat."""
        z = numbers_or_symbols(z, "z", self.size, "states of its own")
        y = numbers_or_symbols(y, "y", len(self.plant.C), "outputs")
        return self.steps.estimate(z, y)

    def advance(self, z: Any, y: Any, x: Any, drive: Any) -> Any:
        """z', the estimate x given and with B u for `drive`.

        >>> plant = [[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]], [[1.0, 0.0]]
        >>> observer = luenberger(plant, [-1.0, -2.0])
        >>> observer.advance([0.0, 0.0], [1.0], [0.0, 0.0], [0.0, 1.0])
        array([3., 3.])
        """
        n = len(self.plant.A)
        z = numbers_or_symbols(z, "z", self.size, "states of its own")
        y = numbers_or_symbols(y, "y", len(self.plant.C), "outputs")
        drive = numbers_or_symbols(drive, "drive", n, "states")
        return self.steps.advance(z, y, x, drive)

    def follow(
        self, t: ArrayLike, y: ArrayLike, u: ArrayLike | None = None, start: ArrayLike | None = None
    ) -> Floats:
        """The estimates (..., times, n) from records of outputs (..., times, ny) and inputs (...,
        times, nu) at times.

        In discrete time the records are the samples. In continuous time inputs hold from one time
        to the next and outputs are joined by straight lines.

        Parameters
        ----------
        t : (times,), evenly spaced.
        start : the estimate at the start, (..., n); left out, zero.
        """
        from eslabon.systems.control.records import continuous, sampled

        return (sampled if self.period else continuous)(self, t, y, u, start)


@dataclass(frozen=True, eq=False, repr=False)
class Observer(LinearObserver):
    """An observer of a linear system; see `luenberger`, `reduced_order` and `kalman`.

    Attributes
    ----------
    gains : L, a column for each output.
    poles : of the error, in 1/s; with a `period` those of its steps, inside the unit circle where
        it dies out.
    F, G, Z, M, N : the observer as a system (see the module).
    covariance : of the estimate's error, for a Kalman filter; else None.
    period : in seconds, or None in continuous time.

    >>> import eslabon as es
    >>> lm = es.load("cart_pole").linearize([0.0, 0.0], outputs=["x", "theta"])
    >>> observer = es.control.luenberger(lm, [-8, -9, -10, -11])
    >>> observer.stable, observer.poles.real.round(3)
    (True, array([ -8.,  -9., -10., -11.]))
    """

    title: str
    plant: LinearSystem
    gains: Floats
    F: Floats
    G: Floats
    Z: Floats
    M: Floats
    N: Floats
    covariance: Floats | None = field(default=None, kw_only=True)

    @property
    def size(self) -> int:
        """The number of its states."""
        return len(self.F)

    @property
    def system(self) -> LinearSystem:
        """The observer as a linear system: inputs and outputs of the plant go in, estimates come
        out."""
        p, estimates = self.plant, tuple(f"{x}_hat" for x in self.plant.states)
        own = (
            estimates
            if self.size == len(estimates)
            else tuple(f"z{k + 1}" for k in range(self.size))
        )
        B = np.hstack([self.Z @ p.B - self.G @ p.D, self.G])
        D = np.hstack([-self.N @ p.D, self.N])
        inputs = (*p.inputs, *p.outputs)
        return LinearSystem(self.F, B, self.M, D, own, inputs, estimates, self.period, "observer")

    @property
    def poles(self) -> np.ndarray:
        """The poles of the error, by their size."""
        return self.system.poles

    @property
    def stable(self) -> bool:
        """Whether errors die out."""
        return bool(self.system.stable)

    @property
    def steps(self) -> ObserverSteps:
        """Its matrices, as a law takes them."""
        return ObserverSteps(self.F, self.G, self.Z, self.M, self.N)

    def start(self, estimate: Floats) -> Floats:
        """Its state for an estimate at the start, (..., n)."""
        return times(self.Z, numbers_or_symbols(estimate, "estimate", len(self.plant.A), "states"))

    def to_control(self) -> Any:
        """The observer as python-control's `StateSpace`: inputs and outputs of the plant go in,
        estimates come out.

        >>> luenberger(([[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]], [[1.0, 0.0]]), [-1.0, -2.0]).to_control().output_labels
        ['x1_hat', 'x2_hat']
        """
        return self.system.to_control()

    def contents(self) -> Iterator[Block]:
        """The gains, a row for each state, and the other attributes."""
        named = len(self.gains) == len(self.plant.states)
        rows = self.plant.states if named else [f"z{k + 1}" for k in range(len(self.gains))]
        yield matrix_table("gains", self.gains, rows, self.plant.outputs)
        yield quantities_table(
            [
                (Column("poles", "" if self.period else "1/s"), format_poles(self.poles)),
                (Column("stable"), self.stable),
                (Column("period", "s"), self.period),
                (Column("covariance"), self.covariance),
            ]
        )

    def __repr__(self) -> str:
        every = f", every {self.period:g} s" if self.period else ""
        states, outputs = len(self.plant.states), ", ".join(self.plant.outputs)
        return f"<{self.title} of {states} states from {outputs}{every}; poles {format_poles(self.poles)}>"


def numbers_or_symbols(value: Any, name: str, count: int, noun: str) -> Any:
    """What goes into an observer: an expression as it is, or numbers `(..., count)`."""
    if is_symbolic(value) and value.numel() != count:
        raise InputError(
            f"{name} has {value.numel()} expressions; the observer has {count} {noun}."
        )
    return value if is_symbolic(value) else states(value, name, count, "the observer", noun, floats)


@explained("the observer")
def luenberger(
    system: Any,
    poles: ArrayLike | None = None,
    *,
    gains: ArrayLike | None = None,
    period: float | None = None,
) -> Observer:
    """An observer of full order, x_hat' = A x_hat + B u + L (y - C x_hat - D u) (Luenberger, 1964;
    Morales, eq. 5.67).

    Parameters
    ----------
    system : a linear model (`m.linearize(...)`), a `control.StateSpace`, or matrices (A, B, C[,
        D]).
    poles : of the error's A - L C, one for each state, in 1/s; complex ones with their conjugates.
    gains : L itself, (states, outputs), in place of poles.
    period : for an observer that a computer runs: inputs are held over the period, poles s become
        exp(s period), and gains are those of x[k+1] = A x[k] + B u[k] + L (y[k] - C x[k]).

    >>> import eslabon as es
    >>> m = es.load("cart_pole")
    >>> observer = luenberger(m.linearize([0.0, 0.0], outputs=["x", "theta"]), [-8, -9, -10, -11])
    >>> observer
    <Luenberger observer of 4 states from x, theta; poles -8, -9, -10, -11>
    >>> observer.gains.shape
    (4, 2)
    """
    plant = _plant(system, period)
    if (poles is None) == (gains is None):
        raise InputError("an observer is given its poles or its gains: one of the two.")
    L = (
        placed(plant, plant.A, plant.C, poles, "observer")
        if gains is None
        else _gains(gains, (len(plant.A), len(plant.C)))
    )
    return full_order("Luenberger observer", plant, L)


def _plant(system: Any, period: float | None) -> LinearSystem:
    """The system to be observed, in the time of the observer."""
    need = "AC" if isinstance(system, LinearSystem) else "ABC"  # what has no inputs is observed too
    plant = LinearSystem.from_any(system, need)
    return plant if period is None else plant.sampled(period)


def full_order(
    title: str,
    plant: LinearSystem,
    L: Floats,
    covariance: Floats | None = None,
    now: Floats | None = None,
) -> Observer:
    """The observer of full order with gains L. In discrete time z is predicted, and x_hat = z + M
    (y - C z).

    A M = L, so that z is what x_hat becomes in a step; M is `now`, or the solution of least norm,
    which a singular A has too.
    """
    if now is None:
        now = np.linalg.pinv(plant.A) @ L if plant.period else np.zeros_like(L)
    one: Floats = np.eye(len(plant.A))
    return Observer(
        title,
        plant,
        L,
        plant.A - L @ plant.C,
        L,
        one,
        one - now @ plant.C,
        now,
        covariance=covariance,
    )


@explained("the observer")
def reduced_order(
    system: Any,
    poles: ArrayLike | None = None,
    *,
    gains: ArrayLike | None = None,
    period: float | None = None,
) -> Observer:
    """An observer of reduced order (Gopinath, 1971): what is measured is taken as it is, and only
    the rest is estimated.

    With S an orthonormal basis of what the outputs do not show, C S = 0, the rest is w = S^T x, and
    of w - L y the error obeys S^T A S - L C A S. It is quicker than one of full order, but hands
    the noise of measurements on.

    Parameters
    ----------
    system, period : as for `luenberger`.
    poles : one for each state that is not measured.
    gains : L itself, (states - outputs, outputs), for the basis S.

    >>> import eslabon as es
    >>> lm = es.load("cart_pole").linearize([0.0, 0.0], outputs=["x", "theta"])
    >>> reduced_order(lm, [-8, -9])
    <reduced-order observer of 4 states from x, theta; poles -8, -9>
    """
    from scipy.linalg import null_space

    plant = _plant(system, period)
    if (poles is None) == (gains is None):
        raise InputError("an observer is given its poles or its gains: one of the two.")
    A, C, ny = plant.A, plant.C, len(plant.C)
    S = null_space(C)
    rest = S.shape[1]
    if rest != len(A) - ny:
        raise InputError(
            f"the {ny} outputs {', '.join(plant.outputs)} depend on one another: leave out those that say the same."
        )
    if not rest:
        raise InputError("every state is measured; nothing is left to be observed.")
    inner, seen = S.T @ A @ S, C @ A @ S
    L = (
        placed(plant, inner, seen, poles, "observer of reduced order")
        if gains is None
        else _gains(gains, (rest, ny))
    )
    back, Z = np.linalg.pinv(C), S.T - L @ C
    F = inner - L @ seen
    return Observer(
        "reduced-order observer", plant, L, F, (Z @ A - F @ Z) @ back, Z, S, back + S @ L
    )


def _gains(given: ArrayLike, shape: tuple[int, int]) -> Floats:
    gains = finite(given, "gains")
    if gains.shape != shape:
        raise InputError(
            f"gains have shape {gains.shape}; a row for each state and a column for each output is {shape}."
        )
    return gains


def placed(plant: LinearSystem, A: Floats, C: Floats, poles: Any, title: str) -> Floats:
    """L for which A - L C has the poles, in 1/s, or in discrete time exp(s period): by duality K^T
    of A^T - C^T K."""
    require_observable(plant)
    try:
        asked = np.atleast_1d(np.asarray(poles, dtype=complex))
    except (TypeError, ValueError):
        raise InputError(
            f"poles are numbers, real or complex; they are {format_value(poles)}."
        ) from None
    if asked.shape != (len(A),):
        raise InputError(f"the {title} has {len(A)} poles; {asked.size} are asked for.")
    found = place((A.T, C.T), np.exp(asked * plant.period) if plant.period else asked)
    return np.ascontiguousarray(found.K.T)
