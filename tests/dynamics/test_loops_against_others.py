"""Closed loops beside independent solutions: Pinocchio's, MuJoCo's, and a mechanism taken apart into free bodies."""

from dataclasses import replace
from functools import cache

import mujoco
import numpy as np
import pytest

import eslabon as es
from eslabon.coordinates.closing import close
from eslabon.model import KINDS, End, Frame, Pose
from oracles import Oracle, mujoco_model, pin, se3, unit
from random_mechanisms import random_closed

MIXED = ["revolute", "spherical", "prismatic", "universal", "revolute", "cylindrical"]
RARE = ["helical", "planar", "universal", "fixed", "revolute", "spherical"]
SIMPLE = ["revolute", "prismatic", "revolute", "fixed", "revolute", "revolute", "prismatic", "revolute", "revolute"]


def near(got, want, rtol=1e-8):
    got, want = np.asarray(got), np.asarray(want)
    assert np.abs(got - want).max(initial=0.0) <= rtol * max(1e-3, np.abs(want).max(initial=0.0))


def in_motion(m, q, seed):
    """The mechanism, its state in a random motion that keeps the loops closed, the motors' forces, and what follows."""
    rng = np.random.default_rng(seed)
    _, size, V = np.linalg.svd(m.constraint_jacobian(q))
    free = V[(size > 1e-9 * size[0]).sum() :]
    v, tau = free.T @ rng.normal(size=len(free)), rng.normal(size=m.nu)
    return m, q, v, tau, m.forward_dynamics(q, v, tau)


def a_random_one(kinds, cuts, seed):
    """A random mechanism with motors in all joints. Many random loops are rigid; the seeds here give some that move."""
    m, q = random_closed(np.random.default_rng(seed), kinds, cuts)
    m, q, v, *rest = in_motion(all_driven(m), q, seed)
    assert np.abs(m.constraint_jacobian(q) * v).max(axis=1).min() > 1e-3
    return m, q, v, *rest


def a_robot(name, radius=0.0):
    """A robot of the library away from its home; a radius of gyration may be added, since thin rods lack one."""
    m = es.load(name)
    wider = [(*np.add(b.inertia[:3], b.mass * radius**2), *b.inertia[3:]) for b in m.bodies]
    bodies = tuple(replace(b, inertia=inertia) for b, inertia in zip(m.bodies, wider, strict=True))
    m = es.Mechanism(replace(m.description, bodies=bodies)) if radius else m
    home = close(m)[[k for j in m.actuated for k in range(m.nq)[m.coordinates[j]]]]
    return in_motion(m, m.assemble(home + np.random.default_rng(5).uniform(-0.05, 0.05, len(home))), 5)


def all_driven(m):
    return es.Mechanism(replace(m.description, actuated=tuple(j.name for j in m.joints if j.nv)))


def tree_of(m, frames=()):
    return all_driven(es.Mechanism(replace(m.description, loops=(), frames=tuple(frames))))


def on_joints(m, tau):
    force = np.zeros(m.nv)
    force[list(m.actuated_velocities)] = tau
    return force


def points(kind):
    """Points of a cut joint's two frames that coincide; who holds them together holds the joint."""
    more = {"spherical": [], "revolute": [unit(a) for a in kind.axes], "fixed": [*np.eye(3)[:2]]}[kind.kind]
    return [np.zeros(3), *more]


# -- Pinocchio --------------------------------------------------------------------------------------------------------


def agrees_with_pinocchio(m, q, v, tau, a):
    oracle = Oracle(tree_of(m))
    model, made, data = oracle.model, pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for loop in m.loops:
        whole = loop.kind.kind == "fixed"
        form = pin.ContactType.CONTACT_6D if whole else pin.ContactType.CONTACT_3D
        for point in points(loop.kind)[: 1 if whole else None]:
            ends = []
            for end in (loop.first, loop.second):
                joint, offset = oracle.where[end.body]
                ends += [joint, offset * se3(end.at) * pin.SE3(np.eye(3), point)]
            made.append(pin.RigidConstraintModel(form, model, *ends, pin.LOCAL))
            data.append(made[-1].createData())
    pin.initConstraintDynamics(model, oracle.data, made, data)
    state = oracle.q(q), oracle.v(v), oracle.v(on_joints(m, tau))
    settings = pin.ProximalSettings(1e-13, 1e-9, 100)  # two points of a hinge are one row too many
    theirs = pin.constraintDynamics(model, oracle.data, *state, made, data, settings)
    near(a, theirs[oracle.v_map], 1e-7)
    J = pin.getConstraintsJacobian(model, oracle.data, made, data)[:, oracle.v_map]
    assert np.linalg.matrix_rank(J, 1e-9) == np.linalg.matrix_rank(m.constraint_jacobian(q), 1e-9)
    assert np.allclose(J @ v, 0.0, atol=1e-10)


@pytest.mark.parametrize("cuts", [["fixed"], ["revolute"], ["spherical"], ["revolute", "spherical"]], ids="+".join)
def test_random_mechanisms_accelerate_as_in_pinocchio(cuts):
    kinds, seed = (MIXED, 20) if "spherical" in cuts else (RARE, 16)
    agrees_with_pinocchio(*a_random_one(kinds, cuts, seed))


@pytest.mark.parametrize("name", ["five_bar", "planar_3rrr", "spatial_four_bar", "bennett", "delta", "stewart_gough"])
def test_robots_accelerate_as_in_pinocchio(name):
    agrees_with_pinocchio(*a_robot(name))


# -- MuJoCo -----------------------------------------------------------------------------------------------------------


def agrees_with_mujoco(m, q, v, tau, a):
    """Against the KKT system made of MuJoCo's mass matrix, bias and Jacobians of the points that coincide."""
    frames = [
        Frame(f"{loop.name} {k} {side}", end.body, Pose(tuple(end.at.translation() + end.at.rotation() @ point)))
        for loop in m.loops
        for k, point in enumerate(points(loop.kind))
        for side, end in (("first", loop.first), ("second", loop.second))
    ]
    model = mujoco_model(tree_of(m, frames))
    data, n = mujoco.MjData(model), m.nv
    moving = [model.joint(j.name) for j in m.joints if j.nv]
    at, force = [j.dofadr[0] for j in moving], np.zeros(n)
    data.qpos[at], data.qvel[at], force[at] = q, v, on_joints(m, tau)
    mujoco.mj_forward(model, data)
    M, jacobians, rates = np.zeros((n, n)), np.zeros((len(frames), 3, n)), np.zeros((len(frames), 3, n))
    mujoco.mj_fullM(model, data, M)
    where = [model.site(f.name).id for f in frames]
    for k, site in enumerate(where):
        mujoco.mj_jacSite(model, data, jacobians[k], None, site)
        mujoco.mj_jacDot(model, data, rates[k], None, data.site_xpos[site], model.site_bodyid[site])
    assert np.allclose(data.site_xpos[where[::2]], data.site_xpos[where[1::2]], atol=1e-9)
    J, late = ((x[1::2] - x[::2]).reshape(-1, n) for x in (jacobians, rates))
    K = np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]])
    right = np.concatenate([force - data.qfrc_bias, -late @ data.qvel])
    near(a, np.linalg.lstsq(K, right, rcond=1e-12)[0][at], 1e-7)
    data.qacc[at] = a
    mujoco.mj_inverse(model, data)  # of the tree: the loops' forces are in it, and do no work
    assert data.qfrc_inverse @ data.qvel == pytest.approx(force @ data.qvel, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("seed", [12, 23])
def test_random_mechanisms_accelerate_as_in_mujoco(seed):
    agrees_with_mujoco(*a_random_one(SIMPLE, ["spherical"], seed))


@pytest.mark.parametrize("name", ["five_bar", "diaz_3rrr", "slider_crank", "bricard", "rojas_7r_loop"])
def test_robots_accelerate_as_in_mujoco(name):
    agrees_with_mujoco(*a_robot(name, radius=0.02))


# -- free bodies ------------------------------------------------------------------------------------------------------


def held(kind, A):
    """The wrenches that a joint can transmit without a motor, in its second frame; A turns the first frame into it."""
    axes, every = [unit(a) for a in kind.axes], [*np.eye(3)]
    along, across = ([A @ axes[0]], [A @ x for x in np.linalg.svd(axes[:1])[2][1:]]) if axes else ([], [])
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
    return np.array([[*x, 0, 0, 0] for x in moments] + [[0, 0, 0, *x] for x in forces] + thread).reshape(-1, 6)


class Apart:
    """Newton and Euler for each body by itself, with spin and speed of its centre of mass in the ground's axes; joints
    and loops alike are ties that transmit wrenches. Where bodies are and how they move comes from Pinocchio."""

    def __init__(self, m, q, v):
        self.m, self.names, oracle = m, ["ground", *(b.name for b in m.bodies)], Oracle(tree_of(m))
        self.ties = [(j.kind, End(j.parent, j.at), End(j.child)) for j in m.joints]
        self.ties += [(loop.kind, loop.first, loop.second) for loop in m.loops]
        self.com = np.array([(0, 0, 0), *(b.com for b in m.bodies)], float)
        T = np.array([oracle.pose(q, name) for name in self.names])
        self.R, self.c = T[:, :3, :3], T[:, :3, 3] + np.einsum("bij,bj->bi", T[:, :3, :3], self.com)
        n = len(self.names)
        self.V, self.M, self.weight, self.gyroscopic = np.zeros((n, 6)), np.zeros((n, 6, n, 6)), *np.zeros((2, n, 6))
        for k, b in enumerate(m.bodies, 1):
            twist, _ = oracle.motion(q, v, 0 * v, b.name)
            self.V[k] = *self.R[k] @ twist[:3], *self.R[k] @ (twist[3:] + np.cross(twist[:3], self.com[k]))
            inertia = self.R[k] @ np.asarray(b.inertia_matrix()) @ self.R[k].T
            self.M[k, :3, k, :3], self.M[k, 3:, k, 3:] = inertia, b.mass * np.eye(3)
            self.weight[k, 3:] = b.mass * np.array(m.gravity)
            self.gyroscopic[k, :3] = -np.cross(self.V[k, :3], inertia @ self.V[k, :3])
        self.wrenches, self.twists = zip(*((N.real, G.real) for N, G in self.relative()), strict=True)
        self.J = np.vstack([N @ G for N, G in zip(self.wrenches, self.twists, strict=True)])
        self.late = np.vstack([N @ G for N, G in self.relative(1e-30j)]).imag @ self.V.ravel() / 1e-30
        self.motions = [np.asarray(j.kind.motion(q[m.coordinates[j.name]])) for j in m.joints]

    def relative(self, step=0.0):
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
                shift = np.block([[np.eye(3), np.zeros((3, 3))], [np.cross(origin - c[body], np.eye(3)), np.eye(3)]])
                G[:, body] = sign * np.kron(np.eye(2), B.T) @ shift
            G[:, 0] = 0  # the ground stands still
            yield held(kind, B.T @ A), G.reshape(6, -1)

    def solve(self, force):
        """Rates of the bodies' velocities, and what each tie transmits, motors included, as `reactions` has it."""
        motors, size = np.zeros((len(self.ties), 6)), self.V.size
        for k, (joint, S) in enumerate(zip(self.m.joints, self.motions, strict=True)):
            motors[k] = np.linalg.pinv(S.T) @ force[self.m.velocities[joint.name]]
        load = (self.weight + self.gyroscopic).ravel() + np.einsum("kij,ki->j", self.twists, motors)
        K = np.block([[self.M.reshape(size, size), -self.J.T], [self.J, np.zeros((len(self.J), len(self.J)))]])
        x = np.linalg.lstsq(K, np.concatenate([load, -self.late]), rcond=1e-13)[0]
        return x[:size].reshape(-1, 6), self.transmitted(x[size:]) + motors

    def transmitted(self, sizes):
        ends = np.cumsum([len(N) for N in self.wrenches])[:-1]
        return np.array([part @ N for part, N in zip(np.split(sizes, ends), self.wrenches, strict=True)])

    def open_reactions(self):
        """Which components are changed by loads that are locked in and move nothing."""
        U, size, _ = np.linalg.svd(self.J)
        changes = [self.transmitted(z) for z in U[:, (size > 1e-9 * size[0]).sum() :].T]
        return np.abs([np.zeros((len(self.ties), 6)), *changes]).max(axis=0) > 1e-8


ROBOTS = ["planar_3rrr", "spatial_four_bar", "bennett"]
each_case = pytest.mark.parametrize("case", [*(k for k in KINDS if k != "free"), *ROBOTS])


@cache
def taken_apart(case):
    """A robot, or a random mechanism with a cut joint of a kind; its motion; and the same with bodies by themselves."""
    kinds, seed = (MIXED, 19) if case in list(KINDS)[::2] else (RARE, 20)
    m, q, v, tau, a = a_robot(case) if case in ROBOTS else a_random_one(kinds, [case], seed)
    return m, (q, v, a), tau, Apart(m, q, v)


@each_case
def test_bodies_held_together_accelerate_alike(case):
    m, motion, tau, apart = taken_apart(case)
    rates, _ = apart.solve(on_joints(m, tau))
    for k, b in enumerate(m.bodies, 1):
        (turn, push), spin, lever = np.split(rates[k], 2), apart.V[k, :3], -apart.R[k] @ apart.com[k]
        at_origin = push + np.cross(turn, lever) + np.cross(spin, np.cross(spin, lever))
        near(m.acceleration(*motion, b.name, axes="aligned"), [*turn, *at_origin])


@each_case
def test_reactions_are_what_holds_the_bodies_together(case):
    m, motion, _, apart = taken_apart(case)
    _, carried = apart.solve(on_joints(m, m.inverse_dynamics(*motion)))
    known = m.determined_reactions(motion[0])
    assert np.array_equal(known, ~apart.open_reactions())
    near(m.reactions(*motion)[known], carried[known])


@each_case
def test_power_of_the_motors_is_the_change_of_energy(case):
    m, motion, tau, apart = taken_apart(case)
    rates, _ = apart.solve(on_joints(m, tau))
    change = np.vdot(apart.V, np.tensordot(apart.M, rates) - apart.weight)
    for forces in (tau, m.inverse_dynamics(*motion)):  # however the motors share the load
        assert forces @ motion[1][list(m.actuated_velocities)] == pytest.approx(change, rel=1e-8, abs=1e-8)
