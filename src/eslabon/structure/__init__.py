"""What a mechanism is before it moves: its loops, its mobility three ways, and its topology drawn."""

from eslabon.structure.drawing import topology_svg
from eslabon.structure.mobility import (
    ClosedChain,
    LoopReport,
    Mobility,
    degrees_of_freedom,
    mobility,
)
from eslabon.structure.outline import topology_text
from eslabon.structure.passive import Passive
from eslabon.structure.subgroups import SUBGROUPS, Subgroup, subgroup

__all__ = [
    "SUBGROUPS",
    "ClosedChain",
    "LoopReport",
    "Mobility",
    "Passive",
    "Subgroup",
    "degrees_of_freedom",
    "mobility",
    "subgroup",
    "topology_svg",
    "topology_text",
]
