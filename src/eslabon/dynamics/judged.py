"""Calls on mechanisms with loops that answer only for states which keep the loops closed, at postures that allow it.

A state that tears the loops is refused. Where the division into independent and dependent velocities has gone bad, it
is made anew by pivoting. At a singular posture there is an error, or, on request, the least answer and a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from eslabon.dynamics.massless import stiffening
from eslabon.errors import ModelError, check_word, refuse_state, tell_of_singularity
from eslabon.graph.trace import Quantity, Request, native, trace
from eslabon.kinematics.closure import RANK, TORN, Partition, partition_at, steady

Floats = np.ndarray
SINGULAR = 1e-13  # of a posture's quality, which is squared: below it the answer has no digits
POOR = 1e-8  # of a division's quality: there may be a better one
ANYWAY = ("inverse_dynamics", "forward_dynamics")  # what has a least answer at a singular posture
PIECES = Quantity(
    "pieces_of_all_rows", ("q", "v", "tau"), "eslabon.dynamics.closed", lambda m: (m.nv, m.nv), True, ("h", "f", "J", "gamma")
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Judged:
    """A request on a mechanism, compiled, with what the caller allows."""

    m: Any
    request: Request
    tolerance: float = TORN
    singular: str = "error"

    def __post_init__(self) -> None:
        name = self.request.quantity.name
        if self.singular != "error" and name not in ANYWAY:
            raise ModelError(f"{name} has no answer at a singular posture; leave singular out.")

    @cached_property
    def call(self) -> Callable[..., Any]:
        return native(self.m, self.request)

    @cached_property
    def divides(self) -> bool:
        """Whether the answer depends on which rows or velocities count as independent, so that others may do better."""
        if not steady(self.m.plain):
            return True
        name, formulation = self.request.quantity.name, dict(self.request.options).get("formulation")
        explicit = name == "forward_dynamics" and formulation == "gibbs_appell"
        return explicit or (name in ("inverse_dynamics", "reactions") and self.m.nu > self.m.dof)

    def answering(self) -> Callable[..., Floats]:
        """The call itself, with all that it looks at every time at hand."""
        call, tolerance, least = self.call, self.tolerance, POOR

        def answer(*arrays: Any, out: Floats | None = None, **keywords: Any) -> Floats:
            value, torn, quality = call(*arrays, **keywords)
            if torn.ndim:
                good = torn.max(initial=0.0) <= tolerance and quality.min(initial=1.0) > least
            else:
                good = torn <= tolerance and quality > least  # one state: nothing to search
            if not good:
                value = self._second_look(arrays, value, torn, quality)
            if out is None:
                return value
            if out.shape != value.shape:
                raise ModelError(f"out has shape {out.shape}, and the result {value.shape}.")
            out[...] = value
            return out

        return answer

    def _second_look(self, arrays: Sequence[Any], value: Floats, torn: Floats, quality: Floats) -> Floats:
        name = self.request.quantity.name
        if not torn.max(initial=0.0) <= self.tolerance:
            refuse_state(self.m.name, name, torn, quality, self.tolerance, SINGULAR)
        value, quality = np.array(value), np.nan_to_num(quality, nan=0.0)
        cores = [shape for _, shape, _ in self.request.inputs(self.m)]
        pairs = zip(arrays, cores, strict=True)
        states = [np.broadcast_to(np.asarray(x, float), quality.shape + core).reshape(-1, *core) for x, core in pairs]
        values, good = value.reshape(quality.size, *value.shape[quality.ndim :]), quality.reshape(-1)
        if self.divides:
            self._divide_anew(states, values, good)
        bad = np.flatnonzero(~(good > SINGULAR))
        if not len(bad):
            return value
        if self.singular == "error":
            refuse_state(self.m.name, name, torn, quality, self.tolerance, SINGULAR)
        which = f" in {len(bad)} of {quality.size} states" if quality.ndim else ""
        tell_of_singularity(
            self.singular, f"{name}: {self.m.name} is at a singular posture{which}; the least of many answers is given."
        )
        for k in bad:
            values[k] = self._least([x[k] for x in states])
        return value

    # -- another division ---------------------------------------------------------------------------------------------

    def _divide_anew(self, states: list[Floats], values: Floats, quality: Floats) -> None:
        """Better values, and their quality, where the division of the velocities is bad; each division serves all states
        that it suits, and is compiled once."""
        waiting = np.flatnonzero(~(quality > POOR))
        while len(waiting):
            call = self._divided(partition_at(self.m.plain, states[0][waiting[0]], self._preferred))
            made, _, found = call(*(x[waiting] for x in states))
            better = found > quality[waiting]
            values[waiting[better]], quality[waiting[better]] = made[better], found[better]
            waiting = waiting[1:][~better[1:]]  # the first has had the division that suits it

    @property
    def _preferred(self) -> tuple[int, ...]:
        """The hybrid problem is of the actuated velocities, and no others."""
        return self.m.actuated_velocities if self.request.quantity.name == "hybrid_dynamics" else ()

    def _divided(self, division: Partition) -> Callable[..., Any]:
        made: dict[Partition, Any] = self._divisions
        if division not in made:
            options = (*self.request.options, ("division", division))
            made[division] = native(self.m, replace(self.request, options=options))
        return made[division]

    @cached_property
    def _divisions(self) -> dict[Partition, Any]:
        return {}

    # -- the slow, rank-revealing way -----------------------------------------------------------------------------------

    def _least(self, state: list[Floats]) -> Floats:
        """The least answer at a singular posture, from singular values."""
        if self.request.quantity.name == "forward_dynamics":
            M, h, f, J, gamma = self._pieces(state)
            return self._least_accelerations(M, f - h, J, gamma)
        M, h, _, J, _ = self._pieces([*state[:2], np.zeros(self.m.nu), *state[3:]])
        return self._least_forces(M @ state[2] + h, J)

    def _pieces(self, state: list[Floats]) -> tuple[Floats, ...]:
        M, h, f, J, gamma = (np.array(x) for x in self._numbers(*state))
        return M, h.ravel(), f.ravel(), J, gamma.ravel()

    @cached_property
    def _numbers(self) -> Any:
        return trace(self.m, replace(self.request, quantity=PIECES, options=()))

    def _least_accelerations(self, M: Floats, force: Floats, J: Floats, gamma: Floats) -> Floats:
        """Udwadia and Kalaba's: a + M^-1/2 (J M^-1/2)^+ (gamma - J a)."""
        rho = stiffening(self.m.plain)
        M, force = M + rho * J.T @ J, force + rho * J.T @ gamma
        values, vectors = np.linalg.eigh(M)
        root = vectors / np.sqrt(values)
        a = root @ (root.T @ force)
        a = a + root @ np.linalg.pinv(J @ root, rcond=np.sqrt(RANK)) @ (gamma - J @ a)
        left = float(np.abs(J @ a - gamma).max(initial=0.0))
        if not left < 1e-6 * max(1.0, float(np.abs(gamma).max(initial=0.0))):
            tell_of_singularity(
                "error", f"forward_dynamics: no acceleration of {self.m.name} keeps its loops closed at these velocities "
                f"(they tear by {left:.3g}): branches meet at this posture, and the motion keeps to none.")  # fmt: skip
        return a

    def _least_forces(self, needed: Floats, J: Floats) -> Floats:
        """The least actuator forces that do the work of `needed` in every motion that keeps the loops closed."""
        _, size, V = np.linalg.svd(J)
        motions = V[int((size > np.sqrt(RANK) * size.max(initial=0.0)).sum()) :]
        places = list(self.m.actuated_velocities)
        forces = np.linalg.lstsq(motions[:, places], motions @ needed, rcond=np.sqrt(RANK))[0]
        left = float(np.abs(motions[:, places] @ forces - motions @ needed).max(initial=0.0))
        if not left < 1e-6 * max(1.0, float(np.abs(needed).max(initial=0.0))):
            tell_of_singularity(
                "error", f"inverse_dynamics: at this singular posture no actuators' forces give {self.m.name} this motion "
                f"({left:.3g} N or N m is missing in a direction they do not reach).")  # fmt: skip
        return forces


def judged(m: Any, request: Request, more: Mapping[str, Any]) -> Callable[..., Floats]:
    """The request as a call, with the tolerance and what is to become of singular postures as the caller asked."""
    tolerance, singular = more.get("tolerance", TORN), more.get("singular", "error")
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float | np.number) or not tolerance >= 0:
        raise ModelError(f"tolerance is a length or an angle, zero or more; it is {tolerance!r}.")
    check_word(singular)
    return Judged(m, request, float(tolerance), singular).answering()
