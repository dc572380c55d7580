"""The host's processor, and LLVM to make and load code for it. llvmlite is imported here and only
when needed."""

from __future__ import annotations

import os
import re
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from threading import Lock
from types import ModuleType
from typing import Any

from eslabon.compiler.llvm.ir import STRAIGHT
from eslabon.errors import InputError


@dataclass(frozen=True)
class Host:
    """What code is made for."""

    triple: str
    cpu: str
    features: str
    width: int  # doubles in one register: a block of states
    fused: bool  # multiply-add in one rounding
    compiler: str  # versions of llvmlite and LLVM


@cache
def llvm() -> ModuleType | None:
    """llvmlite's binding, ready for this machine, or None where there is none or it does not
    fit."""
    try:
        import llvmlite.binding as binding

        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        binding.check_jit_execution()
    except (ImportError, OSError, RuntimeError):
        return None
    # The emitted code speaks of 64-bit addresses and reads doubles bytewise.
    return binding if struct.calcsize("P") == 8 and sys.byteorder == "little" else None


@cache
def host() -> Host:
    """The processor this process runs on."""
    import llvmlite

    binding: Any = llvm()
    present = binding.get_host_cpu_features()
    triple = binding.get_default_triple()
    width = 8 if present.get("avx512f") else 4 if present.get("avx") else 2
    fused = bool(present.get("fma")) or triple.startswith(("aarch64", "arm64"))
    compiler = f"llvmlite {llvmlite.__version__}, LLVM {binding.llvm_version_info}"
    return Host(triple, binding.get_host_cpu_name(), present.flatten(), width, fused, compiler)


# Instructions of a kernel beyond which its straight code is made at LLVM's level 0, and only its
# loops at level 1. Measured on 10,000 to 25,000 of them: straight code is made three times as fast
# and runs a twentieth to a sixth slower, so that some hundred thousand calls go by before level 1
# pays; loops would run five times slower.
LONG = 20_000
# Instructions of a kernel beyond which LLVM does not schedule them. Measured on 30 formulas: with
# 1,000 to 10,000 of them this takes a tenth to a fifth of LLVM's time and gains nothing; shorter
# code is up to a twentieth faster for it.
SCHEDULED = 1_000


def optimization() -> int:
    """$ESLABON_OPTIMIZATION: 1, as if it were not set, is level 1 for all but long programs; 0 is
    level 0 for all."""
    chosen = os.environ.get("ESLABON_OPTIMIZATION") or "1"
    if chosen not in ("0", "1"):
        raise InputError(
            f"ESLABON_OPTIMIZATION is '{chosen}'; set it to 0 for code that is compiled sooner and runs slower, to 1 for the "
            "usual, or leave it out."
        )
    return int(chosen)


def _target_machine(level: int = 1) -> Any:
    """Level 1: on straight-line code the higher levels find nothing more and take a tenth
    longer."""
    binding: Any = llvm()
    here = host()
    target = binding.Target.from_triple(here.triple)
    return target.create_target_machine(cpu=here.cpu, features=here.features, opt=level, jit=True)


def assemble(text: str, instructions: int = 0, quick: bool = False) -> bytes:
    """Machine code of a module given as LLVM text, of a kernel with so many instructions; `Loaded`
    reads it.

    It is one object, or two where the straight code of a long kernel, or of one to be made quickly,
    is made at another level than its loops. No optimisation passes: CasADi has already shared what
    can be shared.
    """
    level = optimization()
    with _unscheduled() if level and instructions > SCHEDULED else nullcontext():
        if level == 0 or (instructions <= LONG and not quick):
            return _framed(_object(text, level))
        loops, straight = _parted(text)
        return _framed(_object(loops, level)) + _framed(_object(straight, 0))


def _object(text: str, level: int) -> bytes:
    """The object code of one module."""
    binding: Any = llvm()
    target = _target_machine(level)
    code: bytes = target.emit_object(
        binding.parse_assembly(f'target triple = "{target.triple}"\n{text}')
    )
    return code


_SCHEDULING = Lock()


@contextmanager
def _unscheduled() -> Iterator[None]:
    """Without LLVM's scheduling of machine instructions. The switch is one for the whole process,
    where others may use LLVM too: it is off no longer than needed."""
    binding: Any = llvm()
    with _SCHEDULING:
        binding.set_option("eslabon", "-enable-misched=false")
        try:
            yield
        finally:
            binding.set_option("eslabon", "-enable-misched=true")


def _parted(text: str) -> tuple[str, str]:
    """A module as two that call each other's functions: loops and whatever else there is, and
    straight code."""
    parts = text.replace("define internal ", "define ").split(STRAIGHT)
    loops, straight = "".join(parts[::2]), "".join(parts[1::2])
    declared = "".join(re.findall("declare .*\n", loops))
    return _declarations(straight) + loops, declared + _declarations(loops) + straight


def _declarations(text: str) -> str:
    """What another module must know of the functions in a text."""
    return "".join([f"declare {header}\n" for header in re.findall(r"define (.*\)).* {\n", text)])


# Objects stand one after the other, each behind this mark and its length in eight bytes.
_MARK = b"object\r\n"


def _framed(code: bytes) -> bytes:
    return _MARK + len(code).to_bytes(8, "little") + code


def objects(code: bytes) -> list[bytes]:
    """The objects in what `assemble` made; LLVM would crash on anything else."""
    found = []
    while code:
        end = 16 + int.from_bytes(code[8:16], "little")
        if not code.startswith(_MARK) or len(code) < end:
            raise ValueError("this is no machine code made by machine.assemble.")
        found.append(code[16:end])
        code = code[end:]
    return found


# What gives the runtime's short functions their speed: variables in registers, small functions in
# their callers, and what these share found once. All of LLVM's level 2 takes three times as long; a
# call of three arrays takes 0.02 us less for it.
PASSES = (
    "sroa",
    "always_inliner",
    "sroa",
    "instruction_combine",
    "simplify_cfg",
    "jump_threading",
    "new_gvn",
    "dead_store_elimination",
    "instruction_combine",
    "simplify_cfg",
)


def optimized(text: str) -> bytes:
    """Machine code of a module with loops and calls of its own, through the passes that pay.
    Functions that are to stand in their callers are marked `alwaysinline`."""
    binding: Any = llvm()
    target = _target_machine()
    module = binding.parse_assembly(
        f'target triple = "{target.triple}"\ntarget datalayout = "{target.target_data}"\n{text}'
    )
    passes = binding.create_new_module_pass_manager()
    for name in PASSES:
        getattr(passes, f"add_{name}_pass")()
    options = binding.create_pipeline_tuning_options()
    passes.run(module, binding.create_pass_builder(target, options))
    return _framed(target.emit_object(module))


def publish(name: str, loaded: Loaded) -> None:
    """Let code that is loaded from now on call a function of another module by its name. That
    module must stay loaded."""
    binding: Any = llvm()
    binding.add_symbol(name, loaded.function(name))


class Loaded:
    """Machine code in memory; it stays there as long as this object lives."""

    def __init__(self, code: bytes) -> None:
        binding: Any = llvm()
        self._engine = binding.create_mcjit_compiler(binding.parse_assembly(""), _target_machine())
        for part in objects(code):
            self._engine.add_object_file(binding.ObjectFileRef.from_data(part))
        self._engine.finalize_object()

    def function(self, name: str) -> int:
        """The address of a function."""
        return int(self._engine.get_function_address(name))

    def variable(self, name: str) -> int:
        """The address of a global variable."""
        return int(self._engine.get_global_value_address(name))
