"""From a formula to what computes or prints it: one CasADi graph, read by every backend.

`program` reads the graph; `native` makes machine code, `c` portable C, `count` counts. Of equations `symbolic` (with
`harmonics`) makes SymPy's expressions, `abbreviated` their abbreviations, `typeset` names, and `printed` the text.
Nothing heavy (CasADi, llvmlite, SymPy) is imported before it is used.
"""

from eslabon.graph.program import GraphError, Program, read

__all__ = ["GraphError", "Program", "read"]
