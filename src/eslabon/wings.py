"""The wings of the house from the shell down to what everything rests on: a wing knows nothing of those above it.

A test compares the rows with the contract that import-linter checks. What stands side by side in a row is apart.
"""

WINGS: tuple[tuple[str, ...], ...] = (
    ("__main__",),
    ("cli",),
    ("studies", "viewer", "reproductions"),
    ("sweeps", "optimize"),
    ("measures",),
    ("mechanism",),
    ("bond_graph",),
    ("textbook",),
    ("verbs",),
    ("control", "identification"),
    ("linear",),
    ("simulate", "structure"),
    ("solvers",),
    ("drawing",),
    ("scene",),
    ("formulas.quantities",),
    ("coordinates",),
    ("dynamics",),
    ("formulations",),
    ("bonds",),
    ("kinematics",),
    ("export",),
    ("compiler",),
    ("paths", "read", "write"),
    ("model",),
    ("algebra",),
    ("displays",),
    ("pages",),
    ("plotting", "progress", "sheets"),
    ("language",),
    ("arguments", "atomic_files", "least_squares"),
    ("errors", "wings"),
)
