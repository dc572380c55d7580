"""A motion state: one code for trees and closed chains, methods for constraints, terms and checks."""

import math

import casadi
import numpy as np
import pytest

import eslabon as es
from eslabon.compiler.evaluate import evaluate
from eslabon.formulas import dynamics
from eslabon.formulas.constrained.constraint_solvers import (
    METHODS,
    ConstrainedMass,
    Elimination,
    Multipliers,
    NativeMultipliers,
    joint_condition,
)
from eslabon.formulas.kinematics.closure import violation
from eslabon.formulas.motion_state import Method, MotionState
from eslabon.formulas.quantities import QUANTITIES, Checks, quantity
from eslabon.formulas.structure import Partition
from eslabon.solve.constraints.constraint_structure import constraint_structure, structure

N, ROWS = 7, 3
PARTITION = Partition(tuple(range(ROWS)), (0, 3, 4, 6), (1, 2, 5))
ALL_FREE = Partition((), tuple(range(N)), ())


def sx(x):
    return casadi.SX(casadi.DM(x))


def numbers(x):
    return np.array(casadi.evalf(x))


def symbols(m):
    return casadi.SX.sym("q", m.nq), casadi.SX.sym("v", m.nv)


def state(m, **method):
    return MotionState(m, *symbols(m), Method(structure=structure(m), **method))


# -- a tree is the case of no rows -----------------------------------------------------------------


@pytest.mark.parametrize("columns", [1, 4])
@pytest.mark.parametrize("name", METHODS)
def test_without_rows_every_method_solves_with_the_mass_matrix_alone(name, columns, rng):
    A, f = rng.normal(size=(N, N)), rng.normal(size=(N, columns))
    M = A @ A.T + np.eye(N)
    solver = METHODS[name](ConstrainedMass(sx(M), casadi.SX(0, N), ALL_FREE), columns)
    a, reaction = solver.solve(sx(f), casadi.SX(0, columns))
    np.testing.assert_allclose(numbers(a), np.linalg.solve(M, f), atol=1e-12)
    assert reaction.shape[0] == 0
    np.testing.assert_allclose(
        numbers(solver.compensate(sx(f), casadi.SX(0, columns))), -np.linalg.solve(M, f), atol=1e-12
    )


def test_without_rows_native_factors_are_the_same_factors(rng):
    A, f = rng.normal(size=(N, N)), rng.normal(size=(N, 2 * N))
    c = ConstrainedMass(sx(A @ A.T + np.eye(N)), casadi.SX(0, N), ALL_FREE, floor=(1e-3,) * N)
    ways = [Multipliers(c), NativeMultipliers(c, 1000)]
    one, other = (numbers(way.compensate(sx(f), casadi.SX(0, 2 * N))) for way in ways)
    np.testing.assert_allclose(one, other, atol=1e-12)
    one, other = (float(casadi.evalf(way.condition)) for way in ways)
    assert one == pytest.approx(other, rel=1e-12)


@pytest.mark.parametrize("name", ["elbow", "puma560", "flyball_governor"])
def test_forward_dynamics_of_a_tree_takes_as_much_by_every_method(name, library):
    """No rows cost nothing: the graph is that of M a = f, whatever would impose them."""
    m = library(name)
    tau, counts = casadi.SX.sym("tau", m.nu), set()
    for method in ("multipliers", "elimination"):
        s = state(m, constraints=method)
        solver = s.solver()
        a, _ = solver.solve(s.actuation(tau) - s.equations.h, s.closure.gamma)
        counts.add(casadi.Function("f", [s.q, s.v, tau], casadi.cse([a])).n_instructions())
    assert len(counts) == 1


# -- methods ---------------------------------------------------------------------------------------


def test_elimination_is_equation_4_of_diaz(rng):
    """S v_i' = f_i - X^T f_e + (X^T D_ee - D_ie) Phi_e^-1 b with X = Phi_e^-1 Phi_i."""
    A, J = rng.normal(size=(N, N)), rng.normal(size=(ROWS, N))
    D, f, b = A @ A.T + np.eye(N), rng.normal(size=N), rng.normal(size=ROWS)
    i, e = list(PARTITION.independent), list(PARTITION.dependent)
    X, drift = np.linalg.solve(J[:, e], J[:, i]), np.linalg.solve(J[:, e], b)
    D_ii, D_ie, D_ei, D_ee = (D[np.ix_(*x)] for x in ((i, i), (i, e), (e, i), (e, e)))
    S = D_ii + X.T @ D_ee @ X - D_ie @ X - X.T @ D_ei
    right = f[i] - X.T @ f[e] + (X.T @ D_ee - D_ie) @ drift
    found = Elimination(ConstrainedMass(sx(D), sx(J), PARTITION))
    a = numbers(found.solve(sx(f), sx(b))[0])[:, 0]
    np.testing.assert_allclose(a[i], np.linalg.solve(S, right), atol=1e-9)
    np.testing.assert_allclose(a[e], drift - X @ a[i], atol=1e-9)
    N_ = numbers(found.N)
    np.testing.assert_allclose(N_.T @ D @ N_, S, atol=1e-9)


@pytest.mark.parametrize("columns", [1, 5])
@pytest.mark.parametrize("name", METHODS)
def test_columns_are_solved_as_one_by_one(name, columns, rng):
    A, J = rng.normal(size=(N, N)), rng.normal(size=(ROWS, N))
    c = ConstrainedMass(sx(A @ A.T + np.eye(N)), sx(J), PARTITION)
    f, gamma = rng.normal(size=(N, columns)), rng.normal(size=(ROWS, columns))
    together = [numbers(x) for x in METHODS[name](c, columns).solve(sx(f), sx(gamma))]
    for k in range(columns):
        alone = METHODS[name](c, 1).solve(sx(f[:, k]), sx(gamma[:, k]))
        for one, every in zip(alone, together, strict=True):
            np.testing.assert_allclose(numbers(one)[:, 0], every[:, k], atol=1e-10)


# -- checks ----------------------------------------------------------------------------------------


def test_no_number_in_any_residual_or_condition_shows():
    """`fmin` and `fmax` would pass over it."""
    m, none = es.load("five_bar"), casadi.SX(2, 1)
    v = casadi.SX(m.nv, 1)
    for k in range(3):
        residual = casadi.SX([0.0, 1e-9, 0.0])
        residual[k] = math.nan
        assert math.isnan(float(violation(m, residual, none, v)))
        assert math.isnan(float(violation(m, none, residual, v)))
        assert math.isnan(float(violation(m, none, none, v, residual)))
    assert math.isnan(float(joint_condition(casadi.SX(math.nan), casadi.SX(1.0))))
    assert math.isnan(float(joint_condition(casadi.SX(1.0), casadi.SX(math.nan))))


def test_only_the_checks_of_a_row_depend_on_loops():
    for row in QUANTITIES.values():
        tree, closed = row.formula(closed=False), row.formula(closed=True)
        assert tree.function is closed.function is row.function
        assert tree.outputs == closed.outputs
        assert [x.name for x in closed.checks] in ([], ["residual", "condition"])
        assert [x.name for x in tree.checks] in ([], ["condition"])
        assert bool(closed.checks) is (row.checks is not Checks.NONE)
        assert row.formula(closed=True) is closed


@pytest.mark.parametrize("name", ["elbow", "five_bar", "cart_pole", "slider_crank"])
def test_functions_give_as_many_numbers_as_their_rows_say(name, library):
    m = library(name)
    for word, row in QUANTITIES.items():
        if row.of_loops:
            continue
        formula = quantity(m, word)
        given = [casadi.SX.sym(x.name, *x.shape(m)) for x in formula.inputs]
        known = constraint_structure(m) if formula.needs else {}
        frame = {"frame": m.bodies[-1].name} if "frame" in formula.options else {}
        found = formula.function(m, *given, **known, **frame)
        count = len(found) if isinstance(found, list) else 1
        assert count == len(formula.outputs) + len(formula.checks), word


# -- what is known of a mechanism -----------------------------------------------------------------


def test_formulas_of_dynamics_do_not_find_the_structure_themselves():
    """Who asks brings the rule, which is a part of the key; other formulas leave it out."""
    m = es.load("elbow")
    with pytest.raises(TypeError, match="forward_dynamics needs structure: pass prepare"):
        evaluate(m, quantity(m, "forward_dynamics"))
    pose = quantity(m, "pose")
    at = {"frame": "tool"}
    assert evaluate(m, pose, prepare=constraint_structure, **at) is evaluate(m, pose, **at)


@pytest.mark.parametrize(
    ("name", "count"), [("five_bar", 0), ("cart_pole", 1), ("rssr", 1), ("elbow", 0)]
)
def test_passive_motions_are_those_that_no_actuator_drives(name, count, library):
    m = library(name)
    known = structure(m)
    assert len(known.passive) == count
    assert set(known.passive) <= set(known.partition.independent)
    assert not set(known.passive) & set(m.actuated_velocities)


def test_terms_are_built_once_and_only_when_asked_for(library):
    s = state(library("five_bar"))
    assert not {"equations", "closure", "wrenches"} & vars(s).keys()
    s.joint_forces(casadi.SX.sym("a", s.m.nv))
    assert not {"equations", "closure"} & vars(s).keys()
    dynamics.forward_dynamics(s, casadi.SX.sym("tau", s.m.nu))
    assert {"equations", "closure"} <= vars(s).keys()
    assert s.equations is s.equations
    assert s.closure is s.closure
