"""The ways a mechanism closes: which branch a posture stands on, when one is left, and what others there are.

On a branch the determinant of the passive columns of the closure Jacobian keeps its sign; where it changes, the
mechanism has passed a posture at which the given values do not hold the loops.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from eslabon.errors import ModelError
from eslabon.kinematics.assembly.newton import solve
from eslabon.kinematics.assembly.prescription import Prescription, home, prescribed
from eslabon.kinematics.closure import CLOSED, partition, steady, tidy
from eslabon.kinematics.tree import on_body, placements
from eslabon.model import Mechanism

Floats = np.ndarray
STARTS = 400  # from which ways of closing are looked for


def signs(m: Mechanism, given: Prescription, q: Floats) -> Floats | None:
    """1 or -1 for each posture of (k, nq), by the side of the singular postures it stands on; None where the given
    joints are not as many as the freedoms, so that there is no such side."""
    free, rows = given.free(m), partition(m).rows
    if given.frame is not None or len(free) != len(rows) or not rows or not steady(m):
        return None
    return np.sign(np.linalg.det(_jacobian(m)(q)[:, rows][:, :, free]))


@lru_cache(maxsize=256)
def _jacobian(m: Mechanism) -> Callable[[Floats], Floats]:
    from eslabon.graph.trace import Request, native
    from eslabon.quantities import QUANTITIES

    return native(m, Request(QUANTITIES["constraint_jacobian"]))


def assembly_modes(
    m: Mechanism, values: Any, *, joints: tuple[str, ...] | None = None, pose: Any = None, frame: str | None = None
) -> Floats:  # fmt: skip
    """The different ways the mechanism closes for prescribed joint values or a pose, (ways, nq), the one nearest home
    first; angles are within half a turn of home's.

    What nothing drives makes no new way: the pose of a free base stays at home, and postures whose joints all stand in
    the same places, such as those of a rod that has spun between its balls, are one.
    """
    from eslabon.kinematics.assembly.assemble import refuse

    given, x = prescribed(m, values, joints, pose, frame)
    if x.ndim != given.core:
        raise ModelError("assembly_modes takes one set of values; call it for each.")
    q, idle = _scattered(m), _idle(m, given)
    T = None
    if given.core == 1:
        q[:, given.coordinates(m)] = x
        given = Prescription((*given.joints, *_driven_by_nothing(m, idle)))
        x = q[0, given.coordinates(m)]
        q[:, given.coordinates(m)] = x
    else:
        T = np.broadcast_to(x, (len(q), 4, 4))
    q, size = solve(m, given, q, T, iterations=100)
    found: list[Floats] = []
    for posture in q[size < CLOSED]:
        near = home(m) + _difference(m, posture, home(m))
        near[given.coordinates(m)] = posture[given.coordinates(m)]
        if not any(_alike(m, near, other, bool(idle)) for other in found):
            found.append(near)
    if not found:
        refuse(m, given, q[:1], size[:1], x[None])
    return np.array(sorted(found, key=lambda p: float(np.abs(_difference(m, p, home(m))).max())))


def _idle(m: Mechanism, given: Prescription) -> set[int]:
    """Velocities that are free whatever the prescribed joints do; with a pose, whatever the actuators do."""
    held = tuple(given.velocities(m)) if given.core == 1 else m.actuated_velocities
    return set(partition(m, held).independent) - set(held)


def _driven_by_nothing(m: Mechanism, idle: set[int]) -> list[str]:
    """Joints all of whose motions are idle, such as that of a base in the air."""
    return [j.name for j in m.joints if j.nv and set(range(m.nv)[m.velocities[j.name]]) <= idle]


def _alike(m: Mechanism, q: Floats, other: Floats, idle: bool) -> bool:
    """Whether two postures are the same, or with idle motions have every joint in the same place."""
    same = bool(np.abs(_difference(m, q, other)).max() < 1e-6)
    if same or not idle:
        return same
    a, b = (_places(m, x) for x in (q, other))
    return bool(np.abs(a - b).max() < 1e-6 * max(1.0, float(np.abs(a).max())))


def _places(m: Mechanism, q: Floats) -> Floats:
    """Where the joints and loops stand."""
    placed = placements(m, q)
    points = [on_body(placed, j.parent, j.at)[1] for j in m.joints]
    points += [on_body(placed, loop.second.body, loop.second.at)[1] for loop in m.loops]
    return np.array([np.ravel(p) for p in points], dtype=float)


def _scattered(m: Mechanism) -> Floats:
    """Home, and postures all around: the same ones always."""
    rng, middle = np.random.default_rng(0), home(m)
    q = np.array([middle, *(tidy(m, rng.uniform(-np.pi, np.pi, m.nq)) for _ in range(STARTS))])
    for joint in m.joints:  # lengths stay in reach
        if joint.kind.kind == "prismatic":
            place = m.coordinates[joint.name]
            q[1:, place] = middle[place] * rng.uniform(0.3, 1.7, (STARTS, 1)) + rng.uniform(-0.2, 0.2, (STARTS, 1))
    return q


def _difference(m: Mechanism, q: Floats, other: Floats) -> Floats:
    """How far apart two postures are, turns counted within half a turn and quaternions up to sign."""
    d = q - other
    for joint in m.joints:
        place = m.coordinates[joint.name]
        if joint.kind.kind in ("revolute", "universal"):
            d[place] = (d[place] + np.pi) % (2 * np.pi) - np.pi
        elif joint.nq != joint.nv and q[place][-4:] @ other[place][-4:] < 0:
            d[place][-4:] = -q[place][-4:] - other[place][-4:]
    return d
