"""Controllers of mechanisms, serial and parallel alike: from a linear model or from the equations of motion to a law.

A law is a formula of the time, the configuration and the velocities (`simulate.traced_laws`), so that a simulation, a batch
of thousands and the C file of a microcontroller all have the same native code.
"""

from eslabon.control.computed_torque import computed_torque
from eslabon.control.control_law import ControlLaw, law
from eslabon.control.estimates import Estimates
from eslabon.control.extended_kalman import ExtendedKalmanFilter, extended_kalman_filter
from eslabon.control.gramians import controllability_gramian, observability_gramian
from eslabon.control.kalman import KalmanFilter, kalman, kalman_filter
from eslabon.control.lqr import FiniteHorizon, Regulator, finite_horizon_lqr, lqr
from eslabon.control.observers import Observer, luenberger, reduced_order
from eslabon.control.output_feedback import OutputFeedback, output_feedback
from eslabon.control.pd_gravity import pd_gravity
from eslabon.control.place import PlacedPoles, place
from eslabon.control.ranks import KalmanRank, controllability, observability
from eslabon.control.reference import Reference, reference

__all__ = [
    "ControlLaw",
    "Estimates",
    "ExtendedKalmanFilter",
    "FiniteHorizon",
    "KalmanFilter",
    "KalmanRank",
    "Observer",
    "OutputFeedback",
    "PlacedPoles",
    "Reference",
    "Regulator",
    "computed_torque",
    "controllability",
    "controllability_gramian",
    "extended_kalman_filter",
    "finite_horizon_lqr",
    "kalman",
    "kalman_filter",
    "law",
    "lqr",
    "luenberger",
    "observability",
    "observability_gramian",
    "output_feedback",
    "pd_gravity",
    "place",
    "reduced_order",
    "reference",
]
