"""Tables of what was measured: a line of names, `t [s]` and `joint.q [rad]`, and rows of
numbers."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eslabon.arguments import Floats, file_path
from eslabon.errors import ReadError, file_name, format_value, suggest
from eslabon.model import Model
from eslabon.motion.trajectory import Trajectory, columns
from eslabon.sheets import from_inert

DEGREE = np.pi / 180
UNITS = {
    "s": {"s": 1.0, "ms": 1e-3}, "rad": {"rad": 1.0, "deg": DEGREE}, "m": {"m": 1.0, "mm": 1e-3}, "": {},
    "rad/s": {"rad/s": 1.0, "deg/s": DEGREE}, "m/s": {"m/s": 1.0, "mm/s": 1e-3},
    "rad/s²": {"rad/s²": 1.0, "rad/s^2": 1.0, "deg/s²": DEGREE, "deg/s^2": DEGREE},
    "m/s²": {"m/s²": 1.0, "m/s^2": 1.0, "mm/s²": 1e-3, "mm/s^2": 1e-3},
    "N m": {"N m": 1.0, "Nm": 1.0, "mNm": 1e-3, "mN m": 1e-3}, "N": {"N": 1.0, "mN": 1e-3, "kN": 1e3},
}  # fmt: skip
_HEADING = re.compile(
    r"(?P<joint>.+)\.(?P<what>q|v|a|tau)(?:\.(?P<name>\w+))?\s*(?:\[(?P<unit>.*)\])?", re.DOTALL
)
_TIME = re.compile(r"(?:t|time)\s*(?:\[(?P<unit>.*)\])?", re.IGNORECASE)


def read_table(m: Model, path: str | Path, needed: tuple[str, ...]) -> Trajectory | dict[str, Any]:
    """What a table holds: a motion that was saved, or arrays by name, those that are `needed` among
    them.

    Of joints with several degrees of freedom the names are `joint.q.name`; units may be left out.
    With loops the coordinates of the actuated joints are enough."""
    rows = _rows(path)
    if rows[0][-1].startswith("sha256 "):  # as `Trajectory.save` wrote it, so that damage shows
        return Trajectory.load(path)
    found = _headings(path, rows[0], lambda name: _known_joint(m, path, name))
    return _columns(m, _Table(path, rows), found, needed)


def read_joint_table(path: str | Path) -> Trajectory | tuple[dict[str, Any], tuple[str, ...]]:
    """The same where no mechanism is known yet: times and q, and v and a where all joints have
    them, and the joints that have a column of q."""
    rows = _rows(path)
    if rows[0][-1].startswith("sha256 "):
        return Trajectory.load(path)
    found = _headings(path, rows[0])
    table = _Table(path, rows)
    joints = tuple(dict.fromkeys(joint for what, joint, _ in found if what == "q"))
    if not joints:
        raise ReadError(
            f"{path}: there is no column of a joint's coordinates, such as 'q1.q [rad]'."
        )
    made: dict[str, Any] = {"t": table.column(found["t", "", ""], "s")}
    for what in ("q", "v", "a"):
        own = {
            joint: [k for key, k in found.items() if key[:2] == (what, joint)] for joint in joints
        }
        if all(own.values()):
            columns = [table.column(k, None) for places in own.values() for k in places]
            made[what] = np.stack(columns, axis=-1)
    return made, joints


def _rows(path: str | Path) -> list[list[str]]:
    """The cells of a file, a line of names first."""
    try:
        rows = list(csv.reader(file_path(path).read_text(encoding="utf-8-sig").splitlines()))
    except (
        OSError,
        ValueError,
        csv.Error,
    ) as error:  # the second for a name that no file can have, and for other encodings
        why = str(getattr(error, "strerror", None) or error).rstrip(".")
        raise ReadError(f"{file_name(path)}: it cannot be read ({why}).") from None
    rows[:1] = [[from_inert(cell) for cell in row] for row in rows[:1]]
    if not rows or not any(_TIME.fullmatch(h.strip()) for h in rows[0]):
        raise ReadError(
            f"{path}: the first line names the columns, one of them 't' or 't [s]'; there is none."
        )
    return rows


def _headings(
    path: str | Path, names: list[str], check: Callable[[str], None] = lambda name: None
) -> dict[tuple[str, str, str], int]:
    """The columns by what they hold, of which joint, and the name of a coordinate."""
    found: dict[tuple[str, str, str], int] = {}
    for k, heading in enumerate(names):
        parts = _HEADING.fullmatch(heading.strip())
        if parts is None and not _TIME.fullmatch(heading.strip()):
            continue
        if parts is not None:
            check(parts["joint"])
        key = (
            ("t", "", "") if parts is None else (parts["what"], parts["joint"], parts["name"] or "")
        )
        if key in found:
            raise ReadError(
                f"{path}: the columns {format_value(names[found[key]])} and {format_value(heading)} are the same quantity; leave one out."
            )
        found[key] = k
    return found


@dataclass(frozen=True)
class _Table:
    """Rows of texts under a line of names."""

    path: str | Path
    rows: list[list[str]]

    def column(self, k: int, unit: str | None) -> Floats:
        """The numbers of a column, in the SI unit, which is that of its heading if none is told."""
        factor = self._factor(k, unit)
        try:
            return factor * np.array([float(row[k]) for row in self.rows[1:] if row])
        except (ValueError, IndexError):
            bad = next(
                i for i, row in enumerate(self.rows[1:], 2) if row and not _is_number(row, k)
            )
            raise ReadError(
                f"{self.path}: line {bad} has no number under {format_value(self.rows[0][k])}."
            ) from None

    def _factor(self, k: int, unit: str | None) -> float:
        parts = (_TIME if unit == "s" else _HEADING).fullmatch(self.rows[0][k].strip())
        given = ((parts["unit"] or "") if parts else "").strip()
        units = (
            {n: f for own in UNITS.values() for n, f in own.items()}
            if unit is None
            else UNITS[unit]
        )
        if given and given not in units:
            heading, known = format_value(self.rows[0][k]), suggest(given, units)
            raise ReadError(f"{self.path}: {heading} is in a unit that does not fit it{known}")
        return units.get(given, 1.0)


def _known_joint(m: Model, path: str | Path, name: str) -> None:
    if name not in m.velocities:
        raise ReadError(
            f"{path}: {m.name} has no joint {format_value(name)}{suggest(name, m.velocities)}"
        )


def _is_number(row: list[str], k: int) -> bool:
    try:
        return bool(np.isreal(float(row[k])))
    except (ValueError, IndexError):
        return False


def _columns(
    m: Model, table: _Table, found: Mapping[tuple[str, str, str], int], needed: tuple[str, ...]
) -> dict[str, Any]:
    """The arrays of a recording from the columns of a table."""
    own = columns(m)
    if m.closed and any(
        ("q", c.joint, c.name) not in found for c in own["q"]
    ):  # of the actuated joints alone
        own = {
            what: tuple(c for name in m.actuated for c in own[what] if c.joint == name)
            for what in own
        }
    made: dict[str, Any] = {"t": table.column(found["t", "", ""], "s")}
    for what in ("q", "tau", "v", "a"):
        keys = [(what, c.joint, c.name) for c in own[what]]
        missing = [
            ".".join(filter(None, (joint, what, name)))
            for _, joint, name in keys
            if (what, joint, name) not in found
        ]
        if missing and what in needed:
            raise ReadError(
                f"{table.path}: there is no column '{missing[0]}'; it has those of {_listed(found)}."
            )
        if not missing:
            values = [
                table.column(found[key], c.unit) for key, c in zip(keys, own[what], strict=True)
            ]
            made[what] = np.stack(values, axis=-1) if values else np.zeros((len(made["t"]), 0))
    return made


def _listed(found: Mapping[tuple[str, str, str], Any]) -> str:
    return ", ".join(f"{joint}.{what}" for what, joint, _ in found if joint) or "no joint"
