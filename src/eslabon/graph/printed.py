"""A graph as equations: SymPy expressions and LaTeX that look like the textbook's.

Polynomials in sines and cosines are computed in the normal form of `harmonics`, from which each sine and cosine gets
its factored coefficient; where the graph's own form is shorter, as for cos(q)^2, it is kept. Numbers stay what they
are: 9.81 is the fraction 981/100 meanwhile, so that nothing like 0.4999999999 can arise, and is printed as 9.81.

What would be longer than a few lines becomes a definition of its own, shown first.
"""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, count
from typing import Any

from eslabon.graph.harmonics import UNIT, Harmonics, Powers
from eslabon.graph.program import GraphError, Instruction, Program, read, simplified

LONG = 40  # terms of a sum, and of a product of sums multiplied out, above which it becomes a definition
PLAIN = 60  # operations, up to which the graph's own form is a candidate


@dataclass(frozen=True)
class Equations:
    """A quantity in SymPy's expressions.

    Attributes
    ----------
    names : tuple of str
        What each result is called.
    inputs : tuple of (str, tuple of Symbol)
        Every input with the symbols of its numbers in row order. No two symbols are alike.
    definitions : tuple of (Symbol, expression)
        What the results are written in, besides the inputs; each may use those before it.
    results : tuple of Matrix
        One for each output.
    """

    names: tuple[str, ...]
    inputs: tuple[tuple[str, tuple[Any, ...]], ...]
    definitions: tuple[tuple[Any, Any], ...]
    results: tuple[Any, ...]

    def latex(self) -> str:
        """Lines for an `align*` environment."""
        import sympy

        symbols = [s for _, own in self.inputs for s in own] + [s for s, _ in self.definitions]
        shown = {s: _typeset(str(s)) for s in symbols}
        alike = {word for word, times in Counter(shown.values()).items() if times > 1}  # parameters L2 and L_2
        verbatim = {s: rf"\mathtt{{{str(s).replace('_', chr(92) + '_')}}}" for s in symbols if shown[s] in alike}

        def text(e: Any) -> str:
            return str(sympy.latex(e, symbol_names={**shown, **verbatim}))

        lines = [f"{text(s)} &= {text(e)}" for s, e in self.definitions]
        for name, result in zip(self.names, self.results, strict=True):
            value = result[0, 0] if result.shape == (1, 1) else result
            lines.append(f"{_typeset(name)} &= {text(value)}")
        return " \\\\\n".join(lines)

    def _repr_latex_(self) -> str:
        return f"$$\\begin{{align*}}\n{self.latex()}\n\\end{{align*}}$$"

    def __str__(self) -> str:
        lines = [f"{s} = {e}" for s, e in self.definitions]
        for name, result in zip(self.names, self.results, strict=True):
            rows, columns = result.shape
            if rows * columns == 0:  # of a mechanism that cannot move
                lines.append(f"{name} is empty ({rows}x{columns})")
            for i in range(rows):
                for j in range(columns):
                    index = "" if rows * columns == 1 else f"[{i + 1}]" if columns == 1 else f"[{i + 1},{j + 1}]"
                    lines.append(f"{name}{index} = {result[i, j]}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        shapes = (f"{n} {r.shape[0]}x{r.shape[1]}" for n, r in zip(self.names, self.results, strict=True))
        inputs = ", ".join(name for name, _ in self.inputs)
        return f"<Equations: {', '.join(shapes)} in {inputs}; {len(self.definitions)} definitions>"


def equations(f: Any, symbols: Mapping[str, Sequence[str]] | None = None) -> Equations:
    """The equations of a `casadi.Function`.

    `symbols` gives, for an input's name, the names of its numbers in row order, such as {"q": ["q1", "q2"]}; the
    others are numbered. Greek names and indices are typeset: "theta_1", "l_{c1}".

    >>> import casadi
    >>> q = casadi.SX.sym("q", 2)
    >>> x = 0.5 * casadi.cos(q[0]) * casadi.cos(q[1]) - 0.5 * casadi.sin(q[0]) * casadi.sin(q[1])
    >>> print(equations(casadi.Function("f", [q], [x], ["q"], ["x"])))
    x = cos(q1 + q2)/2
    """
    import sympy

    program = read(simplified(f))
    names = _Names()
    inputs = _symbols(program, symbols or {}, names)
    reader = _Reader(program, inputs, names)
    results = [sympy.zeros(*shape) for shape in program.output_shapes]
    for k, i in enumerate(program.instructions):
        if i.name == "output":
            which, place = i.place
            results[which][divmod(place, program.output_shapes[which][1])] = readable(reader.shortest(i.args[0]))
        else:
            reader.read(k, i)
    definitions = tuple((s, readable(e)) for s, e in reader.definitions)
    outputs = tuple(str(names.numbered(name, [""])[0]) for name in program.output_names)
    named = tuple(zip(program.input_names, map(tuple, inputs), strict=True))
    return Equations(outputs, named, definitions, tuple(results))


def latex(f: Any, symbols: Mapping[str, Sequence[str]] | None = None) -> str:
    """The equations of a `casadi.Function` as lines of LaTeX."""
    return equations(f, symbols).latex()


# Names ----------------------------------------------------------------------------------------------------------------

# What an input's numbers are called where the mechanism's parameters have taken its letter: accelerations are the rates
# of the velocities, and velocities Kane's generalized speeds.
OTHER_LETTERS = {"a": ("vdot",), "v": ("u",)}


def _typeset(word: str) -> str:
    """A name in LaTeX, its Greek letters by their commands and its digits as indices."""
    import sympy
    from sympy.printing.pretty.pretty_symbology import greek_unicode

    letters = {letter: name for name, letter in greek_unicode.items()}
    return str(sympy.latex(sympy.Symbol("".join(letters.get(c, c) for c in word))))


class _Names:
    """Hands out symbols of which no two are called alike, and none is numbered so that it is typeset like another."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._typeset: set[str] = set()

    def given(self, words: Sequence[str]) -> list[Any]:
        """The symbols of names that stay as they are."""
        import sympy

        for word in words:
            if word in self._taken:
                raise GraphError(f"two symbols are called {word!r}; give each number a name of its own.")
            self._taken.add(word)
        self._typeset.update(map(_typeset, words))
        return [sympy.Symbol(word, real=True) for word in words]

    def numbered(self, letter: str, indices: Sequence[str]) -> list[Any]:
        """Symbols of one letter and some indices; of another letter where one of these is taken."""
        bars = (letter + "bar" * k for k in count(1))
        for candidate in chain([letter], OTHER_LETTERS.get(letter, ()), bars):
            words = [f"{candidate}{index}" for index in indices]
            alike = self._typeset.intersection(map(_typeset, words)) if any(indices) else ()
            if self._taken.isdisjoint(words) and not alike:
                break
        return self.given(words)


def _symbols(program: Program, given: Mapping[str, Sequence[str]], names: _Names) -> list[list[Any]]:
    """The symbols of every input. The last inputs choose first: the mechanism's parameters keep their names."""
    if unknown := set(given) - set(program.input_names):
        known = ", ".join(program.input_names)
        raise GraphError(f"{program.name} has no input {min(unknown)!r}; it has {known}.")
    result: list[list[Any]] = [[] for _ in program.input_names]
    for k, name in enumerate(program.input_names):
        if name in given:
            size = math.prod(program.input_shapes[k])
            if len(given[name]) != size:
                raise GraphError(f"input {name!r} has {size} numbers; {len(given[name])} names were given.")
            result[k] = names.given(given[name])
    for k, name in reversed(list(enumerate(program.input_names))):
        if name not in given:
            size = math.prod(program.input_shapes[k])
            result[k] = names.numbered(name, [""] if size == 1 else [str(i + 1) for i in range(size)])
    return result


class _Reader:
    """Goes through the instructions; each result is a `Harmonics` and, while it is short, the plain expression too."""

    def __init__(self, program: Program, inputs: list[list[Any]], names: _Names) -> None:
        import sympy

        self._sympy, self._program, self._inputs, self._names = sympy, program, inputs, names
        self._functions = _functions(sympy)
        self._sums: dict[int, Harmonics] = {}
        self._plain: dict[int, Any] = {}
        self._final: dict[int, Any] = {}
        self.definitions: list[tuple[Any, Any]] = []

    def read(self, k: int, i: Instruction) -> None:
        """One instruction."""
        if i.name == "const" and math.isfinite(i.value):
            self._atom(k, _rational(fraction(i.value)))
        elif i.name == "const":
            self._atom(k, self._sympy.nan if math.isnan(i.value) else self._sympy.oo * int(math.copysign(1, i.value)))
        elif i.name == "input":
            self._atom(k, self._inputs[i.place[0]][i.place[1]])
        else:
            self._compute(k, i)
        if len(self._sums[k].terms) > LONG:
            self._define(k)

    def _define(self, k: int) -> None:
        (symbol,) = self._names.numbered("x", [f"_{len(self.definitions) + 1}"])
        self.definitions.append((symbol, self.shortest(k)))
        self._atom(k, symbol)

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
                self._sums[k] = a.turned(i.name == "sin", lambda: self.shortest(i.args[0]))
            case "div" | "inv":
                over = Harmonics.number(1) if i.name == "inv" else a
                self._sums[k] = over * self._reciprocal(i.args[-1])
            case _:
                if i.name not in self._functions:
                    raise GraphError(f"{self._program.name} uses {i.name!r}, which has no equation.")
                self._atom(k, self._functions[i.name](*(self.shortest(a) for a in i.args)))
                return
        if all(a in self._plain for a in i.args):
            together = self._functions[i.name](*(self._plain[a] for a in i.args))
            if together.count_ops() <= PLAIN:
                self._plain[k] = together

    def _keep_short(self, a: int, b: int) -> None:
        """Make definitions of factors whose product would be long, the longer one first."""
        for k in sorted((a, b), key=lambda k: -len(self._sums[k].terms)):
            if len(self._sums[a].terms) * len(self._sums[b].terms) > LONG and len(self._sums[k].terms) > 1:
                self._define(k)

    def _reciprocal(self, k: int) -> Harmonics:
        """One over a value: a number, or a power of symbols, or one new symbol that is the whole quotient."""
        terms = self._sums[k].terms
        if len(terms) == 1:
            (powers, angles, _), c = next(iter(terms.items()))
            if not angles:
                return Harmonics({(tuple((s, -n) for s, n in powers), (), False): 1 / c})
        return Harmonics({(((self.shortest(k), -1),), (), False): Fraction(1)})

    def _atom(self, k: int, expression: Any) -> None:
        """To the algebra, the value is a number or one symbol: an input, a definition, a function of something."""
        known = Fraction(int(expression.p), int(expression.q)) if expression.is_Rational else None
        self._sums[k] = Harmonics.symbol(expression) if known is None else Harmonics.number(known)
        self._plain[k] = self._final[k] = expression

    def shortest(self, k: int) -> Any:
        """The normal form with collected coefficients, or the plain one if that is shorter."""
        if k not in self._final:
            normal, plain = expression(self._sums[k]), self._plain.get(k)
            shorter = plain is not None and plain.count_ops() < normal.count_ops()
            self._final[k] = plain if shorter else normal
        return self._final[k]


_SAME_NAME = "sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp log sqrt erf erfinv sign"


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


# From the normal form to SymPy ----------------------------------------------------------------------------------------


def expression(h: Harmonics) -> Any:
    """Each sine and cosine with its coefficient."""
    import sympy

    total = []
    for (angles, sine), polynomial in h.by_harmonic().items():
        factors = _factors(polynomial)
        if angles:
            angle = sympy.Add(*(_rational(c) * (1 if s is UNIT else s) for s, c in angles))
            factors.append(sympy.sin(angle) if sine else sympy.cos(angle))
        total.append(sympy.Mul(*factors))
    return sympy.Add(*total)


def _factors(polynomial: dict[Powers, Fraction]) -> list[Any]:
    """A number, powers of symbols, and what is left in brackets; inside, the symbol most terms share is taken out."""
    import sympy

    content = _content(polynomial.values())
    common = {s: min(dict(p).get(s, 0) for p in polynomial) for s, _ in next(iter(polynomial))}
    common = {s: n for s, n in common.items() if n > 0}
    factors = [_rational(content), *(s**n for s, n in common.items())]
    rest = {_without(p, common): c / content for p, c in polynomial.items()}
    return [*factors, sympy.Add(*_summands(rest))]


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
    """The number that leaves whole coefficients without a common divisor, the first one positive."""
    numbers = list(coefficients)
    size = Fraction(math.gcd(*(c.numerator for c in numbers)), math.lcm(*(c.denominator for c in numbers)))
    return size if numbers[0] > 0 else -size


def _without(powers: Powers, common: dict[Any, int]) -> Powers:
    return tuple((s, n - common.get(s, 0)) for s, n in powers if n != common.get(s, 0))


# Numbers --------------------------------------------------------------------------------------------------------------


def fraction(x: float) -> Fraction:
    """A double as the fraction a person would have meant: 1/3 for 0.333..., else its shortest decimal.

    >>> fraction(0.5), fraction(1 / 3), fraction(9.81)
    (Fraction(1, 2), Fraction(1, 3), Fraction(981, 100))
    """
    near = Fraction(x).limit_denominator(64)
    return near if near.numerator / near.denominator == x else Fraction(repr(x))


def _rational(c: Fraction) -> Any:
    import sympy

    return sympy.Rational(c.numerator, c.denominator)


def readable(e: Any) -> Any:
    """Decimals such as 981/100 as 9.81; fractions that are small, or have no decimal, as fractions; cases in one."""
    import sympy

    if e.has(sympy.Piecewise):
        e = min(e, sympy.piecewise_fold(e), key=lambda x: x.count_ops())

    def decimal(r: Any) -> Any:
        rest = int(r.q)
        for prime in (2, 5):
            while rest % prime == 0:
                rest //= prime
        small = r.q <= 64 and r.q % 5 != 0
        if small or (rest != 1 and r.q <= 10**6):
            return r
        return sympy.Float(repr(int(r.p) / int(r.q)))

    numbers = {r: decimal(r) for r in e.atoms(sympy.Rational) if not r.is_Integer}
    return e.xreplace({r: d for r, d in numbers.items() if r is not d})
