"""The one problem: what is prescribed of a mechanism, without numbers.

A problem has joints, or coordinates of joints, that are held, and rows of frames' poses. Loops and
couplings are always to be closed besides. It is hashable, an option of every formula that works on
it, and so the key of compiled kernels. Its value x is one row of numbers: the held coordinates,
then the values of the rows in their order. Whoever prescribes something (assembly, inverse
kinematics, a path, a map, the view in the browser) builds a problem.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.evaluate import evaluate
from eslabon.formulas.kinematics.tree import chain
from eslabon.formulas.quantities import quantity
from eslabon.model import Model
from eslabon.model.configuration import coordinate_columns, coordinate_names
from eslabon.model.memory import per_model
from eslabon.model.scale import characteristic_length, velocity_scales
from eslabon.solve.designs import DESCRIBED, Designs
from eslabon.solve.rows import Orientation, Position, Rows


class _Held(NamedTuple):
    """The kind of a joint with a quaternion, and the places of what is held in q and in v."""

    kind: Any
    coordinates: range
    velocities: range


@dataclass(frozen=True)
class Problem:
    """Joints with given coordinates, and rows of frames' poses, of a mechanism with its loops
    closed.

    A joint whose coordinates are plain numbers may be held in some of them, as in "base.x".
    """

    held: tuple[str, ...] = ()
    rows: tuple[Rows, ...] = ()

    # -- sizes and places -----------------------------------------------------------------------------

    def coordinates(self, m: Model) -> list[int]:
        """The places of the held coordinates in q."""
        return [k for held in _places(m, self.held) for k in held.coordinates]

    def velocities(self, m: Model) -> list[int]:
        """The places of the held velocities in v."""
        return [k for held in _places(m, self.held) for k in held.velocities]

    def free(self, m: Model) -> list[int]:
        """The velocities that are solved for: those that are not held and, of a tree, that move a
        frame of the rows."""
        fixed = set(self.velocities(m))
        moving = range(m.nv) if m.closed or not self.rows else self._moving(m)
        return [k for k in moving if k not in fixed]

    def _moving(self, m: Model) -> list[int]:
        joints = {j.name for rows in self.rows for j in chain(m, m.frame(rows.frame).body)}
        return sorted(k for name in joints for k in range(m.nv)[m.velocities[name]])

    def size(self, m: Model) -> int:
        """How many numbers a value has."""
        return len(self.coordinates(m)) + sum(rows.size for rows in self.rows)

    def rate_size(self, m: Model) -> int:
        """How many rates a value has."""
        return len(self.velocities(m)) + sum(rows.rate_size for rows in self.rows)

    @property
    def error_size(self) -> int:
        """How many rows the errors of all rows have."""
        return sum(rows.error_size for rows in self.rows)

    @property
    def frames(self) -> tuple[str, ...]:
        """The frames of the rows, each once."""
        return tuple(dict.fromkeys(rows.frame for rows in self.rows))

    def values_of(self, m: Model, x: Any) -> Iterator[tuple[Rows, Any]]:
        """Each of the rows with its part of a value, an array or a CasADi column."""
        place = len(self.coordinates(m))
        for rows in self.rows:
            own = slice(place, place + rows.size)
            yield rows, x[..., own] if isinstance(x, np.ndarray) else x[own]
            place += rows.size

    # -- values and the straight ways between them ------------------------------------------------------

    def values(self, m: Model, q: Floats, designs: Designs = DESCRIBED) -> Floats:
        """The value that configurations have."""
        poses = {
            frame: np.asarray(
                evaluate(m, quantity(m, "pose"), designs.names, frame=frame)(q, *designs.inputs)
            )
            for frame in self.frames
        }
        parts = [q[..., self.coordinates(m)], *(r.value(poses[r.frame]) for r in self.rows)]
        lead = np.broadcast_shapes(*(x.shape[:-1] for x in parts))
        return np.concatenate([np.broadcast_to(x, (*lead, x.shape[-1])) for x in parts], axis=-1)

    def displacement(self, m: Model, to: Floats, start: Floats) -> Floats:
        """The rates that lead straight from one value to another in a unit of time.

        The way between two values of a joint is straight in its coordinates (angles count their
        turns), between two positions straight, between two orientations a turn about one axis.
        """
        to, start = np.broadcast_arrays(to, start)
        parts = [
            a - b if kind is None else kind.difference(a, b)
            for kind, a, b in self._joints(m, to, start)
        ]
        pairs = zip(self.values_of(m, to), self.values_of(m, start), strict=True)
        parts += [rows.displacement(a, b) for (rows, a), (_, b) in pairs]
        return np.concatenate(parts, axis=-1) if parts else np.zeros((*to.shape[:-1], 0))

    def along(self, m: Model, start: Floats, dx: Floats) -> Floats:
        """The value that a displacement leads to."""
        parts, place = [], 0
        for kind, own in self._joints(m, start):
            count = own.shape[-1] if kind is None else kind.nv
            way = dx[..., place : place + count]
            parts.append(own + way if kind is None else kind.integrate(own, way))
            place += count
        for rows, own in self.values_of(m, start):
            parts.append(rows.along(own, dx[..., place : place + rows.rate_size]))
            place += rows.rate_size
        return np.concatenate(parts, axis=-1) if parts else np.array(start)

    def _joints(self, m: Model, *values: Floats) -> Iterator[tuple[Any, ...]]:
        """What is held with its coordinates in the values, and its kind, unless these are plain
        numbers."""
        place = 0
        for held in _places(m, self.held):
            count = len(held.coordinates)
            yield held.kind, *(x[..., place : place + count] for x in values)
            place += count

    def rate_scales(self, m: Model) -> Floats:
        """What makes the rates of a value comparable: 1 for rad/s, one over the characteristic
        length for m/s."""
        length = characteristic_length(m)
        held = np.asarray(velocity_scales(m), dtype=float)[self.velocities(m)]
        return np.concatenate([held, *(rows.comparable(length) for rows in self.rows)])

    def has_straight_ways(self, m: Model) -> bool:
        """Whether something is prescribed whose ways are plain differences in native code: joints
        without quaternions, or nothing but a whole pose."""
        if self.held:
            return not self.rows and all(held.kind is None for held in _places(m, self.held))
        return self.is_whole_pose

    @property
    def is_whole_pose(self) -> bool:
        """Whether the rows are the orientation, then the position of one frame."""
        return tuple(map(type, self.rows)) == (Orientation, Position) and len(self.frames) == 1


@per_model
def _places(m: Model, names: tuple[str, ...]) -> tuple[_Held, ...]:
    """Joints, or coordinates of joints, by name."""
    made = []
    for name in names:
        if name in m.coordinates:
            kind = m.joint(name).kind
            places = range(m.nq)[m.coordinates[name]], range(m.nv)[m.velocities[name]]
            made.append(_Held(kind if kind.has_quaternion else None, *places))
        else:
            k = coordinate_names(m).index(name)
            joint = coordinate_columns(m)[k].joint
            v = k - m.coordinates[joint].start + m.velocities[joint].start
            made.append(_Held(None, range(k, k + 1), range(v, v + 1)))
    return tuple(made)


CLOSURE_ALONE = Problem()
