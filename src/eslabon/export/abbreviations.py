"""Abbreviations of the textbooks: s1 for sin(q1), c12 for cos(q1 + q2), and a line of its own for a
sum that recurs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from eslabon.export.sympy_reader import operations

MANY = 12  # sines and cosines in all, from which on they are abbreviated
WORTH = 12  # operations that a line of its own has to save

Lines = Sequence[Any]  # right-hand sides


def waves(lines: Lines, inputs: Iterable[Sequence[Any]]) -> dict[str, list[tuple[str, Any]]]:
    """The sines "s" and cosines "c" of sums and differences of an input's numbers, with the indices
    that name them; none where there are few."""
    import sympy

    places = [{s: k + 1 for k, s in enumerate(own)} for own in inputs if len(own) > 1]
    found: Counter[tuple[str, Any]] = Counter()
    for part in _parts(lines):
        if isinstance(part, sympy.sin | sympy.cos):
            found.update((index, part) for own in places if (index := _index(part.args[0], own)))
    if found.total() < max(MANY, 2 * len(found)):
        return {}
    shortest_first = sorted(found, key=lambda w: (len(w[0]), w[0]))
    kinds = {"s": sympy.sin, "c": sympy.cos}
    return {
        letter: [w for w in shortest_first if isinstance(w[1], kind)]
        for letter, kind in kinds.items()
    }


def _index(angle: Any, places: dict[Any, int]) -> str:
    """12 for q1 + q2, 1m23 for q1 - q2 - q3; nothing for other angles."""
    sides: dict[bool, list[int]] = {True: [], False: []}
    for term in angle.args if angle.is_Add else (angle,):
        if term not in places and -term not in places:
            return ""
        sides[term in places].append(places[term if term in places else -term])
    comma = "_" if len(places) > 9 else ""
    plus, minus = (comma.join(map(str, sorted(sides[side]))) for side in (True, False))
    return plus + (f"m{minus}" if minus else "") if plus else ""


def recurring_sum(lines: Lines, but: set[Any]) -> Any:
    """The sum without some symbols that costs the most operations by being written again and again,
    or None."""
    times = Counter(p for p in _parts(lines) if p.is_Add and not p.free_symbols & but)
    saved = {e: (n - 1) * operations(e) for e, n in times.items()}
    most = max(saved.values(), default=0)
    return max((e for e, n in saved.items() if n == most), key=str) if most >= WORTH else None


def _parts(lines: Lines) -> Iterator[Any]:
    """What different lines are made of."""
    import sympy

    for e in dict.fromkeys(lines):
        yield from sympy.preorder_traversal(e)
