"""The one configuration problem: assembly, inverse kinematics, rates and paths; the structure of
constraints, singular configurations, workspace and mobility.

A reader starts with `problem` (what is prescribed), `rows` (of frames' poses), `kernels` (the
native code), `solver` (search, refinement, continuation) and `rates`; `assembly`,
`inverse_kinematics`, `path_following` and `assembly_modes` are the verbs.
"""
