"""Singular configurations next to given ones: where a determinant vanishes, found by its sign.

The reciprocal condition number with the sign of its determinant goes through zero at a singular
configuration. From each of the given configurations the mechanism moves, its loops closed, the way
that this number falls most, until its sign is another; then the place in between is found by regula
falsi (the Illinois form). Actuators need not be able to move it that way: a parallel singular
configuration is where they cannot.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from eslabon.arguments import Floats
from eslabon.model import Model
from eslabon.model.configuration import integrate
from eslabon.model.scale import velocity_scales
from eslabon.numerics.tolerances import RANK, SINGULAR
from eslabon.solve.constraints.closed_configurations import comparable_jacobian_at
from eslabon.solve.constraints.independent_coordinates import partition
from eslabon.solve.singular.actuated_motions import inputs_count
from eslabon.solve.singular.closing_steps import closed_near
from eslabon.solve.singular.conditions import conditions, reachable_twists


@dataclass(frozen=True)
class SingularSetSettings:
    """How singular configurations are searched for.

    Attributes
    ----------
    starts : configurations to begin with, by the number of inputs: enough for a curve without gaps.
    starts_of_surface : of more inputs, where they make a surface.
    beside : how far off slopes are seen, in rad or metres over L.
    stride : how far the joints go in a round, at most, in the same units.
    rounds : of going on the steepest way.
    bisections : of regula falsi, at most.
    apart : a reciprocal condition number of the parallel kind, above which a configuration that is
        singular in the serial way is of that kind alone.
    """

    starts: tuple[tuple[int, int], ...] = ((1, 400), (2, 400))
    starts_of_surface: int = 150
    beside: float = 0.01
    stride: float = 0.4
    rounds: int = 6
    bisections: int = 20
    apart: float = 1e-3


SETTINGS = SingularSetSettings()


def square_part(m: Model, frame: str) -> str | None:
    """The part of a frame's twist that the actuators move in as many directions as there are of
    them, so that its matrix has a determinant: the whole twist, or its translation, or its
    rotation."""
    spans = (
        (part, reachable_twists(m, frame, part)) for part in ("all", "translation", "rotation")
    )
    return next(
        (part for part, span in spans if span.basis.shape[1] == span.rank == inputs(m)), None
    )


def inputs(m: Model) -> int:
    """How many rates are driven independently."""
    return inputs_count(m)


def singular_configurations(m: Model, q: Floats, kind: str, frame: str) -> Floats:
    """Singular configurations (k, nq) of the "parallel" or "serial" kind next to closed ones (n,
    nq).

    There are none where the matrix of that kind has no determinant, or no singular configuration is
    near.
    """
    part = square_part(m, frame)
    if not m.closed if kind == "parallel" else part is None:
        return np.empty((0, m.nq))
    value = Signed(m, kind, frame, part or "all")
    f = value(q)[0]
    most = dict(SETTINGS.starts).get(inputs(m), SETTINGS.starts_of_surface)
    near = np.argsort(np.abs(f))[:most]
    q, f, found = q[near], f[near], [np.empty((0, m.nq))]
    for _ in range(SETTINGS.rounds):
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
    """Signed reciprocal condition numbers: of the kind that is looked for, and of the parallel
    kind; NaN where loops do not close."""

    own: Floats
    parallel: Floats

    def apart(self, before: Values, kind: str) -> Any:
        """Whether no parallel singular configuration lies between, through which the other
        determinant is infinite."""
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
            parallel[good] = _unsaturated(made.parallel) * made.sign
            own[good] = (
                parallel[good] if self.kind == "parallel" else made.serial * made.serial_sign
            )
        return Values(own, parallel)


def _unsaturated(x: Floats) -> Floats:
    """The tangent of an angle whose sine is given: of a parallel condition 1 / |T N|, which grows
    on where that nears one."""
    return x / np.sqrt(np.maximum(1 - x**2, RANK))


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
        return closed_near(self.m, q)


def _tangents(m: Model, q: Floats) -> Floats:
    """Velocities that keep the loops closed, (n, nv, freedoms), each of unit size in rad and parts
    of the mechanism's size."""
    if not m.closed:
        return np.broadcast_to(np.diag(1 / velocity_scales(m)), (len(q), m.nv, m.nv))
    Vt, count = np.linalg.svd(comparable_jacobian_at(m, q))[2], len(partition(m).independent)
    return np.swapaxes(Vt[:, m.nv - count :], -1, -2) / velocity_scales(m)[:, None]


def _steepest(value: Signed, q: Floats, f: Floats) -> tuple[Way, Floats]:
    """The motions by which |f| falls fastest, and how far it seems to be until zero."""
    tangents, beside = _tangents(value.m, q), np.full(len(q), SETTINGS.beside)
    ways = [Way(value.m, q, tangents[..., k]) for k in range(tangents.shape[-1])]
    slope = (
        np.stack([np.abs(value(way(beside)).own) - np.abs(f) for way in ways], axis=-1)
        / SETTINGS.beside
    )
    slope = np.nan_to_num(slope)
    size = np.maximum(np.linalg.norm(slope, axis=-1), np.finfo(float).tiny)
    v: Floats = -np.einsum("nvk,nk->nv", tangents, slope) / size[:, None]
    return Way(value.m, q, v), np.minimum(1.2 * np.abs(f) / size, SETTINGS.stride)


def _between(value: Signed, way: Way, high: Floats, a: Floats, b: Floats) -> Floats:
    """The configurations on the way at which the value is zero, which has the signs of a and b at
    its ends."""
    low, left = np.zeros(len(high)), np.ones(len(high), dtype=bool)
    for _ in range(SETTINGS.bisections):
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
        left[k] = np.abs(f) > SINGULAR / 100
    q = way(high)
    found = value(q)
    good = np.abs(found.own) < SINGULAR
    if value.kind == "serial":
        good &= np.abs(found.parallel) > SETTINGS.apart
    return q[good]
