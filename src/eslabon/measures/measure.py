"""What every measure is: named columns of numbers for many designs at once, and a reason where there is none."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.mechanism import Mechanism


@dataclass(frozen=True, eq=False)
class Measured:
    """The values of columns for n designs, `(n,)` or, with a row for each of k states, `(n, k)`, and by the number of a design why
    it has none: its values are NaN then."""

    values: Mapping[str, Floats]
    reasons: Mapping[int, str] = field(default_factory=dict)


class Measure(ABC):
    """A measure of designs. A subclass is a frozen dataclass: its fields are all that it depends on besides the mechanism."""

    @abstractmethod
    def columns(self, m: Mechanism) -> Mapping[str, str]:
        """The names of its columns and their units, in their order; refuses what the mechanism cannot be asked."""

    @abstractmethod
    def measured(self, m: Mechanism, designs: Mapping[str, Floats]) -> Measured:
        """Its values for designs, parameters `(n,)` by name. A design that fails does not stop the others: it has a reason."""

    def states(self) -> int:
        """How many rows a design has: one, unless it is measured at each of several states."""
        return 1

    def together(self) -> int:
        """How many designs are measured at once at most: fewer where each takes long, since a chunk is finished or lost."""
        return 4096

    def fingerprint(self) -> str:
        """Tells this measure from every other one, in any process: its class and its fields."""
        made = hashlib.sha256(type(self).__qualname__.encode())
        for each in fields(self):  # type: ignore[arg-type]
            made.update(f"\n{each.name}={_content(getattr(self, each.name))}".encode())
        return made.hexdigest()


def _content(value: Any) -> str:
    """All of a value as text, arrays included."""
    if isinstance(value, np.ndarray):
        return f"array{value.shape}{value.dtype}{hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!r}: {_content(x)}" for key, x in sorted(value.items())) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_content, value)) + "]"
    return value.fingerprint() if hasattr(value, "fingerprint") else repr(value)
