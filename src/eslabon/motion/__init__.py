"""Motion in time: paths, the trajectory, and simulation.

`paths` plans how frames and joints move, `simulation` integrates the equations of motion, and
`trajectory` is what both become for a mechanism. Public as `es.paths` and `es.simulate`.
"""
