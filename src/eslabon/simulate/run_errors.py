"""What can go wrong in a run. Nothing computed is lost: the motion up to the trouble is in the exception."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eslabon.errors import EslabonError, SingularityError

if TYPE_CHECKING:
    from eslabon.simulate.simulated_motion import Motion


class SimulationError(EslabonError, RuntimeError):
    """An integration that broke down; `motion` is what there was until then, if anything."""

    def __init__(self, sentence: str, motion: Motion | None = None) -> None:
        super().__init__(sentence)
        self.motion = motion


class SingularMotionError(SimulationError, SingularityError):
    """A motion that passed a singular configuration, where that was to be an error; `motion` is the part before it."""


class Interrupted(KeyboardInterrupt):
    """A run stopped from the keyboard; `motion` is what there was until then.

    It is no `EslabonError`, so that who catches those does not keep a user from stopping a program.
    """

    def __init__(self, sentence: str, motion: Motion | None = None) -> None:
        super().__init__(sentence)
        self.motion = motion


class SimulationWarning(UserWarning):
    """A run that ended, but with less than was asked for: trajectories that broke down, a step or a tolerance that failed."""
