"""Inverse kinematics as users call it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eslabon.arguments import count, flag, positive, states
from eslabon.errors import InverseKinematicsError
from eslabon.least_squares import Found
from eslabon.solvers.inverse.arm import Arm, arm_for
from eslabon.solvers.inverse.newton_gauss import improved
from eslabon.solvers.inverse.search import Search
from eslabon.solvers.inverse.tasks import Points, checked_places, checked_poses

if TYPE_CHECKING:
    from eslabon.model import Model

Floats = NDArray[np.float64]

TOLERANCE = 1e-10  # metres and radians: far below what any machine repeats, far above round-off
NEAR = 1e-8  # an error |r|² from which Newton-Gauss mostly arrives
RESTARTS = 32
TARGETS = 8192  # that are worked on at once, for the sake of memory


@dataclass(frozen=True, eq=False, repr=False)
class Configurations:
    """What was found, with the leading axes of the targets; where several were asked for, these are one more axis.

    Attributes
    ----------
    q : the configurations (..., nq); where none reaches its target, the best found.
    converged : which of them reach their targets, as the forward kinematics sees it.
    distance, angle : what is missing, in metres and radians; of points, the worst one's distance and no angle.
    iterations : the steps taken.
    """

    q: Floats
    converged: Any
    distance: Any
    angle: Any
    iterations: Any

    def __repr__(self) -> str:
        found = f"{np.count_nonzero(self.converged):,} of {np.size(self.converged):,} reached"
        worst = f"distance up to {np.max(self.distance, initial=0.0):.2g} m, angle up to {np.max(self.angle, initial=0.0):.2g} rad"
        return f"<Configurations: {found}, {worst}>"

    @property
    def residual(self) -> Floats:
        """Distance and angle side by side, (..., 2)."""
        return np.stack([self.distance, self.angle], axis=-1)


def inverse_kinematics(
    m: Model, target: ArrayLike, guess: ArrayLike | None = None, frame: str | None = None, *,
    points: ArrayLike | None = None, axis: Any = None, solutions: int = 1, limits: bool = True,
    tolerance: float = TOLERANCE, restarts: int = RESTARTS, strict: bool | None = None, threads: int | None = None,
) -> Configurations:  # fmt: skip
    """Configurations that bring a frame to given poses (Rojas, 3.3.1 and 3.5).

    Damped Newton-Gauss steps from the guess; where they end in a local minimum, again from configurations spread over the
    ranges of the joints, the nearest to the target first. What arrives is verified by the forward kinematics. A
    redundant arm stays near to where it starts; a short one, that cannot turn or place the frame freely, ends as near
    to the target as least squares get it, and says how near.

    Parameters
    ----------
    target : poses (..., 4, 4); with `points` the places of these, (..., k, 3).
    guess : configurations (..., nq) to start from; without it the first start is the one nearest to the target.
    frame : what is to go there; without it the mechanism's only named frame.
    points : points of the frame (k, 3) that count, instead of all of it. One is a position, two are the line of an
        axisymmetric tool. Their places must be as far from one another as they are.
    axis : "x", "y", "z" or a vector. Of the poses only the origin and the direction of this axis count.
    solutions : how many different configurations to look for. The result has them on an axis of their own, the nearest to
        the guess first, and `converged` says which places are filled.
    limits : whether the joints' limits count.
    tolerance : in metres and radians.
    restarts : how many other starts a target may have.
    strict : whether a target not reached is an error. If left out it is one for a single target; in a batch
        `converged` tells.

    Raises
    ------
    InverseKinematicsError
        With the best that was found, in metres and radians.

    >>> import eslabon as es
    >>> m = es.load("puma560")
    >>> T = m.pose([0.1, 0.5, -2.0, 0.3, 0.4, 0.5])
    >>> found = inverse_kinematics(m, T)
    >>> np.allclose(m.pose(found.q), T, rtol=0, atol=1e-10)
    True
    >>> inverse_kinematics(m, T, solutions=8, limits=False).converged.sum()
    np.int64(8)
    """
    solutions, restarts = count(solutions, "solutions", 1), count(restarts, "restarts")
    limits, tolerance = flag(limits, "limits"), positive(tolerance, "tolerance")
    threads = None if threads is None else count(threads, "threads", 1)
    if strict is not None:
        flag(strict, "strict")
    arm = arm_for(m, frame, points, axis)
    x, begin = _aligned(arm, target, guess, np.inf if strict is False else tolerance, points is None)
    search = Search(arm, limits, goal(arm, tolerance), threads)
    made = _one_each(search, x, begin, restarts) if solutions == 1 else _several_each(search, x, begin, solutions)
    x = x if solutions == 1 else x[..., None, :]
    distance, angle = arm.missed(made.q, x)
    good = made.arrived & (distance <= tolerance) & (angle <= tolerance)
    found = Configurations(made.q, good, distance, angle, made.steps)
    if strict or (strict is None and found.q.ndim == 1):
        _refuse(arm, found, limits, solutions > 1)
    return found


def _aligned(
    arm: Arm, target: ArrayLike, guess: ArrayLike | None, tolerance: float, poses: bool
) -> tuple[Floats, Floats | None]:
    """Targets as the task sees them, and guesses with the same leading axes."""
    task = arm.task
    x = task.of_pose(checked_poses(target)) if poses else checked_places(cast(Points, task), target, tolerance)
    if guess is None:
        return x, None
    m, q = arm.m, states(guess, "guess", arm.m.nq, arm.m.name)
    if x.ndim == q.ndim == 1:
        return x, q
    try:
        lead = np.broadcast_shapes(x.shape[:-1], q.shape[:-1])
    except ValueError:
        raise InverseKinematicsError(
            f"the leading axes of the targets {x.shape[:-1]} and of the guesses {q.shape[:-1]} do not fit together; give one "
            "guess, or one for each."
        ) from None
    return np.broadcast_to(x, (*lead, task.size)), np.broadcast_to(q, (*lead, m.nq))


class _Made(NamedTuple):
    """Configurations, whether each is one that the search has arrived at, and the steps it took."""

    q: Floats
    arrived: Any
    steps: Any


def _one_each(search: Search, x: Floats, guess: Floats | None, restarts: int) -> _Made:
    """A configuration for each target."""
    arm, lead = search.arm, x.shape[:-1]
    found = _in_parts(search, x, guess, restarts) if lead else search.alone(x, guess, restarts)
    q, targets, error = found.q.reshape(-1, arm.m.nq), x.reshape(-1, x.shape[-1]), np.atleast_1d(found.error)
    # The last word on what seems out of reach is with the orthogonal factors.
    out = (error > search.goal) & ((error < NEAR) | (restarts > 0))
    if out.any():
        q[out] = improved(arm, q[out], targets[out], search.limits)
    q = q.reshape(*lead, arm.m.nq)
    return _Made(search.ranges.turned(q, arm.m.home() if guess is None else guess), True, _shaped(found.steps, lead))


def _several_each(search: Search, x: Floats, guess: Floats | None, solutions: int) -> _Made:
    """Several configurations for each target."""
    lead, n = x.shape[:-1], search.arm.m.nq
    each = [search.several(x[k], None if guess is None else guess[k], solutions) for k in np.ndindex(lead)]
    q, filled, steps = (np.array(part) for part in zip(*each, strict=True))
    return _Made(q.reshape(*lead, solutions, n), filled.reshape(*lead, solutions), steps.reshape(*lead, solutions))


def _shaped(a: Any, lead: tuple[int, ...]) -> Any:
    return a.reshape(lead) if lead else a


def goal(arm: Arm, tolerance: float) -> float:
    """The error |r|², with lengths in units of the reach, at which both parts are within the tolerance."""
    return (tolerance / max(1.0, arm.task.reach)) ** 2


def _in_parts(search: Search, x: Floats, guess: Floats | None, restarts: int) -> Found:
    """The search on as many targets at once as memory likes."""
    x, guess = x.reshape(-1, x.shape[-1]), None if guess is None else guess.reshape(-1, guess.shape[-1])
    parts = [slice(k, k + TARGETS) for k in range(0, len(x), TARGETS)] or [slice(0)]
    each = [search.one(x[part], None if guess is None else guess[part], restarts) for part in parts]
    return each[0] if len(each) == 1 else Found(*(np.concatenate(pieces) for pieces in zip(*each, strict=True)))


def _refuse(arm: Arm, found: Configurations, limits: bool, several: bool) -> None:
    """Raise if something was not reached, with the best that was."""
    reached = np.atleast_1d(found.converged)
    reached = reached.any(axis=-1, keepdims=True) | reached if several else reached  # of several, one is enough
    missed = np.argwhere(~reached)
    if not len(missed):
        return
    worst = tuple(missed[0])
    which = f"target {tuple(int(k) for k in worst)}" if found.q.ndim > 1 else "this target"
    distance, angle = (float(np.atleast_1d(a)[worst]) for a in (found.distance, found.angle))
    free = ", limits=False" if limits else ""
    raise InverseKinematicsError(
        f"{arm.m.name} does not reach {which} with '{arm.task.frame}': the best configuration found misses it by "
        f"{distance:.3g} m and {angle:.3g} rad. Try another guess, more restarts{free}, or take it with strict=False."
    )
