"""Reciprocal condition numbers and signs of determinants of many configurations in native code, as
`conditions` defines them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

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
from eslabon.numerics.scalars import Expression, casadi
from eslabon.numerics.tolerances import RANK
from eslabon.solve.constraints.independent_coordinates import partition
from eslabon.solve.singular.actuated_motions import (
    error_rows,
    input_velocities,
    inputs_count,
    measured_bodies,
    passive_velocities,
)
from eslabon.solve.singular.conditions import (
    PARTS,
    conditions,
    reachable_twists,
)
from eslabon.solve.singular.joint_centres import Measured
from eslabon.solve.singular.parallel_condition import symbolic_parallel_condition

BLOCK = 8192  # configurations at a time, where LAPACK does it


class ConditionNumbers(NamedTuple):
    """Of configurations (n, nq): reciprocal condition numbers of both kinds, and the signs of both
    determinants."""

    parallel: Floats
    serial: Floats
    sign: Floats
    serial_sign: Floats


@dataclass(frozen=True)
class ConditionMatrices:
    """What the two matrices consist of: rows of the closure equations, the velocities that follow
    and those that drive, and a part of a frame's twist. `square` says whether the matrix from the
    driving velocities to the twist has a determinant."""

    rows: tuple[int, ...] = ()
    dependent: tuple[int, ...] = ()
    driven: tuple[int, ...] = ()
    frame: str = ""
    part: str = "all"
    square: bool = False
    measured: Measured | None = None  # by the parallel kind, where native code computes it
    error_rows: tuple[int, ...] = ()

    @property
    def height(self) -> int:
        """The number of rows of the twist."""
        return len(range(6)[PARTS[self.part]])


def condition_matrices(m: Model, frame: str, part: str) -> ConditionMatrices:
    """The matrices of a mechanism."""
    p, passive, span = partition(m), passive_velocities(m), reachable_twists(m, frame, part)
    driven = tuple(k for k in p.independent if k not in passive)
    square = span.basis.shape[1] == span.rank == len(driven)
    small = len(p.dependent) <= LARGEST  # beyond, LAPACK is as fast
    known = small and m.closed and inputs_count(m) == len(input_velocities(m))
    measured, rows = (measured_bodies(m), error_rows(m)) if known else (None, ())
    return ConditionMatrices(p.rows, p.dependent, driven, frame, part, square, measured, rows)


def map_conditions(
    m: Model, q: Expression, length: Expression, basis: Expression, matrices: ConditionMatrices
) -> list[Expression]:
    """`ConditionNumbers` as expressions. The motions that follow from the driven ones are
    N = -K^-1 J_driven, with K the passive columns of the closure Jacobian, whose factors give its
    determinant's sign too."""
    per_speed = casadi.diag(1 / casadi.SX(velocity_scales(m)))  # by comparable velocities
    twists = casadi.SX(casadi.densify(jacobian(m, q, matrices.frame, axes="aligned")))
    twists = casadi.vertcat(twists[:3, :], twists[3:, :] / length) @ per_speed
    twists = twists[list(range(6))[PARTS[matrices.part]], :]
    dependent, driven = list(matrices.dependent), list(matrices.driven)
    parallel, sign, moved = casadi.SX(1), casadi.SX(1), twists[:, driven]
    if dependent:
        J = casadi.SX(equations(m, q, None, matrices.rows).J) @ per_speed
        K = triangular(J[:, dependent], J[:, driven])
        follow, sign = -casadi.mtimes(twists[:, dependent], K.solution()), K.sign
        if matrices.measured is not None:
            parallel = symbolic_parallel_condition(
                m, q, length, matrices.measured, matrices.error_rows, _solution
            )
        follow, sign = (casadi.if_else(parallel > RANK, y, 0) for y in (follow, sign))
        moved = moved + follow
    serial, serial_sign = _ratio(*extreme_singular_values(moved)), casadi.SX(1)
    if matrices.square:
        determinant = triangular(casadi.mtimes(basis.T, moved)).sign
        serial_sign = casadi.if_else(serial > RANK, determinant, 0)
    return [parallel, serial, sign, serial_sign]


def _solution(A: Expression, B: Expression) -> Expression:
    return triangular(A, B).solution()


def _ratio(least: Expression, most: Expression) -> Expression:
    return casadi.if_else(most > RANK, least / most, 0)


CONDITIONS = Formula(
    "map_conditions",
    map_conditions,
    (
        Q,
        Argument("length", ()),
        Argument("basis", lambda m, matrices: (matrices.height, len(matrices.driven))),
    ),
    tuple(Argument(name, ()) for name in ConditionNumbers._fields),
    {"matrices": ConditionMatrices()},
    rare=True,
)


def condition_numbers(
    m: Model, q: Floats, frame: str, part: str, threads: int | None = None
) -> ConditionNumbers:
    """The same numbers as `conditions` gives, of as many configurations (n, nq) as there are."""
    matrices, span = condition_matrices(m, frame, part), reachable_twists(m, frame, part)
    width = len(matrices.driven)
    known = not m.closed or matrices.measured is not None
    if not (width and known and span.rank == min(matrices.height, width)):
        return _in_blocks(q, threads, lambda x: _by_lapack(m, x, frame, part))
    native = evaluate(m, CONDITIONS, matrices=matrices)
    basis = span.basis if matrices.square else np.zeros((matrices.height, width))
    return ConditionNumbers(*native(q, characteristic_length(m), basis, threads=threads))


def _in_blocks(
    q: Floats, threads: int | None, block: Callable[[Floats], ConditionNumbers]
) -> ConditionNumbers:
    blocks = [q[k : k + BLOCK] for k in range(0, len(q), BLOCK)] or [q]
    found = list(map(block, blocks) if threads == 1 else pool().map(block, blocks))
    return ConditionNumbers(*(np.concatenate(x) for x in zip(*found, strict=True)))


def _by_lapack(m: Model, q: Floats, frame: str, part: str) -> ConditionNumbers:
    if not len(q):
        return ConditionNumbers(*np.ones((4, 0)))
    found = conditions(m, q, frame, part)
    return ConditionNumbers(
        *(np.asarray(getattr(found, name)) for name in ConditionNumbers._fields)
    )
