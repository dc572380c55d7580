"""Many designs of a mechanism, from a study file."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

import eslabon as es
from eslabon.arguments import choice
from eslabon.atomic_files import check_writable
from eslabon.cli.answer import Answer
from eslabon.cli.app import command
from eslabon.cli.typed import Theme, load, needed, paths
from eslabon.plotting.figures import check_format

StudyPath = Annotated[
    str,
    typer.Argument(metavar="FILE", help="A study file: TOML with a key `mechanism` and a table `sweep`.", autocompletion=paths),
]  # fmt: skip


@command("sweep", "eslabon sweep study.toml --samples 64 --plot designs.png")
def sweep_of(
    source: StudyPath,
    samples: Annotated[int | None, typer.Option("--samples", help="How many designs; of a grid, how many along each axis.")] = None,
    cluster: Annotated[str | None, typer.Option("--cluster", help="local, or the address of a Dask scheduler; this process if left out.")] = None,
    folder: Annotated[Path | None, typer.Option("--folder", help="Where finished parts are kept, to go on from; if left out as in the file, else FILE_sweep beside it.")] = None,
    output: Annotated[Path | None, typer.Option("--output", help="The whole table as one file too: .parquet or .csv.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Write a figure: .png, .svg or .pdf.")] = None,
    kind: Annotated[str | None, typer.Option("--kind", help="Of the figure: curves, map, scatter or histogram; what suits if left out.")] = None,
    theme: Theme = None,
    yes: Annotated[bool, typer.Option("--yes", help="Run it however many points it has.")] = False,
) -> Answer:  # fmt: skip
    """Compute a quantity for many designs of a mechanism.

    Prints ranges, percentiles and the extreme designs, and writes the table and a figure."""
    from eslabon.studies.choices import Choices
    from eslabon.studies.study_file import is_study, read_study
    from eslabon.studies.subject import Subject
    from eslabon.studies.sweep_request import SweepRequest

    needed("--theme", theme, "--plot", plot)
    needed("--kind", kind, "--plot", plot)
    _check_places(output, plot, kind)
    if not is_study(source) and Path(source).suffix.lower() != ".toml":
        raise es.ReadError(
            f"{source}: a sweep is described by a study file, .toml with a key `mechanism` and a table [sweep]."
        )
    file = read_study(source)
    if "sweep" not in file.choices:
        raise es.ReadError(
            f"{source}: it has no table [sweep], which says what to vary, as in `over = {{ L2 = [0.03, 0.06] }}`."
        )
    said = {key: value for key, value in file.choices.items() if key != "sections"}
    asked = SweepRequest.of(said.pop("sweep"))
    asked = replace(asked, samples=asked.samples if samples is None else samples)
    place = str(asked.folder if folder is None else folder)
    subject = Subject(load(file.mechanism), Choices(**said))
    table = _run(replace(asked, folder=place), subject, cluster, yes)
    return _told(table, place, output, plot, kind, theme)


def _check_places(output: Path | None, plot: Path | None, kind: str | None) -> None:
    """What cannot be written, or drawn, is said before the work and not after it."""
    if kind is not None:
        choice(kind, "kind", ("curves", "map", "scatter", "histogram"))
    if plot is not None:
        check_format(plot)
    if output is not None and output.suffix.lower() not in (".parquet", ".csv"):
        raise es.InputError(f"a table is saved as .parquet or .csv; {output} ends in neither.")
    for place in (output, plot):
        if place is not None:
            check_writable(place)


def _run(asked: Any, subject: Any, cluster: str | None, yes: bool) -> es.sweeps.SweepTable:
    """The table; a sweep larger than it may be is confirmed first."""
    from eslabon.sweeps import Interrupted, TooManyPoints

    try:
        try:
            return asked.run(subject, cluster=cluster)
        except TooManyPoints as error:
            if not yes:
                _confirm(error.points, asked.most)
            return asked.run(subject, cluster=cluster, most=error.points)
    except Interrupted as stop:
        said, again = str(stop).partition(";")[0], shlex.join(["eslabon", *sys.argv[1:]])
        typer.echo(f"\n{said[0].upper()}{said[1:]}; `{again}` goes on from there.", err=True)
        raise typer.Exit(130) from None


def _confirm(points: int, most: int) -> None:
    """Ask on a terminal; elsewhere say what to add."""
    said = f"The sweep has {points:,} points, more than most = {most:,}."
    if not on_terminal():
        raise es.InputError(
            f"{said.rstrip('.')}; give --yes to run it, raise `most`, or take fewer samples."
        )
    try:
        wanted = typer.confirm(f"{said} Run it?", err=True)
    except typer.Abort:
        wanted = False
    if not wanted:
        raise es.InputError("nothing was run; take fewer samples, or raise `most` in the file.")


def on_terminal() -> bool:
    """Whether a person can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _told(
    table: es.sweeps.SweepTable,
    folder: str,
    output: Path | None,
    plot: Path | None,
    kind: str | None,
    theme: str | None,
) -> Answer:
    from eslabon.sweeps.table_display import counted
    from eslabon.sweeps.table_sheets import (
        ends_sheet,
        failures_sheet,
        rounded,
        values_sheet,
        varied_sheet,
    )

    found = table.contents
    sheets = [varied_sheet(table), values_sheet(table), ends_sheet(table)]
    shown: list[Any] = [counted(table)[0].upper() + counted(table)[1:]]
    for sheet in [*sheets, *([failures_sheet(table)] if found.failed else [])]:
        shown += ["", rounded(sheet)]
    shown += ["", f"Its parts: {folder}; es.sweeps.read({folder!r}) is the table in Python"]
    if output is not None:
        shown.append(f"The table: {table.save(output)}")
    if plot is not None:
        table.plot(kind, theme=theme, path=plot)
        shown.append(f"Figure: {plot}")
    data = {
        "mechanism": table.about["mechanism"], "designs": found.designs, "failed": found.failed, "folder": folder,
        "output": None if output is None else str(output), "figure": None if plot is None else str(plot),
        **{key: sheet.records() for key, sheet in zip(("varied", "values", "ends"), sheets, strict=True)},
        "failures": failures_sheet(table).records(),
    }  # fmt: skip
    return Answer(
        shown, data, [values_sheet(table)], code=1 if found.failed == found.designs else 0
    )
