"""A report as a page for a class: what the document does, its equations, what is wrong in print, all rows, figures, how to run it.

One HTML file that needs no other, for the screen and for paper. Texts of the report are in its language already; what is said
here is translated here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from eslabon import pages
from eslabon.atomic_files import write
from eslabon.language import Verbatim, plural, translated
from eslabon.reproductions.comparison import MEANING, Exhibit, Row, Section, Verdict, counted
from eslabon.reproductions.document import joined
from eslabon.reproductions.html_tables import (
    STYLE,
    grid,
    lettered,
    lettered_paragraph,
    section_table,
    verdict_cell,
)

if TYPE_CHECKING:
    from eslabon.reproductions.report import Report

PAGE_STYLE = """<style>
.es-errata td:first-child { min-width: 11rem; } .es-errata td { min-width: 8rem; }
.es-equation { margin: 1.2rem 0; } .es-equation math { font-size: 1.15em; }
.es-equation p { margin: .2rem 0 0; max-width: 48rem; color: var(--quiet); font-size: .93rem; }
.es-authors { font-size: 1.1rem; margin: 0; } .es-where { margin: .1rem 0 1.2rem; color: var(--quiet); }
@media print {
  @page { margin: 16mm 14mm; } h2, h3 { break-after: avoid; } tr, .es-equation { break-inside: avoid; } h2 { margin-top: 1.6rem; }
  table.es-table { font-size: 8.5pt; } .es-table th, .es-table td { padding-right: .6rem; } .es-table th { white-space: normal; }
  .es-errata td { min-width: 5rem; } .es-errata td:first-child { min-width: 8.5rem; } .es-figure svg, .es-figure img { max-height: 22cm; }
}
</style>"""
NAMED = 6  # rows that share a note and are named one by one


def handout(report: Report, figures: bool = True) -> str:
    """The whole page."""
    chapters = list(_chapters(report, figures))
    links = [(anchor, title) for anchor, title, _ in chapters]
    parts = "".join(pages.heading(title, 2, anchor) + body for anchor, title, body in chapters)
    body = (
        STYLE
        + PAGE_STYLE
        + _head(report)
        + pages.contents(links)
        + lettered_paragraph(report.text)
        + parts
    )
    return pages.document(report.title, body, report.language)


def notebook_pieces(report: Report) -> Iterator[str]:
    """For a notebook: title and summary, and the sections folded away."""
    yield STYLE + pages.paragraph(report.title) + lettered_paragraph(report.text)
    yield grid(report.summary())
    for section in report.sections:
        yield pages.folded(section.title, section_table(section))


def index(reports: Sequence[Report], path: Path, language: str = "en") -> Path:
    """A page that leads to the handouts, which lie in folders beside it, with their verdicts."""
    title = translated("Published documents recomputed", language)
    text = translated(
        "Five documents on the dynamics of articulated systems, with what each prints beside what eslabon computes. A handout has the "
        "document's equations, what is wrong in print, every row with its verdict, and the figures, most of which are lost in the "
        "scans and drawn anew.",
        language,
    )
    body = (
        STYLE
        + PAGE_STYLE
        + pages.heading(title, 1)
        + pages.paragraph(text)
        + _counts(reports, language)
    )
    for report in reports:
        link = f'<a href="{report.name}/{report.name}.html">{escape(report.document.title)}</a>'
        body += f"<h2>{link}</h2>{_authors(report)}" + "".join(
            map(pages.paragraph, report.document.does)
        )
    body += pages.heading(translated("What the verdicts mean", language)) + _legend(language)
    return write(path, pages.document(title, body, language))


def _counts(reports: Sequence[Report], language: str) -> str:
    """A line for each document: how many rows have which verdict, and how many figures it has."""
    whole = [Section(_names(r), "", tuple(row for _, row in r.rows())) for r in reports]
    made = counted(whole, language)
    drawn = [str(len(report.figures)) for report in reports]
    lines = tuple(
        (*line, count)
        for line, count in zip(made.lines, [*drawn, str(sum(map(int, drawn)))], strict=True)
    )
    columns = (translated("document", language), *made.columns[1:], translated("figures", language))
    return grid(Exhibit(columns, lines))


# -- the page's parts -------------------------------------------------------------------------------------------------


def _head(report: Report, level: int = 1) -> str:
    return pages.heading(report.document.title, level) + _authors(report)


def _names(report: Report) -> str:
    return translated(joined(report.document.authors), report.language)


def _authors(report: Report) -> str:
    return pages.paragraph(_names(report), "es-authors") + pages.paragraph(
        report.document.where, "es-where"
    )


def _chapters(report: Report, figures: bool) -> Iterator[tuple[str, str, str]]:
    """Anchor, title and body of each chapter."""

    def said(text: str) -> str:
        return translated(text, report.language)

    document = report.document
    yield "does", said("What the document does"), "".join(map(pages.paragraph, document.does))
    if document.equations:
        equations = (
            f"{pages.equation(e.latex)}{pages.paragraph(e.text)}" for e in document.equations
        )
        yield (
            "equations",
            said("Its equations"),
            "".join(f'<div class="es-equation">{e}</div>' for e in equations),
        )
    yield "verdicts", said("What came out"), grid(report.summary()) + _legend(report.language)
    yield "errata", said("What is wrong in print"), _errata(report)
    yield (
        "rows",
        said("Printed beside computed"),
        "".join(
            pages.heading(section.title, 3) + section_table(section) for section in report.sections
        ),
    )
    if figures and report.figures:
        yield (
            "figures",
            said("Figures"),
            "".join(
                pages.picture(
                    picture.svg(report.language), f"{said(picture.title)}. {said(picture.caption)}"
                )
                for picture in report.figures
            ),
        )
    yield "run", said("Run it yourself"), _commands(report)


def _legend(language: str) -> str:
    lines = "".join(
        f"<tr>{verdict_cell(verdict, language)}<td>{escape(translated(MEANING[verdict], language))}</td></tr>"
        for verdict in Verdict
    )
    return f'<table class="es-table es-texts">{lines}</table>'


def _commands(report: Report) -> str:
    language = report.language
    option = "" if language == "en" else f" --language {language}"
    shell = (f"eslabon reproduce {report.name}{option}", *report.document.commands)
    python = f"import numpy as np\nimport eslabon as es\n\n{report.document.python}"
    again = f'es.reproductions.reproduce("{report.name}").save("{report.name}.html"{_argument(language)})'
    return (
        pages.paragraph(
            translated(
                "In a shell (`pip install 'eslabon[plot]'` brings what is needed):", language
            )
        )
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
    head = "".join(f"<th>{lettered(column)}</th>" for column in columns)
    text = translated(
        "Each line is one thing that is wrong or damaged, with all the rows it explains. How it was found, and the numbers, are below.",
        language,
    )
    return f'{pages.paragraph(text)}<table class="es-table es-rows es-errata"><thead><tr>{head}</tr></thead>{"".join(lines)}</table>'


def _erratum(section: Section, rows: Sequence[Row], note: str, language: str) -> str:
    names = "; ".join(row.what for row in rows[:NAMED])
    if len(rows) > NAMED:
        names = translated(
            plural(
                len(rows) - NAMED,
                "{names}; and one more",
                "{names}; and {n} more",
                names=Verbatim(names),
            ),
            language,
        )
    single = len(rows) == 1
    cells = (rows[0].printed, rows[0].computed) if single else ("", "")
    where = f"<td><small>{escape(section.title)}</small><br>{lettered(names)}</td>"
    values = "".join(f"<td>{lettered(cell)}</td>" for cell in cells)
    return f'<tr>{where}{values}<td class="es-prose">{lettered(note)}</td></tr>'
