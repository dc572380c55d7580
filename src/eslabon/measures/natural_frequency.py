"""Natural frequencies of the linear model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import InitVar, dataclass
from typing import Any, ClassVar

import numpy as np

from eslabon.arguments import Floats, choice, count
from eslabon.errors import InputError
from eslabon.measures.linear_designs import operating_point
from eslabon.measures.measure import Measure, Measured
from eslabon.measures.native_batches import Designs, in_blocks, number_of
from eslabon.mechanism import Mechanism
from eslabon.systems.linear.linear_model import LinearModel

UNITS = {"rad/s": 1.0, "Hz": 2 * np.pi}


@dataclass(frozen=True, eq=False, repr=False)
class NaturalFrequency(Measure):
    """An undamped natural frequency |s| of the linear model of each design, where s are its complex poles, the lowest first.

    Parameters
    ----------
    at : the configuration that is held, of all joints or of the actuated ones. Left out, each design is looked at where it rests
        under the forces `tau` of its actuators (none, if these are left out too), in the equilibrium next to the `guess`.
    mode : which of the oscillations, counted from 0; or several, as in mode=(0, 1).
    unit : "rad/s" or "Hz".

    >>> import numpy as np
    >>> import eslabon as es
    >>> m, lengths = es.load("double_pendulum"), {"L1": np.array([0.5, 1.0])}
    >>> es.measures.NaturalFrequency().measured(m, lengths).values["natural_frequency"].round(3)
    array([3.166, 2.68 ])
    """

    name: ClassVar[str] = "natural_frequency"
    at: Any = None
    mode: Any = 0
    unit: str = "rad/s"
    tau: InitVar[Any] = None
    guess: InitVar[Any] = None

    def __post_init__(self, tau: Any, guess: Any) -> None:
        object.__setattr__(self, "at", operating_point(self.at, tau, guess))
        choice(self.unit, "unit", UNITS)
        for k in self.modes():
            count(k, "mode")

    def modes(self) -> tuple[int, ...]:
        """The numbers of its modes."""
        given = self.mode if isinstance(self.mode, list | tuple) else (self.mode,)
        if not given:
            raise InputError("mode is a number, or several; there is none.")
        return tuple(given)

    def columns(self, m: Mechanism) -> Mapping[str, str]:
        self.at.check(m)
        if isinstance(self.mode, list | tuple):
            return {f"{self.name}.{k}": self.unit for k in self.modes()}
        return {self.name: self.unit}

    def measured(self, m: Mechanism, designs: Designs) -> Measured:
        columns = self.columns(m)
        return in_blocks(lambda own: self._block(m, own, list(columns)), designs, columns, 1)

    def _block(self, m: Mechanism, designs: Designs, columns: list[str]) -> Measured:
        found = np.full((number_of(designs), len(columns)), np.nan)
        rows, lm, reasons = self.at.models(m, designs)
        if lm is not None:
            last = max(self.modes())
            found[rows], counts = self._frequencies(lm)
            lacking = f"oscillates in {{}} modes about this configuration; there is no mode {last}."
            reasons = reasons | {
                int(rows[k]): lacking.format(counts[k]) for k in np.flatnonzero(counts <= last)
            }
        return Measured({column: found[:, k] for k, column in enumerate(columns)}, reasons)

    def _frequencies(self, lm: LinearModel) -> tuple[Floats, Floats]:
        """The frequencies asked for, NaN where there are fewer, and how many oscillations there are."""
        modes = lm.modes()
        poles, zero = (np.atleast_2d(x) for x in (modes.poles, modes.zero))
        oscillating = (poles.imag > 0) & ~zero
        size = np.sort(np.where(oscillating, np.abs(poles), np.inf), axis=-1)
        size = np.concatenate([size, np.full((len(size), 1 + max(self.modes())), np.inf)], axis=-1)[
            :, list(self.modes())
        ]
        return np.where(np.isfinite(size), size / UNITS[self.unit], np.nan), oscillating.sum(
            axis=-1
        )
