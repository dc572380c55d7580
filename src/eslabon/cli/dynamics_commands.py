"""What moves it: torques of a motion, and motion in time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import eslabon as es
from eslabon.cli.answer import Answer, patience
from eslabon.cli.app import command
from eslabon.cli.kinematics_commands import coordinate_heads
from eslabon.cli.typed import (
    Actuated,
    Degrees,
    Q,
    Source,
    Theme,
    Time,
    as_typed,
    configuration,
    in_radians,
    instant,
    load,
    needed,
    vector,
)
from eslabon.model.configuration import angles, velocity_units
from eslabon.plotting import save_figure
from eslabon.sheets import Sheet
from eslabon.solve.ranges import Ranges

FORCE = {"rad/s": "N m", "m/s": "N"}
SMOOTH = 401  # times of a curve
V = Annotated[
    str | None,
    typer.Option(
        "--v", help="Velocities, of all joints or, with --actuated, of those; rest if left out."
    ),
]
A = Annotated[str | None, typer.Option("--a", help="Accelerations, as --v.")]


def _rates(
    m: es.Mechanism, text: str | None, option: str, places: Any, degrees: bool
) -> np.ndarray:
    """Velocities or accelerations at these places."""
    turning = np.array(velocity_units(m))[places] == "rad/s"
    return (
        np.zeros(len(turning))
        if text is None
        else in_radians(vector(text, option, len(turning)), turning, degrees)
    )


def state(
    m: es.Mechanism,
    q: str | None,
    v: str | None,
    a: str | None,
    actuated: str | None,
    degrees: bool,
    t: float | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Full q, v, a: as typed, or what follows from the actuated joints."""
    configured = configuration(
        m, q, actuated, degrees and (q is not None or actuated is not None), t
    )
    places = list(m.actuated_velocities) if actuated is not None else list(range(m.nv))
    va, aa = (_rates(m, text, option, places, degrees) for text, option in ((v, "--v"), (a, "--a")))
    if actuated is not None and m.closed:
        own = configured[list(m.actuated_coordinates)]
        return m.complete(own, va, aa, guess=configured, t=t)
    full = np.zeros((2, m.nv))
    full[:, places] = va, aa
    if m.rheonomic:  # where rest may be impossible: what is left out is the nearest to it
        _, *nearest = m.project(configured, *full, t=t)
        full = np.where([[v is None], [a is None]], nearest, full)
    return configured, full[0], full[1]


@command("torques", 'eslabon torques delta --actuated "10 20 30" --v "90 0 0" --degrees')
def torques(
    source: Source,
    q: Q = None,
    v: V = None,
    a: A = None,
    actuated: Actuated = None,
    degrees: Degrees = False,
    time: Time = None,
) -> Answer:
    """Compute the actuator forces for a motion (inverse dynamics).

    The default state is the home configuration, at rest."""
    m = load(source)
    at = instant(m, time)
    with patience("compiling the inverse dynamics"):
        motion = state(m, q, v, a, actuated, degrees, **at)
        tau = m.inverse_dynamics(*motion, **at)
    units = [FORCE[velocity_units(m)[k]] for k in m.actuated_velocities]
    names = [name for name in m.actuated for _ in range(m.joint(name).nv)]
    sheet = Sheet(
        "actuator forces",
        ("joint", "force", "unit"),
        list(zip(names, tau.tolist(), units, strict=True)),
    )
    data = {
        "mechanism": m.name,
        **{key: m.named(x) for key, x in zip("qva", motion, strict=True)},
        "tau": m.named(tau),
    }
    return Answer([sheet], data)


@command("simulate", 'eslabon simulate double_pendulum --q "60 30" --degrees --time 2')
def simulate(
    source: Source,
    time: Annotated[float, typer.Option("--time", help="How long, in seconds.")] = 1.0,
    q: Q = None,
    v: V = None,
    actuated: Actuated = None,
    tau: Annotated[
        str | None, typer.Option("--tau", help="Constant forces of the actuators; none if left out.")
    ] = None,
    degrees: Degrees = False,
    start: Annotated[float, typer.Option("--start", help="The time at the start, in seconds.")] = 0.0,
    rows: Annotated[int, typer.Option(help="How many times are reported.", min=3)] = 11,
    method: Annotated[str, typer.Option(help="DOP853, RK45, LSODA, Radau, BDF, rk4 or symplectic.")] = "DOP853",
    step: Annotated[float | None, typer.Option(help="The step of a method with fixed steps, in seconds.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Also save the motion: .csv or .npz.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Also draw it into this file (.png, .svg, .pdf).")] = None,
    panels: Annotated[
        list[str] | None,
        typer.Option("--panel", help="What is drawn, once for each: coordinates, velocities, accelerations, forces, energy, power, phase, reactions, torque_speed, closure."),
    ] = None,
    animate: Annotated[Path | None, typer.Option("--animate", help="Also show it moving, in this file (.mp4, .gif, .html).")] = None,
    theme: Theme = None,
) -> Answer:  # fmt: skip
    """Simulate the motion under constant actuator forces.

    The default initial state is the home configuration, at rest."""
    from eslabon.motion.simulation.step_formulas import METHODS

    needed("--panel", panels, "--plot", plot)
    needed("--theme", theme, "--plot or --animate", plot, animate)
    m = load(source)
    if not 0 < time < np.inf:
        raise es.InputError(f"--time is a number of seconds greater than zero; it is {time:g}.")
    q0, v0, _ = state(m, q, v, None, actuated, degrees, start if m.rheonomic else None)
    force = None if tau is None else vector(tau, "--tau", m.nu)
    times = start + np.linspace(0.0, time, rows)
    if step is None and method in METHODS:  # of fixed steps, which have no other
        step = time / (rows - 1) / 100
    motion = m.simulate(q0, v0, times, force, method=method, step=step)
    table = np.column_stack([motion.t, motion.energy.total, as_typed(motion.q, angles(m), degrees)])
    heads = ("t [s]", "energy [J]", *coordinate_heads(m, degrees))
    parts: list[Any] = [Sheet("", heads, [tuple(map(float, row)) for row in table])]
    if m.closed:
        parts.append(
            f"Loop closure is violated by at most {np.max(motion.closure, initial=0.0):.2g} (rad, or lengths of its size)."
        )
    if (row := Ranges.of(m).first_passed(motion.q)) is not None:
        passed = f"At t = {motion.t[row]:.6g} s there is {Ranges.of(m).outside(motion.q[row])}"
        parts.append(
            f"{passed}: nothing stops joints at their limits here; m.simulate(..., stops=...) does."
        )
    parts += [f"The motion is saved in {motion.save(out)}."] if out is not None else []
    if plot is not None or animate is not None:  # from as many times as a curve needs
        drawn = m.simulate(
            q0,
            v0,
            start + np.linspace(0.0, time, max(rows, SMOOTH)),
            force,
            method=method,
            step=step,
        )
    if plot is not None:
        parts.append(f"Figure: {save_figure(drawn.plot(*panels or (), theme=theme), plot)}")
    if animate is not None:
        parts.append(f"Animation: {drawn.animate(animate, theme=theme).path}")
    kinds = ("q", "v", "a", "tau")
    heads = tuple(
        f"{c.joint}.{kind}{'.' * bool(c.name)}{c.name} [{c.unit}]"
        for kind in kinds
        for c in motion.columns[kind]
    )
    columns = [
        motion.t,
        motion.energy.total,
        motion.closure,
        *(getattr(motion, kind) for kind in kinds),
    ]
    records = Sheet(
        "motion", ("t [s]", "energy [J]", "closure", *heads), np.column_stack(columns).tolist()
    )
    data = {
        "mechanism": m.name,
        "t": motion.t,
        **{kind: m.named(getattr(motion, kind)) for kind in kinds},
    }
    return Answer(
        parts, data | {"energy": motion.energy.total, "closure": motion.closure}, [records]
    )
