"""What a run made, before it is a trajectory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from eslabon.arguments import Floats
from eslabon.motion.simulation.controller_memory import Memory


class Outcome(NamedTuple):
    """What a run made: times, states (..., times, n), what it took, for each event the times and
    states of its occurrences; of what a law that is sampled or written in Python drove it with, the
    forces that acted and those asked for; the states of a law; and the accelerations, where modes
    decide about them."""

    t: Floats
    x: Floats
    steps: int
    evaluations: int
    events: Mapping[str, tuple[Floats, Floats]] = {}
    tau: Floats | None = None
    asked: Floats | None = None
    state: Floats | None = None
    a: Floats | None = None

    def remembering(self, memory: Memory) -> Outcome:
        """With what a law remembered."""
        return self._replace(tau=memory.acting, asked=memory.asked, state=memory.state)
