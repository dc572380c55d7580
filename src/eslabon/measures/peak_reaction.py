"""The greatest forces and moments in the joints along a motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from eslabon.arguments import Floats, known_words, names
from eslabon.measures.along_motion import AlongMotion
from eslabon.measures.assembled_designs import States
from eslabon.measures.measure import as_mechanism
from eslabon.mechanism import Mechanism


@dataclass(frozen=True, eq=False, repr=False)
class PeakReaction(AlongMotion):
    """The greatest force max |f(t)| and moment max |n(t)| that each joint transmits along a motion, cut joints included, and the
    greatest force of all: what bearings and links are made for. The moment is about the origin of the body's frame, as in
    `m.reactions`, and holds the actuator's torque.

    `of` names some joints and loops; left out, all count.

    >>> import numpy as np
    >>> import eslabon as es
    >>> m = es.load("five_bar")
    >>> swing = es.paths.joint_path([[2.0, 1.0], [2.3, 0.8]], es.paths.quintic(0.2))
    >>> peak = es.measures.PeakReaction(swing, of=["theta2", "tip"])
    >>> list(peak.columns(m))[:3]
    ['peak_reaction', 'peak_reaction.theta2.force', 'peak_reaction.theta2.moment']
    >>> peak.measured(m, {"L2": np.array([0.03, 0.04, 0.05])}).values["peak_reaction"].round(4)
    array([0.0414, 0.0573, 0.0745])
    """

    name: ClassVar[str] = "peak_reaction"
    of: Any = field(default=None, kw_only=True)

    def __post_init__(self, *given: Any) -> None:
        super().__post_init__(*given)
        object.__setattr__(self, "of", None if self.of is None else names(self.of, "of"))

    def _columns(self, m: Mechanism) -> dict[str, str]:
        units = {"force": "N", "moment": "N m"}
        parts = {
            f"{self.name}.{joint}.{part}": unit
            for joint in self._joints(m)
            for part, unit in units.items()
        }
        return {self.name: "N", **parts}

    def _joints(self, m: Mechanism) -> tuple[str, ...]:
        known = _transmitting(m)
        if self.of is None:
            return known
        known_words(self.of, known, f"{m.name} has no joint or loop")
        return tuple(self.of)

    def places(self, m: Mechanism) -> list[int]:
        """Where its joints and loops stand in `m.reactions`."""
        return [_transmitting(m).index(name) for name in self._joints(as_mechanism(m))]

    def _values(self, states: States) -> Mapping[str, Floats]:
        wrenches = states.of("reactions", "q", "v", "a")
        places = self.places(states.m)
        moment, force = (
            np.linalg.norm(wrenches[:, :, places, part], axis=-1).max(axis=1)
            for part in (slice(0, 3), slice(3, 6))
        )
        largest, *columns = self._columns(states.m)
        each = np.stack([force, moment], axis=-1).reshape(len(force), -1)
        return {
            largest: force.max(axis=1),
            **{column: each[:, k] for k, column in enumerate(columns)},
        }


def _transmitting(m: Mechanism) -> tuple[str, ...]:
    """Joints and loops, in the order of `m.reactions`."""
    return (*(j.name for j in m.joints), *(loop.name for loop in m.loops))
