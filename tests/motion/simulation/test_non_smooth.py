"""Laws that jump or bend, sharp friction and stops: switches in time, sliding, and what cannot be held, beside exact solutions."""

from __future__ import annotations

import casadi
import numpy as np
import pytest

import eslabon as es
from eslabon.motion.simulation import (
    SimulationError,
    Stops,
    Table,
    sampled,
    simulate,
    traced,
)

TIGHT = {"rtol": 1e-10, "atol": 1e-12}
MASS = 2.0


def cart(**joint):
    """A mass on a rail, without gravity."""
    b = es.Builder("cart", gravity=(0, 0, 0)).body("cart", mass=MASS)
    return b.joint("x", "prismatic", "ground", "cart", **joint).actuate("x").build()


def law(force):
    return traced(lambda t, q, v: force(t, q[0], v[0]))


# Laws -----------------------------------------------------------------------------------------------------------------


def test_a_sign_law_ends_with_both_joints_held():
    m = es.load("elbow").with_gravity((0, 0, 0))
    held = traced(lambda t, q, v: -3 * casadi.sign(v))
    motion = simulate(m, [0.3, 0.2], [1.0, -1.0], 2.0, held, **TIGHT)
    np.testing.assert_allclose(motion.v[-1], 0, atol=1e-13)
    assert np.ptp(motion.q[-2:], axis=0).max() < 1e-12
    assert motion.statistics.steps < 100
    np.testing.assert_allclose(motion.tau[-1], 0, atol=1e-12)  # what acts on what is held
    np.testing.assert_allclose(motion.a[-1], 0, atol=1e-12)


def test_held_joints_carry_their_load():
    m = es.load("elbow")
    motion = simulate(m, [-1.5, 0.1], [0.5, -0.5], 3.0, traced(lambda t, q, v: -3 * casadi.sign(v)))
    np.testing.assert_allclose(motion.v[-1], 0, atol=1e-12)
    np.testing.assert_allclose(
        motion.tau[-1], m.inverse_dynamics(motion.q[-1], [0, 0], [0, 0]), atol=1e-9
    )
    assert np.abs(motion.tau).max() <= 3 + 1e-8


def test_loops_are_held_too():
    m = es.load("five_bar").with_gravity((0, 0, 0))
    q0, actuated = m.home(), list(m.actuated_velocities)
    v0 = m.project(q0, [1.0, -0.5, 0.3, 0.2])[1]
    motion = simulate(m, q0, v0, 1.0, traced(lambda t, q, v: -0.005 * casadi.sign(v[actuated])))
    np.testing.assert_allclose(motion.v[-1], 0, atol=1e-9)
    assert np.abs(motion.q[-1] - q0).max() > 1e-3


@pytest.mark.parametrize("method", ["DOP853", "RK45", "Radau", "LSODA", "BDF"])
def test_bang_bang_reaches_its_target_in_the_least_time(method):
    """x'' = -u sign(x + x' |x'| / 2u): one switch on the parabola into the origin, from x0 at rest after 2 sqrt(x0 / u)."""
    x0, u, F = 1.0, 0.5, 1.0
    curve = law(lambda t, x, v: -F * casadi.sign(x + v * casadi.fabs(v) / (2 * u)))
    end = 2 * np.sqrt(x0 / u)
    motion = simulate(
        cart(), [x0], None, [0.0, end / 2, 0.999 * end], curve, method=method, rtol=1e-8, atol=1e-10
    )
    left = 0.001 * end
    assert motion.q[1, 0] == pytest.approx(x0 / 2, abs=1e-6)
    assert motion.q[2, 0] == pytest.approx(u * left**2 / 2, abs=1e-5)


def test_a_saturated_spring_switches_where_it_saturates():
    """fmin and fmax: constant force outside the band, a spring inside."""
    k, F = 50.0, 5.0
    motion = simulate(
        cart(),
        [1.0],
        None,
        3.0,
        law(lambda t, x, v: casadi.fmin(casadi.fmax(-k * x, -F), F)),
        **TIGHT,
    )
    x = np.abs(motion.q[:, 0])
    potential = np.where(x < F / k, k * x**2 / 2, F * x - F**2 / (2 * k))
    energy = MASS * motion.v[:, 0] ** 2 / 2 + potential
    np.testing.assert_allclose(energy, energy[0], rtol=1e-9)


def test_a_dead_zone_has_its_period():
    """Free flight between two springs: a period of 2 pi / w + 4 d / v."""
    k, d, v0 = 50.0, 0.1, 1.0
    force = law(lambda t, x, v: -k * (casadi.fmax(0, x - d) + casadi.fmin(0, x + d)))
    period = 2 * np.pi / np.sqrt(k / MASS) + 4 * d / v0
    motion = simulate(cart(), [0.0], [v0], [0.0, period / 2, period], force, **TIGHT)
    np.testing.assert_allclose(motion.q[:, 0], 0, atol=1e-9)
    np.testing.assert_allclose(motion.v[:, 0], [v0, -v0, v0], atol=1e-8)


def test_a_vee_shaped_potential_is_exact():
    """F = -sign(x) from rest at x0: parabolas, a period of 4 sqrt(2 x0 / u)."""
    x0, u = 0.3, 1 / MASS
    period = 4 * np.sqrt(2 * x0 / u)
    times = np.array([0.0, period / 4, period / 2, period, 2 * period])
    motion = simulate(cart(), [x0], None, times, law(lambda t, x, v: -casadi.sign(x)), **TIGHT)
    np.testing.assert_allclose(motion.q[:, 0], [x0, 0, -x0, x0, x0], atol=1e-10)


def test_abs_and_if_else_bend_where_they_say():
    """Quadratic drag v |v| is smooth enough to compare: v = v0 / (1 + c v0 t / m)."""
    c, v0 = 3.0, 2.0
    motion = simulate(
        cart(), [0.0], [v0], 2.0, law(lambda t, x, v: -c * v * casadi.fabs(v)), **TIGHT
    )
    np.testing.assert_allclose(motion.v[:, 0], v0 / (1 + c * v0 * motion.t / MASS), rtol=1e-9)
    wall = law(lambda t, x, v: casadi.if_else(x > 0.5, -4.0, casadi.if_else(t < 0.25, 2.0, 0.0)))
    motion = simulate(cart(), [0.0], [0.0], [0.0, 0.25, 3.0], wall, **TIGHT)
    assert motion.v[1, 0] == pytest.approx(0.25, abs=1e-12)
    arrives = 0.25 + (0.5 - 0.25**2 / 2) / 0.25
    turned = arrives + 2 * 0.25 / 2
    assert motion.q[2, 0] == pytest.approx(0.5 - 0.25 * (3.0 - turned), abs=1e-9)


def test_floor_makes_a_staircase_of_forces():
    """F = floor(x / d): constant on each step, so the energy gained on step n is n d."""
    d = 0.1
    motion = simulate(cart(), [0.05], [1.0], 2.0, law(lambda t, x, v: casadi.floor(x / d)), **TIGHT)
    n, x = np.floor(motion.q[:, 0] / d), motion.q[:, 0]
    work = d * n * (n - 1) / 2 + n * (x - n * d)
    assert n[-1] > 20
    np.testing.assert_allclose(MASS * (motion.v[:, 0] ** 2 - 1) / 2, work, rtol=1e-8, atol=1e-9)


def test_sliding_along_a_line_of_the_phase_plane():
    """u = -F sign(v + c x) slides along v = -c x, where x decays as exp(-c t)."""
    c = 2.0
    motion = simulate(
        cart(),
        [0.2],
        [-0.2],
        [0.0, 0.5, 1.0, 2.0],
        law(lambda t, x, v: -5 * casadi.sign(v + c * x)),
        **TIGHT,
    )
    np.testing.assert_allclose(motion.v[1:, 0], -c * motion.q[1:, 0], rtol=1e-8)
    np.testing.assert_allclose(
        motion.q[2:, 0], motion.q[1, 0] * np.exp(-c * (motion.t[2:] - 0.5)), rtol=1e-8
    )
    np.testing.assert_allclose(motion.tau[1:, 0], MASS * c**2 * motion.q[1:, 0], rtol=1e-7)


def test_endless_switching_ends_in_a_sentence_that_names_the_law():
    """x'' = -sign(x) - sign(x') / 2 comes to rest at x = 0 through infinitely many switches: each swing takes 1 / sqrt(3) of the
    time of the one before."""
    x0, a, b = 0.1, 1.5 / MASS, 0.5 / MASS
    fall = np.sqrt(2 * x0 / b)
    end = (fall + b * fall / a) / (1 - 1 / np.sqrt(3))
    twist = law(lambda t, x, v: -casadi.sign(x) - 0.5 * casadi.sign(v))
    with pytest.raises(
        SimulationError, match=r"switches more than 1,000 times.*sign of .*tanh\(x / width\)"
    ) as caught:
        simulate(cart(), [x0], None, 60.0, twist)
    assert caught.value.motion.t[-1] == pytest.approx(end, rel=1e-3)
    np.testing.assert_allclose(caught.value.motion.q[-1], 0, atol=1e-6)


def test_swings_that_shorten_slowly_go_on():
    """x'' = -sign(x) - c x' loses ever less of its speed in each swing, and never comes to rest."""
    force = law(lambda t, x, v: -casadi.sign(x) - 0.8 * v)
    motion = simulate(cart(), [0.1], None, [0.0, 10.0, 20.0, 30.0], force)
    energy = MASS * motion.v[:, 0] ** 2 / 2 + np.abs(motion.q[:, 0])
    assert (energy > 0).all()
    # Of a swing between parabolas the mean kinetic energy is a third of all.
    np.testing.assert_allclose(np.diff(np.log(energy[1:])), -0.8 * 2 / (3 * MASS) * 10, rtol=0.05)


def test_a_surface_that_is_left_and_met_again_in_one_step_is_crossed_twice():
    """x'' = -sign(x) - sign(x') / 2: from a turn at x0 the next one is at -x0 / 3, each arc half as steep as the one before."""
    x0, a, b = 1.0, 1.5 / MASS, 0.5 / MASS  # towards the line, and away from it
    twist = law(lambda t, x, v: -casadi.sign(x) - 0.5 * casadi.sign(v))
    turn, times = 0.0, [0.0]
    for k in range(8):
        size = x0 / 3**k
        fall = np.sqrt(2 * size / b)
        turn += fall + b * fall / a
        times.append(turn)
    motion = simulate(cart(), [x0], None, times, twist, **TIGHT)
    np.testing.assert_allclose(motion.q[:, 0], x0 * (-1 / 3.0) ** np.arange(9), atol=1e-8)


def test_what_does_not_choose_pays_nothing(monkeypatch):
    """A smooth law goes the same way as before: no modes are made."""
    from eslabon.motion.simulation import adaptive_steps

    monkeypatch.setattr(adaptive_steps, "Modes", None)
    simulate(cart(), [1.0], None, 1.0, law(lambda t, x, v: -x - v))


def test_sampled_laws_may_choose_as_they_like():
    motion = simulate(
        cart(), [1.0], None, 3.0, sampled(law(lambda t, x, v: -casadi.sign(x) - v), 0.01)
    )
    assert np.isfinite(motion.q).all()


def test_corners_of_linear_tables_are_met():
    """The velocity under a polygon of forces is its integral, which is exact between corners."""
    t, F = np.array([0.0, 0.31, 0.52, 1.0]), np.array([[0.0], [3.0], [-4.0], [1.0]])
    motion = simulate(cart(), [0.0], None, [0.0, 0.5, 1.0], Table(t, F, "linear"), **TIGHT)
    assert motion.v[-1, 0] == pytest.approx(np.trapezoid(F[:, 0], t) / MASS, abs=1e-14)


@pytest.mark.parametrize("kind", ["hold", "linear", "cubic"])
def test_saturated_tables_are_met(kind):
    """Effort limits bend a force in time: the impulse is that of the clipped force."""
    m = cart(effort_limit=1.0)
    t, F = np.linspace(0, 1, 5), np.array([[0.0], [2.0], [-3.0], [0.5], [4.0]])
    table = Table(t, F, kind)
    motion = simulate(m, [0.0], None, 1.0, table, saturate=True, **TIGHT)
    fine = np.linspace(0, 1, 400_001)
    clipped = np.clip(table.at(0.5 * (fine[1:] + fine[:-1])), -1, 1)
    assert motion.v[-1, 0] == pytest.approx(clipped.mean() / MASS, abs=1e-6)
    assert np.abs(motion.tau).max() <= 1 + 1e-12
    np.testing.assert_allclose(motion.tau_commanded, table.at(motion.t), atol=1e-12)


# Coulomb friction -----------------------------------------------------------------------------------------------------


def test_friction_takes_the_same_from_every_half_swing():
    """The amplitude of m x'' + k x = -F sign(x') falls by 4 F / k in each cycle, and stops inside the dead band."""
    k, F, x0 = 100.0, 4.0, 0.5
    m = cart(stiffness=k, coulomb=F)
    half = np.pi / np.sqrt(k / MASS)
    motion = simulate(m, [x0], None, half * np.arange(12), friction="sharp", **TIGHT)
    amplitudes = np.abs(motion.q[:, 0])
    turns = x0 - 2 * F / k * np.arange(12)
    moving = turns >= F / k
    np.testing.assert_allclose(amplitudes[: moving.sum()], turns[moving], atol=1e-9)
    rest = motion.q[-1, 0]
    assert abs(rest) <= F / k
    np.testing.assert_allclose(motion.q[-3:, 0], rest, atol=1e-12)
    np.testing.assert_allclose(motion.v[-1], 0, atol=1e-12)
    np.testing.assert_allclose(motion.a[-1], 0, atol=1e-12)
    assert motion.energy.total[-1] < motion.energy.total[0]


def test_sharp_friction_keeps_a_load_that_smooth_friction_lets_creep():
    m = cart(coulomb=2.0)
    push = Table([0.0], [[1.5]])
    smooth = simulate(m, [0.0], None, 10.0, push)
    sharp = simulate(m, [0.0], None, 10.0, push, friction="sharp")
    assert smooth.q[-1, 0] > 1e-3
    assert sharp.q[-1, 0] == 0


def test_friction_lets_go_where_the_load_exceeds_it():
    """F(t) = a t breaks loose at F / a, and accelerates from there: x = a (t - t0)^3 / 6 m."""
    F, a = 2.0, 1.0
    m = cart(coulomb=F)
    motion = simulate(
        m,
        [0.0],
        None,
        [0.0, 1.0, 2.0, 3.0, 4.0],
        traced(lambda t, q, v: a * t),
        friction="sharp",
        **TIGHT,
    )
    t = np.maximum(motion.t - F / a, 0)
    np.testing.assert_allclose(motion.q[:, 0], a * t**3 / (6 * MASS), atol=1e-9)
    np.testing.assert_allclose(motion.a[:, 0], a * t / MASS, atol=1e-9)


def test_a_block_on_a_moving_belt_sticks_and_slips():
    """It rides along until the spring pulls as hard as the belt, and swings then with the belt's speed as its largest."""
    k, Fk, belt = 40.0, 5.0, 0.2
    w = np.sqrt(k / MASS)
    m = cart(stiffness=k)
    grip = law(lambda t, x, v: Fk * casadi.sign(belt - v))
    motion = simulate(m, [0.0], [belt], 5.0, grip, **TIGHT)
    sticks = Fk / k / belt
    riding = motion.t < sticks
    np.testing.assert_allclose(motion.q[riding, 0], belt * motion.t[riding], atol=1e-10)
    after = motion.t[~riding] - sticks
    np.testing.assert_allclose(
        motion.q[~riding, 0], Fk / k + belt / w * np.sin(w * after), atol=1e-7
    )


def test_friction_on_loops_and_in_batches():
    """A motor weaker than the friction of its joint moves nothing, one stronger does; each as if it were alone."""
    m = es.load("five_bar").with_gravity((0, 0, 0))
    m = m.with_joint(m.actuated[0], coulomb=0.05)
    tau, t = np.array([[0.02, 0.0], [0.2, 0.0]]), np.linspace(0, 0.1, 3)
    both = simulate(m, m.home(), None, t, tau, friction="sharp")
    for k in range(2):
        one = simulate(m, m.home(), None, t, tau[k], friction="sharp")
        np.testing.assert_array_equal(both.q[k], one.q)
        np.testing.assert_array_equal(both.a[k], one.a)
    np.testing.assert_allclose(both.q[0, -1], m.home(), atol=1e-12)
    assert np.abs(both.q[1, -1] - m.home()).max() > 1e-3


@pytest.mark.parametrize(
    ("m", "options", "sentence"),
    [
        (cart(), {}, "no joint of cart has Coulomb friction"),
        (cart(coulomb=1.0), {"method": "rk4", "step": 0.01}, "rk4 takes fixed steps"),
        (cart(coulomb=1.0), {"friction": "rough"}, "friction is 'smooth' or 'sharp'"),
    ],
)
def test_friction_that_cannot_be_is_refused(m, options, sentence):
    with pytest.raises(es.EslabonError, match=sentence):
        simulate(m, [0.0], None, 1.0, **{"friction": "sharp", **options})


# Stops ----------------------------------------------------------------------------------------------------------------


def test_elastic_stops_give_back_all_and_on_time():
    """Between two springs at +-d the period is 2 pi / w + 4 d / v, over fifty bounces."""
    k, d, v0 = 1e6, 0.3, 2.0
    m = cart(limits=(-d, d))
    period = 2 * np.pi / np.sqrt(k / MASS) + 4 * d / v0
    motion = simulate(m, [0.0], [v0], period * np.arange(26), stops=Stops(k, 0.0), **TIGHT)
    np.testing.assert_allclose(motion.q[:, 0], 0, atol=1e-7)
    np.testing.assert_allclose(motion.v[:, 0], v0, rtol=1e-8)
    np.testing.assert_allclose(motion.energy.total, MASS * v0**2 / 2, rtol=1e-8)


def test_batches_of_bounces_equal_their_single_runs():
    m = cart(limits=(-0.2, 0.2))
    v0 = np.array([[0.5], [1.0], [3.0]])
    many = simulate(m, np.zeros((3, 1)), v0, np.linspace(0, 1, 21), stops=True)
    for k in range(3):
        np.testing.assert_array_equal(many.q[k], simulate(m, [0.0], v0[k], many.t, stops=True).q)


# Users' events --------------------------------------------------------------------------------------------------------


def test_an_event_that_turns_between_two_looks_is_seen():
    """x touches a line and turns within a quarter of a step."""
    apex = 0.5 * 1.0**2 / 0.5  # of x'' = -1/2 from v = 1
    for below in (1e-3, 1e-5):
        motion = simulate(
            cart(),
            [0.0],
            [1.0],
            8.0,
            Table([0.0], [[-0.5 * MASS]]),
            events={"line": lambda t, q, v, below=below: q[0] - (apex - below)},
        )
        np.testing.assert_allclose(
            motion.events["line"].t, 2 + np.array([-1, 1]) * np.sqrt(below / 0.25), atol=1e-8
        )
