"""Simulated motion obeys mechanics: energy, momentum, exact solutions, and what other programs compute."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from scipy.integrate import cumulative_simpson
from scipy.special import ellipj, ellipk

import eslabon as es
from eslabon.motion.simulation import simulate, traced
from motion.simulation.samples import MOMENTS, free_body, pendulum, top
from oracles import Oracle, mujoco_model, pin
from random_mechanisms import random_builder, random_coordinates
from randomness import seeded

TIGHT = {"rtol": 1e-10, "atol": 1e-12}
TREES = [
    ["revolute", "prismatic", "spherical"],
    ["free", "revolute", "universal"],
    ["helical", "cylindrical", "planar", "spherical"],
    ["revolute"] * 4,
]


def tree(k: int):
    rng = seeded(k)
    m = random_builder(rng, TREES[k]).build()
    return m, random_coordinates(rng, m), rng.normal(size=m.nv)


def relative_drift(motion) -> float:
    """The largest change of energy, as a part of the largest kinetic energy."""
    total = motion.energy.total
    return abs(total - total[0]).max() / motion.energy.kinetic.max()


# Energy --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", range(len(TREES)))
def test_undriven_trees_keep_their_energy(k):
    m, q, v = tree(k)
    motion = simulate(m, q, v, 10.0, **TIGHT)
    assert motion.t[-1] == 10.0
    assert relative_drift(motion) < 1e-8
    assert not motion.closure.any()


@pytest.mark.parametrize("method", ["LSODA", "Radau", "BDF", "RK45"])
def test_other_adaptive_methods_arrive_at_the_same_place(method):
    m, q, v = tree(0)
    want = simulate(m, q, v, 1.0, **TIGHT).end
    got = simulate(m, q, v, 1.0, method=method, rtol=1e-8, atol=1e-10).end
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, atol=2e-5 if method == "BDF" else 1e-6)


@pytest.mark.parametrize(("method", "order"), [("rk4", 4), ("symplectic", 2)])
@pytest.mark.parametrize("k", range(len(TREES)))
def test_fixed_methods_have_their_order(method, order, k):
    m, q, v = tree(k)
    want = np.concatenate(simulate(m, q, v, 1.0, rtol=1e-12, atol=1e-13).end)
    h = 0.02 if order == 4 else 0.005
    errors = [
        abs(np.concatenate(simulate(m, q, v, 1.0, method=method, step=x).end) - want).max()
        for x in (h, h / 2)
    ]
    assert errors[1] > 1e-12  # far from round-off, where a ratio means nothing
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.35)


def test_the_symplectic_method_does_not_drift_and_rk4_does():
    m = es.load("double_pendulum")
    run = {"t": 300.0, "step": 0.02, "every": 5}
    late = {}
    for method in ("rk4", "symplectic"):
        total = simulate(m, [0.5, 0.2], None, method=method, **run).energy.total
        error = abs(total - total[0]).reshape(-1)[1:].reshape(10, -1).max(axis=1)
        late[method] = error[-1] / error[0]
    assert late["symplectic"] < 1.05
    assert late["rk4"] > 5


def test_energy_changes_by_the_work_that_is_done(rng):
    b = random_builder(rng, ["revolute", "prismatic", "spherical"])
    from dataclasses import replace

    b._items["joints"][0] = replace(
        b._items["joints"][0], viscous=(0.7,), stiffness=(3.0,), rest=(0.2,)
    )
    m = b.build()
    wrench, tau = rng.normal(size=6), rng.normal(size=m.nv)
    t = np.linspace(0, 3, 3001)
    motion = simulate(
        m,
        random_coordinates(rng, m),
        rng.normal(size=m.nv),
        t,
        tau,
        external={"tip": wrench},
        **TIGHT,
    )
    twist = m.velocity(motion.q, motion.v, "tip")
    power = (motion.tau * motion.v).sum(-1) + twist @ wrench - 0.7 * motion.v[:, 0] ** 2
    work = cumulative_simpson(power, x=t, initial=0.0)
    np.testing.assert_allclose(motion.energy.total - motion.energy.total[0], work, atol=1e-8)
    # Of fourth order: a light body spins at w = 100 rad/s and more, where those of second order miss by (w h)^2 / 6.
    v, h = motion.v, t[1] - t[0]
    by_differences = (8 * (v[3:-1] - v[1:-3]) - (v[4:] - v[:-4])) / (12 * h)
    np.testing.assert_allclose(motion.a[2:-2], by_differences, atol=1e-3 * abs(motion.a).max())


def test_motors_friction_and_springs_of_the_drives_lose_energy_only():
    m = es.load("puma560_drives")
    motion = simulate(m, m.home(), np.full(6, 0.5), 0.5, method="rk4", step=1e-4, every=10)
    assert (np.diff(motion.energy.total) < 1e-9).all()


# Exact solutions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["DOP853", "Radau", "rk4"])
def test_a_pendulum_swings_with_jacobi(method):
    m, start = pendulum(), 2.5
    modulus, w = np.sin(start / 2) ** 2, np.sqrt(9.81)
    t = np.linspace(0, 6, 61)
    sn = ellipj(ellipk(modulus) - w * t, modulus)[0]
    step = {"step": 1e-3} if method == "rk4" else TIGHT
    motion = simulate(m, [start], [0.0], t, method=method, **step)
    np.testing.assert_allclose(motion.q[:, 0], 2 * np.arcsin(np.sqrt(modulus) * sn), atol=3e-8)


def eulers_rates(t):
    """The exact rates of a top with moments 1, 2, 3 whose angular momentum is nearer the largest axis."""
    A, B, C = MOMENTS
    start = np.array([0.4, 0.0, 1.1])
    twice, square = MOMENTS @ start**2, MOMENTS**2 @ start**2
    assert square > twice * B
    rate = np.sqrt((C - B) * (square - twice * A) / (A * B * C))
    modulus = (B - A) * (twice * C - square) / ((C - B) * (square - twice * A))
    sn, cn, dn, _ = ellipj(rate * t, modulus)
    largest = [
        np.sqrt((twice * C - square) / (A * (C - A))),
        np.sqrt((twice * C - square) / (B * (C - B))),
        np.sqrt((square - twice * A) / (C * (C - A))),
    ]
    return start, np.stack([largest[0] * cn, largest[1] * sn, largest[2] * dn], axis=-1)


@pytest.mark.parametrize("make", [top, free_body])
def test_a_free_body_turns_with_euler(make):
    m, t = make(), np.linspace(0, 20, 201)
    start, want = eulers_rates(t)
    q, v = m.neutral(), np.zeros(m.nv)
    v[:3] = start
    for method, options, tolerance in (("DOP853", TIGHT, 1e-7), ("rk4", {"step": 2e-3}, 1e-9)):
        motion = simulate(m, q, v, t, method=method, **options)
        got = motion.v[:, :3]
        np.testing.assert_allclose(got, want, atol=tolerance)
        np.testing.assert_allclose(np.linalg.norm(motion.q[:, -4:], axis=-1), 1.0, atol=1e-15)
        momentum = np.einsum("tij,tj->ti", m.pose(motion.q, "body")[:, :3, :3], MOMENTS * got)
        np.testing.assert_allclose(
            momentum, np.broadcast_to(momentum[0], momentum.shape), atol=tolerance
        )


def test_a_racket_tumbles_about_its_middle_axis_and_the_symplectic_method_keeps_its_invariants():
    m = top()
    motion = simulate(m, m.neutral(), [1e-3, 2.0, 1e-3], 100.0, method="symplectic", step=0.005)
    flips = np.count_nonzero(np.diff(np.sign(motion.v[:, 1])))
    assert 5 < flips < 40
    momentum = np.linalg.norm(MOMENTS * motion.v, axis=-1)
    assert abs(momentum / momentum[0] - 1).max() < 1e-12
    kinetic = motion.energy.kinetic
    assert abs(kinetic / kinetic[0] - 1).max() < 1e-12


def test_a_thrown_body_flies_on_a_parabola_whatever_its_spin():
    m = free_body(gravity=(0, 0, -9.81))
    v = [3.0, -2.0, 5.0, 1.0, 2.0, 4.0]
    for method, options in (("DOP853", TIGHT), ("rk4", {"step": 1e-3})):
        motion = simulate(m, m.neutral(), v, np.linspace(0, 2, 21), method=method, **options)
        t = motion.t[:, None]
        want = t * [1.0, 2.0, 4.0] + 0.5 * t**2 * [0, 0, -9.81]
        np.testing.assert_allclose(motion.q[:, :3], want, atol=1e-8)


# Other programs ------------------------------------------------------------------------------------------------------


def test_rk4_with_pinocchio_in_python_on_puma560():
    m = es.load("puma560")
    oracle, h = Oracle(m), 1e-3
    kp, kd, goal = (
        np.array([50, 80, 30, 0.5, 0.5, 0.1]),
        np.array([10, 15, 5, 0.05, 0.05, 0.005]),
        m.home(),
    )

    def rates(x):
        q, v = x[:6], x[6:]
        tau = kp * (goal - q) - kd * v
        return np.concatenate(
            [
                v,
                pin.aba(oracle.model, oracle.data, oracle.q(q), oracle.v(v), oracle.v(tau))[
                    oracle.v_map
                ],
            ]
        )

    x = np.concatenate(
        [np.array([0.1, -0.3, 0.2, 0.5, -0.4, 0.3]), np.array([0.5, 0, -1, 0.2, 0.1, 2])]
    )
    motion = simulate(
        m, x[:6], x[6:], 0.5, traced(lambda t, q, v: kp * (goal - q) - kd * v), method="rk4", step=h
    )
    for k in range(500):
        k1 = rates(x)
        k2 = rates(x + h / 2 * k1)
        k3 = rates(x + h / 2 * k2)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + rates(x + h * k3))
        np.testing.assert_allclose(
            np.concatenate([motion.q[k + 1], motion.v[k + 1]]), x, rtol=1e-9, atol=1e-9
        )


def test_mujoco_with_forces_held_over_its_steps(rng):
    m = random_builder(rng, ["revolute", "prismatic", "revolute"], branched=False).build()
    mj = mujoco_model(m)
    mj.opt.timestep, mj.opt.integrator = 1e-3, mujoco.mjtIntegrator.mjINT_RK4
    data = mujoco.MjData(mj)
    q, v = np.array([0.3, -0.2, 0.5]), np.array([0.1, 0.4, -1.0])
    data.qpos[:], data.qvel[:] = q, v
    motion = simulate(
        m,
        q,
        v,
        0.5,
        traced(lambda t, q, v: np.sin(t) - 2 * q - v),
        method="rk4",
        step=1e-3,
        hold=True,
    )
    for k in range(500):
        data.qfrc_applied[:] = np.sin(data.time) - 2 * data.qpos - data.qvel
        mujoco.mj_step(mj, data)
        np.testing.assert_allclose(motion.q[k + 1], data.qpos, rtol=1e-9, atol=1e-9)


def test_coulomb_friction_brings_a_joint_to_rest_in_finite_work():
    """A sliding block stops after v0^2 / (2 mu g) and stays but for a creep; no method gets stuck on the change of sign."""
    b = es.Builder("block", gravity=(0, 0, 0)).body("block", 2.0)
    m = b.joint("slide", "prismatic", "ground", "block", axis="x", coulomb=1.0).build()
    for options in ({}, {"method": "Radau"}, {"method": "rk4", "step": 1e-3}):
        motion = m.simulate([0.0], [1.0], 4.0, **options)
        assert motion.q[-1, 0] == pytest.approx(1.0, abs=5e-3)
        assert abs(motion.v[-1, 0]) < 1e-3
        assert motion.statistics.steps < 20_000
