"""Linear models of trees and of closed chains beside Pinocchio and MuJoCo.

What is compared first: of trees, A and B with Pinocchio's derivatives; of closed chains, A with central differences of
Pinocchio's constraint dynamics along the constraint manifold, since its own derivatives are wrong for these closures; of the
four-bar with a spring, the poles at its equilibria with their closed form.
"""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio as pin
from drift import STIFF, falling, mujoco_chain
from loops import contacts, tree_of
from models import Oracle
from report import Row, same
from timing import side_by_side

import eslabon as es

STATES, MANY, STEP = 10_000, 1_000, 1e-5
REMARKS = """
Pinocchio's derivatives of constraint dynamics are timed though they are wrong for point closures between two moving bodies
on a fixed base, and are by all joints, without the reduction to independent coordinates; MuJoCo's are finite differences of a
step, with its constraints made stiff. The community's published time for the four-bar with a spring is 7.5 s.

Large platforms: one linearization of stewart_gough takes 3.7 times less than these derivatives, of delta 4.3 times less (one run
beside other work), where their forward dynamics' derivatives alone are 7 times faster. A linear model needs the loops' second
derivatives and the reduction to independent coordinates besides, which Pinocchio's call does not make; and its code, some 34,000 and 24,000
instructions, is compiled at LLVM's quick level, so that a first call takes one second of CPU. At the other level about 5 times
are estimated, for half a second more.
"""


def rows() -> list[Row]:
    return [*_tree("puma560"), *_closed("planar_3rrr"), *_spring()]


def _tree(name: str) -> list[Row]:
    m = es.load(name)
    oracle = Oracle(m)
    model, data, at = oracle.model, oracle.model.createData(), oracle.v_map
    Q, V, T = np.random.default_rng(0).uniform(-2, 2, (3, STATES, m.nv))
    q, v, tau = (X[0].copy() for X in (Q, V, T))
    theirs = [np.array([f(x) for x in X]) for f, X in ((oracle.q, Q), (oracle.v, V), (oracle.v, T))]
    pq, pv, pt = (X[0].copy() for X in theirs)
    lm, by = m.linearize(q, v, tau), pin.computeABADerivatives(model, data, pq, pv, pt)
    order = np.ix_(at, at)
    same(f"{name} A", lm.A[m.nv :], np.hstack([by[0][order], by[1][order]]), 1e-8)
    Minv = np.triu(by[2]) + np.triu(by[2], 1).T
    same(f"{name} B", lm.B[m.nv :], Minv[order], 1e-8)
    one = {
        "ours": lambda: m.linearize(q, v, tau),
        "pinocchio": lambda: pin.computeABADerivatives(model, data, pq, pv, pt),
    }
    many = {
        "ours": lambda: m.linearize(Q, V, T),
        "pinocchio": lambda: [
            pin.computeABADerivatives(model, data, *s) for s in zip(*theirs, strict=True)
        ],
    }
    return [
        Row(f"{name}: A and B, one state", side_by_side(one), 1.0, "pinocchio"),
        Row(
            f"{name}: A and B, {STATES:,} states",
            side_by_side(many, rounds=7, budget=0.05),
            15.0,
            "pinocchio",
            per=STATES,
        ),
    ]


def _closed(name: str) -> list[Row]:
    m, _ = falling(name)
    places = [k for j in m.actuated for k in range(m.nq)[m.coordinates[j]]]
    rng = np.random.default_rng(0)
    values = m.project(m.home())[places] + rng.uniform(0, 0.2, (MANY, m.nu))
    Q, V, _ = m.complete(values, rng.normal(size=(MANY, m.nu)), np.zeros((MANY, m.nu)))
    T = rng.normal(size=(MANY, m.nu))
    q, v, tau = (X[0].copy() for X in (Q, V, T))
    accelerations, differentiated = _pinocchio(m, q, v, tau)
    same(f"{name} A", m.linearize(q, v, tau).A[m.nu :], _differences(m, accelerations, q, v), 1e-6)
    theirs = _mujoco(m)
    one = {
        "ours": lambda: m.linearize(q, v, tau),
        "pinocchio, wrong": differentiated,
        "mujoco": lambda: theirs(q, v, tau),
    }
    batch = {
        "ours": lambda: m.linearize(Q, V, T),
        "mujoco": lambda: [theirs(*s) for s in zip(Q, V, T, strict=True)],
    }
    timed = side_by_side(batch, rounds=5, budget=0.05)
    return [
        Row(
            f"{name}: A and B with loops, one state (target 6 µs)",
            side_by_side(one),
            1.0,
            "pinocchio, wrong",
        ),
        Row(f"{name}: A and B with loops, {MANY:,} states", timed, 50.0, "mujoco", per=MANY),
    ]


def _pinocchio(m, q, v, tau):
    """Accelerations of the actuated joints of a state, and the call of Pinocchio's own derivatives."""
    oracle = Oracle(tree_of(m))
    model, data, constraints = oracle.model, oracle.model.createData(), contacts(m, oracle)
    cdata = pin.StdVec_RigidConstraintData()
    cdata.extend([c.createData() for c in constraints])
    settings = pin.ProximalSettings(1e-12, 1e-10, 20)
    pin.initConstraintDynamics(model, data, constraints, cdata)
    force = np.zeros(m.nv)
    force[list(m.actuated_velocities)] = tau
    pq, pv, pt = oracle.q(q), oracle.v(v), oracle.v(force)

    def accelerations(q, v):
        a = pin.constraintDynamics(
            model, data, oracle.q(q), oracle.v(v), pt, constraints, cdata, settings
        )
        return a[oracle.v_map][list(m.actuated_velocities)]

    def differentiated():
        pin.constraintDynamics(model, data, pq, pv, pt, constraints, cdata, settings)
        return pin.computeConstraintDynamicsDerivatives(model, data, constraints, cdata, settings)

    return accelerations, differentiated


def _differences(m, accelerations, q, v):
    """Central differences by the actuated joints' positions and velocities, the others following."""
    places, speeds = [m.coordinates[j].start for j in m.actuated], list(m.actuated_velocities)
    columns = []
    for which, k in ((w, k) for w in (0, 1) for k in range(m.nu)):
        ends = []
        for sign in (1, -1):
            x, y = q[places].copy(), v[speeds].copy()
            (x if which == 0 else y)[k] += sign * STEP
            full, rate, _ = m.complete(x, y, np.zeros(m.nu), guess=q)
            ends.append(accelerations(full, rate))
        columns.append((ends[0] - ends[1]) / (2 * STEP))
    return np.array(columns).T


def _mujoco(m):
    """Finite differences of a step of a state."""
    model, at = mujoco_chain(m, **STIFF)
    data, driven = mujoco.MjData(model), [at[k] for k in m.actuated_velocities]
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER  # it differentiates no other
    A = np.zeros((2 * model.nv, 2 * model.nv))

    def differences(q, v, tau):
        data.qpos[at], data.qvel[at], data.qfrc_applied[driven] = q, v, tau
        mujoco.mjd_transitionFD(model, data, 1e-6, True, A, None, None, None)

    return differences


def _spring() -> list[Row]:
    m = es.load("four_bar_spring")
    eq = m.equilibrium(guess=m.assemble([-1.5], singular="ignore"))
    same(
        "four_bar_spring",
        np.abs(m.linearize(eq.q, tau=eq.tau).poles),
        np.sqrt((2 * 9.81 + 12.5) / (5 / 3)),
        1e-12,
    )
    angles, rest = eq.q[0] + np.linspace(-0.5, 0.5, MANY)[:, None], np.zeros(1)
    timed = side_by_side(
        {"ours": lambda: m.linearize(m.assemble(angles, eq.q), tau=rest)}, rounds=7, budget=0.05
    )
    what = f"four_bar_spring: {MANY:,} linearizations, assembly included (target 20 µs each)"
    return [Row(what, timed, None, "ours", per=MANY)]


if __name__ == "__main__":
    for row in rows():
        print(row)
