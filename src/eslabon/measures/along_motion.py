"""What measures along a motion have in common: the motion, completed in each design, and the states of all in one native call."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import InitVar, dataclass
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.errors import ModelError
from eslabon.measures.assembled_designs import States, assembled
from eslabon.measures.given_motion import given_motion
from eslabon.measures.measure import Measure, Measured, as_mechanism
from eslabon.measures.native_batches import Designs, in_blocks, number_of
from eslabon.mechanism import Mechanism

TOGETHER = 2**17  # states of designs that are completed and measured together


@dataclass(frozen=True, eq=False, repr=False)
class AlongMotion(Measure):
    """A measure along a motion, or at configurations.

    Parameters
    ----------
    motion : a joint path of `es.paths`; arrays (t, q, v, a), or an object that has them, such as what `path.sample`, `m.follow`
        and `m.simulate` give; or the path of a frame. Joints are all, or the actuated ones: with loops the others follow, in
        each design anew where a parameter moves them.
    samples : at how many times a path is looked at.
    frame, part : of the path of a frame, which frame, and whether its "pose" or its "position" counts.
    joints : the prescribed joints, where they are not the actuated ones.
    guess : a configuration or the name of a mode on the branch that is meant; left out, home.
    passive : "minimum_norm" lets what the joints do not determine move as little as it can, as in `m.complete`.

    >>> import eslabon as es
    >>> m, path = es.load("five_bar"), es.paths.joint_path([[2.0, 1.0], [2.3, 0.8]], es.paths.quintic(0.2))
    >>> es.measures.PeakTorque(path)
    <PeakTorque along 101 states, 0 to 0.2 s>
    >>> es.measures.PeakTorque(m.complete(*path.sample(n=3)[1:])[0])
    Traceback (most recent call last):
    ...
    eslabon.errors.InputError: a motion is a Trajectory, a joint path of es.paths, arrays (t, q) or (t, q, v, a), a saved file, what m.follow or path.sample gives, or the path of a frame; it has no times.
    """

    motion: Any
    samples: InitVar[int] = 101
    frame: InitVar[str | None] = None
    part: InitVar[str] = "pose"
    joints: InitVar[Any] = None
    guess: InitVar[Any] = None
    passive: InitVar[str] = "refuse"

    def __post_init__(
        self, samples: int, frame: Any, part: str, joints: Any, guess: Any, passive: str
    ) -> None:
        made = given_motion(
            self.motion, samples, frame, part, joints, guess, passive, self._timed()
        )
        object.__setattr__(self, "motion", made)

    def columns(self, m: Mechanism) -> Mapping[str, str]:
        columns = self._columns(as_mechanism(m))
        self.motion.check(m)
        return columns

    def measured(self, m: Mechanism, designs: Designs) -> Measured:
        columns = self.columns(m)
        return in_blocks(
            lambda own: self._block(m, own, columns), designs, columns, len(self.motion)
        )

    def _block(self, m: Mechanism, designs: Designs, columns: Mapping[str, str]) -> Measured:
        states = assembled(m, designs, self.motion)
        return filled(
            columns, number_of(designs), states, self._values(states) if len(states.rows) else {}
        )

    def together(self) -> int:
        return max(1, min(super().together(), TOGETHER // len(self.motion)))

    @abstractmethod
    def _columns(self, m: Mechanism) -> dict[str, str]:
        """Its columns for a mechanism that has such motions."""

    @abstractmethod
    def _values(self, states: States) -> Mapping[str, Floats]:
        """The columns of the designs that could be assembled."""

    def _timed(self) -> bool:
        """Whether only a motion with times will do."""
        return True

    def _told(self) -> str:
        rows, t = len(self.motion), self.motion.t
        return f" along {rows} states" + ("" if t is None else f", {t[0]:g} to {t[-1]:g} s")


def filled(
    columns: Mapping[str, str], n: int, states: States, values: Mapping[str, Floats], rows: int = 1
) -> Measured:
    """The values of some designs among NaN for the others."""
    if values and len(states.rows) == n:
        return Measured({name: values[name] for name in columns}, states.reasons)
    made = {name: np.full((n, rows) if rows > 1 else n, np.nan) for name in columns}
    for name, x in values.items():
        made[name][states.rows] = x
    return Measured(made, states.reasons)


def with_largest(name: str, columns: Mapping[str, str], values: Floats) -> dict[str, Floats]:
    """Columns of each (designs, parts), and of the largest where there is one."""
    parts = [column for column in columns if column != name]
    made = {column: values[:, k] for k, column in enumerate(parts)}
    return {name: values.max(axis=1), **made} if name in columns else made


def require_actuators(m: Mechanism, what: str) -> None:
    """Refuse a mechanism that nothing drives."""
    if not m.nu:
        raise ModelError(
            f"{m.name} has no actuators, so that it has no {what}; add some with m.with_actuated."
        )


def mean_in_time(t: Floats | None, x: Floats) -> Floats:
    """The mean over a motion, (designs, states, ...), by the trapezoidal rule; of configurations the plain one."""
    if t is None:
        return np.asarray(x.mean(axis=1))
    return np.asarray(np.trapezoid(x, t, axis=1) / (t[-1] - t[0]))
