"""Rigid motions, SE(3): poses, twists and wrenches, and the operators on them (Yime, eqs. 1 to 15).

A pose T is the 4x4 matrix [[R, r], [0, 1]]. A twist is (angular; linear) and a wrench
(moment; force), in the body's own frame. Here the operators are matrices; `spatial` applies the
same operators to six-vectors without forming the matrices.
"""

from __future__ import annotations

import numpy as np

from eslabon.arguments import floats
from eslabon.numerics.quaternions import rotation_vector_from_quaternion
from eslabon.numerics.rotations import (
    check_rotation,
    quaternion_from_rotation,
    rotation_from_rotation_vector,
)
from eslabon.numerics.scalars import (
    ArrayLike,
    Computed,
    Scalar,
    block,
    components,
    concatenate,
    dot,
    entries,
    is_symbolic,
    matmul,
    matrix,
    raise_unless,
    scalar,
    stumpff,
    times,
    transpose,
    vector,
)
from eslabon.numerics.spatial import inertia_blocks, skew
from eslabon.numerics.tolerances import INPUT_DIGITS

__all__ = [
    "adjoint",
    "bracket",
    "check_pose",
    "coadjoint",
    "cobracket",
    "compose",
    "hat",
    "hat6",
    "inertia_matrix",
    "motion_exp",
    "motion_log",
    "pose",
    "pose_inverse",
    "position_of",
    "rotation_of",
    "vee",
    "vee6",
]

hat = skew  # the name it has in the papers on Lie groups

# --- poses ----------------------------------------------------------------------------------------


def pose(rotation: ArrayLike, position: ArrayLike) -> Computed:
    """The pose T = [[R, r], [0, 1]] (Yime, eq. 1).

    >>> pose(np.eye(3), [1, 2, 3])
    array([[1., 0., 0., 1.],
           [0., 1., 0., 2.],
           [0., 0., 1., 3.],
           [0., 0., 0., 1.]])
    """
    rows = entries(check_rotation(rotation), 3, 3)
    r = components(position, 3, "position")
    return matrix([[*rows[0], r[0]], [*rows[1], r[1]], [*rows[2], r[2]], [0.0, 0.0, 0.0, 1.0]])


def rotation_of(pose: ArrayLike) -> Computed:
    """The rotation R of a pose.

    >>> rotation_of(np.eye(4))
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """
    return matrix([row[:3] for row in entries(pose, 4, 4, "pose")[:3]])


def position_of(pose: ArrayLike) -> Computed:
    """The position r of a pose.

    >>> position_of(np.eye(4))
    array([0., 0., 0.])
    """
    return vector(*(row[3] for row in entries(pose, 4, 4, "pose")[:3]))


def check_pose(pose: ArrayLike) -> Computed:
    """Return the pose if it is one: a rotation, a finite position, the last row (0, 0, 0, 1).

    Otherwise raise `RotationError`.

    >>> check_pose(np.eye(4)).shape
    (4, 4)
    >>> check_pose(np.eye(4)[::-1])
    Traceback (most recent call last):
    eslabon.errors.RotationError: this pose does not end in the row (0, 0, 0, 1), which it misses
    by 1.
    """
    entries(pose, 4, 4, "pose")
    if is_symbolic(pose):
        return pose
    pose = np.asarray(pose, dtype=float)
    error = np.abs(pose[..., 3, :] - [0.0, 0.0, 0.0, 1.0]).max(axis=-1)
    raise_unless(
        error <= INPUT_DIGITS,
        "pose",
        "does not end in the row (0, 0, 0, 1), which it misses by {:.3g}.",
        error,
    )
    raise_unless(
        np.isfinite(position_of(pose)).all(axis=-1), "pose", "has a position that is not finite."
    )
    check_rotation(rotation_of(pose))
    return pose


@np.errstate(all="ignore")  # NaN in, NaN out, without a warning
def pose_inverse(pose: ArrayLike) -> Computed:
    """The inverse T⁻¹ = [[R^T, -R^T r], [0, 1]] (Yime, eq. 2).

    >>> pose_inverse([[1, 0, 0, 5], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])[:3, 3]
    array([-5.,  0.,  0.])
    """
    back = transpose(rotation_of(pose))
    rows, r = entries(back, 3, 3), components(position_of(pose), 3)
    return matrix([*([*row, 0.0 - dot(row, r)] for row in rows), [0.0, 0.0, 0.0, 1.0]])


# --- vectors as matrices, operators on twists and wrenches ----------------------------------------


def vee(m: ArrayLike) -> Computed:
    """The vector (m32, m13, m21) of a skew matrix: the inverse of `hat` (Yime, eq. 6).

    >>> vee(hat([1, 2, 3]))
    array([1., 2., 3.])
    """
    rows = entries(m, 3, 3, "m")
    return vector(rows[2][1], rows[0][2], rows[1][0])


def adjoint(pose: ArrayLike) -> Computed:
    """Ad_T = [[R, 0], [hat(r) R, R]] (Yime, eq. 8).

    It maps a twist given in the child frame, which stands at T, to the parent frame.

    >>> adjoint(pose(np.eye(3), [1, 0, 0])) @ [0, 0, 1, 0, 0, 0]  # turning about a z axis at x = 1
    array([ 0.,  0.,  1.,  0., -1.,  0.])
    """
    rotation = rotation_of(pose)
    return block(
        [[rotation, np.zeros((3, 3))], [matmul(hat(position_of(pose)), rotation), rotation]]
    )


def bracket(twist: ArrayLike) -> Computed:
    """ad_V = [[hat(w), 0], [hat(v), hat(w)]], the matrix of the Lie bracket (Yime, eq. 14).

    ad_V W = -ad_W V for any two twists.

    >>> bracket([0, 0, 1, 0, 0, 0]) @ [0, 0, 0, 1, 0, 0]
    array([0., 0., 0., 0., 1., 0.])
    """
    w, v = (hat(half) for half in _halves(twist))
    return block([[w, np.zeros((3, 3))], [v, w]])


def cobracket(twist: ArrayLike) -> Computed:
    """ad*_V = -ad_V^T, the matrix of the bracket on wrenches (Yime, eq. 39).

    >>> import numpy as np
    >>> import eslabon as es
    >>> V = np.arange(1.0, 7.0)
    >>> bool(np.allclose(es.algebra.cobracket(V), -es.algebra.bracket(V).T))
    True
    """
    return 0.0 - transpose(bracket(twist))


def _halves(twist: ArrayLike) -> tuple[Computed, Computed]:
    entries = components(twist, 6, "twist")
    return vector(*entries[:3]), vector(*entries[3:])


# --- exponential and logarithm --------------------------------------------------------------------


def motion_exp(twist: ArrayLike) -> Computed:
    """exp V: the pose after moving with the constant body twist V = (w; v) for a unit of time.

    exp V = [[exp hat(w), G v], [0, 1]], G = 1 + c2 hat(w) + c3 hat(w)², with Stumpff's functions
    c2 = (1 - cos φ)/φ² and c3 = (φ - sin φ)/φ³ of φ = |w|. It is smooth at φ = 0, where it is the
    translation by v.

    >>> motion_exp([0, 0, np.pi / 2, np.pi / 2, 0, 0]).round(15)  # a quarter of a unit circle
    array([[ 0., -1.,  0.,  1.],
           [ 1.,  0.,  0.,  1.],
           [ 0.,  0.,  1.,  0.],
           [ 0.,  0.,  0.,  1.]])
    """
    w, v = _halves(twist)
    squared = dot(components(w, 3), components(w, 3))
    shift = _quadratic(w, stumpff(2, squared), stumpff(3, squared), v)
    rows, r = entries(rotation_from_rotation_vector(w), 3, 3), components(shift, 3)
    return matrix([*([*row, c] for row, c in zip(rows, r, strict=True)), [0.0, 0.0, 0.0, 1.0]])


def motion_log(pose: ArrayLike) -> Computed:
    """log T: the twist V = (w; v) with |w| <= π whose exponential is the pose.

    v = G⁻¹ r, G⁻¹ = 1 - hat(w)/2 + d hat(w)², d = (1 - (φ/2) cot(φ/2))/φ². In Stumpff's functions
    d = (c3 - 2 c4)/(2 c2), which neither cancels nor divides by zero up to φ = π. At exactly φ = π
    the axis is that of `quaternion_from_rotation`: its largest component is positive.

    >>> motion_log(motion_exp([0.1, 0.2, 0.3, 4, 5, 6])).round(14)
    array([0.1, 0.2, 0.3, 4. , 5. , 6. ])
    """
    pose = check_pose(pose)
    w = rotation_vector_from_quaternion(quaternion_from_rotation(rotation_of(pose)))
    return concatenate(w, shift_log(w, position_of(pose)))


def shift_log(w: ArrayLike, r: ArrayLike) -> Computed:
    """G⁻¹ r: the linear part of log T, from the rotation vector w and the position r of T.

    >>> shift_log([0, 0, np.pi / 2], [1, 1, 0]).round(14)
    array([1.57079633, 0.        , 0.        ])
    """
    squared = dot(components(w, 3, "w"), components(w, 3, "w"))
    d = (stumpff(3, squared) - 2.0 * stumpff(4, squared)) / (2.0 * stumpff(2, squared))
    return _quadratic(w, -0.5, d, r)


def _quadratic(w: ArrayLike, a: Scalar, b: Scalar, v: ArrayLike) -> Computed:
    """(1 + a hat(w) + b hat(w)²) v."""
    once = times(hat(w), v)
    twice = times(hat(w), once)
    return vector(
        *(
            x + a * y + b * z
            for x, y, z in zip(
                components(v, 3, "v"), components(once, 3), components(twice, 3), strict=True
            )
        )
    )


def compose(first: ArrayLike, *others: ArrayLike) -> Computed:
    """The product T1 T2 ... Tn of poses (Yime, eq. 3).

    >>> position_of(compose(pose(np.eye(3), [1, 0, 0]), pose(np.eye(3), [0, 2, 0])))
    array([1., 2., 0.])
    """
    names = ("first", *(f"others[{k}]" for k in range(len(others))))
    poses = zip((first, *others), names, strict=True)
    factors = [x if is_symbolic(x) else floats(x, name) for x, name in poses]
    for factor, name in zip(factors, names, strict=True):
        if factor.shape[-2:] != (4, 4):
            entries(factor, 4, 4, name)  # raises the error
    return matmul(*factors)


def hat6(twist: ArrayLike) -> Computed:
    """The 4x4 matrix [[hat(w), v], [0, 0]] of a twist; T⁻¹ dT/dt for the body twist (Yime, eq. 7).

    >>> hat6([1, 2, 3, 4, 5, 6])
    array([[ 0., -3.,  2.,  4.],
           [ 3.,  0., -1.,  5.],
           [-2.,  1.,  0.,  6.],
           [ 0.,  0.,  0.,  0.]])
    """
    x, y, z, *v = components(twist, 6, "twist")
    return matrix(
        [[0.0, -z, y, v[0]], [z, 0.0, -x, v[1]], [-y, x, 0.0, v[2]], [0.0, 0.0, 0.0, 0.0]]
    )


def vee6(m: ArrayLike) -> Computed:
    """The twist (w; v) of its 4x4 matrix: the inverse of `hat6` (Yime, eq. 7).

    >>> vee6(hat6([1, 2, 3, 4, 5, 6]))
    array([1., 2., 3., 4., 5., 6.])
    """
    rows = entries(m, 4, 4, "m")
    return vector(rows[2][1], rows[0][2], rows[1][0], *(row[3] for row in rows[:3]))


def coadjoint(pose: ArrayLike) -> Computed:
    """Ad*_T = Ad_T^-T = [[R, hat(r) R], [0, R]] (Yime, eq. 9).

    It maps a wrench given in the child frame, which stands at T, to the parent frame.

    >>> coadjoint(pose(np.eye(3), [1, 0, 0])) @ [0, 0, 0, 0, 1, 0]  # a force along y at x = 1
    array([0., 0., 1., 0., 1., 0.])
    """
    rotation = rotation_of(pose)
    return block(
        [[rotation, matmul(hat(position_of(pose)), rotation)], [np.zeros((3, 3)), rotation]]
    )


@np.errstate(all="ignore")  # NaN in, NaN out, without a warning
def inertia_matrix(mass: Scalar, com: ArrayLike, inertia: ArrayLike) -> Computed:
    """The 6x6 inertia M = [[I - m hat(c)², m hat(c)], [-m hat(c), m 1]] of a body (Yime, eq. 38).

    c is the centre of mass in the body's frame, I the inertia about c in the body's axes.

    >>> np.diag(inertia_matrix(2, [1, 0, 0], np.diag([1, 1, 1])))
    array([1., 3., 3., 2., 2., 2.])
    """
    m, c, central = (
        scalar(mass, "mass"),
        components(com, 3, "com"),
        entries(inertia, 3, 3, "inertia"),
    )
    turned = [
        [m * (dot(c, c) * (i == j) - c[i] * c[j]) for j in range(3)] for i in range(3)
    ]  # of the mass at c
    rotary = matrix([[central[i][j] + turned[i][j] for j in range(3)] for i in range(3)])
    return inertia_blocks(m, vector(*(m * x for x in c)), rotary)
