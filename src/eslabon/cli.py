"""The command line: `eslabon list`, `show`, `pose`, `reproduce`, `demo`."""

from __future__ import annotations

import os
import re
import sys
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import eslabon as es
from eslabon.errors import EslabonError, MissingDependencyError, ModelWarning
from eslabon.files import write

app = typer.Typer(
    help="The dynamics of articulated rigid-body systems, serial and parallel robots alike.",
    add_completion=False,
    pretty_exceptions_enable=False,
)
console = Console()
UsageError: Any = typer.BadParameter.__base__  # click's, of which typer may have a copy of its own

Source = Annotated[
    str, typer.Argument(metavar="NAME|FILE", help="A mechanism of the library, or a .toml, .urdf or MJCF (.xml) file.")
]
Drawing = Annotated[Path | None, typer.Option("--svg", help="Also draw the topology into this file.")]


def _version(asked: bool) -> None:
    if asked:
        console.print(f"eslabon {es.__version__}", highlight=False)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="The version, and nothing else.")
    ] = False,
) -> None:
    pass


@app.command("list")
def list_library() -> None:
    """The mechanisms that come with the package."""
    table = Table(box=None, pad_edge=False)
    for column in ("name", "bodies", "joints", "loops", "actuators", "what it is"):
        table.add_column(column, justify="right" if column[-1] == "s" and column != "what it is" else "left")
    for name in es.robots():
        m = es.load(name)
        first = re.split(r"[:,;(]|\. ", " ".join(m.note.split()))[0].strip(" .")
        table.add_row(name, *(str(n) for n in (len(m.bodies), len(m.joints), len(m.loops), m.nu)), first)
    console.print(table)


@app.command()
def show(source: Source, svg: Drawing = None) -> None:
    """Tables of a mechanism's bodies, joints, loops and parameters, its mobility, and warnings about its data."""
    from eslabon.study.describe import describe

    m = _load(source)
    console.print(describe(m))
    if svg is not None:
        console.print(
            f"The topology is drawn in {write(svg, m.topology_svg())} (open it in a browser).", highlight=False
        )


Numbers = Annotated[
    str | None, typer.Option("--q", help="The coordinates, as in --q '0 0.5 -1' or --q=-1,0.5; home if left out.")
]


@app.command()
def pose(
    source: Source,
    q: Numbers = None,
    frame: Annotated[str | None, typer.Option(help="A named frame or a body; the only frame if left out.")] = None,
    degrees: Annotated[bool, typer.Option("--degrees", help="The coordinates are in degrees.")] = False,
) -> None:
    """The pose of a frame at a configuration: position, roll-pitch-yaw angles and the 4x4 matrix."""
    import numpy as np

    if degrees and q is None:
        raise es.ReadError("--degrees says how the coordinates of --q are given; give --q too, or leave it out.")
    m = _load(source)
    values = m.project(m.home()) if q is None and m.closed else m.home() if q is None else _numbers(q)
    if degrees:
        values = _angles_in_radians(m, values)
    T = m.pose(values, frame)
    if m.closed and not (violation := abs(m.constraint(values)).max(initial=0.0)) <= 1e-6:
        console.print(f"This configuration violates loop closure by {violation:.3g} (m or rad).", highlight=False)
    rpy = es.algebra.rpy_from_rotation(T[:3, :3])
    console.print("position m  ", _row(T[:3, 3]), highlight=False)
    console.print("rpy deg     ", _row(np.degrees(rpy)), highlight=False)
    for row in T:
        console.print("  ".join(f"{round(float(x), 9) + 0.0:12.9f}" for x in row), highlight=False)


def _angles_in_radians(m: es.Mechanism, values: Any) -> Any:
    """Coordinates typed in degrees where they are angles; lengths and quaternions stay."""
    import numpy as np

    from eslabon.model.configuration import angles

    return np.where(angles(m)[: len(values)], np.radians(values), values) if len(values) <= m.nq else values


def _row(values: Any) -> str:
    return " ".join(f"{round(float(x), 12) + 0.0:.9g}" for x in values)


def _numbers(text: str) -> Any:
    """Coordinates typed on the command line."""
    import numpy as np

    try:
        values = np.array([float(x) for x in text.replace(",", " ").split()])
    except ValueError:
        values = np.array([np.nan])
    if not np.isfinite(values).all():
        raise es.ReadError(f"--q takes finite numbers with blanks or commas between them; it is {text!r}.")
    return values


@app.command()
def reproduce(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The document: rojas, mendez, yime or diaz.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Also write the report to this file: Markdown if it ends in .md, else text."),
    ] = None,
    figures: Annotated[Path | None, typer.Option(help="The folder for its figures; out/NAME if left out.")] = None,
) -> None:
    """Recompute what a document prints: each value beside the printed one, with a verdict."""
    from eslabon.reproductions import figures_of
    from eslabon.reproductions import reproduce as made

    report = made(name)
    console.print(report)
    if out is not None:
        console.print(f"The report is written to {report.save(out)}.", highlight=False)
    try:
        for path in figures_of(name, figures or Path("out") / name):
            console.print(f"Figure: {path}", highlight=False)
    except MissingDependencyError as error:
        console.print(f"No figures are drawn: {error}", highlight=False, markup=False)


@app.command()
def demo(folder: Annotated[Path, typer.Option(help="Where the figures go.")] = Path("out")) -> None:
    """Inverse dynamics, reactions and free motion of a parallel robot, planar_3rrr, with figures: nothing to set."""
    from eslabon.study.demo import run

    run(folder, console)
    console.print("\nNext: `eslabon list`, `eslabon show stewart_gough`, `eslabon reproduce yime`, or docs/guide.md.")


def _load(source: str) -> es.Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # the tables end with them
        return es.load(source)


def main() -> None:
    """Run the command; a mistake of the user ends in one sentence and the exit code 2."""
    try:
        sys.exit(app(sys.argv[1:] or ["--help"], prog_name="eslabon", standalone_mode=False))
    except EslabonError as error:
        _refuse(str(error))
    except UsageError as error:
        _refuse(
            f"{error.format_message().rstrip('.')}; `eslabon --help` and `eslabon COMMAND --help` say what there is."
        )
    except BrokenPipeError:  # the reader, such as `head`, has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        sys.exit(130)


def _refuse(sentence: str) -> None:
    line = escape(" ".join(sentence.split()))
    Console(stderr=True).print(f"[red]eslabon:[/red] {line}", highlight=False, soft_wrap=True)
    sys.exit(2)
