"""What a design is to do: a motion of its actuated joints or of a frame, as equations of one instant, and by the plain verbs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from eslabon.arguments import Floats, choice
from eslabon.errors import InputError, ModelError
from eslabon.formulas.kinematics.frames import chosen_frame
from eslabon.mechanism import Mechanism
from eslabon.model.configuration import velocity_names
from eslabon.motion.motion_forms import as_trajectory, joint_path_of, require_span
from eslabon.motion.paths import JointPath
from eslabon.numerics.scalars import casadi
from eslabon.solve.constraints.independent_coordinates import partition

PARTS = {
    "pose": slice(0, 6),
    "orientation": slice(0, 3),
    "position": slice(3, 6),
}  # of a frame's twist


class Prescribed(Protocol):
    """A motion that every design has to make."""

    @property
    def duration(self) -> float: ...

    def judged(self, m: Mechanism) -> tuple[str, str]:
        """The frame whose dexterity counts, and what of it: "translation" or "rotation"."""

    def data(self, t: Floats) -> Floats:
        """What the equations of instants depend on, (n, numbers)."""

    def equations(
        self, m: Mechanism, parameters: Mapping[str, Any], q: Any, v: Any, a: Any, data: Any
    ) -> tuple[Any, Any, Any]:
        """Columns that are zero for the configurations, the velocities and the accelerations of the motion."""

    def states(self, m: Mechanism, t: Floats, guess: Any) -> tuple[Floats, Floats, Floats]:
        """q, v, a of all joints at increasing times, by the verbs of the mechanism."""


@dataclass(frozen=True, eq=False)
class OfJoints:
    """The motion of all joints of a tree, or of the actuated ones of a closed mechanism."""

    path: JointPath
    coordinates: tuple[int, ...]
    velocities: tuple[int, ...]
    used: tuple[int, ...]  # of the path's columns: those that determine the others

    @property
    def duration(self) -> float:
        return self.path.duration

    def judged(self, m: Mechanism) -> tuple[str, str]:
        return chosen_frame(m, None).name, "translation"

    def data(self, t: Floats) -> Floats:
        return np.concatenate([x[:, list(self.used)] for x in self.path(t)], axis=1)

    def equations(
        self, m: Mechanism, parameters: Mapping[str, Any], q: Any, v: Any, a: Any, data: Any
    ) -> tuple[Any, Any, Any]:
        n = len(self.used)
        places, rates = list(self.coordinates), list(self.velocities)
        return q[places] - data[:n], v[rates] - data[n : 2 * n], a[rates] - data[2 * n :]

    def states(self, m: Mechanism, t: Floats, guess: Any) -> tuple[Floats, Floats, Floats]:
        q, v, a = self.path(t)
        if not m.closed:
            return q, v, a
        return m.complete(q, v, a, guess, continuation=True, singular="error", limits=False)


@dataclass(frozen=True, eq=False)
class OfFrame:
    """The motion of a frame, or of a part of its pose; `rows` of its twist are those that determine all joints."""

    path: Any
    frame: str
    part: str
    rows: tuple[int, ...]

    @property
    def duration(self) -> float:
        return float(self.path.duration)

    def judged(self, m: Mechanism) -> tuple[str, str]:
        if self.part == "pose":
            raise ModelError(
                "dexterity is that of a position or of an orientation, for a pose mixes metres and radians; bound each by itself."
            )
        return self.frame, {"position": "translation", "orientation": "rotation"}[self.part]

    def data(self, t: Floats) -> Floats:
        pose, twist, acceleration = (
            np.array([np.asarray(f(x)) for x in t])
            for f in (self.path.pose, self.path.twist, self.path.acceleration)
        )
        return np.concatenate(
            [pose[:, :3, :3].reshape(-1, 9), pose[:, :3, 3], twist, acceleration], axis=1
        )

    def equations(
        self, m: Mechanism, parameters: Mapping[str, Any], q: Any, v: Any, a: Any, data: Any
    ) -> tuple[Any, Any, Any]:
        rows = list(self.rows)
        pose = m.pose(q, self.frame, parameters=parameters)
        turned: Any = pose[:3, :3] @ casadi.reshape(
            data[:9], 3, 3
        )  # R R_d^T, for CasADi fills columns
        angle = casadi.vertcat(
            turned[2, 1] - turned[1, 2], turned[0, 2] - turned[2, 0], turned[1, 0] - turned[0, 1]
        )
        off = casadi.vertcat(angle / 2, pose[:3, 3] - data[9:12])
        twist = m.velocity(q, v, self.frame, axes="aligned", parameters=parameters)
        rate = m.acceleration(q, v, a, self.frame, axes="aligned", parameters=parameters)
        return off[rows], (twist - data[12:18])[rows], (rate - data[18:])[rows]

    def states(self, m: Mechanism, t: Floats, guess: Any) -> tuple[Floats, Floats, Floats]:
        motion = m.follow(
            self.path,
            guess,
            frame=self.frame,
            part=self.part,
            times=t,
            singular="error",
            limits=False,
        )
        return motion.q, motion.v, motion.a


def prescribed(
    m: Mechanism, motion: Any, frame: str | None, part: str | None, guess: Any
) -> Prescribed:
    """The motion as it is given: a path of joints (`es.paths.joint_path`), or one of a frame (`es.paths.along` and others)."""
    if m.rheonomic:
        raise ModelError(
            f"the constraints of {m.name} depend on the time and move it already; design it without its drives."
        )
    if isinstance(motion, JointPath):
        if frame is not None or part is not None:
            raise ModelError(
                "frame and part go with the motion of a frame; the motion of joints needs neither."
            )
        return _of_joints(m, motion)
    if all(hasattr(motion, name) for name in ("duration", "pose", "twist", "acceleration")):
        return _of_frame(
            m, motion, frame, choice("position" if part is None else part, "part", PARTS), guess
        )
    if frame is not None or part is not None:
        raise ModelError(
            "frame and part go with the motion of a frame; the motion of joints needs neither."
        )
    return _of_joints(m, joint_path_of(require_span(as_trajectory(m, motion))))


def _of_joints(m: Mechanism, path: JointPath) -> OfJoints:
    count = path.position(0.0).shape[-1]
    joints = [m.joint(name) for name in m.actuated] if m.closed else list(m.joints)
    listed = ", ".join(j.name for j in joints)
    if unplain := [j.name for j in joints if j.kind.has_quaternion]:
        raise ModelError(
            f"joint '{unplain[0]}' of {m.name} turns by a quaternion; give the motion of a frame instead."
        )
    if count != sum(j.nv for j in joints):
        raise InputError(
            f"the motion has {count} coordinates; that of {m.name} has {sum(j.nv for j in joints)} ({listed})."
        )
    velocities = [k for j in joints for k in range(m.nv)[m.velocities[j.name]]]
    coordinates = [k for j in joints for k in range(m.nq)[m.coordinates[j.name]]]
    p = partition(m)
    if missing := [velocity_names(m)[k] for k in p.independent if k not in velocities]:
        raise ModelError(
            f"the motion of {listed} leaves {', '.join(missing)} of {m.name} open; a design needs the motion of all degrees of freedom."
        )
    used = [k for k, place in enumerate(velocities) if not m.closed or place in p.independent]
    return OfJoints(
        path, tuple(coordinates[k] for k in used), tuple(velocities[k] for k in used), tuple(used)
    )


def _of_frame(m: Mechanism, path: Any, frame: str | None, part: str, guess: Any) -> OfFrame:
    """With those rows of the frame's twist that determine all joints, chosen by pivoting where the motion begins."""
    from scipy.linalg import null_space, qr

    name = chosen_frame(m, frame).name
    first = m.follow(path, guess, frame=name, part=part, times=[0.0], limits=False).q[0]
    free = null_space(m.constraint_jacobian(first), rcond=1e-8) if m.closed else np.eye(m.nv)
    rows = np.arange(6)[PARTS[part]]
    moved = (m.jacobian(first, name, axes="aligned")[rows] @ free).T
    _, R, order = qr(moved, mode="economic", pivoting=True)
    size = np.abs(np.diag(R))
    rank = int((size > 1e-8 * size.max(initial=0.0)).sum())
    if rank < free.shape[1]:
        raise ModelError(
            f"the {part} of '{name}' leaves {free.shape[1] - rank} of the {free.shape[1]} degrees of freedom of {m.name} open; a design "
            "needs the motion of all: give that of the joints, or another part."
        )
    return OfFrame(path, name, part, tuple(sorted(int(rows[k]) for k in order[:rank])))
