"""Vector bonds put into single ones: an element of some width stands for as many, and its bonds for
as many each.

The elements of `{"kind": "1", "width": 3}` are called `v_1`, `v_2`, `v_3`, the bonds of bond 4
`4_1`, `4_2`, `4_3`. Fields and multiport transformers have a matrix or an energy function instead
of a width: each bond of a vector bond is a port of theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from eslabon.bond_graph.elements import Bond, Description, Element
from eslabon.errors import ModelError


def widened(d: Description) -> Description:
    """The description with as many elements and bonds as its widths say."""
    if all(x.width == 1 for x in d.elements):
        return d
    elements = {x.name: x for x in d.elements}
    return replace(
        d,
        elements=tuple(own for x in d.elements for own in _copies(x)),
        bonds=tuple(own for b in d.bonds for own in _single(b, elements)),
    )


def _copies(x: Element) -> Iterator[Element]:
    if x.width == 1:
        yield x
        return
    n, values = x.width, x.value if isinstance(x.value, tuple) else ()
    if x.is_submodel or x.energy is not None or (values and x.shape != (n, 1)):
        raise ModelError(
            f"'{x.name}' has the width {n}; what has one is a junction, a source, a detector, or an element whose value is one "
            f"number or a list of {n}. A field or a multiport transformer needs no width: bond it to what has one."
        )
    if len(x.state) not in (0, 1, n):
        raise ModelError(
            f"'{x.name}' names {len(x.state)} states; of width {n} it has one name for all, or {n}."
        )
    for k in range(n):
        one = x.state if len(x.state) < n else ()
        state = tuple(f"{name}_{k + 1}" for name in one) or x.state[k : k + 1]
        own = values[k][0] if values else x.value
        yield replace(x, name=f"{x.name}_{k + 1}", width=1, state=state, value=own)


def _single(b: Bond, elements: Mapping[str, Element]) -> Iterator[Bond]:
    """A bond, or as many as its ends are wide."""
    widths = {end: _width(end, elements) for end in (b.tail, b.head)}
    found = {n for n in widths.values() if n is not None}
    if len(found) > 1:
        raise ModelError(
            f"bond {b.name} joins '{b.tail}' of width {widths[b.tail]} and '{b.head}' of width {widths[b.head]}; they need the "
            "same width."
        )
    n = found.pop() if found else 1
    if n == 1:
        yield b
        return
    for k in range(1, n + 1):
        tail, head = (
            end if end in elements and widths[end] is None else f"{end}_{k}"
            for end in (b.tail, b.head)
        )
        yield Bond(f"{b.name}_{k}", tail, head, b.signal)


def _width(end: str, elements: Mapping[str, Element]) -> int | None:
    """The width of an end of a bond; None where it takes what comes: a matrix, an energy function,
    a submodel's port."""
    x = elements.get(end)
    if x is None or (x.width == 1 and (isinstance(x.value, tuple) or x.energy is not None)):
        return None
    return x.width
