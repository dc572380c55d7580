"""Linear equations without pivoting: sparse orthogonal factors lose no more digits than the condition number takes."""

import casadi
import mpmath
import numpy as np
import pytest

import eslabon as es
from eslabon.formulas.kinematics.closure import equations
from eslabon.formulas.linear_solvers import FEW, OrthogonalFactors
from eslabon.solve.constraints.constraint_structure import structure
from randomness import seeded

CONDITIONS = [1e2, 1e4, 1e6, 1e8]
DIGITS = 50  # of the reference


def platform_pattern():
    """Where J_e of a six-legged platform has entries."""
    m = es.load("stewart_gough")
    p = structure(m).partition
    J = equations(m, casadi.SX.sym("q", m.nq), None, p.rows).J[:, list(p.dependent)]
    return np.array(casadi.DM(casadi.sparsify(J).sparsity(), 1))


def with_condition(rng, pattern, condition):
    """A matrix with entries of a pattern: one of them is moved almost to where the matrix is singular."""
    for _ in range(1000):
        A = pattern * rng.normal(size=pattern.shape)
        i, j = rng.permutation(np.argwhere(pattern))[0]
        A[i, j] -= 1 / np.linalg.inv(A)[j, i]
        U, sizes, Vt = np.linalg.svd(A)
        A[i, j] += sizes[0] / condition / abs(U[i, -1] * Vt[-1, j])
        if condition / 3 < np.linalg.cond(A) < 3 * condition:
            return A
    raise AssertionError("no such matrix in a thousand")


def solutions(A, *sides, many=False):
    """The solutions of A x = b and A^T x = c, with the condition, by the graph of A's pattern."""
    numbers = casadi.sparsify(casadi.DM(A))
    symbols = casadi.SX.sym("A", numbers.sparsity())
    given = OrthogonalFactors(symbols)
    given = given.for_many() if many else given
    b, c = (casadi.SX.sym(name, *x.shape) for name, x in zip("bc", sides, strict=True))
    made = [given.solve(b), given.solve_transposed(c), given.condition()]
    f = casadi.Function("f", [symbols, b, c], [casadi.densify(x) for x in made])
    x, y, condition = (np.array(z) for z in f(numbers, *sides))
    return x, y, condition.item()


def exact(A, b):
    with mpmath.workdps(DIGITS):
        return np.column_stack(
            [np.array(mpmath.lu_solve(mpmath.matrix(A), mpmath.matrix(x)), float) for x in b.T]
        )


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("seed", range(3))
def test_digits_are_lost_to_the_condition_number_alone(condition, seed):
    rng = seeded("platform", condition, seed)
    A = with_condition(rng, platform_pattern(), condition)
    n, cond = len(A), np.linalg.cond(A)
    b, c = rng.normal(size=(n, 2)), rng.normal(size=(n, 3))
    x, y, found = solutions(A, b, c)
    for got, want in ((x, exact(A, b)), (y, exact(A.T, c))):
        assert np.linalg.norm(got - want) < 1e-14 * cond * np.linalg.norm(want)
    assert 1 / (n * cond) < found < 10 * n / cond


def test_rows_in_excess_are_met_by_least_squares_and_unknowns_in_excess_by_the_least_of_them():
    rng = seeded("tall")
    A = rng.normal(size=(7, 4)) * (rng.random(size=(7, 4)) < 0.6)
    b, c = rng.normal(size=(7, 1)), rng.normal(size=(4, 1))
    x, y, _ = solutions(A, b, c)
    np.testing.assert_allclose(x, np.linalg.lstsq(A, b, rcond=None)[0], atol=1e-12)
    np.testing.assert_allclose(y, np.linalg.lstsq(A.T, c, rcond=None)[0], atol=1e-12)


@pytest.mark.parametrize("size", [1, 2, FEW, FEW + 1])
def test_for_many_sides_it_is_the_same(size):
    rng = seeded("many", size)
    A, b = rng.normal(size=(size, size)), rng.normal(size=(size, 3))
    for one, other in zip(solutions(A, b, b), solutions(A, b, b, many=True), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def of_full_pattern(A, b):
    """The same with every entry in the pattern, whatever its number."""
    symbols, side = casadi.SX.sym("A", *A.shape), casadi.SX.sym("b", *b.shape)
    given = OrthogonalFactors(symbols)
    f = casadi.Function(
        "f", [symbols, side], [given.solve(side), given.solve_transposed(side), given.condition()]
    )
    x, y, condition = (np.array(z) for z in f(A, b))
    return x, y, condition.item()


@pytest.mark.parametrize("turned", [1.0, -1.0])
def test_an_entry_of_zero_at_the_pivot_does_no_harm(turned):
    x, y, condition = of_full_pattern(
        np.array([[0.0, 1.0], [turned, 0.0]]), np.array([[2.0], [3.0]])
    )
    np.testing.assert_allclose(x, [[3 * turned], [2]], rtol=1e-14)
    np.testing.assert_allclose(y, [[3], [2 * turned]], rtol=1e-14)
    assert condition == pytest.approx(np.sqrt(0.5))


@pytest.mark.parametrize(
    "A", [np.ones((2, 2)), np.zeros((2, 2)), [[0, 1], [0, 2]], [[1, np.nan], [0, 1]]]
)
def test_a_singular_matrix_and_one_of_no_numbers_show(A):
    assert not of_full_pattern(np.array(A, float), np.ones((2, 1)))[2] > 1e-15


def test_a_column_without_entries_shows():
    A = casadi.SX(2, 2)
    A[:, 1] = casadi.SX.sym("a", 2)
    f = casadi.Function("f", casadi.symvar(A), [OrthogonalFactors(A).condition()])
    assert not float(f(1.0, 2.0)) > 0
    assert float(OrthogonalFactors(casadi.SX(0, 0)).condition()) == 1


def test_the_sign_of_a_row_or_column_changes_no_condition():
    rng = seeded("signs")
    A, b = rng.normal(size=(5, 5)), np.ones((5, 1))
    want = solutions(A, b, b)[2]
    assert solutions(A * [[1], [-1], [-1], [1], [-1]], b, b)[2] == pytest.approx(want, rel=1e-9)
