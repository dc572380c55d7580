"""Loops cut at ball joints, whose equations come from one pass outward: rows, their axes, and derivatives of open loops."""

import casadi
import numpy as np
import pytest

import eslabon as es
from eslabon.compiler.calls import inlined
from eslabon.formulas.derivatives.loop_derivatives import derivatives
from eslabon.formulas.kinematics.ball_loops import aligned_loops, carrier
from eslabon.formulas.kinematics.closure import equations, row_names
from eslabon.formulas.kinematics.tree import coordinate_rates
from eslabon.formulas.motion_state import Method, MotionState
from eslabon.formulas.structure import Partition
from eslabon.model.configuration import integrate, normalize
from random_mechanisms import random_closed
from randomness import seeded

TREE = [
    "free",
    "revolute",
    "spherical",
    "prismatic",
    "universal",
    "helical",
    "planar",
    "cylindrical",
    "fixed",
]
MECHANISMS = {
    **{
        f"random {k}": lambda k=k: random_closed(
            seeded("balls", k), TREE, ["spherical", "revolute"]
        )[0]
        for k in range(2)
    },
    **{name: lambda name=name: es.load(name) for name in ("stewart_gough", "delta")},
}


def open_state(m, rng):
    """Coordinates near home that open the loops, velocities, accelerations and forces of the rows."""
    count = len(row_names(m))
    return [
        normalize(m, m.home() + 0.2 * rng.normal(size=m.nq)),
        *(rng.normal(size=n) for n in (m.nv, m.nv, count)),
    ]


def symbols(m):
    return [
        casadi.SX.sym(name, n)
        for name, n in zip("qvaf", (m.nq, m.nv, m.nv, len(row_names(m))), strict=True)
    ]


def numbers(m, given, expressions, rng):
    f = casadi.Function("f", given, [casadi.densify(x) for x in expressions])
    return [np.array(x) for x in f(*open_state(m, rng))]


@pytest.mark.parametrize("name", MECHANISMS)
def test_derivatives_are_exact_in_directions_that_open_loops(name, rng):
    m = MECHANISMS[name]()
    given = q, v, a, f = symbols(m)
    rows = tuple(range(len(row_names(m))))
    s = MotionState(m, q, v, Method(partition=Partition(rows, (), ()), align=False))
    _, J, gamma, rate = equations(m, q, v, rows)
    gap, along = J @ a - gamma, coordinate_rates(m, q)
    want = [
        *(casadi.jacobian(x, q) @ along for x in (J @ v + rate, J.T @ f, gap)),
        casadi.jacobian(gap, v),
    ]
    found = numbers(m, given, [*want, *inlined(list(derivatives(s, a, f)))], rng)
    for exact, got in zip(found[:4], found[4:], strict=True):
        np.testing.assert_allclose(got, exact, atol=1e-12 * np.abs(exact).max())


@pytest.mark.parametrize("name", MECHANISMS)
def test_aligned_rows_are_the_same_rows_in_other_axes(name, rng):
    """Products of rows by rows are the same in any axes, of each loop, and so are those of their derivatives at no gap."""
    m = MECHANISMS[name]()
    given = q, v, *_ = symbols(m)
    rows = tuple(range(len(row_names(m))))
    names = aligned_loops(m, rows)
    first, products = 0, []
    whole = [casadi.horzcat(*equations(m, q, v, rows, x)) for x in ((), names)]
    for loop in m.loops:
        own = list(range(first, first + loop.kind.rows))
        products += [x[own, :].T @ x[own, :] for x in whole]
        first += loop.kind.rows
    found = numbers(m, given, products, rng)
    for one, other in zip(found[::2], found[1::2], strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12 * np.abs(one).max())
    assert names
    assert casadi.densify(whole[0] - whole[1]).nnz()


@pytest.mark.parametrize("name", ["stewart_gough", "spatial_four_bar"])
def test_derivatives_of_accelerations_are_those_of_forward_dynamics_where_loops_open(name, rng):
    """By central differences along every coordinate, with a tolerance that lets the loops open."""
    m = es.load(name)
    q = m.project(m.home())
    J = m.constraint_jacobian(q)
    v, tau = np.linalg.svd(J)[2][len(J) :].T @ rng.normal(size=m.nv - len(J)), rng.normal(size=m.nu)
    by_q = m.forward_dynamics_derivatives(q, v, tau)[0]
    h, loose = 1e-6, {"tolerance": 1.0}
    for k, e in enumerate(np.eye(m.nv)):
        ahead, behind = (
            m.forward_dynamics(integrate(m, q, s * h * e), v, tau, **loose) for s in (1, -1)
        )
        np.testing.assert_allclose(
            (ahead - behind) / (2 * h), by_q[:, k], atol=1e-6 * np.abs(by_q).max()
        )


def test_rows_that_were_left_out_keep_their_loop_in_its_own_axes():
    m = es.load("stewart_gough")
    names = [loop.name for loop in m.loops]
    assert aligned_loops(m, range(3 * len(names))) == tuple(names)
    assert aligned_loops(m, range(1, 3 * len(names))) == tuple(names[1:])
    assert aligned_loops(es.load("five_bar"), range(5)) == ()


def test_what_carries_all_loops_is_left_out():
    m = es.load("stewart_gough")
    assert carrier(m) == "ground"
    b = es.Builder("floating")
    b.body("base", 1.0, (0, 0, 0), np.eye(3))
    b.joint("float", "free", "ground", "base")
    for side in ("left", "right"):
        b.body(side, 1.0, (0.1, 0, 0), np.eye(3))
        b.joint(side, "spherical", "base", side)
    b.loop("tip", "spherical", "left", "right", (0.3, 0, 0), (0, 0.3, 0))
    m = b.build()
    assert carrier(m) == "base"
    J = equations(m, casadi.SX.sym("q", m.nq), None, (0, 1, 2)).J
    assert not J[:, : m.nv - 6].nnz()
    assert J[:, m.nv - 6 :].nnz() == 18
