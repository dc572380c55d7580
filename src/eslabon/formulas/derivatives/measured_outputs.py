"""What can be measured of a mechanism, as outputs of a linear model: positions, velocities and
accelerations of joints and frames, and the reactions of joints and loops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from eslabon.formulas.dynamics import transmitted_wrenches
from eslabon.formulas.kinematics.frames import acceleration, jacobian, velocity
from eslabon.formulas.kinematics.symbols import zeros
from eslabon.formulas.motion_state import MotionState
from eslabon.model.configuration import coordinate_rates
from eslabon.numerics.scalars import Expression, casadi


@dataclass(frozen=True)
class Change:
    """How something changes with independent coordinates x, their velocities y, and actuator
    forces."""

    x: Expression
    y: Expression
    tau: Expression

    def __add__(self, other: Change) -> Change:
        return Change(self.x + other.x, self.y + other.y, self.tau + other.tau)

    def through(self, matrix: Expression) -> Change:
        """The change of what a matrix makes of it."""
        return Change(matrix @ self.x, matrix @ self.y, matrix @ self.tau)

    @staticmethod
    def none(rows: int, n: int, nu: int) -> Change:
        return Change(zeros(rows, n), zeros(rows, n), zeros(rows, nu))

    def by(self, f: Callable[[Expression], Expression]) -> Change:
        """The change of what a linear function makes of it."""
        return Change(f(self.x), f(self.y), f(self.tau))

    def row(self, place: int) -> Change:
        return self.by(lambda x: x[place, :])

    @property
    def of_state(self) -> Expression:
        return casadi.horzcat(self.x, self.y)


class Output(NamedTuple):
    """A component of something measured: `of` a "joint" (the place is that among all velocities,
    and there is no name), a "frame" or a "reaction" (by name, the place is one of six),
    differentiated by the time `order` times."""

    of: str
    name: str
    place: int
    order: int = 0


class MotionChange(NamedTuple):
    """How coordinates, velocities, accelerations and multipliers of a state change."""

    q: Change
    v: Change
    a: Change
    reaction: Change


def output_changes(
    s: MotionState,
    a: Expression,
    reaction: Expression,
    outputs: tuple[Output, ...],
    changes: MotionChange,
) -> Change:
    """How the outputs change, row by row, with q, v, the accelerations and the multipliers."""
    dq = changes.q
    rows: list[tuple[int, Change]] = []
    for (of, name, order), places in _group_by_subject(outputs).items():
        if of == "joint":
            change = changes[order]
        elif of == "frame" and order == 0:
            change = dq.through(jacobian(s.m, s.q, name, axes="aligned"))
        else:
            partial = _partial_derivatives(s, a, reaction, (of, name, order))
            change = Change.none(6, *(x.shape[1] for x in (dq.x, dq.tau)))
            for matrix, part in zip(partial, changes, strict=True):
                change = change + part.through(matrix)
        rows += [(k, change.row(place)) for k, place in places]
    rows.sort(key=lambda row: row[0])
    return Change(
        *(casadi.vertcat(*(getattr(row, part) for _, row in rows)) for part in ("x", "y", "tau"))
    )


def _group_by_subject(
    outputs: tuple[Output, ...],
) -> dict[tuple[str, str, int], list[tuple[int, int]]]:
    """The outputs of one thing together: with their row, and the component."""
    found: dict[tuple[str, str, int], list[tuple[int, int]]] = {}
    for k, output in enumerate(outputs):
        found.setdefault((output.of, output.name, output.order), []).append((k, output.place))
    return found


def _partial_derivatives(
    s: MotionState, a: Expression, reaction: Expression, output: tuple[str, str, int]
) -> list[Expression]:
    """Of a frame's twist or acceleration, or of a wrench, by q, v, the accelerations and the
    multipliers."""
    m, q, v, (of, name, order) = s.m, s.q, s.v, output
    held, carried = casadi.SX.sym("a", m.nv), casadi.SX.sym("lambda", reaction.shape[0])
    if of == "reaction":
        y = _reaction(s, held, carried, name)
    elif order == 1:
        y = velocity(m, q, v, name, axes="aligned")
    else:
        y = acceleration(m, q, v, held, name, axes="aligned")
    by_q = casadi.jacobian(y, q) @ coordinate_rates(m, q)
    partial = [by_q, casadi.jacobian(y, v), casadi.jacobian(y, held), casadi.jacobian(y, carried)]
    return casadi.substitute(partial, [held, carried], [a, reaction])


def _reaction(s: MotionState, a: Expression, reaction: Expression, name: str) -> Expression:
    """The wrench of a joint or loop, as `reactions` gives it."""
    names = [x.name for x in (*s.m.joints, *s.m.loops)]
    return transmitted_wrenches(s, a, reaction)[names.index(name), :].T
