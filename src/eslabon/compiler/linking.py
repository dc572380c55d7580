"""From functions that call one another to one program: what is read, in which order it runs, and what is never needed.

A composed function is read as one stretch of instructions, in which arguments of calls are outputs and their results
inputs. Each instruction belongs to a stage, the number of calls that must be over before it; a call stands between two
stages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, chain
from typing import Any
from weakref import WeakKeyDictionary

from eslabon.compiler.calls import Call, Composed, Opened
from eslabon.compiler.lookup import Lookup
from eslabon.compiler.matrices import Operator
from eslabon.compiler.program import Instruction, Move, Program, Repetition, instructions, read, row_ordered, starts


def linked(f: Any) -> Program:
    """The program of a `casadi.Function` of SX or of a `Composed`, with all that it calls.

    >>> import casadi
    >>> from eslabon.compiler.calls import call, composed
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
            self._read[key] = _operator(f) if isinstance(f, Operator | Lookup) else read(f)
        return self._read[key]

    def _composed(self, f: Composed) -> Program:
        opened = f.open()
        flat = opened.flat
        functions, which = self._callees(f.calls)
        given, made = _around_calls(f, functions, which)
        moves = _moves(opened, given, made, [row_ordered(x.sparsity()) for x in f.outputs])
        steps = _named(instructions(flat), f, opened, given, made)
        into, out_of = [flat.size_in(k) for k in range(f.n_in())], [flat.size_out(k) for k in range(f.n_out())]
        names = tuple(f.name_in()), tuple(f.name_out())
        repeated = tuple(
            _repetition(k, c, functions[which[k]].output_shapes) for k, c in enumerate(f.calls) if c.columns
        )
        scheduled, moves = _scheduled(steps, which, moves)
        return Program(
            f.name(), tuple(scheduled), *names, tuple(into), tuple(out_of), functions, repeated, tuple(moves)
        )

    def _callees(self, calls: Sequence[Call]) -> tuple[tuple[Program, ...], list[int]]:
        """The distinct programs that are called, and which of them each call means."""
        distinct: dict[str, Program] = {}
        called = [self.program(c.function) for c in calls]
        for program in called:
            distinct.setdefault(program.digest, program)
        number = {digest: k for k, digest in enumerate(distinct)}
        return tuple(distinct.values()), [number[program.digest] for program in called]


def _operator(f: Operator | Lookup) -> Program:
    return Program(f.name(), (), tuple(f.name_in()), tuple(f.name_out()), tuple(f.shapes), (f.size_out(0),), operator=f)


Places = list[list[tuple[int, int]]]  # for each call, by nonzero: the call and a place


def _around_calls(f: Composed, functions: Sequence[Program], which: list[int]) -> tuple[Places, Places]:
    """Where the nonzeros of arguments and of results of every call stand."""
    arguments: Places = []
    results: Places = []
    for k, c in enumerate(f.calls):
        callee = functions[which[k]]
        given = _places(callee.input_shapes, c.function.sparsity_in)
        made = _places(callee.output_shapes, c.function.sparsity_out)
        if c.columns:
            given = list(range(sum(a.numel() for a in c.arguments)))
            size = starts(callee.output_shapes)[-1]
            made = [r * size + p for r in range(len(c.columns)) for p in made]
        arguments.append([(k, place) for place in given])
        results.append([(k, place) for place in made])
    return arguments, results


def _moves(opened: Opened, given: Places, made: Places, outputs: list[list[int]]) -> list[Move]:
    """What goes from call to call, or to an output."""
    sources = list(chain.from_iterable(made))
    found = [Move(*given[k][n], *sources[s]) for k, x in enumerate(opened.arguments) for n, s in x.items()]
    return found + [
        Move(-1 - k, outputs[k][n], *sources[s]) for k, x in enumerate(opened.outputs) for n, s in x.items()
    ]


def _named(steps: list[Instruction], f: Composed, opened: Opened, given: Places, made: Places) -> list[Instruction]:
    """The last input and the last output, by call and by place among the callee's results and arguments."""
    results = list(chain.from_iterable(made))
    arguments = [
        x for own, moved in zip(given, opened.arguments, strict=True) for n, x in enumerate(own) if n not in moved
    ]
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


def _repetition(call: int, c: Call, outputs: Sequence[tuple[int, int]]) -> Repetition:
    """Columns lie one after the other, matrix after matrix; results repetition by repetition."""
    first = list(accumulate((a.numel() for a in c.arguments), initial=0))
    rows = [a.shape[0] for a in c.arguments]
    *begin, size = starts(outputs)

    def place(k: int, column: int) -> int:
        output = c.back[k]
        if output is None or column >= 0:
            return first[k] + column * rows[k]
        return -1 - (begin[output] + (-1 - column) * size)

    table = tuple([tuple([place(k, column) for k, column in enumerate(row)]) for row in c.columns])
    return Repetition(call, first[-1], table)


def _scheduled(steps: list[Instruction], which: list[int], moves: list[Move]) -> tuple[list[Instruction], list[Move]]:
    """Everything as soon as the calls before it are over, arguments last; calls only where their results are used."""
    stage, (used, called) = _stages(steps), _used(steps, moves, len(which))
    order: list[list[int]] = [[] for _ in range(len(which) + 1)]
    for k in sorted(used, key=lambda k: (steps[k].name == "argument", k)):
        order[stage[k]].append(k)
    number: dict[int, int] = {}
    made: list[Instruction] = []
    for s, stretch in enumerate(order):
        for k in stretch:
            i = steps[k]
            number[k] = len(made)
            made.append(Instruction(i.name, tuple([number[a] for a in i.args]), i.value, i.place) if i.args else i)
        if s in called:
            made.append(Instruction("call", place=(s, which[s])))
    return made, [x for x in moves if x.target < 0 or x.target in called]


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


def _used(steps: list[Instruction], moves: list[Move], calls: int) -> tuple[list[int], set[int]]:
    """The instructions that an output depends on, through calls too, in their order, and these calls."""
    used, called = [False] * len(steps), set[int]()
    arguments: list[list[int]] = [[] for _ in range(calls)]
    sources: list[set[int]] = [set() for _ in range(calls)]
    for k, i in enumerate(steps):
        if i.name == "argument":
            arguments[i.place[0]].append(k)
    for x in moves:
        if x.target >= 0:
            sources[x.target].add(x.call)
    waiting = [k for k, i in enumerate(steps) if i.name == "output"]
    needed = [x.call for x in moves if x.target < 0]
    while waiting or needed:
        if needed:
            call = needed.pop()
            if call not in called:
                called.add(call)
                waiting += arguments[call]
                needed += sources[call]
            continue
        k = waiting.pop()
        if used[k]:
            continue
        used[k] = True
        waiting += steps[k].args
        if steps[k].name == "result":
            needed.append(steps[k].place[0])
    return [k for k, wanted in enumerate(used) if wanted], called
