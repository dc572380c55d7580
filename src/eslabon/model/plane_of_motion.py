"""The plane that a mechanism moves in: one for targets in a plane, maps and pictures."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eslabon.arguments import Floats
from eslabon.model.items import GROUND
from eslabon.model.memory import per_model
from eslabon.model.model import Model
from eslabon.numerics.scalars import matmul
from eslabon.numerics.tolerances import COINCIDENT, INPUT_DIGITS

Direction = tuple[float, float, float]
_, Y, Z = np.eye(3)


@per_model
def plane_of_motion(m: Model) -> Floats | None:
    """The directions x, y and the normal of the plane that a mechanism moves in, rows in the
    ground's axes and right-handed; None where it leaves every plane.

    A tree whose joints turn about parallel axes, and slide across them, moves in a plane whatever
    its loops are. y points against gravity where gravity has a part in the plane. Else x and y are
    in the order of the ground's axes: x, y or x, z or y, z.

    >>> import eslabon as es
    >>> plane_of_motion(es.load("cart_pole")) + 0.0
    array([[ 1.,  0.,  0.],
           [ 0.,  0.,  1.],
           [ 0., -1.,  0.]])
    """
    free = _free_directions(m.nominal)
    if (normal := _common_normal(free)) is None or free.screws:
        return None
    if np.abs(free.slides @ normal).max(initial=0.0) > COINCIDENT:
        return None
    return _facing(normal, np.array(m.nominal.gravity, dtype=float))


def plane_directions(m: Model) -> tuple[Direction, Direction]:
    """x and y of the plane of motion, or of the plane across the axes that all joints turn about,
    as those of a SCARA robot; of a mechanism that has neither, those of the ground."""
    normal = _common_normal(_free_directions(m.nominal))
    gravity = np.array(m.nominal.gravity, dtype=float)
    rows = np.eye(3) if normal is None else _facing(normal, gravity)
    (a, b, c), (d, e, f) = rows[:2].tolist()
    return (a, b, c), (d, e, f)


class _Free(NamedTuple):
    """Unit vectors of the axes that joints turn about and of the directions they slide in, and
    whether some are screws."""

    turns: Floats
    slides: Floats
    screws: bool


def _free_directions(m: Model) -> _Free:
    """What the joints leave free at home, in the ground's axes."""
    home, R, screws = m.home(), {GROUND: np.eye(3)}, False
    turns, slides = [np.zeros((0, 3))], [np.zeros((0, 3))]
    for joint in m.joints:
        q = home[m.coordinates[joint.name]]
        R[joint.child] = matmul(R[joint.parent], joint.at.rotation(), joint.kind.transform(q)[0])
        S = np.asarray(joint.kind.motion(q), dtype=float)
        w, u = (R[joint.child] @ part for part in (S[:3], S[3:]))
        turning = np.linalg.norm(w, axis=0) > COINCIDENT
        turns.append((w[:, turning] / np.linalg.norm(w[:, turning], axis=0)).T)
        slides.append((u[:, ~turning] / np.linalg.norm(u[:, ~turning], axis=0)).T)
        advance = np.abs(np.einsum("ij,ij->j", w, u))  # a screw leaves the plane that it turns in
        screws |= bool(
            (advance[turning] > COINCIDENT * np.linalg.norm(u[:, turning], axis=0)).any()
        )
    return _Free(np.concatenate(turns), np.concatenate(slides), screws)


def _common_normal(free: _Free) -> Floats | None:
    """The direction of all axes, or across all slides where nothing turns; None where there is
    none."""
    if not len(free.turns):
        return _across(free.slides) if len(free.slides) else None
    normal = free.turns[0]
    parallel = np.abs(np.cross(free.turns, normal)).max(initial=0.0) < COINCIDENT
    return np.asarray(normal) if parallel else None


def _across(slides: Floats) -> Floats | None:
    """A direction across all slides, if there is one; of many the nearest to z, then to y."""
    _, s, rows = np.linalg.svd(slides)
    free = rows[int((s > COINCIDENT).sum()) :]
    for axis in (Z, Y):
        nearest = free.T @ (free @ axis)
        if (length := np.linalg.norm(nearest)) > INPUT_DIGITS:
            return np.asarray(nearest / length)
    return np.asarray(free[0]) if len(free) else None


def _facing(normal: Floats, gravity: Floats) -> Floats:
    """x, y and the normal, which may be turned over, so that the larger axes of x are positive."""
    for up in (-gravity, Z, Y):
        across = up - normal * (up @ normal)
        if np.linalg.norm(across) > INPUT_DIGITS * np.linalg.norm(up):
            break
    y = across / np.linalg.norm(across)
    x = np.cross(y, normal)
    if x[np.abs(x).argmax()] < 0:
        x, normal = -x, -normal
    return np.array([x, y, normal])
