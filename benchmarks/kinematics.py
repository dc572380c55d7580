"""Forward kinematics and Jacobians beside Pinocchio and MuJoCo."""

from __future__ import annotations

import subprocess
import sys
import time

import mujoco
import numpy as np
import pinocchio as pin
from models import Oracle, models, mujoco_model
from report import Row, same
from timing import side_by_side

STATES = 10_000
REMARKS = """
The Jacobian of the 30-joint tree is a dense 6 x 30 matrix, 14 MB for 10,000 states: what is measured there is the speed at
which memory is written (about 15 GB/s), and Pinocchio's loop, which writes each matrix into the nearest cache, comes
nearer to it than elsewhere. Poses of the two arms in a batch come out between 28 and 33 times
Pinocchio's loop from run to run: the target of 30 lies within the noise of this machine.
"""


def rows() -> list[Row]:
    made: list[Row] = []
    for name, m in models().items():
        made += _one_model(name, m)
    return made + _first_number()


def _one_model(name, m) -> list[Row]:
    oracle, frame = Oracle(m), m.frames[-1].name
    joint, offset = oracle.frame(frame)
    place = oracle.model.addFrame(pin.Frame(frame, joint, 0, offset, pin.FrameType.OP_FRAME))
    model, data = oracle.model, oracle.model.createData()
    rng = np.random.default_rng(0)
    Q = rng.uniform(-2, 2, (STATES, m.nq))
    theirs = np.array([oracle.q(q) for q in Q])
    q, p = Q[0].copy(), theirs[0].copy()
    mj = mujoco_model(m, least=1e-6)
    md = mujoco.MjData(mj)
    order = [mj.joint(j.name).qposadr[0] for j in m.joints]
    site, J = mj.site(frame).id, np.zeros((6, mj.nv))
    mj_q = np.empty(mj.nq)
    mj_q[order] = q

    def mj_pose():
        md.qpos[:] = mj_q
        mujoco.mj_kinematics(mj, md)

    def mj_jacobian():
        mj_pose()
        mujoco.mj_comPos(mj, md)
        mujoco.mj_jacSite(mj, md, J[3:], J[:3], site)

    def pin_pose(x):
        pin.framesForwardKinematics(model, data, x)

    def pin_jacobian(x):
        return pin.computeFrameJacobian(model, data, x, place, pin.LOCAL)

    pin_pose(p)
    same(f"{name} pose", m.pose(q, frame), data.oMf[place].homogeneous)
    theirs_J = pin_jacobian(p)
    same(
        f"{name} jacobian",
        m.jacobian(q, frame),
        np.vstack([theirs_J[3:], theirs_J[:3]])[:, oracle.v_map],
    )
    mj_jacobian()
    same(f"{name} pose in MuJoCo", m.pose(q, frame)[:3, 3], md.site_xpos[site])
    same(
        f"{name} jacobian in MuJoCo", m.jacobian(q, frame, axes="aligned")[:, np.argsort(order)], J
    )

    made = []
    one = {
        "pose": (
            {"ours": lambda: m.pose(q, frame), "pinocchio": lambda: pin_pose(p), "mujoco": mj_pose}
        ),
        "jacobian": (
            {
                "ours": lambda: m.jacobian(q, frame),
                "pinocchio": lambda: pin_jacobian(p),
                "mujoco": mj_jacobian,
            }
        ),
    }
    for what, calls in one.items():
        made.append(Row(f"{name}: {what}, one state", side_by_side(calls), 1.0, "pinocchio"))
    many = {
        "pose": {
            "ours": lambda: m.pose(Q, frame, threads=1),
            "pinocchio": lambda: [pin_pose(x) for x in theirs],
        },
        "jacobian": {
            "ours": lambda: m.jacobian(Q, frame, threads=1),
            "pinocchio": lambda: [pin_jacobian(x) for x in theirs],
        },
    }
    for what, calls in many.items():
        timings = side_by_side(calls, rounds=7, budget=0.05)
        made.append(
            Row(
                f"{name}: {what}, {STATES:,} states, one thread",
                timings,
                30.0,
                "pinocchio",
                per=STATES,
            )
        )
    threads = {"ours": lambda: m.pose(Q, frame), "pinocchio": lambda: [pin_pose(x) for x in theirs]}
    made.append(
        Row(
            f"{name}: pose, {STATES:,} states, all cores",
            side_by_side(threads, rounds=7, budget=0.05),
            None,
            "pinocchio",
            per=STATES,
        )
    )
    return made


def _first_number() -> list[Row]:
    """A new process, from start to end, with the code on disk; the interpreter's own start is in both figures."""
    first = "import eslabon as es; es.load('puma560').pose([0.0]*6)"

    def run(code):
        return lambda: subprocess.run([sys.executable, "-c", code], check=True)

    calls = {"ours": run(first), "import only": run("import eslabon"), "python itself": run("pass")}
    run(first)()
    timings = side_by_side(calls, rounds=7, budget=0.0)
    return [
        Row(
            "new process: first number of puma560, warm cache",
            timings,
            None,
            "python itself",
            unit="s",
        )
    ]


if __name__ == "__main__":
    start = time.time()
    for row in rows():
        print(row)
    print(f"{time.time() - start:.0f} s")
