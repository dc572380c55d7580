"""Controllers and observers of mechanisms, serial and parallel alike: from a linear model or from
the equations of motion to a law.

A law is a formula of the time, the configuration and the velocities (`simulate.traced_laws`), so
that a simulation, a batch of thousands and the C file of a microcontroller all have the same native
code.

>>> import eslabon as es
>>> m = es.load("elbow")
>>> law = es.control.computed_torque(m, [0.5, 0.2], frequency=10.0)
>>> m.simulate([0.0, 0.0], None, 2.0, law).end[0].round(4)
array([0.5, 0.2])
"""

from eslabon.systems.control.adaptive_law import adaptive
from eslabon.systems.control.computed_torque import computed_torque
from eslabon.systems.control.control_law import ControlLaw, law
from eslabon.systems.control.estimates import Estimates
from eslabon.systems.control.extended_kalman import ExtendedKalmanFilter, extended_kalman_filter
from eslabon.systems.control.kalman import KalmanFilter, kalman, kalman_filter
from eslabon.systems.control.lqr import FiniteHorizon, Regulator, finite_horizon_lqr, lqr
from eslabon.systems.control.modal_law import modal
from eslabon.systems.control.nonlinear_system import nonlinear_system
from eslabon.systems.control.observers import Observer, luenberger, reduced_order
from eslabon.systems.control.output_feedback import OutputFeedback, output_feedback
from eslabon.systems.control.pd_gravity import pd_gravity
from eslabon.systems.control.perturbed_inertias import Perturbed, perturbed
from eslabon.systems.control.pole_placement import PlacedPoles, place
from eslabon.systems.control.state_feedback import state_feedback
from eslabon.systems.control.tracking_lqr import tracking_lqr
from eslabon.systems.linear.gramians import controllability_gramian, observability_gramian
from eslabon.systems.linear.ranks import KalmanRank, controllability, observability

__all__ = [
    "ControlLaw",
    "Estimates",
    "ExtendedKalmanFilter",
    "FiniteHorizon",
    "KalmanFilter",
    "KalmanRank",
    "Observer",
    "OutputFeedback",
    "Perturbed",
    "PlacedPoles",
    "Regulator",
    "adaptive",
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
    "modal",
    "nonlinear_system",
    "observability",
    "observability_gramian",
    "output_feedback",
    "pd_gravity",
    "perturbed",
    "place",
    "reduced_order",
    "state_feedback",
    "tracking_lqr",
]


def __dir__() -> list[str]:
    """What the Tab key offers: names to use, not files."""
    return sorted(__all__)
