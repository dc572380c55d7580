"""Text out: a graph's equations as a textbook prints them, in SymPy and LaTeX.

What would be longer than a few lines, or is written again and again, becomes a definition of its
own, shown first.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from eslabon.compiler.program import Program, read, simplified
from eslabon.errors import GraphError, InputError
from eslabon.export.abbreviations import recurring_sum, waves
from eslabon.export.sympy_reader import Normal, Reader, Steps, TooLongError, operations, readable
from eslabon.export.typeset import Names, indexed, typeset, typeset_all

SHORTER = 1.5  # how much longer the normal form, which is the one of the textbooks, may be than the graph's own
WIDE = (
    100  # characters in a line, above which a matrix is printed entry by entry and a sum is broken
)
LONGEST = 400  # lines that a notebook sets


@dataclass(frozen=True)
class Equations:
    """A quantity in SymPy's expressions: print it, or take `latex()`, `expanded()` or `function()`.

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
    statement : (str, str) What the results are the terms of, in words and in LaTeX; empty where
        they stand for themselves.

    >>> import eslabon as es
    >>> print(es.load("elbow").equations("pose", frame="tool").latex()[:16])
    \\mathrm{pose} &=
    """

    names: tuple[str, ...]
    inputs: tuple[tuple[str, tuple[Any, ...]], ...]
    definitions: tuple[tuple[Any, Any], ...]
    results: tuple[Any, ...]
    statement: tuple[str, str] = ("", "")

    def expanded(self) -> tuple[Any, ...]:
        """The results in the inputs alone, with the definitions put in. What is short as lines may
        be long as one."""
        values: dict[Any, Any] = {}
        for symbol, e in self.definitions:
            values[symbol] = e.xreplace(values)
        return tuple(result.xreplace(values) for result in self.results)

    def function(self) -> Callable[..., Any]:
        """A Python function of the inputs in their order, which gives an array for each result, or
        the array if there is one."""
        import numpy as np
        import sympy

        symbols, entries = (
            [s for _, own in self.inputs for s in own],
            [e for result in self.results for e in result],
        )
        # lambdify writes what it is told are common subexpressions line by line: our definitions.
        f = sympy.lambdify(symbols, entries, "numpy", cse=lambda e: (list(self.definitions), e))
        shapes = [r.shape if r.shape[1] != 1 else r.shape[:1] for r in self.results]
        ends = np.cumsum([math.prod(shape) for shape in shapes])[:-1]

        def evaluated(*arrays: Any) -> Any:
            given = [np.ravel(x) for x in arrays]
            if [x.size for x in given] != [len(own) for _, own in self.inputs]:
                wanted = ", ".join(f"{name} ({len(own)})" for name, own in self.inputs)
                raise InputError(
                    f"these equations take, in this order and with so many numbers each: {wanted}."
                )
            parts = np.split(np.array(f(*np.concatenate([np.zeros(0), *given])), dtype=float), ends)
            made = tuple(part.reshape(shape) for part, shape in zip(parts, shapes, strict=True))
            return made if len(made) != 1 else made[0]

        return evaluated

    def latex(self) -> str:
        """Lines for an `align*` environment: matrices in brackets where they are narrow, else entry
        by entry."""
        import sympy

        symbols = [s for _, own in self.inputs for s in own] + [s for s, _ in self.definitions]
        shown = typeset_all(symbols)

        def text(e: Any) -> str:
            return str(sympy.latex(e, symbol_names=shown))

        lines = [f"& {self.statement[1]}"] if self.statement[1] else []
        lines += [_broken(shown[s], e, text) for s, e in self.definitions]
        for name, result in zip(self.names, self.results, strict=True):
            if result.shape == (1, 1):
                lines.append(_broken(typeset(name), result[0, 0], text))
            elif _narrow(result, text):
                lines.append(f"{typeset(name)} &= {text(result)}")
            else:
                for places, e in _grouped(result):
                    left = " = ".join(indexed(name, ",".join(map(str, place))) for place in places)
                    lines.append(
                        _broken(left, e, text) if places else rf"& \text{{{_elsewhere(name)}}}"
                    )
        return " \\\\\n".join(lines)

    def _repr_latex_(self) -> str | None:
        """For a notebook; None, and so a line of text, for what would keep it setting for
        minutes."""
        if len(self.definitions) > LONGEST:
            return None
        return f"$$\\begin{{align*}}\n{self.latex()}\n\\end{{align*}}$$"

    def __str__(self) -> str:
        lines = [self.statement[0]] if self.statement[0] else []
        lines += [f"{s} = {written(e)}" for s, e in self.definitions]
        defined = {s for s, _ in self.definitions}
        for name, result in zip(self.names, self.results, strict=True):
            if 0 in result.shape:  # of a mechanism that cannot move
                lines.append(f"{name} is empty ({result.shape[0]}x{result.shape[1]})")
            elif result.shape == (1, 1):
                lines.append(f"{name} = {written(result[0, 0])}")
            elif not defined.issuperset(result):  # whose entries are lines already
                for places, e in _grouped(result):
                    left = " = ".join(f"{name}[{','.join(map(str, place))}]" for place in places)
                    lines.append(f"{left} = {written(e)}" if places else _elsewhere(name))
        return "\n".join(lines)

    def __repr__(self) -> str:
        shapes = (
            f"{n} {r.shape[0]}x{r.shape[1]}" for n, r in zip(self.names, self.results, strict=True)
        )
        inputs = ", ".join(name for name, _ in self.inputs)
        return f"<Equations: {', '.join(shapes)} in {inputs}; {len(self.definitions)} definitions>"


def written(e: Any) -> str:
    """An expression as text, its numbers without zeros at the end."""
    import sympy

    return str(sympy.sstr(e, full_prec=False))


def _elsewhere(name: str) -> str:
    return f"{name} is zero elsewhere"


def _grouped(result: Any) -> Iterator[tuple[list[tuple[int, ...]], Any]]:
    """The different entries of a matrix, each with the places it stands in, from one on; last,
    without places, the zeros of a matrix."""
    rows, columns = result.shape
    places: dict[Any, list[tuple[int, ...]]] = {}
    for i in range(rows):
        for j in range(columns):
            places.setdefault(result[i, j], []).append((i + 1, j + 1) if columns > 1 else (i + 1,))
    zeros = places.pop(0, []) if columns > 1 else []
    yield from ((where, e) for e, where in places.items())
    if zeros:
        yield [], 0


def _narrow(result: Any, text: Callable[[Any], str]) -> bool:
    """Whether a matrix fits on a page: each column is as wide as its widest entry."""
    rows, columns = result.shape
    widest = (
        max((_width(text(result[i, j])) for i in range(rows)), default=0) for j in range(columns)
    )
    return sum(w + 2 for w in widest) <= WIDE


def _broken(left: str, e: Any, text: Callable[[Any], str]) -> str:
    """An equation in LaTeX, a long sum on several lines."""
    whole = text(e)
    if not e.is_Add or _width(whole) <= WIDE:
        return f"{left} &= {whole}"
    lines: list[str] = []
    here = ""
    for term in e.as_ordered_terms():
        shown = text(term)
        signed = shown if not (lines or here) or shown.startswith("-") else f"+ {shown}"
        if here and _width(here) + _width(signed) > WIDE:
            lines, here = [*lines, here], ""
        here = f"{here} {signed}" if here else signed
    return f"{left} &= " + " \\\\\n&\\quad ".join([*lines, here])


def _width(latex: str) -> int:
    """About how many characters are seen."""
    seen = re.sub(r"\\(left|right|mathrm|frac|d?dot|bar)\b", "", latex)
    return len(re.sub(r"[{}_^ ]", "", re.sub(r"\\[A-Za-z]+", "xx", seen)))


class Stage(NamedTuple):
    """A `casadi.Function`, and which of its inputs are which outputs of the stages before."""

    function: Any
    taken: Mapping[int, str] = MappingProxyType({})


def equations(
    f: Any,
    symbols: Mapping[str, Sequence[str]] | None = None,
    statement: tuple[str, str] = ("", ""),
) -> Equations:
    """The equations of a `casadi.Function`, or of several, stage by stage.

    `symbols` gives, for an input's name, the names of its numbers in row order, such as {"q":
    ["q1", "q2"]}; the others are numbered. Greek names and indices are typeset: "theta_1",
    "l_{c1}". One of several stages has all inputs; the results of all are printed, each in those
    before it. In a `statement` the names of results and of inputs' numbers stand in braces.

    >>> import casadi
    >>> q = casadi.SX.sym("q", 2)
    >>> x = 0.5 * casadi.cos(q[0]) * casadi.cos(q[1]) - 0.5 * casadi.sin(q[0]) * casadi.sin(q[1])
    >>> print(equations(casadi.Function("f", [q], [x], ["q"], ["x"])))
    x = cos(q1 + q2)/2
    """
    stages = [
        (read(simplified(g)), taken) for g, taken in (f if isinstance(f, list) else [Stage(f)])
    ]
    steps = _Written(stages, symbols or {}, Steps())
    limit = SHORTER * steps.length
    with suppress(TooLongError):
        normal = _Written(stages, symbols or {}, Normal(limit))
        if normal.length <= 2 * limit:
            normal.share_sums()
        if normal.length <= limit:
            return normal.equations(statement)
    return steps.equations(statement)


def latex(f: Any, symbols: Mapping[str, Sequence[str]] | None = None) -> str:
    """The equations of a `casadi.Function` as lines of LaTeX."""
    return equations(f, symbols).latex()


class _Written:
    """Programs as lines, each in results of those before it, by one way to read them."""

    def __init__(
        self,
        stages: list[tuple[Program, Mapping[int, str]]],
        given: Mapping[str, Sequence[str]],
        reader: Reader,
    ) -> None:
        self.names, self.reader = Names(), reader
        own = [[k for k in range(len(p.input_names)) if k not in taken] for p, taken in stages]
        kept, (whole, _) = max(zip(own, stages, strict=True), key=lambda x: len(x[0]))
        self.input_names = [whole.input_names[k] for k in kept]
        self.inputs = _symbols(
            self.input_names, [math.prod(whole.input_shapes[k]) for k in kept], given, self.names
        )
        made: dict[str, Any] = {}
        for program, taken in stages:
            found = self.reader.read(program, self._inputs_of(program, taken, made))
            if program is not stages[-1][0]:
                found = [self._named(*x) for x in zip(program.output_names, found, strict=True)]
            made |= zip(program.output_names, found, strict=True)
        self.outputs, self.results = tuple(made), list(made.values())
        self.definitions = list(self.reader.definitions)
        self.waves, self.sums = self._name_waves(), list[tuple[Any, Any]]()

    def _inputs_of(
        self, program: Program, taken: Mapping[int, str], made: Mapping[str, Any]
    ) -> list[Sequence[Any]]:
        """Results, and symbols by name: from the end, as parameters, which may be called like a
        state, come last."""
        left = list(zip(self.input_names, self.inputs, strict=True))
        found: list[Sequence[Any]] = []
        for k, name in reversed(list(enumerate(program.input_names))):
            if k in taken:
                found.append(list(made[taken[k]]))
                continue
            while left[-1][0] != name:
                left.pop()
            found.append(left.pop()[1])
        return found[::-1]

    def _named(self, name: str, result: Any) -> Any:
        """A result in which each entry that is more than a symbol has a name."""
        rows, columns = result.shape
        comma = "_" if max(rows, columns) > 9 else ""
        places = [(i, j) for i in range(rows) for j in range(columns) if not result[i, j].is_Atom]
        words = [f"{i + 1}{comma}{j + 1}" if columns > 1 else f"{i + 1}" for i, j in places]
        named = result.copy()
        for place, symbol in zip(places, self.names.numbered(name, words), strict=True):
            named[place] = self.reader.define(result[place], symbol)
        return named

    def _name_waves(self) -> list[tuple[Any, Any]]:
        """Sines and cosines as symbols."""
        named = []
        for letter, found in waves(self._lines(), self.inputs).items():
            symbols = self.names.numbered(letter, [index for index, _ in found])
            named += [(s, wave) for s, (_, wave) in zip(symbols, found, strict=True)]
        self._replace({wave: s for s, wave in named})
        return named

    def share_sums(self) -> None:
        """Sums that recur as definitions; of inputs and waves alone, so that they may come
        first."""
        import sympy

        defined = {s for s, _ in self.definitions}
        while (found := recurring_sum(self._lines(), defined)) is not None:
            self.sums.append((sympy.Dummy(f"y{len(self.sums)}", real=True), found))
            self._replace({found: self.sums[-1][0]})

    def _lines(self) -> list[Any]:
        return [e for _, e in self.definitions] + [e for result in self.results for e in result]

    def _replace(self, names: Mapping[Any, Any]) -> None:
        self.definitions = [(s, e.xreplace(names)) for s, e in self.definitions]
        self.results = [result.xreplace(names) for result in self.results]

    @property
    def length(self) -> int:
        """Operations in all lines."""
        return sum(operations(e) + 1 for e in {*self._lines(), *(e for _, e in self.sums)})

    def equations(self, statement: tuple[str, str]) -> Equations:
        """With names for all that has none yet, and numbers as they are read."""
        lines = [*self.sums, *self.definitions]
        nameless = [s for s, _ in lines if s.is_Dummy]
        numbers = [str(k + 1) for k in range(len(nameless))]
        names = dict(zip(nameless, self.names.numbered("x", numbers), strict=True))
        made = [(names.get(s, s), readable(e.xreplace(names))) for s, e in lines]
        outputs = {word: str(self.names.numbered(word, [""])[0]) for word in self.outputs}
        inputs = tuple(zip(self.input_names, map(tuple, self.inputs), strict=True))
        results = tuple(result.xreplace(names).applyfunc(readable) for result in self.results)
        said = {
            f"{name}{k + 1}": str(s) for name, own in reversed(inputs) for k, s in enumerate(own)
        } | outputs
        texts = (
            _filled(statement[0], said),
            _filled(statement[1], {word: typeset(name) for word, name in said.items()}),
        )
        return Equations(tuple(outputs.values()), inputs, (*self.waves, *made), results, texts)


def _filled(statement: str, names: Mapping[str, str]) -> str:
    """A statement with the names that stand in it in braces; other braces are LaTeX's own."""
    return re.sub(r"\{(\w+)\}", lambda found: names.get(found[1], found[0]), statement)


def _symbols(
    inputs: Sequence[str], sizes: Sequence[int], given: Mapping[str, Sequence[str]], names: Names
) -> list[list[Any]]:
    """The symbols of every input. The last inputs choose first: the mechanism's parameters keep
    their names."""
    if unknown := set(given) - set(inputs):
        raise GraphError(f"there is no input {min(unknown)!r}; there are {', '.join(inputs)}.")
    result: list[list[Any]] = [[] for _ in inputs]
    for k, (name, size) in enumerate(zip(inputs, sizes, strict=True)):
        if name in given:
            if len(given[name]) != size:
                raise GraphError(
                    f"input {name!r} has {size} numbers; {len(given[name])} names were given."
                )
            result[k] = names.given(given[name])
    for k, (name, size) in reversed(list(enumerate(zip(inputs, sizes, strict=True)))):
        if name not in given:
            result[k] = names.numbered(
                name, [""] if size == 1 else [str(i + 1) for i in range(size)]
            )
    return result
