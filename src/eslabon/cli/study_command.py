"""Everything about a mechanism in one page, and the demonstration that is such a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

import eslabon as es
from eslabon.atomic_files import check_writable
from eslabon.cli.answer import Answer, patience
from eslabon.cli.app import command
from eslabon.cli.typed import frames, in_radians, load, numbers, paths, sources
from eslabon.errors import suggest
from eslabon.language import Verbatim, checked, phrase, translated
from eslabon.model.configuration import angles

Studied = Annotated[
    str,
    typer.Argument(
        metavar="NAME|FILE",
        help="A mechanism of the library, a .toml, .urdf or MJCF (.xml) file, or a study file (.toml with a key `mechanism`).",
        autocompletion=sources,
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        help="A page (.html), or a folder for NAME_study.html; the folder out if left out.",
    ),
]


@command("study", "eslabon study planar_3rrr", data=False)
def study_of(
    source: Studied,
    motion: Annotated[
        str | None,
        typer.Option(
            help="The motion to follow: a .csv or .npz file, rest_to_rest, let_go, still, or the name of a mode; left out, one that suits.",
            autocompletion=paths,
        ),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option("--at", help="Where to start and to linearize: all coordinates, those of the actuated joints, or the name of a mode."),
    ] = None,
    degrees: Annotated[bool, typer.Option("--degrees", help="Angles of --at are given in degrees.")] = False,
    tip: Annotated[str | None, typer.Option(help="The frame or body to follow.", autocompletion=frames)] = None,
    section: Annotated[
        list[str] | None, typer.Option("--section", help="Only this section, such as control; again for more.")
    ] = None,
    language: Annotated[str | None, typer.Option(help="en or es.")] = None,
    output: Output = None,
    save_study: Annotated[
        Path | None, typer.Option("--save-study", help="Also write these choices as a study file, to be made again.")
    ] = None,
) -> Answer:  # fmt: skip
    """Write one page with everything about a mechanism.

    The page shows the mechanism, its motion, forces, control and equations. The numbers are written to files beside it."""
    from eslabon.studies.study_file import is_study, read_study
    from eslabon.studies.study_file import save_study as saved

    asked: dict[str, Any] = {
        "motion": motion,
        "tip": tip,
        "sections": section or None,
        "language": language,
    }
    place = None if output is None else str(output)
    if is_study(source):
        file = read_study(source)
        source, place = file.mechanism, place or file.output
        asked = {
            **file.choices,
            **{key: value for key, value in asked.items() if value is not None},
        }
    m = load(source)
    if at is not None:
        asked["at"] = _typed(m, at, degrees)
    elif degrees:
        raise es.ReadError(
            "--degrees says how --at is given; give --at too, or leave --degrees out."
        )
    asked = {key: value for key, value in asked.items() if value is not None}
    notes = []
    if save_study is not None:
        notes.append(
            f"The choices are written to {saved(save_study, source, place, asked)}; `eslabon study {save_study}` makes it again."
        )
    return _made(m, asked, place or "out", notes)


def _typed(m: es.Mechanism, at: str, degrees: bool) -> Any:
    """A mode's name, or coordinates."""
    if at in m.modes:
        return at
    if not any(x.isdigit() for x in at):
        raise es.ReadError(
            f"--at takes numbers or the name of a mode; it is {at!r}{suggest(at, m.modes, '.')}"
        )
    values = numbers(at, "--at")
    turning = angles(m) if len(values) == m.nq else angles(m)[list(m.actuated_coordinates)]
    return in_radians(values, turning, degrees).tolist()


def _made(m: es.Mechanism, asked: dict[str, Any], place: str, notes: list[str]) -> Answer:
    """The study, with a line for each section as it is finished."""
    from eslabon.studies import study
    from eslabon.studies.section import Section
    from eslabon.studies.whole_study import page_path

    console, language = Console(highlight=False), checked(asked.get("language", "en"))
    check_writable(page_path(place, m.name))

    def spoken(template: str, **values: Any) -> str:
        return translated(phrase(template, **values), language)

    console.print(Text(spoken("A study of {name}", name=Verbatim(m.name)), style="bold"))

    def told(section: Section) -> None:
        mark, style = ("!", "yellow") if section.troubles else ("✓", "green")
        line = Text.assemble(
            (f"  {mark} ", style),
            f"{translated(section.title, language):<30}",
            (f"{section.seconds:6.1f} s", "dim"),
        )
        console.print(line)
        for sentence in section.troubles:
            console.print(Text(f"    {sentence}", style="yellow"), soft_wrap=True)

    with patience(f"studying {m.name}"):
        made = study(m, watch=told, **asked)
    page = made.save(place)
    tables = sum(len(section.sheets) for section in made.sections)
    said = [
        "\n" + spoken("The page: {page} ({size:.1f} MB; open it in a browser, it needs no network)",
            page=Verbatim(page), size=page.stat().st_size / 1e6),
        spoken("Its numbers: {numbers}, and {tables} tables in {folder}",
            numbers=Verbatim(page.with_suffix(".json")), tables=tables, folder=Verbatim(page.with_suffix(""))),
        *notes,
    ]  # fmt: skip
    if made.troubles:
        failed = Verbatim(", ".join(made.troubles))
        said.append(
            spoken(
                "Some of it could not be computed, in: {sections}. The page says why.",
                sections=failed,
            )
        )
    return Answer(said, code=1 if made.troubles else 0)


@command("demo", "eslabon demo", data=False)
def demo(
    folder: Annotated[Path, typer.Option(help="Where the page goes.")] = Path("out"),
) -> Answer:
    """Write the study of a parallel robot: a good first command."""
    from eslabon.studies.demo import introduce

    answer = _made(introduce(Console(highlight=False)), {}, str(folder), [])
    answer.shown.append(
        "\nNext: `eslabon list` (what there is), `eslabon study delta`, `eslabon show stewart_gough`, `eslabon reproduce yime`; "
        "`eslabon --help` has all commands."
    )
    return answer
