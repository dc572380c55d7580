"""The legend of the topology drawing: what the signs in it mean, on a panel beside a tall drawing or below a wide one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from eslabon.model import KINDS
from eslabon.structure.shapes import LINE, STYLES, dashed, digits, disc, motor, shortened, sign, text, text_width

MARGIN, PAD, LINE_HEIGHT, HEAD = 20, 14, 26, 53  # of the page; inside the panel; of an entry; of the headline's part
NARROWEST = 420
MEANINGS = {
    "joint": "joint of the tree",
    "actuated": "actuated joint",
    "cut": "cut joint, closes a loop",
    "spring": "spring",
    "coupling": "coupling",
}


@dataclass(frozen=True)
class Legend:
    """The panel and the page it makes with a drawing of a given size.

    Attributes
    ----------
    headline, counts : str
        Its first two lines.
    rows : tuple of tuples of (sort, symbol, meaning)
        Its entries, line by line.
    at, size : tuple of float
        Where the panel's corner is, and how large it is.
    shift : float
        How far from the left the drawing stands.
    page : tuple of float
        The width and height of both together.
    """

    headline: str
    counts: str
    rows: tuple[tuple[tuple[str, str, str], ...], ...]
    at: tuple[float, float]
    size: tuple[float, float]
    shift: float
    page: tuple[float, float]

    def shapes(self) -> Iterator[str]:
        (x, y), (width, height) = self.at, self.size
        yield f'<g class="legend" transform="translate({digits(x)} {digits(y)})">'
        yield f'<rect width="{digits(width)}" height="{digits(height)}" rx="8" fill="#ffffff" stroke="#c3ccd6"/>'
        yield text(self.headline, PAD, "#1c2733", size=14, weight=700, y=22, anchor="start")
        yield text(self.counts, PAD, "#52647a", size=12, y=41, anchor="start")
        for line, row in enumerate(self.rows):
            left = float(PAD)
            for entry in row:
                yield f'<g transform="translate({digits(left)} {digits(HEAD + LINE_HEIGHT * (line + 0.5))})">{_entry(*entry)}</g>'
                left += _width(entry)
        yield "</g>"


def legend(name: str, counts: str, sorts: set[str], symbols: set[str], width: float, height: float) -> Legend:
    """The legend of what occurs in a drawing."""
    entries = [("sign", kind.symbol, kind_name) for kind_name, kind in KINDS.items() if kind.symbol in symbols]
    entries += [(sort, "", meaning) for sort, meaning in MEANINGS.items() if sort in sorts]
    headline = shortened(name, 48)
    head = 2 * PAD + max(text_width(headline, 14, bold=True), text_width(counts, 12))
    if height > 1.1 * width:
        size = max(head, *(_width(e) + PAD for e in entries)), float(HEAD + LINE_HEIGHT * len(entries) + PAD / 2)
        at = width + 2.0 * MARGIN, float(MARGIN)
        page = at[0] + size[0] + MARGIN, max(height, at[1] + size[1]) + MARGIN
        return Legend(headline, counts, tuple((e,) for e in entries), at, size, MARGIN, page)
    across = max(width, NARROWEST, head)
    rows = _rows(entries, across - PAD)
    size = across, float(HEAD + LINE_HEIGHT * len(rows) + PAD / 2)
    at = float(MARGIN), height + MARGIN
    page = across + 2 * MARGIN, at[1] + size[1] + MARGIN
    return Legend(headline, counts, rows, at, size, MARGIN + (across - width) / 2, page)


def _rows(entries: Sequence[tuple[str, str, str]], across: float) -> tuple[tuple[tuple[str, str, str], ...], ...]:
    """The entries in lines no wider than the panel."""
    rows: list[list[tuple[str, str, str]]] = [[]]
    for entry in entries:
        if rows[-1] and PAD + sum(map(_width, [*rows[-1], entry])) > across:
            rows.append([])
        rows[-1].append(entry)
    return tuple(map(tuple, rows))


def _width(entry: tuple[str, str, str]) -> float:
    return 48 + text_width(entry[2], 12)


def _entry(sort: str, symbol: str, meaning: str) -> str:
    style = STYLES["joint" if sort == "sign" else sort]
    words = text(meaning, 32, "#1c2733", size=12, anchor="start")
    if sort in ("sign", "spring", "coupling"):
        return disc(12, 10, style.edge) + sign(sort, symbol, 12) + words
    colour = LINE if sort == "joint" else style.edge
    line = f'<path d="M0 0h26" stroke="{colour}" stroke-width="{style.line}"{dashed(style.dash)}/>'
    return line + (motor(13, 8, style) if sort == "actuated" else "") + words
