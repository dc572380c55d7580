"""A motion as a figure: what was asked for by name, a panel for each quantity and unit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from eslabon.arguments import choice, names
from eslabon.errors import ModelError, suggest
from eslabon.motion.trajectory import Trajectory
from eslabon.plotting import axis_label, mark, panels, saved, theme_of
from eslabon.show.plots.motion_panels import (
    Panel,
    closure,
    condition,
    energy,
    in_time,
    phase,
    power,
    reactions,
    torque_speed,
)

MARKS = 200  # events that a figure still shows

PANELS: Mapping[str, Callable[[Trajectory, frozenset[str] | None], Iterable[Panel]]] = {
    "coordinates": lambda motion, joints: in_time(motion, "q", joints),
    "velocities": lambda motion, joints: in_time(motion, "v", joints),
    "accelerations": lambda motion, joints: in_time(motion, "a", joints),
    "forces": lambda motion, joints: in_time(motion, "tau", joints),
    "energy": energy,
    "power": power,
    "phase": phase,
    "reactions": reactions,
    "torque_speed": torque_speed,
    "closure": closure,
    "condition": condition,
}
USUAL = ("coordinates", "velocities", "forces", "energy")


def figure(
    motion: Trajectory,
    *,
    what: Sequence[str] = (),
    joints: Any = None,
    theme: str | None = None,
    path: str | Path | None = None,
) -> Any:
    """See `Trajectory.plot`."""
    theme_of(theme)  # a wrong one is refused before anything is computed
    asked = [choice(word, "what is plotted", PANELS) for word in what] or _usual(motion)
    own = None if joints is None else _joints(motion, names(joints, "joints"))
    drawn = [panel for word in dict.fromkeys(asked) for panel in PANELS[word](motion, own)]
    if not drawn:
        raise ModelError(
            f"{motion!r} has nothing to plot of {', '.join(asked)}{' for these joints' * (own is not None)}."
        )
    shared = all(panel.timed for panel in drawn)
    time, size = axis_label("t", "s"), (5.4, 2.5 if shared else 3.4)
    made, axes = panels(
        len(drawn), size=size, theme=theme, title=repr(motion)[1:-1], shared=shared, bottom=time
    )
    for ax, panel in zip(axes, drawn, strict=True):
        panel.draw(ax)
        if panel.timed:
            mark(ax, [t for happened in motion.events.values() for t in happened.t[:MARKS]])
    return saved(made, path)


def _usual(motion: Trajectory) -> list[str]:
    """No panel for an undriven mechanism's zeros; of a path that was followed, how well."""
    if "tau" not in motion.groups:
        followed = ["condition"] if "condition" in motion.groups else []
        return ["coordinates", "velocities", "accelerations", *followed]
    return [word for word in USUAL if word != "forces" or motion.tau.any()]


def _joints(motion: Trajectory, wanted: tuple[str, ...]) -> frozenset[str]:
    known = dict.fromkeys(c.joint for c in motion.columns["q"])
    if motion.m is not None:
        m = motion.m
        known = dict.fromkeys((*(j.name for j in m.joints), *(x.name for x in m.loops)))
    for name in wanted:
        if name not in known:
            raise ModelError(f"{motion.name} has no joint {name!r}{suggest(name, known)}")
    return frozenset(wanted)
