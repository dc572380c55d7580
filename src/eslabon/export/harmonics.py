"""Polynomials in symbols, sines and cosines, kept in the one form in which equal things are equal.

A `Harmonics` is a sum of terms: a number times a product of symbols times one sine or cosine of a
sum of angles. Products of sines and cosines become sums at once, so cos a cos b - sin a sin b is
cos(a + b), and sin^2 + cos^2 is 1, without any search for identities. Numbers are fractions:
nothing is rounded.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Any

Powers = tuple[tuple[Any, int], ...]  # symbols with their powers, sorted by name
Angles = tuple[
    tuple[Any, Fraction], ...
]  # symbols with their multiples; the first multiple is positive
Key = tuple[Powers, Angles, bool]  # the last one: a sine, not a cosine; cos of no angles is one

ONE: Key = ((), (), False)
UNIT = 1  # stands for the angle of one radian, where a number is added to an angle


class Harmonics:
    """A sum of terms."""

    __slots__ = ("terms",)

    def __init__(self, terms: dict[Key, Fraction]) -> None:
        self.terms = {k: c for k, c in terms.items() if c}

    @staticmethod
    def number(x: Fraction | int) -> Harmonics:
        return Harmonics({ONE: Fraction(x)})

    @staticmethod
    def symbol(s: Any) -> Harmonics:
        return Harmonics({(((s, 1),), (), False): Fraction(1)})

    def __add__(self, other: Harmonics) -> Harmonics:
        terms = defaultdict(Fraction, self.terms)
        for key, c in other.terms.items():
            terms[key] += c
        return Harmonics(terms)

    def __mul__(self, other: Harmonics) -> Harmonics:
        terms: defaultdict[Key, Fraction] = defaultdict(Fraction)
        for (p, a, sine), c in self.terms.items():
            for (r, b, other_sine), d in other.terms.items():
                powers = merged(p, r)
                for sign, angles, is_sine in _product(a, sine, b, other_sine):
                    terms[powers, angles, is_sine] += sign * c * d
        return Harmonics(terms)

    def times(self, x: Fraction | int) -> Harmonics:
        return Harmonics({k: c * x for k, c in self.terms.items()})

    def turned(self, sine: bool, angle_of: Callable[[], Any]) -> Harmonics:
        """Sine or cosine of this sum; if it is not a sum of multiples of symbols, `angle_of()` is
        its one symbol."""
        if all(not a and (not p or (len(p) == 1 and p[0][1] == 1)) for p, a, _ in self.terms):
            multiples = [(p[0][0] if p else UNIT, c) for (p, _, _), c in self.terms.items()]
        else:
            multiples = [(angle_of(), Fraction(1))]
        sign, angles = _normal(multiples)
        if not angles:
            return Harmonics.number(0 if sine else 1)
        return Harmonics({((), angles, sine): Fraction(sign if sine else 1)})

    def by_harmonic(self) -> dict[tuple[Angles, bool], dict[Powers, Fraction]]:
        """The polynomial in front of each sine and cosine, the constant part first."""
        groups: dict[tuple[Angles, bool], dict[Powers, Fraction]] = {}
        for (p, a, sine), c in sorted(self.terms.items(), key=_by_place):
            groups.setdefault((a, sine), {})[p] = c
        return groups


def merged(a: Powers, b: Powers) -> Powers:
    """The powers of a product."""
    if not a or not b:
        return a or b
    powers = defaultdict(int, a)
    for s, n in b:
        powers[s] += n
    return tuple(sorted(((s, n) for s, n in powers.items() if n), key=by_name))


def by_name(item: tuple[Any, Any]) -> str:
    return _name(item[0])


def _by_place(term: tuple[Key, Fraction]) -> tuple[Any, ...]:
    """Terms of fewer angles first, then cosines before sines, then by the names in them."""
    powers, angles, sine = term[0]
    return len(angles), sine, [(_name(s), n) for s, n in angles], [(_name(s), n) for s, n in powers]


@lru_cache(maxsize=10_000)  # writing an expression out costs more than all else here
def _name(symbol: Any) -> str:
    return str(symbol)


def _normal(multiples: Iterable[tuple[Any, Fraction]]) -> tuple[int, Angles]:
    """A sum of angles with its first multiple positive, and the sign taken out."""
    angles = sorted(((s, c) for s, c in multiples if c), key=by_name)
    if angles and angles[0][1] < 0:
        return -1, tuple((s, -c) for s, c in angles)
    return 1, tuple(angles)


def _sum(a: Angles, b: Angles, sign: int) -> tuple[int, Angles]:
    total = defaultdict(Fraction, a)
    for s, c in b:
        total[s] += sign * c
    return _normal(total.items())


def _product(
    a: Angles, sine: bool, b: Angles, other_sine: bool
) -> list[tuple[Fraction, Angles, bool]]:
    """A product of two sines or cosines as a sum of two."""
    if not a or not b:  # the cosine of no angle is one
        return [(Fraction(1), a or b, sine or other_sine)]
    half = Fraction(1, 2)
    (s, plus), (d, minus) = _sum(a, b, 1), _sum(a, b, -1)
    if sine and other_sine:
        return [(half, minus, False), (-half, plus, False)]
    if not sine and not other_sine:
        return [(half, minus, False), (half, plus, False)]
    difference = half * d if sine else -half * d  # sin a cos b, or cos a sin b
    return [(c, k, True) for c, k in ((half * s, plus), (difference, minus)) if k]
