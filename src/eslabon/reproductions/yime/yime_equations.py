"""Sections 2 to 5: the paper's equations followed number by number, in which its slips can be put back.

Velocities and accelerations of chains (2), constraints of loops (4), torques by virtual work (5), on any mechanism.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import eslabon as es
from eslabon.mechanism import Floats
from eslabon.model import GROUND
from eslabon.numerics import adjoint, bracket, cobracket, pose, pose_inverse
from eslabon.numerics.spatial import Inertia


@dataclass(frozen=True)
class Slips:
    """What the print has wrong, to be put back one at a time; as it stands, the text is right."""

    rho: float = -1.0  # the sign of eq. 44, printed as +1 (L528, L661, L844)
    weight: float = 1.0  # that of F_g in eq. 43, printed as -1 (L518)
    twice: bool = False  # the two axes of one universal joint bracketed besides S' (L834)
    turned: bool = False  # the brackets of 7.3.4 the other way round (L1017, L1031)
    rates: bool = True  # the speeds in the Coriolis terms, which 7.1.4 leaves out (L629-649)


RIGHT = Slips()


@dataclass(frozen=True)
class Worked:
    """All velocities and accelerations, and the torques, from those of the actuated joints."""

    v: Floats
    a: Floats
    tau: Floats


@dataclass(frozen=True)
class Chain:
    """A frame on a tree, with what moves it: the columns Ad S of its joints, and which velocities they belong to."""

    m: es.Mechanism
    q: Floats
    places: Mapping[str, Floats]  # the poses of all bodies
    body: str
    at: Floats

    @cached_property
    def joints(self) -> list[Any]:
        found: list[Any] = []
        body = self.body
        while body != GROUND:
            joint = next(j for j in self.m.joints if j.child == body)
            found.insert(0, joint)
            body = joint.parent
        return found

    @cached_property
    def back(self) -> Floats:
        """From the ground to this frame."""
        return pose_inverse(self.places[self.body] @ self.at)

    def carried(self, joint: Any) -> Floats:
        """Ad from the joint's frame to this one."""
        return adjoint(self.back @ self.places[joint.child])

    def columns(self, joint: Any) -> Floats:
        return self.carried(joint) @ np.asarray(
            joint.kind.motion(self.q[self.m.coordinates[joint.name]])
        )

    def jacobian(self) -> Floats:
        """Eq. 10: V = J v."""
        J = np.zeros((6, self.m.nv))
        for joint in self.joints:
            J[:, self.m.velocities[joint.name]] = self.columns(joint)
        return J

    def coriolis(self, v: Floats, slips: Slips) -> Floats:
        """Eq. 17: the acceleration while the joints' speeds are constant."""
        total, before = np.zeros(6), np.zeros(6)
        for joint in self.joints:
            place = self.m.velocities[joint.name]
            speeds = v[place] if slips.rates else np.ones(place.stop - place.start)
            rate = np.asarray(
                joint.kind.motion_rate(self.q[self.m.coordinates[joint.name]], v[place])
            )
            columns = self.columns(joint)
            total += self.carried(joint) @ rate @ v[place]
            total += (-1 if slips.turned else 1) * bracket(before) @ columns @ speeds
            if slips.twice and joint.nv == 2:
                total += bracket(columns[:, 0] * speeds[0]) @ columns[:, 1] * speeds[1]
            before = before + columns @ speeds
        return total


def by_the_paper(
    m: es.Mechanism, q: Floats, va: Floats, aa: Floats, slips: Slips = RIGHT
) -> Worked:
    """Velocities (eq. 32), accelerations (35, 36) and torques (42 to 46) of a closed configuration."""
    places = {GROUND: np.eye(4)} | {body.name: m.pose(q, body.name) for body in m.bodies}
    phi, gamma_of = _loops(m, q, places, slips)
    act = list(m.actuated_velocities)
    pas = [k for k in range(m.nv) if k not in act]
    back = np.linalg.pinv(phi[:, pas], rcond=1e-9)
    v, a = np.zeros(m.nv), np.zeros(m.nv)
    v[act], v[pas] = va, -back @ phi[:, act] @ va
    a[act], a[pas] = aa, back @ (gamma_of(v) - phi[:, act] @ aa)
    rho = np.zeros((m.nv, len(act)))
    rho[act], rho[pas] = np.eye(len(act)), slips.rho * back @ phi[:, act]
    tau = np.zeros(len(act))
    for body in m.bodies:
        frame = Chain(m, q, places, body.name, np.eye(4))
        J, R = frame.jacobian(), places[body.name][:3, :3]
        V, A = J @ v, J @ a + frame.coriolis(v, RIGHT)
        M = Inertia.from_mass_properties(
            body.mass, np.array([body.com]).T, body.inertia_matrix()
        ).matrix()
        pull = body.mass * R.T @ np.array(m.gravity, dtype=float)
        weight = np.concatenate([np.cross(np.array(body.com, dtype=float), pull), pull])
        tau += (J @ rho).T @ (M @ A + cobracket(V) @ M @ V - slips.weight * weight)
    return Worked(v, a, tau)


def _loops(
    m: es.Mechanism, q: Floats, places: Mapping[str, Floats], slips: Slips
) -> tuple[Floats, Any]:
    """The Jacobian of the constraints (eq. 28), and gamma (35) as a function of the velocities."""
    ends = []
    for loop in m.loops:
        left, right = (
            Chain(m, q, places, e.body, pose(e.at.rotation(), e.at.translation()))
            for e in (loop.first, loop.second)
        )
        across = left.back @ pose_inverse(right.back)
        C = np.asarray(loop.kind.covectors(across[:3, :3], across[:3, 3]))
        ends.append((left, right, C, adjoint(pose_inverse(across))))

    def gamma(v: Floats) -> Floats:
        rows = []
        for left, right, C, Ad in ends:
            product = bracket(right.jacobian() @ v) @ Ad @ left.jacobian() @ v
            rows.append(-C.T @ (right.coriolis(v, slips) - Ad @ left.coriolis(v, slips) + product))
        return np.concatenate(rows)

    phi = np.concatenate(
        [C.T @ (right.jacobian() - Ad @ left.jacobian()) for left, right, C, Ad in ends]
    )
    return phi, gamma
