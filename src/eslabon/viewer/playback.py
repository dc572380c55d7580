"""What a view plays: motions that were computed before, and mode shapes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.drawing.between_rows import configurations_at
from eslabon.errors import EslabonError, InputError
from eslabon.motion.motion_forms import as_trajectory, require_span
from eslabon.solve.constraints.closed_configurations import residuals_at

if TYPE_CHECKING:
    from eslabon.mechanism import Mechanism

FRAMES = 48  # of a mode shape
VISIBLE = 1e-4  # of the mechanism's size, by which a loop is open: less is no pixel on a screen
SLOW = 2.0  # s, for one period of a mode shape on the screen
AMPLITUDE = 0.25  # rad or parts of the mechanism's size
SMALLER = (1.0, 0.5, 0.2, 0.05, 0.01)  # of it, where it does not close so far


@dataclass(frozen=True, eq=False)
class Clip:
    """Configurations q (times, nq) at times t; `periodic` ones go on from the last to the first."""

    name: str
    t: Floats
    q: Floats
    periodic: bool = False

    @property
    def duration(self) -> float:
        return float(self.t[-1] - self.t[0])

    def at(self, m: Mechanism, seconds: float) -> Floats:
        """The configuration some time after the beginning: between two times along the shortest way, with loops closed."""
        now = np.clip([self.t[0] + seconds], self.t[0], self.t[-1])
        return configurations_at(m, self.t, self.q, now)[0]


def clips(m: Mechanism, given: Any) -> list[Clip]:
    """What a user gave to be played: a motion in any form of `es.as_trajectory`, or several by name.

    >>> import eslabon as es
    >>> m = es.load("double_pendulum")
    >>> [c.name for c in clips(m, {"swing": m.simulate(m.home(), None, 0.1), "still": ([0, 1], [m.home(), m.home()])})]
    ['swing', 'still']
    """
    if given is None:
        return []
    named = given if isinstance(given, Mapping) and "q" not in given else {"motion": given}
    return [_clip(m, str(name), motion) for name, motion in named.items()]


def _clip(m: Mechanism, name: str, given: Any) -> Clip:
    motion = as_trajectory(m, given, need=("q",), on_loops=False)
    if not motion.whole:
        motion = as_trajectory(m, motion).completed()
    if motion.batch:
        raise InputError(
            f"'{name}' is one motion to be played; pick one of {motion!r}, as motion[0]."
        )
    t, q = require_span(motion).t, motion.q
    if m.closed and not m.rheonomic and (left := np.abs(residuals_at(m, q)).max()) > VISIBLE:
        raise InputError(
            f"'{name}' violates loop closure of {m.name} by {left:.3g} (rad, or lengths of its size); is it of another mechanism?"
        )
    return Clip(name, t, q)


def mode_shapes(m: Mechanism, q: Floats) -> list[Clip]:
    """The modes about a configuration at rest, or about the equilibrium nearest to it, each slowed down to two seconds a period."""
    lm = m.linearize(q)
    if not np.all(lm.equilibrium):
        at = m.equilibrium(tau=np.zeros(m.nu), guess=q)
        lm = m.linearize(at.q, None, at.tau)
    made = []
    for k, mode in enumerate(lm.modes()):
        if mode.kind == "oscillation":
            how = f"{mode.hertz:.3g} Hz, damping {mode.damping + 0.0:.2g}"
        else:
            how = (
                mode.kind
                if not np.isfinite(mode.time_constant)
                else f"{mode.kind}, {mode.time_constant:.2g} s"
            )
        shape = _shape(mode)
        looped = np.concatenate([shape, shape[:1]])
        made.append(
            Clip(f"{k + 1}: {how}", np.linspace(0.0, SLOW, len(looped)), looped, periodic=True)
        )
    if not made:
        raise InputError(f"{m.name} has no modes: nothing about it can move.")
    return made


def _shape(mode: Any) -> Floats:
    """Configurations of one period, as large as the loops allow."""
    for part in SMALLER:
        try:
            return np.asarray(mode.configurations(part * AMPLITUDE, FRAMES))
        except EslabonError:
            if part == SMALLER[-1]:
                raise
    raise AssertionError
