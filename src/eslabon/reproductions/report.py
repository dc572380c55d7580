"""A report that sets what a document prints beside what is computed: rows, sections, and how they look.

Rows are made in `verdicts`, which judges them; nothing here computes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from eslabon.files import write

WIDTH = 100

# The headings of what stands beside what.
PAPER = ("", "the paper", "eslabon")
THESIS = ("", "the thesis", "eslabon")
RECOMPUTED = ("", "recomputed", "eslabon")  # by other programs, from the printed data
FORMS = ("", "as printed", "as it must read")


class Verdict(StrEnum):
    """What a comparison comes to. `verdicts` says how each is reached.

    >>> import eslabon as es
    >>> [str(verdict) for verdict in es.reproductions.Verdict]
    ['agrees', 'print is wrong', 'print damaged', 'noise', 'not explained']
    """

    AGREES = "agrees"
    WRONG = "print is wrong"
    DAMAGED = "print damaged"
    NOISE = "noise"
    UNEXPLAINED = "not explained"


STYLES = {
    Verdict.AGREES: "green",
    Verdict.WRONG: "bold red",
    Verdict.DAMAGED: "yellow",
    Verdict.NOISE: "dim",
    Verdict.UNEXPLAINED: "bold white on red",
}


@dataclass(frozen=True)
class Row:
    """One comparison: what it is about, both values as text, their difference, the verdict and a sentence on it.

    >>> import eslabon as es
    >>> from eslabon.reproductions.verdicts import number
    >>> number("g", "9.81", 9.8066).verdict is es.reproductions.Verdict.AGREES
    True
    """

    what: str
    printed: str
    computed: str
    difference: float
    verdict: Verdict
    remark: str = ""


@dataclass(frozen=True)
class Exhibit:
    """A table that is shown and not judged."""

    columns: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    title: str = ""


@dataclass(frozen=True)
class Section:
    """Rows on one subject, with what must be known to read them.

    >>> from eslabon.reproductions import Section
    >>> from eslabon.reproductions.verdicts import number
    >>> Section("Gravity", "At sea level.", (number("g", "9.81", 9.8066),)).columns
    ('', 'printed', 'computed', 'difference', 'verdict')
    """

    title: str
    text: str
    rows: tuple[Row, ...] = ()
    headings: tuple[str, str, str] = ("", "printed", "computed")
    exhibits: tuple[Exhibit, ...] = ()

    def remarks(self) -> list[str]:
        """The sentences on the rows, each once, in order."""
        return list(dict.fromkeys(row.remark for row in self.rows if row.remark))

    def cells(self, row: Row) -> tuple[str, str, str, str, str]:
        """A row as text; the verdict carries the number of its sentence."""
        note = f" [{self.remarks().index(row.remark) + 1}]" if row.remark else ""
        return row.what, row.printed, row.computed, small(row.difference), f"{row.verdict}{note}"

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.headings, "difference", "verdict")


@dataclass(frozen=True)
class Report:
    """The reproduction of one document.

    >>> from eslabon.reproductions import Report, Section
    >>> from eslabon.reproductions.verdicts import number
    >>> report = Report("g", "Gravity", "Recomputed.", (Section("g", "", (number("g", "9.81", 9.8066),)),))
    >>> report.summary().lines[-1]
    ('all', '1')
    """

    name: str
    title: str
    text: str
    sections: tuple[Section, ...]

    def rows(self) -> Iterator[tuple[Section, Row]]:
        for section in self.sections:
            for row in section.rows:
                yield section, row

    def summary(self) -> Exhibit:
        """For each section how many rows have which verdict."""
        shown = [v for v in Verdict if any(row.verdict is v for _, row in self.rows())]
        lines = []
        for section in self.sections:
            if section.rows:
                found = Counter(row.verdict for row in section.rows)
                lines.append((section.title, *(str(found[v] or "") for v in shown)))
        total = Counter(row.verdict for _, row in self.rows())
        lines.append(("all", *(str(total[v]) for v in shown)))
        return Exhibit(("section", *(str(v) for v in shown)), tuple(lines), "Summary")

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

    def markdown(self) -> str:
        """The report as Markdown."""
        parts = [f"# {self.title}", self.text]
        for section in self.sections:
            parts += [f"## {section.title}", section.text]
            if section.rows:
                parts.append(_markdown_table(section.columns, [section.cells(row) for row in section.rows]))
                parts.append("\n".join(f"{k}. {remark}" for k, remark in enumerate(section.remarks(), start=1)))
            for exhibit in section.exhibits:
                parts += [
                    f"**{exhibit.title}**" if exhibit.title else "",
                    _markdown_table(exhibit.columns, exhibit.lines),
                ]
        summary = self.summary()
        parts += [f"## {summary.title}", _markdown_table(summary.columns, summary.lines)]
        return "\n\n".join(part for part in parts if part) + "\n"

    def save(self, path: str | Path) -> Path:
        """Write the report: Markdown if the name ends in .md, else text of 100 columns."""
        return write(path, self.markdown() if Path(path).suffix.lower() == ".md" else self.plain())


def small(difference: float) -> str:
    """A difference to two digits, or as the whole number it is."""
    whole = difference == round(difference) and abs(difference) < 1e6
    return f"{difference:.0f}" if whole else f"{difference:.1e}"


def _rich_rows(section: Section) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="underline")
    numeric = all(_is_number(row.printed) and _is_number(row.computed) for row in section.rows)
    for k, heading in enumerate(section.columns):
        right = k == 3 or (numeric and k in (1, 2))
        table.add_column(heading, justify="right" if right else "left", overflow="fold", no_wrap=k >= 3)
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
        numeric = all(_is_number(line[k]) or line[k] in ("", "-") for line in exhibit.lines)
        table.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for line in exhibit.lines:
        table.add_row(*(escape(cell) for cell in line))
    return table


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _markdown_table(columns: Sequence[str], lines: Sequence[Sequence[Any]]) -> str:
    def line(cells: Sequence[Any]) -> str:
        return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"

    return "\n".join([line(columns), line(["---"] * len(columns)), *(line(cells) for cells in lines)])
