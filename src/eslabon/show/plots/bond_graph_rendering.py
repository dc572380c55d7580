"""The picture of a bond graph as the text of an SVG, as a figure of matplotlib, and as a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from eslabon.atomic_files import write
from eslabon.bond_graph.graph import Graph
from eslabon.drawing.topology_drawing import FONT
from eslabon.plotting import LIGHT, Theme, new_figure, save_figure, theme_of
from eslabon.show.plots.bond_graph_picture import Item, Line, Picture, Writing, picture

POINT = 1 / 96  # of a pixel in inches


def figure(
    g: Graph,
    *,
    causality: str | None = "integral",
    values: bool = True,
    paths: Any = (),
    theme: str | None = None,
    path: str | Path | None = None,
) -> Any:
    """The matplotlib figure of a graph, of the picture's own size; see `BondGraph.draw`."""
    made = picture_figure(picture(g, causality, values, paths), theme_of(theme))
    if path is not None:
        save_figure(made, path, dpi=150)
    return made


def svg(
    g: Graph,
    *,
    causality: str | None = "integral",
    values: bool = True,
    paths: Any = (),
    theme: str | None = None,
    path: str | Path | None = None,
) -> str:
    """The text of an SVG of a graph; see `BondGraph.draw`."""
    text = picture_svg(picture(g, causality, values, paths), theme_of(theme))
    if path is not None:
        write(path, text)
    return text


def picture_svg(p: Picture, theme: Theme | None = None) -> str:
    """The text of an SVG, on the paper of a theme; the session's if left out."""
    look = theme_of(theme)
    wide, tall = (f"{x:.0f}" for x in p.size)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {tall}" '
            f'width="{wide}" height="{tall}" font-family="{FONT}" text-anchor="middle">',
            f"<title>{escape(p.title)}: bond graph</title>",
            f'<rect width="{wide}" height="{tall}" fill="{look.paper}"/>',
            *(_line(x) if isinstance(x, Line) else _text(x) for x in _in_look(p, look)),
            "</svg>",
            "",
        ]
    )


def _in_look(p: Picture, theme: Theme) -> list[Item]:
    """The items of a picture, which is made on light paper, in the colours of a theme."""
    colours = {
        LIGHT.ink: theme.ink,
        LIGHT.quiet: theme.quiet,
        LIGHT.curves[0]: theme.curves[0],
    }
    return [replace(x, colour=colours.get(x.colour, x.colour)) for x in p.items]


def _line(x: Line) -> str:
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in x.points)
    if x.filled:
        return f'<polygon class="{x.role}" points="{points}" fill="{x.colour}"/>'
    faint = f' opacity="{x.opacity:g}"' if x.opacity < 1 else ""
    return (
        f'<polyline class="{x.role}" points="{points}" fill="none" stroke="{x.colour}" '
        f'stroke-width="{x.width:g}"{faint} stroke-linecap="round"/>'
    )


def _text(x: Writing) -> str:
    bold = ' font-weight="700"' if x.bold else ""
    tip = f"<title>{escape(x.tip)}</title>" if x.tip else ""
    return (
        f'<text class="{x.role}" x="{x.at[0]:.1f}" y="{x.at[1]:.1f}" dy=".35em" '
        f'font-size="{x.size:g}" fill="{x.colour}"{bold}>{tip}{escape(x.text)}</text>'
    )


def picture_figure(p: Picture, theme: Theme | None = None) -> Any:
    """A figure of the picture's own size."""
    made = new_figure(theme, figsize=(p.size[0] * POINT, p.size[1] * POINT), layout=None)
    ax = made.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, p.size[0]), ylim=(p.size[1], 0))
    ax.axis("off")
    for x in _in_look(p, made.theme):
        if isinstance(x, Writing):
            ax.text(
                *x.at,
                x.text,
                fontsize=x.size * 0.75,
                color=x.colour,
                weight="bold" if x.bold else "normal",
                ha="center",
                va="center",
                parse_math=False,
            )
        elif x.filled:
            ax.fill(*zip(*x.points, strict=True), color=x.colour, linewidth=0)
        else:
            ax.plot(
                *zip(*x.points, strict=True),
                color=x.colour,
                linewidth=x.width * 0.75,
                alpha=x.opacity,
                solid_capstyle="round",
            )
    return made
