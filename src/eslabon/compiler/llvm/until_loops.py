"""A step repeated until its flag is set (`compiler.until`), as an LLVM function.

Lanes finish one by one. Which have finished stands in the scratch array, at FINISHED, and is known
to every such loop: one inside the step of another has nothing to do for lanes that have finished
with the step.
"""

from __future__ import annotations

from eslabon.compiler.llvm.ir import Body, splat, vector_type
from eslabon.compiler.program import Program, starts

FINISHED = 0  # the place in the scratch array of a program with such loops: 1 in lanes that have


def scratch_size(program: Program) -> int:
    """How many vectors the loop needs besides: arguments and results of the step."""
    (step,) = program.functions
    return starts(step.input_shapes)[-1] + starts(step.output_shapes)[-1]


def none_finished(width: int) -> list[str]:
    """Lines at the beginning of a kernel."""
    V = vector_type(width)
    return [
        f"  %finished = getelementptr {V}, ptr %scratch, i64 {FINISHED}",
        f"  store {V} {splat(width, 0.0)}, ptr %finished, align {8 * width}",
    ]


def definition(name: str, step: str, program: Program, place: int, width: int) -> str:
    """@name(source, scratch, target), whose own part of the scratch array begins at `place`."""
    code = _Loop(step, program, place, width)
    if width == 1:
        code.one_state()
    else:
        code.states()
    code.b.do("ret void")
    header = f"internal void {name}(ptr noalias %source, ptr noalias %scratch, ptr noalias %target) nounwind"
    return code.b.function(header)


class _Loop:
    """The loop under construction: the step reads `arguments`, of which the state is the
    beginning."""

    def __init__(self, step: str, program: Program, place: int, width: int) -> None:
        self.b, self.V, self.align = Body(width), vector_type(width), f"align {8 * width}"
        self.step, self.limit = step, program.operator.limit
        *_, taken = starts(program.input_shapes)
        _, self.state, *_ = starts(program.output_shapes)  # and the flag and the count after it
        self.arguments = self.b.offset("%scratch", place, self.V)
        self.results = self.b.offset("%scratch", place + taken, self.V)
        self.copied(self.arguments, "%source", taken)

    def one_state(self) -> None:
        """The loop ends with the state."""
        b = self.b
        again, after = self.begin()
        self.copied(self.arguments, self.results, self.state)
        flag = self.load(self.results, self.state)
        goes_on = b.let(f"xor i1 {b.let(f'fcmp ogt double {flag}, {splat(1, 0.0)}')}, true")
        index = self.end(again, after, goes_on)
        self.copied("%target", self.results, self.state + 1)
        self.store(b.let(f"sitofp i64 {index} to double"), "%target", self.state + 1)

    def states(self) -> None:
        """The loop ends with the last lane; those that have finished keep what they have."""
        b = self.b
        outside = self.load("%scratch", FINISHED)
        self.store(splat(b.width, 0.0), "%target", self.state)
        self.store(splat(b.width, 0.0), "%target", self.state + 1)
        again, after = self.begin()
        finished = b.vector(self.load("%scratch", FINISHED)).equals(1.0)

        def keep(old: str, new: str) -> str:
            return b.select(finished, b.vector(old), b.vector(new)).name

        with b.loop(self.state) as k:
            old, new = self.load(self.arguments, k), self.load(self.results, k)
            self.store(keep(old, new), self.arguments, k)
        flag = self.load(self.results, self.state)
        self.store(keep(self.load("%target", self.state), flag), "%target", self.state)
        count = self.load("%target", self.state + 1)
        more = (b.vector(count) + 1.0).name
        self.store(keep(count, more), "%target", self.state + 1)
        now = b.select(b.vector(flag) > 0.0, 1.0, b.select(finished, 1.0, 0.0))
        self.store(now.name, "%scratch", FINISHED)
        self.end(again, after, now.equals(0.0).anywhere())
        self.store(outside, "%scratch", FINISHED)
        self.copied("%target", self.arguments, self.state)

    def begin(self) -> tuple[str, str]:
        """A turn, from the call of the step on."""
        b = self.b
        again, after = b.new_label("again"), b.new_label("after")
        before = b.label
        b.do(f"br label %{again}")
        b.start(again)
        b.do(f"%{again}.i = phi i64 [ 0, %{before} ], [ %{again}.n, %{again}.last ]")
        b.do(f"call void {self.step}(ptr {self.arguments}, ptr %scratch, ptr {self.results})")
        return again, after

    def end(self, again: str, after: str, goes_on: str) -> str:
        """Begin anew if it goes on and the limit allows; gives the number of turns."""
        b = self.b
        b.do(f"br label %{again}.last")
        b.start(f"{again}.last")
        b.do(f"%{again}.n = add i64 %{again}.i, 1")
        allowed = b.let(f"icmp slt i64 %{again}.n, {self.limit}")
        b.do(f"br i1 {b.let(f'and i1 {goes_on}, {allowed}')}, label %{again}, label %{after}")
        b.start(after)
        return f"%{again}.n"

    def load(self, at: str, place: str | int) -> str:
        return self.b.let(f"load {self.V}, ptr {self.b.offset(at, place, self.V)}, {self.align}")

    def store(self, value: str, at: str, place: str | int) -> None:
        self.b.do(f"store {self.V} {value}, ptr {self.b.offset(at, place, self.V)}, {self.align}")

    def copied(self, target: str, source: str, count: int) -> None:
        size = 8 * self.b.width * count
        self.b.do(
            f"call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {source}, i64 {size}, i1 false)"
        )
