"""The pieces of a page, each the text of some HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from io import StringIO
from typing import Any

from eslabon.language import translated
from eslabon.sheets import Sheet, shown

NUMBERS = (int, float)


class Markup(str):
    """A cell that is HTML already, such as a small curve."""

    __slots__ = ()


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph of plain text."""
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def table(sheet: Sheet, language: str = "en") -> str:
    """A sheet as a table; numbers stand at the right, units small in the headings, sentences wrap."""
    kinds = [_kind_of(sheet, k) for k in range(len(sheet.columns))]
    headings = "".join(
        _heading(translated(column, language), kind) for column, kind in zip(sheet.columns, kinds, strict=True)
    )
    rows = "".join(
        "<tr>" + "".join(_cell(x, kind) for x, kind in zip(row, kinds, strict=True)) + "</tr>" for row in sheet.rows
    )
    title = f"<caption>{escape(translated(sheet.title, language))}</caption>" if sheet.title else ""
    made = f'<table class="es-table">{title}<thead><tr>{headings}</tr></thead><tbody>{rows}</tbody></table>'
    return made + (paragraph(translated(sheet.caption, language), "es-caption") if sheet.caption else "")


def _kind_of(sheet: Sheet, k: int) -> str:
    """The class of a column's cells: numbers, sentences, or neither."""
    if sheet.columns[k] in sheet.prose:
        return ' class="es-prose"'
    numbers = sheet.rows and all(isinstance(row[k], NUMBERS) for row in sheet.rows)
    return ' class="number"' if numbers else ""


def _heading(column: str, kind: str) -> str:
    name, _, unit = column.partition(" [")
    return f"<th{kind}>{escape(name)}{f' <small>{escape(unit[:-1])}</small>' if unit else ''}</th>"


def _cell(value: Any, kind: str) -> str:
    return f"<td{kind}>{value if isinstance(value, Markup) else escape(shown(value))}</td>"


def listing(items: Iterable[str]) -> str:
    """Sentences as a list."""
    return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"


def figure(drawn: Any, caption: str = "") -> str:
    """A figure of matplotlib as an SVG inside the page."""
    text = StringIO()
    drawn.savefig(text, format="svg")
    return picture(text.getvalue(), caption)


def picture(svg: str, caption: str = "") -> str:
    """The text of an SVG as a picture of the page."""
    bare = re.sub(r"^\s*(<\?xml.*?\?>)?\s*(<!DOCTYPE.*?>)?\s*", "", svg, flags=re.DOTALL)
    return _figure(bare, caption)


def scene(html: str, caption: str = "", height: int = 480) -> str:
    """A page of its own, such as a scene in space that can be turned, inside this one."""
    return _figure(f'<iframe srcdoc="{escape(html)}" height="{height}" loading="lazy"></iframe>', caption)


def _figure(inside: str, caption: str) -> str:
    said = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return f'<figure class="es-figure">{inside}{said}</figure>'


def equation(latex: str, block: bool = True) -> str:
    """LaTeX as MathML, which browsers set by themselves."""
    from latex2mathml.converter import convert

    made: str = convert(latex, display="block" if block else "inline")
    return made
