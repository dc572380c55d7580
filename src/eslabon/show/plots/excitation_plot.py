"""The motion of an excitation in time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from eslabon.model.configuration import velocity_columns
from eslabon.plotting import by_unit, saved, time_figure
from eslabon.systems.identification.excitation import Excitation
from eslabon.systems.identification.regressor_equations import independent


def figure(plan: Excitation, *, theme: str | None = None, path: str | Path | None = None) -> Any:
    """See `Excitation.plot`."""
    t, *values = plan.path.sample(n=401)
    columns = [velocity_columns(plan.m)[k] for k in independent(plan.m)]
    across = len({c.unit for c in columns})
    words = (("coordinates", ""), ("velocities", "/s"), ("accelerations", "/s²"))
    drawn = [
        panel
        for (word, per), x in zip(words, values, strict=True)
        for panel in by_unit(word, [(str(c), c.unit.removesuffix("/s") + per) for c in columns], x)
    ]
    return saved(time_figure(t, drawn, theme=theme, across=across, title=repr(plan)[1:-1]), path)
