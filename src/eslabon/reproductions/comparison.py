"""What a document prints beside what is computed: verdicts, rows, tables that are shown, sections. Nothing here computes.

Rows are made in `verdicts`, which judges them; `report` and `handout` write them down.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from eslabon.arguments import instance
from eslabon.displays import displayed
from eslabon.language import translated

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


MEANING = {
    Verdict.AGREES: "within half a unit of the last printed digit, plus the stated noise of the document's own arithmetic; a "
    "statement agrees if it holds within the stated tolerance",
    Verdict.WRONG: "it does not agree, and a note says why",
    Verdict.DAMAGED: "one digit or letter, or a lost mark (dot, bar, bracket), makes it right",
    Verdict.NOISE: "the printed digits are below the noise of the document's own arithmetic",
    Verdict.UNEXPLAINED: "it does not agree, and nobody has said why",
}


@displayed
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

    def in_language(self, language: str) -> Row:
        """The row in another language."""
        what, printed, computed, remark = (
            translated(text, language)
            for text in (self.what, self.printed, self.computed, self.remark)
        )
        return replace(self, what=what, printed=printed, computed=computed, remark=remark)


@displayed
@dataclass(frozen=True)
class Exhibit:
    """A table that is shown and not judged."""

    columns: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    title: str = ""

    def in_language(self, language: str) -> Exhibit:
        columns, *lines = (
            tuple(translated(cell, language) for cell in line)
            for line in (self.columns, *self.lines)
        )
        return Exhibit(columns, tuple(lines), translated(self.title, language))


@displayed
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
    language: str = "en"

    def in_language(self, language: str) -> Section:
        """The section in another language."""
        first, second, third = (translated(heading, language) for heading in self.headings)
        return replace(
            self,
            title=translated(self.title, language),
            text=translated(self.text, language),
            rows=tuple(row.in_language(language) for row in self.rows),
            headings=(first, second, third),
            exhibits=tuple(exhibit.in_language(language) for exhibit in self.exhibits),
            language=language,
        )

    def _pieces(self) -> Iterator[str]:
        """For notebooks."""
        from eslabon.reproductions.html_tables import STYLE, section_table

        yield STYLE + section_table(self)

    def remarks(self) -> list[str]:
        """The sentences on the rows, each once, in order."""
        return list(dict.fromkeys(row.remark for row in self.rows if row.remark))

    def cells(self, row: Row) -> tuple[str, str, str, str, str]:
        """A row as text; the verdict carries the number of its sentence."""
        instance(row, "row", Row, "a row of a section")
        note = f" [{self.remarks().index(row.remark) + 1}]" if row.remark else ""
        verdict = translated(row.verdict.value, self.language)
        return row.what, row.printed, row.computed, small(row.difference), f"{verdict}{note}"

    @property
    def columns(self) -> tuple[str, ...]:
        """The headings of its table."""
        return (
            *self.headings,
            translated("difference", self.language),
            translated("verdict", self.language),
        )


def counted(sections: Sequence[Section], language: str = "en") -> Exhibit:
    """For each section how many rows have which verdict."""
    total = Counter(row.verdict for section in sections for row in section.rows)
    shown = [v for v in Verdict if total[v]]
    lines = []
    for section in sections:
        if section.rows:
            found = Counter(row.verdict for row in section.rows)
            lines.append((section.title, *(str(found[v] or "") for v in shown)))
    lines.append((translated("all", language), *(str(total[v]) for v in shown)))
    columns = (translated("section", language), *(translated(v.value, language) for v in shown))
    return Exhibit(columns, tuple(lines), translated("Summary", language))


def small(difference: float) -> str:
    """A difference to two digits, or as the whole number it is."""
    whole = difference == round(difference) and abs(difference) < 1e6
    return f"{difference:.0f}" if whole else f"{difference:.1e}"
