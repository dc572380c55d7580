"""LLVM IR as text: the few words of it that this room speaks.

Text is built several times faster than llvmlite's objects, and compile time is what a user waits
for. A `Body` is one function under construction; a `Vector` is a value in it, one number per state
of a block, with Python's operators.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

# A line before and after functions without loops, of which a long program has most: `machine` may
# compile these apart.
STRAIGHT = "; straight code\n"


def bits(x: float) -> str:
    """A double as LLVM writes it exactly.

    >>> bits(1.0)
    '0x3FF0000000000000'
    """
    return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"


def vector_type(width: int, element: str = "double") -> str:
    """The type of one value for each of `width` states. For one state it is that of the value
    itself, and no vector: LLVM's quick way of choosing instructions knows none of one element."""
    return element if width == 1 else f"<{width} x {element}>"


def suffix(width: int) -> str:
    """How the names of LLVM's own functions end that take doubles, one for each of `width`
    states."""
    return "f64" if width == 1 else f"v{width}f64"


def splat(width: int, x: float) -> str:
    """The constant that is `x` in every lane."""
    return bits(x) if width == 1 else "<" + ", ".join([f"double {bits(x)}"] * width) + ">"


@dataclass
class Fold:
    """What a loop carries from turn to turn."""

    values: list[str]
    following: list[str] = field(default_factory=list)


class Body:
    """The text of one function, grown line by line."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.label = "entry"
        self._lines = ["entry:"]
        self._count = 0

    def let(self, right: str) -> str:
        """Name the result of an instruction."""
        self._count += 1
        name = f"%v{self._count}"
        self._lines.append(f"  {name} = {right}")
        return name

    def do(self, text: str) -> None:
        """Add an instruction without a result."""
        self._lines.append("  " + text)

    def new_label(self, hint: str) -> str:
        """A label nobody has used."""
        self._count += 1
        return f"{hint}{self._count}"

    def start(self, label: str) -> None:
        """Open a basic block; the one before must have ended."""
        self.label = label
        self._lines.append(f"{label}:")

    @contextmanager
    def loop(self, count: str | int, step: int = 1, first: str | int = 0) -> Iterator[str]:
        """Repeat for first, first + step ... below `count`; gives the running index."""
        head, inside, after = (self.new_label(h) for h in ("head", "inside", "after"))
        before, index = self.label, f"%{head}.i"
        self.do(f"br label %{head}")
        self.start(head)
        position = len(
            self._lines
        )  # the phi needs the label of the last inside block, known only at the end
        more = self.let(f"icmp slt i64 {index}, {count}")
        self.do(f"br i1 {more}, label %{inside}, label %{after}")
        self.start(inside)
        yield index
        following = self.let(f"add i64 {index}, {step}")
        self._lines.insert(
            position, f"  {index} = phi i64 [ {first}, %{before} ], [ {following}, %{self.label} ]"
        )
        self.do(f"br label %{head}")
        self.start(after)

    @contextmanager
    def fold(
        self, count: str | int, values: Sequence[str], first: str | int = 0
    ) -> Iterator[tuple[str, Fold]]:
        """The same with vectors that go from one turn to the next: `following` of a `Fold` are
        those of the next turn, and after the loop `values` are those of the last."""
        head, inside, after = (self.new_label(h) for h in ("head", "inside", "after"))
        before, index, V = self.label, f"%{head}.i", vector_type(self.width)
        sums = Fold([f"%{head}.x{k}" for k in range(len(values))])
        self.do(f"br label %{head}")
        self.start(head)
        position = len(self._lines)
        more = self.let(f"icmp slt i64 {index}, {count}")
        self.do(f"br i1 {more}, label %{inside}, label %{after}")
        self.start(inside)
        yield index, sums
        following = self.let(f"add i64 {index}, 1")
        pairs = zip(sums.values, values, sums.following, strict=True)
        self._lines[position:position] = [
            f"  {index} = phi i64 [ {first}, %{before} ], [ {following}, %{self.label} ]",
            *(
                f"  {x} = phi {V} [ {old}, %{before} ], [ {new}, %{self.label} ]"
                for x, old, new in pairs
            ),
        ]
        self.do(f"br label %{head}")
        self.start(after)

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        """Do what follows only if the i1 holds; nothing defined inside may be used after."""
        inside, after = self.new_label("then"), self.new_label("after")
        self.do(f"br i1 {condition}, label %{inside}, label %{after}")
        self.start(inside)
        yield
        self.do(f"br label %{after}")
        self.start(after)

    def offset(self, pointer: str, count: str | int, element: str = "i8") -> str:
        """The address `count` elements further on."""
        return self.let(f"getelementptr {element}, ptr {pointer}, i64 {count}")

    def function(self, header: str) -> str:
        """The finished function."""
        return f"define {header} {{\n" + "\n".join(self._lines) + "\n}\n"

    # Vectors
    # --------------------------------------------------------------------------------------------------------

    def vector(self, name: str) -> Vector:
        """A named value as a `Vector`."""
        return Vector(self, name)

    def constant(self, x: float) -> Vector:
        """`x` in every lane."""
        return Vector(self, splat(self.width, x))

    def splat(self, element: str, x: float) -> str:
        """The constant of a type of element that is `x` in every lane."""
        if element == "double":
            return splat(self.width, x)
        return f"{x}" if self.width == 1 else f"<{', '.join([f'{element} {x}'] * self.width)}>"

    def lane(self, vector: str, lane: int) -> str:
        """The double in one lane."""
        return (
            vector
            if self.width == 1
            else self.let(f"extractelement {vector_type(self.width)} {vector}, i32 {lane}")
        )

    def with_lane(self, vector: str, number: str, lane: int) -> str:
        """The vector with another double in one lane."""
        if self.width == 1:
            return number
        return self.let(
            f"insertelement {vector_type(self.width)} {vector}, double {number}, i32 {lane}"
        )

    def in_all_lanes(self, number: str) -> str:
        """One double in every lane."""
        if self.width == 1:
            return number
        V = vector_type(self.width)
        one = self.let(f"insertelement {V} poison, double {number}, i32 0")
        return self.let(
            f"shufflevector {V} {one}, {V} poison, <{self.width} x i32> zeroinitializer"
        )

    def intrinsic(self, name: str, *arguments: Vector | float) -> Vector:
        """An operation LLVM knows by name, such as sqrt or fma."""
        t = vector_type(self.width)
        given = [a.name if isinstance(a, Vector) else splat(self.width, a) for a in arguments]
        return Vector(
            self,
            self.let(
                f"call {t} @llvm.{name}.{suffix(self.width)}({', '.join(f'{t} {a}' for a in given)})"
            ),
        )

    def select(self, mask: Mask, yes: Vector | float, no: Vector | float) -> Vector:
        """`yes` in the lanes where the mask holds, `no` elsewhere; nothing leaks from the other
        one."""
        t = vector_type(self.width)
        a, b = (x.name if isinstance(x, Vector) else splat(self.width, x) for x in (yes, no))
        return Vector(self, self.let(f"select {mask.type} {mask.name}, {t} {a}, {t} {b}"))

    def polynomial(self, x: Vector, coefficients: Sequence[float]) -> Vector:
        """Horner's rule with fused operations, highest power first."""
        result = self.constant(coefficients[0])
        for c in coefficients[1:]:
            result = result.fma(x, c)
        return result


def _operator(op: str, turned: bool = False) -> Any:
    """A method of `Lanes` that is one LLVM instruction of two operands."""

    def apply(self: Any, other: Any) -> Any:
        return self._combined(op, other, self) if turned else self._combined(op, self, other)

    return apply


class Lanes:
    """A value for each state of a block; every operation is one instruction."""

    element: ClassVar[str]

    def __init__(self, body: Body, name: str) -> None:
        self.body, self.name = body, name

    @property
    def type(self) -> str:
        return vector_type(self.body.width, self.element)

    def _name(self, x: Lanes | float) -> str:
        return x.name if isinstance(x, Lanes) else self.body.splat(self.element, x)

    def _combined(self, op: str, left: Lanes | float, right: Lanes | float) -> Any:
        right_hand = f"{op} {self.type} {self._name(left)}, {self._name(right)}"
        return (Mask if "cmp" in op else type(self))(self.body, self.body.let(right_hand))

    def _as(self, kind: Any) -> Any:
        """The same bits read as another kind of value."""
        made = kind(self.body, "")
        made.name = self.body.let(f"bitcast {self.type} {self.name} to {made.type}")
        return made


class Mask(Lanes):
    """One truth value for each state."""

    element = "i1"
    __and__ = _operator("and")

    def anywhere(self) -> str:
        """An i1: whether it holds in any lane."""
        flat = self.body.let(f"bitcast {self.type} {self.name} to i{self.body.width}")
        return self.body.let(f"icmp ne i{self.body.width} {flat}, 0")


class Bits(Lanes):
    """The 64 bits of each lane as an integer."""

    element = "i64"
    __and__, __or__, __add__ = _operator("and"), _operator("or"), _operator("add")
    __lshift__, __rshift__ = _operator("shl"), _operator("lshr")

    def has(self, bit: int) -> Mask:
        """Whether the bit is set."""
        masked: Bits = self & bit
        mask: Mask = masked._combined("icmp ne", masked, 0)
        return mask

    def double(self) -> Vector:
        """The same bits read as a double."""
        made: Vector = self._as(Vector)
        return made


class Vector(Lanes):
    """One double for each state of a block; every operation rounds once, as IEEE says."""

    element = "double"
    __add__ = __radd__ = _operator("fadd")
    __mul__ = __rmul__ = _operator("fmul")
    __sub__, __rsub__, __truediv__ = (
        _operator("fsub"),
        _operator("fsub", turned=True),
        _operator("fdiv"),
    )
    __lt__, __gt__, equals = _operator("fcmp olt"), _operator("fcmp ogt"), _operator("fcmp oeq")

    def __neg__(self) -> Vector:
        return Vector(self.body, self.body.let(f"fneg {self.type} {self.name}"))

    def is_nan(self) -> Mask:
        mask: Mask = self._combined("fcmp uno", self, self)
        return mask

    def fma(self, factor: Vector | float, term: Vector | float) -> Vector:
        """self * factor + term, rounded once."""
        return self.body.intrinsic("fma", self, factor, term)

    def absolute(self) -> Vector:
        return self.body.intrinsic("fabs", self)

    def sqrt(self) -> Vector:
        return self.body.intrinsic("sqrt", self)

    def with_sign_of(self, x: Vector) -> Vector:
        return self.body.intrinsic("copysign", self, x)

    def bits(self) -> Bits:
        """The lanes' 64 bits as integers."""
        made: Bits = self._as(Bits)
        return made
