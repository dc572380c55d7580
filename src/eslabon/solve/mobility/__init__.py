"""The structure of a mechanism: its mobility three ways, and Hervé's displacement groups.

This is the public module `eslabon.structure`.

>>> import eslabon as es
>>> es.structure.mobility(es.load("sarrus")).kind
'exceptional'
>>> es.structure.subgroup([0, 0, 1, 0, 0, 0]).name
'rotation about a line'
"""

from eslabon.solve.mobility.closed_branches import BranchMobility
from eslabon.solve.mobility.kinematic_bonds import KinematicBond, bond
from eslabon.solve.mobility.mobility_analysis import degrees_of_freedom, mobility
from eslabon.solve.mobility.mobility_report import ClosedChain, LoopReport, Mobility
from eslabon.solve.mobility.passive_motions import Passive
from eslabon.solve.mobility.subgroups import SUBGROUPS, Subgroup, subgroup

__all__ = [
    "SUBGROUPS",
    "BranchMobility",
    "ClosedChain",
    "KinematicBond",
    "LoopReport",
    "Mobility",
    "Passive",
    "Subgroup",
    "bond",
    "degrees_of_freedom",
    "mobility",
    "subgroup",
]
