"""Dynamics of trees: formulations agree with one another, with Pinocchio and MuJoCo, and with the laws of mechanics."""

import mujoco
import numpy as np
import pytest

import eslabon as es
from eslabon.model import KINDS
from oracles import Oracle, mujoco_model, pin
from random_mechanisms import random_builder, random_coordinates, random_tree

ALL = ["newton_euler", "lagrange", "lie", "gibbs_appell"]
SERIAL = [*ALL, "quaternion"]


def close(got, want, rtol=1e-10):
    got, want = np.asarray(got), np.asarray(want)
    assert np.abs(got - want).max(initial=0.0) <= rtol * max(1.0, np.abs(want).max(initial=0.0))


def a_tree(seed, kinds=None, branched=True):
    rng = np.random.default_rng(seed)
    m = random_tree(rng, kinds, branched)
    return m, random_coordinates(rng, m), *rng.normal(size=(2, m.nv)), rng


def kinds_of(seed):
    rng = np.random.default_rng(100 + seed)
    return [*rng.permutation(list(KINDS))[: 3 + seed % 5], "revolute"]


@pytest.mark.parametrize("seed", range(10))
def test_four_formulations_and_pinocchio_on_every_joint_kind(seed):
    m, q, v, a, _ = a_tree(seed, kinds_of(seed))
    oracle = Oracle(m)
    want = pin.rnea(oracle.model, oracle.data, oracle.q(q), oracle.v(v), oracle.v(a))[oracle.v_map]
    close(m.inverse_dynamics(q, v, a), want)
    for name in ALL:
        close(m.inverse_dynamics(q, v, a, name), want)


@pytest.mark.parametrize("kinds", ["RRRR", "RPRP", "PRRF", "PPR"])
def test_five_formulations_on_arms_and_branches(kinds):
    words = [{"R": "revolute", "P": "prismatic", "F": "fixed"}[k] for k in kinds]
    for seed, branched in ((1, False), (2, True)):
        m, q, v, a, _ = a_tree(seed, words, branched)
        want = m.inverse_dynamics(q, v, a)
        for name in SERIAL:
            close(m.inverse_dynamics(q, v, a, name), want)
            close(m.forward_dynamics(q, v, want, name), a, 1e-9)
        close(m.forward_dynamics(q, v, want), a, 1e-9)


@pytest.mark.parametrize("branched", [True, False])
def test_long_trees_and_both_ways_of_forward_dynamics(branched):
    from eslabon.dynamics.trees import articulated_pays
    from eslabon.formulations.links import short

    m = random_builder(np.random.default_rng(7), ["revolute"] * 20, branched).build()
    assert articulated_pays(short(m)) is not branched
    rng = np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, 20))
    oracle = Oracle(m)
    close(m.forward_dynamics(q, v, m.inverse_dynamics(q, v, a)), a, 1e-7)
    tau = np.zeros(20)
    tau[oracle.v_map] = a
    close(
        m.forward_dynamics(q, v, a),
        pin.aba(oracle.model, oracle.data, oracle.q(q), oracle.v(v), tau)[oracle.v_map],
        1e-8,
    )


@pytest.mark.parametrize("seed", range(6))
def test_power_in_is_the_change_of_energy(seed):
    m, q, v, a, rng = a_tree(seed, kinds_of(seed))
    name = m.bodies[-1].name
    wrench = rng.normal(size=6)
    tau = m.inverse_dynamics(q, v, a, external={name: wrench})
    by_q, by_v = m.derivative("energy", "q", q, v), m.derivative("energy", "v", q, v)
    rate = (by_q @ v + by_v @ a).sum()
    power = tau @ v + wrench @ m.velocity(q, v, name)
    assert rate == pytest.approx(power, rel=1e-9, abs=1e-9)


def test_mujoco_agrees():
    m = random_builder(np.random.default_rng(3), ["revolute", "prismatic", "revolute", "revolute", "prismatic"]).build()
    mj = mujoco_model(m)
    data = mujoco.MjData(mj)
    order = [mj.joint(j.name).qposadr[0] for j in m.joints]
    rng = np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, m.nv))
    data.qpos[order], data.qvel[order], data.qacc[order] = q, v, a
    mujoco.mj_inverse(mj, data)
    close(m.inverse_dynamics(q, v, a), data.qfrc_inverse[order])


def drives():
    b = random_builder(np.random.default_rng(5), ["revolute", "prismatic", "spherical", "universal"])
    data = {"viscous": 0.3, "coulomb": 0.2, "motor_inertia": 2e-3, "gear_ratio": -40.0}
    joints = b._items["joints"]
    for k, joint in enumerate(joints):
        from dataclasses import replace

        own = {key: (x,) * joint.nv for key, x in data.items()}
        if joint.nq == joint.nv:
            own |= {"stiffness": (2.0,) * joint.nv, "rest": (0.1,) * joint.nv}
        joints[k] = replace(joint, **own)
    return b


def test_joint_springs_friction_and_motors():
    m, plain = (
        drives().build(),
        random_builder(np.random.default_rng(5), ["revolute", "prismatic", "spherical", "universal"]).build(),
    )
    rng = np.random.default_rng(1)
    q, (v, a) = random_coordinates(rng, m), rng.normal(size=(2, m.nv))
    extra = 0.3 * v + 0.2 * np.sign(v) + 2e-3 * 1600 * a
    for joint in m.joints:
        if joint.stiffness:
            extra[m.velocities[joint.name]] += 2.0 * (q[m.coordinates[joint.name]] - 0.1)
    for name in (None, *ALL):
        close(m.inverse_dynamics(q, v, a, name) - plain.inverse_dynamics(q, v, a, name), extra)
    tau = m.inverse_dynamics(q, v, a)
    for name in (None, *ALL):
        close(m.forward_dynamics(q, v, tau, name), a, 1e-9)
    close(m.mass_matrix(q) - plain.mass_matrix(q), 3.2 * np.eye(m.nv))


def test_springs_and_wrenches_do_the_work_of_their_potential():
    b = random_builder(np.random.default_rng(9), ["revolute", "spherical", "prismatic", "revolute"])
    b.spring("s", "body3", "ground", first=(0.1, 0, 0.2), second=(1, 2, 3), stiffness=50, damping=0, length=0.4)
    b.spring("t", "body1", "body3", second=(0, 0.3, 0), stiffness=20, length=0.1)
    m, rng = b.build(), np.random.default_rng(2)
    q, (v, a) = random_coordinates(rng, m), rng.normal(size=(2, m.nv))
    for name in (None, *ALL):
        tau = m.inverse_dynamics(q, v, a, name)
        rate = (m.derivative("energy", "q", q, v) @ v + m.derivative("energy", "v", q, v) @ a).sum()
        assert tau @ v == pytest.approx(rate, rel=1e-10)
        close(m.forward_dynamics(q, v, tau, name), a, 1e-9)


def test_a_damper_takes_the_power_of_its_stretching():
    b = random_builder(np.random.default_rng(9), ["revolute", "revolute"])
    b.spring("d", "body1", "ground", second=(1, 2, 3), damping=7)
    m, (q, v, a) = b.build(), np.random.default_rng(2).normal(size=(3, 2))
    rate = (m.derivative("energy", "q", q, v) @ v + m.derivative("energy", "v", q, v) @ a).sum()
    point, speed = m.pose(q, "body1")[:3, 3], m.velocity(q, v, "body1", axes="aligned")[3:]
    along = (np.array([1, 2, 3]) - point) / np.linalg.norm(np.array([1, 2, 3]) - point)
    assert m.inverse_dynamics(q, v, a) @ v == pytest.approx(rate + 7 * (along @ speed) ** 2, rel=1e-10)


def test_wrenches_by_body_frame_and_name():
    b = random_builder(np.random.default_rng(4), ["revolute", "universal", "revolute"])
    b.wrench("fixed", "body2", force=(1, 2, 3), moment=(0.1, 0, 0), at=(0.1, 0.2, 0.3), axes="ground")
    b.wrench("open", "body1", at=(0, 0, 0.5), axes="body")
    m, rng = b.build(), np.random.default_rng(2)
    bare = random_builder(np.random.default_rng(4), ["revolute", "universal", "revolute"]).build()
    q, v, a = rng.normal(size=(3, m.nv))
    w = rng.normal(size=(2, 6))
    work = m.jacobian(q, "tip").T @ w[0]
    turn = m.pose(q, "body2")[:3, :3]
    at = np.eye(4)
    at[:3, 3] = (0.1, 0.2, 0.3)
    J = m.jacobian(q, "body2", axes="aligned")
    lever = turn @ at[:3, 3]
    work += J[:3].T @ (np.array([0.1, 0, 0]) + np.cross(lever, [1, 2, 3])) + J[3:].T @ [1, 2, 3]
    Jb = m.jacobian(q, "body1")
    work += Jb[:3].T @ (w[1][:3] + np.cross([0, 0, 0.5], w[1][3:])) + Jb[3:].T @ w[1][3:]
    for name in (None, *ALL):
        close(
            bare.inverse_dynamics(q, v, a, name)
            - m.inverse_dynamics(q, v, a, name, external={"tip": w[0], "open": w[1]}),
            work,
        )


@pytest.mark.parametrize("seed", range(3))
def test_joint_forces_are_linear_in_the_inertial_parameters(seed):
    m, q, v, a, _ = a_tree(seed, kinds_of(seed))
    Y, pi = m.regressor(q, v, a), m.inertial_parameters()
    close(Y @ pi, m.inverse_dynamics(q, v, a))
    base = m.base_parameters()
    close(Y[:, list(base.columns)] @ base.values, Y @ pi, 1e-8)
    assert len(base) < len(pi)


def test_the_puma_has_36_base_parameters():
    base = es.load("puma560").base_parameters()
    assert len(base) == 36
    assert base.expressions[0].startswith("Izz(link1)")


def test_batches_threads_and_designs():
    m = es.load("double_pendulum")
    rng = np.random.default_rng(0)
    Q, V, A = rng.normal(size=(3, 500, 2))
    tau = m.inverse_dynamics(Q, V, A)
    assert tau.shape == (500, 2)
    for k in (0, 77, 499):
        close(tau[k], m.inverse_dynamics(Q[k], V[k], A[k]), 1e-14)
    name, values = next(iter(m.parameters)), np.linspace(0.5, 1.5, 7)
    designs = m.inverse_dynamics(Q[0], V[0], A[0], parameters={name: values})
    for k, x in enumerate(values):
        close(designs[k], m.with_parameters(**{name: x}).inverse_dynamics(Q[0], V[0], A[0]), 1e-13)
    slope = m.derivative("inverse_dynamics", name, Q[0], V[0], A[0])
    h = 1e-6
    low, high = (
        m.with_parameters(**{name: m.parameters[name] + s}).inverse_dynamics(Q[0], V[0], A[0]) for s in (-h, h)
    )
    assert np.allclose(slope, (high - low) / (2 * h), rtol=1e-6, atol=1e-6)


MISTAKES = [
    (lambda m, x: m.inverse_dynamics(x, x, x, "newton"), "it is 'newton'"),
    (
        lambda m, x: m.inverse_dynamics(x, x, x, external={"tol": [0] * 6}),
        "no body, frame or open wrench 'tol'; did you mean 'tool'?",
    ),
    (lambda m, x: m.inverse_dynamics(x, x, x, external={"tool": [0] * 5}), "tool has 5 values"),
    (lambda m, x: m.mass_matrix(x, external={"tool": [0] * 6}), "does not depend on wrenches"),
    (lambda m, x: m.forward_dynamics(x, x, x[:3]), "tau has 3 values in its last axis; puma560 has 6 actuators"),
    (
        lambda m, x: random_tree(np.random.default_rng(0), ["spherical"]).inverse_dynamics(
            [1, 0, 0, 0], [0] * 3, [0] * 3, "quaternion"
        ),
        "'joint0' is spherical",
    ),
]


@pytest.mark.parametrize(("call", "sentence"), MISTAKES)
def test_mistakes_get_a_sentence(call, sentence):
    with pytest.raises(es.EslabonError, match=sentence):
        call(es.load("puma560"), np.zeros(6))


def test_a_massless_motion_is_named_when_its_inverse_is_needed():
    b = es.Builder("light").body("arm", 1.0, (0.3, 0, 0), (0, 0.1, 0.1)).body("wrist").body("hand")
    b.joint("shoulder", "revolute", "ground", "arm").joint("bend", "revolute", "arm", "wrist", axis="y").joint(
        "spin", "revolute", "wrist", "hand"
    )
    m = b.build()
    q, v, a = np.random.default_rng(0).normal(size=(3, 3))
    assert np.all(np.isfinite(m.inverse_dynamics(q, v, a)))
    with pytest.raises(es.ModelError, match=r"forward_dynamics of light: the motion of '(bend|spin)' moves no mass"):
        m.forward_dynamics(q, v, a)


def test_a_massless_link_between_two_joints_is_fine():
    b = es.Builder("cardan").body("cross").body("hand", 1.0, (0.1, 0, 0.2), (0.1, 0.1, 0.1))
    b.joint("first", "revolute", "ground", "cross", axis="x").joint("second", "revolute", "cross", "hand", axis="y")
    m = b.build()
    q, v, a = np.random.default_rng(0).normal(size=(3, 2))
    close(m.forward_dynamics(q, v, m.inverse_dynamics(q, v, a)), a)


@pytest.mark.parametrize(("length", "mass"), [(1e-2, 1e-9), (1e-5, 1e-12), (1e4, 1e9)])
def test_small_and_big_mechanisms_are_as_right_as_others(length, mass):
    b = es.Builder("two", gravity=(0, -9.81, 0))
    for name in "AB":
        about = mass * length**2
        b.body(name, mass, (length / 2, 0, 0), (1e-3 * about, about / 12, about / 12))
    b.joint("q0", "revolute", "ground", "A").joint("q1", "revolute", "A", "B", at=(length, 0, 0))
    m = b.build()
    q, v, a = np.random.default_rng(0).normal(size=(3, 2))
    tau = m.inverse_dynamics(q, v, a, "lagrange")
    np.testing.assert_allclose(m.inverse_dynamics(q, v, a), tau, rtol=1e-10)
    for name in (None, "newton_euler", "lie"):
        np.testing.assert_allclose(m.forward_dynamics(q, v, tau, name), a, rtol=1e-9)
