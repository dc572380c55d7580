"""Poles, natural frequencies and damping ratios follow a parameter as those of mechanisms linearized anew do."""

from typing import Any

import numpy as np
import pytest

import eslabon as es
from assembled_anew import differences


def pendulum(damping: float = 0.3) -> es.Mechanism:
    """Two bars with springs and dampers in their joints, under gravity, that rest at an angle."""
    b = es.Builder("sprung", gravity=(0, -9.81, 0))
    L1, L2, k = b.parameter("L1", 0.5), b.parameter("L2", 0.4), b.parameter("k", 9.0)
    c = b.parameter("c", damping)
    b.body("bar1", 1.0, (L1 / 2, 0, 0), (0.0, L1**2 / 12, L1**2 / 12))
    b.body("bar2", 0.7, (L2 / 2, 0, 0), (0.0, 0.7 * L2**2 / 12, 0.7 * L2**2 / 12))
    b.joint("q1", "revolute", "ground", "bar1", stiffness=k, viscous=c)
    b.joint("q2", "revolute", "bar1", "bar2", (L1, 0, 0), stiffness=k / 2, viscous=c / 2)
    return b.frame("tip", "bar2", (L2, 0, 0)).actuate("q1", "q2").build()


def linked() -> tuple[es.Mechanism, np.ndarray]:
    """A four-bar with a spring and a damper."""
    m = es.load("four_bar_spring").with_parameters(c=0.4, k=60.0)
    return m, m.assemble([2.2])


def same(m: es.Mechanism, name: str, step: float) -> es.Mechanism:
    return m.variant(**{name: m.parameters[name] + step})


def compare(found: Any, f: Any, h: float) -> None:
    """Derivatives of poles, frequencies and damping ratios beside differences of those of other mechanisms."""
    poles = differences(lambda s: f(s).poles, h)
    np.testing.assert_allclose(found.poles, poles, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(
        found.frequencies, differences(lambda s: f(s).frequencies, h), rtol=1e-7, atol=1e-7
    )
    np.testing.assert_allclose(
        found.damping, differences(lambda s: f(s).damping, h), rtol=1e-7, atol=1e-7
    )


@pytest.mark.parametrize("name", ["L1", "k", "c"])
def test_the_state_stays_and_its_forces_follow(name: str) -> None:
    m, q = pendulum(), np.array([0.4, -0.9])
    modes = m.linearize(q).modes()
    compare(modes.derivative(name), lambda s: same(m, name, s).linearize(q).modes(), 1e-3)
    exact = m.derivative("natural_frequencies", name, q, along="closed")
    np.testing.assert_allclose(exact, modes.derivative(name).frequencies, rtol=1e-9)


def test_forces_are_held() -> None:
    m, q, tau = pendulum(), np.array([0.4, -0.9]), np.array([0.5, -0.2])
    v = np.array([0.7, -1.1])
    modes = m.linearize(q, v, tau).modes()
    compare(
        modes.derivative("L2", "nothing"),
        lambda s: same(m, "L2", s).linearize(q, v, tau).modes(),
        1e-3,
    )
    exact = m.derivative("poles", "L2", q, v, tau, along="closed")
    np.testing.assert_allclose(exact, modes.derivative("L2", "nothing").poles, rtol=1e-9)


def test_an_equilibrium_moves_under_the_same_forces() -> None:
    m, tau = pendulum(), np.array([0.3, 0.1])

    def rest(other: es.Mechanism, guess: np.ndarray) -> np.ndarray:
        for _ in range(30):  # Newton's iteration on the forces left over
            left = other.inverse_dynamics(guess, np.zeros(2), np.zeros(2)) - tau
            guess = guess - np.linalg.solve(
                other.derivative("inverse_dynamics", "q", guess, np.zeros(2), np.zeros(2)), left
            )
        return guess

    q = rest(m, np.array([-0.3, -0.3]))
    modes = m.linearize(q, None, tau).modes()

    def anew(s: float) -> Any:
        other = same(m, "L1", s)
        return other.linearize(rest(other, q), None, tau).modes()

    compare(modes.derivative("L1", "coordinates"), anew, 1e-3)
    with pytest.raises(es.ModelError, match="moves or accelerates at this state"):
        m.linearize(q + 0.1, None, tau).modes().derivative("L1", "coordinates")


def test_loops_stay_closed() -> None:
    m, q = linked()
    modes = m.linearize(q).modes()
    for name in ("L", "k"):
        compare(modes.derivative(name), lambda s, n=name: _at(same(m, n, s), q), 1e-4)


def _at(m: es.Mechanism, q: np.ndarray) -> Any:
    return m.linearize(m.assemble([q[0]], guess=q)).modes()


def test_a_frame_is_held() -> None:
    m, q = pendulum(), np.array([0.4, -0.9])
    T = m.pose(q, "tip")
    exact = m.linearize(q).modes().derivative("L1", held={"tip": "position"})

    def anew(s: float) -> Any:
        other = same(m, "L1", s)
        return other.linearize(
            other.inverse_kinematics(es.Target("tip", position=T[:3, 3]), guess=q)
        ).modes()

    compare(exact, anew, 1e-3)
    by = m.derivative("poles", ("L1", "k"), q, along="closed", held={"tip": "position"})
    np.testing.assert_allclose(by[..., 0], exact.poles, rtol=1e-9)


def test_the_motion_of_a_frame_is_held() -> None:
    """Its twist stays too, so that the independent velocities are others."""
    m, q, v, tau = pendulum(), np.array([0.4, -0.9]), np.array([0.7, -1.1]), np.array([0.5, -0.2])
    T, V = m.pose(q, "tip"), m.velocity(q, v, "tip", axes="aligned")

    def anew(s: float, forces: Any) -> Any:
        other = same(m, "L1", s)
        here = other.inverse_kinematics(es.Target("tip", position=T[:3, 3]), guess=q)
        J = other.jacobian(here, "tip", "aligned")[3:]
        return other.linearize(here, np.linalg.lstsq(J, V[3:], rcond=None)[0], forces).modes()

    for forces, following in ((tau, "nothing"), (None, "forces")):
        modes = m.linearize(q, v, forces).modes()
        exact = modes.derivative("L1", following, held={"tip": "position"})
        compare(exact, lambda s, f=forces: anew(s, f), 1e-3)


def test_accelerations_stay() -> None:
    m, q = linked()
    q, v, a = m.complete([q[0]], [0.8], [-0.4], guess=q)

    def anew(s: float) -> np.ndarray:
        other = same(m, "L", s)
        here, speed, push = other.complete([q[0]], [0.8], [-0.4], guess=q)
        return other.linearize(here, speed, a=push).modes().poles

    exact = m.derivative("poles", "L", q, v, along="closed", a=a)
    np.testing.assert_allclose(exact, differences(anew, 1e-4), rtol=1e-6, atol=1e-7)


def test_one_state_or_one_set_of_forces_for_many() -> None:
    m, q, tau = pendulum(), np.array([[0.4, -0.9], [0.1, 0.7]]), np.array([0.5, -0.2])
    many = m.linearize(q, None, tau).modes()
    lengths = m.linearize(q[0], None, tau, parameters={"L1": [0.4, 0.5, 0.6]}).modes()
    for k in range(2):
        alone = m.linearize(q[k], None, tau).modes()
        np.testing.assert_allclose(many.poles[k], alone.poles, rtol=1e-9)
        by = many.derivative("L1", "nothing").poles[k]
        np.testing.assert_allclose(by, alone.derivative("L1", "nothing").poles, rtol=1e-8)
    np.testing.assert_allclose(lengths.poles[1], many.poles[0], rtol=1e-9)
    assert lengths.derivative("L2", "nothing").poles.shape == (3, 4)


def test_batches_and_parameters() -> None:
    m = pendulum()
    q = np.array([[0.4, -0.9], [0.1, 0.7], [-1.0, 0.3]])
    many = m.linearize(q).modes().derivative("L1")
    for k, one in enumerate(q):
        np.testing.assert_allclose(
            many.poles[k], m.linearize(one).modes().derivative("L1").poles, rtol=1e-9, atol=1e-12
        )
    lengths = np.array([0.45, 0.5, 0.55])
    other = m.derivative("natural_frequencies", "L1", q, along="closed", parameters={"L1": lengths})
    np.testing.assert_allclose(
        other[2],
        m.with_parameters(L1=0.55).derivative("natural_frequencies", "L1", q[2], along="closed"),
        rtol=1e-8,
    )


def test_a_state_without_numbers_has_none_and_others_have_theirs() -> None:
    m, v, tau = pendulum(), np.zeros(2), np.array([0.5, -0.2])
    q = np.array([[0.4, -0.9], [np.nan, 0.7], [-1.0, 0.3]])
    modes = m.linearize(q, v, tau).modes()
    for found in (
        modes.poles,
        modes.damping,
        m.derivative("poles", "L1", q, v, tau, along="closed"),
    ):
        np.testing.assert_array_equal(np.isnan(found).all(axis=-1), [False, True, False])
    np.testing.assert_allclose(modes.poles[2], m.linearize(q[2], v, tau).modes().poles, rtol=1e-9)


def test_repeated_poles_of_many_models_at_once() -> None:
    """Those of rigid-body motions and others, one model like another, and one that has none."""
    m, k = es.load("cart_pole"), np.array([0.5, 1.0, 2.0])
    angle = np.array([0.0, np.pi, 0.3])  # up, down, and no equilibrium
    q = np.stack([np.zeros(3), angle], axis=-1)[:, None]
    found = m.derivative("poles", "L", q, along="closed", parameters={"L": k}, following="nothing")
    for i, j in np.ndindex(3, 3):
        alone = m.variant(L=float(k[j])).derivative(
            "poles", "L", q[i, 0], along="closed", following="nothing"
        )
        np.testing.assert_allclose(found[i, j], alone, rtol=1e-8, atol=1e-10)


def test_rigid_body_poles_stay_where_they_are() -> None:
    m = es.load("cart_pole")
    modes = m.linearize([0.0, 0.0]).modes()
    found = modes.derivative("L")
    np.testing.assert_array_equal(found.frequencies[:2], 0.0)  # 3.97 rad/s, as 1/sqrt(L)
    np.testing.assert_allclose(
        found.frequencies[2:], -modes.frequencies[2:] / m.parameters["L"] / 2, rtol=1e-9
    )


def test_equal_poles_that_part_are_refused() -> None:
    b = es.Builder("swing", gravity=(0, 0, -9.81))
    L, more = b.parameter("L", 0.8), b.parameter("more", 0.0)
    b.body("arm", 0.0).body("bob", 1.0, (0, 0, -1 * L), (more, 0.0, 0.0))
    b.joint("x", "revolute", "ground", "arm", axis="x").joint(
        "y", "revolute", "arm", "bob", axis="y"
    )
    m = b.build()
    modes = m.linearize([0.0, 0.0]).modes()
    together = modes.derivative("L")  # both are sqrt(g/L)
    np.testing.assert_allclose(together.frequencies, -np.sqrt(9.81 / 0.8) / 0.8 / 2, rtol=1e-6)
    with pytest.raises(es.SingularityError, match="and part when 'more' changes"):
        modes.derivative("more")
    assert np.isnan(modes.derivative("more", singular="ignore").poles).all()


def test_bad_input_is_a_sentence() -> None:
    m = pendulum()
    q = np.array([0.4, -0.9])
    modes = m.linearize(q).modes()
    weak = m.with_actuated([])
    for wrong, sentence in (
        (lambda: modes.derivative("L9"), "no parameter 'L9'"),
        (lambda: modes.derivative("L1", "force"), "did you mean 'forces'"),
        (lambda: modes.derivative("L1", "coordinates", held=("q1", "q2")), "one of the two"),
        (lambda: m.derivative("poles", "L1", q), 'give along="closed"'),
        (
            lambda: m.derivative("poles", "L1", q, along="closed", followin="forces"),
            "did you mean 'following'",
        ),
        (lambda: m.derivative("poles", "L1", along="closed"), "0 arrays"),
        (
            lambda: m.derivative("damping_ratio", "L1", q, along="closed"),
            "did you mean 'damping_ratios'",
        ),
        (lambda: weak.linearize(q).modes().derivative("L1"), "no forces of the actuators"),
    ):
        with pytest.raises(es.ModelError, match=sentence):
            wrong()


def test_redundant_actuators_share_as_before() -> None:
    m = es.load("five_bar").with_parameters(g=9.81).with_actuated(["theta2", "theta5", "theta3"])
    free = ("theta2", "theta5")
    held = dict(zip(free, (2.0, 1.0), strict=True))
    q = m.assemble(held)

    def anew(s: float) -> Any:
        other = same(m, "L3", s)
        return other.linearize(other.assemble(held, q), independent=free).modes()

    found = m.linearize(q, independent=free).modes().derivative("L3", held=free)
    poles = differences(lambda s: anew(s).poles, 1e-5)
    np.testing.assert_allclose(found.poles, poles, rtol=1e-6, atol=1e-6)
