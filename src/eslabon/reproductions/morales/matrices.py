"""Printed matrices beside computed ones, and the names of the print as SymPy symbols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eslabon.language import phrase
from eslabon.reproductions.comparison import Row
from eslabon.reproductions.verdicts import formula, statement


def letters(*names: str) -> dict[str, Any]:
    """Symbols as eslabon prints them, with the functions that the print uses."""
    import sympy

    return {name: sympy.Symbol(name, real=True) for name in names}


def read(text: str, names: Mapping[str, Any]) -> Any:
    """A printed formula."""
    import sympy

    return sympy.parse_expr(text, local_dict=dict(names))


def block(
    what: str,
    printed: Sequence[str],
    computed: Any,
    names: Mapping[str, Any],
    reasons: Mapping[tuple[int, int], str] | None = None,
) -> list[Row]:
    """The entries of a printed matrix, given by rows of texts with blanks between them.

    Those that agree share a row; each other one has its own, with what is known of it.
    """
    import sympy

    entries = [row.split() for row in printed]
    shape = len(entries), len(entries[0])
    if shape != computed.shape:
        raise ValueError(f"{what} is printed {shape}, and computed {computed.shape}")
    places = [(i, j) for i in range(shape[0]) for j in range(shape[1])]
    unequal = [
        (i, j)
        for i, j in places
        if sympy.simplify(read(entries[i][j], names) - computed[i, j]) != 0
    ]
    right = len(places) - len(unequal)
    rows = []
    if right:
        says = f"{shape[0]} x {shape[1]}" if not unequal else f"{right} of {len(places)} entries"
        rows.append(statement(what, says, "the same", 0.0))
    for i, j in unequal:
        reason = (reasons or {}).get((i + 1, j + 1), "")
        rows.append(
            formula(
                phrase("{what}, ({i},{j})", what=what, i=i + 1, j=j + 1),
                entries[i][j],
                computed[i, j],
                dict(names),
                reason=reason,
            )
        )
    return rows


def arranged(
    matrix: Any,
    rows: Sequence[str],
    columns: Sequence[str],
    by: tuple[Sequence[str], Sequence[str]],
) -> Any:
    """The rows and columns of these names, of a matrix whose own are `by`."""
    first, second = (
        [list(own).index(name) for name in wanted]
        for own, wanted in zip(by, (rows, columns), strict=True)
    )
    return matrix.extract(first, second)
