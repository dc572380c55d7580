"""Kalman's filters of linear models: the gains that noise asks for, in continuous and in discrete
time.

Process noise w drives x' = A x + B u + G w and has the intensity W (the covariance of its integral
over a second); measurement noise has the intensity V in continuous time, and the covariance V of
one sample in discrete time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import Floats, count, finite, positive
from eslabon.errors import InputError
from eslabon.numerics.scalars import concatenate, is_symbolic, times
from eslabon.systems.control.kalman_formulas import corrected, packed, predicted, unpacked
from eslabon.systems.control.observers import (
    LinearObserver,
    Observer,
    full_order,
    numbers_or_symbols,
)
from eslabon.systems.control.weight_matrices import covariance as covariance_of
from eslabon.systems.linear.linear_system import LinearSystem, format_poles
from eslabon.systems.linear.numerical_failures import explained
from eslabon.systems.linear.ranks import kalman_rank, require_observable


@explained("the Kalman filter")
def kalman(
    system: Any, process: ArrayLike, measurement: ArrayLike, *, through: ArrayLike | None = None,
    period: float | None = None,
) -> Observer:  # fmt: skip
    """The filter with the least mean square error once it has settled: Kalman and Bucy's, or with a
    period Kalman's.

    The covariance P of the error solves A P + P A^T - P C^T V^-1 C P + G W G^T = 0, and L = P C^T
    V^-1 (Kalman and Bucy, 1961). With a period inputs and the intensity W are taken over it
    exactly, and P is that of the estimate that has seen the sample.

    Parameters
    ----------
    system : a linear model (`m.linearize(...)`), a `control.StateSpace`, or matrices (A, B, C[,
        D]).
    process : W: a number, one for each noise, or a matrix.
    measurement : V, of the outputs, likewise; positive definite. A sample's noise V has the
        intensity V * period.
    through : G, (states, noises), such as `lm.B` for noise of the forces; left out, every state has
        noise of its own.
    period : in seconds.

    >>> import eslabon as es
    >>> lm = es.load("cart_pole").linearize([0.0, 0.0], outputs=["x", "theta"])
    >>> filtering = kalman(lm, 0.1, 1e-6, through=lm.B)
    >>> filtering.covariance.shape, filtering.stable
    ((4, 4), True)
    """
    plant, W, V = _given(system, process, measurement, through)
    if period is None and plant.period is None:
        return _settled(plant, W, V)
    return _settled_steps(*_stepwise(plant, W, period), V)


def _given(
    system: Any, process: Any, measurement: Any, through: Any
) -> tuple[LinearSystem, Floats, Floats]:
    """The plant, the intensity of noise along its states, and that of the measurements."""
    plant = LinearSystem.from_any(system)
    G = np.eye(len(plant.A)) if through is None else finite(through, "through")
    if G.ndim != 2 or len(G) != len(plant.A):
        raise InputError(
            f"through has shape {G.shape}; it has a row for each of the {len(plant.A)} states."
        )
    W = covariance_of(process, "process", G.shape[1], "noises")
    return (
        plant,
        G @ W @ G.T,
        covariance_of(measurement, "measurement", len(plant.C), "outputs", definite=True),
    )


def _stepwise(plant: LinearSystem, W: Floats, period: float | None) -> tuple[LinearSystem, Floats]:
    """The plant in steps, and the covariance that each one adds; a plant that is in steps already
    has W for each of them."""
    if plant.period is not None:
        return (plant if period is None else plant.sampled(period)), W
    if period is None:
        raise InputError("a filter in discrete time needs a period, such as period=1e-3.")
    return plant.sampled(period), noise_of_a_step(plant.A, W, positive(period, "period"))


def noise_of_a_step(A: Floats, W: Floats, h: float) -> Floats:
    """The covariance that white noise of the intensity W adds to the state in the time h (Van Loan,
    1978): the integral of exp(A s) W exp(A^T s) ds."""
    from scipy.linalg import expm

    n = len(A)
    block = expm(h * np.block([[-A, W], [np.zeros((n, n)), A.T]]))
    covariance: Floats = block[n:, n:].T @ block[:n, n:]
    return (covariance + covariance.T) / 2


def _settled(plant: LinearSystem, W: Floats, V: Floats) -> Observer:
    from scipy.linalg import solve_continuous_are

    P = _covariance(plant, W, V, solve_continuous_are)
    gains = np.asarray(np.linalg.solve(V, plant.C @ P).T, dtype=np.float64)
    return _checked(full_order("Kalman-Bucy filter", plant, gains, P))


def _covariance(
    plant: LinearSystem, W: Floats, V: Floats, riccati: Callable[..., Floats]
) -> Floats:
    """The settled covariance, by Riccati's equation of the dual system."""
    require_observable(plant, decaying=True)
    _require_driven(plant, W)
    try:
        return riccati(plant.A.T, plant.C.T, W, V)
    except (np.linalg.LinAlgError, ValueError):
        raise _unsettled() from None


def _settled_steps(plant: LinearSystem, W: Floats, V: Floats) -> Observer:
    from scipy.linalg import solve_discrete_are

    P = _covariance(plant, W, V, solve_discrete_are)
    now = np.asarray(np.linalg.solve(plant.C @ P @ plant.C.T + V, plant.C @ P).T, dtype=np.float64)
    return _checked(full_order("Kalman filter", plant, plant.A @ now, P - now @ plant.C @ P, now))


def _require_driven(plant: LinearSystem, W: Floats) -> None:
    """Refuse noise that leaves a motion alone which neither grows nor dies out: its estimate would
    never be corrected."""
    sizes, axes = np.linalg.eigh(W)
    noise = axes * np.sqrt(np.maximum(sizes, 0.0))
    for mode in kalman_rank(plant, plant.A, noise, "controllable").lost_modes:
        if abs(abs(mode.pole) - 1 if plant.period else mode.pole.real) < 1e-6:
            raise InputError(
                f"the filter does not settle: no process noise drives the mode with the pole {format_poles([mode.pole])} (of "
                f"{mode.states}), which does not die out by itself, so that its gains go to zero; give it some."
            )


def _checked(made: Observer) -> Observer:
    if not made.stable:
        raise _unsettled()
    return made


def _unsettled() -> InputError:
    return InputError("the filter does not settle: Riccati's equation has no solution with which errors die out; give every "
        "motion that does not die out by itself some process noise.")  # fmt: skip


class KalmanSteps(NamedTuple):
    """A filter's matrices and its steps, as `ObserverSteps`: its states are the estimate, and the
    covariance of that."""

    A: Any
    C: Any
    process: Any
    measurement: Any

    def estimate(self, z: Any, y: Any) -> Any:
        """The estimate from its states and what is measured."""
        x, P = self._parts(z)
        gain, _ = corrected(P, self.C, self.measurement)
        return x + times(gain, y - times(self.C, x))

    def advance(self, z: Any, y: Any, x: Any, drive: Any) -> Any:
        """Its states a step later."""
        _, P = corrected(self._parts(z)[1], self.C, self.measurement)
        return concatenate(times(self.A, x) + drive, packed(predicted(P, self.A, self.process)))

    def _parts(self, z: Any) -> tuple[Any, Any]:
        n = self.A.shape[0]
        if is_symbolic(z):
            return z[:n, :], unpacked(z[n:, :], n)
        return z[..., :n], unpacked(z[..., n:], n)


@dataclass(frozen=True, eq=False, repr=False)
class KalmanFilter(LinearObserver):
    """A filter whose gains follow its covariance from step to step; see `kalman_filter`.

    >>> import eslabon as es
    >>> lm = es.load("cart_pole").linearize([0.0, 0.0], outputs=["x", "theta"])
    >>> es.control.kalman_filter(lm, 0.1, 1e-6, 0.01, through=lm.B, period=0.01).size
    14
    """

    plant: LinearSystem
    process: Floats
    measurement: Floats
    initial: Floats

    @property
    def size(self) -> int:
        """The number of its states: estimates, and the upper triangle of their covariance."""
        n = len(self.plant.A)
        return n + n * (n + 1) // 2

    def covariances(self, steps: int) -> tuple[Floats, Floats]:
        """The covariances of the estimates before and after they have seen each of so many samples,
        (steps, n, n) each."""
        before, after, P = [], [], self.initial
        for _ in range(count(steps, "steps")):
            before.append(P)
            after.append(corrected(P, self.plant.C, self.measurement)[1])
            P = predicted(after[-1], self.plant.A, self.process)
        return np.array(before), np.array(after)

    @property
    def steps(self) -> KalmanSteps:
        """Its matrices, as a law takes them."""
        return KalmanSteps(self.plant.A, self.plant.C, self.process, self.measurement)

    def start(self, estimate: Floats) -> Floats:
        """Its states for an estimate to start from."""
        return concatenate(
            numbers_or_symbols(estimate, "estimate", len(self.plant.A), "states"),
            packed(self.initial),
        )

    def __repr__(self) -> str:
        return f"<Kalman filter of {len(self.plant.A)} states from {', '.join(self.plant.outputs)}, every {self.period:g} s>"


@explained("the Kalman filter")
def kalman_filter(
    system: Any, process: ArrayLike, measurement: ArrayLike, covariance: ArrayLike, *, through: ArrayLike | None = None,
    period: float | None = None,
) -> KalmanFilter:  # fmt: skip
    """Kalman's filter from the start on: it knows how good the first estimate is, and its gains
    settle with time.

    Parameters
    ----------
    covariance : of the estimate at the start: a variance, one for each state, or a matrix.
    system, process, measurement, through, period : as for `kalman`, in discrete time.

    >>> import eslabon as es
    >>> lm = es.load("cart_pole").linearize([0.0, 0.0], outputs=["x", "theta"])
    >>> filtering = kalman_filter(lm, 0.1, 1e-6, 0.01, through=lm.B, period=0.01)
    >>> before, after = filtering.covariances(500)
    >>> settled = kalman(lm, 0.1, 1e-6, through=lm.B, period=0.01)
    >>> bool(abs(after[-1] - settled.covariance).max() < 1e-9)
    True
    """
    plant, W, V = _given(system, process, measurement, through)
    stepwise, W = _stepwise(plant, W, period)
    return KalmanFilter(
        stepwise, W, V, covariance_of(covariance, "covariance", len(plant.A), "states")
    )
