"""Mechanisms whose constraints depend on the time: they move as they are driven, and the drives do the work."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import simpson

import eslabon as es
from eslabon.motion.simulation import sampled, simulate, traced

TIGHT = {"rtol": 1e-10, "atol": 1e-12}
METHODS = [
    {"method": "rk4", "step": 1e-3}, TIGHT, {"method": "Radau", **TIGHT}, {"method": "LSODA", **TIGHT},
    {"constraints": "elimination", **TIGHT}, {"constraints": "udwadia_kalaba", **TIGHT},
]  # fmt: skip
T = np.linspace(0, 1, 201)


def arm(driven):
    """Three joints in space, two of them driven or all free."""
    b = es.Builder("arm")
    for k, axis in enumerate(("z", "y", "x"), start=1):
        b.body(f"b{k}", mass=k, com=(0.2, 0.1, -0.1), inertia=(0.1, 0.2, 0.25, 0.01, -0.02, 0.03))
        b.joint(
            f"q{k}",
            "revolute",
            f"b{k - 1}" if k > 1 else "ground",
            f"b{k}",
            at=(0.3, 0, 0.1),
            axis=axis,
        )
    if not driven:
        return b.build()
    return (
        b.actuate("q3")
        .drive("first", "q1", "0.3*sin(2*t)")
        .drive("second", "q2", "0.2 + t**3")
        .build()
    )


def motion_of_drives(t):
    """Values, rates and accelerations, each (..., 2)."""
    one = 0.3 * np.sin(2 * t), 0.6 * np.cos(2 * t), -1.2 * np.sin(2 * t)
    two = 0.2 + t**3, 3 * t**2, 6 * t
    return [np.stack(pair, axis=-1) for pair in zip(one, two, strict=True)]


@pytest.mark.parametrize("options", METHODS)
def test_driven_joints_move_as_told_and_the_drives_do_the_work(options):
    m, free = arm(True), arm(False)
    q, v, a = motion_of_drives(T)
    motion = simulate(m, [*q[0], 0.4], [*v[0], -0.8], T, [0.3], **options)
    for got, want in ((motion.q, q), (motion.v, v), (motion.a, a)):
        np.testing.assert_allclose(got[:, :2], want, atol=1e-10)
    assert motion.closure.max() < 1e-13
    # The prescribed motion by inverse dynamics of the mechanism without drives.
    tau = free.inverse_dynamics(motion.q, motion.v, motion.a)
    np.testing.assert_allclose(
        tau, np.column_stack([motion.coupling_forces, np.full(len(T), 0.3)]), atol=1e-9
    )
    power = (motion.coupling_forces * v).sum(axis=-1) + 0.3 * motion.v[:, 2]
    assert motion.energy.total[-1] - motion.energy.total[0] == pytest.approx(
        simpson(power, x=T), abs=1e-7
    )


def test_laws_and_batches_of_driven_mechanisms():
    m = arm(True)
    called, symbolic = (
        (lambda t, q, v: -2 * q[..., 2:] - v[..., 2:]),
        (lambda t, q, v: -2 * q[2] - v[2]),
    )
    want = simulate(m, [0.0, 0.2, 0.4], None, T, traced(symbolic), **TIGHT)
    for law in (called, traced(symbolic)):
        for control, error in ((law, 1e-7), (sampled(law, 1e-3), 1e-3)):
            for options in (TIGHT, {"method": "rk4", "step": 1e-3}):
                t = T if control is law else T[:21]
                got = simulate(m, [[0.0, 0.2, 0.4], [0.0, 0.2, 0.5]], None, t, control, **options)
                np.testing.assert_allclose(got.q[0], want.q[: len(t)], atol=error)
                assert got.closure.max() < 1e-13


@pytest.mark.parametrize("options", METHODS[:3])
@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("distance", {"length": "0.7 + 0.1*sin(3*t)"}),
        ("constant_angle", {"axis": ("x", "y"), "angle": "1.2 + 0.2*t"}),
        ("point_on_plane", {"axis": (1, 1, 0), "offset": "0.05*t**2 - 0.1"}),
    ],
)
def test_loops_that_vary_with_time_are_kept_in_position_and_velocity(kind, more, options):
    b = es.Builder("pair")
    for k in range(2):
        b.body(f"b{k}", mass=1.0, com=(0.1, 0, 0), inertia=(0.1, 0.2, 0.2))
        b.joint(f"j{k}", "cylindrical", "ground", f"b{k}", at=(0.4 * k, 0, 0.1), axis=(0.3, k, 1))
    m = b.loop(
        "loop", kind, "b0", "b1", first=((0.1, 0.2, 0), (0.3, 0.1, 0)), second=(0, 0.3, 0.2), **more
    ).build()
    motion = simulate(m, m.project(m.home(), t=0.0), None, T[::4], **options)
    t = motion.t[:, None]
    assert np.abs(m.constraint(motion.q, t=motion.t)).max() < 1e-12
    rate = np.einsum("tij,tj->ti", m.constraint_jacobian(motion.q, t=motion.t), motion.v)
    assert (
        np.abs(
            rate + m.derivative("constraint", "t", motion.q, t=motion.t)[:, : rate.shape[1]]
        ).max()
        < 1e-11
    )
    assert np.ptp(motion.q, axis=0).max() > 0.01 * t.max()
    want = simulate(m, motion.q[0], motion.v[0], T[::4], **TIGHT)
    np.testing.assert_allclose(motion.q, want.q, atol=1e-7)


def test_starts_are_checked_at_their_time():
    m = arm(True)
    q, v, _ = motion_of_drives(np.array(0.5))
    motion = simulate(m, [*q, 0.4], None, (0.5, 1.0), method="rk4", step=1e-3)
    np.testing.assert_allclose(
        motion.v[0, :2], v, atol=1e-12
    )  # as little motion as the drives allow
    np.testing.assert_allclose(motion.q[-1, :2], motion_of_drives(np.array(1.0))[0], atol=1e-12)
    for call, sentence in (
        (
            lambda: simulate(m, [*q, 0.4], None, 1.0),
            r"q0 violates loop closure of arm by .* at t = 0 s; .*project it with m.project",
        ),
        (
            lambda: simulate(m, [*q, 0.4], [0, 0, 0], (0.5, 1.0)),
            r"v0 violates .* at t = 0.5 s; .*give v0=None",
        ),
        (
            lambda: simulate(m, [*q, 0.4], None, (0.5, 1.0), method="symplectic", step=0.1),
            "arm has driving constraints",
        ),
        (
            lambda: simulate(arm(False), np.zeros(3), None, 1.0).coupling_forces,
            "its mechanism has no couplings",
        ),
    ):
        with pytest.raises(es.EslabonError, match=sentence):
            call()
