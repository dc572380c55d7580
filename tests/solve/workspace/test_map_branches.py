"""How a branch is followed: what is on it, what is another's, and which nodes are tried again."""

from itertools import pairwise

import numpy as np
import pytest

import eslabon as es
from eslabon.solve.workspace.map_blocks import checked_blocks, first_independent_rows
from eslabon.solve.workspace.map_branches import Branch, PoseSolver, flood, is_near, lattices
from eslabon.solve.workspace.map_grid import map_grid
from eslabon.solve.workspace.working_modes import coincide
from parallel_robots import schoenflies

OVER = {"x": (-1.9, 1.9), "y": (-1.9, 1.9)}


@pytest.fixture(scope="module")
def solver():
    m = es.load("elbow")
    grid = map_grid(m, "tool", OVER, 24)  # even: the pole, where the arm is folded, is no node
    return PoseSolver(m, grid, checked_blocks(m, grid))


def elbow_branch(solver, side):
    """All poses that a planar arm with bars of 1 m reaches with its elbow on one side."""
    branch = Branch(solver.grid, (1, 1), 2, 0.0)
    x, y = branch.values(np.arange(len(branch.known))).T
    with np.errstate(invalid="ignore"):
        bend = side * np.arccos((x**2 + y**2 - 2) / 2)
    branch.q[:] = np.stack([np.arctan2(y, x) - bend / 2, bend], axis=-1)
    branch.known[:] = np.isfinite(bend)
    some = np.flatnonzero(branch.known)[:1]
    branch.code = float(solver.solve(branch.q[some], branch.values(some)).code[0])
    return branch


def test_a_branch_goes_on_from_one_pose_to_all_that_it_reaches(solver):
    exact = elbow_branch(solver, 1.0)
    start = int(np.flatnonzero(exact.known)[40])
    branch = Branch(solver.grid, (1, 1), 2, exact.code)
    branch.put(start, exact.q[start])
    flood(branch, solver)
    np.testing.assert_array_equal(branch.known, exact.known)
    assert not solver.differ(branch.q[branch.known], exact.q[branch.known]).any()


def test_what_belongs_to_another_branch_stays_there(solver):
    exact = elbow_branch(solver, 1.0)
    start = int(np.flatnonzero(exact.known)[40])
    branch = Branch(solver.grid, (1, 1), 2, exact.code)
    branch.put(start, exact.q[start])
    flood(branch, solver, (exact,))
    assert branch.known.sum() == 1


def test_branches_are_the_same_if_most_of_their_configurations_are(solver):
    """At folds different branches meet, and next to folds Newton's method may lead to either."""
    first, second = (elbow_branch(solver, side) for side in (1.0, -1.0))
    known = np.flatnonzero(first.known)
    assert not coincide(solver, first, second)
    assert coincide(solver, first, first)
    mixed = elbow_branch(solver, 1.0)
    mixed.q[known[: len(known) // 3]] = second.q[known[: len(known) // 3]]
    assert coincide(solver, mixed, first)
    assert not coincide(solver, mixed, second)
    mixed.known[:] = False
    assert not coincide(solver, mixed, first)


def test_a_configuration_far_beyond_its_first_step_is_on_another_branch():
    first = np.array([0.01, 0.1, 0.1, 0.4])
    assert is_near(2.0 * first, first).tolist() == [
        True,
        True,
        True,
        False,
    ]  # the last turns too far
    assert not is_near(3.0 * first, first).any()


def test_poses_next_to_a_folded_leg_are_no_holes():
    """Joints turn far from pose to pose there: Newton's method needs short steps."""
    m = es.load("planar_3rrr")
    found = m.workspace_map(over={"x": (-0.25, 0.25), "y": (-0.25, 0.25), "angle": 0.3}, shape=200)
    v, closes = m.parameters, np.ones((200, 200), dtype=bool)
    p = np.stack(np.meshgrid(*found.axes.values(), indexing="ij"), axis=-1)
    for k in range(3):
        a = 2 * np.pi * k / 3 - np.pi / 2
        base = v["r_base"] * np.array([np.cos(a), np.sin(a)])
        corner = v["r_ee"] * np.array([np.cos(a + 0.3), np.sin(a + 0.3)])
        closes &= np.linalg.norm(p + corner - base, axis=-1) <= 2 * v["L"]
    assert (found.closes == closes).all()


def test_lattices_halve_down_to_the_grid():
    for shape in ((25, 24), (1000, 10), (200, 333), (11, 40, 160)):
        levels = lattices(shape)
        assert levels[-1] == (1,) * len(shape)
        for coarse, fine in pairwise(levels):
            assert all(c in (f, 2 * f) for c, f in zip(coarse, fine, strict=True))


def test_finer_grids_have_the_centres_of_the_cells_among_theirs():
    grid = map_grid(es.load("elbow"), "tool", OVER, (7, 10))
    finer = grid.finer((3, 5))
    for coarse, fine, times in zip(grid.axes, finer.axes, (3, 5), strict=True):
        np.testing.assert_allclose(fine[times // 2 :: times], coarse, atol=1e-15)


def test_legs_follow_from_the_platform_one_by_one():
    """Where loops keep a part of the orientation constant, too: its couples are those of two legs."""
    m = schoenflies()
    grid = map_grid(m, "centre", {"x": (-0.1, 0.1), "y": (-0.1, 0.1), "z": 0.2, "yaw": 0.2}, 5)
    blocks = checked_blocks(m, grid)
    assert blocks.size == m.nv
    assert max(map(len, blocks.columns)) == 4
    assert dict(zip(grid.names, grid.fixed, strict=True))["roll"] == 0.0


@pytest.mark.parametrize("factor", [1e-9, 1.0, 1e9])
def test_round_off_makes_no_row_independent(factor, rng):
    A = rng.normal(size=(3, 5))
    rows = np.vstack(
        [A[0], 2 * A[0] + 1e-13 * A[1], A[1], A[0] - A[1], A[2], 1e-12 * rng.normal(size=5)]
    )
    assert first_independent_rows(factor * rows) == [0, 2, 4]
