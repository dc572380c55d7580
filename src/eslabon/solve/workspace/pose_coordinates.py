"""Which coordinates of a frame's pose a mechanism can change, and their values."""

from __future__ import annotations

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.formula import Argument, Formula
from eslabon.formulas.inputs import Q
from eslabon.formulas.kinematics.frames import placement
from eslabon.model import Model
from eslabon.model.memory import per_model
from eslabon.model.plane_of_motion import plane_directions
from eslabon.model.scale import characteristic_length
from eslabon.numerics.scalars import Expression
from eslabon.numerics.tolerances import DISTINCT, RANK
from eslabon.solve.constraints.closed_configurations import around
from eslabon.solve.coordinate_rows import POSITION, TURNS, PoseCoordinates
from eslabon.solve.singular.conditions import reachable_twists, scaled_twists


def coordinate_rows(m: Model, frame: str, names: tuple[str, ...]) -> PoseCoordinates:
    """Coordinates of a frame's pose as rows, the angle in the plane of motion of a mechanism."""
    directions = plane_directions(m) if "angle" in names else ()
    return PoseCoordinates(frame, 1.0, names, *directions)


def pose_coordinates(m: Model, q: Expression, rows: PoseCoordinates) -> Expression:
    """Coordinates of a frame's pose, as expressions."""
    return rows.coordinates(*placement(m, q, m.frame(rows.frame)))


COORDINATES = Formula(
    "pose_coordinates",
    pose_coordinates,
    (Q,),
    (Argument("values", lambda m, rows: (rows.size,)),),
    {"rows": PoseCoordinates("")},
    rare=True,
)


def pose_coordinates_at(m: Model, frame: str, names: tuple[str, ...], q: Floats) -> Floats:
    """Coordinates (..., names) of a frame's pose at configurations (..., nq)."""
    if not names:
        return np.zeros((*q.shape[:-1], 0))
    return np.asarray(evaluate(m, COORDINATES, rows=coordinate_rows(m, frame, names))(q))


@per_model
def constant_turns(m: Model, frame: str) -> tuple[str, ...]:
    """Those of roll, pitch and yaw that loops keep constant although the tree could change them:
    all three of the platform of a delta robot, two of one that turns about the vertical only."""
    q = np.stack(list(around(m)))
    of_tree = np.linalg.matrix_rank(scaled_twists(m, q, frame)[:, :3], tol=RANK).max(initial=0)
    if of_tree == reachable_twists(m, frame, "rotation").rank:
        return ()
    return tuple(x for x in TURNS if not _changes(m, frame, x))


@per_model
def following_coordinates(m: Model, frame: str, prescribed: tuple[str, ...]) -> tuple[str, ...]:
    """The coordinates of a frame's pose that are not prescribed and change: parasitic motions, or
    where a map over joints leads."""
    in_plane = _turns_in_plane(m, frame) and not set(prescribed) & set(TURNS)
    turns = ("angle",) if in_plane or "angle" in prescribed else TURNS
    others = (name for name in (*POSITION, *turns) if name not in prescribed)
    return tuple(name for name in others if _changes(m, frame, name))


def _changes(m: Model, frame: str, name: str) -> bool:
    """Whether a coordinate is not the same in all closed configurations."""
    values = pose_coordinates_at(m, frame, (name,), np.stack(list(around(m))))[:, 0]
    away = values - values[0]
    if name in POSITION:
        return bool(np.abs(away).max() > DISTINCT * characteristic_length(m))
    return bool(np.abs(np.sin(away / 2)).max() > DISTINCT)


def _turns_in_plane(m: Model, frame: str) -> bool:
    """Whether a frame turns about the normal of the plane of motion only, or not at all."""
    axes = reachable_twists(m, frame, "rotation").basis
    x, y = plane_directions(m)
    normal = np.cross(x, y)
    return bool(np.linalg.norm(axes - np.outer(normal, normal @ axes)) < DISTINCT)
