"""Independent rigid-body software to compare with: our mechanisms rebuilt as Pinocchio models."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from eslabon.kinematics.tree import on_body, placements
from eslabon.mechanism import Mechanism
from eslabon.model import Joint, Pose
from eslabon.model.constraints import perpendicular


class _Pinocchio:
    """Pinocchio, imported by the first test that uses it; without it that test is skipped, not its whole file."""

    def __getattr__(self, name: str) -> Any:
        reason = "Pinocchio is not installed (there are no packages for Windows)"
        return getattr(pytest.importorskip("pinocchio", reason=reason), name)


pin = _Pinocchio()


def se3(at: Pose) -> pin.SE3:
    return pin.SE3(np.asarray(at.rotation()), np.asarray(at.translation()))


def unit(axis) -> np.ndarray:
    axis = np.array(axis, dtype=float)
    return axis / np.linalg.norm(axis)


def simple_joints(joint: Joint) -> list:
    """A joint as Pinocchio joints one after another, without mass between them: the same coordinates, told apart."""
    kind = joint.kind
    axes = [unit(a) for a in kind.axes]
    match kind.kind:
        case "revolute":
            return [pin.JointModelRevoluteUnaligned(axes[0])]
        case "prismatic":
            return [pin.JointModelPrismaticUnaligned(axes[0])]
        case "helical":
            return [pin.JointModelHelicalUnaligned(axes[0], kind.pitch)]
        case "cylindrical":
            return [pin.JointModelRevoluteUnaligned(axes[0]), pin.JointModelPrismaticUnaligned(axes[0])]
        case "universal":
            return [pin.JointModelRevoluteUnaligned(a) for a in axes]
        case "planar":
            along, across = (np.array(x) for x in perpendicular(tuple(float(x) for x in axes[0])))
            slides = [pin.JointModelPrismaticUnaligned(x) for x in (along, across)]
            return [*slides, pin.JointModelRevoluteUnaligned(axes[0])]
        case "spherical":
            return [pin.JointModelSpherical()]
        case "free":
            return [pin.JointModelFreeFlyer()]
    return []


@dataclass
class Oracle:
    """A Pinocchio model of a tree, with the maps between its coordinates and ours."""

    mechanism: Mechanism
    model: pin.Model = field(default_factory=lambda: pin.Model())

    def __post_init__(self) -> None:
        m = self.mechanism
        self.where: dict[str, tuple[int, pin.SE3]] = {"ground": (0, pin.SE3.Identity())}
        self.q_map, self.v_map = np.zeros(m.nq, int), np.zeros(m.nv, int)
        self.model.gravity.linear = np.array(m.gravity)
        waiting = list(m.joints)
        while waiting:  # depth first, as Pinocchio's mass matrix needs it
            last = next(reversed(self.where))
            path = [last]
            while path[-1] != "ground":
                path.append(m.joint(next(j.name for j in m.joints if j.child == path[-1])).parent)
            joint = next(j for body in path for j in waiting if j.parent == body)
            waiting.remove(joint)
            self._add(joint)
        self.data = self.model.createData()

    def _add(self, joint: Joint) -> None:
        m, (parent, offset) = self.mechanism, self.where[joint.parent]
        place = offset * se3(joint.at)
        q_at, v_at = [], []
        for simple in simple_joints(joint):
            parent = self.model.addJoint(parent, simple, place, f"{joint.name}{len(q_at)}")
            place = pin.SE3.Identity()
            made = self.model.joints[parent]
            q_at += range(made.idx_q, made.idx_q + made.nq)
            v_at += range(made.idx_v, made.idx_v + made.nv)
        if joint.kind.kind in ("spherical", "free"):  # x y z w there, w x y z here
            q_at = [*q_at[:-4], q_at[-1], *q_at[-4:-1]]
        if joint.kind.kind == "free":  # linear first there, angular first here
            v_at = v_at[3:] + v_at[:3]
        self.q_map[m.coordinates[joint.name]], self.v_map[m.velocities[joint.name]] = q_at, v_at
        self.where[joint.child] = (parent, place)
        body = m.body(joint.child)
        inertia = pin.Inertia(float(body.mass), np.array(body.com), np.asarray(body.inertia_matrix()))
        self.model.appendBodyToJoint(parent, inertia, place)

    def q(self, q: np.ndarray) -> np.ndarray:
        theirs = np.zeros(self.model.nq)
        theirs[self.q_map] = q
        return theirs

    def v(self, v: np.ndarray) -> np.ndarray:
        theirs = np.zeros(self.model.nv)
        theirs[self.v_map] = v
        return theirs

    def frame(self, name: str) -> tuple[int, pin.SE3]:
        frame = self.mechanism.frame(name)
        joint, offset = self.where[frame.body]
        return joint, offset * se3(frame.at)

    def pose(self, q: np.ndarray, name: str) -> np.ndarray:
        pin.forwardKinematics(self.model, self.data, self.q(q))
        joint, offset = self.frame(name)
        return (self.data.oMi[joint] * offset).homogeneous

    def jacobian(self, q: np.ndarray, name: str) -> np.ndarray:
        """Body Jacobian, angular rows first."""
        joint, offset = self.frame(name)
        pin.computeJointJacobians(self.model, self.data, self.q(q))
        J = offset.toActionMatrixInverse() @ pin.getJointJacobian(self.model, self.data, joint, pin.LOCAL)
        return np.vstack([J[3:], J[:3]])[:, self.v_map]

    def motion(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Body twist and its rate, angular part first."""
        joint, offset = self.frame(name)
        pin.forwardKinematics(self.model, self.data, self.q(q), self.v(v), self.v(a))
        V, A = (offset.actInv(x[joint]) for x in (self.data.v, self.data.a))
        return tuple(np.concatenate([x.angular, x.linear]) for x in (V, A))


def mujoco_model(m: Mechanism, least: float = 0.0):
    """A tree of revolute and prismatic joints as a MuJoCo model; its joints stand in MuJoCo's own depth-first order.

    MuJoCo refuses bodies without mass or moment; `least` is added to those for the sake of kinematics.
    """
    import mujoco

    spec = mujoco.MjSpec()
    spec.option.gravity = m.gravity
    spec.compiler.balanceinertia = True
    made = {"ground": spec.worldbody}
    for joint in m.joints:
        R, p = np.asarray(joint.at.rotation()), np.asarray(joint.at.translation())
        quaternion = np.empty(4)
        mujoco.mju_mat2Quat(quaternion, R.ravel())
        body = m.body(joint.child)
        here = made[joint.parent].add_body(name=body.name, pos=p, quat=quaternion)
        here.mass, here.ipos, here.explicitinertial = float(body.mass) + least, list(body.com), True
        here.fullinertia = [float(x) + least * (k < 3) for k, x in enumerate(body.inertia)]
        if joint.nv:
            kind = {"revolute": mujoco.mjtJoint.mjJNT_HINGE, "prismatic": mujoco.mjtJoint.mjJNT_SLIDE}[joint.kind.kind]
            here.add_joint(name=joint.name, type=kind, axis=[float(x) for x in joint.kind.axes[0]])
        made[joint.child] = here
    for frame in m.frames:
        R = np.asarray(frame.at.rotation())
        quaternion = np.empty(4)
        mujoco.mju_mat2Quat(quaternion, R.ravel())
        made[frame.body].add_site(name=frame.name, pos=list(frame.at.position), quat=quaternion)
    return spec.compile()


def in_ground(placed: tuple, wrench: np.ndarray) -> np.ndarray:
    """A wrench on a body or frame, moment first, in the ground's axes about its origin."""
    (R, p), moment, force = placed, wrench[:3], wrench[3:]
    return np.concatenate([R @ moment + np.cross(p, R @ force), R @ force])


def unbalanced(
    m: Mechanism, q: np.ndarray, v: np.ndarray, a: np.ndarray, carried: np.ndarray
) -> tuple[np.ndarray, float]:
    """What Newton's and Euler's laws leave over on every body, (bodies, 6), and the largest wrench among all: the rate of
    momentum by Pinocchio's accelerations, less weight, springs and what the joints and cut joints transmit."""
    oracle, placed = Oracle(m), placements(m, q)
    pin.forwardKinematics(oracle.model, oracle.data, oracle.q(q), oracle.v(v), oracle.v(a))
    total = {"ground": np.zeros(6)}
    for body in m.bodies:
        joint, offset = oracle.where[body.name]
        V, A = (offset.actInv(x[joint]) for x in (oracle.data.v, oracle.data.a))
        c, I, w = np.array(body.com, dtype=float), np.asarray(body.inertia_matrix(), dtype=float), V.angular
        at_mass = A.linear + np.cross(w, V.linear) + np.cross(A.angular, c) + np.cross(w, np.cross(w, c))
        force = body.mass * (at_mass - placed[body.name][0].T @ np.array(m.gravity))
        moment = I @ A.angular + np.cross(w, I @ w) + np.cross(c, force)
        total[body.name] = in_ground(placed[body.name], np.concatenate([moment, force]))
    passed = [(j.parent, j.child, in_ground(placed[j.child], w)) for j, w in zip(m.joints, carried, strict=False)]
    for cut, wrench in zip(m.loops, carried[len(m.joints) :], strict=True):
        passed.append(
            (cut.first.body, cut.second.body, in_ground(on_body(placed, cut.second.body, cut.second.at), wrench))
        )
    for spring in m.springs:
        near, far = (on_body(placed, end.body, end.at)[1] for end in (spring.first, spring.second))
        length = np.linalg.norm(far - near)
        pull = spring.stiffness * (length - spring.length) * (near - far) / (length or 1.0)
        passed.append((spring.first.body, spring.second.body, np.concatenate([np.cross(far, pull), pull])))
    size = max(1.0, *(np.abs(x).max(initial=0.0) for x in (*total.values(), *(w for _, _, w in passed))))
    for giver, taker, wrench in passed:
        total[giver], total[taker] = total[giver] + wrench, total[taker] - wrench
    return np.array([total[body.name] for body in m.bodies]), size
