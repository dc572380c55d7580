"""A picture as the text of an SVG, and as a figure of matplotlib."""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import escape

from eslabon.bond_graph.picture import Line, Picture, Writing
from eslabon.plotting import new_figure
from eslabon.structure.drawing import FONT

POINT = 1 / 96  # of a pixel in inches


def svg(p: Picture) -> str:
    """The text of an SVG, on white."""
    wide, tall = (f"{x:.0f}" for x in p.size)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {tall}" width="{wide}" height="{tall}" '
            f'font-family="{FONT}" text-anchor="middle">',
            f"<title>{escape(p.title)}: bond graph</title>",
            f'<rect width="{wide}" height="{tall}" fill="#ffffff"/>',
            *(_line(x) if isinstance(x, Line) else _text(x) for x in p.items),
            "</svg>",
            "",
        ]
    )


def _line(x: Line) -> str:
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in x.points)
    if x.filled:
        return f'<polygon class="{x.role}" points="{points}" fill="{x.colour}"/>'
    faint = f' opacity="{x.opacity:g}"' if x.opacity < 1 else ""
    return (
        f'<polyline class="{x.role}" points="{points}" fill="none" stroke="{x.colour}" stroke-width="{x.width:g}"{faint} '
        'stroke-linecap="round"/>'
    )


def _text(x: Writing) -> str:
    bold = ' font-weight="700"' if x.bold else ""
    tip = f"<title>{escape(x.tip)}</title>" if x.tip else ""
    return (
        f'<text class="{x.role}" x="{x.at[0]:.1f}" y="{x.at[1]:.1f}" dy=".35em" font-size="{x.size:g}" '
        f'fill="{x.colour}"{bold}>{tip}{escape(x.text)}</text>'
    )


def figure(p: Picture) -> Any:
    """A figure of the picture's own size."""
    made = new_figure(figsize=(p.size[0] * POINT, p.size[1] * POINT), layout=None)
    ax = made.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, p.size[0]), ylim=(p.size[1], 0))
    ax.axis("off")
    for x in p.items:
        if isinstance(x, Writing):
            ax.text(*x.at, x.text, fontsize=x.size * 0.75, color=x.colour, weight="bold" if x.bold else "normal", ha="center",
                va="center", parse_math=False)  # fmt: skip
        elif x.filled:
            ax.fill(*zip(*x.points, strict=True), color=x.colour, linewidth=0)
        else:
            ax.plot(*zip(*x.points, strict=True), color=x.colour, linewidth=x.width * 0.75, alpha=x.opacity,
                solid_capstyle="round")  # fmt: skip
    return made
