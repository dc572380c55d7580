"""What a study is asked for: every choice that can be made, checked in one place."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from eslabon.arguments import finite, known_words, names, text
from eslabon.errors import InputError, ModelError, format_value, suggest
from eslabon.formulas.kinematics.frames import chosen_frame
from eslabon.language import checked
from eslabon.mechanism import Mechanism


@dataclass(frozen=True)
class Choices:
    """Choices of a study; what is left out is chosen by the study.

    Attributes
    ----------
    motion : a file (.csv, .npz), the name of a motion or of a mode, a `Trajectory`, a joint path, or arrays (t, q) or (t, q, v, a).
    at : the configuration it starts from and is linearized at: all coordinates, those of the actuated joints, values by joint,
        or the name of a mode.
    tip : the frame or body that is followed.
    sections : names of sections; all that apply if left out.
    language : "en" or "es".
    sweep : many designs to show: a table that `es.sweep` gave, or what to ask of it, as a mapping or a `[sweep]` of a file.
    """

    motion: Any = None
    at: Any = None
    tip: str | None = None
    sections: tuple[str, ...] | None = None
    language: str = "en"
    sweep: Any = None

    def check(self, m: Mechanism, known: tuple[str, ...]) -> Choices:
        """The same, if a mechanism can be asked so."""
        checked(self.language)
        if self.tip is not None:
            chosen_frame(m, text(self.tip, "tip"))
        if self.sections is None:
            return self
        chosen = names(self.sections, "sections")
        known_words(chosen, known, "a study has no section", InputError)
        if not chosen:
            raise InputError(f"a study has at least one section (known: {', '.join(known)}).")
        return replace(self, sections=chosen)


def configuration(m: Mechanism, at: Any) -> np.ndarray:
    """A closed configuration from all coordinates, from those of the actuated joints, from values by joint, or by the name of
    a mode; home if left out."""
    if at is None:
        return m.project(m.home(), **instant(m)) if m.closed else m.home()
    if isinstance(at, str | Path):
        if at not in m.modes:
            raise ModelError(
                f"'at' is {format_value(at)}, which is no mode of {m.name}"
                f"{suggest(at, m.modes, '; give coordinates, as in at=[0.1, 0.5].')}"
            )
        return np.array(m.modes[str(at)])
    if isinstance(at, dict):
        return _by_joint(m, at)
    values = finite(at, "at")
    driven = list(m.actuated_coordinates)
    if values.shape == (m.nq,):
        return m.project(values, **instant(m)) if m.closed else values
    if values.shape != (len(driven),):
        own = (
            f" or {len(driven)}, those of the actuated joints"
            if driven and len(driven) != m.nq
            else ""
        )
        raise InputError(f"'at' has {values.size} numbers; {m.name} has {m.nq} coordinates{own}.")
    if m.closed:
        return m.assemble(values)
    q = m.home()
    q[driven] = values
    return q


def _by_joint(m: Mechanism, at: dict[str, Any]) -> np.ndarray:
    known_words(
        at, [j.name for j in m.joints], f"'at' names joints; {m.name} has no joint", InputError
    )
    q = configuration(m, None)
    for name, value in at.items():
        place = m.coordinates[name]
        own = np.atleast_1d(finite(value, f"'at' of '{name}'"))
        if own.shape != (m.joint(name).nq,):
            raise InputError(
                f"'at' of '{name}' has {own.size} numbers; the joint has {m.joint(name).nq} coordinates."
            )
        q[place] = own
    if not m.closed:
        return q
    return m.assemble(at)


def instant(m: Mechanism) -> dict[str, Any]:
    """The time at which a driven mechanism is looked at: the beginning."""
    return {"t": 0.0} if m.rheonomic else {}
