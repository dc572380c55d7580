"""Curves in a panel: those that coincide are drawn once and named together, and the legend stands beside the panel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

import numpy as np

from eslabon.arguments import Floats, choice
from eslabon.plotting.axes import axis_label, panel_title
from eslabon.plotting.themes import theme_at

ROUND_OFF = 1e-9  # of the largest value: curves that differ by less are equal
HALF_A_LINE = 3e-3  # of the panel's height, about: curves that differ by less are seen as one
NOTHING = 1e-15  # what varies by less is drawn as a constant, and not as its digits
LETTERS = 28  # of a line of a legend
NAMED, COLUMN = 24, 12  # curves that a legend tells apart, and those in a column of it
TOGETHER = 8  # names of curves that coincide, until the middle of the list is left out
MANY = 40  # curves of one name that are drawn
WHERE = ("right", "below", "none")


def coinciding(values: Mapping[str, Any], height: float | None = None) -> dict[str, list[str]]:
    """Curves that look like one: for each that is drawn, its label, and the names of all that lie on it.

    "=" stands between curves that are equal to round-off, "≈" where they differ by less than half the width of a line;
    `height` is that of the panel in the curves' unit, their own span if left out.

    >>> t = np.linspace(0, 1, 5)
    >>> coinciding({"a": t, "b": 1 - t, "c": t + 1e-14, "d": t + 1e-3})
    {'a = c ≈ d': ['a', 'c', 'd'], 'b': ['b']}
    """
    arrays = {name: np.asarray(y, dtype=float) for name, y in values.items()}
    known = np.concatenate([y[np.isfinite(y)].ravel() for y in arrays.values()] or [np.zeros(0)])
    size = float(np.abs(known).max(initial=0.0))
    span = float(np.ptp(known)) if known.size else 0.0
    exact = max(ROUND_OFF * size, NOTHING)
    near = max(HALF_A_LINE * (span if height is None else height), exact)
    drawn: dict[str, list[tuple[str, str]]] = {}
    for name, y in arrays.items():
        away = {other: _distance(y, arrays[other]) for other in drawn}
        nearest = min(away, key=away.__getitem__, default="")
        if nearest and away[nearest] <= near:
            drawn[nearest].append((" = " if away[nearest] <= exact else " ≈ ", name))
        else:
            drawn[name] = [("", name)]
    return {_joined(group): [name for _, name in group] for group in drawn.values()}


def _distance(a: Floats, b: Floats) -> float:
    if a.shape != b.shape or not np.array_equal(np.isnan(a), np.isnan(b)):
        return np.inf
    with np.errstate(invalid="ignore"):
        return float(
            np.nan_to_num(np.abs(a - b), posinf=0.0 if np.array_equal(np.isinf(a), np.isinf(b)) else np.inf).max(
                initial=0.0
            )
        )


def _joined(group: Sequence[tuple[str, str]]) -> str:
    if len(group) > TOGETHER:
        sign = group[-1][0]
        return "".join(map("".join, group[:3])) + f"{sign}...{sign}{group[-1][1]} ({len(group)} curves)"
    return "".join(map("".join, group))


def curves(
    ax: Any, x: Any, values: Mapping[str, Any], *, name: str = "", unit: str = "", title: str = "", log: bool = False,
    where: str = "right", styles: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[Any]:  # fmt: skip
    """Draw curves by name over x, and what is left of their names beside them; the lines.

    Parameters
    ----------
    x : `(n,)`, or by name if each curve has its own.
    values : `(n,)` each, or `(..., n)` for many of the same name, which are drawn thin: forty of them, evenly chosen.
    name, unit : of the vertical axis, as in "theta [rad]".
    title : of the panel.
    log : whether the vertical axis is logarithmic.
    where : the legend stands "right" of the panel or "below" it; "none" leaves it out. A single curve has none.
    styles : options of lines by name, such as {"total": {"color": "black"}}.
    """
    theme, order = theme_at(ax), list(values)
    own = x if isinstance(x, Mapping) else dict.fromkeys(order, x)
    seen = {name: _seen(y, log) for name, y in values.items()}
    groups = coinciding(_paired(own, seen) if isinstance(x, Mapping) else seen)
    lines = []
    for label, names in groups.items():
        over, flat = _some(own[names[0]], values[names[0]])
        thin = {"linewidth": 0.7, "alpha": min(1.0, max(0.2, 3 / len(flat)))} if len(flat) > 1 else {}
        style = {**theme.curve(order.index(names[0])), **thin, **(styles or {}).get(names[0], {})}
        drawn = ax.plot(over.T, flat.T, **style)
        drawn[0].set_label(_in_lines(label))
        lines += drawn
    panel_title(ax, title)
    ax.set_ylabel(axis_label(name, unit))
    ax.margins(x=0)
    _scaled(ax, values, log)
    if len(order) > 1:
        legend(ax, where)
    return lines


def _some(x: Any, y: Any) -> tuple[Floats, Floats]:
    """Some curves of many, (some, n), evenly chosen."""
    values = np.asarray(y, dtype=float)
    flat = values.reshape(int(np.prod(values.shape[:-1])), values.shape[-1])
    over = np.broadcast_to(np.asarray(x, dtype=float), values.shape).reshape(flat.shape)
    rows = np.unique(np.linspace(0, len(flat) - 1, min(MANY, len(flat))).astype(int))
    return over[rows], flat[rows]


def _in_lines(label: str) -> str:
    """A label in lines of not too many letters, broken before a sign between names."""
    joined = label.replace(" ", "\u00a0").replace("\u00a0=\u00a0", " =\u00a0").replace("\u00a0≈\u00a0", " ≈\u00a0")
    return "\n".join(wrap(joined, LETTERS, break_long_words=False, break_on_hyphens=False)).replace("\u00a0", " ")


def _seen(values: Any, log: bool) -> Floats:
    """Values as the axis shows them."""
    y = np.asarray(values, dtype=float)
    if not log:
        return y
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(y > 0, np.log10(np.where(y > 0, y, 1.0)), np.nan)


def _paired(x: Mapping[str, Any], y: Mapping[str, Floats]) -> dict[str, Floats]:
    """Curves in a plane, in parts of what they span across and up."""
    across = {name: np.broadcast_to(np.asarray(x[name], dtype=float), y[name].shape) for name in y}
    spans = [
        np.nanmax([np.ptp(v[np.isfinite(v)]) if np.isfinite(v).any() else 0.0 for v in each.values()] or [0.0]) or 1.0
        for each in (across, y)
    ]
    return {name: np.stack([across[name] / spans[0], y[name] / spans[1]]) for name in y}


def _scaled(ax: Any, values: Mapping[str, Any], log: bool) -> None:
    """A logarithmic axis, or one of some width around curves that do not vary."""
    if log:
        ax.set_yscale("log")
        return
    known = np.concatenate([np.ravel(np.asarray(y, dtype=float)) for y in values.values()] or [np.zeros(0)])
    known = known[np.isfinite(known)]
    size = float(np.abs(known).max(initial=0.0))
    if known.size and np.ptp(known) <= max(ROUND_OFF * size, NOTHING):
        half = size / 10 if size > NOTHING else 1.0
        ax.set_ylim(known.mean() - half, known.mean() + half)


def legend(ax: Any, where: str = "right", keep: bool = False, **options: Any) -> Any:
    """The legend of what is labelled in the axes, beside or below them: it never covers what is drawn.

    Lines are shown full, unless they `keep` their opacity and width, where these say something.
    """
    from eslabon.plotting.figures import look

    handles, labels = ax.get_legend_handles_labels()
    if choice(where, "where", WHERE) == "none" or not labels:
        return None
    if len(labels) > NAMED:
        handles, labels = handles[:1], [f"{len(labels)} curves"]
    columns = -(-len(labels) // COLUMN) if where == "right" else _columns(labels)
    place = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)} if where == "right" else {
        "loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "borderaxespad": 4.4}  # fmt: skip
    with look(theme_at(ax)):
        made = ax.legend(handles, labels, **{**place, "ncols": columns, **options})
    for line in () if keep else made.get_lines():
        line.set(alpha=1.0, linewidth=max(1.5, line.get_linewidth()))
    return made


def _columns(labels: Sequence[str]) -> int:
    """No more than a panel is wide, and rows of about the same length."""
    longest = max(len(line) for label in labels for line in label.split("\n"))
    rows = -(-len(labels) // max(1, 60 // (6 + longest)))
    return -(-len(labels) // rows)
