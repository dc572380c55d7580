"""Singular configurations next to given ones: where a determinant vanishes, found by its sign.

The reciprocal condition number with the sign of its determinant goes through zero at a singular configuration. From each of the
given configurations the mechanism moves, its loops closed, the way that this number falls most, until its sign is another; then
the place in between is found by regula falsi (the Illinois form). Actuators need not be able to move it that way: a parallel
singular configuration is where they cannot.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from eslabon.arguments import Floats
from eslabon.model import Model
from eslabon.model.configuration import integrate
from eslabon.model.scale import velocity_scales
from eslabon.numerics.tolerances import ACCEPTED_VIOLATION
from eslabon.solve.assembly.closing_formulas import solve_closure
from eslabon.solve.assembly.prescription import Prescription
from eslabon.solve.constraints.closed_configurations import jacobian_at
from eslabon.solve.constraints.independent_coordinates import partition
from eslabon.solve.ranges import Ranges
from eslabon.solve.singular.conditions import conditions, passive_velocities, reachable_twists

MOST = {
    1: 400,
    2: 400,
}  # configurations to begin with, by the number of inputs: enough for a curve without gaps
FEW = 150  # of more inputs, where they make a surface
STEP = 0.01  # of the joints, in rad or parts of the mechanism's size: how slopes are seen
FAR = 0.4  # how far the joints go in a round
ROUNDS = 6  # of going on the steepest way
TURNS = 20  # of regula falsi
ZERO = 1e-6  # of a reciprocal condition number: a singular configuration
APART = 1e-3  # of the parallel kind's: what is singular in both ways is of that kind


def square_part(m: Model, frame: str) -> str | None:
    """The part of a frame's twist that the actuators move in as many directions as there are of them, so that its matrix has a
    determinant: the whole twist, or its translation, or its rotation."""
    spans = (
        (part, reachable_twists(m, frame, part)) for part in ("all", "translation", "rotation")
    )
    return next(
        (part for part, span in spans if span.basis.shape[1] == span.rank == inputs(m)), None
    )


def inputs(m: Model) -> int:
    """How many velocities are driven."""
    return len(partition(m).independent) - len(passive_velocities(m))


def singular_configurations(m: Model, q: Floats, kind: str, frame: str) -> Floats:
    """Singular configurations (k, nq) of the "parallel" or "serial" kind next to closed ones (n, nq).

    There are none where the matrix of that kind has no determinant, or no singular configuration is near.
    """
    part = square_part(m, frame)
    if not m.closed if kind == "parallel" else part is None:
        return np.empty((0, m.nq))
    value = Signed(m, kind, frame, part or "all")
    f = value(q)[0]
    near = np.argsort(np.abs(f))[: MOST.get(inputs(m), FEW)]
    q, f, found = q[near], f[near], [np.empty((0, m.nq))]
    for _ in range(ROUNDS):
        way, far = _steepest(value, q, f)
        there = way(far)
        after = value(there)
        crossed = (after.own * f < 0) & after.apart(value(q), kind)
        found.append(_between(value, way.of(crossed), far[crossed], f[crossed], after.own[crossed]))
        onward = ~crossed & (np.abs(after.own) < 0.9 * np.abs(f)) & (after.own * f > 0)
        q, f = there[onward], after.own[onward]
        if not len(q):
            break
    return np.concatenate(found)


class Values(NamedTuple):
    """Signed reciprocal condition numbers: of the kind that is looked for, and of the parallel kind; NaN where loops do not
    close."""

    own: Floats
    parallel: Floats

    def apart(self, before: Values, kind: str) -> Any:
        """Whether no parallel singular configuration lies between, through which the other determinant is infinite."""
        return (
            np.sign(self.parallel) == np.sign(before.parallel)
            if kind == "serial"
            else np.isfinite(self.own)
        )


class Signed(NamedTuple):
    """The function whose zeros are looked for."""

    m: Model
    kind: str
    frame: str
    part: str

    def __call__(self, q: Floats) -> Values:
        own, parallel = np.full((2, len(q)), np.nan)
        good = np.isfinite(q).all(axis=-1)
        if good.any():
            made = conditions(self.m, q[good], self.frame, self.part)
            parallel[good] = made.parallel * made.sign
            own[good] = (
                parallel[good] if self.kind == "parallel" else made.serial * made.serial_sign
            )
        return Values(own, parallel)


class Way(NamedTuple):
    """Motions from configurations (n, nq) along velocities (n, nv), with loops closed."""

    m: Model
    q: Floats
    v: Floats

    def of(self, rows: Any) -> Way:
        return self._replace(q=self.q[rows], v=self.v[rows])

    def __call__(self, far: Floats) -> Floats:
        """The configurations there, NaN where loops do not close."""
        q = np.asarray(integrate(self.m, self.q, far[:, None] * self.v))
        if not self.m.closed or not len(q):
            return q
        found, error = solve_closure(self.m, Prescription(()), Ranges.of(self.m).unlimited, q)
        return np.where((error <= ACCEPTED_VIOLATION)[:, None], found, np.nan)


def _tangents(m: Model, q: Floats) -> Floats:
    """Velocities that keep the loops closed, (n, nv, freedoms), each of unit size in rad and parts of the mechanism's size."""
    if not m.closed:
        return np.broadcast_to(np.diag(1 / velocity_scales(m)), (len(q), m.nv, m.nv))
    _, values, Vt = np.linalg.svd(jacobian_at(m, q) / velocity_scales(m))
    count = m.nv - int((values > 1e-9 * values[:, :1]).sum(axis=-1).max())
    return np.swapaxes(Vt[:, m.nv - count :], -1, -2) / velocity_scales(m)[:, None]


def _steepest(value: Signed, q: Floats, f: Floats) -> tuple[Way, Floats]:
    """The motions by which |f| falls fastest, and how far it seems to be until zero."""
    tangents, beside = _tangents(value.m, q), np.full(len(q), STEP)
    ways = [Way(value.m, q, tangents[..., k]) for k in range(tangents.shape[-1])]
    slope = np.stack([np.abs(value(way(beside)).own) - np.abs(f) for way in ways], axis=-1) / STEP
    slope = np.nan_to_num(slope)
    size = np.maximum(np.linalg.norm(slope, axis=-1), np.finfo(float).tiny)
    v: Floats = -np.einsum("nvk,nk->nv", tangents, slope) / size[:, None]
    return Way(value.m, q, v), np.minimum(1.2 * np.abs(f) / size, FAR)


def _between(value: Signed, way: Way, high: Floats, a: Floats, b: Floats) -> Floats:
    """The configurations on the way at which the value is zero, which has the signs of a and b at its ends."""
    low, left = np.zeros(len(high)), np.ones(len(high), dtype=bool)
    for _ in range(TURNS):
        if not left.any():
            break
        k = np.flatnonzero(left)
        middle = (low[k] * b[k] - high[k] * a[k]) / (b[k] - a[k])
        f = value(way.of(k)(middle)).own
        same = (
            f * b[k] > 0
        )  # on the side of the last turn: the other end counts half, so that it moves too
        a[k], low[k] = np.where(same, a[k] / 2, b[k]), np.where(same, low[k], high[k])
        b[k], high[k] = f, middle
        left[k] = np.abs(f) > ZERO / 100
    q = way(high)
    found = value(q)
    good = np.abs(found.own) < ZERO
    if value.kind == "serial":
        good &= np.abs(found.parallel) > APART
    return q[good]
