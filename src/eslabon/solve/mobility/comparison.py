"""The three mobilities compared, in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eslabon.solve.mobility.mobility_report import ClosedChain, Mobility

MOST_MEETINGS = 6  # told of one chain; a mechanism with more legs tells no more by more lines
NOUNS = {
    "open": "an open chain",
    "exceptional": "an exceptional chain",
    "undecided": "a chain that groups do not decide",
}


def sentences(r: Mobility) -> Iterator[str]:
    """What agrees, and why the rest does not."""
    if r.dof is None:
        yield f"It cannot be assembled, so the rank is not known: {r.trouble}"
        return
    yield f"{r.name} is {NOUNS.get(r.kind, f'a {r.kind} chain')} with {_many(r.dof, 'degree')} of freedom."
    for motion in r.passive:
        which = (
            f"1 of the {r.dof} degrees of freedom" if r.dof > 1 else "Its only degree of freedom"
        )
        yield f"{which} is {motion}."
    if r.gruebler != r.dof:
        yield f"The count in space gives {r.gruebler}: {_why(r)}; {r.redundant} of the {r.rows} {'is' if r.redundant == 1 else 'are'} redundant."
    elif r.agree and r.loops:
        apart = len(r.passive)
        counted = (
            f"; Hervé's leaves the {apart} passive motion{'s' * (apart > 1)} out" if apart else ""
        )
        yield f"The three ways agree{counted}."
    for chain in r.chains:
        yield from _of_chain(r, chain)
    yield from _of_home(r)


def _why(r: Mobility) -> str:
    """Where the redundant constraints come from: small subgroups, and whatever repeats more than they do."""
    small = Counter(x.subgroup for x in r.loops if x.subgroup.dimension < 6)
    by_symbol = Counter(group.symbol for group in small.elements())
    reasons = [
        f"{_many(n, 'loop')} move{'s' * (n == 1)} in {symbol}, so {'each' if n > 1 else 'it'} repeats {_many(6 - d, 'constraint')}"
        for symbol, n in by_symbol.items()
        for d in [next(g.dimension for g in small if g.symbol == symbol)]
    ]
    more = (r.redundant or 0) - sum(6 - x.subgroup.dimension for x in r.loops)
    if more:
        names = [c.kind for c in r.chains if c.kind != "trivial"]
        of = f" in the {names[0]} chain" if names and names[0] != "undecided" else ""
        reasons.append(
            f"{_many(more, 'constraint')}{of} repeat{'s' * (more == 1)} others{' as well' * bool(reasons)}"
        )
    return ", and ".join(reasons)


def _of_chain(r: Mobility, chain: ClosedChain) -> Iterator[str]:
    """Why a closed chain moves as it does, where the smallest subgroup does not tell."""
    which = (
        "The chain"
        if len(r.chains) == 1
        else f"The chain from '{chain.joints[0]}' to '{chain.joints[-1]}'"
    )
    if chain.infinitesimal:
        first_order = f"{chain.infinitesimal} of its {_many(chain.dof or 0, 'degree')} of freedom"
        yield f"{which} has infinitesimal mobility: {first_order} cannot be followed, as no configuration beside it closes."
    if chain.inactive:
        yield f"Inactive, as they never move, are degrees of freedom of {', '.join(map(repr, chain.inactive))}."
    if chain.kind == "exceptional":
        yield f"{which} is exceptional: the smallest groups give {chain.trivial}, their intersections {chain.groups}."
        yield from (f"{meeting}." for meeting in chain.meetings[-MOST_MEETINGS:])
    elif chain.kind == "paradoxical":
        yield (
            f"{which} is paradoxical: groups allow it {_many(chain.groups, 'degree')} of freedom, and only the rank shows that it has {chain.dof}; "
            "it moves because of its lengths."
        )
    elif chain.kind == "undecided":
        yield f"{which} is not decided by groups: they explain {chain.groups}, and the rank shows {chain.dof}."


def _of_home(r: Mobility) -> Iterator[str]:
    if len(r.nearby) > 1:
        yield f"Closed configurations near the home differ: they have {' and '.join(map(str, r.nearby))} degrees of freedom."
    if r.dof is not None and r.dof_at_home is not None and r.dof_at_home > r.dof:
        yield f"At its home configuration it has {r.dof_at_home - r.dof} more, to first order: that configuration is singular."


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"
