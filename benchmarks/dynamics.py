"""Inverse and forward dynamics and the mass matrix beside Pinocchio and MuJoCo."""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio as pin
from models import Oracle, models, mujoco_model
from report import Row, same
from timing import side_by_side

STATES = 10_000
REMARKS = """
The 7R arm's inverse dynamics has come out between 18 and 21 times Pinocchio's batch call from run to run: this processor's
registers hold four states (AVX2), and the machine was not quiet. Its graph has 325 multiplications, 291 additions and 12
sines and cosines; a processor with eight lanes (AVX-512) has about half the work.
"""


def rows() -> list[Row]:
    return [row for name, m in models().items() for row in _one_model(name, m)]


def _one_model(name, m) -> list[Row]:
    oracle = Oracle(m)
    model, data = oracle.model, oracle.model.createData()
    rng = np.random.default_rng(0)
    Q, V, A = rng.uniform(-2, 2, (3, STATES, m.nv))
    theirs = [np.array([f(x) for x in X]) for f, X in ((oracle.q, Q), (oracle.v, V), (oracle.v, A))]
    q, v, a = (X[0].copy() for X in (Q, V, A))
    pq, pv, pa = (X[0].copy() for X in theirs)

    same(
        f"{name} inverse dynamics",
        m.inverse_dynamics(q, v, a),
        pin.rnea(model, data, pq, pv, pa)[oracle.v_map],
    )
    same(
        f"{name} forward dynamics",
        m.forward_dynamics(q, v, a),
        pin.aba(model, data, pq, pv, pa)[oracle.v_map],
    )
    M = pin.crba(model, data, pq)
    M = (np.triu(M) + np.triu(M, 1).T)[np.ix_(oracle.v_map, oracle.v_map)]
    same(f"{name} mass matrix", m.mass_matrix(q), M)

    one = {
        "inverse dynamics": {
            "ours": lambda: m.inverse_dynamics(q, v, a),
            "pinocchio": lambda: pin.rnea(model, data, pq, pv, pa),
        },
        "forward dynamics": {
            "ours": lambda: m.forward_dynamics(q, v, a),
            "pinocchio": lambda: pin.aba(model, data, pq, pv, pa),
        },
        "mass matrix": {
            "ours": lambda: m.mass_matrix(q),
            "pinocchio": lambda: pin.crba(model, data, pq),
        },
    }
    if name != "puma560":  # MuJoCo refuses bodies without mass
        for what, call in _mujoco(m, q, v, a).items():
            one[what]["mujoco"] = call
    made = [
        Row(f"{name}: {what}, one state", side_by_side(calls), 1.0, "pinocchio")
        for what, calls in one.items()
    ]

    pool = pin.ModelPool(model, 1)
    columns = [np.asfortranarray(X.T) for X in theirs]
    out = np.zeros((m.nv, STATES), order="F")
    pin.rneaInParallel(1, pool, *columns, out)
    same(f"{name} batch", m.inverse_dynamics(Q, V, A), out.T[:, oracle.v_map], 1e-9)
    target = 5.0 if name == "tree30" else 20.0
    many = {
        "inverse dynamics": {
            "ours": lambda: m.inverse_dynamics(Q, V, A, threads=1),
            "pinocchio's batch call": lambda: pin.rneaInParallel(1, pool, *columns, out),
        },
        "forward dynamics": {
            "ours": lambda: m.forward_dynamics(Q, V, A, threads=1),
            "pinocchio's batch call": lambda: pin.abaInParallel(1, pool, *columns, out),
        },
    }
    for what, calls in many.items():
        timings = side_by_side(calls, rounds=9, budget=0.05)
        made.append(
            Row(
                f"{name}: {what}, {STATES:,} states, one thread",
                timings,
                target,
                "pinocchio's batch call",
                per=STATES,
            )
        )
    return made


def _mujoco(m, q, v, a):
    mj = mujoco_model(m)
    data = mujoco.MjData(mj)
    order = [mj.joint(j.name).qposadr[0] for j in m.joints]
    x, dx, ddx = np.empty(m.nv), np.empty(m.nv), np.empty(m.nv)
    x[order], dx[order], ddx[order] = q, v, a

    def inverse():
        data.qpos[:], data.qvel[:], data.qacc[:] = x, dx, ddx
        mujoco.mj_inverse(mj, data)

    def forward():
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = x, dx, ddx
        mujoco.mj_forward(mj, data)

    inverse()
    same("inverse dynamics in MuJoCo", m.inverse_dynamics(q, v, a), data.qfrc_inverse[order])
    return {"inverse dynamics": inverse, "forward dynamics": forward}


if __name__ == "__main__":
    for row in rows():
        print(row)
