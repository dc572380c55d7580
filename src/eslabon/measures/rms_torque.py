"""The effective forces of the actuators along a motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from eslabon.arguments import Floats
from eslabon.measures.along_motion import AlongMotion, mean_in_time, require_actuators, with_largest
from eslabon.measures.assembled_designs import States
from eslabon.measures.labels import actuator_units, of_each
from eslabon.mechanism import Mechanism


@dataclass(frozen=True, eq=False, repr=False)
class RmsTorque(AlongMotion):
    """The root mean square of each actuator's force along a motion, sqrt(1/T int tau^2 dt), and the greatest of all: what heats a
    motor. The integral is taken by the trapezoidal rule at the times of the motion.

    >>> import numpy as np
    >>> import eslabon as es
    >>> m = es.load("five_bar")
    >>> swing = es.paths.joint_path([[2.0, 1.0], [2.3, 0.8]], es.paths.quintic(0.2))
    >>> es.measures.RmsTorque(swing).measured(m, {"m3": np.array([0.02, 0.04])}).values["rms_torque"].round(5)
    array([0.00145, 0.00242])
    """

    name: ClassVar[str] = "rms_torque"

    def _columns(self, m: Mechanism) -> dict[str, str]:
        require_actuators(m, "torque")
        return of_each(self.name, actuator_units(m))

    def _values(self, states: States) -> Mapping[str, Floats]:
        tau = states.of("inverse_dynamics", "q", "v", "a")
        rms = np.sqrt(mean_in_time(self.motion.t, tau**2))
        return with_largest(self.name, self._columns(states.m), rms)
