"""RK4 of a thousand arms under PD control beside MuJoCo: stepped from Python, and by its own rollout."""

from __future__ import annotations

import time
from dataclasses import replace

import mujoco
import numpy as np
from models import mujoco_model
from mujoco import rollout
from report import Row, same
from timing import side_by_side

import eslabon as es
from eslabon.motion.simulation import simulate, traced

ARMS, STEPS, STEP = 1000, 1000, 1e-3
FEW = 5  # arms that MuJoCo moves from Python: a thousand would take half a minute


def solid_puma() -> es.Mechanism:
    """puma560 with the moments of a solid body where the published ones are not, since MuJoCo refuses those.

    Link 1 turns about its y axis only and keeps that moment; link 3's largest is lowered by a tenth.
    """
    d = es.load("puma560").description
    moments = {
        "link1": (0.35, 0.35, 0.35, 0.0, 0.0, 0.0),
        "link3": (0.066, 0.078, 0.0125, 0.0, 0.0, 0.0),
    }
    bodies = [
        replace(b, inertia=moments.get(b.name, b.inertia), mass=b.mass or 1.0) for b in d.bodies
    ]
    return es.Mechanism(replace(d, name="puma560, solid", bodies=tuple(bodies)))


def rows() -> list[Row]:
    made: list[Row] = []
    for name, m in {"puma560": solid_puma(), "panda_like": es.load("panda_like")}.items():
        made += _one_arm(name, m)
    return made


def _one_arm(name: str, m: es.Mechanism) -> list[Row]:
    rng = np.random.default_rng(0)
    goal, inertia = rng.uniform(-1, 1, m.nq), np.diag(m.mass_matrix(np.zeros(m.nq)))
    kp, kd = 100 * inertia, 20 * inertia  # about 10 rad/s, critically damped
    Q, V = rng.uniform(-1, 1, (ARMS, m.nq)), np.zeros((ARMS, m.nv))
    law = traced(lambda t, q, v: kp * (goal - q) - kd * v)
    mj = mujoco_model(m)
    mj.opt.timestep, mj.opt.integrator = STEP, mujoco.mjtIntegrator.mjINT_RK4
    data = mujoco.MjData(mj)

    def ours(arms: int = ARMS, threads: int | None = 1, hold: bool = True):
        options = {"method": "rk4", "step": STEP, "hold": hold, "threads": threads}
        return simulate(m, Q[:arms], V[:arms], STEPS * STEP, law, **options)

    def stepping():
        """MuJoCo as its users drive it: the forces are set from Python before every step."""
        q = np.empty((FEW, STEPS, m.nq))
        for k in range(FEW):
            mujoco.mj_resetData(mj, data)
            data.qpos[:], data.qvel[:] = Q[k], V[k]
            for i in range(STEPS):
                data.qfrc_applied[:] = kp * (goal - data.qpos) - kd * data.qvel
                mujoco.mj_step(mj, data)
                q[k, i] = data.qpos
        return q

    # For MuJoCo's rollout, which knows no Python, the same law is made of springs and dampers in the joints.
    sprung = mujoco_model(m)
    sprung.opt.timestep, sprung.opt.integrator = STEP, mujoco.mjtIntegrator.mjINT_RK4
    sprung.jnt_stiffness[:], sprung.qpos_spring[:], sprung.dof_damping[:] = kp, goal, kd
    few = rollout_states(sprung, Q[: 10 * FEW], V[: 10 * FEW])
    pool = mujoco.MjData(sprung)

    def rolling():
        states, _ = rollout.rollout(sprung, pool, few, nstep=STEPS)
        return states[..., 1 : 1 + m.nq]

    same(f"{name} stepped by MuJoCo", ours(FEW).q[:, 1:], stepping(), 1e-9)
    same(f"{name} rolled out by MuJoCo", ours(10 * FEW, hold=False).q[:, 1:], rolling(), 1e-9)

    # Work of different size is put in one row: what counts is the time of a step of an arm.
    ours_fast, ours_all = (
        per_step(lambda threads=threads: ours(threads=threads), ARMS) for threads in (1, None)
    )
    calls = {
        "ours": ours_fast,
        "mujoco from Python": per_step(stepping, FEW),
        "mujoco rollout": per_step(rolling, 10 * FEW),
    }
    all_cores = {"ours": ours_all, "mujoco from Python": per_step(stepping, FEW)}
    what = f"{name}: RK4 under PD control, {ARMS:,} arms x {STEPS:,} steps"
    return [
        Row(f"{what}, one thread", paired(calls), 20.0, "mujoco from Python"),
        Row(f"{what}, all cores", paired(all_cores), None, "mujoco from Python"),
    ]


def rollout_states(mj, Q, V):
    """Initial states as MuJoCo's rollout wants them: time, positions, velocities."""
    return np.concatenate([np.zeros((len(Q), 1)), Q, V], axis=1)


def per_step(call, arms):
    """A call with the number of steps that it makes."""
    return call, arms * STEPS


def paired(calls):
    """Times of one step of one arm, each contender once a round."""
    from timing import Timing

    timings = side_by_side({name: call for name, (call, _) in calls.items()}, rounds=5, budget=0.0)
    first = calls["ours"][1]
    return {
        name: Timing(t.seconds / calls[name][1], t.ratio * first / calls[name][1])
        for name, t in timings.items()
    }


if __name__ == "__main__":
    start = time.time()
    for row in rows():
        print(row)
    print(f"{time.time() - start:.0f} s")
