"""The reader: names, places in row order, and refusals."""

import casadi as ca
import numpy as np
import pytest

from eslabon.compiler import GraphError, read
from pendulum_chain import pendulum_chain as chain


def test_places_are_those_of_a_dense_array_in_row_order() -> None:
    x = ca.SX.sym("x", ca.Sparsity.lower(3))  # six numbers in CasADi's column order
    y = ca.SX.sym("y", 2, 3)
    program = read(ca.Function("f", [x, y], [x, y.T]))
    assert {i.place[1] for i in program.instructions if i.name == "input" and i.place[0] == 0} == {
        0,
        3,
        4,
        6,
        7,
        8,
    }
    moved = {
        program.instructions[i.args[0]].place[1]: i.place[1]
        for i in program.instructions
        if i.name == "output" and i.place[0] == 1
    }
    assert [moved[k] for k in range(6)] == np.arange(6).reshape(3, 2).T.ravel().tolist()


def test_results_keep_their_own_numbers_although_casadi_reuses_slots() -> None:
    program = read(chain(3))
    for k, i in enumerate(program.instructions):
        assert all(a < k for a in i.args)
        assert all(program.instructions[a].name != "output" for a in i.args)


def test_the_digest_is_that_of_the_computation() -> None:
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    one = read(ca.Function("f", [x], [x * 2.5])).digest
    assert read(ca.Function("g", [y], [y * 2.5])).digest == one
    assert read(ca.Function("f", [x], [x * 2.5000000000000004])).digest != one
    assert read(ca.Function("f", [x], [ca.vertcat(x * 2.5, 0)])).digest != one


def test_an_mx_function_is_expanded() -> None:
    x = ca.MX.sym("x", 2)
    assert "sin" in [i.name for i in read(ca.Function("f", [x], [ca.sin(x)])).instructions]


def test_what_cannot_be_read_is_named() -> None:
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    with pytest.raises(GraphError, match="not inputs: y"):
        read(ca.Function("f", [x], [x + y], {"allow_free": True}))
    z = ca.MX.sym("z", 2, 2)
    solve = (
        ca.Function("s", [z], [ca.solve(z, ca.MX.ones(2), "lapackqr")])
        if ca.has_linsol("lapackqr")
        else None
    )
    if solve is not None:
        with pytest.raises(GraphError, match="scalar operations"):
            read(solve)


def test_the_same_of_the_same_is_computed_once() -> None:
    """Whatever the order of factors and terms."""
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    one, other = ca.sin(x * y) + (x + y), ca.sin(y * x) * (y + x)
    program = read(ca.Function("f", [x, y], [one, other, x - y, y - x]))
    names = [i.name for i in program.instructions if i.name not in ("input", "output")]
    assert sorted(names) == ["add", "add", "mul", "mul", "sin", "sub", "sub"]
