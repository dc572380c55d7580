"""How near a mechanism comes to singular configurations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from eslabon.arguments import Floats, choice, text
from eslabon.errors import ModelError
from eslabon.formulas.kinematics.frames import default_frame
from eslabon.measures.along_motion import AlongMotion, mean_in_time
from eslabon.measures.assembled_designs import States
from eslabon.measures.measure import as_mechanism
from eslabon.mechanism import Mechanism
from eslabon.solve.singular.conditions import PARTS, frame_if_any

KINDS = ("parallel", "serial")
REDUCTIONS = ("least", "mean")


@dataclass(frozen=True, eq=False, repr=False)
class Condition(AlongMotion):
    """The reciprocal condition number along a motion or at configurations, from 1 at best to 0 at a singular configuration
    (Gosselin and Angeles): the least, or with reduce="mean" the mean, which over the workspace is the global conditioning index.

    Parameters
    ----------
    motion : a motion as in `AlongMotion`, or configurations (k, ...), of all joints or of the actuated ones.
    kind : "parallel", as `m.conditions` defines it: locked actuators hold the mechanism no more where it is zero; or "serial",
        sigma_min / sigma_max of the matrix from the actuators' rates to a frame's twist, which loses a direction
        where it is zero. Left out, parallel with loops, else serial.
    of, twist : the frame of the serial kind, and what counts of its twist: "all", "translation" or "rotation".
    reduce : "least" or "mean".

    >>> import numpy as np
    >>> import eslabon as es
    >>> m = es.load("five_bar")
    >>> swing = es.paths.joint_path([[2.0, 1.0], [2.3, 0.8]], es.paths.quintic(0.2))
    >>> es.measures.Condition(swing).measured(m, {"L2": np.array([0.03, 0.04, 0.05])}).values["condition"].round(3)
    array([0.774, 0.769, 0.762])
    """

    name: ClassVar[str] = "condition"
    kind: str | None = field(default=None, kw_only=True)
    of: str | None = field(default=None, kw_only=True)
    twist: str = field(default="all", kw_only=True)
    reduce: str = field(default="least", kw_only=True)

    def __post_init__(self, *given: Any) -> None:
        super().__post_init__(*given)
        if self.kind is not None:
            choice(self.kind, "kind", KINDS)
        choice(self.twist, "twist", PARTS)
        choice(self.reduce, "reduce", REDUCTIONS)
        if self.of is not None:
            text(self.of, "of")

    def _timed(self) -> bool:
        return False

    def _columns(self, m: Mechanism) -> dict[str, str]:
        if self._kind(m) == "parallel" and not m.closed:
            raise ModelError(
                f"{m.name} has no loops, so that it has no parallel singular configurations; ask for kind='serial'."
            )
        if self._kind(m) == "serial" and frame_if_any(m, self.of) is None:
            example = default_frame(m) or m.bodies[-1].name
            raise ModelError(
                f"{m.name} has {len(m.frames)} named frames; name a frame or body, as in of='{example}'."
            )
        return {self.name: ""}

    def parallel(self, m: Mechanism) -> bool:
        """Whether it is of the loops."""
        return self._kind(as_mechanism(m)) == "parallel"

    def _kind(self, m: Mechanism) -> str:
        return self.kind or ("parallel" if m.closed else "serial")

    def _values(self, states: States) -> Mapping[str, Floats]:
        m = states.m
        found = m.conditions(states.q, self.of, self.twist, parameters=states.parameters)
        values: Floats = getattr(found, self._kind(m))
        return {
            self.name: values.min(axis=1)
            if self.reduce == "least"
            else mean_in_time(self.motion.t, values)
        }
