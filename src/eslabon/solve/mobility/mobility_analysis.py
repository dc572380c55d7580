"""How many degrees of freedom a mechanism has: by a count, by groups, and by the rank of its
closure.

Three ways, each with its own blind spots:

* the count of Chebychev, Gruebler and Kutzbach knows how many joints there are, and nothing of
  where they are;
* Hervé's groups (Rojas, 2.3) know the kinds of motion that meet, and nothing of lengths;
* the rank of the closure Jacobian knows all of it, at the configurations where it is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eslabon.errors import AssemblyError
from eslabon.model import Model
from eslabon.model.memory import per_model
from eslabon.model.model import as_model
from eslabon.solve.mobility.closed_branches import (
    SETTINGS,
    BranchMobility,
    Surroundings,
    branches_elsewhere,
    branches_here,
    elsewhere,
    infinitesimal_mobility,
    surroundings,
)
from eslabon.solve.mobility.closed_chains import Explained, Network, all_joints, by_groups
from eslabon.solve.mobility.joint_screws import JointScrews, active_screws, joint_screws
from eslabon.solve.mobility.mobility_report import ClosedChain, LoopReport, Mobility
from eslabon.solve.mobility.passive_motions import Passive, passive_motions
from eslabon.solve.mobility.subgroups import Subgroup, classified
from eslabon.solve.singular.conditions import one_configuration

PLANAR = ("I", "P", "R", "T2", "E")  # the subgroups of planar motion


def mobility(m: Model, q: Any = None) -> Mobility:
    """The mobility of a mechanism three ways, compared and explained, at a configuration.

    `q` is a closed configuration; left out, it is the mechanism's home. The rank is taken at closed
    configurations beside it, so that a singular configuration does not mislead, and at the
    configuration itself. It is the mobility to first order. Where a chain has more of it than
    groups grant, small steps show whether it can be followed: the rest is infinitesimal mobility.

    Each closed chain is put in a class (Rojas, 2.3), by what explains the mobility that the rank
    shows:

    trivial
        The smallest subgroup of each loop: the degrees of freedom of the joints less the dimensions
        of these subgroups (or nothing is left, and it does not move).
    exceptional
        The intersections of the subgroups in which the two sides of a loop, or the legs of a
        platform, move; or joints to spare in a chain that fills its group; where need be after
        degrees of freedom that never move are taken away, as Rojas does to reduce such a chain to a
        trivial one.
    paradoxical
        No subgroup. A chain is called so only when groups decide all of it but one loop, and no cut
        of that loop into two sides explains its mobility: it moves because of its lengths (Bennett,
        Bricard, Goldberg).
    undecided
        Groups do not explain it, and with several loops left that does not prove that none could.

    A mechanism without loops is `open`. Its degrees of freedom are those of its joints.

    Another branch of closed configurations may have another mobility. Branches that pass the
    configuration are found by small steps along its motions, others by closing the loops from
    random starts anywhere, without heed of joint limits. Both are searches: a branch that they find
    exists, and there may be others that they miss.

    >>> from eslabon import load
    >>> print(mobility(load("planar_3rrr")))
    method                                   working               mobility
    Chebychev-Gruebler-Kutzbach, in space    6*7 - 45              -3
    Chebychev-Gruebler-Kutzbach, in a plane  3*7 - 18              3
    Hervé's subgroups, in E                  3*7 - 18 - 0 passive  3
    rank of the closure Jacobian             7 - 4                 3
    planar_3rrr is a trivial chain with 3 degrees of freedom.
    The count in space gives -3: 2 loops move in E, so each repeats 3 constraints; 6 of the 10 are redundant.
    A search from 48 random starts met no other mobility among 48 closed configurations; that is no proof that there is none.
    """
    m = as_model(m, "mobility")
    if q is None:
        return _mobility(m, None)
    return _mobility(m, tuple(map(float, one_configuration(m, q, "mobility"))))


@per_model
def _mobility(m: Model, q: tuple[float, ...] | None) -> Mobility:
    around, trouble = _surroundings(m, q)
    p = joint_screws(m, m.home()) if around is None else around.generic.screws
    network, joints = Network(m), all_joints(m)
    passive = passive_motions(p, network)
    loops = tuple(LoopReport(names, _subgroup(p, names)) for names in network.loops())
    whole = _subgroup(p, tuple(p.screws))
    chains = (
        _closed_chain(p, around, network, names, loops, passive)
        for names in network.closed_chains()
    )
    branches, starts, closed = _branches(m, around)

    def count(d: int) -> int:
        return d * len(m.bodies) - sum(d - x.kind.dof for x in joints) - len(m.couplings)

    return Mobility(
        name=m.name,
        order=tuple(b.name for b in m.bodies),
        joints=len(joints),
        joint_dof=sum(x.kind.dof for x in joints),
        couplings=len(m.couplings),
        loops=loops,
        chains=tuple(chains),
        gruebler=count(6),
        planar=count(3) if whole.symbol in PLANAR else None,
        subgroup=whole,
        herve=count(whole.dimension) - len(passive),
        dof=None if around is None else around.dof,
        instantaneous_dof=None if around is None else around.here.dof,
        at_home=q is None,
        branches=branches,
        starts=starts,
        closed=closed,
        velocities=m.nv,
        rows=sum(x.kind.rows for x in m.loops) + len(m.couplings),
        passive=passive,
        trouble=trouble,
    )


def degrees_of_freedom(m: Model) -> int:
    """The mobility at home by the rank of the closure Jacobian, passive motions included.

    >>> from eslabon import load
    >>> degrees_of_freedom(load("planar_3rrr"))
    3
    """
    m = as_model(m, "degrees_of_freedom")
    return surroundings(m).dof


def _surroundings(m: Model, q: tuple[float, ...] | None) -> tuple[Surroundings | None, str]:
    """Closed configurations around one, or why there is none."""
    try:
        return surroundings(m, q), ""
    except AssemblyError as error:
        return None, str(error)


def _branches(m: Model, around: Surroundings | None) -> tuple[tuple[BranchMobility, ...], int, int]:
    """The branches that a search found, the number of its starts, and how many of these closed."""
    if around is None or not m.closed or not m.nv:
        return (), 0, 0
    found = elsewhere(m, around.here.q)
    branches = (*branches_here(around), *branches_elsewhere(found, around))
    return branches, SETTINGS.starts, len(found)


def _subgroup(p: JointScrews, names: Sequence[str]) -> Subgroup:
    return classified(np.hstack([p.screws[name] for name in names])).placed(p.centre, p.length)


def _closed_chain(
    p: JointScrews,
    around: Surroundings | None,
    network: Network,
    names: Sequence[str],
    loops: Sequence[LoopReport],
    passive: Sequence[Passive],
) -> ClosedChain:
    """A closed chain with its class."""
    own = [loop for loop in loops if loop.joints[0] in names]
    # whatever the loops take, they do not take passive motions
    least = sum(x.joints[0] in names for x in passive)
    joint_dof = sum(p.screws[name].shape[1] for name in names)
    trivial = joint_dof - sum(loop.subgroup.dimension for loop in own)
    explained = by_groups(network, names, p.screws)
    infinitesimal, kind, dof = 0, "undecided", None
    inactive: tuple[str, ...] = ()
    if around is not None:
        dof = joint_dof - p.rank_of(names)
        if dof > max(explained.dof, least):
            surplus = dof - max(explained.dof, least)
            infinitesimal = min(infinitesimal_mobility(around.generic, names), surplus)
        if dof - infinitesimal > max(explained.dof, least):
            explained, inactive = _without_inactive(p, around, network, names, explained)
        finite, groups = dof - infinitesimal, max(explained.dof, least)
        kind = _class(finite, max(trivial, least), groups, explained.decided)
    return ClosedChain(
        tuple(names),
        len(own),
        dof,
        trivial,
        explained.dof,
        infinitesimal,
        inactive,
        kind,
        explained.meetings,
    )


def _without_inactive(
    p: JointScrews,
    around: Surroundings,
    network: Network,
    names: Sequence[str],
    explained: Explained,
) -> tuple[Explained, tuple[str, ...]]:
    """What groups explain once degrees of freedom that never move are taken away, and the joints
    that have them."""
    working = active_screws([x.screws for x in around.on_branch], p)
    reduced = by_groups(network, names, working)
    inactive = tuple(x for x in names if working[x].shape[1] < p.screws[x].shape[1])
    return (reduced if reduced.dof > explained.dof else explained), inactive


def _class(dof: int, trivial: int, groups: int, decided: bool) -> str:
    if dof == max(trivial, 0):
        return "trivial"
    if dof == groups:
        return "exceptional"
    return "paradoxical" if decided and dof > groups else "undecided"
