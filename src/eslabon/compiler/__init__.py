"""From a formula to what computes it: one CasADi graph, read as a program, made into machine code, kept on disk.

`formula` says what is asked for, `trace` makes its graph, `evaluate` finds its function again, `calls` has functions that call one another, `operators` what is loops in native code, `program`
reads the graph, `llvm` makes code of it, `store` keeps the code, `function` is what is called.
Nothing heavy (CasADi, llvmlite) is imported before it is used.
"""

from eslabon.compiler.program import GraphError, Program, read

__all__ = ["GraphError", "Program", "read"]
