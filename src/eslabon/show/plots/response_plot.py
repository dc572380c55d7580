"""The response of a linear model beside the true one in time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from eslabon.errors import InputError
from eslabon.model.configuration import velocity_names, velocity_units
from eslabon.motion.trajectory import FORCE
from eslabon.numerics.tolerances import ROUND_OFF
from eslabon.plotting import axis_label, curves, panels, saved
from eslabon.systems.linear.perturbed_response import Response


def figure(r: Response, *, theme: str | None = None, path: str | Path | None = None) -> Any:
    """See `Response.plot`."""
    if r.t is None or r.dq.ndim != 2:
        raise InputError(f"{r!r} is drawn over time: of one trajectory with its times.")
    largest = float(np.abs([r.true, r.linear]).max(initial=0.0))
    title = f"{r.model.name}: forces of the perturbed motion less the nominal"
    made, axes = panels(
        len(r.coordinates), size=(5.4, 2.4), theme=theme, title=title, bottom=axis_label("t", "s")
    )
    styles = {
        "true": {"linewidth": 2.6},
        "linear": {"linestyle": (0, (5, 2)), "color": made.theme.ink},
    }
    for k, (ax, name) in enumerate(zip(axes, r.coordinates, strict=True)):
        values = {"true": r.true[:, k], "linear": r.linear[:, k], "linear - true": r.residual[:, k]}
        curves(ax, r.t, values, unit=_unit(r, name), title=name, styles=styles)
        if max(np.abs(x[:, k]).max(initial=0.0) for x in (r.true, r.linear)) < ROUND_OFF * largest:
            ax.set_ylim(-1e-3 * largest, 1e-3 * largest)  # nothing, and not its digits
    return saved(made, path)


def _unit(r: Response, coordinate: str) -> str:
    """That of the force along a coordinate."""
    m = r.model.layout.model
    return FORCE[velocity_units(m)[velocity_names(m).index(coordinate)]]
