"""What is given for an assembly: the values of some joints, or the pose of a frame; and where it starts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from eslabon.algebra.rotations import check_rotation
from eslabon.errors import ModelError, RotationError
from eslabon.graph.native.arguments import as_floats
from eslabon.kinematics.closure import close
from eslabon.kinematics.frames import chosen_frame
from eslabon.model import Mechanism

Floats = np.ndarray


@dataclass(frozen=True)
class Prescription:
    """Joints by name, or a frame."""

    joints: tuple[str, ...] = ()
    frame: str | None = None

    @property
    def core(self) -> int:
        """How many axes one set of given values has."""
        return 1 if self.frame is None else 2

    def coordinates(self, m: Mechanism) -> list[int]:
        return [k for name in self.joints for k in range(m.nq)[m.coordinates[name]]]

    def velocities(self, m: Mechanism) -> list[int]:
        return [k for name in self.joints for k in range(m.nv)[m.velocities[name]]]

    def free(self, m: Mechanism) -> list[int]:
        """The velocities that are not prescribed."""
        fixed = set(self.velocities(m))
        return [k for k in range(m.nv) if k not in fixed]


def prescribed(
    m: Mechanism, values: Any, joints: tuple[str, ...] | str | None, pose: Any, frame: str | None
) -> tuple[Prescription, Floats]:
    """The prescription and its values, checked."""
    if pose is not None:
        if values is not None or joints is not None:
            raise ModelError("assemble takes joint values or the pose of a frame, not both.")
        return Prescription(frame=chosen_frame(m, frame).name), _poses(pose)
    given = by_joints(m, joints)
    count = len(given.coordinates(m))
    if not count and joints is None and m.closed:
        raise ModelError(
            f"{m.name} has no actuated joints; name the joints you prescribe, as in joints=('{m.joints[0].name}',)."
        )
    x = np.atleast_1d(as_floats([] if values is None else values, "the prescribed values"))
    if x.shape[-1:] != (count,):
        raise ModelError(
            f"the prescribed joints {', '.join(given.joints)} have {count} coordinates; {x.shape[-1] if x.ndim else 0} values were given."
        )
    if not np.all(np.isfinite(x)):
        raise ModelError("the prescribed values are not all finite numbers.")
    return given, x


def by_joints(m: Mechanism, joints: tuple[str, ...] | str | None) -> Prescription:
    """The joints that are prescribed: the actuated ones unless others are named."""
    if joints is not None and (not isinstance(joints, Iterable) or not all(isinstance(j, str) for j in joints)):
        raise ModelError(f"joints names the prescribed joints, as in joints=('q1', 'q2'); it is {joints!r}.")
    names = m.actuated if joints is None else (joints,) if isinstance(joints, str) else tuple(joints)
    return Prescription(tuple(m.joint(name).name for name in names))


def _poses(pose: Any) -> Floats:
    T = as_floats(pose, "pose")
    if T.shape[-2:] != (4, 4) or not np.all(np.isfinite(T)):
        raise ModelError(f"pose must be finite numbers of shape (..., 4, 4); it has shape {T.shape}.")
    try:
        check_rotation(T[..., :3, :3])
    except RotationError as error:
        raise ModelError(f"pose: {error}") from None
    return T


def start(m: Mechanism, guess: Any) -> Floats:
    """Where an assembly starts: the closed home, a mode by its name, or postures (..., nq)."""
    if guess is None:
        return home(m)
    if isinstance(guess, str):
        return m.posture(guess)
    q = as_floats(guess, "guess")
    if q.shape[-1:] != (m.nq,):
        raise ModelError(
            f"guess has {q.shape[-1] if q.ndim else 0} values in its last axis; {m.name} has {m.nq} coordinates."
        )
    if not np.all(np.isfinite(q)):
        raise ModelError("the guess is not all finite numbers.")
    return q


def home(m: Mechanism) -> Floats:
    """The closed posture nearest to the description's home."""
    return np.array(_home(m)) if m.closed else m.home()


@lru_cache(maxsize=256)
def _home(m: Mechanism) -> tuple[float, ...]:
    return tuple(close(m))
