"""The pieces of a page, each the text of some HTML."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from io import BytesIO, StringIO
from typing import Any

from eslabon.language import catalogue, translated
from eslabon.sheets import Sheet, shown

NUMBERS = (int, float)
# Of MathML's variants browsers know but one; bold letters are a matter of style to them.
BOLD = {
    "bold": 'mathvariant="normal" style="font-weight:700"',
    "bold-italic": 'style="font-weight:700"',
}
# Brackets of matrices are drawn as borders: without a font for mathematics they would not grow with the matrix.
BRACKETS = re.compile(
    r"<mo[^>]*>\[</mo><mtable>((?:(?!</?mtable).)*)</mtable><mo[^>]*>\]</mo>", re.DOTALL
)
BRACKETED = "border-left:1.5px solid;border-right:1.5px solid;border-radius:.45em;padding:.1em .3em"
HEAVY = 300_000  # letters of an SVG, above which pixels are lighter


class Markup(str):
    """A cell that is HTML already, such as a small curve."""

    __slots__ = ()


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph of plain text; what stands between backticks is code."""
    return f'<p class="{kind}">{_inline(text)}</p>' if kind else f"<p>{_inline(text)}</p>"


def heading(text: str, level: int = 2, anchor: str = "") -> str:
    """A heading, which a link can lead to by its anchor.

    >>> heading("What it is", 2, "what")
    '<h2 id="what">What it is</h2>'
    """
    place = f' id="{escape(anchor)}"' if anchor else ""
    return f"<h{level}{place}>{_inline(text)}</h{level}>"


def contents(links: Sequence[tuple[str, str]]) -> str:
    """Where to find what: (anchor, text) of headings of the same page."""
    return (
        "<nav>"
        + "".join(f'<a href="#{escape(a)}">{escape(text)}</a>' for a, text in links)
        + "</nav>"
    )


def folded(summary: str, inside: str) -> str:
    """A piece that opens when its summary is clicked; in print it is open."""
    return f'<details class="es-folded"><summary>{_inline(summary)}</summary>{inside}</details>'


def table(sheet: Sheet, language: str = "en", fold: int | None = None) -> str:
    """A sheet as a table; numbers stand at the right, units small in the headings. One of more rows than `fold` opens by a
    click."""
    kinds = [_kind_of(sheet, k) for k in range(len(sheet.columns))]
    headings = "".join(
        _heading(_column(column, language), kind)
        for column, kind in zip(sheet.columns, kinds, strict=True)
    )
    rows = "".join(
        "<tr>" + "".join(_cell(x, kind) for x, kind in zip(row, kinds, strict=True)) + "</tr>"
        for row in sheet.rows
    )
    title = translated(sheet.title, language)
    long = fold is not None and len(sheet.rows) > fold
    caption = f"<caption>{_inline(title)}</caption>" if sheet.title and not long else ""
    made = f'<table class="es-table">{caption}<thead><tr>{headings}</tr></thead><tbody>{rows}</tbody></table>'
    made += paragraph(translated(sheet.caption, language), "es-caption") if sheet.caption else ""
    return folded(f"{title} ({len(sheet.rows)})", made) if long else made


def _kind_of(sheet: Sheet, k: int) -> str:
    """The class of a column's cells: numbers, sentences, or neither."""
    if sheet.columns[k] in sheet.prose:
        return ' class="es-prose"'
    numbers = sheet.rows and all(isinstance(row[k], NUMBERS) for row in sheet.rows)
    return ' class="number"' if numbers else ""


def _column(column: str, language: str) -> str:
    """The name of a column in a language; its unit stays."""
    if language == "en" or column in catalogue(language):
        return translated(column, language)
    name, bracket, unit = column.partition(" [")
    return translated(name, language) + bracket + unit


def _heading(column: str, kind: str) -> str:
    name, _, unit = column.partition(" [")
    return f"<th{kind}>{escape(name)}{f' <small>{escape(unit[:-1])}</small>' if unit else ''}</th>"


def _cell(value: Any, kind: str) -> str:
    return f"<td{kind}>{value if isinstance(value, Markup) else _inline(shown(value))}</td>"


def listing(items: Iterable[str]) -> str:
    """Sentences as a list."""
    return "<ul>" + "".join(f"<li>{_inline(item)}</li>" for item in items) + "</ul>"


def figure(drawn: Any, caption: str = "") -> str:
    """A figure of matplotlib as an SVG inside the page; as pixels where that is lighter."""
    text = StringIO()
    drawn.savefig(text, format="svg", metadata={"Date": None})
    if len(text.getvalue()) <= HEAVY:
        return picture(text.getvalue(), caption)
    pixels = BytesIO()
    drawn.savefig(pixels, format="png", dpi=160)
    return image(pixels.getvalue(), caption)


def picture(svg: str, caption: str = "") -> str:
    """The text of an SVG as a picture of the page."""
    bare = re.sub(r"^\s*(<\?xml.*?\?>)?\s*(<!DOCTYPE.*?>)?\s*", "", svg, flags=re.DOTALL)
    bare = re.sub(r"<metadata>.*?</metadata>\s*", "", bare, flags=re.DOTALL)
    return _figure(_with_own_ids(bare), caption)


def image(png: bytes, caption: str = "") -> str:
    """A PNG as a picture of the page."""
    return _figure(
        f'<img src="data:image/png;base64,{base64.b64encode(png).decode()}" alt="{escape(caption)}">',
        caption,
    )


def _with_own_ids(svg: str) -> str:
    """The same picture with ids that no other one in the page has, and styles that do not leave it."""
    own = "s" + hashlib.sha256(svg.encode()).hexdigest()[:8]
    seen: Counter[str] = Counter()

    def renamed(found: re.Match[str]) -> str:
        seen[found[2]] += 1
        again = f"-{seen[found[2]]}" if seen[found[2]] > 1 else ""
        return f'{found[1]}{own}-{found[2]}{again}"'

    svg = re.sub(r'(<[^>]*?\sid=")([^"]+)"', renamed, svg)
    svg = re.sub(r'((?:xlink:)?href="#|url\(#)', rf"\1{own}-", svg)
    if "<style" not in svg:
        return svg
    svg = re.sub(r"<svg\b", f'<svg data-own="{own}"', svg, count=1)
    return re.sub(
        r"(<style[^>]*>)(.*?)(</style>)",
        lambda x: x[1] + _scoped(x[2], own) + x[3],
        svg,
        flags=re.DOTALL,
    )


def _scoped(css: str, own: str) -> str:
    """Plain rules of a style sheet, for what is inside one picture only."""
    return re.sub(r"([^{}]+)\{", lambda x: f" [data-own={own}] {x[1].strip()} {{", css)


def scene(html: str, caption: str = "", height: int = 480) -> str:
    """A page of its own, such as a scene in space that can be turned, inside this one."""
    return _figure(
        f'<iframe srcdoc="{escape(html)}" height="{height}" loading="lazy" title="{escape(caption)}"></iframe>',
        caption,
    )


def _figure(inside: str, caption: str) -> str:
    said = f"<figcaption>{_inline(caption)}</figcaption>" if caption else ""
    return f'<figure class="es-figure">{inside}{said}</figure>'


def equation(latex: str, block: bool = True) -> str:
    """LaTeX as MathML, which browsers set by themselves."""
    from latex2mathml.converter import convert

    made: str = convert(latex, display="block" if block else "inline")
    for variant, as_style in BOLD.items():
        made = made.replace(f'mathvariant="{variant}"', as_style)
    made = made.replace("<mover>", '<mover accent="true">')  # dots as large as the letters
    return BRACKETS.sub(rf'<mtable style="{BRACKETED}">\1</mtable>', made)


def _inline(text: str) -> str:
    """Plain text, with code between backticks."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
