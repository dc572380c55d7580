"""A section of a study while it is written: pieces of a page for a person, and the same numbers as tables for programs."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from html import escape, unescape
from typing import Any

from eslabon import pages
from eslabon.answers import Message
from eslabon.errors import EslabonError
from eslabon.language import catalogue, phrase, translated
from eslabon.sheets import Sheet, plain

# What other rooms write into their drawings, with names and numbers in it.
LABELS = (
    "{name}: bodies {bodies}, joints {joints}, loops {loops}",
    "{axis} of {frame} [m]",
    "{size} of states",
    "reciprocal condition number, {kind} kind, of its {part}",
    "reciprocal condition number, {kind} kind",
    "singular, {kind} kind",
    "sweep of {name}",
    "{n} of {all} curves",
    "{n} of {all} columns; of= chooses others",
    "means in {n} x {m} cells",
    "failed ({n})",
    "nominal: {value}",
    "mean of {value}",
    "state = {n}",
    "{n} designs",
    "{n} design",
    "{n} rows drawn",
    "{n} rows",
    "{n} failed",
    "{n} outside",
)
FOLD = 16  # rows of a table, above which it opens by a click


@dataclass
class Section:
    """What a section says.

    Attributes
    ----------
    name : in JSON, in the names of CSV files, and where sections are chosen.
    title : the heading, in English; the page has it in the study's language.
    pieces : of HTML, in their order.
    sheets : every table, and the numbers behind every figure.
    data : further numbers by name, for JSON.
    troubles : sentences about what could not be computed.
    laps : what was computed, and the seconds it took.
    """

    name: str
    title: str
    language: str = "en"
    pieces: list[str] = field(default_factory=list)
    sheets: list[Sheet] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)
    laps: list[tuple[str, float]] = field(default_factory=list)
    seconds: float = 0.0

    # -- texts ------------------------------------------------------------------------------------------------------

    def said(self, text: str, **values: Any) -> str:
        """A text in the study's language, with values in the places of its names in braces."""
        return translated(phrase(text, **values) if values else text, self.language)

    def say(self, text: str, **values: Any) -> None:
        """A paragraph."""
        self.pieces.append(pages.paragraph(self.said(text, **values)))

    def note(self, text: str, **values: Any) -> None:
        """A paragraph that stands out."""
        self.pieces.append(pages.paragraph(self.said(text, **values), "es-note"))

    def head(self, text: str) -> None:
        """A heading within the section."""
        self.pieces.append(pages.heading(self.said(text), 3))

    def items(self, texts: Iterable[str]) -> None:
        """Sentences as a list."""
        self.pieces.append(pages.listing(translated(text, self.language) for text in texts))

    def word(self, text: Any) -> Any:
        """A text of a table in the study's language: as a whole, by its parts between semicolons, or its first word."""
        if self.language == "en" or not isinstance(text, str):
            return text
        if isinstance(text, Message) or text in catalogue(self.language):
            return translated(text, self.language)
        if "; " in text:
            return "; ".join(map(self.word, text.split("; ")))
        first, blank, rest = text.partition(" ")
        known = catalogue(self.language).get(first)
        return translated(text, self.language) if known is None else known + blank + rest

    # -- tables and pictures ----------------------------------------------------------------------------------------

    def table(
        self, sheet: Sheet, words: Sequence[str] = (), fold: int = FOLD, key: str = ""
    ) -> None:
        """A table of the page and of the numbers; texts in the columns `words` are translated. `key` is its name for
        programs, its title if left out."""
        self.numbers(replace(sheet, title=key or sheet.title))
        self.show(sheet, words, fold)

    def show(self, sheet: Sheet, words: Sequence[str] = (), fold: int = FOLD) -> None:
        """A table of the page only: a part of one that programs have."""
        sheet = sheet.for_people()
        rows = [
            tuple(
                self.word(x) if name in words else x
                for name, x in zip(sheet.columns, row, strict=True)
            )
            for row in sheet.rows
        ]
        self.pieces.append(pages.table(replace(sheet, rows=rows), self.language, fold))

    def numbers(self, sheet: Sheet) -> None:
        """A table for programs only: what a figure shows."""
        self.sheets.append(sheet)

    def figure(self, drawn: Any, caption: str = "", **values: Any) -> None:
        """A figure of matplotlib."""
        self.pieces.append(pages.figure(drawn, self.said(caption, **values)))

    def label(self, text: str) -> str:
        """A text of a drawing in the study's language; names of joints and bodies stay."""
        if text in catalogue(self.language):
            return catalogue(self.language)[text]
        for pattern in LABELS:
            if found := re.fullmatch(
                re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+)", re.escape(pattern)), text
            ):
                return translated(phrase(pattern, **found.groupdict()), self.language)
        return text

    def foreign(self, drawn: Any) -> None:
        """Say the labels of a figure that another room drew in the study's language."""
        if self.language != "en":
            from matplotlib.text import Text

            for label in drawn.findobj(Text):
                label.set_text(self.label(label.get_text()))

    def picture(self, svg: str, caption: str = "", wide: bool = False, **values: Any) -> None:
        """The text of an SVG; a wide one at its own size, to be scrolled."""
        if self.language != "en":  # tooltips repeat what can be read
            svg = re.sub(r"<title>[^<]*</title>", "", svg)
            svg = re.sub(
                r">([^<>]*\w[^<>]*)<",
                lambda found: f">{escape(self.label(unescape(found[1])))}<",
                svg,
            )
        if not wide:
            self.pieces.append(pages.picture(svg, self.said(caption, **values)))
            return
        self.pieces.append(f'<div class="es-wide">{pages.picture(svg)}</div>')
        self.pieces.append(pages.paragraph(self.said(caption, **values), "es-caption"))

    @contextmanager
    def pair(self) -> Iterator[None]:
        """Pieces side by side, where there is room."""
        before = len(self.pieces)
        yield
        inside = self.pieces[before:]
        self.pieces[before:] = [
            '<div class="es-pair">' + "".join(f"<div>{x}</div>" for x in inside) + "</div>"
        ]

    def scene(self, html: str, caption: str = "", **values: Any) -> None:
        """A scene in space that can be turned."""
        self.pieces.append(pages.scene(html, self.said(caption, **values)))

    def equation(self, latex: str) -> None:
        self.pieces.append(f'<div class="es-equation">{pages.equation(latex)}</div>')

    # -- what takes time, and what fails ----------------------------------------------------------------------------

    @contextmanager
    def timed(self, what: str) -> Iterator[None]:
        """A computation whose time the study tells."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.laps.append((what, time.perf_counter() - start))

    @contextmanager
    def part(self, what: str) -> Iterator[None]:
        """A part of the section, timed. If it cannot be, the page says why in a sentence, and the study goes on."""
        with self.timed(what):
            try:
                yield
            except EslabonError as error:
                self.fail(str(error))

    def fail(self, sentence: str) -> None:
        """Say what could not be computed."""
        self.troubles.append(sentence)
        self.pieces.append(
            pages.paragraph(f"{self.said('This could not be computed:')} {sentence}", "es-trouble")
        )

    def record(self) -> dict[str, Any]:
        """The section for JSON."""
        tables = {sheet.title: columns(sheet) for sheet in self.sheets}
        made = {
            "title": self.title,
            "seconds": self.seconds,
            "troubles": self.troubles,
            **self.data,
            **tables,
        }
        return dict(plain(made))


def columns(sheet: Sheet) -> dict[str, Any]:
    """A table by its columns, units included."""
    return {name: [plain(row[k]) for row in sheet.rows] for k, name in enumerate(sheet.columns)}
