"""The object users hold: the model's data with every verb of the library as a method.

This is the only place that knows both the data and the rooms that work on it; a method is one line that calls its room.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from eslabon import model, read
from eslabon.write.toml import to_toml


class Mechanism(model.Mechanism):
    """An articulated system and all that can be asked of it."""

    def save(self, path: str | Path) -> Path:
        """Write the mechanism as TOML; `es.load` gives it back unchanged."""
        target = Path(path)
        if target.suffix.lower() != ".toml":
            from eslabon.errors import ReadError

            raise ReadError(f"{target}: a mechanism is saved as TOML; let the name end in .toml.")
        target.write_text(to_toml(self.description), encoding="utf-8")
        return target


class Builder(model.Builder):
    __doc__ = model.Builder.__doc__

    def build(self) -> Mechanism:
        """The finished mechanism, checked."""
        return Mechanism(super().build().description)


def load(source: str | Path, **options: Any) -> Mechanism:
    return Mechanism(read.load(source, **options).description)


def from_dh(*arguments: Any, **options: Any) -> Mechanism:
    return Mechanism(read.from_dh(*arguments, **options).description)


load.__doc__, from_dh.__doc__ = read.load.__doc__, read.from_dh.__doc__
