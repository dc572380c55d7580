"""Derivatives of dynamics: the recursion against differentiation of the graph, differences and Pinocchio."""

from dataclasses import replace

import casadi
import numpy as np
import pytest

import eslabon as es
from cases import rate_along
from eslabon.compiler.calls import inlined
from eslabon.formulas import dynamics
from eslabon.formulas.constrained.constraint_solvers import (
    ConstrainedMass,
    Multipliers,
    NativeMultipliers,
)
from eslabon.formulas.derivatives import rnea_derivatives, state_derivatives
from eslabon.formulas.kinematics.links import serial
from eslabon.formulas.motion_state import Method, MotionState
from eslabon.model.configuration import integrate
from eslabon.motion.simulation import equations_of_motion
from eslabon.solve.constraints.constraint_structure import structure
from oracles import Oracle, pin
from random_mechanisms import (
    CUTS,
    MOVING,
    allowed,
    random_builder,
    random_closed,
    random_coordinates,
    random_tree,
)


def near(got, want, rtol=1e-10):
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape
    assert np.abs(got - want).max(initial=0.0) <= rtol * max(1.0, np.abs(want).max(initial=0.0))


def symbols(m, third="a"):
    sizes = {"q": m.nq, "v": m.nv, third: m.nu if third == "tau" else m.nv}
    return [casadi.SX.sym(name, n) for name, n in sizes.items()]


def values(given, expressions, *numbers):
    """Expressions as numbers, without compiling them."""
    f = casadi.Function("f", given, [casadi.densify(casadi.SX(x)) for x in expressions])
    return [np.array(x) for x in f.call([np.asarray(x, float) for x in numbers])]


def state(rng, m, q=None):
    """A configuration, and velocities that keep the loops closed."""
    q = random_coordinates(rng, m) if q is None else q
    v = rng.normal(size=m.nv)
    return q, allowed(m.constraint_jacobian(q)) @ v if m.closed else v


def slopes(m, f, q, v, u, h=2e-3):
    """df/dq along the velocities, df/dv and df/du by central differences of sixth order."""
    weights = {1: 45 / 60, 2: -9 / 60, 3: 1 / 60}

    def slope(at, n):
        steps = np.array([s * h * np.eye(n) for k in weights for s in (k, -k)])
        signs = np.array([s * w for w in weights.values() for s in (1, -1)])
        return np.einsum("s,s...->...", signs, at(steps)).T / h

    return (
        slope(lambda d: f(integrate(m, q, d), v, u), m.nv), slope(lambda d: f(q, v + d, u), m.nv),
        slope(lambda d: f(q, v, u + d), len(u)),
    )  # fmt: skip


# -- trees -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", MOVING)
def test_the_recursion_is_the_derivative_of_the_graph(kind):
    rng = np.random.default_rng(MOVING.index(kind))
    m = random_tree(rng, [kind, "revolute", kind, "fixed", "prismatic", kind])
    given = q, v, a = symbols(m)
    tau = casadi.densify(MotionState(m, q, v).joint_forces(a))
    graph = state_derivatives.along(m, tau, q), casadi.jacobian(tau, v), casadi.jacobian(tau, a)
    tree = serial(m)
    ways = [f(m, tree, q, v, a) for f in (rnea_derivatives.of_links, rnea_derivatives.in_ground)]
    numbers = random_coordinates(rng, m), *rng.normal(size=(2, m.nv))
    want = values(given, graph, *numbers)
    for way in ways:
        for got, expected in zip(values(given, way, *numbers), want, strict=True):
            near(got, expected)


@pytest.mark.parametrize("kind", MOVING)
def test_matrices_and_energy_are_differentiated_along_every_joint_kind(kind):
    rng = np.random.default_rng(MOVING.index(kind) + 40)
    m = random_tree(rng, [kind, "revolute"], branched=False)
    q, v = state(rng, m)
    near(m.derivative("mass_matrix", "q", q) @ v, rate_along(m, m.mass_matrix, q, v), 1e-11)
    near(m.derivative("energy", "v", q, v)[0], m.mass_matrix(q) @ v, 1e-12)


@pytest.mark.parametrize("cut", CUTS)
def test_rows_of_every_kind_of_loop_are_differentiated(cut):
    rng = np.random.default_rng(CUTS.index(cut) + 60)
    m, q = random_closed(rng, ["spherical", "universal"], [cut])
    v = rng.normal(size=m.nv)
    near(
        m.derivative("constraint_jacobian", "q", q) @ v,
        rate_along(m, m.constraint_jacobian, q, v),
        1e-11,
    )


def test_every_force_is_differentiated():
    rng = np.random.default_rng(5)
    m = acting(rng)
    q, v = state(rng, m)
    tau, wrench = rng.normal(size=m.nu), {"body2": rng.normal(size=6)}
    found = m.forward_dynamics_derivatives(q, v, tau, external=wrench)
    differences = slopes(m, lambda *x: m.forward_dynamics(*x, external=wrench), q, v, tau)
    given, external = symbols(m, "tau"), {"body2": casadi.SX(wrench["body2"])}
    s = MotionState(m, *given[:2], external=external)
    a = casadi.densify(dynamics.forward_dynamics(s, given[2])[0])
    graph = values(
        given,
        [state_derivatives.along(m, a, given[0]), *(casadi.jacobian(a, x) for x in given[1:])],
        q,
        v,
        tau,
    )
    for got, difference, exact in zip(found, differences, graph, strict=True):
        near(got, difference, 1e-8)
        near(got, exact)
    given, accelerations = symbols(m), rng.normal(size=m.nv)
    s = MotionState(m, *given[:2], external=external)
    forces = casadi.densify(dynamics.inverse_dynamics(s, given[2])[0])
    graph = (
        state_derivatives.along(m, forces, given[0]),
        *(casadi.jacobian(forces, x) for x in given[1:]),
    )
    found = state_derivatives.inverse_dynamics_derivatives(s, given[2])
    numbers = q, v, accelerations
    for got, want in zip(
        values(given, found, *numbers), values(given, graph, *numbers), strict=True
    ):
        near(got, want)


def acting(rng):
    """A tree with quaternions, springs, friction, motors and a wrench, not all of it actuated."""
    b = random_builder(rng, ["free", "revolute", "universal", "prismatic"])
    b._items["joints"][1] = replace(
        b._items["joints"][1], stiffness=(4.0,), rest=(0.2,), viscous=(0.3,), coulomb=(0.1,), motor_inertia=(1e-2,),
        gear_ratio=(3.0,),
    )  # fmt: skip
    b.spring(
        "spring",
        "body3",
        "ground",
        (0.1, 0.2, 0.3),
        (1.1, 0.6, -0.9),
        stiffness=30.0,
        length=0.4,
        damping=0.7,
    )
    b.wrench("push", "body2", (1.0, 2.0, 3.0), at=(0.1, 0.0, 0.2))
    return es.Mechanism(b.actuate("joint1", "joint3").describe())


@pytest.mark.parametrize("length", [3, 12, 30])
def test_long_chains_have_pinocchio_s_derivatives(length):
    rng = np.random.default_rng(length)
    m = random_tree(
        rng,
        ["revolute", "prismatic", "helical"][: 1 + length % 3] * (length // 3 or 1),
        branched=False,
    )
    o = Oracle(m)
    q, v, a = rng.uniform(-1, 1, (3, m.nv))
    theirs = o.q(q), o.v(v), o.v(a)
    index = np.ix_(o.v_map, o.v_map)
    if not any(j.kind.kind == "helical" for j in m.joints):
        pairs = zip(
            m.inverse_dynamics_derivatives(q, v, a)[:2],
            pin.computeRNEADerivatives(o.model, o.data, *theirs),
            strict=False,
        )
        for got, want in pairs:
            near(got, want[index])
        for got, want in zip(
            m.forward_dynamics_derivatives(q, v, a),
            pin.computeABADerivatives(o.model, o.data, *theirs),
            strict=True,
        ):
            near(got, want[index], 1e-8)
    Q, V, A = rng.uniform(-1, 1, (3, 11, m.nv))
    many, one = (
        m.forward_dynamics_derivatives(Q, V, A),
        m.forward_dynamics_derivatives(Q[7], V[7], A[7]),
    )
    for batch, single in zip(many, one, strict=True):
        near(batch[7], single, 1e-13)


def test_turning_about_the_vertical_changes_no_torque():
    """The first column of the exact W of a robot on a vertical axis is zero; the printed one's is not (Rojas, 5.3.18)."""
    m, rng = es.load("rojas_t3"), np.random.default_rng(0)
    W, _, U = m.inverse_dynamics_derivatives(*rng.normal(size=(3, 6)))
    assert np.abs(W[:, 0]).max() < 1e-12 * np.abs(W).max()
    near(U, U.T, 1e-14)


def test_parameters_and_shapes():
    m, rng = es.load("double_pendulum"), np.random.default_rng(1)
    Q, V, T = rng.normal(size=(3, 4, 2))
    for name in list(m.parameters)[:2]:
        got = m.derivative("forward_dynamics", name, Q, V, T)
        near(got, m.derivative("forward_dynamics", name, Q, V, T, formulation="lie"))
    W, D, U = m.inverse_dynamics_derivatives(Q, V[0], T[:, None], parameters={"L1": 0.7})
    assert W.shape == D.shape == U.shape == (4, 4, 2, 2)
    near(
        m.with_parameters(L1=0.7).inverse_dynamics_derivatives(Q[1], V[0], T[2])[0], W[2, 1], 1e-13
    )
    with pytest.raises(es.EslabonError, match="5"):
        m.inverse_dynamics_derivatives(np.zeros(5), V[0], T[0])


def test_a_motion_without_mass_is_refused():
    b = es.Builder("light")
    b.body("arm", 1.0, (0.3, 0, 0), np.eye(3))
    b.body("nothing", 0.0)
    b.joint("shoulder", "revolute", "ground", "arm")
    b.joint("wrist", "revolute", "arm", "nothing")
    m = b.build()
    assert np.isfinite(m.inverse_dynamics_derivatives(*np.ones((3, 2)))).all()
    with pytest.raises(es.EslabonError, match="wrist"):
        m.forward_dynamics_derivatives(*np.ones((3, 2)))


# -- loops -------------------------------------------------------------------------------------------------------------


def by_graph(m, given, structure):
    q, v, tau = given
    a = dynamics.forward_dynamics(MotionState(m, q, v, Method(structure=structure)), tau)[0]
    return [
        state_derivatives.along(m, a, q),
        casadi.jacobian(casadi.densify(a), v),
        casadi.jacobian(casadi.densify(a), tau),
    ]


@pytest.mark.parametrize("cut", CUTS)
def test_loops_of_every_kind(cut):
    rng = np.random.default_rng(CUTS.index(cut) + 20)
    kinds = [
        *rng.permutation(["free", "spherical", "universal", "planar", "cylindrical"])[:3],
        "revolute",
        "helical",
    ]
    m, q = random_closed(rng, kinds, [cut])
    given, known = symbols(m, "tau"), structure(m)
    s = MotionState(m, *given[:2], Method(structure=known))
    found = state_derivatives.forward_dynamics_derivatives(s, given[2])
    numbers = *state(rng, m, q), rng.normal(size=m.nu)
    want = values(given, by_graph(m, given, known), *numbers)
    for got, expected in zip(values(given, found.a_by.values(), *numbers), want, strict=True):
        near(got, expected, 1e-9)
    X, Y = rng.normal(size=(2, m.nv, 2))
    some = state_derivatives.forward_dynamics_derivatives(s, given[2], directions={"x": (X, Y)})
    near(values(given, [some.a_by["x"]], *numbers)[0], want[0] @ X + want[1] @ Y, 1e-9)


@pytest.mark.parametrize("name", ["four_bar_spring", "slider_crank", "planar_3rrr"])
def test_closed_mechanisms_natively(name):
    m, rng = es.load(name), np.random.default_rng(2)
    q, v = state(rng, m, m.home())
    tau, given = rng.normal(size=m.nu), symbols(m, "tau")
    found = m.forward_dynamics_derivatives(q, v, tau)
    for got, want in zip(
        found, values(given, by_graph(m, given, structure(m)), q, v, tau), strict=True
    ):
        near(got, want, 1e-9)
    near(m.derivative("forward_dynamics", "q", q, v, tau), found[0], 1e-12)
    many = m.forward_dynamics_derivatives(*(np.tile(x, (9, 1)) for x in (q, v, tau)))
    for batch, single in zip(many, found, strict=True):
        near(batch[4], single, 1e-12)


def test_along_a_motion_loops_stay_closed():
    """J da + dJ a = dgamma: whatever changes, the second derivative of the closure stays zero."""
    m, rng = es.load("slider_crank"), np.random.default_rng(3)
    q, v = state(rng, m, m.home())
    tau = rng.normal(size=m.nu)
    a = m.forward_dynamics(q, v, tau)
    by_q, by_v, by_tau = m.forward_dynamics_derivatives(q, v, tau)
    J = m.constraint_jacobian(q)
    near(J @ by_tau, np.zeros((len(J), m.nu)), 1e-9)
    H = m.derivative("constraint_jacobian", "q", q)
    near(
        J @ by_v + np.einsum("rij,i->rj", H, v) + np.einsum("rij,j->ri", H, v),
        np.zeros_like(J),
        1e-8,
    )
    h = 1e-4

    def gap(d):
        at = integrate(m, q, d)
        return m.constraint_jacobian(at) @ a + m.derivative("constraint_jacobian", "q", at) @ v @ v

    change = np.array([(gap(h * e) - gap(-h * e)) / (2 * h) for e in np.eye(m.nv)]).T
    near(J @ by_q + change, np.zeros_like(change), 1e-5)


@pytest.mark.parametrize("penalty", [0.0, 3.0])
@pytest.mark.parametrize("regularization", [(), (1e-9,) * 4])
@pytest.mark.parametrize("columns", [5, 12])
def test_factors_by_loops_are_the_same_factors(penalty, regularization, columns):
    """Also with more columns than velocities, where they are multiplied by the blocks of the inverse."""
    rng = np.random.default_rng(4)
    n, rows = 9, 4
    A, J = rng.normal(size=(n, n)), rng.normal(size=(rows, n))
    f, gap = rng.normal(size=(n, columns)), rng.normal(size=(rows, columns))
    M = casadi.SX(A @ A.T + np.eye(n))
    given = ConstrainedMass(M, casadi.SX(J), None, penalty, regularization)
    ways = [Multipliers(given), NativeMultipliers(given, columns)]
    a, other = (
        np.array(casadi.evalf(way.compensate(casadi.SX(f), casadi.SX(gap)))) for way in ways
    )
    near(other, a), near(J @ a, -gap, 1e-6)
    for way in ways:
        x, reaction = (np.array(casadi.evalf(y)) for y in way.solve(casadi.SX(-f), casadi.SX(-gap)))
        near(x, a), near(np.array(casadi.DM(M)) @ x - J.T @ reaction, -f, 1e-9)
    near(*(float(casadi.evalf(way.condition)) for way in ways))


def test_closed_inverse_dynamics():
    m, rng = es.load("five_bar"), np.random.default_rng(6)
    q, v = state(rng, m, m.home())
    a = m.forward_dynamics(q, v, [0.3, -0.2])
    for by, got in zip("qva", m.inverse_dynamics_derivatives(q, v, a), strict=True):
        near(got, m.derivative("inverse_dynamics", by, q, v, a))
    with pytest.raises(es.EslabonError, match="closure"):
        m.forward_dynamics_derivatives(q + 0.1, v, [0.0, 0.0])


def test_a_driven_mechanism():
    b = random_builder(
        np.random.default_rng(8), ["revolute", "universal", "spherical"], branched=False
    )
    b.loop(
        "rod",
        "distance",
        "body2",
        "ground",
        (0.1, 0.2, 0.3),
        (1.0, 0.5, 0.2),
        length="1.6 + 0.1*sin(t)",
    )
    b.drive("drive", "joint0", "0.3*sin(2*t)")
    m = es.Mechanism(b.actuate("joint1").describe())
    given, t, known = symbols(m, "tau"), casadi.SX(0.4), structure(m)
    timed = m.with_time(t)
    rng = np.random.default_rng(9)
    numbers = random_coordinates(rng, m), rng.normal(size=m.nv), rng.normal(size=m.nu)
    s = MotionState(timed, *given[:2], Method(structure=known))
    found = state_derivatives.forward_dynamics_derivatives(s, given[2])
    for got, want in zip(
        values(given, found.a_by.values(), *numbers),
        values(given, by_graph(timed, given, known), *numbers),
        strict=True,
    ):
        near(got, want, 1e-9)


# -- implicit integrators ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["planar_3rrr", "bennett", "acting"])
def test_radau_s_jacobian(name):
    rng = np.random.default_rng(10)
    m = acting(rng) if name == "acting" else es.load(name)
    given = casadi.SX.sym("t"), casadi.SX.sym("x", m.nq + m.nv), casadi.SX.sym("tau", m.nu)
    rates, _ = equations_of_motion.rates(m, *given)  # and the distance from rank loss
    graph = casadi.jacobian(inlined(rates), given[1])
    numbers = (
        0.0,
        np.concatenate(state(rng, m, m.home() if m.closed else None)),
        rng.normal(size=m.nu),
    )
    got, want = values(given, [equations_of_motion.rates_jacobian(m, *given), graph], *numbers)
    near(got, want, 1e-8)
