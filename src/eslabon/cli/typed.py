"""What is typed: mechanisms, vectors, frames, with what a shell can complete of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import eslabon as es
from eslabon.errors import suggest
from eslabon.model.configuration import angles

ENDINGS = (".toml", ".urdf", ".xml")


def load(source: str, **options: Any) -> es.Mechanism:
    """The mechanism; of what looks odd in its numbers `show` and `check` tell, not every command."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        m = es.load(source, **options)
    for warning in told:
        if str(warning.message).removeprefix(f"{m.name}: ") not in m.plausibility_warnings:
            warnings.warn(warning.message, stacklevel=2)
    return m


# -- completion ---------------------------------------------------------------------------------------------------


def sources(incomplete: str) -> Iterator[str]:
    """Mechanisms of the library, and files that may be one."""
    yield from (name for name in es.robots() if name.startswith(incomplete))
    yield from paths(incomplete)


def paths(incomplete: str) -> Iterator[str]:
    """Files that may hold a mechanism, and the folders on the way to them."""
    folder, _, start = incomplete.rpartition("/")
    here = Path(folder or ("/" if incomplete.startswith("/") else "."))
    for path in sorted(here.glob("*")) if here.is_dir() else ():
        if path.name.startswith(start) and (path.is_dir() or path.suffix.lower() in ENDINGS):
            before = f"{folder}/" if "/" in incomplete else ""
            yield f"{before}{path.name}{'/' if path.is_dir() else ''}"


def frames(ctx: typer.Context, incomplete: str) -> list[str]:
    return _names(
        ctx, incomplete, lambda m: [*(f.name for f in m.frames), *(b.name for b in m.bodies)]
    )


def joints(ctx: typer.Context, incomplete: str) -> list[str]:
    return _names(ctx, incomplete, lambda m: list(m.actuated))


def quantities(ctx: typer.Context, incomplete: str) -> list[str]:
    from eslabon.formulas.quantities import QUANTITIES

    return [name for name in QUANTITIES if name.startswith(incomplete)]


def _names(ctx: typer.Context, incomplete: str, of: Any) -> list[str]:
    """Names of the mechanism that is typed already; none if it cannot be loaded. While an option has no value yet, the
    parser leaves arguments where they are."""
    try:
        m = load(ctx.params.get("source") or next(iter(ctx.args), ""))
    except es.EslabonError:
        return []
    return [name for name in of(m) if name.startswith(incomplete)]


# -- arguments and options ----------------------------------------------------------------------------------------

Source = Annotated[
    str,
    typer.Argument(
        metavar="NAME|FILE",
        help="A mechanism of the library, or a .toml, .urdf or MJCF (.xml) file.",
        autocompletion=sources,
    ),
]
Q = Annotated[
    str | None,
    typer.Option(
        "--q", help="All coordinates, as in --q '0 0.5 -1' or --q=-1,0.5; home if left out."
    ),
]
Actuated = Annotated[
    str | None,
    typer.Option(
        "--actuated",
        help="The coordinates of the actuated joints; loops are closed, the others are home.",
    ),
]
Frame = Annotated[
    str | None,
    typer.Option(
        help="A named frame or a body; the only frame if left out.", autocompletion=frames
    ),
]
Time = Annotated[
    float | None,
    typer.Option("--time", help="When, in seconds, for constraints that depend on the time."),
]
Theme = Annotated[
    str | None,
    typer.Option(
        "--theme", help="Of a figure: light or dark; ESLABON_THEME, else light, if left out."
    ),
]
Degrees = Annotated[
    bool, typer.Option("--degrees", help="Angles are given, and shown in tables, in degrees.")
]


def needed(option: str, given: Any, by: str, *others: Any) -> None:
    """Refuse an option that says something of another one, where that is not given."""
    if given is not None and all(other is None for other in others):
        raise es.InputError(
            f"{option} is about what {by} draws; give {by} with a file, or leave {option} out."
        )


def numbers(text: str, option: str) -> np.ndarray:
    """Finite numbers with blanks or commas between them."""
    try:
        values = np.array([float(x) for x in text.replace(",", " ").split()])
    except ValueError:
        values = np.array([np.nan])
    if not np.isfinite(values).all():
        raise es.ReadError(
            f"{option} takes finite numbers with blanks or commas between them; it is {text!r}."
        )
    return values


def vector(text: str, option: str, size: int) -> np.ndarray:
    """So many numbers."""
    values = numbers(text, option)
    if len(values) != size:
        raise es.ReadError(f"{option} takes {size} numbers; {len(values)} are given.")
    return values


def in_radians(values: np.ndarray, turning: np.ndarray, degrees: bool) -> np.ndarray:
    """What was typed in degrees, where it is an angle or the rate of one; lengths and quaternions stay. Of a wrong
    number of values the library tells."""
    return (
        np.where(turning, np.radians(values), values)
        if degrees and len(values) == len(turning)
        else values
    )


def as_typed(values: Any, turning: np.ndarray, degrees: bool) -> np.ndarray:
    """The same the other way."""
    return np.where(turning, np.degrees(values), values) if degrees else np.asarray(values)


def configuration(
    m: es.Mechanism, q: str | None, actuated: str | None, degrees: bool, t: float | None = None
) -> np.ndarray:
    """All coordinates: as typed, or with the loops closed on what the actuated joints have, or home."""
    if q is not None and actuated is not None:
        raise es.ReadError(
            "--q gives all coordinates and --actuated those of the actuated joints; give one of them."
        )
    if degrees and q is None and actuated is None:
        raise es.ReadError(
            "--degrees says how coordinates are given; give --q or --actuated too, or leave --degrees out."
        )
    if q is not None:
        return in_radians(numbers(q, "--q"), angles(m), degrees)
    if actuated is not None:
        places = list(m.actuated_coordinates)
        values = in_radians(vector(actuated, "--actuated", len(places)), angles(m)[places], degrees)
        if m.closed:
            return m.assemble(values, t=t)
        made = m.home()
        made[places] = values
        return made
    return m.project(m.home(), t=t) if m.closed else m.home()


def instant(m: es.Mechanism, time: float | None) -> dict[str, Any]:
    """The time as the verbs take it: where the constraints depend on it, and only there."""
    if time is None and m.rheonomic:
        raise es.InputError(
            f"the constraints of {m.name} depend on the time; give it, as --time 0.5."
        )
    if time is not None and not m.rheonomic:
        raise es.InputError(
            f"the constraints of {m.name} do not depend on the time; leave --time out."
        )
    return {} if time is None else {"t": time}


def known_joint(m: es.Mechanism, name: str, option: str) -> str:
    if name not in m.actuated:
        raise es.ReadError(
            f"{option} names '{name}', which is no actuated joint{suggest(name, m.actuated)}"
        )
    return name
