"""What can go wrong in a run. Nothing computed is lost: the motion up to the trouble is in the
exception."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eslabon.errors import EslabonError, SingularityError

if TYPE_CHECKING:
    from eslabon.motion.trajectory import Trajectory


class SimulationError(EslabonError, RuntimeError):
    """An integration that broke down; `motion` is what there was until then, if anything.

    >>> import eslabon as es
    >>> wild = es.simulate.traced(lambda t, q, v: 1e9 * q**3)
    >>> try:
    ...     es.load("elbow").simulate([0.1, 0.0], None, 2.0, wild, method="rk4", step=0.1)
    ... except es.simulate.SimulationError as error:
    ...     print(bool(error.motion.t[-1] < 2.0))
    True
    """

    def __init__(self, sentence: str, motion: Trajectory | None = None) -> None:
        super().__init__(sentence)
        self.motion = motion


class SingularMotionError(SimulationError, SingularityError):
    """A motion that passed a singular configuration, where that was to be an error; `motion` is the
    part before it."""


class Interrupted(KeyboardInterrupt):
    """A run stopped from the keyboard; `motion` is what there was until then.

    It is no `EslabonError`, so that who catches those does not keep a user from stopping a program.

    >>> import eslabon as es
    >>> issubclass(es.simulate.Interrupted, KeyboardInterrupt), issubclass(es.simulate.Interrupted, es.EslabonError)
    (True, False)
    """

    def __init__(self, sentence: str, motion: Trajectory | None = None) -> None:
        super().__init__(sentence)
        self.motion = motion


class SimulationWarning(UserWarning):
    """A run that ended, but with less than was asked for: trajectories that broke down, a step or a
    tolerance that failed.

    >>> import eslabon as es
    >>> issubclass(es.simulate.SimulationWarning, UserWarning)
    True
    """
