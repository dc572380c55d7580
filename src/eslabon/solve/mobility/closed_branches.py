"""Closed configurations beside a given one and elsewhere, and the mobility of the branches they are
on.

Configurations that close the loops form branches: pieces of one dimension, their mobility, which
may meet at singular configurations. A parallelogram laid flat is where the parallelogram meets the
antiparallelogram. Where the branches that meet differ in mobility the mechanism is kinematotropic
(Wohlhart). Branches are looked for by steps from the given configuration along its own motions and
from random starts. That is a search: it proves that a branch exists, never that there is no other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np

from eslabon.answers import Answer, Column, Table, quantities_table
from eslabon.arguments import Floats
from eslabon.model import Model
from eslabon.model.configuration import difference, integrate, velocity_units
from eslabon.model.memory import per_model
from eslabon.model.scale import velocity_scales
from eslabon.numerics.tolerances import ROUND_OFF
from eslabon.solve.constraints.closed_configurations import (
    close,
    close_from,
    comparable_jacobian_at,
    unclosed,
)
from eslabon.solve.mobility.joint_screws import JointScrews, joint_screws
from eslabon.solve.mobility.subgroups import rank, span


@dataclass(frozen=True)
class BranchSearchSettings:
    """How closed configurations and their branches are looked for. Distances are in radians or in
    lengths over the characteristic length.

    Attributes
    ----------
    walk : steps of a walk along the mechanism's own motions.
    stride : the length of such a step.
    disorder : how far each is led off at random, to leave a singular configuration by.
    neighbours : small steps from a configuration, which show whether it is regular.
    of_singular : further small steps from one that is not, which show the branches that pass it.
    small : the length of such a step.
    kept : the part of a small step that must remain once the loops are closed again.
    starts : random starts of the search for branches elsewhere.
    slide : how far these are off along slides; hinges are anywhere.
    examples : configurations of one mobility that are looked at more closely.
    parallel : tangent spaces of one branch differ by less: the sine of the angle between them.
    """

    walk: int = 6
    stride: float = 0.3
    disorder: float = 0.05
    neighbours: int = 8
    of_singular: int = 48
    small: float = 0.03
    kept: float = 0.1
    starts: int = 48
    slide: float = 0.7
    examples: int = 3
    parallel: float = 0.3


SETTINGS = BranchSearchSettings()
TINY = 1e-300  # keeps the quotient of zeros finite

# Squares of extreme lengths (1e155 m) overflow on the way to a closed configuration. Such a way
# ends as one that does not close, which is reported; NumPy need not warn of it as well.
_tolerates_overflow = np.errstate(over="ignore", invalid="ignore", divide="ignore")


@dataclass(frozen=True)
class BranchMobility(Answer):
    """The mobility of branches of closed configurations that a search found.

    Attributes
    ----------
    dof : int
        Their mobility.
    meets : bool
        Whether they pass the configuration that was asked about.
    configurations : int
        How many closed configurations of this mobility the search found.
    branches : int, optional
        Of branches that meet, how many have tangent spaces of their own: there are at least so
        many. None where these spaces change from configuration to configuration.
    example : tuple of float
        One of the configurations.

    >>> import eslabon as es
    >>> m = es.load("sarrus")  # folded, its links turn about hinges that coincide
    >>> (other,) = m.mobility().branches
    >>> other.dof, other.meets, m.mobility(other.example).dof
    (2, False, 2)
    """

    dof: int
    meets: bool
    configurations: int
    branches: int | None
    example: tuple[float, ...]

    def contents(self) -> Iterator[Table]:
        yield quantities_table(
            [
                (Column("degrees of freedom"), self.dof),
                (Column("passes the configuration"), self.meets),
                (Column("configurations found"), self.configurations),
                (Column("branches, at least"), self.branches),
                (Column("example q"), np.array(self.example)),
            ]
        )


@dataclass(frozen=True, eq=False)
class ClosedConfiguration:
    """A configuration that closes the loops, and its motions to first order.

    Attributes
    ----------
    m, q : the mechanism and the configuration.
    motions : an orthonormal basis of the velocities that keep the loops closed, as columns
        (nv, dof), in rad/s or characteristic lengths a second.
    margin : the smallest singular value of the closure Jacobian that is not zero: the distance from
        a loss of rank.
    """

    m: Model
    q: Floats
    motions: Floats
    margin: float

    @property
    def dof(self) -> int:
        """The number of independent motions: the dimension of the closure Jacobian's null space."""
        return self.motions.shape[1]

    @cached_property
    def screws(self) -> JointScrews:
        """The screws of its joints."""
        return joint_screws(self.m, self.q)

    def moved(self, v: Floats) -> Floats:
        """The configuration after a unit of time at comparable velocities."""
        return integrate(self.m, self.q, v / velocity_scales(self.m))


@_tolerates_overflow
def closed_configurations(m: Model, q: Floats) -> list[ClosedConfiguration]:
    """Closed configurations (k, nq) with their motions."""
    return [_with_motions(m, x, J) for x, J in zip(q, comparable_jacobian_at(m, q), strict=True)]


def _with_motions(m: Model, q: Floats, J: Floats) -> ClosedConfiguration:
    if not np.isfinite(J).all():  # a length whose square overflows; screws have no squares
        J = joint_screws(m, q).closing[:, : m.nv]
    if not J.size:
        return ClosedConfiguration(m, q, np.eye(m.nv), np.inf)
    _, s, Vt = np.linalg.svd(J)
    largest = float(s.max(initial=0.0))
    r = rank(s, scale=largest) if largest > ROUND_OFF else 0  # loops may hold nothing
    return ClosedConfiguration(m, q, Vt[r:].T, float(s[r - 1]) if r else np.inf)


# --- around a configuration, and elsewhere --------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Surroundings:
    """Closed configurations around one of them.

    Attributes
    ----------
    here : the configuration itself.
    near : a small step off, on the branches that pass it.
    walked : along a walk.
    """

    here: ClosedConfiguration
    near: tuple[ClosedConfiguration, ...]
    walked: tuple[ClosedConfiguration, ...] = ()

    @property
    def dof(self) -> int:
        """The mobility beside the configuration: the lowest of the branches that pass it."""
        return min((x.dof for x in self.near), default=self.here.dof)

    @property
    def on_branch(self) -> tuple[ClosedConfiguration, ...]:
        """Configurations with the mobility of the branch."""
        around = tuple(x for x in (self.here, *self.walked) if x.dof == self.dof)
        return around or tuple(x for x in self.near if x.dof == self.dof)[: SETTINGS.walk]

    @property
    def generic(self) -> ClosedConfiguration:
        """The configuration of the branch that is farthest from losing rank."""
        return max(self.on_branch, key=lambda x: x.margin)

    @property
    def is_regular(self) -> bool:
        """Whether the configuration is on one smooth branch of its own mobility."""
        steps = SETTINGS.neighbours if self.here.dof else 0
        return len(self.near) == steps and all(x.dof == self.here.dof for x in self.near)


@per_model
@_tolerates_overflow
def surroundings(m: Model, q: tuple[float, ...] | None = None) -> Surroundings:
    """Closed configurations at and around a given one, by default the home; always the same ones.

    Raises
    ------
    AssemblyError
        When the loops cannot be closed from the home.
    """
    (here,) = closed_configurations(m, np.array(close(m) if q is None else q, dtype=float)[None])
    if not m.closed:
        return Surroundings(here, ())
    return Surroundings(here, neighbours(here), tuple(_walk(here)))


def neighbours(here: ClosedConfiguration) -> tuple[ClosedConfiguration, ...]:
    """Closed configurations a small step off along motions of a configuration, and only those at
    which it arrives: a motion of first order alone leads back."""
    if not here.dof:
        return ()
    rng = np.random.default_rng(0)
    near = _small_steps(here, rng, SETTINGS.neighbours)
    if not Surroundings(here, near).is_regular:
        near += _small_steps(here, rng, SETTINGS.of_singular)
    return near


def _small_steps(
    here: ClosedConfiguration, rng: np.random.Generator, count: int
) -> tuple[ClosedConfiguration, ...]:
    q = np.array([here.moved(_random_motion(here, rng, SETTINGS.small)) for _ in range(count)])
    lost = SETTINGS.kept * SETTINGS.small
    return tuple(x for x in closed_from(here.m, q) if _apart(here, x) > lost)


def _random_motion(at: ClosedConfiguration, rng: np.random.Generator, length: float) -> Floats:
    """Velocities that keep the loops closed. They do not depend on the basis of the motions."""
    v = at.motions @ (at.motions.T @ rng.normal(size=at.m.nv))
    return v * (length / max(float(np.linalg.norm(v)), TINY))


def _apart(one: ClosedConfiguration, other: ClosedConfiguration) -> float:
    steps = difference(one.m, other.q, one.q) * velocity_scales(one.m)
    return float(np.abs(steps).max(initial=0.0))


def _walk(here: ClosedConfiguration) -> Iterator[ClosedConfiguration]:
    rng, at = np.random.default_rng(0), here
    for _ in range(SETTINGS.walk):
        v = _random_motion(at, rng, SETTINGS.stride)
        step = at.moved(v + SETTINGS.disorder * rng.normal(size=v.size))
        for at in closed_from(here.m, step[None]):  # none across the border of the workspace
            yield at


def elsewhere(m: Model, q: Floats) -> list[ClosedConfiguration]:
    """Closed configurations from random starts, the same ones always; joint limits are not kept."""
    rng = np.random.default_rng(0)
    turning = [np.pi if unit == "rad/s" else SETTINGS.slide for unit in velocity_units(m)]
    away = rng.uniform(-1.0, 1.0, size=(SETTINGS.starts, m.nv)) * turning / velocity_scales(m)
    return closed_from(m, integrate(m, np.broadcast_to(q, (SETTINGS.starts, m.nq)), away))


@_tolerates_overflow
def closed_from(m: Model, q: Floats) -> list[ClosedConfiguration]:
    """The closed configurations that starts (k, nq) lead to; those that do not close are left
    out."""
    found, error = close_from(m, q)
    return closed_configurations(m, found[~unclosed(m, np.sqrt(error))])


# --- branches -------------------------------------------------------------------------------------


def branches_here(around: Surroundings) -> tuple[BranchMobility, ...]:
    """The branches that pass a configuration, by their mobility."""
    if around.is_regular:
        return ()
    return tuple(_branch(own, meets=True) for own in _by_dof(around.near))


def branches_elsewhere(
    found: Sequence[ClosedConfiguration], around: Surroundings
) -> tuple[BranchMobility, ...]:
    """The branches of another mobility among configurations from random starts, each shown by a
    configuration that is regular."""
    known = {around.dof, *(x.dof for x in around.near)}
    made = []
    for own in _by_dof([*found, *around.walked]):
        example = None if own[0].dof in known else _regular(own)
        if example is not None:
            made.append(_branch([example, *own[1:]], meets=False))
    return tuple(made)


def _by_dof(found: Sequence[ClosedConfiguration]) -> list[list[ClosedConfiguration]]:
    """Configurations of one mobility together, the lowest first, those farthest from losing rank
    first."""
    ordered = sorted(found, key=lambda x: (x.dof, -x.margin))
    return [list(own) for _, own in groupby(ordered, key=lambda x: x.dof)]


def _branch(own: Sequence[ClosedConfiguration], meets: bool) -> BranchMobility:
    example = tuple(map(float, own[0].q))
    return BranchMobility(
        own[0].dof, meets, len(own), _tangent_spaces(own) if meets else None, example
    )


def _regular(own: Sequence[ClosedConfiguration]) -> ClosedConfiguration | None:
    """The first of some configurations at which the mobility is no exception."""
    tried = (Surroundings(x, neighbours(x)) for x in own[: SETTINGS.examples])
    return next((around.here for around in tried if around.is_regular), None)


def _tangent_spaces(own: Sequence[ClosedConfiguration]) -> int | None:
    """The number of different tangent spaces at configurations a small step from one another; none
    where there are nearly as many as configurations."""
    spaces: list[Floats] = []
    for x in own:
        if not any(_parallel(x.motions, other) for other in spaces):
            spaces.append(x.motions)
    return len(spaces) if 2 * len(spaces) <= len(own) else None


def _parallel(A: Floats, B: Floats) -> bool:
    """Whether two spaces of one dimension, given by orthonormal bases, are nearly the same."""
    return A.shape == B.shape and float(np.linalg.norm(B - A @ (A.T @ B), 2)) < SETTINGS.parallel


# --- mobility of first order only -----------------------------------------------------------------


@_tolerates_overflow
def infinitesimal_mobility(p: ClosedConfiguration, names: Sequence[str]) -> int:
    """How many of the motions that some joints have at a configuration are of first order only.

    A small step along each is brought back to a closed configuration. It remains if the mechanism
    moves that way, and is lost if the mobility is infinitesimal.
    """
    units = velocity_scales(p.m)
    own = [
        k for name in names if name in p.m.velocities for k in range(p.m.nv)[p.m.velocities[name]]
    ]
    if not own or not p.dof:
        return 0
    starts = np.array([p.moved(SETTINGS.small * v) for v in p.motions.T])
    ends, error = close_from(p.m, starts)
    ends[unclosed(p.m, np.sqrt(error))] = p.q
    steps, arrivals = (
        (difference(p.m, q, np.broadcast_to(p.q, q.shape)) * units)[:, own].T / SETTINGS.small
        for q in (starts, ends)
    )
    directions = span(steps)
    kept = np.linalg.svd(directions.T @ arrivals, compute_uv=False)
    return int(directions.shape[1] - np.sum(kept > SETTINGS.kept))
