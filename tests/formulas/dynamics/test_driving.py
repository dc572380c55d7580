"""Driving (rheonomic) constraints: Phi(q, t) = 0, with Phi_t, Phi_qt and Phi_tt (Díaz, 2)."""

import numpy as np
import pytest

import eslabon as es

METHODS = ("multipliers", "elimination", "udwadia_kalaba")


def arm(*drives, actuated=("q1", "q2", "q3")):
    """Three joints in space; some driven."""
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
    b.actuate(*actuated)
    for name, joint, motion in drives:
        b.drive(name, joint, motion)
    return b.build()


def motion(t):
    """Of q1 and q2: values, rates, accelerations of the drives below."""
    one = 0.3 * np.sin(2 * t), 0.6 * np.cos(2 * t), -1.2 * np.sin(2 * t)
    two = 0.2 + t**3, 3 * t**2, 6 * t
    return np.array([one, two])


DRIVES = (("first", "q1", "0.3*sin(2*t)"), ("second", "q2", "0.2 + t**3"))


@pytest.mark.parametrize("constraints", METHODS)
def test_driven_joints_move_as_told_and_the_others_as_in_hybrid_dynamics(constraints):
    driven, plain = arm(*DRIVES, actuated=("q3",)), arm(actuated=("q1", "q2"))
    t = 0.7
    (q1, v1, a1), (q2, v2, a2) = motion(t)
    q, v = np.array([q1, q2, 0.4]), np.array([v1, v2, -0.8])
    tau, expected = plain.hybrid_dynamics(q, v, [a1, a2, 0.0])
    a = driven.forward_dynamics(q, v, [0.0], t=t, constraints=constraints)
    np.testing.assert_allclose(a, expected, atol=1e-10)
    np.testing.assert_allclose(driven.coupling_forces(q, v, a, t=t), tau, atol=1e-10)
    np.testing.assert_allclose(
        driven.coupling_forces(q, v, tau=[0.0], t=t, constraints=constraints), tau, atol=1e-10
    )


def test_a_batch_of_times_equals_single_calls():
    m = arm(*DRIVES, actuated=("q3",))
    t = np.linspace(0, 1, 7)
    given = motion(t)
    q = np.stack([given[0, 0], given[1, 0], 0.3 + 0 * t], axis=-1)
    v = np.stack([given[0, 1], given[1, 1], 0.1 + 0 * t], axis=-1)
    tau = np.full((7, 1), 0.5)
    a = m.forward_dynamics(q, v, tau, t=t)
    single = [m.forward_dynamics(q[k], v[k], tau[k], t=t[k]) for k in range(7)]
    np.testing.assert_allclose(a, single, atol=1e-12)
    np.testing.assert_allclose(a[:, :2].T, given[:, 2], atol=1e-10)
    np.testing.assert_allclose(m.inverse_dynamics(q, v, a, t=t), tau, atol=1e-9)


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("distance", {"length": "0.7 + 0.1*sin(3*t)"}),
        ("constant_angle", {"axis": ("x", "y"), "angle": "1.2 + 0.2*t"}),
        ("point_on_plane", {"axis": (1, 1, 0), "offset": "0.05*t**2 - 0.1"}),
    ],
)
def test_loops_that_vary_with_time_keep_their_derivatives(kind, more):
    """Along q(t) = exp of polynomials, by differences: Phi' = J v + Phi_t and Phi'' = J v' - gamma."""
    b = es.Builder("pair")
    for k in range(2):
        b.body(f"b{k}", mass=1.0, com=(0.1, 0, 0), inertia=(0.1, 0.2, 0.2))
        b.joint(f"j{k}", "cylindrical", "ground", f"b{k}", at=(0.4 * k, 0, 0.1), axis=(0.3, k, 1))
    b.loop(
        "loop", kind, "b0", "b1", first=((0.1, 0.2, 0), (0.3, 0.1, 0)), second=(0, 0.3, 0.2), **more
    )
    m = b.build()
    path = lambda t: np.array([0.3 + 0.5 * t, 0.1 - t**2, 0.4 * t**2, 0.2 + 0.3 * t])  # noqa: E731
    h, t = 1e-3, 0.6
    phi = [m.constraint(path(t + k * h), t=t + k * h) for k in (-2, -1, 0, 1, 2)]
    first = (phi[0] - 8 * phi[1] + 8 * phi[3] - phi[4]) / (12 * h)
    second = (-phi[0] + 16 * phi[1] - 30 * phi[2] + 16 * phi[3] - phi[4]) / (12 * h * h)
    q, v, a = path(t), np.array([0.5, -2 * t, 0.8 * t, 0.3]), np.array([0, -2, 0.8, 0])
    J = m.constraint_jacobian(q, t=t)
    rate = m.derivative("constraint", "t", q, t=t)
    np.testing.assert_allclose(first, J @ v + rate, atol=1e-8)
    from eslabon.compiler.evaluate import evaluate
    from eslabon.compiler.formula import Argument, Formula
    from eslabon.formulas.inputs import Q, V
    from eslabon.formulas.kinematics.closure import equations_in_units

    shape = lambda m: (1,)  # noqa: E731
    GAMMA = Formula("gamma", lambda m, q, v: list(equations_in_units(m, q, v, (0,))[2:]), (Q, V),
                    (Argument("gamma", shape), Argument("rate", shape)))  # fmt: skip
    gamma, Phi_t = evaluate(m, GAMMA, parameters=("t",))(q, v, t)
    np.testing.assert_allclose(second, J @ a - gamma, atol=1e-5)
    np.testing.assert_allclose(Phi_t, rate, atol=1e-12)


def crank_and_rod(drive="0.5 + 3*t - 0.4*t**2"):
    """A slider crank whose crank is driven."""
    b = es.Builder("driven", gravity=(0, -9.81, 0))
    b.body("crank", mass=1.0, com=(0.1, 0, 0), inertia=(0, 0.01, 0.01))
    b.body("rod", mass=0.5, com=(0.25, 0, 0), inertia=(0, 0.02, 0.02))
    b.body("slider", mass=2.0, inertia=(0.1, 0.1, 0.1))
    b.joint("q1", "revolute", "ground", "crank", home=0.5)
    b.joint("q2", "revolute", "crank", "rod", at=(0.2, 0, 0), home=-0.7)
    b.joint("q3", "prismatic", "ground", "slider", axis="x", home=0.6)
    b.loop("pin", "revolute", "rod", "slider", first=(0.5, 0, 0))
    return b.drive("motor", "q1", drive).actuate().build()


def test_driven_mechanisms_are_assembled_completed_and_projected_at_instants():
    m, t = crank_and_rod(), np.linspace(0, 1, 5)
    q, v, a = m.complete(t=t, continuation=True)
    np.testing.assert_allclose(q[:, 0], 0.5 + 3 * t - 0.4 * t**2, atol=1e-9)
    np.testing.assert_allclose(v[:, 0], 3 - 0.8 * t, atol=1e-9)
    np.testing.assert_allclose(a[:, 0], -0.8, atol=1e-8)
    assert np.abs(m.constraint(q, t=t)).max() < 1e-9
    h = 1e-4
    before, after = (m.complete(t=t + s, continuation=True) for s in (-h, h))
    np.testing.assert_allclose((after[0] - before[0]) / (2 * h), v, atol=1e-5)
    np.testing.assert_allclose((after[1] - before[1]) / (2 * h), a, atol=1e-5)
    np.testing.assert_allclose(m.forward_dynamics(q, v, np.zeros((5, 0)), t=t), a, atol=1e-7)
    near, speed = m.project(q[2] + 0.01, v[2] + 0.1, t=t[2])
    assert np.abs(m.constraint(near, t=t[2])).max() < 1e-9
    np.testing.assert_allclose(near, q[2], atol=1e-8)  # nothing is left free
    np.testing.assert_allclose(speed, v[2], atol=1e-7)
    np.testing.assert_allclose(m.assemble(t=t[2]), q[2], atol=1e-8)
    # the same motion of the crank, prescribed: the drive's moment is that of inverse dynamics
    plain = m.without("motor").with_actuated(["q1"])
    np.testing.assert_allclose(
        m.coupling_forces(q, v, a, t=t), plain.inverse_dynamics(q, v, a), atol=1e-7
    )
    with pytest.raises(es.ModelError, match="give it, as t="):
        m.assemble()


def test_what_drives_leave_open_is_refused_or_of_least_norm():
    m = arm(*DRIVES, actuated=())
    with pytest.raises(
        es.ModelError, match="does not determine the motion of arm: 1 more degree of freedom"
    ):
        m.complete(t=0.3)
    _, v, _ = m.complete(t=0.3, passive="minimum_norm")
    assert v[2] == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(v[:2], motion(0.3)[:, 1], atol=1e-9)
    with pytest.raises(es.EslabonError, match="passive"):
        m.complete(t=0.3, passive="perhaps")


def test_time_has_its_place():
    m = arm(*DRIVES)
    with pytest.raises(es.ModelError, match="give it to forward_dynamics, as t="):
        m.forward_dynamics(np.zeros(3), np.zeros(3), np.zeros(3))
    with pytest.raises(es.ModelError, match="do not depend on the time; leave t out"):
        arm().forward_dynamics(np.zeros(3), np.zeros(3), np.zeros(3), t=0.3)
    for t in (np.nan, np.inf, [0.0, np.nan]):
        with pytest.raises(es.InputError, match="t holds a number that is not finite"):
            m.inverse_dynamics(np.zeros(3), np.zeros(3), np.zeros(3), t=t)
    with pytest.raises(es.ModelError, match="the time is no parameter"):
        m.with_parameters(t=0.3)
    with pytest.raises(
        es.ModelError, match="only what a loop or a coupling holds may depend on it"
    ):
        es.Builder("x").body("b", mass="1 + t").joint("j", "revolute", "ground", "b").build()
    with pytest.raises(es.ModelError, match="needs joints of one degree of freedom"):
        es.Builder("x").body("b", mass=1).joint("j", "planar", "ground", "b").drive(
            "d", "j", "t"
        ).build()


def test_a_parameter_called_t_is_no_time():
    b = es.Builder("plate")
    b.parameter("t", 0.02)
    b.body("b", mass=1, com=("t", 0, 0), inertia=(0.1, 0.1, 0.1)).joint(
        "j", "revolute", "ground", "b"
    )
    b.drive("d", "j", "2*t")
    m = b.build()
    assert not m.rheonomic
    assert m.constraint([0.04]) == pytest.approx(0)


def test_drives_are_written_and_read(tmp_path):
    m = arm(*DRIVES)
    m.save(tmp_path / "arm.toml")
    assert es.load(tmp_path / "arm.toml") == m
    assert es.load(tmp_path / "arm.toml").rheonomic
