"""W = d tau / d theta as section 5.3 and the listing of the thesis compute it, with the slips they make, and as it must be.

It lives here alone: `m.linearize` has the exact one. All vectors are in the axes of the ground, as in the thesis.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

import eslabon as es
from eslabon.mechanism import Floats

cross = np.cross

# The slips of the listing, each with what it does.
SLIPS = {
    "formula": "eq. 5.3.17 for the moments: de_j/dtheta_k = e_k x e_j for all k (5.3.10), and the identity 5.3.13",
    "third": "third derivatives e_p x r_kq + e_k x r_pq where k < p (L2920-2924, L4459-4470); the second alone is right",
    "column": "for k = 1 TV1 - TV2 and TV2 - TV1, one after the other, for what is to be added (L4472-4473)",
    "axis": "for k = 1 the axis E is left at zero in -A^T I [E x (...)] (L4747-4749); as scanned, L4778 skips the next term for k = 1 too, where K.EQ.I was probably meant",
}


@dataclass(frozen=True)
class Arm:
    """An arm of revolute joints in one state: axes e, joint origins, centres of mass r, inertias, and motion of each link.

    `first[i, j]` is dr_i/dtheta_j, `second[i, j, k]` the derivative of that by theta_k, both zero for joints beyond the link.
    """

    mass: Floats
    axis: Floats
    origin: Floats
    centre: Floats
    inertia: Floats
    v: Floats
    a: Floats
    gravity: Floats

    @classmethod
    def of(cls, m: es.Mechanism, q: Floats, v: Floats, a: Floats) -> Arm:
        poses = np.array([m.pose(q, body.name) for body in m.bodies])
        R, p = poses[:, :3, :3], poses[:, :3, 3]
        centres = np.array([body.com for body in m.bodies], dtype=float)
        own = np.array([body.inertia_matrix() for body in m.bodies], dtype=float)
        return cls(
            np.array([body.mass for body in m.bodies], dtype=float), R[:, :, 2], p,
            p + np.einsum("nij,nj->ni", R, centres), R @ own @ np.swapaxes(R, 1, 2), v, a,
            np.array(m.gravity, dtype=float),
        )  # fmt: skip

    @property
    def count(self) -> int:
        return len(self.mass)

    @property
    def w(self) -> Floats:
        """Angular velocities."""
        return np.cumsum(self.axis * self.v[:, None], axis=0)

    @property
    def bias(self) -> Floats:
        """A_i' theta', what angular accelerations have of velocities."""
        before = np.vstack([np.zeros(3), self.w[:-1]])
        return np.cumsum(cross(before, self.axis) * self.v[:, None], axis=0)

    @property
    def driven(self) -> Floats:
        """A_i theta'', what they have of the joints' accelerations."""
        return np.cumsum(self.axis * self.a[:, None], axis=0)

    def first(self, i: int) -> Floats:
        """dr_i/dtheta_j (joints, 3)."""
        return cross(self.axis[: i + 1], self.centre[i] - self.origin[: i + 1])

    def second(self, i: int) -> Floats:
        """d²r_i/dtheta_j dtheta_k = e_min x dr_i/dtheta_max (joints, joints, 3)."""
        first, joints = self.first(i), np.arange(i + 1)
        low, high = np.minimum.outer(joints, joints), np.maximum.outer(joints, joints)
        return cross(self.axis[low], first[high])

    def third(self, i: int, k: int, slips: Collection[str] = ()) -> Floats:
        """d³r_i/dtheta_k dtheta_p dtheta_q, as it is or as the listing has it."""
        second = self.second(i)
        made = np.zeros_like(second)
        for p in range(i + 1):
            for q in range(p, i + 1):
                mine, other = cross(self.axis[p], second[k, q]), cross(self.axis[k], second[p, q])
                made[p, q] = made[q, p] = _third(mine, other, k, p, slips)
        return made

    def acceleration(self, i: int) -> Floats:
        """Of the centre of mass, less gravity."""
        v, a = self.v[: i + 1], self.a[: i + 1]
        return a @ self.first(i) + np.einsum("jkx,j,k", self.second(i), v, v) - self.gravity

    def acceleration_slope(self, i: int, k: int, slips: Collection[str] = ()) -> Floats:
        """Its derivative by theta_k."""
        v, a = self.v[: i + 1], self.a[: i + 1]
        return a @ self.second(i)[k] + np.einsum("pqx,p,q", self.third(i, k, slips), v, v)

    def bias_slope(self, i: int, k: int, sign: int = 1) -> Floats:
        """d(A_i' theta')/dtheta_k (5.3.15); the appendix has the other sign in the second term (L2930)."""
        w, e, total = self.w, self.axis, np.zeros(3)
        for m in range(k + 1, i + 1):
            total += self.v[m] * (
                cross(e[k], cross(w[m - 1], e[m])) + sign * cross(e[m], cross(e[k], w[k]))
            )
        return total

    def moment(self, i: int) -> Floats:
        """n_i = I w' + w x I w."""
        I, w = self.inertia[i], self.w[i]
        return I @ (self.driven[i] + self.bias[i]) + cross(w, I @ w)

    def moment_slope(self, i: int, k: int) -> Floats:
        """dn_i/dtheta_k: what theta_k turns along, and what it leaves behind."""
        I, e, w, rate = self.inertia[i], self.axis[k], self.w, self.driven[k] + self.bias[k]
        spin = -cross(e, w[k])
        turning = -cross(e, rate) + cross(spin, w[i] - w[k])
        return (
            cross(e, self.moment(i)) + I @ turning + cross(spin, I @ w[i]) + cross(w[i], I @ spin)
        )


def _third(mine: Floats, other: Floats, k: int, p: int, slips: Collection[str]) -> Floats:
    """e_p x r_kq and e_k x r_pq put together."""
    if k >= p:
        return mine
    if k == 0 and "column" in slips:
        x = mine[0] - mine[1]
        return np.array([x, mine[1] - x, mine[2]])
    return mine + other if "third" in slips else other


def position_matrix(arm: Arm, slips: Collection[str] = ()) -> Floats:
    """W. Without slips it is exact: the sum over links i, up to which j and k go, of
    m (d²r_i/dtheta_j dtheta_k).(r_i'' - g) + m (dr_i/dtheta_j).(dr_i''/dtheta_k) + [k < j] (e_k x e_j).n_i + e_j.dn_i/dtheta_k.
    """
    W = np.zeros((arm.count, arm.count))
    for i in range(arm.count):
        first, second, push = arm.first(i), arm.second(i), arm.mass[i] * arm.acceleration(i)
        for k in range(i + 1):
            W[: i + 1, k] += second[:, k] @ push + arm.mass[i] * first @ arm.acceleration_slope(
                i, k, slips
            )
            W[: i + 1, k] += (
                printed_moments(arm, i, k, slips)
                if "formula" in slips
                else exact_moments(arm, i, k)
            )
    return W


def exact_moments(arm: Arm, i: int, k: int) -> Floats:
    """What the moment of link i adds to column k."""
    turned = [cross(arm.axis[k], arm.axis[j]) if k < j else np.zeros(3) for j in range(i + 1)]
    return np.array(turned) @ arm.moment(i) + arm.axis[: i + 1] @ arm.moment_slope(i, k)


def printed_moments(arm: Arm, i: int, k: int, slips: Collection[str] = ()) -> Floats:
    """The same by eq. 5.3.17: -e_j^T I [e_k x (A_i' theta' + A_k theta'')] + e_j^T I d(A_i' theta')/dtheta_k."""
    axis = np.zeros(3) if k == 0 and "axis" in slips else arm.axis[k]
    inner = arm.bias_slope(i, k) - cross(axis, arm.bias[i] + arm.driven[k])
    return arm.axis[: i + 1] @ arm.inertia[i] @ inner


def rate_matrix(arm: Arm) -> Floats:
    """V by eq. 5.5.2."""
    V, e, w = np.zeros((arm.count, arm.count)), arm.axis, arm.w
    for i in range(arm.count):
        first, I = arm.first(i), arm.inertia[i]
        rates = np.einsum("jkx,j", arm.second(i), arm.v[: i + 1])
        for k in range(i + 1):
            moment = (
                I @ (2 * cross(w[k], e[k]) + cross(e[k], w[i]))
                + cross(e[k], I @ w[i])
                + cross(w[i], I @ e[k])
            )
            V[: i + 1, k] += 2 * arm.mass[i] * first @ rates[k] + e[: i + 1] @ moment
    return V
