"""Mechanisms in the browser, until Ctrl-C."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import eslabon as es
from eslabon.cli.answer import Answer, patience
from eslabon.cli.app import command
from eslabon.cli.typed import load, sources
from eslabon.solve.prescribed import home

Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="NAME|FILE...",
        help="Names from `eslabon list`, or files: .toml, .urdf, .xml.",
        autocompletion=sources,
    ),
]


@command("view", "eslabon view stewart_gough", data=False)
def view(
    source: Sources,
    port: Annotated[
        int, typer.Option("--port", help="The port on this machine; any that is free if left out.")
    ] = 0,
    dark: Annotated[bool, typer.Option("--dark", help="On a dark ground.")] = False,
    open_browser: Annotated[
        bool, typer.Option("--open/--no-open", help="Whether to open a browser.")
    ] = True,
    motion: Annotated[
        Path | None,
        typer.Option(
            "--motion",
            help="A motion to play: a .csv or .npz file, as `eslabon simulate --out` writes it or a table of your own.",
        ),
    ] = None,
    hosts: Annotated[
        list[str] | None,
        typer.Option(
            "--host",
            help="A host name under which the view answers besides localhost, such as that of a proxy; once for each.",
        ),
    ] = None,
) -> Answer:
    """Show mechanisms in the browser and move them by hand.

    Move joints, drag a frame, change parameters, simulate, push, play a motion. The page is served to this computer only."""
    from eslabon.studies.movement import movement
    from eslabon.viewer import view as in_browser

    if motion is not None and len(source) > 1:
        raise es.InputError("--motion is played by one mechanism; give one.")
    with patience("building the view"):
        mechanisms, played = [load(name) for name in source], None
        if motion is not None:
            own = movement(mechanisms[0], str(motion), home(mechanisms[0]), None)
            played = own.t, own.q
        shown = in_browser(
            *mechanisms,
            motion=played,
            port=port,
            dark=dark,
            open_browser=open_browser,
            hosts=hosts or (),
        )
    typer.echo(f"{', '.join(shown.mechanisms)} at {shown.url} (Ctrl-C ends it)")
    shown.wait()
    return Answer()
