"""Figures: the one place that asks for matplotlib, which an installation may be without."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

from eslabon.errors import MissingDependencyError, ReadError
from eslabon.files import write


def new_figure(**options: Any) -> Any:
    """A matplotlib `Figure` that needs no window and is forgotten with its last name."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependencyError("figures need matplotlib; pip install 'eslabon[plot]' brings it.") from None
    return Figure(**{"layout": "constrained", **options})


def save_figure(figure: Any, path: Path, dpi: int = 130) -> Path:
    """Write a figure in the format that the file's name ends in."""
    picture = BytesIO()
    try:
        figure.savefig(picture, dpi=dpi, format=path.suffix[1:] or "png")
    except ValueError:
        raise ReadError(f"{path}: figures are written as .png, .svg or .pdf; let the name end so.") from None
    return write(path, picture.getvalue())
