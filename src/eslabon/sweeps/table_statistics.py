"""What a table of a sweep comes to: means, standard deviations and percentiles of its values, the designs that failed counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from eslabon.arguments import Floats, finite
from eslabon.displays import displayed
from eslabon.errors import InputError, suggest
from eslabon.errors import format_value as quoted
from eslabon.sheets import Sheet, shown
from eslabon.sweeps.table_contents import finite_numbers

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
        from eslabon.pages.html_elements import table

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
        raise InputError(
            f"percentiles are numbers from 0 to 100, as in (5, 50, 95); they are {quoted(percent)}."
        )
    counts = table.contents.finite
    places = {name: wanted / 100 * (counts[name] - 1) for name in table.values if counts[name]}
    ranks = {
        name: sorted({int(f(x)) for x in h for f in (np.floor, np.ceil)})
        for name, h in places.items()
    }
    found = order_statistics(table, ranks)
    heads = [f"{x:g} %" for x in wanted]
    numbers = {name: dict.fromkeys(heads, float("nan")) for name in table.values}
    for name, h in places.items():
        between = np.interp(h, ranks[name], [found[name][k] for k in ranks[name]])
        numbers[name] = dict(zip(heads, between.tolist(), strict=True))
    return _summary(table, "Percentiles", numbers)


def statistics(table: SweepTable) -> Summary:
    """See `SweepTable.statistics`. Means and sums of squares are put together piece by piece, as Chan, Golub and LeVeque do."""
    count, mean, squares = (dict.fromkeys(table.values, 0.0) for _ in range(3))
    for name, x in finite_numbers(table, table.values):
        if x.size:
            n, away = count[name] + x.size, float(x.mean()) - mean[name]
            squares[name] += float(((x - x.mean()) ** 2).sum()) + away**2 * count[name] * x.size / n
            mean[name] += away * x.size / n
            count[name] = n
    ends = table.contents.extremes
    numbers = {
        name: {
            "mean": mean[name] if n else float("nan"),
            "standard deviation": (squares[name] / max(1.0, n - 1)) ** 0.5 if n else float("nan"),
            "least": float(ends[name][0]), "greatest": float(ends[name][1]),
        }
        for name, n in count.items()
    }  # fmt: skip
    return _summary(table, "Statistics", numbers)


def _summary(table: SweepTable, what: str, numbers: Mapping[str, Mapping[str, float]]) -> Summary:
    found = table.contents
    units = {name: table.column(name).unit for name in table.values}
    return Summary(f"{what} of {table.title}", units, numbers, found.designs, found.failed)


# -- numbers by their rank ----------------------------------------------------------------------------------------------

DIGIT = 16  # bits of a number that are looked at in one pass
SIGN = np.uint64(1 << 63)


def order_statistics(
    table: SweepTable, ranks: Mapping[str, Sequence[int]]
) -> dict[str, dict[int, float]]:
    """The numbers of columns at ranks, counted from 0, in four passes through a table of any length: each pass counts how often
    the next 16 bits occur among the numbers that share those before."""
    known = {
        name: {rank: (0, rank) for rank in own} for name, own in ranks.items()
    }  # the bits, and the rank among these
    for shift in range(64 - DIGIT, -1, -DIGIT):
        counts = {
            name: {bits: np.zeros(1 << DIGIT, dtype=np.int64) for bits, _ in own.values()}
            for name, own in known.items()
        }
        for name, x in finite_numbers(table, list(ranks)):
            keys = _ordered(x)
            for bits, seen in counts[name].items():
                own = (
                    keys if shift == 64 - DIGIT else keys[keys >> np.uint64(shift + DIGIT) == bits]
                )
                seen += np.bincount(
                    (own >> np.uint64(shift)) & np.uint64((1 << DIGIT) - 1), minlength=1 << DIGIT
                )
        known = {
            name: {rank: _next(counts[name][at[0]], *at) for rank, at in own.items()}
            for name, own in known.items()
        }
    return {
        name: {rank: _number(bits) for rank, (bits, _) in own.items()}
        for name, own in known.items()
    }


def _next(seen: np.ndarray, bits: int, rank: int) -> tuple[int, int]:
    """The bits of a number with 16 more, and its rank among those that have them."""
    below = np.cumsum(seen)
    digit = int(np.searchsorted(below, rank, side="right"))
    return bits << DIGIT | digit, rank - int(below[digit] - seen[digit])


def _ordered(x: Floats) -> np.ndarray:
    """Whole numbers in the order of floating-point ones."""
    bits = (x + 0.0).view(np.uint64)  # no negative zero
    return np.where(bits & SIGN, ~bits, bits | SIGN)


def _number(key: int) -> float:
    bits = np.uint64(key)
    return float(np.atleast_1d(bits ^ SIGN if bits & SIGN else ~bits).view(np.float64)[0])
