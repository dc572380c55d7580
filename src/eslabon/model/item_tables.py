"""What a mechanism is made of, as tables: a column for each declared field of its items, a new
field's too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from eslabon.answers import Column, Message, Table, cell_text
from eslabon.model.fields import Coordinates, Intervals, PerVelocity, specs_of
from eslabon.model.items import ITEMS, Coupling, Item
from eslabon.model.model import Model
from eslabon.model.parameter_expressions import ParameterExpression

ALWAYS_SHOWN = ("mass", "stiffness")  # columns that say something where all is zero, too
SHARED_COLUMN = (PerVelocity, Intervals)  # fields that few joints have: they stand in one column
MORE = Column("more", kind="prose")
Cells = Mapping[Column, Any]  # a row


def item_tables(m: Model) -> Iterator[Table]:
    """The tables of what a mechanism is made of, those that have rows.

    >>> import eslabon as es
    >>> [table.title for table in item_tables(es.load("five_bar"))]
    ['parameters', 'bodies', 'joints', 'loops', 'frames', 'totals']
    """
    parameters = [
        (name, m.values[name], str(x) if isinstance(x, ParameterExpression) else "")
        for name, x in m.description.parameters
    ]
    counts = (Column("coordinates"), Column("velocities"), Column("actuators"))
    totals = (cell_text(m.gravity), m.nq, m.nv, m.nu, sum(b.mass for b in m.bodies))
    tables = (
        Table((Column("name"), Column("value"), Column("defined as")), parameters, "parameters"),
        *(_section_table(m, section) for section in ITEMS if section != "modes"),
        _modes_table(m),
        Table((Column("gravity", "m/s²"), *counts, Column("mass", "kg")), [totals], "totals"),
    )
    return (table for table in tables if table.rows)


def _modes_table(m: Model) -> Table:
    rows = [(name, tuple(q.tolist())) for name, q in m.modes.items()]
    return Table((Column("name"), Column("coordinates", kind="prose")), rows, "modes")


def _section_table(m: Model, section: str) -> Table:
    """The items of a section. A column has a unit if all its rows have the same."""
    described = section == "couplings"  # their offsets may be functions of the time
    rows = [_row(m, x) for x in getattr(m.description if described else m, section)]
    units: dict[str, set[str]] = {}
    for row in rows:
        for column, value in row.items():
            units.setdefault(column.name, set()).update([column.unit] if cell_text(value) else [])
    columns = {
        name: replace(column, unit=own.pop() if len(own) == 1 else "")
        for name, own in units.items()
        for column in [next(c for row in rows for c in row if c.name == name)]
    }
    named = [{column.name: value for column, value in row.items()} for row in rows]
    return Table(
        tuple(replace(c, optional=_is_optional(c)) for c in columns.values()),
        [tuple(row.get(name, "") for name in columns) for row in named],
        section,
        Message("* actuated") if section == "joints" and m.actuated else "",
    )


def _is_optional(column: Column) -> bool:
    """Whether a column is left out where it holds zeros."""
    return bool(column.unit or column.name == "home") and column.name not in ALWAYS_SHOWN


def _row(m: Model, item: Item) -> Cells:
    """An item, field by field."""
    actuated = item.section == "joints" and item.name in m.actuated
    cells: dict[Column, Any] = {Column("name"): f"{item.name} *" if actuated else item.name}
    specs = specs_of(type(item))
    if isinstance(item, Coupling):
        cells[Column("law")] = _law(item)
        in_law = ("joint", "source", "ratio", "offset")
        specs = {name: spec for name, spec in specs.items() if name not in in_law}
    for name, spec in specs.items():
        if not isinstance(spec, (*SHARED_COLUMN, Coordinates)):
            cells |= spec.cells(name, item)
    shared = [(name, spec) for name, spec in specs.items() if isinstance(spec, SHARED_COLUMN)]
    if shared:
        texts = ((c.name, cell_text(x)) for name, spec in shared for c, x in spec.cells(name, item))
        cells[MORE] = "; ".join(f"{name} {text}" for name, text in texts if text)
    if getattr(item, "given", False):  # a wrench that the caller gives
        cells[Column("force", "N")] = Message("given by the caller")
    return cells


def _law(c: Coupling) -> str:
    source = f"{cell_text(c.ratio)} {c.source} + " if c.source else ""
    return f"{c.joint} = {source}{c.offset}"
