"""Linear quadratic regulators: for all times to come, and along a trajectory to its end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from eslabon.answers import Answer, answer
from eslabon.arguments import Floats, finite, flag
from eslabon.errors import InputError, SingularityError
from eslabon.systems.control.weight_matrices import weight
from eslabon.systems.linear.linear_model import LinearModel
from eslabon.systems.linear.linear_system import LinearSystem, format_pole, slowest_pole
from eslabon.systems.linear.numerical_failures import explained
from eslabon.systems.linear.ranks import require_stabilizable


@dataclass(frozen=True, eq=False, repr=False)
class Regulator(Answer):
    """Gains of u = -K x that cost least.

    Attributes
    ----------
    K : (inputs, states).
    S : (states, states); from x the cost to come is x^T S x.
    poles : of A - B K, by their size.
    period : of a system in discrete time, in seconds.

    >>> import eslabon as es
    >>> gains = es.control.lqr(es.load("cart_pole").linearize([0.0, 0.0]), Q=1.0, R=0.1)
    >>> gains.K.shape, bool((gains.poles.real < 0).all())
    ((1, 4), True)
    """

    K: Floats
    S: Floats
    poles: np.ndarray[Any, np.dtype[np.complex128]]
    period: float | None = None

    def __repr__(self) -> str:
        slowest = format_pole(slowest_pole(self.poles, self.period), self.period)
        return f"<Regulator: {self.K.shape[0]} inputs, {self.K.shape[1]} states, slowest pole at {slowest}>"


@explained("the regulator")
def lqr(
    system: Any,
    Q: ArrayLike,
    R: ArrayLike,
    *,
    N: ArrayLike | None = None,
    discrete: bool | None = None,
) -> Regulator:
    """The gains of u = -K x for which the integral of x^T Q x + u^T R u + 2 x^T N u is least: K =
    R^-1 (B^T S + N^T) with Riccati's A^T S + S A - (S B + N) R^-1 (B^T S + N^T) + Q = 0.

    Parameters
    ----------
    system : an `es.LinearModel`, python-control's state space, or arrays (A, B).
    Q : what states cost: a number, one for each state, or a matrix, symmetric and positive
        semidefinite.
    R : what inputs cost; positive definite.
    N : what both cost together, (states, inputs).
    discrete : whether the system is one in steps, x[k+1] = A x[k] + B u[k], and the cost a sum;
        left out, a state space of python-control knows by itself, and arrays are in continuous
        time.

    >>> lqr(([[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]]), Q=[1.0, 0.0], R=1.0).K.round(6)
    array([[1.      , 1.414214]])
    >>> lqr(([[1.0]], [[1.0]]), Q=1.0, R=1.0, discrete=True).K.round(6)
    array([[0.618034]])
    """
    made = _in_time(LinearSystem.from_any(system, need="AB"), discrete)
    n, m = made.B.shape
    Q, R, both = weight(Q, "Q", n), weight(R, "R", m, definite=True), _mixed(N, n, m)
    if N is not None:
        weight(np.block([[Q, both], [both.T, R]]), "[Q, N; N^T, R]", n + m)
    require_stabilizable(made)
    S = _riccati(made, Q, R, both)
    if made.period is None:
        weighted, driven = R, made.B.T @ S + both.T
    else:
        weighted, driven = R + made.B.T @ S @ made.B, made.B.T @ S @ made.A + both.T
    K: Floats = np.asarray(np.linalg.solve(weighted, driven), dtype=float)
    closed = made.closed_by(K)
    if not closed.stable:
        raise _no_solution()
    return Regulator(K, S, closed.poles, made.period)


def _in_time(system: LinearSystem, discrete: bool | None) -> LinearSystem:
    """The system in the time that the caller names; of arrays in discrete time one step is the
    unit."""
    if discrete is None or flag(discrete, "discrete") == (system.period is not None):
        return system
    if not discrete:
        raise InputError(
            f"the system has steps of {system.period:g} s; leave discrete out, or give one in continuous time."
        )
    if isinstance(system, LinearModel):
        raise InputError(
            "a linear model is in continuous time; give lm.sampled(period), and leave discrete out."
        )
    return replace(system, period=1.0)


def _riccati(system: LinearSystem, Q: Floats, R: Floats, both: Floats) -> Floats:
    """The stabilizing solution of Riccati's equation."""
    from scipy.linalg import solve_continuous_are, solve_discrete_are

    solve = solve_continuous_are if system.period is None else solve_discrete_are
    try:
        S: Floats = solve(system.A, system.B, Q, R, s=both)
    except (np.linalg.LinAlgError, ValueError):
        raise _no_solution() from None
    if not np.isfinite(S).all():
        raise _no_solution()
    return S


def _no_solution() -> SingularityError:
    return SingularityError(
        "Riccati's equation has no stabilizing solution: a mode that does not decay by itself costs nothing in Q; give its "
        "states a weight."
    )


def _mixed(N: ArrayLike | None, n: int, m: int) -> Floats:
    both = np.zeros((n, m)) if N is None else finite(N, "N")
    if both.shape != (n, m):
        raise InputError(f"N has shape {both.shape}; {(n, m)} is expected, a row for each state.")
    return both


@answer
class FiniteHorizon(NamedTuple):
    """Gains in time: t is (times,), K (times, inputs, states) and S (times, states, states), the
    cost to come.

    >>> import numpy as np
    >>> import eslabon as es
    >>> found = es.control.finite_horizon_lqr(np.linspace(0, 2, 5), [[0.0]], [[1.0]], [1.0], 1.0)
    >>> found.K.shape
    (5, 1, 1)
    """

    t: Floats
    K: Floats
    S: Floats

    def __repr__(self) -> str:
        times, inputs, states = self.K.shape
        return f"<FiniteHorizon: {inputs} inputs, {states} states, {times} times from {self.t[0]:g} to {self.t[-1]:g} s>"


@explained("the regulator")
def finite_horizon_lqr(
    t: ArrayLike,
    A: ArrayLike,
    B: ArrayLike,
    Q: ArrayLike,
    R: ArrayLike,
    end: ArrayLike | None = None,
) -> FiniteHorizon:
    """The gains of u = -K(t) x for which the integral of x^T Q x + u^T R u up to the last time, and
    x^T S_end x then, is least for x' = A(t) x + B(t) u: Riccati's differential equation backward,

        -S' = A^T S + S A - S B R^-1 B^T S + Q,    S(t_end) = S_end,    K = R^-1 B^T S.

    Parameters
    ----------
    t : (times,), increasing; between them A and B are cubic splines.
    A, B : (times, states, states) and (times, states, inputs), as of linear models along a
        trajectory; or constant.
    Q, R : as in `lqr`.
    end : S_end, as Q; zero if left out.

    >>> import numpy as np
    >>> found = finite_horizon_lqr(np.linspace(0, 20, 41), [[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]], [1.0, 0.0], 1.0)
    >>> found.K[0].round(5)
    array([[1.     , 1.41421]])
    """
    from scipy.integrate import solve_ivp
    from scipy.interpolate import CubicSpline

    times = finite(t, "t")
    if times.ndim != 1 or len(times) < 2 or not (np.diff(times) > 0).all():
        raise InputError("t are two times or more, increasing.")
    dynamics, inputs = (finite(x, name) for x, name in ((A, "A"), (B, "B")))
    if dynamics.ndim < 2 or inputs.ndim < 2:
        raise InputError(
            f"A and B are matrices, or as many as there are times; their shapes are {dynamics.shape} and {inputs.shape}."
        )
    n, m = dynamics.shape[-1], inputs.shape[-1]
    if not n or not m:
        raise InputError(
            f"A and B have a state and an input at least; their shapes are {dynamics.shape} and {inputs.shape}."
        )
    for x, name, shape in ((dynamics, "A", (n, n)), (inputs, "B", (n, m))):
        if x.shape not in (shape, (len(times), *shape)):
            raise InputError(
                f"{name} has shape {x.shape}; {shape} or {(len(times), *shape)} is expected."
            )
    Q, R = weight(Q, "Q", n), weight(R, "R", m, definite=True)
    last = np.zeros((n, n)) if end is None else weight(end, "end", n)
    at_A, at_B = (
        CubicSpline(times, np.broadcast_to(x, (len(times), *x.shape[-2:])))
        for x in (dynamics, inputs)
    )

    def rate(s: float, y: Floats) -> Floats:
        S, a, b = y.reshape(n, n), at_A(s), at_B(s)
        push = b.T @ S
        change = -(a.T @ S + S @ a - push.T @ np.linalg.solve(R, push) + Q)
        return ((change + change.T) / 2).ravel()

    found = solve_ivp(
        rate,
        (times[-1], times[0]),
        last.ravel(),
        method="LSODA",
        t_eval=times[::-1],
        rtol=1e-9,
        atol=1e-11,
    )
    if not found.success or not np.isfinite(found.y).all():
        raise SingularityError(
            f"Riccati's equation cannot be integrated backward beyond t = {found.t[-1]:g} s."
        )
    S = found.y.T[::-1].reshape(-1, n, n)
    K = np.linalg.solve(R, np.swapaxes(at_B(times), -1, -2) @ S)
    return FiniteHorizon(times, K, S)
