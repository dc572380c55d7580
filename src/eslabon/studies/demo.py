"""The first job anyone sees: a parallel robot closed, driven, let go, and drawn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from eslabon.errors import MissingDependencyError
from eslabon.files import write
from eslabon.mechanism import Mechanism, load
from eslabon.plotting import axis_label, curves, panels, save_figure

SPEED = np.radians(6.0)  # Yime, 7.3: each motor turns at a steady six degrees a second for three seconds


def run(folder: Path, console: Console) -> None:
    """Yime's planar 3-RRR robot: structure, inverse dynamics along his motion, and ten seconds of free swinging."""
    from eslabon.studies.describe import describe

    robot = load("planar_3rrr")
    console.print(describe(robot))
    drawing = write(folder / "topology.svg", robot.topology_svg())
    t, state, torques = _driven(robot)
    _print_driven(console, t, state, torques)
    swing = _let_go(robot)
    _print_swing(console, swing)
    try:
        figures = _figures(folder, robot, t, state, torques, swing)
    except MissingDependencyError as error:
        figures = []
        console.print(f"\nThe curves are not drawn: {error}", highlight=False, markup=False)
    console.print("\nLook at:")
    for path in (drawing, *figures):
        console.print(f"  {path}", highlight=False)


def _driven(robot: Mechanism) -> tuple[np.ndarray, tuple[np.ndarray, ...], np.ndarray]:
    """The motors turn steadily; everything else follows."""
    t = np.linspace(0.0, 3.0, 301)
    motors = np.radians(30) + SPEED * t[:, None] * np.ones(3)
    state = robot.complete(motors, np.full_like(motors, SPEED), np.zeros_like(motors))
    return t, state, robot.inverse_dynamics(*state)


def _print_driven(console: Console, t: np.ndarray, state: tuple[np.ndarray, ...], torques: np.ndarray) -> None:
    console.print("Driven as in Yime, 7.3: every motor at 6 degrees a second", style="bold")
    table = Table(box=None, pad_edge=False)
    for column in ("t s", "theta2 deg", "theta2' rad/s", "theta2'' rad/s²", "torque of each motor N m"):
        table.add_column(column, justify="right")
    for k in range(0, len(t), 100):
        row = (t[k], np.degrees(state[0][k, 1]), state[1][k, 1], state[2][k, 1], torques[k, 0])
        table.add_row(*(f"{round(float(x), 12) + 0.0:.6g}" for x in row))
    console.print(table)


def _let_go(robot: Mechanism) -> Any:
    """The same robot hung in its plane and let go from rest, with nothing driving it."""
    hung = Mechanism(replace(robot.description, gravity=(0.0, -9.81, 0.0)))
    return hung.simulate(hung.project(hung.home()), None, 10.0, method="rk4", step=2e-4, every=50)


def _print_swing(console: Console, swing: Any) -> None:
    total, kinetic = swing.energy.total, swing.energy.kinetic
    error = np.abs(total - total[0]).max() / kinetic.max()
    steps = swing.statistics.steps
    console.print("\nLet go from rest with gravity in its plane, for ten seconds", style="bold")
    console.print(f"{steps:,} steps of RK4 in {swing.statistics.seconds:.2f} s", highlight=False)
    console.print(f"loop closure violated by at most {swing.closure.max():.1e} m", highlight=False)
    console.print(f"energy within {error:.1e} of the largest kinetic energy, {kinetic.max():.3g} J", highlight=False)


def _figures(
    folder: Path, robot: Mechanism, t: np.ndarray, state: tuple[np.ndarray, ...], torques: np.ndarray, swing: Any
) -> list[Path]:
    """Motion and torques, what the joints carry, and the free swing with its errors."""
    joints = [j.name for j in robot.joints]
    what = (("joint angle", "deg"), ("joint velocity", "deg/s"), ("joint acceleration", "deg/s²"))
    driven = [(*label, _named(joints, np.degrees(x))) for label, x in zip(what, state, strict=True)]
    driven.append(("motor torque", "mN m", _named(robot.actuated, torques * 1e3)))
    carried = np.linalg.norm(robot.reactions(*state)[..., 3:5], axis=-1)
    reactions = [("force in the plane", "N", _named([*joints, *(f"{x.name} (cut)" for x in robot.loops)], carried))]
    kinetic, potential, total = swing.energy.kinetic, swing.energy.potential, swing.energy.total
    errors = np.stack([np.abs(total - total[0]) / kinetic.max(), swing.closure], axis=-1) + 1e-18
    free = [
        ("platform centre", "mm", _named("xy", robot.pose(swing.q, "centre")[:, :2, 3] * 1e3)),
        ("energy", "J", {"kinetic": kinetic, "potential": potential, "total": total}),
        ("error", "", _named(("energy, of the largest kinetic", "closure, m"), errors)),
    ]
    drawn = {
        "driven": _figure("planar_3rrr: every motor at 6 deg/s (the three legs move alike)", t, driven, 2),
        "reactions": _figure("planar_3rrr: what the joints carry", t, reactions),
        "swing": _figure("planar_3rrr let go with gravity in its plane", swing.t, free),
    }
    return [save_figure(figure, folder / f"{name}.png") for name, figure in drawn.items()]


def _named(names: Iterable[str], values: np.ndarray) -> dict[str, np.ndarray]:
    """The columns of an array by name."""
    return dict(zip(names, values.T, strict=True))


def _figure(title: str, t: np.ndarray, drawn: list[tuple[str, str, dict[str, np.ndarray]]], across: int = 1) -> Any:
    """Panels in time, each of a name, its unit, and curves; errors on a log scale."""
    size = (6.2, 2.6) if across > 1 else (8.5, 2.6)
    figure, axes = panels(len(drawn), across=across, size=size, title=title, bottom=axis_label("t", "s"))
    for ax, (name, unit, values) in zip(axes, drawn, strict=True):
        curves(ax, t, values, name=name, unit=unit, log=name == "error")
    return figure
