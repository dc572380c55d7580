"""Whether what a map prescribes determines a mechanism, and how the equations fall into blocks."""

from __future__ import annotations

from graphlib import TopologicalSorter

import numpy as np
from numpy.typing import NDArray

from eslabon.arguments import Floats
from eslabon.compiler.evaluate import evaluate
from eslabon.errors import ModelError
from eslabon.formulas.kinematics.closure import row_names
from eslabon.model import Model
from eslabon.model.memory import per_model
from eslabon.model.scale import characteristic_length, velocity_scales
from eslabon.numerics.tolerances import RANK, ROUND_OFF, SINGULAR
from eslabon.solve.block_newton import SLOPES, Blocks
from eslabon.solve.constraints.closed_configurations import around
from eslabon.solve.constraints.independent_coordinates import partition, redundancy_is_constant
from eslabon.solve.coordinate_rows import POSE, TURNS
from eslabon.solve.problem import Problem
from eslabon.solve.ranges import Ranges
from eslabon.solve.singular.actuated_motions import passive_velocities
from eslabon.solve.workspace.map_grid import MapGrid

PATTERN_SAMPLES = 8  # configurations at which an entry of A that vanishes everywhere is found


def checked_blocks(m: Model, grid: MapGrid) -> Blocks:
    """The blocks of what a grid prescribes, which must be independent along every coordinate in a
    range, and complete."""
    if m.closed and not redundancy_is_constant(m):
        raise ModelError(
            f"which loop constraints of {m.name} are redundant depends on its configuration; "
            "a map cannot be made of it."
        )
    _check_independent(m, grid)
    blocks = blocks_of(m, grid.problem)
    _check_complete(m, grid, blocks)
    return blocks


def _check_independent(m: Model, grid: MapGrid) -> None:
    """Whether the mechanism can move along each coordinate in a range while all others stay: in
    most configurations, since at a few of them it may do more or less."""
    A, wanted = _motions_around(m, grid.problem)
    reached = A @ np.linalg.pinv(A, rcond=RANK) @ wanted
    missed = np.linalg.norm(reached - wanted, axis=-2) / np.linalg.norm(wanted, axis=-2)
    for k in grid.varied:
        if np.median(missed[:, k]) > SINGULAR:
            name = grid.names[k]
            others = ", ".join(x for x in grid.names if x != name)
            raise ModelError(
                f"{m.name} cannot move along '{name}' while {others} of "
                f"'{grid.frame}' stay as they are; leave one of these out of over."
            )


def _check_complete(m: Model, grid: MapGrid, blocks: Blocks) -> None:
    """Whether no degree of freedom is left open."""
    if missing := len(_unknown(m, grid.problem)) - blocks.size:
        clashing = TURNS if "angle" in grid.names else ("angle",) * bool({*TURNS} & {*grid.names})
        others = ", ".join(x for x in POSE if x not in (*grid.names, *clashing))
        raise ModelError(
            f"over leaves {missing} degree{'s' * (missing > 1)} of freedom of {m.name} open; fix or "
            f"vary more of the pose of '{grid.frame}' ({others}), or joints."
        )


def _unknown(m: Model, problem: Problem) -> list[int]:
    """The velocities that are solved for: all but the held ones and those of passive motions, which
    stay."""
    fixed = {*problem.velocities(m), *passive_velocities(m)}
    return [k for k in range(m.nv) if k not in fixed]


def _jacobians(m: Model, problem: Problem, q: Floats, x: Floats) -> tuple[Floats, Floats]:
    """A and the derivative of the problem's rows by their values."""
    A, by_values = evaluate(m, SLOPES, problem=problem)(q, x)
    return np.asarray(A), np.asarray(by_values)


def _motions_around(m: Model, problem: Problem) -> tuple[Floats, Floats]:
    """For the comparable velocities v along each prescribed coordinate A v = b at closed
    configurations, with rows of A for the held coordinates too."""
    q = np.stack(list(around(m)))
    A, by_values = _jacobians(m, problem, q, problem.values(m, q))
    held, count = problem.velocities(m), len(row_names(m))
    rows = np.broadcast_to(np.eye(m.nv)[held], (len(q), len(held), m.nv))
    b = np.zeros((len(q), A.shape[1] + len(held), by_values.shape[-1]))
    b[:, count : A.shape[1]] = -by_values
    b[:, A.shape[1] :, : len(held)] = np.diag(velocity_scales(m)[held])
    return np.concatenate([A, rows], axis=1), b


@per_model
def blocks_of(m: Model, problem: Problem) -> Blocks:
    """Independent rows of A and its block triangular form. What is prescribed comes first, from
    which legs follow one by one. Where rows are missing, so are columns."""
    unknown, count, q = _unknown(m, problem), len(row_names(m)), np.stack(list(around(m)))
    A, _ = _jacobians(m, problem, q, problem.values(m, q))
    candidates = [*range(count, A.shape[1]), *partition(m).rows]
    tried = (first_independent_rows(B[candidates][:, unknown]) for B in A)
    rows = [candidates[k] for k in max(tried, key=len)]
    if len(rows) < len(unknown):
        return Blocks((tuple(rows),), (tuple(unknown[: len(rows)]),))
    parts = triangular_form(_pattern(m, problem)[rows][:, unknown])
    return Blocks(
        tuple(tuple(rows[i] for i in own) for own, _ in parts),
        tuple(tuple(unknown[j] for j in own) for _, own in parts),
    )


def _pattern(m: Model, problem: Problem) -> NDArray[np.bool_]:
    """The entries of A that are not zero everywhere, closed or not."""
    q = Ranges.of(m, characteristic_length(m)).unlimited.spread(PATTERN_SAMPLES)
    x = np.random.default_rng(0).uniform(-1, 1, (len(q), problem.size(m)))
    A = np.abs(_jacobians(m, problem, q, x)[0]).max(axis=0)
    return np.greater(A, ROUND_OFF * A.max(initial=0.0))


def first_independent_rows(A: Floats) -> list[int]:
    """The first rows that are independent of those before them; round-off against the largest row
    is none.

    >>> first_independent_rows(np.array([[1.0, 2.0], [2.0, 4.0], [0.0, 1.0]]))
    [0, 2]
    """
    rows: list[int] = []
    basis, largest = np.zeros((0, A.shape[1])), np.linalg.norm(A, axis=1).max(initial=0.0)
    for k, row in enumerate(A):
        left = row - basis.T @ (basis @ row)
        left = left - basis.T @ (basis @ left)
        if (size := np.linalg.norm(left)) > RANK * largest:
            rows.append(k)
            basis = np.vstack([basis, left / size])
    return rows


def triangular_form(pattern: NDArray[np.bool_]) -> list[tuple[list[int], list[int]]]:
    """The diagonal blocks of a square matrix with these entries, each after those that it follows
    from: rows and columns.

    >>> triangular_form(np.array([[1, 1, 1], [0, 1, 0], [1, 0, 1]], dtype=bool))
    [([1], [1]), ([0, 2], [0, 2])]
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

    row_of = maximum_bipartite_matching(csr_array(pattern), perm_type="row")
    depends = csr_array(pattern[row_of])  # (j, k): the equation of unknown j has unknown k in it
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
