"""The greatest power of the actuators along a motion."""

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
class PeakPower(AlongMotion):
    """The greatest mechanical power of each actuator along a motion, max |tau v|, that of all together, max |sum tau v|, and the
    greatest of the single ones.

    >>> import numpy as np
    >>> import eslabon as es
    >>> m = es.load("five_bar")
    >>> swing = es.paths.joint_path([[2.0, 1.0], [2.3, 0.8]], es.paths.quintic(0.2))
    >>> power = es.measures.PeakPower(swing).measured(m, {"m3": np.array([0.02, 0.04])})
    >>> power.values["peak_power"].round(5), power.values["peak_power.total"].round(5)
    (array([0.00364, 0.00609]), array([0.00531, 0.00814]))
    """

    name: ClassVar[str] = "peak_power"

    def _columns(self, m: Mechanism) -> dict[str, str]:
        require_actuators(m, "power")
        return {
            **of_each(self.name, dict.fromkeys(actuator_units(m), "W")),
            f"{self.name}.total": "W",
        }

    def _values(self, states: States) -> Mapping[str, Floats]:
        power = actuators_power(states)
        parts = dict.fromkeys(of_each(self.name, dict.fromkeys(actuator_units(states.m), "W")), "W")
        total = np.abs(power.sum(axis=-1)).max(axis=1)
        return {
            **with_largest(self.name, parts, np.abs(power).max(axis=1)),
            f"{self.name}.total": total,
        }


def actuators_power(states: States) -> Floats:
    """What each actuator gives, (designs, states, actuators)."""
    tau = states.of("inverse_dynamics", "q", "v", "a")
    return np.asarray(tau * states.v[..., list(states.m.actuated_velocities)])
