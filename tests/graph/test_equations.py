"""Equations look like the textbook's and compute what the graph computes."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest
import sympy as sp

from eslabon.graph import GraphError, native
from eslabon.graph.equations import equations, latex

RNG = np.random.default_rng(8)


def planar_arm(n: int) -> tuple[Any, dict[str, list[str]]]:
    """Mass matrix, Coriolis and gravity forces of an n-R arm from its energies, with every parameter a symbol."""
    q, v = ca.SX.sym("q", n), ca.SX.sym("v", n)
    m, length, com, inertia, g = (ca.SX.sym(s, k) for s, k in zip("mlcIg", (n, n, n, n, 1), strict=True))
    angle, rate, joint, kinetic, potential = 0, 0, ca.SX.zeros(2), 0, 0
    for i in range(n):
        angle, rate = angle + q[i], rate + v[i]
        along = ca.vertcat(ca.cos(angle), ca.sin(angle))
        centre, joint = joint + com[i] * along, joint + length[i] * along
        speed = ca.jtimes(centre, q, v)
        kinetic += m[i] * ca.dot(speed, speed) / 2 + inertia[i] * rate**2 / 2
        potential += m[i] * g * centre[1]
    momentum = ca.gradient(kinetic, v)
    coriolis = ca.jtimes(momentum, q, v) - ca.gradient(kinetic, q)
    outputs = [ca.jacobian(momentum, v), coriolis, ca.gradient(potential, q)]
    f = ca.Function("arm", [q, v, m, length, com, inertia, g], outputs, list("qvmlcIg"), ["M", "h", "G"])
    return f, {s: [f"{s}_{k + 1}" for k in range(n)] for s in "qvmlcI"}


def test_the_two_link_arm_of_the_textbooks() -> None:
    M, h, G = equations(*planar_arm(2)).results
    m1, m2, l1, c1, c2, I1, I2, g = sp.symbols("m_1 m_2 l_1 c_1 c_2 I_1 I_2 g", real=True)
    q1, q2, v1, v2 = sp.symbols("q_1 q_2 v_1 v_2", real=True)
    coupling = c2 * l1 * m2
    assert M[0, 0] == I1 + I2 + c1**2 * m1 + m2 * (c2**2 + l1**2) + 2 * coupling * sp.cos(q2)
    assert M[0, 1] == M[1, 0] == I2 + c2**2 * m2 + coupling * sp.cos(q2)
    assert M[1, 1] == I2 + c2**2 * m2
    assert h[0] == -coupling * v2 * (2 * v1 + v2) * sp.sin(q2)
    assert h[1] == coupling * v1**2 * sp.sin(q2)
    assert G[0] == g * (c1 * m1 + l1 * m2) * sp.cos(q1) + c2 * g * m2 * sp.cos(q1 + q2)
    assert G[1] == c2 * g * m2 * sp.cos(q1 + q2)


def test_latex_of_the_two_link_arm() -> None:
    text = latex(*planar_arm(2))
    assert r"- c_{2} l_{1} m_{2} v_{2} \left(2 v_{1} + v_{2}\right) \sin{\left(q_{2} \right)}" in text
    assert text.count(r"\\" + "\n") == 2


@pytest.mark.parametrize("n", [2, 3])
def test_equations_compute_what_the_graph_computes(n: int) -> None:
    f, names = planar_arm(n)
    found = equations(f, names)
    symbols = [sp.Symbol(w, real=True) for i in range(f.n_in()) for w in names.get(f.name_in(i), [f.name_in(i)])]
    numbers = RNG.uniform(0.3, 2, len(symbols))
    inputs = np.split(numbers, np.cumsum([f.numel_in(k) for k in range(f.n_in())])[:-1])
    for result, want in zip(found.results, native.compile(f)(*inputs), strict=True):
        got = np.array(result.subs(dict(zip(symbols, numbers, strict=True))), dtype=float).reshape(want.shape)
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


def one(expression: Any, *symbols: Any) -> str:
    return str(equations(ca.Function("f", list(symbols), [expression], [str(s) for s in symbols], ["r"])))


def test_identities_collapse_by_themselves() -> None:
    a, b = ca.SX.sym("a"), ca.SX.sym("b")
    sin, cos = ca.sin, ca.cos
    assert one(cos(a) * cos(b) - sin(a) * sin(b), a, b) == "r = cos(a + b)"
    assert one(sin(a) ** 2 + cos(a) ** 2, a, b) == "r = 1"
    assert one(cos(a - b) * cos(b) - sin(a - b) * sin(b), a, b) == "r = cos(a)"
    assert one(2 * sin(a) * cos(a), a) == "r = sin(2*a)"
    assert one(3 * cos(a) ** 2, a) == "r = 3*cos(a)**2"


def test_numbers_are_printed_as_they_were_meant() -> None:
    x = ca.SX.sym("x")
    assert one(9.81 * x / 2, x) in ("r = 4.905*x", "r = 9.81*x/2")
    assert one(x / 3 + 0.1, x) == "r = x/3 + 0.1"
    assert one(0.1 * x + 0.2 * x, x) == "r = 0.3*x"
    assert one(1.0000000001 * x, x) == "r = 1.0000000001*x"
    assert one(0.1 * ca.cos(x) * ca.cos(0.3) - 0.1 * ca.sin(x) * ca.sin(0.3), x).count("9999") == 0


def test_what_is_no_polynomial() -> None:
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    assert one(ca.sqrt(1 + x**2) / (y * ca.cos(x)), x, y) == "r = sqrt(x**2 + 1)/(y*cos(x))"
    cases = ("r = Piecewise((y, x > 0), (-y, True))", "r = Piecewise((-y, x <= 0), (y, True))")
    assert one(ca.if_else(x > 0, y, -y), x, y) in cases
    assert one(ca.tanh(x) + ca.fmin(x, y), x, y) == "r = tanh(x) + Min(x, y)"


def test_long_sums_become_definitions(chain) -> None:
    f = chain(6)
    found = equations(f)
    assert found.definitions
    numbers = RNG.normal(size=(3, 6))
    values = {
        sp.Symbol(f"{s}{k + 1}", real=True): sp.Float(numbers[i, k]) for i, s in enumerate("qva") for k in range(6)
    }
    for symbol, expression in found.definitions:
        values[symbol] = expression.xreplace(values)
    got = [float(e.xreplace(values)) for e in found.results[0]]
    np.testing.assert_allclose(got, native.compile(f)(*numbers), rtol=1e-11)


def test_names_that_do_not_fit() -> None:
    f, _ = planar_arm(2)
    with pytest.raises(GraphError, match="has no input 'w'; it has q, v"):
        equations(f, {"w": ["w"]})
    with pytest.raises(GraphError, match="input 'q' has 2 numbers; 1 names"):
        equations(f, {"q": ["q"]})
