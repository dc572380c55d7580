"""Graphs that choose: surfaces, frozen choices, and the modes that a graph has by itself."""

from __future__ import annotations

import casadi
import numpy as np
import pytest

from eslabon.compiler.calls import call
from eslabon.compiler.operators import row_of
from eslabon.compiler.switching import switching

X = casadi.SX.sym("x", 3)
CHOOSING = {
    "sign": lambda x: -3 * casadi.sign(x[0]) + casadi.sign(-x[0]),
    "fabs": lambda x: casadi.fabs(x[0] - x[1]) * x[2],
    "saturation": lambda x: casadi.fmin(casadi.fmax(5 * x[0], -1), 1) + x[1],
    "dead zone": lambda x: casadi.fmax(0, x[0] - 0.1) + casadi.fmin(0, x[0] + 0.1),
    "if_else": lambda x: casadi.if_else(x[0] > x[1], x[2], casadi.sin(x[0])),
    "conditions": lambda x: casadi.logic_or(casadi.logic_and(x[0] > 0, x[1] <= 0.2), casadi.logic_not(x[2] < 0)),
    "floor": lambda x: casadi.floor(3 * x[0]) * x[1],
    "ceil": lambda x: casadi.ceil(3 * x[0]),
    "fmod": lambda x: casadi.fmod(7 * x[0], 2),
    "remainder": lambda x: casadi.remainder(7 * x[0], 2),
    "copysign": lambda x: casadi.copysign(x[0], x[1]),
    "nested": lambda x: casadi.fmax(casadi.sign(x[0]) * x[1], casadi.fabs(x[2] + casadi.sign(x[0]))),
}  # fmt: skip


@pytest.mark.parametrize("name", CHOOSING)
def test_frozen_at_its_own_choices_is_the_function_itself(name, rng):
    f = casadi.Function("f", [X], [CHOOSING[name](X)])
    s = switching(f)
    assert s.names
    for x in rng.normal(size=(40, 3)):
        modes = s.choices(x)
        np.testing.assert_allclose(s.function(x, modes), f(x), rtol=0, atol=1e-14)
        sigma, g = modes.full().ravel()[: len(s.names)], s.surfaces(x, modes).full().ravel()
        np.testing.assert_array_equal(sigma, np.sign(g))


@pytest.mark.parametrize("name", CHOOSING)
def test_frozen_is_smooth_and_continues_across_every_surface(name, rng):
    """Nothing in the frozen graph chooses by the inputs: its modes alone say which side holds."""
    f = casadi.Function("f", [X], [CHOOSING[name](X)])
    s = switching(f)
    modes = casadi.SX.sym("modes", s.size)
    assert not switching(
        casadi.Function("h", [X], [s.function(X, casadi.DM(s.choices(rng.normal(size=3))))])
    ).names
    assert casadi.jacobian(s.function(X, modes), modes).nnz()


def test_equal_surfaces_are_one():
    v = casadi.SX.sym("v", 2)
    f = casadi.sign(v[0]) + casadi.fabs(v[0]) + (v[0] > 0) + (-v[0] >= 0) + casadi.sign(v[0] - v[1])
    s = switching(casadi.Function("f", [v], [f + (v[1] < v[0])]))
    assert s.names == ("sign of v_0", "sign of (v_0-v_1)")


def test_a_mode_between_weighs_both_sides():
    v = casadi.SX.sym("v")
    s = switching(casadi.Function("f", [v], [casadi.if_else(v > 0, -2.0, 4.0)]))
    above, below, between = (float(s.function(0, mode)) for mode in (-1, 1, 0.5))
    assert {above, below} == {-2.0, 4.0}
    assert between == pytest.approx((1 - 0.5) / 2 * above + (1 + 0.5) / 2 * below)


def test_a_branch_that_is_not_taken_may_be_nan():
    v = casadi.SX.sym("v")
    s = switching(casadi.Function("f", [v], [casadi.if_else(v > 0, casadi.sqrt(v), 0)]))
    assert float(s.function(-1.0, s.choices(-1.0))) == 0


def test_calls_are_looked_into():
    x = casadi.SX.sym("x")
    inner = casadi.Function("inner", [x], [casadi.sign(x)])
    s = switching(casadi.Function("f", [x], [call(inner, x + 1) * x]))
    assert s.names == ("sign of (x+1)",)


def test_rows_of_tables_are_no_surfaces():
    t = casadi.SX.sym("t")
    table = np.array([[1.0], [2.0], [4.0]])
    s = switching(casadi.Function("f", [t], [row_of(table, (t >= 1) + (t >= 2)) * casadi.sign(t)]))
    assert s.names == ("sign of t",)
    assert float(s.function(2.5, 1)) == 4


def test_smooth_graphs_have_no_surfaces():
    s = switching(casadi.Function("f", [X], [casadi.sin(X)]))
    assert (s.names, s.levels, s.size) == ((), (), 0)


def test_the_level_of_a_floor_moves_with_its_modes():
    x = casadi.SX.sym("x")
    s = switching(casadi.Function("f", [x], [casadi.floor(x)]))
    modes = s.choices(4.2).full().ravel()
    np.testing.assert_array_equal(modes, [1, -1, 4])
    np.testing.assert_array_equal(s.settled(np.array([-1.0, -1.0, 4.0])), [1, -1, 3])
    assert float(s.function(4.0, np.array([0.5, -1.0, 4.0]))) == 3.75  # between 3 and 4


def test_the_place_within_a_row_goes_with_the_row():
    """Linear interpolation by floor: the row and the place within it are those of the time, with no surface at all."""
    t = casadi.SX.sym("t")
    table = np.array([[1.0, 1.0], [2.0, -3.0], [-1.0, 0.5]])
    k = casadi.floor(t)
    row = row_of(table, k)
    s = switching(casadi.Function("f", [t], [row[0] + (t - k) * row[1] + casadi.fabs(t - 0.5)]))
    assert s.names == ("fabs of (t-0.5)",)
    assert float(s.function(1.25, 1)) == pytest.approx(2.0 - 0.75 + 0.75)
