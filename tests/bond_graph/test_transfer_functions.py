"""Transfer functions in letters against C (s 1 - A)^-1 B + D, and Mason's determinant against the poles."""

from dataclasses import replace

import numpy as np
import pytest
import sympy
from hypothesis import assume, given

import eslabon as es
from bond_graph_strategies import built, graphs
from randomness import examples, seeds

S = 0.7 + 1.3j


def in_tenths(g, seed):
    """The same graph with other values, of few digits, as exact fractions of them are short."""
    rng = np.random.default_rng(seed)
    elements = (
        replace(x, value=float(rng.integers(5, 30)) / 10)
        if x.kind in ("I", "C", "R", "TF", "GY")
        else x
        for x in g.flat.elements
    )
    return es.BondGraph.from_description(replace(g.flat, elements=tuple(elements)))


def number(expression, g):
    letters = {name: float(x) for name, x in g.values.items()} | {"s": S}
    return (
        complex(expression.evalf(subs=letters)) if expression.free_symbols else complex(expression)
    )


def exact(g, output):
    measured = g.with_detectors(measured=output)
    linear = measured.linearize(np.zeros(g.order), np.zeros(len(g.inputs)))
    return linear.C @ np.linalg.solve(S * np.eye(g.order) - linear.A, linear.B) + linear.D


@examples(8)
@given(graphs(), seeds)
def test_transfer_functions_of_random_graphs(drawn, seed):
    g = in_tenths(built(*drawn), seed)
    assume(g.inputs and g.order)
    for output in [*g.signals][:4]:
        if output[0] not in "ef":
            continue
        try:
            expected = exact(g, output)
        except es.ModelError:
            continue
        for k, source in enumerate(g.inputs):
            found = number(g.transfer_function(source, output), g)
            np.testing.assert_allclose(found, expected[0, k], rtol=1e-8, atol=1e-10)


@examples(8)
@given(graphs(), seeds)
def test_masons_determinant_has_the_poles(drawn, seed):
    """det(1 - G(s)) of a graph without dependent storages is det(s 1 - A) / s^n, up to algebraic loops."""
    g = in_tenths(built(*drawn), seed)
    assume(not g.causality().dependent and not g.junction_structure().algebraic_loops)
    A = g.linearize(np.zeros(g.order), np.zeros(len(g.inputs))).A
    found = number(g.characteristic_function(), g)
    ratio = found / (np.linalg.det(S * np.eye(g.order) - A) / S**g.order)
    other = 1.9 - 0.4j
    letters = {name: float(x) for name, x in g.values.items()} | {"s": other}
    at_other = complex(sympy.sympify(g.characteristic_function()).evalf(subs=letters))
    again = at_other / (np.linalg.det(other * np.eye(g.order) - A) / other**g.order)
    np.testing.assert_allclose(
        ratio, again, rtol=1e-8
    )  # loops of junctions alone are a constant factor


def test_the_motor_in_letters():
    g = es.BondGraph(
        "motor",
        {"V": "Se", "loop": "1", "coil": "I: L", "wire": "R: R", "motor": "GY: k",
         "shaft": "1", "rotor": "I: J", "bearing": "R: b"},
        ["V -> loop -> coil", "loop -> wire", "loop -> motor -> shaft -> rotor", "shaft -> bearing"],
        {"L": 0.5, "R": 1.0, "k": 0.1, "J": 0.01, "b": 0.1},
    )  # fmt: skip
    found = g.transfer_function("e1", "f6")
    L, R, k, J, b, s = sympy.symbols("L R k J b s")
    names = {x.name: x for x in found.free_symbols}
    expected = (k / ((L * s + R) * (J * s + b) + k**2)).subs(
        {y: names[y.name] for y in (L, R, k, J, b, s)}
    )
    assert sympy.simplify(found - expected) == 0


def test_mistakes_are_sentences():
    puma = es.BondGraph.load("morales_puma")
    with pytest.raises(es.ModelError, match="linearized_graph"):
        puma.transfer_function("e1", "f2")
    g = es.BondGraph(
        "rc", {"V": "Se", "j": "1", "R": "R: 2", "C": "C: 3"}, ["V -> j -> R", "j -> C"]
    )
    with pytest.raises(es.ModelError, match="has no input"):
        g.transfer_function("f1", "e2")
    with pytest.raises(es.ModelError, match="has no variable"):
        g.transfer_function("e1", "e9")
    with pytest.raises(es.ModelError, match="is a state"):
        g.transfer_function("e1", "q3")
