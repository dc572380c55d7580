"""The vocabulary: one formula for floats, batches and symbols."""

import math
import subprocess
import sys
from pathlib import Path

import casadi
import numpy as np
import pytest

from batches import each
from eslabon.errors import RotationError
from eslabon.numerics import scalars


def evaluate(expression, **values):
    """A symbolic expression with numbers put in, through a compiled casadi.Function."""
    symbols = casadi.symvar(expression)
    return np.array(
        casadi.Function("f", symbols, [casadi.densify(expression)])(
            *(values[s.name()] for s in symbols)
        )
    )


def test_the_room_is_entered_without_casadi_or_scipy():
    # A bare package stands in for eslabon, so that only this room's own imports count.
    code = f"""if True:
        import sys, types
        sys.modules["eslabon"] = types.ModuleType("eslabon")
        sys.modules["eslabon"].__path__ = [{str(Path(scalars.__file__).parents[1])!r}]
        import eslabon.numerics
        print({{"casadi", "scipy"}} & set(sys.modules))"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


def test_components_of_vectors_of_every_kind():
    x = casadi.SX.sym("x", 3)
    assert scalars.components([1, 2, 3], 3) == (1.0, 2.0, 3.0)
    assert [p.shape for p in scalars.components(np.ones((5, 2, 3)), 3)] == [(5, 2)] * 3
    assert [casadi.is_equal(p, x[i]) for i, p in enumerate(scalars.components(x, 3))] == [True] * 3
    assert scalars.components((0.0, x[1], 1.0), 3)[2] == 1.0


@each("value", [[1.0, 2.0], 3.0, np.ones((3, 2)), casadi.SX.sym("x", 2), (casadi.SX.sym("x"), 1.0)])
def test_a_vector_of_the_wrong_size_is_told_so(value):
    with pytest.raises(ValueError, match="a vector of 3 components was expected"):
        scalars.components(value, 3)


@each("value", [np.eye(2), np.ones(3), casadi.SX.sym("m", 3, 2)])
def test_a_matrix_of_the_wrong_size_is_told_so(value):
    with pytest.raises(ValueError, match="a 3x3 matrix was expected"):
        scalars.entries(value, 3, 3)


def test_scalars_come_as_users_write_them():
    assert isinstance(scalars.scalar(1), float)
    assert isinstance(scalars.scalar(np.float32(1)), float)
    assert scalars.scalar([1, 2]).dtype == float
    assert scalars.is_symbolic(scalars.scalar(casadi.SX.sym("x")))


def test_known_zeros_are_structural_in_symbols():
    x = casadi.SX.sym("x")
    assert scalars.vector(0.0, x, 0.0).nnz() == 1
    assert scalars.matrix([[1.0, 0.0], [0.0, x]]).nnz() == 2
    assert scalars.block([[np.zeros((2, 2)), scalars.matrix([[x, 0.0], [0.0, x]])]]).nnz() == 2
    assert scalars.matmul(np.diag([1.0, 0.0]), casadi.SX.sym("m", 2, 2)).nnz() == 2
    assert scalars.times(np.diag([1.0, 0.0]), casadi.SX.sym("v", 2)).nnz() == 1


def test_batch_shapes_broadcast():
    many, one = np.arange(5.0), 2.0
    assert scalars.vector(many, one).shape == (5, 2)
    assert scalars.matrix([[many, one], [one, many]])[3].tolist() == [[3.0, 2.0], [2.0, 3.0]]
    assert scalars.block([[np.ones((4, 1, 2, 2)), np.zeros((3, 2, 1))]]).shape == (4, 3, 2, 3)
    assert scalars.times(np.ones((4, 1, 2, 3)), np.ones((5, 3))).shape == (4, 5, 2)
    assert scalars.matmul(np.ones((4, 1, 2, 3)), np.ones((5, 3, 2))).shape == (4, 5, 2, 2)
    assert scalars.transpose(np.ones((4, 2, 3))).shape == (4, 3, 2)


def test_where_gives_scalars_for_scalars_and_follows_symbols():
    x = casadi.SX.sym("x")
    assert isinstance(scalars.where(True, 1.0, 2.0), float)
    assert scalars.where(np.array([True, False]), 1.0, 2.0).tolist() == [1.0, 2.0]
    assert [evaluate(scalars.where(x > 0, x, 7.0), x=v).item() for v in (3.0, -3.0)] == [3.0, 7.0]


@each(
    ("function", "reference", "arguments"),
    [
        (scalars.sqrt, math.sqrt, (2.0,)),
        (scalars.absolute, abs, (-2.0,)),
        (scalars.sign, lambda v: math.copysign(1.0, v), (-2.0,)),
        (scalars.tan, math.tan, (0.3,)),
        (scalars.sin, math.sin, (0.3,)),
        (scalars.cos, math.cos, (0.3,)),
        (scalars.acos, math.acos, (0.3,)),
        (scalars.asin, math.asin, (0.3,)),
        (scalars.atan2, math.atan2, (0.3, -0.2)),
        (scalars.maximum, max, (0.3, -0.2)),
        (scalars.minimum, min, (0.3, -0.2)),
    ],
)
def test_functions_mean_the_same_on_numbers_batches_and_symbols(function, reference, arguments):
    expected = reference(*arguments)
    symbols = [casadi.SX.sym(f"s{i}") for i in range(len(arguments))]
    symbolic = evaluate(function(*symbols), **{f"s{i}": a for i, a in enumerate(arguments)}).item()
    assert function(*arguments) == pytest.approx(expected, rel=1e-15)
    assert function(*(np.array([a, a]) for a in arguments)) == pytest.approx(
        [expected] * 2, rel=1e-15
    )
    assert symbolic == pytest.approx(expected, rel=1e-15)


@each("turns", range(-9, 10))
def test_whole_quarter_turns_are_exact(turns):
    angle = turns * math.pi / 2
    assert (scalars.cos(angle), scalars.sin(angle)) == [(1, 0), (0, 1), (-1, 0), (0, -1)][turns % 4]
    assert scalars.sin(angle + 1e-9) != scalars.sin(angle) or turns % 2


@each("angle", [1e-300, 1e-17, -3e-16, 1e-9])
def test_tiny_angles_are_not_rounded_away(angle):
    assert scalars.sin(angle) == angle


@each("angle", [math.nan, math.inf])
def test_trigonometry_passes_what_is_not_finite_to_numpy(angle):
    with np.errstate(invalid="ignore"):
        assert np.isnan(scalars.sin(angle))
        assert np.isnan(scalars.cos(angle))


def test_norm_neither_overflows_nor_underflows():
    assert scalars.norm((3e300, 4e300)) == pytest.approx(5e300, rel=1e-15)
    assert scalars.norm((3e-300, 4e-300)) == pytest.approx(5e-300, rel=1e-15)
    x = casadi.SX.sym("x", 2)
    assert evaluate(scalars.norm((x[0], x[1])), x_0=3, x_1=4).item() == 5


STUMPFF = {  # c_n(x²) in exact arithmetic is the tail of the exponential's even or odd series
    n: lambda x, n=n: sum(
        (-1) ** k * x ** (2 * k) / math.factorial(2 * k + n) for k in reversed(range(40))
    )
    for n in range(5)
}


@each("n", range(5))
def test_stumpff_agrees_with_its_series_and_joins_smoothly(n):
    x = np.concatenate([[0.0, 1e-200, 1e-9, 1e-4], np.linspace(0.01, 3.2, 400)])
    expected = np.array([STUMPFF[n](v) for v in x])
    # The closed form starts at x = 1, where c_4 has lost one digit in its difference.
    assert scalars.stumpff(n, x * x) == pytest.approx(
        expected, rel=0, abs=2e-15 * STUMPFF[n](0.0) * 2
    )


@each("n", range(1, 5))
@each("s", [0.0, 1e-12, 0.5, 0.999999, 1.000001, 4.0])
def test_stumpff_is_differentiable_through_zero(n, s):
    x = casadi.SX.sym("x")
    slope = evaluate(casadi.densify(casadi.jacobian(scalars.stumpff(n, x), x)), x=s).item()
    terms = ((-1) ** k * k * s ** (k - 1) / math.factorial(2 * k + n) for k in range(1, 30))
    assert slope == pytest.approx(math.fsum(terms), rel=2e-14)


def test_require_says_which_member_of_a_batch_is_at_fault():
    scalars.raise_unless(np.array([True, True]), "thing", "is bad.")
    with pytest.raises(RotationError, match=r"^this thing is off by 0\.5\.$"):
        scalars.raise_unless(np.bool_(False), "thing", "is off by {}.", 0.5)
    size = np.array([[0.0, 0.0], [0.25, 0.0]])
    with pytest.raises(
        RotationError, match=r"^the thing at index \(1, 0\) of the batch is off by 0\.25\.$"
    ):
        scalars.raise_unless(size == 0, "thing", "is off by {}.", size)


def test_products_of_components():
    assert scalars.dot((1.0, 2.0, 3.0), (4.0, 5.0, 6.0)) == 32.0
    assert scalars.cross((1.0, 2.0, 3.0), (4.0, 5.0, 6.0)) == tuple(np.cross([1, 2, 3], [4, 5, 6]))
