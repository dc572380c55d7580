"""The shapes and colours of the topology drawing, and how wide a text comes out."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from xml.sax.saxutils import escape

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
LONGEST = 26  # letters shown of a name; the whole of it is in the tooltip
LINE = "#7c8896"


@dataclass(frozen=True)
class Style:
    """The colours of a node and the way it and its lines are drawn."""

    fill: str
    edge: str
    text: str = "#1c2733"
    dash: str = ""
    line: float = 2.0


STYLES = {
    "ground": Style("#37424e", "#37424e", text="#ffffff"),
    "body": Style("#e9eff6", "#52647a"),
    "joint": Style("#ffffff", "#52647a"),
    "actuated": Style("#ffeedd", "#c85a00"),
    "cut": Style("#eaf3ff", "#2f74c8", dash="6 4"),
    "spring": Style("#f0f7ec", "#7aa568", line=1.2, dash="2 3"),
    "coupling": Style("#f5eff9", "#9a7cb8", line=1.2, dash="2 3"),
}


def rectangle(width: float, height: float, radius: float, style: Style, dash: str = "") -> str:
    """A rounded box around the origin."""
    return (
        f'<rect x="{digits(-width / 2)}" y="{digits(-height / 2)}" width="{digits(width)}" height="{digits(height)}" '
        f'rx="{digits(radius)}" fill="{style.fill}" stroke="{style.edge}" stroke-width="1.5"{dashed(dash)}/>'
    )


def disc(x: float, radius: float, fill: str, edge: str = "") -> str:
    """A disc on the middle line, with an edge if it has a colour for it."""
    rim = f' stroke="{edge}" stroke-width="1.6"' if edge else ""
    return f'<circle cx="{digits(x)}" r="{digits(radius)}" fill="{fill}"{rim}/>'


def text(
    words: str, x: float, colour: str, size: int = 13, weight: int = 400, y: float = 0.0, anchor: str = "middle"
) -> str:
    """A line of text, its middle at the height y."""
    return (
        f'<text x="{digits(x)}" y="{digits(y)}" dy=".35em" text-anchor="{anchor}" font-size="{size}" '
        f'font-weight="{weight}" fill="{colour}">{escape(words)}</text>'
    )


def sign(sort: str, symbol: str, x: float) -> str:
    """What stands in the disc of a label: a joint's symbol, a coil, or a pair of wheels."""
    if sort == "spring":
        return f'<path d="M{digits(x - 7)} 0l2 0 2 -4 3 8 3 -8 2 4 2 0" stroke="#fff" stroke-width="1.4" fill="none"/>'
    if sort == "coupling":
        return disc(x - 3.2, 3.6, "none", "#fff") + disc(x + 4, 2.6, "none", "#fff")
    return text(symbol, x, "#ffffff", size=12, weight=700)


def motor(x: float, radius: float, style: Style) -> str:
    """The mark of a motor."""
    return disc(x, radius, style.fill, style.edge) + text("M", x, style.edge, size=10, weight=700)


def dashed(dash: str) -> str:
    return f' stroke-dasharray="{dash}"' if dash else ""


def digits(value: float) -> str:
    """A coordinate with one decimal at most."""
    return f"{round(float(value), 1) + 0.0:g}"


def shortened(name: str, most: int = LONGEST) -> str:
    """A name of at most so many letters, its middle left out, since both ends tell names apart.

    >>> shortened("the_left_front_leg_of_the_machine_joint_17")
    'the_left_fron…ine_joint_17'
    """
    name = printable(name)
    return name if len(name) <= most else f"{name[: most // 2]}…{name[len(name) - (most - most // 2 - 1) :]}"


def printable(name: str) -> str:
    """A name without the characters that XML does not allow."""
    return "".join(c if c.isprintable() else "\ufffd" for c in name)


def text_width(text: str, size: float, bold: bool = False) -> float:
    """About how wide a text is, on the generous side, as the reader's font is not known."""
    return (1.12 if bold else 1.0) * size * sum(_letter_width(c) for c in text)


def _letter_width(c: str) -> float:
    if unicodedata.east_asian_width(c) in "WF":
        return 1.05
    if c in "iljtfrI.,:;'|!()[] ":
        return 0.4
    return 0.92 if c in "mwMW@%" else 0.74 if c.isupper() else 0.63
