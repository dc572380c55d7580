"""Figures of a sweep: which one suits a table, what each may be asked, and what all of them say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from eslabon.arguments import choice, flag, known_words, names
from eslabon.errors import InputError
from eslabon.plotting.axes import plain
from eslabon.sweeps.sweep_curves import draw_curves
from eslabon.sweeps.sweep_maps import draw_maps
from eslabon.sweeps.sweep_scatter import draw_scatter
from eslabon.sweeps.tolerance_histograms import draw_histograms

if TYPE_CHECKING:
    from eslabon.plotting import Theme
    from eslabon.sweeps.sweep_table import SweepTable


@dataclass(frozen=True)
class Request:
    """What is to be drawn: the columns along the axes, the columns shown over them, and whether these are on a logarithmic scale."""

    x: str
    y: str
    of: tuple[str, ...]
    log: bool
    theme: str | Theme | None


@dataclass(frozen=True)
class Kind:
    """A kind of figure: how it is drawn, how many parameters stand along its axes, and what it is of if nothing is said."""

    draw: Callable[[SweepTable, Request], Any]
    axes: int
    panels: int


KINDS: Mapping[str, Kind] = {
    "curves": Kind(draw_curves, 1, 6),
    "map": Kind(draw_maps, 2, 4),
    "scatter": Kind(draw_scatter, 0, 7),
    "histogram": Kind(draw_histograms, 0, 9),
}


EXPLORING = ("uniform", "levels")  # how a variable that explores is described
NARROW = 0.1  # of its value: a range that is a tolerance


def sweep_figure(
    table: SweepTable,
    kind: str | None,
    x: str | None,
    y: str | None,
    of: Any,
    log: bool,
    theme: str | Theme | None,
) -> Any:
    """See `SweepTable.plot`."""
    if not len(table):
        raise InputError(f"{table.title} has no rows to draw.")
    chosen = _suiting(table, x, y) if kind is None else choice(kind, "kind", KINDS)
    own = KINDS[chosen]
    along = _along(table, chosen, own.axes, x, y)
    wanted = _shown(table, chosen, of)
    request = Request(*along, wanted[: own.panels], flag(log, "log"), theme)
    if request.log:
        _positive(
            table, [name for name in request.of if chosen != "scatter" or name in table.values]
        )
    figure = own.draw(table, request)
    if len(wanted) > own.panels:
        left = f"{own.panels} of {len(wanted)} columns; of= chooses others"
        figure.suptitle(f"{figure.get_suptitle()}\n{plain(left)}", color=figure.theme.quiet)
    return figure


def _suiting(table: SweepTable, x: str | None, y: str | None) -> str:
    """The kind for so many parameters: tolerances and distributions are for histograms."""
    if y is not None:
        return "map"
    if x is not None:
        return "curves"
    if not table.parameters or _within_tolerances(table):
        return "histogram"
    return {1: "curves", 2: "map"}.get(len(table.parameters), "scatter")


def _within_tolerances(table: SweepTable) -> bool:
    """Whether designs scatter about the description, by distributions or within narrow ranges, and do not explore."""
    if table.about.get("method", "grid") == "grid":
        return False
    spread = [str(said).partition(" = ")[2] for said in table.about.get("over", ())]
    if any(said and not said.startswith(EXPLORING) for said in spread):
        return True
    columns = [table.column(name) for name in table.parameters]
    away = [np.abs(np.array(table.contents.extremes[c.name]) - c.nominal).max() for c in columns]
    return all(x <= NARROW * abs(c.nominal) for x, c in zip(away, columns, strict=True))


def _along(
    table: SweepTable, kind: str, count: int, x: str | None, y: str | None
) -> tuple[str, str]:
    """The parameters along the axes: those that are named, and then the first of the others."""
    given = [name for name in (x, y) if name is not None]
    if len(given) > count or (y is not None and count < 2):
        raise InputError(f"a plot of kind '{kind}' takes {('neither x nor y', 'x and no y', '')[count]}; leave {'y' if count else 'them'} out, or take another kind.")  # fmt: skip
    known_words(given, table.parameters, f"{table.title} is drawn over parameters that were varied; it has none called", InputError)  # fmt: skip
    if x is not None and x == y:
        raise InputError(f"x and y are both {x!r}; a map is drawn over two parameters.")
    free = iter(name for name in table.parameters if name not in given)
    found = [name if name is not None else next(free, "") for name in (x, y)[:count]]
    if "" in found:
        raise InputError(f"a plot of kind '{kind}' is drawn over {count} parameter{'s' * (count > 1)}; {table.title} has {len(table.parameters)}.")  # fmt: skip
    return (*found, "", "")[0], (*found, "", "")[1]


def _shown(table: SweepTable, kind: str, of: Any) -> tuple[str, ...]:
    """The columns that are shown: values, or parameters too where these are told apart by it."""
    known = (*table.parameters, *table.values) if kind in ("scatter", "histogram") else table.values
    if of is None:
        return table.values if kind != "scatter" else _parameters_and_values(table)
    chosen = names(of, "of")
    known_words(chosen, known, f"{table.title} has no {'column' if len(known) > len(table.values) else 'value'}", InputError)  # fmt: skip
    if not chosen:
        raise InputError(f"of names at least one of {', '.join(known)}.")
    return tuple(dict.fromkeys(chosen))


def _parameters_and_values(table: SweepTable) -> tuple[str, ...]:
    """As many parameters and values as a matrix of panels shows, then the rest."""
    most = KINDS["scatter"].panels
    values = table.values[: max(most - len(table.parameters), most // 2)]
    parameters = table.parameters[: most - len(values)]
    first = (*parameters, *values)
    return (*first, *(name for name in (*table.parameters, *table.values) if name not in first))


def _positive(table: SweepTable, of: Sequence[str]) -> None:
    for name in of:
        least = table.contents.extremes[name][0]
        if np.isfinite(least) and least <= 0:
            raise InputError(
                f"{name} goes down to {least:.6g}, and a logarithmic scale has no zero; leave log out."
            )
