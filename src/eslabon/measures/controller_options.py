"""Controllers as measures take them: which are laws already, and of the others, by name, options checked before the first design is measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from typing import Any

from eslabon.arguments import known_words
from eslabon.errors import ModelError
from eslabon.model import Model


def check_options(
    name: str, function: Callable[..., Any], first: int, options: Mapping[str, Any]
) -> None:
    """Refuse options that a function does not have, and say which it needs; the first arguments are not options.

    >>> from eslabon.systems.control import pd_gravity
    >>> check_options("pd_gravity", pd_gravity, 2, {"Kp": 10.0})
    Traceback (most recent call last):
    ...
    eslabon.errors.ModelError: pd_gravity needs the option Kd.
    """
    known = list(signature(function).parameters.values())[first:]
    known_words(options, [p.name for p in known], f"{name} has no option")
    for p in known:
        if p.default is Parameter.empty and p.name not in options:
            raise ModelError(f"{name} needs the option {p.name}.")


def is_law(value: Any) -> bool:
    """Whether it is a law of `es.control`, which knows its mechanism and its graph."""
    return isinstance(getattr(value, "m", None), Model) and hasattr(value, "graph")
