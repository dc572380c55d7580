"""The sections of a study, one file each: a function from a subject (a mechanism with choices) to a `Section`.

`SECTIONS` is the order in which a page has them. Another section is another function in this list.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from eslabon.studies.section import Section
from eslabon.studies.sections.bond_graph_drawn import bond_graph
from eslabon.studies.sections.control_design import control
from eslabon.studies.sections.equations_typeset import equations
from eslabon.studies.sections.how_it_moves import how_it_moves
from eslabon.studies.sections.many_designs import many_designs
from eslabon.studies.sections.near_a_point import near_a_point
from eslabon.studies.sections.what_drives_it import what_drives_it
from eslabon.studies.sections.what_it_is import what_it_is
from eslabon.studies.subject import Subject

SECTIONS: Mapping[str, tuple[str, Callable[[Subject, Section], None]]] = MappingProxyType({
    "what_it_is": ("What it is", what_it_is),
    "how_it_moves": ("How it moves", how_it_moves),
    "what_drives_it": ("What drives it", what_drives_it),
    "near_a_point": ("How it behaves near a point", near_a_point),
    "control": ("How to control it", control),
    "many_designs": ("Many designs", many_designs),
    "bond_graph": ("Its bond graph", bond_graph),
    "equations": ("Its equations", equations),
})  # fmt: skip

__all__ = ["SECTIONS"]
