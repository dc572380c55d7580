"""Joint motions for motions of a frame: rates and accelerations from one factor (Rojas, 3.3.2, 3.3.3, 3.5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eslabon.answers import animation
from eslabon.arguments import choice, states, text
from eslabon.compiler.evaluate import evaluate
from eslabon.displays import displayed
from eslabon.errors import SINGULAR_CHOICES, InputError, ModelError, report_singularity
from eslabon.formulas.kinematics.frames import chosen_frame
from eslabon.formulas.quantities import quantity
from eslabon.model.configuration import (
    coordinate_columns,
    coordinate_names,
    velocity_columns,
    velocity_names,
)
from eslabon.model.scale import characteristic_length
from eslabon.numerics.tolerances import RANK
from eslabon.pages.notebook import attributes, in_groups
from eslabon.plotting import InTime, by_unit, saved, time_figure
from eslabon.solve.assembly.assemble import assemble
from eslabon.solve.assembly.complete import ALL_ROWS
from eslabon.solve.assembly.prescription import Prescription, start
from eslabon.solve.batches import flattened
from eslabon.solve.constraints.closed_configurations import jacobian_at
from eslabon.solve.given_poses import checked_poses
from eslabon.solve.inverse.arm import Arm, arm_for
from eslabon.solve.inverse.newton_gauss import SINGULAR_CONDITION, Factor
from eslabon.solve.inverse.solve import TOLERANCE, inverse_kinematics
from eslabon.solve.singular.conditions import reachable_twists

if TYPE_CHECKING:
    from eslabon.model import Model

Floats = NDArray[np.float64]


@displayed
@dataclass(frozen=True, eq=False, repr=False)
class JointMotion:
    """Coordinates, velocities and accelerations of the joints, with what they miss and how well they are conditioned.

    Attributes
    ----------
    q, v, a : the motion, (..., nq) and (..., nv).
    distance, angle : what is missing to the pose, in metres and radians.
    slip : what is missing to the twist: the norm of its angular and linear part, lengths in units of the reach.
    condition : the condition number of the Jacobian.
    t : the times, where the motion follows a path.
    model : the mechanism that moves.

    >>> import numpy as np
    >>> import eslabon as es
    >>> way = es.paths.along(es.paths.line([1.2, 0.5, 0], [1.0, 1.0, 0]), es.paths.quintic(1.0))
    >>> motion = es.load("elbow").follow(way, part="position", times=np.linspace(0, 1, 5))
    >>> motion.t, motion.q.shape
    (array([0.  , 0.25, 0.5 , 0.75, 1.  ]), (5, 2))
    """

    q: Floats
    v: Floats
    a: Floats
    distance: Any
    angle: Any
    slip: Any
    condition: Any
    t: Floats | None = None
    model: Any = None

    def _pieces(self) -> Iterator[str]:
        if self.t is None or self.q.ndim != 2:
            yield from attributes(self)
            return
        if self.model is None:
            q, v = (tuple(map(str, range(x.shape[1]))) for x in (self.q, self.v))
        else:
            q, v = tuple(coordinate_names(self.model)), tuple(velocity_names(self.model))
        own = {
            "coordinates": ("q", q, self.q),
            "velocities": ("v", v, self.v),
            "accelerations": ("a", v, self.a),
        }
        groups = {
            title: [(f"{word} {name}", "", x[:, k]) for k, name in enumerate(names)]
            for title, (word, names, x) in own.items()
        }
        yield from in_groups(self.t, groups)

    def __repr__(self) -> str:
        return f"<JointMotion: {np.size(self.condition):,} rows, condition number up to {np.max(self.condition, initial=0.0):.2g}>"

    def plot(self, theme: str | None = None, path: str | Path | None = None) -> Any:
        """A matplotlib figure of coordinates, velocities, accelerations and the condition number of the Jacobian in time."""
        if self.t is None or self.model is None or self.q.ndim != 2:
            raise InputError(f"{self!r} has no times to be plotted over; what `follow` gives has.")
        q, v = coordinate_columns(self.model), velocity_columns(self.model)
        drawn = by_unit("coordinates", [(str(c), c.unit) for c in q], self.q)
        drawn += by_unit("velocities", [(str(c), c.unit) for c in v], self.v)
        drawn += by_unit("accelerations", [(str(c), f"{c.unit}²") for c in v], self.a)
        wide = np.max(self.condition, initial=1.0) > 10 * np.min(self.condition, initial=np.inf)
        drawn.append(
            InTime("conditioning", "", {"condition number": self.condition}, log=bool(wide))
        )
        return saved(
            time_figure(self.t, drawn, theme=theme, title=f"{self.model.name} along a path"), path
        )

    def animate(
        self, path: str | Path | None = None, *, fps: float = 30.0, speed: float = 1.0, size: Any = None, trace: Any = None,
        theme: str | None = None, progress: bool | None = None, **picture: Any,
    ) -> Any:  # fmt: skip
        """The motion as an animation that a notebook plays; with a path it is written too, as .mp4, .gif or .html. Options are
        those of the `animate` of simulated motions (see `eslabon.drawing.animation`)."""
        if self.t is None or self.model is None:
            raise InputError(f"{self!r} has no times to be shown at; what `follow` gives has.")
        return animation(
            self,
            path=path,
            fps=fps,
            speed=speed,
            size=size,
            trace=trace,
            theme=theme,
            progress=progress,
            **picture,
        )

    @property
    def residual(self) -> Floats:
        """Distance and angle side by side, (..., 2)."""
        return np.stack([self.distance, self.angle], axis=-1)


def inverse_motion(
    m: Model, pose: ArrayLike, twist: ArrayLike, acceleration: ArrayLike, guess: ArrayLike | None = None,
    frame: str | None = None, *, axis: Any = None, limits: bool = True, tolerance: float = TOLERANCE,
    strict: bool | None = None, singular: str = "warn",
) -> JointMotion:  # fmt: skip
    """Joint coordinates, velocities and accelerations that give a frame its pose, twist and acceleration.

    Twist and acceleration are told in the ground's axes at the frame's origin, angular part first, as
    `m.velocity(..., axes="aligned")` and `m.acceleration(..., axes="aligned")` have them. With the factor of J,

        J v = S V,    J a = S (A - J' v)    (Rojas, 3.3.2 and 3.3.3),

    solved by least squares of least norm. At a singular configuration the motions it cannot make are damped, and told.

    Parameters
    ----------
    pose, twist, acceleration : (..., 4, 4), (..., 6), (..., 6).
    singular : "warn" (a SingularityWarning), "error" (a SingularityError) or "ignore".
    guess, frame, axis, limits, tolerance, strict : as in `inverse_kinematics`; with loops only the first two and limits.

    >>> import eslabon as es
    >>> m = es.load("elbow")
    >>> T = m.pose([0.3, 0.5], frame="tool")
    >>> V = m.velocity([0.3, 0.5], [1.0, 2.0], "tool", axes="aligned")
    >>> inverse_motion(m, T, V, [0.0] * 6, [0.2, 0.4], "tool", strict=False).v.round(9)
    array([1., 2.])
    """
    choice(singular, "singular", SINGULAR_CHOICES)
    if m.closed:
        if axis is not None or strict is not None or tolerance != TOLERANCE:
            raise ModelError(
                f"{m.name} has loops, for which inverse_motion has no axis, strict or tolerance; see assemble."
            )
        return _with_loops(m, pose, twist, acceleration, guess, frame, limits, singular)
    found = inverse_kinematics(
        m, pose, guess, frame, axis=axis, limits=limits, tolerance=tolerance, strict=strict
    )
    arm = arm_for(m, frame, None, axis)
    made = rates(arm, found.q, np.asarray(pose, dtype=float), *_spatial(twist, acceleration))
    tell(m, arm.task.frame, made, singular)
    return made


def _with_loops(
    m: Model, pose: ArrayLike, twist: ArrayLike, acceleration: ArrayLike, guess: ArrayLike | None, frame: str | None,
    limits: bool, singular: str,
) -> JointMotion:  # fmt: skip
    """The same for a mechanism with loops: of the motions that keep them closed, those that move the frame so.

    With P = 1 - C^+ C, which takes velocities to those that keep the closure C v = 0, v = (J P)^+ V; the accelerations are those
    that the closure asks for, C^+ gamma, and (J P)^+ of what they leave.
    """
    if m.rheonomic:
        raise ModelError(
            f"the constraints of {m.name} depend on the time, which inverse_motion does not know of."
        )
    chosen = chosen_frame(m, frame if frame is None else text(frame, "frame")).name
    V, A = _spatial(twist, acceleration)
    given = {
        "guess": (start(m, guess), 1),
        "pose": (checked_poses(pose), 2),
        "twist": (V, 1),
        "acceleration": (A, 1),
    }
    lead, (begin, target, V, A) = flattened(**given)
    q = assemble(m, pose=target, guess=begin, frame=chosen, limits=limits, singular=singular)
    scale = np.repeat([1.0, 1 / characteristic_length(m)], 3)
    C, J = (
        jacobian_at(m, q),
        evaluate(m, quantity(m, "jacobian"), frame=chosen, axes="aligned")(q) * scale[:, None],
    )
    back: Floats = np.linalg.pinv(C, rcond=RANK).astype(float)
    closing = np.eye(m.nv) - back @ C
    factor = Factor.of(J @ closing, reachable_twists(m, chosen, "all").rank)
    v = _times(closing, factor.solve(V * scale))
    a = _times(back, evaluate(m, ALL_ROWS)(q, v)[1])
    bias = evaluate(m, quantity(m, "acceleration"), frame=chosen, axes="aligned")(q, v, a)
    a = a + _times(closing, factor.solve((A - bias) * scale))
    here = evaluate(m, quantity(m, "pose"), frame=chosen)(q)
    gap = Prescription(frame=chosen).displacement(m, target, here)
    missed = [
        np.linalg.norm(x, axis=-1) for x in (gap[:, 3:], gap[:, :3], _times(J, v) - V * scale)
    ]
    made = JointMotion(
        *(x.reshape((*lead, *x.shape[1:]))[()] for x in (q, v, a, *missed, factor.condition))
    )
    made = replace(made, model=m)
    tell(m, chosen, made, singular)
    return made


def _spatial(twist: ArrayLike, acceleration: ArrayLike) -> Iterator[Floats]:
    """Twist and acceleration of a frame, checked."""
    return (
        states(x, name, 6, "a frame", "components")
        for x, name in ((twist, "twist"), (acceleration, "acceleration"))
    )


def rates(
    arm: Arm, q: Floats, pose: Floats, twist: Floats, acceleration: Floats, t: Floats | None = None
) -> JointMotion:
    """Velocities and accelerations at configurations that are known, by one factorisation."""
    m, task = arm.m, arm.task
    here = arm.pose(q)
    _, S = task.equations(here, task.of_pose(here))
    _, J = arm.equations(q, task.of_pose(here))
    factor = Factor.of(J, task.rank)
    _, wanted = task.equations(pose, task.of_pose(pose))
    speeds = _times(wanted, twist)
    moving = factor.solve(speeds)
    v = arm.velocities(moving)
    own_twist = evaluate(m, quantity(m, "velocity"), frame=task.frame, axes="aligned")(q, v)
    bias = evaluate(m, quantity(m, "acceleration"), frame=task.frame, axes="aligned")(
        q, v, np.zeros(m.nv)
    )
    asked = _times(wanted, acceleration) + task.centripetal(pose[..., :3, :3], twist)
    made = _times(S, bias) + task.centripetal(here[..., :3, :3], own_twist)
    a = arm.velocities(factor.solve(asked - made))
    slip = np.linalg.norm(_times(J, moving) - speeds, axis=-1)
    return JointMotion(q, v, a, *arm.missed(q, task.of_pose(pose)), slip, factor.condition, t, m)


def _times(M: Floats, b: Floats) -> Floats:
    return np.einsum("...ij,...j->...i", M, b)


def tell(
    m: Model, frame: str, made: JointMotion, singular: str, jumps: Sequence[float] = ()
) -> None:
    """Tell of singular configurations and of branch jumps on a path, in the way that was asked for."""
    worst = np.atleast_1d(made.condition)
    lost, sentences = worst > SINGULAR_CONDITION, []
    if lost.any():
        where = "" if made.t is None else f" at t = {made.t[lost.argmax()]:.4g} s"
        many = f" (and {lost.sum() - 1} times more)" if lost.sum() > 1 else ""
        sentences.append(
            f"{m.name} is at or next to a singular configuration{where}{many}: the condition number is {worst.max():.2g}, "
            f"and motions of '{frame}' that are lost there are damped."
        )
    if jumps:
        sentences.append(
            f"{m.name} jumps to another branch before t = {jumps[0]:.4g} s, where the path leads by a singular "
            "configuration or a limit."
        )
    if sentences:
        advice = "Choose another configuration or path, or pass singular='ignore'."
        report_singularity(singular, " ".join([*sentences, advice]))
