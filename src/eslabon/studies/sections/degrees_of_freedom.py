"""The mobility three ways, in words a student can follow, with Hervé's letters explained."""

from __future__ import annotations

from eslabon.language import phrase, plural
from eslabon.mechanism import Mechanism
from eslabon.sheets import Sheet
from eslabon.solve.mobility.mobility_report import Mobility
from eslabon.solve.mobility.subgroups import SUBGROUPS
from eslabon.studies.section import Section

KINDS = {
    "open": "It is an open chain: without loops every degree of freedom of its joints is one of the mechanism.",
    "trivial": "It is a trivial chain: the subgroups in which its loops move explain its mobility.",
    "exceptional": "It is an exceptional chain: the smallest subgroups of its loops do not explain its mobility, but the intersections of the "
    "subgroups in which their sides move do.",
    "paradoxical": "It is a paradoxical chain: no subgroup explains its mobility. It moves because of its particular lengths and angles.",
    "undecided": "Its mobility is not explained by subgroups; with several loops that does not prove that none could.",
}


def degrees_of_freedom(m: Mechanism, page: Section) -> None:
    """The count, the groups and the rank, and why they differ."""
    found = m.mobility()
    page.head("How many degrees of freedom it has")
    page.data |= {
        "dof": found.dof,
        "mobility_class": found.kind,
        "redundant_constraints": found.redundant,
    }
    if found.dof is None:
        page.fail(found.trouble)
    else:
        page.say(
            "{name} has {dof}, counted in three ways:",
            name=m.name,
            dof=plural(found.dof, "{n} degree of freedom", "{n} degrees of freedom"),
        )
    _table(found, page)
    page.items(_ways(found))
    _letters(found, page)
    page.say(KINDS[found.kind])
    page.items(_differences(found))


def _table(r: Mobility, page: Section) -> None:
    rows = []
    for method, working, result in r.table():
        name, _, letter = method.partition(", in ")
        told = {
            "Chebychev-Gruebler-Kutzbach": phrase(
                "Chebychev, Grübler and Kutzbach, in {where}", where=letter
            ),
            "Hervé's subgroups": phrase("Hervé's subgroups, in {letter}", letter=letter),
        }.get(name, phrase("rank of the closure Jacobian"))
        if "assembled" in working:
            working, result = phrase("it cannot be assembled"), "?"
        rows.append(
            (
                told,
                working.replace("*", " · ").replace("-", "−").replace("passive", "").rstrip(),
                result.replace("-", "−"),
            )
        )
    page.table(
        Sheet("mobility", ("way", "working", "degrees of freedom"), rows), words=("way", "working")
    )


def _ways(r: Mobility) -> list[str]:
    """What each way does."""
    n, d = r.bodies, r.subgroup.dimension
    lost = 6 * r.joints - r.joint_dof
    said: list[str] = [
        phrase(
            "The count of Chebychev, Grübler and Kutzbach: {n} free bodies would have 6 · {n} = {free} degrees of freedom; a joint that "
            "leaves f of them takes 6 − f away, {lost} in all. The count knows how many joints there are, and not how they stand to each other.",
            n=n, free=6 * n, lost=lost,
        )
    ]  # fmt: skip
    if r.planar is not None:
        said.append(
            phrase(
                "All motions lie in one plane or along parallel planes, so that a body has 3 degrees of freedom there, not 6."
            )
        )
    said.append(
        phrase(
            "Hervé's subgroups: the motions that joints make together lie in a subgroup of all rigid motions, here {symbol}, of dimension {d}. "
            "The same count is made with {d} for 6{passive}."
            if d < 6 else
            "Hervé's subgroups: the motions that joints make together lie in a subgroup of all rigid motions, here in {symbol}, which is all of "
            "them. The count is the same{passive}.",
            symbol=r.subgroup.symbol, d=d,
            passive=plural(len(r.passive), ", and {n} passive motion is left out", ", and {n} passive motions are left out") if r.passive else "",
        )
    )  # fmt: skip
    if r.dof is not None:
        said.append(
            phrase(
                "The rank of the closure Jacobian: the loops are {rows} equations in {nv} joint velocities, of which {rank} are independent where the "
                "mechanism stands. This knows all lengths and angles, and is the number the library uses.",
                rows=r.rows, nv=r.velocities, rank=r.velocities - r.dof,
            ) if r.rows else
            phrase("The rank of the closure Jacobian: without loops there is no equation to keep, so that all {nv} joint velocities are independent.", nv=r.velocities)
        )  # fmt: skip
    return said


def _letters(r: Mobility, page: Section) -> None:
    """What the letters mean that occur here."""
    where: dict[str, list[str]] = {r.subgroup.symbol: [phrase("all joints together")]}
    for loop in r.loops:
        where.setdefault(loop.subgroup.symbol, []).append("–".join(loop.joints))
    for chain in r.chains:
        for meeting in chain.meetings[-6:]:
            for symbol, joints in meeting.letters():
                where.setdefault(symbol, []).append(
                    "–".join(joints) if joints else phrase("common to two sides of a loop")
                )
    rows = [
        (symbol, SUBGROUPS[symbol][0], SUBGROUPS[symbol][1], _listed(page, places))
        for symbol, places in where.items()
    ]
    sheet = Sheet(
        "Hervé's letters",
        ("letter", "dimension", "its motions", "where it occurs"),
        rows,
        prose=("its motions", "where it occurs"),
    )
    page.table(sheet, words=("its motions",), key="subgroups")


def _listed(page: Section, places: list[str]) -> str:
    from eslabon.language import translated

    unique = list(dict.fromkeys(translated(place, page.language) for place in places))
    return "; ".join(unique[:6]) + ("; ..." if len(unique) > 6 else "")


def _differences(r: Mobility) -> list[str]:
    """Why the ways differ where they do."""
    said: list[str] = [
        phrase(
            "One degree of freedom is passive: the bodies {bodies} can move between '{first}' and '{second}' without moving anything else.",
            bodies=", ".join(motion.bodies), first=motion.joints[0], second=motion.joints[1],
        )
        for motion in r.passive
    ]  # fmt: skip
    if r.dof is None:
        return said
    if r.gruebler != r.dof:
        said.append(
            phrase(
                "The count in space gives {count}, and {dof} is right: {redundant} of the {rows} equations of the loops repeat what the others say.",
                count=str(r.gruebler).replace("-", "−"), dof=r.dof, redundant=r.redundant, rows=r.rows,
            )
        )  # fmt: skip
    elif r.agree and r.loops and not r.passive:
        said.append("The three ways agree.")
    elif r.agree and r.loops:
        said.append("The three ways agree once the passive motions are counted alike.")
    for chain in r.chains:
        if chain.infinitesimal:
            said.append(
                phrase(
                    "{n} of its degrees of freedom are infinitesimal: no configuration beside this one closes.",
                    n=chain.infinitesimal,
                )
            )
        if chain.inactive:
            said.append(
                phrase("These joints never move: {joints}.", joints=", ".join(chain.inactive))
            )
    if r.instantaneous_dof is not None and r.instantaneous_dof > r.dof:
        said.append(
            phrase(
                "At its home configuration it has {n} more to first order: that configuration is singular.",
                n=r.instantaneous_dof - r.dof,
            )
        )
    return said
