"""What a formula looks like elsewhere: C, counted operations, printed equations. Knows functions
with named inputs and outputs, nothing of mechanisms.

`c_source` writes portable C, `operation_counts` counts. Of equations `sympy_reader` (with
`harmonics`) makes SymPy's expressions, `abbreviations` their short forms, `typeset` names, and
`equations` the text. SymPy and CasADi are imported when they are used.
"""
