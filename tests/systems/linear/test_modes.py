"""Modes: against closed forms, against the linear model they come from, and against simulation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import eslabon as es
from eslabon.model.configuration import integrate
from oracles import Oracle, pin, se3
from random_mechanisms import random_closed, random_coordinates, random_tree
from randomness import seeded


def chain(masses: int, damping: float = 0.0, wall: bool = True) -> es.Mechanism:
    """Masses of 1 kg on a line with springs of 1 N/m between them, and at both ends to the wall."""
    b, parent = es.Builder("chain", gravity=(0, 0, 0)), "ground"
    for k in range(masses):
        stiff = {"stiffness": 1.0, "viscous": damping} if wall or k else {}
        b.body(f"m{k}", mass=1.0).joint(f"x{k}", "prismatic", parent, f"m{k}", axis="x", **stiff)
        parent = f"m{k}"
    if wall:
        b.spring(
            "last",
            parent,
            "ground",
            (0, 0, 0),
            (10.0, 0, 0),
            stiffness=1.0,
            length=10.0,
            damping=damping,
        )
    return b.actuate().build()


def test_a_chain_of_masses_swings_as_textbooks_say():
    n = 4
    found = chain(n).linearize(np.zeros(n)).modes()
    expected = 2 * np.sin(np.arange(1, n + 1) * np.pi / (2 * (n + 1)))
    np.testing.assert_allclose([mode.frequency for mode in found], expected, rtol=1e-12)
    np.testing.assert_allclose(found[0].hertz, expected[0] / (2 * np.pi))
    for k, mode in enumerate(found):
        assert mode.kind == "oscillation"
        assert mode.damping == pytest.approx(0, abs=1e-12)
        places = np.cumsum(mode.shape.real)  # joints are relative
        sines = np.sin((k + 1) * np.arange(1, n + 1) * np.pi / (n + 1))
        assert abs(places @ sines) == pytest.approx(np.linalg.norm(places) * np.linalg.norm(sines))
        assert sum(mode.participation.values()) == pytest.approx(1.0)


def test_proportional_damping_gives_the_ratios_of_its_poles():
    found = chain(3, damping=0.1).linearize(np.zeros(3)).modes()
    undamped = 2 * np.sin(np.arange(1, 4) * np.pi / 8)
    np.testing.assert_allclose([mode.frequency for mode in found], undamped, rtol=1e-10)
    np.testing.assert_allclose(
        [mode.damping for mode in found], 0.05 * undamped, rtol=1e-9
    )  # zeta = c omega / 2 k
    np.testing.assert_allclose(
        [mode.time_constant for mode in found], 1 / (0.05 * undamped**2), rtol=1e-9
    )
    heavy = chain(1, damping=3.0).linearize(np.zeros(1)).modes()
    assert [mode.kind for mode in heavy] == ["decay", "decay"]
    roots = np.roots([1.0, 6.0, 2.0])
    np.testing.assert_allclose(
        sorted(mode.time_constant for mode in heavy), sorted(-1 / roots), rtol=1e-12
    )


@pytest.mark.parametrize("damping", [0.0, 0.2])
def test_rigid_body_modes_are_named(damping):
    found = chain(3, damping, wall=False).linearize(np.zeros(3)).modes()
    kinds = [mode.kind for mode in found]
    assert kinds[:2] == ["rigid-body", "rigid-body"]
    assert kinds[2:] == ["oscillation", "oscillation"]
    for mode in found[:2]:
        np.testing.assert_allclose(mode.shape, [1.0, 0.0, 0.0], atol=1e-9)
        assert mode.pole == 0
    np.testing.assert_allclose(
        [mode.frequency for mode in found[2:]], [1.0, np.sqrt(3)], rtol=1e-10
    )


def test_repeated_poles_have_independent_shapes():
    """A spherical pendulum, symmetric about its axis, swings alike in two directions."""
    b = es.Builder("bob").body("bob", mass=1.0, com=(0, 0, -1.0), inertia=0.01 * np.eye(3))
    m = b.joint("u", "universal", "ground", "bob", axis=("x", "y")).actuate().build()
    first, second = m.linearize(np.zeros(2)).modes()
    assert first.frequency == pytest.approx(second.frequency)
    assert abs(np.linalg.det(np.array([first.shape.real, second.shape.real]))) > 0.5
    damped = m.with_joint("u", viscous=(0.1, 0.1)).linearize(np.zeros(2)).modes()
    assert abs(np.linalg.det(np.array([mode.shape for mode in damped]))) > 0.1


def sample(seed: int) -> tuple[es.Mechanism, np.ndarray, np.ndarray]:
    rng = seeded(seed)
    if seed % 2:
        m, q = random_closed(
            rng,
            ["revolute", "universal", "revolute", "cylindrical", "revolute", "spherical"],
            ["spherical"],
        )
        m = m.with_joint("joint0", viscous=0.3)
    else:
        m = random_tree(rng, ["revolute", "spherical", "helical", "planar"])
        q = random_coordinates(rng, m)
    m = m.with_actuated([j.name for j in m.joints if j.nv])
    v = m.project(q, rng.normal(size=m.nv))[1] if m.closed else rng.normal(size=m.nv)
    return m, q, v


@pytest.mark.parametrize("seed", range(4))
def test_vectors_are_those_of_the_state_matrix(seed):
    m, q, v = sample(seed)
    lm = m.linearize(q, v)
    found = lm.modes()
    size = np.abs(lm.A).max()
    tolerance = 1e-7 * size * np.abs(found.vectors).max()
    others, rigid = found.vectors[:, ~found.zero], found.vectors[:, found.zero]
    np.testing.assert_allclose(lm.A @ others, others * found.poles[~found.zero], atol=tolerance)
    np.testing.assert_allclose(lm.A @ (lm.A @ rigid), 0, atol=tolerance * size)
    np.testing.assert_allclose(
        np.sort(np.abs(found.poles)), np.sort(np.abs(lm.poles)), atol=1e-5 * np.abs(lm.poles).max()
    )
    np.testing.assert_allclose(found.participation.sum(axis=0), 1.0)
    assert np.abs(found.shapes).max() >= 1 - 1e-9


def test_many_models_have_many_modes():
    m = es.load("double_pendulum")
    q = np.array([[0.0, 0.0], [0.1, 0.2], [np.pi, 0.0]])
    found = m.linearize(q).modes()
    assert found.poles.shape == found.damping.shape == (3, 4)
    assert found.shapes.shape == (3, 2, 4)
    for k in range(3):
        np.testing.assert_allclose(found.poles[k], m.linearize(q[k]).modes().poles, atol=1e-12)
    assert len(found) == 3
    assert [mode.kind for mode in found[0]] == ["oscillation", "oscillation"]
    assert "3 linear models" in repr(found)


@pytest.mark.parametrize("name", ["four_bar_spring", "slider_crank", "spatial_four_bar"])
def test_what_is_shown_stays_closed_and_follows_the_shape(name):
    m = es.load(name)
    eq = m.equilibrium(m.project(m.home()))
    for mode in m.linearize(eq.q, tau=eq.tau).modes():
        q = mode.configurations(0.05, frames=8)
        assert q.shape == (8, m.nq)
        assert np.abs(m.constraint(q)).max() < 1e-9
        small = mode.configurations(1e-5, frames=4)
        peak = small[0] if mode.kind == "oscillation" else small[1]
        np.testing.assert_allclose(peak, integrate(m, eq.q, 1e-5 * mode.shape.real), atol=1e-8)
    with pytest.raises(es.InputError, match="amplitude is a number greater than zero"):
        mode.configurations(0.0)
    with pytest.raises(es.InputError, match="frames is a whole number"):
        mode.configurations(0.1, frames=0)


def test_a_driven_mechanism_is_shown_at_its_instant():
    b = es.Builder("shaken").body("cart", mass=1.0).body("bob", mass=1.0, com=(0, 0, -1.0))
    b.joint("x", "prismatic", "ground", "cart", axis="x").joint(
        "swing", "revolute", "cart", "bob", axis="y"
    )
    m = b.actuate("swing").drive("motor", "x", "0.1*sin(t)").build()
    q, v, _ = m.complete([0.1], [0.0], [0.0], t=0.3)
    q = m.linearize(q, v, t=0.3).modes()[0].configurations(0.2, frames=4)
    np.testing.assert_allclose(q[:, 0], 0.1 * np.sin(0.3), atol=1e-12)
    np.testing.assert_allclose(q[:, 1], [0.3, 0.1, -0.1, 0.1], atol=1e-12)
    many = m.linearize(
        np.tile(m.complete([0.1], [0.0], [0.0], t=0.3)[0], (2, 1)), v, t=[0.3, 0.3]
    ).modes()
    np.testing.assert_allclose(many[1][0].configurations(0.2, frames=4), q, atol=1e-12)


def test_a_mode_set_free_swings_at_its_frequency():
    """A planar 3-RRR with gravity in its plane, about a stable rest: only the mode that was set off is seen."""
    m = es.load("planar_3rrr").with_gravity((0, -9.81, 0))
    stable = [eq for eq in m.equilibrium(all=True, restarts=40) if eq.stable]
    assert stable
    eq = min(stable, key=lambda eq: eq.energy)
    mode = m.linearize(eq.q, tau=eq.tau).modes()[0]
    period = 2 * np.pi / mode.frequency
    motion = m.simulate(
        mode.configurations(1e-4, frames=4)[0],
        None,
        np.linspace(0, period, 9),
        rtol=1e-11,
        atol=1e-13,
    )
    away = np.array([integrate(m, -eq.q, q) for q in motion.q])
    cosine = np.cos(2 * np.pi * np.linspace(0, 1, 9))
    np.testing.assert_allclose(away, 1e-4 * cosine[:, None] * mode.shape.real, atol=1e-7)


def test_the_slow_change_of_a_steady_motion_is_neutral():
    m = es.load("flyball_governor")
    eq = m.equilibrium(v={"spin": 2 * np.pi})
    found = m.linearize(eq.q, eq.v, eq.tau).modes()
    assert sorted(mode.kind for mode in found if mode.pole == 0) == ["neutral", "rigid-body"]
    np.testing.assert_allclose(
        np.sort(np.abs(found.poles)), np.sort(np.abs(eq.poles)), rtol=1e-6, atol=1e-6
    )


def test_tables_and_mistakes():
    lm = es.load("cart_pole").with_joint("x", viscous=0.3).linearize([0.0, np.pi])
    text = repr(lm.modes())
    assert text.startswith("Modes of cart_pole")
    for word in ("rigid-body", "decay", "oscillation", "theta 1"):
        assert word in text
    with pytest.raises(es.InputError, match="numbered from 0 to 2"):
        lm.modes()["x"]
    rock = (
        es.Builder("rock")
        .body("rock", mass=1.0)
        .joint("hold", "fixed", "ground", "rock")
        .actuate()
        .build()
    )
    assert "none" in repr(rock.linearize([]).modes())


# -- beside Pinocchio ----------------------------------------------------------------------------------------------


def by_differences(m: es.Mechanism, eq: es.linear.Equilibrium, step: float = 1e-5) -> np.ndarray:
    """Natural frequencies from Pinocchio's constraint dynamics, at rest beside the equilibrium: a = -Omega x."""
    oracle = Oracle(
        es.Mechanism(replace(m.description, loops=(), actuated=tuple(j.name for j in m.joints)))
    )
    model, held, data = (
        oracle.model,
        pin.StdVec_RigidConstraintModel(),
        pin.StdVec_RigidConstraintData(),
    )
    for loop in m.loops:
        (j1, p1), (j2, p2) = (
            (oracle.where[end.body][0], oracle.where[end.body][1] * se3(end.at))
            for end in (loop.first, loop.second)
        )
        held.append(
            pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, j1, p1, j2, p2, pin.LOCAL)
        )
        data.append(held[-1].createData())
    work, settings, still = (
        model.createData(),
        pin.ProximalSettings(1e-13, 1e-10, 50),
        np.zeros(m.nv),
    )
    pin.initConstraintDynamics(model, work, held, data)
    lm, places = m.linearize(eq.q, tau=eq.tau), [m.coordinates[name].start for name in m.actuated]

    def accelerations(x):
        q = m.assemble(x, eq.q)
        return pin.constraintDynamics(model, work, oracle.q(q), still, still, held, data, settings)[
            oracle.v_map
        ][places]

    x = eq.q[places]
    columns = [
        (accelerations(x + step * e) - accelerations(x - step * e)) / (2 * step)
        for e in np.eye(lm.dof)
    ]
    return np.sort(np.sqrt(-np.linalg.eigvals(np.array(columns).T).real))


@pytest.mark.parametrize("name", ["parallelogram", "five_bar", "planar_3rrr"])
def test_frequencies_at_a_stable_rest_are_those_of_pinocchios_dynamics(name):
    """Where Pinocchio's own derivatives, and others' linear models, are wrong for loops, differences of its dynamics are not."""
    m = es.load(name)
    bodies = tuple(
        replace(b, inertia=(b.inertia[2],) * 3 + (0.0,) * 3) for b in m.bodies
    )  # rods without spin
    m = es.Mechanism(replace(m.description, bodies=bodies, gravity=(0.0, -9.81, 0.0)))
    eq = next(eq for eq in m.equilibrium(all=True, restarts=40) if eq.stable)
    found = [mode.frequency for mode in m.linearize(eq.q, tau=eq.tau).modes()]
    np.testing.assert_allclose(found, by_differences(m, eq), rtol=1e-6)


def test_a_stiffness_of_round_off_is_none():
    m = es.load("double_pendulum")  # held level, where the moment of its weight is stationary
    modes = m.linearize([np.pi / 2, 0.0]).modes()
    assert modes.zero.all()
    assert {mode.kind for mode in modes} == {"rigid-body"}
