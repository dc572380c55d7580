"""How much arithmetic a graph needs.

A square counts as one multiplication, a doubling as one addition, a reciprocal as one division, and
a change of sign as nothing, since it is merged into the addition or product it meets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from typing import Any

from eslabon.answers import Answer, Column, Table
from eslabon.compiler.program import read, simplified

_KINDS = {
    **dict.fromkeys(("mul", "sq"), "multiplications"),
    **dict.fromkeys(("add", "sub", "twice"), "additions"),
    **dict.fromkeys(("div", "inv"), "divisions"),
    **dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "atan", "atan2"), "trigonometric"),
    "sqrt": "square_roots",
    **dict.fromkeys(("input", "output", "const", "neg"), ""),
}


@dataclass(frozen=True)
class Operations(Answer):
    """Numbers of operations by kind; subtractions are among the additions, inverse functions among
    the trigonometric.

    >>> import eslabon as es
    >>> es.load("puma560").operations("inverse_dynamics").trigonometric
    10
    """

    multiplications: int = 0
    additions: int = 0
    divisions: int = 0
    trigonometric: int = 0
    square_roots: int = 0
    other: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return sum(astuple(self))

    def contents(self) -> Iterator[Table]:
        """A row for each kind, and the total.

        >>> print(Operations(multiplications=4, additions=2))
        operations       number
        multiplications       4
        additions             2
        divisions             0
        trigonometric         0
        square roots          0
        other                 0
        total                 6
        """
        rows = [(f.name.replace("_", " "), getattr(self, f.name)) for f in fields(self)]
        yield Table((Column("operations"), Column("number")), [*rows, ("total", self.total)])


def count(f: Any) -> Operations:
    """The operations of a `casadi.Function`, after common subexpressions are shared.

    >>> import casadi
    >>> x = casadi.SX.sym("x", 3)
    >>> count(casadi.Function("norm", [x], [casadi.norm_2(x)]))
    Operations(multiplications=3, additions=2, divisions=0, trigonometric=0, square_roots=1, other=0)
    """
    kinds = Counter(_KINDS.get(i.name, "other") for i in read(simplified(f)).instructions)
    del kinds[""]
    return Operations(**kinds)
