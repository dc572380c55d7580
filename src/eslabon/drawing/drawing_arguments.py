"""What a drawing is asked for, as what it should be, or a sentence."""

from __future__ import annotations

from typing import Any

import numpy as np

from eslabon.arguments import Floats, choice, known_words, mapping, names, states
from eslabon.errors import InputError, shown
from eslabon.model import Model
from eslabon.scene import Scene

VIEWS = {"front": (0.0, -90.0), "side": (0.0, 0.0), "top": (90.0, -90.0)}
LABELLED = ("joints", "bodies", "frames")


def chosen_frames(m: Model, frames: Any) -> tuple[str, ...]:
    if isinstance(frames, bool | np.bool_):
        return tuple(f.name for f in m.frames) if frames else ()
    return tuple(m.frame(name).name for name in names(frames, "frames"))


def labelled(labels: Any) -> tuple[str, ...]:
    if isinstance(labels, bool | np.bool_):
        return LABELLED if labels else ()
    known_words(found := names(labels, "labels"), LABELLED, "labels has no", InputError)
    return found


def traced_items(m: Model, trace: Any) -> list[tuple[str, str, Floats]]:
    """Name, body and point of what leaves a path."""
    found = []
    for item in [trace] if isinstance(trace, str) or _is_point(trace) else list(trace or ()):
        if isinstance(item, str):
            frame = m.frame(item)
            found.append((item, frame.body, np.array(frame.at.translation(), dtype=float).ravel()))
        elif _is_point(item):
            body = m.frame(item[0]).body
            found.append((f"{item[0]} point", body, states(item[1], "the point of trace", 3, "a point").reshape(3)))
        else:
            raise InputError(f"trace is a frame's name, or (body, point), or a list of these; it is {shown(item)}.")
    return found


def _is_point(item: Any) -> bool:
    return (
        isinstance(item, tuple | list)
        and len(item) == 2
        and isinstance(item[0], str)
        and not isinstance(item[1], str | None)
    )


def view_angles(view: Any) -> tuple[float, float]:
    if isinstance(view, str):
        return VIEWS[choice(view, "view", VIEWS)]
    angles = states(view, "view", 2, "it", "angles: elevation and azimuth, in degrees").reshape(2)
    return float(angles[0]), float(angles[1])


def wrenches(m: Model, external: Any) -> dict[str, Floats]:
    given = mapping(external, "external")
    for name in given:
        m.frame(name)  # or a sentence
    return {name: states(w, f"external['{name}']", 6, "a wrench", "components") for name, w in given.items()}


def joint_reactions(s: Scene, reactions: Any) -> Floats:
    wrenches = states(reactions, "reactions", 6, "a wrench", "components")
    if wrenches.shape != (len(s.joints), 6):
        raise InputError(
            f"reactions has the shape {wrenches.shape}; {s.m.name} has ({len(s.joints)}, 6), as m.reactions gives for one configuration."
        )
    return wrenches
