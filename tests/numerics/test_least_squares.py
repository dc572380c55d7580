"""Damped least squares: each lane of a batch ends where the equations, or their least error, say."""

from __future__ import annotations

import numpy as np
import pytest

from eslabon.numerics.least_squares import LOOK, descent, orthogonal_step, walk


def circle_and_line(q, c):
    """x² + y² = 1 and y = c x: a solution for every c."""
    x, y = q[..., 0], q[..., 1]
    r = np.stack([x**2 + y**2 - 1, y - c[..., 0] * x], axis=-1)
    J = np.stack([np.stack([2 * x, 2 * y], -1), np.stack([-c[..., 0], np.ones_like(x)], -1)], -2)
    return r, J


def move(q, s):
    return q + s


def solution(c):
    return np.column_stack([np.ones(len(c)), c[:, 0]]) / np.sqrt(1 + c**2)


def test_a_descent_solves_the_equations_of_every_lane(rng):
    c, start = rng.uniform(-1.0, 1.0, size=(20, 1)), np.array([[2.0, 0.5]]).repeat(20, axis=0)
    found = descent(orthogonal_step(circle_and_line, move), start, c, goal=1e-28)
    assert found.q == pytest.approx(solution(c), abs=1e-13)
    assert (found.error <= 1e-28).all()
    assert (found.steps > 0).all()


def test_a_lane_does_not_depend_on_its_neighbours(rng):
    c, start = rng.normal(size=(6, 1)), rng.normal(size=(6, 2))
    step = orthogonal_step(circle_and_line, move)
    together = descent(step, start, c, goal=1e-28)
    for k in range(6):
        alone = descent(step, start[[k]], c[[k]], goal=1e-28)
        np.testing.assert_array_equal(alone.q[0], together.q[k])
        assert alone.steps[0] == together.steps[k]


def test_a_descent_ends_at_a_least_error_that_is_not_zero(rng):
    """Of A q = b with more rows than unknowns, at the solution of the normal equations."""
    A, b = rng.normal(size=(5, 2)), rng.normal(size=5)

    def equations(q):
        return q @ A.T - b, np.broadcast_to(A, (*q.shape[:-1], 5, 2))

    found = descent(orthogonal_step(equations, move), np.zeros((1, 2)), goal=0.0, iterations=200)
    best, *_ = np.linalg.lstsq(A, b, rcond=None)
    assert found.q[0] == pytest.approx(best, abs=1e-7)
    assert found.error[0] == pytest.approx(np.sum((A @ best - b) ** 2), rel=1e-12)


def test_dependent_rows_give_the_step_of_least_norm():
    """x + y = 2, written twice: from the origin the nearest solution is (1, 1)."""

    def equations(q):
        r = q.sum(axis=-1, keepdims=True) - 2
        return np.concatenate([r, r], axis=-1), np.ones((*q.shape[:-1], 2, 2))

    found = descent(orthogonal_step(equations, move), np.zeros((1, 2)), goal=1e-28)
    assert found.q[0] == pytest.approx([1.0, 1.0], abs=1e-13)


def test_a_step_moves_no_coordinate_by_more_than_one():
    def equations(q):
        return q - 100.0, np.broadcast_to(np.eye(2), (*q.shape[:-1], 2, 2))

    moved, error = orthogonal_step(equations, move)(np.zeros((1, 2)), np.zeros(1))
    assert moved == pytest.approx(np.ones((1, 2)))
    assert error == pytest.approx([2e4])


def test_a_start_that_is_no_number_spoils_no_other_lane():
    c, start = np.ones((2, 1)), np.array([[np.nan, 0.0], [2.0, 0.5]])
    with np.errstate(invalid="ignore"):
        found = descent(orthogonal_step(circle_and_line, move), start, c, goal=1e-28)
    assert found.error[0] > 1e-28
    assert found.q[1] == pytest.approx(solution(c)[1], abs=1e-13)


def test_a_walk_stops_each_lane_at_its_goal(rng):
    """Newton's method for x² = c; lanes that start at the root take no step."""

    def steps(q, best, error, x, damping, goal):
        taken = np.zeros(len(q))
        for _ in range(LOOK):
            now = ((q**2 - x) ** 2)[:, 0]
            better = now < error
            best, error = np.where(better[:, None], q, best), np.minimum(now, error)
            taken += now > goal
            q = (q + x / q) / 2
        return q, best, error, taken

    c = rng.uniform(1.0, 4.0, size=(5, 1))
    start = np.full((5, 1), 50.0)
    start[0] = np.sqrt(c[0])
    found = walk(steps, start, c, goal=1e-24)
    assert found.q == pytest.approx(np.sqrt(c), rel=1e-12)
    assert found.steps[0] == 0
    assert (found.steps[1:] > 4).all()
