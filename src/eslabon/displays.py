"""The mark of classes whose objects show themselves in a notebook.

What is shown are the pieces that a method `_pieces` gives, each a text of HTML; without one, the object's attributes in a
table. How it is shown is said in `eslabon.pages.notebook`, which is loaded when something is first shown.

>>> from dataclasses import dataclass
>>> @displayed
... @dataclass
... class Spring:
...     stiffness: float
>>> "stiffness" in Spring(200.0)._repr_html_()
True
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

C = TypeVar("C", bound=type)


@overload
def displayed(cls: C, /) -> C: ...
@overload
def displayed(
    *, also: Sequence[str] = ..., only: Sequence[str] = ..., line: bool = ...
) -> Callable[[C], C]: ...
def displayed(
    cls: Any = None, /, *, also: Sequence[str] = (), only: Sequence[str] = (), line: bool = False
) -> Any:
    """A class whose objects show themselves in a notebook; `also` are properties to show beside its fields, or `only` those.

    With `line` their text is one line too, which tells of long arrays how many numbers they are and from where to where.

    >>> import numpy as np
    >>> from typing import NamedTuple
    >>> @displayed(line=True)
    ... class Swing(NamedTuple):
    ...     t: np.ndarray
    ...     name: str
    >>> Swing(np.linspace(0, 2, 100), "first")
    <Swing: t 100 numbers, 0 to 2; name first>
    """

    def marked(own: C) -> C:
        own._repr_html_ = _in_notebook  # type: ignore[attr-defined]
        own._shown_names = (tuple(also), tuple(only), line)  # type: ignore[attr-defined]
        if line:
            own.__repr__ = _in_a_line  # type: ignore[assignment]
        return own

    return marked if cls is None else marked(cls)


def _in_notebook(thing: Any) -> str | None:
    from eslabon.pages.notebook import shown_in_notebook

    return shown_in_notebook(thing)


def _in_a_line(thing: Any) -> str:
    from eslabon.answers import cell_text
    from eslabon.pages.notebook import shown_attributes

    told = ((name, cell_text(value)) for name, value in shown_attributes(thing))
    return f"<{type(thing).__name__}: {'; '.join(f'{name} {text}' for name, text in told if text)}>"
