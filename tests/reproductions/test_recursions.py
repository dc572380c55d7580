"""The compiled kinematics agrees with Rojas' two recursions and with Méndez' quaternion sums."""

import numpy as np
import pytest

import eslabon as es
from eslabon.reproductions.recursions import backward, by_quaternions, forward
from random_mechanisms import random_tree


def an_arm(seed, letters):
    rng = np.random.default_rng(seed)
    m = random_tree(rng, [{"R": "revolute", "P": "prismatic"}[x] for x in letters], branched=False)
    return m, *rng.normal(size=(3, m.nv))


@pytest.mark.parametrize("letters", ["R", "P", "RRR", "RPR", "PRRP", "RRRRRR", "RPRRPR"])
def test_forward_recursion(letters):
    m, q, v, a = an_arm(len(letters), letters)
    point, T = forward(m, q, v, a), m.pose(q)
    twist, rate = m.velocity(q, v, axes="aligned"), m.acceleration(q, v, a, axes="aligned")
    assert np.allclose(point.rotation, T[:3, :3], atol=1e-13)
    assert np.allclose(point.position, T[:3, 3], atol=1e-13)
    assert np.allclose([point.angular_velocity, point.velocity], twist.reshape(2, 3), atol=1e-13)
    assert np.allclose(
        [point.angular_acceleration, point.acceleration], rate.reshape(2, 3), atol=1e-12
    )


@pytest.mark.parametrize("letters", ["R", "P", "RRR", "RPR", "PRRP", "RRRRRR", "RPRRPR"])
def test_backward_recursion(letters):
    m, q, _, _ = an_arm(len(letters), letters)
    position, J, H = backward(m, q)
    assert np.allclose(position, m.pose(q)[:3, 3], atol=1e-13)
    assert np.allclose(J, m.jacobian(q, axes="aligned")[3:], atol=1e-13)
    assert np.allclose(H, m.position_hessian(q), atol=1e-12)
    assert np.allclose(H, np.swapaxes(H, 1, 2))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6])
def test_quaternion_sums(n):
    m, q, v, a = an_arm(n, "R" * n)
    quaternions, recursion = by_quaternions(m, q, v, a), forward(m, q, v, a)
    for name in (
        "rotation",
        "position",
        "angular_velocity",
        "velocity",
        "angular_acceleration",
        "acceleration",
    ):
        assert np.allclose(getattr(quaternions, name), getattr(recursion, name), atol=1e-12), name


def test_other_joints_are_refused():
    m = random_tree(np.random.default_rng(0), ["revolute", "spherical"], branched=False)
    with pytest.raises(es.ModelError, match="'joint1' is spherical"):
        forward(m, m.neutral(), np.zeros(4), np.zeros(4))
    m = random_tree(np.random.default_rng(0), ["revolute", "prismatic"], branched=False)
    with pytest.raises(es.ModelError, match="revolute joints only"):
        by_quaternions(m, *np.zeros((3, 2)))
