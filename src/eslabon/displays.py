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
def displayed(*, also: Sequence[str] = ..., only: Sequence[str] = ...) -> Callable[[C], C]: ...
def displayed(cls: Any = None, /, *, also: Sequence[str] = (), only: Sequence[str] = ()) -> Any:
    """A class whose objects show themselves in a notebook; `also` are properties to show beside its fields, or `only` those."""

    def marked(own: C) -> C:
        own._repr_html_ = _in_notebook  # type: ignore[attr-defined]
        own._shown_names = (tuple(also), tuple(only))  # type: ignore[attr-defined]
        return own

    return marked if cls is None else marked(cls)


def _in_notebook(thing: Any) -> str | None:
    from eslabon.pages.notebook import shown_in_notebook

    return shown_in_notebook(thing)
