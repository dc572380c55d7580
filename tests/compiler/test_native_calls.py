"""Functions that call one another: the same numbers as their inlined graph, from code that holds each of them once."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eslabon.compiler import GraphError, native
from eslabon.compiler.calls import apart, call, inlined, repeat, subroutine
from eslabon.compiler.llvm import emit, machine
from eslabon.compiler.program import read
from randomness import examples, seeded
from traced_graph import traced_graph


def mixed(rng: np.random.Generator, values: list[Any], count: int) -> list[Any]:
    """Numbers between about -1 and 1 from earlier ones: nothing cancels so much that an ulp would show."""
    made = list(values)
    for _ in range(count):
        a, b = (made[int(k)] for k in rng.integers(0, len(made), 2))
        made.append(
            [ca.sin(a + b), a * b, ca.sqrt(1 + a**2) / 2, ca.if_else(a < b, a, 0.5 * b)][
                int(rng.integers(4))
            ]
        )
    return made


def random_functions(seed: int, levels: int = 3) -> list[Any]:
    """Functions of which later ones call earlier ones, with arguments of several shapes and results with zeros."""
    rng = seeded(seed)
    made: list[Any] = []
    for level in range(levels):
        shapes = [(int(rng.integers(1, 4)), int(rng.integers(1, 3))) for _ in range(2)]
        symbols = [ca.SX.sym(f"x{k}", *shape) for k, shape in enumerate(shapes)]

        def formula(*inputs: Any, functions: tuple[Any, ...] = tuple(made)) -> list[Any]:
            values = [x.nz[k] for x in inputs for k in range(x.nnz())]
            values = mixed(rng, values, 6)
            for _ in range(4 if functions else 0):
                f = functions[int(rng.integers(len(functions)))]
                picked = [ca.SX(*f.size_in(k)) for k in range(f.n_in())]
                for p in picked:
                    for place in range(p.numel()):
                        p[place] = values[int(rng.integers(len(values)))]
                for x in call(f, *picked):
                    values += [x.nz[k] for k in range(x.nnz())]
                values = mixed(rng, values, 5)
            sparse = ca.SX(3, 2)
            sparse[1, 1], sparse[2, 0] = values[-1], values[-2]
            return [ca.vertcat(*values[-4:]), sparse]

        made.append(traced_graph(f"level{level}", symbols, formula))
    return made


@examples(15)
@given(st.integers(0, 10**6))
def test_functions_with_calls_equal_their_inlined_ones(seed: int) -> None:
    f = random_functions(seed)[-1]
    states = [np.random.default_rng(seed).uniform(-1, 1, (9, *f.size_in(k))) for k in range(2)]
    inputs = [native.Argument(f"x{k}", f.size_in(k)) for k in range(2)]
    outputs = [native.Argument("a", (4,)), native.Argument("b", (3, 2))]
    one, other = (
        native.compile(g, inputs=inputs, outputs=outputs, cache=False) for g in (f, inlined(f))
    )
    for got, want in zip(one(*states), other(*states), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-15)
    for row in range(9):
        for got, whole in zip(one(*(x[row] for x in states)), one(*states), strict=True):
            np.testing.assert_array_equal(got, whole[row])


@pytest.mark.parametrize("piece", [3, 11])
def test_cutting_around_calls_changes_nothing(monkeypatch, piece: int, rng) -> None:
    f = random_functions(5)[-1]
    states = [rng.uniform(-1, 1, (5, f.size_in(k)[0] * f.size_in(k)[1])) for k in range(2)]
    inputs = [native.Argument(f"x{k}", states[k].shape[1:]) for k in range(2)]
    whole = native.compile(f, inputs=inputs, cache=False)(*states)
    monkeypatch.setattr(emit.kernel, "__defaults__", (piece,))
    for got, want in zip(
        native.compile(f, inputs=inputs, cache=False)(*states), whole, strict=True
    ):
        np.testing.assert_array_equal(got, want)


def polynomial(length: int = 300) -> Any:
    x = ca.SX.sym("x")
    y = x
    for k in range(length):
        y = 0.5 * y * x + k / length
    return ca.Function("polynomial", [x], [y])


def test_a_function_is_emitted_once_however_often_it_is_called() -> None:
    x, f = ca.SX.sym("x"), polynomial()
    often = traced_graph("often", [x], lambda x: call(f, call(f, call(f, call(f, x)))))
    text = emit.kernel(read(often), machine.host().width, True).text
    single = emit.kernel(read(f), machine.host().width, True).text
    assert len(text) < 1.2 * len(single)
    assert read(often).operations == 4 * read(f).operations


def test_functions_of_the_same_text_are_one() -> None:
    x = ca.SX.sym("x")
    program = read(
        traced_graph("f", [x], lambda x: call(polynomial(), x) + call(polynomial(), x + 1))
    )
    assert len(program.functions) == 1
    other = read(
        traced_graph("f", [x], lambda x: call(polynomial(), x) + call(polynomial(301), x + 1))
    )
    assert len(other.functions) == 2
    assert program.digest != other.digest


def test_a_call_without_use_is_not_made() -> None:
    x, f = ca.SX.sym("x"), polynomial()

    def formula(x: Any) -> Any:
        call(f, call(f, x + 1))
        return call(f, x)

    assert read(traced_graph("f", [x], formula)).operations == read(f).operations


def test_zeros_of_a_result_are_zeros_of_the_caller() -> None:
    x = ca.SX.sym("x", 2)
    f = ca.Function("f", [x], [ca.diag(x)])
    made = traced_graph("g", [x], lambda x: call(f, x) @ call(f, x))
    assert made.nnz_out(0) == 2
    np.testing.assert_array_equal(
        native.compile(made, cache=False)([2.0, 3.0]), [[4.0, 0.0], [0.0, 9.0]]
    )


def test_a_function_without_arguments_is_called_too() -> None:
    x = ca.SX.sym("x")
    two = ca.Function("two", [], [ca.SX(2.0)])
    made = traced_graph("f", [x], lambda x: x + call(two))
    assert native.compile(made, cache=False)([1.0]) == 3.0


def test_equal_calls_are_made_once() -> None:
    x, f = ca.SX.sym("x", 2), ca.SX.sym("s", 2)
    f = ca.Function("f", [f], [ca.sin(f), f[0] * f[1]])
    made = traced_graph("g", [x], lambda x: [call(f, x + 1)[0], call(f, x + 1)[1]])
    assert [i.name for i in read(made).instructions].count("call") == 1
    columns = ca.SX.sym("columns", 2, 3)
    repeated = traced_graph("h", [columns], lambda x: [repeat(f, (x, [0, 2]))[k] for k in range(2)])
    assert [i.name for i in read(repeated).instructions].count("call") == 1


def test_derivatives_see_through_inlined_calls() -> None:
    x, f = ca.SX.sym("x"), polynomial(3)
    nested = traced_graph("nested", [x], lambda x: call(f, call(f, x)))
    want = float(ca.Function("d", [x], [ca.jacobian(f(f(x)), x)])(0.3))
    assert float(
        ca.Function("d", [x], [ca.jacobian(inlined(call(nested, x)), x)])(0.3)
    ) == pytest.approx(want)
    assert float(ca.Function("d", [x], [ca.jacobian(inlined(nested)(x), x)])(0.3)) == pytest.approx(
        want
    )


def test_derivatives_through_calls_are_refused() -> None:
    """They would be long, and hold symbols of what is constant: an expression that should be inlined is found so."""
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    product = y * subroutine("square", lambda x: x**2, 1)(x)
    with pytest.raises(RuntimeError, match="Derivatives cannot be calculated for square"):
        ca.jacobian(product, y)
    assert str(ca.jacobian(inlined(product), y)) == "sq(x)"
    with pytest.raises(RuntimeError, match="Derivatives cannot be calculated for repeat"):
        ca.jacobian(repeat(polynomial(3), (ca.horzcat(x, y), [0, 1, 1])), x)


def test_a_formula_with_derivatives_of_its_own_is_traced_apart_from_calls() -> None:
    x, k = ca.SX.sym("x", 2), ca.SX.sym("k", 2)
    swap = subroutine("swap", lambda x: ca.vertcat(x[1], ca.sin(x[0])), 2)
    slope = apart(lambda a, b: ca.jacobian(ca.dot(k, a) * k[0] * b, k), swap(x), swap(x)[0])
    f = ca.Function("f", [x, k], [slope])
    assert [p.name for p in read(f).functions] == ["swap"]
    a, b = np.array([0.7, np.sin(0.3)]), 0.7
    want = b * (np.array([2.0 * 2.0 * a[0] + 3.0 * a[1], 2.0 * a[1]]))
    np.testing.assert_allclose(f([0.3, 0.7], [2.0, 3.0]).full().ravel(), want, rtol=1e-14)


def test_what_needs_no_call_stays_as_it_is_when_others_are_inlined() -> None:
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    f = ca.Function("square", [x], [x**2])
    plain, inside = ca.sin(x), call(f, x * y)
    listed = inlined([plain, inside + y])
    assert listed[0].element_hash() == plain.element_hash()
    assert str(listed[1]) == "(sq((x*y))+y)"
    assert str(inlined(inside)) == "sq((x*y))"
    g = ca.Function("g", [x, y], [plain])
    assert inlined(g) is g


@examples(10)
@given(st.integers(0, 10**6))
def test_casadi_evaluates_calls_as_their_inlined_graph(seed: int) -> None:
    f = random_functions(seed)[-1]
    state = [np.random.default_rng(seed).uniform(-1, 1, f.size_in(k)) for k in range(2)]
    for got, want in zip(f.call(state), inlined(f).call(state), strict=True):
        np.testing.assert_allclose(got.full(), want.full(), rtol=1e-13, atol=1e-15)


def test_a_step_with_calls_is_repeated() -> None:
    x, u, f = ca.SX.sym("x"), ca.SX.sym("u"), polynomial()
    step = traced_graph("step", [x, u], lambda x, u: 0.9 * call(f, x) + u * call(f, u))
    u_rows = np.linspace(0, 1, 8)[:, None]
    want = native.compile(inlined(step), states=1, varying=1, cache=False)([0.2], u_rows)
    np.testing.assert_allclose(
        native.compile(step, states=1, varying=1, cache=False)([0.2], u_rows), want, rtol=1e-14
    )


def test_arguments_that_do_not_fit_are_refused() -> None:
    x = ca.SX.sym("x", 2)
    f = ca.Function("f", [x], [x])
    with pytest.raises(GraphError, match="f takes 1 arguments, not 2"):
        call(f, x, x)
    with pytest.raises(GraphError, match=r"argument 1 of f is \(2, 1\); \(3, 1\) was given"):
        call(f, ca.SX.sym("y", 3))


# Repetition ----------------------------------------------------------------------------------------------------------


def gram(n: int) -> Any:
    """All products of columns of two matrices: a formula with a repeated call, some of its results used further."""
    a, b = ca.SX.sym("a", 3), ca.SX.sym("b", 3)
    f = ca.Function("products", [a, b], [ca.dot(a, b), ca.vertcat(ca.cross(a, b)[0], 0, a[1])])
    i, j = np.divmod(np.arange(n * n), n)
    x = ca.SX.sym("x", 3, n)

    def formula(x: Any) -> Any:
        dots, others = repeat(f, (ca.sin(x), i.tolist()), (2 * x, j.tolist()))
        return [ca.reshape(dots, n, n), others, ca.sum2(dots * dots)]

    return traced_graph("gram", [x], formula)


@pytest.mark.parametrize("n", [1, 3, 12])
def test_a_repeated_call_equals_its_inlined_one(n: int) -> None:
    f = gram(n)
    x = seeded(n).uniform(-1, 1, (6, 3, n))
    inputs = [native.Argument("x", (3, n))]
    one, other = (native.compile(g, inputs=inputs, cache=False) for g in (f, inlined(f)))
    for got, want in zip(one(x), other(x), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-15)
    for got, whole in zip(one(x[0]), one(x), strict=True):
        np.testing.assert_array_equal(got, whole[0])
    i, j = np.divmod(np.arange(n * n), n)
    want = np.einsum("ri,rj->ij", np.sin(x[0]), 2 * x[0])[i, j].reshape(n, n).T
    np.testing.assert_allclose(np.reshape(one(x[0])[0], (n, n)), want, rtol=1e-13, atol=1e-15)


def test_a_repetition_is_a_loop() -> None:
    a, b = ca.SX.sym("a", 3), ca.SX.sym("b", 3)
    dot = ca.Function("dot", [a, b], [ca.dot(a, b)])

    def lines(n: int) -> int:
        i, j = (k.tolist() for k in np.divmod(np.arange(n * n), n))
        made = traced_graph(
            "products", [ca.SX.sym("x", 3, n)], lambda x: repeat(dot, (x, i), (x, j))
        )
        assert read(made).operations == n * n * read(dot).operations
        return len(emit.kernel(read(made), machine.host().width, True).text.splitlines())

    assert (
        lines(40) - lines(20) < 20 * 3 * 10
    )  # twice as many columns, not four times as many products


def test_repetitions_of_a_function_that_calls_others() -> None:
    x, f = ca.SX.sym("x"), polynomial(5)
    twice = traced_graph("twice", [x], lambda x: call(f, call(f, x)))
    row = ca.SX.sym("row", 1, 4)
    made = traced_graph("f", [row], lambda row: repeat(twice, (row, [0, 1, 2, 3, 3])))
    numbers = np.array([0.1, 0.2, 0.3, 0.4])
    got = native.compile(made, inputs=[native.Argument("x", (4,))], cache=False)(numbers)
    np.testing.assert_allclose(np.ravel(got), np.ravel(inlined(made)(numbers).full()), rtol=1e-14)


def test_what_cannot_be_repeated_is_refused() -> None:
    x = ca.SX.sym("x", 2)
    f = ca.Function("f", [x], [x])
    with pytest.raises(GraphError, match="f cannot be repeated"):
        repeat(f, (ca.SX(3, 4), [0]))


def test_many_inputs_and_results_are_handed_over_by_loops(rng) -> None:
    """No instruction for each of them, in whatever order they stand."""
    n = 50
    a, b, c = (ca.SX.sym(name, n) for name in "abc")
    mix = ca.Function("mix", [a, b, c], [ca.sin(a) * b + c, a - 2 * c])

    def formula(x: Any, y: Any) -> list[Any]:
        first, second = call(mix, y[::-1], x, y)
        third, fourth = call(mix, second, x[::-1], first)
        return [third, call(mix, x, 3 * y, fourth)[0]]

    graph = traced_graph("f", [a, b], formula)
    program = read(graph)
    names = [i.name for i in program.instructions]
    assert names.count("argument") == n  # those that are computed
    f, (x, y) = native.compile(graph, cache=False), rng.normal(size=(2, 11, n))
    many = f(x, y)
    for k in range(11):
        for one, batch, plain in zip(f(x[k], y[k]), many, inlined(graph)(x[k], y[k]), strict=True):
            np.testing.assert_array_equal(one, batch[k])
            np.testing.assert_allclose(one, np.array(plain).ravel(), rtol=0, atol=1e-13)
