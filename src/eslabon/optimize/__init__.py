"""Optimal design and optimal motion, with exact gradients from the graph, by IPOPT."""

from eslabon.optimize.optimal_design import design
from eslabon.optimize.optimum import Check, Checks, Optimum

__all__ = ["Check", "Checks", "Optimum", "design"]
