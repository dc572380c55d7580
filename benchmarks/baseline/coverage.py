"""Which public names the table of calls covers, and which it leaves out for a reason."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import eslabon as es
from baseline.calls import ALL_CALLS

ROOMS = (
    "algebra",
    "control",
    "identification",
    "linear",
    "measures",
    "optimize",
    "paths",
    "simulate",
    "sweeps",
)
SHOWS = "it only shows"
EXCEPTIONS: dict[str, str] = {
    "Mechanism.plot": SHOWS, "Mechanism.animate": SHOWS, "Mechanism.topology_svg": SHOWS,
    "BondGraph.draw": SHOWS,
    "es.view": SHOWS, "es.study": SHOWS, "es.plotting": SHOWS,
    "es.structure": "its names are those of `mobility`, `bond` and `dof`",
    "es.reproductions": "its verdicts are committed with it, and tests compare them",
    "Mechanism.digest": "a fingerprint for the cache, which every rebuild changes",
    **{f"{owner}.{name}": "for the compiler, which asks every owner of formulas for it"
       for owner in ("Mechanism", "BondGraph") for name in ("memory", "variant_of", "varied")},
    "measures.AlongMotion": "what measures along a motion share",
    "measures.Measure": "what all measures share",
    "measures.Measured": "what measures return",
    "sweeps.read": "it reads the folder of a sweep on a cluster; tests compare it with the sweep",
    **{f"{owner}.from_description": "it makes one of its description, as `load` does"
       for owner in ("Mechanism", "BondGraph")},
    "BondGraph.symbols": "none, unless `with_symbols` put some in",
    "BondGraph.definitions": "expressions inside of values, which numbers show",
    "BondGraph.has_closures": "for checks of states, with `check_state`",
    "BondGraph.check_state": "for verbs, which refuse in its words",
    "BondGraph.values_with": "for checks of parameters",
    **{f"BondGraph.{name}": "letters; tests compare their numbers with C (s 1 - A)^-1 B + D and with poles"
       for name in ("transfer_function", "characteristic_function")},
    "BondGraph.flat": "what `bonds` and `elements` are made of",
    "BondGraph.nominal": "the graph without symbols",
    "BondGraph.with_symbols": "for expressions inside of formulas",
    "BondGraph.check_parameters": "for formulas; `with_parameters` refuses in its words",
    "BondGraph.ports": "names inside of `bonds`",
    "BondGraph.signals": "names inside of `bond_variables`",
    "BondGraph.state_name": "a name that `states` lists", "BondGraph.unit": "for axes of plots",
}  # fmt: skip


def public_names() -> Iterator[str]:
    """Verbs and data of a mechanism and of a bond graph, and the names of the public rooms."""
    for label, kind in (("Mechanism", es.Mechanism), ("BondGraph", es.BondGraph)):
        yield from (f"{label}.{name}" for name in dir(kind) if not name.startswith("_"))
    for room in ROOMS:
        yield from (f"{room}.{name}" for name in getattr(es, room).__all__)
    yield from (
        f"es.{name}" for name in es.__all__ if name not in (*ROOMS, "Mechanism", "BondGraph")
    )


def covered_names() -> set[str]:
    named = {name for call in ALL_CALLS for name in call.verbs.split()}
    return {name if "." in name else f"Mechanism.{name}" for name in named}


def uncovered_names() -> list[str]:
    """Public names that no call covers and no exception excuses; classes of results and errors need
    none."""
    left = sorted(set(public_names()) - covered_names() - set(EXCEPTIONS))
    return [name for name in left if not is_data(name)]


def is_data(name: str) -> bool:
    """Whether a name is a class that only other calls return or raise."""
    room, _, word = name.partition(".")
    owner = es if room == "es" else getattr(es, room)
    found = (
        inspect.getattr_static(owner, word, None)
        if inspect.isclass(owner)
        else getattr(owner, word)
    )
    return inspect.isclass(found) and room != "measures"  # whose classes are what users ask for
