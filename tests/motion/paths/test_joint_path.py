"""Joint paths: through their points, with exact rates, and refused where coordinates are no plain numbers."""

import numpy as np
import pytest

import eslabon as es
from eslabon import paths
from motion.paths.differences import away_from, derivative

POINTS = np.array([[0, 0, 1], [1, -1, 0], [2, 0.5, 0.5], [1, 1, 2]], dtype=float)
CLOSED = np.concatenate([POINTS, POINTS[:1]])
JOINT_PATHS = {
    "point to point": paths.joint_path(POINTS[:2], paths.cycloidal(1.5)),
    "via, law": paths.joint_path(POINTS, paths.quintic(1.5)),
    "via, cubic, law": paths.joint_path(POINTS, paths.quintic(1.5), degree=3),
    "clamped quintic": paths.joint_path(POINTS, times=[1, 2, 2.5, 4]),
    "clamped cubic": paths.joint_path(POINTS, times=[1, 2, 2.5, 4], degree=3),
    "periodic quintic": paths.joint_path(CLOSED, times=[0, 1, 2, 3, 4.5], ends="periodic"),
    "periodic cubic": paths.joint_path(CLOSED, times=[0, 1, 2, 3, 4.5], degree=3, ends="periodic"),
    "free": paths.joint_path(POINTS, times=[0, 1, 2, 3], ends="free"),
    "there and back": paths.joint_path(POINTS, paths.septic(1.0)).then(
        paths.joint_path(POINTS, paths.septic(1.0)).reversed()
    ),
}


@pytest.mark.parametrize("name", JOINT_PATHS)
def test_rates_are_those_of_the_coordinates(name):
    path = JOINT_PATHS[name]
    t = away_from(path.breaks, np.linspace(0, path.duration, 41))
    q, v, a = path(t)
    scale = np.abs(a).max()
    assert v == pytest.approx(derivative(path.position, t), abs=1e-9 * scale)
    assert a == pytest.approx(derivative(path.velocity, t), abs=1e-8 * scale)
    assert q.shape == (len(t), 3)
    assert path.acceleration(t.reshape(1, -1)).shape == (1, len(t), 3)


def test_point_to_point_is_a_straight_line_by_its_law():
    path, law = JOINT_PATHS["point to point"], paths.cycloidal(1.5)
    t = np.linspace(0, 1.5, 7)
    assert path.position(t) == pytest.approx(
        POINTS[0] + law(t)[:, None] * (POINTS[1] - POINTS[0]), abs=1e-14
    )
    assert path.rests


def test_via_points_are_met_and_ends_are_as_asked():
    for name in ("clamped quintic", "clamped cubic"):
        path = JOINT_PATHS[name]
        assert path.position([0, 1, 1.5, 3]) == pytest.approx(POINTS, abs=1e-13)
        assert path.velocity([0, 3]) == pytest.approx(np.zeros((2, 3)), abs=1e-13)
    assert JOINT_PATHS["clamped quintic"].rests
    assert not JOINT_PATHS["clamped cubic"].rests
    for name in ("periodic quintic", "periodic cubic"):
        path = JOINT_PATHS[name]
        assert path.velocity(0.0) == pytest.approx(path.velocity(4.5), abs=1e-11)
        assert path.acceleration(0.0) == pytest.approx(path.acceleration(4.5), abs=1e-10)
        assert path.repeat(2).position([5.5, 6.5]) == pytest.approx(POINTS[1:3], abs=1e-12)


def test_limits_for_each_joint_or_for_all():
    path = JOINT_PATHS["via, law"]
    limits = np.array([1.0, 0.5, 2.0])
    fast = path.within(velocity=limits, acceleration=1.5)
    t = np.linspace(0, fast.duration, 20001)
    parts = (np.abs(fast.velocity(t)) / limits).max(), (np.abs(fast.acceleration(t)) / 1.5).max()
    assert max(parts) == pytest.approx(1.0, abs=1e-6)
    assert max(parts) <= 1 + 1e-9


def test_samples():
    samples = JOINT_PATHS["clamped quintic"].sample(dt=0.25)
    assert samples.t[-1] == 3.0
    assert samples.q.shape == samples.v.shape == samples.a.shape == (13, 3)


def test_the_mechanism_is_asked_for_its_coordinates():
    law = paths.quintic(1.0)
    arm = es.load("elbow")
    assert paths.joint_path([[0, 0], [1, 1]], law, mechanism=arm).position(1.0) == pytest.approx(
        [1, 1]
    )
    with pytest.raises(paths.PathError, match=r"elbow has 2 coordinates; the joint path has 3\."):
        paths.joint_path([[0, 0, 0], [1, 1, 1]], law, mechanism=arm)
    five_bar = es.load("five_bar")
    paths.joint_path([np.zeros(five_bar.nu), np.ones(five_bar.nu)], law, mechanism=five_bar)
    paths.joint_path([np.zeros(five_bar.nq), np.ones(five_bar.nq)], law, mechanism=five_bar)
    b = es.Builder("ball")
    b.body("head", mass=1.0, inertia=(1, 1, 1))
    b.joint("neck", "spherical", "ground", "head")
    with pytest.raises(
        paths.PathError, match=r"joint 'neck' of ball turns by a quaternion.*paths\.pose_path"
    ):
        paths.joint_path([[1, 0, 0, 0], [0, 1, 0, 0]], law, mechanism=b.build())
