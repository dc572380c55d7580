"""The host's processor, and LLVM to make and load code for it. llvmlite is imported here and only when needed."""

from __future__ import annotations

import os
import struct
import sys
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

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
    """llvmlite's binding, ready for this machine, or None where there is none or it does not fit."""
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


# Instructions of a program beyond which its code is made at LLVM's level 0. Measured on 40,000 to 130,000 of them: made
# three to four times as fast, it runs a fifth to a half slower, so that a hundred thousand calls go by before level 1 pays.
LONG = 25_000


def optimization() -> int:
    """$ESLABON_OPTIMIZATION: 1, as if it were not set, is level 1 for all but long programs; 0 is level 0 for all."""
    chosen = os.environ.get("ESLABON_OPTIMIZATION") or "1"
    if chosen not in ("0", "1"):
        raise InputError(
            f"ESLABON_OPTIMIZATION is '{chosen}'; set it to 0 for code that is compiled sooner and runs slower, to 1 for the "
            "usual, or leave it out."
        )
    return int(chosen)


def _target_machine(level: int = 1) -> Any:
    """Level 1: on straight-line code the higher levels find nothing more and take a tenth longer."""
    binding: Any = llvm()
    here = host()
    target = binding.Target.from_triple(here.triple)
    return target.create_target_machine(cpu=here.cpu, features=here.features, opt=level, jit=True)


def assemble(text: str, instructions: int = 0) -> bytes:
    """Object code of a module given as LLVM text, of a program with so many instructions.

    No optimisation passes: CasADi has already shared what can be shared.
    """
    binding: Any = llvm()
    target = _target_machine(0 if instructions > LONG else optimization())
    code: bytes = target.emit_object(binding.parse_assembly(f'target triple = "{target.triple}"\n{text}'))
    return code


def optimized(text: str) -> bytes:
    """Object code of a module with loops and calls of its own, by all passes of LLVM's level 3: for what is made once."""
    binding: Any = llvm()
    target = _target_machine(3)
    module = binding.parse_assembly(
        f'target triple = "{target.triple}"\ntarget datalayout = "{target.target_data}"\n{text}'
    )
    passes = binding.create_pass_builder(target, binding.create_pipeline_tuning_options(speed_level=3))
    passes.getModulePassManager().run(module, passes)
    code: bytes = target.emit_object(module)
    return code


class Loaded:
    """Object code in memory; it stays there as long as this object lives."""

    def __init__(self, code: bytes) -> None:
        binding: Any = llvm()
        self._engine = binding.create_mcjit_compiler(binding.parse_assembly(""), _target_machine())
        self._engine.add_object_file(binding.ObjectFileRef.from_data(code))
        self._engine.finalize_object()

    def function(self, name: str) -> int:
        """The address of a function."""
        return int(self._engine.get_function_address(name))

    def variable(self, name: str) -> int:
        """The address of a global variable."""
        return int(self._engine.get_global_value_address(name))
