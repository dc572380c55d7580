"""Sizes and times on the way from a formula to native code, as the table of docs/native_code.md.

    python docs_build/compile_times.py

Each row is a new process with an empty cache: CPU milliseconds to trace the graph, to read and emit it, of LLVM, and the bytes of
machine code; then the time of one warm call with arrays.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from typing import Any

ROWS = [
    ("elbow", "pose"),
    ("puma560", "forward_dynamics"),
    ("puma560", "forward_dynamics_derivatives"),
    ("five_bar", "forward_dynamics"),
    ("delta", "inverse_dynamics"),
    ("stewart_gough", "forward_dynamics"),
]


class Clock:
    """CPU seconds spent in functions."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}

    def around(self, module: Any, name: str) -> None:
        """Count the time of a function of a module."""
        function = getattr(module, name)

        def timed(*given: Any, **words: Any) -> Any:
            start = time.process_time()
            try:
                return function(*given, **words)
            finally:
                self.spent[name] = self.spent.get(name, 0.0) + time.process_time() - start

        setattr(module, name, timed)


def measure(name: str, verb: str) -> str:
    """One row, measured in this process."""
    import numpy as np

    import eslabon as es
    from eslabon.compiler import evaluate, native
    from eslabon.compiler.llvm import cpython, machine

    for width in {1, machine.host().width}:  # the runtime is made once for a processor
        cpython.elementary("sincos", width)
    cpython.calls(), cpython.batches()
    clock = Clock()
    clock.around(evaluate, "trace")
    clock.around(native, "_assembled")
    clock.around(machine, "_object")
    m = es.load(name)
    q, v = m.home(), np.zeros(m.nv)
    given = {"pose": (q,), "inverse_dynamics": (q, v, v)}.get(verb, (q, v, np.zeros(m.nu)))
    words = {"frame": m.frames[0].name} if verb == "pose" else {}
    call = getattr(m, verb)
    call(*given, **words)
    function = max(
        (x for x in m.memory.values() if getattr(x, "__name__", "") == verb),
        key=lambda x: x.signature.operations,
    )
    size = len(function.general.code._kept.code)
    best = min(_seconds(lambda: call(*given, **words)) for _ in range(7))
    traced, made, llvm = (1e3 * clock.spent[x] for x in ("trace", "_assembled", "_object"))
    return (
        f"| {name} | {verb} | {function.signature.operations:,} | {traced:.0f} | {made - llvm:.0f} | {llvm:.0f} | "
        f"{size / 1e3:.1f} | {1e6 * best:.2f} |"
    )


def _seconds(call: Any, count: int = 2000) -> float:
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count


def main() -> None:
    if len(sys.argv) == 3:
        print(measure(*sys.argv[1:]))
        return
    print(
        "| mechanism | verb | operations | trace, ms | emit, ms | LLVM, ms | code, kB | call, us |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for row in ROWS:
        with tempfile.TemporaryDirectory() as cache:
            command = [sys.executable, __file__, *row]
            print(
                subprocess.check_output(
                    command, env={**os.environ, "ESLABON_CACHE": cache}, text=True
                ),
                end="",
            )


if __name__ == "__main__":
    main()
