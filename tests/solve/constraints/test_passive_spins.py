"""A rod between two ball joints spins by itself: the actuators' forces do not depend on how."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import eslabon as es
from eslabon.model.configuration import integrate
from eslabon.solve.constraints.constraint_structure import structure
from eslabon.solve.constraints.passive_spins import passive_spins, spin_motions
from spinning_rods import delta, h4, rssr, stewart

SPINNING = {
    "stewart": (stewart, 6),
    "delta": (delta, 6),
    "h4": (h4, 8),
    "rssr": (rssr, 1),
    "rssr_split": (lambda kind="spherical", axial=0.05: rssr(kind, axial, split=True), 2),
}
SMALL = ("rssr", "rssr_split", "delta")


def moving(m: es.Mechanism, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """A configuration, velocities and accelerations that keep the loops closed, with spinning rods."""
    home = m.home()
    qa = home[list(m.actuated_coordinates)] + 0.03 * rng.normal(size=m.nu)
    va, aa = rng.normal(size=(2, m.nu))
    q, v, _ = m.complete(qa, va, aa, passive="minimum_norm")
    v = v + spin_motions(m, q) @ rng.normal(size=len(passive_spins(m)))
    a = np.zeros(m.nv)
    a[list(m.actuated_velocities)] = aa
    return q, v, m.project(q, v, a)[2]


@pytest.mark.parametrize("name", SPINNING)
def test_every_rod_between_balls_is_a_spin_and_none_with_a_universal_joint(name: str) -> None:
    make, count = SPINNING[name]
    m = make()
    assert len(passive_spins(m)) == count
    assert len(structure(m).partition.spins) == count
    assert structure(m).uncontrolled == ()
    assert m.dof == m.nu + count
    if name != "rssr_split":
        assert passive_spins(make("universal")) == ()


def test_bodies_of_a_leg_that_spin_together_are_one_spin() -> None:
    first = passive_spins(stewart())[0]
    assert first.bodies == ("cylinder0", "rod0")
    assert first.joints == ("base0", "ball0")


@pytest.mark.parametrize("name", SPINNING)
def test_a_spin_leaves_all_other_bodies_and_the_loops_where_they_are(name: str, rng) -> None:
    m = SPINNING[name][0]()
    q = moving(m, rng)[0]
    spinning = {body for spin in passive_spins(m) for body in spin.bodies}
    for motion in spin_motions(m, q).T:
        away = integrate(m, q, 0.7 * motion)  # a finite turn
        assert np.abs(m.constraint(away)).max() < 1e-12
        for body in m.bodies:
            if body.name not in spinning:
                there, before = m.pose(away, frame=body.name), m.pose(q, frame=body.name)
                assert np.allclose(there, before, atol=1e-12)


@pytest.mark.parametrize("name", SPINNING)
def test_forces_are_those_of_hybrid_dynamics_whatever_acceleration_a_spin_is_given(
    name, rng
) -> None:
    m = SPINNING[name][0]()
    q, v, a = moving(m, rng)
    forces, whole = m.hybrid_dynamics(q, v, a)
    tau = m.inverse_dynamics(q, v, a)
    size = np.abs(tau).max()
    assert np.abs(tau - forces).max() < 1e-10 * size
    spun = a + spin_motions(m, q) @ rng.normal(size=len(passive_spins(m)))
    assert np.abs(m.inverse_dynamics(q, v, spun) - tau).max() < 1e-10 * size
    assert np.abs(m.inverse_dynamics(q, v, whole) - tau).max() < 1e-10 * size
    again = m.forward_dynamics(q, v, tau)
    assert np.abs(again - whole).max() < 1e-8 * np.abs(whole).max()


@pytest.mark.parametrize("name", SMALL)
def test_methods_and_formulations_agree(name: str, rng) -> None:
    m = SPINNING[name][0]()
    q, v, a = moving(m, rng)
    tau = m.inverse_dynamics(q, v, a)
    for constraints in ("multipliers", "elimination", "udwadia_kalaba"):
        found = m.inverse_dynamics(q, v, a, constraints=constraints)
        assert np.abs(found - tau).max() < 1e-9 * np.abs(tau).max()
    for formulation in ("lagrange", "lie", "gibbs_appell"):
        found = m.inverse_dynamics(q, v, a, formulation=formulation)
        assert np.abs(found - tau).max() < 1e-9 * np.abs(tau).max()


@pytest.mark.parametrize("name", ["stewart", "delta", "h4", "rssr"])
def test_slender_rods_need_the_forces_of_rods_that_cannot_spin(name: str, rng) -> None:
    """Without inertia about its axis it makes no difference how a rod turns about it."""
    make = SPINNING[name][0]
    balls, universals = make("spherical", 0.0), make("universal", 0.0)
    qa = balls.home()[list(balls.actuated_coordinates)] + 0.03 * rng.normal(size=balls.nu)
    va, aa = rng.normal(size=(2, balls.nu))
    tau = [
        m.inverse_dynamics(*m.complete(qa, va, aa, passive="minimum_norm"))
        for m in (balls, universals)
    ]
    assert np.abs(tau[0] - tau[1]).max() < 1e-10 * np.abs(tau[1]).max()


@pytest.mark.parametrize("name", SMALL)
def test_the_power_of_the_forces_is_the_change_of_energy(name: str, rng) -> None:
    m = SPINNING[name][0]()
    q, v, a = moving(m, rng)
    tau, a = m.inverse_dynamics(q, v, a), m.hybrid_dynamics(q, v, a)[1]

    def energy(t: float) -> float:
        there = integrate(m, q, v * t + a * t**2 / 2)
        return float(m.energy(there, v + a * t).sum())

    step = 1e-4
    change = (energy(step) - energy(-step)) / (2 * step)
    power = tau @ v[list(m.actuated_velocities)]
    assert abs(change - power) < 1e-6 * max(abs(power), 1.0)


@pytest.mark.parametrize("name", SMALL)
def test_reactions_are_those_of_the_motion_under_these_forces(name: str, rng) -> None:
    m = SPINNING[name][0]()
    q, v, a = moving(m, rng)
    given, under = m.reactions(q, v, a), m.reactions(q, v, tau=m.inverse_dynamics(q, v, a))
    assert np.abs(given - under).max() < 1e-9 * np.abs(under).max()


def test_derivatives_by_the_acceleration_of_a_spin_are_zero(rng) -> None:
    m = rssr()
    q, v, a = moving(m, rng)
    by_a = m.derivative("inverse_dynamics", "a", q, v, a)
    along_spins = by_a @ spin_motions(m, q)
    assert np.abs(along_spins).max() < 1e-10 * np.abs(by_a).max()


def test_the_callers_independent_coordinates_change_no_force(rng) -> None:
    m = rssr()
    q, v, a = moving(m, rng)
    tau = m.inverse_dynamics(q, v, a)
    chosen = m.inverse_dynamics(
        q, v, a, constraints="elimination", independent=("knee.wx", "elbow.wx")
    )
    assert np.abs(chosen - tau).max() < 1e-9 * np.abs(tau).max()


def test_a_passive_motion_that_moves_other_bodies_is_refused_by_name() -> None:
    """A pendulum on the rocker, and a platform one of whose legs has no motor."""
    m = rssr(swing=True)
    with pytest.raises(es.ModelError, match=r"leave 1 of them uncontrolled, such as .* 'swing'"):
        m.inverse_dynamics(m.home(), np.zeros(m.nv), np.zeros(m.nv))
    five = stewart().with_actuated([f"slide{k}" for k in range(5)])
    assert structure(five).uncontrolled
    with pytest.raises(es.ModelError, match=r"uncontrolled, such as the motion of '(slide|base)5'"):
        five.inverse_dynamics(five.home(), np.zeros(five.nv), np.zeros(five.nv))


@pytest.mark.filterwarnings("always::eslabon.ModelWarning")
def test_a_mechanism_says_once_that_its_rods_spin(rng) -> None:
    m = rssr.__wrapped__()  # one that has not said it yet
    q, v, a = moving(m, rng)
    with pytest.warns(es.ModelWarning, match="'coupler' can spin without moving any other body"):
        m.inverse_dynamics(q, v, a)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        m.inverse_dynamics(q, v, a, constraints="multipliers")
        m.reactions(q, v, a)
        rssr("universal").inverse_dynamics(rssr("universal").home(), np.zeros(6), np.zeros(6))


def test_spins_do_not_depend_on_the_size() -> None:
    for size in (1e-5, 1e4):
        assert len(passive_spins(stewart(size=size))) == 6


def test_mobility_and_the_linear_model_have_the_spins() -> None:
    m = rssr()
    assert len(m.mobility().passive) == 1
    still = np.zeros(m.nv)
    lm = m.linearize(m.home(), still, m.inverse_dynamics(m.home(), still, still))
    assert lm.A.shape == (4, 4)
    spinning = np.linalg.eigvals(lm.A)
    assert np.sum(np.abs(spinning) < 1e-6) == 2  # a spin has neither spring nor damper


def test_a_rod_that_spins_goes_on_spinning_in_a_simulation(rng) -> None:
    """No force turns a round rod about its axis, and the energy of all stays."""
    m = rssr()
    spin = 2.0 * spin_motions(m, m.home())[:, 0]
    run = m.simulate(m.home(), spin, 0.2, rtol=1e-10)
    total = m.energy(run.q, run.v).sum(axis=-1)
    assert np.ptp(total) < 1e-6
    about_its_axis = m.velocity(run.q, run.v, frame="coupler")[:, 2]
    assert np.allclose(about_its_axis, about_its_axis[0], atol=1e-6)
    assert abs(about_its_axis[0]) > 0.5


def test_gravity_compensation_brings_the_motors_to_rest_where_they_are_to() -> None:
    m = rssr()
    law = es.control.pd_gravity(m, [0.1], Kp=50.0, Kd=10.0)
    end = m.simulate(m.home(), None, 4.0, law).end[0]
    assert end[list(m.actuated_coordinates)] == pytest.approx([0.1], abs=1e-4)


def test_gravity_compensation_holds_a_delta_robot() -> None:
    m = delta()
    law = es.control.pd_gravity(m, m.home()[list(m.actuated_coordinates)], Kp=50.0, Kd=5.0)
    run = m.simulate(m.home(), None, 0.05, law)
    assert np.abs(run.v).max() < 1e-8


@pytest.mark.slow(reason="a program of IPOPT with loops")
def test_an_optimal_motion_needs_the_effort_of_one_with_a_universal_joint() -> None:
    found = [
        es.optimize.motion(rssr(kind, 0.0), [0.0], [0.4], duration=1.0, objective="effort")
        for kind in ("spherical", "universal")
    ]
    assert found[0].value == pytest.approx(found[1].value, rel=1e-4)


def test_the_shell_prints_the_torques(tmp_path) -> None:
    from typer.testing import CliRunner

    from eslabon.cli import app

    m = rssr()
    path = str(m.save(tmp_path / "rssr.toml"))
    said = CliRunner().invoke(app, ["torques", path, "--actuated", "0.1", "--v", "1", "--json"])
    assert said.exit_code == 0, said.output
    q, v, a = m.complete([0.1], [1.0], [0.0], passive="minimum_norm")
    tau = m.inverse_dynamics(q, v, a)
    assert f"{tau[0]:.6g}"[:7] in said.output


def test_identification_names_the_rod_that_spins() -> None:
    with pytest.raises(es.ModelError, match="'coupler' spins freely between elbow and knee"):
        es.identification.excitation(rssr())


def test_modal_control_leaves_spins_to_themselves() -> None:
    """The less a rod's inertia about its axis, the less it matters whether a joint keeps it from
    spinning: the gains are those with a universal joint, and the motion is followed."""
    made = {}
    for kind in ("spherical", "universal"):
        m = rssr(kind, 1e-6)
        own = list(m.actuated_coordinates)
        home = m.home()[own]
        path = es.paths.joint_path([list(home), list(home + 0.4)], es.paths.cycloidal(1.0))
        made[kind] = es.control.modal(m, path, 10.0, 0.7, times=np.linspace(0, 1, 21))
        if kind == "spherical":
            end = m.simulate(m.assemble(home + 0.02), None, 2.0, made[kind]).end[0]
            assert end[own] == pytest.approx(home + 0.4, abs=1e-4)
    for name in ("Kp", "Kd", "tau"):
        one, other = (law.data[name] for law in made.values())
        np.testing.assert_allclose(one, other, atol=1e-4 * np.abs(other).max())


def test_the_regulator_along_a_motion_leaves_spins_to_themselves() -> None:
    """The less a rod's inertia about its axis, the nearer the gains are to those with a universal joint."""
    gains = []
    for kind in ("spherical", "universal"):
        m = rssr(kind, 1e-6)
        own = list(m.actuated_coordinates)
        home = m.home()[own]
        path = es.paths.joint_path([list(home), list(home + 0.4)], es.paths.cycloidal(1.0))
        law = es.control.tracking_lqr(m, path, [100.0, 1.0], 1.0, times=np.linspace(0, 1, 21))
        gains.append(law.data["K"])
        if kind == "spherical":
            end = m.simulate(m.assemble(home + 0.02), None, 2.0, law).end[0]
            assert end[own] == pytest.approx(home + 0.4, abs=1e-2)
    np.testing.assert_allclose(*gains, atol=1e-3 * np.abs(gains[1]).max())
