"""What a panel writes: headings, sentences, gauges and units, as small pieces of HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from eslabon.model.configuration import limits
from eslabon.plotting import PALETTE, Theme
from eslabon.viewer.readings import Gauge
from eslabon.viewer.session import Drive

if TYPE_CHECKING:
    from eslabon.mechanism import Mechanism
    from eslabon.viewer.exhibit import Exhibit
    from eslabon.viewer.live_simulation import LiveSimulation

NONE = "-"
COLOURS = {"green": PALETTE["green"], "yellow": PALETTE["orange"], "red": PALETTE["vermillion"]}
LIKE = {"green": "well conditioned", "yellow": "near singular", "red": "all but singular"}
BUSY = "<div style='padding:0 0.9em 0.45em;font-size:0.82em;opacity:0.6'>one moment ...</div>"
BOX = "font-size:0.82em;line-height:1.35;padding:0 0.9em 0.45em 0.9em"


def heading(m: Mechanism) -> str:
    count = f"{m.dof} degree{'s' if m.dof != 1 else ''} of freedom"
    loops = f", {len(m.loops)} loop{'s' if len(m.loops) != 1 else ''}" if m.loops else ""
    return f"<div style='{BOX};padding-top:0.5em'><b>{count}{loops}</b></div>"


def sentence(said: str) -> str:
    if not said:
        return ""
    mark = PALETTE["vermillion"]
    return f"<div class='said' style='{BOX}'><div style='border-left:3px solid {mark};padding-left:0.6em'>{escape(said)}</div></div>"


def gauges(found: tuple[Gauge, ...], theme: Theme) -> str:
    """A bar for each reciprocal condition number, on a logarithmic scale from a thousandth to one."""
    rows = "".join(_gauge(g, theme) for g in found)
    lost = "".join(
        f"<div>{escape(word)}</div>" for word in dict.fromkeys(w for g in found for w in g.words)
    )
    return f"<div style='{BOX}'>{rows}{lost}</div>" if found else ""


def _gauge(g: Gauge, theme: Theme) -> str:
    wide = float(np.clip(1 + np.log10(max(g.value, 1e-9)) / 3, 0.02, 1.0))
    bar = f"<div style='width:{100 * wide:.0f}%;height:100%;background:{COLOURS[g.colour]};border-radius:3px'></div>"
    track = f"<div style='height:0.5em;background:{theme.grid};border-radius:3px;margin:0.15em 0 0.35em'>{bar}</div>"
    return f"<div class='gauge {g.colour}'>{g.kind} condition <b>{g.value:.2g}</b>, {LIKE[g.colour]}</div>{track}"


def simulation(run: LiveSimulation | None) -> str:
    if run is None:
        return ""
    kinetic, potential = run.energy
    total = f"energy {kinetic + potential:.4g} J"
    return f"<div style='{BOX}'>t = {run.t:.2f} s<br>{total}<br>kinetic {kinetic:.3g} J, potential {potential:.4g} J</div>"


def legend(theme: Theme) -> str:
    names = {
        "actuated": "actuated joint",
        "joint": "joint",
        "cut": "cut joint of a loop",
        "force": "force",
        "reaction": "reaction",
    }
    dots = "".join(
        f"<div><span style='color:{theme.role(role)}'>&#9679;</span> {name}</div>"
        for role, name in names.items()
    )
    return f"<div style='{BOX}'>{dots}</div>"


def shown_unit(unit: str, size: float) -> tuple[str, float]:
    """The unit that people see, and how many of it a radian or a metre is.

    >>> shown_unit("m", 0.3), shown_unit("m", 7.0)[0], shown_unit("rad", 1.0)[0]
    (('mm', 1000.0), 'm', '°')
    """
    if unit == "rad":
        return "°", 180 / np.pi
    return ("mm", 1000.0) if size < 3 else ("m", 1.0)


def fine(span: float) -> float:
    """A step of one digit, some thousandth of a span.

    >>> fine(360.0), fine(0.3)
    (0.1, 0.0001)
    """
    return float(10.0 ** np.floor(np.log10(span / 1000))) if span > 0 else 1.0


def rounded(value: float) -> float:
    """A value to one digit, upwards.

    >>> rounded(137.0)
    200.0
    """
    power = 10.0 ** np.floor(np.log10(value))
    return float(np.ceil(value / power) * power)


def limited(m: Mechanism) -> bool:
    """Whether any joint has limits."""
    return bool(np.isfinite(limits(m)).any())


def outermost(exhibit: Exhibit) -> str:
    """The body that carries the frame that is led, or else the last one."""
    frame = exhibit.session.frame
    return exhibit.m.bodies[-1].name if frame is None else exhibit.m.frame(frame).body


def in_range(value: float, drive: Drive) -> float:
    """A coordinate as a slider shows it: an angle that has gone round is shown where it is in its range."""
    if drive.unit == "rad" and not drive.lower <= value <= drive.upper:
        middle = (drive.lower + drive.upper) / 2
        return middle + float(np.remainder(value - middle + np.pi, 2 * np.pi) - np.pi)
    return value
