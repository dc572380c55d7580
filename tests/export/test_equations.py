"""Equations look like the textbook's and compute what the graph computes."""

from __future__ import annotations

import re
from typing import Any

import casadi as ca
import numpy as np
import pytest
import sympy as sp
from hypothesis import example, given
from hypothesis import strategies as st

from eslabon.compiler import GraphError, native
from eslabon.export.equations import Equations, equations, latex
from eslabon.files import robots
from eslabon.formulas.quantities import QUANTITIES
from eslabon.formulas.quantities import quantity as quantity_of
from eslabon.mechanism import Builder, Mechanism, load
from pendulum_chain import pendulum_chain as chain
from randomness import examples, seeded
from small_mechanisms import SMALL


def planar_arm(n: int) -> tuple[Any, dict[str, list[str]]]:
    """Mass matrix, Coriolis and gravity forces of an n-R arm from its energies, with every parameter a symbol."""
    q, v = ca.SX.sym("q", n), ca.SX.sym("v", n)
    m, length, com, inertia, g = (
        ca.SX.sym(s, k) for s, k in zip("mlcIg", (n, n, n, n, 1), strict=True)
    )
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
    f = ca.Function(
        "arm", [q, v, m, length, com, inertia, g], outputs, list("qvmlcIg"), ["M", "h", "G"]
    )
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
    assert (
        r"- c_{2} l_{1} m_{2} v_{2} \left(2 v_{1} + v_{2}\right) \sin{\left(q_{2} \right)}" in text
    )
    assert text.count(r"\\" + "\n") == 2


@pytest.mark.parametrize("n", [2, 3])
def test_equations_compute_what_the_graph_computes(n: int, rng) -> None:
    f, names = planar_arm(n)
    found = equations(f, names)
    symbols = [
        sp.Symbol(w, real=True)
        for i in range(f.n_in())
        for w in names.get(f.name_in(i), [f.name_in(i)])
    ]
    numbers = rng.uniform(0.3, 2, len(symbols))
    inputs = np.split(numbers, np.cumsum([f.numel_in(k) for k in range(f.n_in())])[:-1])
    for result, want in zip(found.expanded(), native.compile(f)(*inputs), strict=True):
        got = np.array(result.subs(dict(zip(symbols, numbers, strict=True))), dtype=float).reshape(
            want.shape
        )
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


def one(expression: Any, *symbols: Any) -> str:
    return str(
        equations(ca.Function("f", list(symbols), [expression], [str(s) for s in symbols], ["r"]))
    )


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


def test_numbers_have_no_more_digits_than_they_mean() -> None:
    x = ca.SX.sym("x")
    for value, text in (
        (0.12, "0.12"),
        (0.9 * 9.81, "8.829"),
        (3 * 0.1, "0.3"),
        (2**0.5, "1.4142135623730951"),
    ):
        assert one(ca.SX(value), x) == f"r = {text}"
        assert one(value * x, x) == f"r = {text}*x"
    assert one(0.1 * x - 2**0.5, x) == "r = 0.1*x - 1.4142135623730951"


@pytest.mark.parametrize("count", [1, 2, 3])
def test_what_softens_a_root_is_not_printed(count: int, rng) -> None:
    q = ca.SX.sym("q", count)
    length = ca.sqrt(ca.sumsqr(q) + 1e-60)  # as that of a spring
    f = ca.Function("f", [q], [(0.3 * length - 2**0.5) / length * q], ["q"], ["force"])
    shown, at = equations(f), rng.normal(size=count)
    assert not re.search(r"e-|\d{18}", str(shown))
    np.testing.assert_allclose(shown.function()(at).ravel(), f(at).full().ravel(), rtol=1e-13)
    assert "e-60" in one(1e-60 * q[0] + q[0] ** 2, q)  # what is more than a softening stays


def test_what_is_no_polynomial() -> None:
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    assert one(ca.sqrt(1 + x**2) / (y * ca.cos(x)), x, y) == "r = sqrt(x**2 + 1)/(y*cos(x))"
    cases = ("r = Piecewise((y, x > 0), (-y, True))", "r = Piecewise((-y, x <= 0), (y, True))")
    assert one(ca.if_else(x > 0, y, -y), x, y) in cases
    assert one(ca.tanh(x) + ca.fmin(x, y), x, y) == "r = tanh(x) + Min(x, y)"


def test_long_sums_become_definitions(rng) -> None:
    f = chain(6)
    found = equations(f)
    assert found.definitions
    numbers = rng.normal(size=(3, 6))
    np.testing.assert_allclose(found.function()(*numbers), native.compile(f)(*numbers), rtol=1e-11)


def test_names_that_do_not_fit() -> None:
    f, _ = planar_arm(2)
    with pytest.raises(GraphError, match="there is no input 'w'; there are q, v"):
        equations(f, {"w": ["w"]})
    with pytest.raises(GraphError, match="input 'q' has 2 numbers; 1 names"):
        equations(f, {"q": ["q"]})


# Whole mechanisms -----------------------------------------------------------------------------------------------------

FRAMES = ("pose", "jacobian", "velocity", "acceleration", "position_hessian")


def check_equations(m: Mechanism, quantity: str) -> Equations:
    """The equations, which give what the verb gives at random states and perturbed parameters."""
    rng = seeded(m.name, quantity)
    frame = (
        {"frame": m.frames[0].name if m.frames else m.bodies[-1].name} if quantity in FRAMES else {}
    )
    sizes = {"q": m.nq, "v": m.nv, "a": m.nv, "tau": m.nu}
    state = {x: rng.uniform(-1, 1, sizes[x]) for x in quantity_of(m, quantity).input_names}
    parameters = {name: x * rng.uniform(0.9, 1.1) for name, x in m.parameters.items()}
    found = m.equations(quantity, **frame)
    names = [
        str(s)
        for s in (*(s for _, own in found.inputs for s in own), *(s for s, _ in found.definitions))
    ]
    assert len(set(names)) == len(names)
    got = found.function()(*state.values(), *parameters.values())
    got = np.concatenate([np.ravel(x) for x in (got if isinstance(got, tuple) else (got,))])
    verb = "reactions" if quantity == "reactions_under_forces" else quantity
    want = getattr(m, verb)(**state, **frame, parameters=parameters)
    want = np.concatenate([np.ravel(x) for x in (want if isinstance(want, tuple) else (want,))])
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-11 * np.abs(want).max(initial=1e-300))
    return found


@pytest.mark.parametrize("name", robots())
def test_equations_of_the_library_compute_what_native_code_computes(name: str) -> None:
    """Every quantity of up to 120 operations where there are up to two velocities; of the larger mechanisms two light
    quantities drawn at random, as each is compiled too. For loops see tests/test_textbook.py."""
    m = load(name)
    rows = [n for n, row in QUANTITIES.items() if not row.of_loops]
    printable = [n for n in rows if not (m.closed and quantity_of(m, n).checks)]
    if m.nv > 2:
        light = [*FRAMES[:4], "gravity_forces"]
        printable = seeded(name).choice(light, 2, replace=False).tolist()
    for quantity in printable:
        frame = {"frame": m.bodies[-1].name} if quantity in FRAMES else {}
        if m.nv > 2 or m.operations(quantity, **frame).total <= 120:
            check_equations(m, quantity)


AWKWARD = """q1 v1 a1 tau1 q2 v2 a2 tau2 x_1 x1 wrench_01 E I S N pi_ beta lambda gamma zeta Q C O None class Abs
    a_1 vdot1 u1 qbar1 θ θ1 λ mass_matrix energy a v q tau _ __ a__1 L2 L_2 oo nan zoo"""


@examples(10)
@given(names=st.lists(st.sampled_from(AWKWARD.split()), min_size=6, max_size=6, unique=True))
@example(names=["q1", "v1", "a1", "tau1", "x_1", "energy"])
@example(names=["q", "v", "a", "tau", "mass_matrix", "lambda"])
@example(names=["vdot1", "a_1", "u1", "v1", "qbar1", "q2"])
@pytest.mark.slow(reason="prints many equations by SymPy")
def test_parameters_may_have_any_name(names: list[str]) -> None:
    b = Builder("awkward")
    m1, m2, l1, l2, I1, I2 = (b.parameter(n, 0.5 + k / 5) for k, n in enumerate(names))
    b.body("one", m1, (l1, 0, 0), (I1, I1, I1)).body("two", m2, (l2, 0, 0), (I2, I2, I2))
    b.joint("A", kind="revolute", axis="y", parent="ground", child="one")
    b.joint("B", kind="revolute", axis="y", parent="one", child="two", at=(l1, 0, 0))
    m = b.build()
    for quantity in ("mass_matrix", "energy", "inverse_dynamics"):
        found = check_equations(m, quantity)
        assert {n: str(s[0]) for n, s in found.inputs[-6:]} == {
            n: n for n in names
        }  # parameters keep their names
        shown = [line.split(" &= ")[0] for line in found.latex().split(" \\\\\n") if " &= " in line]
        assert len(set(shown)) == len(shown)


def test_names_that_are_typeset_alike_are_shown_as_they_are() -> None:
    x, y, z = (ca.SX.sym(n) for n in "xyz")
    text = latex(ca.Function("f", [x, y, z], [x * y + z], ["L2", "L_2", "λ"], ["r"]))
    assert text == r"r &= \mathtt{L2} \mathtt{L\_2} + \lambda"


def test_one_name_for_two_numbers_is_refused() -> None:
    f, _ = planar_arm(2)
    with pytest.raises(GraphError, match="two symbols are called 'x'"):
        equations(f, {"q": ["x", "y"], "v": ["z", "x"]})


def test_equations_show_themselves_in_a_line() -> None:
    found = load("elbow").equations("inverse_dynamics")
    assert (
        repr(found)
        == "<Equations: inverse_dynamics 2x1 in q, v, a, a1, a2, m1, m2, g; 0 definitions>"
    )
    assert "vdot1" in str(found)


def test_mechanisms_without_motion_have_empty_equations() -> None:
    assert str(SMALL["all_fixed"]().equations("mass_matrix")) == "mass_matrix is empty (0x0)"
    assert str(SMALL["one_joint_and_fixed"]().equations("mass_matrix")).startswith("mass_matrix = ")


def test_squares_and_common_denominators() -> None:
    a, b, c = (ca.SX.sym(n) for n in "abc")
    assert one(a**2 - 2 * a * b + b**2, a, b) == "r = (a - b)**2"
    assert one(c * ca.cos(a) * (2 * a * b - a**2 - b**2), a, b, c) == "r = -c*(a - b)**2*cos(a)"
    assert one(ca.sin(a) / b + c * ca.cos(a) / b, a, b, c) == "r = (c*cos(a) + sin(a))/b"
    assert one(a * b * ca.sin(c) / (b * c * ca.sin(c)), a, b, c) == "r = a/c"


def test_functions_in_one_another_are_written_once() -> None:
    """Sixty square roots, each of the one before twice: as one line there would be 2^60 of them."""
    x = ca.SX.sym("x")
    y = x
    for _ in range(60):
        y = ca.sqrt(1 + y) / (2 + y)
    f = ca.Function("f", [x], [y], ["x"], ["y"])
    found = equations(f)
    assert len(str(found)) < 6000
    np.testing.assert_allclose(found.function()(0.3), native.compile(f)([0.3]), rtol=1e-12)


def test_many_sines_are_abbreviated() -> None:
    found = str(equations(chain(3)))
    assert "c12 = cos(q1 + q2)" in found
    assert "sin(q1 + q2)" not in found.replace("s12 = sin(q1 + q2)", "")
