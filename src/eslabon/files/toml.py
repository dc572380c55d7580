"""Our own format: a mechanism as a person writes it.

Tables ``bodies``, ``joints``, ``loops``, ``couplings``, ``springs``, ``wrenches``, ``frames`` and ``shapes`` hold one entry a
name, with the keys of the `Builder` method of that item; ``[dh]`` holds a Denavit-Hartenberg table instead of bodies
and joints. A key that ends in ``_deg`` is in degrees. Numbers may be expressions of the ``parameters``.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from eslabon.arguments import known_words
from eslabon.errors import ReadError, format_value, located
from eslabon.files.dh import add_dh, in_radians
from eslabon.files.findings import Findings, toml_lines
from eslabon.model import Builder, Description
from eslabon.model.fields import Side, specs_of
from eslabon.model.items import ITEMS
from eslabon.model.schema import keys_in_degrees, keys_of, required_keys

TOP = ("name", "note", "gravity", "actuated", "parameters", "dh")


def read_toml(
    text: str, findings: Findings | None = None, folder: Path | None = None
) -> Description:
    """What a TOML text says of a mechanism. With `findings` that gather, mistakes are noted and what is left is read. Meshes
    are named from `folder`."""
    findings = findings or Findings()
    if findings.gather:
        findings.lines |= toml_lines(text)
    try:
        try:
            data = tomllib.loads(text)
        except ValueError as error:  # not TOML, or a number of thousands of digits
            raise ReadError(f"this is not valid TOML: {error}.") from None
        return _placed_meshes(_described(data, findings), folder)
    except RecursionError:
        raise ReadError("this is not a mechanism: its lists are nested too deeply.") from None


def _described(data: Mapping[str, Any], findings: Findings) -> Description:
    for key in data:
        with findings.of(key, key):
            known_words([key], (*TOP, *ITEMS), "the file has the unknown key", ReadError)
    b = Builder("unnamed")
    with findings.of("name"):
        if not isinstance(data.get("name"), str):
            raise ReadError('the file needs a name, as in: name = "four_bar".')
        b = Builder(data["name"], data.get("gravity", (0.0, 0.0, -9.81)), data.get("note", ""))
    for name, value in _entries(data, "parameters", findings):
        with findings.of(name, "parameters", name):
            b.parameter(name, value)
    if "dh" in data:
        with findings.of("dh", "dh"):
            _read_dh(b, _table(data["dh"], "dh"))
    for section, item in ITEMS.items():
        for name, entry in _entries(data, section, findings):
            written = _Entry(entry)
            findings.read(
                partial(_add, b, section, name, written),
                written,
                required_keys(item),
                section,
                name,
            )
    if "actuated" in data:
        with findings.of("actuated", "actuated"):
            if not isinstance(data["actuated"], list) or not all(
                isinstance(j, str) for j in data["actuated"]
            ):
                raise ReadError(
                    'actuated is a list of joint names, as in: actuated = ["q1", "q4"].'
                )
            b.actuate(*data["actuated"])
    return b.describe()


def _placed_meshes(d: Description, folder: Path | None) -> Description:
    """The files of meshes by their whole paths, so that they are found from everywhere."""
    if folder is None:
        return d
    placed = (
        replace(x, file=os.path.abspath(folder / x.file)) if x.file and "://" not in x.file else x
        for x in d.shapes
    )
    return replace(d, shapes=tuple(placed))


def _entries(
    data: Mapping[str, Any], section: str, findings: Findings
) -> Iterable[tuple[str, Any]]:
    """The entries of a section by name."""
    with findings.of(section, section):
        return _table(data.get(section, {}), section).items()
    return ()


@dataclass
class _Entry:
    """What a file says of an item."""

    table: Any

    @property
    def parts(self) -> Collection[str]:
        return self.table if isinstance(self.table, dict) else ()

    def drop(self, part: str) -> None:
        self.table = {key: value for key, value in self.table.items() if key != part}


def _add(b: Builder, section: str, name: str, entry: _Entry) -> None:
    with located(section, name):
        written = _written(section, name, entry.table)
    b.add(section, name, **written)


def _read_dh(b: Builder, table: Mapping[str, Any]) -> None:
    known_words(
        table,
        ("convention", "links", "base", "tool"),
        "the table 'dh' has the unknown key",
        ReadError,
    )
    links = table.get("links", [])
    if not isinstance(links, list):
        raise ReadError("dh.links is a list of tables, written [[dh.links]] before each link.")
    poses = {
        key: _pose(_table(table[key], f"dh.{key}"), f"dh.{key}")
        for key in ("base", "tool")
        if key in table
    }
    add_dh(
        b,
        [_table(link, "dh.links") for link in links],
        table.get("convention", "standard"),
        **poses,
    )


def _written(section: str, name: str, entry: Any) -> dict[str, Any]:
    """What an entry says of an item, in radians, where it says enough and nothing unknown."""
    what, item = f"{section}.{name}", ITEMS[section]
    table = dict(_table(entry, what))
    if section == "modes":
        return {"coordinates": table}
    known = (*keys_of(item), *(f"{key}_deg" for key in keys_in_degrees(item)))
    known_words(table, known, f"{what} has the unknown key", ReadError)
    for key in required_keys(item):
        if key not in table:
            raise ReadError(f"{what} needs the key '{key}'.")
    table = in_radians(table, table.get("kind", "revolute"), what)
    for key, spec in specs_of(item).items():
        if isinstance(spec, Side) and key in table:
            with located(key):
                table[key] = _end(table[key], f"{what}.{key}", spec.point)
    return table


def _end(entry: Any, what: str, point: bool) -> dict[str, Any]:
    """An end of a loop or spring."""
    table = dict(_table(entry, what))
    if "body" not in table:
        raise ReadError(f"{what} needs the key 'body'.")
    known = ("body", "at") if point else ("body", "at", "rpy", "rpy_deg")
    known_words(table, known, f"{what} has the unknown key", ReadError)
    return table if point else in_radians(table, "revolute", what)


def _pose(table: Mapping[str, Any], what: str) -> Any:
    """xyz or (xyz, rpy) or a 4x4 matrix from the keys at, rpy and rpy_deg."""
    known_words(table, ("at", "rpy", "rpy_deg"), f"{what} has the unknown key", ReadError)
    table = in_radians(table, "revolute", what)
    at = table.get("at", (0.0, 0.0, 0.0))
    if "rpy" not in table:
        return at
    if isinstance(at, list) and len(at) == 4:
        raise ReadError(f"{what} gives a 4x4 pose and rpy; keep one.")
    return (at, table["rpy"])


def _table(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ReadError(f"{what} must be a table of keys and values; it is {format_value(value)}.")
    return value
