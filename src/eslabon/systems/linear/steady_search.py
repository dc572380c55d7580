"""Where a mechanism rests, or moves steadily: zeros of the forces along what its loops leave free,
for a whole batch.

With P the projection onto the motions that loops and held coordinates allow, P g = 0 is solved by
Newton's method with the exact stiffness P K P, damped (Levenberg, Marquardt) until |P g| falls: so
that minima, saddles and maxima of a potential are found alike, and forces without a potential are
no obstacle. Every step ends on the constraint manifold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.formula import Argument, Formula
from eslabon.formulas import steady
from eslabon.formulas.inputs import TAU, WRENCH, Q, V
from eslabon.formulas.kinematics.closure import row_names
from eslabon.formulas.motion_state import StateFunction
from eslabon.model import Model
from eslabon.model.configuration import integrate, normalize
from eslabon.model.scale import velocity_scales
from eslabon.numerics.tolerances import RANK

Floats = NDArray[np.float64]

CLOSED = 1e-11  # metres and radians
BALANCED = 1e-9  # of the forces that act: a residual of an equilibrium, far above round-off
ITERATIONS, DOWNHILL = 100, 60
LONGEST = 0.5  # radians, or lengths in units of the mechanism's size, of one step
REGULAR, TINY = 1e-11, 1e-200  # of the squares of J, and more than nothing
SOFT = 1e-10  # of the largest stiffness: a direction without any


def _rows(m: Model) -> int:
    return len(row_names(m))


FORCES = Formula(
    "steady_forces", StateFunction(steady.steady_forces), (Q, V, TAU),
    (Argument("g", lambda m: (m.nv,)), Argument("phi", lambda m: (_rows(m),)), Argument("J", lambda m: (_rows(m), m.nv))),
    external=WRENCH, rare=True,
)  # fmt: skip
STIFFNESS = Formula(
    "steady_stiffness", StateFunction(steady.steady_stiffness), (Q, V, Argument("multipliers", lambda m: (_rows(m),))),
    (Argument("K", lambda m: (m.nv, m.nv)),), external=WRENCH, rare=True,
)  # fmt: skip
TERMS = Formula(
    "steady_terms", StateFunction(steady.steady_terms), (Q, V),
    (
        Argument("M", lambda m: (m.nv, m.nv)), Argument("D", lambda m: (m.nv, m.nv)),
        Argument("G", lambda m: (_rows(m), m.nv)), Argument("T", lambda m: (m.nv, m.nv)), Argument("potential", ()),
    ),
    external=WRENCH, rare=True,
)  # fmt: skip


class Balance(NamedTuple):
    """g, Phi and J of lanes of configurations, and the factors of J with the rows of held
    coordinates."""

    g: Floats
    phi: Floats
    J: Floats
    P: Floats
    back: Floats

    @property
    def left(self) -> Floats:
        """P g: what is not balanced."""
        return np.einsum("lij,lj->li", self.P, self.g)

    @property
    def violation(self) -> Floats:
        return np.abs(self.phi).max(axis=-1, initial=0.0)

    def of(self, lanes: Any) -> Balance:
        """Some of the lanes."""
        return Balance(*(x[lanes] for x in self))

    def put(self, lanes: Any, new: Balance) -> None:
        """Others in the place of some lanes."""
        for mine, other in zip(self, new, strict=True):
            mine[lanes] = other


@dataclass(frozen=True)
class Steady:
    """A mechanism with its velocities v (k, nv), forces tau (k, nu), wrenches and parameters for a
    batch of k lanes, and the velocities whose coordinates are held. Displacements are in comparable
    units: a unit is a radian, or the mechanism's size; forces are energies.
    """

    m: Model
    v: Floats
    tau: Floats
    external: Mapping[str, Floats]
    parameters: Mapping[str, Floats]
    held: tuple[int, ...] = ()

    @cached_property
    def unit(self) -> Floats:
        """What a velocity is in comparable units."""
        return np.asarray(1 / velocity_scales(self.m)) if self.m.nv else np.ones(0)

    def of(self, lanes: Any) -> Steady:
        """Some of the lanes, or one of them many times."""
        external, parameters = (
            {name: x[lanes] for name, x in given.items()}
            for given in (self.external, self.parameters)
        )
        return Steady(self.m, self.v[lanes], self.tau[lanes], external, parameters, self.held)

    def call(self, formula: Formula, *arrays: Floats) -> Any:
        """A formula of these loads."""
        f = evaluate(self.m, formula, tuple(self.parameters), tuple(self.external))
        return f(*arrays, *self.external.values(), *self.parameters.values())

    def forces(self, q: Floats) -> tuple[Floats, Floats, Floats]:
        """g, Phi and J at configurations (k, nq), in comparable units."""
        g, phi, J = self.call(FORCES, q, self.v, self.tau)
        return g * self.unit, phi, J * self.unit

    def balance(self, q: Floats) -> Balance:
        """What is not in balance at configurations (k, nq)."""
        return self._projected(*self.forces(q))

    def _projected(self, g: Floats, phi: Floats, J: Floats) -> Balance:
        back, P = projection(self._with_held(J))
        return Balance(g, phi, J, P, back[:, :, : phi.shape[-1]])

    @cached_property
    def _loose(self) -> Floats:
        """One for each velocity that is not held."""
        return np.array([float(k not in self.held) for k in range(self.m.nv)])

    def _with_held(self, J: Floats) -> Floats:
        """J with a row for each coordinate that is held."""
        held = np.eye(self.m.nv)[list(self.held)]
        return np.concatenate([J, np.broadcast_to(held, (len(J), *held.shape))], axis=1)

    def stiffness(self, q: Floats, at: Balance) -> Floats:
        """K with the multipliers that balance the most of g."""
        multipliers = -np.einsum("lij,li->lj", at.back, at.g)  # g + J^T lambda + E^T mu is least
        K = self.call(STIFFNESS, q, self.v, multipliers)
        return np.asarray(K * self.unit[:, None] * self.unit)

    def moved(self, q: Floats, way: Floats) -> Floats:
        """Configurations after displacements."""
        return np.asarray(normalize(self.m, integrate(self.m, q, way * self.unit)))

    def closed(self, q: Floats, iterations: int = 5) -> tuple[Floats, Balance]:
        """Configurations taken back onto the constraint manifold by least steps, held coordinates
        where they are."""
        q, (g, phi, J) = np.array(q), (np.array(x) for x in self.forces(q))
        for _ in range(iterations):
            lanes = np.flatnonzero(np.abs(phi).max(axis=-1, initial=0.0) > 1e-2 * CLOSED)
            if not len(lanes):
                break
            own = self.of(lanes)
            q[lanes] = own.moved(q[lanes], _shortened(-_least(J[lanes] * self._loose, phi[lanes])))
            g[lanes], phi[lanes], J[lanes] = own.forces(q[lanes])
        return q, self._projected(g, phi, J)


def _least(J: Floats, phi: Floats) -> Floats:
    """J^T (J J^T + mu 1)^-1 phi: the least solution of J x = phi, with a little regularization for
    rows that depend on others, which is much faster than to find them."""
    Jt = np.swapaxes(J, 1, 2)
    square = J @ Jt
    square += (REGULAR * np.trace(square, axis1=1, axis2=2) + TINY)[:, None, None] * np.eye(
        J.shape[1]
    )
    return np.asarray(np.nan_to_num(Jt @ np.linalg.solve(square, phi[..., None])))[..., 0]


def _shortened(way: Floats) -> Floats:
    """Steps, none of them longer than the longest."""
    size = np.abs(way).max(axis=-1, keepdims=True, initial=0.0)
    return np.asarray(way / np.maximum(1.0, size / LONGEST))


def projection(J: Floats) -> tuple[Floats, Floats]:
    """J^+, and the projection onto what J leaves free, for each lane."""
    n = J.shape[-1]
    if not J.shape[1] or not n:
        return np.zeros((len(J), n, J.shape[1])), np.tile(np.eye(n), (len(J), 1, 1))
    U, size, Vt = np.linalg.svd(np.nan_to_num(J), full_matrices=J.shape[1] < n)
    U, inner = U[:, :, : size.shape[-1]], Vt[:, : size.shape[-1]]
    kept = size > RANK * np.maximum(size[:, :1], 1e-300)
    scaled = inner * np.where(kept, 1 / np.maximum(size, 1e-300), 0.0)[..., None]
    free = Vt.copy()
    free[:, : size.shape[-1]] *= ~kept[
        ..., None
    ]  # made of what is free, P is exactly zero where nothing is
    return np.swapaxes(scaled, 1, 2) @ np.swapaxes(U, 1, 2), np.swapaxes(free, 1, 2) @ free


class Found(NamedTuple):
    """Configurations (k, nq), what is left of the forces in comparable units (k, nv), the size |g|
    of those that act, and by how much loops are violated."""

    q: Floats
    left: Floats
    acting: Floats
    violation: Floats

    def good(self, reference: Floats) -> Any:
        """Which of them are equilibria: against forces of this size, or of those that act there."""
        size = np.abs(self.left).max(axis=-1, initial=0.0)
        return (size <= BALANCED * np.maximum(reference, self.acting)) & (self.violation < CLOSED)


def descend(system: Steady, q: Floats) -> Found:
    """Steps from configurations (k, nq) until nothing is gained, for all lanes side by side."""
    q, at = system.closed(q, 60)
    damping, lanes = np.full(len(q), 1e-3), np.arange(len(q))
    for _ in range(ITERATIONS if system.m.nv else 0):
        lanes = lanes[_unbalanced(at.of(lanes), 1e-15) & (damping[lanes] < 1e6)]
        if not len(lanes):
            break
        here, own = at.of(lanes), system.of(lanes)
        way = _newton(here, own.stiffness(q[lanes], here), damping[lanes])
        trial, made = own.closed(own.moved(q[lanes], way))
        less = np.linalg.norm(made.left, axis=-1) < (1 - 1e-4) * np.linalg.norm(here.left, axis=-1)
        better = less & (made.violation < CLOSED)
        q[lanes[better]] = trial[better]
        at.put(lanes[better], made.of(better))
        damping[lanes] = np.where(
            better, damping[lanes] * 0.05, np.maximum(damping[lanes], 1e-9) * 8.0
        )
    return Found(q, at.left, np.abs(at.g).max(axis=-1, initial=0.0), at.violation)


def _unbalanced(at: Balance, tolerance: float) -> Any:
    """Which lanes are closed, and have more left of their forces than this share."""
    acting = np.abs(at.g).max(axis=-1, initial=0.0)
    return (np.linalg.norm(at.left, axis=-1) > tolerance * acting) & (at.violation < CLOSED)


def _newton(at: Balance, K: Floats, damping: Floats) -> Floats:
    """The damped step -(A^T A + mu)^-1 A^T P g with A = P K P; what has no stiffness stays."""
    U, size, Vt = np.linalg.svd(np.nan_to_num(at.P @ K @ at.P))
    largest = np.maximum(size[:, :1], 1e-300)
    share = np.where(
        size > SOFT * largest, size / (size**2 + (damping[:, None] * largest) ** 2 + 1e-300), 0.0
    )
    along = share * np.einsum("lkj,lk->lj", U, at.left)
    way = -np.einsum("lji,lj->li", Vt, along)
    return _shortened(way)


def downhill(system: Steady, q: Floats) -> Found:
    """The same down the potential, if there is one: Newton's steps with the stiffness taken as
    positive, each halved until the force along it has not turned against it; then to the last
    digits."""
    q, at = system.closed(q, 60)
    lanes = np.arange(len(q))
    for _ in range(DOWNHILL if system.m.nv else 0):
        lanes = lanes[_unbalanced(at.of(lanes), 1e-6)]
        if not len(lanes):
            break
        here, own = at.of(lanes), system.of(lanes)
        lanes = lanes[
            _moved_along(own, q, at, lanes, _descending(here, own.stiffness(q[lanes], here)))
        ]
    return descend(system, q)


def _moved_along(own: Steady, q: Floats, at: Balance, lanes: Any, way: Floats) -> Any:
    """Take steps, or parts of them; which lanes have moved. Changes q and at."""
    slope, moved = np.einsum("li,li->l", at.left[lanes], way), np.zeros(len(lanes), dtype=bool)
    for share in 0.5 ** np.arange(10):
        open_ = np.flatnonzero(~moved)
        if not len(open_):
            break
        here = own.of(open_)
        trial, made = here.closed(here.moved(q[lanes[open_]], share * way[open_]))
        turned = np.einsum("li,li->l", made.left, way[open_]) > 0.5 * np.abs(slope[open_])
        good = ~turned & (made.violation < CLOSED)
        q[lanes[open_[good]]], moved[open_[good]] = trial[good], True
        at.put(lanes[open_[good]], made.of(good))
    return moved


def _descending(at: Balance, K: Floats) -> Floats:
    """-|K|^-1 P g along what is free, with a least stiffness."""
    curvature, V = np.linalg.eigh(np.nan_to_num(at.P @ ((K + np.swapaxes(K, 1, 2)) / 2) @ at.P))
    size = np.abs(curvature)
    size = np.maximum(size, SOFT * size.max(axis=-1, keepdims=True, initial=0.0) + 1e-300)
    way = -np.einsum("lij,lj->li", V, np.einsum("lkj,lk->lj", V, at.left) / size)
    return _shortened(np.einsum("lij,lj->li", at.P, way))
