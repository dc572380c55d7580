"""A second process traces nothing: every number that a verb gives comes from code on disk.

The calls are those of the baseline's table (`benchmarks/baseline/calls.py`), which has every public verb. Left out are those
that are of symbols by nature: operations, equations and C of a graph, a law of a user's own, the graphs that an optimiser
differentiates, and what a drawn bond graph is made of.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import eslabon as es

ROOT = Path(__file__).parents[1]
SYMBOLIC = (
    "operations",
    "equations",
    "c_source",
    "symbols",
    "with_symbols",
    "control.law",
    "simulate.traced",
    "optimize",
)
# In each process: how many graphs each call traced that gave an answer. What is refused may be found out by tracing.
SCRIPT = """
import json, sys, warnings
warnings.simplefilter("ignore")
sys.path.insert(0, sys.argv[1])
from baseline.answers import answer
from baseline.calls import calls_of
from eslabon.compiler.trace import graphs_traced
found = {}
for subject in sys.argv[3].split():
    case, calls = calls_of(subject)
    for call in calls:
        if call.name.startswith(tuple(json.loads(sys.argv[2]))):
            continue
        if sys.argv[4:] and call.name.split(".")[0] not in sys.argv[4:]:
            continue
        before = graphs_traced.total()
        if "error" not in answer(lambda: call.read(call.make(case))):
            found[f"{subject} {call.name}"] = graphs_traced.total() - before
print(json.dumps(found))
"""
EVERYDAY = (
    "pose", "jacobian", "velocity", "constraint", "constraint_jacobian", "assemble", "complete", "project", "conditions",
    "inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity_forces", "energy", "mobility", "independent_coordinates",
)  # fmt: skip


def traced_in_a_process(subjects: str, *verbs: str) -> dict[str, int]:
    """With the cache of all tests: what others compiled need not be compiled for this one."""
    environment = {**os.environ, "ESLABON_OPTIMIZATION": "0"}
    words = [str(ROOT / "benchmarks"), json.dumps(SYMBOLIC), subjects, *verbs]
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, *words], capture_output=True, text=True, env=environment
    )
    assert run.returncode == 0, run.stderr
    found: dict[str, int] = json.loads(run.stdout.splitlines()[-1])
    return found


def check(subjects: str, *verbs: str) -> None:
    first, second = (traced_in_a_process(subjects, *verbs) for _ in range(2))
    assert second.keys() == first.keys()
    assert len(second) > 10 * len(subjects.split())  # or the calls are not what they were
    assert {name: count for name, count in second.items() if count} == {}


@pytest.mark.slow(reason="every public verb, twice")
def test_a_warm_process_traces_nothing_whatever_is_asked() -> None:
    """Three mechanisms in one process: starting one with all that the verbs import takes seconds."""
    check("elbow five_bar puma560")


@pytest.mark.slow(reason="the everyday verbs of all mechanisms of the library, twice")
def test_a_warm_process_traces_nothing_of_any_mechanism() -> None:
    names: Any = [name for name in es.robots() if name not in ("elbow", "five_bar", "puma560")]
    check(" ".join(names), *EVERYDAY)


def test_traces_are_counted(tmp_path: Path) -> None:
    script = "import eslabon as es; m = es.load('elbow'); m.energy(m.home(), [0.0, 0.0])\n"
    script += "from eslabon.compiler.trace import graphs_traced; print(dict(graphs_traced))"
    environment = {**os.environ, "ESLABON_CACHE": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=True
    )
    assert run.stdout == "{'energy': 1}\n"


LAWS = """
import sys
import numpy as np
import eslabon as es
from eslabon.compiler.trace import graphs_traced
m = es.load("five_bar")
q = m.assemble([2.0, 1.0])
law = es.control.computed_torque(m, [2.1, 1.1], 5.0)
print(m.simulate(q, None, 0.1, law.sampled(0.01), method="rk4", step=1e-3, progress=False).end[0].tolist())
print(np.asarray(law(0.0, q, np.zeros(m.nv))).tolist())
print(m.simulate(q, None, 0.1, law, progress=False).end[0].tolist())  # a law that may choose, as where angles wrap
print(graphs_traced.total(), "casadi" in sys.modules)
"""


def test_laws_of_control_are_found_again_without_casadi(tmp_path: Path) -> None:
    environment = {**os.environ, "ESLABON_CACHE": str(tmp_path)}
    first, second = (
        subprocess.run(
            [sys.executable, "-c", LAWS],
            capture_output=True,
            text=True,
            env=environment,
            check=True,
        ).stdout
        for _ in range(2)
    )
    assert second.splitlines()[-1] == "0 False"
    assert second.splitlines()[:-1] == first.splitlines()[:-1]


def test_the_way_of_a_state_is_short_and_as_the_design_says() -> None:
    walk = subprocess.run(
        [sys.executable, ROOT / "docs_build" / "walk.py"],
        capture_output=True,
        text=True,
        check=True,
    )
    warm, second = (row.split(" | ")[1:3] for row in walk.stdout.splitlines()[3:5])
    assert int(warm[0]) <= 17
    assert second == ["1", "1"]
    quoted = (ROOT / "docs" / "design.md").read_text("utf-8")
    assert walk.stdout.splitlines()[-1] in quoted
    assert f"| first, warm | {' | '.join(warm)} | " in quoted
