"""From a formula to what computes it: one CasADi graph, read as a program, made into machine code,
kept on disk.

`formula` says what is asked for, `trace` makes its graph, `program` reads the graph, `llvm` makes
code of it, `store` keeps the code, `function` is what is called; `evaluate` goes this way, or finds
the function again. `calls` is for functions that call one another, `operators` for what is loops in
native code, `callbacks` for how CasADi sees these. Nothing heavy (CasADi, llvmlite) is imported
before it is used.
"""

from eslabon.compiler.program import GraphError, Program, read

__all__ = ["GraphError", "Program", "read"]
