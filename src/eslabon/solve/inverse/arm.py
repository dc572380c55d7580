"""All that inverse kinematics has to know of one frame of one mechanism, made once: task, ranges, code, starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eslabon.arguments import floats, text
from eslabon.compiler.evaluate import evaluate
from eslabon.errors import InverseKinematicsError, ModelError
from eslabon.formulas.kinematics.frames import chosen_frame
from eslabon.formulas.kinematics.tree import chain
from eslabon.formulas.quantities import quantity
from eslabon.model.memory import per_model
from eslabon.model.parsing import an_axis
from eslabon.model.scale import characteristic_length
from eslabon.solve.inverse.search_formulas import (
    MISSED,
    NEAR_SOLUTION,
    SEARCH_STEPS,
    moving_velocities,
)
from eslabon.solve.inverse.tasks import Points, Task, WholePose
from eslabon.solve.ranges import Ranges

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

    from eslabon.model import Model

Floats = NDArray[np.float64]
Triples = tuple[tuple[float, float, float], ...]

STARTS = 256


class Starts(NamedTuple):
    """Configurations to start from, and where each brings what the task is about, weighted."""

    q: Floats
    reached: cKDTree


@dataclass(frozen=True)
class Arm:
    """A frame of a mechanism, ready to be moved to where a task wants it. The values of `parameters`, if there are such, stand
    behind the numbers of each target."""

    m: Model
    task: Task
    limited: Ranges
    moving: tuple[int, ...]
    parameters: tuple[str, ...] = ()
    _starts: dict[bool, Starts] = field(default_factory=dict, compare=False)

    def ranges(self, limits: bool) -> Ranges:
        return self.limited if limits else self.limited.unlimited

    def starts(self, limits: bool) -> Starts:
        """Configurations spread over the ranges, with every joint that does not move the frame at home."""
        from scipy.spatial import cKDTree

        if limits not in self._starts:
            q = np.where(self.unmoved, self.m.home(), self.ranges(limits).spread(STARTS))
            reached = self.task.of_pose(
                evaluate(self.m, quantity(self.m, "pose"), frame=self.task.frame)(q)
            )
            self._starts[limits] = Starts(q, cKDTree(reached * self.task.weights))
        return self._starts[limits]

    @cached_property
    def unmoved(self) -> NDArray[np.bool_]:
        """The coordinates that do not move the frame."""
        unmoved = np.ones(self.m.nq, dtype=bool)
        for joint in chain(self.m, self.m.frame(self.task.frame).body):
            unmoved[self.m.coordinates[joint.name]] = False
        return unmoved

    def asked(self, x: Floats) -> Floats:
        """The numbers of targets alone."""
        return x[..., : self.task.size]

    def _inputs(self, x: Floats) -> tuple[Floats, ...]:
        """The values of parameters, as native code takes them."""
        return tuple(x[..., self.task.size + k] for k in range(len(self.parameters)))

    def pose(self, q: Floats, *values: Floats) -> Floats:
        """The pose of the frame."""
        return evaluate(
            self.m, quantity(self.m, "pose"), parameters=self.parameters, frame=self.task.frame
        )(q, *values)

    @cached_property
    def steps(self) -> Callable[..., Any]:
        """Steps towards targets, in native code."""
        native = evaluate(self.m, SEARCH_STEPS, self.parameters, task=self.task)
        if not self.parameters:
            return native

        def steps(q: Any, best: Any, error: Any, x: Any, *others: Any, **words: Any) -> Any:
            return native(q, best, error, self.asked(x), *others, *self._inputs(x), **words)

        return steps

    @cached_property
    def missed(self) -> Callable[..., tuple[Floats, Floats]]:
        """What configurations miss of targets, in metres and radians."""
        native = evaluate(self.m, MISSED, self.parameters, task=self.task)
        return (
            (lambda q, x: native(q, self.asked(x), *self._inputs(x))) if self.parameters else native
        )

    @cached_property
    def near_solution(self) -> Callable[..., Any]:
        """One configuration from one that is near, a tuple; or else a list of the same, where the steps have ended."""
        call: Any = evaluate(self.m, NEAR_SOLUTION, task=self.task)
        native: Callable[..., Any] = call.with_checks({}, lambda _, results: [results]).native
        return native

    def equations(self, q: Floats, x: Floats) -> tuple[Floats, Floats]:
        """The task's equations f and their Jacobian over the velocities that move the frame."""
        values, frame = self._inputs(x), self.task.frame
        f, S = self.task.equations(self.pose(q, *values), self.asked(x))
        J = evaluate(
            self.m, quantity(self.m, "jacobian"), self.parameters, frame=frame, axes="aligned"
        )(q, *values)
        return f, S @ J[..., self.moving]

    def velocities(self, moving: Floats) -> Floats:
        """Velocities of the whole mechanism from those that move the frame; the others are zero."""
        v = np.zeros((*moving.shape[:-1], self.m.nv))
        v[..., self.moving] = moving
        return v


@per_model
def prepared(
    m: Model, frame: str | None, points: Triples | None, parameters: tuple[str, ...] = ()
) -> Arm:
    """The arm that moves a frame, or points of it."""
    if m.closed:
        raise ModelError(
            f"{m.name} has loops: m.assemble(pose=..., frame=...) brings a frame to a pose, and with continuation=True along "
            "the poses of a path."
        )
    chosen = chosen_frame(m, frame)
    moving = tuple(moving_velocities(m, chosen.name))
    if not moving:
        raise ModelError(f"{m.name}: no joint moves '{chosen.name}'.")
    size = characteristic_length(m)
    task: Task = (
        WholePose(chosen.name, size) if points is None else Points(chosen.name, size, points)
    )
    ranges = Ranges.of(m, size)
    return Arm(m, task, ranges, moving, parameters)


def arm_for(
    m: Model,
    frame: str | None,
    points: ArrayLike | None,
    axis: Any,
    parameters: tuple[str, ...] = (),
) -> Arm:
    """The arm for the points that are given, for the origin and a point on an axis, or for the whole frame."""
    if frame is not None:
        text(frame, "frame")
    if axis is not None:
        if points is not None:
            raise InverseKinematicsError("give either points or an axis of the tool, not both.")
        u = np.array(an_axis(axis, "axis"), dtype=float)
        # As far out as a link is long, so that pointing and reaching weigh the same.
        points = [np.zeros(3), u * (characteristic_length(m) / np.linalg.norm(u))]
    if points is None:
        return prepared(m, frame, None, parameters)
    array = floats(points, "points")
    if array.ndim != 2 or array.shape[1] != 3 or not len(array) or not np.isfinite(array).all():
        raise InverseKinematicsError(
            f"points of the frame are (k, 3) finite numbers; these have shape {array.shape}."
        )
    return prepared(
        m, frame, tuple((float(a), float(b), float(c)) for a, b, c in array), parameters
    )
