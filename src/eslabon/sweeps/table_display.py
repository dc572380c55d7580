"""A table of a sweep in words, and in a notebook: its columns, its first rows, a figure, and why designs failed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from eslabon.sheets import Sheet, shown

if TYPE_CHECKING:
    from eslabon.sweeps.sweep_table import SweepTable

HEAD = 6  # rows that are shown
REASONS = 5
LONG = 200  # letters of a reason
COLUMNS = 24  # of a table in words


def described(table: SweepTable) -> str:
    """The table's columns with units and ranges, and the designs that failed, as text."""
    heads, *rows = [("column", "unit", "least", "greatest"), *_ranges(table)]
    widths = [max(len(row[k]) for row in (heads, *rows)) for k in range(4)]
    lines = [
        f"{row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]:>{widths[3]}}".rstrip()
        for row in (heads, *rows[:COLUMNS])
    ]
    if len(rows) > COLUMNS:
        lines.append(f"... and {len(rows) - COLUMNS} more columns")
    return "\n".join([f"<SweepTable {counted(table)}>", *lines, *reasons(table)])


def counted(table: SweepTable) -> str:
    """What was swept, how many designs, how many failed."""
    found = table.contents
    states = (
        f" at {found.rows // found.designs} states each"
        if found.designs and found.rows > found.designs
        else ""
    )
    failed = f", {found.failed:,} failed" if found.failed else ""
    return f"{table.title}: {found.designs:,} design{'s' * (found.designs != 1)}{states}{failed}"


def _ranges(table: SweepTable) -> list[tuple[str, str, str, str]]:
    found = table.contents.extremes
    return [
        (c.name, c.unit, _number(found[c.name][0]), _number(found[c.name][1]))
        for c in table.columns
    ]


def _number(x: float) -> str:
    return shown(x) if np.isfinite(x) else "-"


def reasons(table: SweepTable) -> list[str]:
    """Why designs failed, a line for each kind of reason, the most frequent first."""
    found = table.contents.reasons
    lines = [
        f"{reason.count:,} failed: {_short(reason.sentence)} (point {reason.point})"
        for reason in found[:REASONS]
    ]
    if len(found) > REASONS:
        rest = sum(reason.count for reason in found[REASONS:])
        lines.append(f"{rest:,} failed for {len(found) - REASONS} other reasons")
    return lines


def _short(text: str) -> str:
    return text if len(text) <= LONG else f"{text[: LONG - 1].rstrip()}…"


def shown_pieces(table: SweepTable) -> Iterator[str]:
    """For a notebook: the ranges beside the first rows, why designs failed, and a figure."""
    from eslabon.pages.html_elements import listing
    from eslabon.pages.html_elements import table as html
    from eslabon.pages.notebook import beside, drawn

    ranges = Sheet("columns", ("column", "unit", "least", "greatest"), _ranges(table))
    yield beside(html(ranges), html(first_rows(table)))
    if table.contents.reasons:
        yield listing(reasons(table))
    if len(table):
        yield from drawn(table.plot)


def first_rows(table: SweepTable, count: int = HEAD) -> Sheet:
    """The first rows as a sheet."""
    names = ["point", *table.states]
    heads = (*names, *(c.label for c in table.columns), "reason")
    rows: list[tuple[Any, ...]] = []
    for batch in table.batches([*names, *(c.name for c in table.columns), "reason"]):
        own = batch.slice(0, count - len(rows)).to_pylist()
        rows += [tuple("" if value is None else value for value in row.values()) for row in own]
        if len(rows) >= count:
            break
    if not any(row[-1] for row in rows):
        heads, rows = heads[:-1], [row[:-1] for row in rows]
    return Sheet("first rows", heads, rows, prose=("reason",))
