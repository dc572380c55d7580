"""Equilibria: the forces that hold a configuration, the configurations that rest under forces, and
steady motions.

m.equilibrium(q=q) # the actuators' forces that hold q m.equilibrium(tau=[0.5, 0.0], guess=q) #
where it rests under these forces m.equilibrium(all=True) # all places of rest without any, and
which are stable m.equilibrium(v={"spin": 6.28}) # a steady motion: a governor at speed
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from eslabon.arguments import count, flag
from eslabon.errors import AssemblyError, EquilibriumError, InputError, ModelError
from eslabon.model import Model
from eslabon.model.configuration import velocity_columns
from eslabon.model.scale import characteristic_length
from eslabon.numerics.ordering import stable_order
from eslabon.solve.configurations import distinct
from eslabon.solve.constraints.closed_configurations import generic, rank_at
from eslabon.solve.constraints.closure_violation import accepts, violation_of
from eslabon.solve.designs import designs_of
from eslabon.solve.ranges import Ranges
from eslabon.systems.linear.equilibria import Equilibrium
from eslabon.systems.linear.equilibrium_arguments import Asked, asked, costs
from eslabon.systems.linear.stability import Small, poles, small_motions, stability
from eslabon.systems.linear.steady_search import (
    FORCES,
    STIFFNESS,
    TERMS,
    Found,
    Steady,
    descend,
    downhill,
    projection,
)

Floats = NDArray[np.float64]

RESTARTS = 200
TOGETHER = 64  # lanes of a search
SAME = 1e-5  # radians, or metres: two configurations nearer than that are one
SHIFT = 0.05  # radians, or parts of the mechanism's size, along a direction without stiffness
WINDING_SAMPLES = 64  # configurations at which forces that wind a spring are looked at
WINDING_SHARE = 1.2  # of the largest of these forces
MAX_WINDING = 200.0  # radians that a spring is wound at most in a search
NEUTRAL = 1e-8  # of the largest stiffness: a direction without any
SINGULAR = 1e-6  # of the largest singular value: nearer to a singular configuration, linear models say nothing
UNSTEADY = 1e-6  # of forces, in a radian of the motion
HELD = 1e-6  # of the forces that act: what may be left of them where a configuration is held


def equilibrium(
    m: Model, q: Any = None, *, tau: Any = None, v: Any = None, guess: Any = None, all: bool = False,  # noqa: A002
    limits: bool = True, restarts: int = RESTARTS, weights: Any = None, external: Any = None, parameters: Any = None,
    strict: bool = True,
) -> Equilibrium:  # fmt: skip
    """Forces that hold a configuration, or configurations that rest, or move steadily, under
    forces.

    Parameters
    ----------
    q : a configuration (..., nq) to hold; or some joints by name, which are held there while the
        others come to rest.
    tau : the actuators' forces (..., nu), or some of them by name; none without. Actuators of held
        joints, and of those with given velocities, give what is needed.
    v : constant velocities of cyclic coordinates by name, or (..., nv), for a steady motion. All
        others are at rest.
    guess : where the search begins; home if left out. Of what Newton's method and the way downhill
        lead to, the nearer is given.
    all : find every equilibrium, stable ones first and then by energy, from `restarts`
        configurations spread over the joints' ranges; whole turns, of joints without a spring, and
        signs of quaternions make no other equilibrium. Of a continuum one is given. It is a search:
        more `restarts` may find more.
    limits : whether what is beyond the joints' limits is left out.
    restarts : how many other starts are tried where the guess leads nowhere.
    weights : what each actuator's force costs where several can hold the same (actuation
        redundancy).
    external, parameters : wrenches, and values in place of the model's own, as for every verb.
    strict : whether it is an error that there is no equilibrium; else `residual` says what is left.

    Coulomb friction, which could hold a little beside every equilibrium, is left out: joints stand
    without it.

    >>> import eslabon as es
    >>> es.load("double_pendulum").equilibrium(all=True).stability
    array(['stable', 'unstable', 'unstable', 'unstable'], dtype=object)
    """
    for name, value in (("all", all), ("limits", limits), ("strict", strict)):
        flag(value, name)
    if m.rheonomic:
        raise ModelError(
            f"the constraints of {m.name} depend on the time, so that it is never at rest; take its drives away with "
            "m.without(...), or lock a joint with m.locked(...)."
        )
    given = asked(m, q, tau, v, guess, external, parameters)
    if parameters and not given.whole:
        designs_of(m, parameters, limits)
    search = _Search(
        m,
        given,
        Ranges.of(m, characteristic_length(m)),
        limits,
        count(restarts, "restarts"),
        costs(m, weights),
        strict,
    )
    if not all:
        return search.held() if given.whole else search.one()
    if given.whole:
        raise ModelError(
            "the configuration q is given, so that there is nothing to search; leave all out."
        )
    if given.lead:
        raise InputError(
            f"all=True is for one set of forces and one design, and what is given has the leading axes {given.lead}; ask it of each, "
            "of designs as m.variant(...).equilibrium(..., all=True)."
        )
    return search.every()


class _Balanced(NamedTuple):
    """Configurations with the forces that hold them, what is left in N and N m, and by how much the
    state changes along its own motion, both against the forces that act; and what small motions are
    made of."""

    q: Floats
    tau: Floats
    left: Floats
    relative: Floats
    unsteady: Floats
    energy: Floats
    small: Small
    singular: Any

    def steady(self, tolerance: float) -> Any:
        """Which of them are in balance, and stay so."""
        return (self.relative <= tolerance) & (self.unsteady <= UNSTEADY)


class _Search:
    """What is asked of a mechanism."""

    def __init__(
        self,
        m: Model,
        given: Asked,
        ranges: Ranges,
        limits: bool,
        restarts: int,
        weights: Floats,
        strict: bool,
    ) -> None:
        self.m, self.given, self.system, self.strict = m, given, given.system, strict
        ranges = ranges if limits else ranges.unlimited
        self.ranges = ranges.winding(_wound(m, given.system, ranges))
        self.restarts, self.weights = restarts, weights
        self.reference = _reference(given.system, given.q)

    # -- the three questions -------------------------------------------------------------------------------------------

    def held(self) -> Equilibrium:
        """The forces that hold configurations."""
        violation = violation_of(self.system.balance(self.given.q).phi)
        if not np.all(accepts(violation)):
            raise AssemblyError(
                f"equilibrium: the configuration violates loop closure of {self.m.name} by {violation.max():.3g} (rad, or lengths of its size)"
                f"{self._which(violation.argmax())}; close it with m.assemble or m.project."
            )
        return self._told(self.given.q, HELD)

    def one(self) -> Equilibrium:
        """An equilibrium of each lane: where its guess leads, else the nearest of those that other
        starts lead to."""
        begin = self.given.q
        best = descend(self.system, begin)
        best = best._replace(q=self.ranges.turned(best.q, begin))
        lanes = np.arange(len(begin))
        self._improve(best, lanes, lanes, begin, downhill)
        starts = self._starts(self.restarts)
        while len(starts):
            lost = np.flatnonzero(~self._good(best, np.arange(len(begin))))
            if not len(lost):
                break
            block = max(1, TOGETHER // len(lost))
            lanes, tries = (
                np.repeat(lost, block),
                np.tile(np.arange(block) % len(starts), len(lost)),
            )
            self._improve(best, lost, lanes, self._placed(starts[tries], lanes), descend)
            starts = starts[block:]
        return self._told(best.q, 1e-8, best)

    def every(self) -> Equilibrium:
        """All equilibria of the one lane."""
        starts = np.concatenate(
            [
                self.given.q,
                self._placed(self._starts(self.restarts), np.zeros(self.restarts, dtype=int)),
            ]
        )
        lanes = np.zeros(len(starts), dtype=int)
        each = [method(self.system.of(lanes), starts) for method in (descend, downhill)]
        found, lanes = (
            Found(*(np.concatenate(x) for x in zip(*each, strict=True))),
            np.concatenate([lanes, lanes]),
        )
        found = found._replace(q=self.ranges.turned(found.q, self.given.q))
        good = self._good(found, lanes)
        if not good.any():
            nearest = np.argmin(
                np.where(found.violation < 1e-9, np.linalg.norm(found.left, axis=-1), np.inf)
            )
            return self._told(
                found.q[nearest : nearest + 1],
                1e-8,
                Found(*(x[nearest : nearest + 1] for x in found)),
            )
        q = found.q[good]
        q = q[stable_order(self.ranges.apart(q, self.given.q[0]))]
        q = q[distinct(q, self.ranges.apart, SAME)]
        self._spread(len(q))
        steady = self.balanced(q).steady(1e-8)
        if steady.any():  # what needs a force that nothing gives, or changes as it goes on, is none
            q = q[steady]
            self._spread(len(q))
        return self._told(q, 1e-8).chosen(1e-7 * float(self.reference[0]))

    def _spread(self, number: int) -> None:
        """As many lanes of the one that is asked for."""
        lanes = np.zeros(number, dtype=int)
        self.given = self.given._replace(lead=(number,))
        self.system, self.reference = self.system.of(lanes), self.reference[lanes]

    # -- the search ----------------------------------------------------------------------------------------------------

    def _good(self, found: Found, lanes: Any) -> Any:
        return found.good(self.reference[lanes]) & self.ranges.contain(found.q)

    def _starts(self, number: int) -> Floats:
        return self.ranges.spread(number) if number else np.zeros((0, self.m.nq))

    def _placed(self, q: Floats, lanes: Any) -> Floats:
        """Starts with the held joints where they are to be."""
        q, fixed = q.copy(), self.given.fixed
        q[:, fixed] = self.given.q[lanes][:, fixed]
        return q

    def _improve(
        self, best: Found, lost: Any, lanes: Any, q: Floats, method: Callable[..., Found]
    ) -> None:
        """Put what other starts of some lanes lead to in its place: a nearer equilibrium, or what
        is nearer to one."""
        found = method(self.system.of(lanes), q)
        found = found._replace(q=self.ranges.turned(found.q, self.given.q[lanes]))
        rank = self._rank(found, lanes)
        if not len(lost):
            return
        block = len(lanes) // len(lost)
        choice = rank.reshape(len(lost), block).argmin(axis=1) + np.arange(len(lost)) * block
        better = rank[choice] < self._rank(Found(*(x[lost] for x in best)), lost)
        for mine, new in zip(best, found, strict=True):
            mine[lost[better]] = new[choice[better]]

    def _rank(self, found: Found, lanes: Any) -> Floats:
        """Equilibria by their distance from the guess, then others by what they miss, then open
        loops."""
        apart = np.arctan(self.ranges.apart(found.q, self.given.q[lanes]))
        missing = np.arctan(
            np.linalg.norm(found.left, axis=-1) / np.maximum(self.reference[lanes], 1e-300)
        )
        open_ = ~(found.violation < 1e-9)
        return np.where(self._good(found, lanes), apart, 10.0 + np.where(open_, 10.0, missing))

    def families(self, q: Floats) -> Any:
        """For each equilibrium the dimension of the continuum it is one of: directions without
        stiffness along which forces stay in balance over a distance."""
        at = self.system.balance(q)
        K = at.P @ self.system.stiffness(q, at) @ at.P
        _, size, Vt = np.linalg.svd(K)
        _, allowed, _ = np.linalg.svd(at.P)
        soft = (size <= NEUTRAL * size[:, :1]) if self.m.nv else np.zeros(size.shape, dtype=bool)
        nullity = soft.sum(axis=-1) - (allowed < 0.5).sum(axis=-1)
        dimension = np.zeros(len(q), dtype=int)
        for j in range(int(nullity.max(initial=0))):
            lanes = np.flatnonzero(nullity > j)
            directions = self._neutral(at.P[lanes], Vt[lanes], soft[lanes], j)
            own = self.system.of(lanes)
            shifted = descend(own, own.moved(q[lanes], SHIFT * directions))
            away = self.ranges.apart(shifted.q, q[lanes]) / (
                np.abs(directions * own.unit).max(axis=-1) * SHIFT
            )
            dimension[lanes] += shifted.good(self.reference[lanes]) & (away > 0.5)
        return dimension

    def _neutral(self, P: Floats, Vt: Floats, soft: Any, j: int) -> Floats:
        """The j-th direction that is allowed and has no stiffness, for each lane."""
        rows = Vt * soft[..., None]
        _, _, V = np.linalg.svd(rows @ P)
        return np.asarray(V[:, j])

    # -- the answer ----------------------------------------------------------------------------------------------------

    def balanced(self, q: Floats) -> _Balanced:
        """Configurations with the forces of free actuators that leave the least, the cheapest of
        these."""
        s, unit = self.system, self.system.unit
        g, _, J = s.call(FORCES, q, s.v, s.tau)
        g, J = g * unit, J * unit
        back, P = projection(J)
        places = [self.m.actuated_velocities[k] for k in self.given.free]
        ease = 1 / np.sqrt(self.weights[list(self.given.free)])
        B = np.eye(self.m.nv)[:, places] * unit[places]
        extra = ease * np.einsum(
            "lij,lj->li", np.linalg.pinv(P @ (B * ease), rcond=1e-9), np.einsum("lij,lj->li", P, g)
        )
        tau = s.tau.copy()
        tau[:, list(self.given.free)] += extra
        g = g - extra @ B.T
        left = np.einsum("lij,lj->li", P, g)
        K = s.call(STIFFNESS, q, s.v, -np.einsum("lij,li->lj", back, g)) * unit[:, None] * unit
        M, D, G, T, energy = s.call(TERMS, q, s.v)
        terms = (
            M * unit[:, None] * unit,
            D * unit[:, None] * unit,
            G * unit,
            T * unit / unit[:, None],
        )
        relative = np.abs(left).max(axis=-1, initial=0.0) / np.maximum(self.reference, 1e-300)
        N, singular = _free(self.m, J)
        moving = np.abs(s.v).max(axis=-1, initial=0.0) > 0
        small = small_motions(N, back, K, terms, moving)
        return _Balanced(
            q, tau, left / unit, relative, self._unsteady(J, G * unit, K), energy, small, singular
        )

    def _unsteady(self, J: Floats, G: Floats, K: Floats) -> Floats:
        """How much forces and loops change along the motion itself, against what they are."""
        along = self.system.v / self.system.unit
        speed = np.maximum(np.abs(along).max(axis=-1, initial=0.0), 1e-300)
        change = np.abs(np.einsum("lij,lj->li", K, along)).max(axis=-1, initial=0.0)
        stiff = np.maximum(np.abs(K).max(axis=(1, 2), initial=0.0), self.reference)
        open_ = np.abs(np.einsum("lij,lj->li", J, along)).max(axis=-1, initial=0.0)
        turning = np.abs(np.einsum("lij,lj->li", G, along)).max(axis=-1, initial=0.0) / speed
        return np.asarray((change / np.maximum(stiff, 1e-300) + open_ + turning) / speed)

    def _told(self, q: Floats, tolerance: float, found: Found | None = None) -> Equilibrium:
        """The equilibria at these configurations, or a sentence."""
        made = self.balanced(q)
        if self.strict:
            self._refuse(made, tolerance, found)
        found_poles = poles(made.small)
        words = stability(made.small, found_poles, made.singular)
        found_poles[made.singular] = np.nan
        families = np.zeros(len(q), dtype=int) if self.given.whole else self.families(q)
        residual = np.abs(made.left).max(axis=-1, initial=0.0)
        lead = self.given.lead
        parts = (
            x.reshape((*lead, *x.shape[1:]))[()]
            for x in (
                q,
                self.system.v,
                made.tau,
                words,
                made.energy,
                found_poles,
                families,
                residual,
            )
        )
        names = [x.name for x in fields(Equilibrium)[1:-1]]
        named: dict[str, Any] = dict(zip(names, parts, strict=True))
        return Equilibrium(self.m, **named)

    def _which(self, k: Any) -> str:
        return f" (state {int(k)})" if len(self.given.q) > 1 and self.given.lead else ""

    def _refuse(self, made: _Balanced, tolerance: float, found: Found | None) -> None:
        """A sentence where there is no equilibrium."""
        if found is not None and (found.violation > 1e-9).any():
            k = int(found.violation.argmax())
            raise AssemblyError(
                f"{self.m.name} does not close on the way to an equilibrium{self._which(k)}: loops are violated by "
                f"{found.violation[k]:.3g} (rad, or lengths of its size); "
                + (
                    "hold the joints elsewhere."
                    if self.system.held
                    else "start from a closed configuration."
                )
            )
        if (made.relative > tolerance).any():
            self._refuse_force(made, int(made.relative.argmax()))
        if (made.unsteady > UNSTEADY).any():
            names = [
                str(c)
                for c, x in zip(
                    velocity_columns(self.m),
                    self.system.v[int(made.unsteady.argmax())],
                    strict=True,
                )
                if x
            ]
            raise EquilibriumError(
                f"{self.m.name} has no steady motion with these velocities{self._which(made.unsteady.argmax())}: its forces or loops "
                f"change as {', '.join(names)} goes on, so that it is no cyclic coordinate here."
            )
        inside = self.ranges.contain(made.q)
        if not self.given.whole and not inside.all():
            k = int(np.argmin(inside))
            raise EquilibriumError(
                f"{self.m.name} comes to rest{self._which(k)} only with {self.ranges.outside(made.q[k])}; pass limits=False to "
                "see it."
            )

    def _refuse_force(self, made: _Balanced, k: int) -> NoReturn:
        """Say which degree of freedom is not in balance."""
        place = int(np.abs(made.left[k] * self.system.unit).argmax())
        column = velocity_columns(self.m)[place]
        force = f"{made.left[k, place]:.4g} {'N m' if column.unit == 'rad/s' else 'N'}"
        if self.given.whole:
            raise EquilibriumError(
                f"no actuators' forces hold {self.m.name} in this configuration{self._which(k)}: '{column}' needs {force} more, "
                "which no actuator gives; m.equilibrium(tau=..., guess=q) finds where it rests."
            )
        if place in self.system.held and not set(self.m.actuated_velocities) & {place}:
            raise EquilibriumError(
                f"'{column}' of {self.m.name} has no actuator, and would need {force} to be held, or kept at its speed"
                f"{self._which(k)}."
            )
        raise EquilibriumError(
            f"no equilibrium of {self.m.name} under these forces was found{self._which(k)} from {1 + self.restarts} starts: at best "
            f"'{column}' is left {force} short; strict=False gives that configuration."
        )


def _free(m: Model, J: Floats) -> tuple[Floats, Any]:
    """A basis of what J leaves free where it has the rank it mostly has, and which lanes are
    singular."""
    lanes, rows, n = J.shape
    if not rows or not n:
        return np.broadcast_to(np.eye(n), (lanes, n, n)), np.zeros(lanes, dtype=bool)
    _, size, Vt = np.linalg.svd(J)
    ranks = (size > SINGULAR * size.max(axis=-1, keepdims=True)).sum(axis=-1)
    full = max(rank_at(m, generic(m)), int(ranks.max(initial=0)))
    return np.swapaxes(Vt[:, full:], 1, 2), ranks < full


def _wound(m: Model, system: Steady, ranges: Ranges) -> tuple[tuple[int, float, float], ...]:
    """The angles whose joints have springs, which a whole turn winds, and how far other forces can
    wind them about their rest."""
    springs = [
        (m.coordinates[j.name].start + k, m.velocities[j.name].start + k, float(own), float(rest))
        for j in m.joints
        if j.stiffness is not None and j.nq == j.nv
        for k, (own, rest) in enumerate(zip(j.stiffness, j.rest or (0.0,) * j.nv, strict=True))
    ]
    springs = [x for x in springs if ranges.turning[x[0]] and x[2] > 0]
    if not springs:
        return ()
    q = ranges.spread(WINDING_SAMPLES)
    of = system.of(np.zeros(len(q), dtype=int))
    g = of.call(FORCES, q, of.v, of.tau)[0]
    made = []
    for c, v, stiffness, rest in springs:
        others = np.abs(g[:, v] - stiffness * (q[:, c] - rest)).max()
        reach = min(max(WINDING_SHARE * others / stiffness, np.pi), MAX_WINDING)
        made.append((c, rest - reach, rest + reach))
    return tuple(made)


def _reference(system: Steady, q: Floats) -> Floats:
    """The size of the forces that act about configurations, in comparable units: what a residual is
    measured by."""
    rng = np.random.default_rng(0)
    largest = np.zeros(len(q))
    for share in (0.0, 0.7, 1.5):
        away = rng.normal(size=system.v.shape) * share
        g = system.call(FORCES, system.moved(q, away), system.v, system.tau)[0] * system.unit
        largest = np.maximum(largest, np.abs(g).max(axis=-1, initial=0.0))
    return largest
