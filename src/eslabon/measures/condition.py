"""How near a mechanism comes to singular configurations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from eslabon.arguments import Floats, choice, text
from eslabon.coordinates.partition import RANK, partition, retained_rows
from eslabon.errors import ModelError
from eslabon.measures.along_motion import AlongMotion, mean_in_time
from eslabon.measures.assembled_designs import States
from eslabon.measures.sizes import sizes
from eslabon.mechanism import Mechanism
from eslabon.solvers.singularities import PARTS, frame_if_any, passive_velocities, reachable_twists

KINDS = ("parallel", "serial")
REDUCTIONS = {"least": "least reciprocal condition number", "mean": "mean reciprocal condition number"}


@dataclass(frozen=True, eq=False, repr=False)
class Condition(AlongMotion):
    """The reciprocal condition number along a motion or at configurations, from 1 at best to 0 at a singular configuration
    (Gosselin and Angeles): the least, or with reduce="mean" the mean, which over the workspace is the global conditioning index.

    Parameters
    ----------
    motion : a motion as in `AlongMotion`, or configurations (k, ...), of all joints or of the actuated ones.
    kind : "parallel", sigma_min / sigma_max of the passive columns of the closure Jacobian: locked actuators hold the loops no
        more where it is zero; or "serial", of the matrix from the actuators' rates to a frame's twist, which loses a direction
        where it is zero. Left out, parallel with loops, else serial.
    of, part : the frame of the serial kind, and what counts of its twist: "all", "translation" or "rotation".
    reduce : "least" or "mean".

    >>> import numpy as np
    >>> import eslabon as es
    >>> m = es.load("five_bar")
    >>> swing = es.paths.joint_path([[2.0, 1.0], [2.3, 0.8]], es.paths.quintic(0.2))
    >>> es.measures.Condition(swing).measured(m, {"L2": np.array([0.03, 0.04, 0.05])}).values["condition"].round(3)
    array([0.906, 0.822, 0.732])
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
            raise ModelError(f"{m.name} has {len(m.frames)} frames; say which, as in of='{m.bodies[-1].name}'.")
        return {self.name: ""}

    def _kind(self, m: Mechanism) -> str:
        return self.kind or ("parallel" if m.closed else "serial")

    def _values(self, states: States) -> Mapping[str, Floats]:
        m = states.m
        found = parallel_condition(states)[0] if self._kind(m) == "parallel" else self._serial(states)
        return {self.name: found.min(axis=1) if self.reduce == "least" else mean_in_time(self.motion.t, found)}

    def _serial(self, states: States) -> Floats:
        """Of the twists that the actuators make, lengths in units of the design's size."""
        m, frame = states.m, frame_if_any(states.m, self.of)
        assert frame is not None
        J = states.of("jacobian", "q", frame=frame, axes="aligned")
        J = J / np.where(np.arange(6) < 3, 1.0, sizes(m, states.parameters)[..., None])[..., None]
        held = passive_velocities(m)
        driven = [k not in held for k in partition(m).independent]
        twists = J[..., PARTS[self.twist], :] @ parallel_condition(states)[1][..., driven]
        return reciprocal(twists, reachable_twists(m, frame, self.twist).rank)


def parallel_condition(states: States) -> tuple[Floats, Floats]:
    """Reciprocal condition numbers (designs, states) of the loops, and N with v = N v_independent, (..., nv, independent)."""
    m = states.m
    if not m.closed:
        return np.ones(states.q.shape[:2]), np.eye(m.nv)[None, None]
    p = partition(m)
    J = states.of("constraint_jacobian", "q")[..., list(retained_rows(m)), :]
    passive = J[..., list(p.dependent)]
    N = np.zeros((*J.shape[:2], m.nv, len(p.independent)))
    N[..., list(p.independent), range(len(p.independent))] = 1.0
    good = reciprocal(passive)
    N[..., list(p.dependent), :] = -np.linalg.pinv(passive) @ J[..., list(p.independent)]
    N[good <= RANK] = 0.0  # nothing is known of the motions there
    return good, N


def reciprocal(A: Floats, number: int | None = None) -> Floats:
    """Least over largest singular value; of the `number` that are other than zero in general."""
    values = np.linalg.svd(A, compute_uv=False)[..., :number]
    if not values.shape[-1]:
        return np.ones(A.shape[:-2])
    return np.where(values[..., 0] > RANK, values[..., -1] / np.maximum(values[..., 0], 1e-300), 0.0)
