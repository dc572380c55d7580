"""LLVM IR as text: the few words of it that this room speaks.

Text is built several times faster than llvmlite's objects, and compile time is what a user waits for. A `Body` is one
function under construction; a `Vector` is a value in it, one number per state of a block, with Python's operators.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar


def bits(x: float) -> str:
    """A double as LLVM writes it exactly.

    >>> bits(1.0)
    '0x3FF0000000000000'
    """
    return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"


def vector_type(width: int, element: str = "double") -> str:
    """The type of one value for each of `width` states."""
    return f"<{width} x {element}>"


def splat(width: int, x: float) -> str:
    """The constant that is `x` in every lane."""
    return "<" + ", ".join([f"double {bits(x)}"] * width) + ">"


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
        position = len(self._lines)  # the phi needs the label of the last inside block, known only at the end
        more = self.let(f"icmp slt i64 {index}, {count}")
        self.do(f"br i1 {more}, label %{inside}, label %{after}")
        self.start(inside)
        yield index
        following = self.let(f"add i64 {index}, {step}")
        self._lines.insert(position, f"  {index} = phi i64 [ {first}, %{before} ], [ {following}, %{self.label} ]")
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

    # Vectors --------------------------------------------------------------------------------------------------------

    def vector(self, name: str) -> Vector:
        """A named value as a `Vector`."""
        return Vector(self, name)

    def constant(self, x: float) -> Vector:
        """`x` in every lane."""
        return Vector(self, splat(self.width, x))

    def integers(self, x: int) -> Bits:
        """The 64-bit integer `x` in every lane."""
        return Bits(self, "<" + ", ".join([f"i64 {x}"] * self.width) + ">")

    def intrinsic(self, name: str, *arguments: Vector) -> Vector:
        """An operation LLVM knows by name, such as sqrt or fma."""
        t = vector_type(self.width)
        text = ", ".join(f"{t} {a.name}" for a in arguments)
        return Vector(self, self.let(f"call {t} @llvm.{name}.v{self.width}f64({text})"))

    def select(self, mask: Mask, yes: Vector, no: Vector) -> Vector:
        """`yes` in the lanes where the mask holds, `no` elsewhere; nothing leaks from the other one."""
        t = vector_type(self.width)
        return Vector(self, self.let(f"select {mask.type} {mask.name}, {t} {yes.name}, {t} {no.name}"))

    def polynomial(self, x: Vector, coefficients: Sequence[float]) -> Vector:
        """Horner's rule with fused operations, highest power first."""
        result = self.constant(coefficients[0])
        for c in coefficients[1:]:
            result = result.fma(x, c)
        return result


class _Lanes:
    element: ClassVar[str]

    def __init__(self, body: Body, name: str) -> None:
        self.body, self.name = body, name

    @property
    def type(self) -> str:
        return vector_type(self.body.width, self.element)


class Mask(_Lanes):
    """One truth value for each state."""

    element = "i1"

    def __and__(self, other: Mask) -> Mask:
        return Mask(self.body, self.body.let(f"and {self.type} {self.name}, {other.name}"))

    def anywhere(self) -> str:
        """An i1: whether it holds in any lane."""
        flat = self.body.let(f"bitcast {self.type} {self.name} to i{self.body.width}")
        return self.body.let(f"icmp ne i{self.body.width} {flat}, 0")


class Bits(_Lanes):
    """The 64 bits of each lane as an integer."""

    element = "i64"

    def _with(self, op: str, other: int) -> Bits:
        return Bits(self.body, self.body.let(f"{op} {self.type} {self.name}, {self.body.integers(other).name}"))

    def __and__(self, other: int) -> Bits:
        return self._with("and", other)

    def __or__(self, other: int) -> Bits:
        return self._with("or", other)

    def __add__(self, other: int) -> Bits:
        return self._with("add", other)

    def __lshift__(self, other: int) -> Bits:
        return self._with("shl", other)

    def __rshift__(self, other: int) -> Bits:
        return self._with("lshr", other)

    def has(self, bit: int) -> Mask:
        """Whether the bit is set."""
        masked = self & bit
        return Mask(self.body, self.body.let(f"icmp ne {self.type} {masked.name}, zeroinitializer"))

    def double(self) -> Vector:
        """The same bits read as a double."""
        return Vector(self.body, self.body.let(f"bitcast {self.type} {self.name} to {vector_type(self.body.width)}"))


class Vector(_Lanes):
    """One double for each state of a block; every operation rounds once, as IEEE says."""

    element = "double"

    def _other(self, x: Vector | float) -> Vector:
        return x if isinstance(x, Vector) else self.body.constant(x)

    def _with(self, op: str, left: Vector | float, right: Vector | float) -> Vector:
        a, b = self._other(left), self._other(right)
        return Vector(self.body, self.body.let(f"{op} {self.type} {a.name}, {b.name}"))

    def __add__(self, x: Vector | float) -> Vector:
        return self._with("fadd", self, x)

    def __sub__(self, x: Vector | float) -> Vector:
        return self._with("fsub", self, x)

    def __rsub__(self, x: float) -> Vector:
        return self._with("fsub", x, self)

    def __mul__(self, x: Vector | float) -> Vector:
        return self._with("fmul", self, x)

    def __truediv__(self, x: Vector | float) -> Vector:
        return self._with("fdiv", self, x)

    def __neg__(self) -> Vector:
        return Vector(self.body, self.body.let(f"fneg {self.type} {self.name}"))

    __radd__, __rmul__ = __add__, __mul__

    def _compare(self, how: str, x: Vector | float) -> Mask:
        return Mask(self.body, self.body.let(f"fcmp {how} {self.type} {self.name}, {self._other(x).name}"))

    def __lt__(self, x: Vector | float) -> Mask:
        return self._compare("olt", x)

    def __gt__(self, x: Vector | float) -> Mask:
        return self._compare("ogt", x)

    def equals(self, x: Vector | float) -> Mask:
        """Equal, and neither is NaN."""
        return self._compare("oeq", x)

    def is_nan(self) -> Mask:
        return self._compare("uno", self)

    def fma(self, factor: Vector | float, term: Vector | float) -> Vector:
        """self * factor + term, rounded once."""
        return self.body.intrinsic("fma", self, self._other(factor), self._other(term))

    def absolute(self) -> Vector:
        return self.body.intrinsic("fabs", self)

    def sqrt(self) -> Vector:
        return self.body.intrinsic("sqrt", self)

    def with_sign_of(self, x: Vector) -> Vector:
        return self.body.intrinsic("copysign", self, x)

    def bits(self) -> Bits:
        """The lanes' 64 bits as integers."""
        return Bits(
            self.body, self.body.let(f"bitcast {self.type} {self.name} to {vector_type(self.body.width, 'i64')}")
        )
