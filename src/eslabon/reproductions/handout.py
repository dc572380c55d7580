"""A report as a page for a class: what the document does, its equations, what is wrong in print, all rows, figures, how to run it.

One HTML file that needs no other, for the screen and for paper. Texts of the report are in its language already; what is said
here is translated here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from eslabon import pages
from eslabon.files import write
from eslabon.language import Verbatim, plural, translated
from eslabon.reproductions.comparison import MEANING, Exhibit, Row, Section, Verdict, counted, is_number
from eslabon.reproductions.document import joined

if TYPE_CHECKING:
    from eslabon.reproductions.report import Report

# A sign for each verdict, so that colours are not needed to read it.
SIGNS = {
    Verdict.AGREES: "✓",
    Verdict.WRONG: "✗",
    Verdict.DAMAGED: "◐",
    Verdict.NOISE: "·",
    Verdict.UNEXPLAINED: "?",
}
LETTERS = {"theta": "θ", "tau": "τ", "beta": "β", "phi": "φ", "rho": "ρ", "gamma": "γ", "omega": "ω", "lambda": "λ"}
NAMES = re.compile(rf"(?<![A-Za-ce-z_.])(?:{'|'.join(LETTERS)})(?![a-z])")  # dtheta too
DELTA = re.compile(r"\bdelta (?=[\wθ])")
NAMED = 6  # rows that share a note and are named one by one
STYLE = """<style>
.es-verdict { white-space: nowrap; } .es-verdict b { display: inline-block; width: 1.3em; text-align: center; }
.es-AGREES b { color: #00805d; } .es-WRONG, .es-WRONG b { color: #c2410c; font-weight: 600; } .es-DAMAGED, .es-DAMAGED b { color: #96690a; }
.es-NOISE, .es-NOISE b { color: var(--quiet); } .es-UNEXPLAINED, .es-UNEXPLAINED b { color: #b00020; font-weight: 700; }
.es-rows td { overflow-wrap: anywhere; min-width: 4.5rem; } .es-rows td.number, .es-rows td.es-verdict { overflow-wrap: normal; }
.es-errata td:first-child { min-width: 11rem; } .es-errata td { min-width: 8rem; }
.es-notes { font-size: .92rem; color: var(--quiet); } .es-notes li, .es-equation p { max-width: 48rem; }
.es-equation { margin: 1.2rem 0; } .es-equation math { font-size: 1.15em; } .es-equation p { margin: .2rem 0 0; color: var(--quiet); font-size: .93rem; }
.es-authors { font-size: 1.1rem; margin: 0; } .es-where { margin: .1rem 0 1.2rem; color: var(--quiet); }
@media (prefers-color-scheme: dark) {
  .es-AGREES b { color: #4cc9a0; } .es-WRONG, .es-WRONG b { color: #ff9a66; } .es-DAMAGED, .es-DAMAGED b { color: #e0b04a; }
  .es-UNEXPLAINED, .es-UNEXPLAINED b { color: #ff6b81; }
}
@media print {
  @page { margin: 16mm 14mm; } h2, h3 { break-after: avoid; } tr, .es-equation { break-inside: avoid; }
  table.es-table { font-size: 8.5pt; } .es-table th, .es-table td { padding-right: .6rem; } .es-table th { white-space: normal; }
  h2 { margin-top: 1.6rem; } .es-figure svg, .es-figure img { max-height: 22cm; }
  .es-AGREES b { color: #00604a; } .es-WRONG, .es-WRONG b { color: #a03000; } .es-DAMAGED, .es-DAMAGED b { color: #6f4e00; }
}
</style>"""


def handout(report: Report, figures: bool = True) -> str:
    """The whole page."""
    chapters = list(_chapters(report, figures))
    links = [(anchor, title) for anchor, title, _ in chapters]
    parts = "".join(pages.heading(title, 2, anchor) + body for anchor, title, body in chapters)
    body = STYLE + _head(report) + pages.contents(links) + _paragraph(report.text) + parts
    return pages.document(report.title, body, report.language)


def displayed(report: Report) -> str:
    """For a notebook: title and summary, and the sections folded away."""
    sections = "".join(pages.folded(section.title, _section(section)) for section in report.sections)
    return f"{STYLE}{_head(report, 3)}{_paragraph(report.text)}{_grid(report.summary())}{sections}"


def index(reports: Sequence[Report], path: Path, language: str = "en") -> Path:
    """A page that leads to the handouts, which lie in folders beside it, with their verdicts."""
    title = translated("Published documents recomputed", language)
    text = translated(
        "Five documents on the dynamics of articulated systems, with what each prints beside what eslabon computes. A handout has the "
        "document's equations, what is wrong in print, every row with its verdict, and the figures, most of which are lost in the "
        "scans and drawn anew.",
        language,
    )
    body = STYLE + pages.heading(title, 1) + pages.paragraph(text) + _counts(reports, language)
    for report in reports:
        link = f'<a href="{report.name}/{report.name}.html">{escape(report.document.title)}</a>'
        body += f"<h2>{link}</h2>{_authors(report)}" + "".join(map(pages.paragraph, report.document.does))
    body += pages.heading(translated("What the verdicts mean", language)) + _legend(language)
    return write(path, pages.document(title, body, language))


def _counts(reports: Sequence[Report], language: str) -> str:
    """A line for each document: how many rows have which verdict, and how many figures it has."""
    whole = [Section(_names(r), "", tuple(row for _, row in r.rows())) for r in reports]
    made = counted(whole, language)
    drawn = [str(len(report.figures)) for report in reports]
    lines = tuple((*line, count) for line, count in zip(made.lines, [*drawn, str(sum(map(int, drawn)))], strict=True))
    columns = (translated("document", language), *made.columns[1:], translated("figures", language))
    return _grid(Exhibit(columns, lines))


# -- the page's parts -------------------------------------------------------------------------------------------------


def _head(report: Report, level: int = 1) -> str:
    return pages.heading(report.document.title, level) + _authors(report)


def _names(report: Report) -> str:
    return translated(joined(report.document.authors), report.language)


def _authors(report: Report) -> str:
    return pages.paragraph(_names(report), "es-authors") + pages.paragraph(report.document.where, "es-where")


def _chapters(report: Report, figures: bool) -> Iterator[tuple[str, str, str]]:
    """Anchor, title and body of each chapter."""

    def said(text: str) -> str:
        return translated(text, report.language)

    document = report.document
    yield "does", said("What the document does"), "".join(map(pages.paragraph, document.does))
    if document.equations:
        equations = (f"{pages.equation(e.latex)}{pages.paragraph(e.text)}" for e in document.equations)
        yield "equations", said("Its equations"), "".join(f'<div class="es-equation">{e}</div>' for e in equations)
    yield "verdicts", said("What came out"), _grid(report.summary()) + _legend(report.language)
    yield "errata", said("What is wrong in print"), _errata(report)
    yield (
        "rows",
        said("Printed beside computed"),
        "".join(pages.heading(section.title, 3) + _section(section) for section in report.sections),
    )
    if figures and report.figures:
        yield (
            "figures",
            said("Figures"),
            "".join(
                pages.picture(picture.svg(report.language), f"{said(picture.title)}. {said(picture.caption)}")
                for picture in report.figures
            ),
        )
    yield "run", said("Run it yourself"), _commands(report)


def _legend(language: str) -> str:
    lines = "".join(
        f"<tr>{_verdict(verdict, language)}<td>{escape(translated(MEANING[verdict], language))}</td></tr>"
        for verdict in Verdict
    )
    return f'<table class="es-table">{lines}</table>'


def _commands(report: Report) -> str:
    language = report.language
    option = "" if language == "en" else f" --language {language}"
    shell = (f"eslabon reproduce {report.name}{option}", *report.document.commands)
    python = f"import numpy as np\nimport eslabon as es\n\n{report.document.python}"
    again = f'es.reproductions.reproduce("{report.name}").save("{report.name}.html"{_argument(language)})'
    return (
        pages.paragraph(translated("In a shell (`pip install 'eslabon[plot,draw]'` brings what is needed):", language))
        + f"<pre>{escape(chr(10).join(shell))}</pre>"
        + pages.paragraph(translated("In Python, and this page again:", language))
        + f"<pre>{escape(python)}\n\n{escape(again)}</pre>"
    )


def _argument(language: str) -> str:
    return "" if language == "en" else f', language="{language}"'


# -- what is wrong in print -------------------------------------------------------------------------------------------


def _errata(report: Report) -> str:
    """For each note the rows it is about, in the order of the sections."""
    language = report.language
    lines = []
    for section in report.sections:
        for note in section.remarks():
            rows = [row for row in section.rows if row.remark == note]
            lines.append(_erratum(section, rows, note, language))
    if not lines:
        return pages.paragraph(translated("Nothing was found.", language))
    columns = [translated(x, language) for x in ("where", "printed", "computed", "why")]
    head = "".join(f"<th>{_text(column)}</th>" for column in columns)
    text = translated(
        "Each line is one thing that is wrong or damaged, with all the rows it explains. How it was found, and the numbers, are below.",
        language,
    )
    return f'{pages.paragraph(text)}<table class="es-table es-rows es-errata"><thead><tr>{head}</tr></thead>{"".join(lines)}</table>'


def _erratum(section: Section, rows: Sequence[Row], note: str, language: str) -> str:
    names = "; ".join(row.what for row in rows[:NAMED])
    if len(rows) > NAMED:
        names = translated(
            plural(len(rows) - NAMED, "{names}; and one more", "{names}; and {n} more", names=Verbatim(names)), language
        )
    single = len(rows) == 1
    cells = (rows[0].printed, rows[0].computed) if single else ("", "")
    where = f"<td><small>{escape(section.title)}</small><br>{_text(names)}</td>"
    values = "".join(f"<td>{_text(cell)}</td>" for cell in cells)
    return f'<tr>{where}{values}<td class="es-prose">{_text(note)}</td></tr>'


# -- tables -----------------------------------------------------------------------------------------------------------


def _section(section: Section) -> str:
    """Text, rows, notes and tables of a section."""
    made = _paragraph(section.text)
    if section.rows:
        made += _rows(section)
    if notes := section.remarks():
        made += '<ol class="es-notes">' + "".join(f"<li>{_text(note)}</li>" for note in notes) + "</ol>"
    return made + "".join(map(_grid, section.exhibits))


def _rows(section: Section) -> str:
    head = "".join(f"<th{_kind(k == 3)}>{_text(column)}</th>" for k, column in enumerate(section.columns))
    lines = []
    for row in section.rows:
        what, printed, computed, difference, verdict = section.cells(row)
        note = verdict.rpartition(" [")[2].rstrip("]") if row.remark else ""
        values = "".join(f"<td{_kind(is_number(x))}>{_text(x)}</td>" for x in (printed, computed))
        lines.append(
            f"<tr><td>{_text(what)}</td>{values}<td{_kind(True)}>{escape(difference)}</td>"
            f"{_verdict(row.verdict, section.language, note)}</tr>"
        )
    return f'<table class="es-table es-rows"><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table>'


def _verdict(verdict: Verdict, language: str, note: str = "") -> str:
    mark = f" <sup>{note}</sup>" if note else ""
    said = escape(translated(verdict.value, language))
    return f'<td class="es-verdict es-{verdict.name}"><b>{SIGNS[verdict]}</b> {said}{mark}</td>'


def _grid(exhibit: Exhibit) -> str:
    """A table of texts; a column of numbers stands at the right."""
    right = [
        all(is_number(line[k]) or line[k] in ("", "-") for line in exhibit.lines) for k in range(len(exhibit.columns))
    ]
    head = "".join(f"<th{_kind(x)}>{_text(c)}</th>" for c, x in zip(exhibit.columns, right, strict=True))
    body = "".join(
        "<tr>" + "".join(f"<td{_kind(x)}>{_text(c)}</td>" for c, x in zip(line, right, strict=True)) + "</tr>"
        for line in exhibit.lines
    )
    title = f"<caption>{_text(exhibit.title)}</caption>" if exhibit.title else ""
    return f'<table class="es-table">{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _text(text: str) -> str:
    """A text as HTML, with Greek letters for their names.

    >>> _text("delta theta2' < 1, dtheta_k")
    'δθ2&#x27; &lt; 1, dθ_k'
    """
    return escape(_greek(text))


def _greek(text: str) -> str:
    return DELTA.sub("δ", NAMES.sub(lambda m: LETTERS[m[0]], text))


def _paragraph(text: str) -> str:
    """A paragraph with Greek letters; what stands between backticks stays as it is."""
    pieces = text.split("`")
    return pages.paragraph("`".join(piece if k % 2 else _greek(piece) for k, piece in enumerate(pieces)))


def _kind(number: bool) -> str:
    return ' class="number"' if number else ""
