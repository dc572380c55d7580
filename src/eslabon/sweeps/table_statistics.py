"""What a table of a sweep comes to: means, standard deviations and percentiles of its values, the designs that failed counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from eslabon.arguments import Floats, finite
from eslabon.displays import displayed
from eslabon.errors import InputError, suggest
from eslabon.sheets import Sheet, shown

if TYPE_CHECKING:
    from eslabon.sweeps.sweep_table import SweepTable


@displayed
@dataclass(frozen=True, eq=False)
class Summary:
    """Numbers that sum up the values of a sweep: `summary["peak_torque"]["95 %"]`. Designs that failed have no values; how many there
    are is said, for what they would have added is not known.

    >>> import eslabon as es
    >>> m = es.load("elbow")
    >>> table = es.sweep(m, lambda m: m.gravity_forces([0.0, 0.0])[0], over={"m2": "±10 % normal"}, samples=256)
    >>> table.percentiles((5, 50, 95))
    <Percentiles of sweep of elbow: 256 designs>
    value     5 %   50 %    95 %
    value  18.824  19.62  20.417
    """

    title: str
    units: Mapping[str, str]
    numbers: Mapping[str, Mapping[str, float]]
    designs: int
    failed: int

    def __getitem__(self, value: str) -> Mapping[str, float]:
        if value not in self.numbers:
            raise InputError(f"there is no value {value!r}{suggest(str(value), self.numbers)}")
        return self.numbers[value]

    def sheet(self) -> Sheet:
        """As a table."""
        heads = ("value", *next(iter(self.numbers.values()), {}))
        rows = [(self._label(name), *own.values()) for name, own in self.numbers.items()]
        return Sheet(self._counted(), heads, rows)

    def _label(self, name: str) -> str:
        return f"{name} [{self.units[name]}]" if self.units[name] else name

    def _counted(self) -> str:
        left = f", {self.failed:,} of which failed and are left out" if self.failed else ""
        return f"{self.title}: {self.designs:,} design{'s' * (self.designs != 1)}{left}"

    def __repr__(self) -> str:
        sheet = self.sheet()
        return "\n".join([f"<{self._counted()}>", *aligned(sheet.columns, sheet.rows)])

    def _pieces(self) -> Iterator[str]:
        from eslabon.pages.elements import table

        yield table(self.sheet())


def aligned(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Lines of a small table: names to the left, numbers to the right."""
    cells = [tuple(heads), *(tuple(x if isinstance(x, str) else f"{x:.5g}" if isinstance(x, float) else shown(x) for x in row) for row in rows)]  # fmt: skip
    widths = [max(len(row[k]) for row in cells) for k in range(len(heads))]
    return ["  ".join([row[0].ljust(widths[0]), *(x.rjust(w) for x, w in zip(row[1:], widths[1:], strict=True))]).rstrip() for row in cells]  # fmt: skip


def percentiles(table: SweepTable, percent: Sequence[float]) -> Summary:
    """See `SweepTable.percentiles`."""
    wanted = np.atleast_1d(finite(percent, "percent"))
    if wanted.ndim != 1 or not wanted.size or wanted.min() < 0 or wanted.max() > 100:
        raise InputError(f"percentiles are numbers from 0 to 100, as in (5, 50, 95); they are {percent}.")
    heads = [f"{x:g} %" for x in wanted]

    def own(x: Floats) -> dict[str, float]:
        return dict(zip(heads, np.percentile(x, wanted).tolist() if x.size else [np.nan] * len(heads), strict=True))

    return _summary(table, "Percentiles", own)


def statistics(table: SweepTable) -> Summary:
    """See `SweepTable.statistics`."""

    def own(x: Floats) -> dict[str, float]:
        if not x.size:
            return dict.fromkeys(("mean", "standard deviation", "least", "greatest"), float("nan"))
        spread = float(x.std(ddof=1)) if x.size > 1 else 0.0
        return {"mean": float(x.mean()), "standard deviation": spread, "least": float(x.min()), "greatest": float(x.max())}  # fmt: skip

    return _summary(table, "Statistics", own)


def _summary(table: SweepTable, what: str, of: Callable[[Floats], dict[str, float]]) -> Summary:
    found = table.contents
    columns = {name: table[name] for name in table.values}
    numbers = {name: of(x[np.isfinite(x)]) for name, x in columns.items()}
    units = {name: table.column(name).unit for name in table.values}
    return Summary(f"{what} of {table.title}", units, numbers, found.designs, found.failed)
