"""What a person wants to know of a sweep first, as sheets: what was varied, percentiles of values, the designs at the ends of each
value, and why designs failed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from eslabon.language import phrase
from eslabon.sheets import Sheet
from eslabon.sweeps.sweep_table import SweepTable
from eslabon.sweeps.table_contents import some_rows

PERCENTILES = (5, 50, 95)
MOST = 1_000_000  # rows that percentiles are taken of


def varied_sheet(table: SweepTable) -> Sheet:
    """What was varied: from where to where, and what it is in the description."""
    columns = [table.column(name) for name in table.parameters]
    rows = [
        (c.name, c.unit, *table.contents.extremes[c.name], _or_nothing(c.nominal)) for c in columns
    ]
    return Sheet("what was varied", ("parameter", "unit", "least", "greatest", "nominal"), rows)


def values_sheet(table: SweepTable) -> Sheet:
    """Percentiles of each value over the designs that have one, its mean, and what it is at the nominal design."""
    drawn = some_rows(table, table.values, MOST)
    heads = ("value", "unit", "least", "5 %", "median", "95 %", "greatest", "mean", "nominal")
    rows: list[tuple[Any, ...]] = []
    for name in table.values:
        x = drawn[name][np.isfinite(drawn[name])]
        low, high = table.contents.extremes[name]
        if x.size:
            few, half, many = map(float, np.percentile(x, PERCENTILES))
            rows.append((name, table.column(name).unit, low, few, half, many, high, float(x.mean()), _or_nothing(table.nominal(name))))  # fmt: skip
        else:
            rows.append(
                (
                    name,
                    table.column(name).unit,
                    "",
                    "",
                    "",
                    "",
                    "",
                    "",
                    _or_nothing(table.nominal(name)),
                )
            )
    part = "" if drawn.complete else phrase(
        "Percentiles and means are those of {n} of the {all} rows, drawn at random.", n=f"{len(drawn):,}", all=f"{drawn.of:,}"
    )  # fmt: skip
    return Sheet("values", heads, rows, caption=part)


def rounded(sheet: Sheet) -> Sheet:
    """The same with four digits, to be looked at."""
    rows = [
        tuple(float(f"{x:.4g}") if isinstance(x, float) else x for x in row) for row in sheet.rows
    ]
    return replace(sheet, rows=rows)


def ends_sheet(table: SweepTable) -> Sheet:
    """The designs at which each value is least and greatest."""
    heads = (
        "value",
        "which",
        "point",
        "its value",
        *(table.column(name).label for name in table.parameters),
    )
    best: dict[tuple[str, str], tuple[float, tuple[Any, ...]]] = {}
    for batch in table.batches(["point", *table.parameters, *table.values]):
        own = {
            name: np.asarray(batch.column(name).to_numpy(zero_copy_only=False))
            for name in batch.schema.names
        }
        for name in table.values:
            for which, sign in (("least", 1.0), ("greatest", -1.0)):
                x = np.where(np.isfinite(own[name]), sign * own[name], np.inf)
                k = int(np.argmin(x)) if len(x) else 0
                if len(x) and x[k] < best.get((name, which), (np.inf, ()))[0]:
                    design = tuple(float(own[p][k]) for p in table.parameters)
                    best[name, which] = (
                        float(x[k]),
                        (int(own["point"][k]), float(own[name][k]), *design),
                    )
    rows = [(name, which, *best[name, which][1]) for name in table.values for which in ("least", "greatest") if (name, which) in best]  # fmt: skip
    return Sheet("designs at the ends", heads, rows)


def failures_sheet(table: SweepTable) -> Sheet:
    """Why designs failed, how many of them, and the first of each kind."""
    rows = [(reason.count, reason.point, reason.sentence) for reason in table.contents.reasons]
    return Sheet("failed designs", ("designs", "first point", "reason"), rows, prose=("reason",))


def _or_nothing(value: float) -> float | str:
    return float(value) if np.isfinite(value) else ""
