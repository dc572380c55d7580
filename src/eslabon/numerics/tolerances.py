"""The twelve tolerances: pure numbers, each with what it bounds and what that is measured by.

Nothing here has a unit. A row of equations in metres is divided by the characteristic length L
(`eslabon.model.scale`) before it is compared; a force by the largest force that acts, an inertia by
the total mass times L^2, a singular value by the largest. What steers an algorithm (steps, damping,
restarts) is a setting of it and stands beside it."""

from __future__ import annotations

# What some hundred operations leave of zero; of the largest term of the sum.
ROUND_OFF = 1e-12

# The error of published or typed data: an orthonormal matrix, a unit quaternion, a symmetric
# matrix, moments of inertia; of the largest entry.
INPUT_DIGITS = 1e-6

# Two values are one: instants, limits, poles, directions, points; of the period, the range, the
# largest pole, 1, L.
COINCIDENT = 1e-9

# What a solver leaves of the rows of closure or of a target: radians, or metres over L.
CONVERGED = 1e-10

# How far a state that a caller gives may violate loop closure: radians, or metres over L; velocities
# in parts of the largest one where that is more than 1 (`formulas.kinematics.closure.violation`).
ACCEPTED_VIOLATION = 1e-6

# Two configurations are one solution: radians, or metres over L.
DISTINCT = 1e-6

# Singular values of a matrix with comparable rows and columns that count as zero; of the largest.
RANK = 1e-8

# The reciprocal condition number below which an answer is refused.
SINGULAR = 1e-6

# The reciprocal condition number below which other independent coordinates are tried, which
# compiles.
POORLY_CONDITIONED = 1e-4

# The reciprocal condition number below which a message warns.
NEAR_SINGULAR = 0.02

# Inertia that counts as none; of the total mass, times L^2 where a joint turns.
MASSLESS = 1e-13

# Forces left over in an equilibrium, a verification or a completed motion; of the largest force
# that acts.
BALANCED = 1e-8
