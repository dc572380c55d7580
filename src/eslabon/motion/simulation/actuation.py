"""What drives the actuators: forces known in time, a law that becomes part of the graph, or a
Python function; either law may be sampled.

The first two stay in native code; a Python function is called again and again, which costs more
than the mechanics.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import Floats, choice, finite, number
from eslabon.displays import displayed
from eslabon.errors import InputError, format_value
from eslabon.model import Model, as_model
from eslabon.motion.simulation.controller_memory import Sampling
from eslabon.motion.simulation.native_laws import Law, Traced
from eslabon.motion.simulation.python_laws import Called, frozen
from eslabon.motion.simulation.sampled_laws import Sampled, Sampler, sampler_of

KINDS = {"hold": 0, "linear": 1, "cubic": 3}  # the degree of what lies between samples


@displayed
class Table:
    """Actuator forces given at times, and what holds between them.

    Parameters
    ----------
    times : array_like, (samples,), increasing.
    values : array_like, (..., samples, nu); leading axes are those of the trajectories.
    kind : "hold" (each sample holds until the next one, the last one for ever), "linear" or "cubic"
        (a spline).

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
            raise InputError(
                f"a {kind} table needs at least {KINDS[kind] + 1} samples; it has {len(self.times)}."
            )

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
        try:
            values = np.broadcast_to(self.values, (*batch, *self.values.shape[-2:]))[index]
        except (TypeError, ValueError, IndexError):
            raise InputError(
                f"a batch of shape {format_value(batch)} has no trajectory {format_value(index)}, or {self!r} does not fit it."
            ) from None
        return Table(self.times, values, self.kind)

    def check(self, m: Model, start: float, end: float) -> None:
        """Refuse a table that does not fit the mechanism or the run."""
        if self.values.shape[-1] != as_model(m).nu:
            raise InputError(
                f"the control has {self.values.shape[-1]} forces; {m.name} has {m.nu} actuators."
            )
        start, end = number(start, "start"), number(end, "end")
        slack = 1e-9 * (end - start)
        if len(self.times) > 1 and start < self.times[0] - slack:
            raise InputError(
                f"the table of forces starts at {self.times[0]:g} s, the run at {start:g} s."
            )
        if not self.holds and end > self.times[-1] + slack:
            raise InputError(
                f"the table of forces ends at {self.times[-1]:g} s, the run at {end:g} s."
            )


Control = Table | Law | Called | Sampler | None


def as_control(m: Model, given: Any, start: float, end: float, hold: bool) -> Control:
    """What the user gave, as one of the five: None is no force at all. With `hold` a law is asked
    once a step."""
    if given is None or m.nu == 0:
        if given is not None:
            raise InputError(f"{m.name} has no actuators; leave control out.")
        return None
    if isinstance(given, Sampled):
        if hold:
            raise InputError("a sampled law is held by itself; leave hold out.")
        return sampler_of(m, given, start)
    if callable(given):
        law = given.graph(m) if isinstance(given, Traced) else Called(given, m.nu)
        if hold and law.size:
            raise InputError(
                "a law whose states change all the time cannot be held; sample it with `sampled`."
            )
        return Sampler(law, 0.0, 0.0, start, Sampling()) if hold else law
    table = given if isinstance(given, Table) else _table(m, given, start)
    table.check(m, start, end)
    return table


def _table(m: Model, given: Any, start: float) -> Table:
    """Forces in time, (times, values), or forces that are constant."""
    if (
        isinstance(given, tuple)
        and len(given) == 2
        and np.ndim(given[0]) == 1
        and np.ndim(given[1]) >= (1 if m.nu == 1 else 2)
    ):
        times, values = (
            finite(given[0], "the times of control"),
            finite(given[1], "the forces of control"),
        )
        if len(times) > 1 or values.ndim > 1:
            return Table(times, values[..., None] if values.ndim == 1 else values)
    values = finite(given, "control")
    if values.shape[-1:] != (m.nu,):
        raise InputError(f"control has shape {values.shape}; {m.name} has {m.nu} actuators. Forces in time are given "
            "as (times, values), as a Table(times, values, kind) or as a function of t, q and v.")  # fmt: skip
    return Table([start], values[..., None, :])
