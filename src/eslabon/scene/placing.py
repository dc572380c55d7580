"""Where the bodies are: the poses of all of them at once, as a formula."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.formula import Argument, Formula
from eslabon.formulas.inputs import Q
from eslabon.model import GROUND, Model

Floats = np.ndarray[Any, np.dtype[np.float64]]


def _poses(m: Model, q: Any) -> Any:
    """The 4x4 poses of the ground and all bodies, one below the other (Yime, eq. 3)."""
    from eslabon.formulas.kinematics.tree import placements
    from eslabon.numerics.scalars import block, components, matrix

    placed = placements(m, q)
    rows = []
    for body in (GROUND, *(b.name for b in m.bodies)):
        R, p = placed[body]
        rows += [
            [R, matrix([[x] for x in components(p, 3)])],
            [matrix([[0.0] * 3]), matrix([[1.0]])],
        ]
    return block(rows)


BODY_POSES = Formula(
    "body_poses",
    _poses,
    (Q,),
    (Argument("poses", lambda m, **_: (len(m.bodies) + 1, 4, 4)),),
    rare=True,
)


def body_poses(m: Model, q: Any, parameters: Mapping[str, Any] | None = None) -> Floats:
    """The poses of the ground and of all bodies, `(..., bodies + 1, 4, 4)`, in the order of `Scene.bodies`."""
    given = dict(parameters or {})
    poses: Floats = evaluate(m, BODY_POSES, tuple(given))(q, *given.values())
    return poses


def moved(pose: Floats, points: Any) -> Floats:
    """Points `(n, 3)` of a body at a pose `(..., 4, 4)`, in the ground's frame: `(..., n, 3)`."""
    T = np.asarray(pose)
    placed: Floats = (
        np.asarray(points, dtype=float) @ np.swapaxes(T[..., :3, :3], -1, -2) + T[..., None, :3, 3]
    )
    return placed
