"""What can be measured of a mechanism, as outputs of a linear model: positions, velocities and accelerations of joints and
frames, and the reactions of joints and loops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from eslabon.formulas.constrained import loops, trees
from eslabon.formulas.constrained.eliminated import Change, Eliminated
from eslabon.formulas.kinematics.frames import acceleration, jacobian, velocity
from eslabon.model.configuration import coordinate_rates
from eslabon.numerics.scalars import Expression, casadi

External = Mapping[str, Expression]


class Output(NamedTuple):
    """A component of something measured: `of` a "joint" (the place is that among all velocities, and there is no name), a
    "frame" or a "reaction" (by name, the place is one of six), differentiated by the time `order` times."""

    of: str
    name: str
    place: int
    order: int = 0


def output_changes(
    s: Eliminated,
    a: Expression,
    reaction: Expression,
    outputs: tuple[Output, ...],
    external: External,
    dq: Change,
    dv: Change,
    da: Change,
    dreaction: Change,
) -> Change:
    """How the outputs change, row by row, with q, v, the accelerations and the multipliers."""
    rows: list[tuple[int, Change]] = []
    for (of, name, order), places in _grouped(outputs).items():
        if of == "joint":
            change = (dq, dv, da)[order]
        elif of == "frame" and order == 0:
            change = dq.through(jacobian(s.m, s.q, name, axes="aligned"))
        else:
            partial = _partial_derivatives(s, a, reaction, of, name, order, external)
            change = Change.none(6, *(x.shape[1] for x in (dq.x, dq.tau)))
            for matrix, part in zip(partial, (dq, dv, da, dreaction), strict=True):
                change = change + part.through(matrix)
        rows += [(k, change.row(place)) for k, place in places]
    rows.sort(key=lambda row: row[0])
    return Change(
        *(casadi.vertcat(*(getattr(row, part) for _, row in rows)) for part in ("x", "y", "tau"))
    )


def _grouped(outputs: tuple[Output, ...]) -> dict[tuple[str, str, int], list[tuple[int, int]]]:
    """The outputs of one thing together: with their row, and the component."""
    found: dict[tuple[str, str, int], list[tuple[int, int]]] = {}
    for k, output in enumerate(outputs):
        found.setdefault((output.of, output.name, output.order), []).append((k, output.place))
    return found


def _partial_derivatives(
    s: Eliminated,
    a: Expression,
    reaction: Expression,
    of: str,
    name: str,
    order: int,
    external: External,
) -> list[Expression]:
    """Of a frame's twist or acceleration, or of a wrench, by q, v, the accelerations and the multipliers."""
    m, q, v = s.m, s.q, s.v
    held, carried = casadi.SX.sym("a", m.nv), casadi.SX.sym("lambda", reaction.shape[0])
    if of == "reaction":
        y = _reaction(s, held, carried, name, external)
    elif order == 1:
        y = velocity(m, q, v, name, axes="aligned")
    else:
        y = acceleration(m, q, v, held, name, axes="aligned")
    by_q = casadi.jacobian(y, q) @ coordinate_rates(m, q)
    partial = [by_q, casadi.jacobian(y, v), casadi.jacobian(y, held), casadi.jacobian(y, carried)]
    return casadi.substitute(partial, [held, carried], [a, reaction])


def _reaction(
    s: Eliminated, a: Expression, reaction: Expression, name: str, external: External
) -> Expression:
    """The wrench of a joint or loop, as `reactions` gives it."""
    m, names = s.m, [j.name for j in s.m.joints] + [loop.name for loop in s.m.loops]
    if m.closed:
        rows = loops.transmitted(m, s.q, s.v, a, s.partition, reaction, external, s.aligned)
    else:
        rows = trees.reactions(m, s.q, s.v, a, external)
    return rows[names.index(name), :].T
