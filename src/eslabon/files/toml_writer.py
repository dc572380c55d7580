"""A mechanism as TOML text that reads back to the same mechanism."""

from __future__ import annotations

from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import Any

import tomlkit

from eslabon.files.mesh_paths import named_from
from eslabon.model import Description, ParameterExpression, Pose
from eslabon.model.builder import NAMED_AXES, NUMBERS
from eslabon.model.constraints import ClosureKind
from eslabon.model.items import ORIGIN, End

LETTERS = {axis: letter for letter, axis in reversed(NAMED_AXES.items())}
SECTIONS = ("bodies", "joints", "loops", "couplings", "springs", "wrenches", "frames", "shapes")


def to_toml(d: Description, folder: Path | None = None) -> str:
    """The text of a description. Defaults are left out, expressions stay expressions; meshes are named from `folder`."""
    d = replace(d, shapes=named_from(d.shapes, folder))
    table: dict[str, Any] = {"name": d.name}
    if d.note:
        table["note"] = tomlkit.string(d.note, multiline="\n" in d.note)
    table["gravity"] = _plain(d.gravity)
    table["actuated"] = list(d.actuated)
    if d.parameters:
        table["parameters"] = {name: _plain(value) for name, value in d.parameters}
    for section in SECTIONS:
        items = getattr(d, section)
        if items:
            table[section] = {item.name: _entry(item) for item in items}
    if d.modes:
        table["modes"] = {
            mode.name: {joint: _plain(_short("", x)) for joint, x in mode.coordinates} for mode in d.modes
        }
    return tomlkit.dumps(table)


def _entry(item: Any) -> dict[str, Any]:
    entry: dict[str, Any] = {}
    for f in fields(item):
        value = getattr(item, f.name)
        if f.name == "name" or (f.default is not MISSING and value == f.default):
            continue
        if isinstance(value, ClosureKind):
            entry.update(_kind(value))
        elif isinstance(value, Pose):
            entry.update(_pose(value))
        elif isinstance(value, End):
            entry[f.name] = {"body": value.body, **_pose(value.at)}
        else:
            entry[f.name] = _plain(_short(f.name, value))
    return entry


def _short(key: str, value: Any) -> Any:
    """The shortest form the reader takes: a diagonal inertia by its three moments, one degree of freedom by one number."""
    if key == "inertia" and value[3:] == (0.0, 0.0, 0.0):
        return value[:3]
    return value[0] if isinstance(value, tuple) and len(value) == 1 else value


def _kind(kind: ClosureKind) -> dict[str, Any]:
    axes = [LETTERS.get(axis) or _plain(axis) for axis in kind.axes]
    entry: dict[str, Any] = {"kind": kind.kind}
    if axes:
        entry["axis"] = axes if len(axes) > 1 else axes[0]
    entry.update({key: _plain(getattr(kind, key)) for key in (f.name for f in fields(kind)) if key in NUMBERS})
    return entry


def _pose(pose: Pose) -> dict[str, Any]:
    parts = {"at": pose.position, "rpy": pose.rpy}
    return {key: _plain(value) for key, value in parts.items() if value != ORIGIN}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(x) for x in value]
    if isinstance(value, ParameterExpression):
        return str(value)
    return value
