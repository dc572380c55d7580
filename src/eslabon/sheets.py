"""Tables: one description of columns and rows, for a terminal of any width, for CSV and for JSON."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

GAP = 2  # blanks between columns
PROSE = 24  # the least width of a column of sentences


@dataclass(frozen=True)
class Sheet:
    """Rows of numbers, texts and tuples of numbers under columns such as "mass [kg]".

    On a terminal names and numbers are never broken: what is too wide goes on in a second block below, under the first
    column again. Columns `prose` are sentences, and wrap. Columns without anything but zeros are left out there, but not
    from CSV and JSON.
    """

    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[Any]]
    caption: str = ""
    prose: tuple[str, ...] = ()

    def records(self) -> list[dict[str, Any]]:
        """A mapping for each row; the units stay away."""
        names = [column.split(" [")[0] for column in self.columns]
        return [dict(zip(names, map(plain, row), strict=True)) for row in self.rows]

    def csv(self) -> str:
        """The columns, then the rows, with all digits."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        for row in self.rows:
            writer.writerow(" ".join(map(str, x)) if isinstance(x, list) else x for x in map(plain, row))
        return text.getvalue()

    # -- on a terminal ------------------------------------------------------------------------------------------

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        from rich.table import Table
        from rich.text import Text

        cells = [[shown(row[k]) for row in self.rows] for k in range(len(self.columns))]
        kept = [k for k in range(len(self.columns)) if k == 0 or not all(_nothing(row[k]) for row in self.rows)]
        numbers = [k for k in kept if all(isinstance(row[k], float | int) for row in self.rows)]
        zeros = [name for k, name in enumerate(self.columns) if k not in kept and any(cells[k])]
        if self.title:
            yield Text(self.title, style="bold")
        for number, block in enumerate(self._blocks(kept, cells, options.max_width)):
            if number:
                yield Text("")
            made = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), collapse_padding=True)
            for k in block:
                wraps = self.columns[k] in self.prose
                made.add_column(
                    Text(_heading(self.columns[k])),
                    justify="right" if k in numbers else "left",
                    no_wrap=not wraps,
                    overflow="fold",
                    min_width=None if wraps else _width(self.columns[k], cells[k]),
                )
            for row in range(len(self.rows)):
                made.add_row(*(Text(cells[k][row]) for k in block))
            yield made
        quiet = [f"Zero in all rows: {', '.join(map(_heading, zeros))}."] if zeros and self.rows else []
        for line in [self.caption, *quiet]:
            if line:
                yield Text(line, style="dim")

    def _blocks(self, kept: list[int], cells: list[list[str]], width: int) -> Iterator[list[int]]:
        """Columns that stand side by side, the first one in every block."""
        first, *others = kept
        widths = {
            k: min(PROSE if self.columns[k] in self.prose else math.inf, _width(self.columns[k], cells[k])) + GAP
            for k in kept
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
    """A value for people: six digits, and nothing for a vector of zeros.

    >>> shown(0.30000000000000004), shown((0.5, -0.0, 1e-15)), shown((0, 0, 0))
    ('0.3', '0.5 0 0', '')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, Iterable):
        return "" if _nothing(value := list(value)) else " ".join(map(shown, value))
    if value is None:
        return ""
    return f"{round(float(value), 12) + 0.0:.6g}"


def _nothing(value: Any) -> bool:
    if isinstance(value, str):
        return not value
    return value is None or (all(map(_nothing, value)) if isinstance(value, Iterable) else abs(value) < 5e-13)


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
