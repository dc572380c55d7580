"""Rows of tables: native code, CasADi and NumPy load the same ones."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from eslabon.compiler import native
from eslabon.compiler.calls import call, derived, inlined
from eslabon.compiler.formula import Argument
from eslabon.compiler.operators import Lookup, row_at, row_of, table_handle
from eslabon.compiler.program import GraphError, read
from randomness import seeded
from traced_graph import traced_graph


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (17, 5), (40, 90)])
def test_every_lane_loads_its_own_row(shape: tuple[int, int], rng) -> None:
    table = rng.normal(size=shape)
    x = ca.SX.sym("x")
    f = native.compile(traced_graph("look", [x], lambda x: 2 * row_of(table, 3 * x)), cache=False)
    numbers = rng.uniform(-5, shape[0] + 5, size=37)
    rows = np.clip(np.floor(numbers), 0, shape[0] - 1).astype(int)
    np.testing.assert_array_equal(f(numbers[:, None] / 3).reshape(37, -1), 2 * table[rows])
    for number, row in zip(numbers[:5], rows, strict=False):
        np.testing.assert_array_equal(np.ravel(f([number / 3])), 2 * table[row])


@pytest.mark.parametrize("shape", [(1, 2), (2, 3), (17, 5), (40, 3)])
def test_every_lane_loads_its_own_row_of_its_own_matrix(shape: tuple[int, int], rng) -> None:
    matrix, x = ca.SX.sym("matrix", *shape), ca.SX.sym("x")
    graph = traced_graph("pick", [matrix, x], lambda m, x: (2 * row_of(m, 3 * x), m[0, 0] + x))
    f, tables = native.compile(graph, cache=False), rng.normal(size=(37, *shape))
    numbers = rng.uniform(-5, shape[0] + 5, size=37)
    numbers[:4] = np.nan, -np.inf, np.inf, 1e300
    rows = np.nan_to_num(np.clip(np.floor(numbers), 0, shape[0] - 1)).astype(int)
    expected = 2 * tables[np.arange(37), rows]
    found = f(tables, numbers[:, None] / 3)[0].reshape(37, -1)
    np.testing.assert_array_equal(found, expected)
    shared = f(tables[5], numbers[:, None] / 3)[0].reshape(37, -1)
    np.testing.assert_array_equal(shared, 2 * tables[5][rows])
    for k in range(9):
        one = f(tables[k], numbers[k : k + 1] / 3)[0]
        np.testing.assert_array_equal(one.reshape(-1), expected[k])
        for graph_of in (graph, inlined(graph)):
            plain = np.array(graph_of(tables[k], numbers[k] / 3)[0]).reshape(-1)
            np.testing.assert_array_equal(plain, expected[k])


def test_a_row_of_a_matrix_hides_the_others() -> None:
    """A NaN in another row, or lane, stays there."""
    graph = traced_graph("pick", [ca.SX.sym("m", 3, 2), ca.SX.sym("x")], row_of)
    m = np.full((3, 2), np.nan)
    m[1] = 4.0, -0.0
    for f in (native.compile(graph, cache=False), graph, inlined(graph)):
        np.testing.assert_array_equal(np.array(f(m, 1.5 * np.ones(1))).ravel(), m[1])


def test_a_matrix_without_rows_is_refused() -> None:
    with pytest.raises(GraphError, match="without rows"):
        row_of(ca.SX(0, 3), ca.SX.sym("x"))


def test_what_is_no_number_takes_the_first_row() -> None:
    x = ca.SX.sym("x")
    f = native.compile(
        traced_graph("look", [x], lambda x: row_of(np.array([[1.0], [2.0]]), x)), cache=False
    )
    assert np.ravel(f([np.nan]))[0] == 1.0
    np.testing.assert_array_equal(
        np.ravel(f(np.array([[-np.inf], [np.inf], [1e300]]))), [1.0, 2.0, 2.0]
    )


def test_a_looked_up_number_is_constant(rng) -> None:
    table, x, y = rng.normal(size=(6, 2)), ca.SX.sym("x"), ca.SX.sym("y")
    product = y**2 * row_of(table, x)[0]
    f = ca.Function(
        "law", [x, y], [ca.jacobian(inlined(product), y), ca.jacobian(inlined(product), x)]
    )
    by_y, by_x = native.compile(f, cache=False)([2.5], [3.0])
    np.testing.assert_allclose(np.ravel(by_y), 6 * table[2, 0])
    assert np.ravel(by_x) == 0.0


def test_lookups_stay_calls_where_all_else_is_inlined(rng) -> None:
    table, x = rng.normal(size=(6, 2)), ca.SX.sym("x")
    square = ca.Function("square", [x], [x**2])
    f = traced_graph("f", [x], lambda x: call(square, row_of(table, call(square, x))[1]))
    program = read(inlined(f, keep=Lookup))
    assert [type(p.operator) for p in program.functions] == [Lookup]
    assert [i.name for i in program.instructions].count("sq") == 2
    np.testing.assert_allclose(float(f(1.5)), table[2, 1] ** 2, rtol=1e-15)


@pytest.mark.parametrize("rows", [1, 2, 3, 7, 64, 100])
def test_a_table_that_is_data_gives_the_row_that_has_begun(rows: int) -> None:
    """One code for tables of any length, in each lane its own table and time, whatever the other lanes look up."""
    rng = seeded("tables that are data", rows)
    long = np.ascontiguousarray(
        np.column_stack([np.sort(rng.normal(size=rows)), rng.normal(size=(rows, 4))])
    )
    short = np.ascontiguousarray(long[: max(1, rows // 2)])
    handle, t = ca.SX.sym("handle", 2), ca.SX.sym("t")
    graph = ca.Function("row", [handle, t], [2 * row_at(handle, t, 5)])
    f = native.compile(graph, inputs=[Argument("handle", (2,)), Argument("t", ())], cache=False)
    times = np.concatenate([rng.normal(size=33), long[:, 0], [np.nan, -99.0, 99.0]])
    tables = [long if k % 3 else short for k in range(len(times))]
    handles = np.array([table_handle(table) for table in tables])

    def expected(table: np.ndarray, time: float) -> np.ndarray:
        return 2 * table[np.searchsorted(table[1:, 0], time, side="right") if time == time else 0]

    want = np.array([expected(*pair) for pair in zip(tables, times, strict=True)])
    assert np.array_equal(f(handles, times), want)
    assert np.array_equal([f(*pair) for pair in zip(handles, times, strict=True)], want)
    plain = [np.array(graph(*pair)).ravel() for pair in zip(handles, times, strict=True)]
    assert np.array_equal(plain, want)
    alike = f(table_handle(long), times)  # of one table, as in a run
    assert np.array_equal(alike, [expected(long, time) for time in times])


def test_rows_of_a_table_that_is_data_hold_still_in_derivatives() -> None:
    table = np.array([[0.0, 3.0, 5.0], [1.0, 7.0, 11.0]])
    handle, t, x = ca.SX.sym("handle", 2), ca.SX.sym("t"), ca.SX.sym("x")
    row = row_at(handle, t, 3)
    made = derived(lambda y: [ca.jacobian(y[0], ca.vertcat(t, x))], [row[1] * x**2 + row[2] * t])
    f = ca.Function("slope", [handle, t, x], made)
    for time, a, b in ((0.5, 3.0, 5.0), (1.5, 7.0, 11.0)):
        assert np.array_equal(np.array(f(table_handle(table), time, 2.0)), [[b, 4 * a]])
