"""Named columns over one time axis: what a simulation, a path, a recording or an estimate gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from eslabon.answers import Answer, Block, Panel
from eslabon.arguments import Floats, floats, text
from eslabon.displays import displayed
from eslabon.errors import InputError, ModelError, format_value, suggest
from eslabon.model.configuration import SignalColumn


class MissingSignalError(ModelError, AttributeError):
    """A quantity that some signals do not hold."""


@displayed(line=True)
class Occurrences(NamedTuple):
    """When an event happened, and the states then, a row each."""

    t: Floats
    q: Floats
    v: Floats


class Passage(NamedTuple):
    """A singular configuration that a motion passed.

    Attributes
    ----------
    t : when, in seconds.
    loops : the loops and couplings whose constraints depended on one another there.
    ranks : how many ranks J lost.
    distance : how near the rates came to rank loss; about one is ordinary
        (`constraint_projection.rank_distance`).
    interpolated : evaluations of the rates that were interpolated from neighbours on the branch.
    trajectory : the place of the trajectory, of many.
    """

    t: float
    loops: tuple[str, ...]
    ranks: int
    distance: float
    interpolated: int
    trajectory: tuple[int, ...] = ()


@dataclass(frozen=True)
class Statistics(Answer):
    """Where signals come from: the method of a run, its steps and evaluations of the rates of one
    trajectory, and the seconds for all; "samples", "path" and the like for others. `passages` are
    the singular configurations that were passed, the first ones of many trajectories; neighbours
    that rates were interpolated from count as evaluations."""

    method: str
    steps: int = 0
    evaluations: int = 0
    seconds: float = 0.0
    passages: tuple[Passage, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Signals(Answer):
    """Quantities in time by groups, each `(..., times, columns)`, or `(..., times)` for one number.

    Arrays cannot be written to: copy them to change them.

    >>> import numpy as np
    >>> t = np.linspace(0.0, 1.0, 5)
    >>> heat = SignalColumn("oven", "", "K")
    >>> signals = Signals(t, {"T": 300 + t[:, None]}, {"T": (heat,)}, "oven")
    >>> signals.until(0.5)["T"][-1], signals["oven"].shape
    (array([300.5]), (5,))
    """

    t: Floats
    groups: Mapping[str, Floats]
    columns: Mapping[str, tuple[SignalColumn, ...]]
    name: str
    events: Mapping[str, Occurrences] = field(default_factory=dict)
    statistics: Statistics = Statistics("samples")

    def __post_init__(self) -> None:
        for x in (self.t, *self.groups.values(), *(x for e in self.events.values() for x in e)):
            x.flags.writeable = False

    def group(self, name: str) -> Floats:
        """The numbers of a group."""
        if text(name, "name") not in self.groups:
            raise MissingSignalError(f"{self!r} holds no {name}.")
        return self.groups[name]

    @cached_property
    def batch(self) -> tuple[int, ...]:
        """The leading axes: many trajectories."""
        for name, x in self.groups.items():
            return x.shape[: -2 if name in self.columns else -1]
        return ()

    # -- parts --------------------------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Any:
        """A column by its name, or some trajectories of many."""
        if isinstance(index, str):
            return self._column(index)
        return self._some(index)

    def _column(self, name: str) -> Floats:
        if self._has(name):
            return self.groups[name]
        named = {str(c): (g, k) for g, own in self.columns.items() for k, c in enumerate(own)}
        if name not in named:
            raise InputError(f"{self!r} has no column {name!r}{suggest(name, named)}")
        group, k = named[name]
        return self.groups[group][..., k]

    def _has(self, group: str) -> bool:
        """Whether a group has numbers; without a law's states, say, a motion has no x."""
        return group in self.groups and bool(self.groups[group].size)

    def _some(self, index: Any) -> Self:
        axes = len(self.batch)
        places = index if isinstance(index, tuple) else (index,)
        if len(places) > axes or any(k is None or k is Ellipsis for k in places):
            raise InputError(
                f"{self!r} has {axes} axes of trajectories; [{format_value(index)}] cannot be indexed."
            )
        try:
            np.empty(self.batch)[index]
        except (IndexError, ValueError, TypeError) as error:
            raise InputError(
                f"{self!r} has trajectories of shape {self.batch}; [{format_value(index)}] picks none: {error}."
            ) from None
        return self._part(lambda x: x[index])

    def until(self, t: float) -> Self:
        """The signals up to a time, and the events until then.

        >>> import eslabon as es
        >>> es.load("double_pendulum").simulate([0.5, 0.0], None, [0.0, 0.5, 1.0]).until(0.6).t
        array([0. , 0.5])
        """
        return self._between(-np.inf, _time(t, "until"))

    def between(self, start: float, end: float) -> Self:
        """The signals from a time to another, both included, and the events in between.

        >>> import eslabon as es
        >>> es.load("double_pendulum").simulate([0.5, 0.0], None, [0.0, 0.5, 1.0]).between(0.4, 1).t
        array([0.5, 1. ])
        """
        return self._between(_time(start, "between"), _time(end, "between"))

    def _between(self, start: float, end: float) -> Self:
        first = int(np.searchsorted(self.t, start, side="left"))
        last = int(np.searchsorted(self.t, end, side="right"))
        own = (slice(None),) * len(self.batch) + (slice(first, max(first, last)),)
        kept = {
            name: Occurrences(*(x[(e.t >= start) & (e.t <= end)] for x in e))
            for name, e in self.events.items()
        }
        return self._part(lambda x: x[own], t=self.t[own[-1]], events=kept)

    def _part(self, cut: Callable[[Floats], Floats], **changed: Any) -> Self:
        """The same signals of some trajectories or times."""
        return replace(self, groups={name: cut(x) for name, x in self.groups.items()}, **changed)

    # -- text ---------------------------------------------------------------------------------------

    def contents(self) -> Iterator[Block]:
        one = self[(0,) * len(self.batch)] if self.batch else self
        for group, columns in self.columns.items():
            for unit in dict.fromkeys(c.unit for c in columns if group in one.groups):
                own = {
                    f"{group} {c}": one.groups[group][:, k]
                    for k, c in enumerate(columns)
                    if c.unit == unit
                }
                yield Panel(group, one.t, own, unit)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.name}: {self._extent}, {self.statistics.method}>"

    __str__ = __repr__

    @property
    def _extent(self) -> str:
        """How many trajectories, from when to when, at how many times."""
        many = f"{int(np.prod(self.batch)):,} trajectories, " if self.batch else ""
        span = f"{self.t[0]:g} to {self.t[-1]:g} s, " if len(self.t) else ""
        return f"{many}{span}{len(self.t):,} times"


def _time(t: Any, verb: str) -> float:
    made = floats(t, "t")
    if made.ndim or np.isnan(made):
        raise InputError(f"{verb} takes a time in seconds; it is {format_value(t)}.")
    return float(made)
