"""What an optimisation of a design gives: the design, how good it is, and that it was looked at again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from eslabon.displays import displayed
from eslabon.errors import InputError
from eslabon.mechanism import Mechanism
from eslabon.optimize.nonlinear_program import Starts


class Check(NamedTuple):
    """One thing that was looked at again: what the optimiser claims, what was measured, and what would have been allowed."""

    name: str
    claimed: float
    measured: float
    lower: float
    upper: float

    @property
    def passed(self) -> bool:
        """Whether what was measured is allowed."""
        return bool(self.lower <= self.measured <= self.upper)

    def __str__(self) -> str:
        claim = f", claimed {self.claimed:.6g}" if np.isfinite(self.claimed) else ""
        return f"{self.name}: measured {self.measured:.6g}{claim}, allowed {_range(self.lower, self.upper)}"


def _range(lower: float, upper: float) -> str:
    if not np.isfinite(lower):
        return f"up to {upper:.6g}"
    return f"from {lower:.6g}" if not np.isfinite(upper) else f"{lower:.6g} to {upper:.6g}"


@displayed
class Checks(tuple[Check, ...]):
    """All that was looked at again, on the mechanism assembled anew by the plain verbs, at more instants than the optimiser saw.

    >>> Checks([Check("peak_torque [N m]", 0.1, 0.101, 0.0, 0.102)])
    <1 check, all passed>
      peak_torque [N m]: measured 0.101, claimed 0.1, allowed 0 to 0.102
    """

    @property
    def passed(self) -> bool:
        """Whether all are passed."""
        return all(c.passed for c in self)

    def __repr__(self) -> str:
        words = "all passed" if self.passed else f"{sum(not c.passed for c in self)} failed"
        return "\n".join(
            [f"<{len(self)} check{'s' * (len(self) != 1)}, {words}>", *(f"  {c}" for c in self)]
        )

    def _pieces(self) -> Iterator[str]:
        from eslabon.pages.html_elements import table
        from eslabon.sheets import Sheet

        rows = [
            (
                c.name,
                _told(c.claimed),
                c.measured,
                _range(c.lower, c.upper),
                "yes" if c.passed else "no",
            )
            for c in self
        ]
        yield table(Sheet("", ("what", "claimed", "measured", "allowed", "passed"), rows))


def _told(x: float) -> str:
    return f"{x:.6g}" if np.isfinite(x) else ""


@displayed
@dataclass(frozen=True, eq=False, repr=False)
class Optimum:
    """The best design that was found and verified.

    Attributes
    ----------
    mechanism : with the parameters of the optimum.
    parameters : those that were sought, by name.
    value : of the objective, as it was measured on the mechanism assembled anew.
    before : the same of the mechanism as it was; NaN where it cannot do it.
    checks : what the optimiser claims against what was measured.
    starts : every start in a table, with the solver's own words.
    """

    mechanism: Mechanism
    parameters: Mapping[str, float]
    objective: str
    unit: str
    value: float
    before: float
    checks: Checks
    starts: Starts
    original: Mechanism
    _figure: Callable[..., Any] | None = field(default=None)
    _sense: int = 1

    @property
    def improvement(self) -> float:
        """By which part of what it was the objective is better: 0.4 for a peak torque that is 40 % less."""
        return self._sense * (self.before - self.value) / abs(self.before) if self.before else 0.0

    def __repr__(self) -> str:
        unit = f" {self.unit}" * bool(self.unit)
        accepted = sum(s.accepted for s in self.starts)
        head = f"<Optimum of {self.original.name}: {self.objective} {self.value:.6g}{unit}"
        if np.isfinite(self.before):
            head += (
                f", before {self.before:.6g}{unit} ({-100 * self.improvement * self._sense:+.1f} %)"
            )
        values = ", ".join(f"{name} = {x:.6g}" for name, x in self.parameters.items())
        return f"{head}; {accepted} of {len(self.starts)} start{'s' * (len(self.starts) != 1)}>\n  {values}"

    def _pieces(self) -> Iterator[str]:
        from eslabon.pages.html_elements import table
        from eslabon.pages.notebook import drawn
        from eslabon.sheets import Sheet

        rows = [(name, self.original.parameters[name], x) for name, x in self.parameters.items()]
        yield table(Sheet("", ("parameter", "before", "optimum"), rows))
        yield from self.checks._pieces()
        yield from self.starts._pieces()
        if self._figure is not None:
            yield from drawn(self.plot)

    def plot(self, theme: str | None = None, path: str | Path | None = None) -> Any:
        """A matplotlib figure of before and after: the actuators' forces along the motion, or the coupler curve."""
        from eslabon.plotting import saved

        if self._figure is None:
            raise InputError(
                f"the optimum of {self.original.name} has no motion to plot; m.plot draws the mechanism."
            )
        return saved(self._figure(theme), path)
