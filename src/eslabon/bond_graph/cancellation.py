"""Which entries of a matrix of symbols vanish whatever the symbols are, such as sin(q) p cos(q) -
cos(q) p sin(q).

An entry vanishes only where its own terms cancel: where their sum, at random values of the symbols,
is round-off of the terms themselves. So no unit matters, and a single term never vanishes. What is
zero on a range only, as `abs(x) + x` is, is looked at with another function in place of `abs`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from eslabon.compiler.program import Program, read
from eslabon.numerics.scalars import Expression, casadi

SAMPLES = 3
ROUND_OFF = 1e-13  # of the terms of an entry
# Functions that are constant, or round to a constant, on a range.
FLAT = frozenset(
    [
        "fabs",
        "sign",
        "fmin",
        "fmax",
        "tanh",
        "floor",
        "ceil",
        "erf",
        "lt",
        "le",
        "eq",
        "ne",
        "not",
        "and",
        "or",
        "if_else_zero",
        "if_else",
    ]
)
_Pair = tuple[float, float]  # a value, and the size of the terms that it is the sum of

_SUMS: dict[str, Callable[[float, float], float]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
}
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "pow": lambda a, b: a**b,
    "constpow": lambda a, b: a**b,
    "atan2": math.atan2,
    "hypot": math.hypot,
    "copysign": math.copysign,
    "sqrt": math.sqrt,
    **{
        name: getattr(math, name)
        for name in ("sin", "cos", "tan", "asin", "acos", "atan", "exp", "log", "sinh", "cosh")
    },
}


def without_cancelled(matrix: Expression) -> Expression:
    """The matrix without the entries that vanish whatever the symbols are.

    >>> q, p = casadi.SX.sym("q"), casadi.SX.sym("p")
    >>> rows = casadi.horzcat(casadi.sin(q) * p - p * casadi.sin(q), 1e-20 * p, casadi.fabs(q) - q)
    >>> without_cancelled(rows).nnz()
    2
    """
    free = casadi.symvar(matrix)
    kept = np.zeros(matrix.nnz(), dtype=bool)
    if len(kept) and not free:
        kept[:] = True  # a number is what it is
    if free:
        nonzeros = casadi.densify(casadi.SX(casadi.Sparsity.dense(matrix.nnz(), 1), matrix.nz[:]))
        program = read(casadi.Function("entries", [casadi.vertcat(*free)], [nonzeros]))
        for seed in range(SAMPLES):
            kept |= _differ(program, np.random.default_rng(seed).uniform(0.3, 0.7, len(free)))
    rows, columns = matrix.sparsity().get_triplet()
    made = casadi.SX(*matrix.shape)
    if kept.all():
        return casadi.sparsify(matrix)
    for i, k in [(i, k) for i, k, own in zip(rows, columns, kept, strict=True) if own]:
        made[i, k] = matrix[i, k]
    return casadi.sparsify(made)


def _differ(program: Program, values: np.ndarray) -> np.ndarray:
    """Which outputs are more than round-off of their terms, at some values of the inputs."""
    found: list[_Pair] = []
    out = np.zeros(math.prod(program.output_shapes[0]), dtype=bool)
    for step in program.instructions:
        if step.name == "output":
            value, size = found[step.args[0]]
            out[step.place[1]] = not abs(value) <= ROUND_OFF * size
            found.append((value, size))
        elif step.name == "input":
            x = float(values[step.place[1]])
            found.append((x, abs(x)))
        elif step.name == "const":
            found.append((step.value, abs(step.value)))
        else:
            found.append(_applied(step.name, [found[k] for k in step.args]))
    return out


def _applied(name: str, given: list[_Pair]) -> _Pair:
    """An operation on values and the sizes of their terms."""
    (a, size), (b, other) = given[0], given[-1]
    try:
        if name in _SUMS:
            return _SUMS[name](a, b), size + other
        if name == "mul":
            return a * b, size * other
        if name == "div":
            return a / b, size / abs(b) * max(1.0, other / abs(b))
        if name == "inv":
            return 1 / a, size / a**2
        if name in ("neg", "assign", "twice", "sq"):
            factor = {"neg": -1.0, "assign": 1.0, "twice": 2.0, "sq": a}[name]
            return factor * a, size * (size if name == "sq" else abs(factor))
        values = [x for x, _ in given]
        if name in FLAT or name not in _FUNCTIONS:  # another function, with no such range
            x = 0.6 + 0.3 * math.sin(sum((k + 7.3) * v for k, v in enumerate(values)) + len(name))
        else:
            x = _FUNCTIONS[name](*values)
        return (x, abs(x)) if isinstance(x, float) and math.isfinite(x) else (math.nan, 1.0)
    except (ArithmeticError, ValueError):
        return math.nan, 1.0
