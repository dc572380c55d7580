"""Steps of RK4 a second of mechanisms with loops, one trajectory and 64 of them, on one thread.

Every step ends on the constraint manifold: the closure error is the largest residual over the run, in m or rad. Steps of
0.02 ms from a state in slow motion, under gravity, with no actuator forces.

How many times faster delta and stewart_gough are than a base whose step did not fit into the second-level cache depends on
that cache: twice on a machine where it was too small, less with 2 MB a core."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import mujoco
import numpy as np
from models import mujoco_model
from report import same
from simulation import solid_puma
from versions import Version, cell, in_turns, lines, median, ratio, versions

MECHANISMS = ("planar_3rrr", "delta", "stewart_gough")
GOALS = {("planar_3rrr", 1): 500_000}  # steps a second
LAW = 150_000  # steps a second under a Python law
TWICE = ("delta", "stewart_gough")  # which are to make twice the base's


def text(base: Path | None = None, rounds: int = 7, steps: int = 20_000) -> str:
    compared = versions(base)
    made = [
        row(compared, rounds, name, n, steps // (1 if n == 1 else 10))
        for name in MECHANISMS
        for n in (1, 64)
    ]
    header = "mechanism | trajectories | steps/s | base, steps/s | times faster | closure | base, closure | goal | met"
    return f"{__doc__}\n\n{lines(header, made)}\n\n{under_a_law(rounds)}\n"


def under_a_law(rounds: int, steps: int = 20_000, step: float = 1e-3) -> str:
    """Steps of one puma560 under a one-line law in NumPy, asked once a step, and MuJoCo's loop with it, by processor time."""
    m = solid_puma()
    inertia = np.diag(m.mass_matrix(np.zeros(6)))
    goal, kp, kd = np.full(6, 0.3), 100 * inertia, 20 * inertia
    mj = mujoco_model(m)
    mj.opt.timestep, mj.opt.integrator = step, mujoco.mjtIntegrator.mjINT_RK4
    data = mujoco.MjData(mj)

    def ours():
        options = {
            "method": "rk4",
            "step": step,
            "hold": True,
            "every": steps // 10,
            "progress": False,
        }
        return m.simulate(
            np.zeros(6), None, steps * step, lambda t, q, v: kp * (goal - q) - kd * v, **options
        ).end[0]

    def peer():
        mujoco.mj_resetData(mj, data)
        for _ in range(steps):
            data.qfrc_applied[:] = kp * (goal - data.qpos) - kd * data.qvel
            mujoco.mj_step(mj, data)
        return np.array(data.qpos)

    same("puma560 under a law, by MuJoCo", ours(), peer(), 1e-9)
    speeds = {"eslabon": [], "mujoco": []}
    for _ in range(rounds):
        for name, call in (("eslabon", ours), ("mujoco", peer)):
            start = time.process_time()  # one thread, whatever else the machine does
            call()
            speeds[name].append(steps / (time.process_time() - start))
    us, them = (statistics.median(speeds[name]) for name in speeds)
    faster = statistics.median(a / b for a, b in zip(*speeds.values(), strict=True))
    made = [
        [
            "puma560",
            f"{us:,.0f}",
            f"{them:,.0f}",
            f"{faster:.1f}",
            f"{LAW:,} steps/s",
            "yes" if us >= LAW else "**no**",
        ]
    ]
    return f"{under_a_law.__doc__}\n\n{lines('mechanism | steps/s | mujoco, steps/s | times faster | goal | met', made)}"


def row(compared: list[Version], rounds: int, name: str, count: int, steps: int) -> list[str]:
    answers = in_turns(
        compared, rounds, work="simulate", name=name, trajectories=count, steps=steps
    )
    now, before, faster = answers["now"], answers.get("base", []), ratio(answers, "seconds")
    speed, goal, met = median(now, "speed"), "", ""
    if (name, count) in GOALS:
        least = GOALS[name, count]
        goal, met = f"{least:,} steps/s", "yes" if speed >= least else "**no**"
    elif name in TWICE and faster is not None:
        goal, met = "2 times", "yes" if faster >= 2 else "**no**"
    return [
        name, str(count), f"{speed:,.0f}", cell(median(before, "speed"), ",.0f"),
        cell(faster, ".2f"), cell(median(now, "closure"), ".1e"), cell(median(before, "closure"), ".1e"), goal, met,
    ]  # fmt: skip


if __name__ == "__main__":
    import sys

    print(text(Path(sys.argv[1]) if sys.argv[1:] else None))
