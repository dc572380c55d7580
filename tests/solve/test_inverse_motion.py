"""Rates and accelerations for a frame's motion, with loops and without; the plain iteration; well-conditioned starts."""

import numpy as np
import pytest

import eslabon as es
from eslabon.numerics import pose as pose_of
from eslabon.numerics import rotation_about
from random_mechanisms import random_tree
from randomness import seeded


def frame_motion(m, q, v, a, frame=None):
    return (
        m.pose(q, frame),
        m.velocity(q, v, frame, axes="aligned"),
        m.acceleration(q, v, a, frame, axes="aligned"),
    )


@pytest.mark.parametrize("name", ["planar_3rrr", "delta", "stewart_gough"])
def test_a_parallel_robot_moves_its_platform_as_asked(name, rng):
    m = es.load(name)
    frame, q = m.frames[0].name, np.tile(m.project(m.home()), (2, 3, 1))
    q, v, a = m.project(q, rng.normal(size=(2, 3, m.nv)), rng.normal(size=(2, 3, m.nv)))
    wanted = frame_motion(m, q, v, a, frame)
    target = es.Target(frame, pose=wanted[0])
    found = m.complete(target, *wanted[1:], q, report=True)
    for made, asked in zip(frame_motion(m, found.q, found.v, found.a, frame), wanted, strict=True):
        assert np.allclose(made, asked, atol=1e-7 * max(1, np.abs(asked).max()))
    assert found.slip.shape == (2, 3)
    assert found.slip.max() < 1e-9
    # and keeps the loops closed, whatever is asked: m.inverse_dynamics checks position, velocity and acceleration
    m.hybrid_dynamics(found.q, found.v, found.a)
    J = m.constraint_jacobian(found.q)
    asked = rng.normal(size=(2, 3, 6))
    free = m.complete(target, asked, asked, q, report=True)
    assert np.abs(np.einsum("...ij,...j->...i", J, free.v)).max() < 1e-9 * np.abs(free.v).max()
    assert m.project(free.q, free.v, free.a)[2] == pytest.approx(free.a, rel=1e-7, abs=1e-7)


def test_a_tree_moves_its_frame_as_asked():
    m = es.load("puma560")
    q, v, a = np.array([0.1, 0.7, -2.4, 0.2, 0.9, 0.3]), np.full(6, 0.4), np.full(6, -0.3)
    pose, twist, change = frame_motion(m, q, v, a)
    target = es.Target(pose=pose)
    found = m.complete(target, twist, change, q + 0.01, report=True)
    assert np.allclose(found.v, v)
    assert np.allclose(found.a, a)
    for mine, other in zip(found.q, m.complete(target, twist, change, q + 0.01)[0], strict=True):
        assert mine == other
    for call, sentence in [
        (lambda: m.complete(target, v, a, gues=q), "no option 'gues'"),
        (lambda: m.complete(target, v[:5], a), "velocity has 6 numbers"),
    ]:
        with pytest.raises(es.EslabonError, match=sentence):
            call()


# -- the plain iteration ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("equations", ["invariants", "vector"])
@pytest.mark.parametrize("seed", range(3))
def test_the_iteration_converges_quadratically_and_gives_the_rates(equations, seed):
    rng = seeded(seed)
    m = random_tree(
        rng,
        ["revolute", "prismatic", "revolute", "helical", "revolute", "revolute"],
        branched=False,
    )
    q = rng.uniform(-1, 1, (4, 6))
    q = q[m.conditions(q).serial > 0.01]
    assert len(q)
    v, a = rng.normal(size=(2, *q.shape))
    pose, twist, acceleration = frame_motion(m, q, v, a)
    found = m.newton_gauss(
        pose, q + 1e-3, twist=twist, acceleration=acceleration, equations=equations, tolerance=1e-13
    )
    assert found.q.shape[1:] == q.shape
    assert len(found.q) == len(found.residual) == len(found.condition)
    assert np.allclose(found.q[-1], q, atol=1e-8)
    assert np.allclose(found.v, v, atol=1e-6)
    assert np.allclose(found.a, a, atol=1e-5)
    if equations == "invariants":  # six equations may be next to a spurious singularity
        assert np.all(found.residual[2] < 1e3 * found.residual[1] ** 2 + 1e-12)


def test_the_row_of_the_trace_keeps_rank_at_a_right_angle():
    """1 tr R - R has rank two where R turns by a right angle; the seventh row makes up for it (Rojas, 3.4)."""
    m, q = es.load("puma560"), np.array([0.3, 0.7, -2.6, 0.2, 0.8, 0.1])
    last = m.bodies[-1].name
    R = m.pose(q, last)[:3, :3]
    for angle, spurious in ((0.5, False), (np.pi / 2, True)):
        at = pose_of(R.T @ rotation_about([1, 2, 2], angle), [0.0, 0.0, 0.0])
        arm = m.with_frame("hand", last, at)
        target = arm.pose(q, "hand")
        six, seven = (
            arm.newton_gauss(target, q, "hand", equations=e, iterations=0)
            for e in ("vector", "invariants")
        )
        assert (six.condition[0] > 1e10) == spurious
        assert seven.condition[0] < 1e3


def test_single_precision_leaves_single_digits():
    m, q = es.load("puma560"), np.array([0.3, 0.7, -2.6, 0.2, 0.8, 0.1])
    single = m.newton_gauss(m.pose(q), q + 0.01, dtype=np.float32, iterations=6)
    assert 1e-9 < np.abs(single.q[-1] - q).max() < 1e-4
    assert len(single.q) == 7
    for call, sentence in [
        (
            lambda: m.newton_gauss(m.pose(q), q, equations="quaternion"),
            "equations is 'invariants' or 'vector'",
        ),
        (lambda: m.newton_gauss(m.pose(q), q, dtype=int), "dtype is float"),
        (lambda: m.newton_gauss(m.pose(q), q, acceleration=np.zeros(6)), "give twist too"),
        (lambda: es.load("five_bar").newton_gauss(np.eye(4)), "has loops"),
    ]:
        with pytest.raises(es.EslabonError, match=sentence):
            call()


# -- where to start ---------------------------------------------------------------------------------------------------


def test_no_sample_is_better_conditioned():
    five = es.load("five_bar")
    q = five.well_conditioned()
    assert np.abs(five.constraint(q)).max() < 1e-9
    found, many = five.conditions(q), five.workspace(samples=500).conditions
    assert min(found.parallel, found.serial) >= np.minimum(many.parallel, many.serial).max() - 1e-9
    arm = es.load("scara")
    assert (
        arm.conditions(arm.well_conditioned()).serial
        > 0.99 * arm.workspace(samples=500).conditions.serial.max()
    )
    with pytest.raises(es.EslabonError, match="limits is True or False"):
        arm.well_conditioned(limits=3)
