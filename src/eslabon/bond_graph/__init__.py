"""What users do with bond graphs: the class they hold, simulation, steady states, linear models, causal paths, ranks, observers.

The formulas are in `bonds`; here they become numbers, by the one evaluator.
"""

from eslabon.bond_graph.bond_graph import BondGraph

__all__ = ["BondGraph"]
