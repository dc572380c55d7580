"""Mechanisms with loops in motion: closed to round-off, energy kept as the method keeps it, and ways of driving them agree."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import eslabon as es
from motion.simulation.change_points import falling_windows, pendulum_rate
from randomness import PROFILE


def falling(name):
    """The mechanism with gravity in its plane, at its closed home."""
    m = es.Mechanism(replace(es.load(name).description, gravity=(0.0, -9.81, 0.0)))
    return m, m.project(m.home())


def energy_error(motion):
    total = motion.energy.total
    return np.abs(total - total[..., :1]).max() / motion.energy.kinetic.max()


@pytest.mark.parametrize(
    ("name", "allowed"), [("five_bar", 1e-6), ("diaz_3rrr", 3e-6), ("diaz_four_bar", 1e-8)]
)
def test_ten_seconds_of_rk4_stay_closed(name, allowed):
    m, q0 = falling(name)
    motion = m.simulate(q0, None, 10.0, method="rk4", step=1e-3, every=20)
    assert motion.closure.max() < 1e-12
    assert energy_error(motion) < allowed
    J = m.constraint_jacobian(motion.q)
    assert np.abs(np.einsum("kij,kj->ki", J, motion.v)).max() < 1e-10


def test_rk4_is_of_fourth_order_with_loops():
    m, q0 = falling("diaz_3rrr")
    ends = [
        m.simulate(q0, None, 0.5, method="rk4", step=h, every=10**6).q[-1]
        for h in (1e-3, 5e-4, 2.5e-4)
    ]
    ratio = np.abs(ends[0] - ends[1]).max() / np.abs(ends[1] - ends[2]).max()
    assert 11 < ratio < 22  # 16 in the limit


def test_adaptive_methods_agree_and_stay_closed():
    m, q0 = falling("diaz_3rrr")
    times = np.linspace(0, 1, 6)
    best = m.simulate(q0, None, times, rtol=1e-12, atol=1e-14)
    assert best.closure.max() < 1e-12
    assert energy_error(best) < 1e-10
    for method, tolerance in (("Radau", 1e-6), ("LSODA", 1e-5)):
        motion = m.simulate(q0, None, times, method=method, rtol=1e-9, atol=1e-11)
        assert np.abs(motion.q - best.q).max() < tolerance
        assert motion.closure.max() < 1e-12
    fixed = m.simulate(q0, None, times, method="rk4", step=1e-3)
    assert (
        np.abs(fixed.q - best.q).max() < 2e-6
    )  # what RK4 itself leaves after a second of this motion


@pytest.mark.parametrize("name", ["five_bar", "diaz_3rrr", "planar_3rrr"])
def test_a_minute_at_a_tight_tolerance_keeps_energy_and_loops(name):
    """A minute of the first; of the others a quarter of it, and in the nightly run a minute too."""
    m, q0 = falling(name)
    span = 60.0 if name == "five_bar" or PROFILE == "nightly" else 15.0
    motion = m.simulate(q0, None, span, rtol=1e-10, atol=1e-12)
    assert motion.closure.max() < 1e-12
    assert energy_error(motion) < 1e-8


@pytest.mark.parametrize("method", ["RK45", "Radau", "BDF", "LSODA"])
def test_every_adaptive_method_stays_on_the_loops(method):
    m, q0 = falling("five_bar")
    best = m.simulate(q0, None, [0, 1, 2], rtol=1e-12, atol=1e-14)
    motion = m.simulate(q0, None, [0, 1, 2], method=method, rtol=1e-8, atol=1e-10)
    assert motion.closure.max() < 1e-12
    assert np.abs(motion.q[1] - best.q[1]).max() < 1e-4
    assert energy_error(motion) < 1e-5


def test_diaz_example_1_the_torque_of_a_steady_crank_gives_the_crank_back():
    m = es.load("diaz_four_bar")
    t = np.linspace(0, 2.5, 501)
    q, v, a = m.complete((0.785 + t)[:, None], np.ones((501, 1)), np.zeros((501, 1)))
    table = es.simulate.Table(t, m.inverse_dynamics(q, v, a), "cubic")
    motion = m.simulate(q[0], v[0], t[::50], table, rtol=1e-10, atol=1e-12)
    assert np.abs(motion.q[:, 0] - 0.785 - motion.t).max() < 1e-8


def test_diaz_example_2_after_one_second():
    m = es.load("diaz_3rrr")
    motion = m.simulate(m.project(m.home()), None, 1.0, [0.1, 0.1, -0.1], rtol=1e-11, atol=1e-13)
    angles = [1.10188183, -0.95807413, 1.13974961, 2.79747542, -1.46230170, 0.59455333, -2.69078113]
    got = [motion.q[-1, m.coordinates[f"theta{k}"].start] for k in range(1, 8)]
    assert np.allclose(got, angles, atol=2e-6)
    work = 0.1 * (got[0] - m.home()[m.coordinates["theta1"].start])
    work += 0.1 * (got[3] - m.home()[m.coordinates["theta4"].start]) - 0.1 * (
        got[5] - m.home()[m.coordinates["theta6"].start]
    )
    assert motion.energy.kinetic[-1] == pytest.approx(work, rel=1e-6)


def test_explicit_equations_go_round_dead_centres():
    """Driven at its slider a slider-crank's own division fails twice a turn; another one takes over."""
    m = es.Mechanism(replace(es.load("slider_crank").description, actuated=("slide",)))
    q0, v0, _ = m.complete({"crank": 0.5}, [20.0], [0.0])
    t = np.linspace(0, 0.5, 6)
    best = m.simulate(q0, v0, t, rtol=1e-11, atol=1e-12)
    assert best.q[-1, 0] > 2 * np.pi  # it does go round, past both dead centres
    for method in ("DOP853", "Radau"):
        explicit = m.simulate(
            q0, v0, t, constraints="elimination", method=method, rtol=1e-9, atol=1e-10
        )
        assert np.abs(explicit.q - best.q).max() < 1e-6
    law = es.simulate.traced(lambda t, q, v: 0.1 * v[2:])
    ways = (
        {},
        {"constraints": "elimination"},
        {"formulation": "lie"},
        {"constraints": "udwadia_kalaba"},
    )
    driven = [m.simulate(q0, v0, t, law, rtol=1e-9, atol=1e-10, **way).q for way in ways]
    for other in driven[1:]:
        assert np.abs(driven[0] - other).max() < 1e-6
    with pytest.raises(es.EslabonError, match="rk4 in native code cannot"):
        m.simulate(q0, v0, 1.0, method="rk4", step=1e-3, constraints="elimination")
    with pytest.raises(es.EslabonError, match="did you mean 'elimination'"):
        m.simulate(q0, v0, 1.0, constraints="elimintion")
    with pytest.raises(es.EslabonError, match="has no loops; leave constraints out"):
        es.load("elbow").simulate([0.1, 0.2], None, 1.0, constraints="multipliers")


def test_many_at_once_and_a_traced_law(rng):
    m, q0 = falling("five_bar")
    starts = m.assemble(q0[[0, 2]] + rng.uniform(-0.1, 0.1, (6, 2)), guess=q0)
    law = es.simulate.traced(lambda t, q, v: -0.01 * v[[0, 2]])
    many = m.simulate(starts, None, 0.2, law, method="rk4", step=1e-3, every=50)
    assert many.q.shape == (6, 5, 4)
    one = m.simulate(
        starts[2], None, 0.2, lambda t, q, v: -0.01 * v[[0, 2]], method="rk4", step=1e-3, every=50
    )
    assert np.allclose(one.q, many.q[2], atol=1e-12)
    assert many.closure.max() < 1e-12
    assert np.all(np.diff(many.energy.total, axis=-1) < 1e-12)  # the law takes energy out


@pytest.mark.parametrize("method", ["DOP853", "Radau", "LSODA", "rk4"])
def test_the_n_four_bar_passes_its_singular_configuration_as_a_pendulum(method):
    """Its rods stay parallel: 3 theta'' = -3.5 g cos(theta), though flat it could leave for other branches."""
    m = es.load("n_four_bar")
    q0, v0, _ = m.complete(
        [np.pi / 2], [-1.0], [0.0]
    )  # the benchmark's start: B0 moves with 1 m/s along x
    t = np.linspace(0, 10, 301)
    options = {"step": 1e-3} if method == "rk4" else {"rtol": 1e-8, "atol": 1e-10}
    with pytest.warns(es.SingularityWarning, match="n_four_bar passes a singular configuration"):
        motion = m.simulate(q0, v0, t, method=method, **options)
    pendulum = solve_ivp(
        lambda t, x: [x[1], -3.5 / 3 * 9.81 * np.cos(x[0])],
        (0, 10),
        [np.pi / 2, -1],
        t_eval=t,
        rtol=1e-11,
        atol=1e-12,
    )
    assert np.abs(motion.q[:, 0] - pendulum.y[0]).max() < (1e-3 if method == "LSODA" else 1e-4)
    assert motion.closure.max() < 1e-12
    assert energy_error(motion) < 1e-5


def test_a_parallelogram_passes_its_change_point_with_a_warning():
    m = es.load("parallelogram")
    q0, v0, _ = m.complete([1.0], [-6.0], [0.0])
    with pytest.warns(es.SingularityWarning, match="branches of its loops meet, at t = "):
        motion = m.simulate(q0, v0, np.linspace(0, 0.5, 51), rtol=1e-10, atol=1e-12)
    assert motion.q[-1, 0] < -0.5  # it went through the flat configuration
    assert np.allclose(motion.q[:, 0], motion.q[:, 2], atol=1e-6)  # and stayed a parallelogram
    with pytest.raises(es.SingularityError, match="singular configuration") as caught:
        m.simulate(q0, v0, np.linspace(0, 0.5, 51), singular="error")
    assert caught.value.motion.q[-1, 0] > 0
    quiet = m.simulate(q0, v0, np.linspace(0, 0.5, 51), method="rk4", step=1e-3, singular="ignore")
    assert np.abs(quiet.q - motion.q).max() < 1e-7
    with pytest.raises(es.EslabonError, match="singular is "):
        m.simulate(q0, v0, 1.0, singular="loud")


def test_a_four_bar_with_a_diagonal_spring_obeys_its_one_equation():
    m = es.load("four_bar_spring").with_parameters(c=0.1)

    def rate(angle, speed):
        d, change = 2 * np.cos(angle / 2), -np.sin(angle / 2) * speed
        force = 25 * (d - np.sqrt(2)) + 0.1 * change
        return (-2 * 9.81 * np.cos(angle) + force * np.sin(angle / 2)) / (5 / 3)

    t = np.linspace(0, 5, 51)
    q0, v0, _ = m.complete([1.2], [0.5], [0.0])
    motion = m.simulate(q0, v0, t, rtol=1e-10, atol=1e-12, singular="ignore")
    one = solve_ivp(
        lambda t, x: [x[1], rate(*x)], (0, 5), [1.2, 0.5], t_eval=t, rtol=1e-11, atol=1e-13
    )
    assert np.abs(motion.q[:, 0] - one.y[0]).max() < 1e-8


@pytest.mark.parametrize("name", ["bennett", "bricard", "rojas_hexiflex"])
def test_overconstrained_loops_keep_their_energy(name):
    """Their redundant rows are others in every configuration, and independent beside the loops: no choice of rows serves."""
    m = es.load(name)
    motion = m.simulate(m.project(m.home()), None, 2.0, rtol=1e-10, atol=1e-12, singular="ignore")
    assert motion.statistics.steps < 200
    assert motion.closure.max() < 1e-12
    assert energy_error(motion) < 1e-7


def test_the_stiff_governor_turns_as_implicit_methods_see_it():
    """No torque about the shaft: angular momentum stays, dampers only take energy out, and all methods agree."""
    m = es.load("flyball_governor")
    v0 = np.zeros(m.nv)
    v0[m.velocities["spin"]] = 2 * np.pi
    t, slider = np.linspace(0, 10, 101), m.coordinates["s"].start
    best = m.simulate(m.home(), v0, t, rtol=1e-9, atol=1e-11)
    for method, fewer in (("Radau", 4), ("BDF", 4), ("LSODA", 2)):
        motion = m.simulate(m.home(), v0, t, method=method, rtol=1e-8, atol=1e-10)
        assert (
            motion.statistics.steps * fewer < best.statistics.steps
        )  # where an explicit method creeps
        assert np.abs(motion.q[:, slider] - best.q[:, slider]).max() < 1e-6
        spin = np.einsum("kj,kj->k", m.mass_matrix(motion.q)[:, 0], motion.v)
        assert np.ptp(spin) < 1e-6 * spin[0]
    assert np.all(np.diff(best.energy.total) < 1e-9 * best.energy.kinetic[0])


@pytest.mark.parametrize("name", ["bricard", "andrews_squeezer"])
def test_benchmark_mechanisms_move_and_keep_their_balance(name):
    m = es.load(name)
    q0 = m.project(m.home())
    span = 0.02 if name == "andrews_squeezer" else 1.0
    motion = m.simulate(q0, None, np.linspace(0, span, 11), rtol=1e-10, atol=1e-12)
    assert motion.closure.max() < 1e-12
    if name == "andrews_squeezer":  # its constant motor moment does work on the crank
        turned = motion.q[:, m.coordinates["beta"].start] - motion.q[0, m.coordinates["beta"].start]
        gained = motion.energy.total - motion.energy.total[0]
        assert np.allclose(gained, 0.033 * turned, atol=1e-8)
    else:
        assert energy_error(motion) < 1e-7


def test_what_is_refused():
    m, q0 = falling("five_bar")
    with pytest.raises(es.EslabonError, match="symplectic method does not keep"):
        m.simulate(q0, None, 1.0, method="symplectic", step=1e-3)
    with pytest.raises(es.AssemblyError, match="q0 violates loop closure of five_bar"):
        m.simulate(q0 + 0.01, None, 1.0)
    with pytest.raises(es.AssemblyError, match="v0 violates loop closure of five_bar"):
        m.simulate(q0, [1.0, 0, 0, 0], 1.0)
    with pytest.raises(es.EslabonError, match=r"with L2 = 0.05"):
        m.simulate(q0, None, 1.0, parameters={"L2": 0.05})


# Singular configurations ---------------------------------------------------------------------------------------------


def as_pendulum(count, speed, t, rtol, atol):
    """Its rods stay parallel: one equation, integrated at the same tolerance.

    Upright it hardly moves, and the error estimate of a longer step happens to vanish there.
    """
    rate, x = pendulum_rate(count), [np.pi / 2, speed]
    return solve_ivp(
        lambda t, x: [x[1], rate(*x)],
        (0, t),
        x,
        "DOP853",
        rtol=rtol,
        atol=atol,
        max_step=0.1,
    )


@pytest.mark.parametrize(
    ("rtol", "atol"), [(1e-4, 1e-6), (1e-6, 1e-8), (1e-8, 1e-10), (1e-10, 1e-12)]
)
def test_loops_cost_no_more_accuracy_and_no_more_evaluations_than_the_one_equation_they_leave(
    rtol, atol
):
    """Through eight singular configurations: the projection does not fight the error estimate."""
    m = es.load("n_four_bar")
    q0, v0, _ = m.complete([np.pi / 2], [-1.0], [0.0])
    motion = m.simulate(q0, v0, 10.0, rtol=rtol, atol=atol, step=0.1, singular="ignore")
    same, exact = as_pendulum(2, -1.0, 10.0, rtol, atol), as_pendulum(2, -1.0, 10.0, 1e-13, 1e-15)
    error, own = abs(motion.q[-1, 0] - exact.y[0, -1]), abs(same.y[0, -1] - exact.y[0, -1])
    assert error < 1.5 * own + rtol
    assert motion.statistics.evaluations < 1.5 * same.nfev + 100  # neighbours count


@pytest.mark.parametrize("speed", [-1.0, -1.026, -1.104])
def test_tolerances_below_round_off_still_pass_singular_configurations(speed):
    m = es.load("n_four_bar")
    q0, v0, _ = m.complete([np.pi / 2], [speed], [0.0])
    for rtol, atol in ((1e-12, 1e-12), (1e-12, 1e-14), (1e-13, 1e-15)):
        motion = m.simulate(q0, v0, 5.0, rtol=rtol, atol=atol, singular="ignore")
        assert motion.statistics.evaluations < 6_000
        assert energy_error(motion) < 1e-8
        assert motion.closure.max() < 1e-12


def test_many_windows_move_as_one_pendulum():
    m, q0, v0 = falling_windows(12, np.pi / 2, -1.0)  # forty do as well, and take longer to compile
    motion = m.simulate(q0, v0, 3.0, rtol=1e-10, atol=1e-12, singular="ignore")
    exact = as_pendulum(12, -1.0, 3.0, 1e-13, 1e-15)
    assert abs(motion.q[-1, m.coordinates["r0"].start] - exact.y[0, -1]) < 1e-8
    assert motion.statistics.evaluations < 3000
    assert motion.closure.max() < 1e-12


def test_a_run_that_cannot_go_on_says_so_soon(rng):
    """A law that jumps wherever the motion goes: no step is short enough."""
    m, q0 = falling("five_bar")
    for model, q, method in ((m, q0, "DOP853"), (es.load("double_pendulum"), [0.5, 0.1], "LSODA")):
        noise = rng
        with pytest.raises(
            es.simulate.SimulationError, match="cannot be integrated beyond t = "
        ) as caught:
            model.simulate(
                q,
                None,
                10.0,
                lambda t, q, v, noise=noise: noise.normal(size=2),
                method=method,
                rtol=1e-12,
            )
        assert caught.value.motion.statistics.evaluations < 100_000
        assert np.isfinite(caught.value.motion.tau).all()
