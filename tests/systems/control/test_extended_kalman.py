"""The extended Kalman filter on trees, loops and quaternions: consistent, better than prediction alone, and closed."""

from __future__ import annotations

import numpy as np
import pytest

import eslabon as es
from eslabon.model.configuration import difference, integrate
from eslabon.systems.control.extended_kalman import extended_kalman_filter
from random_mechanisms import random_builder, random_closed
from randomness import seeded

T = 0.01


def springs():
    """Two masses on springs: a linear mechanism."""
    b = es.Builder("springs", gravity=(0, 0, 0)).body("one", 1.0).body("two", 2.0).actuate("a", "b")
    b.joint("a", "prismatic", "ground", "one", axis="x", stiffness=30.0)
    return b.joint("b", "prismatic", "one", "two", axis="x", stiffness=50.0).build()


def tree():
    return es.load("double_pendulum"), np.array([0.5, -0.4])


def loop():
    m = es.load("five_bar").with_parameters(g=9.81)
    return m, m.home()


def ball():
    """A ball joint that carries a hinge."""
    b = random_builder(seeded("ball"), ["spherical", "revolute"], branched=False)
    m = b.actuate("joint0", "joint1").build()
    q = m.neutral()
    return m, q


def floating():
    m = random_builder(seeded("floating"), ["free"]).actuate("joint0").build()
    return m, m.neutral()


def ball_in_a_loop():
    m, q = random_closed(
        seeded("ball_in_a_loop"), ["spherical", "revolute", "universal"], ["universal"]
    )
    return m, q


def starts(m, q, deviations, count, seed=0):
    """Closed states about one, with independent coordinates and velocities off by random errors."""
    rng = seeded(seed)
    f = extended_kalman_filter(m, 1.0, 1.0, T, through="states")
    lm = m.linearize(q, independent=list(f.states[: f.design.n // 2]) if m.closed else None)
    error = rng.normal(size=(count, f.design.n)) * deviations
    shift = error[:, : f.design.n // 2] @ lm.position_map.T
    v = error @ lm.velocity_map.T
    x = np.concatenate([integrate(m, np.broadcast_to(q, (count, m.nq)), shift), v], axis=-1)
    from eslabon.motion.simulation.constraint_projection import project

    x = project(m, project(m, x))
    return x[:, : m.nq], x[:, m.nq :]


@pytest.mark.parametrize("make", [tree, loop, ball], ids=lambda f: f.__name__)
def test_it_is_consistent_and_beats_prediction(make):
    """From random starts, with random forces and noisy encoders: e^T P^-1 e is as large as there are states, and errors are far
    smaller than those of the same filter with sensors that say nothing."""
    m, q = make()
    n = m.linearize(q).A.shape[-1]
    push, noise = (0.2, 2e-3) if make is not loop else (2e-3, 2e-3)
    deviations = np.array([0.03] * (n // 2) + [0.1] * (n // 2))
    q0, v0 = starts(m, q, deviations, 60)
    errors = {}
    for name, R in (("sighted", noise**2), ("blind", 1e6)):
        f = extended_kalman_filter(m, push**2 * T, R, T, steps=2)
        law = f.law(None, q, covariance=deviations**2, noise=noise, force_noise=push, seed=1)
        motion = m.simulate(q0, v0, 0.6, law, method="rk4", step=T / 2, every=4)
        found = f.estimates(motion)
        errors[name] = found.rms(after=0.4)
        if name == "sighted":
            nees = found.nees.mean(axis=0)
            assert (nees > 0.5 * n).all()
            assert (nees < 1.7 * n).all()
            late = nees[len(nees) // 2 :].mean()
            assert 0.75 * n < late < 1.3 * n
            assert (np.abs(found.error) < 6 * found.deviation).mean() > 0.99
    assert (errors["sighted"] < 0.6 * errors["blind"]).all()


@pytest.mark.parametrize("make", [loop, ball_in_a_loop], ids=lambda f: f.__name__)
def test_estimates_keep_the_loops_closed(make, rng):
    m, q = make()
    f = extended_kalman_filter(
        m, 1e-3, 1e-4, T, outputs="positions" if m.nu else None, through="states"
    )
    q0, v0 = starts(m, q, 0.05, 5)
    t = T * np.arange(21)
    truth = m.simulate(q0, v0, t, method="rk4", step=T / 4)
    seen = integrate(m, truth.q, 0.01 * rng.normal(size=truth.v.shape))
    found = f.follow(
        t, seen, truth.v + 0.01 * rng.normal(size=truth.v.shape), q0=q, covariance=0.0025
    )
    assert np.abs(m.constraint(found.q)).max() < 1e-7
    assert (
        np.abs(np.einsum("...ij,...j->...i", m.constraint_jacobian(found.q), found.v)).max() < 1e-9
    )
    eigenvalues = np.linalg.eigvalsh(found.covariance)
    assert (eigenvalues > -1e-12).all()
    errors = found.beside(truth)
    assert np.sqrt((errors.error[:, -1] ** 2).mean()) < (0.3 if make is loop else 0.02)


@pytest.mark.parametrize(
    "make", [tree, loop, ball, floating, ball_in_a_loop], ids=lambda f: f.__name__
)
def test_errors_are_carried_by_the_derivative_of_the_flow(make):
    """Blind and without noise, P(t) = Phi P Phi^T, with Phi from differences of the flow itself."""
    m, q = make()
    n = extended_kalman_filter(m, 0.0, 1.0, T, through="states").design.n
    h, count = 2e-3, 11
    f = extended_kalman_filter(m, 0.0, 1e12, h, through="states", outputs="states")
    q0, v0 = starts(m, q, [0.0] * (n // 2) + [1.0] * (n // 2), 1, seed=2)
    lm = m.linearize(
        q0[0], v0[0], np.zeros(m.nu), independent=list(f.states[: n // 2]) if m.closed else None
    )
    step = 1e-5
    moved = step * np.vstack([np.eye(n), -np.eye(n)])
    from eslabon.motion.simulation.constraint_projection import project

    x = np.concatenate(
        [integrate(m, np.broadcast_to(q0[0], (2 * n, m.nq)), moved[:, : n // 2] @ lm.position_map.T), v0 + moved @ lm.velocity_map.T], axis=-1
    )  # fmt: skip
    x = project(m, x)
    t = h * np.arange(count)
    ends = m.simulate(x[:, : m.nq], x[:, m.nq :], t, method="rk4", step=h)
    i = list(f.design.partition.independent)
    change = np.concatenate(
        [
            difference(m, ends.q[:n, -1], ends.q[n:, -1])[:, i],
            (ends.v[:n, -1] - ends.v[n:, -1])[:, i],
        ],
        axis=-1,
    )
    Phi = change.T / (2 * step)
    found = f.follow(
        t,
        np.broadcast_to(q0[0], (count, m.nq)),
        np.broadcast_to(v0[0], (count, m.nv)),
        q0=q0[0],
        v0=v0[0],
        covariance=1.0,
    )
    wanted = Phi @ Phi.T
    np.testing.assert_allclose(found.covariance[-1], wanted, atol=1e-3 * np.abs(wanted).max())


def test_on_a_linear_mechanism_it_is_kalmans_filter(rng):
    m = springs()
    lm = m.linearize([0.0, 0.0])
    W, V, P0 = [0.01, 0.04], [1e-4, 2e-4], [0.01, 0.02, 0.1, 0.3]
    linear = es.control.kalman_filter(lm, W, V, P0, through=lm.B, period=T)
    f = extended_kalman_filter(m, W, V, T)
    t = T * np.arange(60)
    tau = rng.normal(size=(3, len(t), 2))
    truth = [m.simulate([0.1, 0.0], None, t, (t, u), method="rk4", step=T / 4) for u in tau]
    seen = np.stack([x.q for x in truth]) + 0.01 * rng.normal(size=(3, len(t), 2))
    found = f.follow(t, seen, tau=tau, q0=[0.0, 0.0], covariance=P0)
    np.testing.assert_allclose(
        found.covariance[0], linear.covariances(len(t))[1], rtol=1e-6, atol=1e-9
    )
    wanted = linear.follow(t, seen, tau)
    np.testing.assert_allclose(np.concatenate([found.q, found.v], axis=-1), wanted, atol=1e-6)


@pytest.mark.parametrize("delay", [0.0, 0.004, 0.01])
def test_a_filter_that_knows_the_truth_stays_with_it(delay):
    """With the same steps as the simulation, and told when forces act, it is off by round-off alone."""
    m, q = tree()
    m = m.with_joint("q1", effort_limit=2.0).with_joint("q2", effort_limit=0.5)
    f = extended_kalman_filter(m, 1e-4, 1e-6, T)
    control = es.control.computed_torque(m, [0.3, 0.2], frequency=5.0)
    law = f.law(control, q, delay=delay, saturate=True)
    motion = m.simulate(
        q, None, 0.5, law, method="rk4", step=T if delay in (0.0, T) else 2e-3, saturate=True
    )
    close = 1e-10 if delay in (0.0, T) else 1e-6  # other steps than the filter's
    assert np.abs(f.estimates(motion).error).max() < close
    assert np.abs(motion.tau).max() <= 2.0


def test_the_law_and_the_record_agree():
    m, q = loop()
    f = extended_kalman_filter(m, 1e-8, 1e-6, T)
    law = f.law(
        es.control.computed_torque(m, q[list(m.actuated_coordinates)], frequency=8.0),
        q,
        covariance=[1e-3] * 4,
    )
    start = m.assemble(q[list(m.actuated_coordinates)] + [0.05, -0.04], guess=q)
    motion = m.simulate(start, None, 0.3, law, method="rk4", step=T)
    again = f.follow(motion.t, motion.q, motion.v, motion.tau, q0=q, covariance=[1e-3] * 4).beside(
        motion
    )
    seen = f.estimates(motion)
    np.testing.assert_allclose(again.x_hat, seen.x_hat, atol=1e-9)
    np.testing.assert_allclose(again.deviation, seen.deviation, atol=1e-9)
    assert np.abs(seen.error[-1]).max() < 0.1 * np.abs(seen.error[0]).max()


def test_frames_and_passive_joints_are_outputs():
    """The tip of a five-bar, seen from outside, and a passive joint's rate."""
    m, q = loop()
    f = extended_kalman_filter(
        m, 1e-10, [1e-8, 1e-8, 1e-4], T, outputs=["point.x", "point.y", "theta3'"]
    )
    q0, v0 = starts(m, q, 0.03, 10)
    t = T * np.arange(31)
    truth = m.simulate(q0, v0, t, method="rk4", step=T / 2)
    errors = f.follow(t, truth.q, truth.v, q0=q, covariance=1e-3).beside(truth)
    assert np.abs(errors.error[:, -1]).max() < 0.05 * np.abs(errors.error[:, 0]).max()


def test_a_batch_is_its_single_calls(rng):
    m, q = tree()
    f = extended_kalman_filter(m, 1e-4, 1e-6, T)
    t = T * np.arange(11)
    seen = q + 0.01 * rng.normal(size=(4, 11, 2))
    many = f.follow(t, seen, q0=q, covariance=0.01)
    for k in range(4):
        one = f.follow(t, seen[k], q0=q, covariance=0.01)
        np.testing.assert_allclose(many.q[k], one.q, atol=1e-13)
        np.testing.assert_allclose(many.covariance[k], one.covariance, atol=1e-13)


def test_adaptive_methods_run_it_too():
    m, q = tree()
    f = extended_kalman_filter(m, 1e-4, 1e-6, T, steps=2)
    law = f.law(
        es.control.computed_torque(m, [0.3, 0.2], frequency=5.0),
        q + 0.05,
        covariance=0.01,
        noise=1e-3,
        seed=3,
    )
    t = T * np.arange(21)
    fixed = m.simulate(q, None, t, law, method="rk4", step=T / 2)
    smooth = m.simulate(q, None, t, law, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(f.estimates(smooth).x_hat, f.estimates(fixed).x_hat, atol=1e-5)


def test_beliefs_of_a_batch_and_c():
    m, q = tree()
    f = extended_kalman_filter(m, 1e-4, 1e-6, T)
    beliefs = q + np.array([[0.1, 0.0], [0.0, -0.1], [0.0, 0.0]])
    run = m.simulate(q, None, 0.3, f.law(None, beliefs, covariance=0.01), method="rk4", step=T)
    found = f.estimates(run)
    assert found.x.shape == (3, 31, 4)
    np.testing.assert_allclose(
        found.error[0, 0], [-1e-5, 0.0, 0.0, 0.0], atol=1e-4
    )  # a sample was seen already
    one = f.estimates(
        m.simulate(q, None, 0.3, f.law(None, beliefs[1], covariance=0.01), method="rk4", step=T)
    )
    np.testing.assert_allclose(found.x_hat[1], one.x_hat, atol=1e-12)
    assert "double *x_next" in f.c_source(None).header


M, Q = tree()
FILTER = extended_kalman_filter(M, 1.0, 1.0, T)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: extended_kalman_filter(M, -1.0, 1.0, T), "process is no covariance"),
        (lambda: extended_kalman_filter(M, 1.0, 0.0, T), "measurement is singular"),
        (lambda: extended_kalman_filter(M, 1.0, [1.0] * 3, T), "one for each of the 2 outputs"),
        (lambda: extended_kalman_filter(M, [1.0] * 3, 1.0, T), "one for each of the 2 noises"),
        (lambda: extended_kalman_filter(M, 1.0, 1.0, 0.0), "period is a number greater than zero"),
        (lambda: extended_kalman_filter(M, 1.0, 1.0, T, steps=0), "steps is a whole number"),
        (lambda: extended_kalman_filter(M, 1.0, 1.0, T, through="force"), "did you mean 'forces'"),
        (lambda: extended_kalman_filter(M, 1.0, 1.0, T, outputs=["q3"]), "there is no output 'q3'"),
        (lambda: extended_kalman_filter(M, 1.0, 1.0, T, outputs=["q1''"]), "depends on the forces"),
        (lambda: extended_kalman_filter(M, 1.0, 1.0, T, outputs=[]), "no output of double_pendulum is measured"),
        (lambda: FILTER.law(None, [0.0]), "q0 has 1 value"),
        (lambda: FILTER.law(None, Q, covariance=-1.0), "variances are not less than zero"),
        (lambda: FILTER.law(None, Q, delay=0.02), "at most the filter's period"),
        (lambda: FILTER.law(3.0, Q), "control is a law"),
        (lambda: FILTER.law(es.simulate.sampled(lambda t, q, v: q, T), Q), "without states or samples"),
        (lambda: FILTER.law(None, Q, saturate=True), "effort limit"),
        (lambda: FILTER.law(None, Q, loudness=1.0), "no option 'loudness'"),
        (lambda: FILTER.follow([0.0, 0.5], np.zeros((2, 2)), q0=Q), "period of 0.01 s apart"),
        (lambda: FILTER.follow([0.0, T], np.zeros((3, 2)), q0=Q), "a record of 2 times"),
        (lambda: extended_kalman_filter(M, 1.0, 1.0, T, outputs="states").follow([0.0, T], np.zeros((2, 2)), q0=Q), "give what was measured of v"),
        (lambda: FILTER.estimates(M.simulate(Q, None, 0.1)), "not driven by this filter"),
        (lambda: M.simulate(Q, None, 0.1, FILTER.law(lambda t, q, v: q[0], Q), method="rk4", step=T), "gives 1x1 forces"),
    ],
)  # fmt: skip
def test_bad_input_is_said_in_a_sentence(call, sentence):
    with pytest.raises(es.EslabonError, match=sentence) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_driven_or_open_mechanisms_are_refused():
    b = (
        es.Builder("fan")
        .body("blade", mass=2.0, com=(0.5, 0, 0))
        .body("arm", mass=1.0, com=(0.5, 0, 0))
    )
    b.joint("q", "revolute", "ground", "blade").joint("p", "revolute", "blade", "arm").drive(
        "motor", "q", "0.1*t**3"
    )
    with pytest.raises(es.ModelError, match="depend on the time"):
        extended_kalman_filter(b.build(), 1.0, 1.0, T)
    m, q = loop()
    f = extended_kalman_filter(m, 1.0, 1.0, T)
    with pytest.raises(es.AssemblyError, match="even when projected"):
        f.law(None, q + np.array([1.0, 0.0, -1.0, 2.0]))


def test_nothing_moves_or_nothing_drives():
    fixed = es.Builder("still").body("a", 1.0).joint("j", "fixed", "ground", "a").build()
    with pytest.raises(es.ModelError, match="nothing to estimate"):
        extended_kalman_filter(fixed, 1.0, 1.0, T)
    free = (
        es.Builder("swing")
        .body("a", 1.0, com=(1, 0, 0))
        .joint("j", "revolute", "ground", "a", axis="y")
        .actuate()
        .build()
    )
    with pytest.raises(es.InputError, match="through='accelerations'"):
        extended_kalman_filter(free, 1.0, 1.0, T)
    f = extended_kalman_filter(free, 1e-4, 1e-6, T, through="accelerations", outputs=["j"])
    with pytest.raises(es.ModelError, match="use follow"):
        f.law(None, [0.0])
    t = T * np.arange(101)
    truth = free.simulate([0.5], None, t, method="rk4", step=T)
    assert (
        np.abs(f.follow(t, truth.q, q0=[0.4], covariance=0.01).beside(truth).error[-1]).max() < 1e-3
    )
