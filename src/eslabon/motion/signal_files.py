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
from eslabon.model.configuration import SignalColumn
from eslabon.motion.trajectory import Occurrences, Statistics, Trajectory
from eslabon.sheets import from_inert, inert

QUANTITIES = ("q", "v", "a", "tau", "tau_commanded")
VERSION = 3  # 2 had neither what was asked for nor a law's states, 1 no checksum either
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
    """The inverse of `save`; a table has neither events nor a law's states nor what the run took."""
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


# Everything ----------------------------------------------------------------------------------------------------------


def _npz(motion: Trajectory) -> bytes:
    arrays: dict[str, Any] = {
        what: getattr(motion, what) for what in ("t", *QUANTITIES, "x", "closure")
    }
    arrays["energy"] = np.stack(motion.energy, axis=-1)
    for k, happened in enumerate(motion.events.values()):
        arrays |= {f"event{k}_{what}": x for what, x in happened._asdict().items()}
    about = {
        "version": VERSION,
        "name": motion.name,
        "columns": {what: [list(c) for c in own] for what, own in motion.columns.items()},
        "statistics": asdict(motion.statistics),
        "events": list(motion.events),
    }
    text, file = json.dumps(about), io.BytesIO()
    np.savez_compressed(
        file, about=np.array(text), digest=np.array(_digest(text, arrays)), **arrays
    )
    return file.getvalue()


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
    if about["version"] > 1 and str(digest) != _digest(
        text, data
    ):  # before, the archive's own checksums had to do
        raise ValueError("its checksum is another one")
    columns = {what: tuple(SignalColumn(*c) for c in own) for what, own in about["columns"].items()}
    events = {
        name: Occurrences(*(data[f"event{k}_{what}"] for what in Occurrences._fields))
        for k, name in enumerate(about["events"])
    }
    if about["version"] < 3:
        data, columns = (
            {**data, "tau_commanded": data["tau"], "x": data["q"][..., :0]},
            {**columns, "tau_commanded": columns["tau"]},
        )
    arrays = {what: data[what] for what in ("t", *QUANTITIES, "x", "closure", "energy")}
    return Trajectory.known(
        **arrays,
        name=about["name"],
        columns=columns,
        events=events,
        statistics=Statistics(**about["statistics"]),
    )


# A table -------------------------------------------------------------------------------------------------------------


def _csv(motion: Trajectory) -> bytes:
    headings, values = ["t [s]"], [motion.t[:, None]]
    for what in (
        QUANTITIES
        if not np.array_equal(motion.tau_commanded, motion.tau, equal_nan=True)
        else QUANTITIES[:-1]
    ):
        for c in motion.columns[what]:
            name = f".{c.name}" if c.name else ""
            headings.append(f"{c.joint}.{what}{name} [{c.unit}]")
        values.append(getattr(motion, what))
    headings += ["kinetic energy [J]", "potential energy [J]", "closure"]
    values += [
        motion.energy.kinetic[:, None],
        motion.energy.potential[:, None],
        motion.closure[:, None],
    ]
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
    columns: dict[str, list[SignalColumn]] = {what: [] for what in QUANTITIES}
    places: dict[str, list[int]] = {what: [] for what in QUANTITIES}
    for k, heading in enumerate(headings[1:-3], start=1):
        parts = _HEADING.fullmatch(heading)
        if parts is None:
            raise ValueError(f"the heading {heading!r} names no joint")
        columns[parts["what"]].append(
            SignalColumn(parts["joint"], parts["name"] or "", parts["unit"])
        )
        places[parts["what"]].append(k)
    if not places["tau_commanded"]:
        places["tau_commanded"], columns["tau_commanded"] = places["tau"], columns["tau"]
    return Trajectory.known(
        t=values[:, 0],
        **{what: values[:, where] for what, where in places.items()},
        x=values[:, :0],
        energy=values[:, -3:-1],
        closure=values[:, -1],
        name=stem,
        columns={what: tuple(own) for what, own in columns.items()},
        events={},
        statistics=Statistics("table", len(rows) - 1, 0, 0.0),
    )
