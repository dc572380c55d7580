"""Curves in time, drawn for the page and kept as a table for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from eslabon.plotting import curves, panels
from eslabon.sheets import Sheet
from eslabon.studies.section import Section


class Panel(NamedTuple):
    """Curves of one unit: what they are, their unit, and values (times,) by name. `suffix` sets them apart in a table from
    other curves of these names."""

    name: str
    unit: str
    values: Mapping[str, np.ndarray]
    suffix: str = ""
    log: bool = False


def by_unit(name: str, columns: Sequence[Any], values: np.ndarray, suffix: str = "") -> list[Panel]:
    """A panel for each unit among columns of a motion (`SignalColumn`)."""
    made = []
    for unit in dict.fromkeys(c.unit for c in columns):
        own = {str(c): values[:, k] for k, c in enumerate(columns) if c.unit == unit}
        made.append(Panel(NAMES.get((name, unit), name), unit, own, suffix))
    return made


NAMES = {
    ("coordinate", "rad"): "angle", ("coordinate", "m"): "displacement", ("coordinate", ""): "quaternion",
    ("velocity", "rad/s"): "angular velocity", ("velocity", "m/s"): "speed",
    ("force", "N m"): "torque", ("force", "N"): "force",
}  # fmt: skip


def plot_in_time(
    page: Section, key: str, t: np.ndarray, drawn: Sequence[Panel], caption: str, **values: Any
) -> None:
    """A figure of panels, and the table behind it."""
    rows = np.column_stack([t, *(np.asarray(y) for panel in drawn for y in panel.values.values())])
    heads = ["t [s]"]
    for panel in drawn:
        heads += [
            f"{name}{panel.suffix}" + (f" [{panel.unit}]" if panel.unit else "")
            for name in panel.values
        ]
    page.numbers(Sheet(key, tuple(heads), [tuple(map(float, row)) for row in rows]))
    if any(panel.values for panel in drawn):
        page.figure(figure_in_time(page, t, drawn), caption, **values)


def figure_in_time(page: Section, t: np.ndarray, drawn: Sequence[Panel]) -> Any:
    """A figure of panels, labelled in the page's language."""
    shown = [panel for panel in drawn if panel.values]
    figure, axes = panels(len(shown), size=(5.2, 2.5), bottom=f"{page.said('time')} [s]")
    for ax, panel in zip(axes, shown, strict=True):
        only = next(iter(panel.values)) if len(panel.values) == 1 else ""  # which has no legend
        curves(
            ax,
            t,
            dict(panel.values),
            name=page.said(panel.name),
            unit=panel.unit,
            log=panel.log,
            title=only,
        )
    return figure
