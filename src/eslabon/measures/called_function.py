"""A function in Python as a measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from eslabon.arguments import names
from eslabon.errors import EslabonError, InputError, shown
from eslabon.measures.assembled_designs import variant
from eslabon.measures.measure import Measure, Measured
from eslabon.measures.native_batches import Designs, number_of
from eslabon.mechanism import Mechanism


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Called(Measure):
    """A function f(mechanism) of one's own, called for each design with the mechanism of that design, which shares native code
    with the others.

    It gives a number, numbers by name, or a row of numbers. What it raises is the reason why a design has none, and the others
    go on. It should depend on nothing but the mechanism, its arguments, and what it closes over: that is what tells two of
    them apart.

    Parameters
    ----------
    function : f(mechanism).
    title : what its column is called; left out, "value".
    columns : the names of its numbers; left out, it is asked for the mechanism as it is described.

    >>> import numpy as np
    >>> import eslabon as es
    >>> reach = es.measures.Called(lambda m: m.pose([0.0, 0.0], "tool")[0, 3], "reach")
    >>> reach.measured(es.load("elbow"), {"a1": np.array([0.5, 1.0])}).values["reach"]
    array([1.5, 2. ])
    """

    function: Callable[[Mechanism], Any]
    title: str | None = None
    given: tuple[str, ...] | None = None

    def __init__(self, function: Callable[[Mechanism], Any], title: str | None = None, columns: Any = None) -> None:
        if not callable(function):
            raise InputError(f"a measure of one's own is a function f(mechanism); it is {shown(function)}.")
        object.__setattr__(self, "function", function)
        object.__setattr__(self, "title", title)
        object.__setattr__(self, "given", None if columns is None else names(columns, "columns"))
        vars(self)["_known"] = {}  # columns by mechanism: a function may take its time

    @property
    def name(self) -> str:
        return "value" if self.title is None else self.title

    def columns(self, m: Mechanism) -> Mapping[str, str]:
        if self.given is not None:
            return dict.fromkeys(self.given, "")
        known: dict[str, Mapping[str, str]] = vars(self)["_known"]
        if m.digest not in known:
            known[m.digest] = dict.fromkeys(self._at_nominal(m), "")
        return known[m.digest]

    def _at_nominal(self, m: Mechanism) -> list[str]:
        """What it gives of the mechanism as it is described; one number, if that cannot be asked."""
        try:
            return list(self._called(m))
        except Exception:
            return [self.name]

    def together(self) -> int:
        return 16  # it may take its time

    def measured(self, m: Mechanism, designs: Designs) -> Measured:
        columns, n = self.columns(m), number_of(designs)
        values, reasons = {name: np.full(n, np.nan) for name in columns}, {}
        for k in range(n):
            try:
                found = self._called(variant(m, designs, k))
                if list(found) != list(columns):
                    raise InputError(
                        f"gives {', '.join(found)} here, and {', '.join(columns)} elsewhere; say what it gives, as in "
                        "es.measures.Called(function, columns=['x', 'y'])."
                    )
            except Exception as error:
                reasons[k] = _said(error)
                continue
            for name, x in found.items():
                values[name][k] = x
        return Measured(values, reasons)

    def _called(self, m: Mechanism) -> dict[str, float]:
        """What the function gives, by column."""
        found = self.function(m)
        if isinstance(found, Mapping):
            return {str(name): _number(x, name) for name, x in found.items()}
        row = np.asarray(found)
        if row.ndim > 1 or row.dtype.kind not in "fiub":
            raise InputError(f"gives {shown(found)}; a number, numbers by name or a row of numbers is expected.")
        if row.ndim == 0:
            return {self.name: float(row)}
        return {f"{self.name}[{k + 1}]": float(x) for k, x in enumerate(row)}

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_known": {}}

    def _told(self) -> str:
        return f": {self.name}"


def _number(x: Any, name: Any) -> float:
    value = np.asarray(x)
    if value.ndim or value.dtype.kind not in "fiub":
        raise InputError(f"gives {shown(x)} for {name}; a number is expected.")
    return float(value)


def _said(error: Exception) -> str:
    """An error as a reason: ours are sentences, others need their names."""
    return str(error) if isinstance(error, EslabonError) else f"{type(error).__name__}: {error}".rstrip(": ")
