"""Steps that are traced once give what their formulas give: the same numbers, zeros and operations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi
import numpy as np
import pytest

from eslabon.model.joints import KINDS, Revolute, Universal
from eslabon.numerics import spatial
from eslabon.numerics.traced_steps import traced_once
from randomness import seeded


@dataclass(frozen=True)
class Pair:
    first: Any
    second: Any


class Named(NamedTuple):
    total: Any
    pair: Pair


def counted(calls):
    def formula(x, y, sign=1):
        calls.append((x, y))
        return Named(x + sign * y, Pair(x @ y.T, (x, 2 * y)))

    return traced_once(formula)


def value(expression, symbols, numbers):
    return np.array(casadi.Function("f", symbols, [expression]).call(numbers)[0])


def test_a_formula_is_called_once_for_each_shape_and_choice(rng):
    calls = []
    step = counted(calls)
    x, y, z = (casadi.SX.sym(name, 3) for name in "xyz")
    numbers = [casadi.DM(rng.normal(size=3)) for _ in range(2)]
    for a, b in ((x, y), (y, x), (x, z), (casadi.cos(x), y)):
        made = step(a, b)
        assert type(made) is Named
        assert type(made.pair) is Pair
        assert type(made.pair.second) is tuple
    assert len(calls) == 1
    minus = step(x, y, sign=-1)
    step(casadi.SX.sym("x", 2), casadi.SX.sym("y", 2))
    assert len(calls) == 3
    np.testing.assert_array_equal(
        value(minus.total, [x, y], numbers), np.array(numbers[0] - numbers[1])
    )


def test_numbers_go_through_the_formula_itself():
    calls = []
    made = counted(calls)(np.ones(3), np.ones(3))
    assert isinstance(made.total, np.ndarray)
    counted(calls)(np.ones(3), np.ones(3))
    assert len(calls) == 2


def test_numbers_beside_symbols_are_put_in():
    x = casadi.SX.sym("x", 3)
    made = counted([])(x, np.array([1.0, 0.0, 2.0]))
    assert made.total.shape == (3, 1)
    assert made.pair.first.nnz() == 6  # a column is zero
    assert str(made.total[1]) == "x_1"


def test_an_entry_that_is_zero_with_these_arguments_alone_is_left_out():
    R, p, w = casadi.SX.sym("R", 3, 3), casadi.SX.sym("p", 3), casadi.SX.sym("w", 6)
    assert spatial.wrench_to_parent(spatial.RigidTransform(R, p), w).nnz() == 6
    still = casadi.SX(6, 1)
    still[5] = w[5]
    assert (
        spatial.wrench_to_parent(
            spatial.RigidTransform(casadi.SX.eye(3), casadi.SX(3, 1)), still
        ).nnz()
        == 1
    )
    assert spatial.wrench_to_parent(spatial.RigidTransform(R, p), w).nnz() == 6


SIX = (6, 1)
STEPS = {
    "twist_to_child": (((3, 3), (3, 1)), SIX),
    "twist_to_parent": (((3, 3), (3, 1)), SIX),
    "wrench_to_parent": (((3, 3), (3, 1)), SIX),
    "ad": (SIX, SIX),
    "ad_dual": (SIX, SIX),
}


def symbols_of(shape, name):
    if isinstance(shape[0], tuple):
        return tuple(symbols_of(x, f"{name}{k}") for k, x in enumerate(shape))
    return casadi.SX.sym(name, *shape)


@pytest.mark.parametrize("name", STEPS)
def test_steps_have_the_operations_of_their_formulas(name):
    step = getattr(spatial, name)
    given = [symbols_of(shape, letter) for shape, letter in zip(STEPS[name], "ab", strict=True)]
    leaves = [x for part in given for x in (part if isinstance(part, tuple) else (part,))]
    made, direct = (
        casadi.Function("f", leaves, [casadi.cse(f(*given))]) for f in (step, step.__wrapped__)
    )
    assert made.n_instructions() == direct.n_instructions()
    numbers = [casadi.DM(seeded(k).normal(size=x.shape)) for k, x in enumerate(leaves)]
    np.testing.assert_allclose(
        np.array(made.call(numbers)[0]), np.array(direct.call(numbers)[0]), rtol=1e-15, atol=1e-15
    )


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_give_symbols_what_they_give_numbers(kind, rng):
    made = KINDS[kind](pitch=0.3) if kind == "helical" else KINDS[kind]()
    q, v = casadi.SX.sym("q", made.nq), casadi.SX.sym("v", made.nv)
    numbers = [rng.normal(size=made.nq), rng.normal(size=made.nv)]
    expressions = (*made.transform(q), made.motion(q), made.motion_rate(q, v))
    wanted = (*made.transform(numbers[0]), made.motion(numbers[0]), made.motion_rate(*numbers))
    for got, expected in zip(expressions, wanted, strict=True):
        found = value(casadi.SX(got), [q, v], numbers)
        np.testing.assert_allclose(
            found.reshape(np.shape(expected)), expected, rtol=1e-14, atol=1e-15
        )


def test_axes_made_of_symbols_stay_symbols():
    x, q = casadi.SX.sym("x"), casadi.SX.sym("q")
    assert not Revolute((x, 0.0, 1.0)).is_plain
    for kind in (Revolute((x, 0.0, 1.0)), Universal((0.0, 0.0, 1.0), (x, 1.0, 0.0))):
        R, _ = kind.transform(casadi.repmat(q, kind.nq))
        assert casadi.depends_on(R, x)
    R, _ = Revolute((0.0, 1.0, 1.0)).transform(q)
    assert not casadi.depends_on(R, x)
