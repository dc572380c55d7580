"""Spatial algebra: rigid transforms, twists and wrenches, their brackets, the inertia of a body.

Six-vectors have the angular part first, in the axes and about the origin of their frame. With
numbers they are arrays (..., 6); with CasADi symbols they are columns, or matrices of columns.
`eslabon.numerics.rigid_motions` has the same operators as 6x6 matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from eslabon.arguments import floats
from eslabon.errors import InputError
from eslabon.numerics.scalars import (
    Array,
    ArrayLike,
    Computed,
    Scalar,
    block,
    casadi,
    components,
    concatenate,
    entries,
    is_symbolic,
    matmul,
    matrix,
    times,
    transpose,
)
from eslabon.numerics.traced_steps import traced_once


class RigidTransform(NamedTuple):
    """The pose of a child frame in its parent: rotation R and position p, x_parent = R x_child + p.

    `T1 @ T2` is the pose of a frame that stands at T2 in a frame that stands at T1.

    >>> step = RigidTransform(np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]]), np.array([1.0, 0, 0]))
    >>> (step @ step).p
    array([1., 1., 0.])
    >>> (step @ step).relative_to(step).p, (step @ step.inverse()).p
    (array([1., 0., 0.]), array([0., 0., 0.]))
    """

    R: Computed
    p: Computed

    @traced_once
    def __matmul__(self, other: RigidTransform) -> RigidTransform:
        """T1 T2 = (R1 R2, R1 p2 + p1) (Yime, eq. 3)."""
        return RigidTransform(matmul(self.R, other.R), times(self.R, other.p) + self.p)

    @traced_once
    def inverse(self) -> RigidTransform:
        """T^-1 = (R^T, -R^T p): the pose of the parent frame in the child (Yime, eq. 2)."""
        back = transpose(self.R)
        return RigidTransform(back, -times(back, self.p))

    @traced_once
    def relative_to(self, other: RigidTransform) -> RigidTransform:
        """T2^-1 T1: this pose as seen from another one with the same parent."""
        back = transpose(other.R)
        return RigidTransform(matmul(back, self.R), times(back, self.p - other.p))


def angular_and_linear(x: Array) -> tuple[Computed, Computed]:
    """The angular and the linear half of a six-vector."""
    return (
        (x[:3, :], x[3:, :]) if is_symbolic(x) else (np.asarray(x)[..., :3], np.asarray(x)[..., 3:])
    )


def skew(u: ArrayLike) -> Computed:
    """hat(u), the matrix of u x, of a column or an array (..., 3) (Yime, eq. 6).

    >>> skew([1, 2, 3])
    array([[ 0., -3.,  2.],
           [ 3.,  0., -1.],
           [-2.,  1.,  0.]])
    """
    if is_symbolic(u):
        if u.numel() != 3:
            raise InputError(f"u: a vector of 3 components was expected; this one has {u.numel()}.")
        return casadi.skew(u)
    u = floats(u, "u")
    x, y, z = components(u[..., 0] if u.shape[-2:] == (3, 1) else u, 3, "u")
    return matrix([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def cross(u: Array, w: Array) -> Computed:
    """u x w, for each column of w."""
    return skew(u) @ w if is_symbolic(u, w) else np.cross(u, w)


@traced_once
def twist_to_child(pose: RigidTransform, V: Array) -> Computed:
    """Ad_T^-1 V: a twist given in the parent frame, in the child frame (Yime, eq. 8).

    >>> shift = RigidTransform(np.eye(3), np.array([1.0, 0, 0]))
    >>> twist_to_child(shift, np.array([0, 0, 1.0, 0, 0, 0]))  # turning about the parent's z
    array([0., 0., 1., 0., 1., 0.])
    """
    (R, p), (w, v) = pose, angular_and_linear(V)
    back = transpose(R)
    return concatenate(times(back, w), times(back, v - cross(p, w)))


@traced_once
def twist_to_parent(pose: RigidTransform, V: Array) -> Computed:
    """Ad_T V: a twist given in the child frame, in the parent frame (Yime, eq. 8)."""
    (R, p), (w, v) = pose, angular_and_linear(V)
    turned = times(R, w)
    return concatenate(turned, times(R, v) + cross(p, turned))


@traced_once
def wrench_to_parent(pose: RigidTransform, F: Array) -> Computed:
    """Ad_T^-T F: a wrench given in the child frame, in the parent frame (Yime, eq. 9).

    >>> shift = RigidTransform(np.eye(3), np.array([1.0, 0, 0]))
    >>> wrench_to_parent(shift, np.array([0, 0, 0, 0, 1.0, 0]))  # a force along y at x = 1
    array([0., 0., 1., 0., 1., 0.])
    """
    (R, p), (moment, force) = pose, angular_and_linear(F)
    turned = times(R, force)
    return concatenate(times(R, moment) + cross(p, turned), turned)


def motion_transform(pose: RigidTransform) -> Computed:
    """The 6x6 matrix of Ad_T^-1 in symbols, Featherstone's X from parent to child.

    Its transpose maps wrenches from the child to the parent.
    """
    R, p = pose
    return casadi.blockcat([[R.T, casadi.SX(3, 3)], [-R.T @ skew(p), R.T]])


def _trace(A: Array) -> Computed:
    return A[0, 0] + A[1, 1] + A[2, 2]


def _complement(A: Array) -> Computed:
    """tr(A) 1 - A of a symmetric matrix, without terms that cancel."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = entries(A, 3, 3)
    return matrix([[yy + zz, -xy, -xz], [-xy, xx + zz, -yz], [-xz, -yz, xx + yy]])


def _is_about_z(R: Array) -> bool:
    """Whether a rotation in symbols is about z, as that of an aligned joint."""
    return is_symbolic(R) and R[:, 2].is_constant() and not R.is_constant()


def _rotate_symmetric(R: Array, A: Array, about_z: bool) -> Computed:
    """R A R^T of a symmetric matrix, from its upper triangle.

    A rotation about z mixes x and y only; there A - A_xx 1 has one entry less to rotate than A.
    """
    if not is_symbolic(R, A):
        return R @ A @ R.T
    even = casadi.SX(A)[0, 0] * casadi.SX.eye(3) if about_z else casadi.SX(3, 3)
    return casadi.triu2symm(casadi.triu(R @ casadi.sparsify(A - even) @ R.T)) + even


@traced_once
def ad(V: Array, W: Array) -> Computed:
    """ad_V W = (w x x, v x x + w x y), the Lie bracket of V = (w; v), W = (x; y) (Yime, eq. 14)."""
    (w, v), (x, y) = angular_and_linear(V), angular_and_linear(W)
    return concatenate(cross(w, x), cross(v, x) + cross(w, y))


@traced_once
def ad_dual(V: Array, F: Array) -> Computed:
    """ad*_V F = -ad_V^T F, the bracket of a twist with a wrench (Yime, eq. 39)."""
    (w, v), (moment, force) = angular_and_linear(V), angular_and_linear(F)
    return concatenate(cross(w, moment) + cross(v, force), cross(w, force))


def inertia_blocks(mass: Scalar, first: Array, rotary: Array) -> Computed:
    """The 6x6 inertia [[J, hat(h)], [hat(h)^T, m 1]] of mass m, first moment h and inertia J."""
    h = skew(first)
    return block(
        [[rotary, h], [transpose(h), matrix([[mass * x for x in row] for row in np.eye(3)])]]
    )


@dataclass(frozen=True)
class Inertia:
    """The inertia of a body about the origin of its frame.

    Mass m, first moment h = m c (a 3x1 column) and second moments Sigma = integral of r r^T dm
    (3x3). The rotary inertia J = tr(Sigma) 1 - Sigma is kept beside them, because a rotation leaves
    other entries of J than of Sigma unchanged.

    The acceleration of a point r of the body is a + U r with U = skew(w') + skew(w)^2. Force and
    moment are then m a + U h and h x a + 2 vect(U Sigma), which needs the fewest products.

    >>> one = np.array([[1.0], [0], [0]])
    >>> point = Inertia.from_mass_properties(2.0, one, np.zeros((3, 3)))  # two kilograms at x = 1
    >>> beside = point.in_parent_frame(RigidTransform(np.eye(3), one))  # seen from x = -1
    >>> float(beside.first[0, 0]), float(beside.second[0, 0]), float(beside.rotary[2, 2])
    (4.0, 8.0, 8.0)
    """

    mass: Computed
    first: Computed
    second: Computed
    rotary: Computed

    @staticmethod
    def from_mass_properties(mass: Scalar, com: Array, inertia: Array) -> Inertia:
        """From mass, centre of mass c and inertia I about c: Sigma = tr(I)/2 1 - I + m c c^T."""
        first = mass * com
        return Inertia.from_moments(
            mass, first, _trace(inertia) / 2 * np.eye(3) - inertia + first @ com.T
        )

    @staticmethod
    @traced_once
    def from_moments(mass: Scalar, first: Array, second: Array) -> Inertia:
        """From mass, first moment and second moments."""
        return Inertia(mass, first, second, _complement(second))

    def __add__(self, other: Inertia) -> Inertia:
        """The inertia of two bodies that are rigidly connected, both about one frame."""
        return Inertia(
            self.mass + other.mass,
            self.first + other.first,
            self.second + other.second,
            self.rotary + other.rotary,
        )

    def in_parent_frame(self, pose: RigidTransform) -> Inertia:
        """The inertia about the parent's frame, of a body at `pose` (Steiner's theorem)."""
        return self._in_parent_frame(pose, pose.p, about_z=_is_about_z(pose.R))

    @traced_once
    def _in_parent_frame(self, pose: RigidTransform, again: Array, about_z: bool) -> Inertia:
        R, p = pose
        first = R @ self.first
        moved = first @ p.T + again @ first.T + self.mass * (p @ p.T)  # `again` is p: `traced_once`
        return Inertia(
            self.mass,
            first + self.mass * p,
            _rotate_symmetric(R, self.second, about_z) + moved,
            _rotate_symmetric(R, self.rotary, about_z) + _complement(moved),
        )

    def moments_in_parent_frame(self, pose: RigidTransform) -> Inertia:
        """The same with J computed from Sigma: fewer products where all entries are needed."""
        return self._moments_in_parent_frame(pose, pose.p, about_z=_is_about_z(pose.R))

    @traced_once
    def _moments_in_parent_frame(
        self, pose: RigidTransform, again: Array, about_z: bool
    ) -> Inertia:
        R, p = pose
        first = R @ self.first
        second = (
            _rotate_symmetric(R, self.second, about_z)
            + first @ p.T
            + again @ first.T
            + self.mass * (p @ p.T)
        )
        return Inertia.from_moments(self.mass, first + self.mass * p, second)

    def matrix(self) -> Computed:
        """The 6x6 inertia about the frame's origin (Yime, eq. 38)."""
        return inertia_blocks(self.mass, self.first, self.rotary)

    @traced_once
    def momentum(self, twists: Array) -> Computed:
        """J w + h x v and m v - h x w: the momenta of twists, or the wrenches of accelerations."""
        w, v = angular_and_linear(twists)
        h = skew(self.first)
        return concatenate(self.rotary @ w + h @ v, self.mass * v - h @ w)

    @traced_once
    def wrench(self, U: Array, a: Array) -> Computed:
        """(J w' + w x J w + h x a, m a + U h): the wrench that moves the body with U, a.

        a is the acceleration of the frame's origin.
        """
        S = self.second

        def twice(i: int, j: int, k: int) -> Computed:
            """A component of 2 vect(U Sigma), with the products of one entry collected."""
            return (
                U[k, j] * S[j, j]
                - U[j, k] * S[k, k]
                + S[j, k] * (U[k, k] - U[j, j])
                + U[k, i] * S[i, j]
                - U[j, i] * S[i, k]
            )

        moment = concatenate(twice(0, 1, 2), twice(1, 2, 0), twice(2, 0, 1))
        return concatenate(moment + skew(self.first) @ a, self.mass * a + U @ self.first)
