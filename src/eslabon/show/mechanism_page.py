"""A mechanism and its mobility as a notebook shows them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from eslabon.drawing.topology_drawing import topology_svg
from eslabon.errors import EslabonError
from eslabon.model import Model
from eslabon.model.item_tables import item_tables
from eslabon.pages import paragraph, picture, table
from eslabon.pages.notebook import beside, drawn, folded
from eslabon.sheets import Sheet
from eslabon.solve.mobility import degrees_of_freedom

FEW = 12  # rows of a table that is shown unfolded
SEARCHED = 40  # joints of a mechanism that is drawn, and whose mobility is found, at once
SIZE = (5.0, 3.8)  # of the drawing, in inches


def mechanism_pieces(m: Model) -> Iterator[str]:
    """A drawing, the numbers that matter, and the tables of what it is made of."""
    to_scale = _drawn_or_not(m) if len(m.joints) <= SEARCHED else ""
    topology = picture(topology_svg(m))
    yield beside(to_scale or topology, table(_numbers(m)))
    if to_scale:
        yield folded("topology", topology)
    made = {
        sheet.title: sheet
        for sheet in map(Sheet.from_table, item_tables(m))
        if sheet.title != "totals"
    }
    for title, sheet in made.items():
        count = len(sheet.rows)
        yield folded(
            f"{title} ({count})",
            table(replace(sheet.for_people(), title="")),
            opened=title == "joints" and count <= FEW,
        )
    if m.note:
        yield folded("note", *(paragraph(" ".join(part.split())) for part in m.note.split("\n\n")))


def _numbers(m: Model) -> Sheet:
    rows = [
        ("bodies, joints, loops", f"{len(m.bodies)}, {len(m.joints)}, {len(m.loops)}"),
        ("coordinates, velocities", f"{m.nq}, {m.nv}"),
        ("actuated", ", ".join(m.actuated) or "none"),
        ("mass", f"{sum(b.mass for b in m.bodies):.6g} kg"),
        ("frames", ", ".join(f.name for f in m.frames)),
    ]
    if len(m.joints) <= SEARCHED and not m.rheonomic:
        try:
            rows.insert(0, ("degrees of freedom", f"{degrees_of_freedom(m)}"))
        except EslabonError:
            rows.insert(0, ("degrees of freedom", "none found: at home it cannot be assembled"))
    return Sheet("", ("", " "), [row for row in rows if row[1]], prose=(" ",))


def _drawn_or_not(m: Model) -> str:
    """The mechanism drawn to scale at home; nothing where that cannot be."""
    from eslabon.drawing.draw import draw

    return "".join(drawn(lambda: draw(m, size=SIZE, title="")))
