"""What drives the actuators: forces known in time, a law that becomes part of the graph, or a Python function.

The first two stay in native code; a Python function is called again and again, which costs far more than the mechanics.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.errors import suggest
from eslabon.graph.native import Argument, InputError
from eslabon.graph.native.arguments import Floats, as_floats
from eslabon.graph.program import read
from eslabon.model import Mechanism

KINDS = {"hold": 0, "linear": 1, "cubic": 3}  # the degree of what lies between samples


class Table:
    """Actuator forces given at times, and what holds between them.

    Parameters
    ----------
    times : array_like, (samples,), increasing.
    values : array_like, (..., samples, nu); leading axes are those of the trajectories.
    kind : "hold" (each sample holds until the next one, the last one for ever), "linear" or "cubic" (a spline).

    >>> Table([0.0, 1.0, 2.0], [[0.0], [10.0], [0.0]], "linear").at(0.25)
    array([2.5])
    """

    def __init__(self, times: ArrayLike, values: ArrayLike, kind: str = "hold") -> None:
        self.times, self.values, self.kind = as_floats(times, "times"), as_floats(values, "values"), kind
        if kind not in KINDS:
            raise InputError(f"there is no kind of table '{kind}'{suggest(kind, KINDS)}")
        if self.times.ndim != 1 or not len(self.times) or not (np.diff(self.times) > 0).all():
            raise InputError("the times of a table of forces must increase, one after another.")
        if self.values.ndim < 2 or self.values.shape[-2] != len(self.times):
            raise InputError(f"a table with {len(self.times)} times needs values of shape (..., {len(self.times)}, "
                f"actuators); it has {self.values.shape}.")  # fmt: skip
        if not (np.isfinite(self.times).all() and np.isfinite(self.values).all()):
            raise InputError("a table of forces holds a number that is not finite.")
        if len(self.times) <= KINDS[kind]:
            raise InputError(f"a {kind} table needs at least {KINDS[kind] + 1} samples; it has {len(self.times)}.")

    def __repr__(self) -> str:
        first, last = self.times[[0, -1]]
        return f"<Table: {len(self.times)} samples from {first:g} to {last:g} s, {self.kind}>"

    @property
    def holds(self) -> bool:
        """Whether it jumps at its times and nowhere else changes."""
        return self.kind == "hold"

    @cached_property
    def _spline(self) -> Any:
        from scipy.interpolate import make_interp_spline

        return make_interp_spline(self.times, self.values, KINDS[self.kind], axis=-2)

    def at(self, t: ArrayLike) -> Floats:
        """The forces at times: (..., nu), or (..., times, nu) for an array of them."""
        if not self.holds:
            return np.asarray(self._spline(t))
        # A time that misses its sample by round-off is meant to hit it.
        close = 1e-9 * np.diff(self.times).min(initial=np.inf) if len(self.times) > 1 else 0.0
        place = np.searchsorted(self.times, np.asarray(t) + close, side="right") - 1
        return self.values[..., np.maximum(place, 0), :]

    def check(self, m: Mechanism, start: float, end: float) -> None:
        """Refuse a table that does not fit the mechanism or the run."""
        if self.values.shape[-1] != m.nu:
            raise InputError(f"the control has {self.values.shape[-1]} forces; {m.name} has {m.nu} actuators.")
        slack = 1e-9 * (end - start)
        if len(self.times) > 1 and start < self.times[0] - slack:
            raise InputError(f"the table of forces starts at {self.times[0]:g} s, the run at {start:g} s.")
        if not self.holds and end > self.times[-1] + slack:
            raise InputError(f"the table of forces ends at {self.times[-1]:g} s, the run at {end:g} s.")


@dataclass(frozen=True)
class Traced:
    """A control law to be traced into the graph; see `traced`."""

    law: Callable[[Any, Any, Any], Any]
    memory: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)  # what was made of it before

    def __call__(self, t: Any, q: Any, v: Any) -> Any:
        return self.law(t, q, v)

    def graph(self, m: Mechanism) -> Any:
        """The law as a `casadi.Function` of t, q and v."""
        sizes = (m.nq, m.nv, m.nu)
        if sizes not in self.memory:
            self.memory[sizes] = self._trace(m)
        return self.memory[sizes]

    def _trace(self, m: Mechanism) -> Any:
        import casadi

        symbols = [casadi.SX.sym("t"), casadi.SX.sym("q", m.nq), casadi.SX.sym("v", m.nv)]
        try:
            tau = _column(self.law, symbols)
            made = casadi.Function("control", symbols, [tau], ["t", "q", "v"], ["tau"])
            if any(i.name == "const" and math.isnan(i.value) for i in read(made).instructions):
                raise ValueError("a number in it is NaN")  # what CasADi gives for the value of a symbol
        except Exception as error:
            raise InputError(
                f"the control law cannot be traced ({type(error).__name__}: {str(error).splitlines()[0]}); write it with "
                "arithmetic and casadi's or NumPy's functions and without asking for the value of t, q or v, or leave "
                "out `traced`: it is then called as it is, more slowly."
            ) from error
        if tau.shape != (m.nu, 1):
            size = tau.shape[0] if tau.shape[1] == 1 else "x".join(map(str, tau.shape))
            raise InputError(f"the control law gives {size} forces; {m.name} has {m.nu} actuators.")
        return made

    def native(self, m: Mechanism) -> Any:
        """The law in machine code."""
        from eslabon.graph import native

        inputs = [Argument("t", ()), Argument("q", (m.nq,)), Argument("v", (m.nv,))]
        return native.compile(self.graph(m), inputs=inputs, outputs=[Argument("tau", (m.nu,))])


def _column(law: Callable[[Any, Any, Any], Any], symbols: Sequence[Any]) -> Any:
    """What a law gives for symbols, be it a column, a list or an array of them."""
    import casadi

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # CasADi's, about its ways with NumPy's functions
        value = law(*symbols)
        rows = list(np.ravel(value)) if isinstance(value, (list, tuple, np.ndarray)) else [value]
        return casadi.densify(casadi.SX(casadi.vertcat(*rows)))


def traced(law: Callable[[Any, Any, Any], Any]) -> Traced:
    """Mark a control law tau = law(t, q, v) as one that may be called with symbols, once, and stays native then.

    It is written with arithmetic and functions of `casadi` or NumPy; numbers it closes over become constants. q and v
    are columns. What it does with `if` is decided when it is traced: choose by `casadi.if_else` instead.

    >>> traced(lambda t, q, v: 10 * (1 - q) - v)
    Traced(law=<function ...>)
    """
    return Traced(law)


@dataclass(frozen=True)
class Called:
    """A Python function tau = law(t, q, v) of numbers, watched over."""

    law: Callable[[float, Floats, Floats], ArrayLike]
    name: str
    nu: int

    def __call__(self, t: float, q: Floats, v: Floats) -> Floats:
        try:
            tau = as_floats(self.law(t, q, v), "the control's result")
        except TypeError as error:
            if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
                raise  # from inside the law: the user wants to see where
            raise InputError(f"the control is called as control(t, q, v), and gives forces: {error}.") from None
        if tau.shape[-1:] != (self.nu,) or tau.ndim > q.ndim:
            raise InputError(f"the control gives an array of shape {tau.shape} for q of shape {q.shape}; {self.name} "
                f"has {self.nu} actuators.")  # fmt: skip
        return tau


Control = Table | Traced | Called | None


def as_control(m: Mechanism, given: Any, start: float, end: float) -> Control:
    """What the user gave, as one of the four: None is no force at all."""
    if given is None or m.nu == 0:
        if given is not None:
            raise InputError(f"{m.name} has no actuators; leave control out.")
        return None
    if isinstance(given, Traced):
        given.graph(m)
        return given
    if callable(given):
        return Called(given, m.name, m.nu)
    if not isinstance(given, Table):
        values = as_floats(given, "control")
        if values.shape[-1:] != (m.nu,):
            raise InputError(f"control has shape {values.shape}; {m.name} has {m.nu} actuators. Forces in time are given "
                "as a Table(times, values) or as a function of t, q and v.")  # fmt: skip
        given = Table([start], values[..., None, :])
    given.check(m, start, end)
    return given
