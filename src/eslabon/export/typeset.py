"""Names of symbols: no two alike, and how each is set in LaTeX."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain, count
from typing import Any

from eslabon.errors import GraphError

# What numbers are called where the mechanism's parameters have taken their letter: accelerations
# are the rates of the velocities, and velocities Kane's generalized speeds.
OTHER_LETTERS = {"a": ("vdot",), "v": ("u",), "h": ("bias",), "s": ("S",), "c": ("C",)}

DIFFERENCE = re.compile(r"([A-Za-z]+)([\d_]+)m([\d_]+)")  # c12m34, the cosine of q1 + q2 - q3 - q4


@cache
def typeset(word: str) -> str:
    r"""A name in LaTeX: Greek letters by their commands, digits as indices, words upright.

    >>> print(typeset("theta_1"), typeset("m_rod"), typeset("mass_matrix"), typeset("c12m34"))
    \theta_{1} m_{\mathrm{rod}} \mathrm{mass\_matrix} c_{12-34}
    """
    from sympy.printing.conventions import split_super_sub
    from sympy.printing.pretty.pretty_symbology import greek_unicode

    letters = {letter: name for name, letter in greek_unicode.items()}
    word = "".join(letters.get(c, c) for c in word)
    if found := DIFFERENCE.fullmatch(word):
        letter, plus, minus = (x.replace("_", ",") for x in found.groups())
        return f"{letter}_{{{plus}-{minus}}}"
    base, above, below = split_super_sub(word)
    indices = [_upright(x) for x in (*above, *below)]
    if word.strip("_") != word or (_is_word(base) and any(map(_is_word, (*above, *below)))):
        return rf"\mathrm{{{_escaped(word)}}}"
    return _upright(base) + (f"_{{{','.join(indices)}}}" if indices else "")


def _upright(part: str) -> str:
    from sympy.printing.latex import translate

    return rf"\mathrm{{{_escaped(part)}}}" if _is_word(part) else translate(part)


def _is_word(part: str) -> bool:
    """Whether this is more than a letter, a number, a Greek letter, or one of these with an
    accent."""
    from sympy.printing.latex import translate

    return len(part) > 1 and not part.isdigit() and translate(part) == part


def _escaped(word: str) -> str:
    return word.replace("_", r"\_")


def typeset_all(symbols: Iterable[Any]) -> dict[Any, str]:
    """How symbols are set; those that would look alike, such as L2 and L_2, as they are written."""
    shown = {s: typeset(str(s)) for s in symbols}
    times = Counter(shown.values())
    return {
        s: text if times[text] == 1 else rf"\mathtt{{{_escaped(str(s))}}}"
        for s, text in shown.items()
    }


def indexed(name: str, index: str) -> str:
    """An entry of a matrix in LaTeX."""
    text = typeset(name)
    return f"{text}_{{{index}}}" if "_{" not in text else rf"\left({text}\right)_{{{index}}}"


class Names:
    """Hands out symbols of which no two are called alike, and none is numbered so that it is
    typeset like another."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._typeset: set[str] = set()

    def given(self, words: Sequence[str]) -> list[Any]:
        """The symbols of names that stay as they are."""
        import sympy

        for word in words:
            if word in self._taken:
                raise GraphError(
                    f"two symbols are called {word!r}; give each number a name of its own."
                )
            self._taken.add(word)
        self._typeset.update(map(typeset, words))
        return [sympy.Symbol(word, real=True) for word in words]

    def numbered(self, letter: str, indices: Sequence[str]) -> list[Any]:
        """Symbols of one letter and some indices; of another letter where one of these is taken."""
        bars = (letter + "bar" * k for k in count(1))
        for candidate in chain([letter], OTHER_LETTERS.get(letter, ()), bars):
            words = [f"{candidate}{index}" for index in indices]
            alike = self._typeset.intersection(map(typeset, words)) if any(indices) else ()
            if self._taken.isdisjoint(words) and not alike:
                break
        return self.given(words)
