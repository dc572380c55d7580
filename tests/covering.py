"""Which formulations a mechanism's dynamics are compared by, beside the default: a covering design over many mechanisms.

A formulation gives the terms of the tree: it meets joint kinds, springs, friction, motors, wrenches and bodies without
mass. A method for constraints takes those terms and the rows of the loops: it meets cut joints, couplings and every
formulation. All of these meetings occur somewhere among the mechanisms, each where it compiles the smallest graphs. Every
mechanism of a few velocities has one comparison at least; so have the others by inverse dynamics, to which forward dynamics
adds no term. The nightly run compares every formulation on every mechanism of a few velocities.
"""

from __future__ import annotations

from collections.abc import Mapping

import eslabon as es
from randomness import PROFILE

FORMULATIONS = ("newton_euler", "lagrange", "lie", "gibbs_appell", "bond_graph", "quaternion")
METHODS = ("multipliers", "elimination", "udwadia_kalaba")
SIMPLE = {
    "revolute",
    "prismatic",
    "fixed",
}  # the joints that quaternions describe, and MuJoCo with our coordinates
LONG = (
    "lagrange",
    "gibbs_appell",
    "bond_graph",
)  # whose graphs are about three times as long as the others'
FEW, MANY = 7, 12  # velocities, up to which the nightly run compares every formulation, and two

Pair = tuple[str, str | None]
Meeting = tuple[str, str]


def options(pair: Pair) -> dict[str, str]:
    """A pair as arguments of a verb."""
    formulation, method = pair
    return {"formulation": formulation} | ({"constraints": method} if method else {})


def pairs_of(m: es.Mechanism) -> list[Pair]:
    """Every formulation that applies, with every method if there are loops."""
    simple = {j.kind.kind for j in m.joints} <= SIMPLE
    methods = METHODS if m.closed else (None,)
    return [(f, c) for f in FORMULATIONS if simple or f != "quaternion" for c in methods]


def rotated(m: es.Mechanism, label: int) -> list[Pair]:
    """Every formulation, each with one of the methods; by the label another one comes first, with another method."""
    pairs, count = pairs_of(m), len(METHODS) if m.closed else 1
    chosen = [pairs[k + (label + k // count) % count] for k in range(0, len(pairs), count)]
    start = label // 7 % len(chosen)
    return chosen[start:] + chosen[:start]


def some_of(m: es.Mechanism, label: int) -> list[Pair]:
    """Those by which a mechanism is compared that stands in no design."""
    count = 1 if m.nv > MANY else 2 if PROFILE != "nightly" or m.nv > FEW else len(FORMULATIONS)
    return rotated(m, label)[:count]


def meetings(m: es.Mechanism, pair: Pair) -> set[Meeting]:
    """What a formulation and a method meet in a mechanism."""
    formulation, method = pair
    in_joints = ("stiffness", "viscous", "coulomb", "motor_inertia")
    met = {j.kind.kind for j in m.joints} | {
        x for x in in_joints if any(getattr(j, x) for j in m.joints)
    }
    forces = {
        "springs": m.springs,
        "wrenches": m.wrenches,
        "no mass": any(b.mass == 0 for b in m.bodies),
    }
    met |= {name for name, there in forces.items() if there}
    found = {(formulation, x) for x in met}
    if method:
        cuts = {f"cut {loop.kind.kind}" for loop in m.loops} | (
            {"couplings"} if m.couplings else set()
        )
        found |= {(method, x) for x in (formulation, *cuts)}
    return found


def cost(m: es.Mechanism, pair: Pair) -> float:
    """About what compiling takes: something for each graph, and more with the square of its size."""
    return 1 + (3 if pair[0] in LONG else 1) * m.nv**2 / 10


def design(
    mechanisms: Mapping[str, es.Mechanism], largest: int | None = None
) -> dict[str, list[Pair]]:
    """The pairs of each mechanism: whichever adds most meetings for its cost, until none is left, and one of the others.

    A mechanism of many velocities that adds nothing is compared by a formulation with short graphs; one of more than
    `largest`, by none.
    """
    every = {
        (name, pair): meetings(m, pair) for name, m in mechanisms.items() for pair in pairs_of(m)
    }
    labels = {name: k for k, name in enumerate(mechanisms)}
    nightly = mechanisms if PROFILE == "nightly" else {}
    chosen = [(name, pair) for name, m in nightly.items() for pair in some_of(m, labels[name])]
    left = set().union(*every.values()).difference(*(every[x] for x in chosen))
    while left:
        best = max(every, key=lambda x: len(every[x] & left) / cost(mechanisms[x[0]], x[1]))
        chosen.append(best)
        left -= every[best]
    small = {name for name, m in mechanisms.items() if largest is None or m.nv <= largest}
    for name in small - {name for name, _ in chosen}:
        m = mechanisms[name]
        chosen.append(
            (name, next(x for x in rotated(m, labels[name]) if m.nv <= MANY or x[0] not in LONG))
        )
    return {name: [pair for other, pair in chosen if other == name] for name in mechanisms}
