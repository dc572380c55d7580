"""Curves in a panel: those that coincide are drawn once and named together, and the legend stands beside the panel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from textwrap import wrap
from typing import Any

import numpy as np

from eslabon.arguments import Floats, choice, flag, floats, known_words, mapping, positive, text
from eslabon.errors import InputError
from eslabon.plotting.axes import axis_label, panel_title, plain
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
    arrays = {name: floats(y, f"values['{name}']") for name, y in mapping(values, "values").items()}
    height = None if height is None else positive(height, "height", zero=True)
    exact = max(ROUND_OFF * float(np.abs(_finite(arrays.values())).max(initial=0.0)), NOTHING)
    near = max(HALF_A_LINE * (_span(arrays.values()) if height is None else height), exact)
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
    """The largest difference; infinite where one has no number and the other does."""
    if a.shape != b.shape:
        return np.inf
    with np.errstate(invalid="ignore"):
        apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
    return float(np.nan_to_num(apart, nan=np.inf).max(initial=0.0))


def _joined(group: Sequence[tuple[str, str]]) -> str:
    if len(group) > TOGETHER:
        sign = group[-1][0]
        return (
            "".join(map("".join, group[:3]))
            + f"{sign}...{sign}{group[-1][1]} ({len(group)} curves)"
        )
    return "".join(map("".join, group))


def curves(
    ax: Any, x: Any, values: Mapping[str, Any], *, name: str = "", unit: str = "", title: str = "", log: bool = False,
    where: str = "right", styles: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[Any]:  # fmt: skip
    """Draw curves by name over x, and a legend; the lines that were drawn.

    Parameters
    ----------
    x : `(n,)`, or by name if each curve has its own.
    values : `(n,)` each, or `(..., n)` for many of the same name, which are drawn thin: forty of them, evenly chosen.
    name, unit : of the vertical axis, as in "theta [rad]"; the name of a single curve is its own if left out.
    title : of the panel.
    log : whether the vertical axis is logarithmic.
    where : the legend stands "right" of the panel or "below" it; "none" leaves it out. A single curve has none.
    styles : options of lines by name, such as {"total": {"color": "black"}}.

    >>> import eslabon as es
    >>> figure, (axes,) = es.plotting.panels(1)
    >>> lines = es.plotting.curves(axes, [0, 1], {"q1": [0.0, 1.0], "q2": [1.0, 0.0]}, name="angles", unit="rad")
    >>> len(lines), axes.get_ylabel()
    (2, 'angles [rad]')
    """
    theme, order, log = theme_at(ax), list(mapping(values, "values")), flag(log, "log")
    if isinstance(x, Mapping):
        known_words(order, x, "x has no curve", InputError)
    styles = {k: mapping(own, f"styles['{k}']") for k, own in mapping(styles, "styles").items()}
    shown = {k: _some(x[k] if isinstance(x, Mapping) else x, values[k], k) for k in order}
    seen = {k: _seen(y, log) for k, (_, y) in shown.items()}
    groups = coinciding(
        _paired({k: over for k, (over, _) in shown.items()}, seen)
        if isinstance(x, Mapping)
        else seen
    )
    lines = []
    for label, (first, *_) in groups.items():
        over, flat = shown[first]
        thin = (
            {"linewidth": 0.7, "alpha": min(1.0, max(0.2, 3 / len(flat)))} if len(flat) > 1 else {}
        )
        drawn = ax.plot(
            over.T, flat.T, **{**theme.curve(order.index(first)), **thin, **styles.get(first, {})}
        )
        for line in drawn[:1]:
            line.set_label(_in_lines(label))
        lines += drawn
    panel_title(ax, title)
    ax.set_ylabel(
        plain(axis_label(text(name, "name") or (order[0] if len(order) == 1 else ""), unit))
    )
    ax.margins(x=0)
    _scaled(ax, (y for _, y in shown.values()), log)
    if len(order) > 1:
        legend(ax, where)
    return lines


def _some(x: Any, y: Any, name: str) -> tuple[Floats, Floats]:
    """Some curves of many, (some, n), evenly chosen."""
    values, along = floats(y, f"values['{name}']"), floats(x, "x")
    try:
        over = np.broadcast_to(along, values.shape)
        flat = values.reshape(int(np.prod(values.shape[:-1])), values.shape[-1])
    except (ValueError, IndexError):
        raise InputError(
            f"a curve has a value for each x; '{name}' has shape {values.shape}, x {along.shape}."
        ) from None
    over = over.reshape(flat.shape)
    rows = np.unique(np.linspace(0, len(flat) - 1, min(MANY, len(flat))).astype(int))
    return over[rows], flat[rows]


def _in_lines(label: str) -> str:
    """A label in lines of not too many letters, broken before a sign between names."""
    joined = (
        plain(label)
        .replace(" ", "\u00a0")
        .replace("\u00a0=\u00a0", " =\u00a0")
        .replace("\u00a0≈\u00a0", " ≈\u00a0")
    )
    made = "\n".join(wrap(joined, LETTERS, break_long_words=False, break_on_hyphens=False)).replace(
        "\u00a0", " "
    )
    return (
        f"\u200b{made}" if made.startswith("_") else made
    )  # matplotlib leaves such names out of legends


def _seen(values: Floats, log: bool) -> Floats:
    """Values as the axis shows them."""
    return np.log10(np.where(values > 0, values, np.nan)) if log else values


def _paired(x: Mapping[str, Floats], y: Mapping[str, Floats]) -> dict[str, Floats]:
    """Curves in a plane, in parts of what they span across and up."""
    wide, tall = (_span(each.values()) or 1.0 for each in (x, y))
    return {name: np.stack([x[name] / wide, y[name] / tall]) for name in y}


def _span(arrays: Iterable[Floats]) -> float:
    """From the least of all finite values to the largest."""
    known = _finite(arrays)
    return float(np.ptp(known)) if known.size else 0.0


def _finite(arrays: Iterable[Floats]) -> Floats:
    return np.concatenate([np.zeros(0), *(y[np.isfinite(y)].ravel() for y in arrays)])


def _scaled(ax: Any, arrays: Iterable[Floats], log: bool) -> None:
    """A logarithmic axis, or one of some width around curves that do not vary."""
    if log:
        ax.set_yscale("log")
        return
    known = _finite(arrays)
    size = float(np.abs(known).max(initial=0.0))
    if known.size and np.ptp(known) <= max(ROUND_OFF * size, NOTHING):
        half = size / 10 if size > NOTHING else 1.0
        ax.set_ylim(known.mean() - half, known.mean() + half)


def legend(ax: Any, where: str = "right", keep: bool = False, **options: Any) -> Any:
    """The legend of what is labelled in the axes, beside or below them: it never covers what is drawn.

    Lines are shown full, unless they `keep` their opacity and width, where these say something.

    >>> import eslabon as es
    >>> figure, (axes,) = es.plotting.panels(1)
    >>> line = axes.plot([0, 1], label="q1")
    >>> len(es.plotting.legend(axes).get_texts())
    1
    """
    from eslabon.plotting.figures import look

    theme, keep = theme_at(ax), flag(keep, "keep")
    handles, labels = ax.get_legend_handles_labels()
    if choice(where, "where", WHERE) == "none" or not labels:
        return None
    if len(labels) > NAMED:
        handles, labels = handles[:1], [f"{len(labels)} curves"]
    columns = -(-len(labels) // COLUMN) if where == "right" else _columns(labels)
    place = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)} if where == "right" else {
        "loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "borderaxespad": 4.4}  # fmt: skip
    with look(theme):
        made = ax.legend(handles, labels, **{**place, "ncols": columns, **options})
    for line in () if keep else made.get_lines():
        line.set(alpha=1.0, linewidth=max(1.5, line.get_linewidth()))
    return made


def _columns(labels: Sequence[str]) -> int:
    """No more than a panel is wide, and rows of about the same length."""
    longest = max(len(line) for label in labels for line in label.split("\n"))
    rows = -(-len(labels) // max(1, 60 // (6 + longest)))
    return -(-len(labels) // rows)
