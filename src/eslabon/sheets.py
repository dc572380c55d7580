"""Tables: one description of columns and rows, for a terminal of any width, for CSV and for JSON."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from eslabon.answers import Table, format_number, is_blank
from eslabon.errors import InputError, format_value

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

GAP = 2  # blanks between columns
PROSE = 24  # the least width of a column of sentences
RUN_BY_SPREADSHEETS = re.compile(
    r"'*[=+\-@\t\r\n]"
)  # how a cell begins that is taken for a formula, or for one marked


@dataclass(frozen=True)
class Sheet:
    """Rows of numbers, texts and tuples of numbers under columns such as "mass [kg]".

    On a terminal names and numbers are never broken: what is too wide goes on in a second block below, under the first
    column again. Columns `prose` are sentences, and wrap. Columns `optional` are left out there, but not from CSV and
    JSON, if they hold nothing but zeros.
    """

    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[Any]]
    caption: str = ""
    prose: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()

    @classmethod
    def from_table(cls, table: Table) -> Sheet:
        """The sheet of an answer's table.

        >>> from eslabon.answers import Column, Table
        >>> Sheet.from_table(Table((Column("mass", "kg"),), [(2.0,)])).columns
        ('mass [kg]',)
        """
        if not isinstance(table, Table):
            raise InputError(f"a sheet is made of a Table; it was given {format_value(table)}.")
        titles = tuple(f"{c.name} [{c.unit}]" if c.unit else c.name for c in table.columns)
        marked = list(zip(titles, table.columns, strict=True))
        return cls(
            table.title,
            titles,
            table.rows,
            table.caption,
            prose=tuple(title for title, c in marked if c.kind == "prose"),
            optional=tuple(title for title, c in marked if c.optional),
        )

    def records(self) -> list[dict[str, Any]]:
        """A mapping for each row; the units stay away."""
        names = [column.split(" [")[0] for column in self.columns]
        return [dict(zip(names, map(plain, row), strict=True)) for row in self.rows]

    def csv(self) -> str:
        """The columns, then the rows, with all digits."""
        rows = (
            [" ".join(map(str, x)) if isinstance(x, list) else x for x in map(plain, row)]
            for row in self.rows
        )
        return "".join(map(_csv_line, (self.columns, *rows)))

    def for_people(self) -> Sheet:
        """Without columns in which nothing stands; in optional columns zeros are nothing."""
        visible = [
            k
            for k in range(len(self.columns))
            if k == 0 or not all(self._blank(row, k) for row in self.rows)
        ]
        rows = [
            tuple("" if self._blank_vector(row, k) else row[k] for k in visible)
            for row in self.rows
        ]
        return replace(self, columns=tuple(self.columns[k] for k in visible), rows=rows)

    def _blank(self, row: Sequence[Any], k: int) -> bool:
        return is_blank(row[k], zeros=self.columns[k] in self.optional)

    def _blank_vector(self, row: Sequence[Any], k: int) -> bool:
        """A vector of zeros among others would only distract."""
        return isinstance(row[k], Iterable) and self._blank(row, k)

    # -- on a terminal ------------------------------------------------------------------------------------------

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        from rich.text import Text

        sheet = self.for_people()
        if self.title:
            yield Text(self.title, style="bold")
        cells = [[shown(row[k]) for row in sheet.rows] for k in range(len(sheet.columns))]
        for number, block in enumerate(sheet._blocks(cells, options.max_width)):
            if number:
                yield Text("")
            yield sheet._block(block, cells)
        for line in (self.caption, self._zeros()):
            if line:
                yield Text(line, style="dim")

    def _zeros(self) -> str:
        """A sentence about optional numbers that are not shown."""
        hidden = [
            _heading(name)
            for k, name in enumerate(self.columns)
            if k
            and self.rows
            and all(isinstance(row[k], float | int) and self._blank(row, k) for row in self.rows)
        ]
        return f"Zero in all rows: {', '.join(hidden)}." if hidden else ""

    def _block(self, block: list[int], cells: list[list[str]]) -> RenderableType:
        """Some of the columns as a table of rich."""
        from rich.table import Table
        from rich.text import Text

        made = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), collapse_padding=True)
        for k in block:
            wraps = self.columns[k] in self.prose
            made.add_column(
                Text(_heading(self.columns[k])),
                justify="right"
                if all(isinstance(row[k], float | int) for row in self.rows)
                else "left",
                no_wrap=not wraps,
                overflow="fold",
                min_width=None if wraps else _width(self.columns[k], cells[k]),
            )
        for row in range(len(self.rows)):
            made.add_row(*(Text(cells[k][row]) for k in block))
        return made

    def _blocks(self, cells: list[list[str]], width: int) -> Iterator[list[int]]:
        """Columns that stand side by side, the first one in every block."""
        first, *others = range(len(self.columns))
        widths = {
            k: min(
                PROSE if self.columns[k] in self.prose else math.inf,
                _width(self.columns[k], cells[k]),
            )
            + GAP
            for k in range(len(self.columns))
        }
        block, taken = [first], widths[first]
        for k in others:
            if taken + widths[k] - GAP > width and len(block) > 1:
                yield block
                block, taken = [first], widths[first]
            block.append(k)
            taken += widths[k]
        yield block


def plain(value: Any) -> Any:
    """A value as JSON has it: lists, and null for what is no finite number."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: plain(x) for key, x in value.items()}
    return [plain(x) for x in value] if isinstance(value, list | tuple) else value


def shown(value: Any) -> str:
    """A value for people, with six digits.

    >>> shown(0.30000000000000004), shown((0.5, -0.0, 1e-15)), shown((0, 0, 0))
    ('0.3', '0.5 0 0', '0 0 0')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, Iterable):
        return " ".join(map(shown, value))
    if value is None:
        return ""
    return format_number(value)


def inert(text: str) -> str:
    """A text for a cell of CSV that no spreadsheet takes for a formula: one that it would run gets an apostrophe in front.

    >>> inert("=HYPERLINK(A1)"), inert("-1.5"), inert("-1.5 0 2"), inert("elbow")
    ("'=HYPERLINK(A1)", '-1.5', '-1.5 0 2', 'elbow')
    """
    harmless = len(text) == 1 or all(map(is_number, text.split()))
    return text if harmless or not RUN_BY_SPREADSHEETS.match(text) else f"'{text}"


def from_inert(cell: str) -> str:
    """The text that `inert` made a cell of.

    >>> from_inert("'=HYPERLINK(A1)"), from_inert("-1.5"), from_inert("'quoted'")
    ('=HYPERLINK(A1)', '-1.5', "'quoted'")
    """
    return cell[1:] if cell.startswith("'") and RUN_BY_SPREADSHEETS.match(cell) else cell


def _csv_line(cells: Iterable[Any]) -> str:
    """A line of CSV. The writer quotes only those ends of lines that it writes itself, so it has to know both."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(
        inert(x) if isinstance(x, str) else x for x in cells
    )
    return text.getvalue().removesuffix("\r\n") + "\n"


def _heading(column: str) -> str:
    return column.replace(" [", " ").removesuffix("]")


def _width(column: str, cells: Sequence[str]) -> int:
    from rich.cells import cell_len

    return max(cell_len(text) for text in (_heading(column), *cells))


def is_number(text: str) -> bool:
    """Whether a text is that of a number.

    >>> is_number("-0.42573E-02"), is_number("Kp(1,2)")
    (True, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return True
