"""Damped least squares: each lane of a batch goes on until its goal."""

from __future__ import annotations

import numpy as np
import pytest

from eslabon.numerics.least_squares import LOOK, walk


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
