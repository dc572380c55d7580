"""Bond graphs: the language, causality, the junction structure, equations, analysis, and mechanisms
as graphs.

The way through the wing: `elements` are the data, `notation` reads them as people write them,
`graph_files` as files hold them, and `network_parts` draws them from lists of parts; `submodels`
puts nested graphs in their places and `graph_checks` looks at what comes out; `graph.Graph` is a
description with its numbers. `causality` assigns the strokes, `junction_structure` follows from
them, and `graph_formulas` are the formulas for the one evaluator. `signal_flow` finds causal paths
and loops, `structural_ranks` counts storages. Other graphs come out by `graph_editor`:
`linearized_graph` and `observer_description`. `bond_graph.BondGraph` is the class users hold.

Karnopp, Margolis and Rosenberg, System Dynamics; Morales, chapters 2, 4 and 5.
"""
