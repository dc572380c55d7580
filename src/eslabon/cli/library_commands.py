"""What there is: the library, a mechanism's tables, the documents recomputed, a demonstration."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

import eslabon as es
from eslabon.cli.answer import Answer, patience
from eslabon.cli.app import command
from eslabon.cli.typed import Source, load
from eslabon.errors import MissingDependencyError
from eslabon.files import write
from eslabon.sheets import Sheet


@command("list", "eslabon list")
def list_library() -> Answer:
    """The mechanisms that come with the package."""
    rows = []
    for name in es.robots():
        m = es.load(name)
        first = re.split(r"[:,;(]|\. ", " ".join(m.note.split()))[0].strip(" .")
        rows.append((name, len(m.joints), len(m.loops), m.nu, first))
    return Answer([Sheet("", ("name", "joints", "loops", "motors", "what it is"), rows, prose=("what it is",))])


@command("show", "eslabon show stewart_gough")
def show(
    source: Source,
    svg: Annotated[Path | None, typer.Option("--svg", help="Also draw the topology into this file.")] = None,
) -> Answer:
    """Tables of a mechanism's bodies, joints, loops and parameters, its mobility, and warnings about its data."""
    from eslabon.studies.describe import describe, sheets

    m = load(source)
    parts: list[Any] = [describe(m)]
    if svg is not None:
        parts.append(f"The topology is drawn in {write(svg, m.topology_svg())} (open it in a browser).")
    tables = list(sheets(m))
    about = {
        "name": m.name,
        "note": m.note,
        "dof": m.dof,
        "actuated": m.actuated,
        "gravity": m.gravity,
        "warnings": m.suspicions,
    }
    return Answer(parts, {**about, **{sheet.title: sheet.records() for sheet in tables}}, tables)


@command("reproduce", "eslabon reproduce yime")
def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="The document: rojas, mendez, morales, yime or diaz.",
            autocompletion=lambda: ["rojas", "mendez", "morales", "yime", "diaz"],
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Also write the report to this file: Markdown if it ends in .md, else text."),
    ] = None,
    figures: Annotated[Path | None, typer.Option(help="The folder for its figures; out/NAME if left out.")] = None,
) -> Answer:
    """Recompute what a document prints: each value beside the printed one, with a verdict."""
    from eslabon.reproductions import figures_of
    from eslabon.reproductions import reproduce as made

    with patience(f"recomputing {name}"):
        report = made(name)
    parts: list[Any] = [report]
    if out is not None:
        parts.append(f"The report is written to {report.save(out)}.")
    try:
        parts += [f"Figure: {path}" for path in figures_of(name, figures or Path("out") / name)]
    except MissingDependencyError as error:
        parts.append(f"No figures are drawn: {error}")
    columns = ("section", "what", "printed", "computed", "difference", "verdict", "remark")
    rows = [(section.title, *(getattr(row, name) for name in columns[1:])) for section, row in report.rows()]
    return Answer(parts, records=[Sheet("rows", columns, rows)])


@command("demo", "eslabon demo", data=False)
def demo(folder: Annotated[Path, typer.Option(help="Where the figures go.")] = Path("out")) -> Answer:
    """Inverse dynamics, reactions and free motion of a parallel robot, planar_3rrr, with figures: nothing to set."""
    from eslabon.studies.demo import run

    run(folder, Console())
    return Answer(["\nNext: `eslabon list`, `eslabon show stewart_gough`, `eslabon reproduce yime`, or docs/guide.md."])
