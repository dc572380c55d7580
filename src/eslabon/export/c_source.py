"""Portable C99 from a graph: one function, a header, nothing needed but math.h.

Arrays are dense and in row order, one state's worth each. The text depends on the graph alone, so
that it can be kept under version control. An intermediate value that is used once stands where it
is used, as one would write it by hand.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eslabon.answers import Answer, Source
from eslabon.arguments import file_path
from eslabon.atomic_files import write
from eslabon.compiler.calls import inlined
from eslabon.compiler.operators import Lookup
from eslabon.compiler.program import GraphError, Instruction, Program, read
from eslabon.compiler.until import Until

LINE = (
    72  # characters; what is longer than half of it gets a name before it goes into something else
)

# Precedence in C, for the few operators used: comparisons, sums, products, signs, and what needs no
# brackets.
CHOICE, LOGIC, COMPARISON, SUM, PRODUCT, SIGN, ATOM = range(7)

# A number where a truth is asked for is true unless it is zero, in C as in CasADi.
# name: text with the arguments, how tightly it binds, how tightly each argument must bind
_FORMS = {
    "add": ("{} + {}", SUM, (SUM, PRODUCT)),
    "sub": ("{} - {}", SUM, (SUM, PRODUCT)),
    "mul": ("{} * {}", PRODUCT, (PRODUCT, SIGN)),
    "div": ("{} / {}", PRODUCT, (PRODUCT, SIGN)),
    "neg": ("-{}", SIGN, (ATOM,)),
    "sq": ("{0} * {0}", PRODUCT, (ATOM,)),
    "twice": ("2.0 * {}", PRODUCT, (SIGN,)),
    "inv": ("1.0 / {}", PRODUCT, (SIGN,)),
    "lt": ("{} < {}", COMPARISON, (SUM, SUM)),
    "le": ("{} <= {}", COMPARISON, (SUM, SUM)),
    "eq": ("{} == {}", COMPARISON, (SUM, SUM)),
    "ne": ("{} != {}", COMPARISON, (SUM, SUM)),
    "not": ("!{}", SIGN, (ATOM,)),
    "and": ("{} && {}", LOGIC, (COMPARISON, COMPARISON)),
    "or": ("{} || {}", LOGIC, (COMPARISON, COMPARISON)),
    "if_else_zero": ("{} ? {} : 0.0", CHOICE, (COMPARISON, SUM)),
    "sign": ("sign_of({})", ATOM, (CHOICE,)),
    "constpow": ("pow({}, {})", ATOM, (CHOICE, CHOICE)),
}
_FUNCTIONS = """sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp expm1 log log1p pow sqrt fabs
    floor ceil fmin fmax fmod remainder copysign hypot erf"""
# Of math.h's other names those that a mechanism might have too; j0 to yn are there without a strict
# standard only.
_OTHER_NAMES = """cbrt erfc exp2 fdim fma frexp gamma ilogb j0 j1 jn ldexp lgamma llrint llround log10 log2 logb lrint lround
    main modf nan nearbyint nextafter remquo rint round scalbn tgamma trunc y0 y1 yn NAN INFINITY HUGE_VAL"""
_KEYWORDS = """auto break case char const continue default do double else enum extern float for goto if inline int long
    register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while"""
_MATH_H = frozenset(_FUNCTIONS.split())
_RESERVED = _MATH_H | set(f"{_KEYWORDS} {_OTHER_NAMES} sign_of row_of".split())
_SIGN_OF = (
    "static double sign_of(double x)\n{\n    return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x;\n}\n\n"
)
_ROW_OF = "static int row_of(double x, int last)\n{\n    return x >= last ? last : x > 0.0 ? (int)x : 0;\n}\n\n"  # NaN is row 0


@dataclass(frozen=True)
class CSource(Answer):
    """A header and an implementation.

    >>> import eslabon as es
    >>> es.load("elbow").c_source("jacobian")
    <CSource elbow_jacobian: 23 lines of C; print .header and .code, or .write(folder)>
    """

    name: str
    header: str
    code: str

    def write(self, folder: str | Path) -> tuple[Path, Path]:
        """Write name.h and name.c into a folder, which is made if it is not there; gives their
        paths."""
        to = file_path(folder, "folder")
        header, code = to / f"{self.name}.h", to / f"{self.name}.c"
        return write(header, self.header), write(code, self.code)

    def contents(self) -> Iterator[Source]:
        yield Source(f"{self.name}.h", self.header)
        yield Source(f"{self.name}.c", self.code)

    def __repr__(self) -> str:
        lines = self.code.count("\n")
        return (
            f"<CSource {self.name}: {lines} lines of C; print .header and .code, or .write(folder)>"
        )


def source(f: Any, name: str = "", note: str = "") -> CSource:
    """C source of a `casadi.Function`: one function, in which only rows of tables
    (`compiler.operators`) are looked up.

    >>> import casadi
    >>> q = casadi.SX.sym("q", 2)
    >>> f = casadi.Function("height", [q], [casadi.sin(q[0]) + casadi.sin(q[0] + q[1])], ["q"], ["h"])
    >>> print(source(f).code)
    #include "height.h"
    #include <math.h>
    <BLANKLINE>
    void height(const double *q, double *h)
    {
        const double t1 = sin(q[0]) + sin(q[0] + q[1]);
        h[0] = t1;
    }
    <BLANKLINE>
    """
    program = read(inlined(f, keep=(Lookup, Until)))
    if any(isinstance(p.operator, Until) for p in program.family()):
        raise GraphError(
            f"{program.name} repeats a step until it has finished, and has no C source; "
            "ask for that of the step."
        )
    name = _identifier(name or program.name)
    inputs, outputs = _argument_names(program)
    writer = _Writer(program, inputs)
    stores = writer.stores(outputs)
    parameters = ", ".join(
        [*(f"const double *{n}" for n in inputs), *(f"double *{n}" for n in outputs)]
    )
    prototype = f"void {name}({parameters})"
    unused = [
        *writer.unused(),
        *(n for n, shape in zip(outputs, program.output_shapes, strict=True) if 0 in shape),
    ]
    body = [f"    {line}" for line in [*(f"(void){n};" for n in unused), *writer.lines, *stores]]
    helper = _SIGN_OF if any(i.name == "sign" for i in program.instructions) else ""
    if program.functions:
        helper += _ROW_OF + "".join(_table(k, table) for k, table in enumerate(program.functions))
    code = (
        f'#include "{name}.h"\n#include <math.h>\n\n{helper}{prototype}\n{{\n'
        + "\n".join(body)
        + "\n}\n"
    )
    return CSource(name, _header(program, name, prototype, inputs, outputs, note), code)


def _table(k: int, program: Program) -> str:
    """The constants of a table, a row after the other."""
    rows = [f"    {', '.join(map(_number, row))}" for row in program.operator.values]
    size = len(rows) * len(program.operator.values[0])
    return f"static const double table{k}[{size}] = {{\n" + ",\n".join(rows) + "\n};\n\n"


def _header(
    program: Program, name: str, prototype: str, inputs: list[str], outputs: list[str], note: str
) -> str:
    guard = f"{name.upper()}_H"

    def line(n: str, shape: tuple[int, int], what: str) -> str:
        return (
            f" * {n}: {what}, {shape[0]}x{shape[1]}"
            if shape[1] != 1
            else f" * {n}: {what}, {shape[0]}"
        )

    about = [
        f"/* {_comment(note or name)}: {program.operations} operations, written by eslabon.",
        " * Arrays are dense and in row order; an output may be the same array as an input.",
        *(line(n, s, "input") for n, s in zip(inputs, program.input_shapes, strict=True)),
        *(line(n, s, "output") for n, s in zip(outputs, program.output_shapes, strict=True)),
        " */",
    ]
    start = ["#ifdef __cplusplus", 'extern "C" {', "#endif"]
    end = ["#ifdef __cplusplus", "}", "#endif"]
    lines = [
        *about,
        f"#ifndef {guard}",
        f"#define {guard}",
        *start,
        f"{prototype};",
        *end,
        f"#endif /* {guard} */",
    ]
    return "\n".join(lines) + "\n"


class _Writer:
    """Expressions as text: an entry of `texts` is (text, how tightly it binds)."""

    def __init__(self, program: Program, inputs: list[str]) -> None:
        self._program, self._inputs = program, inputs
        self._uses = Counter(a for i in program.instructions for a in i.args)
        self._texts: dict[int, tuple[str, int]] = {}
        self._numbers: dict[int, str] = {}  # of the rows that calls look up
        self.lines: list[str] = []

    def stores(self, outputs: list[str]) -> list[str]:
        """The assignments to outputs, all after the last input is read; the rest goes to
        `lines`."""
        shapes = zip(outputs, self._program.output_shapes, strict=True)
        stores = {
            (k, p): f"{n}[{p}] = 0.0;"
            for k, (n, shape) in enumerate(shapes)
            for p in range(math.prod(shape))
        }
        for k, i in enumerate(self._program.instructions):
            if i.name == "output":
                self._name(i.args[0], even_input=True)  # the output may be the same array
                stores[i.place] = (
                    f"{outputs[i.place[0]]}[{i.place[1]}] = {self._texts[i.args[0]][0]};"
                )
            elif i.name == "argument":
                self._numbers[i.place[0]] = self._texts[i.args[0]][0]
            elif i.name == "call":
                self._look_up(*i.place)
            else:
                self._texts[k] = self._expression(i)
                if self._uses[k] > 1:
                    self._name(k)
        return [stores[place] for place in sorted(stores)]

    def _look_up(self, call: int, table: int) -> None:
        values = self._program.functions[table].operator.values
        row = f"row_of({self._numbers[call]}, {len(values) - 1})"
        self.lines.append(f"const double *row{call} = table{table} + {len(values[0])} * {row};")

    def unused(self) -> list[str]:
        """Inputs the function does not depend on."""
        used = {i.place[0] for i in self._program.instructions if i.name == "input"}
        return [n for k, n in enumerate(self._inputs) if k not in used]

    def _name(self, k: int, even_input: bool = False) -> None:
        """Give a value a name, unless it is as short as one."""
        kind = self._program.instructions[k].name
        if (
            kind == "const"
            or (kind == "input" and not even_input)
            or re.fullmatch(r"t\d+", self._texts[k][0])
        ):
            return
        name = f"t{len(self.lines) + 1}"
        self.lines.append(f"const double {name} = {self._texts[k][0]};")
        self._texts[k] = (name, ATOM)

    def _expression(self, i: Instruction) -> tuple[str, int]:
        if i.name == "const":
            return _number(i.value), SIGN if math.copysign(1.0, i.value) < 0 else ATOM
        if i.name == "result":
            return f"row{i.place[0]}[{i.place[1]}]", ATOM
        if i.name == "input":
            return f"{self._inputs[i.place[0]]}[{i.place[1]}]", ATOM
        if i.name == "sq":
            self._name(i.args[0])
        if i.name in _FORMS:
            text, binds, needs = _FORMS[i.name]
        elif i.name in _MATH_H:
            text, binds, needs = (
                f"{i.name}({', '.join(['{}'] * len(i.args))})",
                ATOM,
                (CHOICE,) * len(i.args),
            )
        else:
            raise GraphError(
                f"{self._program.name} uses {i.name!r}, which C's math.h does not have."
            )
        for a in i.args:
            if len(self._texts[a][0]) > LINE / 2:
                self._name(a)
        arguments = [self._bracketed(a, need) for a, need in zip(i.args, needs, strict=True)]
        return text.format(*arguments), binds

    def _bracketed(self, k: int, need: int) -> str:
        text, binds = self._texts[k]
        return text if binds >= need else f"({text})"


def _number(x: float) -> str:
    """A C constant with the same bits."""
    if math.isnan(x):
        return "NAN"
    if math.isinf(x):
        return "INFINITY" if x > 0 else "-INFINITY"
    return repr(x)


def _comment(text: str) -> str:
    """What may stand inside a C comment: one line that neither ends it, opens another, nor hides
    anything."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line.replace("\\", "/").replace("*/", "* /").replace("/*", "/ *")


def _identifier(name: str) -> str:
    word = re.sub(r"\W", "_", name, flags=re.ASCII)
    word = f"_{word}" if not word or word[0].isdigit() else word
    return f"{word}_" if word in _RESERVED or re.fullmatch(r"(t|row|table)\d+", word) else word


def _argument_names(program: Program) -> tuple[list[str], list[str]]:
    """Distinct identifiers for all arguments."""
    names: list[str] = []
    for name in (*program.input_names, *program.output_names):
        word = _identifier(name)
        while word in names:
            word += "_"
        names.append(word)
    return names[: len(program.input_names)], names[len(program.input_names) :]
