"""A motion as one HTML file with a 3-D scene that can be orbited, played and scrubbed without network."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from eslabon.arguments import finite, flag, positive, states
from eslabon.drawing.drawn_solids import (
    THEMES,
    add_mechanism,
    close_server,
    extent_of,
    open_server,
    rgb,
    set_stage,
)
from eslabon.drawing.traced_paths import paths_of
from eslabon.errors import InputError
from eslabon.model import Model
from eslabon.scene import body_poses, scene_of

Floats = np.ndarray[Any, np.dtype[np.float64]]
RATE = 30.0  # frames a second
FRAMES = 900  # at most


def recorded(
    m: Model,
    t: Any,
    q: Any,
    *,
    trace: Any = None,
    dark: bool = False,
    speed: float = 1.0,
) -> str:
    """A page with the motion q (times, nq) at times t, or, with t=None, one configuration q (nq,).

    `trace` is what leaves paths, as in `draw`. `speed` is how much faster than in truth it plays at first; the page
    has a bar to scrub it and a choice of speeds.
    """
    t, q = _motion(m, t, q)
    speed = positive(speed, "speed")
    theme, scene = THEMES[flag(dark, "dark")], scene_of(m)
    rows = _frames(t, speed)
    poses, paths = body_poses(m, q), paths_of(m, trace, q)
    server = open_server(m.name, dark=dark)
    try:
        placed = add_mechanism(server, m, m.name, theme=theme)
        set_stage(server, extent_of([scene], [poses], [np.zeros(3)]), theme)
        for name, places in paths.items():
            _add_path(server, name, places, scene.size, theme.role("path"))
        placed.place(poses[rows[0]])
        serializer = server.get_scene_serializer()
        times = t / speed
        for before, row in pairwise(rows):
            serializer.insert_sleep(float(times[row] - times[before]))
            placed.place(poses[row])
        return serializer.as_html(dark_mode=dark)
    finally:
        close_server(server)


def _motion(m: Model, t: Any, q: Any) -> tuple[Floats, Floats]:
    q = states(q, "q", m.nq, m.name)
    if t is None:
        if q.ndim != 1:
            raise InputError(
                f"without times one configuration ({m.nq},) is shown; q has shape {q.shape}. Give t too."
            )
        return np.zeros(1), q[None]
    t = finite(t, "t")
    if t.ndim != 1 or q.ndim != 2 or len(t) != len(q) or not len(t) or (np.diff(t) <= 0).any():
        raise InputError(
            f"a motion has increasing times t (times,) and configurations q (times, {m.nq}); they have the shapes "
            f"{t.shape} and {q.shape}."
        )
    return t, q


def _frames(t: Floats, speed: float) -> list[int]:
    """Rows to show, no more in a second than the eye wants, and the last one."""
    seconds = (t[-1] - t[0]) / speed
    count = int(np.clip(np.ceil(seconds * RATE) + 1, min(len(t), 2), FRAMES))
    wanted = np.searchsorted(
        t, np.linspace(t[0], t[-1], count) - 1e-12 * max(seconds * speed, 1e-12)
    )
    return [int(k) for k in np.unique(np.clip(wanted, 0, len(t) - 1))]


def _add_path(server: Any, name: str, places: Floats, size: float, colour: str) -> None:
    """A path as a line."""
    if len(places) > 1:
        segments = np.stack([places[:-1], places[1:]], axis=1)
        server.scene.add_line_segments(
            f"/paths/{name}", segments, rgb(colour), thickness=size / 150
        )
