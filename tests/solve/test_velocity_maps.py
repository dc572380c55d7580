"""All velocities and twists from those of the actuated joints (Yime, eqs. 30-36 and 41-46)."""

from __future__ import annotations

import numpy as np
import pytest

import eslabon as es
from eslabon.model.configuration import difference
from scaling import scaled, scaled_coordinates, velocity_factors

CLOSED = ["five_bar", "planar_3rrr", "spatial_four_bar", "slider_crank", "delta", "stewart_gough",
    "sarrus", "bennett", "rojas_7r_loop", "andrews_squeezer"]  # fmt: skip


def states(m, rng, count=4):
    """Motor values beside home, their rates, and the whole motion that they make."""
    motors = [k for j in m.actuated for k in range(m.nq)[m.coordinates[j]]]
    qa = m.project(m.home())[motors] + rng.uniform(0.02, 0.05, size=(count, m.nu))
    va, aa = rng.normal(size=(2, count, m.nu))
    return va, aa, m.complete(qa, va, aa)


@pytest.fixture(scope="module", params=CLOSED)
def closed(request, library):
    m = library(request.param)
    if not m.nu:
        m = m.with_actuated([m.joints[0].name])
    return m, *states(m, np.random.default_rng(3))


def test_velocities_and_accelerations_are_those_of_complete(closed):
    m, va, aa, (q, v, a) = closed
    found = m.actuation_map(q, va)
    assert found.N.shape == (len(q), m.nv, m.nu)
    np.testing.assert_allclose(
        (found.N @ va[..., None])[..., 0], v, rtol=0, atol=1e-8 * abs(v).max()
    )
    made = (found.N @ aa[..., None])[..., 0] + found.rate
    np.testing.assert_allclose(made, a, rtol=0, atol=1e-7 * abs(a).max())


def test_the_map_keeps_the_loops_closed(closed):
    """J N = 0 and J a = gamma, in the rows of `constraint_jacobian`."""
    m, va, _, (q, _, a) = closed
    found, J = m.actuation_map(q, va), m.constraint_jacobian(q)
    assert abs(J @ found.N).max() < 1e-10 * abs(found.N).max()
    left = (J @ a[..., None])[..., 0] - found.gamma
    assert abs(left).max() < 1e-8 * max(1.0, abs(found.gamma).max())


def test_rho_are_the_rows_of_passive_joints(closed):
    m, va, _, (q, v, _) = closed
    found = m.actuation_map(q)
    passive = [found.velocities.index(name) for name in found.passive]
    assert set(found.passive) | set(found.actuated) == set(found.velocities)
    made = (found.rho @ va[..., None])[..., 0]
    np.testing.assert_allclose(made, v[:, passive], rtol=0, atol=1e-8 * abs(v).max())
    assert found.gamma is None
    assert found.rate is None


def test_links_move_with_their_jacobians(closed):
    m, va, _, (q, v, _) = closed
    for axes in ("body", "spatial", "aligned"):
        for body in (m.bodies[0].name, m.bodies[-1].name):
            made = (m.link_jacobian(q, body, axes) @ va[..., None])[..., 0]
            wanted = m.velocity(q, v, body, axes)
            np.testing.assert_allclose(made, wanted, rtol=0, atol=1e-8 * max(1, abs(wanted).max()))


@pytest.mark.parametrize("name", ["five_bar", "slider_crank", "spatial_four_bar", "delta"])
def test_the_map_is_the_derivative_of_the_assembly(name, library, rng):
    """By central differences of configurations, and the rate by those of N."""
    m, h = library(name), 1e-5
    motors = [k for j in m.actuated for k in range(m.nq)[m.coordinates[j]]]
    q0 = m.project(m.home())
    q0 = m.assemble(q0[motors] + 0.03, q0)
    va = rng.normal(size=m.nu)
    before, after = (m.assemble(q0[motors] + s * h * va, q0) for s in (-1, 1))
    found = m.actuation_map(q0, va)
    speed = difference(m, after, before) / (2 * h)
    np.testing.assert_allclose(found.N @ va, speed, rtol=0, atol=1e-7 * abs(speed).max())
    rate = (m.actuation_map(after).N - m.actuation_map(before).N) @ va / (2 * h)
    np.testing.assert_allclose(found.rate, rate, rtol=0, atol=1e-6 * max(1.0, abs(rate).max()))


def test_a_batch_is_its_single_calls(closed):
    m, va, _, (q, _, _) = closed
    found = m.actuation_map(q[:, None], va)  # every configuration with every velocity
    assert found.N.shape[:2] == found.rate.shape[:2] == (len(q), len(va))
    for i, k in ((0, 1), (3, 2)):
        one = m.actuation_map(q[i], va[k])
        assert np.array_equal(one.N, found.N[i, k])
        assert np.array_equal(one.rate, found.rate[i, k])
        assert np.array_equal(one.gamma, found.gamma[i, k])
        assert one.condition == found.condition[i, k]


@pytest.mark.parametrize("factor", [1e-7, 1e6])
@pytest.mark.parametrize("name", ["five_bar", "slider_crank", "stewart_gough"])
def test_the_map_does_not_depend_on_size(name, factor, library, rng):
    m = library(name)
    big, speeds = scaled(m, factor), velocity_factors(m, factor)
    va, _, (q, _, _) = states(m, rng, 2)
    Q = np.array([scaled_coordinates(m, x, factor) for x in q])
    motors = speeds[list(m.actuated_velocities)]
    one, other = m.actuation_map(q, va), big.actuation_map(Q, va * motors)
    np.testing.assert_allclose(other.N * motors / speeds[:, None], one.N, rtol=0, atol=1e-8)
    np.testing.assert_allclose(other.condition, one.condition, rtol=1e-9)
    np.testing.assert_allclose(
        other.rate / speeds, one.rate, rtol=0, atol=1e-7 * abs(one.rate).max()
    )


def test_trees_have_the_identity_for_their_motors():
    m = es.load("puma560")
    found = m.actuation_map(np.zeros(6), np.ones(6))
    assert np.array_equal(found.N, np.eye(6))
    assert not found.rate.any()
    assert found.gamma.shape == (0,)
    assert np.array_equal(m.link_jacobian(np.zeros(6), "link3"), m.jacobian(np.zeros(6), "link3"))
    cart = es.load("cart_pole")
    with pytest.raises(es.ModelError, match="not determine the motion of cart_pole: 1 degree"):
        cart.actuation_map(cart.home())
    free = cart.actuation_map(cart.home(), passive="minimum_norm")
    assert not free.rho.any()


def test_other_joints_may_be_given(library):
    m = library("planar_3rrr")
    q = m.project(m.home())
    own = m.actuation_map(q)
    others = ("theta1", "theta2", "theta3")
    found = m.actuation_map(q, joints=others)
    assert found.actuated == others
    rows = [found.velocities.index(name) for name in others]
    np.testing.assert_allclose(found.N @ own.N[rows], own.N, atol=1e-9)


def test_what_does_not_determine_the_motion_is_refused(library):
    m = library("planar_3rrr")
    q = m.project(m.home())
    with pytest.raises(
        es.ModelError, match=r"theta1, theta4 do not determine .*: 1 degree of freedom"
    ):
        m.actuation_map(q, joints=("theta1", "theta4"))
    four = ("theta1", "theta2", "theta4", "theta6")
    with pytest.raises(es.ModelError, match="cannot all be given: its loops leave 3 of these 4"):
        m.actuation_map(q, joints=four)
    with pytest.raises(es.AssemblyError, match="actuation_map: the configuration violates"):
        m.actuation_map(q + 0.01)
    with pytest.raises(es.InputError, match="va has 2 values"):
        m.actuation_map(q, [1.0, 2.0])
    with pytest.raises(es.ModelError, match="has no joint 'theta9'"):
        m.actuation_map(q, joints=("theta9",))


def test_a_spin_between_balls_moves_nothing_and_is_never_refused(library, rng):
    m = library("rssr")
    assert m.nu == 1
    q = m.project(m.home())
    found = m.actuation_map(q)
    J = m.constraint_jacobian(q)
    assert abs(J @ found.N).max() < 1e-9
    spin = np.linalg.svd(np.vstack([J, np.eye(m.nv)[list(m.actuated_velocities)]]))[2][-1]
    assert abs(spin @ found.N).max() < 1e-9  # the least motion has no part of the spin


def test_singular_configurations_are_said():
    """Both cranks of a parallelogram laid flat: the coupler may go either way."""
    m, q = es.load("parallelogram"), np.zeros(3)
    with pytest.raises(es.SingularityError, match="singular configuration for q1"):
        m.actuation_map(q)
    with pytest.warns(es.SingularityWarning, match="singular configuration"):
        found = m.actuation_map(q, singular="warn")
    assert found.condition < 1e-6
    assert np.isfinite(m.actuation_map(q, singular="ignore").N).all()


def test_the_answer_shows_itself(library):
    m = library("five_bar")
    found = m.actuation_map(m.assemble([2.0, 1.0]))
    assert "by theta2" in str(found)
    assert "theta3" in found._repr_html_()
    assert "2 configurations" in str(m.actuation_map(m.assemble([[2.0, 1.0], [2.1, 1.0]])))
    assert "N (4, 2)" in repr(found)
