"""Orientation in every representation of Rojas, 2.4, and the function that converts between them.

A rotation matrix R maps components in the rotated frame to components in the fixed frame; its
columns are the rotated axes. This module has the conversions from and to a matrix, and the table of
all conversions. A matrix of numbers that is no rotation raises `RotationError`; symbols are not
checked.
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
    ArrayLike,
    Computed,
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
    raise_unless,
    scalar,
    sin,
    stumpff,
    times,
    transpose,
    vector,
    where,
)
from eslabon.numerics.tolerances import INPUT_DIGITS

__all__ = [
    "REPRESENTATIONS",
    "bryant_from_rotation",
    "check_rotation",
    "convert",
    "euler_from_rotation",
    "invariant_rates",
    "invariants_from_rotation",
    "quaternion_from_rotation",
    "rotation_about",
    "rotation_from_axis_angle",
    "rotation_from_bryant",
    "rotation_from_euler",
    "rotation_from_invariants",
    "rotation_from_quaternion",
    "rotation_from_rotation_vector",
    "rotation_from_rpy",
    "rotation_from_unit_quaternion",
    "rotation_x",
    "rotation_y",
    "rotation_z",
    "rpy_from_rotation",
    "trace",
    "vect",
]

# A sine or cosine of the middle angle below this is round-off.
GIMBAL_LOCK = 2 * np.finfo(float).eps


# --- matrices -------------------------------------------------------------------------------------


def check_rotation(rotation: ArrayLike) -> Computed:
    """Return the matrix if it is a rotation: R^T R = 1 to within 1e-6, det R = +1.

    Otherwise raise `RotationError`.

    >>> check_rotation(np.eye(3)).shape
    (3, 3)
    >>> check_rotation(np.diag([1, 1, -1]))
    Traceback (most recent call last):
    eslabon.errors.RotationError: this matrix is not a rotation but a reflection, for its
    determinant is -1; turn one of its axes round.
    """
    entries(rotation, 3, 3, "rotation")
    if is_symbolic(rotation):
        return rotation
    rotation = np.asarray(rotation, dtype=float)
    finite = np.isfinite(rotation).all(axis=(-2, -1))
    raise_unless(finite, "matrix", "is not a rotation, for it has entries that are not finite.")
    with np.errstate(all="ignore"):  # a matrix whose products overflow is no rotation
        error = np.abs(transpose(rotation) @ rotation - np.eye(3)).max(axis=(-2, -1))
    raise_unless(
        error <= INPUT_DIGITS,
        "matrix",
        "is not a rotation, for its columns miss being orthonormal by {:.3g} (1e-06 is allowed); "
        "orthonormalise them, or give the orientation as a quaternion.",
        error,
    )
    raise_unless(
        np.linalg.det(rotation) > 0,
        "matrix",
        "is not a rotation but a reflection, for its determinant is -1; turn one of its axes "
        "round.",
    )
    return rotation


def rotation_x(angle: Scalar) -> Computed:
    """Rx(φ) = [[1, 0, 0], [0, cos φ, -sin φ], [0, sin φ, cos φ]]: the rotation by φ about x.

    >>> rotation_x(np.pi / 2) @ [0, 1, 0]
    array([0., 0., 1.])
    """
    c, s = cos(scalar(angle, "angle")), sin(scalar(angle, "angle"))
    return matrix([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def rotation_y(angle: Scalar) -> Computed:
    """Ry(φ) = [[cos φ, 0, sin φ], [0, 1, 0], [-sin φ, 0, cos φ]]: the rotation by φ about y.

    >>> rotation_y(np.pi / 2) @ [0, 0, 1]
    array([1., 0., 0.])
    """
    c, s = cos(scalar(angle, "angle")), sin(scalar(angle, "angle"))
    return matrix([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def rotation_z(angle: Scalar) -> Computed:
    """Rz(φ) = [[cos φ, -sin φ, 0], [sin φ, cos φ, 0], [0, 0, 1]]: the rotation by φ about z.

    >>> rotation_z(np.pi / 2) @ [1, 0, 0]
    array([0., 1., 0.])
    """
    c, s = cos(scalar(angle, "angle")), sin(scalar(angle, "angle"))
    return matrix([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def rotation_about(axis: ArrayLike, angle: Scalar) -> Computed:
    """The rotation R = e⊗e + cos φ (1 - e⊗e) + sin φ ê by φ about an axis (Rodrigues' formula).

    The axis need not have length one.

    >>> rotation_about([0, 0, 2], np.pi / 2) @ [1, 0, 0]
    array([0., 1., 0.])
    """
    (x, y, z), c, s = (
        quaternions.unit_axis(axis),
        cos(scalar(angle, "angle")),
        sin(scalar(angle, "angle")),
    )
    symbolic, versine = is_symbolic(c), 1.0 - c

    def product(k: Scalar, f: Scalar) -> Computed:
        """k f, with an exact zero in a symbolic matrix where a component of the axis is zero."""
        return 0.0 if symbolic and isinstance(k, float) and k == 0.0 else k * f

    (xy, xz, yz), (xs, ys, zs) = (
        (product(k, versine) for k in (x * y, x * z, y * z)),
        (product(k, s) for k in (x, y, z)),
    )
    xx, yy, zz = (k * k + product(1.0 - k * k, c) for k in (x, y, z))
    return matrix([[xx, xy - zs, xz + ys], [xy + zs, yy, yz - xs], [xz - ys, yz + xs, zz]])


# --- three angles ---------------------------------------------------------------------------------


def rotation_from_euler(angles: ArrayLike) -> Computed:
    """R = Rz(θ1) Rx(θ2) Rz(θ3) of Euler's precession, nutation and spin (Rojas, eq. 2.4.1).

    >>> rotation_from_euler([0, np.pi / 2, 0]) @ [0, 1, 0]
    array([0., 0., 1.])
    """
    precession, nutation, spin = components(angles, 3, "angles")
    return matmul(rotation_z(precession), rotation_x(nutation), rotation_z(spin))


def euler_from_rotation(rotation: ArrayLike) -> Computed:
    """Euler's angles (θ1, θ2, θ3), ZXZ, with 0 <= θ2 <= π (Rojas, 2.4 b).

    At θ2 = 0 and θ2 = π only θ1 ± θ3 is determined; there θ3 = 0 by convention.

    >>> euler_from_rotation(rotation_z(0.5))
    array([0.5, 0. , 0. ])
    """
    (r11, r12, _), (r21, r22, _), (r31, r32, r33) = entries(check_rotation(rotation), 3, 3)
    sine, spin = _middle_and_last(r31, r32)
    # θ1 from R Rz(-θ3) = Rz(θ1) Rx(θ2), so that it compensates for round-off in θ3 near the lock.
    s, c = sin(spin), cos(spin)
    return vector(_angle(r21 * c - r22 * s, r11 * c - r12 * s), _angle(sine, r33), spin)


def rotation_from_bryant(angles: ArrayLike) -> Computed:
    """R = Rx(θ1) Ry(θ2) Rz(θ3) of Bryant's angles (Rojas, eq. 2.4.3).

    >>> rotation_from_bryant([0, np.pi / 2, 0]) @ [0, 0, 1]
    array([1., 0., 0.])
    """
    first, second, third = components(angles, 3, "angles")
    return matmul(rotation_x(first), rotation_y(second), rotation_z(third))


def bryant_from_rotation(rotation: ArrayLike) -> Computed:
    """Bryant's angles (θ1, θ2, θ3), XYZ, with -π/2 <= θ2 <= π/2 (Rojas, 2.4 c).

    At θ2 = ±π/2 only θ1 ± θ3 is determined; there θ3 = 0 by convention.

    >>> bryant_from_rotation(rotation_x(0.5))
    array([0.5, 0. , 0. ])
    """
    (r11, r12, r13), (r21, r22, _), (r31, r32, _) = entries(check_rotation(rotation), 3, 3)
    cosine, third = _middle_and_last(-r12, r11)
    s, c = sin(third), cos(third)  # θ1 from R Rz(-θ3) = Rx(θ1) Ry(θ2), as for Euler's angles
    return vector(_angle(r31 * s + r32 * c, r21 * s + r22 * c), _angle(r13, cosine), third)


def rotation_from_rpy(angles: ArrayLike) -> Computed:
    """R = Rz(yaw) Ry(pitch) Rx(roll): (roll, pitch, yaw) about the fixed axes x, y, z, as in URDF.

    >>> rotation_from_rpy([0, 0, np.pi / 2]) @ [1, 0, 0]
    array([0., 1., 0.])
    """
    roll, pitch, yaw = components(angles, 3, "angles")
    return matmul(rotation_z(yaw), rotation_y(pitch), rotation_x(roll))


def rpy_from_rotation(rotation: ArrayLike) -> Computed:
    """The angles (roll, pitch, yaw) of URDF, with -π/2 <= pitch <= π/2.

    At pitch = ±π/2 only roll ± yaw is determined; there yaw = 0 by convention.

    >>> rpy_from_rotation(rotation_z(0.5))
    array([0. , 0. , 0.5])
    """
    # R^T = Rx(-roll) Ry(-pitch) Rz(-yaw) is Bryant's product.
    return 0.0 - bryant_from_rotation(transpose(check_rotation(rotation)))


def _angle(sine: Scalar, cosine: Scalar) -> Computed:
    """The angle in (-π, π]; adding zero turns -0 into 0, so that half a turn is π and not -π."""
    return atan2(sine + 0.0, cosine)


def _middle_and_last(sine: Scalar, cosine: Scalar) -> tuple[Scalar, Scalar]:
    """|f| and θ3 from f sin θ3 and f cos θ3; both are zero if f is round-off."""
    factor = norm((sine, cosine))
    free = factor > GIMBAL_LOCK
    return where(free, factor, 0.0), where(free, _angle(sine, cosine), 0.0)


# --- Euler parameters -----------------------------------------------------------------------------


def rotation_from_quaternion(q: ArrayLike) -> Computed:
    """R = 1 + 2 (q0 q̂ + q̂²) / |q|² of a quaternion of any length but zero (Rojas, 2.4 d).

    >>> rotation_from_quaternion([1, 0, 0, 1]).round(15) @ [1, 0, 0]
    array([0., 1., 0.])
    """
    if is_symbolic(q):
        w, *u = entries = components(q, 4, "q")
        s = 2.0 / dot(entries, entries)  # one division, no root in the graph
        return _rodrigues(u, s * w, s)
    return rotation_from_unit_quaternion(quaternions.quaternion_normalize(q))


def rotation_from_unit_quaternion(q: ArrayLike) -> Computed:
    """R = (2 q0² - 1) 1 + 2 (q⊗q + q0 q̂) of Euler parameters of length one (Rojas, 2.4 d).

    The length is neither checked nor divided by, which gives the shortest graph.

    >>> rotation_from_unit_quaternion([0, 0, 0, 1]) @ [1, 0, 0]
    array([-1.,  0.,  0.])
    """
    w, *u = components(q, 4, "q")
    return _rodrigues(u, 2.0 * w, 2.0)


def _rodrigues(u: Sequence[Scalar], a: Scalar, b: Scalar) -> Computed:
    """1 + a û + b û², Rodrigues' formula, accurate near the identity."""
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


def quaternion_from_rotation(rotation: ArrayLike) -> Computed:
    """Euler parameters of a rotation matrix, with q0 >= 0 (Rojas, 2.4 d).

    R gives the ten products 4 q_i q_j. The row with the largest 4 q_i², which is 1 + tr R or
    1 + 2 r_ii - tr R, scaled to length one, is ±q to the last bits for every rotation. At exactly
    half a turn, q0 = 0, the largest component of the axis is positive (the first of equal ones).

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


# --- axis and angle, invariants -------------------------------------------------------------------


def rotation_from_axis_angle(axis_angle: ArrayLike) -> Computed:
    """The rotation matrix of axis and angle, (e_x, e_y, e_z, φ); see `rotation_about`.

    >>> rotation_from_axis_angle([0, 0, 1, np.pi / 2]) @ [1, 0, 0]
    array([0., 1., 0.])
    """
    *axis, angle = components(axis_angle, 4, "axis_angle")
    return rotation_about(vector(*axis), angle)


def rotation_from_rotation_vector(v: ArrayLike) -> Computed:
    """The exponential R = 1 + (sin φ / φ) v̂ + ((1 - cos φ) / φ²) v̂² of the vector v = e φ.

    >>> rotation_from_rotation_vector([0, 0, np.pi / 2]) @ [1, 0, 0]
    array([0., 1., 0.])
    """
    u = components(v, 3, "v")
    squared = dot(u, u)
    return _rodrigues(u, stumpff(1, squared), stumpff(2, squared))


def vect(m: ArrayLike) -> Computed:
    """The vector ½ (r32 - r23, r13 - r31, r21 - r12) of a matrix (Rojas, notation).

    For a rotation it is λ = e sin φ.

    >>> vect(rotation_z(np.pi / 2))
    array([0., 0., 1.])
    """
    (_, r12, r13), (r21, _, r23), (r31, r32, _) = entries(m, 3, 3, "m")
    return vector((r32 - r23) / 2.0, (r13 - r31) / 2.0, (r21 - r12) / 2.0)


def trace(m: ArrayLike) -> Computed:
    """The trace r11 + r22 + r33; for a rotation it is 1 + 2 cos φ.

    >>> float(trace(np.eye(3)))
    3.0
    """
    (r11, _, _), (_, r22, _), (_, _, r33) = entries(m, 3, 3, "m")
    return r11 + r22 + r33


def invariants_from_rotation(rotation: ArrayLike) -> Computed:
    """The linear invariants λ0 = ½ (tr R - 1) = cos φ, λ = vect R = e sin φ (Rojas, 2.4 f).

    >>> invariants_from_rotation(rotation_z(np.pi / 2))
    array([0., 0., 0., 1.])
    """
    rotation = check_rotation(rotation)
    return vector((trace(rotation) - 1.0) / 2.0, *components(vect(rotation), 3))


def rotation_from_invariants(invariants: ArrayLike) -> Computed:
    """R = λ0 1 + λ⊗λ / (1 + λ0) + λ̂ of the linear invariants (λ0, λ) (Rojas, 2.4 f).

    Beyond a quarter turn the equivalent (1 - λ0) / |λ|² replaces 1 / (1 + λ0), which cancels. At
    half a turn λ vanishes and the axis is lost: a `RotationError`.

    >>> rotation_from_invariants([0, 0, 0, 1]) @ [1, 0, 0]
    array([0., 1., 0.])
    """
    c, u = quaternions.unit_invariants(invariants)
    obtuse, larger = c < 0, 1.0 + absolute(c)
    return _rodrigues(u, 1.0, where(obtuse, larger / where(obtuse, dot(u, u), 1.0), 1.0 / larger))


# --- every representation from every other --------------------------------------------------------

# The name of each representation and its value, an array whose own axes are the last.
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

FOUR_NUMBERS = ("quaternion", "invariants", "axis_angle")

# The direct conversions; every other one is the shortest path through them. Of equally short paths
# the first in this table is taken, so that representations that share the axis go through the
# quaternion, where nothing is lost.
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


def convert(value: ArrayLike, source: str, target: str) -> Computed:
    """Convert an orientation between any two of the `REPRESENTATIONS` (Rojas, 2.4).

    Parameters
    ----------
    value : array_like or casadi.SX
        The orientation, or a batch of them along leading axes.
    source, target : str
        "matrix", "euler", "bryant", "rpy", "quaternion", "rodrigues", "invariants", "axis_angle"
        or "rotation_vector". If both are the same, the value is returned unchanged.

    Raises
    ------
    RotationError
        If the numbers are no rotation, or one that a representation cannot express: Rodrigues
        parameters and linear invariants do not determine half a turn.

    >>> convert([0, 0, np.pi / 2], "rpy", "invariants")
    array([0., 0., 0., 1.])
    >>> convert([0, 0, 1, np.pi], "axis_angle", "rodrigues")
    Traceback (most recent call last):
    eslabon.errors.RotationError: this rotation is half a turn, for which Rodrigues parameters do
    not exist; use a quaternion or axis and angle instead.
    """
    for name, word in (("source", source), ("target", target)):
        known_words([word], REPRESENTATIONS, f"{name}: no representation is called", RotationError)
    value = value if is_symbolic(value) else floats(value, "value")
    if source == "matrix":
        entries(value, 3, 3, "value")
    else:
        components(value, 4 if source in FOUR_NUMBERS else 3, "value")
    for formula in route(source, target):
        value = formula(value)
    return value


@cache
def route(source: str, target: str) -> tuple[Callable[[Array], Array], ...]:
    """The shortest chain of direct conversions between two representations (breadth first).

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


@np.errstate(all="ignore")  # NaN in, NaN out, without a warning
def invariant_rates(rotation: ArrayLike, angular_velocity: ArrayLike) -> Computed:
    """The rates dλ0/dt = -λ·ω and dλ/dt = ½ (1 tr R - R) ω of (λ0, λ) (Rojas, 3.3.2).

    ω is given in fixed axes.

    >>> invariant_rates(rotation_z(np.pi / 2), [0, 0, 1])
    array([-1.,  0.,  0.,  0.])
    """
    entries(rotation, 3, 3, "rotation")
    tr = trace(rotation)
    w, turned = (
        components(angular_velocity, 3, "angular_velocity"),
        components(times(rotation, angular_velocity), 3),
    )
    cosine_rate = -dot(components(vect(rotation), 3), w)
    return vector(cosine_rate, *((tr * a - b) / 2.0 for a, b in zip(w, turned, strict=True)))
