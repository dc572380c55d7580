"""Many designs: a sweep over parameters, what its values scatter between, which designs are at the ends, and which failed."""

from __future__ import annotations

from dataclasses import replace
from html import escape

from eslabon.errors import InputError
from eslabon.language import Verbatim
from eslabon.pages.html_elements import Markup
from eslabon.sheets import Sheet
from eslabon.studies.section import Section
from eslabon.studies.subject import Subject
from eslabon.studies.sweep_request import SweepRequest
from eslabon.sweeps.sweep_table import SweepTable
from eslabon.sweeps.table_display import first_rows
from eslabon.sweeps.table_sheets import (
    ends_sheet,
    failures_sheet,
    rounded,
    values_sheet,
    varied_sheet,
)

ROWS = 5_000  # of the table, beside the page


def many_designs(subject: Subject, page: Section) -> None:
    """A sweep."""
    with page.timed("sweep"):
        table = swept(subject)
    found = table.contents
    page.data |= {"designs": found.designs, "failed": found.failed, "about": table.about}
    page.say(
        "Of {n} designs of {name}, which differ in {names}, these quantities were computed: {values}.",
        n=f"{found.designs:,}", name=Verbatim(subject.m.name), names=Verbatim(", ".join(table.parameters)),
        values=Verbatim(", ".join(table.values)),
    )  # fmt: skip
    _show(page, varied_sheet(table), "varied")
    _show(page, values_sheet(table), "values")
    with page.part("figure"):
        drawn = table.plot()
        title = drawn.get_suptitle()
        drawn.suptitle("")
        page.foreign(drawn)
        drawn.suptitle(_said(page, title), color=drawn.theme.quiet)
        page.figure(drawn, "The designs of the sweep; those that failed are grey crosses.")
    page.say(
        "These designs are at the ends: for each value, the one where it is least and the one where it is greatest."
    )
    _show(page, ends_sheet(table), "ends", ("which",))
    _failures(table, page)
    _rows(table, page)


def swept(subject: Subject) -> SweepTable:
    """The table of the sweep, computed where it is not given."""
    asked = subject.choices.sweep
    if asked is None:
        raise InputError(
            "many designs are those of a sweep; give one, as sweep={...} or as [sweep] in the study's file."
        )
    return asked if isinstance(asked, SweepTable) else SweepRequest.of(asked).run(subject)


def _show(page: Section, sheet: Sheet, key: str, words: tuple[str, ...] = ()) -> None:
    """A table with all digits for programs, and with a few on the page."""
    page.numbers(replace(sheet, title=key))
    page.show(rounded(sheet), words)


def _said(page: Section, title: str) -> str:
    """The title of a figure, of a name and of what is counted, in the study's language."""
    head, _, counted = title.partition(": ")
    return f"{page.label(head)}: {', '.join(map(page.label, counted.split(', ')))}"


def _failures(table: SweepTable, page: Section) -> None:
    found = table.contents
    if not found.failed:
        page.say("No design failed.")
        return
    page.note("{n} of {all} designs failed; they are counted here by their reasons.", n=f"{found.failed:,}", all=f"{found.designs:,}")  # fmt: skip
    sheet = failures_sheet(table)
    page.numbers(replace(sheet, title="failures"))
    rows = [(*row[:-1], Markup(f'<div lang="en">{escape(row[-1])}</div>')) for row in sheet.rows]
    page.show(replace(sheet, rows=rows))


def _rows(table: SweepTable, page: Section) -> None:
    """The table itself for programs; a long one is where the sweep has put it."""
    rows = first_rows(table, ROWS)
    page.numbers(Sheet("table", rows.columns, rows.rows))
    if len(table) > ROWS:
        page.say("Beside this page stand the first {n} of the {all} rows of its table.", n=f"{ROWS:,}", all=f"{len(table):,}")  # fmt: skip
