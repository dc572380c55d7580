"""Figures and their files: the one place that asks for matplotlib, which an installation may be without."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from textwrap import wrap
from typing import Any

from eslabon.arguments import choice, file_path, flag, positive, text
from eslabon.arguments import count as checked_count
from eslabon.atomic_files import write
from eslabon.errors import InputError, MissingDependencyError, ReadError, format_value
from eslabon.plotting.axes import plain
from eslabon.plotting.themes import Theme, theme_of

LETTERS = 12  # of a title in an inch
MOST_PANELS = 400
FORMATS = (".png", ".svg", ".pdf")


def _matplotlib() -> Any:
    try:
        import matplotlib
        import matplotlib.figure
    except ImportError:
        raise MissingDependencyError(
            "figures need matplotlib; pip install 'eslabon[plot]' brings it."
        ) from None
    return matplotlib


def new_figure(theme: str | Theme | None = None, **options: Any) -> Any:
    """A matplotlib `Figure` that needs no window and is forgotten with its last name.

    What is added to it looks as its theme, "light" or "dark", says; options are those of `Figure`.

    >>> import eslabon as es
    >>> es.plotting.new_figure("dark", figsize=(3, 2)).get_facecolor()[:3] == (1.0, 1.0, 1.0)
    False
    """
    _matplotlib()
    from eslabon.plotting.themed_figure import ThemedFigure

    if "figsize" in options:
        options["figsize"] = _size(options["figsize"], "figsize", "a figure")
    look = theme_of(theme)
    try:
        return ThemedFigure(look, **{"layout": "constrained", "dpi": 110, **options})
    except (AttributeError, TypeError, ValueError) as error:
        raise InputError(
            f"matplotlib makes no such figure: {str(error).splitlines()[0].rstrip('.')}."
        ) from None


def _size(size: Any, name: str, what: str) -> tuple[float, float]:
    if not isinstance(size, list | tuple) or len(size) != 2:
        raise InputError(
            f"{name} is the width and the height of {what}, in inches; it is {format_value(size)}."
        )
    return positive(size[0], name), positive(size[1], name)


@contextmanager
def look(theme: str | Theme | None = None) -> Iterator[Theme]:
    """Within it, all that matplotlib makes has the look of a theme, in figures of anybody.

    >>> import eslabon as es
    >>> with es.plotting.look("dark") as theme:
    ...     name = theme.name
    >>> name
    'dark'
    """
    with _matplotlib().rc_context(theme_of(theme).parameters):
        yield theme_of(theme)


def panels(
    count: int, *, size: tuple[float, float] = (5.4, 2.5), across: int | None = None, theme: str | Theme | None = None,
    title: str = "", bottom: str = "", shared: bool = True,
) -> tuple[Any, list[Any]]:  # fmt: skip
    """A figure of so many panels, each about `size` inches, in two columns if `across` is left out, and their axes.

    `shared` panels have one horizontal axis, labelled under the lowest of each column by `bottom`.

    >>> import eslabon as es
    >>> figure, axes = es.plotting.panels(3, title="three panels")
    >>> len(axes)
    3
    """
    checked_count(count, "count", 1, MOST_PANELS)
    across = min(count, 2) if across is None else checked_count(across, "across", 1, MOST_PANELS)
    size = _size(size, "size", "a panel")
    text(title, "title")
    text(bottom, "bottom")
    flag(shared, "shared")
    down = -(-count // across)
    figure = new_figure(theme, figsize=(size[0] * across, size[1] * down + (0.6 if title else 0.3)))
    grid = figure.subplots(down, across, sharex=shared, squeeze=False).ravel()
    for ax in grid[count:]:
        ax.remove()
    for k, ax in enumerate(grid[:count]):
        if not shared or k + across >= count:
            ax.set_xlabel(bottom)
            ax.tick_params(labelbottom=True)
    if title:
        figure.suptitle(
            _in_lines(plain(title), round(LETTERS * size[0] * across)), color=figure.theme.quiet
        )
    return figure, list(grid[:count])


def _in_lines(title: str, letters: int) -> str:
    """A title in lines of not too many letters, never broken between a number and its unit."""
    kept = re.sub(r"(?<=\d) (?=\w)", "\u00a0", title)
    return "\n".join(wrap(kept, letters, break_long_words=False)).replace("\u00a0", " ")


def save_figure(figure: Any, path: str | Path, dpi: int = 130, transparent: bool = False) -> Path:
    """Write a figure in the format that the file's name ends in: .png, .svg or .pdf, on paper of its theme or on none.

    The same figure gives the same file, run by run.

    >>> import tempfile
    >>> import eslabon as es
    >>> figure, axes = es.plotting.panels(1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     name = es.plotting.save_figure(figure, f"{folder}/empty.svg").name
    >>> name
    'empty.svg'
    """
    path, suffix = file_path(path), check_format(path)
    return write(path, _content(figure, suffix[1:], dpi, flag(transparent, "transparent")))


def check_format(path: str | Path) -> str:
    """The ending of a figure's file, or a sentence."""
    suffix = file_path(path).suffix.lower() or ".png"  # of /dev/stdout, for one
    if suffix not in FORMATS:
        raise ReadError(f"{path}: figures are written as .png, .svg or .pdf; let the name end so.")
    return suffix


def saved(figure: Any, path: str | Path | None) -> Any:
    """The figure; written to a file too, where a path is given: how every `plot` ends.

    >>> import eslabon as es
    >>> es.plotting.saved(es.plotting.new_figure(), None).theme.name
    'light'
    """
    if path is not None:
        save_figure(figure, path)
    return figure


def svg_text(figure: Any, transparent: bool = False) -> str:
    """A figure as the text of an SVG, for a page.

    >>> import eslabon as es
    >>> figure, axes = es.plotting.panels(1)
    >>> "<svg" in es.plotting.svg_text(figure)
    True
    """
    return _content(figure, "svg", 130, flag(transparent, "transparent")).decode()


def _content(figure: Any, kind: str, dpi: int, transparent: bool) -> bytes:
    dates: Any = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
    picture = BytesIO()
    with _matplotlib().rc_context({"svg.hashsalt": "eslabon", "svg.fonttype": "none"}):
        if not hasattr(figure, "savefig"):
            raise InputError(
                f"figure is one of matplotlib, as es.plotting.panels gives it; it is {format_value(figure)}."
            )
        figure.savefig(
            picture,
            dpi=positive(dpi, "dpi"),
            format=choice(kind, "format", dates),
            transparent=transparent,
            metadata=dates[kind],
        )
    return picture.getvalue()
