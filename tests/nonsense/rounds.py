"""One function after another, with as much nonsense as there is time for: which calls are made depends on names and seeds only."""

from __future__ import annotations

import inspect
import webbrowser
from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import eslabon as es
from nonsense.fuzzing import Attempt, Finding, attempts, finding
from nonsense.left import Entry
from nonsense.public_functions import public_functions
from nonsense.valid_calls import Examples
from randomness import SHIFT

EACH = 5  # kinds of nonsense for an argument, or calls of a slow function; the nightly run has nearly all
SLOW = (
    "control.Estimates.plot", "control.nonlinear_system", "identification.excitation", "optimize.Optimum.plot",
    "optimize.coupler_curve", "optimize.design", "optimize.motion", "study", "sweep", "sweeps.sensitivities", "view",
    "BondGraph.equations", "BondGraph.simulate", "Mechanism.equations", "Mechanism.plot", "Mechanism.to_control_nonlinear",
    "Mechanism.workspace_map", "bond_graph.EnergyBalance.plot", "identification.Excitation.plot", "paths.JointPath.plot",
    "paths.Path.plot", "plotting.panels", "plotting.time_figure", "solve.WorkspaceMap.plot",
)  # fmt: skip
UNTRIED = {
    "reproductions.figures_of": "recomputes a document",
    "reproductions.reproduce": "recomputes a document",
    "reproductions.reproduce_all": "recomputes all documents",
    "viewer.View.wait": "returns when somebody stops the view",
}


class Tried(NamedTuple):
    """A call that was made, and what was found."""

    function: str
    argument: str
    kind: str
    found: Finding | None

    @property
    def entry(self) -> Entry | None:
        return self.found and Entry(
            self.found.wing, self.function, self.argument, self.kind, self.found.error
        )


def group_of(name: str) -> str:
    """What stands before the first dot, or the package itself."""
    return (
        name.partition(".")[0]
        if "." in name or inspect.isclass(public_functions()[name])
        else "eslabon"
    )


def groups() -> list[str]:
    return sorted({group_of(name) for name in public_functions()})


def without_valid_call(examples: Examples) -> set[str]:
    """The functions and methods of which no valid call is known. A class that its own examples do not make is made by others."""
    functions = {
        name: thing for name, thing in public_functions().items() if not inspect.isclass(thing)
    }
    return {
        name
        for name, thing in functions.items()
        if name not in UNTRIED and examples.call_of(thing) is None
    }


def tried(group: str, examples: Examples, folder: Path, each: int = EACH) -> Iterator[Tried]:
    """The calls of a group of functions."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(webbrowser, "open", lambda *_, **__: True)
        for name, thing in public_functions().items():
            if group_of(name) == group and name not in UNTRIED:
                yield from _of_function(name, thing, examples, folder, each)


def _of_function(
    name: str, thing: Any, examples: Examples, folder: Path, each: int
) -> Iterator[Tried]:
    wing = (*thing.__module__.split(".")[1:], "eslabon")[0]
    for number, call in enumerate(examples.calls_of(thing)):
        for attempt in _drawn(name, number, attempts(call), each):
            found = finding(attempt.make(call.on_a_copy()), folder, wing)
            yield Tried(name, attempt.argument, attempt.kind, found)
    if group_of(name) == "plotting":
        es.plotting.set_theme(None)


def _drawn(name: str, number: int, known: Iterable[Attempt], each: int) -> Iterator[Attempt]:
    """A few of the attempts: some kinds for each argument, or of a slow function some in all.

    They are drawn by their names, so that one more argument or kind of nonsense changes little else.
    """

    def lot(attempt: Attempt) -> bytes:
        return sha256(repr((SHIFT, name, number, attempt.argument, attempt.kind)).encode()).digest()

    drawn = Counter[str]()
    for attempt in sorted(known, key=lot):
        key = "" if name in SLOW else attempt.argument
        drawn[key] += 1
        if drawn[key] <= each:
            yield attempt
