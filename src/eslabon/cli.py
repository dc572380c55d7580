"""The command line: `eslabon list`, `show`, `pose`, `reproduce`, `demo`."""

from __future__ import annotations

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
from eslabon.errors import EslabonError, ModelWarning

app = typer.Typer(
    help="The dynamics of articulated rigid-body systems, serial and parallel robots alike.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
console = Console()

Source = Annotated[
    str, typer.Argument(metavar="NAME|FILE", help="A mechanism of the library, or a .toml or .urdf file.")
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
    """Tables of everything a mechanism is made of, its mobility, and what looks odd in it."""
    from eslabon.study.describe import describe

    m = _load(source)
    console.print(describe(m))
    if svg is not None:
        _draw(m, svg)


Numbers = Annotated[
    str, typer.Option("--q", help="The coordinates, as in --q '0 0.5 -1' or --q 0,0.5,-1; home if left out.")
]


@app.command()
def pose(
    source: Source,
    q: Numbers = "",
    frame: Annotated[str | None, typer.Option(help="A named frame or a body; the only frame if left out.")] = None,
    degrees: Annotated[bool, typer.Option("--degrees", help="The coordinates are in degrees.")] = False,
) -> None:
    """Where a frame stands: position, roll-pitch-yaw and the 4x4 matrix."""
    import numpy as np

    m = _load(source)
    values = _home(m) if not q else _numbers(q)
    if q and degrees:
        values = _angles_in_radians(m, values)
    T = m.pose(values, frame)
    if m.closed and not (torn := abs(m.constraint(values)).max()) <= 1e-6:
        console.print(f"The loops are open by {torn:.3g} (m or rad) at these coordinates.", highlight=False)
    rpy = es.algebra.rpy_from_rotation(T[:3, :3])
    console.print("position m  ", _row(T[:3, 3]), highlight=False)
    console.print("rpy deg     ", _row(np.degrees(rpy)), highlight=False)
    for row in T:
        console.print("  ".join(f"{round(float(x), 9) + 0.0:12.9f}" for x in row), highlight=False)


def _home(m: es.Mechanism) -> Any:
    return m.project(m.home()) if m.closed else m.home()


def _angles_in_radians(m: es.Mechanism, values: Any) -> Any:
    """Coordinates typed in degrees where they are angles; lengths and quaternions stay."""
    import numpy as np

    turning = {"revolute": (0,), "helical": (0,), "cylindrical": (0,), "universal": (0, 1), "planar": (2,)}
    values = values.copy()
    for joint in m.joints:
        for k in turning.get(joint.kind.kind, ()):
            place = m.coordinates[joint.name].start + k
            if place < len(values):
                values[place] = np.radians(values[place])
    return values


def _row(values: Any) -> str:
    return " ".join(f"{round(float(x), 12) + 0.0:.9g}" for x in values)


def _numbers(text: str) -> Any:
    """Coordinates typed on the command line."""
    import numpy as np

    try:
        return np.array([float(x) for x in text.replace(",", " ").split()])
    except ValueError:
        raise es.ReadError(f"--q takes numbers with blanks or commas between them; it is {text!r}.") from None


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
    for path in figures_of(name, figures or Path("out") / name):
        console.print(f"Figure: {path}", highlight=False)


@app.command()
def demo(folder: Annotated[Path, typer.Option(help="Where the figures go.")] = Path("out")) -> None:
    """Close a parallel robot's loops, drive it, let it go, and draw it: a job on planar_3rrr with nothing to set."""
    from eslabon.study.demo import run

    try:
        run(folder, console)
    except OSError as error:
        raise es.ReadError(f"{folder}: the figures cannot be written: {error}.") from None
    console.print("\nNext: `eslabon list`, `eslabon show stewart_gough`, `eslabon reproduce yime`, or docs/guide.md.")


def _load(source: str) -> es.Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # the tables end with them
        return es.load(source)


def _draw(m: es.Mechanism, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(m.topology_svg(), encoding="utf-8")
    except OSError as error:
        raise es.ReadError(f"{path}: the drawing cannot be written: {error}.") from None
    console.print(f"The topology is drawn in {path} (open it in a browser).")


def main() -> None:
    """Run the command; a mistake of the user ends in one sentence."""
    try:
        app()
    except EslabonError as error:
        Console(stderr=True).print(f"[red]eslabon:[/red] {escape(str(error))}", highlight=False, soft_wrap=True)
        sys.exit(1)
