"""The energy that the actuators take along a motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from eslabon.arguments import Floats, positive
from eslabon.errors import InputError
from eslabon.measures.along_motion import AlongMotion, require_actuators
from eslabon.measures.assembled_designs import States
from eslabon.measures.labels import actuator_units
from eslabon.measures.peak_power import actuators_power
from eslabon.mechanism import Mechanism


@dataclass(frozen=True, eq=False, repr=False)
class EnergyConsumption(AlongMotion):
    """The energy that the actuators take along a motion: the sum of int max(tau v, 0) dt - r int max(-tau v, 0) dt, where r is the
    share of the braking energy that is given back, `regeneration`.

    The integrals are taken by the trapezoidal rule at the times of the motion.

    >>> import numpy as np
    >>> import eslabon as es
    >>> m = es.load("five_bar")
    >>> swing = es.paths.joint_path([[2.0, 1.0], [2.3, 0.8]], es.paths.quintic(0.2))
    >>> masses = {"m3": np.array([0.02, 0.04])}
    >>> es.measures.EnergyConsumption(swing).measured(m, masses).values["energy_consumption"].round(6)
    array([0.000269, 0.000413])
    >>> back = es.measures.EnergyConsumption(swing, regeneration=1.0).measured(m, masses)   # at rest at both ends
    >>> bool(abs(back.values["energy_consumption"]).max() < 1e-9)
    True
    """

    name: ClassVar[str] = "energy_consumption"
    regeneration: float = field(default=0.0, kw_only=True)

    def __post_init__(self, *given: Any) -> None:
        super().__post_init__(*given)
        if positive(self.regeneration, "regeneration", zero=True) > 1:
            raise InputError(f"regeneration is a share from 0 to 1; it is {self.regeneration:g}.")

    def _columns(self, m: Mechanism) -> dict[str, str]:
        require_actuators(m, "power")
        return {self.name: "J", **{f"{self.name}.{each}": "J" for each in actuator_units(m)}}

    def _values(self, states: States) -> Mapping[str, Floats]:
        power = actuators_power(states)
        taken = np.where(power > 0, power, self.regeneration * power)
        energy = np.trapezoid(taken, self.motion.t, axis=1)
        total, *each = self._columns(states.m)
        return {
            total: energy.sum(axis=1),
            **{column: energy[:, k] for k, column in enumerate(each)},
        }
