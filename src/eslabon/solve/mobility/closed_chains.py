"""How joints make chains and loops, and what Hervé's groups say of their mobility (Rojas, 2.3).

The motions that a chain of joints allows between its two ends are a *bond*. They lie in the
smallest subgroup that contains the joints' motions, and they fill it near a configuration where the
chain's screws span its whole algebra. With bonds that fill their groups one can count exactly:

* two in series make one if they fill a group together; the surplus of their dimensions is mobility
  inside the chain;
* two between the same bodies leave their intersection, which is a group again;
* a body held by one bond alone moves in it.

Chains to which none of these rules applies are bounded loop by loop. Cut a loop at two bodies, and
let the motions of its sides lie in groups with the algebras A and B. The products of motions of the
two make up a surface of dimension dim(A + B), so closing the loop takes no more degrees of freedom
than that, and often fewer than the dimension of the smallest group around it, which the trivial
count takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import networkx as nx
import numpy as np

from eslabon.answers import Answer, Block, Message
from eslabon.model import GROUND, Joint, Loop, Model
from eslabon.solve.mobility.subgroups import algebra, classified, intersection, span

# Shortest loops cost a search from every body for every loop; with more loops than this those of
# the spanning tree serve.
MAX_SHORTEST_LOOPS = 40


def all_joints(m: Model) -> tuple[Joint | Loop, ...]:
    """The joints of the tree, then the cut ones."""
    return (*m.joints, *m.loops)


def ends(joint: Joint | Loop) -> tuple[str, str]:
    """The two bodies of a joint."""
    return (
        (joint.parent, joint.child)
        if isinstance(joint, Joint)
        else (joint.first.body, joint.second.body)
    )


class Network:
    """Bodies and joints as the nodes of one graph, so that two joints may join the same bodies."""

    def __init__(self, m: Model) -> None:
        self.joints = dict(enumerate(all_joints(m), start=len(m.bodies) + 1))
        self.bodies = {GROUND: 0, **{b.name: k for k, b in enumerate(m.bodies, start=1)}}
        # nodes are numbers, so that the order of the graph is the same in every run
        self.graph: nx.Graph[int] = nx.Graph()
        self.graph.add_nodes_from(self.bodies.values())
        for k, joint in self.joints.items():
            self.graph.add_edges_from((k, self.bodies[body]) for body in ends(joint))

    def loops(self) -> tuple[tuple[str, ...], ...]:
        """Independent loops, as short as possible, each the names of its joints in their order
        around it."""
        count = self.graph.number_of_edges() - self.graph.number_of_nodes() + 1
        short = count <= MAX_SHORTEST_LOOPS
        cycles = nx.minimum_cycle_basis(self.graph) if short else nx.cycle_basis(self.graph)
        around = [_in_order(self.graph.subgraph(nodes)) for nodes in cycles]
        return tuple(
            tuple(self.joints[k].name for k in loop if k in self.joints) for loop in sorted(around)
        )

    def closed_chains(self) -> list[list[str]]:
        """The joints that loops tie together, a list for each part that no single body or joint
        holds to the rest."""
        blocks = nx.biconnected_component_edges(self.graph)
        parts = (
            sorted({k for edge in block for k in edge if k in self.joints}) for block in blocks
        )
        return [[self.joints[k].name for k in part] for part in sorted(parts) if len(part) > 1]

    def between(self, first: str, second: str) -> tuple[str, ...]:
        """The bodies that two joints of one loop hold between them, on the side without the
        ground."""
        rest = self.graph.copy()
        rest.remove_nodes_from(
            [k for k, joint in self.joints.items() if joint.name in (first, second)]
        )
        apart = set(rest) - set(nx.single_source_shortest_path_length(rest, 0))
        return tuple(name for name, k in self.bodies.items() if k in apart)


def _in_order(cycle: nx.Graph[int]) -> list[int]:
    """The nodes of a cycle from the lowest on, towards the lower of its neighbours."""
    start = min(cycle)
    path = [start, min(cycle[start])]
    while len(path) < len(cycle):
        path.append(next(k for k in cycle[path[-1]] if k != path[-2]))
    return path


# --- bonds that are subgroups ---------------------------------------------------------------------


@dataclass(frozen=True)
class ChainBond:
    """A chain of joints and the algebra of the subgroup its motions lie in, by an orthonormal
    basis."""

    joints: tuple[str, ...]
    basis: np.ndarray = field(repr=False, compare=False)

    @property
    def dimension(self) -> int:
        return self.basis.shape[1]


@dataclass(frozen=True)
class Meeting(Answer):
    """Two bonds between the same bodies."""

    first: ChainBond
    second: ChainBond

    @property
    def dimension(self) -> int:
        """dim(A + B): the degrees of freedom that it takes to make them agree."""
        return span(np.hstack([self.first.basis, self.second.basis])).shape[1]

    @property
    def common(self) -> np.ndarray:
        """The algebra of the motions that both allow."""
        return intersection(self.first.basis, self.second.basis)

    def letters(self) -> list[tuple[str, tuple[str, ...]]]:
        """The letters of both sides, with their joints, and that of what is common to them."""
        sides = [(classified(b.basis).symbol, b.joints) for b in (self.first, self.second)]
        return [*sides, (classified(self.common).symbol, ())]

    def contents(self) -> Iterator[Block]:
        yield Message(str(self))

    def __str__(self) -> str:
        first, second = (
            f"{'-'.join(b.joints)} in {classified(b.basis).brief}"
            for b in (self.first, self.second)
        )
        return f"{first} meets {second}; common to both is {classified(self.common).brief}"


def in_series(bonds: Sequence[ChainBond]) -> tuple[ChainBond, bool]:
    """One bond for a chain of them, and whether it fills its group if they do."""
    screws = np.hstack([b.basis for b in bonds])
    basis = algebra(screws)
    joints = tuple(dict.fromkeys(name for b in bonds for name in b.joints))
    return ChainBond(joints, basis), span(screws).shape[1] == basis.shape[1]


@dataclass
class Counting:
    """The mobility counted so far, what remains to be counted, and the meetings on the way."""

    graph: nx.Graph[int] = field(default_factory=nx.Graph)
    dof: int = 0
    meetings: list[Meeting] = field(default_factory=list)

    def join(self, a: int, b: int, bond: ChainBond) -> None:
        """Add a bond between two bodies; two of them leave their intersection."""
        if self.graph.has_edge(a, b):
            meeting = Meeting(self.graph.edges[a, b]["bond"], bond)
            self.meetings.append(meeting)
            bond = ChainBond(meeting.first.joints + bond.joints, meeting.common)
        self.graph.add_edge(a, b, bond=bond)

    def bonds_along(self, path: Sequence[int]) -> list[ChainBond]:
        return [self.graph.edges[edge]["bond"] for edge in pairwise(path)]

    def reduce(self) -> None:
        """Apply the three rules until none does."""
        while self._drop_a_leaf() or self._contract_a_branch():
            pass

    @property
    def count(self) -> int:
        """The mobility found, and all that the remaining bonds would allow if no loop bound
        them."""
        return self.dof + sum(self.graph.edges[edge]["bond"].dimension for edge in self.graph.edges)

    def _drop_a_leaf(self) -> bool:
        leaf = next((n for n, degree in self.graph.degree() if degree == 1), None)
        if leaf is None:
            return False
        (neighbour,) = self.graph[leaf]
        self.dof += self.graph.edges[leaf, neighbour]["bond"].dimension
        self.graph.remove_node(leaf)
        return True

    def _contract_a_branch(self) -> bool:
        for path in _branches(self.graph):
            bonds = self.bonds_along(path)
            bond, full = in_series(bonds)
            if full:
                self.dof += sum(b.dimension for b in bonds) - bond.dimension
                self.graph.remove_nodes_from(path[1:-1])
                self.join(path[0], path[-1], bond)
                return True
        return False


def _branches(graph: nx.Graph[int]) -> Iterator[list[int]]:
    """The chains of bodies with two bonds each, from one body with more to another such body."""
    for start in sorted(n for n, degree in graph.degree() if degree > 2):
        for neighbour in sorted(graph[start]):
            path = [start, neighbour]
            while graph.degree(path[-1]) == 2:
                path.append(next(n for n in graph[path[-1]] if n != path[-2]))
            if len(path) > 2 and path[-1] > start:
                yield path


def bonds_of(network: Network, names: Sequence[str], screws: Mapping[str, np.ndarray]) -> Counting:
    """The bonds of some joints. A joint that is no subgroup, the universal one, is two in
    series."""
    counting = Counting()
    spare = -1  # numbers for the bodies without a name between the two halves of a joint
    for joint in network.joints.values():
        if joint.name not in names:
            continue
        a, b = (network.bodies[body] for body in ends(joint))
        basis = span(screws[joint.name])
        parts = (
            [basis]
            if algebra(basis).shape[1] == basis.shape[1]
            else [s[:, None] for s in screws[joint.name].T]
        )
        stops = [a, *range(spare, spare - len(parts) + 1, -1), b]
        spare -= len(parts) - 1
        for (one, two), part in zip(pairwise(stops), parts, strict=True):
            counting.join(one, two, ChainBond((joint.name,), part))
    return counting


@dataclass(frozen=True)
class Explained:
    """The mobility that groups grant a closed chain; `decided` if they leave no more than one loop
    open."""

    dof: int
    decided: bool
    meetings: tuple[Meeting, ...]


def by_groups(
    network: Network, names: Sequence[str], screws: Mapping[str, np.ndarray]
) -> Explained:
    """The mobility of a closed chain as far as subgroups and their intersections explain it."""
    counting = bonds_of(network, names, screws)
    counting.reduce()
    loops = [
        _in_order(counting.graph.subgraph(nodes))
        for nodes in nx.minimum_cycle_basis(counting.graph)
    ]
    rings = [counting.bonds_along([*loop, loop[0]]) for loop in loops]
    meetings = [two_sides(ring) for ring in rings]
    dof = counting.count - sum(meeting.dimension for meeting in meetings)
    if len(rings) == 1:
        dof = max(dof, counting.dof + to_spare(rings[0]))
    return Explained(dof, len(rings) <= 1, (*counting.meetings, *meetings))


def arcs(ring: Sequence[ChainBond]) -> Iterator[tuple[Sequence[ChainBond], Sequence[ChainBond]]]:
    """Every way to cut a loop at two of its bodies, the most even first, both sides in turn as the
    first."""
    n = len(ring)
    for size in sorted(range(1, n), key=lambda size: abs(2 * size - n)):
        for turn in range(n):
            around = [*ring[turn:], *ring[:turn]]
            yield around[:size], around[size:]


def two_sides(ring: Sequence[ChainBond]) -> Meeting:
    """The cut of a loop whose sides take the fewest degrees of freedom when they meet."""
    meetings = (Meeting(in_series(one)[0], in_series(two)[0]) for one, two in arcs(ring))
    return min(meetings, key=lambda meeting: meeting.dimension)


def to_spare(ring: Sequence[ChainBond]) -> int:
    """The mobility of a loop because one side of it has more joints than the group it fills needs.

    This remains when the rest of the loop does not let that side's ends move at all.
    """
    sides = ((sum(b.dimension for b in one), *in_series(one)) for one, _ in arcs(ring))
    return max((count - bond.dimension for count, bond, full in sides if full), default=0)
