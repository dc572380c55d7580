"""What there is: the library, a mechanism's tables, a demonstration."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

import eslabon as es
from eslabon.atomic_files import write
from eslabon.cli.answer import Answer
from eslabon.cli.app import command
from eslabon.cli.typed import Source, load
from eslabon.sheets import Sheet


@command("list", "eslabon list")
def list_library() -> Answer:
    """List the mechanisms that come with the package."""
    rows = []
    for name in es.robots():
        m = es.load(name)
        first = re.split(r"[:,;(]|\. ", " ".join(m.note.split()))[0].strip(" .")
        rows.append((name, len(m.joints), len(m.loops), m.nu, first))
    return Answer(
        [
            Sheet(
                "", ("name", "joints", "loops", "motors", "what it is"), rows, prose=("what it is",)
            )
        ]
    )


@command("show", "eslabon show stewart_gough")
def show(
    source: Source,
    svg: Annotated[
        Path | None, typer.Option("--svg", help="Also draw the topology into this file.")
    ] = None,
) -> Answer:
    """Print a mechanism's tables, its mobility and data warnings.

    The tables list its bodies, joints, loops and parameters."""
    from eslabon.studies.describe import describe, sheets

    m = load(source)
    parts: list[Any] = [describe(m)]
    if svg is not None:
        parts.append(
            f"The topology is drawn in {write(svg, m.topology_svg())} (open it in a browser)."
        )
    tables = list(sheets(m))
    about = {
        "name": m.name,
        "note": m.note,
        "dof": m.dof,
        "actuated": m.actuated,
        "gravity": m.gravity,
        "warnings": m.plausibility_warnings,
    }
    return Answer(parts, {**about, **{sheet.title: sheet.records() for sheet in tables}}, tables)
