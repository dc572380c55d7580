"""Sections 5.3 and 5.4: the causal paths that are listed, followed on the graphs bond by bond: the graphs' own are beside them."""

from __future__ import annotations

from itertools import groupby

from eslabon.bond_graph.bond_graph import BondGraph
from eslabon.language import phrase
from eslabon.reproductions.comparison import THESIS, Row, Section
from eslabon.reproductions.verdicts import statement

GRAPHS = {
    "(5.30)": "morales_puma",
    "(5.47)": "morales_stanford",
    "(5.71)": "morales_puma",
    "(5.79)": "morales_stanford",
}
PATHS = {
    "(5.30)": (
        "2 4 5 9 11 17 20 22 24",
        "24 22 20 17 11 9 5 4 2",
        "2 4 5 7 10 16 18 22 24",
        "24 22 18 16 10 7 5 4 2",
    ),
    "(5.47)": (
        "2 4 5 7 10 16 18 22 24",
        "24 22 18 16 10 7 5 4 2",
        "2 4 5 9 11 17 20 22 24",
        "24 22 20 17 11 9 5 4 2",
        "2 4 5 26 27 38 40 41 39 51 50",
        "50 51 39 41 40 38 27 26 5 4 2",
        "2 4 5 26 27 38 44 46 49 29 28 17 20 22 24",
        "24 22 20 17 28 29 49 46 44 38 27 26 5 4 2",
        "31 33 35 37 39 41 40 38 27 26 5 4 2",
        "24 22 20 17 28 29 49 47 45 39 51 50",
        "50 51 39 45 47 49 29 28 17 20 22 24",
        "31 32 34 36 38 44 46 49 29 28 17 22 24",
        "31 33 35 37 39 45 47 49 29 28 17 20 22 24",
        "31 32 34 36 38 40 41 39 51 50",
    ),
    "(5.71)": ("3 3 2", "3 3 4 5 7 10 16 18 22 24", "3", "3 4 4 5 7 10 16 18 22 24 24 23"),
    "(5.79)": (
        "3",
        "3 3 2",
        "3 4 5 7 10 16 18 22 24",
        "3 4 5 7 10 16 18 22 24 24 23",
        "3 3 4 5 26 27 38 40 41 39 51 50",
        "3 3 4 5 26 27 38 40 41 39 51 50 50 53",
    ),
}
MISSING = "Bond 17 ends at the transformer tfy, from which 20 leads to link 1; without it 17 and 22 do not meet."
PLATFORM = "No causal path leads from y to ig, which has the state p31: by the thesis' own criterion it is not observable."
STATES = {
    "morales_puma": ("i2", "i1", "c2", "c1"),
    "morales_stanford": ("i2", "i1", "i3", "ig", "c2", "c1", "c3"),
}


def collapsed(bonds: str) -> str:
    """A sequence of bonds without repetitions, which the print sets in one way and another."""
    return " ".join(key for key, _ in groupby(bonds.split()))


def nonlinear(where: str) -> set[str]:
    """The paths from storage to storage through elements modulated by states (procedure 5.1, step 1)."""
    return {" ".join(path.bonds) for path in BondGraph.load(GRAPHS[where]).nonlinear_paths()}


def from_output(where: str) -> dict[str, set[str]]:
    """The paths from y = f3 to each storage with a state, with the detector's bond called 3."""
    g = BondGraph.load(GRAPHS[where]).with_detectors(y="f3").dualized("y")
    found = {}
    for element in STATES[GRAPHS[where]]:
        paths = g.causal_paths("y", element, indirect=True)
        found[element] = {collapsed(" ".join(path.bonds).replace("y", "3")) for path in paths}
    return found


def sections() -> tuple[Section, ...]:
    rows: list[Row] = []
    for where in ("(5.30)", "(5.47)"):
        found = nonlinear(where)
        rows += _listed(where, [collapsed(x) for x in PATHS[where]], found)
        rows.append(
            statement(
                phrase("{where}: how many", where=where),
                str(len(PATHS[where])),
                str(len(found)),
                abs(len(found) - len(PATHS[where])),
            )
        )
    for where in ("(5.71)", "(5.79)"):
        reached = from_output(where)
        rows += _listed(where, [collapsed(x) for x in PATHS[where]], set().union(*reached.values()))
        blind = [element for element, paths in reached.items() if not paths]
        says = "every state" if not blind else phrase("all but {names}", names=", ".join(blind))
        rows.append(
            statement(
                phrase("{where}: y reaches", where=where),
                "every state",
                says,
                float(len(blind)),
                reason=PLATFORM,
            )
        )
    text = (
        "Paths between storages through elements modulated by states (5.30), (5.47), and from the output y = f3 to the storages "
        "(5.71), (5.79), as the graphs' own search finds them. Bonds that come twice in sequence are counted once: the print sets "
        "them in one way and another."
    )
    return (Section("5.3, 5.4 Causal paths", text, tuple(rows), THESIS),)


def _listed(where: str, printed: list[str], found: set[str]) -> list[Row]:
    """A row for those that are there, and one for each that is not."""
    right = [k for k, path in enumerate(printed, start=1) if path in found]
    rows = [
        statement(
            phrase("{where}: paths", where=where),
            ", ".join(f"T{k}" for k in right),
            "the same",
            0.0,
        )
    ]
    for k, path in enumerate(printed, start=1):
        if path not in found:
            nearest = max(
                found,
                key=lambda own: (
                    len(set(own.split()) & set(path.split())) - abs(len(own) - len(path)) / 100
                ),
            )
            rows.append(statement(f"{where}: T{k}", path, nearest, 1.0, reason=MISSING))
    return rows
