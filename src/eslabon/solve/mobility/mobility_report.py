"""How many degrees of freedom a mechanism has: counted, by groups, and by the rank of its closure; compared and explained.

Three ways, each with its own blind spots:

* the count of Chebychev, Gruebler and Kutzbach knows how many joints there are, and nothing of where;
* Hervé's groups (Rojas, 2.3) know the kinds of motion that meet, and nothing of lengths;
* the rank of the closure Jacobian knows all of it, at the configurations where it is taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from eslabon.displays import displayed
from eslabon.errors import AssemblyError
from eslabon.model import Model
from eslabon.model.memory import per_model
from eslabon.pages import listing, table
from eslabon.sheets import Sheet
from eslabon.solve.mobility.closed_chains import Meeting, Network, all_joints, by_groups
from eslabon.solve.mobility.joint_screws import (
    JointScrews,
    active_screws,
    closed_configurations,
    infinitesimal_mobility,
    joint_screws,
)
from eslabon.solve.mobility.passive_motions import Passive, passive_motions
from eslabon.solve.mobility.subgroups import Subgroup, subgroup

CLASSES = ("open", "trivial", "exceptional", "paradoxical", "undecided")
PLANAR = ("I", "P", "R", "T2", "E")  # the subgroups of planar motion


@displayed
@dataclass(frozen=True)
class LoopReport:
    """An independent loop: its joints around it, and the smallest subgroup that contains their motions."""

    joints: tuple[str, ...]
    subgroup: Subgroup


@displayed
@dataclass(frozen=True)
class ClosedChain:
    """Joints that loops tie together.

    Attributes
    ----------
    joints : tuple of str
        Their names.
    loops : int
        The number of independent loops among them.
    dof : int, optional
        Its mobility by the rank of the closure Jacobian; none where it cannot be assembled.
    trivial : int
        Its mobility by the smallest subgroup of each loop: the joints' degrees of freedom less these dimensions.
    groups : int
        Its mobility as far as subgroups and their intersections explain it.
    infinitesimal : int
        Its infinitesimal mobility: motions to first order only, at the one configuration that closes.
    inactive : tuple of str
        The joints of it with degrees of freedom that never move.
    kind : str
        Its class; see `mobility`.
    meetings : tuple of Meeting
        The chains of it whose motions are subgroups and which meet at both ends.
    """

    joints: tuple[str, ...]
    loops: int
    dof: int | None
    trivial: int
    groups: int
    infinitesimal: int
    inactive: tuple[str, ...]
    kind: str
    meetings: tuple[Meeting, ...]


@displayed
@dataclass(frozen=True, repr=False)
class Mobility:
    """The mobility of a mechanism, three ways, and why they differ where they do.

    Attributes
    ----------
    name : str
        The mechanism's.
    order : tuple of str
        The bodies in tree order, each after the one that carries it.
    joints, joint_dof, couplings : int
        The number of joints (cut ones too), the sum of their degrees of freedom, and the number of couplings.
    loops : tuple of LoopReport
        Independent loops, as short as can be.
    chains : tuple of ClosedChain
        The parts that loops tie together, each with its class.
    gruebler : int
        The count of Chebychev, Gruebler and Kutzbach, 6 (n - 1) - sum(6 - f_i).
    planar : int, optional
        The same with 3 for 6, where every joint is one of a plane.
    subgroup : Subgroup
        The smallest that contains the motions of all joints; d is its dimension.
    herve : int
        Rojas' l = d (n - 1) - sum(d - f_i) - m, m being the number of passive motions.
    dof : int, optional
        The number of velocities less the rank of the closure Jacobian at generic configurations: the mobility, passive
        motions included. None where the mechanism cannot be assembled.
    dof_at_home : int, optional
        The same at the home configuration, which is singular if this is more.
    nearby : tuple of int
        Every value of it met at closed configurations around the home.
    velocities, rows : int
        The size of the closure Jacobian.
    passive : tuple of Passive
        The passive motions.
    trouble : str
        Why it cannot be assembled, where it cannot.

    >>> import eslabon as es
    >>> found = es.load("five_bar").mobility()
    >>> found.dof, found.kind, found.redundant
    (2, 'trivial', 3)
    """

    name: str
    order: tuple[str, ...]
    joints: int
    joint_dof: int
    couplings: int
    loops: tuple[LoopReport, ...]
    chains: tuple[ClosedChain, ...]
    gruebler: int
    planar: int | None
    subgroup: Subgroup
    herve: int
    dof: int | None
    dof_at_home: int | None
    nearby: tuple[int, ...]
    velocities: int
    rows: int
    passive: tuple[Passive, ...]
    trouble: str = ""

    @property
    def bodies(self) -> int:
        """The number of moving bodies, the ground not counted."""
        return len(self.order)

    @property
    def useful(self) -> int | None:
        """The mobility without the passive motions."""
        return None if self.dof is None else self.dof - len(self.passive)

    @property
    def redundant(self) -> int | None:
        """The number of constraints that repeat others: rows of the closure Jacobian less its rank."""
        return None if self.dof is None else self.rows - (self.velocities - self.dof)

    @property
    def infinitesimal(self) -> int:
        """Its infinitesimal mobility: the degrees of freedom that are motions to first order only."""
        return sum(c.infinitesimal for c in self.chains)

    @property
    def kind(self) -> str:
        """The class of the mechanism, that of its closed chain farthest from trivial: one of `CLASSES`."""
        return max((c.kind for c in self.chains), key=CLASSES.index, default="open")

    @property
    def agree(self) -> bool:
        """Whether the three ways give one number, passive motions counted alike."""
        return self.dof == self.gruebler == self.herve + len(self.passive)

    def table(self) -> list[tuple[str, str, str]]:
        """The three ways as rows of (method, working, result)."""
        n, d, m = self.bodies, self.subgroup.dimension, len(self.passive)
        gears = f" - {self.couplings}" * bool(self.couplings)

        def working(d: int) -> str:
            return f"{d}*{n} - {d * self.joints - self.joint_dof}{gears}"

        rows = [("Chebychev-Gruebler-Kutzbach, in space", working(6), str(self.gruebler))]
        if self.planar is not None:
            rows.append(("Chebychev-Gruebler-Kutzbach, in a plane", working(3), str(self.planar)))
        rows.append(
            (
                f"Hervé's subgroups, in {self.subgroup.symbol}",
                f"{working(d)} - {m} passive",
                str(self.herve),
            )
        )
        rank_ = (
            "cannot be assembled"
            if self.dof is None
            else f"{self.velocities} - {self.velocities - self.dof}"
        )
        return [
            *rows,
            ("rank of the closure Jacobian", rank_, "?" if self.dof is None else str(self.dof)),
        ]

    def sentences(self) -> tuple[str, ...]:
        """The comparison in words: what agrees, and why the rest does not."""
        from eslabon.solve.mobility.comparison import sentences

        return tuple(sentences(self))

    def _pieces(self) -> Iterator[str]:
        yield table(Sheet("", ("method", "working", "mobility"), self.table()))
        yield listing(self.sentences())

    def __repr__(self) -> str:
        return f"<Mobility of {self.name}: {self.dof}, {self.kind}; print it for the comparison>"

    def __str__(self) -> str:
        table = self.table()
        widths = [max(len(row[k]) for row in table) for k in range(3)]
        lines = [f"{a:<{widths[0]}}  {b:<{widths[1]}}  = {c:>{widths[2]}}" for a, b, c in table]
        return "\n".join([*lines, *self.sentences()])


@per_model
def mobility(m: Model) -> Mobility:
    """The mobility of a mechanism three ways, compared and explained.

    Each closed chain of it is put in a class (Rojas, 2.3), by what explains the mobility that the rank shows:

    trivial
        The smallest subgroup of each loop: the degrees of freedom of the joints less the dimensions of these subgroups (or
        nothing is left, and it does not move).
    exceptional
        Not these, but the intersections of the subgroups in which the two sides of a loop, or the legs of a platform,
        move; or joints to spare in a chain that fills its group; where need be after those degrees of freedom that never move are
        taken away, as Rojas does to reduce such a chain to a trivial one.
    paradoxical
        No subgroup. This is said of a chain only when groups decide all of it but one loop, and no cut of that loop
        into two sides explains its mobility: it moves because of its lengths (Bennett, Bricard, Goldberg).
    undecided
        Groups do not explain it, and with several loops left that does not prove that none could.

    A mechanism without loops is `open`. Its degrees of freedom are those of its joints.

    The rank is taken at closed configurations around the home, as generic as a walk along its motions finds them. It is the
    mobility to first order. A chain that closes at one configuration only may have infinitesimal mobility there: degrees
    of freedom beyond what groups grant are tried by a small step, and those that cannot be followed are told apart.

    >>> from eslabon import load
    >>> print(mobility(load("planar_3rrr")))
    Chebychev-Gruebler-Kutzbach, in space    6*7 - 45              = -3
    Chebychev-Gruebler-Kutzbach, in a plane  3*7 - 18              =  3
    Hervé's subgroups, in E                  3*7 - 18 - 0 passive  =  3
    rank of the closure Jacobian             7 - 4                 =  3
    planar_3rrr is a trivial chain with 3 degrees of freedom.
    The count in space gives -3: 2 loops move in E, so each repeats 3 constraints; 6 of the 10 are redundant.
    """
    trouble = ""
    try:
        p, found = _configurations(m)
    except AssemblyError as error:
        trouble, p, found = str(error), joint_screws(m, m.home()), ()
    network, joints = Network(m), all_joints(m)
    passive = passive_motions(p, network)
    loops = tuple(LoopReport(names, _subgroup(p, names)) for names in network.loops())
    whole = _subgroup(p, tuple(p.screws))

    def count(d: int) -> int:
        return d * len(m.bodies) - sum(d - x.kind.dof for x in joints) - len(m.couplings)

    return Mobility(
        name=m.name, order=tuple(b.name for b in m.bodies), joints=len(joints),
        joint_dof=sum(x.kind.dof for x in joints), couplings=len(m.couplings), loops=loops,
        chains=tuple(_closed_chain(p, found, network, names, loops, passive) for names in network.closed_chains()),
        gruebler=count(6), planar=count(3) if whole.symbol in PLANAR else None, subgroup=whole,
        herve=count(whole.dimension) - len(passive), dof=p.dof if found else None,
        dof_at_home=found[0].dof if found else None, nearby=tuple(sorted({x.dof for x in found[1:]})),
        velocities=m.nv, rows=sum(x.kind.rows for x in m.loops) + len(m.couplings), passive=passive, trouble=trouble,
    )  # fmt: skip


def degrees_of_freedom(m: Model) -> int:
    """The mobility by the rank of the closure Jacobian, passive motions included.

    >>> from eslabon import load
    >>> degrees_of_freedom(load("planar_3rrr"))
    3
    """
    return _configurations(m)[0].dof


@per_model
def _configurations(m: Model) -> tuple[JointScrews, tuple[JointScrews, ...]]:
    """The closed configuration of highest rank, the farthest from losing it, and all that were found, the home first."""
    found = closed_configurations(m)
    return min(found, key=lambda p: (p.dof, -p.margin)), tuple(found)


def _subgroup(p: JointScrews, names: tuple[str, ...]) -> Subgroup:
    return subgroup(np.hstack([p.screws[name] for name in names])).placed(p.centre, p.length)


def _closed_chain(
    p: JointScrews, found: tuple[JointScrews, ...], network: Network, names: list[str],
    loops: tuple[LoopReport, ...], passive: tuple[Passive, ...],
) -> ClosedChain:  # fmt: skip
    """A closed chain with its class."""
    own = [loop for loop in loops if loop.joints[0] in names]
    least = sum(
        x.joints[0] in names for x in passive
    )  # whatever the loops take, they do not take these
    joint_dof = sum(p.screws[name].shape[1] for name in names)
    trivial = joint_dof - sum(loop.subgroup.dimension for loop in own)
    explained = by_groups(network, names, p.screws)
    infinitesimal, kind, dof = 0, "undecided", None
    inactive: tuple[str, ...] = ()
    if found:
        dof = joint_dof - p.rank_of(names)
        if dof > max(explained.dof, least):
            infinitesimal = min(infinitesimal_mobility(p, names), dof - max(explained.dof, least))
        if dof - infinitesimal > max(explained.dof, least):
            working = active_screws(found, p)
            reduced = by_groups(network, names, working)
            inactive = tuple(
                name for name in names if working[name].shape[1] < p.screws[name].shape[1]
            )
            explained = reduced if reduced.dof > explained.dof else explained
        kind = _class(
            dof - infinitesimal, max(trivial, least), max(explained.dof, least), explained.decided
        )
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


def _class(dof: int, trivial: int, groups: int, decided: bool) -> str:
    if dof == max(trivial, 0):
        return "trivial"
    if dof == groups:
        return "exceptional"
    return "paradoxical" if decided and dof > groups else "undecided"
