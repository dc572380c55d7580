"""Our own format: a mechanism as a person writes it.

Tables ``bodies``, ``joints``, ``loops``, ``couplings``, ``springs``, ``wrenches``, ``frames`` and
``shapes`` hold one entry a name, with the keys of the `Builder` method of that item; ``[dh]`` holds
a Denavit-Hartenberg table instead of bodies and joints. A key that ends in ``_deg`` is in degrees.
Numbers may be expressions of the ``parameters``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from eslabon.arguments import known_words
from eslabon.errors import Place, ReadError, format_value, located
from eslabon.files.dh import add_dh, in_radians, names_of_row
from eslabon.files.diagnostics import Diagnostics
from eslabon.files.meshes import named_from
from eslabon.model import Builder, Description
from eslabon.model.fields import Side, file_value, specs_of
from eslabon.model.items import ITEMS
from eslabon.model.schema import (
    file_entries,
    keys_in_degrees,
    keys_of,
    required_keys,
)

TOP = ("name", "note", "gravity", "actuated", "parameters", "dh")
Table = Mapping[str, Any]  # of TOML: its values are what a person wrote


# -- reading ---------------------------------------------------------------------------------------


def read_toml(
    text: str, diagnostics: Diagnostics | None = None, folder: Path | None = None
) -> Description:
    """What a TOML text says of a mechanism. Meshes are named from `folder`."""
    diagnostics = diagnostics or Diagnostics()
    try:
        data = _parse(text, diagnostics)
        diagnostics.source.lines_from(partial(_lines, text))
        d = _with_mesh_paths(_described(data, diagnostics), folder)
    except RecursionError:
        raise ReadError("this is not a mechanism: its lists are nested too deeply.") from None
    if diagnostics.collect:
        _check_meshes(d, diagnostics)
    return d


def _lines(text: str) -> dict[Place, int]:
    from eslabon.files.toml_lines import toml_lines  # only messages need lines

    return toml_lines(text)


def _parse(text: str, diagnostics: Diagnostics) -> Table:
    import tomllib

    try:
        return tomllib.loads(text)
    except ValueError as error:  # not TOML, or a number of thousands of digits
        line = re.search(r"at line (\d+)", str(error))  # only the parser's own sentence has it
        place = diagnostics.source.line(int(line[1])) if line else ()
        raise ReadError(f"this is not valid TOML: {error}.").at(*place) from None


def _described(data: Table, diagnostics: Diagnostics) -> Description:
    for key in data:
        with diagnostics.reading(key):
            known_words([key], (*TOP, *ITEMS), "the file has the unknown key", ReadError)
    b = Builder("unnamed")
    with diagnostics.reading("name"):
        if not isinstance(data.get("name"), str):
            raise ReadError('the file needs a name, as in: name = "four_bar".')
        b = Builder(data["name"], data.get("gravity", (0.0, 0.0, -9.81)), data.get("note", ""))
    for name, value in _entries(data, "parameters", diagnostics):
        with diagnostics.reading("parameters", name, item=("parameters", name)):
            b.parameter(name, value)
    if "dh" in data:
        with diagnostics.reading("dh"):
            _add_dh(b, _table(data["dh"], "dh"), diagnostics)
    for section in ITEMS:
        for name, entry in _entries(data, section, diagnostics):
            with diagnostics.reading(section, name, item=(section, name)):
                table = _table(entry, f"{section}.{name}")
                diagnostics.add_item(b, section, name, table, partial(_written, section, name))
    if "actuated" in data:
        with diagnostics.reading("actuated"):
            if not isinstance(data["actuated"], list) or not all(
                isinstance(j, str) for j in data["actuated"]
            ):
                raise ReadError(
                    'actuated is a list of joint names, as in: actuated = ["q1", "q4"].'
                )
            b.actuate(*data["actuated"])
    return b.describe()


def _entries(data: Table, section: str, diagnostics: Diagnostics) -> Iterable[tuple[str, Any]]:
    """The entries of a section by name."""
    with diagnostics.reading(section):
        return _table(data.get(section, {}), section).items()
    return ()


def _written(section: str, name: str, entry: Table) -> dict[str, Any]:
    """What an entry says of an item, in radians, where it says enough and nothing unknown."""
    what, item = f"{section}.{name}", ITEMS[section]
    if section == "modes":
        return {"coordinates": entry}
    _check_keys(entry, (*keys_of(item), *(f"{key}_deg" for key in keys_in_degrees(item))), what)
    for key in required_keys(item):
        if key not in entry:
            raise ReadError(f"{what} needs the key '{key}'.")
    table = in_radians(entry, entry.get("kind", "revolute"), what)
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
    _check_keys(table, ("body", "at") if point else ("body", "at", "rpy", "rpy_deg"), what)
    return table if point else in_radians(table, "revolute", what)


def _add_dh(b: Builder, table: Table, diagnostics: Diagnostics) -> None:
    with located("dh"):
        _check_keys(table, ("convention", "links", "base", "tool"), "the table 'dh'")
        links = table.get("links", [])
        if not isinstance(links, list):
            raise ReadError("dh.links is a list of tables, written [[dh.links]] before each link.")
        rows = [dict(_table(link, "dh.links")) for link in links]
        poses = {key: _pose(table[key], key) for key in ("base", "tool") if key in table}
    made = [
        (section, name, str(k))
        for k, row in enumerate(rows, start=1)
        for section, name in zip(("bodies", "joints"), names_of_row(row, k), strict=True)
        if isinstance(name, str)
    ]
    for section, name, k in made:
        diagnostics.source.write_down((section, name), ("dh", "links", k))

    def build(into: Builder) -> None:
        add_dh(into, rows, table.get("convention", "standard"), **poses)

    def drop(place: Place) -> bool:
        row = rows[int(place[2]) - 1] if place[:2] == ("dh", "links") and len(place) > 3 else {}
        faulty = [k for k in (place[-1], f"{place[-1]}_deg") if k in row]
        for k in faulty:
            del row[k]
        return bool(faulty)

    trial = Builder("trial")  # a table with a mistake must not be half added
    if diagnostics.read(lambda: build(trial), drop):
        build(b)
        return
    for section, name, _ in made:
        diagnostics.lose_item(section, name)


def _pose(entry: Any, key: str) -> Any:
    """xyz or (xyz, rpy) or a 4x4 matrix from the keys at, rpy and rpy_deg."""
    what = f"dh.{key}"
    with located(key):
        table = _table(entry, what)
        _check_keys(table, ("at", "rpy", "rpy_deg"), what)
        table = in_radians(table, "revolute", what)
        at = table.get("at", (0.0, 0.0, 0.0))
        if "rpy" not in table:
            return at
        if isinstance(at, list) and len(at) == 4:
            raise ReadError(f"{what} gives a 4x4 pose and rpy; keep one.").at("rpy")
        return (at, table["rpy"])


def _check_keys(table: Table, known: Iterable[str], what: str) -> None:
    for key in table:
        with located(key):
            known_words([key], known, f"{what} has the unknown key", ReadError)


def _table(value: Any, what: str) -> Table:
    if not isinstance(value, dict):
        is_list = isinstance(value, list) and value and isinstance(value[0], dict)
        named = is_list and "name" in value[0]  # as other formats have it
        advice = f" Write [{what}.NAME] for each, in place of [[{what}]]." if named else ""
        raise ReadError(
            f"{what} must be a table of keys and values; it is {format_value(value)}.{advice}"
        )
    return value


def _with_mesh_paths(d: Description, folder: Path | None) -> Description:
    """The files of meshes by their whole paths, so that they are found from everywhere."""
    if folder is None:
        return d
    shapes = (
        replace(x, file=os.path.abspath(folder / x.file)) if x.file and "://" not in x.file else x
        for x in d.shapes
    )
    return replace(d, shapes=tuple(shapes))


def _check_meshes(d: Description, diagnostics: Diagnostics) -> None:
    for shape in d.shapes:
        if shape.file and not Path(shape.file).is_file():
            diagnostics.warn(
                f"shape '{shape.name}': there is no file '{shape.file}'; meshes are named from where the description is.",
                *("shapes", shape.name, "file"),
            )


# -- writing ---------------------------------------------------------------------------------------


def to_toml(d: Description, folder: Path | None = None) -> str:
    """A text that reads back to the same description. Defaults are left out, expressions stay
    expressions; meshes are named from `folder`."""
    import tomlkit

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
