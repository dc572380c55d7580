"""Optimal motions against laws found by hand, bang-bang control, forward simulation, random motions, and what cannot be."""

from dataclasses import replace

import casadi
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import eslabon as es
from eslabon.optimize import motion_search, motion_verification
from eslabon.optimize.motion_equations import instant, mapped
from eslabon.optimize.motion_limits import driven
from eslabon.optimize.motion_spline import MotionSpline, SplineBasis
from eslabon.solve.constraints.closed_configurations import around, generic
from randomness import seeded

MASS, FORCE, FAR = 2.0, 8.0, 1.0
QUICKEST = 2 * np.sqrt(
    MASS * FAR / FORCE
)  # of a cart from rest to rest: the full force forth, then back


def slide(b, name, parent, child, axis, mass, **more):
    return b.body(child, mass=mass).joint(name, "prismatic", parent, child, axis=axis, **more)


@pytest.fixture(scope="module")
def cart():
    return slide(es.Builder("cart"), "x", "ground", "box", "x", MASS, effort_limit=FORCE).build()


@pytest.fixture(scope="module")
def gantry():
    """Two axes that know nothing of one another; the second carries 3 kg, the first 5 kg."""
    b = slide(es.Builder("gantry"), "x", "ground", "bridge", "x", 2.0)
    return slide(b, "y", "bridge", "hand", "y", 3.0).build()


@pytest.fixture(scope="module")
def elbow():
    return es.load("elbow")


@pytest.fixture(scope="module")
def lifted(elbow):
    """Least time of an arm that lifts itself."""
    return es.optimize.motion(elbow, [-1.2, 0.4], [0.3, 0.9], torque_limits=[40, 15], starts=2)


@pytest.fixture(scope="module")
def five_bar():
    return es.load("five_bar")


@pytest.fixture(scope="module")
def swung(five_bar):
    return es.optimize.motion(five_bar, [2.0, 1.0], [1.4, 1.2], torque_limits=0.005, starts=2)


def reached(m, found, steps=1000):
    """Where the mechanism gets to under the forces alone, from where the motion begins."""
    t = np.linspace(0, found.duration, 4001)
    forces = (t, found.at(t).tau)
    return m.simulate(
        found.q[0], None, found.duration, forces, method="rk4", step=found.duration / steps
    ).q[-1]


def random_motions(m, start, end, n, seed=0, intervals=6):
    """Coefficients of splines from rest to rest, at random about the straight way, (n, count, coordinates)."""
    rng = seeded(seed)
    basis = SplineBasis(intervals, 5)
    s = np.linspace(0, 1, basis.count - 4)[:, None]
    inside = (np.asarray(start) + s * (np.asarray(end) - start))[None] + rng.normal(
        size=(n, len(s), len(start))
    ) * 0.15
    inside[:, 0], inside[:, -1] = start, end
    return basis, np.concatenate([inside[:, :1]] * 2 + [inside] + [inside[:, -1:]] * 2, axis=1)


def least_durations(m, basis, coefficients, limits, guess=None):
    """How long each of these motions takes at least within force limits: M q'' and C q' go with 1/T², gravity does not."""
    made = []
    for c in coefficients:
        x, v, a, _ = MotionSpline(basis, (c,), np.ones(1)).at(np.linspace(0, 1, 80))
        try:
            q, v, a = (
                m.complete(x, v, a, guess, continuation=True, singular="error")
                if m.closed
                else (x, v, a)
            )
        except es.EslabonError:
            continue  # leads through a singular configuration
        still = m.inverse_dynamics(q, 0 * v, 0 * a)
        moving = m.inverse_dynamics(q, v, a) - still
        room = np.where(moving > 0, limits - still, limits + still)
        made.append(np.sqrt(np.max(np.abs(moving) / room)) if (room > 0).all() else np.inf)
    return np.array(made)


# -- laws that are known --------------------------------------------------------------------------------------------------


def test_the_least_time_of_a_cart_is_approached_from_above(cart):
    times = [
        es.optimize.motion(cart, [0.0], [FAR], at_rest="velocity", knots=k, starts=1).duration
        for k in (6, 12, 24, 48)
    ]
    assert (np.diff(times) < 0).all()
    assert min(times) > QUICKEST
    assert times[-1] == pytest.approx(QUICKEST, rel=2e-3)
    smooth = es.optimize.motion(
        cart, [0.0], [FAR], knots=48, starts=1
    )  # whose force begins and ends at zero
    assert QUICKEST < times[-1] < smooth.duration < 1.02 * QUICKEST


def test_units_do_not_matter():
    """A gram moved a micrometre, and a ship across a harbour."""
    for mass, force, far in ((1e-3, 1e-2, 1e-6), (2e7, 3e5, 900.0)):
        m = slide(es.Builder("cart"), "x", "ground", "box", "x", mass, effort_limit=force).build()
        found = es.optimize.motion(m, [0.0], [far], at_rest="velocity", knots=24, starts=1)
        assert 1 < found.duration / (2 * np.sqrt(mass * far / force)) < 1.005


def test_a_pendulum_is_lifted_by_one_switch():
    """Bang-bang control of one degree of freedom: full torque up to a switch, full torque back from there."""
    m = es.Builder("pendulum", gravity=(0, -9.81, 0)).body("rod", mass=1.0, com=(0.5, 0, 0), inertia=(0, 1 / 12, 1 / 12)).joint(
        "theta", "revolute", "ground", "rod", effort_limit=12.0).build()  # fmt: skip
    start, end, inertia = -1.4, 0.6, 1 / 3

    def arc(q0, tau, sign):
        """Times and speeds over the angle, from rest."""

        def rates(t, x):
            return [sign * x[1], sign * (tau - 0.5 * 9.81 * np.cos(x[0])) / inertia]

        return solve_ivp(rates, (0, 3.0), [q0, 0.0], rtol=1e-10, atol=1e-12, dense_output=True).sol

    up, down = arc(start, 12.0, 1), arc(end, -12.0, -1)

    def when(sol, q, falling):
        return brentq(lambda t: (sol(t)[0] - q) * (-1 if falling else 1), 1e-9, 1.0)

    switch = brentq(
        lambda q: up(when(up, q, False))[1] - down(when(down, q, True))[1], start + 0.05, end - 0.05
    )
    least = when(up, switch, False) + when(down, switch, True)
    found = es.optimize.motion(m, [start], [end], at_rest="velocity", knots=30, starts=1)
    assert least < found.duration < 1.005 * least


def test_the_slower_axis_of_a_gantry_sets_the_time(gantry):
    found = es.optimize.motion(
        gantry, [0, 0], [1, 1], torque_limits=[10, 4], at_rest="velocity", knots=24, starts=2
    )
    slow, quick = 2 * np.sqrt(3 * 1 / 4), 2 * np.sqrt(5 * 1 / 10)
    assert slow > quick
    assert slow < found.duration < 1.005 * slow
    forces = {c.name: c for c in found.checks if c.quantity == "force"}
    assert forces["y"].margin < 2e-3
    assert forces["x"].margin > 0.1  # there is time to spare, and nothing is gained by haste


def test_minimum_jerk_is_the_quintic(elbow):
    """Flash and Hogan: from rest to rest the fifth-degree polynomial; its integral of jerk² is 720 d²/T⁵."""
    found = es.optimize.motion(elbow, [0.0, 0.5], [1.0, -0.2], "jerk", duration=1.5, starts=2)
    s = np.linspace(0, 1, 31)[:, None]
    line = np.array([0.0, 0.5]) + (10 * s**3 - 15 * s**4 + 6 * s**5) * [1.0, -0.7]
    assert found.at(1.5 * s[:, 0]).q == pytest.approx(line, abs=1e-9)
    assert found.value == pytest.approx(720 * (1.0 + 0.49) / 1.5**5, rel=1e-6)


def test_minimum_effort_of_a_cart_is_the_cubic(cart):
    """The force falls linearly in time, so that the integral of its square is 12 m² d²/T³."""
    found = es.optimize.motion(
        cart,
        [0.0],
        [FAR],
        "effort",
        duration=1.5,
        at_rest="velocity",
        torque_limits=np.inf,
        starts=2,
    )
    s = np.linspace(0, 1, 31)
    assert found.at(1.5 * s).q[:, 0] == pytest.approx(3 * s**2 - 2 * s**3, abs=1e-9)
    assert found.value == pytest.approx(12 * MASS**2 / 1.5**3, rel=1e-9)
    own = es.optimize.motion(
        cart,
        [0.0],
        [FAR],
        lambda s: s.tau[0] ** 2,
        duration=1.5,
        at_rest="velocity",
        torque_limits=np.inf,
        starts=1,
    )
    assert own.value == pytest.approx(found.value, rel=1e-6)


def test_least_energy_of_a_cart_is_that_of_the_least_top_speed(cart):
    """sum |tau v| is what is put into the box and taken out, m v²; with force F in time T the speed v has d = v (T - m v/F)."""
    T = 1.5
    top = min(np.roots([MASS / FORCE, -T, FAR]).real)
    found = es.optimize.motion(
        cart, [0.0], [FAR], "energy", duration=T, at_rest="velocity", knots=24, starts=2
    )
    assert MASS * top**2 < found.value < 1.03 * MASS * top**2
    assert found.unit == "J"
    slow = es.optimize.motion(cart, [0.0], [FAR], "energy", duration=(1.2, 3.0), starts=1)
    assert slow.duration == pytest.approx(3.0, rel=1e-6)


# -- limits that bind -----------------------------------------------------------------------------------------------------


def test_velocity_and_acceleration_limits_give_the_trapezoid(cart):
    found = es.optimize.motion(
        cart,
        [0.0],
        [FAR],
        at_rest="velocity",
        velocity_limits=1.2,
        acceleration_limits={"x": 3.0},
        knots=40,
        starts=1,
    )
    least = FAR / 1.2 + 1.2 / 3.0
    assert least < found.duration < 1.005 * least
    assert {c.quantity for c in found.checks if c.margin < 2e-3} == {"velocity", "acceleration"}


def test_a_jerk_limit_gives_the_least_time_of_a_double_s(cart):
    """Jerk +J, -J, +J over a quarter, a half and a quarter of the time: d = J T³/32."""
    found = es.optimize.motion(
        cart, [0.0], [FAR], torque_limits=np.inf, jerk_limits=60.0, knots=40, starts=1
    )
    least = (32 * FAR / 60.0) ** (1 / 3)
    assert least < found.duration < 1.02 * least


def test_limits_of_positions_are_kept(elbow):
    """The arm would swing its forearm in; its joint does not let it."""
    short = elbow.with_joint("theta2", limits=(-0.05, 0.3), home=0.0)
    free = es.optimize.motion(elbow, [-1.5, 0.0], [1.5, 0.0], torque_limits=[25, 8], starts=2)
    found = es.optimize.motion(short, [-1.5, 0.0], [1.5, 0.0], torque_limits=[25, 8], starts=2)
    assert np.abs(free.q[:, 1]).max() > 0.5
    bent = found.at(np.linspace(0, found.duration, 3000)).q[:, 1]
    assert bent.min() >= -0.05 - 1e-9
    assert bent.max() <= 0.3 + 1e-9
    assert found.duration > free.duration


def test_what_is_demanded_besides_is_kept(elbow):
    """Left to itself the arm folds; what it carries does not allow that."""

    def reach(s):
        return casadi.norm_2(s.m.pose(s.q, "tool")[:3, 3])

    ends, given = ([-2.2, 0.0], [-0.94, 0.0]), {"torque_limits": [45, 15], "starts": 2}
    free = es.optimize.motion(elbow, *ends, **given)
    found = es.optimize.motion(elbow, *ends, subject_to={"reach": (reach, 1.9, None)}, **given)
    least = [
        np.linalg.norm(
            elbow.pose(x.at(np.linspace(0, x.duration, 2000)).q, "tool")[:, :3, 3], axis=1
        ).min()
        for x in (free, found)
    ]
    assert least[0] < 1.8
    assert least[1] >= 1.9
    assert found.duration > free.duration
    (check,) = (c for c in found.checks if c.name == "reach")
    assert check.least == pytest.approx(least[1], abs=1e-3)


# -- found motions, looked at from outside --------------------------------------------------------------------------------


def test_forces_of_an_arm_are_within_limits_on_another_grid(elbow, lifted, rng):
    t = rng.uniform(0, lifted.duration, 4000)
    now = lifted.at(t)
    for formulation in ("newton_euler", "lagrange", "lie"):
        tau = elbow.inverse_dynamics(now.q, now.v, now.a, formulation=formulation)
        assert (np.abs(tau) <= [40, 15]).all()
    assert np.abs(tau).max(axis=0) == pytest.approx([40, 15], rel=5e-3)  # both are used
    h = 1e-5
    before, after = (
        lifted.at(t * 0.99 + 0.005 * lifted.duration - h),
        lifted.at(t * 0.99 + 0.005 * lifted.duration + h),
    )
    middle = lifted.at(t * 0.99 + 0.005 * lifted.duration)
    assert (after.q - before.q) / (2 * h) == pytest.approx(middle.v, abs=1e-5)
    assert (after.v - before.v) / (2 * h) == pytest.approx(middle.a, abs=1e-3)


def test_an_arm_gets_there_under_the_forces_alone(elbow, lifted):
    assert reached(elbow, lifted) == pytest.approx([0.3, 0.9], abs=1e-4)
    assert lifted.q[0].tolist() == [-1.2, 0.4]
    assert lifted.q[-1] == pytest.approx([0.3, 0.9], abs=1e-12)
    assert np.abs([lifted.v[[0, -1]], lifted.a[[0, -1]]]).max() < 1e-9


def test_no_random_motion_of_an_arm_is_faster(elbow, lifted):
    others = least_durations(
        elbow, *random_motions(elbow, [-1.2, 0.4], [0.3, 0.9], 300), np.array([40.0, 15.0])
    )
    assert np.isfinite(others).sum() > 100
    assert lifted.duration < others.min()
    assert lifted.duration > 0.5 * others.min()


def test_a_five_bar_is_closed_and_within_limits_on_another_grid(five_bar, swung, rng):
    t = rng.uniform(0, swung.duration, 2000)
    x, v, a = swung.path(np.sort(t))  # the driven joints; the others are found anew
    q, v, a = five_bar.complete(x, v, a, swung.q[0], continuation=True)
    assert np.abs(five_bar.constraint(q)).max() < 1e-9
    now = swung.at(np.sort(t))
    assert q == pytest.approx(now.q, abs=1e-8)
    assert v == pytest.approx(now.v, abs=1e-6)
    assert np.abs(five_bar.inverse_dynamics(q, v, a, formulation="lagrange")).max() <= 0.005
    assert np.abs(now.tau).max() > 0.99 * 0.005
    assert swung.checks.margin >= 0
    assert not {c.name: c for c in swung.checks}["loops"].least < 0.1


def test_a_five_bar_gets_there_under_the_forces_alone(five_bar, swung):
    end = five_bar.assemble([1.4, 1.2], swung.q[0])
    assert reached(five_bar, swung) == pytest.approx(end, abs=1e-4)


def test_no_other_motion_of_a_five_bar_is_faster(five_bar, swung):
    limits, ends = np.array([0.005, 0.005]), ([2.0, 1.0], [1.4, 1.2])
    basis = SplineBasis(6, 5)
    s = np.linspace(0, 1, 60)
    straight = [np.array(ends[0]) + law[:, None] * np.subtract(ends[1], ends[0]) for law in (10 * s**3 - 15 * s**4 + 6 * s**5, s - np.sin(2 * np.pi * s) / (2 * np.pi))]  # fmt: skip
    ways = [basis.fitted(s, x) for x in straight]
    others = least_durations(five_bar, basis, ways, limits, swung.q[0])
    assert (swung.duration < others).all()
    assert (swung.duration > 0.6 * others).all()
    _, random = random_motions(five_bar, *ends, 100)
    others = least_durations(five_bar, basis, random, limits, swung.q[0])
    assert len(others) > 50
    assert swung.duration < others.min()


def test_redundant_actuators_share_the_load(five_bar):
    """Four actuators, of two degrees of freedom: minimum-norm forces are within limits, and less than two need."""
    m = five_bar.with_actuated([j.name for j in five_bar.joints])
    assert m.nu == 4
    q = m.assemble({name: five_bar.home()[k] for k, name in ((0, "theta2"), (2, "theta5"))})
    end = m.assemble({"theta2": q[0] + 0.1, "theta5": q[2] - 0.1}, q)
    found = es.optimize.motion(m, q, end, torque_limits=0.004, starts=1, knots=6)
    now = found.at(np.linspace(0, found.duration, 200))
    assert np.abs(m.inverse_dynamics(now.q, now.v, now.a)).max() <= 0.004
    two = es.optimize.motion(five_bar, q, end, torque_limits=0.004, starts=1, knots=6)
    assert found.duration < two.duration


# -- via points, starts ---------------------------------------------------------------------------------------------------


def test_a_via_point_on_the_way_costs_nothing(cart):
    whole = es.optimize.motion(cart, [0.0], [FAR], at_rest="velocity", knots=24, starts=1)
    found = es.optimize.motion(
        cart, [0.0], [FAR], via=[0.5 * FAR], at_rest="velocity", knots=12, starts=1
    )
    assert found.duration == pytest.approx(whole.duration, rel=1e-2)
    assert found.duration > QUICKEST


def test_via_points_are_passed_smoothly_in_their_order(gantry):
    via = np.array([[0.5, 0.6], [0.8, 0.1]])
    found = es.optimize.motion(gantry, [0, 0], [1, 1], via=via, torque_limits=10, knots=6, starts=2)
    at = found.spline.breaks
    assert len(at) == 4
    assert found.at(at).q == pytest.approx(np.array([[0, 0], *via, [1, 1]]), abs=1e-9)
    for t in at[1:-1]:
        before, after = found.at(t - 1e-7), found.at(t + 1e-7)
        assert after.v == pytest.approx(before.v, abs=1e-4)
        assert after.a == pytest.approx(before.a, abs=1e-2)
        assert np.abs(found.at(t).v).max() > 0.1  # without a stop
    direct = es.optimize.motion(gantry, [0, 0], [1, 1], torque_limits=10, knots=6, starts=1)
    assert found.duration > direct.duration
    assert (np.diff(found.t) > 0).all()


def test_starts_are_recorded_and_repeat(elbow):
    one, two = (
        es.optimize.motion(
            elbow, [0, 0], [0.5, 0.5], torque_limits=[30, 10], starts=3, seed=5, knots=6
        )
        for _ in range(2)
    )
    assert one.duration == two.duration
    assert [s.number for s in one.starts] == [1, 2, 3]
    begun = [s.begun["spline 1"] for s in one.starts]
    middle = begun[0][len(begun[0]) // 2]
    assert middle == pytest.approx([0.25, 0.25], abs=1e-6)  # the straight way is the first
    assert min(np.abs(b - begun[0]).max() for b in begun[1:]) > 1e-2
    assert one.starts.best.value == min(s.value for s in one.starts if s.accepted)
    assert one.duration == pytest.approx(one.starts.best.value, rel=2e-2)  # limits between instants


def test_a_motion_shows_itself(lifted):
    assert "OptimalMotion of elbow" in repr(lifted)
    assert "theta2" in repr(lifted.checks)
    assert lifted.checks.nearest.margin == lifted.checks.margin
    html = lifted._repr_html_()
    assert "Solve Succeeded" in html
    assert "theta2" in html
    assert [ax.get_ylabel() for ax in lifted.plot("motion").axes] == [
        "[rad]",
        "[rad/s]",
        "[rad/s²]",
    ]
    for ax in lifted.plot().axes:
        assert len(ax.lines) == 3  # the force, between its limits
    with pytest.raises(es.InputError, match="outside"):
        lifted.at(2 * lifted.duration)
    with pytest.raises(es.ModelError, match="did you mean 'forces'"):
        lifted.plot("force")


# -- a verification that can fail -----------------------------------------------------------------------------------------


@pytest.fixture
def looked_at(five_bar, swung):
    own = motion_verification.Seen(
        swung.spline,
        (),
        swung.t,
        swung.q,
        swung.v,
        swung.a,
        swung.a,
        swung.tau,
        swung.tau,
        np.zeros((len(swung.t), 1)),
        swung.t,
    )
    again = motion_verification.by_another_formulation(five_bar)

    def verdict(end=swung.q[-1], **changed):
        return motion_verification.unconfirmed(five_bar, replace(own, **changed), end, again)

    return verdict


def test_a_motion_that_is_none_is_refused(five_bar, swung, looked_at):
    assert looked_at() is None
    assert "by the formulation 'lagrange' its forces differ by" in looked_at(tau=swung.tau * 1.001)
    assert "by the formulation 'lagrange' its forces differ by" in looked_at(a=swung.a + 0.1)
    assert "violates loop closure by" in looked_at(
        q=swung.q + np.array([0, 0, 1e-4, 0]), tau=five_bar_forces(five_bar, swung)
    )
    assert "in another assembly mode" in looked_at(end=five_bar.assembly_modes([1.4, 1.2])[1])


def five_bar_forces(m, swung):
    again = motion_verification.by_another_formulation(m)
    return motion_verification.mapped(again, swung.q + np.array([0, 0, 1e-4, 0]), swung.v, swung.a)[
        0
    ]


def test_limits_that_are_broken_in_between_are_not_let_pass(monkeypatch, elbow):
    """Without further rounds the peaks between the instants of the program stay."""
    given = {"torque_limits": [30, 10], "knots": 6, "starts": 1}
    monkeypatch.setattr(motion_search, "ROUNDS", 0)
    with pytest.raises(
        es.OptimizationError, match="no motion that was found keeps its limits; give more knots"
    ):
        es.optimize.motion(elbow, [0, 0], [0.5, 0.5], **given)


def test_forces_by_a_wrong_formula_are_refused(monkeypatch, elbow):
    def wrong(m):
        q, v, a = (casadi.SX.sym(x, 2) for x in "qva")
        return casadi.Function("wrong", [q, v, a], [m.inverse_dynamics(q, v, a) * 1.01])

    monkeypatch.setattr(motion_search, "by_another_formulation", wrong)
    with pytest.raises(
        es.OptimizationError, match=r"none is confirmed; of the best: by the formulation 'lagrange'"
    ):
        es.optimize.motion(elbow, [0, 0], [0.5, 0.5], torque_limits=[30, 10], knots=6, starts=1)


# -- what is refused ------------------------------------------------------------------------------------------------------

ARM = {"start": [0.0, 0.0], "end": [0.5, 0.5], "torque_limits": [30, 10], "starts": 1, "knots": 6}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"objective": "tme"}, "did you mean 'time'"),
        ({"objective": 3}, "a word or a function of the state; it is 3"),
        ({"objective": "effort"}, "when the motion may take any time; give duration="),
        ({"duration": 1.0}, "the objective 'time' seeks the duration"),
        ({"objective": "effort", "duration": (2.0, 1.0)}, "between 2 and 1 s: that is an empty range"),
        ({"objective": "effort", "duration": (1.0, 1.0)}, "empty range"),
        ({"objective": "effort", "duration": -1.0}, "duration is a number greater than zero; it is -1"),
        ({"objective": "effort", "duration": np.nan}, "duration is a number greater than zero; it is nan"),
        ({"objective": "effort", "duration": 0.05}, "no feasible motion from 1 start; the nearest violates 'force'"),
        ({"objective": lambda s: s.q}, "the objective gives 2 numbers"),
        ({"objective": lambda s: None, "duration": 1.0}, "it gives None"),
        ({"objective": lambda s: s.q[7], "duration": 1.0}, "out of bounds with supplied length of 2"),
        ({"objective": lambda s: 1 / s.q[0], "duration": 1.0}, "the objective is not finite on the straight way from start to end"),
        ({"objective": lambda s: -1.0}, "gets less the longer the motion takes, without end; give duration"),
        ({"end": [0.0, 0.0]}, "point 1 and point 2 of the motion of elbow are the same"),
        ({"via": [0.5, 0.5]}, "point 2 and point 3 of the motion of elbow are the same"),
        ({"end": [0.5, np.nan]}, "end holds a number that is not finite"),
        ({"end": [0.5, 0.5, 0.5]}, r"end has the shape \(3,\); elbow has 2 coordinates"),
        ({"start": "folded"}, "elbow has no mode 'folded'"),
        ({"torque_limits": [5, 5]}, "cannot rest at its start: 'theta1' needs 19.62 N m to hold it, and its limit is 5 N m"),
        ({"torque_limits": None}, "the least time of any motion is zero; give torque_limits"),
        ({"torque_limits": np.inf}, "the least time of any motion is zero"),
        ({"torque_limits": -3.0}, "torque_limits is greater than zero"),
        ({"torque_limits": {"theta3": 3.0}}, "did you mean 'theta2'"),
        ({"torque_limits": [1, 2, 3]}, "torque_limits is a number, or 2 of them"),
        ({"subject_to": {"low": (lambda s: s.q[0], 1.0, 0.5)}}, "leaves no room"),
        ({"subject_to": {"low": (lambda s: s.q[0], 0.2, None)}}, "at its start the motion has 0 for 'low', which is to be 0.2 at least"),
        ({"subject_to": {"force": (lambda s: s.q[0], 0.2, None)}}, "call it otherwise"),
        ({"subject_to": {"low": 3}}, r"subject_to\['low'\] is \(function of the state, least, most\)"),
        ({"at_rest": "no"}, "at_rest is True, False or 'velocity'"),
        ({"knots": 2}, "knots is a whole number, at least 4"),
        ({"degree": 3}, "degree is 4 or 5; it is 3"),
        ({"starts": 0}, "starts is a whole number, at least 1"),
        ({"iterations": 2}, "Give more iterations, or more starts"),
    ],
)  # fmt: skip
def test_nonsense_ends_in_a_sentence(elbow, change, sentence):
    with pytest.raises(es.EslabonError, match=sentence) as refused:
        es.optimize.motion(elbow, **{**ARM, **change})
    assert "\n" not in str(refused.value)


def test_a_limit_of_nothing_that_moves(gantry):
    with pytest.raises(
        es.OptimizationError, match="nothing that is limited keeps it from being done at once"
    ):
        es.optimize.motion(
            gantry, [0, 0], [0, 1], acceleration_limits={"x": 1.0}, starts=1, knots=6
        )


def test_ends_that_a_closed_mechanism_does_not_have(five_bar):
    here, other = five_bar.assembly_modes([2.0, 1.0])[0], five_bar.assembly_modes([1.4, 1.2])[1]
    given, short = (
        {"torque_limits": 0.005, "starts": 2, "knots": 6},
        five_bar.with_parameters(L3=0.08, L4=0.08),
    )
    with pytest.raises(es.AssemblyError, match="end: "):
        es.optimize.motion(short, short.home(), [3.1, 0.0], **given)
    with pytest.raises(
        es.AssemblyError, match=r"another assembly mode.*an end on the branch of the start"
    ):
        es.optimize.motion(five_bar, here, other, **given)
    with pytest.raises(
        es.AssemblyError,
        match=r"start violates loop closure of five_bar by .* take it from m.assemble",
    ):
        es.optimize.motion(five_bar, here + 0.1, other, **given)


def test_mechanisms_whose_motion_is_not_to_choose():
    given = {"torque_limits": 50.0, "starts": 1}
    with pytest.raises(es.EslabonError, match=r"its actuators \(x\) leave 1 of them uncontrolled"):
        es.optimize.motion(es.load("cart_pole"), [0, 0], [1, 0], **given)
    ball = (
        es.Builder("ball")
        .body("b", mass=1.0, inertia=(1, 1, 1))
        .joint("s", "spherical", "ground", "b")
        .build()
    )
    with pytest.raises(
        es.ModelError, match=r"joint 's' of ball turns by a quaternion.* three revolute joints"
    ):
        es.optimize.motion(ball, [1, 0, 0, 0], [0, 1, 0, 0], **given)
    with pytest.raises(es.InputError, match="a motion is one of a mechanism; it was given 'elbow'"):
        es.optimize.motion("elbow", [0, 0], [1, 1], **given)


def test_points_beyond_the_limits_of_joints():
    with pytest.raises(
        es.InputError, match=r"end has 'q1' at 5 rad, beyond its limits .* or pass limits=False"
    ):
        es.optimize.motion(
            es.load("puma560"), np.zeros(6), np.full(6, 5.0), torque_limits=100.0, starts=1
        )


def test_a_motion_keeps_away_from_singular_configurations_by_the_condition_of_the_mechanism():
    """What it bounds is `conditions().parallel` over that of an ordinary configuration."""
    m = es.load("five_bar")
    own = driven(m)
    q = np.stack(list(around(m)))
    still = np.zeros((len(q), m.nv))
    at = instant(own, (), (), "time")
    _, near = mapped(at.forces, q, still, still)
    expected = m.conditions(q).parallel / m.conditions(generic(m)).parallel
    np.testing.assert_allclose(near[:, 0], expected, rtol=1e-12)
