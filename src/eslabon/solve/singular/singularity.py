"""What is special about a singular configuration: directions a frame has lost, motions that locked
actuators do not hold, joints that cannot move, joint motions that leave the frame at rest (Gosselin
and Angeles; Zlatanov, Fenton and Benhabib).

All are null spaces of the closure Jacobian and of the frame's, with rotations in radians and
lengths in units of the mechanism's size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from eslabon.answers import Answer, Block, Column, Table, fields_table
from eslabon.arguments import Floats, choice, positive
from eslabon.compiler.evaluate import evaluate
from eslabon.formulas.quantities import quantity
from eslabon.model import Model
from eslabon.model.configuration import velocity_names
from eslabon.model.scale import characteristic_length, velocity_scales
from eslabon.numerics.tolerances import COINCIDENT, RANK, ROUND_OFF
from eslabon.solve.constraints.closed_configurations import beside, generic, jacobian_at
from eslabon.solve.constraints.independent_coordinates import partition
from eslabon.solve.singular.actuated_motions import passive_velocities
from eslabon.solve.singular.conditions import (
    PARTS,
    conditions,
    frame_if_any,
    one_configuration,
    scaled_twists,
)


@dataclass(frozen=True)
class SingularitySettings:
    """How lost and gained motions are found and described.

    Attributes
    ----------
    tolerance : singular values, over the size of a Jacobian, that count as zero: what assembly
        leaves of a configuration that is meant to be singular.
    neighbours, distance : how many configurations are compared with, and how far off they are, in
        rad or metres over L.
    moves : the least share of a motion that names a joint.
    shown : the least share of a twist that is described.
    decimals : of directions, and of places over L.
    """

    tolerance: float = 1e-5
    neighbours: int = 4
    distance: float = 1e-3
    moves: float = 1e-6
    shown: float = 1e-4
    decimals: int = 6


SETTINGS = SingularitySettings()


@dataclass(frozen=True, eq=False, repr=False)
class Singularity(Answer):
    """What a configuration cannot do that those beside it can, and what its actuators do not hold.

    Attributes
    ----------
    parallel, serial : reciprocal condition numbers, as in `conditions`; both are above zero where
        nothing is singular.
    lost : twists of the frame `(k, 6)` in the ground's axes at its origin, angular part first, that
        no motion of the joints makes though it does beside this configuration; at right angles to
        all that can be made. A turn has length 1, a translation too.
    carried : the wrenches on the frame `(k, 6)` at its origin, moment first, that go with them: the
        structure carries them with no force of the actuators.
    gained : joint velocities `(k, nv)` that remain with all actuators locked.
    gained_twists : how the frame moves with them, `(k, 6)`.
    self_motions : joint velocities `(k, nv)` that leave the frame at rest.
    locked : names of the joint velocities that are zero in every motion, though not beside this
        configuration.

    >>> import eslabon as es
    >>> there = es.load("elbow").singularity([0.0, 0.0], "tool", part="translation")
    >>> there.lost.shape, there.words[0]
    ((1, 6), "'tool' has lost its translation along (1, 0, 0)")
    """

    name: str
    frame: str | None
    origin: Floats  # of the frame
    velocities: tuple[str, ...]
    parallel: float
    serial: float
    lost: Floats
    carried: Floats
    gained: Floats
    gained_twists: Floats
    self_motions: Floats
    locked: tuple[str, ...]
    length: float  # the characteristic length, in m
    tolerance: float = SETTINGS.tolerance

    @property
    def near(self) -> float:
        """The lesser reciprocal condition number: zero at a singular configuration, small next to
        one."""
        return min(self.parallel, self.serial)

    @property
    def exact(self) -> bool:
        """Whether the configuration is singular to working precision."""
        return self.near < RANK

    @property
    def words(self) -> tuple[str, ...]:
        """All of it in sentences."""
        has = "has" if self.exact else "has all but"
        sentences = [f"'{self.frame}' {has} lost its {self._motion(x)}" for x in self.lost]
        for motion, twist in zip(self.gained, self.gained_twists, strict=True):
            moved = f", a {self._motion(twist)} of '{self.frame}'" if np.any(twist) else ""
            sentences.append(f"locked actuators do not hold {self._joints(motion)}{moved}")
        sentences += [
            f"{self._joints(motion)} can move without moving '{self.frame}'"
            for motion in self.self_motions
        ]
        sentences += [f"{', '.join(self.locked)} cannot move"] if self.locked else []
        return tuple(sentences)

    def _motion(self, twist: Floats) -> str:
        return in_words(twist, self.origin, self.length)

    def _joints(self, motion: Floats) -> str:
        moving = np.flatnonzero(np.abs(motion) > SETTINGS.moves * np.abs(motion).max())
        return ", ".join(self.velocities[k] for k in moving)

    def contents(self) -> Iterator[Block]:
        if self.words:
            rows = [(sentence,) for sentence in self.words]
            yield Table((Column("what is singular", kind="prose"),), rows)
        yield fields_table(self)

    def __str__(self) -> str:
        return repr(self)

    def __repr__(self) -> str:
        zero = ""
        if self.tolerance > SETTINGS.tolerance:
            zero = f"; less than {self.tolerance:g} counts as zero"
        head = f"<Singularity of {self.name}: parallel {self.parallel:.2g}, serial {self.serial:.2g}{zero}>"
        return "\n  ".join([head, *self.words])


def singularity(
    m: Model,
    q: Any,
    frame: str | None = None,
    part: str = "all",
    *,
    tolerance: float = SETTINGS.tolerance,
) -> Singularity:
    """What is lost and gained at a configuration.

    `tolerance` is the share of a Jacobian's size below which a singular value counts as zero: 0.05
    tells what is nearly lost.
    """
    q = one_configuration(m, q, "singularity")
    rows, tolerance = PARTS[choice(part, "part", PARTS)], positive(tolerance, "tolerance")
    chosen = frame_if_any(m, frame)
    rng = np.random.default_rng(0)
    here = _Motions.at(m, q, chosen, rows, tolerance)
    others = [
        _Motions.at(m, beside(m, q, rng, SETTINGS.distance), chosen, rows, RANK)
        for _ in range(SETTINGS.neighbours)
    ]
    lost = _lost(here, others, tolerance) if chosen is not None else np.zeros((0, 6))
    L, origin, twists = characteristic_length(m), np.zeros(3), np.zeros((6, m.nv))
    if chosen is not None:
        origin = evaluate(m, quantity(m, "pose"), frame=chosen)(q)[:3, 3]
        twists = scaled_twists(m, q, chosen) / velocity_scales(m) if m.nv else twists
    lengths, whole = np.repeat([1.0, L], 3), np.zeros((len(lost), 6))
    if len(lost):
        whole[:, rows] = lost
    found = conditions(m, q, chosen, part)
    moving = set.union(*(x.moving for x in others)) - here.moving
    return Singularity(
        name=m.name,
        frame=chosen,
        origin=origin,
        velocities=velocity_names(m),
        parallel=float(found.parallel),
        serial=float(found.serial),
        lost=_unit(_cleaned(whole) * lengths, first=True),
        carried=_unit(_cleaned(whole) / lengths, first=False),
        gained=here.gained / velocity_scales(m),
        gained_twists=_cleaned(here.gained @ twists.T) * lengths,
        self_motions=here.self_motions / velocity_scales(m),
        locked=tuple(velocity_names(m)[k] for k in sorted(moving)),
        length=float(L),
        tolerance=tolerance,
    )


@dataclass(frozen=True, eq=False)
class _Motions:
    """The motions of a configuration in comparable units, as rows."""

    twists: Floats  # of the frame, one for each motion that keeps the loops closed, as columns; the frame's J has norm 1
    gained: Floats
    self_motions: Floats
    moving: set[int]  # velocities that are not zero in all of them

    @staticmethod
    def at(m: Model, q: Floats, frame: str | None, rows: slice, tolerance: float) -> _Motions:
        J = jacobian_at(m, q) / velocity_scales(m)
        usual = np.linalg.norm(jacobian_at(m, generic(m)) / velocity_scales(m), axis=1)
        J = J[usual > ROUND_OFF] / usual[usual > ROUND_OFF, None]
        unit = np.eye(m.nv)
        closing = np.concatenate([J, unit[list(passive_velocities(m))]])
        free = _null_space(closing, tolerance)
        inputs = sorted({*partition(m).independent, *m.actuated_velocities})
        own = (
            np.zeros((0, m.nv))
            if frame is None
            else scaled_twists(m, q, frame)[rows] / velocity_scales(m)
        )
        twists = own @ free.T / (float(np.linalg.norm(own)) or 1.0)
        still = _null_space(twists, tolerance) @ free if frame is not None else np.zeros((0, m.nv))
        return _Motions(
            twists,
            _sparse(_null_space(unit[inputs] @ free.T, tolerance) @ free),
            _sparse(still),
            {k for k in range(m.nv) if len(free) and np.linalg.norm(free[:, k]) > tolerance},
        )


def _lost(here: _Motions, others: list[_Motions], tolerance: float) -> Floats:
    """As many twists, as rows, as neighbours have more of: of those that this configuration does
    not make, the ones that they make first."""
    made = _range(here.twists, tolerance)
    number = max(_range(x.twists, RANK).shape[1] for x in others) - made.shape[1]
    if number <= 0:
        return np.zeros((0, len(here.twists)))
    beyond = np.linalg.svd(made)[0][:, made.shape[1] :] if made.size else np.eye(len(made))
    first, _, _ = np.linalg.svd(beyond.T @ np.concatenate([x.twists for x in others], axis=1))
    lost = beyond @ first[:, :number]
    if len(lost) < 6:
        return _sparse(lost.T)
    # pure translations, pure rotations and what is neither apart (the cosine-sine decomposition)
    return np.linalg.svd(lost[:3])[2] @ lost.T


def _null_space(A: Floats, tolerance: float) -> Floats:
    """An orthonormal basis, as rows, of what A, whose size is that of one, takes to zero."""
    _, sizes, V = np.linalg.svd(A)
    return V[int((sizes > tolerance).sum()) :]


def _range(A: Floats, tolerance: float) -> Floats:
    """An orthonormal basis, as columns, of what such an A gives."""
    U, sizes, _ = np.linalg.svd(A)
    return U[:, : int((sizes > tolerance).sum())]


def _sparse(basis: Floats) -> Floats:
    """Unit rows that span the same, with as many zeros as pivoting gives: motions of few joints
    each."""
    from scipy.linalg import qr

    if not len(basis):
        return basis
    pivots = qr(basis, mode="r", pivoting=True)[1][: len(basis)]
    rows = _cleaned(np.asarray(np.linalg.solve(basis[:, pivots], basis), dtype=float))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _cleaned(rows: Floats) -> Floats:
    """Without the round-off where there should be zeros."""
    return np.where(np.abs(rows) > COINCIDENT * np.abs(rows).max(initial=0.0), rows, 0.0)


def _unit(rows: Floats, first: bool) -> Floats:
    """Twists (first) or wrenches (second) scaled to a unit turn or force, or to a unit of the other
    part where that is zero."""
    parts = [
        np.linalg.norm(rows[:, k : k + 3], axis=1, keepdims=True)
        for k in ((0, 3) if first else (3, 0))
    ]
    return rows / np.where(parts[0] > 0, parts[0], parts[1])


def in_words(twist: Floats, origin: Floats, length: float = 1.0) -> str:
    """A twist in the ground's axes at a frame's origin, as a translation, a rotation or a screw
    motion; `length` is what makes lengths comparable with angles.

    >>> in_words(np.array([0, 0, 2.0, 0, -2.0, 0]), np.zeros(3))
    'rotation about (0, 0, 1) through (1, 0, 0)'
    """
    turn, way = twist[:3], twist[3:]
    speed, shift = float(np.linalg.norm(turn)), float(np.linalg.norm(way)) / length
    if speed <= SETTINGS.shown * shift:
        return f"translation along {_direction(way)}"
    place = origin + np.cross(turn, way) / speed**2
    through = f"{_direction(turn)} through {_numbers(place, length)}"
    pitch = turn @ way / speed**2
    if abs(pitch) / length * speed <= SETTINGS.shown * max(shift, speed):
        return f"rotation about {through}"
    return f"screw motion about {through} with pitch {pitch:.4g} m/rad"


def _direction(x: Floats) -> str:
    """A unit vector, its greatest component positive."""
    unit = x / np.linalg.norm(x)
    return _numbers(unit * np.sign(unit[np.argmax(np.abs(unit).round(9))]))


def _numbers(x: Floats, length: float = 1.0) -> str:
    rounded = np.round(x / length, SETTINGS.decimals) * length
    return f"({', '.join(f'{value + 0.0:.4g}' for value in rounded)})"
