"""Files: everything that is wrong or odd in one, and one format out of another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eslabon.cli.answer import Answer
from eslabon.cli.app import command
from eslabon.cli.typed import Source, load, paths
from eslabon.sheets import Sheet

FileName = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="A .toml, .urdf or MJCF (.xml) file.", autocompletion=paths
    ),
]
Repair = Annotated[
    bool,
    typer.Option(
        "--repair",
        help="Of a .urdf: replace inertias that no solid body has by the nearest one, and list them.",
    ),
]


@command("check", "eslabon check robot.urdf")
def check(
    file: FileName,
    packages: Annotated[
        list[Path] | None,
        typer.Option(
            "--packages", help="Where package:// paths are looked for; may be given again."
        ),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Of a .urdf: elements that are not read are errors."),
    ] = False,
) -> Answer:
    """Report all errors and warnings of a file, with line numbers.

    The exit code is 1 if the file cannot be loaded."""
    from eslabon.mechanism import check as findings

    options = {"packages": packages, "strict": strict}
    found = findings(file, **{name: value for name, value in options.items() if value})
    errors = sum(f.level == "error" for f in found)
    lines = [str(f) for f in found]
    counts = [
        f"{n} {word}{'s' * (n != 1)}"
        for n, word in ((errors, "error"), (len(found) - errors, "warning"))
        if n
    ]
    sheet = Sheet("findings", ("level", "file", "line", "sentence"), found)
    return Answer(
        [*lines, f"{file}: {' and '.join(counts) or 'nothing is wrong or odd'}."],
        None,
        [sheet],
        code=int(errors > 0),
    )


@command("convert", "eslabon convert puma560 puma560.urdf")
def convert(
    source: Source,
    out: Annotated[
        Path,
        typer.Argument(
            metavar="OUT", help="A .toml file, or a .urdf with loops as <constraint> elements."
        ),
    ],
    repair: Repair = False,
    hinges: Annotated[
        bool,
        typer.Option(
            "--hinges",
            help="To a .urdf: write ball, universal, cylindrical and screw joints as hinges and slides.",
        ),
    ] = False,
) -> Answer:
    """Convert a mechanism to another file format.

    A warning lists what the format cannot express."""
    m = load(source, repair=True) if repair else load(source)
    path = m.save(out, hinges=hinges)
    return Answer(
        [f"{m.name} is written to {path}."],
        {"mechanism": m.name, "file": str(path)},
        [Sheet("files", ("mechanism", "file"), [(m.name, str(path))])],
    )
