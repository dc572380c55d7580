"""Paths in time: pose, twist and acceleration agree with each other, joins are continuous, limits are kept."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import eslabon as es
from eslabon import paths
from eslabon.numerics import pose, rotation_x, rotation_z
from eslabon.reproductions.rojas.path_program import sphere_cylinder, splined_cycloid
from motion.paths.differences import angular, away_from, derivative
from randomness import examples, seeded

TURNS = Rotation.random(4, rng=seeded("turns")).as_matrix()
PLACES = seeded("places").normal(size=(4, 3))
POSES = np.array([pose(R, p) for R, p in zip(TURNS, PLACES, strict=True)])
# Rojas' straight move of the T3 robot (2.5 of the notes).
T3 = paths.along(
    paths.line([1.33125, 0, 1.79875], [1.33125, 1, 1.79875]),
    splined_cycloid(1.0),
    [[0, 1, 0], [0, 0, -1], [-1, 0, 0]],
)
ARC = paths.along(paths.arc([0, 0, 0], [1, 0, 0], [0, 0, 1], 2.0), paths.cycloidal(1.5), "minimal")
PATHS = {
    "T3": T3,
    "arc": ARC,
    "Rojas": paths.along(sphere_cylinder(0.3, 0.7), paths.cycloidal(2.0), "frenet"),
    "spline": paths.along(paths.spline(PLACES), paths.septic(2.0), TURNS),
    "two poses": paths.pose_path(POSES[:2], paths.quintic(1.2)),
    "poses": paths.pose_path(POSES, paths.quintic(2.0)),
    "turn in place": paths.pose_path(
        [np.eye(4), pose(rotation_z(1.0), [0, 0, 0])], paths.quintic(1.0)
    ),
    "trapezium": paths.along(paths.rounded(PLACES, 0.05), paths.trapezoidal(3.0), "minimal"),
    "there and back": ARC.then(ARC.reversed()),
    "thrice": ARC.then(ARC.reversed()).repeat(3),
    "slow": ARC.lasting(4.0),
    "waiting": ARC.wait(before=0.5, after=0.25),
    "free": paths.along(
        paths.spline(PLACES), paths.spline_law([0, 1, 2], [0, 0.6, 1], ends="free"), "minimal"
    ),
}


def checked(path, count=41):
    return away_from(path.breaks, np.linspace(0.0, path.duration, count))


@pytest.mark.parametrize("name", PATHS)
def test_twist_and_acceleration_are_those_of_the_pose(name):
    path = PATHS[name]
    t = checked(path)
    T, V, A = path(t)
    dT = derivative(path.pose, t)
    w, asymmetry = angular(T[:, :3, :3], dT[:, :3, :3])
    size = np.abs(V).max() + np.abs(A).max()
    tolerance = 1e-10 * (1 + size) ** 3  # h⁴/30 = 3e-14 of fifth derivatives
    assert asymmetry < tolerance
    assert V[:, :3] == pytest.approx(w, abs=tolerance)
    assert V[:, 3:] == pytest.approx(dT[:, :3, 3], abs=tolerance)
    assert pytest.approx(derivative(path.twist, t), abs=30 * tolerance) == A
    assert T[:, 3].tolist() == [[0, 0, 0, 1]] * len(t)


@pytest.mark.parametrize("name", PATHS)
def test_any_shape_of_times_also_outside(name):
    path = PATHS[name]
    t = np.linspace(-0.5, path.duration + 0.5, 24)
    T, V, A = path(t.reshape(2, 3, 4))
    assert (T.shape, V.shape, A.shape) == ((2, 3, 4, 4, 4), (2, 3, 4, 6), (2, 3, 4, 6))
    for got, want in zip((T, V, A), path(t), strict=True):
        assert got.reshape(want.shape) == pytest.approx(want, abs=1e-12)
    assert path.pose(t[7]) == pytest.approx(path.pose(t)[7], abs=1e-12)
    assert [x.shape for x in path(np.empty((0,)))] == [(0, 4, 4), (0, 6), (0, 6)]


@pytest.mark.parametrize("name", PATHS)
def test_outside_its_time_a_path_stays_at_its_ends(name):
    path = PATHS[name]
    T, V, A = path([-1.0, 0.0, path.duration, path.duration + 1])
    assert T[0].tolist() == T[1].tolist()
    assert T[3].tolist() == T[2].tolist()
    assert not V[[0, 3]].any()
    assert not A[[0, 3]].any()


def test_a_path_rests_as_its_law_does():
    rests = {name: path.rests for name, path in PATHS.items()}
    assert [name for name, rest in rests.items() if not rest] == ["trapezium", "free"]


def test_the_move_of_rojas_robot():
    T, V, A = T3([0.05, 0.45])
    assert T[:, 1, 3] == pytest.approx([0.00082, 0.40082], abs=5e-6)
    assert V[:, 4] == pytest.approx([0.04894, 1.95106], abs=5e-6)
    assert A[:, 4] == pytest.approx([1.95774, 1.95774], abs=5e-6)
    assert not V[:, :3].any()
    assert repr(T3) == "<Path: line, fixed orientation, splined cycloid law, 1 s>"


def test_twists_are_in_the_ground_convention_of_a_mechanism():
    """The tip of a turning arm moves on an arc; the mechanism and the path tell its motion alike."""
    m = es.load("elbow")
    law, q0 = paths.quintic(2.0), m.pose([0.3, 0.0], frame="tool")
    path = paths.along(
        paths.arc([0, 0, 0], q0[:3, 3], [0, 0, 1], 1.2),
        law,
        paths.turning([q0[:3, :3], rotation_z(1.2) @ q0[:3, :3]]),
    )
    t = np.linspace(0, 2, 9)
    q, v, a = (
        np.stack([c + 1.2 * law(t, k), 0 * t], axis=-1) for k, c in ((0, 0.3), (1, 0), (2, 0))
    )
    assert path.pose(t) == pytest.approx(m.pose(q, frame="tool"), abs=1e-13)
    assert path.twist(t) == pytest.approx(m.velocity(q, v, frame="tool", axes="aligned"), abs=1e-13)
    assert path.acceleration(t) == pytest.approx(
        m.acceleration(q, v, a, frame="tool", axes="aligned"), abs=1e-13
    )


def test_pose_paths_meet_their_poses():
    law = paths.quintic(2.0)
    path = paths.pose_path(POSES, law)
    s = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(PLACES, axis=0), axis=1))])
    fine = np.linspace(0, 2, 200001)
    t = np.interp(s / s[-1], law(fine), fine)
    assert path.pose(t) == pytest.approx(
        POSES, abs=1e-8
    )  # interp finds the time to the square of its step
    assert path.pose([0.0, 2.0]) == pytest.approx(POSES[[0, -1]], abs=1e-12)


@pytest.mark.parametrize("name", ["there and back", "thrice", "waiting"])
def test_joins_are_continuous(name):
    path = PATHS[name]
    for before, after in zip(
        path(path.breaks[1:-1] - 1e-10), path(path.breaks[1:-1] + 1e-10), strict=True
    ):
        assert before == pytest.approx(after, abs=1e-7)


def test_reversal_joins_and_repetition_in_time():
    t = np.linspace(0, 1.5, 11)
    back, both = ARC.reversed(), PATHS["there and back"]
    assert back.pose(t) == pytest.approx(ARC.pose(1.5 - t), abs=1e-15)
    assert back.twist(t) == pytest.approx(-ARC.twist(1.5 - t), abs=1e-15)
    assert back.acceleration(t) == pytest.approx(ARC.acceleration(1.5 - t), abs=1e-15)
    assert both.duration == 3.0
    assert both.pose(t + 1.5) == pytest.approx(back.pose(t), abs=1e-14)
    thrice = PATHS["thrice"]
    assert thrice.duration == 9.0
    assert thrice.pose(t + 6.0) == pytest.approx(ARC.pose(t), abs=1e-14)
    assert thrice.pose(9.0) == pytest.approx(ARC.pose(0.0), abs=1e-14)
    assert "3 times" in repr(thrice)
    assert ARC.then(*[ARC.reversed(), ARC] * 2).title == "5 paths joined"


def test_moving_joins_meet_at_the_same_velocity():
    """Two halves of a line, one at constant acceleration and one braking, are joined in full flight."""
    up = paths.along(
        paths.line([0, 0, 0], [1, 0, 0]), paths.spline_law([0, 0.5, 1], [0, 0.25, 1], ends="free")
    )
    whole = up.then(
        paths.along(
            paths.line([2, 0, 0], [1, 0, 0]),
            paths.spline_law([0, 0.5, 1], [0, 0.25, 1], ends="free"),
        ).reversed()
    )
    assert whole.twist(1.0)[3] == pytest.approx(2.0)
    with pytest.raises(paths.PathError, match="the velocity would jump by 2 where the paths join"):
        up.then(paths.along(paths.line([1, 0, 0], [2, 0, 0]), paths.quintic(1.0)))


@examples(20)
@given(st.floats(0.1, 10), st.floats(0.1, 10), st.floats(0.1, 10), st.floats(0.1, 10))
def test_the_shortest_duration_keeps_every_limit_and_meets_one(v, a, w, alpha):
    path = PATHS["poses"].within(v, a, w, alpha)
    _, V, A = path(np.linspace(0, path.duration, 5001))
    sizes = [np.linalg.norm(x, axis=-1).max() for x in (V[:, 3:], A[:, 3:], V[:, :3], A[:, :3])]
    parts = np.array(sizes) / (v, a, w, alpha)
    assert parts.max() <= 1 + 1e-9
    assert parts.max() == pytest.approx(
        1.0, abs=1e-3
    )  # a peak may be a kink between two of the 5,001 times


def test_limits_see_jumps_of_the_acceleration():
    """On a circle after a line the acceleration jumps to v²/r; its peak is just after the joint."""
    bend = paths.rounded([[0, 0, 0], [1, 0, 0], [1, 1, 0]], radius=0.2)
    path = paths.along(bend, paths.spline_law([0, 1, 2], [0, 0.5, 1], ends="free")).within(
        acceleration=2.0
    )
    speed = bend.length / path.duration
    assert speed**2 / 0.2 == pytest.approx(2.0, rel=1e-9)


def test_samples():
    samples = ARC.sample(31)
    assert samples.t == pytest.approx(np.linspace(0, 1.5, 31))
    assert samples.pose.shape == (31, 4, 4)
    assert samples.twist == pytest.approx(ARC.twist(samples.t))
    assert ARC.sample(dt=0.5).t == pytest.approx([0, 0.5, 1, 1.5])
    assert ARC.sample(dt=0.1).t == pytest.approx(
        np.linspace(0, 1.5, 16)
    )  # 1.5/0.1 is 15 and a bit of rounding
    assert ARC.sample(dt=0.4).t == pytest.approx([0, 0.4, 0.8, 1.2, 1.5])


def test_orientations_as_a_user_gives_them():
    line, law = paths.line([0, 0, 0], [1, 0, 0]), paths.quintic(1.0)
    assert paths.along(line, law).pose(0.5)[:3, :3].tolist() == np.eye(3).tolist()
    assert (
        paths.along(line, law, rotation_x(0.5)).pose(0.3)[:3, :3].tolist()
        == rotation_x(0.5).tolist()
    )
    turned = paths.along(line, law, [np.eye(3), rotation_x(1.0)])
    assert turned.twist(0.5)[0] == pytest.approx(15 / 8)
    assert "one turn" in repr(turned)


# -- no result depends on the unit of length -------------------------------------------------------


@pytest.mark.parametrize("size", [5e-10, 1e-6, 1.0, 1e6])
def test_a_path_of_poses_moves_at_any_size(size):
    """Two poses a tiny distance apart are two poses; before, those within 1e-9 m were one."""
    T = np.stack([np.eye(4), np.eye(4)])
    T[1, 0, 3] = size
    path = paths.pose_path(T, paths.quintic(2.0))
    assert path.pose(1.0)[0, 3] == pytest.approx(size / 2, rel=1e-12)
    assert path.twist(1.0)[3] == pytest.approx(size * 15 / 16, rel=1e-12)


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_paths_join_at_any_size(size):
    """Whether paths meet is a matter of how far they go, not of metres."""
    law = paths.quintic(1.0)

    def way(x, y):
        return paths.along(paths.line([x * size, 0, 0], [y * size, 0, 0]), law)

    assert way(0, 1).then(way(1, 2)).rests
    with pytest.raises(paths.PathError, match=r"starts .* from where the one before it ends"):
        way(0, 1).then(way(1.001, 2))
    joints = paths.joint_path([[0.0], [size]], law)
    assert joints.rests
    with pytest.raises(paths.PathError, match="starts"):
        joints.then(paths.joint_path([[1.001 * size], [2 * size]], law))


def test_rates_too_large_to_compute_with_are_refused():
    for call in (
        lambda: paths.quintic(1e-200),
        lambda: paths.quintic(1.0).lasting(1e-200),
        lambda: paths.joint_path([[0.0], [1.0]], paths.quintic(1.0)).lasting(1e-200),
        lambda: paths.joint_path([[0.0], [1.0]], times=[0.0, 1e-200]),
    ):
        with pytest.raises(paths.PathError, match=r"too (short|near) to compute rates with"):
            call()
