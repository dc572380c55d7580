"""A picture of a mechanism."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import eslabon as es
from eslabon.cli.answer import Answer, patience
from eslabon.cli.app import command
from eslabon.cli.kinematics_commands import coordinate_sheet
from eslabon.cli.typed import (
    Actuated,
    Degrees,
    Q,
    Source,
    Theme,
    Time,
    configuration,
    frames,
    instant,
    load,
    vector,
)

Labels = Annotated[
    bool, typer.Option("--labels", help="Write the names of joints, bodies and frames beside them.")
]


@command("plot", 'eslabon plot five_bar --actuated "120 60" --degrees --labels --out five_bar.png')
def plot(
    source: Source,
    q: Q = None,
    actuated: Actuated = None,
    mode: Annotated[str | None, typer.Option("--mode", help="A named configuration of the mechanism, in place of coordinates.")] = None,
    degrees: Degrees = False,
    time: Time = None,
    out: Annotated[Path | None, typer.Option("--out", help="The picture: .png, .svg or .pdf; NAME.png if left out.")] = None,
    labels: Labels = False,
    frame: Annotated[list[str] | None, typer.Option("--frame", help="A frame or body whose axes are drawn, may be repeated; all named frames if left out.", autocompletion=frames)] = None,
    coms: Annotated[bool, typer.Option("--coms", help="Draw the centres of mass.")] = False,
    reactions: Annotated[bool, typer.Option("--reactions", help="Draw what the joints transmit while it is held at rest.")] = False,
    view: Annotated[str | None, typer.Option("--view", help="From where: front, side, top, or 'elevation azimuth' in degrees.")] = None,
    theme: Theme = None,
    size: Annotated[str | None, typer.Option("--size", help="Width and height in inches: '6 4'.")] = None,
) -> Answer:  # fmt: skip
    """Draw a mechanism.

    Planar mechanisms are drawn with the symbols of kinematic diagrams, spatial ones as shaded solids."""
    m = load(source)
    if mode is not None and (q is not None or actuated is not None):
        raise es.ReadError(
            "--mode names a configuration, and --q and --actuated give one; give one of them."
        )
    at = instant(m, time)
    looking = view if view is None or view.strip().isalpha() else tuple(vector(view, "--view", 2))
    with patience("drawing"):
        values = mode if mode is not None else configuration(m, q, actuated, degrees, **at)
        if reactions and at:
            raise es.InputError(
                f"--reactions are those at rest, and the constraints of {m.name} move with the time."
            )
        m.plot(
            values, path=(where := out or Path(f"{m.name}.png")), labels=labels, frames=frame or True, coms=coms,
            reactions=reactions, view=looking, theme=theme, size=None if size is None else vector(size, "--size", 2),
        )  # fmt: skip
    drawn = m.configuration(values) if isinstance(values, str) else values
    data = {"mechanism": m.name, "figure": str(where), "q": m.named(drawn)}
    return Answer([f"Figure: {where}"], data, [coordinate_sheet(m, drawn, degrees)])
