"""The graphs of Morales against Lagrange's equations, his matrices (with the misprints mended) and his numbers."""

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import eslabon as es


def lagrange(kinetic, potential, damping, n):
    """Accelerations of n coordinates under forces: (d/dt dT/dv - dT/dq + dV/dq + damping v = tau)."""
    q, v, tau = ca.SX.sym("q", n), ca.SX.sym("v", n), ca.SX.sym("tau", n)
    L = kinetic(q, v) - potential(q)
    p = ca.gradient(L, v)
    M = ca.jacobian(p, v)
    rest = tau - damping(v) - ca.jacobian(p, q) @ v + ca.gradient(L, q)
    f = ca.Function("a", [q, v, tau], [ca.solve(M, rest), M])
    return lambda q, v, tau: np.array(f(q, v, tau)[0]).ravel()


def puma_lagrange(p):
    """Coordinates: joint 2, joint 1."""
    return lagrange(
        lambda q, v: ((p["i2"] + p["iz"]) * v[0] ** 2
            + (p["i1"] + p["i"] + p["ix"] * ca.sin(q[0]) ** 2 + p["iy"] * ca.cos(q[0]) ** 2) * v[1] ** 2) / 2,
        lambda q: q[0] ** 2 / 2 / p["c2"] + q[1] ** 2 / 2 / p["c1"],
        lambda v: ca.vertcat(p["R2"] * v[0], p["R1"] * v[1]), 2,
    )  # fmt: skip


def stanford_lagrange(p, g, joint_friction=True):
    """Coordinates: joint 2, joint 1, joint 3; the mass at the distance q[2] along the body's x-axis."""
    m = p["mx"]
    assert m == p["my"] == p["mz"]
    return lagrange(
        lambda q, v: ((p["i2"] + p["iz"] + m * q[2] ** 2) * v[0] ** 2
            + (p["i1"] + p["i"] + p["ix"] * ca.sin(q[0]) ** 2 + (p["iy"] + m * q[2] ** 2) * ca.cos(q[0]) ** 2) * v[1] ** 2
            + (p["i3"] + m) * v[2] ** 2) / 2,
        lambda q: q[0] ** 2 / 2 / p["c2"] + q[1] ** 2 / 2 / p["c1"] + q[2] ** 2 / 2 / p["c3"] + m * g * q[2] * ca.sin(q[0]),
        lambda v: ca.vertcat(p["R2"] * v[0], p["R1"] * v[1], 0), 3,
    )  # fmt: skip


def unequal():
    """A PUMA in which the Coriolis terms are at work, and which the printed numbers (ix = iy) do not test."""
    return es.BondGraph.load("morales_puma").with_parameters(ix=0.4, iy=1.7, iz=0.9, i1=0.3, i2=0.5)


def test_puma_equals_lagrange(rng):
    g = unequal()
    p, accelerations = g.parameters, puma_lagrange(g.parameters)
    for _ in range(10):
        q, v, tau = rng.normal(size=(3, 2))
        x = [p["i2"] * v[0], p["i1"] * v[1], *q]
        a = accelerations(q, v, tau)
        np.testing.assert_allclose(
            g.rates(x, tau), [p["i2"] * a[0], p["i1"] * a[1], *v], rtol=1e-10, atol=1e-11
        )


def test_puma_trajectory_equals_that_of_lagrange():
    g = unequal()
    p, accelerations = g.parameters, puma_lagrange(g.parameters)
    q, v, tau = np.array([0.8, -0.4]), np.array([1.5, -2.0]), np.array([1.0, 2.0])
    times = np.linspace(0, 4, 41)
    told = solve_ivp(
        lambda t, s: [*s[2:], *accelerations(s[:2], s[2:], tau)], (0, 4), [*q, *v], "DOP853", times, rtol=1e-10, atol=1e-11
    ).y  # fmt: skip
    run = g.simulate([p["i2"] * v[0], p["i1"] * v[1], *q], times, tau, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(run["q3"], told[0], atol=1e-8)
    np.testing.assert_allclose(run["q23"], told[1], atol=1e-8)
    np.testing.assert_allclose(run["f24"], told[3], atol=1e-8)


def test_the_printed_h1_conserves_energy_and_is_wrong(rng):
    """(4.81) prints h1 = p13 cos + p12 sin: gyrators with other moduli, skew-symmetric all the same."""
    right = unequal()
    text = {x.name: x for x in right.description.elements}
    import dataclasses

    from eslabon.model.parameter_expressions import number

    swapped = {"gz": "p12", "gy": "-p13"}
    elements = tuple(
        dataclasses.replace(x, value=number(swapped[x.name])) if x.name in swapped else x
        for x in text.values()
    )
    wrong = es.BondGraph.from_description(dataclasses.replace(right.description, elements=elements))
    x, u = rng.normal(size=4), rng.normal(size=2)
    assert wrong.junction_structure().violations(x, u)["S11"] < 1e-14
    assert abs(wrong.rates(x, u) - right.rates(x, u)).max() > 0.01


def test_puma_junction_structure():
    S = es.BondGraph.load("morales_puma").junction_structure()
    assert S.key["x"] == ("p2", "p24", "q3", "q23")
    assert S.key["xd"] == ("p8", "p12", "p13", "p19")
    assert S.key["D_in"] == ("f6", "f21")
    assert S.key["D_out"] == ("e6", "e21")
    assert S.key["u"] == ("e1", "e25")
    p12, p13, q3 = 0.3, -0.7, 0.6
    import sympy

    at = {"p12": p12, "p13": p13, "q3": q3}

    def numbers(block):
        matrix = S.symbolic(block)
        return np.array(
            matrix.subs({s: at[s.name] for s in matrix.free_symbols}).evalf(), dtype=float
        )

    s, c = np.sin(q3), np.cos(q3)
    h1 = p13 * s - p12 * c
    np.testing.assert_allclose(
        numbers("S11"), [[0, -h1, -1, 0], [h1, 0, 0, -1], [1, 0, 0, 0], [0, 1, 0, 0]], atol=1e-14
    )
    np.testing.assert_allclose(numbers("S12"), -np.eye(4, 2))
    np.testing.assert_allclose(numbers("S13"), np.eye(4, 2))
    np.testing.assert_allclose(
        numbers("S14"), [[-1, 0, 0, 0], [0, -s, -c, -1], [0, 0, 0, 0], [0, 0, 0, 0]], atol=1e-14
    )
    np.testing.assert_allclose(numbers("Z1"), -numbers("S14").T, atol=1e-14)
    assert (
        S.symbolic("S14").free_symbols == {sympy.Symbol("q3", real=True)}
        or len(S.symbolic("S14").free_symbols) == 1
    )


def test_puma_matrix_of_dependent_storages():
    g = unequal()
    p, q3 = g.parameters, 0.6
    E = g.junction_structure().fields([0.1, 0.2, q3, 0.3], [0.0, 0.0])["E"]
    inertia = p["ix"] * np.sin(q3) ** 2 + p["iy"] * np.cos(q3) ** 2 + p["i"]
    np.testing.assert_allclose(
        E, np.diag([1 + p["iz"] / p["i2"], 1 + inertia / p["i1"], 1, 1]), atol=1e-14
    )  # (4.93)


@pytest.mark.parametrize(
    "name", ["morales_puma", "morales_stanford", "double_pendulum", "morales_stanford_constant"]
)
def test_the_equations_of_the_blocks_are_the_rates(name, rng):
    """(4.91): E x' = [S11 + S12 M S21 + S14 Fd^-1 Z1'] F x + [S13 + S12 M S23] u."""
    g = es.BondGraph.load(name)
    if name == "morales_puma":
        g = unequal()
    S, x = g.junction_structure(), rng.uniform(0.2, 0.8, g.order)
    u = rng.normal(size=len(g.inputs))
    f, block = S.fields(x, u), {name: S.at(x, u, name) for name in S.blocks}
    A = (
        block["S11"]
        + block["S12"] @ f["M"] @ block["S21"]
        + block["S14"] @ np.linalg.solve(f["Fd"], f["Z1_rate"])
    )
    variables = g.bond_variables(x, u)
    sources = np.array([variables[n] for n in S.key["u"]])  # those with a value of their own too
    right = A @ f["F"] @ x + (block["S13"] + block["S12"] @ f["M"] @ block["S23"]) @ sources
    np.testing.assert_allclose(f["E"] @ g.rates(x, u), right, rtol=1e-9, atol=1e-10)


def test_puma_rate_of_the_structure():
    """h3 of (4.102): the only entry of S14 Fd^-1 Z1'."""
    g = unequal()
    p, x = g.parameters, np.array([0.3, 0.7, 0.6, 0.1])
    S = g.junction_structure()
    f = S.fields(x, np.zeros(2))
    term = S.at(x, np.zeros(2), "S14") @ np.linalg.solve(f["Fd"], f["Z1_rate"])
    expected = np.zeros((4, 4))
    expected[1, 1] = -(p["ix"] - p["iy"]) * np.sin(0.6) * np.cos(0.6) * 0.3 / p["i2"]
    np.testing.assert_allclose(term, expected, atol=1e-13)


def test_puma_with_derivative_causality():
    """J of 1.8 in the notes: e3 and e23 in steady state are the torques."""
    g = unequal()
    J = g.junction_structure("derivative")
    x, u = np.array([0.4, 0.6, 0.5, -0.2]), np.zeros(2)
    zd, rate = J.key["zd"], J.key["xd_rate"]
    J11, J13 = J.at(x, u, "J11"), J.at(x, u, "J13")
    s, c = np.sin(0.5), np.cos(0.5)
    f24 = 0.6 / g.parameters["i1"]
    p12, p13 = g.parameters["ix"] * s * f24, g.parameters["iy"] * c * f24
    e3, e23 = (
        dict(zip(rate, J11[zd.index("e3")], strict=True)),
        dict(zip(rate, J11[zd.index("e23")], strict=True)),
    )
    assert e3["e2"] == e3["e8"] == -1
    np.testing.assert_allclose([e23["e12"], e23["e13"], e23["e19"]], [-s, -c, -1])
    np.testing.assert_allclose([e3["f23"], e23["f3"]], [p12 * c - p13 * s, -(p12 * c - p13 * s)])
    assert J13[zd.index("e3")].tolist() == [1, 0]
    assert J13[zd.index("e23")].tolist() == [0, 1]


@pytest.mark.parametrize(
    "name", ["morales_puma", "morales_stanford_constant", "morales_stanford_gravity"]
)
def test_steady_states_are_b_star_times_the_sources(name, rng):
    """(4.194), and B* of the independent storages is -F A^-1 B (4.191) where the moduli do not vary."""
    g = es.BondGraph.load(name)
    rest = g.steady_state(rng.uniform(0.2, 0.6, len(g.inputs)))
    J = g.junction_structure("derivative")
    B = J.fields(rest.x, rest.u)["B_star"]
    variables = g.bond_variables(rest.x, rest.u)
    z, sources = (np.array([variables[n] for n in J.key[key]]) for key in ("zd", "u"))
    np.testing.assert_allclose(z, B @ sources, atol=1e-9)


def test_b_star_of_a_linear_graph():
    """(4.191), (4.192): B*_i = -F A^-1 B and B*_d = -S14^T B*_i."""
    g = es.BondGraph(
        "linear", {"V": "Se", "I": "Sf", "j": "1", "L": "I: 2", "R": "R: 3", "o": "0", "C": "C: 0.5", "C2": "C: 0.7", "G": "R: 4"},
        ["V -> j -> L", "j -> R", "j -> o -> C", "o -> C2", "o -> G", "I -> o"],
    )  # fmt: skip
    x, u = np.zeros(2), np.zeros(2)
    S, J = g.junction_structure(), g.junction_structure("derivative")
    linear, f = g.linearize(x, u), S.fields(x, u)
    independent = -f["F"] @ np.linalg.solve(linear.A, linear.B)
    dependent = -S.at(x, u, "S14").T @ independent
    B = dict(zip(J.key["zd"], J.fields(x, u)["B_star"], strict=True))
    np.testing.assert_allclose([B["f2"], B["e5"], B["e6"]], [*independent, *dependent], atol=1e-12)
    Ld, J22 = J.fields(x, u)["Ld"], J.at(x, u, "J22")
    np.testing.assert_allclose(
        J.fields(x, u)["Md"], np.linalg.solve(np.eye(2) - Ld @ J22, Ld), atol=1e-12
    )


def test_puma_steady_states():
    """L2302: e3 = 2 and e23 = 1, then 4 and 3; settled after 6 s and by 15 s."""
    g = es.BondGraph.load("morales_puma")
    rest = g.steady_state([[2.0, 1.0], [4.0, 3.0]])
    variables = g.bond_variables(rest.x, rest.u)
    np.testing.assert_allclose(variables["e3"], [2, 4], atol=1e-12)
    np.testing.assert_allclose(variables["e23"], [1, 3], atol=1e-12)
    run = g.simulate(None, [0.0, 6.0, 8.0, 15.0], ([0.0, 8.0], [[2.0, 1.0], [4.0, 3.0]]))
    np.testing.assert_allclose(run["e3"][[1, 3]], [2.0013, 4.0001], atol=1e-4)
    np.testing.assert_allclose(run["e23"][[1, 3]], [0.9988, 2.9979], atol=1e-4)


def test_puma_linear_model():
    g = es.BondGraph.load("morales_puma")
    A = g.linearize(np.zeros(4), np.zeros(2)).A
    np.testing.assert_allclose(
        A,
        [[-2.5, 0, -0.8333, 0], [0, -1.90476, 0, -0.47619], [5, 0, 0, 0], [0, 10, 0, 0]],
        atol=5e-5,
    )
    poles = np.sort_complex(np.linalg.eigvals(A))
    np.testing.assert_allclose(poles[[0, 2]], [-1.25 - 1.6137j, -0.9524 - 1.9634j], atol=1e-4)


def differences(f, x, h=1e-6):
    return np.stack([(f(x + h * d) - f(x - h * d)) / (2 * h) for d in np.eye(len(x))], axis=-1)


@pytest.mark.parametrize(
    "name", ["morales_puma", "morales_stanford", "morales_stanford_constant", "double_pendulum"]
)
def test_the_linear_model_is_the_jacobian(name, rng):
    g = es.BondGraph.load(name)
    x, u = rng.uniform(0.2, 0.8, g.order), rng.normal(size=len(g.inputs))
    linear = g.linearize(x, u)
    np.testing.assert_allclose(
        linear.A, differences(lambda x: g.rates(x, u), x), rtol=1e-6, atol=1e-6
    )
    np.testing.assert_allclose(
        linear.B, differences(lambda u: g.rates(x, u), u), rtol=1e-6, atol=1e-6
    )


def test_stanford_equals_lagrange(rng):
    """With a platform that accelerates at g for ever, and with weights."""
    heavy = {"ix": 0.2, "iy": 0.5, "iz": 0.35}
    weights = es.BondGraph.load("morales_stanford_gravity").with_parameters(**heavy)
    platform = es.BondGraph.load("morales_stanford").with_parameters(**heavy, ig=1.0, R3=0.0)
    p, accelerations = weights.parameters, stanford_lagrange(weights.parameters, 9.81)
    for _ in range(10):
        q, v, tau = rng.normal(size=(3, 3))
        a = accelerations(q, v, tau)
        momenta = np.array([p["i2"], p["i1"], p["i3"]])
        x = np.concatenate([momenta * v, q])
        np.testing.assert_allclose(weights.rates(x, tau), [*momenta * a, *v], rtol=1e-9, atol=1e-10)
        speed = rng.normal()  # of the platform, which nothing depends on
        made = platform.rates([*momenta * v, speed, *q], [*tau, 9.81])
        np.testing.assert_allclose(made, [*momenta * a, 9.81, *v], rtol=1e-9, atol=1e-9)


def test_stanford_trajectory_equals_that_of_lagrange():
    g = es.BondGraph.load("morales_stanford_gravity").with_parameters(ix=0.2, iy=0.5)
    p, accelerations = g.parameters, stanford_lagrange(g.parameters, 9.81)
    q, v, tau = np.array([0.4, 0.3, 0.5]), np.array([0.6, -1.0, 0.4]), np.array([2.0, 1.0, 3.0])
    times = np.linspace(0, 2, 21)
    told = solve_ivp(
        lambda t, s: [*s[3:], *accelerations(s[:3], s[3:], tau)], (0, 2), [*q, *v], "DOP853", times, rtol=1e-10, atol=1e-11
    ).y  # fmt: skip
    x0 = [p["i2"] * v[0], p["i1"] * v[1], p["i3"] * v[2], *q]
    run = g.simulate(x0, times, tau, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(run.x[:, 3:], told[:3].T, atol=1e-7)


def test_the_printed_sign_of_tyx_is_wrong(rng):
    """With +q53 the model does not equal Lagrange's; r and s differ wherever q3 is not pi/4."""
    g = es.BondGraph.load("morales_stanford")
    printed = g.with_parameters(tyx=1.0)
    x = rng.uniform(0.3, 0.9, 7)
    assert abs(g.rates(x, np.zeros(4)) - printed.rates(x, np.zeros(4))).max() > 0.01


def test_stanford_case_a():
    """(4.243) and the equilibrium behind it; the constant gyrators load the joints as long as the platform moves."""
    g = es.BondGraph.load("morales_stanford_constant")
    u = [2.0, 10.0, 5.0, -0.5]
    rest = g.steady_state(u)
    np.testing.assert_allclose(
        [rest["q23"], rest["q3"], rest["q53"]], [1.027593, 0.460715, 1.365640], atol=1e-6
    )
    np.testing.assert_allclose(g.bond_variables(rest.x, u)["f31"], -0.25)
    run = g.simulate(None, 60.0, u, method="rk4", step=1e-2, every=6000)
    np.testing.assert_allclose(run.end, rest.x, atol=1e-6)
    poles = np.sort_complex(g.linearize(rest.x, u).poles)
    expected = [
        -13.333,
        -1.8462 - 5.5594j,
        -1.8462 + 5.5594j,
        -1.0385 - 2.0353j,
        -1.0385 + 2.0353j,
        -0.4521 - 0.8188j,
        -0.4521 + 0.8188j,
    ]
    np.testing.assert_allclose(poles, expected, atol=1e-3)


def test_stanford_case_b():
    """(4.244)-(4.247), of which the third is printed as 5.8432, and back by simulation."""
    g = es.BondGraph.load("morales_stanford_constant")
    held = g.inverse_statics({"q53": 0.5, "q3": 0.3, "q23": 0.6}, {"e30": -0.5})
    np.testing.assert_allclose(
        [held["e52"], held["e1"], held["e25"]], [2.144335, 1.426120, 5.842413], atol=1e-6
    )
    assert g.inputs == ("e1", "e25", "e52", "e30")
    run = g.simulate(None, 80.0, held.u, method="rk4", step=1e-2, every=8000)
    np.testing.assert_allclose(run.end[4:], [0.3, 0.6, 0.5], atol=1e-5)
    np.testing.assert_allclose(g.steady_state(held.u, guess=held.x).x, held.x, atol=1e-9)


def test_physical_gravity_loads_the_joints_at_rest():
    g = es.BondGraph.load("morales_stanford_gravity")
    p = g.parameters
    held = g.inverse_statics({"q53": 0.5, "q3": 0.3, "q23": 0.6})
    weight = p["mx"] * p["g"]
    expected = [
        0.3 / p["c2"] + weight * 0.5 * np.cos(0.3),
        0.6 / p["c1"],
        0.5 / p["c3"] + weight * np.sin(0.3),
    ]
    np.testing.assert_allclose(held.u, expected, rtol=1e-10)


def test_stanford_with_varying_gyrators_swings_for_ever():
    """Joint 3 has no friction: an undamped pair at 2.2646 rad/s."""
    g = es.BondGraph.load("morales_stanford")
    rest = g.steady_state([2.0, 10.0, 5.0, -0.5])
    np.testing.assert_allclose([rest["q23"], rest["q3"]], [1.0, 0.4], atol=1e-9)
    poles = g.linearize(rest.x, rest.u).poles
    pair = poles[np.argmin(abs(poles - 2.2646j))]
    np.testing.assert_allclose(
        [pair.real, pair.imag],
        [0, np.sqrt(1 / p_total(g.parameters) / g.parameters["c3"])],
        atol=1e-9,
    )


def p_total(p):
    return p["i3"] + p["mx"]


def test_stanford_dependent_storages():
    """E of (4.147) and (4.148)."""
    g = es.BondGraph.load("morales_stanford")
    p, x = g.parameters, np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])
    s, c, q53 = np.sin(0.5), np.cos(0.5), 0.7
    E = g.junction_structure().fields(x, np.zeros(4))["E"]
    np.testing.assert_allclose(E[0, 0], (p["i2"] + p["iz"] + q53**2 * p["my"]) / p["i2"])
    np.testing.assert_allclose(E[0, 3], q53 * p["my"] * c / p["ig"])
    np.testing.assert_allclose(
        E[1, 1], 1 + (p["ix"] * s**2 + p["iy"] * c**2 + p["i"] + p["mz"] * (q53 * c) ** 2) / p["i1"]
    )
    np.testing.assert_allclose(E[2, 2], (p["i3"] + p["mx"]) / p["i3"])
    np.testing.assert_allclose(E[2, 3], p["mx"] * s / p["ig"])


def test_bond_counts_and_names():
    assert len(es.BondGraph.load("morales_puma").bonds) == 25
    assert len(es.BondGraph.load("morales_stanford").bonds) == 54
    assert es.BondGraph.load("morales_puma").inputs == ("e1", "e25")
    assert set(es.BondGraph.load("morales_puma").parameters) == {
        "i1",
        "i2",
        "i",
        "ix",
        "iy",
        "iz",
        "c1",
        "c2",
        "R1",
        "R2",
    }
