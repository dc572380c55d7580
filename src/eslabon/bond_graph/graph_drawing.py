"""A description drawn piece by piece, by what writes graphs itself: unique names, numbered bonds,
values from symbols.

Moduli are CasADi matrices of symbols that carry the names of parameters, states and bond variables.
They become expressions, the long ones chains of definitions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any

from eslabon.bond_graph.definitions import Chain, Definitions
from eslabon.bond_graph.elements import RESERVED, Bond, Description, Element, Value
from eslabon.model.parameter_expressions import Number, ParameterExpression, parameter
from eslabon.numerics.scalars import Expression, casadi


def identifier(name: str) -> str:
    """A name of letters, digits and underscores, which bonds need."""
    return re.sub(r"\W", "_", name)


class Drawing:
    """Elements and bonds as they are drawn."""

    def __init__(self, name: str, parameters: Iterable[tuple[str, Number]] = ()) -> None:
        self.name, self.parameters = name, tuple(parameters)
        self.elements: dict[str, Element] = {}
        self.bonds: dict[str, Bond] = {}
        taken = {name for name, _ in self.parameters}
        self.definitions = Definitions(n for k in count(1) if (n := f"part_{k}") not in taken)

    def value(self, x: Expression) -> Value:
        """A matrix of symbols as a value of an element: a number or an expression, or a matrix of
        these."""
        rows = self.definitions.matrix(x)
        return rows[0][0] if len(rows) == len(rows[0]) == 1 else rows

    def element(self, name: str, kind: str, given: Value | None = None, **more: Any) -> str:
        """Add an element; another name is found where this one is taken."""
        while name in self.elements:
            name += "_"
        self.elements[name] = Element(name, kind, given, **more)
        return name

    def bond(self, tail: str, head: str, name: str = "") -> Bond:
        """Add a bond, numbered if it has no name."""
        name = name or str(len(self.bonds) + 1)
        while name in self.bonds:
            name += "_"
        self.bonds[name] = Bond(name, tail, head)
        return self.bonds[name]

    def two_port(
        self, kind: str, name: str, into: Sequence[str], modulus: Expression, out: Sequence[str]
    ) -> list[str]:
        """A transformer, f_out = M f_in, or a gyrator, e_out = M f_in, from some elements to
        others, without the rows and columns that are zero; modulated where its modulus is not
        constant. The elements that it leads to come back."""
        M = casadi.sparsify(modulus)
        rows, columns = (sorted(set(own)) for own in (M.sparsity().row(), M.sparsity().get_col()))
        if not M.nnz():
            return []
        given = self.value(M[rows, columns])
        names = Chain(self.definitions.made).names_in(given)
        constant = set(names) <= {n for n, _ in self.parameters}
        made = self.element(name, kind.removeprefix("M") if constant else kind, given)
        for k in columns:
            self.bond(into[k], made)
        for i in rows:
            self.bond(made, out[i])
        return [out[i] for i in rows]

    def constant(self, name: str, given: Number) -> Number:
        """A number that a constitutive law may use: one that names what laws call their own becomes
        a parameter by itself."""
        if not (isinstance(given, ParameterExpression) and {*given.names()} & {*RESERVED}):
            return given
        self.parameters = (*self.parameters, (name, given))
        return parameter(name)

    def description(self, note: str = "") -> Description:
        return Description(
            self.name,
            tuple(self.elements.values()),
            tuple(self.bonds.values()),
            self.parameters,
            note,
            tuple(self.definitions.made.items()),
        )
