"""A function in Python as a measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from eslabon.arguments import names
from eslabon.errors import InputError, format_value
from eslabon.measures.assembled_designs import variant
from eslabon.measures.measure import Measure, Measured, as_mechanism
from eslabon.measures.native_batches import Designs, as_designs, not_finite, number_of, reason_of
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
    columns : the names of its numbers; left out, it is asked for the mechanism as it is described, or, in a sweep, for the first
        design of which it gives any.

    >>> import numpy as np
    >>> import eslabon as es
    >>> reach = es.measures.Called(lambda m: m.pose([0.0, 0.0], "tool")[0, 3], "reach")
    >>> reach.measured(es.load("elbow"), {"a1": np.array([0.5, 1.0])}).values["reach"]
    array([1.5, 2. ])
    """

    function: Callable[[Mechanism], Any]
    title: str | None = None
    given: tuple[str, ...] | None = None

    def __init__(
        self, function: Callable[[Mechanism], Any], title: str | None = None, columns: Any = None
    ) -> None:
        if not callable(function):
            raise InputError(
                f"a measure of one's own is a function f(mechanism); it is {format_value(function)}."
            )
        object.__setattr__(self, "function", function)
        object.__setattr__(self, "title", title)
        object.__setattr__(self, "given", None if columns is None else names(columns, "columns"))
        vars(self)["_known"] = {}  # columns by mechanism: a function may take its time

    @property
    def name(self) -> str:
        return "value" if self.title is None else self.title

    def columns(self, m: Mechanism) -> Mapping[str, str]:
        as_mechanism(m)
        if self.given is not None:
            return dict.fromkeys(self.given, "")
        return dict.fromkeys(
            self._nominal(m) or [self.name], ""
        )  # one number, if that cannot be asked

    def _nominal(self, m: Mechanism) -> tuple[str, ...] | None:
        """What it gives of the mechanism as it is described."""
        known: dict[str, tuple[str, ...] | None] = vars(self)["_known"]
        if m.digest not in known:
            known[m.digest] = self._gives(m)
        return known[m.digest]

    def with_columns(self, m: Mechanism, designs: Designs) -> Measure:
        """The same with its columns as data, which another process need not find out."""
        as_mechanism(m)
        designs = as_designs(designs)
        if self.given is not None:
            return self
        found = self._nominal(m)
        for k in range(min(number_of(designs), self.together())):
            found = found or self._gives(m, designs, k)
        return self if found is None else Called(self.function, self.title, found)

    def _gives(
        self, m: Mechanism, designs: Designs | None = None, k: int = 0
    ) -> tuple[str, ...] | None:
        """The names of what it gives of the mechanism as it is, or of one of the designs; None if it fails."""
        try:
            return tuple(self._called(m if designs is None else variant(m, designs, k)))
        except (Exception, SystemExit):
            return None

    def together(self) -> int:
        return 16  # it may take its time

    def measured(self, m: Mechanism, designs: Designs) -> Measured:
        columns, designs = self.columns(m), as_designs(designs)
        n = number_of(designs)
        values, reasons = {name: np.full(n, np.nan) for name in columns}, {}
        for k in range(n):
            try:
                found = self._called(variant(m, designs, k))
                if set(found) != set(columns):
                    raise InputError(
                        f"gives {', '.join(found)} here, and {', '.join(columns)} elsewhere; say what it gives, as in "
                        "es.measures.Called(function, columns=['x', 'y'])."
                    )
            except (Exception, SystemExit) as error:  # the others go on
                reasons[k] = reason_of(error)
                continue
            for name, x in found.items():
                values[name][k] = x
        return Measured(values, reasons | not_finite(values, reasons))

    def _called(self, m: Mechanism) -> dict[str, float]:
        """What the function gives, by column."""
        found = self.function(m)
        if isinstance(found, Mapping) and found:
            return {str(name): _number(x, name) for name, x in found.items()}
        row = np.asarray(found)
        if row.ndim > 1 or not row.size or row.dtype.kind not in "fiub":
            raise InputError(
                f"gives {format_value(found)}; a number, numbers by name or a row of numbers is expected."
            )
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
        raise InputError(f"gives {format_value(x)} for {name}; a number is expected.")
    return float(value)
