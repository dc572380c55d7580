"""What is in a table of a sweep, read piece by piece: how many designs, which failed and why, from where to where each column
goes, and as many of its rows as a figure can show."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from eslabon.arguments import Floats

if TYPE_CHECKING:
    from eslabon.sweeps.sweep_table import SweepTable

NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*\.?\d*(?:e[-+]?\d+)?")


@dataclass(frozen=True)
class Reason:
    """Why designs have no values: how many, and what is said of the first of them, the design number `point`."""

    count: int
    sentence: str
    point: int


@dataclass(frozen=True)
class Contents:
    """How many rows and designs there are, how many designs failed and why, the most frequent reason first, and by column the
    least and the greatest finite number (NaN where there is none) and how many there are."""

    rows: int
    designs: int
    failed: int
    reasons: tuple[Reason, ...]
    extremes: Mapping[str, tuple[float, float]]
    finite: Mapping[str, int]


def contents(table: SweepTable) -> Contents:
    """All of a table at one pass."""
    names = [c.name for c in table.columns]
    low, high = dict.fromkeys(names, np.inf), dict.fromkeys(names, -np.inf)
    finite = dict.fromkeys(names, 0)
    rows = designs = 0
    reasons: dict[str, Reason] = {}
    last = None
    for batch in table.batches():
        point = np.asarray(batch.column("point"))
        first = (
            np.diff(point, prepend=point[:1] - 1 if last is None else last) != 0
        )  # rows of one design stand together
        rows, designs, last = (
            rows + len(point),
            designs + int(first.sum()),
            point[-1:] if len(point) else last,
        )
        for name in names:
            x = _floats(batch.column(name))
            x = x[np.isfinite(x)]
            finite[name] += len(x)
            low[name], high[name] = (
                min(low[name], x.min(initial=np.inf)),
                max(high[name], x.max(initial=-np.inf)),
            )
        for sentence, k in _failures(batch, first):
            kind = NUMBER.sub("#", sentence)
            seen = reasons.get(kind, Reason(0, sentence, int(point[k])))
            reasons[kind] = Reason(seen.count + 1, seen.sentence, seen.point)
    known = {
        name: (low[name], high[name]) if low[name] <= high[name] else (np.nan, np.nan)
        for name in names
    }
    ordered = tuple(sorted(reasons.values(), key=lambda reason: (-reason.count, reason.point)))
    return Contents(rows, designs, sum(reason.count for reason in ordered), ordered, known, finite)


def _floats(column: Any) -> Floats:
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=float)


def finite_numbers(table: SweepTable, names: Sequence[str]) -> Iterator[tuple[str, Floats]]:
    """The finite numbers of columns, piece by piece."""
    for batch in table.batches(names):
        for name in names:
            x = _floats(batch.column(name))
            yield name, x[np.isfinite(x)]


def _failures(batch: Any, first: Any) -> Iterator[tuple[str, int]]:
    """The reasons of a batch and their rows, one for each design."""
    column = batch.column("reason")
    if column.null_count < len(column):
        for k in np.flatnonzero(np.asarray(column.is_valid()) & first):
            yield str(column[int(k)]), int(k)


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows of a table, all or evenly drawn: arrays by column, and which rows are of designs that failed."""

    columns: Mapping[str, Floats]
    failed: np.ndarray
    of: int

    @property
    def complete(self) -> bool:
        """Whether these are all rows."""
        return len(self.failed) == self.of

    def __getitem__(self, name: str) -> Floats:
        return self.columns[name]

    def __len__(self) -> int:
        return len(self.failed)


def some_rows(table: SweepTable, names: Sequence[str], most: int) -> Rows:
    """Columns of a table, at most so many rows of it: the same ones each time, and without a pattern, which a grid would show."""
    total = len(table)
    chosen = (
        np.arange(total)
        if total <= most
        else np.sort(np.random.default_rng(0).choice(total, most, replace=False, shuffle=False))
    )
    kept: dict[str, list[Floats]] = {name: [] for name in names}
    failed: list[np.ndarray] = []
    start = 0
    for batch in table.batches([*names, "reason"]):
        own = (
            chosen[np.searchsorted(chosen, start) : np.searchsorted(chosen, start + len(batch))]
            - start
        )
        for name in names:
            kept[name].append(_floats(batch.column(name))[own])
        failed.append(np.asarray(batch.column("reason").is_valid())[own])
        start += len(batch)
    empty = np.zeros(0)
    return Rows(
        {name: np.concatenate([empty, *parts]) for name, parts in kept.items()},
        np.concatenate([empty.astype(bool), *failed]), total,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Cells:
    """A table over two of its columns, in cells: edges, how many rows have values and how many are of designs that failed, and by
    value its mean, each (rows of cells along y, along x)."""

    x: Floats
    y: Floats
    count: Floats
    failed: Floats
    means: Mapping[str, Floats]


def in_cells(table: SweepTable, x: str, y: str, values: Sequence[str], cells: int) -> Cells:
    """Means of values over two columns, at one more pass through a table of any length."""
    limits = [table.contents.extremes[name] for name in (x, y)]
    edges = [np.linspace(a, b if b > a else a + 1.0, cells + 1) for a, b in limits]
    count, failed = np.zeros(cells * cells), np.zeros(cells * cells)
    sums = {name: np.zeros(cells * cells) for name in values}
    for batch in table.batches([x, y, *values, "reason"]):
        places = [
            _place(_floats(batch.column(name)), edge)
            for name, edge in zip((x, y), edges, strict=True)
        ]
        cell, bad = places[1] * cells + places[0], np.asarray(batch.column("reason").is_valid())
        failed += np.bincount(cell[bad], minlength=cells * cells)
        columns = {name: _floats(batch.column(name)) for name in values}
        good = ~bad & np.isfinite(list(columns.values())).all(axis=0)
        count += np.bincount(cell[good], minlength=cells * cells)
        for name, column in columns.items():
            sums[name] += np.bincount(cell[good], column[good], minlength=cells * cells)
    shape = (cells, cells)
    with np.errstate(invalid="ignore"):
        means = {name: (total / count).reshape(shape) for name, total in sums.items()}
    return Cells(edges[0], edges[1], count.reshape(shape), failed.reshape(shape), means)


def _place(values: Floats, edges: Floats) -> np.ndarray:
    inside = (values - edges[0]) / (edges[-1] - edges[0]) * (len(edges) - 1)
    return np.clip(inside, 0, len(edges) - 2).astype(np.int64)
