"""From functions that call one another to one program: what is read, in which order it runs, and what is never needed.

A composed function is read as one stretch of instructions, in which arguments of calls are outputs and their results
inputs. Each instruction belongs to a stage, the number of calls that must be over before it; a call stands between two
stages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any
from weakref import WeakKeyDictionary

from eslabon.graph.calls import Call, Composed
from eslabon.graph.matrices import Operator
from eslabon.graph.program import Instruction, Program, Repetition, instructions, read, row_ordered, starts


def linked(f: Any) -> Program:
    """The program of a `casadi.Function` of SX or of a `Composed`, with all that it calls.

    >>> import casadi
    >>> from eslabon.graph.calls import call, composed
    >>> x = casadi.SX.sym("x")
    >>> sine = casadi.Function("sine", [x], [casadi.sin(x)])
    >>> program = linked(composed("f", [x], lambda x: 2 * call(sine, x)))
    >>> [i.name for i in program.instructions], program.operations
    (['input', 'argument', 'call', 'result', 'twice', 'output'], 2)
    """
    return _Linker().program(f)


# A law is linked for its digest, and again as a part of what it drives.
_LINKED: WeakKeyDictionary[Composed, Program] = WeakKeyDictionary()


class _Linker:
    """Reads every function once, however often it is called."""

    def __init__(self) -> None:
        self._read: dict[tuple[type, int], Program] = {}

    def program(self, f: Any) -> Program:
        if isinstance(f, Composed):
            if f not in _LINKED:
                _LINKED[f] = self._composed(f)
            return _LINKED[f]
        key = type(f), hash(f)
        if key not in self._read:
            self._read[key] = _operator(f) if isinstance(f, Operator) else read(f)
        return self._read[key]

    def _composed(self, f: Composed) -> Program:
        flat = f.open()
        functions, which = self._callees(f.calls)
        steps = _named(instructions(flat), f, functions, which)
        into, out_of = [flat.size_in(k) for k in range(f.n_in())], [flat.size_out(k) for k in range(f.n_out())]
        names = tuple(f.name_in()), tuple(f.name_out())
        repeated = tuple(_repetition(k, c) for k, c in enumerate(f.calls) if c.columns)
        scheduled = tuple(_scheduled(steps, which))
        return Program(f.name(), scheduled, *names, tuple(into), tuple(out_of), functions, repeated)

    def _callees(self, calls: Sequence[Call]) -> tuple[tuple[Program, ...], list[int]]:
        """The distinct programs that are called, and which of them each call means."""
        distinct: dict[str, Program] = {}
        called = [self.program(c.function) for c in calls]
        for program in called:
            distinct.setdefault(program.digest, program)
        number = {digest: k for k, digest in enumerate(distinct)}
        return tuple(distinct.values()), [number[program.digest] for program in called]


def _operator(f: Operator) -> Program:
    return Program(f.name(), (), tuple(f.name_in()), tuple(f.name_out()), tuple(f.shapes), (f.size_out(0),), operator=f)


def _named(steps: list[Instruction], f: Composed, functions: Sequence[Program], which: list[int]) -> list[Instruction]:
    """The last input and the last output, by call and by place among the callee's results and arguments."""

    arguments: list[tuple[int, int]] = []
    results: list[tuple[int, int]] = []
    for k, c in enumerate(f.calls):
        callee = functions[which[k]]
        given = _places(callee.input_shapes, c.function.sparsity_in)
        made = _places(callee.output_shapes, c.function.sparsity_out)
        if c.columns:
            given = list(range(sum(a.numel() for a in c.arguments)))
            size = starts(callee.output_shapes)[-1]
            made = [r * size + p for r in range(len(c.columns)) for p in made]
        arguments += [(k, place) for place in given]
        results += [(k, place) for place in made]

    into, out_of = f.n_in(), f.n_out()
    for k, i in enumerate(steps):
        if i.name == "input" and i.place[0] == into:
            steps[k] = Instruction("result", place=results[i.place[1]])
        elif i.name == "output" and i.place[0] == out_of:
            steps[k] = Instruction("argument", i.args, place=arguments[i.place[1]])
    return steps


def _places(shapes: Sequence[tuple[int, int]], structure: Callable[[int], Any]) -> list[int]:
    """Where the nonzeros of arrays stand that lie dense and in row order one after the other."""
    begin = starts(shapes)
    return [begin[k] + p for k in range(len(shapes)) for p in row_ordered(structure(k))]


def _repetition(call: int, c: Call) -> Repetition:
    """Columns lie one after the other, matrix after matrix."""
    first = list(accumulate((a.numel() for a in c.arguments), initial=0))
    rows = [a.shape[0] for a in c.arguments]
    table = tuple([tuple([first[k] + column * rows[k] for k, column in enumerate(row)]) for row in c.columns])
    return Repetition(call, first[-1], table)


def _scheduled(steps: list[Instruction], which: list[int]) -> list[Instruction]:
    """Everything as soon as the calls before it are over, arguments last; calls only where their results are used."""
    stage, used = _stages(steps), _used(steps, len(which))
    order: list[list[int]] = [[] for _ in range(len(which) + 1)]
    for k in sorted(used, key=lambda k: (steps[k].name == "argument", k)):
        order[stage[k]].append(k)
    called = {steps[k].place[0] for k in used if steps[k].name == "result"}
    number: dict[int, int] = {}
    made: list[Instruction] = []
    for s, stretch in enumerate(order):
        for k in stretch:
            i = steps[k]
            number[k] = len(made)
            made.append(Instruction(i.name, tuple([number[a] for a in i.args]), i.value, i.place) if i.args else i)
        if s in called:
            made.append(Instruction("call", place=(s, which[s])))
    return made


def _stages(steps: list[Instruction]) -> list[int]:
    """How many calls must be over before each instruction."""
    stage = [0] * len(steps)
    for k, i in enumerate(steps):
        if i.name == "result":
            stage[k] = i.place[0] + 1
        elif i.name == "argument":
            stage[k] = i.place[0]
        elif i.args:
            stage[k] = max([stage[a] for a in i.args])
    return stage


def _used(steps: list[Instruction], calls: int) -> list[int]:
    """The instructions that an output depends on, through calls too, in their order."""
    used = [False] * len(steps)
    arguments: list[list[int]] = [[] for _ in range(calls)]
    for k, i in enumerate(steps):
        if i.name == "argument":
            arguments[i.place[0]].append(k)
    waiting = [k for k, i in enumerate(steps) if i.name == "output"]
    while waiting:
        k = waiting.pop()
        if used[k]:
            continue
        used[k] = True
        waiting += steps[k].args
        if steps[k].name == "result":
            waiting += arguments[steps[k].place[0]]
            arguments[steps[k].place[0]] = []
    return [k for k, needed in enumerate(used) if needed]
