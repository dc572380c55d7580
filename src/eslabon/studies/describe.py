"""A mechanism as tables for the terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from eslabon.drawing.topology_text import topology_text
from eslabon.model import Model
from eslabon.model.item_tables import item_tables
from eslabon.sheets import Sheet
from eslabon.solve.mobility import mobility


def sheets(m: Model) -> list[Sheet]:
    """The tables of what a mechanism is made of."""
    return [Sheet.from_table(table) for table in item_tables(m)]


def describe(m: Model) -> RenderableType:
    """Everything the description says, what follows from its structure, and what looks odd."""
    note = [
        " ".join(paragraph.split()) for paragraph in m.note.split("\n\n")
    ]  # a file breaks lines at its own width
    parts: list[RenderableType] = [
        Text(m.name, style="bold"),
        *(Text(x, style="dim") for x in note if x),
    ]
    parts += [Text(topology_text(m)), *sheets(m), Text(str(mobility(m)))]
    parts += [Text(f"warning: {sentence}", style="yellow") for sentence in m.plausibility_warnings]
    return Group(*(p for part in parts for p in (part, Text(""))))
