"""Linear quadratic regulators: for all times to come, and along a trajectory to its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import Floats, finite, flag
from eslabon.displays import displayed
from eslabon.errors import InputError, SingularityError
from eslabon.systems.linear.linear_system import System, with_inputs
from eslabon.systems.linear.numerical_failures import explained
from eslabon.systems.linear.ranks import ModeRank, kalman_rank, shown_pole


@displayed
@dataclass(frozen=True, eq=False, repr=False)
class Regulator:
    """Gains of u = -K x that cost least.

    Attributes
    ----------
    K : (inputs, states).
    S : (states, states); from x the cost to come is x^T S x.
    poles : of A - B K.

    >>> import eslabon as es
    >>> gains = es.control.lqr(es.load("cart_pole").linearize([0.0, 0.0]), Q=1.0, R=0.1)
    >>> gains.K.shape, bool((gains.poles.real < 0).all())
    ((1, 4), True)
    """

    K: Floats
    S: Floats
    poles: np.ndarray[Any, np.dtype[np.complex128]]

    def __repr__(self) -> str:
        slowest = self.poles[np.argmax(self.poles.real)]
        return f"<Regulator: {self.K.shape[0]} inputs, {self.K.shape[1]} states, slowest pole at {shown_pole(slowest)}>"


@explained("the regulator")
def lqr(
    system: Any,
    Q: ArrayLike,
    R: ArrayLike,
    *,
    N: ArrayLike | None = None,
    discrete: bool | None = None,
) -> Regulator:
    """The gains of u = -K x for which the integral of x^T Q x + u^T R u + 2 x^T N u is least: K = R^-1 (B^T S + N^T) with
    Riccati's A^T S + S A - (S B + N) R^-1 (B^T S + N^T) + Q = 0.

    Parameters
    ----------
    system : an `es.LinearModel`, python-control's state space, or arrays (A, B).
    Q : what states cost: a number, one for each state, or a matrix, symmetric and positive semidefinite.
    R : what inputs cost; positive definite.
    N : what both cost together, (states, inputs).
    discrete : whether the system is one in steps, x[k+1] = A x[k] + B u[k], and the cost a sum; left out, a state space of
        python-control knows by itself, and arrays are in continuous time.

    >>> lqr(([[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]]), Q=[1.0, 0.0], R=1.0).K.round(6)
    array([[1.      , 1.414214]])
    >>> lqr(([[1.0]], [[1.0]]), Q=1.0, R=1.0, discrete=True).K.round(6)
    array([[0.618034]])
    """
    from scipy.linalg import solve_continuous_are, solve_discrete_are

    made, B = with_inputs(system)
    A, n, m = made.A, made.size, B.shape[1]
    weight, price, both = cost(Q, "Q", n, zero=True), cost(R, "R", m), _mixed(N, n, m)
    if N is not None:
        cost(np.block([[weight, both], [both.T, price]]), "[Q, N; N^T, R]", n + m, zero=True)
    discrete = _discrete(made, discrete)
    solve = solve_discrete_are if discrete else solve_continuous_are
    if _unreached(made, B, discrete):
        raise SingularityError(_why(made, B, discrete))
    try:
        S = solve(A, B, weight, price, s=both)
        if not np.isfinite(S).all():
            raise np.linalg.LinAlgError
    except (np.linalg.LinAlgError, ValueError):
        raise SingularityError(_why(made, B, discrete)) from None
    if discrete:
        K = np.linalg.solve(price + B.T @ S @ B, B.T @ S @ A + both.T)
    else:
        K = np.linalg.solve(price, B.T @ S + both.T)
    poles = np.linalg.eigvals(A - B @ K).astype(complex)
    growing = np.abs(poles).max() >= 1 if discrete else poles.real.max() >= 0
    if growing:
        raise SingularityError(_why(made, B, discrete))
    return Regulator(K, S, poles[np.lexsort((poles.imag, poles.real))])


def _discrete(system: System, given: bool | None) -> bool:
    known = system.step is not None
    if given is None:
        return known
    if known and not flag(given, "discrete"):
        raise InputError(
            f"the system has steps of {system.step:g} s; leave discrete out, or give one in continuous time."
        )
    return flag(given, "discrete")


def _unreached(system: System, B: Floats, discrete: bool) -> list[ModeRank]:
    """Modes that do not decay by themselves and that no input reaches."""
    lost, near = kalman_rank(system, system.A, B, "controllable").lost_modes, 1e-9
    size = near * max(1.0, float(np.abs(system.A).max()))
    return [
        mode
        for mode in lost
        if (abs(mode.pole) >= 1 - near if discrete else mode.pole.real >= -size)
    ]


def _why(system: System, B: Floats, discrete: bool) -> str:
    """Why there is no regulator: what grows and is not reached, or what stays for ever and costs nothing."""
    bad = _unreached(system, B, discrete)
    if bad:
        each = "; ".join(f"{shown_pole(mode.pole)} (of {mode.states})" for mode in bad)
        return f"no gains stabilize the mode at {each}: the inputs {', '.join(system.inputs)} do not act on it."
    return (
        "Riccati's equation has no stabilizing solution: a mode that does not decay by itself costs nothing in Q; give its "
        "states a weight."
    )


def cost(value: ArrayLike, name: str, n: int, zero: bool = False) -> Floats:
    """A symmetric matrix of costs, positive definite, or semidefinite where zero makes sense."""
    given = finite(value, name)
    if given.shape not in ((), (n,), (n, n)):
        raise InputError(
            f"{name} is a number, {n} of them or a {n}x{n} matrix; its shape is {given.shape}."
        )
    made = given.copy() if given.ndim == 2 else np.diag(np.broadcast_to(given, n)).copy()
    size = float(np.abs(made).max(initial=0.0))
    if np.abs(made - made.T).max() > 1e-9 * size:
        raise InputError(f"{name} is not symmetric.")
    least = float(np.linalg.eigvalsh(made).min())
    if least < -1e-10 * size or (least <= 1e-14 * size and not zero):
        need = "positive semidefinite" if zero else "positive definite"
        raise InputError(f"{name} is not {need}: it has the eigenvalue {least:g}.")
    return (made + made.T) / 2


def _mixed(N: ArrayLike | None, n: int, m: int) -> Floats:
    both = np.zeros((n, m)) if N is None else finite(N, "N")
    if both.shape != (n, m):
        raise InputError(f"N has shape {both.shape}; {(n, m)} is expected, a row for each state.")
    return both


@displayed(line=True)
class FiniteHorizon(NamedTuple):
    """Gains in time: t is (times,), K (times, inputs, states) and S (times, states, states), the cost to come.

    >>> import numpy as np
    >>> import eslabon as es
    >>> found = es.control.finite_horizon_lqr(np.linspace(0, 2, 5), [[0.0]], [[1.0]], [1.0], 1.0)
    >>> found.K.shape
    (5, 1, 1)
    """

    t: Floats
    K: Floats
    S: Floats


@explained("the regulator")
def finite_horizon_lqr(
    t: ArrayLike,
    A: ArrayLike,
    B: ArrayLike,
    Q: ArrayLike,
    R: ArrayLike,
    end: ArrayLike | None = None,
) -> FiniteHorizon:
    """The gains of u = -K(t) x for which the integral of x^T Q x + u^T R u up to the last time, and x^T S_end x then, is least
    for x' = A(t) x + B(t) u: Riccati's differential equation backward,

        -S' = A^T S + S A - S B R^-1 B^T S + Q,    S(t_end) = S_end,    K = R^-1 B^T S.

    Parameters
    ----------
    t : (times,), increasing; between them A and B are cubic splines.
    A, B : (times, states, states) and (times, states, inputs), as of linear models along a trajectory; or constant.
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
    weight, price = cost(Q, "Q", n, zero=True), cost(R, "R", m)
    last = np.zeros((n, n)) if end is None else cost(end, "end", n, zero=True)
    at_A, at_B = (
        CubicSpline(times, np.broadcast_to(x, (len(times), *x.shape[-2:])))
        for x in (dynamics, inputs)
    )

    def rate(s: float, y: Floats) -> Floats:
        S, a, b = y.reshape(n, n), at_A(s), at_B(s)
        push = b.T @ S
        change = -(a.T @ S + S @ a - push.T @ np.linalg.solve(price, push) + weight)
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
    K = np.linalg.solve(price, np.swapaxes(at_B(times), -1, -2) @ S)
    return FiniteHorizon(times, K, S)
