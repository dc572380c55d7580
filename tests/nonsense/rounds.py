"""One function after another, with as much nonsense as there is time for: which calls are made depends on names and seeds only."""

from __future__ import annotations

import inspect
import warnings
import webbrowser
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import eslabon as es
from nonsense.fuzzing import Attempt, Finding, attempts, finding
from nonsense.left import Entry
from nonsense.public_functions import public_functions
from nonsense.valid_calls import Examples
from randomness import SCALE, seeded

EACH = 5  # kinds of nonsense for an argument; the nightly run has all
SLOW_EACH = 6  # calls of a slow function
SLOW = (
    "control.Estimates.plot", "control.nonlinear_system", "identification.excitation", "optimize.Optimum.plot",
    "optimize.coupler_curve", "optimize.design", "optimize.motion", "study", "sweep", "sweeps.sensitivities", "view",
    "BondGraph.equations", "BondGraph.simulate", "Mechanism.equations", "Mechanism.plot", "Mechanism.to_control_nonlinear",
    "Mechanism.workspace_map", "bond_graph.EnergyBalance.plot", "identification.Excitation.plot", "paths.JointPath.plot",
    "paths.Path.plot", "plotting.panels", "plotting.time_figure", "solvers.JointMotion.plot", "solvers.WorkspaceMap.plot",
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
        return self.found and Entry(self.found.wing, self.function, self.argument, self.kind, self.found.error)


def group_of(name: str) -> str:
    """What stands before the first dot, or the package itself."""
    return name.partition(".")[0] if "." in name or inspect.isclass(public_functions()[name]) else "eslabon"


def groups() -> list[str]:
    return sorted({group_of(name) for name in public_functions()})


def without_valid_call(examples: Examples) -> set[str]:
    """The functions and methods of which no valid call is known. A class that its own examples do not make is made by others."""
    functions = {name: thing for name, thing in public_functions().items() if not inspect.isclass(thing)}
    return {name for name, thing in functions.items() if name not in UNTRIED and examples.call_of(thing) is None}


def tried(group: str, examples: Examples, folder: Path, everything: bool = False) -> Iterator[Tried]:
    """The calls of a group of functions."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(webbrowser, "open", lambda *_, **__: True)
        for name, thing in public_functions().items():
            if group_of(name) == group and name not in UNTRIED:
                yield from _of_function(name, thing, examples, folder, everything)


def _of_function(name: str, thing: Any, examples: Examples, folder: Path, everything: bool) -> Iterator[Tried]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        calls = examples.calls_of(thing)
    for number, call in enumerate(calls):
        mine: Iterable[Attempt] = attempts(call)
        for attempt in mine if everything else _drawn(name, number, list(mine)):
            yield Tried(name, attempt.argument, attempt.kind, finding(attempt.make(call.on_a_copy()), folder))
    if group_of(name) == "plotting":
        es.plotting.set_theme(None)


def _drawn(name: str, number: int, known: list[Attempt]) -> list[Attempt]:
    """A few of the attempts: some kinds for each argument, or of a slow function some in all."""
    rng = seeded("nonsense", name, number)
    mixed = [known[k] for k in rng.permutation(len(known))]
    if name in SLOW:
        return mixed[: SLOW_EACH * SCALE]
    arguments = dict.fromkeys(attempt.argument for attempt in known)
    return [x for argument in arguments for x in [y for y in mixed if y.argument == argument][: EACH * SCALE]]
