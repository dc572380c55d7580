"""A study as a file of TOML, so that it can be made again: which mechanism, and every choice that is not the study's own.

mechanism = "planar_3rrr"          # of the library, or a file beside this one
motion = "measured.csv"            # or "rest_to_rest", "let_go", "still", a mode
at = [0.5, 0.4, 0.5]               # all coordinates, those of the actuated joints, or { theta1 = 0.5 }
tip = "centre"
sections = ["what_it_is", "what_drives_it"]
language = "es"
output = "studies"                 # a folder, or a page .html
[sweep]                            # many designs: see `sweep_request`
quantity = "peak_torque"
over = { L = ["180 mm", "220 mm"] }
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eslabon.arguments import known_words
from eslabon.atomic_files import write
from eslabon.errors import ReadError, format_value
from eslabon.files import names_library
from eslabon.studies.sweep_request import FILES, beside, checked_table

KEYS = {
    "mechanism": (str,), "motion": (str,), "at": (list, dict, str), "tip": (str,), "sections": (list,), "language": (str,), "output": (str,),
    "sweep": (dict,),
}  # fmt: skip
WORDS = {str: "a text", list: "a list", dict: "a table"}


@dataclass(frozen=True)
class StudyFile:
    """What a study file says: the mechanism, where the study is written, and the other choices by name."""

    mechanism: str
    output: str | None
    choices: dict[str, Any]


def is_study(source: str | Path) -> bool:
    """Whether a file is a study, and not a mechanism: a TOML file that names its mechanism."""
    path = Path(source)
    if path.suffix.lower() != ".toml" or not path.is_file():
        return False
    try:
        return "mechanism" in tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return False  # the reader of mechanisms says what is wrong with it


def read_study(path: str | Path) -> StudyFile:
    """A study from its file. Names of files are those beside it.

    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "my_study.toml"
    >>> _ = file.write_text('mechanism = "delta"\\nlanguag = "es"')
    >>> read_study(file)
    Traceback (most recent call last):
    ...
    eslabon.errors.ReadError: ...my_study.toml: a study has no key 'languag'; did you mean 'language'?
    """
    path = Path(path)
    try:
        said = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ReadError(
            f"{path}: it cannot be read ({getattr(error, 'strerror', None) or error})."
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise ReadError(f"{path}: it is no TOML: {error}.") from None
    known_words(said, KEYS, f"{path}: a study has no key", ReadError)
    for key, value in said.items():
        if not isinstance(value, KEYS[key]):
            kinds = " or ".join(WORDS[kind] for kind in KEYS[key])
            raise ReadError(f"{path}: '{key}' is {kinds}; it is {format_value(value)}.")
    if "mechanism" not in said:
        raise ReadError(f'{path}: a study names its mechanism, as in mechanism = "delta".')
    mechanism = said.pop("mechanism")
    if not names_library(mechanism):
        mechanism = str(path.parent / mechanism)
    if str(said.get("motion", "")).lower().endswith((".csv", ".npz")):
        said["motion"] = str(path.parent / said["motion"])
    if "sweep" in said:
        said["sweep"] = beside(
            checked_table(said["sweep"], f"{path}: [sweep]", ReadError), path.parent, path.stem
        )
    output = said.pop("output", None)
    return StudyFile(mechanism, None if output is None else str(path.parent / output), said)


def save_study(
    path: str | Path, mechanism: str, output: str | None, choices: dict[str, Any]
) -> Path:
    """Write a study file; files are named as they are found from there."""
    import tomlkit

    path = Path(path)
    if path.suffix.lower() != ".toml":
        raise ReadError(f"{path}: a study file is TOML; let its name end in .toml.")
    made = tomlkit.document()
    made["mechanism"] = mechanism if names_library(mechanism) else _from(path, mechanism)
    for key in KEYS:
        value = choices.get(key)
        if value is not None and key not in ("mechanism", "sweep"):
            made[key] = (
                _from(path, value) if key == "motion" and str(value).endswith(FILES) else value
            )
    if output is not None:
        made["output"] = _from(path, output)
    if "sweep" in choices:
        made["sweep"] = _sweep_from(path, choices["sweep"])
    return write(path, tomlkit.dumps(made))


def _sweep_from(path: Path, sweep: dict[str, Any]) -> dict[str, Any]:
    """A sweep with its files named as they are found from a file."""
    named = {
        key: _from(path, x) if str(x).endswith(FILES) else x for key, x in sweep["options"].items()
    }
    return {**sweep, "folder": _from(path, sweep["folder"]), "options": named}


def _from(path: Path, other: str) -> str:
    """A file's name as seen from the folder of another."""
    import os

    return Path(os.path.relpath(Path(other).resolve(), path.resolve().parent)).as_posix()
