"""The first job anyone sees: a parallel robot closed, driven and let go, in a few lines of the terminal before its study."""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.text import Text

from eslabon.drawing.topology_text import topology_text
from eslabon.mechanism import Mechanism, load
from eslabon.sheets import Sheet

SPEED = np.radians(
    6.0
)  # Yime, 7.3: each motor turns at a steady six degrees a second for three seconds


def introduce(console: Console) -> Mechanism:
    """Yime's planar 3-RRR robot: structure, inverse dynamics along his motion, and a second of free swinging."""
    robot = load("planar_3rrr")
    console.print(Text(robot.name, style="bold"))
    console.print(Text(" ".join(robot.note.split()).split(". ")[0] + ".", style="dim"))
    console.print(Text(f"\n{topology_text(robot)}\n\n{robot.mobility()}\n"))
    console.print(_driven(robot))
    console.print(_let_go(robot))
    return robot


def _driven(robot: Mechanism) -> Sheet:
    """The motors turn steadily; everything else follows."""
    t = np.arange(4.0)
    motors = np.radians(30) + SPEED * t[:, None] * np.ones(3)
    q, v, a = robot.complete(motors, np.full_like(motors, SPEED), np.zeros_like(motors))
    torques = robot.inverse_dynamics(q, v, a)
    rows = [
        (
            float(t[k]),
            float(np.degrees(q[k, 1])),
            float(v[k, 1]),
            float(a[k, 1]),
            float(torques[k, 0]),
        )
        for k in range(len(t))
    ]
    heads = (
        "t [s]",
        "theta2 [deg]",
        "theta2' [rad/s]",
        "theta2'' [rad/s²]",
        "torque of each motor [N m]",
    )
    return Sheet("Driven as in Yime, 7.3: every motor at 6 degrees a second", heads, rows)


def _let_go(robot: Mechanism) -> Text:
    """The same robot hung in its plane and let go from rest, with nothing driving it."""
    hung = robot.with_gravity((0.0, -9.81, 0.0))
    swing = hung.simulate(hung.project(hung.home()), None, 1.0, method="rk4", step=5e-4, every=50)
    total, kinetic = swing.energy.total, swing.energy.kinetic
    error = np.abs(total - total[0]).max() / kinetic.max()
    return Text(
        f"\nLet go with gravity in its plane, for a second: loop closure violated by at most {swing.closure.max():.0e} m, "
        f"energy kept to {error:.0e}.\n"
    )
