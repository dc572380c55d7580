"""Figures of reproductions: a drawing of the mechanism, if there is one, and panels of curves beside it; or a bond graph.

A figure is data, computed once; it is drawn in the reader's language when it is shown or saved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from eslabon import answers
from eslabon.bond_graph.bond_graph import BondGraph
from eslabon.language import translated
from eslabon.mechanism import Floats, Mechanism
from eslabon.plotting import (
    curves,
    equal_axes,
    legend,
    new_figure,
    panel_title,
    save_figure,
    svg_text,
    theme_at,
)

CONSTANT = (
    1e-6  # of a curve's size: what varies by less is drawn as a constant, not as its round-off
)
ORIGIN = (0.0, 0.0, 0.0)

Line = Sequence[
    tuple[str, tuple[float, float, float]]
]  # bodies, each with a point in its own frame


class Picture(Protocol):
    """What a report shows: a name for its file, a title, a sentence below it, and the picture."""

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def caption(self) -> str: ...

    def texts(self) -> Iterator[str]: ...
    def svg(self, language: str = "en") -> str: ...
    def save(self, folder: Path, suffix: str = "png", language: str = "en") -> Path: ...


@dataclass(frozen=True)
class Panel:
    """Curves over one axis: names and values, `(n,)` each; `printed` are places and values that the document prints. Labels of
    axes have their unit in brackets, as in "t [s]"."""

    title: str
    label: str
    x: Floats
    curves: Mapping[str, Floats]
    across: str = "t [s]"
    logarithmic: str = ""  # the axes that are: "x", "y" or "xy"
    printed: tuple[Sequence[float], Sequence[float]] = ((), ())


@dataclass(frozen=True)
class Drawing:
    """Lines of a mechanism at some instants: for each instant the lines, each `(points, 3)`, and its name."""

    title: str
    instants: Mapping[str, Sequence[Floats]]
    pivots: Floats
    solid: bool = False  # whether it needs three dimensions
    coloured: bool = False  # whether the names are of different things, and not of instants
    unit: str = "m"


# -- the mechanism ----------------------------------------------------------------------------------------------------


def moved(
    title: str,
    m: Mechanism,
    t: Floats,
    q: Floats,
    at: Sequence[int],
    lines: Sequence[Line],
    pivots: Sequence[str],
    solid: bool = False,
) -> Drawing:
    """A mechanism at some instants of a motion, given by their places in `t`; pivots are bodies whose origins rest."""
    instants: dict[str, Any] = {
        f"t = {t[k]:g} s": [_points(m, q[k], line) for line in lines] for k in at
    }
    return Drawing(title, instants, _points(m, q[0], [(body, ORIGIN) for body in pivots]), solid)


def _points(m: Mechanism, q: Floats, line: Line) -> Floats:
    """Points of bodies in a configuration, `(points, 3)`."""
    return np.array([(m.pose(q, body) @ [*p, 1.0])[:3] for body, p in line])


def three_legs(m: Mechanism, bar: str) -> list[Line]:
    """The lines of a planar 3-RRR: legs of bars 1 and 2, 4 and 5, 6 and 7, as both papers count them, and the platform."""
    corners = [ORIGIN, *(tuple(float(x) for x in loop.second.at.position) for loop in m.loops)]
    platform: list[Any] = [("platform", corner) for corner in corners]
    legs = zip((1, 4, 6), (2, 5, 7), platform, strict=True)
    return [
        *([(f"{bar}{j}", ORIGIN), (f"{bar}{k}", ORIGIN), end] for j, k, end in legs),
        [*platform, platform[0]],
    ]


# -- the figure -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Figure:
    """Panels in two columns, and a drawing to their left."""

    name: str
    title: str
    panels: Sequence[Panel]
    drawing: Drawing | None = None
    caption: str = ""

    def draw(self, language: str = "en", theme: str | None = None) -> Any:
        """A matplotlib figure; its theme is the session's if left out."""
        names = [str(k) for k in range(len(self.panels))]
        rows: Any = [names[k : k + 2] for k in range(0, len(names), 2)]
        rows = [row if len(row) == len(rows[0]) else row * 2 for row in rows]
        if self.drawing is not None:
            rows = [["drawing", *row] for row in rows] or [["drawing"]]
        beside = len(rows[0]) - (self.drawing is not None)
        widths = ([1.15] if self.drawing is not None else []) + [1.0] * beside
        solid: Any = (
            {"drawing": {"projection": "3d"}}
            if self.drawing is not None and self.drawing.solid
            else {}
        )
        figure = new_figure(
            theme, figsize=(3.9 * sum(widths), max(2.9 * len(rows), 3.6 if self.drawing else 0))
        )
        axes = figure.subplot_mosaic(rows, per_subplot_kw=solid, width_ratios=widths)
        figure.suptitle(translated(self.title, language), fontsize=11)
        if self.drawing is not None:
            _draw(axes["drawing"], self.drawing, language)
        for name, panel in zip(names, self.panels, strict=True):
            _plot(axes[name], panel, language)
        return figure

    def texts(self) -> Iterator[str]:
        """All that is said in it, in English."""
        yield from (self.title, self.caption)
        if self.drawing is not None:
            yield from (self.drawing.title, *self.drawing.instants)
        for panel in self.panels:
            labels = (label.partition(" [")[0] for label in (panel.label, panel.across))
            yield from (panel.title, *labels, *panel.curves)
            if len(panel.printed[0]):
                yield "printed"

    def svg(self, language: str = "en") -> str:
        return svg_text(self.draw(language, "light"))

    def save(self, folder: Path, suffix: str = "png", language: str = "en") -> Path:
        return save_figure(self.draw(language), folder / f"{self.name}.{suffix}", dpi=150)


@dataclass(frozen=True)
class GraphFigure:
    """A bond graph of the library, with integral or derivative causality preferred."""

    name: str
    title: str
    graph: str
    causality: str
    caption: str = ""

    def texts(self) -> Iterator[str]:
        yield from (self.title, self.caption)

    def svg(self, language: str = "en") -> str:
        return answers.svg(BondGraph.load(self.graph), causality=self.causality, theme="light")

    def save(self, folder: Path, suffix: str = "png", language: str = "en") -> Path:
        return BondGraph.load(self.graph).draw(folder / f"{self.name}.{suffix}", self.causality)


# -- panels -----------------------------------------------------------------------------------------------------------


def _label(text: str, language: str) -> str:
    """The label of an axis; its unit is not translated.

    >>> _label("torque [N m]", "es")
    'par [N m]'
    """
    name, bracket, unit = text.partition(" [")
    return translated(name, language) + bracket + unit


def _plot(ax: Any, panel: Panel, language: str) -> None:
    named = {translated(name, language): y for name, y in panel.curves.items()}
    title = translated(panel.title, language)
    curves(ax, panel.x, named, title=title, log="y" in panel.logarithmic, where="none")
    if len(panel.printed[0]):
        label, ink = translated("printed", language), theme_at(ax).ink
        ax.plot(*panel.printed, "o", color=ink, markersize=4.5, zorder=5, label=label)
    ax.set(xlabel=_label(panel.across, language), ylabel=_label(panel.label, language))
    ax.set_xlim(panel.x[0], panel.x[-1])
    _span_constants(ax, panel)
    if "x" in panel.logarithmic:
        ax.set_xscale("log")
    ax.minorticks_off()
    if len(named) + bool(len(panel.printed[0])) > 1:
        columns: dict[str, Any] = {"ncols": 4} if len(named) > 5 else {}
        legend(ax, "below", **columns)


def _span_constants(ax: Any, panel: Panel) -> None:
    """An axis of some width around curves that do not vary."""
    values = np.concatenate([*panel.curves.values(), panel.printed[1]])
    size = max(1.0, float(np.abs(values).max()))
    if "y" not in panel.logarithmic and np.ptp(values) < 10 * CONSTANT * size:
        ax.set_ylim(values.mean() - size / 10, values.mean() + size / 10)


def _draw(ax: Any, drawing: Drawing, language: str) -> None:
    """All lines, and the pivots."""
    count = 3 if drawing.solid else 2
    points = [drawing.pivots[:, :count]]
    for name, lines, look in _looks(ax, drawing):
        for j, line in enumerate(lines):
            ax.plot(
                *line[:, :count].T, label=translated(name, language) if j == 0 else None, **look
            )
            points.append(line[:, :count])
    ax.plot(
        *drawing.pivots[:, :count].T, "^", color=theme_at(ax).role("ground"), markersize=7, zorder=5
    )
    panel_title(ax, translated(drawing.title, language))
    equal_axes(ax, np.concatenate(points), unit=drawing.unit)
    legend(ax, "below", keep=True)


def _looks(ax: Any, drawing: Drawing) -> Iterator[tuple[str, Sequence[Floats], dict[str, Any]]]:
    """Names, lines and how they look: earlier instants are fainter, different things have colours of their own."""
    theme, last = theme_at(ax), max(len(drawing.instants) - 1, 1)
    for k, (name, lines) in enumerate(drawing.instants.items()):
        if drawing.coloured:
            yield name, lines, {**theme.curve(k), "linewidth": 1.5}
        else:
            yield name, lines, {
                "color": theme.curve(0)["color"], "alpha": 0.25 + 0.75 * k / last, "marker": "o", "markersize": 4,
                "linewidth": 2.2, "solid_capstyle": "round",
            }  # fmt: skip
