"""How near a configuration is to singular, of either kind (Gosselin and Angeles, 1990).

Parallel: locked actuators no longer hold the mechanism, because some motion leaves all of them at
rest; `parallel_condition` says how that is measured. Serial: a frame loses a direction, because the
actuators' motions no longer span its twists. Both are reciprocal condition numbers, from 1 at best
to 0 at a singular configuration; rotations count in radians, lengths in units of a characteristic
length, by default the mechanism's.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from eslabon.answers import Answer, Block, Column, Table, answer
from eslabon.arguments import Floats, choice, states, text
from eslabon.compiler.evaluate import evaluate
from eslabon.errors import ModelError
from eslabon.formulas.kinematics.frames import chosen_frame
from eslabon.formulas.quantities import quantity
from eslabon.model import Model
from eslabon.model.configuration import difference, velocity_names
from eslabon.model.memory import per_model
from eslabon.model.scale import velocity_scales
from eslabon.numerics.pivoting import pivot_columns
from eslabon.numerics.tolerances import RANK
from eslabon.solve.batches import flattened
from eslabon.solve.constraints.closed_configurations import around
from eslabon.solve.constraints.closure_violation import check_closed
from eslabon.solve.constraints.independent_coordinates import partition, partition_at
from eslabon.solve.designs import DESCRIBED, Designs, designs_of
from eslabon.solve.singular.actuated_motions import (
    ActuatedMotions,
    actuated_motions,
    lengths_of_units,
    speed_units,
)

# of a frame's twist
PARTS = {"all": slice(0, 6), "rotation": slice(0, 3), "translation": slice(3, 6)}


@dataclass(frozen=True, eq=False)
class Conditions(Answer):
    """Reciprocal condition numbers, one for each configuration, the mobility there, and the signs
    of two determinants.

    Attributes
    ----------
    parallel : the least share that the actuators' rates have in a motion of the mechanism, from 1
        at best to 0 where a motion leaves them all at rest
        (`eslabon.solve.singular.parallel_condition`). It does not depend on how loops are cut, nor
        on whether rods can spin; a tree has 1.
    serial : least over largest singular value of the matrix from the actuators' rates to the
        frame's twist.
    mobility : degrees of freedom of the configuration, to first order.
    sign : of the determinant of the passive columns of the closure Jacobian: 1 or -1 on either side
        of the parallel singular configurations, 0 at one; 1 where there are more actuators than
        degrees of freedom.
    serial_sign : of the determinant of the serial matrix, where it is square (else 1).
    steps : how far the joints move from row to row of a motion: rad, lengths in units of the
        mechanism's size.
    generic_mobility : degrees of freedom of the mechanism in general.

    >>> import eslabon as es
    >>> m = es.load("five_bar")
    >>> found = m.conditions(m.assemble([[2.0, 1.0], [2.1, 1.1]]))
    >>> found.parallel.round(2), found.sign
    (array([0.77, 0.77]), array([-1., -1.]))
    """

    parallel: Floats
    serial: Floats
    mobility: Floats
    sign: Floats
    serial_sign: Floats
    steps: Floats
    generic_mobility: int

    def contents(self) -> Iterator[Block]:
        names = ("parallel", "serial", "mobility", "sign", "serial_sign", "singular")
        if not np.ndim(self.parallel):
            rows = [(name, getattr(self, name)) for name in names]
            yield Table((Column("attribute"), Column("value")), rows)
            return
        values = [(name, np.asarray(getattr(self, name), dtype=float)) for name in names[:4]]
        count, ranges = np.size(self.parallel), [(n, x.min(), x.max()) for n, x in values if x.size]
        columns = (Column("attribute"), Column("least"), Column("greatest"))
        title = f"{count:,} configurations, {int(np.sum(self.singular)):,} of them singular"
        yield Table(columns, ranges, title)

    def __repr__(self) -> str:
        if not np.ndim(self.parallel):
            return f"<Conditions: parallel {self.parallel:.2g}, serial {self.serial:.2g}, mobility {self.mobility}>"
        least = f"parallel from {np.min(self.parallel, initial=1.0):.2g}, serial from {np.min(self.serial, initial=1.0):.2g}"
        return f"<Conditions of {np.size(self.parallel):,} configurations: {least}>"

    @property
    def singular(self) -> Floats:
        """Where either is zero to working precision, or the mobility is not that of the mechanism
        in general."""
        zero = np.minimum(self.parallel, self.serial) < RANK
        return np.asarray(zero | (self.mobility != self.generic_mobility))[()]

    @property
    def crossings(self) -> np.ndarray[Any, np.dtype[np.intp]]:
        """For configurations along a motion, the rows k such that a parallel singular one lies
        between rows k and k + 1."""
        self._check_motion("crossings are")
        return _sign_changes(self.sign)

    @property
    def passages(self) -> tuple[Passage, ...]:
        """For configurations along a motion, where it passes singular ones of either kind, in the
        order of the motion: where a determinant changes its sign, by linear interpolation of the
        signed reciprocal condition number."""
        self._check_motion("passages are")
        found = []
        for kind, value, sign in self._kinds():
            for k in _sign_changes(sign):
                before, after = value[k] * abs(sign[k]), value[k + 1] * abs(sign[k + 1])
                at = k + before / (before + after) if before + after > 0 else float(k)
                found.append(Passage(kind, int(k), 0.0, float(at), self._path(at)))
        return tuple(sorted(found, key=lambda passage: passage.at))

    @property
    def closest(self) -> Passage:
        """Where a motion comes nearest to a singular configuration: the first passage through one,
        else the least reciprocal condition number of either kind.

        Between rows its square is taken as a parabola, which it is next to a singular
        configuration, whether that is passed or only touched.
        """
        self._check_motion("the closest is")
        if passages := self.passages:
            return passages[0]
        return min(
            (self._least(kind, value) for kind, value, _ in self._kinds()),
            key=lambda passage: passage.value,
        )

    @property
    def distance(self) -> Floats:
        """For each row of a motion how far the joints go until the next passage through a singular
        configuration (rad, lengths in units of the mechanism's size); infinite where none is
        ahead."""
        self._check_motion("the distance is")
        ahead = np.array([p.distance for p in self.passages] + [np.inf])
        path = np.concatenate([[0.0], np.cumsum(self.steps)])[: len(self.sign)]
        return ahead[np.searchsorted(ahead, path)] - path

    def _kinds(self) -> tuple[tuple[str, Floats, Floats], ...]:
        return ("parallel", self.parallel, self.sign), ("serial", self.serial, self.serial_sign)

    def _least(self, kind: str, value: Floats) -> Passage:
        """The row of least value, and the lowest point of the parabola through the squares there
        and at its neighbours."""
        k = int(np.argmin(value))
        at, least = float(k), float(value[k])
        if 0 < k < len(value) - 1:
            before, here, after = value[k - 1 : k + 2] ** 2
            bend, slope = before - 2 * here + after, (after - before) / 2
            if bend > 0 and abs(slope) <= bend:
                at, least = k - slope / bend, float(np.sqrt(max(here - slope**2 / bend / 2, 0.0)))
        return Passage(kind, k, least, at, self._path(at))

    def _path(self, at: float) -> float:
        """How far the joints have moved from the first row."""
        return float(
            np.interp(
                at, np.arange(len(self.steps) + 1), np.concatenate([[0.0], np.cumsum(self.steps)])
            )
        )

    def _check_motion(self, what: str) -> None:
        if np.ndim(self.sign) != 1 or not np.size(self.sign):
            raise ModelError(
                f"{what} looked for along one motion: configurations of shape (rows, coordinates)."
            )


@answer
class Passage(NamedTuple):
    """Where a motion comes to a singular configuration, or nearest to one.

    Attributes
    ----------
    kind : "parallel" or "serial".
    row : the row before a passage, or the nearest row.
    value : the estimated reciprocal condition number: 0 where a singular configuration is passed.
    at : the estimated place, in rows: 12.5 is midway from row 12 to row 13, so that np.interp(at,
        range(len(t)), t) is the time.
    distance : how far the joints move from the first row to there: rad, lengths in units of the
        mechanism's size.
    """

    kind: str
    row: int
    value: float
    at: float
    distance: float


def _sign_changes(sign: Floats) -> np.ndarray[Any, np.dtype[np.intp]]:
    """The rows after which a sign is another; a row on the very configuration counts as the side it
    came from."""
    last = np.maximum.accumulate(np.where(sign != 0, np.arange(len(sign)), 0))
    return np.flatnonzero(np.diff(sign[last]) != 0)


def conditions(
    m: Model,
    q: Any,
    frame: str | None = None,
    part: str = "all",
    *,
    parameters: Any = None,
    length: Any = None,
) -> Conditions:
    """The conditions of configurations `(..., nq)`, with `parameters` each in its own design;
    `part` of the frame's twist: "all", "translation" or "rotation"; `length` the characteristic
    length, by which both kinds compare lengths with angles.

    `serial` judges the way from the actuators to the twist, which goes to pieces at a parallel
    singular configuration too: where `parallel` is near zero, `m.singularity` tells what is lost
    and what is gained.
    """
    chosen, rows = frame_if_any(m, frame), PARTS[choice(part, "part", PARTS)]
    lead, flat, designs = in_designs(m, q, parameters)
    check_closed(m, flat, "conditions", designs)
    made = actuated_motions(m, flat, designs, length)
    serial, serial_sign = np.ones((2, len(flat)))
    if chosen is not None and m.nv:
        span = reachable_twists(m, chosen, part)
        J = scaled_twists(m, flat, chosen, designs, length)[:, rows]
        twists = J @ _by_comparable_rates(made)
        speeds = speed_units(m, np.broadcast_to(lengths_of_units(m, designs, length), len(flat)))
        size = np.linalg.norm(J * speeds[:, None, :], axis=(1, 2))
        serial = _reciprocal_condition(twists, span.rank, size)
        if span.basis.shape[1] == span.rank == twists.shape[-1]:
            det = np.linalg.det(span.basis.T @ twists)
            serial_sign = np.where(serial > RANK, np.sign(det), 0.0)
    steps = np.zeros(0)
    if len(lead) == 1 and len(flat) > 1:
        steps = np.linalg.norm(difference(m, flat[1:], flat[:-1]) * velocity_scales(m), axis=-1)
    numbers = (made.parallel, serial, made.mobility, made.sign, serial_sign)
    parallel, serial, mobility, sign, serial_sign = (x.reshape(lead)[()] for x in numbers)
    usual = len(partition(m).independent)
    return Conditions(parallel, serial, mobility, sign, serial_sign, steps, usual)


def _by_comparable_rates(made: ActuatedMotions) -> Floats:
    """The velocities of all joints by unit comparable rates of the inputs."""
    return made.velocities / made.scales[:, None, :]


def in_designs(m: Model, q: Any, parameters: Any) -> tuple[tuple[int, ...], Floats, Designs]:
    """The leading axes that configurations and designs have together, configurations (k, nq), and
    the design of each."""
    designs = designs_of(m, parameters)
    lead, (flat, own) = flattened(
        q=(states(q, "q", m.nq, m.name), 1), parameters=(designs.values, 1)
    )
    return lead, flat, Designs(designs.names, own)


def frame_if_any(m: Model, frame: str | None) -> str | None:
    """The frame that is asked for; without a name, in a mechanism with named frames, the only one
    that can be meant."""
    if frame is not None:
        return chosen_frame(m, text(frame, "frame")).name
    with suppress(ModelError):
        return chosen_frame(m, None).name if m.frames else None
    return None


class Span(NamedTuple):
    """The twists that a frame makes near home: an orthonormal basis of them all, and how many are
    independent at a time."""

    basis: Floats
    rank: int


@per_model
def reachable_twists(m: Model, frame: str, part: str) -> Span:
    """What a frame can do in general, for what it cannot do in a singular configuration to be told
    from it."""
    q = np.stack(list(around(m)))
    J = scaled_twists(m, q, frame)[:, PARTS[part]]
    twists = J @ _by_comparable_rates(actuated_motions(m, q))
    J = J / velocity_scales(m)
    nothing = RANK * max(
        float(np.linalg.norm(J, axis=(1, 2)).max()), RANK
    )  # loops may hold what the tree moves
    U, sizes, _ = np.linalg.svd(np.concatenate(list(twists), axis=-1))
    ranks = (np.linalg.svd(twists, compute_uv=False) > nothing).sum(axis=-1)
    return Span(_oriented(U[:, : int((sizes > nothing).sum())]), int(ranks.max()))


def _oriented(basis: Floats) -> Floats:
    """The basis with the orientation of those components of a twist that tell its vectors apart
    best, in their order: singular vectors have signs that round-off decides."""
    rows = sorted(pivot_columns(basis.T)[0][: basis.shape[1]])
    return basis * np.where(
        np.arange(basis.shape[1]) == 0, np.sign(np.linalg.det(basis[rows])), 1.0
    )


def scaled_twists(
    m: Model, q: Floats, frame: str, designs: Designs = DESCRIBED, length: Any = None
) -> Floats:
    """The frame's Jacobian in the ground's axes at its origin, lengths in units of the
    characteristic length."""
    J = np.array(
        evaluate(m, quantity(m, "jacobian"), parameters=designs.names, frame=frame, axes="aligned")(
            q, *designs.inputs
        )
    )
    J[..., 3:, :] /= lengths_of_units(m, designs, length)[..., None, None]
    return J


def independent_coordinates(m: Model, q: Any = None) -> tuple[str, ...]:
    """The velocities that elimination takes as independent: near home, or those that suit a
    configuration best."""
    p = (
        partition(m)
        if q is None
        else partition_at(m, one_configuration(m, q, "independent_coordinates"), ())
    )
    return tuple(velocity_names(m)[k] for k in p.independent)


def one_configuration(m: Model, q: Any, verb: str) -> Floats:
    """A single closed configuration."""
    q = states(q, "q", m.nq, m.name)
    if q.ndim != 1:
        raise ModelError(
            f"{verb} looks at one configuration (nq,) at a time; q has shape {q.shape}."
        )
    check_closed(m, q[None], verb)
    return q


def _reciprocal_condition(A: Floats, number: int, size: Floats) -> Floats:
    """Least over largest of the `number` singular values that are other than zero in general; zero
    where all are round-off of matrices of that size, so that nothing moves at all."""
    values = np.linalg.svd(A, compute_uv=False)[:, :number]
    if values.shape[-1] == 0:
        return np.ones(len(A))
    moves = values[:, 0] > RANK * size
    return np.where(moves, values[:, -1] / np.where(moves, values[:, 0], 1.0), 0.0)
