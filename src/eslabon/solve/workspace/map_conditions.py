"""Reciprocal condition numbers and signs of determinants of many configurations in native code, as `conditions` defines them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.formula import Argument, Formula
from eslabon.compiler.function import pool
from eslabon.formulas.inputs import Q
from eslabon.formulas.kinematics.closure import equations
from eslabon.formulas.kinematics.frames import jacobian
from eslabon.formulas.small_matrices import LARGEST, extreme_singular_values, triangular
from eslabon.model import Model
from eslabon.model.scale import characteristic_length, velocity_scales
from eslabon.numerics.scalars import casadi
from eslabon.numerics.tolerances import RANK
from eslabon.solve.constraints.independent_coordinates import partition, redundancy_is_constant
from eslabon.solve.singular.conditions import (
    PARTS,
    conditions,
    passive_velocities,
    reachable_twists,
)

BLOCK = 8192  # configurations at a time, where LAPACK does it


class Judged(NamedTuple):
    """Of configurations (n, nq): reciprocal condition numbers of both kinds, and the signs of both determinants."""

    parallel: Floats
    serial: Floats
    sign: Floats
    serial_sign: Floats


class Driving(NamedTuple):
    """Which rows and velocities the matrices consist of; the frame, which rows of its twist count, and whether the matrix from the
    driven velocities to them has a determinant."""

    rows: tuple[int, ...]
    dependent: tuple[int, ...]
    driven: tuple[int, ...]
    frame: str
    part: str
    square: bool


def driving(m: Model, frame: str, part: str) -> Driving:
    p, held, span = partition(m), passive_velocities(m), reachable_twists(m, frame, part)
    driven = tuple(k for k in p.independent if k not in held)
    return Driving(
        p.rows, p.dependent, driven, frame, part, span.basis.shape[1] == span.rank == len(driven)
    )


def map_conditions(m: Model, q: Any, unit: Any, basis: Any, driving: Driving) -> list[Any]:
    """See `Judged`. The motions that follow from the driven ones are N = -K^-1 J_driven with K the passive columns of the closure
    Jacobian, whose factors give its determinant's sign, too. A large K is given in place of its reciprocal condition number."""
    per_speed = casadi.diag(1 / casadi.SX(velocity_scales(m)))  # by comparable velocities
    twists = casadi.densify(jacobian(m, q, driving.frame, axes="aligned"))
    twists = casadi.vertcat(twists[:3, :], twists[3:, :] / unit)[
        list(range(6))[PARTS[driving.part]], :
    ]
    twists = twists @ per_speed
    parallel, sign, moved = casadi.SX(1), casadi.SX(1), twists[:, list(driving.driven)]
    if driving.dependent:
        J = equations(m, q, None, driving.rows).J @ per_speed
        K = triangular(J[:, list(driving.dependent)], J[:, list(driving.driven)])
        follow, sign = -casadi.mtimes(twists[:, list(driving.dependent)], K.solution()), K.sign
        parallel = J[:, list(driving.dependent)]
        if not _is_large(driving):
            parallel = _ratio(*extreme_singular_values(parallel))
            follow, sign = (casadi.if_else(parallel > RANK, y, 0) for y in (follow, sign))
        moved = moved + follow
    serial = _ratio(*extreme_singular_values(moved))
    if not driving.square:
        return [parallel, serial, sign, casadi.SX(1)]
    seen = triangular(casadi.mtimes(basis.T, moved))
    return [parallel, serial, sign, casadi.if_else(serial > RANK, seen.sign, 0)]


def _ratio(least: Any, most: Any) -> Any:
    return casadi.if_else(most > RANK, least / most, 0)


def _is_large(driving: Driving) -> bool:
    return len(driving.dependent) > LARGEST


def _twist_rows(m: Model, driving: Driving) -> int:
    return len(range(6)[PARTS[driving.part]])


CONDITIONS = Formula(
    "map_conditions",
    map_conditions,
    (
        Q,
        Argument("unit", ()),
        Argument("basis", lambda m, driving: (_twist_rows(m, driving), len(driving.driven))),
    ),
    (
        Argument(
            "parallel",
            lambda m, driving: (len(driving.dependent),) * 2 if _is_large(driving) else (),
        ),
        *(Argument(name, ()) for name in Judged._fields[1:]),
    ),
    {"driving": Driving((), (), (), "", "all", False)},
    rare=True,
)


def judged(m: Model, q: Floats, frame: str, part: str, threads: int | None = None) -> Judged:
    """The same numbers as `conditions` gives, of as many configurations (n, nq) as there are."""
    own, span = driving(m, frame, part), reachable_twists(m, frame, part)
    height, width = _twist_rows(m, own), len(own.driven)
    regular = not m.closed or redundancy_is_constant(m)
    native = (
        evaluate(m, CONDITIONS, driving=own)
        if width and regular and span.rank == min(height, width)
        else None
    )
    basis = span.basis if own.square else np.zeros((height, width))

    def block(x: Floats, threads: int | None = 1) -> Judged:
        if native is None:
            return _by_lapack(m, x, frame, part)
        found = Judged(*native(x, characteristic_length(m), basis, threads=threads))
        if not _is_large(own):
            return found
        values = np.linalg.svd(found.parallel, compute_uv=False)
        found = Judged(
            values[:, -1] / np.maximum(values[:, 0], RANK), *(np.array(y) for y in found[1:])
        )
        singular = found.parallel <= RANK
        for mine, exact in zip(found, _by_lapack(m, x[singular], frame, part), strict=True):
            mine[singular] = exact
        return found

    if native is not None and not _is_large(own) and len(q):
        return block(q, threads)
    blocks = [q[k : k + BLOCK] for k in range(0, len(q), BLOCK)] or [q]
    several = list(map(block, blocks) if threads == 1 else pool().map(block, blocks))
    return Judged(*(np.concatenate(y) for y in zip(*several, strict=True)))


def _by_lapack(m: Model, q: Floats, frame: str, part: str) -> Judged:
    if not len(q):
        return Judged(*np.ones((4, 0)))
    found = conditions(m, q, frame, part)
    return Judged(*(np.asarray(getattr(found, name)) for name in Judged._fields))
