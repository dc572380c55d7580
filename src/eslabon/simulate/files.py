"""Motions on disk: .npz holds everything, .csv one trajectory as a table that any program reads."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from eslabon.errors import ReadError
from eslabon.graph.native.arguments import Floats
from eslabon.simulate.motion import Column, Motion, Occurrences, Statistics

QUANTITIES = ("q", "v", "a", "tau")
VERSION = 1
_HEADING = re.compile(r"(?P<joint>.+)\.(?P<what>q|v|a|tau)(?:\.(?P<name>\w+))? \[(?P<unit>.*)\]")


def save(motion: Motion, path: Path) -> Path:
    """Write a motion as its name's ending says."""
    writers = {".npz": _save_npz, ".csv": _save_csv}
    if path.suffix.lower() not in writers:
        raise ReadError(f"{path}: a motion is saved as .npz or .csv; let the name end so.")
    try:
        writers[path.suffix.lower()](motion, path)
    except OSError as error:
        raise ReadError(f"{path}: it cannot be written ({error.strerror or error}).") from None
    return path


def load(path: Path) -> Motion:
    """The inverse of `save`; a table has neither events nor what the run took."""
    readers = {".npz": _load_npz, ".csv": _load_csv}
    if path.suffix.lower() not in readers:
        raise ReadError(f"{path}: a motion is loaded from .npz or .csv.")
    try:
        return readers[path.suffix.lower()](path)
    except OSError as error:
        raise ReadError(f"{path}: it cannot be read ({error.strerror or error}).") from None
    except (KeyError, ValueError, IndexError, TypeError) as error:
        raise ReadError(f"{path}: this is no motion that was saved before ({error}).") from None


def _known(values: Mapping[str, Floats]) -> dict[str, Callable[[Motion], Floats]]:
    """What a motion would compute late, already here."""

    def given(value: Floats) -> Callable[[Motion], Floats]:
        return lambda _: value

    return {what: given(value) for what, value in values.items()}


def _save_npz(motion: Motion, path: Path) -> None:
    about = {
        "version": VERSION,
        "name": motion.name,
        "columns": {what: [list(c) for c in own] for what, own in motion.columns.items()},
        "statistics": asdict(motion.statistics),
        "events": list(motion.events),
    }
    arrays: dict[str, Any] = {what: getattr(motion, what) for what in ("t", *QUANTITIES, "closure")}
    arrays["energy"] = np.stack(motion.energy, axis=-1)
    for k, happened in enumerate(motion.events.values()):
        arrays |= {f"event{k}_{what}": x for what, x in happened._asdict().items()}
    with path.open("wb") as file:
        np.savez_compressed(file, about=np.array(json.dumps(about)), **arrays)


def _load_npz(path: Path) -> Motion:
    with np.load(path, allow_pickle=False) as data:
        about = json.loads(str(data["about"]))
        columns = {what: tuple(Column(*c) for c in own) for what, own in about["columns"].items()}
        events = {
            name: Occurrences(*(data[f"event{k}_{what}"] for what in Occurrences._fields))
            for k, name in enumerate(about["events"])
        }
        late = _known({what: data[what] for what in ("a", "tau", "energy")})
        states = (data["t"], data["q"], data["v"], data["closure"])
    return Motion(*states, about["name"], columns, events, Statistics(**about["statistics"]), late)


def _save_csv(motion: Motion, path: Path) -> None:
    if motion.q.ndim != 2:
        raise ReadError(f"{path}: a table holds one trajectory; save motion[k], or all of them as .npz.")
    headings, values = ["t [s]"], [motion.t[:, None]]
    for what in QUANTITIES:
        for c in motion.columns[what]:
            name = f".{c.name}" if c.name else ""
            headings.append(f"{c.joint}.{what}{name} [{c.unit}]")
        values.append(getattr(motion, what))
    headings += ["kinetic energy [J]", "potential energy [J]", "closure"]
    values += [motion.energy.kinetic[:, None], motion.energy.potential[:, None], motion.closure[:, None]]
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(headings)
        table.writerows([repr(float(x)) for x in row] for row in np.concatenate(values, axis=1))


def _load_csv(path: Path) -> Motion:
    with path.open(newline="", encoding="utf-8") as file:
        headings, *rows = csv.reader(file)
    values = np.array([[float(x) for x in row] for row in rows]).reshape(-1, len(headings))
    columns: dict[str, list[Column]] = {what: [] for what in QUANTITIES}
    places: dict[str, list[int]] = {what: [] for what in QUANTITIES}
    for k, heading in enumerate(headings[1:-3], start=1):
        found = _HEADING.fullmatch(heading)
        if found is None:
            raise ValueError(f"the heading {heading!r} names no joint")
        columns[found["what"]].append(Column(found["joint"], found["name"] or "", found["unit"]))
        places[found["what"]].append(k)
    part = {what: values[:, where] for what, where in places.items()}
    late = _known({"a": part["a"], "tau": part["tau"], "energy": values[:, -3:-1]})
    made = {what: tuple(own) for what, own in columns.items()}
    statistics = Statistics("table", len(rows) - 1, 0, 0.0)
    return Motion(values[:, 0], part["q"], part["v"], values[:, -1], path.stem, made, {}, statistics, late)
