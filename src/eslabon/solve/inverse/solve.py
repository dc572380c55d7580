"""Inverse kinematics as users call it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eslabon.arguments import count, flag, positive, states
from eslabon.errors import InverseKinematicsError
from eslabon.solve.batches import flattened
from eslabon.solve.configurations import Configurations
from eslabon.solve.designs import Designs, designs_of
from eslabon.solve.given_poses import checked_poses
from eslabon.solve.inverse.arm import Arm, arm_for
from eslabon.solve.inverse.newton_gauss import improved
from eslabon.solve.inverse.search import Search
from eslabon.solve.inverse.tasks import Points, checked_places

if TYPE_CHECKING:
    from eslabon.model import Model

Floats = NDArray[np.float64]

TOLERANCE = 1e-10  # metres and radians: far below what any machine repeats, far above round-off
NEAR = 1e-8  # an error |r|² from which Newton-Gauss mostly arrives
RESTARTS = 32
TRIES = 20  # of one target, in native code, before the search for batches takes over
TARGETS = 8192  # that are worked on at once, for the sake of memory


def inverse_kinematics(
    m: Model, target: ArrayLike, guess: ArrayLike | None = None, frame: str | None = None, *,
    points: ArrayLike | None = None, axis: Any = None, solutions: int = 1, limits: bool = True,
    tolerance: float = TOLERANCE, restarts: int = RESTARTS, strict: bool | None = None, threads: int | None = None,
    parameters: Any = None,
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
    parameters : values in place of the model's own, by name; arrays are many designs, and broadcast with the targets.
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
    designs = designs_of(m, parameters, limits)
    arm = arm_for(m, frame, points, axis, designs.names)
    search = Search(arm, limits, tolerance, threads)
    one_each = (
        solutions == 1
        and points is parameters is None
        and type(target) is np.ndarray
        and target.shape == (4, 4)
    )
    if one_each and (guess is None or (type(guess) is np.ndarray and guess.shape == (m.nq,))):
        near = search.near(target, guess, min(restarts + 1, TRIES))
        if near is not None:
            return Configurations(near[0], np.True_, *near[1:3], int(near[3]))
    x, begin, lead = _aligned(
        arm, target, guess, np.inf if strict is False else tolerance, points is None, designs
    )
    if solutions == 1:
        made = _one_each(search, x, begin, restarts)
    else:
        made, lead = _several_each(search, x, begin, solutions), (*lead, solutions)
    distance, angle = arm.missed(made.q, x if solutions == 1 else x[:, None])
    good = made.arrived & (distance <= tolerance) & (angle <= tolerance)
    parts = (part.reshape(lead)[()] for part in (good, distance, angle, made.steps))
    found = Configurations(made.q.reshape(*lead, m.nq), *parts)
    if strict or (strict is None and found.q.ndim == 1):
        _refuse(arm, found, limits, solutions > 1, x)
    return found


def _aligned(
    arm: Arm,
    target: ArrayLike,
    guess: ArrayLike | None,
    tolerance: float,
    poses: bool,
    designs: Designs,
) -> tuple[Floats, Floats | None, tuple[int, ...]]:
    """Targets as the task sees them (k, n), each with its design behind, guesses (k, nq), and the leading axes that were
    given."""
    task = arm.task
    x = (
        task.of_pose(checked_poses(target))
        if poses
        else checked_places(cast(Points, task), target, tolerance)
    )
    given = {"targets": (x, 1), "parameters": (designs.values, 1)}
    if guess is not None:
        given["guesses"] = states(guess, "guess", arm.m.nq, arm.m.name), 1
    lead, (x, own, *q) = flattened(**given)
    return np.concatenate([x, own], axis=-1) if designs.names else x, q[0] if q else None, lead


class _Made(NamedTuple):
    """Configurations, whether each is one that the search has arrived at, and the steps it took."""

    q: Floats
    arrived: Any
    steps: Floats


def _one_each(search: Search, x: Floats, guess: Floats | None, restarts: int) -> _Made:
    """A configuration for each target, of as many at once as memory likes."""
    parts = [slice(k, k + TARGETS) for k in range(0, len(x), TARGETS)] or [slice(0)]
    each = [search.one(x[part], None if guess is None else guess[part], restarts) for part in parts]
    q, error, steps = (np.concatenate(pieces) for pieces in zip(*each, strict=True))
    # The last word on what seems out of reach is with the orthogonal factors.
    out = (error > search.goal) & ((error < NEAR) | (restarts > 0))
    if out.any():
        q[out] = improved(search.arm, q[out], x[out], search.limits)
    return _Made(
        search.ranges.turned(q, search.arm.m.home() if guess is None else guess), True, steps
    )


def _several_each(search: Search, x: Floats, guess: Floats | None, solutions: int) -> _Made:
    """Several configurations for each target."""
    made = _Made(
        np.empty((len(x), solutions, search.arm.m.nq)),
        *np.zeros((2, len(x), solutions), dtype=np.int64),
    )
    for k, target in enumerate(x):
        made.q[k], made.arrived[k], made.steps[k] = search.several(
            target, None if guess is None else guess[k], solutions
        )
    return made._replace(arrived=made.arrived.astype(bool))


def _refuse(arm: Arm, found: Configurations, limits: bool, several: bool, x: Floats) -> None:
    """Raise if something was not reached, with the best that was."""
    reached = np.atleast_1d(found.converged)
    reached = (
        reached.any(axis=-1, keepdims=True) | reached if several else reached
    )  # of several, one is enough
    missed = np.argwhere(~reached)
    if not len(missed):
        return
    worst = tuple(missed[0])
    which = f"target {tuple(int(k) for k in worst)}" if found.q.ndim > 1 else "this target"
    distance, angle = (float(np.atleast_1d(a)[worst]) for a in (found.distance, found.angle))
    free, lead = ", limits=False" if limits else "", reached.shape[: reached.ndim - several]
    own = Designs(
        arm.parameters, x[np.ravel_multi_index(worst[: len(lead)], lead), arm.task.size :]
    )
    raise InverseKinematicsError(
        f"{arm.m.name}{own.told} does not reach {which} with '{arm.task.frame}': the best configuration found misses it by "
        f"{distance:.3g} m and {angle:.3g} rad. Try another guess, more restarts{free}, or take it with strict=False."
    )
