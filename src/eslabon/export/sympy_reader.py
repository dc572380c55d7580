"""Expressions in: a graph's instructions as SymPy expressions, in two ways.

`Normal` computes polynomials in sines and cosines in the normal form of `harmonics`, from which
each sine and cosine gets its factored coefficient; where the graph's own form is shorter, as for
cos(q)^2, it is kept. That is what textbooks print, of graphs of up to a few hundred operations.
`Steps` follows the graph: what it computes once and uses twice is a definition, so that the text
grows no faster than the graph.

Numbers stay what they are: 9.81 is the fraction 981/100 meanwhile, so that nothing like
0.4999999999 can arise, and is printed as 9.81.
"""

from __future__ import annotations

import math
import operator
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

from eslabon.compiler.program import Instruction, Program
from eslabon.errors import GraphError
from eslabon.export.harmonics import ONE, UNIT, Harmonics, Powers, by_name, merged

LONG = 40  # terms of a sum, and of a product of sums multiplied out, above which it becomes a definition
PLAIN = 60  # operations, up to which the graph's own form is a candidate
ATOM = 20  # operations of what is divided by, or is inside a function, above which it becomes a definition
LINE = 40  # operations in a line of `Steps`
NEGLIGIBLE = 1e-50  # a constant below it is added only so that a root has a derivative at zero; it is not printed
DIGITS = (
    12  # that a person writes: what a double has beyond them, if zeros up to rounding, is noise
)

Definition = tuple[Any, Any]


class TooLongError(Exception):
    """Definitions of more operations than wanted."""


class Reader(ABC):
    """Goes through the instructions of programs and keeps the definitions it makes on the way, of
    symbols without names.

    It stops where they would have more than `limit` operations.
    """

    def __init__(self, limit: float = math.inf) -> None:
        import sympy

        self._sympy, self._left = sympy, limit
        self._functions = _functions(sympy)
        self.definitions: list[Definition] = []

    def read(self, program: Program, inputs: Sequence[Sequence[Any]]) -> list[Any]:
        """The outputs as SymPy matrices, for given expressions of the inputs."""
        self._program = program
        self._start()
        summands = {a for i in program.instructions if i.name in ("add", "sub") for a in i.args}
        summands -= {
            a for i in program.instructions if i.name not in ("add", "sub") for a in i.args
        }
        results = [self._sympy.zeros(*shape) for shape in program.output_shapes]
        for k, i in enumerate(program.instructions):
            match i.name:
                case "output":
                    which, place = i.place
                    results[which][divmod(place, program.output_shapes[which][1])] = (
                        self.expression(i.args[0])
                    )
                case "input":
                    self._atom(k, inputs[i.place[0]][i.place[1]])
                case "const":
                    self._atom(
                        k,
                        self._constant(
                            0.0 if k in summands and abs(i.value) < NEGLIGIBLE else i.value
                        ),
                    )
                case _ if i.name in self._functions:
                    self._compute(k, i)
                case _:
                    raise GraphError(f"{program.name} uses {i.name!r}, which has no equation.")
        return results

    def define(self, expression: Any, symbol: Any = None) -> Any:
        """A line of its own."""
        symbol = (
            self._sympy.Dummy(f"x{len(self.definitions)}", real=True) if symbol is None else symbol
        )
        self.definitions.append((symbol, expression))
        self._left -= operations(expression)
        if self._left < 0:
            raise TooLongError
        return symbol

    def _constant(self, x: float) -> Any:
        if math.isfinite(x):
            return _rational(fraction(x))
        return self._sympy.nan if math.isnan(x) else self._sympy.oo * int(math.copysign(1, x))

    @abstractmethod
    def _start(self) -> None:
        """Forget what an earlier program computed."""

    @abstractmethod
    def _atom(self, k: int, expression: Any) -> None:
        """The value of an instruction is a number or one symbol: an input, a definition, a function
        of something."""

    @abstractmethod
    def _compute(self, k: int, i: Instruction) -> None:
        """The value of an operation."""

    @abstractmethod
    def expression(self, k: int) -> Any:
        """The value of an instruction in SymPy."""


class Steps(Reader):
    """Each result that is used again is a definition, and so is what would be longer than a
    line."""

    def _start(self) -> None:
        self._values: dict[int, Any] = {}
        self._uses = Counter(
            a for i in self._program.instructions if i.name != "output" for a in i.args
        )

    def _atom(self, k: int, expression: Any) -> None:
        self._values[k] = expression

    def _compute(self, k: int, i: Instruction) -> None:
        value = self._functions[i.name](*(self._values[a] for a in i.args))
        size = operations(value)
        again = self._uses[k] > 1 and size > 2 and i.name != "neg" and not _turned(value)
        self._values[k] = self.define(value) if again or size > LINE else value

    def expression(self, k: int) -> Any:
        return self._values[k]


def _turned(e: Any) -> bool:
    """A sum of angles, or its sine or cosine."""
    angle = e.args[0] if e.func.__name__ in ("sin", "cos") else e
    return (
        all(t.is_Symbol or t.is_number or (-t).is_Symbol for t in angle.args)
        if angle.is_Add
        else angle.is_Symbol
    )


class Normal(Reader):
    """Each result is a `Harmonics` and, while it is short, the plain expression too."""

    def _start(self) -> None:
        self._sums: dict[int, Harmonics] = {}
        self._plain: dict[int, Any] = {}
        self._final: dict[int, Any] = {}
        self._below: dict[int, Any] = {}

    def _define(self, k: int) -> None:
        self._atom(k, self.define(self.expression(k)))

    def _compute(self, k: int, i: Instruction) -> None:
        if i.name in ("mul", "sq"):
            self._keep_short(i.args[0], i.args[-1])
        a, b = self._sums[i.args[0]], self._sums[i.args[-1]]
        match i.name:
            case "add":
                self._sums[k] = a + b
            case "sub":
                self._sums[k] = a + b.times(-1)
            case "neg" | "twice":
                self._sums[k] = a.times(-1 if i.name == "neg" else 2)
            case "mul" | "sq":
                self._sums[k] = a * b
            case "sin" | "cos":
                self._sums[k] = a.turned(i.name == "sin", lambda: self._inside(i.args[0]))
            case "div" | "inv":
                over = Harmonics.number(1) if i.name == "inv" else a
                self._sums[k] = over * self._reciprocal(i.args[-1])
            case _:
                self._atom(k, self._functions[i.name](*(self._inside(a) for a in i.args)))
                return
        if all(a in self._plain for a in i.args):
            together = self._functions[i.name](*(self._plain[a] for a in i.args))
            if operations(together) <= PLAIN:
                self._plain[k] = together
        if len(self._sums[k].terms) > LONG:
            self._define(k)

    def _keep_short(self, a: int, b: int) -> None:
        """Make definitions of factors whose product would be long, the longer one first."""
        for k in sorted((a, b), key=lambda k: -len(self._sums[k].terms)):
            if (
                len(self._sums[a].terms) * len(self._sums[b].terms) > LONG
                and len(self._sums[k].terms) > 1
            ):
                self._define(k)

    def _inside(self, k: int) -> Any:
        """A value that goes into a symbol of the algebra; were it long, it would be copied again
        and again."""
        if operations(self.expression(k)) > ATOM:
            self._define(k)
        return self.expression(k)

    def _reciprocal(self, k: int) -> Harmonics:
        """One over a value: what all its terms share to negative powers, and one new symbol for the
        rest."""
        terms = self._sums[k].terms
        if not terms:
            return Harmonics.symbol(self._sympy.zoo)
        content, (_, common) = (
            _content(terms.values()),
            _common({p: Fraction(1) for p, _, _ in terms}),
        )
        rest = Harmonics(
            {(_without(p, common), a, sine): c / content for (p, a, sine), c in terms.items()}
        )
        over = Harmonics({(_without((), common), (), False): 1 / content})
        if list(rest.terms) == [ONE]:
            return over
        if k not in self._below:
            below = expression(rest)
            self._below[k] = self.define(below) if operations(below) > ATOM else below
        return over * Harmonics({(((self._below[k], -1),), (), False): Fraction(1)})

    def _atom(self, k: int, expression: Any) -> None:
        known = Fraction(int(expression.p), int(expression.q)) if expression.is_Rational else None
        self._sums[k] = Harmonics.symbol(expression) if known is None else Harmonics.number(known)
        self._plain[k] = self._final[k] = expression

    def expression(self, k: int) -> Any:
        """The normal form with collected coefficients, or the plain one if that is shorter."""
        if k not in self._final:
            normal, plain = expression(self._sums[k]), self._plain.get(k)
            shorter = plain is not None and operations(plain) < operations(normal)
            self._final[k] = plain if shorter else normal
        return self._final[k]


_SAME_NAME = (
    "sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp log sqrt erf erfinv sign"
)


def _functions(sp: Any) -> dict[str, Any]:
    """What operations are of expressions."""

    def truth(relation: Any) -> Any:
        return sp.Piecewise((1, relation), (0, True))

    return {
        **{name: getattr(sp, name) for name in _SAME_NAME.split()},
        **dict.fromkeys(("pow", "constpow"), operator.pow),
        "add": operator.add,
        "sub": operator.sub,
        "mul": operator.mul,
        "div": operator.truediv,
        "neg": operator.neg,
        "twice": lambda a: 2 * a,
        "sq": lambda a: a**2,
        "inv": lambda a: 1 / a,
        "fabs": sp.Abs,
        "floor": sp.floor,
        "ceil": sp.ceiling,
        "fmin": sp.Min,
        "fmax": sp.Max,
        "log1p": lambda a: sp.log(1 + a),
        "expm1": lambda a: sp.exp(a) - 1,
        "hypot": lambda a, b: sp.sqrt(a**2 + b**2),
        "copysign": lambda a, b: sp.Piecewise((sp.Abs(a), b >= 0), (-sp.Abs(a), True)),
        "fmod": lambda a, b: a - b * sp.sign(a / b) * sp.floor(sp.Abs(a / b)),
        "lt": lambda a, b: truth(sp.Lt(a, b)),
        "le": lambda a, b: truth(sp.Le(a, b)),
        "eq": lambda a, b: truth(sp.Eq(a, b)),
        "ne": lambda a, b: truth(sp.Ne(a, b)),
        "not": lambda a: truth(sp.Not(_holds(sp, a))),
        "and": lambda a, b: truth(sp.And(_holds(sp, a), _holds(sp, b))),
        "or": lambda a, b: truth(sp.Or(_holds(sp, a), _holds(sp, b))),
        "if_else_zero": lambda c, a: sp.Piecewise((a, _holds(sp, c)), (0, True)),
    }


def _holds(sp: Any, value: Any) -> Any:
    """The relation behind a truth value that was written as 1 or 0."""
    if value.is_Piecewise and [branch[0] for branch in value.args] == [1, 0]:
        return value.args[0][1]
    return sp.Ne(value, 0)


# Lengths
# --------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=50_000)
def operations(e: Any) -> int:
    """How many operations an expression has: SymPy's `count_ops`, which looks at every part anew
    each time it is asked.

    >>> import sympy
    >>> x, y = sympy.symbols("x y")
    >>> operations(-x * y / 3 + sympy.sin(x) ** 2), (-x * y / 3 + sympy.sin(x) ** 2).count_ops()
    (5, 5)
    """
    import sympy

    if e.is_Rational:
        return int(e.p < 0) + int(e.q != 1)
    if e.is_Add:
        signs = [_negative(term) for term in e.args]
        terms = (-term if negative else term for term, negative in zip(e.args, signs, strict=True))
        return len(e.args) - 1 + int(all(signs)) + sum(map(operations, terms))
    if e.is_Mul:
        negative = _negative(e)
        positive = -e if negative else e
        above, below = (
            sympy.fraction(positive)
            if any(map(_may_divide, positive.args))
            else (positive, sympy.S.One)
        )
        if above.is_Integer:
            return int(negative) + 1 + int(_negative(above)) + operations(below)
        if below != 1:
            return (
                int(negative)
                + 1
                + operations(above)
                + (0 if below.is_Integer else operations(below))
            )
        if not positive.is_Mul:
            return int(negative) + operations(positive)
        return int(negative) + len(positive.args) - 1 + sum(map(operations, positive.args))
    if e.is_Pow and e.exp == -1:
        return 1 + operations(e.base)
    own = (
        len(e.args) - 1
        if isinstance(e, sympy.Min | sympy.Max | sympy.And | sympy.Or)
        else int(_counts(e))
    )
    return own + sum(map(operations, e.args))


def _may_divide(factor: Any) -> bool:
    """Whether a factor may have a denominator."""
    return bool(factor.is_Pow or factor.is_Rational or factor.func.__name__ == "exp")


def _counts(e: Any) -> bool:
    return bool(e.args) and bool(e.is_Pow or e.is_Function)


def _negative(e: Any) -> bool:
    """Whether an expression is written with a minus sign."""
    first = e.args[0] if e.is_Mul else e
    return bool(first.is_Number and first.is_extended_negative)


# From the normal form to SymPy
# ----------------------------------------------------------------------------------------


def expression(h: Harmonics) -> Any:
    """Each sine and cosine with its coefficient, over what all are divided by."""
    import sympy

    divided = _divided(h)
    if divided is not None:
        return sympy.Mul(*(s**n for s, n in divided[1])) * expression(divided[0])
    total = []
    for (angles, sine), polynomial in h.by_harmonic().items():
        factors = _factors(polynomial)
        if angles:
            angle = sympy.Add(*(_rational(c) * (1 if s is UNIT else s) for s, c in angles))
            factors.append(sympy.sin(angle) if sine else sympy.cos(angle))
        total.append(sympy.Mul(*factors))
    return sympy.Add(*total)


def _divided(h: Harmonics) -> tuple[Harmonics, Powers] | None:
    """A sum of several harmonics without the denominator and what else they have in common, and
    that; None without one."""
    if len({key[1:] for key in h.terms}) < 2:
        return None
    _, common = _common({p: Fraction(1) for p, _, _ in h.terms})
    if all(n > 0 for _, n in common):
        return None
    return Harmonics(
        {(_without(p, common), a, sine): c for (p, a, sine), c in h.terms.items()}
    ), common


def _factors(polynomial: dict[Powers, Fraction]) -> list[Any]:
    """A number, powers of symbols, and what is left in brackets; inside, the symbol most terms
    share is taken out."""
    import sympy

    content, common = _common(polynomial)
    factors = [_rational(content), *(s**n for s, n in common)]
    rest = {_without(p, common): c / content for p, c in polynomial.items()}
    for sign in (1, -1):
        if (root := _square_root({p: sign * c for p, c in rest.items()})) is not None:
            return [*factors, sign, sympy.Add(*_summands(root)) ** 2]
    return [*factors, sympy.Add(*_summands(rest))]


def _common(polynomial: Mapping[Powers, Fraction]) -> tuple[Fraction, Powers]:
    """The number and the powers that all terms share, a common denominator among them."""
    exponents = [dict(p) for p in polynomial]
    least = {s: min(n.get(s, 0) for n in exponents) for n in exponents for s in n}
    return _content(polynomial.values()), tuple(
        sorted(((s, n) for s, n in least.items() if n), key=by_name)
    )


def _square_root(polynomial: dict[Powers, Fraction]) -> dict[Powers, Fraction] | None:
    """The sum of which this is the square, as v1^2 + 2 v1 v2 + v2^2 is."""
    even = [p for p in polynomial if all(n % 2 == 0 for _, n in p) and _root(polynomial[p])]
    if len(even) < 2:
        return None
    halves = {p: tuple((s, n // 2) for s, n in p) for p in even}
    first = halves[even[0]]
    root: dict[Powers, Fraction] = {}
    for p in even:  # the sign of a term is that of its product with the first
        negative = polynomial.get(merged(first, halves[p]), Fraction(0)) < 0
        root[halves[p]] = (_root(polynomial[p]) or Fraction(0)) * (-1 if negative else 1)
    square: dict[Powers, Fraction] = {}
    for (a, c), (b, d) in product(root.items(), repeat=2):
        square[merged(a, b)] = square.get(merged(a, b), Fraction(0)) + c * d
    return root if square == polynomial else None


def _root(c: Fraction) -> Fraction | None:
    """The square root of a positive fraction, if it is one."""
    if c <= 0:
        return None
    root = Fraction(math.isqrt(c.numerator), math.isqrt(c.denominator))
    return root if root * root == c else None


def _summands(polynomial: dict[Powers, Fraction]) -> list[Any]:
    """Terms, those that share the most frequent symbol as one product."""
    import sympy

    shared = Counter(s for powers in polynomial for s, n in powers if n > 0)
    most = max(shared.values(), default=0)
    if most < 2:
        return [sympy.Mul(_rational(c), *(s**n for s, n in p)) for p, c in polynomial.items()]
    symbol = min((s for s, n in shared.items() if n == most), key=str)
    inside = {p: c for p, c in polynomial.items() if dict(p).get(symbol, 0) > 0}
    outside = {p: c for p, c in polynomial.items() if p not in inside}
    return [sympy.Mul(*_factors(inside)), *(_summands(outside) if outside else [])]


def _content(coefficients: Iterable[Fraction]) -> Fraction:
    """The number that leaves whole coefficients without a common divisor, the first one positive;
    only the sign where they would be too long to read, as with the square root of 2."""
    numbers = list(coefficients)
    size = Fraction(
        math.gcd(*(c.numerator for c in numbers)), math.lcm(*(c.denominator for c in numbers))
    )
    if any(abs(c / size) >= 10**DIGITS for c in numbers):
        size = Fraction(1)
    return size if numbers[0] > 0 else -size


def _without(powers: Powers, common: Powers) -> Powers:
    return merged(powers, tuple((s, -n) for s, n in common))


# Numbers
# --------------------------------------------------------------------------------------------------------------


def fraction(x: float) -> Fraction:
    """A double as the fraction a person would have meant: 1/3 for 0.333..., else its shortest
    decimal.

    >>> fraction(0.5), fraction(1 / 3), fraction(3 * 0.1 * 9.81)
    (Fraction(1, 2), Fraction(1, 3), Fraction(2943, 1000))
    """
    near = Fraction(x).limit_denominator(64)
    return near if near.numerator / near.denominator == x else Fraction(_shortest(x))


def _shortest(x: float) -> str:
    """A double as text, without what rounding has added.

    >>> _shortest(8.828999999999999), _shortest(2**0.5)
    ('8.829', '1.4142135623730951')
    """
    rounded = f"{x:.15g}"
    return rounded if float(rounded) == float(f"{x:.{DIGITS}g}") else repr(x)


def _rational(c: Fraction) -> Any:
    import sympy

    return sympy.Rational(c.numerator, c.denominator)


def readable(e: Any) -> Any:
    """Decimals such as 981/100 as 9.81; fractions that are small, or have no decimal, as fractions;
    cases in one."""
    import sympy

    if e.has(sympy.Piecewise):
        e = min(e, sympy.piecewise_fold(e), key=operations)

    def decimal(r: Any) -> Any:
        rest = int(r.q)
        for prime in (2, 5):
            while rest % prime == 0:
                rest //= prime
        small = r.q <= 64 and r.q % 5 != 0
        if small or (rest != 1 and r.q <= 10**6):
            return r
        return sympy.Float(_shortest(int(r.p) / int(r.q)))

    numbers = {r: decimal(r) for r in e.atoms(sympy.Rational) if not r.is_Integer}
    return e.xreplace({r: d for r, d in numbers.items() if r is not d})
