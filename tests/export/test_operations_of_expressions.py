"""How many operations a line has is what SymPy counts, each part looked at once."""

import sympy
from hypothesis import given
from hypothesis import strategies as st

from eslabon.export.sympy_reader import operations
from randomness import examples

x, y, z = sympy.symbols("x y z", real=True)
ATOMS = st.sampled_from(
    [x, y, z, *map(sympy.Rational, ("-3", "-1", "0", "1", "2", "1/2", "-2/3")), sympy.Float("0.37")]
)


def larger(part):
    pairs = st.tuples(part, part)
    return st.one_of(
        pairs.map(lambda p: p[0] + p[1]),
        pairs.map(lambda p: p[0] - p[1]),
        pairs.map(lambda p: p[0] * p[1]),
        pairs.map(lambda p: p[0] / (p[1] if p[1] != 0 else 1)),
        part.map(lambda e: -e),
        part.map(sympy.sin),
        part.map(lambda e: sympy.cos(e) ** 2),
        part.map(lambda e: 1 / e if e != 0 else e),
        pairs.map(
            lambda p: sympy.Piecewise((p[0], p[1] > 0), (0, True)) if p[1].free_symbols else p[0]
        ),
    )


@examples(150)
@given(st.recursive(ATOMS, larger, max_leaves=12))
def test_operations_are_those_that_sympy_counts(e):
    assert operations(e) == e.count_ops()
