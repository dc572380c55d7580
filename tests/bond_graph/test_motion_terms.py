"""Equations of motion out of bond graphs, term by term against Lagrange's and against the thesis' closed forms."""

import numpy as np
import pytest
import sympy

import eslabon as es


def lagrange(kinetic, potential, q, v):
    """M, B (a column for each pair), C (squares) and G of Lagrange's equations, as functions of q."""
    n = len(q)
    M = sympy.hessian(kinetic, v)
    G = sympy.Matrix([sympy.diff(potential, x) for x in q])
    pairs = [(j, k) for j in range(n) for k in range(j + 1, n)]

    def christoffel(i, j, k):
        return (
            sympy.diff(M[i, j], q[k]) + sympy.diff(M[i, k], q[j]) - sympy.diff(M[j, k], q[i])
        ) / 2

    B = sympy.Matrix(n, len(pairs), lambda i, c: 2 * christoffel(i, *pairs[c]))
    C = sympy.Matrix(n, n, lambda i, j: christoffel(i, j, j))
    return sympy.lambdify(q, [M, B, C, G])


def puma_lagrange(p):
    """Joint 2 first, as in the graph; rates of link 2 are (sin q3 w1, cos q3 w1, w2)."""
    q, v = sympy.symbols("q3 q23"), sympy.symbols("f2 f24")
    s, c = sympy.sin(q[0]), sympy.cos(q[0])
    kinetic = (
        (p["i2"] + p["iz"]) * v[0] ** 2
        + (p["i1"] + p["i"] + p["ix"] * s**2 + p["iy"] * c**2) * v[1] ** 2
    ) / 2
    return lagrange(kinetic, (q[0] ** 2 / p["c2"] + q[1] ** 2 / p["c1"]) / 2, q, v)


def stanford_lagrange(p, gravity):
    """The mass of link 2 on its x-axis at the distance q53: position by angles q23 about the vertical and q3 of elevation."""
    q, v = sympy.symbols("q3 q23 q53"), sympy.symbols("f2 f24 f50")
    s, c, d = sympy.sin(q[0]), sympy.cos(q[0]), q[2]
    place = sympy.Matrix([d * c * sympy.cos(q[1]), d * c * sympy.sin(q[1]), d * s])
    speed = place.jacobian(q) * sympy.Matrix(v)
    kinetic = (p["i2"] + p["iz"]) * v[0] ** 2 + (
        p["i1"] + p["i"] + p["ix"] * s**2 + p["iy"] * c**2
    ) * v[1] ** 2
    kinetic = (kinetic + p["i3"] * v[2] ** 2 + p["mx"] * sympy.simplify(speed.dot(speed))) / 2
    springs = (q[0] ** 2 / p["c2"] + q[1] ** 2 / p["c1"] + q[2] ** 2 / p["c3"]) / 2
    return lagrange(sympy.expand(kinetic), springs + p["mx"] * gravity * place[2], q, v)


def compare(terms, expected):
    for name, value in zip(("M", "B", "C", "G"), expected, strict=True):
        found = getattr(terms, name)
        np.testing.assert_allclose(
            found, np.reshape(value, found.shape), rtol=1e-10, atol=1e-12, err_msg=name
        )


def test_the_puma_is_lagranges(rng):
    g = es.BondGraph.load("morales_puma").with_parameters(ix=0.4, iy=1.7)
    expected = puma_lagrange(g.parameters)
    for q in rng.uniform(-1.5, 1.5, (5, 2)):
        terms = g.motion_terms(q)
        compare(terms, expected(*q))
        np.testing.assert_allclose(terms.D, np.diag([g.parameters["R2"], g.parameters["R1"]]))
        np.testing.assert_allclose(terms.Q, np.eye(2))


def test_the_stanford_arm_is_lagranges(rng):
    g = es.BondGraph.load("morales_stanford_gravity").with_parameters(ix=0.2, iy=0.5)
    expected = stanford_lagrange(g.parameters, g.parameters["g"])
    for q in rng.uniform(0.2, 1.2, (5, 3)):
        compare(g.motion_terms(q), expected(*q))


def test_the_closed_forms_of_the_puma():
    """(4.107)-(4.118), joint 2 first: M, B = 2 k and C = -k with k = (ix - iy) sin cos; dM/dt - 2 C is skew (4.112)."""
    g = es.BondGraph.load("morales_puma").with_parameters(ix=0.4, iy=1.7)
    p, q = g.parameters, 0.7
    k = (p["ix"] - p["iy"]) * np.sin(q) * np.cos(q)
    terms = g.motion_terms([q, 0.1])
    inertia = p["i1"] + p["ix"] * np.sin(q) ** 2 + p["iy"] * np.cos(q) ** 2 + p["i"]
    np.testing.assert_allclose(terms.M, np.diag([p["i2"] + p["iz"], inertia]), atol=1e-14)
    np.testing.assert_allclose(terms.B, [[0], [2 * k]], atol=1e-14)
    np.testing.assert_allclose(terms.C, [[0, -k], [0, 0]], atol=1e-14)
    f2, f24 = 0.3, -0.8
    christoffel = np.array([[0, -k * f24], [k * f24, k * f2]])
    skew = np.diag([0, 2 * k * f2]) - 2 * christoffel
    np.testing.assert_allclose(skew, -skew.T)


def test_the_closed_forms_of_the_stanford_arm():
    """What (4.119)-(4.121) should say, joint 2 first, then 1 and 3."""
    g = es.BondGraph.load("morales_stanford_gravity").with_parameters(ix=0.2, iy=0.5)
    p, (q3, q53) = g.parameters, (0.6, 0.8)
    s, c, m = np.sin(q3), np.cos(q3), p["mx"]
    terms = g.motion_terms([q3, 0.3, q53])
    assert terms.products == (("f2", "f24"), ("f2", "f50"), ("f24", "f50"))
    inertia = p["i1"] + p["i"] + p["ix"] * s**2 + (p["iy"] + m * q53**2) * c**2
    np.testing.assert_allclose(
        terms.M, np.diag([p["i2"] + p["iz"] + m * q53**2, inertia, p["i3"] + m]), atol=1e-14
    )
    k = (m * q53**2 + p["iy"] - p["ix"]) * s * c
    np.testing.assert_allclose(
        terms.C, [[0, k, 0], [0, 0, 0], [-m * q53, -m * q53 * c**2, 0]], atol=1e-13
    )
    expected = [[0, 2 * m * q53, 0], [-2 * k, 0, 2 * m * q53 * c**2], [0, 0, 0]]
    np.testing.assert_allclose(terms.B, expected, atol=1e-13)


def test_gravity_is_the_column_of_the_platform():
    """(4.180): the acceleration of the platform acts by M's last column, which is G / g; its velocity does not act at all."""
    g = es.BondGraph.load("morales_stanford").with_parameters(ix=0.2, iy=0.5)
    q3, q53 = 0.6, 0.8
    terms = g.motion_terms([q3, 0.3, q53])
    column = terms.M[:, terms.velocities.index("f31")]
    m = g.parameters["mx"]
    np.testing.assert_allclose(
        column, [m * q53 * np.cos(q3), 0, m * np.sin(q3), g.parameters["ig"]], atol=1e-14
    )
    of_platform = [k for k, pair in enumerate(terms.products) if "f31" in pair]
    np.testing.assert_allclose(terms.B[:, of_platform], 0, atol=1e-14)


@pytest.mark.parametrize(
    "name",
    [
        "morales_puma",
        "morales_stanford",
        "morales_stanford_gravity",
        "double_pendulum",
        "planar_arm",
    ],
)
def test_accelerations_are_those_of_the_state_equations(name, rng):
    g = es.BondGraph.load(name)
    x, u = rng.uniform(0.2, 0.8, (3, g.order)), rng.normal(size=(3, len(g.inputs)))
    own = [
        g.states.index(s)
        for s in g.states
        if s in {s.name for s in g.causality().integral if s.element.kind == "I"}
    ]
    others = [k for k in range(g.order) if k not in own]
    terms, variables = g.motion_terms(x[:, others]), g.bond_variables(x, u)
    f = np.stack([variables[n] for n in terms.velocities], axis=-1)
    made = terms.accelerations(f, u)
    inertia = x[:, own] / f
    np.testing.assert_allclose(made * inertia, g.rates(x, u)[:, own], rtol=1e-8, atol=1e-9)


def test_the_equations_in_symbols():
    text = str(es.BondGraph.load("morales_puma").equations("motion_terms"))
    assert "M[1,1] = i2 + iz" in text
    assert "B[2] = (ix - iy)*sin(2*q3)" in text


def test_what_is_refused():
    g = es.BondGraph(
        "tank", {"Q": "Sf", "p": "0", "tank": "C: 2", "R": "R: 3"}, ["Q -> p -> tank", "p -> R"]
    )
    with pytest.raises(es.ModelError, match="no inertias"):
        g.motion_terms([0.0])
    rough = es.BondGraph(
        "rough", {"F": "Se", "v": "1", "m": "I: 2", "k": "C: 1", "d": {"kind": "R", "law": "f**3"}},
        ["F -> v -> m", "v -> k", "v -> d"],
    )  # fmt: skip
    with pytest.raises(es.ModelError, match="second degree"):
        rough.motion_terms([0.0])
    hard = es.BondGraph(
        "hard", {"F": "Se", "v": "1", "m": {"kind": "I", "law": "p**3"}}, ["F -> v -> m"]
    )
    with pytest.raises(es.ModelError, match="not linear"):
        hard.motion_terms([])
    with pytest.raises(es.InputError, match="flows"):
        es.BondGraph.load("morales_puma").motion_terms([0.0, 0.0]).accelerations([1.0], [0.0, 0.0])
    with pytest.raises(es.EslabonError, match="displacements"):
        es.BondGraph.load("morales_puma").motion_terms([0.0])
