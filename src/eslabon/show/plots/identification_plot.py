"""Forces as measured and as identified, in time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from eslabon.model.configuration import velocity_columns
from eslabon.motion.trajectory import FORCE
from eslabon.plotting import axis_label, curves, panels, saved
from eslabon.systems.identification.identification import Identification
from eslabon.systems.identification.regressor_equations import independent


def figure(
    found: Identification, *, theme: str | None = None, path: str | Path | None = None
) -> Any:
    """See `Identification.plot`."""
    columns = [velocity_columns(found.m)[k] for k in independent(found.m)]
    title = f"{found.m.name}: forces as measured and as identified"
    made, axes = panels(
        len(columns),
        across=1,
        size=(7.5, 1.9),
        theme=theme,
        title=title,
        bottom=axis_label("t", "s"),
    )
    t, measured, left = found.in_time()
    styles = {"measured": {"color": made.theme.quiet, "linewidth": 2.4, "alpha": 0.6}}
    for k, (ax, column) in enumerate(zip(axes, columns, strict=True)):
        both = {
            "measured": measured[:, k],
            "identified": measured[:, k] - left[:, k],
            "residual": left[:, k],
        }
        curves(ax, t, both, unit=FORCE[column.unit], title=str(column), styles=styles)
    return saved(made, path)
