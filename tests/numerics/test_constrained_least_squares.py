"""Constrained least squares: each lane of a batch ends where the equations, or their least error, say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from eslabon.numerics.constrained_least_squares import SETTINGS, Terms, refine

CLOSING = replace(SETTINGS, steps=200, gain=1e-10)


class Closing:
    """Rows phi(q) that are to vanish, with their Jacobian; no errors, and limits that are given."""

    def __init__(self, rows, size=2, lower=-np.inf, upper=np.inf):
        self.rows, self.free, self.lower, self.upper = rows, np.ones(size), lower, upper

    def terms(self, q, lanes):
        phi, J = self.rows(q, lanes)
        k, n = q.shape
        nothing = np.zeros((k, 0)), np.zeros((k, 0, n))
        return Terms(*nothing, phi, np.array(J), np.zeros((k, 0)), np.zeros((k, 0, 0)))

    def moved(self, q, way):
        return np.clip(q + way, self.lower, self.upper)

    def at_limits(self, q):
        return q <= self.lower, q >= self.upper


def circle_and_line(c):
    """x^2 + y^2 = 1 and y = c x, which have a solution for every c."""

    def rows(q, lanes):
        x, y = q[:, 0], q[:, 1]
        phi = np.stack([x**2 + y**2 - 1, y - c[lanes] * x], axis=-1)
        J = np.stack([np.stack([2 * x, 2 * y], -1), np.stack([-c[lanes], np.ones_like(x)], -1)], -2)
        return phi, J

    return Closing(rows)


def solution(c):
    return np.column_stack([np.ones(len(c)), c]) / np.sqrt(1 + c[:, None] ** 2)


class NearestOnCircle(Closing):
    """The point of the unit circle that is nearest to a given one."""

    def __init__(self, to, **limits):
        super().__init__(None, **limits)
        self.to = to

    def terms(self, q, lanes):
        one = np.broadcast_to(np.eye(2), (len(q), 2, 2)).copy()
        r, phi, J = q - self.to, (q**2).sum(axis=1, keepdims=True) - 1, 2 * q[:, None]
        force = -(r * q).sum(axis=1, keepdims=True) / (2 * (q**2).sum(axis=1, keepdims=True))
        return Terms(r, one, phi, J, force, one * (1 + 2 * force[..., None]))


def test_the_equations_of_every_lane_are_solved(rng):
    c, start = rng.uniform(-1.0, 1.0, size=20), np.array([[2.0, 0.5]]).repeat(20, axis=0)
    found = refine(circle_and_line(c), start, CLOSING)
    assert found.q == pytest.approx(solution(c), abs=1e-13)
    assert (found.size <= 1e-13).all()
    assert (found.steps > 0).all()


def test_a_lane_does_not_depend_on_its_neighbours(rng):
    c, start = rng.normal(size=6), rng.normal(size=(6, 2))
    together = refine(circle_and_line(c), start, CLOSING)
    for k in range(6):
        alone = refine(circle_and_line(c[[k]]), start[[k]], CLOSING)
        np.testing.assert_array_equal(alone.q[0], together.q[k])
        assert alone.steps[0] == together.steps[k]


def test_of_equations_without_a_solution_the_least_violation_is_found(rng):
    """Of A q = b with more rows than unknowns, at the solution of the normal equations."""
    A, b = rng.normal(size=(5, 2)), rng.normal(size=5)
    rows = Closing(lambda q, _: (q @ A.T - b, np.broadcast_to(A, (len(q), 5, 2))))
    found = refine(rows, np.zeros((1, 2)), CLOSING)
    best, *_ = np.linalg.lstsq(A, b, rcond=None)
    assert found.q[0] == pytest.approx(best, abs=1e-6)
    assert found.size[0] == pytest.approx(np.linalg.norm(A @ best - b), rel=1e-12)


def test_dependent_rows_give_the_step_of_least_norm():
    """x + y = 2, written twice: from the origin the nearest solution is (1, 1)."""

    def rows(q, _):
        r = q.sum(axis=-1, keepdims=True) - 2
        return np.concatenate([r, r], axis=-1), np.ones((len(q), 2, 2))

    found = refine(Closing(rows), np.zeros((1, 2)), CLOSING)
    assert found.q[0] == pytest.approx([1.0, 1.0], abs=1e-13)


def test_a_step_moves_no_coordinate_by_more_than_the_longest():
    far = Closing(lambda q, _: (q - 1.0, np.broadcast_to(np.eye(2), (len(q), 2, 2))))
    found = refine(far, np.zeros((1, 2)), replace(CLOSING, steps=1))
    assert found.q == pytest.approx(np.full((1, 2), SETTINGS.longest))


def test_a_start_that_is_no_number_spoils_no_other_lane():
    c, start = np.ones(2), np.array([[np.nan, 0.0], [2.0, 0.5]])
    found = refine(circle_and_line(c), start, CLOSING)
    assert not found.size[0] <= 1e-13
    assert found.q[1] == pytest.approx(solution(c)[1], abs=1e-13)


def test_a_correction_lets_long_steps_along_a_curve_count():
    """Without it each of them would be cut short, since it leaves the circle (Maratos)."""
    found = refine(NearestOnCircle(np.array([3.0, 4.0])), np.array([[1.0, 0.0]]))
    assert found.q[0] == pytest.approx([0.6, 0.8], abs=1e-12)
    assert found.steps[0] < 10


def test_a_coordinate_at_its_limit_is_held_there_and_released_again():
    """The nearest allowed point of the circle has y = 0.5; from below the limit is left again."""
    limited = NearestOnCircle(np.array([3.0, 4.0]), upper=np.array([np.inf, 0.5]))
    found = refine(limited, np.array([[1.0, 0.0]]))
    assert found.q[0] == pytest.approx([np.sqrt(0.75), 0.5], abs=1e-12)
    released = NearestOnCircle(np.array([3.0, -4.0]), upper=np.array([np.inf, 0.5]))
    found = refine(released, np.array([[np.sqrt(0.75), 0.5]]))
    assert found.q[0] == pytest.approx([0.6, -0.8], abs=1e-9)
