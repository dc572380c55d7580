"""What a drawing is asked for, as what it should be, or a sentence."""

from __future__ import annotations

from typing import Any

import numpy as np

from eslabon.arguments import Floats, choice, known_words, mapping, names, states
from eslabon.errors import InputError
from eslabon.model import Model
from eslabon.scene import Scene

VIEWS = ("front", "side", "top")
View = tuple[float, float] | str  # elevation and azimuth in degrees, or a word
LABELLED = ("joints", "bodies", "frames")


def numbers(value: Any, name: str, count: int, owner: str, noun: str) -> Floats:
    """So many finite numbers."""
    found = states(value, name, count, owner, noun)
    if found.ndim != 1:
        raise InputError(f"{name} has the shape {found.shape}; {owner} has {count} {noun}.")
    return found


def chosen_frames(m: Model, frames: Any) -> tuple[str, ...]:
    if isinstance(frames, bool | np.bool_):
        return tuple(f.name for f in m.frames) if frames else ()
    return tuple(m.frame(name).name for name in names(frames, "frames"))


def labelled(labels: Any) -> tuple[str, ...]:
    if isinstance(labels, bool | np.bool_):
        return LABELLED if labels else ()
    known_words(found := names(labels, "labels"), LABELLED, "labels has no", InputError)
    return found


def checked_view(view: Any) -> View:
    if isinstance(view, str):
        return choice(view, "view", VIEWS)
    angles = numbers(view, "view", 2, "it", "angles: elevation and azimuth, in degrees")
    return float(angles[0]), float(angles[1])


def wrenches(m: Model, external: Any) -> dict[str, Floats]:
    """Wrenches on bodies or frames, or open ones of the model, by name."""
    given, opened = mapping(external, "external"), {w.name for w in m.wrenches if w.given}
    for name in given.keys() - opened:
        m.frame(name)  # or a sentence
    return {
        name: numbers(w, f"external['{name}']", 6, "a wrench", "components")
        for name, w in given.items()
    }


def joint_reactions(s: Scene, reactions: Any) -> Floats:
    wrenches = states(reactions, "reactions", 6, "a wrench", "components")
    if wrenches.shape != (len(s.joints), 6):
        raise InputError(
            f"reactions has the shape {wrenches.shape}; {s.m.name} has ({len(s.joints)}, 6), as m.reactions gives for one configuration."
        )
    return wrenches
