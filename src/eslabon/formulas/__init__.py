"""Formulas: functions of a model and symbols that give expressions, and never evaluate anything.

`kinematics` has frames and loops, `formulations` the published equations of a tree, `constrained`
the methods for constraints. A `motion_state` puts these together, `dynamics` and `derivatives` are
functions of it, and `quantities` is the table of what can be asked.
"""
