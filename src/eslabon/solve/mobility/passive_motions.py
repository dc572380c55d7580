"""Passive mobility: links that move by themselves while the rest of the mechanism stands still
(Rojas, 2.3).

A link between two joints of a loop that share a motion can make it alone: the coupler between two
spherical joints turns about the line of their centres. In Rojas' words it is mobility that does not
affect the motion of the whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from eslabon.answers import Answer, Block, Message
from eslabon.solve.mobility.closed_chains import Network, all_joints, ends
from eslabon.solve.mobility.joint_screws import JointScrews, incidence
from eslabon.solve.mobility.subgroups import (
    NONZERO,
    Subgroup,
    classified,
    intersection,
    span,
)

MOTIONS = {
    "R": "the spin of {} about its own axis",
    "P": "the sliding of {}",
    "H": "the screwing of {}",
}


@dataclass(frozen=True)
class Passive(Answer):
    """A motion of some bodies between two joints that leaves all others where they are.

    Attributes
    ----------
    bodies : tuple of str
        The bodies that move.
    joints : tuple of str
        The two joints between which they move.
    motion : Subgroup
        Their motion.

    >>> import eslabon as es
    >>> (spin,) = es.load("rssr").mobility().passive
    >>> spin.bodies, spin.motion.symbol
    (('rod',), 'R')
    """

    bodies: tuple[str, ...]
    joints: tuple[str, str]
    motion: Subgroup

    def contents(self) -> Iterator[Block]:
        """The motion in a sentence.

        >>> import eslabon as es
        >>> (spin,) = es.load("rssr").mobility().passive
        >>> len(list(spin.contents()))
        1
        """
        yield Message(str(self))

    def __str__(self) -> str:
        motion = MOTIONS[self.motion.symbol].format(" with ".join(f"'{b}'" for b in self.bodies))
        first, second = self.joints
        return f"{motion}, between '{first}' and '{second}'"


@dataclass(frozen=True)
class Pair:
    """Two joints of a loop, the bodies between them, and the twists both allow."""

    joints: tuple[str, str]
    bodies: tuple[str, ...]
    inside: int  # degrees of freedom of the joints between them
    shared: np.ndarray


def passive_motions(p: JointScrews, network: Network) -> tuple[Passive, ...]:
    """The independent passive motions of a mechanism at a generic configuration, those of single
    links first.

    They are sought between every two joints that the same loops pass, as cutting both then takes
    the bodies between them off. Not counted are a motion that a motor drives, one that is all the
    mobility its loop has (a door on two hinges), and a translation shared across other joints (the
    table of a PPPP loop moves as it should).
    """
    found: list[Passive] = []
    motions = np.zeros((p.closing.shape[1], 0))
    for pair in sorted(_pairs(p, network), key=lambda pair: pair.inside):
        for twist in pair.shared.T:
            grown = span(np.column_stack([motions, _speeds(p, pair.joints, twist)]))
            if grown.shape[1] > motions.shape[1]:
                motions = grown
                motion = classified(twist[:, None]).placed(p.centre, p.length)
                found.append(Passive(pair.bodies, pair.joints, motion))
    return tuple(found)


def _pairs(p: JointScrews, network: Network) -> Iterator[Pair]:
    """The pairs of joints without motors that the same loops pass, that share a motion, and that
    other joints go with."""
    rows = incidence(p.m)
    able = [
        x.name
        for x in all_joints(p.m)
        if x.kind.dof and rows[x.name].any() and x.name not in p.m.actuated
    ]
    for one, two in combinations(able, 2):
        if not (np.array_equal(rows[one], rows[two]) or np.array_equal(rows[one], -rows[two])):
            continue
        shared = intersection(span(p.screws[one]), span(p.screws[two]))
        others = [
            x
            for x in all_joints(p.m)
            if x.name not in (one, two) and (rows[x.name] * rows[one]).any()
        ]
        if not shared.size or not any(x.kind.dof for x in others):
            continue
        bodies = network.between(one, two)
        inside = sum(x.kind.dof for x in others if set(ends(x)) <= set(bodies))
        if inside:
            shared = shared[:, np.linalg.norm(shared[:3], axis=0) > NONZERO]
        yield Pair((one, two), bodies, inside, shared)


def _speeds(p: JointScrews, joints: tuple[str, str], twist: np.ndarray) -> np.ndarray:
    """The motion in which the bodies between two joints move with a twist and the others rest."""
    u = np.zeros(p.closing.shape[1])
    for name in joints:
        u[p.places[name]] = np.linalg.lstsq(p.screws[name], twist)[0]
    one, two = (incidence(p.m)[name] for name in joints)
    if np.array_equal(one, two):  # passed in one sense, the second joint undoes the first
        u[p.places[joints[1]]] *= -1.0
    return u / np.linalg.norm(u)
