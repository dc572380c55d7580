"""The published formulations, one page each: functions of a mechanism and CasADi symbols that give
expressions.

Every one gives the joint forces of a tree in rigid-body motion, gravity included:
`inverse_dynamics(m, q, v, a, ...)`. They are written independently of one another, so that each
checks the others.
"""
