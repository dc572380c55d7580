"""Inverse kinematics: what it finds, the forward kinematics confirms; what it cannot find, it says."""

import numpy as np
import pytest

import eslabon as es
from eslabon import paths
from eslabon.errors import InverseKinematicsError, SingularityWarning
from eslabon.model import KINDS
from eslabon.model.scale import characteristic_length
from eslabon.numerics import rotation_about, rotation_z
from random_mechanisms import random_coordinates, random_tree
from randomness import seeded

ARMS = ["puma560", "panda_like", "ur5e_like", "stanford_arm", "scara"]


def limits_of(m):
    return np.array([pair for j in m.joints for pair in j.limits]).T


def random_postures(m, count, seed=0):
    return seeded(seed).uniform(*limits_of(m), (count, m.nq))


def pose(R=None, p=(0, 0, 0)):
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = np.eye(3) if R is None else R, p
    return T


def condition(m, q):
    """The condition number of the Jacobian of the frame's twist."""
    return 1 / m.conditions(q).serial


def assert_there(m, found, T, frame=None):
    assert found.converged.all()
    assert np.abs(m.pose(found.q, frame) - T).max() < 1.5e-10


# -- postures ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ARMS)
def test_reachable_poses_are_reached_within_the_limits(name):
    m = es.load(name)
    T = m.pose(random_postures(m, 2000))
    found = m.inverse_kinematics(T, report=True)
    assert_there(m, found, T)
    lower, upper = limits_of(m)
    assert ((found.q >= lower) & (found.q <= upper)).all()
    assert found.residual.shape == (2000, 2)
    assert found.residual.max() <= 1e-10


@pytest.mark.parametrize("name", ARMS)
def test_without_limits_nearly_every_start_leads_to_the_target(name):
    m = es.load(name)
    T = m.pose(random_postures(m, 1000))
    guess = random_postures(m, 1000, seed=1)
    found = m.inverse_kinematics(T, guess, restarts=0, limits=False, report=True)
    assert found.converged.mean() > (0.85 if name in ("panda_like", "ur5e_like") else 0.97)
    assert np.isfinite(found.q).all()


@pytest.mark.parametrize("seed", range(12))
def test_trees_of_every_joint_kind(seed):
    rng = seeded(seed)
    kinds = list(rng.permutation(list(KINDS))) if seed % 2 else None
    m = random_tree(rng, kinds, branched=bool(seed % 3))
    T = m.pose([random_coordinates(rng, m) for _ in range(50)], "tip")
    found = m.inverse_kinematics(es.Target("tip", pose=T), report=True)
    assert_there(m, found, T, "tip")
    for joint in m.joints:
        if joint.nq != joint.nv:
            quaternions = found.q[:, m.coordinates[joint.name]][:, -4:]
            assert np.allclose(np.linalg.norm(quaternions, axis=1), 1.0, atol=1e-14)


def test_joints_off_the_way_stay_where_they_are(rng):
    m = random_tree(rng, ["revolute"] * 8)
    guess = random_coordinates(rng, m)
    frame = "tip"
    T = m.pose(guess + 0.05, frame)
    found = m.inverse_kinematics(es.Target(frame, pose=T), guess, report=True)
    idle = ~np.abs(m.jacobian(guess, frame)).any(axis=0)
    assert idle.any()
    assert np.array_equal(found.q[idle], guess[idle])
    away = es.Target(frame, pose=m.pose(random_coordinates(rng, m), frame))
    far = m.inverse_kinematics(away, guess, report=True)
    assert np.array_equal(far.q[idle], guess[idle])


def test_a_batch_equals_its_single_calls():
    m = es.load("puma560")
    T = m.pose(random_postures(m, 40)).reshape(5, 8, 4, 4)
    guess = random_postures(m, 8, seed=1)
    for options in (
        {},
        {"guess": guess},
        {"limits": False},
        {"solutions": 3},
    ):  # many of them after restarts
        batch = m.inverse_kinematics(T, report=True, **options)
        assert batch.q.shape == ((5, 8, 3, 6) if "solutions" in options else (5, 8, 6))
        for i, j in np.ndindex(5, 8):
            own = {**options, "guess": guess[j]} if "guess" in options else options
            alone = m.inverse_kinematics(T[i, j], report=True, **own)
            assert np.allclose(alone.q, batch.q[i, j], rtol=0, atol=1e-9)


def test_an_empty_batch():
    m = es.load("puma560")
    found = m.inverse_kinematics(np.empty((0, 4, 4)), report=True)
    assert found.q.shape == (0, 6)
    assert found.converged.shape == (0,)


def test_a_target_half_a_turn_away_is_no_stall(rng):
    """vect(P R^T) vanishes there, and the equations of the thesis with it."""
    m = random_tree(rng, ["spherical"], branched=False)
    here = m.pose(m.neutral(), "tip")
    for axis in np.eye(3):
        T = here.copy()
        T[:3, :3] = rotation_about(axis, np.pi) @ here[:3, :3]
        T[:3, 3] = m.pose(m.neutral(), "body0")[:3, 3] + rotation_about(axis, np.pi) @ (
            here[:3, 3] - m.pose(m.neutral(), "body0")[:3, 3]
        )
        target = es.Target("tip", pose=T)
        found = m.inverse_kinematics(target, m.neutral(), restarts=0, report=True)
        assert_there(m, found, T, "tip")


def test_all_eight_postures_of_a_puma():
    m = es.load("puma560")
    T = m.pose([0.1, 0.5, -2.0, 0.3, 0.4, 0.5])
    found = m.inverse_kinematics(T, solutions=10, limits=False, report=True)
    assert found.converged.tolist() == [True] * 8 + [False] * 2
    q = found.q[:8]
    assert np.abs(m.pose(q) - T).max() < 1e-10
    apart = np.abs(np.angle(np.exp(1j * (q[:, None] - q[None])))).max(axis=-1)
    assert apart[~np.eye(8, dtype=bool)].min() > 1e-2
    assert np.isfinite(found.q).all()
    within = m.inverse_kinematics(T, solutions=8, report=True)
    lower, upper = limits_of(m)
    assert 1 <= within.converged.sum() < 8
    assert ((within.q >= lower) & (within.q <= upper)).all()


def test_the_solution_nearest_to_the_guess_comes_first():
    m = es.load("puma560")
    q = np.array([0.1, 0.5, -2.0, 0.3, 0.4, 0.5])
    found = m.inverse_kinematics(m.pose(q), q + 1e-3, solutions=4, limits=False, report=True)
    assert np.allclose(found.q[0], q, atol=1e-9)
    assert found.q.shape == (4, 6)


def test_angles_are_told_next_to_the_guess():
    m = es.load("ur5e_like")
    q = np.array([3.5, -1.0, 1.2, -4.0, 1.5, 6.0])
    assert np.allclose(m.inverse_kinematics(m.pose(q), q + 0.02), q, atol=1e-9)


def test_limits_bind_and_can_be_left_aside():
    m = (
        es.Builder("door")
        .body("leaf")
        .joint("hinge", "revolute", "ground", "leaf", limits=(0.0, 1.0))
    )
    m = m.frame("tip", "leaf", (1, 0, 0)).build()
    T = m.pose([-0.5])
    assert np.allclose(m.inverse_kinematics(T, limits=False), [-0.5])
    with pytest.raises(
        InverseKinematicsError, match=r"within its limits.*misses it by 0\.495 m and 0\.5 rad"
    ):
        m.inverse_kinematics(T)
    assert m.inverse_kinematics(T, report=True).q == pytest.approx(0.0, abs=1e-9)
    turned = m.pose([0.7 + 2 * np.pi])
    assert np.allclose(m.inverse_kinematics(turned, [0.7 + 2 * np.pi]), [0.7])


def test_a_redundant_arm_stays_near_its_guess():
    m = es.load("panda_like")
    q = m.home()
    T = m.pose(q + 0.01)
    moved = m.inverse_kinematics(T, q) - q
    J = m.jacobian(q, axes="aligned")
    least = np.linalg.pinv(J) @ J @ np.full(7, 0.01)
    assert np.allclose(moved, least, atol=2e-3)


# -- what cannot be reached -------------------------------------------------------------------------------------------


def test_unreachable_poses_are_refused_with_the_best_residual():
    m = es.load("puma560")
    far = pose(p=(3.0, 0, 0))
    with pytest.raises(
        InverseKinematicsError,
        match=r"misses it by 2.* m and .* rad. Ask for less, give another guess",
    ):
        m.inverse_kinematics(far)
    T = np.array([m.pose(m.home()), far])
    found = m.inverse_kinematics(T, report=True)
    assert found.converged.tolist() == [True, False]
    assert np.isfinite(found.q).all()
    reached = m.pose(found.q[1])
    assert np.isclose(found.distance[1], np.linalg.norm(reached[:3, 3] - far[:3, 3]))
    with pytest.raises(InverseKinematicsError, match=r"target \(1,\)"):
        m.inverse_kinematics(T)


def test_the_best_posture_for_a_point_out_of_reach_points_to_it():
    m = es.load("elbow")
    found = m.inverse_kinematics(
        es.Target("tool", points=[[0, 0, 0]], places=[[6.0, 8.0, 0.0]]), report=True
    )
    assert np.isclose(found.distance, 8.0, atol=1e-8)
    assert np.allclose(
        m.pose(found.q, "tool")[:2, 3], [1.2, 1.6], atol=1e-3
    )  # the residual is flat there


def test_short_arms_end_at_the_least_squares():
    m = es.load("scara")
    tilted = m.pose(m.home()) @ pose(rotation_about([1, 0, 0], 0.2))
    found = m.inverse_kinematics(tilted, report=True, limits=False)
    assert not found.converged
    assert np.isclose(found.angle, 0.2, atol=1e-3)

    def missed(q):
        T = m.pose(q)
        angle = np.arccos((np.trace(T[:3, :3] @ tilted[:3, :3].T) - 1) / 2)
        distance = np.linalg.norm(T[:3, 3] - tilted[:3, 3]) / characteristic_length(m)
        return angle**2 + distance**2

    for step in 1e-3 * np.vstack([np.eye(m.nv), -np.eye(m.nv)]):
        assert missed(found.q + step) >= missed(found.q) - 1e-9


MISTAKES = [
    ({"target": np.eye(3)}, "4x4 matrix"),
    ({"target": 2 * np.eye(4)}, "row"),
    ({"target": np.eye(4), "guess": [0.0] * 5}, "5 values in its last axis"),
    ({"target": np.eye(4), "guess": [np.nan] * 6}, "not finite"),
    ({"target": es.Target("tol", pose=np.eye(4))}, "did you mean 'tool'"),
    ({"target": np.eye(4), "solutions": 0}, "at least 1"),
    ({"target": es.Target(axis={"w": [0, 0, 1]})}, "axis 'w' is not known"),
    ({"target": es.Target(points=[[0, 0, 0]])}, "give both"),
    ({"target": es.Target(points=[0, 0, 0], places=[[0, 0, 0]])}, r"are \(k, 3\) numbers"),
    (
        {"target": es.Target(points=[[0, 0, 0], [0, 0, 1]], places=[[0, 0, 0]])},
        "2 points of the frame need",
    ),
]


@pytest.mark.parametrize(("arguments", "sentence"), MISTAKES)
def test_mistakes_get_a_sentence(arguments, sentence):
    with pytest.raises(es.EslabonError, match=sentence):
        es.load("puma560").inverse_kinematics(**arguments)


@pytest.mark.parametrize("name", ["five_bar", "puma560"])
def test_frames_that_nothing_moves_are_refused(name):
    with pytest.raises(es.ModelError, match="no joint moves 'ground'"):
        es.load(name).inverse_kinematics(es.Target("ground", pose=np.eye(4)))


def test_poses_typed_with_a_few_digits_will_do():
    m = es.load("puma560")
    T = m.pose(m.home() + 0.1).round(7)
    found = m.inverse_kinematics(T, report=True)
    assert np.abs(m.pose(found.q) - T).max() < 1e-6


# -- points and five axes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["puma560", "panda_like", "stanford_arm"])
def test_the_axis_of_a_tool(name):
    m = es.load(name)
    T = m.pose(random_postures(m, 200))
    target = es.Target(position=T[:, :3, 3], axis=T[:, :3, 2])
    found = m.inverse_kinematics(target, report=True)
    reached = m.pose(found.q)
    assert found.converged.all()
    assert np.allclose(reached[:, :3, 2:], T[:, :3, 2:], rtol=0, atol=1e-9)
    assert np.abs(reached[:, :3, 0] - T[:, :3, 0]).max() > 0.1


def test_positions_only():
    m = es.load("scara")
    tool = [[0.0, 0.0, 0.05]]
    places = m.pose(random_postures(m, 100))[:, :3, :] @ [0, 0, 0.05, 1]
    found = m.inverse_kinematics(es.Target(points=tool, places=places[:, None]), report=True)
    assert found.converged.all()
    assert np.allclose(m.pose(found.q)[:, :3, :] @ [0, 0, 0.05, 1], places, rtol=0, atol=1e-10)


def hexiflex():
    """The 5R chain of Rojas, 3.5, with the twists that the notes infer."""
    return es.from_dh(
        [(0, 0, 1, a) for a in (-90, 90, -90, 90, -90)], degrees=True, name="hexiflex"
    )


def hexiflex_line(beta):
    return np.array([[-(1 + np.cos(beta)), 0, -np.sin(beta)], [-1.0, 0, 0]])


def hexiflex_angles(beta):
    alpha = np.arccos(1 / (1 + np.cos(beta)) - 1)
    return np.array([alpha, beta, alpha, beta, alpha])


@pytest.mark.parametrize("degrees", [20, 60, 95, 115])
def test_the_hexiflex_as_a_five_axis_problem(degrees):
    m, beta = hexiflex(), np.radians(degrees)
    expected = hexiflex_angles(beta)
    tool = [[-1, 0, 0], [0, 0, 0]]  # P and P', the ends of the last link
    line = es.Target(points=tool, places=hexiflex_line(beta))
    q = m.inverse_kinematics(line, expected + 0.1)
    assert np.allclose(q, expected, atol=1e-10)
    assert np.isclose((1 + np.cos(q[0])) * (1 + np.cos(q[1])), 1.0)
    fixed = hexiflex_line(beta)[1]
    stretched = fixed + 1.001 * (hexiflex_line(beta) - fixed)
    with pytest.raises(es.InputError, match=r"1\.001 m apart, and the points of the body 1 m"):
        m.inverse_kinematics(es.Target(points=tool, places=stretched))


# -- rates and accelerations ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["puma560", "ur5e_like", "stanford_arm", "scara"])
def test_rates_and_accelerations_undo_the_forward_ones(name, rng):
    m = es.load(name)
    q = random_postures(m, 200, seed=3)
    q = q[condition(m, q) < 200]
    v, a = rng.normal(size=(2, len(q), m.nv))
    V, A = m.velocity(q, v, axes="aligned"), m.acceleration(q, v, a, axes="aligned")
    made = m.complete(es.Target(pose=m.pose(q)), V, A, q, report=True)
    assert np.allclose(made.q, q, atol=1e-9)
    assert np.allclose(made.v, v, atol=1e-7)
    assert np.allclose(made.a, a, atol=1e-5)
    assert np.allclose(m.velocity(made.q, made.v, axes="aligned"), V, atol=1e-9)
    assert np.allclose(m.acceleration(made.q, made.v, made.a, axes="aligned"), A, atol=1e-8)


@pytest.mark.parametrize("seed", range(1, 12, 2))
def test_rates_of_trees_of_every_joint_kind(seed):
    """Of the mechanisms above that have every kind, whose poses are compiled."""
    rng = seeded(seed)
    m = random_tree(rng, list(rng.permutation(list(KINDS))), branched=bool(seed % 3))
    q, v, a = random_coordinates(rng, m), *rng.normal(size=(2, m.nv))
    T, V, A = (
        m.pose(q, "tip"),
        m.velocity(q, v, "tip", "aligned"),
        m.acceleration(q, v, a, "tip", "aligned"),
    )
    made = m.complete(es.Target("tip", pose=T), V, A, q, report=True)
    assert np.allclose(m.velocity(made.q, made.v, "tip", "aligned"), V, atol=1e-9)
    assert np.allclose(m.acceleration(made.q, made.v, made.a, "tip", "aligned"), A, atol=1e-9)
    assert np.linalg.norm(made.v) <= np.linalg.norm(v) + 1e-9


def test_the_rates_of_a_five_axis_tool(rng):
    m = hexiflex()
    beta = np.radians(70)
    q = hexiflex_angles(beta)
    v, a = rng.normal(size=(2, 5))
    points = np.array([[-1.0, 0, 0], [0, 0, 0]])
    T, V = m.pose(q), m.velocity(q, v, axes="aligned")
    A, arms = m.acceleration(q, v, a, axes="aligned"), points @ T[:3, :3].T
    around = np.cross(V[:3], arms)
    velocity, acceleration = (
        V[3:] + around,
        A[3:] + np.cross(A[:3], arms) + np.cross(V[:3], around),
    )
    target = es.Target(points=points, places=T[:3, 3] + arms)
    _, made_v, made_a = m.complete(target, velocity.ravel(), acceleration.ravel(), q)
    assert np.allclose(made_v, v, atol=1e-9)
    assert np.allclose(made_a, a, atol=1e-8)


def seven_revolutes():
    """The six moving links of Rojas' 7R loop as an arm."""
    return es.from_dh([(0, 0, 1, a) for a in (90, 0, 90, 90, 0, 90)], degrees=True, name="seven")


def symmetric_branch(first, rate, change):
    """theta1 = theta7, theta2 = -theta3 = theta5 = -theta6, theta4 = 2 theta1, (2 + cos theta2) cos theta1 = -1.5."""
    c, s = np.cos(first), np.sin(first)
    cosine = -1.5 / c - 2
    second = np.arccos(cosine)
    d = (
        1.5 * s / c**2 / np.sin(second)
    )  # d theta2 / d theta1, from -sin(theta2) theta2' = -1.5 sin/cos^2
    dd = (1.5 * (1 / c + 2 * s**2 / c**3) - cosine * d**2) / np.sin(second)
    pattern = np.array([[1, 0], [0, 1], [0, -1], [2, 0], [0, 1], [0, -1]])
    return (
        pattern @ [first, second],
        pattern @ [rate, d * rate],
        pattern @ [change, d * change + dd * rate**2],
    )


@pytest.mark.parametrize("degrees", [125, 135, 150, 170])
def test_the_closed_form_of_the_7r_loop(degrees):
    m, last, rate, change = seven_revolutes(), np.radians(degrees), 0.8, -0.3
    q, v, a = symmetric_branch(last, rate, change)
    T = pose(rotation_z(-last), (-3, 0, 0))
    twist, acceleration = [0, 0, -rate, 0, 0, 0], [0, 0, -change, 0, 0, 0]
    made = m.complete(es.Target(pose=T), twist, acceleration, q + 0.02)
    for found, expected in zip(made, (q, v, a), strict=True):
        assert np.allclose(found, expected, rtol=0, atol=1e-10)


# -- the method of the thesis -----------------------------------------------------------------------------------------


def test_newton_gauss_needs_few_steps_near_the_solution():
    """At home the tool is turned by 180 degrees, where the equations are spuriously singular (Rojas, 3.4)."""
    m = es.load("ur5e_like")
    q = np.array([0.1, -1.0, 1.2, -0.9, 0.7, 0.3])
    near = m.newton_gauss(m.pose(q), q + 0.03, iterations=5)
    assert np.abs(near.q[-1] - q).max() < 1e-10


def test_a_well_conditioned_posture():
    m = es.load("puma560")
    q = m.well_conditioned()
    lower, upper = limits_of(m)
    assert ((q >= lower) & (q <= upper)).all()
    assert condition(m, q) <= condition(m, random_postures(m, 200)).min()
    turned = q + np.array([0.7, 0, 0, 0, 0, -0.4])
    assert np.isclose(
        condition(m, turned), condition(m, q)
    )  # the first and last joint do not matter


# -- paths ------------------------------------------------------------------------------------------------------------


class Turn:
    """A frame that turns evenly in place, about an axis of the ground."""

    duration = 1.0

    def __init__(self, start, axis, angle):
        self.start, self.axis, self.angle = start, np.array(axis, dtype=float), angle

    def pose(self, t):
        T = self.start.copy()
        T[:3, :3] = rotation_about(self.axis, self.angle * t) @ T[:3, :3]
        return T

    def twist(self, t):
        return np.r_[self.angle * self.axis, 0, 0, 0]

    def acceleration(self, t):
        return np.zeros(6)


def test_following_a_line():
    m = es.load("puma560")
    start = m.pose(m.home())
    path = paths.along(
        paths.line(start[:3, 3], start[:3, 3] + [-0.2, 0.3, 0.1]),
        paths.cycloidal(2.0),
        start[:3, :3],
    )
    motion = m.follow(path, guess=m.home())
    assert motion.q.shape == motion.v.shape == motion.a.shape == (101, 6)
    assert motion.residual.max() < 1e-10
    assert np.allclose(motion.q[0], m.home(), atol=1e-9)
    velocity, acceleration = (
        np.array([f(t) for t in motion.t]) for f in (path.twist, path.acceleration)
    )
    assert np.allclose(m.velocity(motion.q, motion.v, axes="aligned"), velocity, atol=1e-10)
    assert np.allclose(
        m.acceleration(motion.q, motion.v, motion.a, axes="aligned"), acceleration, atol=1e-9
    )
    slope = np.gradient(motion.q, motion.t, axis=0, edge_order=2)
    assert np.allclose(slope, motion.v, atol=5e-3)


@pytest.mark.parametrize("angle", [np.pi, -np.pi])
def test_turning_through_the_spurious_angles(angle):
    """1 tr R - R is singular where R is a quarter or half a turn, as everywhere on this path; the arm is not."""
    m = es.load("panda_like")
    downwards = pose(rotation_about([1, 0, 0], np.pi), (0.45, 0, 0.4))
    path = Turn(downwards, [0, 0, 1], angle)
    motion = m.follow(
        path, times=np.linspace(0, 1, 46), guess=m.home(), limits=False, singular="error"
    )
    assert motion.residual.max() < 1e-10
    assert np.abs(np.diff(motion.q, axis=0)).max() < 0.5


def test_a_path_through_right_angles_of_a_spherical_wrist(rng):
    m = random_tree(rng, ["spherical", "prismatic", "prismatic", "prismatic"], branched=False)
    start = m.pose(m.neutral(), "tip")
    motion = m.follow(
        Turn(start, [0, 1, 0], 2 * np.pi),
        guess=m.neutral(),
        frame="tip",
        times=np.linspace(0, 1, 37),
    )
    assert motion.residual.max() < 1e-10


def test_without_a_guess_a_path_starts_from_the_best_conditioned_posture():
    m = es.load("puma560")
    start = m.pose([0.1, 0.5, -2.0, 0.3, 0.6, 0.5])
    path = Turn(start, [0, 0, 1], 0.1)
    motion = m.follow(path, times=[0, 0.5, 1.0], limits=False)
    all_of_them = m.inverse_kinematics(start, solutions=8, limits=False)
    assert np.isclose(motion.condition[0], condition(m, all_of_them).min(), rtol=1e-6)


def test_without_a_guess_a_posture_is_taken_that_leads_to_the_end():
    """Of the starts of this line the best conditioned runs into a limit."""
    m = es.load("puma560")
    start = m.pose(m.home())
    path = paths.along(
        paths.line(start[:3, 3], start[:3, 3] + [-0.2, 0.3, 0.1]),
        paths.cycloidal(2.0),
        start[:3, :3],
    )
    motion = m.follow(path, times=np.linspace(0, 2, 21))
    found = m.inverse_kinematics(start, solutions=8)
    found = found[np.isfinite(found).all(axis=1)]
    assert motion.residual.max() < 1e-10
    assert motion.condition[0] > condition(m, found).min() + 1e-6


STRAIGHT_WRIST = np.array(
    [0.2, 0.6, -2.2, 0.0, 0.0, 0.3]
)  # of a puma: its joints 4 and 6 are in line


def test_singular_postures_are_told():
    m = es.load("puma560")
    q, T = STRAIGHT_WRIST, m.pose(STRAIGHT_WRIST)
    V = np.array([0.3, 0.2, 0.1, 0.1, 0.2, 0.3])
    target = es.Target(pose=T)
    made = m.complete(target, V, np.zeros(6), q, report=True)
    assert np.abs(made.v).max() < 10
    assert made.condition > 1e6
    assert made.slip > 1e-3
    with pytest.raises(es.SingularityError):
        m.complete(target, V, np.zeros(6), q)
    with pytest.raises(es.EslabonError, match="did you mean 'warn'"):
        m.complete(target, V, np.zeros(6), q, singular="warm")
    with pytest.warns(SingularityWarning, match="puma560 is at a singular configuration"):
        m.complete(target, np.zeros(6), np.zeros(6), q, singular="warn")


def test_a_path_leads_through_an_intrinsic_singularity_and_says_so():
    m = es.load("puma560")
    bend = np.array([0, 0, 0, 0, 0.4, 0])
    axis = m.jacobian(STRAIGHT_WRIST, axes="aligned")[:3, 4]
    path = Turn(m.pose(STRAIGHT_WRIST - bend), axis, 0.8)
    with pytest.warns(SingularityWarning, match=r"at about t = 0\.5 s"):
        motion = m.follow(path, guess=STRAIGHT_WRIST - bend, times=np.linspace(0, 1, 21))
    assert motion.residual.max() < 1e-10
    assert np.abs(motion.v).max() < 10
    assert np.allclose(m.pose(motion.q[-1]), m.pose(STRAIGHT_WRIST + bend), atol=1e-9)


def test_a_path_out_of_reach_is_refused_where_it_ends():
    m = es.load("puma560")
    start = m.pose(m.home())
    path = paths.along(
        paths.line(start[:3, 3], start[:3, 3] + [1.0, 0, 0]), paths.cycloidal(1.0), start[:3, :3]
    )
    with pytest.raises(InverseKinematicsError, match=r"cannot follow the path: .* between t = 0\."):
        m.follow(path, guess=m.home(), limits=False)
    motion = m.follow(path, guess=m.home(), limits=False, report=True)
    assert motion.distance[0] < 1e-10
    assert motion.distance[-1] > 0.1
    with pytest.raises(InverseKinematicsError, match="increasing"):
        m.follow(path, guess=m.home(), times=[0.0, 0.0])


@pytest.mark.parametrize("part", ["position", "orientation", "pose"])
@pytest.mark.parametrize("name", ["rojas_7r_loop", "bennett", "spatial_four_bar"])
def test_a_path_out_of_what_loops_allow_ends_in_a_message(name, part):
    """Where the loops hold the frame back, the rates of minimum norm jump from side to side; the run once crawled
    there and never returned."""
    m = es.load(name)
    frame, q = m.bodies[-2].name, m.project(m.home())
    pose = m.pose(q, frame)
    line = es.paths.line(pose[:3, 3], pose[:3, 3] + [0.01, 0.02, 0.03])
    turned = pose[:3, :3] @ np.array(es.algebra.rotation_about([1, 2, 3], 0.1))
    path = es.paths.along(line, es.paths.cycloidal(0.5), [pose[:3, :3], turned])
    with pytest.raises(InverseKinematicsError, match="cannot follow the path"):
        m.follow(path, q, frame=frame, part=part, times=np.linspace(0, 0.5, 4))
    missed = m.follow(path, q, frame=frame, part=part, times=np.linspace(0, 0.5, 4), report=True)
    assert np.isfinite(missed.q).all()
    assert max(missed.group("distance").max(), missed.group("angle").max()) > 1e-6
