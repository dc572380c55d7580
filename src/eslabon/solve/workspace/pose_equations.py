"""From pose to pose in native code: what is prescribed and the loops as one square system, Newton's method, signs of branches.

The Jacobian A of loops and prescribed coordinates falls into blocks that follow from one another, as the legs of a parallel
robot do from its platform. Newton's method solves block by block, and the signs of the blocks' determinants tell the branches of
the inverse kinematics from one another: a leg with its elbow on the left from one with it on the right.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.calls import subroutine
from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.formula import Argument, Formula
from eslabon.errors import ModelError
from eslabon.formulas.inputs import Q
from eslabon.formulas.kinematics.closure import equations, row_names
from eslabon.formulas.kinematics.frames import placement
from eslabon.formulas.kinematics.tree import on_body, placements
from eslabon.formulas.small_matrices import triangular
from eslabon.model import Model
from eslabon.model.configuration import coordinate_rates, coordinate_velocities, normalize
from eslabon.model.memory import per_model
from eslabon.model.plane_of_motion import plane_directions
from eslabon.model.scale import characteristic_length, velocity_scales
from eslabon.numerics.rotations import rotation_from_rpy
from eslabon.numerics.scalars import casadi
from eslabon.solve.constraints.independent_coordinates import (
    around,
    partition,
    redundancy_is_constant,
)
from eslabon.solve.ranges import Ranges
from eslabon.solve.singular.conditions import passive_velocities
from eslabon.solve.workspace.map_grid import POSE, POSITION, TURNS, Asked, MapGrid, values_at

STEPS = 3  # of Newton's method in one call
LONGEST = 0.6  # of one step: radians, or lengths in units of the mechanism's size
RANK = 1e-7  # of what a row has left beside others, by the largest row


class Blocks(NamedTuple):
    """The diagonal blocks of A: their rows, among those of all loops and then of what is prescribed, and their velocities."""

    rows: tuple[tuple[int, ...], ...]
    columns: tuple[tuple[int, ...], ...]


# -- equations ------------------------------------------------------------------------------------------------------------


def prescribed_rows(m: Model, q: Any, x: Any, asked: Asked) -> tuple[Any, Any]:
    """Rows that vanish where all is as prescribed, and rows that vanish there, too, but not half a turn away."""
    value = dict(zip(asked.pose, casadi.vertsplit(x), strict=False))
    rows, also = [], []
    if asked.pose:
        R, p = placement(m, q, m.frame(asked.frame))
        rows += [p[k] - value[name] for k, name in enumerate(POSITION) if name in value]
        if "angle" in value:
            first, second = (casadi.DM(list(u)) for u in plane_directions(m.nominal))
            c, s = casadi.dot(first, R @ first), casadi.dot(second, R @ first)
            rows.append(s * casadi.cos(value["angle"]) - c * casadi.sin(value["angle"]))
            also.append(1 - c * casadi.cos(value["angle"]) - s * casadi.sin(value["angle"]))
        if TURNS[0] in value:
            E = R @ casadi.SX(rotation_from_rpy(casadi.vertcat(*(value[name] for name in TURNS)))).T
            rows += [(E[2, 1] - E[1, 2]) / 2, (E[0, 2] - E[2, 0]) / 2, (E[1, 0] - E[0, 1]) / 2]
            also.append((3 - casadi.trace(E)) / 2)
    rows += [q[k] - x[len(asked.pose) + i] for i, k in enumerate(asked.joints)]
    return casadi.vertcat(*rows), casadi.vertcat(casadi.SX(0, 1), *also)


def system(m: Model, q: Any, x: Any, asked: Asked) -> tuple[Any, Any, Any]:
    """Residuals of the loops and of what is prescribed, their Jacobian A by the velocities, and what must vanish besides."""
    r, also = prescribed_rows(m, q, x, asked)
    phi, J, *_ = equations(m, q, None, tuple(range(len(row_names(m)))))
    slope = casadi.mtimes(casadi.jacobian(r, q), coordinate_rates(m, q))
    return casadi.vertcat(phi, r), casadi.vertcat(J, slope), also


def slopes(m: Model, q: Any, x: Any, asked: Asked) -> list[Any]:
    """A of all rows, and the derivative of what is prescribed by its values."""
    _, A, _ = system(m, q, x, asked)
    return [
        casadi.densify(A),
        casadi.densify(casadi.jacobian(prescribed_rows(m, q, x, asked)[0], x)),
    ]


def newton(m: Model, q: Any, x: Any, asked: Asked, blocks: Blocks) -> list[Any]:
    """So many steps of Newton's method towards prescribed values: where they lead, what was missing before the last one, how far
    that went, how far all went together and the first alone, and the signs of the blocks' determinants as a binary number.

    After a last step of size s the error is of the order of its square.
    """
    step = subroutine("map_step", lambda q, x: _step(m, q, x, asked, blocks), m.nq, x.shape[0])
    scale, total = casadi.DM(velocity_scales(m.nominal)), casadi.SX.zeros(m.nv)
    first = left = last = code = casadi.SX(0)
    for k in range(STEPS):
        q, v, left, code = step(q, x)
        total, last = total + v, _largest(scale * v)
        first = last if k == 0 else first
    return [q, left, last, _largest(scale * total), first, code]


def _step(m: Model, q: Any, x: Any, asked: Asked, blocks: Blocks) -> list[Any]:
    """The next configuration, the velocities that lead there, what is missing here, and the signs of the blocks here."""
    r, A, also = system(m, q, x, asked)
    left = _largest(casadi.vertcat(r, also))
    v, code = casadi.SX.zeros(m.nv), casadi.SX(0)
    for k, (rows, columns) in enumerate(zip(blocks.rows, blocks.columns, strict=True)):
        known = -r[list(rows)] - casadi.mtimes(A[list(rows), :], v)
        found = triangular(A[list(rows), list(columns)], known)
        v[list(columns)] = found.solution()
        code = code + 2.0**k * (found.sign > 0)
    v = v / casadi.fmax(1.0, _largest(casadi.DM(velocity_scales(m.nominal)) * v) / LONGEST)
    following = normalize(m, casadi.SX(q) + coordinate_velocities(m, q, v))
    return [casadi.densify(following), casadi.densify(v), left, code]


def _largest(x: Any) -> Any:
    return casadi.mmax(casadi.fabs(casadi.densify(x)))


def features(m: Model, q: Any) -> Any:
    """What two configurations have in common that are the same but for passive motions: the actuated joints' coordinates, and
    where all joints and loops stand."""
    placed, turning = placements(m, q), Ranges.of(m.nominal).turning
    driven = [k for name in m.actuated for k in range(m.nq)[m.coordinates[name]]]
    rows = [
        y for k in driven for y in ([casadi.cos(q[k]), casadi.sin(q[k])] if turning[k] else [q[k]])
    ]
    rows += [on_body(placed, j.parent, j.at)[1] for j in m.joints]
    rows += [on_body(placed, loop.second.body, loop.second.at)[1] for loop in m.loops]
    return casadi.densify(casadi.vertcat(*(casadi.vec(casadi.SX(y)) for y in rows)))


X = Argument("x", lambda m, asked, **_: (len(asked.pose) + len(asked.joints),))
NOTHING = Asked("", (), ())
SLOPES = Formula(
    "map_slopes",
    slopes,
    (Q, X),
    (Argument("A", None), Argument("by_values", None)),
    {"asked": NOTHING},
    rare=True,
)
NEWTON = Formula(
    "map_newton", newton, (Q, X),
    (Argument("q", lambda m, asked, blocks: (m.nq,)), *(Argument(y, ()) for y in ("left", "last", "moved", "first", "code"))),
    {"asked": NOTHING, "blocks": Blocks((), ())}, rare=True,
)  # fmt: skip
FEATURES = Formula("map_features", features, (Q,), (Argument("features", None),), rare=True)


# -- which rows, which blocks -------------------------------------------------------------------------------------------------


def checked_blocks(m: Model, grid: MapGrid) -> Blocks:
    """The blocks of what a grid prescribes, which must determine the mechanism and let it follow every coordinate in a range."""
    if m.closed and not redundancy_is_constant(m):
        raise ModelError(f"which loop constraints of {m.name} are redundant depends on its configuration; a map cannot be made of it.")  # fmt: skip
    unknown = _unknown(m)
    q, A, by_values = _samples(m, grid.asked)
    for k in grid.varied:
        name = grid.names[k]
        left = min(_left(A[i], -by_values[i][:, k], len(row_names(m))) for i in range(len(q)))
        if left > 1e-6:
            others = ", ".join(x for x in grid.names if x != name)
            raise ModelError(
                f"{m.name} cannot move along '{name}' while {others} of '{grid.asked.frame}' stay as they are; leave one of these out "
                "of over."
            )
    found = blocks_of(m, grid.asked)
    if missing := len(unknown) - sum(map(len, found.columns)):
        named = ", ".join(x for x in POSE if x not in grid.names)
        raise ModelError(
            f"over leaves {missing} degree{'s' * (missing > 1)} of freedom of {m.name} open; fix or vary more of the pose of "
            f"'{grid.asked.frame}' ({named}), or joints."
        )
    return found


def _unknown(m: Model) -> list[int]:
    """The velocities that are solved for: all but those of passive motions, which stay as they are."""
    return [k for k in range(m.nv) if k not in passive_velocities(m)]


def _samples(m: Model, asked: Asked) -> tuple[Floats, Floats, Floats]:
    """Closed configurations, and A and the derivative by the prescribed values there."""
    q = np.stack(list(around(m))) if m.closed else Ranges.of(m, characteristic_length(m)).spread(6)
    A, by_values = evaluate(m, SLOPES, asked=asked)(q, values_at(m, asked, q))
    return q, np.asarray(A), np.asarray(by_values)


def _left(A: Floats, right: Floats, loops: int) -> float:
    """What is left of a right-hand side of the prescribed rows by the best velocities, in parts of it."""
    wanted = np.concatenate([np.zeros(loops), right])
    found = A @ np.linalg.lstsq(A, wanted, rcond=1e-9)[0]
    return float(np.linalg.norm(found - wanted) / np.linalg.norm(wanted))


@per_model
def blocks_of(m: Model, asked: Asked) -> Blocks:
    """Independent rows of A and its block triangular form, by its structure at configurations anywhere."""
    unknown, loops, count = _unknown(m), partition(m).rows, len(row_names(m))
    _, A, _ = _samples(m, asked)
    candidates = [
        *range(count, A.shape[1]),
        *loops,
    ]  # what is prescribed first, from which legs follow one by one
    chosen = max((_independent_rows(B[candidates][:, unknown]) for B in A), key=len)
    if len(chosen) < len(unknown):
        return Blocks(
            (tuple(chosen),), (tuple(unknown[: len(chosen)]),)
        )  # which `checked_blocks` refuses
    q = Ranges.of(m, characteristic_length(m)).unlimited.spread(8)
    x = np.random.default_rng(0).uniform(-1, 1, (len(q), len(asked.pose) + len(asked.joints)))
    there = np.abs(np.asarray(evaluate(m, SLOPES, asked=asked)(q, x)[0])).max(axis=0) > 1e-12
    parts = triangular_form(there[candidates][chosen][:, unknown])
    rows = tuple(tuple(candidates[chosen[i]] for i in own) for own, _ in parts)
    return Blocks(rows, tuple(tuple(unknown[j] for j in own) for _, own in parts))


def _independent_rows(A: Floats) -> list[int]:
    """The first rows that are independent of those before them."""
    kept: list[int] = []
    basis, largest = np.zeros((0, A.shape[1])), np.linalg.norm(A, axis=1).max(initial=0.0)
    for k, row in enumerate(A):
        left = row - basis.T @ (basis @ row)
        left = left - basis.T @ (basis @ left)
        if (
            np.linalg.norm(left) > RANK * largest
        ):  # and not of the row itself, which may be round-off
            kept.append(k)
            basis = np.vstack([basis, left / np.linalg.norm(left)])
    return kept


def triangular_form(pattern: Any) -> list[tuple[list[int], list[int]]]:
    """The diagonal blocks of a square matrix with these entries, each after those that it follows from: rows and columns.

    >>> triangular_form(np.array([[1, 1, 1], [0, 1, 0], [1, 0, 1]], dtype=bool))
    [([1], [1]), ([0, 2], [0, 2])]
    """
    from graphlib import TopologicalSorter

    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

    row_of = maximum_bipartite_matching(csr_array(pattern), perm_type="row")
    depends = csr_array(
        pattern[row_of]
    )  # entry (j, k): the equation of unknown j has unknown k in it
    _, label = connected_components(depends, connection="strong")
    before: dict[int, set[int]] = {int(k): set() for k in label}
    for j, k in zip(*depends.nonzero(), strict=True):
        if label[j] != label[k]:
            before[int(label[j])].add(int(label[k]))
    order, sorter = [], TopologicalSorter(before)
    sorter.prepare()
    while sorter.is_active():
        ready = sorted(sorter.get_ready(), key=lambda part: int(np.argmax(label == part)))
        order += ready
        sorter.done(*ready)
    columns = [np.flatnonzero(label == part) for part in order]
    return [(sorted(int(row_of[j]) for j in own), [int(j) for j in own]) for own in columns]
