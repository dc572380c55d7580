"""SciPy's adaptive methods for mechanisms with loops: after every step the state is put back onto them.

What a step leaves across the loops is an error like any other, but it would not stay one: a state that drifts off the
loops moves under forces that hold other loops, and its energy grows without end. So each step ends on the loops
(Hairer, Lubich and Wanner, Geometric Numerical Integration, IV.4), where the next begins.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from eslabon.graph.native.arguments import Floats

Settle = Callable[[Floats], Floats]
DRIFT = 10.0  # tolerances that LSODA may drift by before it begins anew


@lru_cache(maxsize=8)
def kept(method: str) -> Any:
    """The solver of that name with one more argument, `settle`, for `solve_ivp`."""
    from scipy import integrate

    solver = getattr(integrate, method)

    class Kept(solver):  # type: ignore[misc, valid-type]
        def __init__(self, *arguments: Any, settle: Settle, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self.settle = settle
            self.restart: Floats | None = None
            self.tolerance = options["rtol"], np.max(options["atol"])

        def _step_impl(self) -> tuple[bool, str | None]:
            if self.restart is not None:
                _begin_anew(self)
            done: tuple[bool, str | None] = super()._step_impl()
            if done[0] and np.isfinite(self.y).all():
                CORRECTIONS[method](self, self.settle(self.y))
            return done

    return Kept


def _one_step(solver: Any, y: Floats) -> None:
    """A method without a past: its next step begins at y."""
    solver.y, solver.f = y, solver.fun(solver.t, y)


def _differences(solver: Any, y: Floats) -> None:
    """BDF: the value moves, its differences stay."""
    solver.D[0] += y - solver.y
    solver.y = y


def _anew(solver: Any, y: Floats) -> None:
    """LSODA keeps its past to itself: where it has drifted too far, its next step is the first of a new run."""
    rtol, atol = solver.tolerance
    if np.any(np.abs(y - solver.y) > DRIFT * (atol + rtol * np.abs(y))):
        solver.restart = y


def _begin_anew(solver: Any) -> None:
    inner, solver.y, solver.restart = solver._lsoda_solver, solver.restart, None
    inner.set_initial_value(solver.y, solver.t)
    inner._integrator.rwork[0] = solver.t_bound
    inner._integrator.call_args[4] = inner._integrator.rwork


CORRECTIONS: dict[str, Callable[[Any, Floats], None]] = {
    "DOP853": _one_step,
    "RK45": _one_step,
    "Radau": _one_step,
    "BDF": _differences,
    "LSODA": _anew,
}
