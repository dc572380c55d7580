"""Mechanisms as bond graphs: their junction structures give what the other formulations give."""

import pickle
from functools import partial

import casadi
import numpy as np
import pytest
from hypothesis import assume, given

import eslabon as es
from eslabon.bond_graph.graph_formulas import rates
from eslabon.formulas import dynamics
from eslabon.formulas.motion_state import Method, MotionState
from eslabon.solve.constraints.constraint_structure import structure
from eslabon.verbs import ALL_FORMULATIONS
from random_mechanisms import (
    MOVING,
    allowed,
    random_builder,
    random_closed,
    random_coordinates,
    random_tree,
)
from randomness import examples, seeded
from strategies import degenerate_trees, moving_loops, moving_trees


def numbers(formula, *arrays):
    """A formula of symbols at numbers, without compiling it."""
    symbols = [casadi.SX.sym(f"x{k}", len(x)) for k, x in enumerate(arrays)]
    made = casadi.Function("f", symbols, [casadi.densify(x) for x in formula(*symbols)])
    return [np.array(x) for x in made.call([casadi.DM(x) for x in arrays])]


def graph_rates(g, x, u, t=0.0):
    return numbers(lambda x, u, t: rates(g, x, u, t)[:1], x, u, np.array([t]))[0][:, 0]


def state_of(m, q, v, **method):
    return MotionState(m, q, v, Method(**method))


def closed_dynamics(m, q, v, tau):
    """Accelerations, how far the state is from closure, and the reciprocal condition number."""
    known = structure(m)
    return numbers(
        lambda q, v, tau: dynamics.forward_dynamics(state_of(m, q, v, structure=known), tau),
        q,
        v,
        tau,
    )


def close(found, expected, size=1e-10):
    np.testing.assert_allclose(
        found, expected, rtol=0, atol=size * (1 + np.abs(expected).max(initial=0.0))
    )


def equations_of_motion(m, name, q, v):
    return state_of(m, q, v, formulation=ALL_FORMULATIONS.get(name)).equations


def inverse_dynamics(m, name, q, v, a):
    return dynamics.inverse_dynamics(state_of(m, q, v, formulation=ALL_FORMULATIONS.get(name)), a)


def acting(rng, kinds, branched=True):
    """A random tree with springs, friction, motors and wrenches."""
    b = random_builder(rng, kinds, branched)
    last = f"body{len(kinds) - 1}"
    b.spring(
        "spring",
        "ground",
        last,
        rng.normal(size=3),
        rng.normal(size=3),
        stiffness=30.0,
        damping=2.0,
        length=0.3,
    )
    b.spring("band", "body0", last, rng.normal(size=3), rng.normal(size=3), stiffness=5.0) if len(
        kinds
    ) > 1 else None
    b.wrench(
        "pull",
        last,
        force=rng.normal(size=3),
        moment=rng.normal(size=3),
        at=rng.normal(size=3),
        axes="body",
    )
    b.wrench("push", "body0", force=rng.normal(size=3), at=rng.normal(size=3))
    b.joint(
        "wheel",
        "revolute",
        last,
        "rotor",
        viscous=0.3,
        coulomb=0.2,
        stiffness=2.0,
        rest=0.1,
        motor_inertia=0.01,
        gear_ratio=7.0,
    )
    b.body("rotor", 0.4, (0, 0.1, 0), (0.01, 0.02, 0.02))
    return b.build()


# Trees ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", MOVING)
def test_the_formulation_agrees_on_every_joint_kind(kind):
    rng = seeded(MOVING.index(kind))
    m = acting(rng, [kind, "revolute", kind])
    q, v, a, tau = random_coordinates(rng, m), *rng.normal(size=(3, m.nv))
    terms, forces = [], []
    for name in ("bond_graph", None):
        terms.append(numbers(partial(equations_of_motion, m, name), q, v))
        forces.append(numbers(partial(inverse_dynamics, m, name), q, v, a)[0])
    close(terms[0][0], terms[1][0])
    close(terms[0][1], terms[1][1])
    close(*forces)
    g = m.bond_graph()
    expected = numbers(
        lambda q, v, tau: dynamics.forward_dynamics(state_of(m, q, v), tau)[:1], q, v, tau
    )[0][:, 0]
    close(g.velocities(graph_rates(g, g.state(q, v), tau)), expected)


def drawn(m):
    """The graph of a random mechanism, unless it has a spring that cannot move, which is told."""
    try:
        return m.bond_graph()
    except es.ModelError as error:
        assume("length that never changes" not in str(error))
        raise


@examples(8)
@given(moving_trees() | degenerate_trees())
def test_graphs_of_drawn_trees_accelerate_as_forward_dynamics(state):
    m, q, v = state.m, state.q, state.v
    assume(m.nv)
    M = m.mass_matrix(q)
    assume(np.linalg.cond(M) < 1e6)
    g = drawn(m)
    tau = state.a[: m.nu]
    bias = numbers(lambda q, v: state_of(m, q, v).equations, q, v)[1][:, 0]
    force = np.zeros(m.nv)
    force[list(m.actuated_velocities)] = tau
    found = graph_rates(g, g.state(q, v), tau)
    close(M @ g.velocities(found) + bias, force, 1e-9)
    for joint in m.joints:
        own = m.coordinates[joint.name], m.velocities[joint.name]
        expected = (
            np.ravel(joint.kind.coordinate_rates(q[own[0]], v[own[1]])) if joint.nv else np.zeros(0)
        )
        close(g.coordinates(found)[own[0]], expected)


def test_the_formulation_serves_every_verb(rng):
    m = es.load("scara")
    q, v, a = rng.normal(size=(3, 5, m.nv))
    tau = m.inverse_dynamics(q, v, a, formulation="bond_graph")
    close(tau, m.inverse_dynamics(q, v, a))
    close(m.forward_dynamics(q, v, tau, formulation="bond_graph"), a)
    for by in ("q", "v"):
        found = [
            m.derivative("inverse_dynamics", by, q[0], v[0], a[0], formulation=f)
            for f in ("bond_graph", "lie")
        ]
        close(*found)
    run = [
        m.simulate(q[0], v[0], 0.2, method="rk4", step=1e-3, formulation=f).q[-1]
        for f in ("bond_graph", "lagrange")
    ]
    close(*run)
    external = {m.bodies[-1].name: np.arange(6.0)}
    close(
        *(
            m.inverse_dynamics(q[0], v[0], a[0], external=external, formulation=f)
            for f in ("bond_graph", "newton_euler")
        )
    )
    assert m.operations("inverse_dynamics", formulation="bond_graph").total > 0
    assert "inverse_dynamics" in m.c_source("inverse_dynamics", formulation="bond_graph").code
    m = es.load("elbow")
    found = [m.equations("inverse_dynamics", formulation=f) for f in ("bond_graph", "lagrange")]
    assert str(found[0]).count("sin(q2)") == str(found[1]).count("sin(q2)") > 0
    close(
        *(
            m.derivative(
                "inverse_dynamics", "a1", [0.3, 0.4], [1.0, 2.0], [0.5, 0.2], formulation=f
            )
            for f in ("bond_graph", "lie")
        )
    )


def test_a_platform_that_accelerates_is_gravity(rng):
    m = random_tree(rng, ["revolute", "spherical", "prismatic"], branched=False)
    q, v = random_coordinates(rng, m), np.linspace(-1, 1, m.nv)
    sources, platform = (m.bond_graph(gravity) for gravity in ("sources", "platform"))
    u = np.linspace(1, 2, m.nu)
    for t in (0.0, 3.0):
        close(
            graph_rates(platform, platform.state(q, v), u, t),
            graph_rates(sources, sources.state(q, v), u),
        )


def test_a_platform_carries_what_stands_on_the_ground():
    m = es.load("four_bar_spring")
    q = m.project(m.home())
    v = allowed(m.constraint_jacobian(q)) @ np.ones(m.nv)
    sources, platform = (m.bond_graph(gravity) for gravity in ("sources", "platform"))
    u = np.ones(m.nu)
    close(
        graph_rates(platform, platform.state(q, v), u, 2.0),
        graph_rates(sources, sources.state(q, v), u),
        1e-9,
    )


# Loops ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_loops_are_held_by_the_efforts_of_sinks(seed):
    rng = seeded(seed)
    cuts = [("spherical",), ("universal",), ("planar", "cylindrical"), ("revolute",), ("helical",)][
        seed
    ]
    m, q = random_closed(
        rng, ["free", "revolute", "spherical", "cylindrical", "universal"], list(cuts)
    )
    v = allowed(m.constraint_jacobian(q)) @ rng.normal(size=m.nv)
    g, tau = m.bond_graph(), rng.normal(size=m.nu)
    expected, _, condition = closed_dynamics(m, q, v, tau)
    assert condition > 1e-7
    close(g.velocities(graph_rates(g, g.state(q, v), tau)), expected[:, 0])


@examples(4)
@given(moving_loops(acting=False, most=3))
def test_graphs_of_drawn_loops_accelerate_as_forward_dynamics(state):
    m, q, v = state.m, state.q, state.v
    tau = np.linspace(-1, 2, m.nu)
    expected, left, condition = closed_dynamics(m, q, v, tau)
    assert left < 1e-9
    assume(condition > 1e-5)
    g = drawn(m)
    close(g.velocities(graph_rates(g, g.state(q, v), tau)), expected[:, 0], 1e-9)


def test_multipliers_are_the_forces_of_couplings():
    b = es.Builder("gears")
    for name in ("one", "two"):
        b.body(name, mass=1.0, com=(0.1, 0.2, 0), inertia=(0.1, 0.1, 0.1)).joint(
            name, "revolute", "ground", name, axis="x"
        )
    m = b.couple("gear", "two", "one", ratio=-3.0).actuate("one").build()
    q, v = np.array([0.2, -0.6]), np.array([1.0, -3.0])
    g = m.bond_graph()
    x = g.state(q, v)
    close(g.velocities(g.rates(x, [0.4])), m.forward_dynamics(q, v, [0.4]))
    sink = g.ports["coupling_gear"][0].bond
    close(-g.bond_variables(x, [0.4])[sink.signal_name("e")], m.coupling_forces(q, v, tau=[0.4])[0])


def test_driven_joints_move_as_told():
    b = es.Builder("arm")
    for k, axis in enumerate(("z", "y", "x"), start=1):
        b.body(f"b{k}", mass=k, com=(0.2, 0.1, -0.1), inertia=(0.1, 0.2, 0.25, 0.01, -0.02, 0.03))
        b.joint(
            f"q{k}",
            "revolute",
            f"b{k - 1}" if k > 1 else "ground",
            f"b{k}",
            at=(0.3, 0, 0.1),
            axis=axis,
        )
    m = (
        b.drive("first", "q1", "0.3*sin(2*t)")
        .drive("second", "q2", "0.2 + t**3")
        .actuate("q3")
        .build()
    )
    t = 0.7
    q = np.array([0.3 * np.sin(2 * t), 0.2 + t**3, 0.4])
    v = np.array([0.6 * np.cos(2 * t), 3 * t**2, -0.8])
    g = m.bond_graph()
    close(
        g.velocities(graph_rates(g, g.state(q, v), [0.5], t)), m.forward_dynamics(q, v, [0.5], t=t)
    )


def test_a_distance_that_varies_in_time():
    b = es.Builder("pair")
    for k in range(2):
        b.body(f"b{k}", mass=1.0, com=(0.1, 0, 0), inertia=(0.1, 0.2, 0.2))
        b.joint(f"j{k}", "cylindrical", "ground", f"b{k}", at=(0.4 * k, 0, 0.1), axis=(0.3, k, 1))
    b.loop(
        "rod",
        "distance",
        "b0",
        "b1",
        first=(0.1, 0.2, 0),
        second=(0, 0.3, 0.2),
        length="0.7 + 0.1*sin(3*t)",
    )
    m, t = b.actuate().build(), 0.4
    q = m.project([0.3, 0.1, 0.4, 0.2], t=t)
    v = -np.linalg.pinv(m.constraint_jacobian(q, t=t)) @ m.derivative("constraint", "t", q, t=t)
    g = m.bond_graph()
    close(g.velocities(graph_rates(g, g.state(q, v), [], t)), m.forward_dynamics(q, v, [], t=t))


# Power and energy ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["puma560_drives", "four_bar_spring", "rssr"])
def test_the_junction_structure_conserves_power(name):
    m = es.load(name)
    q = m.project(m.home()) if m.closed else np.linspace(-1, 1, m.nq)
    v = np.linspace(-1, 2, m.nv)
    v = allowed(m.constraint_jacobian(q)) @ v if m.closed else v
    g = m.bond_graph()
    x, u = g.state(q, v), np.ones(len(g.inputs))
    for what, size in g.junction_structure().violations(x, u).items():
        assert size < 1e-12, what
    variables = g.bond_variables(x, u)
    flows, places = variables.power, list(g.bonds)
    ends = {
        n: p
        for n, p in g.ports.items()
        if g.elements[n].kind in ("I", "C", "R", "Se", "Sf", "MSe", "MSf", "rSe", "rSf")
    }
    power = {
        n: sum(p.sign * flows[places.index(p.bond.name)] for p in own) for n, own in ends.items()
    }
    assert abs(sum(power.values())) < 1e-10 * max(map(abs, power.values()))
    sinks = [abs(power[n]) for n in power if g.elements[n].kind in ("rSe", "rSf")]
    assert max(sinks) < 1e-9 * max(map(abs, power.values()))


def test_energy_is_kept_without_resistors_and_lost_with_them():
    b = es.Builder("pendulums")
    for k in range(2):
        b.body(f"b{k}", mass=1.0, com=(0.3, 0, 0.1), inertia=(0.01, 0.02, 0.03))
    b.joint("hip", "spherical", "ground", "b0").joint(
        "knee", "revolute", "b0", "b1", at=(0.5, 0, 0), axis="y", viscous="c"
    )
    b.parameter("c", 0.0)
    m = b.actuate().build()
    t = np.linspace(0, 2, 2001)
    for c in (0.0, 0.2):
        own = m.with_parameters(c=c)
        g = m.bond_graph().with_parameters(c=c)
        x0 = g.state([1.0, 0, 0, 0, 0.3], [0.4, 1.0, -0.5, 2.0])
        run = g.simulate(x0, t, method="DOP853", rtol=1e-10, atol=1e-12)
        total = own.energy(g.coordinates(run.x), g.velocities(run.x)).sum(axis=-1)
        balance = run.energy_balance()
        assert balance.error < 1e-6
        close(balance.stored + balance.dissipated, balance.supplied, 1e-6)
        if c:
            assert (np.diff(total) < 1e-10).all()
            close(balance["friction_knee"], total[0] - total, 1e-6)
            assert total[0] - total[-1] > 0.1
        else:
            assert np.ptp(total) < 1e-7
        sizes = [np.abs(balance[name]).max() for name in balance.elements]
        assert sizes == sorted(sizes, reverse=True)
        close(g.energy(run.x), own.energy(g.coordinates(run.x), g.velocities(run.x))[:, 0])


# The notes' own graph ------------------------------------------------------------------------------------------------


def test_morales_puma_is_the_graph_of_its_mechanism(rng):
    """States p2, p24 are the motors' momenta i2 w2, i1 w1; q3, q23 the angles of joints 2 and 1."""
    values = {"ix": 0.7, "iy": 0.4, "iz": 0.5, "i": 0.3}
    notes = es.BondGraph.load("morales_puma").with_parameters(**values)
    g = es.load("morales_puma").bond_graph().with_parameters(**values)
    w1, w2, a1, a2, u1, u2 = rng.normal(size=(6, 4))
    i1, i2 = (notes.parameters[name] for name in ("i1", "i2"))
    theirs = notes.rates(np.stack([i2 * w2, i1 * w1, a2, a1], axis=-1), np.stack([u2, u1], axis=-1))
    ours = g.rates(
        g.state(np.stack([a1, a2], axis=-1), np.stack([w1, w2], axis=-1)),
        np.stack([u1, u2], axis=-1),
    )
    close(theirs[:, 1] / i1, g.velocities(ours)[:, 0])
    close(theirs[:, 0] / i2, g.velocities(ours)[:, 1])


# Rest ----------------------------------------------------------------------------------------------------------------


def test_steady_states_and_inverse_statics_are_those_of_the_mechanism():
    m = es.load("elbow")
    g, q = m.bond_graph(), np.array([0.4, -0.7])
    hold = g.inverse_statics({"q_theta1": q[0], "q_theta2": q[1]})
    close(hold.u, m.gravity_forces(q))
    model = g.linearize(g.state(q), hold.u)
    slope = m.derivative("forward_dynamics", "q", q, np.zeros(2), hold.u)
    close(model.A[:2, 2:], slope)
    closed = es.load("five_bar").bond_graph()
    with pytest.raises(es.ModelError, match="ask the mechanism for its equilibrium"):
        closed.steady_state(np.zeros(2))


def test_native_steps_follow_the_other_simulation():
    m = es.load("five_bar")
    q0 = m.project(m.home())
    g = m.bond_graph()
    t = np.linspace(0, 0.1, 201)
    run = g.simulate(g.state(q0), t, [1e-3, -5e-4], method="rk4", step=5e-4)
    motion = m.simulate(q0, None, t, [1e-3, -5e-4], method="rk4", step=5e-4)
    close(g.coordinates(run.x), motion.q, 1e-8)
    assert np.abs(m.constraint(g.coordinates(run.x))).max() < 1e-9


def test_runs_tell_of_open_loops_and_singular_configurations():
    m = es.load("four_bar_spring")
    g, q = m.bond_graph(), m.project(m.home())
    with pytest.raises(es.EslabonError, match="x0 violates loop closure"):
        g.simulate(g.state(q + 0.1), 0.01, np.zeros(m.nu))
    v = 3 * allowed(m.constraint_jacobian(q)) @ np.ones(m.nv)
    with pytest.raises(es.EslabonError, match=r"violates loop closure by .* on the way"):
        g.simulate(g.state(q, v), 5.0, np.zeros(m.nu), rtol=1e-2, atol=1e-2)


# Drives --------------------------------------------------------------------------------------------------------------


def pendulum():
    b = es.Builder("arm", gravity=(0, -9.81, 0)).body(
        "link", mass=2.0, com=(0.3, 0, 0), inertia=(0, 0.06, 0.06)
    )
    return b.joint("q", "revolute", "ground", "link").actuate("q").build()


def test_a_motor_moves_an_arm_as_its_equations_say():
    m, motor = pendulum(), es.BondGraph.load("dc_motor")
    g = m.bond_graph(drives={"q": motor})
    assert g.inputs == ("e_q_command",)
    P = motor.parameters
    inertia = 2.0 * 0.09 + 0.06 + P["n"] ** 2 * P["J"]

    def by_hand(t, x):
        v, flux, q = x
        volts = P["supply"] * np.tanh(P["gain"] * 1.5 / P["supply"])
        current = flux / P["L"]
        torque = P["n"] * (P["k"] * current - P["b"] * P["n"] * v)
        return [
            (torque - 2.0 * 9.81 * 0.3 * np.cos(q)) / inertia,
            volts - P["R"] * current - P["k"] * P["n"] * v,
            v,
        ]

    from scipy.integrate import solve_ivp

    assert g.states == ("v_q", "q_flux", "q_q")
    t = np.linspace(0, 0.5, 51)
    run = g.simulate(g.state([0.2]), t, [1.5], rtol=1e-10, atol=1e-12)
    expected = solve_ivp(by_hand, (0, 0.5), [0, 0, 0.2], t_eval=t, rtol=1e-10, atol=1e-12).y.T
    np.testing.assert_allclose(run.x, expected, atol=1e-6)


def test_a_cylinder_holds_an_arm_with_its_oil():
    m, cylinder = pendulum(), es.BondGraph.load("hydraulic_cylinder")
    small = cylinder.with_parameters(
        area_a=1e-5, area_b=1e-5, volume_a=1e-5, volume_b=1e-5, k=1e-9, leak=1e18
    )
    g = m.bond_graph(drives={"q": small})
    oil = {
        f"q_oil_{c}": p * 1e-5 / 1.4e9
        for c, p in (("a", 5e6 + 2.0 * 9.81 * 0.3 / 1e-5), ("b", 5e6))
    }
    x = g.state([0.0], **oil)
    assert np.abs(g.rates(x, [0.0])).max() < 1e-9
    run = g.simulate(x, np.linspace(0, 1, 201), [0.5], method="LSODA")
    assert run["q_q"][-1] > 0.01
    balance = run.energy_balance()
    assert "q.pump" in balance.elements[:3]
    assert (balance["q.edge_pa"][1:] > 0).all()


# What else -----------------------------------------------------------------------------------------------------------


def test_parameters_batches_and_copies():
    m = es.load("four_bar_spring")
    g = m.bond_graph()
    again = pickle.loads(pickle.dumps(g))
    assert again == g
    assert again.mechanism.name == m.name
    q = m.project(m.home())
    x = np.stack([g.state(q), g.state(q, allowed(m.constraint_jacobian(q)) @ np.ones(m.nv))])
    found = g.rates(x, np.ones((2, m.nu)))
    close(found[1], g.rates(x[1], np.ones(m.nu)))
    close(g.state(g.coordinates(x), g.velocities(x)), x)
    name = next(iter(m.parameters), None)
    if name:
        other = m.with_parameters(**{name: 1.01 * m.parameters[name]})
        moved = other.project(m.home())
        g = g.with_parameters(**{name: other.parameters[name]})
        close(
            g.velocities(g.rates(g.state(moved), np.ones(m.nu))),
            other.forward_dynamics(moved, 0 * q, np.ones(m.nu)),
        )


def test_parameters_may_be_zero():
    b = (
        es.Builder("zeros", gravity=(0, -9.81, 0))
        .body("a", mass="m1", com=("c", 0, 0))
        .body("b", mass=1.0, com=(0.2, 0, 0))
    )
    b.joint(
        "one",
        "revolute",
        "ground",
        "a",
        motor_inertia="J",
        gear_ratio="n",
        viscous="J",
        stiffness="c",
    )
    b.joint("two", "revolute", "a", "b", at=("L", 0, 0))
    for name, x in {"m1": 0.0, "c": 0.0, "J": 0.0, "n": 1.0, "L": 0.5}.items():
        b.parameter(name, x)
    m = b.build()
    q, v = np.array([0.4, 0.3]), np.array([1.0, -2.0])
    for values in ({}, {"m1": 2.0, "c": 0.1, "J": 0.01, "n": 3.0}):
        own, g = m.with_parameters(**values), m.bond_graph().with_parameters(**values)
        found = graph_rates(g, g.state(q, v), [1.0, 2.0])
        terms = numbers(partial(equations_of_motion, own, "bond_graph"), q, v)
        close(terms[0] @ g.velocities(found) + terms[1][:, 0], np.array([1.0, 2.0]))
        close(terms[0], own.mass_matrix(q))


def test_short_moduli_are_written_out_and_saved(tmp_path):
    g = es.load("elbow").bond_graph()
    again = es.BondGraph.load(g.save(tmp_path / "elbow.toml"))
    x = np.array([0.3, -0.2, 0.5, 0.4])
    close(again.rates(x, [1.0, 2.0]), g.rates(x, [1.0, 2.0]))


def test_parameters_may_have_the_names_of_laws_own_variables():
    b = (
        es.Builder("letters")
        .body("a", mass="q", com=("f", 0, 0), inertia=(0.1, 0.1, 0.1))
        .body("b", mass=1.0)
    )
    b.joint(
        "one",
        "revolute",
        "ground",
        "a",
        axis="x",
        stiffness="2*q",
        rest="f",
        viscous="e",
        coulomb="f",
    )
    b.joint("two", "prismatic", "a", "b").spring(
        "s", "b", "ground", second=(1, 0, 0), stiffness="q", length="f"
    )
    for name, x in {"q": 2.0, "f": 0.3, "e": 0.7}.items():
        b.parameter(name, x)
    m = b.build()
    g, q, v = m.bond_graph(), np.array([0.4, 0.3]), np.array([1.0, -2.0])
    close(
        g.velocities(graph_rates(g, g.state(q, v), [1.0, 2.0])),
        m.forward_dynamics(q, v, [1.0, 2.0]),
    )


def test_mistakes_are_sentences():
    m, motor = pendulum(), es.BondGraph.load("dc_motor")
    with pytest.raises(es.ModelError, match="drives names 'p', which is no joint of arm"):
        m.bond_graph(drives={"p": motor})
    with pytest.raises(es.ModelError, match="has 0 open ports; it needs one"):
        m.bond_graph(drives={"q": es.BondGraph.load("morales_puma")})
    with pytest.raises(es.ModelError, match="is a bond graph with a port"):
        m.bond_graph(drives={"q": 3})
    with pytest.raises(es.EslabonError, match="gravity"):
        m.bond_graph(gravity="moon")
    b = es.Builder("still").body("a", mass=1.0).joint("w", "fixed", "ground", "a")
    with pytest.raises(es.ModelError, match="no degrees of freedom"):
        b.build().bond_graph()
    with pytest.raises(es.EslabonError, match="has no state 'flux'"):
        m.bond_graph(drives={"q": motor}).state([0.0], flux=1.0)
    light = es.Builder("light").body("a").joint("q", "revolute", "ground", "a").build()
    g = light.bond_graph()
    with pytest.raises(es.EslabonError, match="undetermined"):
        g.rates(g.state([0.0]), [0.0])
