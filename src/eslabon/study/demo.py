"""The first job anyone sees: a parallel robot closed, driven, let go, and drawn."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from eslabon.errors import MissingDependencyError
from eslabon.files import write
from eslabon.mechanism import Mechanism, load
from eslabon.plotting import new_figure, save_figure

SPEED = np.radians(6.0)  # Yime, 7.3: each motor turns at a steady six degrees a second for three seconds


def run(folder: Path, console: Console) -> None:
    """Yime's planar 3-RRR robot: structure, inverse dynamics along his motion, and ten seconds of free swinging."""
    from eslabon.study.describe import describe

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
    """Motion, torques, reactions and errors."""
    return [
        save_figure(_driven_figure(robot, t, state, torques), folder / "driven.png"),
        save_figure(_reactions_figure(robot, t, state), folder / "reactions.png"),
        save_figure(_swing_figure(robot, swing), folder / "swing.png"),
    ]


def _driven_figure(robot: Mechanism, t: np.ndarray, state: tuple[np.ndarray, ...], torques: np.ndarray) -> Any:
    figure = new_figure(figsize=(10, 6.5))
    axes = figure.subplots(2, 2, sharex=True)
    names = [j.name for j in robot.joints]
    what = ("joint angle, deg", "joint velocity, deg/s", "joint acceleration, deg/s²")
    for axis, x, label in zip(axes.flat[:3], state, what, strict=True):
        axis.plot(t, np.degrees(x), label=names)
        axis.set_ylabel(label)
    axes.flat[0].legend(fontsize=7, ncols=2)
    axes.flat[3].plot(t, torques * 1e3)
    axes.flat[3].set_ylabel("motor torque, mN m")
    for axis in axes.flat:
        axis.grid(alpha=0.3)
    for axis in axes[1]:
        axis.set_xlabel("time, s")
    figure.suptitle("planar_3rrr: every motor at 6 deg/s (the three legs move alike)")
    return figure


def _reactions_figure(robot: Mechanism, t: np.ndarray, state: tuple[np.ndarray, ...]) -> Any:
    carried = robot.reactions(*state)
    names = [*(j.name for j in robot.joints), *(f"{x.name} (cut)" for x in robot.loops)]
    figure = new_figure(figsize=(9, 4.5))
    axis = figure.subplots()
    size = np.linalg.norm(carried[..., 3:5], axis=-1)
    for k, name in enumerate(names):
        axis.plot(t, size[:, k], label=name, linestyle="--" if k >= len(robot.joints) else "-")
    axis.set(xlabel="time, s", ylabel="force in the plane, N", title="what the joints carry")
    axis.legend(fontsize=8, ncols=3)
    axis.grid(alpha=0.3)
    return figure


def _swing_figure(robot: Mechanism, swing: Any) -> Any:
    figure = new_figure(figsize=(9, 8))
    axes = figure.subplots(3, 1, sharex=True)
    centre = robot.pose(swing.q, "centre")[:, :3, 3]
    axes[0].plot(swing.t, centre[:, :2] * 1e3, label=["x", "y"])
    axes[0].set_ylabel("platform centre, mm")
    axes[0].legend()
    axes[1].plot(swing.t, swing.energy.kinetic, label="kinetic")
    axes[1].plot(swing.t, swing.energy.potential, label="potential")
    axes[1].plot(swing.t, swing.energy.total, "k", label="total")
    axes[1].set_ylabel("energy, J")
    axes[1].margins(y=0.25)
    axes[1].legend(ncols=3, loc="upper right")
    total = swing.energy.total
    axes[2].semilogy(
        swing.t, np.abs(total - total[0]) / swing.energy.kinetic.max() + 1e-18, label="energy, of the largest kinetic"
    )
    axes[2].semilogy(swing.t, swing.closure + 1e-18, label="closure, m")
    axes[2].set(ylabel="error", xlabel="time, s")
    axes[2].legend()
    for axis in axes:
        axis.grid(alpha=0.3)
    figure.suptitle("planar_3rrr let go with gravity in its plane")
    return figure
