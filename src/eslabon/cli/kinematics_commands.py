"""Where things are: poses, inverse kinematics, workspaces."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import eslabon as es
from eslabon.cli.answer import Answer, patience
from eslabon.cli.app import command
from eslabon.cli.typed import (
    Actuated,
    Degrees,
    Frame,
    Q,
    Source,
    Theme,
    Time,
    as_typed,
    configuration,
    in_radians,
    instant,
    joints,
    known_joint,
    load,
    needed,
    numbers,
    vector,
)
from eslabon.formulas.kinematics.frames import chosen_frame
from eslabon.model.configuration import angles, coordinate_columns, coordinate_names
from eslabon.model.scale import row_scales
from eslabon.plotting import save_figure
from eslabon.sheets import Sheet
from eslabon.solve.constraints.closure_violation import accepts, violation_of
from eslabon.solve.target import Target

POSE = ("x [m]", "y [m]", "z [m]", "roll [deg]", "pitch [deg]", "yaw [deg]")


def coordinate_sheet(m: es.Mechanism, q: Any, degrees: bool, title: str = "coordinates") -> Sheet:
    """A row for each coordinate of one configuration, a column for each of several."""
    columns = coordinate_columns(m)
    values = as_typed(np.atleast_2d(q), angles(m), degrees).T
    units = ["deg" if degrees and c.unit == "rad" else c.unit for c in columns]
    heads = (
        ("value",)
        if values.shape[1] == 1
        else tuple(f"value {k + 1}" for k in range(values.shape[1]))
    )
    rows = [
        (str(c), *map(float, row), unit)
        for c, row, unit in zip(columns, values, units, strict=True)
    ]
    return Sheet(title, ("coordinate", *heads, "unit"), rows)


def coordinate_heads(m: es.Mechanism, degrees: bool = False) -> tuple[str, ...]:
    """The columns of configurations in rows, with units."""
    units = {"rad": " [deg]" if degrees else " [rad]", "m": " [m]", "": ""}
    return tuple(f"{c}{units[c.unit]}" for c in coordinate_columns(m))


def pose_rows(T: np.ndarray) -> np.ndarray:
    """Position and roll, pitch, yaw in degrees, (..., 6)."""
    rpy = np.degrees(es.algebra.rpy_from_rotation(T[..., :3, :3]))
    return np.concatenate([T[..., :3, 3], rpy], axis=-1)


@command("pose", 'eslabon pose delta --actuated "10 20 30" --degrees')
def pose(
    source: Source,
    q: Q = None,
    actuated: Actuated = None,
    frame: Frame = None,
    degrees: Degrees = False,
    time: Time = None,
) -> Answer:
    """Compute the pose of a frame.

    Prints position, roll, pitch, yaw and the 4x4 matrix. Loops are closed first, and all coordinates are printed."""
    m = load(source)
    at = instant(m, time)
    with patience("closing the loops"):
        values = configuration(m, q, actuated, degrees, **at)
        T = m.pose(values, frame)
    name = chosen_frame(m, frame).name
    row = pose_rows(T)
    notes = []
    left = abs(m.constraint(values, **at)) if m.closed else np.zeros(0)
    if not accepts(violation_of(left * row_scales(m))):
        notes.append(f"This configuration violates loop closure by {left.max():.3g} (m or rad).")
    parts: list[Any] = [
        Sheet(
            f"pose of {name}",
            ("", "x", "y", "z"),
            [("position m", *row[:3]), ("roll pitch yaw deg", *row[3:])],
        ),
        "",
        *("  ".join(f"{round(float(x), 9) + 0.0:12.9f}" for x in line) for line in T),
    ]
    if m.closed:
        parts += ["", coordinate_sheet(m, values, degrees)]
    heads = ("frame", *POSE, *coordinate_heads(m))
    data = {
        "mechanism": m.name,
        "frame": name,
        "position": row[:3],
        "rpy_deg": row[3:],
        "matrix": T,
        "q": m.named(values),
    }
    return Answer(
        parts, data, [Sheet("pose", heads, [(name, *row.tolist(), *values.tolist())])], notes
    )


@command("ik", 'eslabon ik puma560 --position "0.4 0.1 0.3" --rpy "0 90 0" --degrees')
def ik(
    source: Source,
    position: Annotated[
        str | None, typer.Option("--position", help="Where the frame is to be, in metres: 'x y z'.")
    ] = None,
    rpy: Annotated[
        str | None,
        typer.Option("--rpy", help="Its roll, pitch and yaw; any if left out."),
    ] = None,
    planar: Annotated[
        str | None,
        typer.Option(
            "--planar", help="In place of both, for a motion in the plane: 'x y' or 'x y angle'."
        ),
    ] = None,
    frame: Frame = None,
    guess: Annotated[str | None, typer.Option("--guess", help="Coordinates to start from.")] = None,
    solutions: Annotated[int, typer.Option(help="How many configurations to look for.", min=1)] = 1,
    degrees: Degrees = False,
) -> Answer:
    """Find joint coordinates that bring a frame to a pose.

    In a mechanism with loops, the coordinates also close the loops."""
    m = load(source)
    target = _target(position, rpy, planar, degrees)
    start = None if guess is None else in_radians(numbers(guess, "--guess"), angles(m), degrees)
    with patience("searching"):
        q = _reached(m, Target(frame, **target), start, solutions)
    poses = m.pose(q, frame)
    heads, rows = coordinate_heads(m), np.concatenate([q, pose_rows(poses)], axis=-1).tolist()
    data = {"mechanism": m.name, "solutions": [m.named(x) for x in q]}
    return Answer(
        [coordinate_sheet(m, q, degrees)], data, [Sheet("solutions", (*heads, *POSE), rows)]
    )


def _target(
    position: str | None, rpy: str | None, planar: str | None, degrees: bool
) -> dict[str, Any]:
    """What is to be reached, as `Target` takes it."""
    if (position is None) == (planar is None) or (planar is not None and rpy is not None):
        raise es.ReadError(
            "the target is --position, with --rpy or without, or --planar: give one of the two."
        )
    if planar is not None:
        values = numbers(planar, "--planar")
        if len(values) not in (2, 3):
            raise es.ReadError(
                f"--planar takes 2 or 3 numbers, x y and an angle; {len(values)} are given."
            )
        return {"planar": in_radians(values, np.arange(len(values)) == 2, degrees)}
    place = vector(str(position), "--position", 3)
    if rpy is None:
        return {"position": place}
    turn = in_radians(vector(rpy, "--rpy", 3), np.ones(3, dtype=bool), degrees)
    return {"pose": es.algebra.pose(es.algebra.rotation_from_rpy(turn), place)}


def _reached(m: es.Mechanism, target: Target, guess: Any, solutions: int) -> np.ndarray:
    """Configurations in rows."""
    if solutions > 1:
        found: Any = m.inverse_kinematics(target, guess, solutions=solutions, report=True)
        if found.converged.any():
            return found.q[found.converged]
    # One, or a sentence that says how near the best comes.
    return np.atleast_2d(np.asarray(m.inverse_kinematics(target, guess)))


@command(
    "workspace",
    "eslabon workspace planar_3rrr --map 'x -0.2 0.2' --map 'y -0.2 0.2' --map 'angle 0' --shape 60",
)
def workspace(
    source: Source,
    frame: Frame = None,
    samples: Annotated[int | None, typer.Option(help="How many configurations are tried; 2000 if left out.", min=1)] = None,
    ranges: Annotated[
        list[str] | None,
        typer.Option("--range", help="'JOINT LOWER UPPER', once for each joint; its limits if left out.", autocompletion=joints),
    ] = None,
    over: Annotated[
        list[str] | None,
        typer.Option("--map", help="A map of all working modes over 'COORDINATE LOWER UPPER', two or three times, with others at 'COORDINATE VALUE': "
            "x, y, z, angle, roll, pitch, yaw of the frame, or joints."),
    ] = None,
    shape: Annotated[str | None, typer.Option(help="Poses along each coordinate of a map, as in --shape '100 50'.")] = None,
    modes: Annotated[list[str] | None, typer.Option("--mode", help="A working mode of a map, as in --mode=+-+; all if left out.")] = None,
    degrees: Degrees = False,
    plot: Annotated[Path | None, typer.Option("--plot", help="Also draw it into this file (.png, .svg, .pdf).")] = None,
    theme: Theme = None,
) -> Answer:  # fmt: skip
    """Find where a frame can go and how close to singular it is.

    Samples the joints at random or, with --map, a grid of poses by working mode. --csv and --json list each sample."""
    needed("--theme", theme, "--plot", plot)
    m = load(source)
    if over and (samples is not None or ranges):
        option = "--range" if ranges else "--samples"
        raise es.InputError(
            f"{option} is for random samples, and --map for a grid; give one of them."
        )
    if over:
        return _mapped(m, frame, over, shape, modes, degrees, plot, theme)
    if shape is not None or modes:
        option = "--mode" if modes else "--shape"
        raise es.InputError(
            f"{option} is for a map; give --map, as in --map 'x -0.2 0.2', or leave {option} out."
        )
    found = m.workspace(
        frame,
        dict(_range(m, text, degrees) for text in ranges or ()),
        2000 if samples is None else samples,
    )
    place = found.poses[:, :3, 3]
    extent = Sheet(
        f"workspace of {found.frame}",
        ("axis", "from [m]", "to [m]"),
        [
            (axis, *pair)
            for axis, pair in zip(
                "xyz", zip(place.min(axis=0), place.max(axis=0), strict=True), strict=True
            )
        ],
    )
    kinds = {"parallel": found.conditions.parallel, "serial": found.conditions.serial}
    condition = Sheet(
        "reciprocal condition number",
        ("singular kind", "least", "median", "largest"),
        [(kind, x.min(), np.median(x), x.max()) for kind, x in kinds.items()],
    )
    parts: list[Any] = [
        f"{len(found.q):,} of {found.samples:,} samples reached ({found.reached:.0%}).",
        "",
        extent,
        "",
        condition,
    ]
    if plot is not None:
        parts.append(f"Figure: {save_figure(found.plot(theme=theme), plot)}")
    rows = np.column_stack([found.q, pose_rows(found.poses), *kinds.values()]).tolist()
    sheet = Sheet("configurations", (*coordinate_heads(m), *POSE, *kinds), rows)
    data = {
        "mechanism": m.name,
        "frame": found.frame,
        "asked": found.samples,
        "reached": len(rows),
        "configurations": sheet.records(),
    }
    return Answer(parts, data, [sheet])


def _range(m: es.Mechanism, text: str, degrees: bool) -> tuple[str, tuple[float, float]]:
    name, _, pair = text.strip().partition(" ")
    known_joint(m, name, "--range")
    place = list(range(m.nq)[m.coordinates[name]])[:1] * 2
    lower, upper = in_radians(vector(pair, f"--range of '{name}'", 2), angles(m)[place], degrees)
    return name, (float(lower), float(upper))


def _mapped(
    m: es.Mechanism, frame: str | None, over: list[str], shape: str | None, modes: list[str] | None, degrees: bool, plot: Path | None,
    theme: str | None,
) -> Answer:  # fmt: skip
    """A map: a table of its modes for people, every pose that is reached for programs."""
    asked: dict[str, Any] = {}
    for text in over:
        name, value = _coordinate(m, text, degrees)
        if name in asked:
            raise es.ReadError(f"--map names '{name}' twice.")
        asked[name] = value
    counts = (
        None if shape is None else [int(n) if n == int(n) else n for n in numbers(shape, "--shape")]
    )
    shaped = counts[0] if counts and len(counts) == 1 else counts
    found = m.workspace_map(frame, asked, shaped, modes or "all")
    at = np.nonzero(found.reached)
    heads = [f"{name} [{found.unit(name)}]" for name in found.axes]
    values = [axis[k] for axis, k in zip(found.axes.values(), at[1:], strict=True)]
    numbers_at = [x[at] for x in (found.parallel, found.serial, found.components)]
    rows = zip(
        np.array(found.modes)[at[0]].tolist(),
        *(x.tolist() for x in (*values, *numbers_at)),
        strict=True,
    )
    sheet = Sheet("poses", ("mode", *heads, "parallel", "serial", "region"), list(rows))
    parts: list[Any] = [repr(found).strip("<>"), "", found.table()]
    if plot is not None:
        parts.append(f"Figure: {save_figure(found.plot(theme=theme), plot)}")
    data = {
        "mechanism": m.name,
        "frame": found.frame,
        "dexterity": found.dexterity,
        "fixed": dict(found.fixed),
        "modes": found.table().records(),
        "poses": sheet.records(),
    }
    return Answer(parts, data, [sheet])


def _coordinate(
    m: es.Mechanism, text: str, degrees: bool
) -> tuple[str, float | tuple[float, float]]:
    """A coordinate of a map, and its value or its range."""
    name, _, rest = text.strip().partition(" ")
    values = numbers(rest, f"--map of '{name}'")
    if len(values) not in (1, 2):
        raise es.ReadError(f"--map takes a coordinate and one value, or a lower and an upper one, as in 'x -0.2 0.2'; it is {text!r}.")  # fmt: skip
    turning = dict(zip(coordinate_names(m), angles(m), strict=True)) | dict.fromkeys(
        ("angle", "roll", "pitch", "yaw"), True
    )
    values = in_radians(values, np.full(len(values), turning.get(name, False)), degrees)
    return name, float(values[0]) if len(values) == 1 else (float(values[0]), float(values[1]))
