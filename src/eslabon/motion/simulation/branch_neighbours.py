"""Regular configurations beside one that nearly loses a rank, on the branch that a motion follows.

Where branches of the loops meet, J loses ranks, and rates are 0/0: at a distance d from there
round-off e in the closure grows to e/d^3 in the accelerations. Along a smooth branch they are
smooth all the same, a removable singularity. So the rates at a configuration q near rank loss are
interpolated from those at q + s z for some s on either side, where z is the tangent of the branch
and each is moved onto the loops, within the plane through it that is orthogonal in M to the
tangents z of the branch. So the neighbours are a smooth function of s; the nearest points of the
loops would not be one, since near the crossing of two branches the gradient of a lost row turns
from the one to the other. Newton's method finds the right branch, since q + s z misses it by its
curvature times s^2/2 only, and the others by their angle times s. With P neighbours on a side, g
apart, the error is about (P!)^2/(2P)! g^2P times a derivative of order 2P, and the round-off is
that of the distance g.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.calls import inlined
from eslabon.compiler.formula import Argument, Formula
from eslabon.formulas.dynamics import mass_matrix
from eslabon.formulas.inputs import Q
from eslabon.formulas.kinematics.closure import equations, row_names
from eslabon.formulas.motion_state import MotionState
from eslabon.model import Model
from eslabon.model.configuration import coordinate_rates, difference, integrate
from eslabon.model.scale import velocity_scales
from eslabon.motion.simulation.constraint_projection import (
    DISTANCE,
    PROJECTED,
    at_time,
    distance_at,
    project_with_distance,
)
from eslabon.numerics.scalars import Expression, casadi
from eslabon.numerics.tolerances import CONVERGED
from eslabon.solve.constraints.closed_configurations import CLOSURE
from eslabon.solve.constraints.independent_coordinates import partition
from eslabon.solve.designs import DESCRIBED, Designs


@dataclass(frozen=True)
class NeighbourSettings:
    """When neighbours are asked, and where they stand. Distances are `rank_distance`s; arcs are in
    radians, or in metres over the characteristic length, of the velocity that is largest.

    Attributes
    ----------
    near : the distance below which rates come from neighbours.
    clear : the least distance of a neighbour.
    rise : by how much the distance differs from one neighbour to the next.
    side : neighbours on a side.
    grid : places on a side among which they are chosen.
    reach : the farthest arc to the last neighbour.
    fewest : neighbours without which nothing is interpolated.
    first : the arc over which the slope of the distance is measured.
    closes : the largest closure error of the interpolated configuration, in radians or over the
        characteristic length. A mechanism that misses rank loss by more turns to another branch
        within the root of that, and has its plain rates; where it turns that sharply, round-off
        spoils these.
    lost : a singular value of J, over the largest, below which a rank counts as lost nearby.
    branching : the same below which the tangents of J at a configuration at rest are those of
        several branches; also the share of a velocity that must lead along a branch to tell it from
        the others.
    """

    near: float = 0.025
    clear: float = 0.035
    rise: float = 0.06
    side: int = 5
    grid: int = 14
    reach: float = 0.5
    fewest: int = 6
    first: float = 0.05
    closes: float = 1e-9
    lost: float = 0.1
    branching: float = 1e-6


SETTINGS = NeighbourSettings()
NEWTON = 8  # iterations at most


class Neighbours(NamedTuple):
    """States x (k, n) on the branch at times t (k,), the weights (k,) that interpolate between
    them, what they give for the state among them, and by how much its loops do not close."""

    weights: Floats
    t: Floats
    x: Floats
    centre: Floats
    misfit: float

    @property
    def closed(self) -> bool:
        """Whether the branch goes through the centre."""
        return self.misfit < SETTINGS.closes


def jacobian_change(m: Model, q: Expression, p: Expression) -> Expression:
    """dJ/dt of all rows, comparable, at velocities p."""
    own = casadi.SX.sym("q", m.nq)
    J = inlined(equations(m, own, None, tuple(range(len(row_names(m))))).J)
    change = casadi.jtimes(casadi.vec(casadi.densify(J)), own, coordinate_rates(m, own) @ p)
    return casadi.substitute(casadi.reshape(change, *J.shape), own, q)


def momenta(m: Model, q: Expression, p: Expression) -> Expression:
    """M p."""
    return mass_matrix(MotionState.at_rest(m, q)) @ p


MOMENTA = Formula(
    "momenta_along", momenta, (Q, Argument("p", lambda m: (m.nv,))), (Argument("momenta", lambda m: (m.nv,)),), rare=True
)  # fmt: skip
JACOBIAN_CHANGE = Formula(
    "jacobian_change",
    jacobian_change,
    (Q, Argument("p", lambda m: (m.nv,))),
    (Argument("change", lambda m: (len(row_names(m)), m.nv)),),
    rare=True,
)
RANK_DISTANCE = Formula("rank_distance", distance_at, (Q,), (DISTANCE,), rare=True)


class Branch:
    """The branch that the motion of one design follows. Of a motion at rest it keeps the last
    direction that it had, or takes the one that the loops leave, where these are not all but
    singular."""

    def __init__(self, m: Model, designs: Designs = DESCRIBED) -> None:
        self._m, self._designs = m, designs
        self._rows = list(partition(m.nominal).rows)
        self._rank = len(self._rows)
        scales = velocity_scales(designs.mechanism(m) if designs.names else m)
        self._scales = np.asarray(scales, dtype=float)
        self._last: tuple[Floats, Floats] | None = None

    def distance(self, t: Floats | float, q: Floats) -> Floats:
        """The `rank_distance` of configurations (..., nq) at times."""
        made: Floats = at_time(self._m, RANK_DISTANCE, t, q, designs=self._designs)
        return made

    def neighbours(self, t: float, x: Floats) -> Neighbours | None:
        """Those of a state (n,); None where there are too few of them, or no direction can be
        told."""
        m, said = self._m, SETTINGS
        q, v = x[: m.nq], x[m.nq : m.nq + m.nv]
        found = self._direction(t, q, v)
        if found is None:
            return None
        z, tangents, pace = found

        def shifted(s: Floats) -> tuple[Floats, Floats]:
            return t + s * pace, integrate(m, np.broadcast_to(q, (len(s), m.nq)), s[:, None] * z)

        ends = self.distance(*shifted(np.array([-said.first, said.first])))
        gap = min(
            said.rise * 2 * said.first / max(float(ends.sum()), 1e-300), said.reach / said.side
        )
        s = gap * np.concatenate([np.arange(-said.grid, 0.0), np.arange(1.0, said.grid + 1)])
        s = s[self.distance(*shifted(s)) > said.clear]
        s = np.concatenate([s[s < 0][-said.side :], s[s > 0][: said.side]])
        if len(s) < said.fewest:
            return None
        times, starts = shifted(s)
        places = self._on_branch(times, starts, self._orthogonal(t, q, tangents))
        states = np.concatenate([places, np.broadcast_to(v, (len(s), m.nv))], axis=-1)
        states = at_time(m, PROJECTED, times, states, designs=self._designs)[0]
        weights = _weights(s)
        aside = weights @ difference(m, states[:, : m.nq], starts)
        centre = np.concatenate([integrate(m, q, aside), weights @ states[:, m.nq :]])
        phi = at_time(m, CLOSURE, t, centre[: m.nq], designs=self._designs)[0]
        return Neighbours(weights, times, states, centre, float(np.abs(phi).max()))

    def _orthogonal(self, t: float, q: Floats, tangents: Floats) -> Floats:
        """The rows T^T M by comparable velocities, of size one: zero along what moves to the
        nearest point of the branch."""
        if not len(tangents):
            return tangents
        own = np.broadcast_to(q, (len(tangents), len(q)))
        rows = at_time(self._m, MOMENTA, t, own, tangents, designs=self._designs) / self._scales
        return np.asarray(rows / np.linalg.norm(rows, axis=-1, keepdims=True))

    def _on_branch(self, t: Floats, starts: Floats, across: Floats) -> Floats:
        """The points of the branch at times whose differences from some starts are zero along
        rows."""
        m, q = self._m, starts
        for _ in range(NEWTON):
            phi, J = at_time(m, CLOSURE, t, q, designs=self._designs)
            aside = difference(m, q, starts) * self._scales
            orthogonal = np.broadcast_to(across, (len(q), *across.shape))
            left = np.concatenate([phi[:, self._rows], aside @ across.T], axis=-1)
            rows = np.concatenate([J[:, self._rows] / self._scales, orthogonal], axis=-2)
            step = -np.linalg.solve(rows, left[..., None])[..., 0]
            q = integrate(m, q, step / self._scales)
            if np.abs(step).max() < CONVERGED:
                break
        return q

    def is_determined(self, t: float, x: Floats) -> bool:
        """Whether a state (n,) tells which of the branches that meet near it the motion is on."""
        m = self._m
        return self._direction(t, x[: m.nq], x[m.nq : m.nq + m.nv]) is not None

    def _direction(self, t: float, q: Floats, v: Floats) -> tuple[Floats, Floats, float] | None:
        """The tangent of the branch along which the neighbours stand, its largest comparable
        velocity one; all of its tangents, (freedoms, nv); and how the time goes on along it, which
        moves the constraints of a driven mechanism."""
        m = self._m
        speed = float(np.abs(v * self._scales).max(initial=0.0))
        z, freedoms = v / (speed or 1.0), m.nv - self._rank
        if m.rheonomic:
            if not speed:
                return None
            found = self._across(t, q, z) if freedoms else (z, np.zeros((0, m.nv)))
            return None if found is None else (z, found[1], 1 / speed)
        found = None
        if speed:
            found = self._across(t, q, z) if freedoms > 1 else (z, z[None])
        if found is None and self._last is None:
            found = self._at_rest(t, q)
        self._last = self._last if found is None else found
        return None if self._last is None else (*self._last, 0.0)

    def _across(self, t: float, q: Floats, z: Floats) -> tuple[Floats, Floats] | None:
        """Of several degrees of freedom the tangent that leads out of rank loss: it has no part
        that leaves the lost rows as they are, such as the spinning of a joint that has nothing to
        do with them. And all tangents. None if z is such a motion.

        The rows u lost here stay lost along K, what the other rows allow, up to first order: the
        branch of z has the tangents T with u^T J'(z) T = 0, and W is what lies across it.
        """
        U, size, V = self._jacobian(t, q)
        r = min(int(np.sum(size > SETTINGS.lost * size[0])), self._rank - 1)
        k = self._rank - r
        u, K = U[:, r : r + k], V[r:].T
        here = u.T @ self._change(t, q, z * self._scales)
        _, told, A = np.linalg.svd(here @ K)
        if told[0] < SETTINGS.branching:
            return None
        T, W = K @ A[k:].T, K @ A[:k].T
        along = u.T @ self._change(t, q, T.T) @ W
        way = T @ np.sum((here @ W) * along, axis=(-2, -1))
        return self._comparable(way) if way.any() else z, T.T / self._scales

    def _at_rest(self, t: float, q: Floats) -> tuple[Floats, Floats] | None:
        """Of the tangents at a configuration the one along which the nearly lost rows change most,
        and all of them; None where a rank is lost, so that there are tangents of several
        branches."""
        U, size, V = self._jacobian(t, q)
        if size[self._rank - 1] < SETTINGS.branching * size[0]:
            return None
        r = min(int(np.sum(size > SETTINGS.lost * size[0])), self._rank - 1)
        u, W, T = U[:, r : self._rank], V[r : self._rank].T, V[self._rank :]
        changes = (u.T @ self._change(t, q, T) @ W).reshape(len(T), -1)
        return self._comparable(np.linalg.svd(changes)[0][:, 0] @ T), T / self._scales

    def _jacobian(self, t: float, q: Floats) -> tuple[Floats, Floats, Floats]:
        """The singular value decomposition of J by comparable velocities."""
        J = at_time(self._m, CLOSURE, t, q, designs=self._designs)[1][self._rows]
        U, size, V = np.linalg.svd(J / self._scales)
        return U, size, V

    def _change(self, t: float, q: Floats, p: Floats) -> Floats:
        """dJ/dt at comparable velocities (..., nv), by comparable velocities."""
        own = np.broadcast_to(q, (*p.shape[:-1], len(q)))
        made = at_time(self._m, JACOBIAN_CHANGE, t, own, p / self._scales, designs=self._designs)
        return np.asarray(made[..., self._rows, :] / self._scales)

    def _comparable(self, way: Floats) -> Floats:
        """Velocities of a comparable direction, the largest comparable one of which is one."""
        made: Floats = way / np.abs(way).max() / self._scales
        return made


def _weights(s: Floats) -> Floats:
    """Of Lagrange's interpolation at zero from places s: prod_(i != j) s_i / (s_i - s_j)."""
    apart = s[None, :] - s[:, None] + np.eye(len(s))
    return np.asarray(np.prod(np.where(np.eye(len(s)) > 0, 1.0, s[None, :] / apart), axis=1))


def project_along_branch(m: Model, x: Floats, t: Floats | float, designs: Designs) -> Floats:
    """States (..., n) on the constraint manifold of their times and designs; near rank loss as
    their neighbours say."""

    def centre(at: tuple[int, ...], when: float) -> Floats | None:
        found = Branch(m, designs.over(*x.shape[:-1])[at]).neighbours(when, x[at])
        return found.centre if found is not None and found.closed else None

    return project_near_rank_loss(m, x, t, designs, centre)


def project_near_rank_loss(
    m: Model,
    x: Floats,
    t: Floats | float,
    designs: Designs,
    centre: Callable[[tuple[int, ...], float], Floats | None],
) -> Floats:
    """The same where `centre` tells a state near rank loss by its place and time; None for the
    plain projection."""
    made, distance = project_with_distance(m, x, t, designs)
    for at in map(tuple, np.argwhere(distance < SETTINGS.near)):
        found = centre(at, float(np.broadcast_to(t, distance.shape)[at]))
        if found is not None:
            made[at][: len(found)] = found
    return made
