"""The motion that was found: sampled and at any time, with its limits, its starts and its checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import Floats, choice, finite
from eslabon.displays import displayed
from eslabon.errors import InputError
from eslabon.mechanism import Mechanism
from eslabon.model.configuration import coordinate_columns, velocity_columns
from eslabon.motion.paths import JointPath
from eslabon.optimize.motion_limits import FORCE, Driven
from eslabon.optimize.motion_spline import MotionSpline
from eslabon.optimize.motion_verification import LimitChecks
from eslabon.optimize.nonlinear_program import Starts

if TYPE_CHECKING:
    from eslabon.drawing.animation import Animation

DRAWN = ("forces", "motion")


@displayed(line=True)
class Instants(NamedTuple):
    """Coordinates, velocities and accelerations of all joints, and the actuators' forces, at times."""

    t: Floats
    q: Floats
    v: Floats
    a: Floats
    tau: Floats


@displayed
@dataclass(frozen=True, eq=False, repr=False)
class OptimalMotion:
    """A motion of least time, energy, effort, jerk or another objective; see `motion`.

    Attributes
    ----------
    t, q, v, a, tau : samples of the whole motion, a row for each time: all joints, and the actuators' forces. So it is a reference
        for laws of `es.control` as it is.
    value, unit : of the objective.
    starts : what became of each start of the search, `starts.best` among them.
    rounds : what became of each further search, with limits at more instants, until they were kept in between, too.
    checks : each limit, with what is left of it; `checks.margin` is the least.
    spline : the driven coordinates, exactly.

    >>> import eslabon as es
    >>> m = es.Builder("cart").body("box", mass=2.0).joint("x", "prismatic", "ground", "box", axis="x", effort_limit=8.0).build()
    >>> found = es.optimize.motion(m, [0.0], [1.0], starts=1)
    >>> round(found.duration, 2), found.q[-1]                  # no motion is faster than 2 sqrt(m d / F) = 1 s
    (1.05, array([1.]))
    """

    m: Mechanism
    objective: str
    value: float
    unit: str
    t: Floats
    q: Floats
    v: Floats
    a: Floats
    tau: Floats
    starts: Starts
    rounds: Starts
    checks: LimitChecks
    spline: MotionSpline = field(repr=False)
    driven: Driven = field(repr=False)

    @property
    def duration(self) -> float:
        """How long it takes, in seconds."""
        return self.spline.duration

    @property
    def path(self) -> JointPath:
        """The driven coordinates as a joint path, which can be joined, reversed and stretched (see `es.paths`)."""
        return JointPath(
            self.duration, lambda t: self.spline.at(t)[:3], self._title, self.spline.breaks
        )

    @property
    def _title(self) -> str:
        value = "" if self.objective == "time" else f" {self.value:.4g} {self.unit}".rstrip()
        return f"{self.m.name}: motion of least {self.objective}{value}, {self.duration:.4g} s"

    def at(self, t: ArrayLike) -> Instants:
        """Coordinates, velocities, accelerations and forces at times within the motion, of any shape; exact, not interpolated.

        >>> import eslabon as es
        >>> m = es.load("elbow")
        >>> found = es.optimize.motion(m, [0.0, 0.0], [0.5, 0.5], "jerk", duration=1.0, starts=1)
        >>> found.at(0.5).q.round(6)
        array([0.25, 0.25])
        """
        times = finite(t, "t")
        slack = 1e-9 * self.duration
        if times.size and not (-slack <= times.min() and times.max() <= self.duration + slack):
            outside = times.min() if times.min() < -slack else times.max()
            raise InputError(
                f"the motion takes {self.duration:.6g} s; t = {outside:g} s lies outside."
            )
        x, v, a, _ = self.spline.at(times)
        near = self.q[np.abs(self.t[:, None] - times.reshape(1, -1)).argmin(axis=0)].reshape(
            *times.shape, self.q.shape[-1]
        )
        q, v, a = self.driven.completed(x, v, a, near, continuation=False)
        return Instants(times, q, v, a, self.m.inverse_dynamics(q, v, a))

    def __repr__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        value = "" if self.objective == "time" else f"{self.objective} {self.value:.6g}{unit}, "
        accepted = sum(s.accepted for s in self.starts)
        left = f", {100 * self.checks.margin:.2g} % left of its limits" if self.checks else ""
        return (
            f"<OptimalMotion of {self.m.name}: {value}{self.duration:.6g} s, {accepted} of {len(self.starts)} "
            f"start{'s' * (len(self.starts) != 1)} accepted{left}>"
        )

    def _pieces(self) -> Iterator[str]:
        from eslabon.pages.notebook import drawn, folded

        yield from drawn(self.plot)
        yield folded("limits", *self.checks._pieces())
        yield folded("starts", *self.starts._pieces())

    # -- pictures ---------------------------------------------------------------------------------------------------

    def plot(
        self, what: str = "forces", *, theme: str | None = None, path: str | Path | None = None
    ) -> Any:
        """A matplotlib figure of the actuators' "forces" in time, each between its limits, or of the "motion": coordinates,
        velocities and accelerations of all joints.

        >>> import eslabon as es
        >>> m = es.load("elbow")
        >>> found = es.optimize.motion(m, [0.0, 0.0], [0.5, 0.5], torque_limits=[30, 10], starts=1)
        >>> [ax.get_ylabel() for ax in found.plot().axes]
        ['theta1 [N m]', 'theta2 [N m]']
        """
        from eslabon.plotting import saved

        made = (
            self._forces(theme) if choice(what, "what", DRAWN) == "forces" else self._motion(theme)
        )
        return saved(made, path)

    def _forces(self, theme: str | None) -> Any:
        from eslabon.plotting import axis_label, curves, panels

        columns = [velocity_columns(self.m)[k] for k in self.m.actuated_velocities]
        bounds: Mapping[str, Any] = {c.name: c for c in self.checks if c.quantity == FORCE}
        across = 1 if len(columns) == 1 else 2 if len(columns) < 5 else 3
        figure, axes = panels(len(columns), size=(3.9, 2.2), across=across, theme=theme, title=self._title, bottom=axis_label("t", "s"))  # fmt: skip
        for k, (ax, column) in enumerate(zip(axes, columns, strict=True)):
            unit = {"rad/s": "N m", "m/s": "N"}[column.unit]
            curves(ax, self.t, {str(column): self.tau[:, k]}, unit=unit)
            if (own := bounds.get(str(column))) is not None:
                for y in (own.lower, own.upper):
                    ax.axhline(y, color=figure.theme.quiet, linewidth=1.0, linestyle="--")
                ax.set_ylim(1.15 * own.lower, 1.15 * own.upper)
        return figure

    def _motion(self, theme: str | None) -> Any:
        from eslabon.plotting import by_unit, time_figure

        q = [(str(c), c.unit) for c in coordinate_columns(self.m)]
        v = [(str(c), c.unit) for c in velocity_columns(self.m)]
        a = [(name, f"{unit}²") for name, unit in v]
        groups = (
            ("coordinates", q, self.q),
            ("velocities", v, self.v),
            ("accelerations", a, self.a),
        )
        drawn = [
            panel for title, columns, values in groups for panel in by_unit(title, columns, values)
        ]
        return time_figure(self.t, drawn, theme=theme, title=self._title, across=1, size=(6.8, 2.1))

    def animate(self, path: str | Path | None = None, **options: Any) -> Animation:
        """The motion as an animation, as `m.animate` makes it: .mp4, .gif or .html.

        >>> import eslabon as es
        >>> m = es.load("elbow")
        >>> es.optimize.motion(m, [0.0, 0.0], [0.5, 0.5], "jerk", duration=1.0, starts=1).animate()
        <Animation of elbow: ... frames, ... s at 30 frames a second>
        """
        return self.m.animate(self.q, self.t, path, **options)
