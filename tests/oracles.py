"""Independent solutions to compare with: our mechanisms rebuilt for Pinocchio and MuJoCo, taken apart into free bodies,
and the forces of springs, dampers, friction and wrenches by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from eslabon.formulas.kinematics.tree import on_body, placements
from eslabon.mechanism import Mechanism
from eslabon.model import End, Frame, Joint, Pose
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
            return [
                pin.JointModelRevoluteUnaligned(axes[0]),
                pin.JointModelPrismaticUnaligned(axes[0]),
            ]
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
        armature = np.zeros(m.nv)
        armature[self.v_map] = motor_inertia(m)
        self.model.armature = armature
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
        inertia = pin.Inertia(
            float(body.mass), np.array(body.com), np.asarray(body.inertia_matrix())
        )
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

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        M = pin.crba(self.model, self.data, self.q(q))
        return (np.triu(M) + np.triu(M, 1).T)[np.ix_(self.v_map, self.v_map)]

    def inverse_dynamics(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """The joint forces against inertia, motors' own included, and weight."""
        return pin.rnea(self.model, self.data, self.q(q), self.v(v), self.v(a))[self.v_map]

    def forward_dynamics(self, q: np.ndarray, v: np.ndarray, force: np.ndarray) -> np.ndarray:
        """The accelerations under forces in all joints."""
        return pin.aba(self.model, self.data, self.q(q), self.v(v), self.v(force))[self.v_map]

    def point_jacobian(self, q: np.ndarray, body: str, point: np.ndarray) -> np.ndarray:
        """Of a body's spin and the velocity of one of its points, in the ground's axes."""
        joint, offset = self.where[body]
        if joint == 0:  # it stands on the ground, of which Pinocchio has no Jacobian
            return np.zeros((6, self.mechanism.nv))
        pin.computeJointJacobians(self.model, self.data, self.q(q))
        at = offset * pin.SE3(np.eye(3), np.asarray(point, dtype=float))
        J = at.toActionMatrixInverse() @ self._joint_jacobian(joint)
        R = (self.data.oMi[joint] * at).rotation
        return np.vstack([R @ J[3:], R @ J[:3]])[:, self.v_map]

    def _joint_jacobian(self, joint: int) -> np.ndarray:
        """Six rows, also where Pinocchio makes a vector of one column."""
        return pin.getJointJacobian(self.model, self.data, joint, pin.LOCAL).reshape(
            6, self.model.nv
        )

    def pose(self, q: np.ndarray, name: str) -> np.ndarray:
        pin.forwardKinematics(self.model, self.data, self.q(q))
        joint, offset = self.frame(name)
        return (self.data.oMi[joint] * offset).homogeneous

    def jacobian(self, q: np.ndarray, name: str) -> np.ndarray:
        """Body Jacobian, angular rows first."""
        joint, offset = self.frame(name)
        pin.computeJointJacobians(self.model, self.data, self.q(q))
        J = offset.toActionMatrixInverse() @ self._joint_jacobian(joint)
        return np.vstack([J[3:], J[:3]])[:, self.v_map]

    def motion(
        self, q: np.ndarray, v: np.ndarray, a: np.ndarray, name: str
    ) -> tuple[np.ndarray, np.ndarray]:
        """Body twist and its rate, angular part first."""
        joint, offset = self.frame(name)
        pin.forwardKinematics(self.model, self.data, self.q(q), self.v(v), self.v(a))
        V, A = (offset.actInv(x[joint]) for x in (self.data.v, self.data.a))
        return tuple(np.concatenate([x.angular, x.linear]) for x in (V, A))


def motor_inertia(m: Mechanism) -> np.ndarray:
    """What the motors' rotors add to the inertia of each velocity."""
    ratios = [(j.motor_inertia or (0.0,) * j.nv, j.gear_ratio or (1.0,) * j.nv) for j in m.joints]
    return np.array(
        [x * n * n for own, gears in ratios for x, n in zip(own, gears, strict=True)], dtype=float
    )


@dataclass
class Acting:
    """What else acts on a tree in motion: generalised forces by hand, and the power that dampers and friction take."""

    m: Mechanism
    q: np.ndarray
    v: np.ndarray

    def __post_init__(self) -> None:
        oracle, n = Oracle(self.m), self.m.nv
        self.springs, self.resistance, self.wrenches = np.zeros(n), np.zeros(n), np.zeros(n)
        for joint in self.m.joints:
            place = self.m.velocities[joint.name]
            if joint.stiffness:
                rest = np.array(joint.rest or (0.0,) * joint.nv)
                self.springs[place] -= np.multiply(
                    joint.stiffness, self.q[self.m.coordinates[joint.name]] - rest
                )
            self.resistance[place] += np.multiply(joint.viscous or 0.0, self.v[place])
            self.resistance[place] += np.multiply(
                joint.coulomb or 0.0, np.tanh(self.v[place] / 1e-3)
            )
        for spring in self.m.springs:
            J, span = self._stretch(oracle, spring)
            length = np.linalg.norm(span)
            along = J.T @ span / (length or 1.0)
            self.springs -= spring.stiffness * (length - spring.length) * along
            self.resistance += spring.damping * along * (along @ self.v)
        for wrench in self.m.wrenches:
            if not wrench.given:
                turn = (
                    oracle.pose(self.q, wrench.body)[:3, :3] if wrench.axes == "body" else np.eye(3)
                )
                parts = [
                    turn @ np.array(x or (0.0, 0.0, 0.0)) for x in (wrench.moment, wrench.force)
                ]
                self.wrenches += oracle.point_jacobian(
                    self.q, wrench.body, wrench.at
                ).T @ np.concatenate(parts)

    def _stretch(self, oracle: Oracle, spring: object) -> tuple[np.ndarray, np.ndarray]:
        """From a spring's first end to its second, and that vector's Jacobian."""
        placed = placements(self.m, self.q)
        ends = (spring.first, spring.second)
        J, K = (
            oracle.point_jacobian(self.q, end.body, np.asarray(end.at.translation()))[3:]
            for end in ends
        )
        near, far = (on_body(placed, end.body, end.at)[1] for end in ends)
        return K - J, far - near

    @property
    def push(self) -> np.ndarray:
        """All of it, as forces that help the motors."""
        return self.springs + self.wrenches - self.resistance

    @property
    def dissipated(self) -> float:
        return float(self.resistance @ self.v)


def coincident_points(kind: object) -> list[np.ndarray]:
    """Points of a cut joint's two frames that coincide; who holds them together holds the joint."""
    more = {"spherical": [], "revolute": [unit(a) for a in kind.axes], "fixed": [*np.eye(3)[:2]]}[
        kind.kind
    ]
    return [np.zeros(3), *more]


def pinocchio_loops(
    m: Mechanism, tree: Mechanism, q: np.ndarray, v: np.ndarray, force: np.ndarray
) -> tuple:
    """Accelerations of a closed mechanism under forces in all joints, and the Jacobian of Pinocchio's constraints."""
    oracle = Oracle(tree)
    model, made, data = (
        oracle.model,
        pin.StdVec_RigidConstraintModel(),
        pin.StdVec_RigidConstraintData(),
    )
    for loop in m.loops:
        whole = loop.kind.kind == "fixed"
        form = pin.ContactType.CONTACT_6D if whole else pin.ContactType.CONTACT_3D
        for point in coincident_points(loop.kind)[: 1 if whole else None]:
            ends = []
            for end in (loop.first, loop.second):
                joint, offset = oracle.where[end.body]
                ends += [joint, offset * se3(end.at) * pin.SE3(np.eye(3), point)]
            made.append(pin.RigidConstraintModel(form, model, *ends, pin.LOCAL))
            data.append(made[-1].createData())
    pin.initConstraintDynamics(model, oracle.data, made, data)
    settings = pin.ProximalSettings(1e-13, 1e-9, 100)  # two points of a hinge are one row too many
    a = pin.constraintDynamics(
        model, oracle.data, oracle.q(q), oracle.v(v), oracle.v(force), made, data, settings
    )
    rows = sum(6 if constraint.type == pin.ContactType.CONTACT_6D else 3 for constraint in made)
    J = np.reshape(
        pin.getConstraintsJacobian(model, oracle.data, made, data), (rows, model.nv)
    )  # flat for one column
    return a[oracle.v_map], J[:, oracle.v_map]


@dataclass
class MujocoLoops:
    """MuJoCo's mass matrix, bias and Jacobians of the points that coincide, in our order."""

    m: Mechanism
    tree: Mechanism
    q: np.ndarray
    v: np.ndarray

    def __post_init__(self) -> None:
        import mujoco

        ends = [
            Frame(
                f"{loop.name} {k} {side}",
                end.body,
                Pose(tuple(end.at.translation() + end.at.rotation() @ point)),
            )
            for loop in self.m.loops
            for k, point in enumerate(coincident_points(loop.kind))
            for side, end in (("first", loop.first), ("second", loop.second))
        ]
        self.model = mujoco_model(Mechanism(replace(self.tree.description, frames=tuple(ends))))
        self.data, n = mujoco.MjData(self.model), self.m.nv
        self.at = [self.model.joint(j.name).dofadr[0] for j in self.m.joints if j.nv]
        self.data.qpos[self.at], self.data.qvel[self.at] = self.q, self.v
        mujoco.mj_forward(self.model, self.data)
        M, jacobians, rates = (
            np.zeros((n, n)),
            np.zeros((len(ends), 3, n)),
            np.zeros((len(ends), 3, n)),
        )
        mujoco.mj_fullM(self.model, self.data, M)
        sites = [self.model.site(f.name).id for f in ends]
        for k, site in enumerate(sites):
            mujoco.mj_jacSite(self.model, self.data, jacobians[k], None, site)
            point, body = self.data.site_xpos[site], self.model.site_bodyid[site]
            mujoco.mj_jacDot(self.model, self.data, rates[k], None, point, body)
        self.M, self.h = M[np.ix_(self.at, self.at)], self.data.qfrc_bias[self.at]
        self.gap = self.data.site_xpos[sites[1::2]] - self.data.site_xpos[sites[::2]]
        self.J, self.rate = (
            (x[1::2] - x[::2]).reshape(-1, n)[:, self.at] for x in (jacobians, rates)
        )

    def accelerations(self, force: np.ndarray) -> np.ndarray:
        """By the KKT system of these."""
        K = np.block([[self.M, self.J.T], [self.J, np.zeros((len(self.J), len(self.J)))]])
        right = np.concatenate([force - self.h, -self.rate @ self.v])
        return np.linalg.lstsq(K, right, rcond=1e-12)[0][: self.m.nv]

    def inverse_dynamics(self, a: np.ndarray) -> np.ndarray:
        """Forces in the tree's joints."""
        import mujoco

        self.data.qacc[self.at] = a
        mujoco.mj_inverse(self.model, self.data)
        return self.data.qfrc_inverse[self.at]


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
            kind = {
                "revolute": mujoco.mjtJoint.mjJNT_HINGE,
                "prismatic": mujoco.mjtJoint.mjJNT_SLIDE,
            }[joint.kind.kind]
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
        c, I, w = (
            np.array(body.com, dtype=float),
            np.asarray(body.inertia_matrix(), dtype=float),
            V.angular,
        )
        at_mass = (
            A.linear + np.cross(w, V.linear) + np.cross(A.angular, c) + np.cross(w, np.cross(w, c))
        )
        force = body.mass * (at_mass - placed[body.name][0].T @ np.array(m.gravity))
        moment = I @ A.angular + np.cross(w, I @ w) + np.cross(c, force)
        total[body.name] = in_ground(placed[body.name], np.concatenate([moment, force]))
    passed = [
        (j.parent, j.child, in_ground(placed[j.child], w))
        for j, w in zip(m.joints, carried, strict=False)
    ]
    for cut, wrench in zip(m.loops, carried[len(m.joints) :], strict=True):
        passed.append(
            (
                cut.first.body,
                cut.second.body,
                in_ground(on_body(placed, cut.second.body, cut.second.at), wrench),
            )
        )
    for spring in m.springs:
        near, far = (on_body(placed, end.body, end.at)[1] for end in (spring.first, spring.second))
        length = np.linalg.norm(far - near)
        along = (near - far) / (length or 1.0)
        speeds = [
            oracle.point_jacobian(q, end.body, end.at.translation())[3:] @ v
            for end in (spring.first, spring.second)
        ]
        rate = along @ (speeds[0] - speeds[1])
        pull = (spring.stiffness * (length - spring.length) + spring.damping * rate) * along
        passed.append(
            (spring.first.body, spring.second.body, np.concatenate([np.cross(far, pull), pull]))
        )
    for wrench in m.wrenches:
        if not wrench.given:
            R, _ = placed[wrench.body]
            turn = R if wrench.axes == "body" else np.eye(3)
            moment, force = (
                turn @ np.array(x or (0.0, 0.0, 0.0)) for x in (wrench.moment, wrench.force)
            )
            point = on_body(placed, wrench.body, Pose(tuple(wrench.at)))[1]
            passed.append(
                ("ground", wrench.body, np.concatenate([moment + np.cross(point, force), force]))
            )
    size = max(np.abs(x).max(initial=0.0) for x in (*total.values(), *(w for _, _, w in passed)))
    for giver, taker, wrench in passed:
        total[giver], total[taker] = total[giver] + wrench, total[taker] - wrench
    return np.array([total[body.name] for body in m.bodies]), size


def transmissible(kind: object, A: np.ndarray) -> np.ndarray:
    """The wrenches that a joint can transmit without a motor, in its second frame; A turns the first frame into it."""
    axes, every = [unit(a) for a in kind.axes], [*np.eye(3)]
    along, across = (
        ([A @ axes[0]], [A @ x for x in np.linalg.svd(axes[:1])[2][1:]]) if axes else ([], [])
    )
    moments, forces = {
        "revolute": (across, every),
        "prismatic": (every, across),
        "helical": (across, across),
        "cylindrical": (across, across),
        "universal": ([np.cross(along[0], axes[-1])] if axes else [], every),
        "spherical": ([], every),
        "planar": (across, along),
        "free": ([], []),
        "fixed": (every, every),
    }[kind.kind]
    thread = [[*-kind.pitch * along[0], *along[0]]] if kind.kind == "helical" else []
    return np.array(
        [[*x, 0, 0, 0] for x in moments] + [[0, 0, 0, *x] for x in forces] + thread
    ).reshape(-1, 6)


class FreeBodies:
    """Newton and Euler for each body by itself, with spin and speed of its centre of mass in the ground's axes; joints
    and loops alike are ties that transmit wrenches. Where bodies are and how they move comes from Pinocchio."""

    def __init__(self, m: Mechanism, tree: Mechanism, q: np.ndarray, v: np.ndarray) -> None:
        self.m, self.names, oracle = m, ["ground", *(b.name for b in m.bodies)], Oracle(tree)
        self.ties = [(j.kind, End(j.parent, j.at), End(j.child)) for j in m.joints]
        self.ties += [(loop.kind, loop.first, loop.second) for loop in m.loops]
        self.com = np.array([(0, 0, 0), *(b.com for b in m.bodies)], float)
        T = np.array([oracle.pose(q, name) for name in self.names])
        self.R, self.c = T[:, :3, :3], T[:, :3, 3] + np.einsum("bij,bj->bi", T[:, :3, :3], self.com)
        n = len(self.names)
        self.V, self.M, self.weight, self.gyroscopic = (
            np.zeros((n, 6)),
            np.zeros((n, 6, n, 6)),
            *np.zeros((2, n, 6)),
        )
        for k, b in enumerate(m.bodies, 1):
            twist, _ = oracle.motion(q, v, 0 * v, b.name)
            self.V[k] = (
                *self.R[k] @ twist[:3],
                *self.R[k] @ (twist[3:] + np.cross(twist[:3], self.com[k])),
            )
            inertia = self.R[k] @ np.asarray(b.inertia_matrix()) @ self.R[k].T
            self.M[k, :3, k, :3], self.M[k, 3:, k, 3:] = inertia, b.mass * np.eye(3)
            self.weight[k, 3:] = b.mass * np.array(m.gravity)
            self.gyroscopic[k, :3] = -np.cross(self.V[k, :3], inertia @ self.V[k, :3])
        self.wrenches, self.twists = zip(
            *((N.real, G.real) for N, G in self.relative()), strict=True
        )
        self.J = np.vstack([N @ G for N, G in zip(self.wrenches, self.twists, strict=True)])
        self.late = (
            np.vstack([N @ G for N, G in self.relative(1e-30j)]).imag @ self.V.ravel() / 1e-30
        )
        self.motions = [np.asarray(j.kind.motion(q[m.coordinates[j.name]])) for j in m.joints]

    def relative(self, step: complex = 0.0) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """For each tie its wrenches, and the twist of its second frame in its first by the velocities of all bodies.

        The bodies are taken a step further along their motion; an imaginary step gives exact rates.
        """
        turning = np.cross(self.V[:, None, :3], self.R.swapaxes(1, 2)).swapaxes(1, 2)
        R, c = self.R + step * turning, self.c + step * self.V[:, 3:]
        for kind, first, second in self.ties:
            a, b = self.names.index(first.body), self.names.index(second.body)
            A, B = R[a] @ np.asarray(first.at.rotation()), R[b] @ np.asarray(second.at.rotation())
            origin = c[b] + R[b] @ (np.asarray(second.at.translation()) - self.com[b])
            G = np.zeros((6, len(self.names), 6), complex)
            for body, sign in ((a, -1), (b, 1)):
                shift = np.block(
                    [
                        [np.eye(3), np.zeros((3, 3))],
                        [np.cross(origin - c[body], np.eye(3)), np.eye(3)],
                    ]
                )
                G[:, body] = sign * np.kron(np.eye(2), B.T) @ shift
            G[:, 0] = 0  # the ground stands still
            yield transmissible(kind, B.T @ A), G.reshape(6, -1)

    def solve(self, force: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rates of the bodies' velocities, and what each tie transmits, motors included, as `reactions` has it."""
        motors, size = np.zeros((len(self.ties), 6)), self.V.size
        for k, (joint, S) in enumerate(zip(self.m.joints, self.motions, strict=True)):
            motors[k] = np.linalg.pinv(S.T) @ force[self.m.velocities[joint.name]]
        load = (self.weight + self.gyroscopic).ravel() + np.einsum("kij,ki->j", self.twists, motors)
        K = np.block(
            [
                [self.M.reshape(size, size), -self.J.T],
                [self.J, np.zeros((len(self.J), len(self.J)))],
            ]
        )
        x = np.linalg.lstsq(K, np.concatenate([load, -self.late]), rcond=1e-13)[0]
        return x[:size].reshape(-1, 6), self.transmitted(x[size:]) + motors

    def transmitted(self, sizes: np.ndarray) -> np.ndarray:
        ends = np.cumsum([len(N) for N in self.wrenches])[:-1]
        return np.array(
            [part @ N for part, N in zip(np.split(sizes, ends), self.wrenches, strict=True)]
        )

    def acceleration(self, rates: np.ndarray, k: int) -> np.ndarray:
        """Of a body's frame, in the ground's axes, from the rates of its spin and of the speed of its centre of mass."""
        (turn, push), spin, lever = np.split(rates[k], 2), self.V[k, :3], -self.R[k] @ self.com[k]
        return np.array(
            [*turn, *(push + np.cross(turn, lever) + np.cross(spin, np.cross(spin, lever)))]
        )

    def open_reactions(self) -> np.ndarray:
        """Which components are changed by loads that are locked in and move nothing."""
        U, size, _ = np.linalg.svd(self.J)
        changes = [self.transmitted(z) for z in U[:, (size > 1e-9 * size[0]).sum() :].T]
        return np.abs([np.zeros((len(self.ties), 6)), *changes]).max(axis=0) > 1e-8
