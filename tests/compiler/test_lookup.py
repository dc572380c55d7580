"""Rows of tables: native code, CasADi and NumPy load the same ones."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from eslabon.compiler import native
from eslabon.compiler.calls import Composed, composed, recording
from eslabon.compiler.lookup import row_of


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (17, 5), (40, 90)])
def test_every_lane_loads_its_own_row(shape: tuple[int, int], rng) -> None:
    table = rng.normal(size=shape)
    x = ca.SX.sym("x")
    f = native.compile(composed("look", [x], lambda x: 2 * row_of(table, 3 * x)), cache=False)
    numbers = rng.uniform(-5, shape[0] + 5, size=37)
    rows = np.clip(np.floor(numbers), 0, shape[0] - 1).astype(int)
    np.testing.assert_array_equal(f(numbers[:, None] / 3).reshape(37, -1), 2 * table[rows])
    for number, row in zip(numbers[:5], rows, strict=False):
        np.testing.assert_array_equal(np.ravel(f([number / 3])), 2 * table[row])


def test_what_is_no_number_takes_the_first_row() -> None:
    x = ca.SX.sym("x")
    f = native.compile(composed("look", [x], lambda x: row_of(np.array([[1.0], [2.0]]), x)), cache=False)
    assert np.ravel(f([np.nan]))[0] == 1.0
    np.testing.assert_array_equal(np.ravel(f(np.array([[-np.inf], [np.inf], [1e300]]))), [1.0, 2.0, 2.0])


def test_a_looked_up_number_is_constant(rng) -> None:
    table, x, y = rng.normal(size=(6, 2)), ca.SX.sym("x"), ca.SX.sym("y")
    with recording() as calls:
        row = row_of(table, x)
        slope = ca.jacobian(y**2 * row[0], y)  # a looked-up number is constant
    assert len(calls) == 1
    f = Composed("law", [x, y], [slope], calls)
    made = native.compile(f, cache=False)
    np.testing.assert_allclose(np.ravel(made([2.5], [3.0])), 6 * table[2, 0])
    np.testing.assert_allclose(float(f.inlined()(2.5, 3.0)), 6 * table[2, 0])
