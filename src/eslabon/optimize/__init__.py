"""Optimal design and optimal motion, with exact gradients from the graph, by IPOPT."""

from eslabon.optimize.motion_search import motion
from eslabon.optimize.motion_verification import Check, Checks
from eslabon.optimize.nonlinear_program import Starts
from eslabon.optimize.optimal_motion import OptimalMotion

__all__ = ["Check", "Checks", "OptimalMotion", "Starts", "motion"]
