"""Interim."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.measures.measure import Measure, Measured
from eslabon.mechanism import Mechanism


@dataclass(frozen=True)
class Called(Measure):
    function: Callable[[Mechanism], Any]

    def columns(self, m: Mechanism) -> Mapping[str, str]:
        return {"value": ""}

    def together(self) -> int:
        return 16

    def fingerprint(self) -> str:
        return self.function.__qualname__

    def measured(self, m: Mechanism, designs: Mapping[str, Floats]) -> Measured:
        found, reasons = [], {}
        for k in range(len(next(iter(designs.values())))):
            try:
                found.append(float(self.function(m.variant(**{n: float(x[k]) for n, x in designs.items()}))))
            except Exception as e:
                found.append(np.nan)
                reasons[k] = str(e)
        return Measured({"value": np.array(found)}, reasons)


def measure_of(quantity: Any, options: Mapping[str, Any]) -> Measure:
    return quantity if isinstance(quantity, Measure) else Called(quantity)
