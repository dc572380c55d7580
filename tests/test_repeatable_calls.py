"""No number depends on how often, or in which order, something was asked: what is compiled is decided by the request alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eslabon as es
from randomness import PROFILE

OFTEN = (
    1000 if PROFILE == "nightly" else 400
)  # calls; a formula that was compiled after 300 gave another last bit then
NAMES = ("delta", "five_bar", "stewart_gough", "bricard")


def calls(m: es.Mechanism) -> dict[str, Callable[[], Any]]:
    """Verbs with loops, which solve, choose and project on the way: near home, and farther from it."""
    home = m.project(m.home())
    near, far = (home[list(m.actuated_coordinates)] + step for step in (0.01, 0.05))
    v = np.linspace(0.1, 0.2, len(near))
    guess = home + 1e-3
    return {
        "assemble near": lambda: m.assemble(near),
        "assemble": lambda: m.assemble(far),
        "assemble a batch": lambda: m.assemble([near, far]),
        "complete": lambda: np.concatenate(m.complete(near, v, -v)),
        "project": lambda: np.concatenate(m.project(guess, np.ones(m.nv))),
        "conditions": lambda: m.conditions(home).parallel,
        "constraint": lambda: m.constraint(guess),
    }


def repeated(call: Callable[[], Any], count: int) -> set[bytes]:
    return {np.asarray(call()).tobytes() for _ in range(count)}


@pytest.mark.parametrize("name", NAMES)
def test_hundreds_of_calls_give_the_same_bits(name: str) -> None:
    m = es.load(name)
    for verb, call in calls(m).items():
        assert len(repeated(call, OFTEN)) == 1, verb


@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_calls_changes_no_bit(name: str) -> None:
    there, back = calls(es.load(name)), calls(es.load(name))
    first = {verb: repeated(call, 1) for verb, call in there.items()}
    again = {verb: repeated(call, 3) for verb, call in reversed(back.items())}
    assert first == again


def test_a_state_does_not_depend_on_those_that_were_asked_for_before() -> None:
    m, other = es.load("delta"), es.load("delta")
    home = m.home()[list(m.actuated_coordinates)]
    for step in np.linspace(0, 0.02, 60):
        other.assemble(home + step)
    other.assemble(home + np.linspace(0, 0.02, 400)[:, None])
    assert np.array_equal(m.assemble(home + 0.01), other.assemble(home + 0.01))


# What takes long is called less often: searches, studies of many states, texts.
LONG = (
    "assemble.far", "bond_graph", "c_source", "check", "control", "equations", "equilibrium", "identification", "inverse_kinematics",
    "measures", "operations", "optimize", "save", "simulate", "sweep", "well_conditioned", "workspace", "follow",
)  # fmt: skip


@pytest.mark.slow(reason="every public verb, in the nightly run a thousand times")
@pytest.mark.parametrize("name", ["elbow", "five_bar"] if PROFILE == "nightly" else ["elbow"])
def test_every_verb_gives_the_same_bits_again(name: str, monkeypatch) -> None:
    """The verbs and their arguments are those of the baseline's table; the nightly run asks them a thousand times, others thrice."""
    monkeypatch.setenv(
        "ESLABON_OPTIMIZATION", "0"
    )  # as in tests/test_warm_processes.py, which asks the same
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "benchmarks"))
    from baseline.answers import answer
    from baseline.calls import calls_of

    case, calls = calls_of(name)
    for call in calls:
        count = 3 if PROFILE != "nightly" else 10 if call.name.startswith(LONG) else OFTEN
        found = {
            json.dumps(answer(lambda call=call: call.read(call.make(case)))) for _ in range(count)
        }
        assert len(found) == 1, call.name
