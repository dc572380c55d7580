"""Figures of quantities in time, a panel for each quantity and unit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from eslabon.arguments import Floats, floats, instance, text
from eslabon.errors import InputError, format_value
from eslabon.plotting.axes import axis_label
from eslabon.plotting.curves import curves
from eslabon.plotting.figures import panels
from eslabon.plotting.themes import Theme


class InTime(NamedTuple):
    """Curves by name, each (..., times), with what they are and their unit.

    >>> import eslabon as es
    >>> es.plotting.InTime("angles", "rad", {"q1": [0.0, 1.0]}).unit
    'rad'
    """

    title: str
    unit: str
    curves: Mapping[str, Any]
    log: bool = False


def by_unit(title: str, columns: Iterable[tuple[str, str]], values: Floats) -> list[InTime]:
    """Values (..., times, columns) of names and units, those of each unit together.

    >>> import numpy as np
    >>> [(x.title, x.unit, list(x.curves)) for x in by_unit("rates", [("a", "m/s"), ("b", "rad/s"), ("c", "m/s")], np.zeros((5, 3)))]
    [('rates', 'm/s', ['a', 'c']), ('rates', 'rad/s', ['b'])]
    """
    made: dict[str, dict[str, Any]] = {}
    values, pairs = floats(values, "values"), _pairs(columns)
    if values.shape[-1:] != (len(pairs),):
        raise InputError(
            f"values are (..., times, {len(pairs)}), a column for each name; they have shape {values.shape}."
        )
    for k, (name, unit) in enumerate(pairs):
        made.setdefault(unit, {})[name] = values[..., k]
    return [InTime(title, unit, own) for unit, own in made.items()]


def _pairs(columns: Any) -> list[tuple[str, str]]:
    try:
        return [(text(name, "name"), text(unit, "unit")) for name, unit in columns]
    except (TypeError, ValueError):
        raise InputError(
            f"columns are names with units, as in [('q1', 'rad')]; it is {format_value(columns)}."
        ) from None


def time_figure(
    t: Floats, drawn: Iterable[InTime], *, theme: str | Theme | None = None, title: str = "", across: int | None = None,
    size: tuple[float, float] = (5.4, 2.5),
) -> Any:  # fmt: skip
    """A figure with a panel for each of `drawn`, over one axis of times.

    >>> import numpy as np
    >>> import eslabon as es
    >>> figure = es.plotting.time_figure(np.linspace(0, 1, 3), [es.plotting.InTime("angles", "rad", {"q1": np.zeros(3)})])
    >>> len(figure.axes)
    1
    """
    kind = "curves in time, es.plotting.InTime"
    try:
        given: list[Any] = [*drawn]
    except TypeError:  # what has no members
        given = [drawn]
    panes = [instance(x, "drawn", InTime, kind) for x in given]
    made, axes = panels(
        len(panes), size=size, across=across, theme=theme, title=title, bottom=axis_label("t", "s")
    )
    for ax, one in zip(axes, panes, strict=True):
        curves(ax, t, one.curves, unit=one.unit, title=one.title, log=one.log)
    return made
