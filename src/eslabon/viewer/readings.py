"""What a view says of a configuration: how near to singular it is, in numbers, colours and words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from eslabon.arguments import Floats
from eslabon.errors import EslabonError
from eslabon.viewer.session import task_of

if TYPE_CHECKING:
    from eslabon.mechanism import Mechanism

FAIR, POOR = 0.02, 0.005  # reciprocal condition numbers below which a gauge turns yellow, and red


PARTS = {
    "pose": "all",
    "position": "translation",
    "orientation": "rotation",
}  # what of a frame counts


class Gauge(NamedTuple):
    """A reciprocal condition number: its kind, its value, what it is like ("green", "yellow", "red"), and words where it is red."""

    kind: str
    value: float
    colour: str
    words: tuple[str, ...] = ()


def gauges(
    m: Mechanism, q: Floats, frame: str | None, task: str | None = None
) -> tuple[Gauge, ...]:
    """The conditions of a configuration: parallel where there are loops, serial where there is a frame, of which counts what
    the `task` says ("pose", "position" or "orientation"; what it can do if left out).

    >>> import eslabon as es
    >>> [(g.kind, g.colour) for g in gauges(es.load("elbow"), [0.3, 0.0], "tool")]
    [('serial', 'red')]
    """
    if m.rheonomic or not m.nv:
        return ()
    part = "all" if frame is None else PARTS[task or task_of(m, frame)]
    found = m.conditions(q, frame, part)
    made = (
        [Gauge("parallel", float(found.parallel), _colour(float(found.parallel)))]
        if m.closed
        else []
    )
    made += (
        [Gauge("serial", float(found.serial), _colour(float(found.serial)))]
        if frame is not None
        else []
    )
    return tuple(
        g._replace(words=_words(m, q, frame, part)) if g.colour == "red" else g for g in made
    )


def _colour(value: float) -> str:
    return "green" if value > FAIR else "yellow" if value > POOR else "red"


def _words(m: Mechanism, q: Floats, frame: str | None, part: str) -> tuple[str, ...]:
    try:
        return tuple(m.singularity(q, frame, part, tolerance=POOR).words)
    except EslabonError:
        return ()
