"""Optimal design and optimal motion, with exact gradients from the graph, by IPOPT."""

from eslabon.optimize.coupler_synthesis import coupler_curve
from eslabon.optimize.motion_search import motion
from eslabon.optimize.motion_verification import LimitCheck, LimitChecks
from eslabon.optimize.nonlinear_program import Starts
from eslabon.optimize.optimal_design import design
from eslabon.optimize.optimal_motion import OptimalMotion
from eslabon.optimize.optimum import Check, Checks, Optimum

__all__ = [
    "Check",
    "Checks",
    "LimitCheck",
    "LimitChecks",
    "OptimalMotion",
    "Optimum",
    "Starts",
    "coupler_curve",
    "design",
    "motion",
]
