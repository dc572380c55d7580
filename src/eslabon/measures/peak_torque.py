"""The greatest forces of the actuators along a motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from eslabon.arguments import Floats
from eslabon.measures.along_motion import AlongMotion, require_actuators, with_largest
from eslabon.measures.assembled_designs import States
from eslabon.measures.labels import actuator_units, of_each
from eslabon.mechanism import Mechanism


@dataclass(frozen=True, eq=False, repr=False)
class PeakTorque(AlongMotion):
    """The greatest force or torque of each actuator along a motion, max |tau(t)|, and the greatest of all.

    tau are the forces of inverse dynamics. `es.measures.AlongMotion` says what a motion may be.

    >>> import numpy as np
    >>> import eslabon as es
    >>> m = es.load("five_bar")
    >>> swing = es.paths.joint_path([[2.0, 1.0], [2.3, 0.8]], es.paths.quintic(0.2))
    >>> peak = es.measures.PeakTorque(swing)
    >>> peak.columns(m)
    {'peak_torque': 'N m', 'peak_torque.theta2': 'N m', 'peak_torque.theta5': 'N m'}
    >>> peak.measured(m, {"L2": np.array([0.03, 0.04, 0.05])}).values["peak_torque"].round(5)
    array([0.00141, 0.00219, 0.00357])
    """

    name: ClassVar[str] = "peak_torque"

    def _columns(self, m: Mechanism) -> dict[str, str]:
        require_actuators(m, "torque")
        return of_each(self.name, actuator_units(m))

    def _values(self, states: States) -> Mapping[str, Floats]:
        tau = states.of("inverse_dynamics", "q", "v", "a")
        return with_largest(self.name, self._columns(states.m), np.abs(tau).max(axis=1))
