"""The motion of all joints, with what it misses and how well it is conditioned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eslabon.answers import Answer, Block, Panel, animation, fields_table, figure
from eslabon.errors import InputError
from eslabon.model.configuration import coordinate_columns, velocity_columns

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class JointMotion(Answer):
    """Coordinates, velocities and accelerations of the joints, with what they miss.

    Attributes
    ----------
    q, v, a : the motion, (..., nq) and (..., nv).
    distance, angle : what is missing to the target, in metres and radians.
    slip : what is missing to the velocities asked for: radians, or metres over the characteristic
        length, a second.
    condition : the condition number of the motions that the joints are asked for.
    t : the times, where the motion follows a path.
    model : the mechanism that moves.

    >>> import numpy as np
    >>> import eslabon as es
    >>> way = es.paths.along(es.paths.line([1.2, 0.5, 0], [1.0, 1.0, 0]), es.paths.quintic(1.0))
    >>> motion = es.load("elbow").follow(way, part="position", times=np.linspace(0, 1, 5))
    >>> motion.t, motion.q.shape
    (array([0.  , 0.25, 0.5 , 0.75, 1.  ]), (5, 2))
    """

    q: Floats
    v: Floats
    a: Floats
    distance: Any
    angle: Any
    slip: Any
    condition: Any
    t: Floats | None = None
    model: Any = None

    def contents(self) -> Iterator[Block]:
        if self.t is None or self.q.ndim != 2 or self.model is None:
            yield fields_table(self)
            return
        q, v = coordinate_columns(self.model), velocity_columns(self.model)
        groups = (
            ("coordinates", q, self.q),
            ("velocities", v, self.v),
            ("accelerations", v, self.a),
        )
        for title, columns, values in groups:
            yield Panel(title, self.t, {str(c): values[:, k] for k, c in enumerate(columns)})

    def __repr__(self) -> str:
        worst = np.max(self.condition, initial=0.0)
        return (
            f"<JointMotion: {np.size(self.condition):,} rows, condition number up to {worst:.2g}>"
        )

    __str__ = __repr__

    def plot(self, theme: str | None = None, path: str | Path | None = None) -> Any:
        """A matplotlib figure of coordinates, velocities, accelerations and the condition number in
        time."""
        if self.t is None or self.model is None or self.q.ndim != 2:
            raise InputError(f"{self!r} has no times to be plotted over; what `follow` gives has.")
        return figure(self, theme=theme, path=path)

    def animate(
        self, path: str | Path | None = None, *, fps: float = 30.0, speed: float = 1.0, size: Any = None,
        trace: Any = None, theme: str | None = None, progress: bool | None = None, **picture: Any,
    ) -> Any:  # fmt: skip
        """The motion as an animation that a notebook plays; with a path it is written too, as .mp4, .gif or
        .html. Options are those of the `animate` of simulated motions."""
        if self.t is None or self.model is None:
            raise InputError(f"{self!r} has no times to be shown at; what `follow` gives has.")
        return animation(
            self, path=path, fps=fps, speed=speed, size=size, trace=trace, theme=theme,
            progress=progress, **picture,
        )  # fmt: skip

    @property
    def residual(self) -> Floats:
        """Distance and angle side by side, (..., 2)."""
        return np.stack([self.distance, self.angle], axis=-1)
