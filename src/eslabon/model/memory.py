"""What is remembered of a model, with the model: one memory for all that follows from it, and
tables nobody changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, NoReturn, ParamSpec, TypeVar

from eslabon.answers import Answer, Column, Table

P = ParamSpec("P")
T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")


def per_model(function: Callable[P, T]) -> Callable[P, T]:
    """Remember what a function says of a model, its first argument, as long as the model lives: to
    hash a description takes longer than many a search."""

    @wraps(function)
    def remembered(*arguments: P.args, **options: P.kwargs) -> T:
        m, *others = arguments
        known: dict[Any, T] = m.memory  # type: ignore[attr-defined]
        key = (function, *others, *options.items())
        if key not in known:
            known[key] = function(*arguments, **options)
        return known[key]

    return remembered


class FrozenDict(Answer, dict[K, V]):
    """A dictionary that cannot be changed; it can be copied and sent to other processes."""

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("what belongs to a mechanism cannot be changed; dict(...) of it can.")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)

    def contents(self) -> Iterator[Table]:
        rows = [(str(name), value) for name, value in self.items()]
        yield Table((Column("name"), Column("value")), rows)

    __str__ = dict.__repr__  # in sentences and on terminals it is a dictionary like any other
