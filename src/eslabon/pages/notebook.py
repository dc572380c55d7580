"""How things show themselves in a notebook: one frame around the pieces of a page, for light and dark alike.

A class marked `displayed` gets `_repr_html_`. What it shows are the pieces that its method `_pieces` gives, each a text of
HTML; without one, its attributes in a table. Colours are the notebook's own, and no rule of the style reaches beyond it.

>>> from dataclasses import dataclass
>>> @displayed
... @dataclass
... class Spring:
...     stiffness: float
>>> "stiffness" in Spring(200.0)._repr_html_()
True
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from html import escape
from typing import Any, TypeVar, overload

from eslabon.pages.pieces import Markup, table
from eslabon.sheets import Sheet, shown

C = TypeVar("C", bound=type)

STYLE = """
.es-shown { max-width: 100%; overflow-x: auto; color: inherit; line-height: 1.35; }
.es-shown .es-title { margin: .2em 0 .4em; }
.es-shown .es-side { display: flex; flex-wrap: wrap; gap: 0 2em; align-items: flex-start; }
.es-shown table.es-table { border-collapse: collapse; margin: .3em 0 .6em; font-size: .92em; color: inherit;
  border: none; font-variant-numeric: tabular-nums; display: table; width: auto; }
.es-shown .es-table caption { caption-side: top; text-align: left; font-weight: 600; padding: .2em 0; color: inherit; }
.es-shown .es-table th, .es-shown .es-table td { padding: .15em .9em .15em 0; text-align: left; white-space: nowrap;
  vertical-align: top; background: none; color: inherit; border: none; border-bottom: 1px solid rgba(128, 128, 128, .3); }
.es-shown .es-table tbody tr, .es-shown .es-table thead tr { background: none; color: inherit; }
.es-shown .es-table td.number, .es-shown .es-table th.number { text-align: right; }
.es-shown .es-table th { font-weight: 600; } .es-shown .es-table th small { font-weight: 400; opacity: .7; }
.es-shown .es-table td.es-prose { white-space: normal; min-width: 16em; max-width: 40em; }
.es-shown p { margin: .3em 0; } .es-shown .es-caption { opacity: .75; font-size: .9em; }
.es-shown ul { margin: .3em 0; padding-left: 1.4em; } .es-shown pre { overflow-x: auto; font-size: .85em; }
.es-shown details > summary { cursor: pointer; opacity: .85; }
.es-shown figure.es-figure { margin: .3em 0; } .es-shown figure.es-figure figcaption { opacity: .75; font-size: .9em; }
.es-shown figure.es-figure svg, .es-shown figure.es-figure img { max-width: 100%; height: auto; }
.es-shown .es-card { background: #fff; border-radius: 6px; }
.es-shown svg.es-spark { vertical-align: middle; display: inline-block; }
"""

MANY = 8  # numbers of an array that are shown one by one
LONG = 160  # letters of a text that are shown


# -- what is marked ----------------------------------------------------------------------------------------------------


@overload
def displayed(cls: C, /) -> C: ...
@overload
def displayed(*, also: Sequence[str]) -> Callable[[C], C]: ...
def displayed(cls: Any = None, /, *, also: Sequence[str] = ()) -> Any:
    """A class whose objects show themselves in a notebook; `also` are properties to show beside its fields."""

    def marked(own: C) -> C:
        own._repr_html_ = shown_in_notebook  # type: ignore[attr-defined]
        own._also_shown = (*getattr(own, "_also_shown", ()), *also)  # type: ignore[attr-defined]
        return own

    return marked if cls is None else marked(cls)


def shown_in_notebook(thing: Any) -> str | None:
    """The HTML of a thing; None, and so its text, where that fails: a display never raises."""
    try:
        pieces = thing._pieces() if hasattr(thing, "_pieces") else attributes(thing)
        return framed(titled(thing), *pieces)
    except Exception:
        return None


def framed(*pieces: str) -> str:
    """Pieces with the style that they need."""
    return f'<div class="es-shown"><style>{STYLE}</style>{"".join(pieces)}</div>'


def titled(thing: Any) -> str:
    """The first line of a thing's text, without its angle brackets; nothing for what is told by its fields alone."""
    text = repr(thing)
    if not text.startswith("<") and "\n" not in text:
        return f'<div class="es-title"><b>{escape(type(thing).__name__)}</b></div>'
    line = text.splitlines()[0].removeprefix("<").removesuffix(">")
    head, colon, rest = line.partition(":")
    return f'<div class="es-title"><b>{escape(head)}</b>{escape(colon + rest)}</div>'


# -- pieces ------------------------------------------------------------------------------------------------------------


def attributes(thing: Any) -> Iterator[str]:
    """The fields of a dataclass or a named tuple, and what its class says to show beside them."""
    names = [f.name for f in fields(thing)] if is_dataclass(thing) else list(getattr(thing, "_fields", ()))
    names = [n for n in dict.fromkeys([*names, *thing._also_shown]) if not n.startswith("_")]
    rows = [(name, said(getattr(thing, name))) for name in names if getattr(thing, name) is not None]
    yield table(Sheet("", ("attribute", "value"), rows, prose=("value",)))


def said(value: Any) -> str:
    """A value in a cell: few numbers one by one, of many how many and their range, of anything else the text, shortened.

    >>> import numpy as np
    >>> said(np.array([1.0, 2.5])), said(np.arange(12.0).reshape(3, 4)), said(("a", "b"))
    ('1 2.5', '3 x 4 numbers, 0 to 11', 'a, b')
    """
    if hasattr(value, "dtype") and getattr(value, "ndim", 0):
        return _array(value)
    if isinstance(value, complex):
        return f"{value:.6g}"
    if isinstance(value, bool) or type(value).__name__ == "bool":
        return "yes" if value else "no"
    if isinstance(value, int | float) or hasattr(value, "dtype"):
        return shown(value) if not str(value).endswith("j)") else f"{complex(value):.6g}"
    if isinstance(value, Mapping):
        return _short(", ".join(f"{key}: {said(x)}" for key, x in value.items()))
    if isinstance(value, str):
        return _short(value)
    if isinstance(value, Iterable) and not hasattr(value, "_repr_html_"):
        return _short(", ".join(map(said, value)))
    return _short(repr(value).splitlines()[0].removeprefix("<").removesuffix(">"))


def _array(x: Any) -> str:
    if x.ndim == 1 and x.size <= MANY:
        return ", ".join(map(said, x.tolist())) if x.dtype.kind in "cbOU" else " ".join(map(shown, x.tolist()))
    size = " x ".join(map(str, x.shape))
    if not x.size or x.dtype.kind not in "fiu":
        return f"{size} {'truth values' if x.dtype.kind == 'b' else 'values'}"
    return f"{size} numbers, {shown(x.min())} to {shown(x.max())}"


def _short(text: str) -> str:
    return text if len(text) <= LONG else f"{text[: LONG - 1].rstrip()}…"


def matrix(title: str, values: Any, rows: Sequence[str], columns: Sequence[str], corner: str = "") -> str:
    """A matrix with names at its rows and columns."""
    own = values.tolist()
    return table(Sheet(title, (corner, *columns), [(name, *row) for name, row in zip(rows, own, strict=True)]))


def folded(title: str, *pieces: str, opened: bool = False) -> str:
    """Pieces behind a line that unfolds them."""
    return f"<details{' open' * opened}><summary>{escape(title)}</summary>{''.join(pieces)}</details>"


def beside(*pieces: str) -> str:
    """Pieces next to one another, as far as there is room."""
    return f'<div class="es-side">{"".join(f"<div>{piece}</div>" for piece in pieces)}</div>'


def source(text: str) -> str:
    """Text of a program."""
    return f"<pre><code>{escape(text)}</code></pre>"


def spark(values: Sequence[float], width: int = 120, height: int = 22) -> Markup:
    """A curve in a line of text, in its colour.

    >>> spark([0.0, 1.0, 0.0]).count("<polyline")
    1
    """
    low, high = min(values), max(values)
    across = (width - 2) / max(len(values) - 1, 1)
    tall = (height - 4) / (high - low) if high > low else 0.0
    base = height - 2 if high > low else height / 2
    points = " ".join(f"{1 + across * k:.1f},{base - tall * (x - low):.1f}" for k, x in enumerate(values))
    line = f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="1.2"/>'
    return Markup(
        f'<svg class="es-spark" width="{width}" height="{height}" viewBox="0 0 {width} {height}">{line}</svg>'
    )
