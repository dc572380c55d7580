"""Hervé's twelve subgroups, from generators of every kind, wherever they stand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eslabon.numerics import adjoint, bracket, motion_exp
from eslabon.solve.mobility import SUBGROUPS, subgroup
from eslabon.solve.mobility.subgroups import algebra, intersection, kernel, rank, span
from randomness import examples, seeded, seeds

E = np.eye(6)
PITCH = 0.3
SCREW = E[:, [2]] + PITCH * E[:, [5]]
ALGEBRAS = {
    "I": E[:, :0], "R": E[:, [2]], "P": E[:, [5]], "H": SCREW, "C": E[:, [2, 5]], "T2": E[:, [3, 4]],
    "E": E[:, [2, 3, 4]], "S": E[:, :3], "T3": E[:, 3:], "Y": np.hstack([SCREW, E[:, [3, 4]]]), "X": E[:, 2:], "D": E,
}  # fmt: skip


def placed(seed):
    return adjoint(motion_exp(seeded(seed).normal(size=6)))


def turning(axis, point=(0, 0, 0), pitch=0.0):
    axis = np.asarray(axis, dtype=float)
    return np.concatenate([axis, np.cross(point, axis) + pitch * axis])


def sliding(axis):
    return np.concatenate([np.zeros(3), axis])


@pytest.mark.parametrize("symbol", SUBGROUPS)
@examples(30)
@given(seeds)
def test_each_is_recognised_wherever_it_stands(symbol, seed):
    """Random elements of an algebra, as many as its dimension or more, generate it."""
    rng, basis = np.random.default_rng(seed), ALGEBRAS[symbol]
    d = basis.shape[1]
    twists = placed(seed) @ basis @ rng.normal(size=(d, d + rng.integers(0, 3)))
    found = subgroup(twists)
    assert (found.symbol, found.dimension) == (symbol, d)
    assert np.allclose(found.basis @ found.basis.T @ twists, twists)


X, Y, Z = np.eye(3)
GENERATORS = {
    "R": [turning(Z), 2 * turning(Z)],
    "P": [sliding(X)],
    "H": [turning(Z, pitch=PITCH)],
    "C": [turning(Z), turning(Z, pitch=PITCH)],
    "T2": [sliding(X), sliding(X + Y)],
    "E": [turning(Z), turning(Z, (1, 0, 0))],
    "S": [turning(X), turning(Y + Z)],
    "T3": [sliding(X), sliding(Y), sliding(X + Z)],
    "Y": [turning(Z, pitch=PITCH), turning(Z, (1, 2, 0), pitch=PITCH)],
    "X": [turning(Z), turning(Z, (1, 2, 0), pitch=PITCH)],
    "D": [turning(Z), turning(X, (0, 1, 1))],
}
MORE = [
    ("E", [turning(Z), sliding(X)]),
    ("Y", [turning(Z, pitch=PITCH), sliding(X)]),
    ("X", [turning(Z), sliding(X), sliding(X + Z)]),
    ("X", [turning(Z), sliding(X + Z)]),
    ("C", [turning(Z), sliding(Z)]),
    ("D", [turning(X), turning(Y), sliding(X)]),
    ("D", [turning(X), turning(Y, pitch=0.1)]),
    (
        "D",
        [turning(X, pitch=0.1), turning(Y, pitch=0.1)],
    ),  # equal pitches through one point are no group either
]


@pytest.mark.parametrize(("symbol", "twists"), [*GENERATORS.items(), *MORE])
@examples(15)
@given(seeds)
def test_joints_generate_their_group(symbol, twists, seed):
    """Fewer joints than the dimension are enough where brackets give the rest."""
    found = subgroup(placed(seed) @ np.column_stack(twists))
    assert found.symbol == symbol


@examples(60)
@given(seeds, st.integers(1, 5), st.booleans())
def test_the_closure_is_closed_and_five_does_not_occur(seed, count, special):
    rng = np.random.default_rng(seed)
    twists = (
        rng.integers(-1, 2, size=(6, count)).astype(float)
        if special
        else rng.normal(size=(6, count))
    )
    basis = algebra(twists)
    products = (bracket(basis.T) @ basis).transpose(1, 0, 2).reshape(6, -1) if basis.size else basis
    assert np.allclose(basis @ basis.T @ products, products, atol=1e-9)
    assert basis.shape[1] in (0, 1, 2, 3, 4, 6)
    assert subgroup(twists).dimension == basis.shape[1]


def test_axis_point_and_pitch():
    axis, point = np.array([0.0, 0.6, 0.8]), np.array([1.0, -0.8, 0.6])
    screw = subgroup(turning(axis, point, 0.25))
    assert np.allclose(screw.axis, axis)
    assert np.allclose(screw.point, point)  # already the nearest to the origin
    assert screw.pitch == pytest.approx(0.25)
    assert np.allclose(
        subgroup(np.column_stack([turning(u, point) for u in (X, Y, Z)])).point, point
    )
    assert np.allclose(subgroup(np.column_stack([sliding(X), sliding(Y)])).axis, Z)
    there = screw.placed(np.array([10.0, 0, 0]), 2.0)
    assert there.pitch == pytest.approx(0.5)
    assert np.allclose(there.point, [12, -1.6, 1.2])
    assert (
        str(screw)
        == "H: screw motion along a line, along (0, 0.6, 0.8), through (1, -0.8, 0.6), pitch 0.25"
    )


@examples(30)
@given(seeds)
def test_spaces(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 7, size=2)
    A, B = span(rng.normal(size=(6, a))), span(rng.normal(size=(6, b)))
    common = intersection(A, B)
    assert common.shape[1] == max(a + b - 6, 0)
    assert np.allclose(A @ A.T @ common, common)
    assert np.allclose(B @ B.T @ common, common)
    assert kernel(A.T).shape[1] == 6 - a


def test_rank_decides_by_the_gap():
    assert rank(np.array([])) == rank(np.zeros(3)) == 0
    assert rank(np.array([1.0, 1e-3, 1e-9])) == 2
    assert rank(np.array([1.0, 1e-5, 1e-6, 1e-11])) == 3
    assert rank(np.array([5e3, 1e-12])) == 1
    assert rank(np.array([1e-7]), scale=1.0) == 0
