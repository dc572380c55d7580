"""Motions on disk: .npz holds everything, .csv one trajectory as a table that any program reads.

Both carry a SHA-256 of all that they say, so that a damaged file is never taken for a motion.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.atomic_files import write
from eslabon.errors import ReadError, format_value
from eslabon.model import Model
from eslabon.model.configuration import SignalColumn
from eslabon.motion.measured_tables import read_table
from eslabon.motion.signals import Occurrences, Passage, Statistics
from eslabon.motion.trajectory import Trajectory
from eslabon.sheets import from_inert, inert

QUANTITIES = ("q", "v", "a", "tau", "tau_commanded")
ONE_NUMBER = ("closure", "distance", "angle", "slip", "condition")  # groups without columns
ENERGIES = ("kinetic energy [J]", "potential energy [J]")
VERSION = 4
_HEADING = re.compile(
    r"(?P<joint>.+)\.(?P<what>q|v|a|tau_commanded|tau)(?:\.(?P<name>\w+))? \[(?P<unit>.*)\]",
    re.DOTALL,
)
_DIGEST = re.compile(rb",sha256 ([0-9a-f]{64})\r\n")  # the last heading; its column is empty


def as_path(path: Any) -> Path:
    """The path of a file."""
    try:
        return Path(path)
    except TypeError:
        raise ReadError(
            f"a motion is saved and loaded by the path of a file; it is {format_value(path)}."
        ) from None


def save(motion: Trajectory, path: Path) -> Path:
    """Write a motion as its name's ending says."""
    writers = {".npz": _npz, ".csv": _csv}
    if path.suffix.lower() not in writers:
        raise ReadError(f"{path}: a motion is saved as .npz or .csv; let the name end so.")
    if path.suffix.lower() == ".csv" and motion.q.ndim != 2:
        raise ReadError(
            f"{path}: a table holds one trajectory; save motion[k], or all of them as .npz."
        )
    return write(path, writers[path.suffix.lower()](motion))


def load(path: Path) -> Trajectory:
    """The inverse of `save`; a table has neither events nor a law's states nor what the run
    took."""
    readers = {".npz": _from_npz, ".csv": _from_csv}
    if path.suffix.lower() not in readers:
        raise ReadError(f"{path}: a motion is loaded from .npz or .csv.")
    try:
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        raise ReadError(
            f"{path}: it cannot be read ({getattr(error, 'strerror', None) or error})."
        ) from None
    try:
        return readers[path.suffix.lower()](content, path.stem)
    except Exception as error:  # zip, zlib, JSON, NumPy: damage shows anywhere, as anything
        raise ReadError(f"{path}: this is no motion that was saved before, or it was changed or damaged since then "
            f"({type(error).__name__}: {error}).") from None  # fmt: skip


# Everything
# ----------------------------------------------------------------------------------------------------------


def _npz(motion: Trajectory) -> bytes:
    groups = _known_groups(motion)
    arrays: dict[str, Any] = {"t": motion.t, **{f"group {name}": x for name, x in groups.items()}}
    for k, happened in enumerate(motion.events.values()):
        arrays |= {f"event {k} {what}": x for what, x in happened._asdict().items()}
    about = {
        "version": VERSION,
        "name": motion.name,
        "columns": {what: [list(c) for c in own] for what, own in motion.columns.items()},
        "statistics": asdict(motion.statistics),
        "events": list(motion.events),
        "groups": list(groups),
    }
    text, file = json.dumps(about), io.BytesIO()
    np.savez_compressed(
        file, about=np.array(text), digest=np.array(_digest(text, arrays)), **arrays
    )
    return file.getvalue()


def _known_groups(motion: Trajectory) -> dict[str, Floats]:
    """All that a motion holds, with the accelerations and the energy that follow from it."""
    groups = dict(motion.groups)
    if motion.m is not None and motion.whole and "v" in groups:
        if "a" in groups or "tau" in groups:
            groups["a"] = motion.a
        groups["energy"] = np.stack(motion.energy, axis=-1)
    return groups


def _digest(about: str, arrays: Mapping[str, Floats]) -> str:
    """Of the text, and of the names, shapes and numbers of arrays."""
    whole = hashlib.sha256(about.encode())
    for name, x in sorted(arrays.items()):
        whole.update(f"{name} {x.dtype.str} {x.shape}".encode())
        whole.update(np.ascontiguousarray(x).tobytes())
    return whole.hexdigest()


def _from_npz(content: bytes, _: str) -> Trajectory:
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        data = dict(file)
    text, digest = str(data.pop("about")), data.pop("digest", None)
    about = json.loads(text)
    if about["version"] != VERSION:
        raise ValueError(f"it is of version {about['version']}; this reads version {VERSION}")
    if str(digest) != _digest(text, data):
        raise ValueError("its checksum is another one")
    columns = {what: tuple(SignalColumn(*c) for c in own) for what, own in about["columns"].items()}
    events = {
        name: Occurrences(*(data[f"event {k} {what}"] for what in Occurrences._fields))
        for k, name in enumerate(about["events"])
    }
    groups = {name: data[f"group {name}"] for name in about["groups"]}
    return _checked(
        Trajectory(
            data["t"], groups, columns, about["name"], events, _statistics(about["statistics"])
        )
    )


def _checked(motion: Trajectory) -> Trajectory:
    """The motion, if its arrays fit together: a checksum can be forged."""
    t, groups, batch = motion.t, motion.groups, motion.q.shape[:-2]
    columns = {c for own in motion.columns.values() for c in own}
    if not all(isinstance(x, str) for c in columns for x in c) or not isinstance(motion.name, str):
        raise ValueError("its names are no texts")
    if t.ndim != 1 or not np.issubdtype(t.dtype, np.floating) or not (np.diff(t) > 0).all():
        raise ValueError("its times do not increase")
    for name, x in groups.items():
        own = motion.columns.get(name)
        width = (len(own),) if own is not None else x.shape[len(batch) + 1 :]
        if x.shape != (*batch, len(t), *width) or not np.issubdtype(x.dtype, np.floating):
            raise ValueError(f"{name} has the shape {x.shape} at {len(t)} times")
    if "energy" in groups and groups["energy"].shape[len(batch) + 1 :] != (2,):
        raise ValueError("its energy is not kinetic and potential")
    for happened in motion.events.values():
        if any(len(x) != len(happened.t) or x.ndim > 2 for x in happened):
            raise ValueError("an event has not a state for each of its times")
    return motion


def _statistics(about: Mapping[str, Any]) -> Statistics:
    """From what a file says, whose lists were tuples."""
    passages = (
        Passage(t, tuple(loops), ranks, distance, interpolated, tuple(trajectory))
        for t, loops, ranks, distance, interpolated, trajectory in about.get("passages", ())
    )
    return Statistics(**{**about, "passages": tuple(passages)})


# A table
# -------------------------------------------------------------------------------------------------------------


def _csv(motion: Trajectory) -> bytes:
    headings, values, groups = ["t [s]"], [motion.t[:, None]], _known_groups(motion)
    same = "tau" in groups and np.array_equal(
        groups.get("tau_commanded", groups["tau"]), groups["tau"], equal_nan=True
    )
    for what in QUANTITIES[: -1 if same else None]:
        if what in groups:
            for c in motion.columns[what]:
                name = f".{c.name}" if c.name else ""
                headings.append(f"{c.joint}.{what}{name} [{c.unit}]")
            values.append(groups[what])
    if "energy" in groups:
        headings += ["kinetic energy [J]", "potential energy [J]"]
        values.append(groups["energy"])
    for what in ONE_NUMBER:
        if what in groups:
            headings.append(what)
            values.append(groups[what][:, None])
    head, body = io.StringIO(newline=""), io.StringIO(newline="")
    csv.writer(head).writerow(map(inert, headings))
    csv.writer(body).writerows(
        [*(repr(float(x)) for x in row), ""] for row in np.concatenate(values, axis=1)
    )
    top, rows = head.getvalue().removesuffix("\r\n").encode(), body.getvalue().encode()
    return top + b",sha256 " + hashlib.sha256(top + rows).hexdigest().encode() + b"\r\n" + rows


def _from_csv(content: bytes, stem: str) -> Trajectory:
    found = _DIGEST.search(content)
    if found is None:
        raise ValueError(
            "it has no checksum, as tables of older versions; NumPy's loadtxt reads its numbers"
        )
    top, rest = content[: found.start()], content[found.end() :]
    if hashlib.sha256(top + rest).hexdigest().encode() != found[1]:
        raise ValueError("its checksum is another one")
    cells, *rows = csv.reader(io.StringIO((top + b"\r\n" + rest).decode(), newline=""))
    headings = [from_inert(cell) for cell in cells]
    values = np.array([[float(x) for x in row[:-1]] for row in rows]).reshape(-1, len(headings))
    if len(set(headings)) < len(headings):
        raise ValueError("a column is there twice")
    columns: dict[str, list[SignalColumn]] = {what: [] for what in QUANTITIES}
    places: dict[str, list[int]] = {}
    groups: dict[str, Floats] = {}
    energies = [headings.index(x) for x in ENERGIES if x in headings]
    if len(energies) == len(ENERGIES):
        groups["energy"] = values[:, energies]
    for k, heading in enumerate(headings[1:], start=1):
        parts = _HEADING.fullmatch(heading)
        if heading in ONE_NUMBER:
            groups[heading] = values[:, k]
        elif parts is not None:
            column = SignalColumn(parts["joint"], parts["name"] or "", parts["unit"])
            columns[parts["what"]].append(column)
            places.setdefault(parts["what"], []).append(k)
        elif heading not in ENERGIES:
            raise ValueError(f"the heading {heading!r} names no joint")
    if "tau" in places and "tau_commanded" not in places:
        places["tau_commanded"], columns["tau_commanded"] = places["tau"], columns["tau"]
    own = {what: values[:, where] for what, where in places.items()}
    for what in ("tau", "tau_commanded") if "energy" in groups else ():
        own.setdefault(what, values[:, :0])  # a mechanism without actuators
    named = {what: tuple(c) for what, c in columns.items()}
    statistics = Statistics("table", len(rows) - 1)
    return _checked(Trajectory(values[:, 0], own | groups, named, stem, {}, statistics))


def read_motion(m: Model, path: Any, needed: tuple[str, ...]) -> Trajectory | dict[str, Any]:
    """A motion from a file: one that was saved, or a table of what was measured, as arrays by
    name, those that are needed among them."""
    file = as_path(path)
    if file.suffix.lower() == ".csv":
        return read_table(m, file, needed)
    return load(file)
