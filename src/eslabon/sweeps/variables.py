"""What a sweep varies: parameters of a mechanism, within ranges or at levels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from eslabon.arguments import Floats, floats, mapping
from eslabon.errors import InputError
from eslabon.mechanism import Mechanism


@dataclass(frozen=True)
class Variable:
    """A parameter that varies from a low to a high value, or between levels."""

    name: str
    unit: str
    nominal: float
    low: float
    high: float
    levels: tuple[float, ...] = ()

    def values_at(self, u: Floats) -> Floats:
        """Values for numbers from 0 to 1."""
        if self.levels:
            return np.array(self.levels)[np.minimum((u * len(self.levels)).astype(int), len(self.levels) - 1)]
        return self.low + u * (self.high - self.low)

    def on_grid(self, n: int) -> Floats:
        """Its values along an axis of a grid."""
        return np.array(self.levels) if self.levels else np.linspace(self.low, self.high, n)

    def describe(self) -> str:
        """All of it as text."""
        return f"{self.name}: {list(self.levels) or [self.low, self.high]!r}"


def variables_of(m: Mechanism, over: Mapping[str, Any]) -> tuple[Mechanism, tuple[Variable, ...]]:
    """What is varied."""
    given = mapping(over, "over")
    if not given:
        raise InputError('over says what is varied, as in over={"L2": (0.03, 0.05)}; it is empty.')
    m.check_parameters(given)
    made = []
    for name, value in given.items():
        x = floats(value, f"over '{name}'").ravel()
        ends = (float(x[0]), float(x[-1])) if x.size else (0.0, 0.0)
        made.append(Variable(name, "", m.parameters[name], *ends, tuple(x.tolist()) if x.size != 2 else ()))
    return m, tuple(made)
