"""Orientation in every representation of Rojas, 2.4, and the one function that converts between them.

A rotation matrix R takes components in the turned frame to components in the fixed one, and its columns are the turned
axes. Here live the formulas that have a matrix on one side, and the table of all conversions. For numbers a matrix
that is no rotation is a RotationError; symbols are taken at their word.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from eslabon.arguments import floats, known_words
from eslabon.errors import RotationError
from eslabon.numerics import quaternions
from eslabon.numerics.scalars import (
    Array,
    Scalar,
    absolute,
    atan2,
    components,
    cos,
    dot,
    entries,
    is_symbolic,
    matmul,
    matrix,
    norm,
    require,
    scalar,
    sin,
    stumpff,
    times,
    transpose,
    vector,
    where,
)
from eslabon.numerics.tolerances import INPUT_DIGITS

# A sine or cosine of the middle angle below this is what rounding leaves of zero.
GIMBAL_LOCK = 2 * np.finfo(float).eps


# --- matrices ----------------------------------------------------------------------------------------------------


def check_rotation(rotation: Array) -> Array:
    """The matrix itself, if it is a rotation: orthogonal to within 1e-6, with determinant +1.

    >>> check_rotation(np.eye(3)).shape
    (3, 3)
    >>> check_rotation(np.diag([1, 1, -1]))
    Traceback (most recent call last):
    eslabon.errors.RotationError: this matrix is not a rotation but a reflection, for its determinant is -1; turn one
    of its axes round.
    """
    entries(rotation, 3, 3)
    if is_symbolic(rotation):
        return rotation
    rotation = np.asarray(rotation, dtype=float)
    finite = np.isfinite(rotation).all(axis=(-2, -1))
    require(finite, "matrix", "is not a rotation, for it has entries that are not finite.")
    with np.errstate(all="ignore"):  # what overflows is no rotation
        error = np.abs(transpose(rotation) @ rotation - np.eye(3)).max(axis=(-2, -1))
    require(
        error <= INPUT_DIGITS,
        "matrix",
        "is not a rotation, for its columns miss being orthonormal by {:.3g} (1e-06 is allowed); orthonormalise them, "
        "or give the orientation as a quaternion.",
        error,
    )
    require(
        np.linalg.det(rotation) > 0,
        "matrix",
        "is not a rotation but a reflection, for its determinant is -1; turn one of its axes round.",
    )
    return rotation


def rotation_x(angle: Scalar) -> Array:
    """The rotation by an angle about x.

    >>> rotation_x(np.pi / 2) @ [0, 1, 0]
    array([0., 0., 1.])
    """
    c, s = cos(scalar(angle)), sin(scalar(angle))
    return matrix([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def rotation_y(angle: Scalar) -> Array:
    """The rotation by an angle about y.

    >>> rotation_y(np.pi / 2) @ [0, 0, 1]
    array([1., 0., 0.])
    """
    c, s = cos(scalar(angle)), sin(scalar(angle))
    return matrix([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def rotation_z(angle: Scalar) -> Array:
    """The rotation by an angle about z.

    >>> rotation_z(np.pi / 2) @ [1, 0, 0]
    array([0., 1., 0.])
    """
    c, s = cos(scalar(angle)), sin(scalar(angle))
    return matrix([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def rotation_about(axis: Array, angle: Scalar) -> Array:
    """The rotation R = e⊗e + cos φ (1 - e⊗e) + sin φ ê by φ about an axis, scaled to length one.

    >>> rotation_about([0, 0, 2], np.pi / 2) @ [1, 0, 0]
    array([0., 1., 0.])
    """
    (x, y, z), c, s = quaternions.unit_axis(axis), cos(scalar(angle)), sin(scalar(angle))
    symbolic, versine = is_symbolic(c), 1.0 - c

    def product(
        k: Scalar, f: Scalar
    ) -> Scalar:  # a coordinate axis leaves exact zeros in a symbolic matrix
        return 0.0 if symbolic and isinstance(k, float) and k == 0.0 else k * f

    (xy, xz, yz), (xs, ys, zs) = (
        (product(k, versine) for k in (x * y, x * z, y * z)),
        (product(k, s) for k in (x, y, z)),
    )
    xx, yy, zz = (k * k + product(1.0 - k * k, c) for k in (x, y, z))
    return matrix([[xx, xy - zs, xz + ys], [xy + zs, yy, yz - xs], [xz - ys, yz + xs, zz]])


# --- three angles ------------------------------------------------------------------------------------------------


def rotation_from_euler(angles: Array) -> Array:
    """R = Rz(θ1) Rx(θ2) Rz(θ3) of Euler's precession, nutation and spin (Rojas, eq. 2.4.1).

    >>> rotation_from_euler([0, np.pi / 2, 0]) @ [0, 1, 0]
    array([0., 0., 1.])
    """
    precession, nutation, spin = components(angles, 3)
    return matmul(rotation_z(precession), rotation_x(nutation), rotation_z(spin))


def euler_from_rotation(rotation: Array) -> Array:
    """Euler's angles (θ1, θ2, θ3), ZXZ, with 0 <= θ2 <= π (Rojas, 2.4 b).

    At θ2 = 0 and π only θ1 ± θ3 is determined: θ3 is then 0 by convention.

    >>> euler_from_rotation(rotation_z(0.5))
    array([0.5, 0. , 0. ])
    """
    (r11, r12, _), (r21, r22, _), (r31, r32, r33) = entries(check_rotation(rotation), 3, 3)
    sine, spin = _middle_and_last(r31, r32)
    # θ1 from R Rz(-θ3) = Rz(θ1) Rx(θ2), so that it makes up for whatever rounding did to θ3 near the lock.
    s, c = sin(spin), cos(spin)
    return vector(_angle(r21 * c - r22 * s, r11 * c - r12 * s), _angle(sine, r33), spin)


def rotation_from_bryant(angles: Array) -> Array:
    """R = Rx(θ1) Ry(θ2) Rz(θ3) of Bryant's angles (Rojas, eq. 2.4.3).

    >>> rotation_from_bryant([0, np.pi / 2, 0]) @ [0, 0, 1]
    array([1., 0., 0.])
    """
    first, second, third = components(angles, 3)
    return matmul(rotation_x(first), rotation_y(second), rotation_z(third))


def bryant_from_rotation(rotation: Array) -> Array:
    """Bryant's angles (θ1, θ2, θ3), XYZ, with -π/2 <= θ2 <= π/2 (Rojas, 2.4 c).

    At θ2 = ±π/2 only θ1 ± θ3 is determined: θ3 is then 0 by convention.

    >>> bryant_from_rotation(rotation_x(0.5))
    array([0.5, 0. , 0. ])
    """
    (r11, r12, r13), (r21, r22, _), (r31, r32, _) = entries(check_rotation(rotation), 3, 3)
    cosine, third = _middle_and_last(-r12, r11)
    s, c = sin(third), cos(third)  # θ1 from R Rz(-θ3) = Rx(θ1) Ry(θ2), as for Euler's angles
    return vector(_angle(r31 * s + r32 * c, r21 * s + r22 * c), _angle(r13, cosine), third)


def rotation_from_rpy(angles: Array) -> Array:
    """R = Rz(yaw) Ry(pitch) Rx(roll) of (roll, pitch, yaw), turns about the fixed axes x, y, z as in URDF.

    >>> rotation_from_rpy([0, 0, np.pi / 2]) @ [1, 0, 0]
    array([0., 1., 0.])
    """
    roll, pitch, yaw = components(angles, 3)
    return matmul(rotation_z(yaw), rotation_y(pitch), rotation_x(roll))


def rpy_from_rotation(rotation: Array) -> Array:
    """The angles (roll, pitch, yaw) of URDF, with -π/2 <= pitch <= π/2.

    At pitch = ±π/2 only roll ± yaw is determined: yaw is then 0 by convention.

    >>> rpy_from_rotation(rotation_z(0.5))
    array([0. , 0. , 0.5])
    """
    # R^T = Rx(-roll) Ry(-pitch) Rz(-yaw) is Bryant's product.
    return 0.0 - bryant_from_rotation(transpose(check_rotation(rotation)))


def _angle(sine: Scalar, cosine: Scalar) -> Scalar:
    """The angle in (-π, π]; adding zero makes of -0 a 0, lest half a turn come out as -π."""
    return atan2(sine + 0.0, cosine)


def _middle_and_last(sine: Scalar, cosine: Scalar) -> tuple[Scalar, Scalar]:
    """The factor |f| common to f sin θ3 and f cos θ3, and θ3; both zero where f is round-off."""
    factor = norm((sine, cosine))
    free = factor > GIMBAL_LOCK
    return where(free, factor, 0.0), where(free, _angle(sine, cosine), 0.0)


# --- Euler parameters --------------------------------------------------------------------------------------------


def rotation_from_quaternion(q: Array) -> Array:
    """The rotation matrix of a quaternion, any but zero; its length drops out.

    >>> rotation_from_quaternion([1, 0, 0, 1]).round(15) @ [1, 0, 0]
    array([0., 1., 0.])
    """
    if is_symbolic(q):
        w, *u = entries = components(q, 4)
        s = 2.0 / dot(entries, entries)  # one division, no root in the graph
        return _rodrigues(u, s * w, s)
    return rotation_from_unit_quaternion(quaternions.quaternion_normalize(q))


def rotation_from_unit_quaternion(q: Array) -> Array:
    """R = (2 q0² - 1) 1 + 2 (q⊗q + q0 q̂) of Euler parameters known to be of length one (Rojas, 2.4 d).

    The plain polynomial: what a formulation wants in its graph.

    >>> rotation_from_unit_quaternion([0, 0, 0, 1]) @ [1, 0, 0]
    array([-1.,  0.,  0.])
    """
    w, *u = components(q, 4)
    return _rodrigues(u, 2.0 * w, 2.0)


def _rodrigues(u: Sequence[Scalar], a: Scalar, b: Scalar) -> Array:
    """1 + a û + b û², Rodrigues' formula, exact near the identity."""
    (x, y, z), (bx, by, bz) = u, (b * c for c in u)
    xx, yy, zz, xy, xz, yz = bx * x, by * y, bz * z, bx * y, bx * z, by * z
    ax, ay, az = (a * c for c in u)
    return matrix(
        [
            [1.0 - (yy + zz), xy - az, xz + ay],
            [xy + az, 1.0 - (xx + zz), yz - ax],
            [xz - ay, yz + ax, 1.0 - (xx + yy)],
        ]
    )


def quaternion_from_rotation(rotation: Array) -> Array:
    """Euler parameters of a rotation matrix, with q0 >= 0 (Rojas, 2.4 d).

    R gives the ten products 4 q_i q_j. The row of the largest 4 q_i² = 1 + tr R or 1 + 2 r_ii - tr R, scaled to length
    one, is ±q to the last bits whatever the rotation. At exactly half a turn, q0 = 0, the largest component of the
    axis (of equals the first) is positive.

    >>> quaternion_from_rotation(np.diag([-1, 1, -1]))
    array([0., 0., 1., 0.])
    """
    (r11, r12, r13), (r21, r22, r23), (r31, r32, r33) = entries(check_rotation(rotation), 3, 3)
    rows = [
        [1.0 + r11 + r22 + r33, r32 - r23, r13 - r31, r21 - r12],
        [r32 - r23, 1.0 + r11 - r22 - r33, r12 + r21, r13 + r31],
        [r13 - r31, r12 + r21, 1.0 - r11 + r22 - r33, r23 + r32],
        [r21 - r12, r13 + r31, r23 + r32, 1.0 - r11 - r22 + r33],
    ]
    largest, q = rows[0][0], rows[0]
    for i in (1, 2, 3):
        larger = rows[i][i] > largest
        largest = where(larger, rows[i][i], largest)
        q = [where(larger, new, old) for new, old in zip(rows[i], q, strict=True)]
    length = norm(q)
    return vector(*(where(q[0] < 0, -c, c) / length for c in q))


# --- axis and angle, invariants ----------------------------------------------------------------------------------


def rotation_from_axis_angle(axis_angle: Array) -> Array:
    """The rotation matrix of (e_x, e_y, e_z, φ), the axis and then the angle.

    >>> rotation_from_axis_angle([0, 0, 1, np.pi / 2]) @ [1, 0, 0]
    array([0., 1., 0.])
    """
    *axis, angle = components(axis_angle, 4)
    return rotation_about(vector(*axis), angle)


def rotation_from_rotation_vector(v: Array) -> Array:
    """The exponential R = 1 + (sin φ / φ) v̂ + ((1 - cos φ) / φ²) v̂² of a rotation vector v = e φ.

    >>> rotation_from_rotation_vector([0, 0, np.pi / 2]) @ [1, 0, 0]
    array([0., 1., 0.])
    """
    u = components(v, 3)
    squared = dot(u, u)
    return _rodrigues(u, stumpff(1, squared), stumpff(2, squared))


def vect(m: Array) -> Array:
    """The vector of a matrix, ½ (r32 - r23, r13 - r31, r21 - r12); of a rotation, λ = e sin φ (Rojas, notation).

    >>> vect(rotation_z(np.pi / 2))
    array([0., 0., 1.])
    """
    (_, r12, r13), (r21, _, r23), (r31, r32, _) = entries(m, 3, 3)
    return vector((r32 - r23) / 2.0, (r13 - r31) / 2.0, (r21 - r12) / 2.0)


def trace(m: Array) -> Scalar:
    """The trace of a 3x3 matrix; of a rotation, 1 + 2 cos φ.

    >>> float(trace(np.eye(3)))
    3.0
    """
    (r11, _, _), (_, r22, _), (_, _, r33) = entries(m, 3, 3)
    return r11 + r22 + r33


def invariants_from_rotation(rotation: Array) -> Array:
    """The linear invariants (λ0, λ): λ0 = ½ (tr R - 1) = cos φ and λ = vect R = e sin φ (Rojas, 2.4 f).

    >>> invariants_from_rotation(rotation_z(np.pi / 2))
    array([0., 0., 0., 1.])
    """
    rotation = check_rotation(rotation)
    return vector((trace(rotation) - 1.0) / 2.0, *components(vect(rotation), 3))


def rotation_from_invariants(invariants: Array) -> Array:
    """R = λ0 1 + λ⊗λ / (1 + λ0) + λ̂ of the linear invariants (λ0, λ) (Rojas, 2.4 f).

    Past a quarter turn 1 / (1 + λ0) is taken as (1 - λ0) / |λ|², its equal without cancellation. At half a turn λ
    vanishes and the axis is lost: a RotationError.

    >>> rotation_from_invariants([0, 0, 0, 1]) @ [1, 0, 0]
    array([0., 1., 0.])
    """
    c, u = quaternions.unit_invariants(invariants)
    obtuse, larger = c < 0, 1.0 + absolute(c)
    return _rodrigues(u, 1.0, where(obtuse, larger / where(obtuse, dot(u, u), 1.0), 1.0 / larger))


# --- every representation from every other -----------------------------------------------------------------------

# What each representation is called, and its value: an array, with these axes last.
REPRESENTATIONS: dict[str, str] = {
    "matrix": "direction cosines, 3x3",
    "euler": "Euler's precession, nutation and spin: R = Rz(θ1) Rx(θ2) Rz(θ3)",
    "bryant": "Bryant's angles: R = Rx(θ1) Ry(θ2) Rz(θ3)",
    "rpy": "roll, pitch, yaw about fixed x, y, z: R = Rz(yaw) Ry(pitch) Rx(roll)",
    "quaternion": "Euler parameters: (cos φ/2, e sin φ/2)",
    "rodrigues": "Rodrigues parameters: e tan φ/2",
    "invariants": "linear invariants: (cos φ, e sin φ)",
    "axis_angle": "unit axis, then angle: (e, φ)",
    "rotation_vector": "rotation vector: e φ",
}

# The formulas there are; every other conversion is the shortest way through them. Of equally short ways the first in
# this table wins, so that representations sharing the axis meet in the quaternion, where nothing is lost.
FORMULAS: dict[tuple[str, str], Callable[[Array], Array]] = {
    ("quaternion", "rodrigues"): quaternions.rodrigues_from_quaternion,
    ("quaternion", "invariants"): quaternions.invariants_from_quaternion,
    ("quaternion", "axis_angle"): quaternions.axis_angle_from_quaternion,
    ("quaternion", "rotation_vector"): quaternions.rotation_vector_from_quaternion,
    ("rodrigues", "quaternion"): quaternions.quaternion_from_rodrigues,
    ("invariants", "quaternion"): quaternions.quaternion_from_invariants,
    ("axis_angle", "quaternion"): quaternions.quaternion_from_axis_angle,
    ("rotation_vector", "quaternion"): quaternions.quaternion_from_rotation_vector,
    ("quaternion", "matrix"): rotation_from_quaternion,
    ("invariants", "matrix"): rotation_from_invariants,
    ("axis_angle", "matrix"): rotation_from_axis_angle,
    ("rotation_vector", "matrix"): rotation_from_rotation_vector,
    ("euler", "matrix"): rotation_from_euler,
    ("bryant", "matrix"): rotation_from_bryant,
    ("rpy", "matrix"): rotation_from_rpy,
    ("matrix", "quaternion"): quaternion_from_rotation,
    ("matrix", "invariants"): invariants_from_rotation,
    ("matrix", "euler"): euler_from_rotation,
    ("matrix", "bryant"): bryant_from_rotation,
    ("matrix", "rpy"): rpy_from_rotation,
}


def convert(value: Array, source: str, target: str) -> Array:
    """An orientation from one representation to another, each of `REPRESENTATIONS` to each (Rojas, 2.4).

    Parameters
    ----------
    value : array_like or casadi.SX
        The orientation, or a batch of them along leading axes, as `REPRESENTATIONS` describes it.
    source, target : str
        The names of the representations: "matrix", "euler", "bryant", "rpy", "quaternion", "rodrigues", "invariants",
        "axis_angle", "rotation_vector". A value already in the target's representation is returned as it is.

    Raises
    ------
    RotationError
        When the numbers are no rotation, or one that the target (Rodrigues parameters at half a turn) or the source
        (linear invariants at half a turn) cannot express.

    >>> convert([0, 0, np.pi / 2], "rpy", "invariants")
    array([0., 0., 0., 1.])
    >>> convert([0, 0, 1, np.pi], "axis_angle", "rodrigues")
    Traceback (most recent call last):
    eslabon.errors.RotationError: this rotation is half a turn, for which Rodrigues parameters do not exist; use a
    quaternion or axis and angle instead.
    """
    known_words((source, target), REPRESENTATIONS, "no representation is called", RotationError)
    value = value if is_symbolic(value) else floats(value, "an orientation")
    for formula in route(source, target):
        value = formula(value)
    return value


@cache
def route(source: str, target: str) -> tuple[Callable[[Array], Array], ...]:
    """The formulas that lead from one representation to another, the shortest way (breadth first).

    >>> [f.__name__ for f in route("euler", "rodrigues")]
    ['rotation_from_euler', 'quaternion_from_rotation', 'rodrigues_from_quaternion']
    """
    ways: dict[str, tuple[Callable[[Array], Array], ...]] = {source: ()}
    frontier = [source]
    while target not in ways:
        here = frontier.pop(0)
        for (start, end), formula in FORMULAS.items():
            if start == here and end not in ways:
                ways[end] = (*ways[here], formula)
                frontier.append(end)
    return ways[target]


@np.errstate(all="ignore")  # no number in, none out
def invariant_rates(rotation: Array, angular_velocity: Array) -> Array:
    """The rates of (λ0, λ): dλ0/dt = -λ·ω and dλ/dt = ½ (1 tr R - R) ω, ω in fixed axes (Rojas, 3.3.2).

    >>> invariant_rates(rotation_z(np.pi / 2), [0, 0, 1])
    array([-1.,  0.,  0.,  0.])
    """
    tr = trace(rotation)
    w, turned = components(angular_velocity, 3), components(times(rotation, angular_velocity), 3)
    cosine_rate = -dot(components(vect(rotation), 3), w)
    return vector(cosine_rate, *((tr * a - b) / 2.0 for a, b in zip(w, turned, strict=True)))
