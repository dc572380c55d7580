"""Through a singular configuration a motion goes on along its branch, as exactly as without one; and it says so, and when, however
few of its states are reported."""

from __future__ import annotations

import re
import warnings
from itertools import pairwise

import numpy as np
import pytest

import eslabon as es
from eslabon.motion.simulation.applied_system import System
from eslabon.motion.simulation.branch_neighbours import Branch
from eslabon.motion.simulation.branch_rates import BranchRates
from eslabon.motion.trajectory import Trajectory
from motion.simulation.change_points import (
    GRAVITY,
    alone,
    change_point,
    change_point_equation,
    change_point_state,
    falling_windows,
    pendulum_rate,
    rod,
    windows,
)

METHODS = [
    ("DOP853", {}),
    ("RK45", {"rtol": 1e-5}),
    ("Radau", {"rtol": 1e-5}),
    ("rk4", {"step": 2e-3}),
]
DRIVEN = [("DOP853", {}), ("rk4", {"step": 5e-3})]


def told(m, q0, v0, t, **options):
    """The time at which a run says that it passed a singular configuration; None where it is silent."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        m.simulate(q0, v0, t, **options)
    found = [
        re.search(r"at t = (\S+) s", str(w.message))
        for w in said
        if w.category is es.SingularityWarning
    ]
    assert len(found) < 2
    return float(found[0][1]) if found else None


def flat(m, q0, v0, duration):
    """When the crank first comes to lie along the base."""
    fine = m.simulate(
        q0, v0, np.linspace(0, duration, 2001), singular="ignore", rtol=1e-10, atol=1e-12
    )
    crank = fine.q[:, 0] / np.pi
    passed = np.flatnonzero(np.floor(crank[1:]) != np.floor(crank[:-1]))
    return fine.t[passed[0]] if len(passed) else None


@pytest.mark.parametrize(("method", "options"), METHODS)
@pytest.mark.parametrize("name", ["parallelogram", "n_four_bar"])
def test_the_time_is_the_same_whatever_is_reported(name, method, options, rng):
    m = es.load(name)
    for _ in range(3):
        q0, v0, _ = m.complete([rng.uniform(0.5, 2.5)], [rng.normal() * 3], [0.0])
        want, seldom = flat(m, q0, v0, 2.0), {"every": 700} if method == "rk4" else {}
        for t, more in (([0.0, 1.0, 2.0], {}), (np.linspace(0, 2, 7), {}), (2.0, seldom)):
            got = told(m, q0, v0, t, method=method, **options, **more)
            assert (got is None) == (want is None)
            assert want is None or abs(got - want) < 0.02


@pytest.mark.parametrize(("method", "options"), DRIVEN)
def test_a_python_function_hides_nothing(method, options):
    m = es.load("parallelogram")
    q0, v0, _ = m.complete([1.0], [-6.0], [0.0])
    law = {"control": lambda t, q, v: np.zeros(m.nu)}
    assert told(m, q0, v0, [0, 0.5, 1], method=method, **options, **law) == pytest.approx(
        flat(m, q0, v0, 1.0), abs=0.01
    )


@pytest.mark.parametrize(("method", "options"), METHODS)
def test_as_an_error_it_comes_with_the_motion_before(method, options):
    m = es.load("parallelogram")
    q0, v0, _ = m.complete([1.0], [-6.0], [0.0])
    with pytest.raises(es.SingularityError, match=r"at t = 0\.\d+ s") as caught:
        m.simulate(q0, v0, [0, 0.05, 2.0, 4.0], method=method, singular="error", **options)
    assert (caught.value.motion.t == [0, 0.05]).all()


@pytest.mark.parametrize(("method", "options"), [("DOP853", {}), ("rk4", {"step": 2e-3})])
def test_of_many_trajectories_those_that_pass_are_counted(method, options):
    m = es.load("parallelogram")
    q0, v0, _ = m.complete(
        np.array([[1.0], [1.0], [1.5]]), np.array([[-6.0], [0.0], [-6.0]]), np.zeros((3, 1))
    )
    with pytest.warns(
        es.SingularityWarning, match=r"in 2 of 3 trajectories, the first at t = 0\.\d+ s"
    ):
        m.simulate(q0, v0, [0, 0.1, 0.28], method=method, **options)


@pytest.mark.parametrize(
    "name",
    ["slider_crank", "diaz_four_bar", "five_bar", "planar_3rrr", "rssr", "bennett", "bricard"],
)
def test_dead_centres_and_redundant_rows_are_no_singularities(name, rng):
    """There other coordinates are independent, or other rows redundant, and no branches meet."""
    m = es.load(name)
    q0 = m.project(m.home())
    v0 = m.project(q0, 5 * rng.normal(size=m.nv))[1]
    assert told(m, q0, v0, [0.0, 1.0, 2.0]) is None
    assert told(m, q0, v0, 1.0, method="rk4", step=1e-3, every=300) is None


# Numbers -------------------------------------------------------------------------------------------------------------


def reached(m, q, v, t, rtol, **options):
    """The motion, at a tolerance."""
    return m.simulate(q, v, t, rtol=rtol, atol=rtol / 100, singular="ignore", **options)


def bound(rtol, ideal):
    """The error that a run with loops may have, beside that of the one equation by the same method."""
    return max(100 * rtol ** (7 / 8), 3 * abs(ideal))


@pytest.mark.parametrize(("count", "seconds"), [(2, 6.0), (3, 6.0), (10, 4.0)])
def test_a_tighter_tolerance_gives_a_better_answer(count, seconds):
    """Windows fall as one pendulum; the whole grid of tolerances and speeds is a benchmark."""
    speed, rate, worst = -3.1, pendulum_rate(count), []
    exact = alone(rate, np.pi / 2, speed, seconds)[0]
    m, q, v = falling_windows(count, np.pi / 2, speed)
    for rtol in (1e-4, 1e-6, 1e-8, 1e-10, 1e-12):
        motion = reached(m, q, v, seconds, rtol)
        ideal, evaluations = alone(rate, np.pi / 2, speed, seconds, rtol)
        worst.append(abs(motion.q[-1, m.coordinates["r0"].start] - exact))
        assert worst[-1] < bound(rtol, ideal - exact)
        assert motion.statistics.evaluations < 1.5 * evaluations + 60  # neighbours count
    assert all(b < a for a, b in pairwise(worst))


def test_on_a_curved_branch_the_worst_error_falls_with_every_tolerance():
    """Of eight speeds: never more than three times that of a tolerance ten times looser, and near the bound of the method."""
    f, m, worst = change_point_equation()[0], change_point(), []
    speeds = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0)
    exact = {speed: alone(f, 2.0, speed, 2.5)[0] for speed in speeds}
    for rtol in 10.0 ** -np.arange(4, 13):
        ends = {}
        for speed in speeds:
            q, v = change_point_state(2.0, speed)
            ends[speed] = reached(m, m.project(q), v, 2.5, rtol).q[-1, 0]
        worst.append(max(abs(ends[speed] - exact[speed]) for speed in speeds))
        assert worst[-1] < bound(rtol, 0.0)
    assert all(b < 3 * a for a, b in pairwise(worst))


def test_neighbours_tell_the_configuration_among_them():
    """Beside rank loss on the curved branch: its own place and velocities, with no bias by the distance."""
    for beside in (1e-4, 0.01, 0.02, 0.04):
        q, v = change_point_state(np.pi + beside, 6.0)
        found = Branch(change_point()).neighbours(0.0, np.concatenate([q, v]))
        np.testing.assert_allclose(found.centre, np.concatenate([q, v]), rtol=0, atol=5e-12)


@pytest.mark.parametrize("speed", [1.0, 4.0])
def test_a_change_point_four_bar_follows_its_curved_branch(speed):
    f = change_point_equation()[0]
    exact, m = alone(f, 2.0, speed, 2.5)[0], change_point()
    q, v = change_point_state(2.0, speed)
    for rtol in (1e-4, 1e-8, 1e-12):
        motion = reached(m, m.project(q), v, 2.5, rtol)
        ideal = alone(f, 2.0, speed, 2.5, rtol)[0]
        assert abs(motion.q[-1, 0] - exact) < bound(rtol, ideal - exact)


@pytest.mark.parametrize(("method", "rtol"), [("RK45", 1e-7), ("LSODA", 1e-9), ("Radau", 1e-7)])
def test_every_method_passes_as_on_the_one_equation(method, rtol):
    m, q, v = falling_windows(3, np.pi / 2, -2.3)
    exact = alone(pendulum_rate(3), np.pi / 2, -2.3, 3.0)[0]
    ideal = alone(pendulum_rate(3), np.pi / 2, -2.3, 3.0, rtol, method)[0]
    motion = reached(m, q, v, 3.0, rtol, method=method)
    assert abs(motion.q[-1, m.coordinates["r0"].start] - exact) < bound(rtol, ideal - exact)


LAWS = {
    "no law": None,
    "a Python function": lambda t, q, v: np.zeros(1),
    "a traced law": es.simulate.traced(lambda t, q, v: 0 * v[:1]),
    "a sampled law": es.simulate.sampled(
        es.simulate.traced(lambda t, q, v: 0 * v[:1]), period=0.02
    ),
    "a sampled Python function": es.simulate.sampled(lambda t, q, v: np.zeros(1), period=0.02),
}


@pytest.mark.parametrize("law", LAWS)
def test_rk4_is_of_fourth_order_through_passages(law):
    m, q, v = falling_windows(3, np.pi / 2, -3.1)
    exact, r0 = alone(pendulum_rate(3), np.pi / 2, -3.1, 3.0)[0], m.coordinates["r0"].start
    error = {}
    for h in (0.02, 0.01, 0.005):
        motion = m.simulate(q, v, 3.0, LAWS[law], method="rk4", step=h, every=5, singular="ignore")
        error[h] = abs(motion.q[-1, r0] - exact)
        assert motion.closure.max() < 1e-12
    assert error[0.005] < 2e-8
    assert error[0.02] / error[0.005] > 100  # 256 in the limit


def test_a_trajectory_passes_alike_in_any_batch():
    m, q, v = falling_windows(2, np.pi / 2, -1.0)
    speeds = np.array([1.0, 2.2, 3.1])[:, None]
    options = {"method": "rk4", "step": 5e-3, "every": 3, "singular": "ignore"}
    many = m.simulate(q, speeds * v, [0.0, 1.5], **options | {"every": 1})
    for k, speed in enumerate(speeds):
        one = m.simulate(q, speed * v, [0.0, 1.5], **options | {"every": 1})
        assert np.array_equal(one.q, many.q[k])
    seldom, often = (m.simulate(q, v, 1.5, **options | {"every": n}) for n in (3, 1))
    assert np.allclose(seldom.q, often.q[::3], rtol=0, atol=1e-11)


@pytest.mark.parametrize("count", [2, 10])
def test_rates_beside_rank_loss_are_those_of_the_branch(count, rng):
    """At any distance, and for states that are a little off the loops."""
    rates = BranchRates(System(windows(count)))
    for distance in (0.0, 1e-6, 1e-3, 0.015):
        _, q, v = falling_windows(count, distance, -3.0)
        exact = np.concatenate([v, v * pendulum_rate(count)(distance, -3.0) / -3.0])
        for offset in (0.0, 1e-8, 1e-4):
            x = np.concatenate([q, v]) + offset * rng.uniform(-1, 1, len(q) + len(v))
            assert np.abs(rates(0.0, x, np.zeros(1)) - exact).max() < 1e-8 + 3 * offset


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-6, 1e-3, 1e-2])
def test_a_start_beside_rank_loss_takes_the_branch_of_its_velocities(angle):
    m, q, v = falling_windows(3, angle, -2.0)
    exact, r0 = alone(pendulum_rate(3), angle, -2.0, 2.0)[0], m.coordinates["r0"].start
    for rtol in (1e-6, 1e-11):
        motion = reached(m, q, v, 2.0, rtol)
        ideal = alone(pendulum_rate(3), angle, -2.0, 2.0, rtol)[0]
        assert abs(motion.q[-1, r0] - exact) < bound(rtol, ideal - exact)
        assert motion.closure.max() < 1e-10
        assert np.ptp(motion.energy.total) < 1e-6 + 1e3 * rtol


@pytest.mark.parametrize("top", [-0.02, -1e-3, 0.0, 0.006])
def test_a_motion_that_turns_back_at_rank_loss(top):
    """It falls short of it, ends exactly there, or comes back through it."""
    rate = pendulum_rate(3)
    speed = np.sqrt(2 * -rate(0.0, 0.0) * (np.sin(top) - np.sin(-0.6)))
    m, q, v = falling_windows(3, -0.6, speed)
    exact, r0 = alone(rate, -0.6, speed, 1.0)[0], m.coordinates["r0"].start
    for rtol in (1e-5, 1e-11):
        ideal = alone(rate, -0.6, speed, 1.0, rtol)[0]
        motion = reached(m, q, v, 1.0, rtol)
        assert abs(motion.q[-1, r0] - exact) < bound(rtol, ideal - exact)


@pytest.mark.parametrize("spin", [0.0, 20.0])
def test_a_second_freedom_passes_along(spin):
    """A bar swings from a coupler, perhaps fast: the neighbours stand along the branch, not along the velocities."""
    m, q, v = falling_windows(2, 1.5, -1.0, free_bar=True)
    v[m.velocities["swing"]] = spin
    best = reached(m, q, v, 1.5, 1e-13).q[-1]
    for rtol in (1e-6, 1e-9, 1e-11):
        assert np.abs(reached(m, q, v, 1.5, rtol).q[-1] - best).max() < 100 * rtol ** (7 / 8)


@pytest.mark.parametrize("longer", [1e-8, 1e-6, 1e-4])
def test_a_coupler_slightly_too_long_turns_to_another_branch(longer):
    """The rods miss the line they would lie in: no interpolation across, and the user hears of the length."""
    m = change_point(longer)
    q = m.project(change_point_state(2.0, 2.0)[0])
    v = m.project(q, change_point_state(2.0, 2.0)[1])[1]
    with pytest.warns(es.simulate.SimulationWarning, match="D would lose a rank, by .* m"):
        motion = m.simulate(q, v, 2.5, rtol=1e-10, atol=1e-12)
    assert not motion.statistics.passages
    assert np.ptp(motion.energy.total) < 1e-5
    q, v = change_point_state(2.0, 2.0)
    through = reached(change_point(), change_point().project(q), v, 2.5, 1e-10)
    assert abs(motion.q[-1, 0] - through.q[-1, 0]) > 1


@pytest.mark.parametrize("longer", [2e-9, 4e-9, 8e-9])
@pytest.mark.parametrize("rtol", [1e-8, 1e-10])
def test_a_coupler_that_hardly_fits_passes_or_turns_and_loses_no_energy(longer, rtol):
    """About 1e-9 of the size: decided once a passage, for rates and reported states alike."""
    m = change_point(longer)
    q = m.project(change_point_state(2.0, 2.0)[0])
    v = m.project(q, change_point_state(2.0, 2.0)[1])[1]
    motion = reached(m, q, v, 2.5, rtol)
    along, aside = 13.7884, 10.3396
    assert min(abs(motion.q[-1, 0] - end) for end in (along, aside)) < 1e-3
    assert np.ptp(motion.energy.total) < 1e-3


def test_a_near_miss_that_round_off_hides_ends_in_a_sentence():
    m = change_point(4e-9)
    q = m.project(change_point_state(2.0, 2.0)[0])
    v = m.project(q, change_point_state(2.0, 2.0)[1])[1]
    with pytest.raises(
        es.simulate.SimulationError, match=r"misses a singular configuration there by \de-09 m"
    ) as caught:
        reached(m, q, v, 2.5, 1e-12)
    assert 0.39 < caught.value.motion.t[-1] < 0.4


@pytest.mark.parametrize("method", [{}, {"method": "rk4", "step": 5e-3}])
def test_a_start_that_tells_no_branch_is_refused(method):
    """At rest where the rods lie flat, or with a motion that has no part in it."""
    m, q, v = falling_windows(3, 0.0, 0.0)
    with pytest.raises(es.SingularityError, match=r"branches of B1, B2 and B3 meet.*Give a v0"):
        m.simulate(q, None, 1.0, **method)
    with pytest.raises(es.SingularityError, match=r"\(trajectory 1\)"):
        m.simulate([falling_windows(3, 0.5, 0.0)[1], q], None, 1.0, **method)
    m, q, v = falling_windows(2, 0.0, 0.0, free_bar=True)
    v[m.velocities["swing"]] = 3.0
    with pytest.raises(es.SingularityError, match="branches of B1 and B2 meet"):
        m.simulate(q, v, 1.0, **method)


@pytest.mark.parametrize("angle", [1e-5, 1e-3, 0.02])
@pytest.mark.parametrize("free_bar", [False, True])
def test_a_start_at_rest_beside_rank_loss_is_on_its_branch(angle, free_bar):
    m, q, v = falling_windows(3, angle, 0.0, free_bar=free_bar)
    motion = reached(m, q, v, 1.0, 1e-10)
    assert np.ptp(motion.energy.total) < 1e-8
    if not free_bar:
        exact = alone(pendulum_rate(3), angle, 0.0, 1.0)[0]
        assert abs(motion.q[-1, m.coordinates["r0"].start] - exact) < 1e-7
    else:
        rods = [motion.q[-1, m.coordinates[f"r{k}"].start] for k in range(4)]
        assert np.ptp(rods) < 1e-10  # they stay parallel


@pytest.mark.parametrize(("method", "options"), DRIVEN)
def test_a_driven_window_goes_through(method, options):
    """At a fixed time its branch does not pass: the time goes on from neighbour to neighbour."""
    b = es.Builder("driven_window")
    for k in range(2):
        rod(b, f"rod{k}")
        b.joint(f"r{k}", "revolute", "ground", f"rod{k}", at=(k, 0, 0), home=1.0)
    rod(b, "coupler")
    b.joint("c", "revolute", "rod0", "coupler", at=(1, 0, 0), home=-1.0)
    b.loop("B", "revolute", "coupler", "rod1", first=(1, 0, 0), second=(1, 0, 0))
    m = b.actuate().drive("motor", "r0", "1 - 6*t + 0.5*t**2").build()
    t = np.linspace(0, 1, 21)
    motion = m.simulate(m.home(), [-6.0, -6.0, 6.0], t, method=method, singular="ignore", **options)
    assert np.abs(motion["r1"].q - (1 - 6 * t + 0.5 * t**2)).max() < 1e-12
    assert np.abs(motion["r1"].v - (t - 6)).max() < 1e-10


@pytest.mark.parametrize("rtol", [1e-6, 1e-11])
def test_a_window_in_space_passes_while_its_coupler_spins(rtol):
    """Between two balls: quaternions, and a passive spin beside the fall."""
    b = es.Builder("space_window", gravity=(0, -GRAVITY, 0))
    for k in range(2):
        rod(b, f"rod{k}", spin=0.02)
        b.joint(f"r{k}", "revolute", "ground", f"rod{k}", at=(k, 0, 0))
    rod(b, "coupler", spin=0.02)
    b.joint("c", "spherical", "rod0", "coupler", at=(1, 0, 0))
    b.loop("B", "spherical", "coupler", "rod1", first=(1, 0, 0), second=(1, 0, 0))
    m, angle, speed = b.actuate("r0").build(), np.pi / 2, -2.0
    half, q, v = angle / 2, np.zeros(6), np.zeros(5)
    for name, place, rate in (
        ("r0", angle, speed),
        ("r1", angle, speed),
        ("c", [np.cos(half), 0, 0, -np.sin(half)], [5.0, 0, -speed]),
    ):
        q[m.coordinates[name]], v[m.velocities[name]] = place, rate
    exact = alone(pendulum_rate(1), angle, speed, 3.0)[0]
    ideal = alone(pendulum_rate(1), angle, speed, 3.0, rtol)[0]
    motion = reached(m, q, v, 3.0, rtol)
    assert abs(motion.q[-1, m.coordinates["r0"].start] - exact) < bound(rtol, ideal - exact)
    spin = motion["c"].v[:, 0] if motion["c"].v.ndim > 1 else motion["c"].v
    assert np.ptp(spin) < 100 * rtol ** (7 / 8) + 1e-9


def test_the_statistics_list_the_passages(tmp_path):
    m, q, v = falling_windows(3, np.pi / 2, -2.0)
    with pytest.warns(es.SingularityWarning, match="B1, B2 and B3 lose 3 ranks there"):
        motion = m.simulate(q, v, 2.0, rtol=1e-10, atol=1e-12)
    angle = lambda t: alone(pendulum_rate(3), np.pi / 2, -2.0, t)[0]  # noqa: E731
    for passage, flat in zip(motion.statistics.passages, (0.0, -np.pi), strict=True):
        assert passage.loops == ("B1", "B2", "B3")
        assert passage.ranks == 3
        assert abs(angle(passage.t) - flat) < 1e-3
        assert passage.interpolated > 0
        assert passage.distance < 0.025
    motion.save(tmp_path / "passed.npz")
    assert Trajectory.load(tmp_path / "passed.npz").statistics == motion.statistics
