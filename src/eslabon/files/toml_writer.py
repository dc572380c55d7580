"""A mechanism as TOML text that reads back to the same mechanism."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import tomlkit

from eslabon.files.mesh_paths import named_from
from eslabon.model import Description
from eslabon.model.fields import file_value
from eslabon.model.items import ITEMS
from eslabon.model.schema import file_entries


def to_toml(d: Description, folder: Path | None = None) -> str:
    """The text of a description. Defaults are left out, expressions stay expressions; meshes are named from `folder`."""
    d = replace(d, shapes=named_from(d.shapes, folder))
    table: dict[str, Any] = {"name": d.name}
    if d.note:
        table["note"] = tomlkit.string(d.note, multiline="\n" in d.note)
    table["gravity"] = file_value(d.gravity)
    table["actuated"] = list(d.actuated)
    if d.parameters:
        table["parameters"] = {name: file_value(value) for name, value in d.parameters}
    for section in sorted(ITEMS, key="modes".__eq__):  # modes at last: they name joints
        if items := getattr(d, section):
            table[section] = {item.name: file_entries(item) for item in items}
    return tomlkit.dumps(table)
