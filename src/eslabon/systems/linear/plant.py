"""The linear system that gains and observers are designed for, with the names of its signals: one of ours or anybody's."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eslabon.arguments import Floats, finite, positive
from eslabon.displays import displayed
from eslabon.errors import InputError, SingularityError
from eslabon.systems.linear.linear_system import System
from eslabon.systems.linear.ranks import kalman_rank


@displayed(line=True)
@dataclass(frozen=True, eq=False)
class Plant:
    """x' = A x + B u, y = C x + D u; with a period x[k+1] = A x[k] + B u[k]."""

    A: Floats
    B: Floats
    C: Floats
    D: Floats
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    period: float | None = None

    @property
    def n(self) -> int:
        return len(self.A)

    def sampled(self, period: float | None) -> Plant:
        """The same with inputs that are held over a period; as it is, where no period is given."""
        if period is None:
            return self
        if self.period is not None:
            raise InputError(
                f"the system is in discrete time already, with a period of {self.period:g} s; leave period out."
            )
        h = positive(period, "period")
        return replace(self, A=transition(self.A, h), B=held(self.A, self.B, h), period=h)

    def require_observable(self, decaying: bool = False) -> None:
        """Refuse outputs that do not show a mode; with `decaying` those are allowed that die out by themselves."""
        system = System(self.A, self.B, self.C, self.states, self.inputs, self.outputs)
        for mode in kalman_rank(system, self.A.T, self.C.T, "observable").lost_modes:
            s = mode.pole
            if decaying and (abs(s) < 1 - 1e-9 if self.period else s.real < -1e-9):
                continue
            raise SingularityError(
                f"the mode with the pole {number(s)} (of {mode.states}) cannot be observed from the outputs "
                f"{', '.join(self.outputs)}; measure something that it moves."
            )


def number(s: complex) -> str:
    """A pole in a sentence."""
    s = complex(round(s.real, 6), round(s.imag, 6))
    return f"{s.real:g}" if not s.imag else f"{s.real:g}{s.imag:+g}j"


def transition(A: Floats, h: float) -> Floats:
    """exp(A h): how a state without inputs moves on in the time h."""
    from scipy.linalg import expm

    made: Floats = expm(A * h)
    return made


def held(A: Floats, B: Floats, h: float) -> Floats:
    """What inputs that are held over the time h add to the state: the integral of exp(A s) B ds."""
    n, nu = B.shape
    both = np.zeros((n + nu, n + nu))
    both[:n, :n], both[:n, n:] = A, B
    return transition(both, h)[:n, n:]


def gathered(A: Floats, W: Floats, h: float) -> Floats:
    """The covariance that white noise of the intensity W adds to the state in the time h (Van Loan, 1978):
    the integral of exp(A s) W exp(A^T s) ds."""
    n = len(A)
    both = np.zeros((2 * n, 2 * n))
    both[:n, :n], both[:n, n:], both[n:, n:] = -A, W, A.T
    made = transition(both, h)
    covariance = made[n:, n:].T @ made[:n, n:]
    return (covariance + covariance.T) / 2


def plant_of(system: Any) -> Plant:
    """A linear model of ours, a `control.StateSpace`, or matrices (A, B, C) or (A, B, C, D)."""
    if isinstance(system, Plant):
        return system
    if all(hasattr(system, name) for name in "ABCD"):
        matrices = [system.A, system.B, system.C, system.D]
    elif isinstance(system, tuple | list) and len(system) in (3, 4):
        matrices = list(system)
    else:
        raise InputError(
            "a linear system is what m.linearize gives, a control.StateSpace, or matrices (A, B, C) or (A, B, C, D); it is "
            f"a {type(system).__name__}."
        )
    A, B, C = (_matrix(x, name) for x, name in zip(matrices, "ABC", strict=False))
    D = _matrix(matrices[3], "D") if len(matrices) == 4 else np.zeros((len(C), B.shape[1]))
    n, (ny, nu) = len(A), D.shape
    for x, name, shape in ((A, "A", (n, n)), (B, "B", (n, nu)), (C, "C", (ny, n))):
        if x.shape != shape or not n:
            raise InputError(
                f"{name} has shape {x.shape}, which does not fit A {A.shape}, B {B.shape}, C {C.shape} and D {D.shape}."
            )
    if not ny:
        raise InputError(
            "the linear system has no outputs, from which its state could be estimated."
        )
    states, inputs, outputs = _names(system, (n, nu, ny))
    return Plant(A, B, C, D, states, inputs, outputs, _period(system))


def _matrix(value: Any, name: str) -> Floats:
    matrix = finite(value, name)
    if matrix.ndim > 2:
        count = int(np.prod(matrix.shape[:-2]))
        raise InputError(
            f"{name} holds {count} matrices; an observer is designed for one linear model, such as lm[0]."
        )
    if matrix.ndim < 2:
        raise InputError(f"{name} is a matrix; its shape is {matrix.shape}.")
    return matrix


def _names(system: Any, sizes: tuple[int, int, int]) -> list[tuple[str, ...]]:
    made = []
    for (ours, theirs, letter), size in zip(
        (("states", "state_labels", "x"), ("inputs", "input_labels", "u"), ("outputs", "output_labels", "y")), sizes,
        strict=True,
    ):  # fmt: skip
        own = getattr(system, theirs, None) or getattr(system, ours, None)
        named = isinstance(own, list | tuple) and len(own) == size
        made.append(
            tuple(own)
            if own is not None and named
            else tuple(f"{letter}{k + 1}" for k in range(size))
        )
    return made


def _period(system: Any) -> float | None:
    """That of python-control's systems in discrete time; 0 and None are continuous, True says none."""
    dt = getattr(system, "dt", None)
    if dt is True:
        raise InputError(
            "the system is in discrete time, but its dt=True does not say how long a period is; give a dt in seconds."
        )
    return float(dt) if dt else None
