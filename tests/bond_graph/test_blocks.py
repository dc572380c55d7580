"""The building blocks of Morales' chapter 4 against equations of motion."""

import numpy as np
import pytest

import eslabon as es

AXES = {"tx": "Se", "ty": "Se", "tz": "Se"}


def test_pendulum():
    g = es.BondGraph.load("pendulum")
    m, l, J, gravity = 1.0, 0.5, 0.25 / 3, 9.81
    assert g.states == ("p_bar_9", "bar_alpha")  # only the rotation keeps integral causality
    h, alpha, torque = 0.3, 0.7, 0.4
    a = (torque - m * gravity * l * np.sin(alpha)) / (J + m * l**2)
    np.testing.assert_allclose(g.rates([h, alpha], [torque]), [J * a, h / J], rtol=1e-12)


def test_pendulum_with_a_tip_mass():
    g = es.BondGraph.load("pendulum_tip_mass")
    m, l, J, mb, gravity = 1.0, 0.5, 0.25 / 3, 0.5, 9.81
    h, alpha, torque, force = -0.2, 0.9, 0.4, 1.1
    tip = (
        2 * l
    )  # at -(sin, cos) alpha, so that a horizontal force has the moment -force tip cos alpha
    moment = torque - (m * l + mb * tip) * gravity * np.sin(alpha) - force * tip * np.cos(alpha)
    a = moment / (J + m * l**2 + mb * tip**2)
    np.testing.assert_allclose(g.rates([h, alpha], [torque, force]), [J * a, h / J], rtol=1e-12)


@pytest.mark.parametrize("name", ["double_pendulum", "planar_arm"])
def test_two_links_equal_the_mechanism(name, rng):
    """The bond graph against this package's own forward dynamics; absolute angles from the downward vertical."""
    g = es.BondGraph.load(name)
    m, l, gravity = 1.0, 0.5, 9.81 if name == "double_pendulum" else 0.0
    J = m * l**2 / 3
    b = es.Builder("links", gravity=(0, -gravity, 0))
    for k, parent in (("1", "ground"), ("2", "link1")):
        b.body(f"link{k}", mass=m, com=(0, -l, 0), inertia=(J, J, J))
        b.joint(
            f"q{k}",
            "revolute",
            parent,
            f"link{k}",
            axis="z",
            at=(0, 0, 0) if parent == "ground" else (0, -2 * l, 0),
        )
    arm = b.build()
    for _ in range(5):
        alpha, rate, tau = rng.normal(size=(3, 2))
        # alpha turns the bar from -y to -x: clockwise, against the joint about z.
        q, v = -np.array([alpha[0], alpha[1] - alpha[0]]), -np.array([rate[0], rate[1] - rate[0]])
        a = -np.cumsum(arm.forward_dynamics(q, v, -tau))
        np.testing.assert_allclose(
            g.rates([*J * rate, *alpha], tau), [*J * a, *rate], rtol=1e-9, atol=1e-10
        )
    if name == "planar_arm":
        np.testing.assert_allclose(g.output([*J * rate, *alpha], tau), [rate[0], rate[1] - rate[0]])


def ring(sources):
    ring = es.BondGraph.load("euler_ring")
    return es.BondGraph("turning", {"ring": ring, **sources}, [f"t{k} -> ring.{k}" for k in "xyz"])


def test_euler_ring_under_torques(rng):
    g, j = ring(AXES), np.array([0.1, 0.2, 0.3])
    h, u = rng.normal(size=(2, 3))
    assert g.states == ("ring_hx", "ring_hy", "ring_hz")
    np.testing.assert_allclose(g.rates(h, u), u - np.cross(h / j, h), rtol=1e-12)


def test_euler_ring_with_imposed_flows():
    """(4.52)-(4.56) mended: the torques of the imposed motion are the efforts at its sources."""
    g = ring({"tx": "MSf: sin(t)", "ty": "MSf: cos(2*t)", "tz": "Se"})
    jx, jy, jz = 0.1, 0.2, 0.3
    t, hz, torque = 0.4, 0.5, 0.7
    wx, wy, wz = np.sin(t), np.cos(2 * t), hz / jz
    assert g.causality().dependent == ("ring_hx", "ring_hy")
    np.testing.assert_allclose(
        g.rates([hz], [torque], t), [(jx - jy) * wx * wy + torque], rtol=1e-12
    )
    bonds = g.bond_variables([hz], [torque], t)
    np.testing.assert_allclose(bonds["e1"], jx * np.cos(t) - (jy - jz) * wy * wz, rtol=1e-12)
    np.testing.assert_allclose(
        bonds["e2"], -2 * jy * np.sin(2 * t) + (jx - jz) * wx * wz, rtol=1e-12
    )


def test_the_torques_of_flows_that_are_inputs_need_their_rates():
    g = ring({"tx": "Sf", "ty": "Sf", "tz": "Se"})
    wx, wy, torque = 0.3, 0.5, 0.7
    np.testing.assert_allclose(
        g.rates([0.2], [wx, wy, torque]), [(0.1 - 0.2) * wx * wy + torque], rtol=1e-12
    )
    with pytest.raises(
        es.ModelError, match="the input 'tx' sets ring_hx directly, so that its rate is needed"
    ):
        g.bond_variables([0.2], [wx, wy, torque])


def test_rigid_body_with_translation(rng):
    body = es.BondGraph.load("rigid_body")
    sources = {**AXES, "fx": "Se", "fy": "Se", "fz": "Se"}
    g = es.BondGraph(
        "free", {"body": body, **sources}, [f"{s} -> body.{s.removeprefix('t')}" for s in sources]
    )
    j = np.array([0.1, 0.2, 0.3])
    h, p, torque, force = rng.normal(size=(4, 3))
    expected = np.concatenate([torque - np.cross(h / j, h), force - np.cross(h / j, p)])
    np.testing.assert_allclose(g.rates([*h, *p], [*torque, *force]), expected, rtol=1e-12)


def test_gravity_platform():
    """(4.39): E, and G = m sin(theta2) g."""
    g = es.BondGraph.load("gravity_platform")
    p = g.parameters
    E = g.junction_structure().fields([0.1, 0.2, 0.3], [0.0, 0.0])["E"]
    expected = [
        [(p["m"] + p["i3"]) / p["i3"], p["m"] * np.sin(p["theta2"]), 0],
        [0, 1, 0],
        [0, 0, 1],
    ]
    np.testing.assert_allclose(E, expected, atol=1e-14)
    rates = g.rates([0.1, 0.2, 0.3], [1.5, 9.81])
    np.testing.assert_allclose(
        (p["m"] + p["i3"]) * rates[0] / p["i3"], 1.5 - p["m"] * 9.81 * np.sin(p["theta2"])
    )
    assert rates[1] == 9.81  # the arm does not load the platform


def test_decoupled_motors_drive_a_load():
    motor = es.BondGraph.load("decoupled_motor")
    g = es.BondGraph(
        "driven", {"tau": "Se", "motor": {"model": motor, "parameters": {"i": 0.4}}, "load": "I: 0.6", "j": "1", "r": "R: 2"},
        ["tau -> motor.torque", "motor.shaft -> j -> load", "j -> r"],
    )  # fmt: skip
    h, theta = 0.3, 1.0
    assert g.states == ("motor_h", "motor_theta")
    np.testing.assert_allclose(
        g.rates([h, theta], [1.0]), [0.4 * (1 - 2 * h / 0.4), h / 0.4], rtol=1e-12
    )


def test_an_arm_by_its_jacobian(rng):
    """A multiport transformer modulated by the joints' angles: motors, and a mass and an inertia at the tip."""
    J = [
        ["-l1*sin(q5) - l2*sin(q5+q6)", "-l2*sin(q5+q6)"],
        ["l1*cos(q5) + l2*cos(q5+q6)", "l2*cos(q5+q6)"],
        [1.0, 1.0],
    ]
    g = es.BondGraph(
        "arm",
        {"tau1": "Se", "tau2": "Se", "i1": "I: 0.3", "i2": "I: 0.2", "k1": {"kind": "C", "law": 0.0}, "k2": {"kind": "C", "law": 0.0},
         "m": {"kind": "I", "value": "m"}, "my": "I: m", "Jz": "I: Jz", "a": "1", "b": "1", "x": "1", "y": "1", "w": "1",
         "T": {"kind": "MTF", "value": J}, "weight": "Se: -9.81*m"},
        {"1": "tau1 -> a", "2": "tau2 -> b", "3": "a -> i1", "4": "b -> i2", "5": "a -> k1", "6": "b -> k2", "7": "a -> T", "8": "b -> T",
         "9": "T -> x", "10": "T -> y", "11": "T -> w", "12": "x -> m", "13": "y -> my", "14": "w -> Jz", "15": "weight -> y"},
        {"l1": 0.7, "l2": 0.4, "m": 1.5, "Jz": 0.2},
    )  # fmt: skip
    assert g.causality().dependent == ("p12", "p13", "p14")
    l1, l2, m, Jz = 0.7, 0.4, 1.5, 0.2
    for _ in range(5):
        q, v, tau = rng.normal(size=(3, 2))
        s1, c1, s12, c12 = np.sin(q[0]), np.cos(q[0]), np.sin(q.sum()), np.cos(q.sum())
        jacobian = np.array(
            [[-l1 * s1 - l2 * s12, -l2 * s12], [l1 * c1 + l2 * c12, l2 * c12], [1, 1]]
        )
        turn = v.sum()
        rate = np.array(
            [
                [-l1 * c1 * v[0] - l2 * c12 * turn, -l2 * c12 * turn],
                [-l1 * s1 * v[0] - l2 * s12 * turn, -l2 * s12 * turn],
                [0, 0],
            ]
        )
        D = np.diag([m, m, Jz])
        M = np.diag([0.3, 0.2]) + jacobian.T @ D @ jacobian
        a = np.linalg.solve(M, tau + jacobian.T @ ([0, -9.81 * m, 0] - D @ rate @ v))
        x = [0.3 * v[0], 0.2 * v[1], *q]
        np.testing.assert_allclose(
            g.rates(x, tau), [0.3 * a[0], 0.2 * a[1], *v], rtol=1e-10, atol=1e-11
        )
