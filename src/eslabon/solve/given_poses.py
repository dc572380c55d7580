"""Poses that users give, checked and made exact."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eslabon.arguments import floats
from eslabon.errors import InputError
from eslabon.numerics.rigid_motions import check_pose
from eslabon.numerics.rotations import quaternion_from_rotation, rotation_from_quaternion

Floats = NDArray[np.float64]
EXACT = 1e-14  # of R R^T against 1: a rotation to its last digits
ONE, LAST_ROW = np.eye(3), np.array([0.0, 0.0, 0.0, 1.0])


def checked_poses(target: ArrayLike) -> Floats:
    """Poses (..., 4, 4), their rotations made exact where they were given with a few digits."""
    poses = floats(target, "the target")
    if poses.shape[-2:] != (4, 4):
        raise InputError(
            f"a pose is a 4x4 matrix, or a batch (..., 4, 4); this has shape {poses.shape}."
        )
    if _are_exact(poses):
        return poses
    poses = check_pose(poses).copy()
    poses[..., :3, :3] = rotation_from_quaternion(quaternion_from_rotation(poses[..., :3, :3]))
    return poses


def _are_exact(poses: Floats) -> bool:
    """Whether the poses are poses to the last digits."""
    R = poses[..., :3, :3]
    with np.errstate(all="ignore"):  # what overflows is no pose
        error = np.abs(R @ np.swapaxes(R, -1, -2) - ONE).max(initial=0.0)
    proper = (
        error < EXACT
        and np.linalg.det(R).min(initial=1.0) > 0
        and np.isfinite(poses[..., :3, 3]).all()
    )
    return bool(proper and (poses[..., 3, :] == LAST_ROW).all())
