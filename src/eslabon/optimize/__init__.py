"""Optimal design and optimal motion, with exact gradients from the graph, by IPOPT.

>>> import eslabon as es
>>> cart = es.load("cart_pole").locked({"theta": 0.0})
>>> best = es.optimize.motion(cart, [0.0], [1.0], torque_limits=11.0, knots=12)
>>> bool(best.duration >= 2 * (1.1 / 11) ** 0.5)           # the least of all, with the full force forth and back
True
"""

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
