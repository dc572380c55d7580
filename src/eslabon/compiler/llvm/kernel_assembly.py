"""The machine code of a program's kernels, each apart: whoever calls one of the two need not wait
for the other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from eslabon.compiler.llvm import machine
from eslabon.compiler.llvm.emit import Kernel, Layout, kernel, single_kernel, single_kernel_pays
from eslabon.compiler.program import Program
from eslabon.progress import run_interruptibly


@dataclass(frozen=True)
class Assembled:
    """A kernel as machine code, and the memory that it works on: packed inputs, scratch array and
    packed outputs, in vectors of `width` numbers, aligned to 64 bytes. Outputs that are zero by
    structure are never written."""

    code: bytes  # cpython.kernel_code(...).function(name) is the address of void (source, scratch, target)
    name: str
    width: int
    layout: Layout
    scratch_size: int
    elementary: tuple[str, ...]  # functions of `vector_math` that it calls

    @property
    def facts(self) -> dict[str, Any]:
        """What is kept with the code."""
        return {"scratch": self.scratch_size, "elementary": list(self.elementary)}


def assembled_batch(program: Program, quick: bool = False) -> Assembled:
    """The code for a block of states, one in each lane; a quick one is made sooner and runs
    slower."""
    here = machine.host()
    return _assembled(kernel(program, here.width, here.fused), program.length, quick)


def assembled_single(program: Program, quick: bool = False) -> Assembled:
    """The code for one state alone. That of a short program is the one for a block, whose lanes are
    then all the same."""
    here = machine.host()
    if not single_kernel_pays(program):
        return assembled_batch(program, quick)
    return _assembled(single_kernel(program, here.width, here.fused), program.length, quick)


def _assembled(made: Kernel, length: int, quick: bool) -> Assembled:
    code = run_interruptibly(partial(machine.assemble, made.text, length, quick))
    name = made.name.removeprefix("@")
    return Assembled(code, name, made.width, made.layout, made.scratch_size, made.elementary)
