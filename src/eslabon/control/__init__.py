"""Controllers of mechanisms, serial and parallel alike: from a linear model or from the equations of motion to a law.

A law is a formula of the time, the configuration and the velocities (`simulate.traced_laws`), so that a simulation, a batch
of thousands and the C file of a microcontroller all have the same native code.
"""

from eslabon.control.computed_torque import computed_torque
from eslabon.control.control_law import ControlLaw, law
from eslabon.control.gramians import controllability_gramian, observability_gramian
from eslabon.control.lqr import FiniteHorizon, Regulator, finite_horizon_lqr, lqr
from eslabon.control.pd_gravity import pd_gravity
from eslabon.control.place import PlacedPoles, place
from eslabon.control.ranks import KalmanRank, controllability, observability
from eslabon.control.reference import Reference, reference

__all__ = [
    "ControlLaw",
    "FiniteHorizon",
    "KalmanRank",
    "PlacedPoles",
    "Reference",
    "Regulator",
    "computed_torque",
    "controllability",
    "controllability_gramian",
    "finite_horizon_lqr",
    "law",
    "lqr",
    "observability",
    "observability_gramian",
    "pd_gravity",
    "place",
    "reference",
]
