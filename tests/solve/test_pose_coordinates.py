"""Coordinates of a pose by name as rows of a problem: their errors, rates and straight ways."""

from itertools import combinations

import casadi
import numpy as np
import pytest

import eslabon as es
from eslabon.numerics.rotations import rotation_from_quaternion, rotation_from_rpy
from eslabon.solve.coordinate_rows import POSE, PoseCoordinates
from eslabon.solve.problem import Problem

SUBSETS = [
    ("x", "y", "angle"),
    ("z", "roll", "pitch"),
    ("y", "pitch", "yaw"),
    ("roll", "yaw"),
    ("roll", "pitch", "yaw"),
    ("x", "pitch"),
]


def poses(rng, names=(), count=6):
    """Poses whose pitch is well within a quarter turn; with an angle in the plane, those in the plane."""
    made = np.broadcast_to(np.eye(4), (count, 4, 4)).copy()
    turns = rng.uniform(-1, 1, (count, 3)) * ([0, 0, 2.8] if "angle" in names else [2.8, 1.2, 2.8])
    made[:, :3, :3] = [rotation_from_rpy(x) for x in turns]
    made[:, :3, 3] = rng.uniform(-1, 1, (count, 3))
    return made, turns


def numbers(expression):
    return np.array(casadi.DM(casadi.evalf(casadi.SX(expression))))


@pytest.mark.parametrize("names", SUBSETS)
def test_the_rate_is_the_derivative_of_the_value(names, rng):
    """A pose moved by a small twist, in the ground's axes at the frame's origin."""
    rows, h = PoseCoordinates("tip", 1.0, names), 1e-6
    for pose in poses(rng)[0]:
        twist = rng.normal(size=6)
        ends = []
        for way in (h, -h):
            moved = pose.copy()
            turn = np.concatenate([[1.0], way / 2 * twist[:3]])
            moved[:3, :3] = rotation_from_quaternion(turn) @ pose[:3, :3]
            moved[:3, 3] += way * twist[3:]
            ends.append(rows.value(moved))
        rate = rows.displacement(*ends) / (2 * h)
        exact = numbers(rows.rate(casadi.DM(pose[:3, :3]))) @ twist
        np.testing.assert_allclose(exact, rate, rtol=0, atol=1e-7 * np.abs(rate).max())


@pytest.mark.parametrize("names", SUBSETS)
def test_errors_vanish_at_the_value_and_half_turns_elsewhere(names, rng):
    rows = PoseCoordinates("tip", 1.0, names)
    for pose in poses(rng, names)[0]:
        x = rows.value(pose)
        R, p = casadi.SX(casadi.DM(pose[:3, :3])), casadi.SX(casadi.DM(pose[:3, 3]))
        assert np.abs(numbers(rows.error(R, p, casadi.SX(casadi.DM(x)), 0.7))).max() < 1e-14
        assert np.abs(numbers(rows.half_turns(R, casadi.SX(casadi.DM(x))))).max(initial=0) < 1e-14
        assert max(map(float, rows.missed(R, p, casadi.SX(casadi.DM(x))))) < 1e-14
        np.testing.assert_allclose(numbers(rows.coordinates(R, p)).ravel(), x, atol=1e-14)
        turned = [k for k, unit in enumerate(rows.rate_units) if unit == "rad"]
        if names == ("x", "pitch"):
            continue  # a pitch alone is within a quarter turn
        off = x.copy()
        off[turned[0]] += np.pi
        half = numbers(rows.half_turns(R, casadi.SX(casadi.DM(off))))
        error = numbers(rows.error(R, p, casadi.SX(casadi.DM(off)), 0.7))
        assert max(np.abs(half).max(), np.abs(error).max()) > 0.1


def test_values_are_the_angles_that_made_the_pose(rng):
    made, turns = poses(rng)
    found = PoseCoordinates("tip", 1.0, POSE[4:]).value(made)
    np.testing.assert_allclose(found, turns, atol=1e-14)


def test_a_problem_of_coordinates_follows_its_straight_ways():
    """What maps prescribe is a problem like any other: the continuation follows it."""
    from eslabon.solve.solver import follow

    m = es.load("planar_3rrr")
    problem = Problem(rows=(PoseCoordinates("centre", 1.0, ("x", "y", "angle")),))
    start = m.project(m.home())[None]
    x = problem.values(m, start)
    rows = x[:, None] + np.linspace(0, 1, 5)[:, None] * [0.02, -0.03, 0.2]
    track = follow(m, problem, start, rows)
    assert not track.lost.any()
    np.testing.assert_allclose(problem.values(m, track.q), rows, atol=1e-12)
    assert np.abs(m.constraint(track.q)).max() < 1e-12


@pytest.mark.parametrize("held", list(combinations(("base.x", "base.y", "base.angle"), 2)))
def test_single_coordinates_of_a_joint_are_held(held):
    """A plate on a planar joint, in some of whose coordinates it is held: they are returned as given."""
    b = es.Builder("plate").body("plate", mass=1.0)
    m = b.joint("base", "planar", "ground", "plate").build()
    names = [str(x) for x in ("base.x", "base.y", "base.angle")]
    problem = Problem(held)
    places = [names.index(name) for name in held]
    assert problem.coordinates(m) == problem.velocities(m) == places
    assert problem.size(m) == problem.rate_size(m) == 2
    over = dict.fromkeys(held, (-0.3, 0.4))
    over |= {name: 0.1 for name in names if name not in held}
    found = m.workspace_map("plate", over, 5, configurations=True)
    assert found.closes.all()
    axes = np.meshgrid(*(found.axes[name] for name in held), indexing="ij")
    for place, x in zip(places, axes, strict=True):
        np.testing.assert_array_equal(found.q[0][..., place], x)
