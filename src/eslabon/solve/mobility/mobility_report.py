"""The result of a mobility analysis: the numbers, and sentences that compare and explain them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from eslabon.answers import Answer, Block, Column, Message, Table, block_text
from eslabon.solve.mobility.closed_branches import BranchMobility
from eslabon.solve.mobility.closed_chains import Meeting
from eslabon.solve.mobility.passive_motions import Passive
from eslabon.solve.mobility.subgroups import Subgroup

CLASSES = ("open", "trivial", "exceptional", "paradoxical", "undecided")
MAX_MEETINGS = 6  # sentences on one chain; more legs say no more by more lines
NOUNS = {
    "open": "an open chain",
    "exceptional": "an exceptional chain",
    "undecided": "a chain that groups do not decide",
}


@dataclass(frozen=True)
class LoopReport(Answer):
    """An independent loop.

    Attributes
    ----------
    joints : tuple of str
        Its joints, in their order around it.
    subgroup : Subgroup
        The smallest subgroup that contains their motions.

    >>> import eslabon as es
    >>> (loop,) = es.load("five_bar").mobility().loops
    >>> loop.joints, loop.subgroup.symbol
    (('theta2', 'theta3', 'tip', 'theta4', 'theta5'), 'E')
    """

    joints: tuple[str, ...]
    subgroup: Subgroup


@dataclass(frozen=True)
class ClosedChain(Answer):
    """Joints that loops tie together.

    Attributes
    ----------
    joints : tuple of str
        Their names.
    loops : int
        The number of independent loops among them.
    dof : int, optional
        Its mobility by the rank of the closure Jacobian; None where it cannot be assembled.
    trivial : int Its mobility by the smallest subgroup of each loop: the joints' degrees of freedom
        less these dimensions.
    groups : int
        Its mobility as far as subgroups and their intersections explain it.
    infinitesimal : int
        Its infinitesimal mobility: motions of first order only, at the one configuration that
        closes.
    inactive : tuple of str
        Its joints with degrees of freedom that never move.
    kind : str
        Its class; see `mobility`.
    meetings : tuple of Meeting
        The chains of it whose motions are subgroups and which meet at both ends.

    >>> import eslabon as es
    >>> (chain,) = es.load("bennett").mobility().chains
    >>> chain.dof, chain.groups, chain.kind
    (1, 0, 'paradoxical')
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


@dataclass(frozen=True, repr=False)
class Mobility(Answer):
    """The mobility of a mechanism, three ways, and why they differ where they do.

    Attributes
    ----------
    name : str
        The mechanism's.
    order : tuple of str
        The bodies in tree order, each after the one that carries it.
    joints, joint_dof, couplings : int
        The number of joints (cut ones too), the sum of their degrees of freedom, and the number of
        couplings.
    loops : tuple of LoopReport
        Independent loops, as short as possible.
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
        The mobility of the branch of the configuration, passive motions included: the number of
        velocities less the rank of the closure Jacobian beside the configuration. Where branches of
        different mobility meet there, it is the lowest. None where the mechanism cannot be
        assembled.
    instantaneous_dof : int, optional
        The same at the configuration itself, which is singular if this is more.
    at_home : bool
        Whether the configuration is the mechanism's home, and not one that the caller gave.
    branches : tuple of BranchMobility
        Branches that meet at the configuration if it is singular, and branches of another mobility
        elsewhere, as far as a search found them.
    starts, closed : int
        The number of random starts of that search, and how many led to a closed configuration.
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
    instantaneous_dof: int | None
    at_home: bool
    branches: tuple[BranchMobility, ...]
    starts: int
    closed: int
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
        """The number of redundant constraints: rows of the closure Jacobian less its rank."""
        return None if self.dof is None else self.rows - (self.velocities - self.dof)

    @property
    def infinitesimal(self) -> int:
        """Its infinitesimal mobility: the degrees of freedom that are motions of first order
        only."""
        return sum(c.infinitesimal for c in self.chains)

    @property
    def singular(self) -> bool:
        """Whether the configuration has more motions of first order than those beside it."""
        return self.dof is not None and (self.instantaneous_dof or 0) > self.dof

    @property
    def mobilities(self) -> tuple[int, ...]:
        """The mobilities of all branches that were found, in ascending order."""
        own = set() if self.dof is None else {self.dof}
        return tuple(sorted(own | {branch.dof for branch in self.branches}))

    @property
    def kinematotropic(self) -> bool:
        """Whether branches of different mobility meet at the configuration."""
        return len({branch.dof for branch in self.branches if branch.meets}) > 1

    @property
    def kind(self) -> str:
        """The class of the mechanism, that of its closed chain farthest from trivial: "open",
        "trivial", "exceptional", "paradoxical" or "undecided"."""
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
        groups = f"Hervé's subgroups, in {self.subgroup.symbol}"
        rows.append((groups, f"{working(d)} - {m} passive", str(self.herve)))
        if self.dof is None:
            return [*rows, ("rank of the closure Jacobian", "cannot be assembled", "?")]
        rank = f"{self.velocities} - {self.velocities - self.dof}"
        return [*rows, ("rank of the closure Jacobian", rank, str(self.dof))]

    def sentences(self) -> tuple[str, ...]:
        """The comparison in words: what agrees, why the rest does not, and other branches."""
        return tuple(_sentences(self))

    def contents(self) -> Iterator[Block]:
        yield Table((Column("method"), Column("working"), Column("mobility")), self.table())
        yield from map(Message, self.sentences())

    def __str__(self) -> str:
        return "\n".join(map(block_text, self.contents()))

    def __repr__(self) -> str:
        return f"<Mobility of {self.name}: {self.dof}, {self.kind}; print it for the comparison>"


# --- sentences ------------------------------------------------------------------------------------


def _sentences(r: Mobility) -> Iterator[str]:
    if r.dof is None:
        yield f"It cannot be assembled, so the rank is not known: {r.trouble}"
        return
    noun = NOUNS.get(r.kind, f"a {r.kind} chain")
    yield f"{r.name} is {noun} with {_degrees(r.dof)}."
    if not r.dof:
        yield "It is a structure: it does not move."
    for motion in r.passive:
        own = f"1 of the {r.dof} degrees of freedom" if r.dof > 1 else "Its only degree of freedom"
        yield f"{own} is {motion}."
    if r.gruebler != r.dof:
        are = "is" if r.redundant == 1 else "are"
        yield (
            f"The count in space gives {r.gruebler}: {_why(r)}; {r.redundant} of the {r.rows} "
            f"{are} redundant."
        )
    elif r.agree and r.loops:
        apart = len(r.passive)
        left_out = (
            f"; Hervé's leaves the {apart} passive motion{'s' * (apart > 1)} out" if apart else ""
        )
        yield f"The three ways agree{left_out}."
    for chain in r.chains:
        yield from _of_chain(r, chain)
    yield from _of_configuration(r)
    yield from _of_branches_elsewhere(r)


def _why(r: Mobility) -> str:
    """Where redundant constraints come from: small subgroups, and all that repeats more."""
    small = Counter(x.subgroup for x in r.loops if x.subgroup.dimension < 6)
    by_symbol = Counter(group.symbol for group in small.elements())
    reasons = []
    for symbol, n in by_symbol.items():
        surplus = 6 - next(g.dimension for g in small if g.symbol == symbol)
        reasons.append(
            f"{_many(n, 'loop')} move{'s' * (n == 1)} in {symbol}, so "
            f"{'each' if n > 1 else 'it'} repeats {_many(surplus, 'constraint')}"
        )
    more = (r.redundant or 0) - sum(6 - x.subgroup.dimension for x in r.loops)
    if more:
        names = [c.kind for c in r.chains if c.kind != "trivial"]
        of = f" in the {names[0]} chain" if names and names[0] != "undecided" else ""
        as_well = " as well" * bool(reasons)
        reasons.append(f"{_many(more, 'constraint')}{of} repeat{'s' * (more == 1)} others{as_well}")
    return ", and ".join(reasons)


def _of_chain(r: Mobility, chain: ClosedChain) -> Iterator[str]:
    """Why a closed chain moves as it does, where the smallest subgroup does not explain it."""
    which = (
        "The chain"
        if len(r.chains) == 1
        else f"The chain from '{chain.joints[0]}' to '{chain.joints[-1]}'"
    )
    if chain.infinitesimal:
        first_order = f"{chain.infinitesimal} of its {_degrees(chain.dof or 0)}"
        yield (
            f"{which} has infinitesimal mobility: {first_order} cannot be followed, as no "
            "configuration beside it closes."
        )
    if chain.inactive:
        inactive = ", ".join(map(repr, chain.inactive))
        yield f"Inactive, as they never move, are degrees of freedom of {inactive}."
    if chain.kind == "exceptional":
        yield (
            f"{which} is exceptional: the smallest groups give {chain.trivial}, their "
            f"intersections {chain.groups}."
        )
        yield from (f"{meeting}." for meeting in chain.meetings[-MAX_MEETINGS:])
    elif chain.kind == "paradoxical":
        yield (
            f"{which} is paradoxical: groups allow it {_degrees(chain.groups)}, and only the rank "
            f"shows that it has {chain.dof}; it moves because of its lengths."
        )
    elif chain.kind == "undecided":
        yield (
            f"{which} is not decided by groups: they explain {chain.groups}, and the rank shows "
            f"{chain.dof}."
        )


def _of_configuration(r: Mobility) -> Iterator[str]:
    """What is special about a singular configuration, and which branches meet there."""
    if r.dof is None or r.instantaneous_dof is None or not r.singular:
        return
    more = r.instantaneous_dof - r.dof
    where = "its home" if r.at_home else "the given"
    yield (
        f"At {where} configuration it has {more} more, to first order: that configuration is "
        "singular."
    )
    meeting = [branch for branch in r.branches if branch.meets]
    if r.kinematotropic:
        mobilities = _listed([str(branch.dof) for branch in meeting])
        yield (
            f"Branches with {mobilities} degrees of freedom meet there, so it is kinematotropic: "
            "its mobility depends on the branch that it takes."
        )
    elif meeting and (meeting[0].branches or 1) > 1:
        yield f"At least {meeting[0].branches} branches with {_degrees(r.dof)} meet there."


def _of_branches_elsewhere(r: Mobility) -> Iterator[str]:
    if not r.starts or r.dof is None:
        return
    search = f"A search from {r.starts} random starts"
    others = [branch for branch in r.branches if not branch.meets]
    if others:
        counts = [f"{branch.configurations} with {_degrees(branch.dof)}" for branch in others]
        yield (
            f"{search} found {r.closed} closed configurations, among them {_listed(counts)}: "
            "another branch has another mobility."
        )
    elif r.closed:
        yield (
            f"{search} met no other mobility among {r.closed} closed configurations; that is no "
            "proof that there is none."
        )


def _listed(texts: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(texts[:-1]), texts[-1]]))


def _degrees(count: int) -> str:
    return f"{_many(count, 'degree')} of freedom"


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"
