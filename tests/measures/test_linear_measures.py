"""Natural frequencies, damping of the closed loop and tracking errors of many designs, against designs made anew, one by one."""

from __future__ import annotations

import numpy as np
import pytest

import eslabon as es
from eslabon.compiler.trace import graphs_traced
from eslabon.measures import ClosedLoopDamping, NaturalFrequency, TrackingError
from eslabon.measures.law_derivatives import LawDerivatives

CART, SPRING, ELBOW = es.load("cart_pole"), es.load("four_bar_spring"), es.load("elbow")
MASSES = {"m_pole": np.array([0.05, 0.1, 0.3]), "L": np.array([0.8, 1.0, 1.4])}


def each(m, designs):
    n = len(next(iter(designs.values())))
    return [
        m.with_parameters(**{name: float(x[k]) for name, x in designs.items()}) for k in range(n)
    ]


# -- natural frequencies ------------------------------------------------------------------------------------------------


def test_frequencies_of_a_closed_mechanism() -> None:
    """Where it is held, and where it rests, which is elsewhere for other lengths of its spring."""
    designs = {"L": np.array([0.9, 1.0, 1.1]), "k": np.array([15.0, 25.0, 20.0])}
    near = SPRING.assemble([2.9])
    held = NaturalFrequency([2.6]).measured(SPRING, designs)
    rests = NaturalFrequency(guess=near).measured(SPRING, designs)
    assert not {**held.reasons, **rests.reasons}
    for k, m in enumerate(each(SPRING, designs)):
        mode = m.linearize(m.assemble([2.6])).modes()[0]
        assert held.values["natural_frequency"][k] == pytest.approx(mode.frequency, rel=1e-8)
        resting = m.equilibrium(guess=near)
        mode = m.linearize(resting.q, None, resting.tau).modes()[0]
        assert rests.values["natural_frequency"][k] == pytest.approx(mode.frequency, rel=1e-6)


def test_frequencies_where_each_design_rests() -> None:
    m, designs = es.load("double_pendulum"), {"L1": np.array([0.5, 1.0, 2.0])}
    found = NaturalFrequency(mode=(0, 1), unit="Hz").measured(m, designs).values
    for k, other in enumerate(each(m, designs)):
        hertz = [mode.hertz for mode in other.linearize(other.equilibrium().q).modes()]
        assert [found["natural_frequency.0"][k], found["natural_frequency.1"][k]] == pytest.approx(
            hertz
        )


def test_what_does_not_oscillate_has_a_reason() -> None:
    upright = NaturalFrequency([0.0, 0.0]).measured(CART, {"L": np.array([0.5, 1.0])})
    assert "oscillates in 0 modes" in upright.reasons[0]
    assert np.isnan(upright.values["natural_frequency"]).all()


# -- the closed loop ----------------------------------------------------------------------------------------------------


def damping(poles: np.ndarray) -> tuple[float, float]:
    return float((-poles.real / np.abs(poles)).min()), float(-poles.real.max())


def test_damping_under_gains_that_all_designs_keep() -> None:
    gains = es.control.lqr(CART.linearize([0.0, 0.0]), Q=1.0, R=0.1)
    law = es.control.state_feedback(CART, CART.linearize([0.0, 0.0]), gains)
    same = [
        ClosedLoopDamping([0.0, 0.0], "lqr", Q=1.0, R=0.1), ClosedLoopDamping([0.0, 0.0], gains),
        ClosedLoopDamping([0.0, 0.0], gains.K), ClosedLoopDamping([0.0, 0.0], law),
        ClosedLoopDamping([0.0, 0.0], lambda lm: es.control.lqr(lm, Q=1.0, R=0.1)),
        ClosedLoopDamping([0.0, 0.0], es.control.law(CART, law.formula)),  # by the derivatives of the law
    ]  # fmt: skip
    for measure in same:
        found = measure.measured(CART, MASSES).values
        for k, m in enumerate(each(CART, MASSES)):
            lm = m.linearize([0.0, 0.0])
            expected = damping(np.linalg.eigvals(lm.A - lm.B @ gains.K))
            assert (
                found["closed_loop_damping"][k],
                found["closed_loop_damping.decay"][k],
            ) == pytest.approx(expected, rel=1e-6)


def test_damping_under_gains_designed_for_each() -> None:
    found = (
        ClosedLoopDamping([0.0, 0.0], "lqr", designed="each", Q=1.0, R=0.1)
        .measured(CART, MASSES)
        .values
    )
    placed = ClosedLoopDamping(
        [0.0, 0.0], "place", designed="each", poles=[-2 + 1j, -2 - 1j, -3, -4]
    ).measured(CART, MASSES)
    for k, m in enumerate(each(CART, MASSES)):
        lm = m.linearize([0.0, 0.0])
        poles = np.linalg.eigvals(lm.A - lm.B @ es.control.lqr(lm, Q=1.0, R=0.1).K)
        assert found["closed_loop_damping"][k] == pytest.approx(damping(poles)[0], rel=1e-6)
    assert placed.values["closed_loop_damping"] == pytest.approx(2 / np.sqrt(5), abs=1e-6)


def test_damping_under_a_law_with_states_of_its_own() -> None:
    """PID control of a rod: I e'' + Kd e' + Kp e + Ki int e = 0, as roots of a polynomial."""
    b = es.Builder("rod", gravity=(0, 0, 0)).body("bar", mass=2.0, com=(0.5, 0, 0))
    m = b.joint("q", "revolute", "ground", "bar").build()
    law = es.control.law(m, lambda t, q, v, x: (-8 * q - 3 * x - 2 * v, q), state=[0.0])
    found = LawDerivatives.of(m, law).closed_loop(m.linearize([0.0]))
    inertia = 2.0 * 0.25
    expected = np.roots([inertia, 2.0, 8.0, 3.0])
    assert sorted(np.linalg.eigvals(found), key=lambda s: (s.real, s.imag)) == pytest.approx(
        sorted(expected, key=lambda s: (s.real, s.imag)), abs=1e-9
    )


def test_damping_under_a_law_that_looks_into_the_table_of_a_path() -> None:
    """Computed torque: e'' + 2 zeta w e' + w^2 e = 0 in every joint; the samples of the path do not change with the state."""
    m = es.load("elbow")
    t, q, v, a = es.paths.joint_path([[0.3, 0.2], [1.0, 0.5]], es.paths.quintic(1.0)).sample(n=21)
    law = es.control.computed_torque(m, (t, q, v, a), frequency=5.0, damping=1.25)
    found = LawDerivatives.of(m, law).closed_loop(m.linearize(q[0]))
    assert np.sort(np.linalg.eigvals(found).real) == pytest.approx(
        [-10.0, -10.0, -2.5, -2.5], abs=1e-6
    )


def test_another_law_of_the_kind_is_differentiated_without_compiling() -> None:
    lm = CART.linearize([0.0, 0.0])
    made = []
    for weight in (1.0, 2.0):
        before = graphs_traced.copy()
        gains = es.control.lqr(lm, Q=weight, R=0.1)
        law = es.control.state_feedback(CART, lm, gains)
        found = LawDerivatives.of(CART, law).closed_loop(lm)
        np.testing.assert_allclose(found, lm.A - lm.B @ gains.K, rtol=1e-12, atol=1e-12)
        made.append((graphs_traced - before)["law_derivatives"])
    assert made[1] == 0


# -- tracking -----------------------------------------------------------------------------------------------------------

SWING = es.paths.joint_path([[0.0, 0.0], [1.0, 0.5]], es.paths.quintic(1.0))


def rms(m, law, q0=(0.0, 0.0)):
    t, q, *_ = SWING.sample(n=51)
    motion = m.simulate(list(q0), None, t, law, method="rk4", step=5e-3)
    return np.sqrt(np.trapezoid((motion.q - q) ** 2, t, axis=0) / t[-1])


def test_tracking_under_one_law() -> None:
    law = es.control.computed_torque(ELBOW, SWING.sample(n=51)[:], frequency=20.0)
    designs = {"m2": np.array([0.5, 1.0, 1.5])}
    for controller, options in (
        ("computed_torque", {"frequency": 20.0}),
        (law, {}),
        (lambda m: law, {}),
    ):
        found = (
            TrackingError(controller, SWING, samples=51, step=5e-3, **options)
            .measured(ELBOW, designs)
            .values
        )
        for k, m in enumerate(each(ELBOW, designs)):
            expected = rms(m, law)
            assert [
                found["tracking_error.theta1"][k],
                found["tracking_error.theta2"][k],
            ] == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_tracking_under_a_law_for_each_design() -> None:
    found = TrackingError(
        "computed_torque", SWING, designed="each", samples=51, step=5e-3, frequency=20.0
    )
    assert found.measured(ELBOW, {"m2": np.array([0.5, 1.5])}).values["tracking_error"].max() < 1e-6


def test_tracking_of_a_closed_mechanism_of_other_lengths() -> None:
    m = es.load("five_bar")
    path = es.paths.joint_path([[2.0, 1.0], [2.1, 0.9]], es.paths.quintic(0.2))
    measure = TrackingError("computed_torque", path, samples=5, step=5e-3, frequency=30.0)
    designs = {"L2": np.array([0.038, 0.04])}
    found = measure.measured(m, designs)
    assert not found.reasons
    law = es.control.computed_torque(m, path.sample(n=5)[:], frequency=30.0)
    other = m.with_parameters(L2=0.038)
    t, q, *_ = path.sample(n=5)
    motion = other.simulate(other.assemble([2.0, 1.0]), None, t, law, method="rk4", step=5e-3)
    error = np.sqrt(np.trapezoid((motion.q[:, [0, 2]] - q) ** 2, t, axis=0) / t[-1])
    assert found.values["tracking_error"][0] == pytest.approx(error.max(), rel=1e-5)
    assert found.values["tracking_error"][1] < error.max() / 20


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: NaturalFrequency([0.0, 0.0], unit="Hertz"), "unit is 'rad/s' or 'Hz'"),
        (lambda: NaturalFrequency([0.0, 0.0], mode=-1), "mode is a whole number"),
        (lambda: NaturalFrequency([0.0, 0.0], tau=[0.0]), "leave them, or at, out"),
        (lambda: NaturalFrequency([[0.0, 0.0], [0.1, 0.1]]), "at is one configuration"),
        (lambda: NaturalFrequency([0.0]).columns(CART), "cart_pole has 2 coordinates"),
        (lambda: NaturalFrequency(tau=[0.0, 0.0]).columns(CART), "cart_pole has 1 actuators"),
        (lambda: ClosedLoopDamping([0.0, 0.0]), "needs a controller"),
        (lambda: ClosedLoopDamping([0.0, 0.0], "lqg"), "did you mean 'lqr'"),
        (lambda: ClosedLoopDamping([0.0, 0.0], "lqr", q=1.0), "lqr has no option 'q'"),
        (
            lambda: ClosedLoopDamping([0.0, 0.0], np.ones((1, 4)), designed="each"),
            "these are given",
        ),
        (lambda: ClosedLoopDamping([0.0, 0.0], np.ones((1, 3))).columns(CART), "K has shape"),
        (lambda: TrackingError("computed", SWING), "did you mean 'computed_torque'"),
        (
            lambda: TrackingError("computed_torque", SWING),
            "computed_torque needs the option frequency",
        ),
        (lambda: ClosedLoopDamping([0.0, 0.0], "place"), "place needs the option poles"),
        (lambda: TrackingError("computed_torque", SWING, frequncy=1.0), "did you mean 'frequency'"),
        (lambda: TrackingError(5, SWING), "a controller is a law"),
        (lambda: TrackingError("pd_gravity", [[0.0, 0.0]]), "it has no times"),
        (
            lambda: TrackingError("pd_gravity", SWING, step=0.0, Kp=1.0, Kd=1.0),
            "step is a number greater than zero",
        ),
    ],
)
def test_bad_input(make, sentence: str) -> None:
    with pytest.raises(es.EslabonError, match=sentence):
        make()
