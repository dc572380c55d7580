"""How a file names the meshes of the mechanism that it describes."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from eslabon.model import Shape


def named_from(shapes: tuple[Shape, ...], folder: Path | None) -> tuple[Shape, ...]:
    """The shapes with meshes in a folder, or below it, named from there, so that both can be moved; others keep their path."""
    return (
        shapes
        if folder is None
        else tuple(replace(x, file=_beside(x.file, Path(folder))) for x in shapes)
    )


def _beside(file: str, folder: Path) -> str:
    if not file or "://" in file:
        return file
    whole, root = Path(os.path.abspath(file)), Path(os.path.abspath(folder))
    return whole.relative_to(root).as_posix() if whole.is_relative_to(root) else str(whole)
