"""The reproduction of one document, and how it looks in a terminal, as Markdown, in a file and in a notebook."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from eslabon.arguments import file_path, flag
from eslabon.atomic_files import write
from eslabon.displays import displayed
from eslabon.language import checked, phrase, translated
from eslabon.reproductions.comparison import Exhibit, Row, Section, Verdict, counted
from eslabon.reproductions.document import Document
from eslabon.sheets import is_number

if TYPE_CHECKING:
    from eslabon.reproductions.document_figures import Picture

WIDTH = 100

STYLES = {
    Verdict.AGREES: "green",
    Verdict.WRONG: "bold red",
    Verdict.DAMAGED: "yellow",
    Verdict.NOISE: "dim",
    Verdict.UNEXPLAINED: "bold white on red",
}


@displayed
@dataclass(frozen=True)
class Report:
    """The reproduction of one document: sections of rows, and figures, which are computed when they are asked for.

    >>> from eslabon.reproductions import Report, Section
    >>> from eslabon.reproductions.document import Document
    >>> from eslabon.reproductions.verdicts import number
    >>> section = Section("Gravity", "At sea level.", (number("g", "9.81", 9.8066),))
    >>> report = Report("g", Document(("A. Author",), "On falling", "1687"), "Recomputed.", (section,))
    >>> report.summary().lines[-1]
    ('all', '1')
    """

    name: str
    document: Document
    text: str
    sections: tuple[Section, ...]
    make_figures: Callable[[], Sequence[Picture]] = tuple
    language: str = "en"

    @property
    def title(self) -> str:
        """The document cited, in the report's language."""
        return translated(
            phrase("{document}, recomputed", document=self.document.cited()), self.language
        )

    @cached_property
    def figures(self) -> Sequence[Picture]:
        """The pictures, computed when they are first asked for."""
        return self.make_figures()

    def rows(self) -> Iterator[tuple[Section, Row]]:
        """Every row with its section."""
        for section in self.sections:
            for row in section.rows:
                yield section, row

    def summary(self) -> Exhibit:
        """For each section how many rows have which verdict."""
        return counted(self.sections, self.language)

    def in_language(self, language: str) -> Report:
        """The same report in another language; it is made in English, and translated from that."""
        if checked(language) == self.language:
            return self
        return replace(
            self,
            document=self.document.in_language(language),
            text=translated(self.text, language),
            sections=tuple(section.in_language(language) for section in self.sections),
            language=language,
        )

    # -- on a terminal --------------------------------------------------------------------------------------------

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(self.title, style="bold")
        yield Text(self.text, style="dim")
        for section in self.sections:
            yield Text(f"\n{section.title}", style="bold")
            yield Text(section.text, style="dim")
            if section.rows:
                yield Text()
                yield _rich_rows(section)
            for k, remark in enumerate(section.remarks(), start=1):
                yield _footnote(k, remark)
            for exhibit in section.exhibits:
                yield Text()
                yield _rich_exhibit(exhibit)
        yield Text()
        yield _rich_exhibit(self.summary())

    def plain(self) -> str:
        """The report as text, as a terminal of 100 columns shows it."""
        console = Console(width=WIDTH, color_system=None, force_terminal=False)
        with console.capture() as captured:
            console.print(self)
        return "\n".join(line.rstrip() for line in captured.get().splitlines()) + "\n"

    # -- as a document --------------------------------------------------------------------------------------------

    def markdown(self) -> str:
        """The report as Markdown."""
        parts = [f"# {self.title}", self.text]
        for section in self.sections:
            parts += [f"## {section.title}", section.text]
            if section.rows:
                parts.append(
                    _markdown_table(section.columns, [section.cells(row) for row in section.rows])
                )
                parts.append(
                    "\n".join(
                        f"{k}. {remark}" for k, remark in enumerate(section.remarks(), start=1)
                    )
                )
            for exhibit in section.exhibits:
                parts += [
                    f"**{exhibit.title}**" if exhibit.title else "",
                    _markdown_table(exhibit.columns, exhibit.lines),
                ]
        summary = self.summary()
        parts += [f"## {summary.title}", _markdown_table(summary.columns, summary.lines)]
        return "\n\n".join(part for part in parts if part) + "\n"

    def html(self, figures: bool = True) -> str:
        """A handout: what the document does, its equations, what is wrong in print, all rows, figures, and how to run it. One
        page that needs no other file; without `figures` it needs no matplotlib."""
        from eslabon.reproductions.handout import handout

        return handout(self, flag(figures, "figures"))

    def __repr__(self) -> str:
        found = Counter(row.verdict.value for _, row in self.rows())
        return f"<Report on {self.name}: {', '.join(f'{number} {verdict}' for verdict, number in found.items())}>"

    def _pieces(self) -> Iterator[str]:
        """For notebooks: the summary, and each section to open by a click."""
        from eslabon.reproductions.handout import notebook_pieces

        return notebook_pieces(self)

    def save(self, path: str | Path, language: str | None = None) -> Path:
        """Write the report: a handout with its figures if the name ends in .html, Markdown if in .md, else text of 100 columns."""
        made = self if language is None else self.in_language(language)
        writers = {".html": made.html, ".md": made.markdown}
        return write(path, writers.get(file_path(path).suffix.lower(), made.plain)())

    def write(self, folder: str | Path, suffix: str = "png", figures: bool = True) -> list[Path]:
        """Everything into a folder: the handout first, then Markdown, text, and the figures as files of their own."""
        to = file_path(folder, "folder")
        made = [write(to / f"{self.name}.html", self.html(figures))]
        made += [self.save(to / f"{self.name}.{kind}") for kind in ("md", "txt")]
        return [
            *made,
            *(
                picture.save(to, suffix, self.language)
                for picture in (self.figures if figures else ())
            ),
        ]


def _rich_rows(section: Section) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="underline")
    numeric = all(is_number(row.printed) and is_number(row.computed) for row in section.rows)
    for k, heading in enumerate(section.columns):
        right = k == 3 or (numeric and k in (1, 2))
        table.add_column(
            heading, justify="right" if right else "left", overflow="fold", no_wrap=k >= 3
        )
    for row in section.rows:
        cells = [Text(cell) for cell in section.cells(row)]
        cells[-1].stylize(STYLES[row.verdict])
        table.add_row(*cells)
    return table


def _footnote(number: int, sentence: str) -> Table:
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_row(Text(f"[{number}]"), Text(sentence, style="italic"))
    return grid


def _rich_exhibit(exhibit: Exhibit) -> Table:
    table = Table(
        title=exhibit.title or None, title_justify="left", title_style="bold", box=None, pad_edge=False,
        padding=(0, 2, 0, 0), header_style="underline",
    )  # fmt: skip
    for k, column in enumerate(exhibit.columns):
        numeric = all(is_number(line[k]) or line[k] in ("", "-") for line in exhibit.lines)
        table.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for line in exhibit.lines:
        table.add_row(*(escape(cell) for cell in line))
    return table


def _markdown_table(columns: Sequence[str], lines: Sequence[Sequence[Any]]) -> str:
    def line(cells: Sequence[Any]) -> str:
        return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"

    return "\n".join(
        [line(columns), line(["---"] * len(columns)), *(line(cells) for cells in lines)]
    )
