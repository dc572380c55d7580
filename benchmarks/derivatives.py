"""Derivatives of dynamics beside Pinocchio's, and beside MuJoCo's finite differences; of closed chains, of which the peer's
are wrong for points between two moving bodies, only its time is taken."""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio as pin
from loops import contacts, tree_of
from models import Oracle, models, mujoco_model
from report import Row, same
from timing import side_by_side

import eslabon as es
from random_mechanisms import random_builder, random_rotation

STATES = 10_000
REMARKS = """
Pinocchio computes all derivatives of a kind in one call, and so do we. The batch is written into arrays that are there
already (`out=`): fresh memory takes longer than the derivatives. Chains are of random revolute joints.
"""


def rows() -> list[Row]:
    trees = [row for name, m in models().items() for row in _tree(name, m)]
    chains = [_chain(n) for n in (40, 80)]
    return (
        trees
        + chains
        + [_closed(es.load(name)) for name in ("planar_3rrr", "stewart_gough", "delta")]
        + [_closed(biped())]
    )


def biped() -> es.Mechanism:
    """A floating base on two legs of seven hinges, with two point closures across each knee and ankle by rods."""
    rng = np.random.default_rng(3)
    b = es.Builder("biped")
    b.body("base", 10.0, (0, 0, 0.1), (0.4, 0.3, 0.2))
    b.joint("float", "free", "ground", "base")
    for side in ("left", "right"):
        last = "base"
        for k in range(7):
            b.body(f"{side}{k}", rng.uniform(0.5, 2), rng.normal(size=3) / 10, (0.02, 0.03, 0.02))
            place = np.eye(4)
            place[:3, :3], place[:3, 3] = random_rotation(rng), rng.normal(size=3) / 4
            b.joint(f"{side}{k}", "revolute", last, f"{side}{k}", place)
            last = f"{side}{k}"
        for n, k in enumerate((1, 3)):  # a rod on a ball joint, its far end a cut ball joint
            b.body(f"{side}_rod{n}", 0.3, (0.1, 0, 0), (1e-4, 1e-3, 1e-3))
            b.joint(
                f"{side}_ball{n}", "spherical", f"{side}{k}", f"{side}_rod{n}", (0.05, 0.02, 0.0)
            )
    tree = b.build()
    placed = _placed(tree)
    for side in ("left", "right"):
        for n, k in enumerate((1, 3)):
            R, p = placed[f"{side}_rod{n}"]
            far = p + R @ np.array([0.2, 0.0, 0.0])
            Q, o = placed[f"{side}{k + 2}"]
            b.loop(
                f"{side}_cut{n}",
                "spherical",
                f"{side}_rod{n}",
                f"{side}{k + 2}",
                (0.2, 0, 0),
                tuple(Q.T @ (far - o)),
            )
    b.actuate(*(f"{side}{k}" for side in ("left", "right") for k in range(7)))
    return b.build()


def _placed(m: es.Mechanism) -> dict:
    from eslabon.formulas.kinematics.tree import placements

    return placements(m, np.asarray(m.home()))


def _tree(name: str, m: es.Mechanism) -> list[Row]:
    o, rng = Oracle(m), np.random.default_rng(0)
    Q, V, A = rng.uniform(-1, 1, (3, STATES, m.nv))
    q, v, a = (x[0].copy() for x in (Q, V, A))
    theirs, data = (o.q(q), o.v(v), o.v(a)), o.model.createData()
    inverse, forward = pin.computeRNEADerivatives, pin.computeABADerivatives
    index = np.ix_(o.v_map, o.v_map)
    for got, want in zip(
        m.inverse_dynamics_derivatives(q, v, a)[:2], inverse(o.model, data, *theirs), strict=False
    ):
        same(f"{name}: derivatives of inverse dynamics", got, want[index])
    for got, want in zip(
        m.forward_dynamics_derivatives(q, v, a), forward(o.model, data, *theirs), strict=True
    ):
        same(f"{name}: derivatives of forward dynamics", got, want[index], 1e-8)
    one = {
        "inverse": {
            "ours": lambda: m.inverse_dynamics_derivatives(q, v, a),
            "pinocchio": lambda: inverse(o.model, data, *theirs),
        },
        "forward": {
            "ours": lambda: m.forward_dynamics_derivatives(q, v, a),
            "pinocchio": lambda: forward(o.model, data, *theirs),
        },
    }
    if name != "puma560":  # MuJoCo refuses bodies without mass
        one["forward"]["mujoco's differences"] = _differences(m, q, v, a)
    made = [
        Row(
            f"{name}: derivatives of {what} dynamics, one state",
            side_by_side(calls),
            1.0,
            "pinocchio",
        )
        for what, calls in one.items()
    ]
    out = tuple(np.empty((STATES, m.nv, m.nv)) for _ in range(3))
    many = [
        tuple(f(x) for f, x in zip((o.q, o.v, o.v), s, strict=True))
        for s in zip(Q, V, A, strict=True)
    ]
    timings = side_by_side(
        {
            "ours": lambda: m.forward_dynamics_derivatives(Q, V, A, out=out, threads=1),
            "pinocchio": lambda: [forward(o.model, data, *s) for s in many],
        },
        rounds=5,
        budget=0.05,
    )
    target = 15.0 if name == "puma560" else None
    what = f"{name}: derivatives of forward dynamics, {STATES:,} states, one thread"
    return [*made, Row(what, timings, target, "pinocchio", per=STATES)]


def _differences(m, q, v, a):
    """MuJoCo's own transition derivatives, which take a step for each number of the state."""
    mj = mujoco_model(m)
    data = mujoco.MjData(mj)
    order = [mj.joint(j.name).qposadr[0] for j in m.joints]
    A = np.zeros((2 * m.nv, 2 * m.nv))

    def transition():
        data.qpos[order], data.qvel[order], data.qfrc_applied[order] = q, v, a
        mujoco.mjd_transitionFD(mj, data, 1e-6, True, A, None, None, None)

    return transition


def _chain(n: int) -> Row:
    m = random_builder(np.random.default_rng(7), ["revolute"] * n, branched=False).build()
    o, state = Oracle(m), np.random.default_rng(0).uniform(-1, 1, (3, n))
    theirs = o.q(state[0]), o.v(state[1]), o.v(state[2])
    want = pin.computeABADerivatives(o.model, o.data, *theirs)[0][np.ix_(o.v_map, o.v_map)]
    same(f"chain of {n}", m.derivative("forward_dynamics", "q", *state), want, 1e-8)
    calls = {
        "ours": lambda: m.derivative("forward_dynamics", "q", *state),
        "pinocchio": lambda: pin.computeABADerivatives(o.model, o.data, *theirs),
    }
    return Row(
        f"chain of {n} joints: derivative of forward dynamics by q",
        side_by_side(calls),
        1.0,
        "pinocchio",
    )


def _closed(m: es.Mechanism) -> Row:
    o, rng = Oracle(tree_of(m)), np.random.default_rng(0)
    q = np.asarray(m.home())
    J = m.constraint_jacobian(q)
    v, tau = (np.eye(m.nv) - np.linalg.pinv(J) @ J) @ rng.normal(size=m.nv), rng.normal(size=m.nu)
    force = np.zeros(m.nv)
    force[list(m.actuated_velocities)] = tau
    model, data, made = o.model, o.model.createData(), contacts(m, o)
    found = pin.StdVec_RigidConstraintData()
    for c in made:
        found.append(c.createData())
    settings, theirs = pin.ProximalSettings(1e-12, 1e-10, 20), (o.q(q), o.v(v), o.v(force))
    pin.initConstraintDynamics(model, data, made, found)

    def peer():
        a = pin.constraintDynamics(model, data, *theirs, made, found, settings)
        pin.computeConstraintDynamicsDerivatives(model, data, made, found, settings)
        return a

    same(f"{m.name}: forward dynamics", m.forward_dynamics(q, v, tau), peer()[o.v_map], 1e-6)
    timings = side_by_side(
        {"ours": lambda: m.forward_dynamics_derivatives(q, v, tau), "pinocchio": peer}
    )
    return Row(
        f"{m.name}: derivatives of forward dynamics with loops, one state",
        timings,
        1.0,
        "pinocchio",
    )


if __name__ == "__main__":
    for row in rows():
        print(row, flush=True)
