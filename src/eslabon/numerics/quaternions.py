"""Quaternions (w, x, y, z), scalar first: their algebra (Méndez, eqs. 1 to 9) and their rotations.

This module has the product, the inverse, interpolation, rates, and the conversions between the unit
quaternion and the representations that share its axis: axis and angle, rotation vector, Rodrigues
parameters, linear invariants. Conversions from or to a matrix are in `rotations`. A zero quaternion
or axis raises `RotationError` if it is made of numbers; symbols are not checked.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eslabon.numerics.scalars import (
    ArrayLike,
    Computed,
    Scalar,
    absolute,
    atan2,
    components,
    cos,
    cross,
    dot,
    is_symbolic,
    norm,
    raise_unless,
    scalar,
    sin,
    sqrt,
    stumpff,
    vector,
    where,
)
from eslabon.numerics.tolerances import INPUT_DIGITS

__all__ = [
    "axis_angle_from_quaternion",
    "body_rates",
    "invariants_from_quaternion",
    "quaternion_about",
    "quaternion_conjugate",
    "quaternion_exp",
    "quaternion_from_axis_angle",
    "quaternion_from_invariants",
    "quaternion_from_rodrigues",
    "quaternion_from_rotation_vector",
    "quaternion_from_scalar",
    "quaternion_from_vector",
    "quaternion_inverse",
    "quaternion_log",
    "quaternion_norm",
    "quaternion_normalize",
    "quaternion_product",
    "quaternion_rate",
    "quaternion_rotate",
    "quaternion_sum",
    "rodrigues_from_quaternion",
    "rotation_vector_from_quaternion",
    "scalar_part",
    "slerp",
    "vector_part",
]

# Invariants from a matrix have errors of the last bit: with a smaller sine the axis would be wrong
# by INPUT_DIGITS.
SMALLEST_SINE = np.finfo(float).eps / INPUT_DIGITS

# A scalar part below this is round-off: even the sign of the Rodrigues parameters is lost.
SMALLEST_SCALAR_PART = 4 * np.finfo(float).eps


# --- algebra --------------------------------------------------------------------------------------


def quaternion_from_vector(v: ArrayLike) -> Computed:
    """The pure quaternion (0, v) of a vector (Méndez, eqs. 3 to 5).

    >>> quaternion_from_vector([1.0, 2.0, 3.0])
    array([0., 1., 2., 3.])
    """
    return vector(0.0, *components(v, 3, "v"))


def vector_part(q: ArrayLike) -> Computed:
    """The vector part (x, y, z) of a quaternion (Méndez, eqs. 3 to 5).

    >>> vector_part([1.0, 2.0, 3.0, 4.0])
    array([2., 3., 4.])
    """
    return vector(*components(q, 4, "q")[1:])


def quaternion_product(p: ArrayLike, q: ArrayLike) -> Computed:
    """The product (a, v)(b, u) = (a b - v·u, a u + b v + v × u) (Méndez, eq. 2).

    As a rotation, the product applies `q` first and then `p`.

    >>> quaternion_product([0, 1, 0, 0], [0, 0, 1, 0])  # i j = k
    array([0., 0., 0., 1.])
    """
    return _product(components(p, 4, "p"), components(q, 4, "q"))


def _product(p: Sequence[Scalar], q: Sequence[Scalar]) -> Computed:
    (a, *v), (b, *u) = p, q
    c = cross(v, u)
    return vector(a * b - dot(v, u), *(a * u[i] + b * v[i] + c[i] for i in range(3)))


def quaternion_conjugate(q: ArrayLike) -> Computed:
    """The conjugate (w, -x, -y, -z) (Méndez, eq. 6).

    >>> quaternion_conjugate([1, 2, 3, 4])
    array([ 1., -2., -3., -4.])
    """
    w, x, y, z = components(q, 4, "q")
    return vector(w, -x, -y, -z)


def quaternion_inverse(q: ArrayLike) -> Computed:
    """The inverse: the conjugate over |q|² (Méndez, eq. 7).

    >>> quaternion_inverse([1, 1, 1, 1])
    array([ 0.25, -0.25, -0.25, -0.25])
    """
    length = _length(q, "q")
    w, x, y, z = (c / length / length for c in components(q, 4))
    return vector(w, -x, -y, -z)


def quaternion_normalize(q: ArrayLike) -> Computed:
    """The unit quaternion q / |q|.

    >>> quaternion_normalize([3, 0, 4, 0])
    array([0.6, 0. , 0.8, 0. ])
    """
    return _normalize(q, "q")


def _normalize(q: ArrayLike, name: str) -> Computed:
    length = _length(q, name)
    return vector(*(c / length for c in components(q, 4)))


def quaternion_rotate(p: ArrayLike, v: ArrayLike) -> Computed:
    """The vector v turned by the quaternion p: the vector part of p v p⁻¹ (Méndez, eq. 7).

    p need not have length one, but must not be zero.

    >>> quaternion_rotate([1, 0, 0, 1], [1, 0, 0]).round(15)
    array([0., 1., 0.])
    """
    turned = quaternion_product(
        quaternion_product(p, quaternion_from_vector(v)), quaternion_inverse(p)
    )
    return vector_part(turned)


def _length(q: ArrayLike, name: str) -> Computed:
    """The norm; for numbers, checked to be finite and not zero."""
    length = norm(components(q, 4, name))
    if not is_symbolic(length):
        raise_unless(
            (length > 0) & np.isfinite(length),
            "quaternion",
            "stands for no rotation, for its norm is {}; the identity is (1, 0, 0, 0).",
            length,
        )
    return length


# --- interpolation, rates -------------------------------------------------------------------------


@np.errstate(all="ignore")  # NaN in, NaN out, without a warning
def slerp(p: ArrayLike, q: ArrayLike, t: Scalar) -> Computed:
    """Spherical linear interpolation p (p⁻¹ q)ᵗ: from p to q at constant angular velocity.

    It takes the shorter of the two ways: at t = 1 it is q, or -q, which is the same rotation
    (Shoemake, 1985).

    >>> slerp([1, 0, 0, 0], [0, 0, 0, 1], 0.5) ** 2
    array([0.5, 0. , 0. , 0.5])
    """
    t, p, q = scalar(t, "t"), _normalize(p, "p"), _normalize(q, "q")
    way = components(
        rotation_vector_from_quaternion(quaternion_product(quaternion_conjugate(p), q)), 3
    )
    return quaternion_product(p, quaternion_from_rotation_vector(vector(*(t * c for c in way))))


def quaternion_rate(q: ArrayLike, angular_velocity: ArrayLike) -> Computed:
    """The rate dq/dt = ½ q (0, ω) of a body's quaternion, ω in body axes.

    >>> quaternion_rate([1, 0, 0, 0], [0, 0, 2])
    array([0., 0., 0., 1.])
    """
    half = (0.5 * c for c in components(angular_velocity, 3, "angular_velocity"))
    return _product(components(q, 4, "q"), (0.0, *half))


def _shortest(q: ArrayLike) -> tuple[Scalar, ...]:
    """The components of q / |q|, or of its negative if that is the one with w >= 0."""
    q = components(quaternion_normalize(q), 4)
    return tuple(where(q[0] < 0, -c, c) for c in q)


# --- representations that share the axis ----------------------------------------------------------


def unit_axis(axis: ArrayLike) -> tuple[Scalar, Scalar, Scalar]:
    """The components e of the unit vector along an axis.

    >>> [float(c) for c in unit_axis([0, 3, 4])]
    [0.0, 0.6, 0.8]
    """
    x, y, z = components(axis, 3, "axis")
    length = norm((x, y, z))
    if not is_symbolic(length) and not (np.ndim(length) == 0 and 0 < length < np.inf):
        raise_unless(
            (length > 0) & np.isfinite(length),
            "axis",
            "has no direction, for its length is {}; give a finite, nonzero vector such as "
            "(0, 0, 1).",
            length,
        )
    return x / length, y / length, z / length


def quaternion_about(axis: ArrayLike, angle: Scalar) -> Computed:
    """The quaternion (cos φ/2, e sin φ/2) of the rotation by φ about an axis (Méndez, eq. 8).

    The axis need not have length one.

    >>> quaternion_about([0, 0, 1], np.pi)
    array([0., 0., 0., 1.])
    """
    half = 0.5 * scalar(angle, "angle")
    return vector(cos(half), *(c * sin(half) for c in unit_axis(axis)))


def quaternion_from_axis_angle(axis_angle: ArrayLike) -> Computed:
    """The quaternion (cos φ/2, e sin φ/2) of axis and angle, (e_x, e_y, e_z, φ) (Rojas, 2.4 d).

    >>> quaternion_from_axis_angle([0, 0, 1, np.pi])
    array([0., 0., 0., 1.])
    """
    *axis, angle = components(axis_angle, 4, "axis_angle")
    return quaternion_about(vector(*axis), angle)


def axis_angle_from_quaternion(q: ArrayLike) -> Computed:
    """The unit axis and the angle, (e_x, e_y, e_z, φ) with 0 <= φ <= π (Rojas, 2.4 d).

    For φ = 0 the axis is (0, 0, 1) by convention; for φ = π it is the vector part of q, with its
    sign.

    >>> axis_angle_from_quaternion([1, 0, 0, 0])
    array([0., 0., 1., 0.])
    """
    w, *v = _shortest(q)
    sine = norm(v)
    turning = sine > 0
    e = [c / where(turning, sine, 1.0) for c in v]
    return vector(e[0], e[1], where(turning, e[2], 1.0), 2.0 * atan2(sine, w))


def quaternion_from_rotation_vector(v: ArrayLike) -> Computed:
    """The unit quaternion (cos φ/2, e sin φ/2) of the rotation vector v = e φ: exp(0, v/2).

    >>> quaternion_from_rotation_vector([0, 0, np.pi])
    array([0., 0., 0., 1.])
    """
    half = tuple(0.5 * c for c in components(v, 3, "v"))
    squared = dot(half, half)
    return vector(stumpff(0, squared), *(stumpff(1, squared) * c for c in half))


def rotation_vector_from_quaternion(q: ArrayLike) -> Computed:
    """The rotation vector e φ with 0 <= φ <= π: twice the logarithm of q.

    For φ = π, where w = 0, it is parallel to the vector part of q, with its sign.

    >>> rotation_vector_from_quaternion([0, 0, 0, 1]) / np.pi
    array([0., 0., 1.])
    """
    w, *v = _shortest(q)
    squared = dot(v, v)
    # For t = |v|/w up to 0.1, atan(t)/t by its series, smooth at |v| = 0, where |v| is not.
    small = squared < 0.01 * w * w
    near, far = (
        where(small, squared / where(small, w * w, 1.0), 0.0),
        sqrt(where(small, 1.0, squared)),
    )
    series = 0.0
    for k in reversed(range(9)):
        series = 1 / (2 * k + 1) - near * series
    half = where(small, series / where(small, w, 1.0), atan2(far, w) / far)
    return vector(*(2.0 * half * c for c in v))


def quaternion_from_rodrigues(p: ArrayLike) -> Computed:
    """The quaternion (1, p) / √(1 + p·p) of Rodrigues parameters p = e tan φ/2 (Rojas, 2.4 e).

    >>> quaternion_from_rodrigues([0, 0, 0.75])
    array([0.8, 0. , 0. , 0.6])
    """
    p = components(p, 3, "p")
    if not is_symbolic(*p):
        raise_unless(
            np.isfinite(norm(p)),
            "triple of Rodrigues parameters",
            "is not finite; give a half turn as a quaternion or as axis and angle.",
        )
    return quaternion_normalize(vector(1.0, *p))


def rodrigues_from_quaternion(q: ArrayLike) -> Computed:
    """The Rodrigues parameters p = q / q0 = e tan φ/2 (Rojas, 2.4 e).

    They are unbounded as φ approaches π, and do not exist there: a `RotationError`.

    >>> rodrigues_from_quaternion([0.8, 0, 0, 0.6])
    array([0.  , 0.  , 0.75])
    """
    w, x, y, z = components(quaternion_normalize(q), 4)
    if not is_symbolic(w):
        raise_unless(
            absolute(w) > SMALLEST_SCALAR_PART,
            "rotation",
            "is half a turn, for which Rodrigues parameters do not exist; use a quaternion or axis "
            "and angle instead.",
        )
    return vector(x / w, y / w, z / w)


def invariants_from_quaternion(q: ArrayLike) -> Computed:
    """The linear invariants λ0 = 2 q0² - 1 and λ = 2 q0 q, as (λ0, λ) (Rojas, 2.4 f).

    >>> invariants_from_quaternion([1, 0, 0, 1]).round(15)  # a quarter turn about z
    array([0., 0., 0., 1.])
    """
    w, *v = components(quaternion_normalize(q), 4)
    return vector(w * w - dot(v, v), *(2.0 * w * c for c in v))


def quaternion_from_invariants(invariants: ArrayLike) -> Computed:
    """The quaternion q0 = √((1 + λ0)/2), q = λ/(2 q0) of linear invariants (λ0, λ) (Rojas, 2.4 f).

    Beyond a quarter turn the equivalent q0 = |λ|/(2|q|), |q| = √((1 - λ0)/2) avoids cancellation.
    For φ = π λ vanishes and the axis is lost: a `RotationError`.

    >>> quaternion_from_invariants([0, 0, 0, 1]) ** 2
    array([0.5, 0. , 0. , 0.5])
    """
    cosine, v = unit_invariants(invariants)
    obtuse = cosine < 0
    larger = sqrt((1.0 + absolute(cosine)) / 2.0)  # of |q0| and |q|
    sine = sqrt(where(obtuse, dot(v, v), 1.0))
    factor = where(obtuse, larger / sine, 0.5 / larger)
    return vector(where(obtuse, 0.5 * sine / larger, larger), *(factor * c for c in v))


@np.errstate(all="ignore")  # NaN in, NaN out, without a warning
def unit_invariants(invariants: ArrayLike) -> tuple[Scalar, tuple[Scalar, ...]]:
    """λ0 and the components of λ, scaled so that λ0² + |λ|² = 1 to the last bits."""
    entries = components(invariants, 4, "invariants")
    length = norm(entries)
    cosine, *v = (c / where(length > 0, length, 1.0) for c in entries)
    if not is_symbolic(length):
        raise_unless(
            absolute(length - 1.0) <= INPUT_DIGITS,
            "set of linear invariants",
            "does not satisfy λ0² + |λ|² = 1, for the root of the left side is {}; "
            "give (cos φ, e sin φ).",
            length,
        )
        raise_unless(
            (cosine > 0) | (norm(v) > SMALLEST_SINE),
            "set of linear invariants",
            "is that of half a turn, where they lose the axis; use a quaternion, axis and angle or "
            "the matrix instead.",
        )
    return cosine, tuple(v)


def quaternion_from_scalar(a: Scalar) -> Computed:
    """The quaternion (a, 0) of a real number (Méndez, eqs. 3 to 5).

    >>> quaternion_from_scalar(2.0)
    array([2., 0., 0., 0.])
    """
    return vector(scalar(a, "a"), 0.0, 0.0, 0.0)


def scalar_part(q: ArrayLike) -> Computed:
    """The scalar part w of a quaternion (Méndez, eqs. 3 to 5).

    >>> scalar_part([1.0, 2.0, 3.0, 4.0])
    1.0
    """
    return components(q, 4, "q")[0]


def quaternion_sum(p: ArrayLike, q: ArrayLike) -> Computed:
    """The sum, component by component (Méndez, eq. 1).

    >>> quaternion_sum([1, 2, 3, 4], [4, 3, 2, 1])
    array([5., 5., 5., 5.])
    """
    return vector(
        *(a + b for a, b in zip(components(p, 4, "p"), components(q, 4, "q"), strict=True))
    )


def quaternion_norm(q: ArrayLike) -> Computed:
    """The norm |q|, the square root of q times its conjugate.

    >>> float(quaternion_norm([2, 4, 5, 6]))
    9.0
    """
    return norm(components(q, 4, "q"))


def body_rates(q: ArrayLike, rate: ArrayLike) -> Computed:
    """The angular velocity ω = 2 vec(q⁻¹ dq/dt) in body axes: the inverse of `quaternion_rate`.

    >>> body_rates([1, 0, 0, 0], [0, 0, 0, 1])
    array([0., 0., 2.])
    """
    back = components(quaternion_inverse(q), 4)
    _, x, y, z = components(_product(back, components(rate, 4, "rate")), 4)
    return vector(2.0 * x, 2.0 * y, 2.0 * z)


def quaternion_exp(v: ArrayLike) -> Computed:
    """The unit quaternion exp(0, v) = (cos |v|, v sin |v| / |v|): the rotation by 2|v| about v.

    >>> quaternion_exp([0, 0, np.pi / 2])
    array([0., 0., 0., 1.])
    """
    return quaternion_from_rotation_vector(vector(*(2.0 * x for x in components(v, 3, "v"))))


def quaternion_log(q: ArrayLike) -> Computed:
    """The logarithm: the vector v with |v| <= π/2 whose exponential is the rotation q.

    >>> quaternion_log([0, 0, 0, 1]) / np.pi
    array([0. , 0. , 0.5])
    """
    return vector(*(x / 2.0 for x in components(rotation_vector_from_quaternion(q), 3)))
