"""What a mechanism is before it moves: its loops, and its mobility three ways."""

from eslabon.solve.mobility.mobility_report import (
    ClosedChain,
    LoopReport,
    Mobility,
    degrees_of_freedom,
    mobility,
)
from eslabon.solve.mobility.passive_motions import Passive
from eslabon.solve.mobility.subgroups import SUBGROUPS, Subgroup, subgroup

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
]
