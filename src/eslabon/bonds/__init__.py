"""Bond graphs as formulas: the language, causality, the junction structure, and the equations that follow.

The way through the room: `items` are the data, `written` reads them as people write them, `toml` as files hold them, and
`construction` draws them from lists of parts; `submodels` puts nested graphs in their places and `validation` looks at
what comes out; `graph.Graph` is a description with its numbers. `causality` assigns the strokes, `junctions` derives the
junction structure from them, and `equations` are the formulas for the one evaluator; `motion_terms` has those of robots.
`signal_flow` finds causal paths and loops, `structural_ranks` counts storages. Other graphs come out by `rewriting`:
`linear_graph` and `observer_description`.

Karnopp, Margolis and Rosenberg, System Dynamics; Morales, chapters 2, 4 and 5.
"""
