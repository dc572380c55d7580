"""The documents recomputed: one of them, or all, as text on the terminal and as handouts in files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from eslabon.atomic_files import check_writable
from eslabon.cli.answer import Answer, patience
from eslabon.cli.app import command
from eslabon.errors import MissingDependencyError
from eslabon.language import LANGUAGES, Verbatim, checked, phrase, translated
from eslabon.sheets import Sheet

if TYPE_CHECKING:
    from eslabon.reproductions import Report

ALL = "all"
NAMES = ("rojas", "mendez", "morales", "yime", "diaz", ALL)
COLUMNS = ("section", "what", "printed", "computed", "difference", "verdict", "remark")


@command("reproduce", "eslabon reproduce yime")
def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="The document: rojas, mendez, morales, yime or diaz; or all of them.",
            autocompletion=lambda: list(NAMES),
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Also write the report to this file: .html with its figures, .md, or else text.",
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--folder",
            "--figures",
            help="Where the handout, its Markdown and its figures go; out/reproductions/NAME, for all out/reproductions, if left out.",
        ),
    ] = None,
    language: Annotated[
        str,
        typer.Option(
            "--language", help="Of the report: en or es.", autocompletion=lambda: list(LANGUAGES)
        ),
    ] = "en",
) -> Answer:
    """Recompute a document and compare with its printed values.

    Each value stands beside the printed one with a verdict. A handout with figures is written to a folder."""
    checked(language)
    if name == ALL:
        return _all(folder or Path("out/reproductions"), language, out)
    from eslabon.reproductions import reproduce as made

    with patience(f"recomputing {name}"):
        report = made(name).in_language(language)
    parts: list[Any] = [report]
    if out is not None:
        text = phrase("The report is written to {path}.", path=Verbatim(report.save(out)))
        parts.append(translated(text, language))
    with patience("drawing its figures"):
        parts += _written(report, folder or Path("out/reproductions") / name)
    rows = [
        (section.title, *(getattr(row, x) for x in COLUMNS[1:])) for section, row in report.rows()
    ]
    return Answer(parts, records=[Sheet("rows", COLUMNS, rows)])


def _written(report: Report, folder: Path) -> list[str]:
    """What was written into the folder; without figures where there is nothing to draw them with."""
    try:
        handout, markdown, text, *pictures = report.write(folder)
        said = [
            translated(phrase("Figure: {path}", path=Verbatim(path)), report.language)
            for path in pictures
        ]
    except MissingDependencyError as error:
        handout, markdown, text = report.write(folder, figures=False)
        said = [f"No figures are drawn: {error}"]
    first = phrase(
        "Handout: {handout} (open it in a browser; {markdown} and {text} are beside it)",
        handout=Verbatim(handout),
        markdown=Verbatim(markdown.name),
        text=Verbatim(text.name),
    )
    return [translated(first, report.language), *said]


def _all(folder: Path, language: str, out: Path | None) -> Answer:
    from eslabon.errors import InputError
    from eslabon.reproductions import DOCUMENTS, write_index
    from eslabon.reproductions import reproduce as made

    if out is not None:
        raise InputError("all documents make a folder, not a file: use --folder, not --out.")
    check_writable(folder / "index.html")
    reports, lines = [], []
    for name in DOCUMENTS:
        with patience(f"recomputing {name}"):
            reports.append(made(name).in_language(language))
            written = _written(reports[-1], folder / name)[0]
        Console(stderr=True, highlight=False, soft_wrap=True).print(
            Text(written)
        )  # minutes before all are there
        lines += [(name, *(getattr(row, x) for x in COLUMNS[1:])) for _, row in reports[-1].rows()]
    index = translated(
        phrase("All of them: {path}", path=Verbatim(write_index(reports, folder))), language
    )
    summary = Sheet("", ("document", *COLUMNS[1:]), lines)
    counts = Sheet(translated("Rows by verdict", language), *_counts(reports, language))
    return Answer([counts, index], records=[summary])


def _counts(reports: list[Report], language: str) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """A line for each document: how many rows have which verdict."""
    from eslabon.reproductions import Verdict

    found = {report.name: [row.verdict for _, row in report.rows()] for report in reports}
    rows = [(name, *(verdicts.count(v) for v in Verdict)) for name, verdicts in found.items()]
    return tuple(translated(x, language) for x in ("document", *(v.value for v in Verdict))), rows
