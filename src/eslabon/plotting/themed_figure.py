"""A figure of matplotlib that keeps its theme: whatever it makes, draws or saves has that look, in any session."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from io import BytesIO
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

from eslabon.plotting.themes import Theme


def _in_its_look(name: str) -> Callable[..., Any]:
    """A method of figures under the parameters of the figure's theme: ticks, for one, are made as late as when they are drawn."""
    plain = getattr(Figure, name)

    @wraps(plain)
    def method(self: ThemedFigure, *args: Any, **options: Any) -> Any:
        with rc_context(self.theme.parameters):
            return plain(self, *args, **options)

    return method


class ThemedFigure(Figure):
    """A `Figure` with a theme; in a notebook it shows itself."""

    def __init__(self, theme: Theme, **options: Any) -> None:
        self.theme = theme
        with rc_context(theme.parameters):
            super().__init__(**options)

    add_axes = _in_its_look("add_axes")
    add_subplot = _in_its_look("add_subplot")
    colorbar = _in_its_look("colorbar")
    draw = _in_its_look("draw")
    legend = _in_its_look("legend")
    savefig = _in_its_look("savefig")
    suptitle = _in_its_look("suptitle")
    text = _in_its_look("text")

    def _repr_png_(self) -> bytes:
        picture = BytesIO()
        self.savefig(picture, format="png")
        return picture.getvalue()
