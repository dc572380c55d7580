"""The plain iteration: true condition numbers, true single precision, and lanes that do not depend on one another."""

import numpy as np
import pytest

import eslabon as es
from eslabon.solve.newton_gauss import Arm


def test_a_redundant_arm_has_the_condition_of_its_task():
    m = es.load("panda_like")
    q = m.home() + 0.2 * np.sin(np.arange(7))  # at home the hand is half a turn away
    found = m.newton_gauss(m.pose(q), q, iterations=0)
    assert 1 < found.condition[0] < 20
    near = m.newton_gauss(m.pose(q), q + 0.05, dtype=np.float32, tolerance=1e-6)
    assert near.residual[-1] < 1e-6
    exact = m.newton_gauss(m.pose(q), q + 0.05)
    assert exact.residual[-1] < 1e-12


def test_a_planar_arm_is_judged_by_what_it_can_do():
    arm = es.from_dh([(0, 0, 1, 0)] * 4, name="planar")
    q = np.array([0.3, 0.4, 0.5, 0.6])
    found = arm.newton_gauss(arm.pose(q), q + 0.01)
    assert found.residual[-1] < 1e-12
    assert found.condition[-1] < 100
    assert "inf" not in repr(arm.newton_gauss(arm.pose(np.zeros(4)), np.zeros(4), iterations=0))


def test_single_precision_goes_down_to_the_sines():
    m, q = es.load("puma560"), np.array([0.3, 0.7, -2.6, 0.2, 0.8, 0.1])
    arm = Arm.of(m, None, np.dtype(np.float32))
    pose, J = arm.pose(q[None].astype(np.float32)), arm.jacobian(q[None].astype(np.float32))
    assert pose.dtype == J.dtype == np.float32
    error = np.abs(pose[0] - m.pose(q.astype(np.float32).astype(float))).max()
    assert 1e-9 < error < 1e-6  # the round-off of single precision, and not of double
    np.testing.assert_allclose(J[0], m.jacobian(q, axes="aligned"), atol=1e-6)


@pytest.mark.parametrize("dtype", [float, np.float32])
def test_a_batch_is_its_single_calls(dtype, rng):
    m, q = es.load("puma560"), np.array([0.3, 0.7, -2.6, 0.2, 0.8, 0.1])
    many = q + 0.1 * rng.normal(size=(5, 6))
    starts = many + rng.choice([1e-4, 0.05], size=(5, 1))  # some arrive sooner
    given = {"dtype": dtype, "tolerance": 1e-6, "twist": rng.normal(size=6)}
    batch = m.newton_gauss(m.pose(many), starts, **given)
    for k in range(5):
        one = m.newton_gauss(m.pose(many[k]), starts[k], **given)
        np.testing.assert_array_equal(one.q[-1], batch.q[-1, k])
        np.testing.assert_array_equal(one.v, batch.v[k])
