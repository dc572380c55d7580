"""Gramians: how much energy it takes to reach a state, and how much of it the outputs show."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from eslabon.arguments import Floats, positive
from eslabon.errors import InputError
from eslabon.systems.linear.linear_system import System, with_inputs, with_outputs
from eslabon.systems.linear.numerical_failures import explained
from eslabon.systems.linear.ranks import shown_pole


@explained("the Gramian")
def controllability_gramian(system: Any, horizon: float | None = None) -> Floats:
    """W = integral of exp(A t) B B^T exp(A^T t) over the time, `(n, n)`: the least energy of inputs that reach x is
    x^T W^-1 x.

    Parameters
    ----------
    system : an `es.LinearModel`, python-control's state space, or arrays (A, B).
    horizon : seconds; without it all times to come, which a stable system has only (A W + W A^T = -B B^T).

    >>> controllability_gramian(([[-1.0]], [[1.0]]))
    array([[0.5]])
    >>> controllability_gramian(([[0.0]], [[2.0]]), horizon=3.0)
    array([[12.]])
    """
    made, B = with_inputs(system)
    return (
        _discrete_gramian(made, made.A, B, horizon) if made.step else _gramian(made.A, B, horizon)
    )


@explained("the Gramian")
def observability_gramian(system: Any, horizon: float | None = None) -> Floats:
    """W = integral of exp(A^T t) C^T C exp(A t), `(n, n)`: from x the outputs have the energy x^T W x.

    Parameters are as in `controllability_gramian`, of a system with outputs: a linear model or arrays (A, C).

    >>> observability_gramian(([[-1.0]], [[1.0]]))
    array([[0.5]])
    """
    made, C = with_outputs(system)
    return (
        _discrete_gramian(made, made.A.T, C.T, horizon)
        if made.step
        else _gramian(made.A.T, C.T, horizon)
    )


def _discrete_gramian(system: System, A: Floats, B: Floats, horizon: float | None) -> Floats:
    """The sum of A^k B B^T (A^T)^k over all steps to come, for a system in discrete time."""
    from scipy.linalg import solve_discrete_lyapunov

    if horizon is not None:
        raise InputError(
            "a horizon is for systems in continuous time; this one has steps: leave it out."
        )
    poles = np.linalg.eigvals(A)
    worst = poles[np.argmax(np.abs(poles))]
    if abs(worst) >= 1 - 1e-12:
        raise InputError(
            f"the Gramian over all steps to come does not exist: the pole at z = {worst:.6g} does not decay; take the system in "
            "continuous time with a horizon."
        )
    return _symmetric(solve_discrete_lyapunov(A, B @ B.T))


def _gramian(A: Floats, B: Floats, horizon: float | None) -> Floats:
    from scipy.linalg import expm, solve_continuous_lyapunov

    if horizon is None:
        poles = np.linalg.eigvals(A)
        worst = poles[np.argmax(poles.real)]
        if worst.real >= -1e-12 * max(1.0, np.abs(poles).max()):
            raise InputError(
                f"the Gramian over all times to come does not exist: the pole at {shown_pole(worst)} does not decay; give a "
                "horizon in seconds."
            )
        return _symmetric(solve_continuous_lyapunov(A, -B @ B.T))
    # Van Loan over a short time: the exponential of [[-A, B B^T], [0, A^T]] holds exp(A t)^-1 W beside exp(A t)^T; then twice
    # the time again and again, W(2 t) = W(t) + exp(A t) W(t) exp(A t)^T, in which nothing cancels.
    n, T = len(A), positive(horizon, "horizon")
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
