"""The geometry of coordinates: adding a velocity and taking a difference undo each other, for every kind and every model."""

import casadi
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eslabon as es
from eslabon.model import KINDS, configuration
from eslabon.model.parsing import joint_kind
from eslabon.numerics.rigid_motions import hat
from random_mechanisms import random_kind, random_tree
from randomness import examples, seeded, seeds

kinds = st.sampled_from(list(KINDS))
TURN = 2 * np.pi


def a_joint(kind, seed):
    """A joint of a kind, two configurations of it and a velocity that stays within half a turn."""
    rng = seeded(seed)
    arguments = random_kind(rng, kind)
    joint = joint_kind(kind, arguments.get("axis"), arguments.get("pitch"), "joint")
    q0, q1 = (joint.normalize(rng.normal(size=joint.nq) * 2) for _ in range(2))
    v = rng.normal(size=joint.nv)
    return joint, q0, q1, v * min(1.0, 3.1 / max(1e-9, float(np.linalg.norm(v))))


def a_tree(seed):
    rng = seeded(seed)
    m = random_tree(rng, list(rng.choice(list(KINDS), size=rng.integers(1, 6))))
    q0, q1 = (configuration.normalize(m, rng.normal(size=(2, m.nq))) for _ in range(2))
    return m, q0, q1, rng.uniform(-1, 1, size=(2, m.nv))


def same_pose(joint, first, second, atol=1e-12):
    (R, p), (Q, r) = joint.transform(first), joint.transform(second)
    return np.allclose(R, Q, atol=atol) and np.allclose(p, r, atol=atol)


@given(kinds, seeds)
def test_a_velocity_added_is_the_difference(kind, seed):
    joint, q0, _, v = a_joint(kind, seed)
    assert np.allclose(joint.difference(joint.integrate(q0, v), q0), v, atol=1e-12)


@given(kinds, seeds)
def test_the_difference_leads_from_one_configuration_to_the_other(kind, seed):
    joint, q0, q1, _ = a_joint(kind, seed)
    way = joint.difference(q1, q0)
    assert way.shape == (joint.nv,)
    assert same_pose(joint, joint.integrate(q0, way), q1)
    turned = [x for x, c in zip(way, joint.velocities, strict=True) if c.unit == "rad/s"]
    assert (
        kind == "helical" or np.abs(turned).max(initial=0.0) <= np.pi + 1e-15
    )  # a screw is where its turns took it


@given(kinds, seeds)
def test_equal_configurations_do_not_differ(kind, seed):
    joint, q0, q1, _ = a_joint(kind, seed)
    turned = q0 + TURN * np.array([c.periodic for c in joint.coordinates])
    opposite = np.where([c.unit == "" for c in joint.coordinates], -q0, q0)
    for other in (q0, turned, opposite):
        assert np.allclose(joint.difference(other, q0), 0, atol=1e-14)
        assert same_pose(joint, other, q0)
        assert np.allclose(joint.difference(q1, other), joint.difference(q1, q0), atol=1e-13)


@given(kinds, seeds)
def test_integrating_a_constant_velocity_follows_its_twist(kind, seed):
    """Where S is constant, half the way and half the way again is the whole way: the exponential map."""
    joint, q0, _, v = a_joint(kind, seed)
    halfway = joint.integrate(joint.integrate(q0, v / 2), v / 2)
    assert np.allclose(halfway, joint.integrate(q0, v), atol=1e-14)


@given(kinds, seeds)
def test_the_rate_of_integration_is_the_rate_of_the_coordinates(kind, seed):
    joint, q0, _, v0 = a_joint(kind, seed)
    q, v, t = casadi.SX.sym("q", joint.nq), casadi.SX.sym("v", joint.nv), casadi.SX.sym("t")
    ahead = casadi.SX(joint.integrate(q, v * t))
    rate = casadi.Function("rate", [q, v, t], [casadi.jacobian(ahead, t)])
    expected = joint.coordinate_rates(q0, v0)
    assert np.allclose(np.array(rate(q0, v0, 0)).ravel(), np.ravel(expected), atol=1e-14)


@given(kinds, seeds)
def test_normalizing_twice_changes_nothing_and_keeps_the_pose(kind, seed):
    joint, _, _, _ = a_joint(kind, seed)
    q = np.random.default_rng(seed).normal(size=(3, joint.nq))
    once = joint.normalize(q)
    assert np.allclose(joint.normalize(once), once, atol=1e-15)
    assert same_pose(joint, once, q)


@given(kinds, seeds)
def test_a_whole_turn_changes_nothing_exactly_where_it_is_said(kind, seed):
    joint, q, _, _ = a_joint(kind, seed)
    for k, coordinate in enumerate(joint.coordinates):
        turned = q + TURN * np.eye(joint.nq)[k]
        assert same_pose(joint, q, turned) == coordinate.periodic or coordinate.unit == ""


@given(kinds, seeds)
def test_units_are_those_of_the_motion_subspace(kind, seed):
    joint, q, _, _ = a_joint(kind, seed)
    S = joint.motion(q)
    assert [bool(S[:3, k].any()) for k in range(joint.nv)] == [
        c.unit == "rad/s" for c in joint.velocities
    ]
    if not joint.has_quaternion:
        assert [f"{c.unit}/s" for c in joint.coordinates] == [c.unit for c in joint.velocities]


@given(kinds, seeds)
def test_the_fixed_points_are_all_that_the_motion_leaves_in_place(kind, seed):
    joint, q, other, _ = a_joint(kind, seed)
    twists = [np.column_stack([hat(S[:3]), S[3:]]) for x in (q, other) for S in joint.motion(x).T]
    still = np.reshape(joint.fixed_points(), (-1, 4))
    assert np.allclose(still @ still.T, np.eye(len(still)), atol=1e-15)
    assert all(np.allclose(V @ still.T, 0, atol=1e-14) for V in twists)
    moved = np.linalg.matrix_rank(np.vstack(twists), tol=1e-9) if twists else 0
    assert len(still) == 4 - moved


@examples(40)
@given(seeds)
def test_a_model_is_its_joints(seed):
    m, q0, q1, v = a_tree(seed)
    ahead, way = configuration.integrate(m, q0, v), configuration.difference(m, q1, q0)
    N, rates = configuration.coordinate_rates(m, q0), configuration.coordinate_velocities(m, q0, v)
    assert N.shape == (2, m.nq, m.nv)
    for j in m.joints:
        at, by = m.coordinates[j.name], m.velocities[j.name]
        assert np.array_equal(ahead[:, at], j.kind.integrate(q0[:, at], v[:, by]))
        assert np.array_equal(way[:, by], j.kind.difference(q1[:, at], q0[:, at]))
    assert np.allclose(rates, (N @ v[..., None])[..., 0], atol=1e-15)
    assert np.allclose(configuration.difference(m, ahead, q0), v, atol=1e-12)


@examples(40)
@given(seeds)
def test_symbols_and_single_rows_are_the_batch(seed):
    m, q0, q1, v = a_tree(seed)

    def everything(q, r, v):
        return (
            configuration.integrate(m, q, v),
            configuration.difference(m, r, q),
            configuration.normalize(m, 2 * q),
            configuration.coordinate_velocities(m, q, v),
            configuration.coordinate_rates(m, q),
        )

    q, r, u = casadi.SX.sym("q", m.nq), casadi.SX.sym("r", m.nq), casadi.SX.sym("v", m.nv)
    traced = casadi.Function("f", [q, r, u], [casadi.SX(x) for x in everything(q, r, u)])
    batch = everything(q0, q1, v)
    for k in range(2):
        for one, symbol, many in zip(
            everything(q0[k], q1[k], v[k]), traced(q0[k], q1[k], v[k]), batch, strict=True
        ):
            assert np.array_equal(one, many[k])
            assert np.allclose(np.array(symbol).reshape(one.shape), one, atol=1e-13)


@pytest.mark.parametrize("kind", ["spherical", "free"])
def test_a_quaternion_of_length_zero_is_refused_and_what_broke_down_stays_broken(kind):
    joint = KINDS[kind]()
    with pytest.raises(es.EslabonError, match="length zero"):
        joint.normalize(np.zeros(joint.nq))
    assert np.isnan(joint.normalize(np.full(joint.nq, np.nan))).all()


def test_names_units_and_limits_stand_in_the_order_of_the_coordinates():
    b = es.Builder("all")
    for name in KINDS:
        b.body(name)
        extra = {"pitch": 0.1} if name == "helical" else {}
        b.joint(f"j_{name}", name, "ground", name, **extra)
    b.body("tip").joint("last", "prismatic", "fixed", "tip", limits=(-1, 2))
    m = b.build()
    lower, upper = configuration.limits(m)
    assert lower.shape == upper.shape == (m.nq,)
    assert (lower[-1], upper[-1], lower[0], upper[0]) == (-1, 2, -np.inf, np.inf)
    names, units = configuration.coordinate_names(m), configuration.coordinate_units(m)
    assert len(set(names)) == len(units) == m.nq
    assert len(set(configuration.velocity_names(m))) == len(configuration.velocity_units(m)) == m.nv
    assert [n for n, x in zip(names, configuration.lengths(m), strict=True) if x] == [
        "j_prismatic", "j_cylindrical.slide", "j_planar.x", "j_planar.y", "j_free.px", "j_free.py", "j_free.pz", "last",
    ]  # fmt: skip
    assert [n for n, x in zip(names, configuration.periodic(m), strict=True) if x] == [
        "j_revolute", "j_cylindrical.angle", "j_universal.first", "j_universal.second", "j_planar.angle",
    ]  # fmt: skip
    assert (configuration.angles(m) & ~configuration.periodic(m)).sum() == 1  # the screw


def test_a_model_of_fixed_joints_has_an_empty_configuration():
    m = (
        es.Builder("rock")
        .body("a", 1.0)
        .body("b")
        .joint("j", "fixed", "ground", "a")
        .joint("k", "fixed", "a", "b")
        .build()
    )
    for q in (
        m.home(),
        m.neutral(),
        configuration.normalize(m, m.home()),
        *configuration.limits(m),
    ):
        assert (q.shape, q.dtype) == ((0,), np.dtype(float))
    assert configuration.integrate(m, m.home(), np.zeros(0)).shape == (0,)
    assert configuration.difference(m, np.zeros((5, 0)), m.home()).shape == (5, 0)
    assert configuration.coordinate_rates(m, m.home()).shape == (0, 0)
    assert (m.nq, m.nv, m.nu, m.actuated) == (0, 0, 0, ())


@given(seeds)
def test_columns_are_picked_by_name(seed):
    """Names put together again are the arrays they were taken from, whatever is actuated."""
    m, q, _, v = a_tree(seed)
    rng = np.random.default_rng(seed)
    moving = [j.name for j in m.joints if j.nv]
    m = m.with_actuated([name for name in moving if rng.random() < 0.5])
    tau = v[..., list(m.actuated_velocities)]
    for x, joints in ((q, moving), (v, moving), (tau, m.actuated)):
        parts = m.named(x)
        assert list(parts) == list(joints)
        again = [part if part.ndim > 1 else part[..., None] for part in parts.values()]
        np.testing.assert_array_equal(np.concatenate(again, axis=-1) if again else x[..., :0], x)
    for name in moving:
        np.testing.assert_array_equal(q[..., m.index(name)], m.named(q)[name])
        np.testing.assert_array_equal(v[..., m.velocity_index(name)], m.named(v)[name])
    if m.actuated:
        assert np.atleast_1d(m.index(*m.actuated)).tolist() == list(m.actuated_coordinates)
    with pytest.raises(es.InputError, match="is none of these"):
        m.named(np.zeros(m.nq + 1))
