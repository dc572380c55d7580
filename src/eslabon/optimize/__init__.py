"""Optimal design and optimal motion, with exact gradients from the graph, by IPOPT."""

from eslabon.optimize.coupler_synthesis import coupler_curve
from eslabon.optimize.optimal_design import design
from eslabon.optimize.optimum import Check, Checks, Optimum

__all__ = ["Check", "Checks", "Optimum", "coupler_curve", "design"]
