"""Closed chains beside Pinocchio's constraint dynamics."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from models import Oracle
from report import Row, same
from timing import side_by_side

import eslabon as es
from eslabon.mechanism import Mechanism
from eslabon.solve.constraints.closed_configurations import close

STATES = 10_000
REMARKS = """
Pinocchio has no inverse dynamics of a closed chain; its forward call is timed beside ours. It closes a planar loop by a
point, which is rank deficient out of the plane, and needs its proximal term for it.
"""


def rows() -> list[Row]:
    made = [row for name in ("five_bar", "planar_3rrr") for row in _one(name)]
    return made + _assembly()


def tree_of(m):
    from dataclasses import replace

    return Mechanism(replace(m.description, loops=(), actuated=tuple(j.name for j in m.joints)))


def contacts(m, oracle):
    """Each loop as a point closure, which a planar loop is once its hinges are parallel."""
    made = pin.StdVec_RigidConstraintModel()
    for loop in m.loops:
        sides = []
        for end in (loop.first, loop.second):
            joint, offset = oracle.where[end.body]
            place = pin.SE3(np.asarray(end.at.rotation()), np.asarray(end.at.translation()))
            sides.append((joint, offset * place))
        (j1, p1), (j2, p2) = sides
        made.append(
            pin.RigidConstraintModel(
                pin.ContactType.CONTACT_3D, oracle.model, j1, p1, j2, p2, pin.LOCAL
            )
        )
    return made


def _states(m):
    rng = np.random.default_rng(0)
    home = close(m)[[k for j in m.actuated for k in range(m.nq)[m.coordinates[j]]]]
    values = home + rng.uniform(0, 0.2, (STATES, m.nu))
    return m.complete(values, *rng.normal(size=(2, STATES, m.nu))), rng.normal(size=(STATES, m.nu))


def _one(name) -> list[Row]:
    m = es.load(name)
    oracle = Oracle(tree_of(m))
    model = oracle.model
    constraints = contacts(m, oracle)
    data, cdata = model.createData(), pin.StdVec_RigidConstraintData()
    for c in constraints:
        cdata.append(c.createData())
    settings = pin.ProximalSettings(1e-12, 1e-10, 20)
    pin.initConstraintDynamics(model, data, constraints, cdata)
    (Q, V, A), T = _states(m)
    force = np.zeros((STATES, m.nv))
    force[:, list(m.actuated_velocities)] = T
    theirs = [
        np.array([f(x) for x in X]) for f, X in ((oracle.q, Q), (oracle.v, V), (oracle.v, force))
    ]
    q, v, tau = (X[0].copy() for X in (Q, V, T))
    pq, pv, pt = (X[0].copy() for X in theirs)

    def peer(x, y, z):
        return pin.constraintDynamics(model, data, x, y, z, constraints, cdata, settings)

    same(
        f"{name} forward dynamics",
        m.forward_dynamics(q, v, tau),
        peer(pq, pv, pt)[oracle.v_map],
        1e-6,
    )
    made = [
        Row(f"{name}: forward dynamics with loops, one state",
            side_by_side({"ours": lambda: m.forward_dynamics(q, v, tau), "pinocchio": lambda: peer(pq, pv, pt)}), 1.0, "pinocchio"),
        Row(f"{name}: forward dynamics with loops, {STATES:,} states, one thread",
            side_by_side({"ours": lambda: m.forward_dynamics(Q, V, T, threads=1), "pinocchio": lambda: [peer(*s) for s in zip(*theirs, strict=True)]}, rounds=7, budget=0.05),
            20.0, "pinocchio", per=STATES),
        Row(f"{name}: inverse dynamics with loops, {STATES:,} states, one thread (the peer has none: its forward call)",
            side_by_side({"ours": lambda: m.inverse_dynamics(Q, V, A, threads=1), "pinocchio": lambda: [peer(*s) for s in zip(*theirs, strict=True)]}, rounds=7, budget=0.05),
            20.0, "pinocchio", per=STATES),
    ]  # fmt: skip
    return made


def _assembly() -> list[Row]:
    m = es.load("planar_3rrr")
    rng = np.random.default_rng(0)
    values = np.radians(30) + rng.uniform(-0.02, 0.2, (STATES, 3))
    near = m.assemble(values + rng.normal(size=values.shape) * 0.01)
    timings = side_by_side({"ours": lambda: m.assemble(values, near)}, rounds=7, budget=0.05)
    return [
        Row(
            f"planar_3rrr: assembly of {STATES:,} configurations, warm start (target 5 µs each)",
            timings,
            None,
            "ours",
            per=STATES,
        )
    ]


if __name__ == "__main__":
    for row in rows():
        print(row)
