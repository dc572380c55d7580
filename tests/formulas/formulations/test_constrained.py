"""The equations of loops: walked around they are the derivatives of the residual, and multipliers solve them."""

from dataclasses import replace
from functools import cache

import casadi
import numpy as np
import pytest

import eslabon as es
from eslabon.formulas.constrained.constraint_solvers import (
    METHODS,
    ConstrainedMass,
    actuator_forces,
)
from eslabon.formulas.kinematics.closure import constraint, equations, equations_in_units, row_names
from eslabon.formulas.kinematics.tree import coordinate_rates
from eslabon.formulas.linear_solvers import factors
from eslabon.formulas.structure import Partition
from eslabon.model import KINDS
from eslabon.model.configuration import normalize
from eslabon.model.parameter_expressions import parameter
from eslabon.numerics.tolerances import POORLY_CONDITIONED
from random_mechanisms import random_closed
from randomness import seeded

CUTS = [k for k in KINDS if k != "free"]
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


def differentiated(m, q, v):
    """Phi, J and gamma by differentiating the residual along the coordinates."""
    N = coordinate_rates(m, q)
    phi, along = casadi.SX(constraint(m, q)), casadi.mtimes(N, v)
    rate = casadi.jtimes(phi, q, along)
    return phi, casadi.mtimes(casadi.jacobian(phi, q), N), -casadi.jtimes(rate, q, along)


def agree_where_loops_are_open(rng, m, parameters=()):
    q, v = casadi.SX.sym("q", m.nq), casadi.SX.sym("v", m.nv)
    every = tuple(range(len(row_names(m))))
    both = [*equations_in_units(m, q, v, every)[:3], *differentiated(m, q, v)]
    f = casadi.Function("f", [q, v, *parameters], [casadi.densify(x) for x in both])
    for _ in range(3):
        configuration = normalize(m, m.home() + 0.2 * rng.normal(size=m.nq))
        found = [
            np.array(x) for x in f(configuration, rng.normal(size=m.nv), *([0.3] * len(parameters)))
        ]
        for got, want in zip(found[:3], found[3:], strict=True):
            np.testing.assert_allclose(got, want, atol=1e-11 * max(1.0, np.abs(want).max()))
    assert (
        np.abs(found[0]).max() > 1e-3
    )  # the loops are open, so that nothing holds by being closed


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_walk_around_a_loop_is_the_derivative_of_its_residual(cut, seed, rng):
    m, _ = random_closed(seeded(cut, seed), TREE, [cut, "spherical"])
    agree_where_loops_are_open(rng, m)


def test_couplings_and_chosen_rows(rng):
    b = es.Builder("geared")
    for k in range(3):
        b.body(f"body{k}", 1.0, (0.1, 0, 0), np.eye(3))
        b.joint(
            f"joint{k}",
            parent=f"body{k - 1}" if k else "ground",
            child=f"body{k}",
            kind="revolute",
            at=(0.3, 0, 0),
        )
    b.couple("gear", "joint2", "joint0", ratio=-2.0, offset=0.1)
    b.loop("pin", kind="spherical", body_a="ground", body_b="body2")
    m = b.build()
    agree_where_loops_are_open(rng, m)
    q, v = casadi.SX.sym("q", m.nq), casadi.SX.sym("v", m.nv)
    whole, chosen = equations(m, q, v, (0, 1, 2, 3)), equations(m, q, v, (3, 0))
    for one, other in zip(whole, chosen, strict=True):
        assert casadi.is_equal(casadi.densify(one[[3, 0], :]), casadi.densify(other), 50)


def test_a_parameter_of_the_cut_joint_stays_a_letter(rng):
    m, _ = random_closed(rng, TREE, ["helical"])
    loop = m.description.loops[0]
    lettered = replace(loop, kind=replace(loop.kind, pitch=parameter("lead")))
    m = es.Mechanism(replace(m.description, loops=(lettered,), parameters=(("lead", 0.3),)))
    lead = casadi.SX.sym("lead")
    agree_where_loops_are_open(rng, m.with_symbols({"lead": lead}), (lead,))


def test_what_carries_the_whole_loop_has_no_part_in_it():
    b = es.Builder("floating")
    for name in ("base", "one", "two"):
        b.body(name, 1.0, (0.1, 0, 0), np.eye(3))
    b.joint("float", kind="free", parent="ground", child="base")
    b.joint("left", kind="revolute", parent="base", child="one", axis="x", at=(0, 0.2, 0))
    b.joint("right", kind="revolute", parent="base", child="two", axis="y")
    b.loop("cut", kind="spherical", body_a="one", body_b="two")
    m = b.build()
    q, v = casadi.SX.sym("q", m.nq), casadi.SX.sym("v", m.nv)
    phi, J, gamma, _ = equations(m, q, v, (0, 1, 2))
    legs = {m.velocities[name].start for name in ("left", "right")}
    assert set(J.sparsity().get_col()) <= legs
    assert not casadi.depends_on(casadi.vertcat(phi, gamma), q[:7])


N, ROWS = 9, 4
PARTITION = Partition(tuple(range(ROWS)), (0, 2, 4, 6, 8), (1, 3, 5, 7))


def sx(x):
    return casadi.SX(casadi.sparsify(casadi.DM(x)))


def numbers(x):
    return np.array(casadi.DM(x)).ravel()


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("options", [{}, {"penalty": 0.7}, {"regularization": [1e-6] * ROWS}])
def test_every_method_for_constraints_solves_the_equations_of_motion(name, options, rng):
    A, J = rng.normal(size=(N, N)), rng.normal(size=(ROWS, N))
    M, f, gamma = A @ A.T + np.eye(N), rng.normal(size=N), rng.normal(size=ROWS)
    K = np.block([[M, -J.T], [J, np.zeros((ROWS, ROWS))]])
    want = np.linalg.solve(K, np.concatenate([f, gamma]))
    solver = METHODS[name](ConstrainedMass(sx(M), sx(J), PARTITION, **options), 1)
    a, reaction = solver.solve(sx(f), sx(gamma))
    np.testing.assert_allclose(numbers(a), want[:N], atol=1e-9)
    np.testing.assert_allclose(numbers(reaction), want[N:], atol=1e-9)
    np.testing.assert_allclose(numbers(solver.compensate(-sx(f), -sx(gamma))), want[:N], atol=1e-9)
    assert 0 < float(solver.condition) <= 1


DRAWS = 1000


@cache
def conditions(name, penalty=0.0):
    """The reciprocal condition number of a method for any M and J, many at once."""
    M, J = casadi.SX.sym("M", N, N), casadi.SX.sym("J", ROWS, N)
    solver = METHODS[name](ConstrainedMass(M, J, PARTITION, penalty), 1)
    f = casadi.Function("f", [M, J], [solver.condition])
    return lambda M, J: np.array(f.map(DRAWS)(np.hstack(M), np.hstack(J))).ravel()


def orders(rng, decades, *shape):
    """Random numbers of either sign and of so many orders of magnitude."""
    return rng.normal(size=shape) * 10.0 ** rng.uniform(-decades, 0, shape)


@pytest.mark.parametrize("decades", [0, 5])
@pytest.mark.parametrize("penalty", [0.0, 1.0])
@pytest.mark.parametrize("name", METHODS)
def test_a_singular_mass_matrix_shows_in_the_condition(name, penalty, decades, rng):
    """A motion that the constraints allow and no mass resists, also one in which some joints hardly take part."""
    still = orders(rng, decades, DRAWS, N)
    still /= np.linalg.norm(still, axis=1, keepdims=True)
    others = np.eye(N) - still[:, :, None] * still[:, None]
    J, A = rng.normal(size=(DRAWS, ROWS, N)) @ others, rng.normal(size=(DRAWS, N, N)) @ others
    M = A.swapaxes(1, 2) @ A
    assert not np.any(conditions(name, penalty)(M, J) > POORLY_CONDITIONED)
    held = M + still[:, :, None] * still[:, None]
    assert (
        np.mean(conditions(name, penalty)(held, J) > POORLY_CONDITIONED) > 0.95
    )  # for that reason, and no other


@pytest.mark.parametrize("name", METHODS)
def test_dependent_rows_show_in_the_condition(name, rng):
    """A row that is any sum of the others, whichever it is and however little it has of some."""
    J = rng.normal(size=(DRAWS, ROWS, N))
    J[:, -1:] = orders(rng, 5, DRAWS, 1, ROWS - 1) @ J[:, :-1]
    J = np.array([x[rng.permutation(ROWS)] for x in J])
    assert not np.any(conditions(name)(np.tile(np.eye(N), (DRAWS, 1, 1)), J) > POORLY_CONDITIONED)


@pytest.mark.parametrize("name", METHODS)
def test_what_is_well_conditioned_stays_well_above(name, rng):
    J = (
        rng.normal(size=(DRAWS, ROWS, N)) / 4 + 2 * np.eye(N)[list(PARTITION.dependent)]
    )  # which suits the partition
    A = rng.normal(size=(DRAWS, N, N))
    assert np.all(
        conditions(name, 1.0)(A @ A.swapaxes(1, 2) + np.eye(N), J) > 300 * POORLY_CONDITIONED
    )


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(("actuated", "weights"), [((0, 2, 4, 6, 8), None), ((0, 1, 2, 3, 4), None), (range(8), None), (range(8), range(1, 9))])  # fmt: skip
def test_actuators_and_constraints_give_the_forces_needed_at_least_cost(
    name, actuated, weights, rng
):
    J, needed = rng.normal(size=(ROWS, N)), rng.normal(size=N)
    B = np.eye(N)[:, list(actuated)]
    W = np.diag(list(weights or [1.0] * len(actuated)))
    free = np.linalg.svd(J)[2][ROWS:]  # virtual motions: free B u = free needed, u^T W u least
    A = free @ B @ np.linalg.inv(np.sqrt(W))
    want = np.linalg.inv(np.sqrt(W)) @ np.linalg.pinv(A) @ (free @ needed)
    got = actuator_forces(sx(needed), sx(J), PARTITION, actuated, weights, name)
    np.testing.assert_allclose(numbers(got.forces), want, atol=1e-8)
    np.testing.assert_allclose(
        B @ numbers(got.forces) + J.T @ numbers(got.reaction), needed, atol=1e-8
    )


def test_the_inward_half_of_a_solution_stays_among_ancestors():
    """M of two arms on the ground: what acts on one leaves the other out of its half."""
    pattern = casadi.diagcat(casadi.DM.ones(3, 3), casadi.DM.ones(2, 2)).sparsity()
    M, b = casadi.SX.sym("M", pattern), casadi.SX(5, 1)
    b[1] = casadi.SX.sym("b")
    solver = factors(M)
    assert solver.inward(b).sparsity().row() == [0, 1]
    assert solver.solve(b).sparsity().row() == [0, 1, 2]
