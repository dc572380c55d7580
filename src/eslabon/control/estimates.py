"""What an observer made of a motion, beside what was true."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from eslabon.arguments import Floats
from eslabon.errors import InputError
from eslabon.model import Model
from eslabon.model.configuration import coordinates, difference, velocity_units
from eslabon.plotting import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from eslabon.simulate.simulated_motion import Motion

POSITION = {"rad/s": "rad", "m/s": "m"}  # the units that go with a velocity's
TITLES = {"rad": "angles", "m": "positions", "rad/s": "angular rates", "m/s": "speeds"}
SHOWN = 30  # trajectories of many, evenly chosen
# What a run adds to an observer's law: options of `simulate.sampled`.
SENSING = ("noise", "velocity_noise", "force_noise", "seed", "quantisation", "rate_limit")


class Samples(NamedTuple):
    """A motion at the times of samples: its states, and those of its law."""

    t: Floats
    q: Floats
    v: Floats
    x: Floats


def at_samples(motion: Motion, period: float) -> Samples:
    """Those of a motion's times at which a law that is asked once a period, from the start on, was asked."""
    part = (motion.t - motion.t[0]) / period
    own = np.abs(part - np.round(part)) < 1e-6
    return Samples(motion.t[own], motion.q[..., own, :], motion.v[..., own, :], motion.x[..., own, :])


@dataclass(frozen=True, eq=False, repr=False)
class Estimates:
    """Estimates in time, with the truth and the error x - x_hat: each (..., times, states).

    `covariance` is the one that the filter itself gives its errors, (..., times, states, states), and `deviation` the standard
    deviations by it; None for an observer that knows of no noise.

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
        """The normalized estimation error squared e^T P^-1 e, (..., times): of a consistent filter its mean is the number of
        states."""
        if self.covariance is None:
            raise InputError(f"{self!r} have no covariance, by which their errors could be measured.")
        return np.einsum("...i,...i->...", self.error, np.linalg.solve(self.covariance, self.error[..., None])[..., 0])

    def rms(self, after: float = 0.0) -> Floats:
        """The root mean square of the error from a time on, over times and trajectories: one for each state."""
        own = self.error[..., self.t >= after, :]
        return np.sqrt((own**2).mean(axis=tuple(range(own.ndim - 1))))

    def plot(self) -> Any:
        """A matplotlib figure: in the left column states, true and estimated, in the right one errors, in three standard
        deviations if the filter gives them."""
        return _figure(self)

    def __repr__(self) -> str:
        many = f"{int(np.prod(self.x.shape[:-2])):,} trajectories, " if self.x.ndim > 2 else ""
        return f"<Estimates of {self.name}: {many}{len(self.states)} states, {self.t[0]:g} to {self.t[-1]:g} s>"


def state_units(m: Model, independent: tuple[int, ...]) -> tuple[str, ...]:
    """The units of positions, then of velocities."""
    own = [velocity_units(m)[k] for k in independent]
    return (*(POSITION[unit] for unit in own), *own)


def positions(m: Model, q: Floats) -> Floats:
    """Coordinates along the velocities, (..., nv): those of a quaternion as the rotation from neutral."""
    made = difference(m, q, m.neutral())
    for joint in m.joints:
        if joint.kind.plain:
            made[..., m.velocities[joint.name]] = coordinates(m, q, joint)
    return made


def _figure(e: Estimates) -> Any:
    units = list(dict.fromkeys(e.units))
    made = new_figure(figsize=(10.4, 2.5 * len(units) + 0.6), dpi=110)
    axes = made.subplots(len(units), 2, sharex=True, squeeze=False)
    for (left, right), unit in zip(axes, units, strict=True):
        places = [k for k, u in enumerate(e.units) if u == unit]
        for colour, k in enumerate(places):
            _lines(left, e.t, e.x[..., k], f"C{colour % 10}", e.states[k], linestyle="-")
            _lines(left, e.t, e.x_hat[..., k], f"C{colour % 10}", "", linestyle="--")
            _lines(right, e.t, e.error[..., k], f"C{colour % 10}", e.states[k], linestyle="-")
            if e.deviation is not None:
                band = 3 * e.deviation[..., k].reshape(-1, len(e.t)).mean(axis=0)
                for sign in (1, -1):
                    right.plot(e.t, sign * band, color=f"C{colour % 10}", linewidth=0.8, linestyle=":")
        _dress(left, f"{TITLES[unit]}: true, and dashed as estimated", unit)
        bands = ", dotted: three standard deviations" if e.deviation is not None else ""
        _dress(right, f"errors{bands}", unit)
    for ax in axes[-1]:
        ax.set_xlabel("t  [s]")
    made.suptitle(repr(e)[1:-1], fontsize=10, color="0.3")
    return made


def _lines(ax: Axes, t: Floats, values: Floats, colour: str, label: str, **style: Any) -> None:
    flat = values.reshape(-1, len(t))
    flat = flat[np.unique(np.linspace(0, len(flat) - 1, min(SHOWN, len(flat))).astype(int))]
    width, alpha = (1.3, 1.0) if len(flat) == 1 else (0.7, max(0.15, 3 / len(flat)))
    lines = ax.plot(t, flat.T, color=colour, linewidth=width, alpha=alpha, **style)
    if label:
        lines[0].set_label(label)


def _dress(ax: Axes, title: str, unit: str) -> None:
    ax.set_title(title, loc="left", fontsize=10)
    ax.set_ylabel(f"[{unit}]")
    ax.grid(True, color="0.92", linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.margins(x=0)
    legend = ax.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.2)
    for line in legend.get_lines():
        line.set(alpha=1.0, linewidth=1.8)
