"""What an observer made of a motion, beside what was true."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from eslabon.answers import Answer, Block, Panel, figure
from eslabon.arguments import Floats, number
from eslabon.errors import InputError, SingularityError, format_value
from eslabon.model import Model
from eslabon.model.configuration import coordinates, difference, velocity_units

if TYPE_CHECKING:
    from eslabon.motion.trajectory import Trajectory

POSITION = {"rad/s": "rad", "m/s": "m"}  # the units that go with a velocity's
# What a run adds to an observer's law: options of `simulate.sampled`.
SENSING = ("noise", "velocity_noise", "force_noise", "seed", "quantisation", "rate_limit")


class Samples(NamedTuple):
    """A motion at the times of samples: its states, and those of its law."""

    t: Floats
    q: Floats
    v: Floats
    x: Floats


def at_samples(motion: Trajectory, period: float) -> Samples:
    """Those of a motion's times at which a law that is asked once a period, from the start on, was
    asked."""
    part = (motion.t - motion.t[0]) / period
    own = np.abs(part - np.round(part)) < 1e-6
    return Samples(
        motion.t[own], motion.q[..., own, :], motion.v[..., own, :], motion.x[..., own, :]
    )


@dataclass(frozen=True, eq=False, repr=False)
class Estimates(Answer):
    """Estimates in time, with the truth and the error x - x_hat: each (..., times, states).

    `covariance` is the one that the filter itself gives its errors, (..., times, states, states),
    and `deviation` the standard deviations by it; None for an observer that knows of no noise.

    >>> import eslabon as es
    >>> m = es.load("cart_pole")
    >>> lm = m.linearize([0.0, 0.0], outputs=["x", "theta"])
    >>> feedback = es.control.output_feedback(lm, es.control.lqr(lm, 1.0, 0.1), es.control.luenberger(lm, [-20, -22, -24, -26]))
    >>> estimates = feedback.estimates(m.simulate([0.05, 0.0], None, 2.0, feedback.law()))
    >>> bool(abs(estimates.error[-1]).max() < 0.01)
    True
    """

    t: Floats
    x: Floats
    x_hat: Floats
    error: Floats
    states: tuple[str, ...]
    units: tuple[str, ...]
    name: str
    deviation: Floats | None = None
    covariance: Floats | None = None

    @property
    def nees(self) -> Floats:
        """The normalized estimation error squared e^T P^-1 e, (..., times): of a consistent filter
        its mean is the number of states."""
        if self.covariance is None:
            raise InputError(
                f"{self!r} have no covariance, by which their errors could be measured."
            )
        try:
            weighed = np.linalg.solve(self.covariance, self.error[..., None])[..., 0]
        except np.linalg.LinAlgError:
            raise SingularityError(
                f"{self!r} have a singular covariance, by which errors cannot be measured; give the filter process noise "
                "that drives every state, and an initial covariance without zeros."
            ) from None
        return np.einsum("...i,...i->...", self.error, weighed)

    def rms(self, after: float = 0.0) -> Floats:
        """The root mean square of the error from a time on, over times and trajectories: one for
        each state."""
        own = self.error[..., self.t >= number(after, "after"), :]
        if not own.size:
            raise InputError(
                f"the estimates end at {self.t[-1]:g} s; there is none after {format_value(after)}."
            )
        return np.sqrt((own**2).mean(axis=tuple(range(own.ndim - 1))))

    def plot(self, theme: str | None = None, path: str | Path | None = None) -> Any:
        """A matplotlib figure: in the left column states, true and estimated, in the right one
        errors, in three standard deviations if the filter gives them."""
        return figure(self, theme=theme, path=path)

    def contents(self) -> Iterator[Block]:
        """The errors in time, those of the first trajectory; a panel for each unit."""
        first = (0,) * (self.error.ndim - 2)
        for unit in dict.fromkeys(self.units):
            places = [k for k, own in enumerate(self.units) if own == unit]
            curves = {self.states[k]: self.error[first][:, k] for k in places}
            yield Panel(f"errors of estimates [{unit}]", self.t, curves, unit)

    def __repr__(self) -> str:
        many = f"{int(np.prod(self.x.shape[:-2])):,} trajectories, " if self.x.ndim > 2 else ""
        return f"<Estimates of {self.name}: {many}{len(self.states)} states, {self.t[0]:g} to {self.t[-1]:g} s>"


def state_units(m: Model, independent: tuple[int, ...]) -> tuple[str, ...]:
    """The units of positions, then of velocities."""
    own = [velocity_units(m)[k] for k in independent]
    return (*(POSITION[unit] for unit in own), *own)


def positions(m: Model, q: Floats) -> Floats:
    """Coordinates along the velocities, (..., nv): those of a quaternion as the rotation from
    neutral."""
    made = difference(m, q, m.neutral())
    for joint in m.joints:
        if not joint.kind.has_quaternion:
            made[..., m.velocities[joint.name]] = coordinates(m, q, joint)
    return made
