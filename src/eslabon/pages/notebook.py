"""How things show themselves in a notebook: one frame around the pieces of a page, for light and dark alike.

Colours are the notebook's own, and no rule of the style reaches beyond the frame. `eslabon.displays` marks the classes.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from html import escape
from io import BytesIO
from typing import Any

import numpy as np

from eslabon.answers import LISTED_NUMBERS, cell_text
from eslabon.pages.html_elements import Markup, table
from eslabon.sheets import Sheet, shown

STYLE = """
.es-shown { max-width: 100%; overflow-x: auto; color: inherit; line-height: 1.35; }
.es-shown .es-title { margin: .2em 0 .4em; }
.es-shown .es-side { display: flex; flex-wrap: wrap; gap: 0 2em; align-items: flex-start; }
.es-shown table.es-table { border-collapse: collapse; margin: .3em 0 .6em; font-size: .92em; color: inherit;
  border: none; font-variant-numeric: tabular-nums; display: table; width: auto; }
.es-shown .es-table caption { caption-side: top; text-align: left; font-weight: 600; padding: .2em 0; color: inherit; }
.es-shown .es-table th, .es-shown .es-table td { padding: .15em .9em .15em 0; text-align: left; white-space: nowrap;
  vertical-align: middle; background: none; color: inherit; border: none; border-bottom: 1px solid rgba(128, 128, 128, .3); }
.es-shown .es-table tbody tr, .es-shown .es-table thead tr { background: none; color: inherit; }
.es-shown .es-table td.number, .es-shown .es-table th.number { text-align: right; }
.es-shown .es-table th { font-weight: 600; } .es-shown .es-table th small { font-weight: 400; opacity: .7; }
.es-shown .es-table td.es-prose { white-space: normal; min-width: 16em; max-width: 40em; }
.es-shown table.es-matrix { border-collapse: collapse; margin: 0; border: none; border-left: 1px solid; border-right: 1px solid;
  border-radius: 4px; width: auto; color: inherit; font-size: inherit; display: table; } .es-shown .es-table .es-matrix tr { background: none; }
.es-shown .es-table .es-matrix td { border: none; padding: 0 .5em; text-align: right; }
.es-shown p { margin: .3em 0; } .es-shown .es-caption { opacity: .75; font-size: .9em; }
.es-shown ul { margin: .3em 0; padding-left: 1.4em; } .es-shown pre { overflow-x: auto; font-size: .85em; }
.es-shown details > summary { cursor: pointer; opacity: .85; }
.es-shown figure.es-figure { margin: .3em 0; } .es-shown figure.es-figure figcaption { opacity: .75; font-size: .9em; }
.es-shown figure.es-figure svg, .es-shown figure.es-figure img { max-width: 100%; max-height: 34em; height: auto; }
.es-shown iframe { width: 100%; border: 1px solid rgba(128, 128, 128, .3); border-radius: 6px; }
.es-shown .es-card { background: #fff; border-radius: 6px; }
.es-shown svg.es-spark { vertical-align: middle; display: inline-block; }
"""

ENTRIES = 36  # of a matrix that is shown whole
DPI, SHOWN_DPI = 140, 70  # of a picture: two points of it for one of the page
TOGETHER = 14  # curves in one table
POINTS = 160  # of a small curve


# -- the frame ----------------------------------------------------------------------------------------------------------


def shown_in_notebook(thing: Any) -> str | None:
    """The HTML of a thing; None, and so its text, where that fails: a display never raises."""
    try:
        pieces = thing._pieces() if hasattr(thing, "_pieces") else attributes(thing)
        return framed(titled(thing, fields_only=thing._shown_names[2]), *pieces)
    except Exception:
        return None


def framed(*pieces: str) -> str:
    """Pieces with the style that they need."""
    return f'<div class="es-shown"><style>{STYLE}</style>{"".join(pieces)}</div>'


def titled(thing: object, fields_only: bool = False) -> str:
    """The first line of a thing's text, without its angle brackets; only its type where the text says no more than
    its fields."""
    text, name = repr(thing), type(thing).__name__
    if fields_only or text.startswith(f"{name}("):
        return f'<div class="es-title"><b>{escape(name)}</b></div>'
    line = text.splitlines()[0].removeprefix("<").removesuffix(">")
    line = re.sub(r"; (print|see) .*", "", line)  # which is for those who see the text alone
    head, colon, rest = line.partition(":")
    return f'<div class="es-title"><b>{escape(head)}</b>{escape(colon + rest)}</div>'


# -- pieces ------------------------------------------------------------------------------------------------------------


def attributes(thing: Any) -> Iterator[str]:
    """The fields of a dataclass or a named tuple, and what its class says to show beside them."""
    rows = [(name, text) for name, value in shown_attributes(thing) if (text := cell(value)) != ""]
    yield table(Sheet("", ("attribute", "value"), rows, prose=("value",)))


def shown_attributes(thing: Any) -> Iterator[tuple[str, Any]]:
    """Names and values of what is shown of a thing."""
    own = (
        [f.name for f in fields(thing)]
        if is_dataclass(thing)
        else list(getattr(thing, "_fields", ()))
    )
    also, only, _ = thing._shown_names
    return (
        (name, getattr(thing, name))
        for name in only or dict.fromkeys([*own, *also])
        if not name.startswith("_")
    )


def cell(value: Any) -> str | float:
    """A value in a table: a number, a small matrix as one, a long vector as a curve with its range, anything else in words."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    numbers = isinstance(value, np.ndarray) and value.dtype.kind in "fiu"
    if numbers and value.ndim == 2 and 0 < value.size <= ENTRIES:
        rows = "".join(
            "<tr>" + "".join(f"<td>{shown(x)}</td>" for x in row) + "</tr>"
            for row in value.tolist()
        )
        return Markup(f'<table class="es-matrix">{rows}</table>')
    if numbers and value.ndim == 1 and value.size > LISTED_NUMBERS and np.isfinite(value).all():
        return Markup(f"{spark(value)} {escape(cell_text(value))}")
    return cell_text(value)


def in_time(t: Any, curves: Iterable[tuple[str, str, Any]]) -> str:
    """A line for each curve of a name, a unit and values: the first value, the last, the range, and what it looks like."""
    rows = []
    for name, unit, values in curves:
        x = np.asarray(values, dtype=float)
        if x.size:
            rows.append((name, unit, *map(float, (x[0], x[-1], x.min(), x.max())), spark(x, t)))
    if not any(unit for _, unit, *_ in rows):
        return table(
            Sheet(
                "",
                ("", "start", "end", "least", "greatest", "in time"),
                [(x, *row) for x, _, *row in rows],
            )
        )
    return table(Sheet("", ("", "unit", "start", "end", "least", "greatest", "in time"), rows))


def drawn(plot: Callable[[], Any]) -> Iterator[str]:
    """A figure of matplotlib as a picture; nothing where there is no matplotlib, or where it cannot be drawn: what stands beside
    it is still to be seen."""
    picture = BytesIO()
    try:
        figure = plot()
        figure.savefig(picture, format="png", dpi=DPI)
    except Exception:
        return
    wide = figure.get_size_inches()[0] * SHOWN_DPI
    data = b64encode(picture.getvalue()).decode()
    yield f'<img class="es-card" alt="" width="{wide:.0f}" src="data:image/png;base64,{data}">'


def in_groups(t: Any, groups: Mapping[str, Sequence[tuple[str, str, Any]]]) -> Iterator[str]:
    """Curves in time in one table, or, if they are many, in a table for each group, of which the long ones are folded."""
    if sum(map(len, groups.values())) <= TOGETHER:
        yield in_time(t, [curve for own in groups.values() for curve in own])
        return
    for title, own in groups.items():
        yield folded(f"{title} ({len(own)})", in_time(t, own), opened=len(own) <= TOGETHER)


def folded(title: str, *pieces: str, opened: bool = False) -> str:
    """Pieces behind a line that unfolds them."""
    return (
        f"<details{' open' * opened}><summary>{escape(title)}</summary>{''.join(pieces)}</details>"
    )


def beside(*pieces: str) -> str:
    """Pieces next to one another, as far as there is room."""
    return f'<div class="es-side">{"".join(f"<div>{piece}</div>" for piece in pieces)}</div>'


def source_text(text: str) -> str:
    """Text of a program."""
    return f"<pre><code>{escape(text)}</code></pre>"


def spark(values: Any, t: Any = None, width: int = 120, height: int = 22) -> Markup:
    """A curve in a line of text, in the text's colour; of values at times, or evenly spaced.

    >>> spark([0.0, 1.0, 0.0]).count("<polyline")
    1
    """
    x = np.asarray(values, dtype=float)
    t = np.arange(float(len(x))) if t is None else np.asarray(t, dtype=float)
    t, x = t[np.isfinite(x)], x[np.isfinite(x)]
    some = np.unique(np.linspace(0, max(len(x) - 1, 0), min(len(x), POINTS)).astype(int))
    points = " ".join(
        f"{a:.1f},{b:.1f}"
        for a, b in zip(_within(t, width)[some], height - _within(x, height)[some], strict=True)
    )
    line = f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="1.2"/>'
    return Markup(
        f'<svg class="es-spark" width="{width}" height="{height}" viewBox="0 0 {width} {height}">{line}</svg>'
    )


def _within(x: Any, size: int) -> Any:
    """Values spread over a length, two points off its ends; what does not change stands in the middle."""
    low, high = x.min(initial=np.inf), x.max(initial=-np.inf)
    if high - low <= 1e-12 * max(abs(low), abs(high)):
        return np.full(x.shape, size / 2)
    return 2 + (size - 4) * (x - low) / (high - low)
