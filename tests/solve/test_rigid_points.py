"""Positions, velocities and accelerations of points of one body (Rojas, 3.5.2)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eslabon.errors import InputError
from eslabon.numerics import motion_exp
from eslabon.solve.rigid_points import check_rigid_points
from randomness import examples, seeds


def rigid_motion(rng, points, lanes=1):
    """Places, velocities and accelerations of points of a body that moves at random."""
    T = np.array([motion_exp(rng.normal(size=6)) for _ in range(lanes)])
    arms = np.einsum("kij,nj->kni", T[:, :3, :3], points)
    w, alpha, v, a = rng.normal(size=(4, lanes, 1, 3))
    velocity = v + np.cross(w, arms)
    acceleration = a + np.cross(alpha, arms) + np.cross(w, np.cross(w, arms))
    return arms + T[:, None, :3, 3], velocity, acceleration


POINTS = {
    "one": [[0.1, 0, 0]],
    "two": [[0, 0, 0], [0, 0, 0.1]],
    "three on a line": [[0, 0, 0], [0, 0, 0.1], [0, 0, 0.3]],
    "three": [[0, 0, 0], [0, 0, 0.1], [0.2, 0, 0]],
    "four in a plane": [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0]],
    "four": [[0, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0, 1]],
}


@pytest.mark.parametrize("name", POINTS)
@examples(10)
@given(seed=seeds, scale=st.sampled_from([1e-7, 1.0, 1e6]), lanes=st.integers(1, 4))
def test_every_rigid_motion_is_accepted(name, seed, scale, lanes):
    points = np.array(POINTS[name], dtype=float)
    p, v, a = (scale * x for x in rigid_motion(np.random.default_rng(seed), points, lanes))
    check_rigid_points(scale * points, p, v, a)
    check_rigid_points(scale * points, p[0], v[0], a[0])


@examples(15)
@given(seed=seeds, scale=st.sampled_from([1e-7, 1.0, 1e6]), lanes=st.integers(1, 4))
def test_a_part_along_the_line_of_two_points_is_refused(seed, scale, lanes):
    """In velocities and in accelerations; a part across the line is not."""
    rng = np.random.default_rng(seed)
    points = np.array(POINTS["two"], dtype=float)
    p, v, a = rigid_motion(rng, points, lanes)
    along = (p[:, 1] - p[:, 0]) / 0.1
    across = np.cross(along, rng.normal(size=3))
    for part, what in ((1e-3 * along, None), (1e-3 * across, 1)):
        off = np.zeros_like(v)
        off[-1, 1] = part[-1]
        if what is None:
            with pytest.raises(InputError, match=r"\(h' - s'\)\.\(h - s\) = .* rigidity condition"):
                check_rigid_points(scale * points, scale * p, scale * (v + off))
            with pytest.raises(InputError, match=r"\(h'' - s''\)\.\(h - s\) \+ \|h' - s'\|\^2"):
                check_rigid_points(scale * points, scale * p, scale * v, scale * (a + off))
        else:
            check_rigid_points(scale * points, scale * p, scale * v, scale * (a + off))


def test_the_centripetal_acceleration_is_not_forgotten():
    """A rod that turns about one end: the other end is accelerated towards it."""
    rod = np.array([[0.0, 0, 0], [0.5, 0, 0]])
    v = np.array([[0.0, 0, 0], [0, 1, 0]])
    check_rigid_points(rod, rod, v, np.array([[0.0, 0, 0], [-2, 0, 0]]))
    with pytest.raises(InputError, match=r"= 1 m\^2/s\^2 has to be zero.*change by 2 m/s\^2"):
        check_rigid_points(rod, rod, v, np.zeros((2, 3)))


def test_places_at_another_distance_are_refused():
    tool = np.array([[0.0, 0, 0], [0, 0, 0.1]])
    with pytest.raises(InputError, match=r"tip and heel are 0.11 m apart, .* 0.1 m: \|h - s\|"):
        check_rigid_points(tool, 1.1 * tool, names=("tip", "heel"))
    lanes = np.array([tool, tool, 1.2 * tool])
    with pytest.raises(InputError, match=r"\(target 2\)"):
        check_rigid_points(tool, lanes)


def test_points_of_a_line_or_plane_that_bend_it_are_refused():
    """The distances of all pairs stay as they are to first order, and yet it is no rigid motion."""
    for name, k, n in (("three on a line", 1, [1, 0, 0]), ("four in a plane", 3, [0, 0, 1])):
        points = np.array(POINTS[name], dtype=float)
        v = np.zeros_like(points)
        v[k] = n
        with pytest.raises(InputError, match="nearest rigid motion misses them by"):
            check_rigid_points(points, points, v)


def test_lanes_are_broadcast_and_nan_is_left_alone():
    tool = np.array([[0.0, 0, 0], [0, 0, 0.1]])
    check_rigid_points(tool, np.stack([tool, tool]), np.zeros((2, 3)), np.zeros((3, 1, 2, 3)))
    check_rigid_points(tool, np.full((2, 3), np.nan), np.full((2, 3), np.nan))
    with pytest.raises(InputError, match="point 0 and point 1"):
        check_rigid_points(tool, tool, np.array([np.zeros((2, 3)), [[0, 0, 0], [0, 0, 1]]]))
