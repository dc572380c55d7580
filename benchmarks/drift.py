"""What ten seconds of an undriven mechanism with loops leave of them: closure and energy beside Pinocchio and MuJoCo.

Gravity acts in the plane, the motion starts from rest at the same closed configuration, and every contender takes RK4 steps of
1 ms. Pinocchio is stepped from Python, with four calls a step; MuJoCo steps twenty at a time by itself.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import replace

import mujoco
import numpy as np
import pinocchio as pin
from loops import contacts, tree_of
from models import Oracle
from report import Row, same
from timing import side_by_side

import eslabon as es

NAMES = ("planar_3rrr", "diaz_3rrr", "five_bar")
SPAN, STEP, EVERY, LONG = 10.0, 1e-3, 20, 60.0
STEPS = round(SPAN / STEP)
STABLE = (1e4, 2e2)  # Kp and Kd of Baumgarte's feedback
STIFF = {"solref": (0.004, 1.0), "solimp": (0.9999, 0.9999, 0.001, 0.5, 2.0)}
REMARKS = ""  # the tables of errors, once `rows` has measured them

States = tuple[np.ndarray, np.ndarray]


def falling(name: str) -> tuple[es.Mechanism, np.ndarray]:
    """A planar mechanism with gravity in its plane, at its closed home.

    Moments about axes in the plane do nothing; they are set to the one across it, as MuJoCo refuses rods without.
    """
    m = es.load(name)
    bodies = tuple(replace(b, inertia=(b.inertia[2],) * 3 + (0.0,) * 3) for b in m.bodies)
    m = es.Mechanism(replace(m.description, gravity=(0.0, -9.81, 0.0), bodies=bodies))
    return m, m.project(m.home())


def errors(m: es.Mechanism, q: np.ndarray, v: np.ndarray) -> tuple[float, float]:
    """The largest distance in m between the points of a cut hinge, and the change of energy by the largest kinetic one."""
    gaps = np.linalg.norm(m.constraint(q).reshape(len(q), len(m.loops), 5)[..., :3], axis=-1)
    energy = m.energy(q, v)
    total = energy.sum(axis=-1)
    return float(gaps.max()), float(np.abs(total - total[0]).max() / energy[:, 0].max())


def ours(m: es.Mechanism, q0: np.ndarray) -> Callable[[], States]:
    def run() -> States:
        motion = m.simulate(q0, None, SPAN, method="rk4", step=STEP, every=EVERY)
        return motion.q, motion.v

    return run


def pinocchio(
    m: es.Mechanism, q0: np.ndarray, feedback: tuple[float, float] | None = None
) -> Callable[[], States]:
    oracle = Oracle(tree_of(m))
    model, data, constraints = oracle.model, oracle.model.createData(), contacts(m, oracle)
    if feedback:
        for c in constraints:
            c.setBaumgarteCorrectorParameters(pin.BaumgarteCorrectorParameters(*feedback))
    cdata = pin.StdVec_RigidConstraintData()
    cdata.extend([c.createData() for c in constraints])
    settings = pin.ProximalSettings(1e-12, 1e-10, 20)
    pin.initConstraintDynamics(model, data, constraints, cdata)
    none, h = np.zeros(m.nv), STEP

    def rate(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return pin.constraintDynamics(model, data, q, v, none, constraints, cdata, settings).copy()

    def run() -> States:
        q, v, kept = oracle.q(q0), np.zeros(m.nv), []
        for k in range(STEPS + 1):
            if k % EVERY == 0:
                kept.append((q[oracle.q_map], v[oracle.v_map]))
            a1 = rate(q, v)
            v2 = v + h / 2 * a1
            a2 = rate(q + h / 2 * v, v2)
            v3 = v + h / 2 * a2
            a3 = rate(q + h / 2 * v2, v3)
            v4 = v + h * a3
            a4 = rate(q + h * v3, v4)
            q, v = q + h / 6 * (v + 2 * v2 + 2 * v3 + v4), v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        q, v = zip(*kept, strict=True)
        return np.array(q), np.array(v)

    return run


def mujoco_chain(
    m: es.Mechanism, **softness: tuple[float, ...]
) -> tuple[mujoco.MjModel, list[int]]:
    """A tree of hinges about z with the cut ones as connect constraints, and where our joints are in it."""
    spec = mujoco.MjSpec()
    spec.option.gravity, spec.option.timestep, spec.option.integrator = (
        m.gravity,
        STEP,
        mujoco.mjtIntegrator.mjINT_RK4,
    )
    made = {"ground": spec.worldbody}
    for joint in m.joints:
        body, half = m.body(joint.child), joint.at.rpy[2] / 2
        place = {"pos": list(joint.at.position), "quat": [np.cos(half), 0, 0, np.sin(half)]}
        here = made[joint.child] = made[joint.parent].add_body(**place)
        here.mass, here.ipos, here.explicitinertial = float(body.mass), list(body.com), True
        here.inertia = list(body.inertia[:3])
        here.add_joint(name=joint.name, type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 0, 1])
    for loop in m.loops:
        names = [f"{loop.name} {side}" for side in ("first", "second")]
        for name, end in zip(names, (loop.first, loop.second), strict=True):
            made[end.body].add_site(name=name, pos=list(end.at.position))
        held = spec.add_equality(type=mujoco.mjtEq.mjEQ_CONNECT, name1=names[0], name2=names[1])
        held.objtype = mujoco.mjtObj.mjOBJ_SITE
        for option, values in softness.items():
            setattr(held, option, values)
    model = spec.compile()
    return model, [model.joint(j.name).dofadr[0] for j in m.joints]


def in_mujoco(
    m: es.Mechanism, q0: np.ndarray, **softness: tuple[float, ...]
) -> Callable[[], States]:
    model, at = mujoco_chain(m, **softness)
    data = mujoco.MjData(model)

    def run() -> States:
        mujoco.mj_resetData(model, data)
        data.qpos[at] = q0
        kept = [(data.qpos[at], data.qvel[at])]
        for _ in range(STEPS // EVERY):
            mujoco.mj_step(model, data, EVERY)
            kept.append((data.qpos[at], data.qvel[at]))
        q, v = zip(*kept, strict=True)
        return np.array(q), np.array(v)

    return run


def contenders(m: es.Mechanism, q0: np.ndarray) -> dict[str, Callable[[], States]]:
    return {
        "ours": ours(m, q0),
        "pinocchio": pinocchio(m, q0),
        "pinocchio, Baumgarte 1e4, 2e2": pinocchio(m, q0, STABLE),
        "mujoco": in_mujoco(m, q0),
        "mujoco, stiff": in_mujoco(m, q0, **STIFF),
    }


def rows() -> list[Row]:
    global REMARKS
    made, drift = (
        [],
        ["| mechanism | RK4, 10 s | steps/s | closure (m) | energy |", "|---|---|---|---|---|"],
    )
    for name in NAMES:
        m, q0 = falling(name)
        runs = contenders(m, q0)
        results = {who: run() for who, run in runs.items()}
        first = round(0.1 / STEP) // EVERY + 1
        for who, agreement in (("pinocchio", 1e-7), ("pinocchio, Baumgarte 1e4, 2e2", 1e-6)):
            same(f"{name} by {who}", results["ours"][0][:first], results[who][0][:first], agreement)
        timings = side_by_side(runs, rounds=5, budget=0.0)
        what = f"{name}: a step of RK4 with loops, undriven, {STEPS:,} steps"
        made.append(Row(what, timings, None, "pinocchio", per=STEPS))
        for who, state in results.items():
            closure, energy = errors(m, *state)
            drift.append(
                f"| {name} | {who} | {STEPS / timings[who].seconds:,.0f} | {closure:.1e} | {energy:.1e} |"
            )
    REMARKS = "\n".join([EXPLAINED.strip(), "", *drift, "", ADAPTIVE.strip(), "", *adaptive()])
    return made


EXPLAINED = """
What is left of the loops and of the energy: the largest distance between the two points of a cut hinge, and the largest
change of energy by the largest kinetic energy, over reports every 20 ms. MuJoCo's constraints are soft by design; "stiff"
is solref 0.004 and solimp 0.9999. Yime's robot is small and light: its links reach 80 rad/s, a turn
in 80 steps, and what RK4 itself leaves of the energy is larger there; with steps of 0.2 ms it is 2e-7.
"""
ADAPTIVE = f"""
The same by our adaptive method (DOP853) for {LONG:g} s, with atol a hundredth of rtol.
"""


def adaptive() -> list[str]:
    made = [
        "| mechanism | rtol | steps | seconds | closure (m) | energy |",
        "|---|---|---|---|---|---|",
    ]
    for name in NAMES:
        m, q0 = falling(name)
        for rtol in (1e-8, 1e-10, 1e-12):
            seconds = []
            for _ in range(3):
                start = time.perf_counter()
                motion = m.simulate(q0, None, LONG, rtol=rtol, atol=rtol / 100)
                seconds.append(time.perf_counter() - start)
            closure, energy = errors(m, motion.q, motion.v)
            took = f"{motion.statistics.steps:,} | {statistics.median(seconds):.2f}"
            made.append(f"| {name} | {rtol:.0e} | {took} | {closure:.1e} | {energy:.1e} |")
    return made


if __name__ == "__main__":
    for row in rows():
        print(row)
    print(REMARKS)
