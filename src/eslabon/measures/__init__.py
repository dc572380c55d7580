"""Measures of a design: what one number, or a few, say of a mechanism with given values of its parameters.

A sweep evaluates a measure at many designs at once, an optimisation looks for the design at which it is least. Each measure is
one small class in a file of its own; its arrays are evaluated for whole batches of designs by native code.

>>> import numpy as np
>>> import eslabon as es
>>> m = es.load("double_pendulum")
>>> es.measures.NaturalFrequency().measured(m, {"L1": np.array([0.5, 1.0])}).values["natural_frequency"].round(3)
array([3.166, 2.68 ])
"""

from eslabon.measures.along_motion import AlongMotion
from eslabon.measures.called_function import Called
from eslabon.measures.closed_loop_damping import ClosedLoopDamping
from eslabon.measures.condition import Condition
from eslabon.measures.energy_consumption import EnergyConsumption
from eslabon.measures.measure import Measure, Measured
from eslabon.measures.named_measures import MEASURES, measure_of
from eslabon.measures.natural_frequency import NaturalFrequency
from eslabon.measures.peak_power import PeakPower
from eslabon.measures.peak_reaction import PeakReaction
from eslabon.measures.peak_torque import PeakTorque
from eslabon.measures.quantity_at_states import Quantity
from eslabon.measures.reachable_workspace import ReachableWorkspace
from eslabon.measures.rms_torque import RmsTorque
from eslabon.measures.several_measures import Several
from eslabon.measures.tracking_error import TrackingError

__all__ = [
    "MEASURES",
    "AlongMotion",
    "Called",
    "ClosedLoopDamping",
    "Condition",
    "EnergyConsumption",
    "Measure",
    "Measured",
    "NaturalFrequency",
    "PeakPower",
    "PeakReaction",
    "PeakTorque",
    "Quantity",
    "ReachableWorkspace",
    "RmsTorque",
    "Several",
    "TrackingError",
    "measure_of",
]


def __dir__() -> list[str]:
    """What the Tab key offers: names to use, not files."""
    return sorted(__all__)
