"""Tables of reports as HTML: rows with their verdicts, notes, tables that are shown; Greek letters for their names."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from eslabon.language import translated
from eslabon.pages import paragraph
from eslabon.sheets import is_number

if TYPE_CHECKING:
    from eslabon.reproductions.comparison import Exhibit, Section, Verdict

# A sign for each verdict, so that colours are not needed to read it.
SIGNS = {
    "AGREES": "✓",
    "WRONG": "✗",
    "DAMAGED": "◐",
    "NOISE": "·",
    "UNEXPLAINED": "?",
}
LETTERS = {
    "theta": "θ", "tau": "τ", "alpha": "α", "beta": "β", "phi": "φ", "rho": "ρ", "gamma": "γ", "omega": "ω", "lambda": "λ", "pi": "π",
}  # fmt: skip
NAMES = re.compile(rf"(?<![A-Za-ce-z_.])(?:{'|'.join(LETTERS)})(?![a-z])")  # dtheta too
DELTA = re.compile(r"\bdelta (?=[\wθ])")
STYLE = """<style>
.es-verdict { white-space: nowrap; } .es-verdict sup { line-height: 0; } .es-verdict b { display: inline-block; width: 1.3em; text-align: center; }
.es-AGREES b { color: #00805d; } .es-WRONG, .es-WRONG b { color: #c2410c; font-weight: 600; } .es-DAMAGED, .es-DAMAGED b { color: #96690a; }
.es-NOISE, .es-NOISE b { opacity: .7; } .es-UNEXPLAINED, .es-UNEXPLAINED b { color: #b00020; font-weight: 700; }
.es-table.es-rows td { overflow-wrap: anywhere; min-width: 4.5rem; white-space: normal; }
.es-table.es-texts td, .es-table.es-texts th, .es-table.es-rows th { white-space: normal; } .es-table.es-texts td.number { white-space: nowrap; }
.es-table.es-rows td.number, .es-table.es-rows td.es-verdict { overflow-wrap: normal; white-space: nowrap; }
.es-notes { font-size: .92rem; opacity: .8; max-width: 48rem; }
@media (prefers-color-scheme: dark) {
  .es-AGREES b { color: #4cc9a0; } .es-WRONG, .es-WRONG b { color: #ff9a66; } .es-DAMAGED, .es-DAMAGED b { color: #e0b04a; }
  .es-UNEXPLAINED, .es-UNEXPLAINED b { color: #ff6b81; }
}
@media print {
  .es-AGREES b { color: #00604a; } .es-WRONG, .es-WRONG b { color: #a03000; } .es-DAMAGED, .es-DAMAGED b { color: #6f4e00; }
}
</style>"""


def section_table(section: Section) -> str:
    """Text, rows, notes and tables of a section."""
    made = lettered_paragraph(section.text)
    if section.rows:
        made += rows_table(section)
    if notes := section.remarks():
        made += (
            '<ol class="es-notes">'
            + "".join(f"<li>{lettered(note)}</li>" for note in notes)
            + "</ol>"
        )
    return made + "".join(map(grid, section.exhibits))


def rows_table(section: Section) -> str:
    """Rows with their verdicts; values stand at the right where all of them are numbers."""
    numbers = all(is_number(x) for row in section.rows for x in (row.printed, row.computed))
    right = (False, numbers, numbers, True, False)
    head = "".join(
        f"<th{_class(x)}>{lettered(c)}</th>" for c, x in zip(section.columns, right, strict=True)
    )
    lines = []
    for row in section.rows:
        what, printed, computed, difference, verdict = section.cells(row)
        note = verdict.rpartition(" [")[2].rstrip("]") if row.remark else ""
        values = "".join(f"<td{_class(numbers)}>{lettered(x)}</td>" for x in (printed, computed))
        lines.append(
            f"<tr><td>{lettered(what)}</td>{values}<td{_class(True)}>{escape(difference)}</td>"
            f"{verdict_cell(row.verdict, section.language, note)}</tr>"
        )
    return f'<table class="es-table es-rows"><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table>'


def verdict_cell(verdict: Verdict, language: str, note: str = "") -> str:
    mark = f" <sup>{note}</sup>" if note else ""
    said = escape(translated(verdict.value, language))
    return (
        f'<td class="es-verdict es-{verdict.name}"><b>{SIGNS[verdict.name]}</b> {said}{mark}</td>'
    )


def grid(exhibit: Exhibit) -> str:
    """A table of texts; a column of numbers stands at the right."""
    right = [
        all(is_number(line[k]) or line[k] in ("", "-") for line in exhibit.lines)
        for k in range(len(exhibit.columns))
    ]
    head = "".join(
        f"<th{_class(x)}>{lettered(c)}</th>" for c, x in zip(exhibit.columns, right, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(f"<td{_class(x)}>{lettered(c)}</td>" for c, x in zip(line, right, strict=True))
        + "</tr>"
        for line in exhibit.lines
    )
    title = f"<caption>{lettered(exhibit.title)}</caption>" if exhibit.title else ""
    return f'<table class="es-table es-texts">{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def lettered(text: str) -> str:
    """A text as HTML, with Greek letters for their names.

    >>> lettered("delta theta2' < 1, dtheta_k")
    'δθ2&#x27; &lt; 1, dθ_k'
    """
    return escape(_greek(text))


def _greek(text: str) -> str:
    return DELTA.sub("δ", NAMES.sub(lambda m: LETTERS[m[0]], text))


def lettered_paragraph(text: str) -> str:
    """A paragraph with Greek letters; what stands between backticks stays as it is."""
    pieces = text.split("`")
    return paragraph("`".join(piece if k % 2 else _greek(piece) for k, piece in enumerate(pieces)))


def _class(number: bool) -> str:
    return ' class="number"' if number else ""
