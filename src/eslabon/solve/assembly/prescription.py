"""What is given for an assembly: the values of some joints, or the pose of a frame; and where it starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eslabon.arguments import finite, names, states, text
from eslabon.compiler.evaluate import evaluate
from eslabon.errors import ModelError
from eslabon.formulas.kinematics.frames import chosen_frame
from eslabon.formulas.quantities import quantity
from eslabon.model import Model
from eslabon.model.memory import per_model
from eslabon.model.scale import characteristic_length, velocity_scales
from eslabon.numerics.quaternions import (
    quaternion_from_rotation_vector,
    rotation_vector_from_quaternion,
)
from eslabon.numerics.rotations import quaternion_from_rotation, rotation_from_quaternion
from eslabon.solve.constraints.closed_configurations import close, jacobian_at
from eslabon.solve.constraints.independent_coordinates import generic, rank
from eslabon.solve.designs import DESCRIBED, Designs
from eslabon.solve.given_poses import checked_poses

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Prescription:
    """Joints by name, or a frame: their values x, and the straight ways between two of them.

    The way between two values of a joint is straight in its coordinates (angles count their turns), between two poses
    straight for the position and a turn about one axis for the orientation.
    """

    joints: tuple[str, ...] = ()
    frame: str | None = None

    @property
    def core(self) -> int:
        """How many axes one set of given values has."""
        return 1 if self.frame is None else 2

    def plain(self, m: Model) -> bool:
        """Whether it prescribes something, and the ways between two values are differences."""
        return self.frame is not None or (
            bool(self.joints) and not any(m.joint(name).kind.has_quaternion for name in self.joints)
        )

    def coordinates(self, m: Model) -> list[int]:
        return [k for name in self.joints for k in range(m.nq)[m.coordinates[name]]]

    def velocities(self, m: Model) -> list[int]:
        return [k for name in self.joints for k in range(m.nv)[m.velocities[name]]]

    def free(self, m: Model) -> list[int]:
        """The velocities that are not prescribed."""
        fixed = set(self.velocities(m))
        return [k for k in range(m.nv) if k not in fixed]

    def scales(self, m: Model) -> Floats:
        """What makes the prescribed velocities comparable."""
        return (
            np.repeat([1.0, 1 / characteristic_length(m)], 3)
            if self.frame is not None
            else velocity_scales(m)[self.velocities(m)]
        )

    def values(self, m: Model, q: Floats, designs: Designs = DESCRIBED) -> Floats:
        """What configurations give for that which is prescribed."""
        if self.frame is not None:
            return np.asarray(
                evaluate(m, quantity(m, "pose"), frame=self.frame, parameters=designs.names)(
                    q, *designs.inputs
                )
            )
        return q[..., self.coordinates(m)]

    def displacement(self, m: Model, to: Floats, start: Floats) -> Floats:
        """The prescribed velocities that lead straight from one value to another in a unit of time."""
        if self.frame is not None:
            turn = to[..., :3, :3] @ np.swapaxes(start[..., :3, :3], -1, -2)
            spin = rotation_vector_from_quaternion(quaternion_from_rotation(turn))
            return np.concatenate([spin, to[..., :3, 3] - start[..., :3, 3]], axis=-1)
        if self.plain(m):
            return to - start
        each = zip(
            self._kinds(m), self._split(m, to, "nq"), self._split(m, start, "nq"), strict=True
        )
        return np.concatenate(
            [kind.difference(a, b) if kind.has_quaternion else a - b for kind, a, b in each],
            axis=-1,
        )

    def along(self, m: Model, start: Floats, dx: Floats) -> Floats:
        """The value that a displacement leads to."""
        if self.frame is not None:
            T = np.array(np.broadcast_to(start, (*dx.shape[:-1], 4, 4)))
            T[..., :3, :3] = (
                rotation_from_quaternion(quaternion_from_rotation_vector(dx[..., :3]))
                @ T[..., :3, :3]
            )
            T[..., :3, 3] += dx[..., 3:]
            return T
        each = zip(
            self._kinds(m), self._split(m, start, "nq"), self._split(m, dx, "nv"), strict=True
        )
        return np.concatenate([kind.integrate(a, b) for kind, a, b in each], axis=-1)

    def _kinds(self, m: Model) -> list[Any]:
        return [m.joint(name).kind for name in self.joints]

    def _split(self, m: Model, x: Floats, size: str) -> list[Floats]:
        """The prescribed joints' own parts of their coordinates ("nq") or velocities ("nv")."""
        return np.split(
            x, np.cumsum([getattr(kind, size) for kind in self._kinds(m)])[:-1], axis=-1
        )


def design_scales(m: Model, designs: Designs) -> Floats:
    """What makes changes of parameters comparable: one over their own values, or over the characteristic
    length."""
    own = np.abs(designs.own(m).values)
    return 1 / np.where(own > 0, own, characteristic_length(m))


@dataclass(frozen=True)
class Determinacy:
    """What a prescription does to a mechanism: degrees of freedom it leaves open, and rows that others already imply."""

    open: int
    surplus: int


@per_model
def determinacy(m: Model, given: Prescription) -> Determinacy:
    """By the ranks of the closure Jacobian and of what is prescribed, where the mechanism is not singular."""
    q = generic(m) if m.closed else m.home()
    J = jacobian_at(m, q)
    if given.frame is not None:
        rows = evaluate(m, quantity(m, "jacobian"), frame=given.frame, axes="spatial")(q)
        together = _rank(np.vstack([J, rows]))
        return Determinacy(m.nv - together, 6 - (together - _rank(J)))
    free = given.free(m)
    held = _rank(J[:, free])
    return Determinacy(len(free) - held, _rank(J) - held)


def _rank(A: Floats) -> int:
    return int(rank(np.linalg.svd(A, compute_uv=False)))


def prescribed(
    m: Model, values: Any, joints: tuple[str, ...] | str | None, pose: Any, frame: str | None
) -> tuple[Prescription, Floats]:
    """The prescription and its values, checked."""
    if pose is not None:
        if values is not None or joints is not None:
            raise ModelError("assemble takes joint values or the pose of a frame, not both.")
        return Prescription(
            frame=chosen_frame(m, frame if frame is None else text(frame, "frame")).name
        ), checked_poses(pose)
    if frame is not None:
        m.frame(text(frame, "frame"))
        raise ModelError(f"frame='{frame}' goes with the pose it is to take; give pose= too.")
    given = by_joints(m, joints)
    count = len(given.coordinates(m))
    if not count and joints is None and m.closed and m.nv:
        raise ModelError(
            f"{m.name} has no actuated joints; name the joints you prescribe, as in joints=('{m.joints[0].name}',)."
        )
    x = np.atleast_1d(finite([] if values is None else values, "the array of prescribed values"))
    if x.shape[-1] != count:
        raise ModelError(
            f"the prescribed joints {', '.join(given.joints) or '(none)'} have {count} coordinates; {x.shape[-1]} values were given."
        )
    return given, x


def by_joints(m: Model, joints: tuple[str, ...] | str | None) -> Prescription:
    """The joints that are prescribed: the actuated ones unless others are named."""
    if joints is None:
        return _actuated(m)
    chosen = names(joints, "joints")
    if len(set(chosen)) != len(chosen):
        raise ModelError(f"joints names a joint twice: {', '.join(chosen)}.")
    return Prescription(tuple(m.joint(name).name for name in chosen))


@per_model
def _actuated(m: Model) -> Prescription:
    return Prescription(tuple(m.actuated))


def start(m: Model, guess: Any) -> Floats:
    """Where an assembly starts: the closed home, a mode by its name, or configurations (..., nq)."""
    if guess is None:
        return home(m)
    if isinstance(guess, str):
        return m.configuration(guess)
    return states(guess, "guess", m.nq, m.name)


def home(m: Model) -> Floats:
    """The closed configuration nearest to the description's home."""
    return _home(m).copy() if m.closed else m.home()


@per_model
def _home(m: Model) -> Floats:
    return close(m)
