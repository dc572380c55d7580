"""Control laws: with the mechanism's own terms, with states, sampled; whatever calls them, they are the same laws."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import eslabon as es
from eslabon.motion.simulation import SimulationError, Trajectory, sampled, simulate, traced
from motion.simulation.samples import pendulum, top
from random_mechanisms import random_closed, random_coordinates, random_tree
from randomness import seeded

TIGHT = {"rtol": 1e-10, "atol": 1e-12}
FIXED = {"method": "rk4", "step": 2e-3}
M = es.load("double_pendulum")
Q, V = np.array([0.4, -0.2]), np.array([0.0, 0.3])


def law(t, q, v):
    return 30 * (1 - q) - 6 * v + np.sin(3 * t)


def states(motion):
    return np.concatenate([motion.q, motion.v], axis=-1)


# The mechanism's own terms ---------------------------------------------------------------------------------------------


def terms(m, frame):
    """Verbs of a state, each as a function of q, v and a."""
    return [
        lambda q, v, a: m.inverse_dynamics(q, v, a), lambda q, v, a: m.forward_dynamics(q, v, a[: m.nu]),
        lambda q, v, a: m.mass_matrix(q), lambda q, v, a: m.coriolis_matrix(q, v), lambda q, v, a: m.gravity_forces(q),
        lambda q, v, a: m.energy(q, v), lambda q, v, a: m.pose(q, frame), lambda q, v, a: m.acceleration(q, v, a, frame),
        lambda q, v, a: m.jacobian(q, frame, axes="aligned"), lambda q, v, a: m.reactions(q, v, a),
        lambda q, v, a: m.derivative("gravity_forces", "q", q), lambda q, v, a: m.inverse_dynamics(q, v, np.zeros(m.nv)),
        lambda q, v, a: m.inverse_dynamics(q, v, a, external={frame: np.arange(6.0)}),
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("closed", [False, True])
def test_a_verb_of_symbols_is_the_verb_of_numbers(seed, closed):
    rng = seeded(seed)
    if closed:
        m, q = random_closed(rng, ["revolute", "spherical"], ["spherical" if seed else "revolute"])
        q, v, a = m.project(q, rng.normal(size=m.nv), rng.normal(size=m.nv))
    else:
        m = random_tree(rng, ["revolute", "cylindrical"] if seed else ["spherical", "helical"])
        q, v, a = random_coordinates(rng, m), rng.normal(size=m.nv), rng.normal(size=m.nv)
    symbols = [ca.SX.sym("q", m.nq), ca.SX.sym("v", m.nv), ca.SX.sym("a", m.nv)]
    compared = 0
    for term in terms(m, m.bodies[-1].name):
        try:
            want = term(q, v, a)
        except (
            es.EslabonError
        ):  # a mechanism without an actuator, or at a singular configuration, has no such answer
            continue
        found = term(*symbols)
        got = np.array(ca.Function("f", symbols, [ca.densify(found)])(q, v, a)).reshape(want.shape)
        np.testing.assert_allclose(got, want, rtol=1e-7, atol=1e-8 * np.abs(want).max(initial=1.0))
        compared += 1
    assert compared > 5


def test_a_verb_of_symbols_says_what_it_cannot():
    q = ca.SX.sym("q", 2)
    for call, sentence in (
        (lambda: M.pose(ca.SX.sym("q", 3)), "q is 3x1; 2x1 is expected"),
        (lambda: M.position_hessian(q), "has 3 axes"),
        (lambda: M.pose(q, out=np.zeros((4, 4))), "leave out and threads out"),
        (lambda: M.inverse_dynamics(q, np.zeros((5, 2)), q), "v is 5x2; 2x1 is expected"),
        (lambda: M.pose(ca.MX.sym("q", 2)), "q is not an array"),
    ):
        with pytest.raises(es.EslabonError, match=sentence) as caught:
            call()
        assert "\n" not in str(caught.value)


def second_order(t, start, goal):
    """The error of a critically damped joint with 10 rad/s."""
    return goal + (start - goal) * ((1 + 10 * t) * np.exp(-10 * t))[:, None]


def test_computed_torque_of_many_arms_makes_their_errors_linear(rng):
    m, goal = es.load("puma560"), np.full(6, 0.3)
    start = rng.uniform(-1, 1, (40, 6))
    control = traced(lambda t, q, v: m.inverse_dynamics(q, v, 100 * (goal - q) - 20 * v))
    motion = simulate(m, start, None, 1.0, control, method="rk4", step=1e-3, every=50)
    for k in range(len(start)):
        np.testing.assert_allclose(motion.q[k], second_order(motion.t, start[k], goal), atol=1e-8)


def test_computed_torque_of_a_parallel_robot_does_the_same_for_its_motors():
    m = es.load("planar_3rrr")
    motors = list(m.actuated_velocities)
    start, goal = (m.assemble(np.full(3, 0.5236) + move) for move in (0.0, 0.1))

    def computed(t, q, v):
        a = ca.SX.zeros(m.nv)
        a[motors] = 100 * (goal[motors] - q[motors]) - 20 * v[motors]
        return m.hybrid_dynamics(q, v, a)[0]

    motion = simulate(m, start, None, 1.0, traced(computed), method="rk4", step=1e-3, every=50)
    want = second_order(motion.t, start[motors], goal[motors])
    np.testing.assert_allclose(motion.q[:, motors], want, atol=1e-8)
    assert motion.closure.max() < 1e-12


# States ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [FIXED, TIGHT, {"method": "Radau", **TIGHT}])
def test_an_integrator_is_the_integral_of_what_it_integrates(options):
    control = traced(
        lambda t, q, v, x: (law(t, q, v) + 5 * x[:2], ca.vertcat(1 - q, v)), state=[0.1, 0.2, *Q]
    )
    motion = simulate(M, Q, V, np.linspace(0, 1, 501), control, **options)
    np.testing.assert_allclose(motion.x[:, 2:], motion.q, atol=1e-7)  # the integral of v is q
    from scipy.integrate import cumulative_simpson

    want = np.array([0.1, 0.2]) + cumulative_simpson(1 - motion.q, x=motion.t, axis=0, initial=0.0)
    np.testing.assert_allclose(motion.x[:, :2], want, atol=1e-7)
    np.testing.assert_allclose(motion.tau, [law(*row) for row in zip(motion.t, motion.q, motion.v, strict=True)]
        + 5 * motion.x[:, :2], atol=1e-12)  # fmt: skip


def test_every_trajectory_may_have_its_own_states(rng):
    start = rng.normal(size=(5, 2))

    def integrating(t, q, v, x):
        return law(t, q, v) + 5 * x, 1 - q

    def stepping(t, q, v, x):
        return law(t, q, v) + 5 * x, x + 0.02 * (1 - q)

    for wrap in (
        lambda x: traced(integrating, state=x),
        lambda x: sampled(traced(stepping), 0.02, state=x),
        lambda x: sampled(stepping, 0.02, state=x),
    ):
        for options in (FIXED, TIGHT):
            many = simulate(M, Q, V, [0, 0.1, 0.2], wrap(start), **options)
            for k in range(5):
                one = simulate(M, Q, V, [0, 0.1, 0.2], wrap(start[k]), **options)
                np.testing.assert_allclose(many[k].x, one.x, atol=1e-12)
                np.testing.assert_allclose(many[k].q, one.q, atol=1e-12)


# Samples ---------------------------------------------------------------------------------------------------------------

WAYS = [
    {}, {"delay": 0.004}, {"delay": 0.02}, {"quantisation": 0.01}, {"rate_limit": 50.0},
    {"rate_limit": [50.0, 20.0], "delay": 0.006, "quantisation": [0.01, 0.0]},
]  # fmt: skip


def by_hand(
    control,
    period=0.02,
    delay=0.0,
    quantisation=0.0,
    rate_limit=np.inf,
    limit=np.inf,
    step=2e-3,
    steps=100,
):
    """The forces that act at the ends of steps, and those asked for, by the definition of a digital controller."""
    q, v, increments = Q, V, np.broadcast_to(quantisation, 2)
    waiting, acting, output, asked, made = [], np.zeros(2), np.zeros(2), np.zeros(2), []
    for k in range(steps + 1):
        t = k * step
        if waiting and waiting[0][0] <= t + 1e-9 and delay:
            acting = waiting.pop(0)[1]
        if k % round(period / step) == 0:
            seen = np.where(
                increments > 0,
                np.floor(q / np.where(increments, increments, 1) + 0.5) * increments,
                q,
            )
            asked = control(t, seen, v)
            most = np.asarray(rate_limit) * np.ones(2) * period
            output = np.clip(output + np.clip(asked - output, -most, most), -limit, limit)
            waiting.append((t + delay, output))
            if not delay:
                acting = waiting.pop(0)[1]
        made.append((acting, asked))
        end = M.simulate(q, v, step, acting, method="rk4", step=step).end
        q, v = end
    return np.moveaxis(np.array(made), 1, 0)


@pytest.mark.parametrize("way", WAYS)
def test_a_sampled_law_is_a_digital_controller_by_every_method(way):
    tau, asked = by_hand(law, **way)
    t = np.linspace(0, 0.2, 101)
    for control in (sampled(law, 0.02, **way), sampled(traced(law), 0.02, **way)):
        for options, tolerance in (
            (FIXED, 1e-10),
            (TIGHT, 1e-3),
            ({"method": "Radau", **TIGHT}, 1e-3),
        ):
            motion = simulate(M, Q, V, t, control, **options)
            np.testing.assert_allclose(motion.tau, tau, atol=tolerance)
            np.testing.assert_allclose(motion.tau_commanded, asked, atol=tolerance)
    symplectic = simulate(
        M, Q, V, t, sampled(traced(law), 0.02, **way), method="symplectic", step=2e-3
    )
    np.testing.assert_allclose(symplectic.q, motion.q, atol=1e-3)


def test_a_sampled_law_of_many_trajectories_is_that_of_each(rng):
    start = rng.normal(size=(3, 4, 2))
    for control in (sampled(law, 0.01, delay=0.004), sampled(traced(law), 0.01, delay=0.004)):
        many = simulate(M, start, None, 0.1, control, every=7, **FIXED)
        one = simulate(M, start[1, 2], None, 0.1, control, every=7, **FIXED)
        np.testing.assert_allclose(many.q[1, 2], one.q, atol=1e-12)
        np.testing.assert_allclose(many.tau[1, 2], one.tau, atol=1e-10)


def test_with_loops_and_quaternions_a_sampled_law_called_is_the_law_traced():
    robot = es.load("planar_3rrr")
    motors = list(robot.actuated_velocities)
    q0 = robot.assemble(np.full(3, 0.5236))
    held = lambda t, q, v: 5 * (q0[motors] - q[..., motors]) - v[..., motors] + 0.2 * np.sin(t)  # noqa: E731
    symbolic = lambda t, q, v: 5 * (q0[motors] - q[motors]) - v[motors] + 0.2 * np.sin(t)  # noqa: E731
    one, other = (
        simulate(robot, q0, None, 0.1, sampled(x, 0.01), **FIXED) for x in (held, traced(symbolic))
    )
    np.testing.assert_allclose(one.q, other.q, atol=1e-12)
    assert one.closure.max() < 1e-13
    body = top()
    spin = lambda t, q, v: -2 * v  # noqa: E731
    start = [0.5, 0.5, -0.5, 0.5], [1.0, -2.0, 0.5]
    one, other = (
        simulate(body, *start, 0.2, sampled(x, 0.01), **FIXED) for x in (spin, traced(spin))
    )
    np.testing.assert_allclose(states(one), states(other), atol=1e-12)


@pytest.mark.parametrize(
    "options", [FIXED, {**FIXED, "hold": True}, TIGHT, {"method": "symplectic", "step": 2e-3}]
)
def test_what_is_asked_for_acts_within_the_effort_limits(options):
    m = M.with_joint("q1", effort_limit=5.0)
    table = es.simulate.Table(np.linspace(0, 1, 5), np.linspace(6, 9, 10).reshape(5, 2), "linear")
    for control in (law, traced(law), table, [9.0, 9.0]):
        if options.get("method") == "symplectic" and control is law:
            continue
        motion = simulate(m, Q, V, 0.2, control, saturate=True, **options)
        np.testing.assert_array_equal(
            motion.tau, np.clip(motion.tau_commanded, [-5, -np.inf], [5, np.inf])
        )
        assert np.abs(motion.tau_commanded[:, 0]).max() > 5
        np.testing.assert_allclose(
            motion.a, m.forward_dynamics(motion.q, motion.v, motion.tau), atol=1e-9
        )
        again = simulate(m, Q, V, motion.t, es.simulate.Table(motion.t, motion.tau), method="rk4")
        if options.get("hold"):
            np.testing.assert_allclose(again.q, motion.q, atol=1e-10)


def test_a_rate_limit_and_an_effort_limit_together():
    m = M.with_joint("q1", effort_limit=5.0)
    tau, _ = by_hand(law, rate_limit=100.0, limit=np.array([5.0, np.inf]))
    for control in (law, traced(law)):
        got = simulate(
            m, Q, V, 0.2, sampled(control, 0.02, rate_limit=100.0), saturate=True, **FIXED
        )
        np.testing.assert_allclose(got.tau, tau, atol=1e-10)


def test_nan_is_not_hidden_by_a_limit():
    m = M.with_joint("q1", effort_limit=5.0)
    for control in (
        lambda t, q, v: [np.nan, 0.0],
        traced(lambda t, q, v: [ca.sqrt(-1 - q[0] ** 2), 0.0]),
    ):
        for options in (FIXED, {**FIXED, "hold": True}):
            with pytest.raises(SimulationError):
                simulate(m, Q, V, 0.1, control, saturate=True, **options)


def test_what_was_asked_and_states_are_kept_in_files(tmp_path):
    m = M.with_joint("q1", effort_limit=5.0)
    control = sampled(lambda t, q, v, x: (law(t, q, v), x + 1), 0.02, state=[0.0], delay=0.01)
    motion = simulate(m, Q, V, 0.2, control, saturate=True, **FIXED)
    back = Trajectory.load(motion.save(tmp_path / "m.npz"))
    np.testing.assert_array_equal(back.tau_commanded, motion.tau_commanded)
    np.testing.assert_array_equal(back.x, motion.x)
    table = Trajectory.load(motion.save(tmp_path / "m.csv"))
    np.testing.assert_array_equal(table.tau_commanded, motion.tau_commanded)
    np.testing.assert_array_equal(table.tau, motion.tau)
    part = motion.until(0.1)
    assert len(part.tau_commanded) == len(part.x) == len(part.t)


def test_arrays_in_time_are_a_table_that_holds(rng):
    t = np.linspace(0, 1, 6)
    for m, tau in (
        (M, rng.normal(size=(6, 2))),
        (pendulum(), rng.normal(size=6)),
        (pendulum(), rng.normal(size=(6, 1))),
    ):
        q0 = np.full(m.nq, 0.1)
        want = simulate(m, q0, None, 1.0, es.simulate.Table(t, np.reshape(tau, (6, -1))), **FIXED)
        np.testing.assert_array_equal(simulate(m, q0, None, 1.0, (t, tau), **FIXED).q, want.q)
    assert (
        simulate(M, Q, V, 0.1, (1.0, 2.0)).tau == [1.0, 2.0]
    ).all()  # constant forces may be a tuple too


def test_events_are_found_four_times_a_step_and_a_shorter_step_finds_more():
    m = pendulum()
    wave = lambda t, q, v: np.sin(200 * t)  # noqa: E731
    zeros = np.arange(1, 64) * np.pi / 200
    fine = simulate(m, [0.1], None, 1.0, events={"wave": wave}, step=0.04).events["wave"].t
    np.testing.assert_allclose(fine, zeros, atol=1e-9)
    coarse = simulate(m, [0.1], None, 1.0, events={"wave": wave}).events["wave"].t
    assert len(coarse) < 63  # the limit that is documented
    assert all(np.abs(zeros - x).min() < 1e-9 for x in coarse)  # what is found is right


MISTAKES = [
    (lambda: sampled(5, 0.1), "a control law is a function"),
    (lambda: sampled(law, 0.0), "period is a number greater than zero"),
    (lambda: sampled(law, 0.1, delay=0.2), "at most one period"),
    (lambda: sampled(law, 0.1, rate_limit=-1.0), "rate_limit greater"),
    (lambda: sampled(traced(lambda t, q, v, x: (q, x), state=[0.0]), 0.1), "are given to `sampled`"),
    (lambda: traced(law, state=1.0), "state holds the law's states"),
    (lambda: simulate(M, Q, V, 1.0, sampled(law, 0.02), method="rk4", step=0.003), "in the middle of a step"),
    (lambda: simulate(M, Q, V, 1.0, sampled(law, 0.02, delay=0.005), method="rk4", step=0.01), "in the middle of a step"),
    (lambda: simulate(M, Q, V, 1.0, sampled(law, 0.02, quantisation=[1, 2, 3])), "quantisation is one number"),
    (lambda: simulate(M, Q, V, 1.0, sampled(law, 0.02, rate_limit=[1, 2, 3])), "rate_limit is one number"),
    (lambda: simulate(top(), [1, 0, 0, 0], None, 1.0, sampled(law, 0.02, quantisation=0.1)), "no encoder counts"),
    (lambda: simulate(M, Q, V, 1.0, sampled(law, 0.02), hold=True, **FIXED), "leave hold out"),
    (lambda: simulate(M, Q, V, 1.0, sampled(law, 0.02), method="symplectic", step=0.02), "a Python function cannot enter"),
    (lambda: simulate(M, Q, V, 1.0, traced(lambda t, q, v, x: q, state=[0.0])), "gives forces and states"),
    (lambda: simulate(M, Q, V, 1.0, traced(lambda t, q, v, x: (q, [1, 2]), state=[0.0])), "gives 2 rates of states"),
    (lambda: simulate(M, Q, V, 1.0, sampled(lambda t, q, v, x: q, 0.1, state=[0.0])), "gives forces and states"),
    (lambda: simulate(M, Q, V, 1.0, sampled(lambda t, q, v, x: (q, [1, 2]), 0.1, state=[0.0])), "for its states, gives"),
    (lambda: simulate(M, Q, V, 1.0, traced(lambda t, q, v, x: (q, x), state=[0.0]), hold=True, **FIXED), "cannot be held"),
    (lambda: simulate(M, Q, V, 1.0, traced(lambda t, q, v, x: (q, x), state=[0.0]), method="symplectic", step=0.1), "no place"),
    (lambda: simulate(M, Q, V, 1.0, law, saturate=True), "has an effort limit"),
    (lambda: simulate(M, Q, V, 1.0, law, saturate="yes"), "saturate is True or False"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "sentence"), MISTAKES)
def test_mistakes_get_a_sentence(call, sentence):
    with pytest.raises(es.EslabonError, match=sentence):
        call()


def test_a_law_of_a_users_own_is_asked_in_every_run(tmp_path):
    """It may read its gains from a file, which nothing in its text tells of."""
    file = tmp_path / "gain"
    m = es.load("elbow")

    def law(t, q, v):
        return -float(file.read_text()) * v

    found = []
    for gain in ("0", "5", "0"):
        file.write_text(gain)
        found.append(simulate(m, [0.5, 0.0], None, 0.1, traced(law)).end[1])
    assert np.array_equal(found[0], found[2])
    assert abs(found[0] - found[1]).max() > 0.1
