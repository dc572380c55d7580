"""What a result shows of itself, as data: tables, curves, program texts and messages.

A result class derives from `Answer` and writes one method, `contents()`, which gives these blocks.
Its text is rendered here, in plain letters. HTML for notebooks comes from the presenter that the
package installs (`eslabon.show`), so that no result class knows pages, colours or languages. A
named tuple that users unpack gets the same methods from the decorator `answer`.

>>> from dataclasses import dataclass
>>> @dataclass(frozen=True)
... class Spring(Answer):
...     stiffness: float
...     def contents(self):
...         columns = Column("quantity"), Column("value"), Column("unit")
...         yield Table(columns, [("stiffness", self.stiffness, "N/m")])
>>> print(Spring(200.0))
quantity   value  unit
stiffness    200  N/m
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from eslabon.errors import InputError, MissingDependencyError, format_value

C = TypeVar("C", bound=type)
GAP = "  "  # between the columns of a text
LISTED_NUMBERS = 8  # of an array, above which only their count and range are told
LONGEST_CELL = 240  # characters of a text in a cell
ZERO = 5e-13  # what the twelve decimals of a table show as zero


# -- blocks ----------------------------------------------------------------------------------------


class Message(str):
    """A sentence in English that remembers its template and values, so that it can be translated.

    >>> text = Message("{n} degrees of freedom", n=3)
    >>> text
    '3 degrees of freedom'
    >>> text.render("{n} grados de libertad")
    '3 grados de libertad'
    """

    template: str
    values: dict[str, Any]

    def __new__(cls, template: str, /, **values: Any) -> Message:
        made = super().__new__(cls, _fill(template, values))
        made.template, made.values = template, values
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Any]]:
        return (self.template,), self.values

    def render(self, template: str, translate: Callable[[str], str] = str) -> str:
        """The message by another template; `translate` turns the texts among its values too."""
        values = {k: translate(x) if isinstance(x, str) else x for k, x in self.values.items()}
        return _fill(template, values)


def _fill(template: str, values: Mapping[str, Any]) -> str:
    if not isinstance(template, str):
        raise InputError(f"the template of a message is a text; it is {format_value(template)}.")
    return template.format(**values) if values else template


@dataclass(frozen=True)
class Column:
    """The heading of a column. Sentences ("prose") may wrap; an `optional` column may be left out
    where all its numbers are zero."""

    name: str
    unit: str = ""
    kind: Literal["value", "prose"] = "value"
    optional: bool = False


@dataclass(frozen=True)
class Table:
    """Rows of numbers, texts and arrays under columns."""

    columns: tuple[Column, ...]
    rows: Sequence[Sequence[Any]]
    title: str = ""
    caption: str = ""


@dataclass(frozen=True)
class Panel:
    """Curves of one unit over one abscissa, such as the angles of a motion in time."""

    title: str
    x: NDArray[np.float64]
    curves: Mapping[str, NDArray[np.float64]]
    unit: str = ""


@dataclass(frozen=True)
class Source:
    """The text of a program, and the name of its file."""

    name: str
    text: str


Block: TypeAlias = Table | Panel | Source | Message


# -- answers ---------------------------------------------------------------------------------------


class Answer:
    """The base of result classes. Without a `contents()` of their own they show their fields."""

    def contents(self) -> Iterable[Block]:
        """The blocks that the result shows."""
        yield fields_table(self)

    def __str__(self) -> str:
        return "\n\n".join(map(block_text, self.contents()))

    def _repr_html_(self) -> str | None:
        return notebook_html(self)


def answer(cls: C) -> C:
    """Give a named tuple the methods of `Answer` that it does not have.

    >>> from typing import NamedTuple
    >>> @answer
    ... class Energy(NamedTuple):
    ...     kinetic: float
    ...     potential: float
    >>> print(Energy(1.5, 0.25))
    attribute  value
    kinetic      1.5
    potential   0.25
    >>> kinetic, potential = Energy(1.5, 0.25)
    """
    for name in ("contents", "__str__", "_repr_html_"):
        if name not in vars(cls):
            setattr(cls, name, vars(Answer)[name])
    return cls


class Presenter(Protocol):
    """What renders answers for more than a terminal: the only opening from result classes to
    `eslabon.show`."""

    def html(self, answer: object, /) -> str | None:
        """The HTML for a notebook; None, and so the text, where it cannot be made."""

    def figure(self, answer: object, /, **options: Any) -> Any:
        """The matplotlib figure of a result."""

    def animation(self, answer: object, /, **options: Any) -> Any:
        """The animation of a motion."""

    def svg(self, answer: object, /, **options: Any) -> str:
        """The drawing of a result as the text of an SVG."""
        ...


_presenter: Presenter | None = None


def install(presenter: Presenter) -> None:
    """Let a presenter render all answers from now on."""
    global _presenter
    _presenter = presenter


def notebook_html(answer: object) -> str | None:
    """The HTML of a result for a notebook; None, and so its text, where it cannot be made."""
    return None if _presenter is None else _presenter.html(answer)


def figure(answer: object, **options: Any) -> Any:
    """The matplotlib figure of a result; options are those of its `plot`."""
    return _installed().figure(answer, **options)


def animation(answer: object, **options: Any) -> Any:
    """The animation of a motion; options are those of its `animate`."""
    return _installed().animation(answer, **options)


def svg(answer: object, **options: Any) -> str:
    """The drawing of a result as the text of an SVG; options are those of its `draw`."""
    return _installed().svg(answer, **options)


def _installed() -> Presenter:
    if _presenter is None:
        raise MissingDependencyError("no presenter draws results; import eslabon first.")
    return _presenter


def fields_table(thing: object) -> Table:
    """The public fields of a dataclass or a named tuple, those that have a value."""
    if is_dataclass(thing):
        names = [f.name for f in fields(thing)]
    else:
        names = [*getattr(thing, "_fields", ())]
    values = [(name, getattr(thing, name)) for name in names if not name.startswith("_")]
    rows = [(name, value) for name, value in values if cell_text(value)]
    return Table((Column("attribute"), Column("value", kind="prose")), rows)


def quantities_table(quantities: Iterable[tuple[Column, Any]]) -> Table:
    """Quantities one below the other, each with its unit; those without a value are left out.

    >>> quantities = [(Column("mass", "kg"), 2.0), (Column("at", "m"), (0.0, 0.5, 0.0))]
    >>> print(block_text(quantities_table(quantities)))
    attribute  value    unit
    mass       2        kg
    at         0 0.5 0  m
    """
    rows = [(c.name, value, c.unit) for c, value in quantities if cell_text(value)]
    columns = (Column("attribute"), Column("value", kind="prose"), Column("unit"))
    return Table(columns, rows)


def matrix_table(title: str, values: Any, rows: Iterable[str], columns: Iterable[str]) -> Table:
    """A matrix with names at its rows and columns.

    >>> print(block_text(matrix_table("A", [[0.0, 1.0]], ["x'"], ["x", "v"])))
    A
        x  v
    x'  0  1
    """
    numbers = np.asarray(values).tolist()
    headings = (Column(""), *map(Column, columns))
    return Table(headings, [(name, *row) for name, row in zip(rows, numbers, strict=True)], title)


# -- as text ---------------------------------------------------------------------------------------


def block_text(block: Block) -> str:
    """A block in plain letters.

    >>> import numpy as np
    >>> t = np.array([0.0, 0.5, 1.0])
    >>> print(block_text(Panel("angles", t, {"q1": t**2}, "rad")))
    angles
    curve  unit  start  end  least  greatest
    q1     rad       0    1      0         1
    >>> print(block_text(Source("height.h", "double height(void);")))
    height.h
    double height(void);
    """
    match block:
        case Table():
            return "\n".join(_table_lines(block))
        case Panel():
            return "\n".join(_table_lines(curves_table(block)))
        case Source():
            return f"{block.name}\n{block.text}".rstrip("\n")
    return str(block)


def curves_table(panel: Panel) -> Table:
    """The first value, the last and the range of each curve."""
    rows = [
        (name, panel.unit, *map(float, (y[0], y[-1], y.min(), y.max())))
        for name, y in panel.curves.items()
        if len(y)
    ]
    names = ("curve", "unit", "start", "end", "least", "greatest")
    return Table(tuple(map(Column, names)), rows, panel.title)


def _table_lines(table: Table) -> Iterator[str]:
    if table.title:
        yield table.title
    shown = [k for k, c in enumerate(table.columns) if not (c.optional and _is_zero(table, k))]
    headings = [f"{c.name} [{c.unit}]" if c.unit else c.name for c in table.columns]
    texts = [headings, *([cell_text(x) for x in row] for row in table.rows)]
    width = [max(len(line[k]) for line in texts) for k in range(len(headings))]
    right = [
        bool(table.rows) and all(_is_number(row[k]) for row in table.rows)
        for k in range(len(headings))
    ]
    for line in texts:
        cells = (line[k].rjust(width[k]) if right[k] else line[k].ljust(width[k]) for k in shown)
        yield GAP.join(cells).rstrip()
    if table.caption:
        yield table.caption


def _is_zero(table: Table, k: int) -> bool:
    return all(is_blank(row[k], zeros=True) for row in table.rows)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def is_blank(value: Any, zeros: bool = False) -> bool:
    """Whether a cell holds nothing, in no entry of a vector; with `zeros` a zero is nothing too.

    >>> is_blank(""), is_blank((None, "")), is_blank(0.0), is_blank((0.0, 0.0), zeros=True)
    (True, True, False, True)
    """
    if value is None or isinstance(value, str):
        return not value
    if isinstance(value, Iterable):
        return all(is_blank(x, zeros) for x in value)
    return zeros and abs(value) < ZERO


def format_number(x: float) -> str:
    """A number for people: six digits, and no round-off of zero.

    >>> format_number(0.30000000000000004), format_number(-1e-15), format_number(1.0e6)
    ('0.3', '0', '1e+06')
    """
    return f"{round(float(x), 12) + 0.0:.6g}"


def cell_text(value: Any) -> str:
    """A value in a cell: few numbers one by one, of many their count and range, else a short text.

    >>> cell_text(np.array([1.0, 2.5])), cell_text(("a", "b"))
    ('1 2.5', 'a, b')
    >>> cell_text(np.arange(12.0).reshape(3, 4))
    '3 x 4 numbers, 0 to 11'
    """
    if value is None:
        return ""
    if isinstance(value, np.ndarray) and value.ndim:
        return _array_text(value)
    if isinstance(value, slice):
        return f"{value.start}:{value.stop}"
    if isinstance(value, np.ndarray | np.generic):
        value = value.item()
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, complex):
        real = f"{value.real + 0.0:.6g}"
        return f"{real}{value.imag:+.6g}i" if value.imag else real
    if isinstance(value, int | float):
        return format_number(value)
    if isinstance(value, str):
        return _shorten(value)
    if isinstance(value, Mapping):
        return _shorten(", ".join(f"{key}: {cell_text(x)}" for key, x in value.items()))
    if type(value) in (tuple, list, set, frozenset):
        separator = " " if all(map(_is_number, value)) else ", "
        return _shorten(separator.join(map(cell_text, value)))
    return _shorten(repr(value).splitlines()[0].removeprefix("<").removesuffix(">"))


def _array_text(x: NDArray[Any]) -> str:
    numbers = x.dtype.kind in "fiu"
    if x.ndim == 1 and x.size <= LISTED_NUMBERS:
        return (" " if numbers else ", ").join(map(cell_text, x.tolist()))
    size = " x ".join(map(str, x.shape))
    if not x.size or not numbers:
        return f"{size} {'truth values' if x.dtype.kind == 'b' else 'values'}"
    return f"{size} numbers, {format_number(x.min())} to {format_number(x.max())}"


def _shorten(text: str) -> str:
    return text if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 1].rstrip()}…"
