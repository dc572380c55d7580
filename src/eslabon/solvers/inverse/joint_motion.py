"""Joint motions for motions of a frame: rates and accelerations from one factor (Rojas, 3.3.2, 3.3.3, 3.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eslabon.arguments import choice, states
from eslabon.errors import SINGULAR_WORDS, tell_of_singularity
from eslabon.quantities import evaluate
from eslabon.solvers.inverse.arm import Arm, arm_for
from eslabon.solvers.inverse.newton_gauss import SINGULAR_CONDITION, Factor
from eslabon.solvers.inverse.solve import TOLERANCE, inverse_kinematics

if TYPE_CHECKING:
    from eslabon.model import Model

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class JointMotion:
    """Coordinates, velocities and accelerations of the joints, with what is known of their quality.

    Attributes
    ----------
    q, v, a : the motion, (..., nq) and (..., nv).
    distance, angle : what is missing to the pose, in metres and radians.
    slip : what is missing to the twist: the norm of its angular and linear part, lengths in units of the reach.
    condition : the condition number of the Jacobian.
    t : the times, where the motion follows a path.
    """

    q: Floats
    v: Floats
    a: Floats
    distance: Any
    angle: Any
    slip: Any
    condition: Any
    t: Floats | None = None

    def __repr__(self) -> str:
        return f"<JointMotion: {np.size(self.condition):,} rows, condition number up to {np.max(self.condition, initial=0.0):.2g}>"

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
    guess, frame, axis, limits, tolerance, strict : as in `inverse_kinematics`.

    >>> import eslabon as es
    >>> m = es.load("elbow")
    >>> T = m.pose([0.3, 0.5], frame="tool")
    >>> V = m.velocity([0.3, 0.5], [1.0, 2.0], "tool", axes="aligned")
    >>> inverse_motion(m, T, V, [0.0] * 6, [0.2, 0.4], "tool", strict=False).v.round(9)
    array([1., 2.])
    """
    choice(singular, "singular", SINGULAR_WORDS)
    found = inverse_kinematics(m, pose, guess, frame, axis=axis, limits=limits, tolerance=tolerance, strict=strict)
    arm = arm_for(m, frame, None, axis)
    spatial = (
        states(x, name, 6, "a frame", "components") for x, name in ((twist, "twist"), (acceleration, "acceleration"))
    )
    made = rates(arm, found.q, np.asarray(pose, dtype=float), *spatial)
    tell(arm, made, singular)
    return made


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
    own_twist = evaluate(m, "velocity", frame=task.frame, axes="aligned")(q, v)
    bias = evaluate(m, "acceleration", frame=task.frame, axes="aligned")(q, v, np.zeros(m.nv))
    asked = _times(wanted, acceleration) + task.centripetal(pose[..., :3, :3], twist)
    made = _times(S, bias) + task.centripetal(here[..., :3, :3], own_twist)
    a = arm.velocities(factor.solve(asked - made))
    slip = np.linalg.norm(_times(J, moving) - speeds, axis=-1)
    return JointMotion(q, v, a, *arm.missed(q, task.of_pose(pose)), slip, factor.condition, t)


def _times(M: Floats, b: Floats) -> Floats:
    return np.einsum("...ij,...j->...i", M, b)


def tell(arm: Arm, made: JointMotion, singular: str, jumps: Sequence[float] = ()) -> None:
    """Tell of singular configurations and of branch jumps on a path, in the way that was asked for."""
    worst = np.atleast_1d(made.condition)
    lost, sentences = worst > SINGULAR_CONDITION, []
    if lost.any():
        where = "" if made.t is None else f" at t = {made.t[lost.argmax()]:.4g} s"
        many = f" (and {lost.sum() - 1} times more)" if lost.sum() > 1 else ""
        sentences.append(
            f"{arm.m.name} is at or next to a singular configuration{where}{many}: the condition number is {worst.max():.2g}, "
            f"and motions of '{arm.task.frame}' that are lost there are damped."
        )
    if jumps:
        sentences.append(
            f"{arm.m.name} jumps to another branch before t = {jumps[0]:.4g} s, where the path leads by a singular "
            "configuration or a limit."
        )
    if sentences:
        advice = "Choose another configuration or path, or pass singular='ignore'."
        tell_of_singularity(singular, " ".join([*sentences, advice]))
