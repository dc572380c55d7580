"""Bond graphs as TOML: what `written` takes, in tables `parameters`, `definitions`, `domains`,
`elements`, `bonds` and `models`.

    name = "rlc"

    [parameters]
    L = 0.1

    [elements]
    V = "Se"
    series = "1"
    coil = "I: L"

    [bonds]
    1 = "V -> series"
    2 = "series -> coil"

A submodel is named as `{ model = "rigid_bar", parameters = { m = 2 } }`, after a table under
`models`, which is written like the file itself, or after a graph of the library. Nothing in a file
is executed.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import tomlkit

from eslabon.arguments import known_words
from eslabon.bond_graph.elements import TIME, Bond, Description, Element
from eslabon.bond_graph.notation import description
from eslabon.errors import EslabonError, ModelError, ReadError, format_value, suggest
from eslabon.model.parameter_expressions import ParameterExpression

TOP = ("name", "note", "parameters", "definitions", "domains", "elements", "bonds", "models")
LARGEST_FILE = 5_000_000  # bytes
DEEPEST = 20  # models in models


def library() -> list[str]:
    """The names of the bond graphs that come with the package."""
    return sorted(
        f.name.removesuffix(".toml") for f in _folder().iterdir() if f.name.endswith(".toml")
    )


def load(source: str | Path) -> Description:
    """A graph of the library, by name, or of a .toml file."""
    if not isinstance(source, str | Path):
        raise ReadError(
            f"load takes the name of a bond graph or of a file; it was given {format_value(source)}."
        )
    if (
        isinstance(source, str)
        and not Path(source).suffix
        and "/" not in source
        and "\\" not in source
    ):
        return _from_library(source)
    path = Path(source)
    if path.suffix.lower() != ".toml":
        raise ReadError(f"{path}: a bond graph is read from a file that ends in .toml.")
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise ReadError(
                f"the file has {path.stat().st_size} bytes; a description is smaller than that."
            )
        return read(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise ReadError(f"{path}: there is no such file.") from None
    except EslabonError as error:
        raise type(error)(f"{path}: {error}") from None
    except (
        OSError,
        ValueError,
    ) as error:  # the latter for text in another encoding and for a NUL in the path
        raise ReadError(f"{str(path)!a}: the file cannot be read: {error}.") from None


def read(text: str) -> Description:
    """What a TOML text says of a bond graph."""
    try:
        data = tomllib.loads(text)
        if not isinstance(data.get("name"), str):
            raise ReadError('the file needs a name, as in: name = "motor".')
        return _described(data["name"], data, {}, 0)
    except tomllib.TOMLDecodeError as error:
        raise ReadError(f"this is not valid TOML: {error}.") from None
    except RecursionError:
        raise ReadError("this is not a bond graph: its tables are nested too deeply.") from None


def _described(name: str, data: Any, outer: Mapping[str, Description], depth: int) -> Description:
    if not isinstance(data, dict):
        raise ReadError(f"the model '{name}' must be a table; it is {format_value(data)}.")
    if depth > DEEPEST:
        raise ReadError(f"the model '{name}' is inside more than {DEEPEST} others.")
    known_words(data, TOP, f"{name} has the unknown key", ReadError)
    for key in TOP[2:]:
        if not isinstance(data.get(key, {}), dict):
            raise ReadError(
                f"{key} must be a table of names and values; it is {format_value(data[key])}."
            )
    models = dict(outer)
    for key, inner in data.get("models", {}).items():
        models[key] = _described(key, inner, models, depth + 1)
    elements = {key: _with_model(key, x, models) for key, x in data.get("elements", {}).items()}
    return description(
        name,
        elements,
        data.get("bonds", {}),
        data.get("parameters", {}),
        data.get("domains", {}),
        data.get("note", ""),
        data.get("definitions", {}),
        letters=(TIME, *_letters_of_laws(data.get("elements", {}))),
    )


def _letters_of_laws(elements: Mapping[str, Any]) -> set[str]:
    """The letters that laws in a file call their own variables; a mechanism may have parameters of
    these names elsewhere."""
    texts = [
        str(x[key])
        for x in elements.values()
        if isinstance(x, dict)
        for key in ("law", "inverse")
        if key in x
    ]
    return {letter for text in texts for letter in re.findall(r"\b[efpq]\b", text)}


def _with_model(name: str, written: Any, models: Mapping[str, Description]) -> Any:
    if not isinstance(written, dict) or "model" not in written:
        return written
    model = written["model"]
    if not isinstance(model, str):
        raise ReadError(f"the model of '{name}' is a name; it is {format_value(model)}.")
    known = [*models, *library()]
    if model not in known:
        raise ReadError(
            f"the submodel '{name}' is a '{model}', which is no model here{suggest(model, known)}"
        )
    return {**written, "model": models[model] if model in models else _from_library(model)}


def _from_library(name: str) -> Description:
    known = library()
    if name not in known:
        hint = suggest(name, known, f" (it has {', '.join(known)}); a file's name ends in .toml.")
        raise ReadError(f"the library has no bond graph {format_value(name)}{hint}")
    return read((_folder() / f"{name}.toml").read_text(encoding="utf-8"))


def _folder() -> Any:
    return resources.files("eslabon") / "bond_graphs"


# Written
# -------------------------------------------------------------------------------------------------------------


def text(d: Description) -> str:
    """A description as TOML that reads back to the same one."""
    models: dict[str, Description] = {}
    _gather(d, models)
    table: dict[str, Any] = {"name": d.name, **_table(d, models)}
    if models:
        table["models"] = {name: _table(model, models) for name, model in models.items()}
    return tomlkit.dumps(table)


def _gather(d: Description, models: dict[str, Description]) -> None:
    """The models that a description uses, those inside others first, each under a name of its
    own."""
    for x in d.elements:
        if x.model is not None:
            _gather(x.model, models)
            if models.setdefault(x.model.name, x.model) != x.model:
                raise ModelError(
                    f"two different submodels are called '{x.model.name}'; rename one to save them in one file."
                )


def _table(d: Description, models: Mapping[str, Description]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if d.note:
        made["note"] = tomlkit.string(d.note, multiline="\n" in d.note)
    if d.parameters:
        made["parameters"] = {name: _plain(x) for name, x in d.parameters}
    if d.definitions:
        made["definitions"] = {name: _plain(x) for name, x in d.definitions}
    domains = dict.fromkeys(x.domain for x in d.elements if x.domain)
    if domains:
        made["domains"] = {
            domain: [x.name for x in d.elements if x.domain == domain] for domain in domains
        }
    made["elements"] = {x.name: _element(x) for x in d.elements}
    made["bonds"] = {b.name: _bond(b) for b in d.bonds}
    return made


def _element(x: Element) -> Any:
    table: dict[str, Any] = {}
    for key in ("value", "law", "inverse", "energy"):
        given = getattr(x, key)
        if given is not None:
            table[key] = _plain(given)
    if x.width > 1:
        table["width"] = x.width
    if x.momenta > 1:
        table["momenta"] = x.momenta
    if x.state:
        table["state"] = x.state[0] if len(x.state) == 1 else list(x.state)
    if x.model is not None:
        table["model"] = x.model.name
    if x.parameters:
        table["parameters"] = _inline({name: _plain(value) for name, value in x.parameters})
    if not table:
        return x.kind
    if list(table) == ["value"] and not isinstance(table["value"], list):
        return f"{x.kind}: {table['value']}"
    return _inline(table if x.is_submodel else {"kind": x.kind, **table})


def _bond(b: Bond) -> Any:
    if b.signal in ("", "active"):
        return f"{b.tail} {'=>' if b.signal else '->'} {b.head}"
    return _inline({"bond": f"{b.tail} => {b.head}", "signal": b.signal})


def _inline(table: Mapping[str, Any]) -> Any:
    made = tomlkit.inline_table()
    made.update(table)
    return made


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(x) for x in value]
    return str(value) if isinstance(value, ParameterExpression) else value
