"""One vocabulary for numbers and symbols.

Formulas are written once, in scalars. A scalar is a float, a NumPy array of any batch shape, or a
CasADi SX expression. A vector or matrix is a NumPy array whose own axes are the last, or a CasADi
column or matrix. CasADi is imported when a symbol is first used. Zeros that are known when a
symbolic matrix is built are structural zeros.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from eslabon.arguments import Floats, floats
from eslabon.arguments import is_symbolic as is_symbolic
from eslabon.errors import InputError, RotationError

if TYPE_CHECKING:
    import casadi as casadi  # for editors and type checkers
else:

    class _LazyModule(ModuleType):
        """A module that is imported when one of its names is first used."""

        def __getattr__(self, name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)  # inspecting a module does not load it
            module = import_module(self.__name__)
            vars(self).update(vars(module))  # the next access is as fast as in the module
            return getattr(module, name)

        def __dir__(self) -> list[str]:
            return dir(import_module(self.__name__))

    # formulas are imported in every process and traced in few
    casadi = _LazyModule("casadi")

Expression: TypeAlias = "casadi.SX"  # a node of a graph, or a matrix of them
Scalar: TypeAlias = "float | Floats | Expression"  # an array has batch axes only; SX is 1 x 1
Array: TypeAlias = "Floats | Expression"  # a vector or a matrix, with its own axes last
ArrayLike: TypeAlias = (  # the same as users write it: lists and tuples, integers, float32
    "NDArray[np.number[Any]] | Expression | Sequence[Scalar] | Sequence[Sequence[Scalar]]"
)
A = TypeVar("A", Floats, "Expression")  # where what goes in comes out
# What comes out of several arguments is an Expression if any of them is one, and else a number or
# an array. A type variable cannot say that, since constants are numbers beside symbols, and
# overloads would be three signatures for each function of the algebra. So this is left open.
Computed: TypeAlias = Any


def scalar(x: Any, name: str = "") -> Computed:
    """A scalar from whatever stands for a number: 1, [1, 2], numpy.float32(1), a symbol.

    `name` is that of the argument, for messages.
    """
    if not is_symbolic(x):
        return floats(x, name or "a number")[()]
    if x.numel() != 1:
        raise InputError(
            f"{_subject(name)}one number was expected; this expression has {x.numel()}."
        )
    return x


def _subject(name: str) -> str:
    return f"{name}: " if name else ""


def _elements(x: Expression) -> list[Computed]:
    """The entries of a dense expression, column by column: they are SX, whatever the stubs say."""
    return x.elements()


def components(v: ArrayLike, n: int, name: str = "") -> tuple[Scalar, ...]:
    """The n components of a vector, each a scalar. `name` is that of the argument, for messages.

    >>> components([1.0, 2.0, 3.0], 3)
    (1.0, 2.0, 3.0)
    """
    if is_symbolic(v):
        if v.numel() != n:
            raise InputError(
                f"{_subject(name)}a vector of {n} components was expected; "
                f"this one has {v.numel()}."
            )
        return tuple(_elements(v) if v.is_dense() else (v[i] for i in range(n)))
    if isinstance(v, (tuple, list)) and is_symbolic(*v):
        if len(v) != n:
            raise InputError(
                f"{_subject(name)}a vector of {n} components was expected; this one has {len(v)}."
            )
        return tuple(v)
    a = floats(v, name or "a vector")
    if a.ndim == 0 or a.shape[-1] != n:
        raise InputError(
            f"{_subject(name)}a vector of {n} components was expected on the last axis; "
            f"this array has shape {a.shape}."
        )
    return tuple(a[..., i] if a.ndim > 1 else float(a[i]) for i in range(n))


def entries(m: ArrayLike, rows: int, columns: int, name: str = "") -> list[list[Scalar]]:
    """The entries of a matrix, row by row, each a scalar. `name` is that of the argument."""
    if is_symbolic(m):
        if m.shape != (rows, columns):
            raise InputError(
                f"{_subject(name)}a {rows}x{columns} matrix was expected; "
                f"this one is {m.shape[0]}x{m.shape[1]}."
            )
        if m.is_dense():
            each = _elements(m)
            return [each[i::rows] for i in range(rows)]
        return [[m[i, j] for j in range(columns)] for i in range(rows)]
    a = floats(m, name or "a matrix")
    if a.ndim < 2 or a.shape[-2:] != (rows, columns):
        raise InputError(
            f"{_subject(name)}a {rows}x{columns} matrix was expected on the last two axes; "
            f"this array has shape {a.shape}."
        )
    return [[a[..., i, j] for j in range(columns)] for i in range(rows)]


def vector(*components: Scalar) -> Computed:
    """A vector from its components; batch shapes broadcast.

    >>> vector(1.0, 2.0, 3.0)
    array([1., 2., 3.])
    """
    if is_symbolic(*components):
        return casadi.sparsify(casadi.vertcat(*components))
    return np.stack(np.broadcast_arrays(*(np.asarray(c, dtype=float) for c in components)), axis=-1)


def concatenate(*vectors: Array) -> Computed:
    """One vector after another; batch shapes broadcast.

    >>> concatenate(np.array([1.0, 2.0]), np.array([3.0]))
    array([1., 2., 3.])
    """
    if is_symbolic(*vectors):
        return casadi.vertcat(*vectors)
    lead = np.broadcast_shapes(*(np.shape(v)[:-1] for v in vectors))
    return np.concatenate([np.broadcast_to(v, lead + np.shape(v)[-1:]) for v in vectors], axis=-1)


def matrix(rows: Sequence[Sequence[Scalar]]) -> Computed:
    """A matrix from its rows of scalars; batch shapes broadcast."""
    flat = [x for row in rows for x in row]
    if is_symbolic(*flat):
        column = casadi.vertcat(*(row[k] for k in range(len(rows[0])) for row in rows))
        return casadi.sparsify(casadi.reshape(column, len(rows), len(rows[0])))
    stacked = vector(*flat)
    return stacked.reshape(*stacked.shape[:-1], len(rows), len(rows[0]))


def block(rows: Sequence[Sequence[Array]]) -> Computed:
    """A matrix from its rows of blocks; batch shapes broadcast."""
    if is_symbolic(*(b for row in rows for b in row)):
        return casadi.sparsify(casadi.vertcat(*(casadi.horzcat(*row) for row in rows)))
    lead = np.broadcast_shapes(*(np.shape(b)[:-2] for row in rows for b in row))
    return np.block([[np.broadcast_to(b, lead + np.shape(b)[-2:]) for b in row] for row in rows])


def transpose(m: ArrayLike) -> Computed:
    """The transpose over the matrix axes."""
    return m.T if is_symbolic(m) else np.swapaxes(np.asarray(m), -1, -2)


def matmul(*factors: ArrayLike) -> Computed:
    """The product of matrices; batch shapes broadcast.

    Beside symbols, zeros of numeric factors are structural zeros.
    """
    if is_symbolic(*factors):
        symbols = [
            f if isinstance(f, casadi.SX) else casadi.sparsify(casadi.SX(floats(f, "a matrix")))
            for f in factors
        ]
        return reduce(casadi.mtimes, symbols)
    with np.errstate(all="ignore"):
        return reduce(np.matmul, (floats(f, "a matrix") for f in factors))


def times(m: ArrayLike, v: ArrayLike) -> Computed:
    """A matrix times a vector; batch shapes broadcast.

    >>> times([[0.0, -1.0], [1.0, 0.0]], [1.0, 0.0])
    array([0., 1.])
    """
    if is_symbolic(m, v):
        return matmul(m, v)
    return matmul(m, np.asarray(v, dtype=float)[..., None])[..., 0]


def divide_or_zero(x: Any, y: Any) -> Any:
    """x / y on numbers, and zero where y is.

    >>> divide_or_zero(np.array([1.0, 2.0]), np.array([4.0, 0.0]))
    array([0.25, 0.  ])
    """
    nothing = np.asarray(y) == 0
    return np.where(nothing, 0.0, x / np.where(nothing, 1.0, y))[()]


def where(condition: Any, yes: Scalar, no: Scalar) -> Computed:
    """`yes` where the condition holds, `no` elsewhere. Both are evaluated: keep both finite."""
    if is_symbolic(condition, yes, no):
        return casadi.if_else(condition, yes, no)
    chosen: Floats = np.where(condition, yes, no)
    return chosen[()]  # a scalar again, not an array without axes


def _function(numeric: str, symbolic: str) -> Callable[..., Any]:
    def apply(*arguments: Scalar) -> Computed:
        if is_symbolic(*arguments):
            return getattr(casadi, symbolic)(*arguments)
        with np.errstate(all="ignore"):  # NaN in, NaN out, without a warning
            return getattr(np, numeric)(*arguments)

    apply.__name__ = symbolic
    apply.__doc__ = f"`numpy.{numeric}` on numbers, `casadi.{symbolic}` on symbols."
    return apply


sqrt, absolute, sign = (
    _function("sqrt", "sqrt"),
    _function("abs", "fabs"),
    _function("sign", "sign"),
)
tan, atan2 = _function("tan", "tan"), _function("arctan2", "atan2")
acos, asin = _function("arccos", "acos"), _function("arcsin", "asin")
floor = _function("floor", "floor")
exp, log, tanh = _function("exp", "exp"), _function("log", "log"), _function("tanh", "tanh")
maximum, minimum = _function("maximum", "fmax"), _function("minimum", "fmin")
_sin, _cos = _function("sin", "sin"), _function("cos", "cos")

# Two units in the last place, the round-off of degrees in radians and of multiples of pi. Near zero
# there is no such round-off, and a tiny angle is unchanged.
QUARTER_TURN_TOLERANCE = 4.5e-16


def _quarter_turns(angle: float) -> int | None:
    """How many quarter turns a plain number is; None if it is not a whole number of them."""
    turns = angle / (math.pi / 2)
    nearest = round(turns) if math.isfinite(turns) else 0
    exact = abs(angle - nearest * (math.pi / 2)) <= QUARTER_TURN_TOLERANCE * abs(nearest)
    return nearest if exact and abs(nearest) <= 64 else None


def sin(angle: Scalar) -> Computed:
    """The sine; a plain number that is a whole number of quarter turns gives exactly 0 or ±1.

    >>> sin(math.pi), sin(math.pi / 2)
    (0.0, 1.0)
    """
    if isinstance(angle, float) and (turns := _quarter_turns(angle)) is not None:
        return (0.0, 1.0, 0.0, -1.0)[turns % 4]
    return _sin(angle)


def cos(angle: Scalar) -> Computed:
    """The cosine; a plain number that is a whole number of quarter turns gives exactly 0 or ±1.

    >>> cos(math.pi / 2), cos(math.pi)
    (0.0, -1.0)
    """
    if isinstance(angle, float) and (turns := _quarter_turns(angle)) is not None:
        return (1.0, 0.0, -1.0, 0.0)[turns % 4]
    return _cos(angle)


def dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Computed:
    """The scalar product of two tuples of components."""
    total = a[0] * b[0]
    for x, y in zip(a[1:], b[1:], strict=True):
        total = total + x * y
    return total


def cross(a: Sequence[Scalar], b: Sequence[Scalar]) -> tuple[Scalar, Scalar, Scalar]:
    """The vector product of two tuples of components.

    >>> cross((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    (0.0, 0.0, 1.0)
    """
    (a1, a2, a3), (b1, b2, b3) = a, b
    return a2 * b3 - a3 * b2, a3 * b1 - a1 * b3, a1 * b2 - a2 * b1


def norm(components: Sequence[Scalar]) -> Computed:
    """The length of a vector given by its components, without overflow or underflow of numbers.

    >>> float(norm((3e-200, 0.0, 4e-200)))
    5e-200
    """
    if is_symbolic(*components):
        return sqrt(dot(components, components))
    return reduce(np.hypot, components)


# Ten terms of the series leave 1e-19 at s = 1, below the last bit of the first term.
_STUMPFF_TERMS = 10


def stumpff(n: int, s: Scalar) -> Computed:
    """Stumpff's function c_n(s) = sum over k of (-s)^k / (2k + n)!, smooth at s = 0.

    c_0 = cos x, c_1 = sin x / x, c_2 = (1 - cos x) / x², c_3 = (x - sin x) / x³ with x = √s. The
    closed forms cancel for small x, so that the series is used for s < 1. Values and derivatives of
    both agree there to the last bits.

    >>> float(6 * stumpff(3, 0.0)), float(stumpff(1, math.pi**2))
    (1.0, 0.0)
    """
    small = s < 1.0
    # The other branch must be finite, so that its derivative times zero is zero.
    near, far = where(small, s, 0.0), where(small, 1.0, s)
    series = 0.0
    for k in reversed(range(_STUMPFF_TERMS)):
        series = 1 / math.factorial(2 * k + n) - near * series
    return where(small, series, _stumpff_closed(n, far))


def _stumpff_closed(n: int, s: Scalar) -> Computed:
    if n >= 2:
        return (1 / math.factorial(n - 2) - _stumpff_closed(n - 2, s)) / s
    angle = sqrt(s)
    return sin(angle) / angle if n else cos(angle)


def raise_unless(good: Any, noun: str, trouble: str, size: Any = 0.0) -> None:
    """Raise a `RotationError` that names the first entry of the batch for which `good` is false.

    Comparisons with NaN are false, so that NaN always raises. `{}` in `trouble` shows the error's
    size.
    """
    faults = np.argwhere(~np.asarray(good))
    if len(faults):
        index = tuple(int(i) for i in faults[0])
        subject = f"the {noun} at index {index} of the batch" if index else f"this {noun}"
        raise RotationError(
            f"{subject} {trouble.format(np.broadcast_to(size, np.shape(good))[index])}"
        )
