"""What is asked of a frame: a whole pose, or that some points of it come to given places.

A task sees a target as a row of numbers, says in symbols how far a configuration is from it and how that changes, and
judges the answer in numbers. Lengths are divided by the reach of the arm, so that turning and moving weigh the same in
a watch and in a crane.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eslabon.arguments import floats
from eslabon.errors import InverseKinematicsError
from eslabon.formulas.kinematics.frames import jacobian, placement
from eslabon.model import Model
from eslabon.numerics.quaternions import rotation_vector_from_quaternion
from eslabon.numerics.rigid_motions import hat
from eslabon.numerics.rotations import quaternion_from_rotation, vect
from eslabon.numerics.scalars import casadi, matmul

Floats = NDArray[np.float64]

# A start is near if its place is, more than its orientation, which the last joints mend: so measured on four arms.
PLACE = 4.0


@dataclass(frozen=True)
class WholePose:
    """Position and orientation, six rows: the rotation vector of the error, and the way that is left.

    Rojas (3.3.1) asks for vect P = vect R and tr P = tr R, four equations in the three degrees of freedom of a rotation. Written
    for the error E = P R^T of the frame's rotation P against the target's R, their least-squares solution is a turn by
    -vect E = -e sin φ. That goes to zero half a turn away, where the four equations stall; here it is lengthened to
    -e φ, which has the same direction, the same derivative at the solution, and no such stall.
    """

    frame: str
    reach: float  # the unit of length
    size: ClassVar[int] = 12  # numbers of a target
    rank: ClassVar[int] = 6  # degrees of freedom that it takes from the frame

    @property
    def weights(self) -> Floats:
        """What each number of a target counts when near targets are told from far ones."""
        return np.repeat([1.0, PLACE / self.reach], [9, 3])

    def of_pose(self, pose: Floats) -> Floats:
        """The target, as a row of numbers, that a pose of the frame is."""
        return np.concatenate(
            [pose[..., :3, :3].reshape(*pose.shape[:-2], 9), pose[..., :3, 3]], axis=-1
        )

    def residual(self, m: Model, q: Any, x: Any) -> Any:
        """How far a configuration is from the target x, in symbols."""
        P, p = placement(m, q, m.frame(self.frame))
        E = matmul(P, x[:9].reshape((3, 3)))  # column by column, as CasADi fills it, this is R^T
        return casadi.vertcat(
            rotation_vector_from_quaternion(quaternion_from_rotation(E)), (p - x[9:]) / self.reach
        )

    def jacobian(self, m: Model, q: Any) -> Any:
        """The matrix J with residual' = J v at the target, in symbols; J^T residual is the exact gradient."""
        J = jacobian(m, q, self.frame, axes="aligned")
        return casadi.vertcat(J[:3, :], J[3:, :] / self.reach)

    def of_placement(self, R: Any, p: Any) -> Any:
        """The same in symbols."""
        return casadi.vertcat(casadi.vec(R.T), p)

    def missed(self, residual: Any) -> tuple[Any, Any]:
        """What is missing to the target in metres and radians, in symbols."""
        return casadi.norm_2(residual[3:]) * self.reach, casadi.norm_2(residual[:3])

    def equations(self, pose: Floats, x: Floats) -> tuple[Floats, Floats]:
        """The equations f = 0 in numbers, and S with f' = S twist, the twist in ground axes: f = [2 vect E; tr E - 3; p - p*]
        and S = [1 tr E - E; -2 vect(E)^T; 1], seven rows (Rojas, 3.3.1)."""
        R = x[..., :9].reshape(*x.shape[:-1], 3, 3)
        E = pose[..., :3, :3] @ np.swapaxes(R, -1, -2)
        turn, cosines = 2.0 * vect(E), np.trace(E, axis1=-2, axis2=-1)[..., None]
        f = np.concatenate(
            [turn, cosines - 3.0, (pose[..., :3, 3] - x[..., 9:]) / self.reach], axis=-1
        )
        S = np.zeros((*f.shape, 6))
        S[..., :3, :3] = cosines[..., None] * np.eye(3) - E
        S[..., 3, :3] = -turn
        S[..., 4:, 3:] = np.eye(3) / self.reach
        return f, S

    def centripetal(self, R: Floats, twist: Floats) -> Floats:
        """The part of f'' = S acceleration + ... that the velocities make."""
        return np.zeros((*twist.shape[:-1], 7))


@dataclass(frozen=True)
class Points:
    """Points of the frame and where they are to be: one is a position, two are the line of a five-axis tool.

    f = [h - p; s - p'] of Rojas (3.5): six equations for five degrees of freedom, compatible if and only if the two places are as
    far apart as the two points of the tool.
    """

    frame: str
    reach: float
    points: tuple[tuple[float, float, float], ...]

    @property
    def size(self) -> int:
        return 3 * len(self.points)

    @cached_property
    def rank(self) -> int:
        _, S = self.equations(np.eye(4), np.zeros(self.size))
        return int(np.linalg.matrix_rank(S))

    @property
    def weights(self) -> Floats:
        return np.full(self.size, 1.0 / self.reach)

    @cached_property
    def local(self) -> Floats:
        """The points in the frame's own axes, (k, 3)."""
        return np.array(self.points)

    def of_pose(self, pose: Floats) -> Floats:
        places = self._arms(pose[..., :3, :3]) + pose[..., None, :3, 3]
        return places.reshape(*places.shape[:-2], self.size)

    def residual(self, m: Model, q: Any, x: Any) -> Any:
        return (self.of_placement(*placement(m, q, m.frame(self.frame))) - x) / self.reach

    def jacobian(self, m: Model, q: Any) -> Any:
        P, _ = placement(m, q, m.frame(self.frame))
        J = jacobian(m, q, self.frame, axes="aligned")
        rows = [J[3:, :] - matmul(hat(matmul(P, np.array(r))), J[:3, :]) for r in self.points]
        return casadi.vertcat(*rows) / self.reach

    def of_placement(self, R: Any, p: Any) -> Any:
        return casadi.vertcat(*(p + matmul(R, np.array(r)) for r in self.points))

    def missed(self, residual: Any) -> tuple[Any, Any]:
        gaps = casadi.reshape(residual, 3, len(self.points))
        return casadi.sqrt(casadi.mmax(casadi.sum1(gaps**2).T)) * self.reach, casadi.SX(0)

    def equations(self, pose: Floats, x: Floats) -> tuple[Floats, Floats]:
        """f = [h - p; s - p'; ...], three rows for each point (Rojas, eq. 3.5.1.4)."""
        arms = self._arms(pose[..., :3, :3])
        S = np.zeros((*arms.shape, 6))
        S[..., :3], S[..., 3:] = -hat(arms), np.eye(3)
        return (self.of_pose(pose) - x) / self.reach, S.reshape(
            *S.shape[:-3], self.size, 6
        ) / self.reach

    def centripetal(self, R: Floats, twist: Floats) -> Floats:
        w = twist[..., None, :3]
        rows = np.cross(w, np.cross(w, self._arms(R))) / self.reach
        return rows.reshape(*rows.shape[:-2], self.size)

    def _arms(self, R: Floats) -> Floats:
        """From the frame's origin to each point, in ground axes."""
        return self.local @ np.swapaxes(R, -1, -2)


Task = WholePose | Points


def checked_places(task: Points, target: ArrayLike, tolerance: float) -> Floats:
    """Places (..., k, 3) as an array (..., size), checked to be as far from one another as the points are."""
    places, count = floats(target, "the target"), len(task.points)
    if places.shape[-2:] != (count, 3) or not np.isfinite(places).all():
        raise InverseKinematicsError(
            f"{count} points of the frame need finite places ({count}, 3), or a batch (..., {count}, 3); this has "
            f"shape {places.shape}."
        )
    first, second = np.triu_indices(count, 1)
    own = np.linalg.norm(task.local[first] - task.local[second], axis=-1)
    asked = np.linalg.norm(places[..., first, :] - places[..., second, :], axis=-1)
    wrong = np.abs(asked - own)
    if (
        wrong.size and wrong.max() > 2 * tolerance + 1e-12 * task.reach
    ):  # at least half of it is missed at either end
        at = np.unravel_index(wrong.argmax(), wrong.shape)
        raise InverseKinematicsError(
            f"points {first[at[-1]]} and {second[at[-1]]} are {own[at[-1]]:.9g} m apart on the rigid tool, their places "
            f"{asked[at]:.9g} m; move the places, or allow the difference with tolerance=."
        )
    return places.reshape(*places.shape[:-2], task.size)
