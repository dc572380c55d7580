"""Gramians: how much energy it takes to reach a state, and how much of it the outputs show."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from eslabon.arguments import Floats, positive
from eslabon.errors import InputError
from eslabon.numerics.tolerances import ROUND_OFF
from eslabon.systems.linear.linear_system import (
    LinearSystem,
    format_pole,
    growth,
    slowest_pole,
)
from eslabon.systems.linear.numerical_failures import explained


@explained("the Gramian")
def controllability_gramian(system: Any, horizon: float | None = None) -> Floats:
    """W = integral of exp(A t) B B^T exp(A^T t) over the time, `(n, n)`: the least energy of inputs
    that reach x is x^T W^-1 x.

    Parameters
    ----------
    system : an `es.LinearModel`, python-control's state space, or arrays (A, B).
    horizon : seconds; without it all times to come, which a stable system has only (A W + W A^T =
        -B B^T).

    >>> controllability_gramian(([[-1.0]], [[1.0]]))
    array([[0.5]])
    >>> controllability_gramian(([[0.0]], [[2.0]]), horizon=3.0)
    array([[12.]])
    """
    made = LinearSystem.from_any(system, need="AB")
    return _gramian(made, made.A, made.B, horizon)


@explained("the Gramian")
def observability_gramian(system: Any, horizon: float | None = None) -> Floats:
    """W = integral of exp(A^T t) C^T C exp(A t), `(n, n)`: from x the outputs have the energy x^T W
    x.

    Parameters are as in `controllability_gramian`, of a system with outputs: a linear model or
    arrays (A, C).

    >>> observability_gramian(([[-1.0]], [[1.0]]))
    array([[0.5]])
    """
    made = LinearSystem.from_any(system, need="AC")
    return _gramian(made, made.A.T, made.C.T, horizon)


def _gramian(system: LinearSystem, A: Floats, B: Floats, horizon: float | None) -> Floats:
    """Over all times or steps to come, or up to a horizon."""
    from scipy.linalg import solve_continuous_lyapunov, solve_discrete_lyapunov

    if horizon is not None:
        if system.period is not None:
            raise InputError(
                "a horizon is for systems in continuous time; this one has steps: leave it out."
            )
        return _gramian_up_to(A, B, positive(horizon, "horizon"))
    poles = np.linalg.eigvals(A)
    slowest = slowest_pole(poles, system.period)
    limit = 1.0 if system.period else 0.0
    if growth(slowest, system.period) >= limit - ROUND_OFF * max(1.0, np.abs(poles).max()):
        times, advice = (
            ("steps", "take the system in continuous time with a horizon")
            if system.period
            else ("times", "give a horizon in seconds")
        )
        raise InputError(
            f"the Gramian over all {times} to come does not exist: the pole at {format_pole(slowest, system.period)} does not "
            f"decay; {advice}."
        )
    if system.period:
        return _symmetric(solve_discrete_lyapunov(A, B @ B.T))
    return _symmetric(solve_continuous_lyapunov(A, -B @ B.T))


def _gramian_up_to(A: Floats, B: Floats, T: float) -> Floats:
    from scipy.linalg import expm

    # Van Loan over a short time: the exponential of [[-A, B B^T], [0, A^T]] holds exp(A t)^-1 W
    # beside exp(A t)^T; then twice the time again and again, W(2 t) = W(t) + exp(A t) W(t) exp(A
    # t)^T, in which nothing cancels.
    n = len(A)
    halvings = math.ceil(math.log2(max(1.0, T * float(np.linalg.norm(A, 2)))))
    whole = expm(T / 2**halvings * np.block([[-A, B @ B.T], [np.zeros((n, n)), A.T]]))
    turn = whole[n:, n:].T
    W = turn @ whole[:n, n:]
    with np.errstate(all="ignore"):
        for _ in range(halvings):
            W, turn = _symmetric(W + turn @ W @ turn.T), turn @ turn
    if not np.isfinite(W).all():
        raise InputError(f"the Gramian over {T:g} s exceeds all numbers; take a shorter horizon.")
    return _symmetric(W)


def _symmetric(W: Floats) -> Floats:
    return (W + W.T) / 2
