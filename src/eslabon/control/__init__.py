"""Controllers and observers of mechanisms, serial and parallel alike: from a linear model or from the equations of motion to a law.

A law is a formula of the time, the configuration and the velocities (`simulate.traced_laws`), so that a simulation, a batch
of thousands and the C file of a microcontroller all have the same native code.

>>> import eslabon as es
>>> m = es.load("elbow")
>>> law = es.control.computed_torque(m, [0.5, 0.2], frequency=10.0)
>>> m.simulate([0.0, 0.0], None, 2.0, law).end[0].round(4)
array([0.5, 0.2])
"""

from eslabon.control.adaptive_control import AdaptiveLaw, adaptive
from eslabon.control.computed_torque_control import computed_torque
from eslabon.control.control_law import ControlLaw, law
from eslabon.control.estimates import Estimates
from eslabon.control.extended_kalman import ExtendedKalmanFilter, extended_kalman_filter
from eslabon.control.gramians import controllability_gramian, observability_gramian
from eslabon.control.kalman_filters import KalmanFilter, kalman, kalman_filter
from eslabon.control.modal_control import ModalLaw, modal
from eslabon.control.nonlinear_system import nonlinear_system
from eslabon.control.observers import Observer, luenberger, reduced_order
from eslabon.control.output_feedback_control import OutputFeedback, output_feedback
from eslabon.control.pd_control import pd_gravity
from eslabon.control.perturbed_inertias import Perturbed, perturbed
from eslabon.control.pole_placement import PlacedPoles, place
from eslabon.control.ranks import KalmanRank, controllability, observability
from eslabon.control.reference_motion import Reference, reference
from eslabon.control.regulator import FiniteHorizon, Regulator, finite_horizon_lqr, lqr
from eslabon.control.state_feedback_control import StateFeedback, state_feedback
from eslabon.control.tracking_regulator import TrackingRegulator, tracking_lqr

__all__ = [
    "AdaptiveLaw",
    "ControlLaw",
    "Estimates",
    "ExtendedKalmanFilter",
    "FiniteHorizon",
    "KalmanFilter",
    "KalmanRank",
    "ModalLaw",
    "Observer",
    "OutputFeedback",
    "Perturbed",
    "PlacedPoles",
    "Reference",
    "Regulator",
    "StateFeedback",
    "TrackingRegulator",
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
    "reference",
    "state_feedback",
    "tracking_lqr",
]


def __dir__() -> list[str]:
    """What the Tab key offers: names to use, not files."""
    return sorted(__all__)
