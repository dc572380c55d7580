"""Controllers of mechanisms, serial and parallel alike: from a linear model or from the equations of motion to a law.

A law is a formula of the time, the configuration and the velocities (`simulate.traced_laws`), so that a simulation, a batch
of thousands and the C file of a microcontroller all have the same native code.
"""

from eslabon.control.adaptive_control import AdaptiveLaw, adaptive
from eslabon.control.computed_torque_control import computed_torque
from eslabon.control.control_law import ControlLaw, law
from eslabon.control.gramians import controllability_gramian, observability_gramian
from eslabon.control.modal_control import ModalLaw, modal
from eslabon.control.nonlinear_system import nonlinear_system
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
    "FiniteHorizon",
    "KalmanRank",
    "ModalLaw",
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
    "finite_horizon_lqr",
    "law",
    "lqr",
    "modal",
    "nonlinear_system",
    "observability",
    "observability_gramian",
    "pd_gravity",
    "perturbed",
    "place",
    "reference",
    "state_feedback",
    "tracking_lqr",
]
