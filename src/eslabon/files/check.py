"""Everything that reading, the schema, validation and plausibility find in a file, each with its
place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from eslabon.errors import ModelError, ModelWarning
from eslabon.files import read_file
from eslabon.files.diagnostics import Diagnostics, SourceText
from eslabon.model import Description, Model, ParameterExpression
from eslabon.model.items import ITEMS
from eslabon.model.parameter_expressions import leaves
from eslabon.model.validation import (
    implausible,
    inadmissible,
    moving_bodies_weigh_nothing,
    violations,
    with_values,
    without_value,
)


def check_file(path: Path, options: Mapping[str, Any]) -> tuple[Model | None, Diagnostics]:
    """The mechanism of a file, None where it is refused, and all that is wrong or odd in it."""
    diagnostics = Diagnostics(SourceText(path), collect=True)
    description: Description | None = None
    with diagnostics.reading():
        description = read_file(diagnostics, options)
    if description is None:
        return None, diagnostics
    for error in _mistakes(description, diagnostics):
        diagnostics.add(error)
    if diagnostics.errors:
        return None, diagnostics
    m = Model(description)
    for warning in (*implausible(m), *moving_bodies_weigh_nothing(m), *_oddities(m)):
        diagnostics.warn(str(warning), *warning.place)
    return m, diagnostics


def _mistakes(d: Description, diagnostics: Diagnostics) -> Iterator[ModelError]:
    """What keeps a description from being a mechanism; of one that was not read whole, nothing of
    its tree."""
    yield from violations(d, diagnostics.unread_items())
    yield from without_value(d)
    yield from inadmissible(_Unchecked(with_values(d)))


class _Unchecked(Model):
    """A model of whatever there is, to ask of its numbers."""

    def __init__(self, description: Description) -> None:
        self.__dict__.update(description=description, _symbols={})


def _oddities(m: Model) -> Iterator[ModelWarning]:
    """What is legal and looks like a slip of whoever wrote the file."""
    d = m.description
    items = (d.gravity, d.parameters, *(getattr(d, kind) for kind in ITEMS))
    used = {name for x in leaves(items) if isinstance(x, ParameterExpression) for name in x.names()}
    for name, _ in d.parameters:
        if name not in used:
            yield ModelWarning(f"parameter '{name}' is used nowhere.").at("parameters", name)
    if not m.nv:
        yield ModelWarning("nothing moves: all joints are fixed.")
    elif not m.actuated:
        yield ModelWarning("no joint is actuated; name those that motors drive.").at("actuated")
