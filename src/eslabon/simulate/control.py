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

from eslabon.arguments import Floats, choice, finite, floats
from eslabon.errors import InputError
from eslabon.model import Model


def frozen(x: ArrayLike) -> Floats:
    """A copy that nobody can change: neither who gave it, nor who is shown it."""
    copy = np.array(x, dtype=float)
    copy.flags.writeable = False
    return copy


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
        self.kind = choice(kind, "the kind of a table", KINDS)
        self.times, self.values = frozen(finite(times, "times")), frozen(finite(values, "values"))
        if self.times.ndim != 1 or not len(self.times) or not (np.diff(self.times) > 0).all():
            raise InputError("the times of a table of forces must increase, one after another.")
        if self.values.ndim < 2 or self.values.shape[-2] != len(self.times):
            raise InputError(f"a table with {len(self.times)} times needs values of shape (..., {len(self.times)}, "
                f"actuators); it has {self.values.shape}.")  # fmt: skip
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
        t = finite(t, "t")
        if not self.holds:
            return np.asarray(self._spline(t))
        # A time that misses its sample by round-off is meant to hit it.
        close = 1e-9 * np.diff(self.times).min(initial=np.inf) if len(self.times) > 1 else 0.0
        place = np.searchsorted(self.times, t + close, side="right") - 1
        return self.values[..., np.maximum(place, 0), :]

    def pick(self, batch: tuple[int, ...], index: Any) -> Table:
        """The table of one trajectory of a batch."""
        return Table(self.times, np.broadcast_to(self.values, (*batch, *self.values.shape[-2:]))[index], self.kind)

    def check(self, m: Model, start: float, end: float) -> None:
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

    def __call__(self, t: Any, q: Any, v: Any) -> Any:
        return self.law(t, q, v)

    def graph(self, m: Model) -> Law:
        """The law as it is now, in symbols."""
        import casadi

        from eslabon.graph.program import read

        symbols = [casadi.SX.sym("t"), casadi.SX.sym("q", m.nq), casadi.SX.sym("v", m.nv)]
        try:
            tau = _column(self.law, symbols)
            made = casadi.Function("control", symbols, [tau], ["t", "q", "v"], ["tau"])
            program = read(made)
            if any(i.name == "const" and math.isnan(i.value) for i in program.instructions):
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
        return Law(program.digest, made)


@dataclass(frozen=True, repr=False)
class Law:
    """A traced law: forces as a `casadi.Function` of t, q and v. Its digest stands for it wherever graphs are kept."""

    digest: str
    function: Any = field(compare=False)

    def __call__(self, t: Any, q: Any, v: Any) -> Any:
        return self.function(t, q, v)

    def __repr__(self) -> str:
        return f"Law({self.digest})"


def _column(law: Callable[[Any, Any, Any], Any], symbols: Sequence[Any]) -> Any:
    """What a law gives for symbols, be it a column, a list or an array of them."""
    import casadi

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # CasADi's, about its ways with NumPy's functions
        value = law(*symbols)
        rows = list(np.ravel(value)) if isinstance(value, (list, tuple, np.ndarray)) else [value]
        return casadi.densify(casadi.SX(casadi.vertcat(*rows)))


def traced(law: Callable[[Any, Any, Any], Any]) -> Traced:
    """Mark a control law tau = law(t, q, v) as one that may be called with symbols, once a run, and stays native then.

    It is written with arithmetic and functions of `casadi` or NumPy; numbers it closes over become constants. q and v
    are columns. What it does with `if` is decided when it is traced: choose by `casadi.if_else` instead.

    >>> traced(lambda t, q, v: 10 * (1 - q) - v)
    Traced(law=<function ...>)
    """
    if not callable(law):
        raise InputError(f"a control law is a function of t, q and v; it is {law!r}.")
    return law if isinstance(law, Traced) else Traced(law)


class RaisedError(Exception):
    """What a user's function raised, as the cause, and the sentence that says so."""


def ask(function: Callable[..., Any], noun: str, shape: tuple[int, ...], t: float, q: Floats, v: Floats) -> Floats:
    """The real numbers that a user's function gives, as an array of our own whose last axes are `shape`.

    It sees copies of the states, so that nothing it does to them changes the run.
    """
    try:
        given = function(float(t), frozen(q), frozen(v))
    except Exception as error:
        inside = error.__traceback__ is not None and error.__traceback__.tb_next is not None
        if isinstance(error, TypeError) and not inside:  # the call itself fails
            raise InputError(f"{noun} is called with t, q and v: {error}.") from None
        hint = "; q and v are read-only, copy them to change them" if "read-only" in str(error) else ""
        raise RaisedError(f"{noun} raised {type(error).__name__} ({error}){hint}.") from error
    values, batch = np.array(floats(given, f"what {noun} gives")), q.shape[:-1]
    rows = values.shape[: max(0, values.ndim - len(shape))]
    fits = len(rows) <= len(batch) and all(a in (1, b) for a, b in zip(rows[::-1], batch[::-1], strict=False))
    if not fits or values.shape != (*rows, *shape):
        raise InputError(f"{noun} gives an array of shape {values.shape} for q of shape {q.shape}; {(*batch, *shape)} is "
            "expected.")  # fmt: skip
    return values


@dataclass(frozen=True)
class Called:
    """A Python function tau = law(t, q, v) of numbers, watched over."""

    law: Callable[[float, Floats, Floats], ArrayLike]
    nu: int

    def __call__(self, t: float, q: Floats, v: Floats) -> Floats:
        return ask(self.law, "the control", (self.nu,), t, q, v)


Control = Table | Law | Called | None


def as_control(m: Model, given: Any, start: float, end: float) -> Control:
    """What the user gave, as one of the four: None is no force at all."""
    if given is None or m.nu == 0:
        if given is not None:
            raise InputError(f"{m.name} has no actuators; leave control out.")
        return None
    if isinstance(given, Traced):
        return given.graph(m)
    if callable(given):
        return Called(given, m.nu)
    if not isinstance(given, Table):
        values = finite(given, "control")
        if values.shape[-1:] != (m.nu,):
            raise InputError(f"control has shape {values.shape}; {m.name} has {m.nu} actuators. Forces in time are given "
                "as a Table(times, values) or as a function of t, q and v.")  # fmt: skip
        given = Table([start], values[..., None, :])
    given.check(m, start, end)
    return given
