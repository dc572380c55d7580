"""Excitation: motions within limits whose regressor is well conditioned, on trees and with loops."""

import numpy as np
import pytest

import eslabon as es
from eslabon.systems.identification import excitation, identify
from eslabon.systems.identification.fourier_series import Limits, Scaled, Series


def recording(t, q, tau, v=None, a=None):
    """What was measured, by name."""
    return {"t": t, "q": q, "tau": tau, "v": v, "a": a}


@pytest.fixture(scope="module")
def arm():
    m = es.load("rojas_3r")
    for name, limits in (("theta1", (-2.0, 1.0)), ("theta2", (-0.5, 0.7)), ("theta3", (0.0, 2.0))):
        m = m.with_joint(name, limits=limits, velocity_limit=1.5)
    return m


def test_it_is_better_than_random_and_keeps_limits(arm):
    found = excitation(arm, duration=8.0, acceleration=6.0, starts=2, iterations=40)
    assert found.condition < 0.7 * found.random
    q, v, a = found(np.linspace(0, 8, 2001))
    low, high = np.array([j.limits[0] for j in arm.joints]).T
    assert (q >= low - 1e-9).all()
    assert (q <= high + 1e-9).all()
    assert np.abs(v).max() <= 1.5 + 1e-9
    assert np.abs(a).max() <= 6.0 + 1e-9
    reached = np.maximum.reduce(
        [np.ptp(q, axis=0) / (high - low), np.abs(v).max(axis=0) / 1.5, np.abs(a).max(axis=0) / 6.0]
    )
    assert (reached > 0.4).all()
    assert found.path.rests
    assert np.allclose(found.path(0.0)[0], found.path(8.0)[0])
    assert found.coordinates == ("theta1", "theta2", "theta3")


def test_what_it_tells_is_told_better(rng):
    """The standard errors of a D-optimal motion are smaller than those of a random one of the same limits."""
    m = es.load("double_pendulum")
    t, errors = np.linspace(0, 6, 601), []
    for iterations in (0, 40):
        found = excitation(
            m, duration=6.0, criterion="determinant", starts=1, iterations=iterations, friction=()
        )
        q, v, a = found.states(t)
        tau = m.inverse_dynamics(q, v, a) + 0.1 * rng.normal(size=q.shape)
        errors.append(identify(m, recording(t, q, tau, v, a), friction=()).standard_errors)
    assert np.mean(np.log(errors[1])) < np.mean(np.log(errors[0]))


@pytest.mark.parametrize("name", ["five_bar", "slider_crank"])
def test_with_loops(name):
    m = es.load(name)
    found = excitation(m, duration=4.0, starts=1, iterations=25)
    assert found.condition < found.random
    t = np.linspace(0, 4, 101)
    q, v, a = found.states(t)
    assert np.abs(m.constraint(q)).max() < 1e-9
    tau = m.inverse_dynamics(q, v, a)
    assert np.allclose(found.forces(t), tau)
    exact = identify(m, recording(t, found(t)[0], tau, *found(t)[1:]), guess=q[0])
    assert np.allclose(exact.values, exact.base.values, atol=1e-6 * np.abs(exact.base.values).max())


def test_the_derivatives_of_scaled_series(rng):
    """Against converged differences."""
    limits = Limits(
        np.array([0.5, -1.0]),
        np.array([0.5, 2.0]),
        np.array([1.0, np.inf]),
        np.array([np.inf, 3.0]),
    )
    scaled = Scaled(limits, Series(4.0, 3).at(np.linspace(0, 4, 30)))
    c, o, weights = rng.normal(size=(2, 4)), np.array([0.3, -0.7]), rng.normal(size=(3, 30, 2))

    def cost(c, o):
        return sum(np.sum(w * x) for w, x in zip(weights, scaled.motion(c, o), strict=False))

    by_c, by_o = scaled.gradient(c, o, tuple(weights))
    for k in np.ndindex(*c.shape):
        step = np.zeros_like(c)
        step[k] = 1e-6
        assert np.isclose(
            (cost(c + step, o) - cost(c - step, o)) / 2e-6, by_c[k], rtol=1e-5, atol=1e-6
        )
    for k, step in enumerate(1e-6 * np.eye(2)):
        assert np.isclose(
            (cost(c, o + step) - cost(c, o - step)) / 2e-6, by_o[k], rtol=1e-5, atol=1e-6
        )


def test_forces_keep_their_limits():
    m = es.load("double_pendulum")
    free = excitation(m, duration=2.0, starts=1, iterations=0, position=(-1.0, 1.0))
    most = np.abs(free.forces(np.linspace(0, 2, 400))).max(axis=0)
    holds = m.with_joint("q1", effort_limit=0.7 * most[0])
    slow = excitation(holds, duration=2.0, starts=1, iterations=0, position=(-1.0, 1.0))
    assert slow.duration > 2.0
    assert np.abs(slow.forces(np.linspace(0, slow.duration, 400)))[:, 0].max() <= 0.7 * most[0] * (
        1 + 1e-6
    )
    with pytest.raises(es.ModelError, match="cannot hold the configurations"):
        excitation(m.with_joint("q1", effort_limit=0.01), duration=2.0, starts=1, iterations=0)


def test_what_cannot_be_excited_is_refused(arm):
    with pytest.raises(es.ModelError, match="uncontrolled"):
        excitation(es.load("cart_pole"))
    ball = (
        es.Builder("ball")
        .body("ball", 1.0)
        .joint("j", "spherical", "ground", "ball")
        .actuate("j")
        .build()
    )
    with pytest.raises(es.ModelError, match="turns by a quaternion"):
        excitation(ball)
    with pytest.raises(es.InputError, match="harmonics"):
        excitation(arm, harmonics=1)
    with pytest.raises(es.ModelError, match="criterion"):
        excitation(arm, criterion="best")
    with pytest.raises(es.InputError, match="least, most"):
        excitation(arm, position={"theta1": (1.0, -1.0)})
    with pytest.raises(es.ModelError, match="did you mean 'theta"):
        excitation(arm, velocity={"theta": 1.0})
    with pytest.raises(es.InputError, match="duration"):
        excitation(arm, duration=-1.0)
    fixed = es.Builder("fixed").body("a", 1.0).joint("j", "fixed", "ground", "a").build()
    with pytest.raises(es.ModelError, match="no degree of freedom"):
        excitation(fixed)


def test_it_shows_itself(arm):
    found = excitation(arm, duration=5.0, starts=1, iterations=0, rest=False)
    assert "Fourier series of 5 harmonics, 5 s, condition" in repr(found)
    assert len(found.plot().axes) == 3
    with pytest.raises(es.InputError, match=r"times \(n,\)"):
        found.states(1.0)
