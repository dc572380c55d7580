"""A batch equals its single calls bit for bit: one state alone may have native code of its own, which rounds alike.

The nightly run compares all quantities of the library at both of LLVM's levels. Other runs compare those of ten mechanisms
at the quick level, and of the two largest some that have code for one state alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cases
import eslabon as es
from cases import Moving, closed_near
from eslabon.compiler.evaluate import evaluate
from eslabon.formulas import quantities
from eslabon.model.configuration import integrate
from eslabon.solve.constraints.constraint_structure import constraint_structure
from randomness import PROFILE, seeded

STATES = 3
QUANTITIES = tuple(quantities.QUANTITIES)
TEN = (
    "andrews_squeezer", "bennett", "cart_pole", "excavator", "five_bar", "flyball_governor", "planar_3rrr",
    "puma560_drives", "rojas_7r_loop", "scara",
)  # fmt: skip
LARGE = {
    ("delta", "0"): ("state_matrix",),
    ("stewart_gough", "0"): ("forward_dynamics_derivatives",),
    ("stewart_gough", "1"): ("forward_dynamics_derivatives",),
}
COMPARED = LARGE | {(name, "0"): QUANTITIES for name in TEN}
if PROFILE == "nightly":
    COMPARED = {(case.name, level): QUANTITIES for case in cases.LIBRARY for level in "01"}


def comparison(name: str, level: str) -> Any:
    marks = [pytest.mark.xdist_group(name)]
    if (name, level) in LARGE or PROFILE == "nightly":
        marks.append(pytest.mark.slow(reason="graphs of 20,000 to 80,000 operations"))
    return pytest.param(
        name, level, COMPARED[name, level], marks=marks, id=f"{name}, level {level}"
    )


def motions(m: es.Mechanism) -> list[Moving]:
    """The mechanism in a few states that keep its loops closed."""
    found = []
    for k in range(STATES):
        rng = seeded("single calls", m.name, k)
        q = integrate(m, m.home(), 0.1 * rng.uniform(-1, 1, m.nv))
        found.append(Moving(m, closed_near(m, q) if m.closed else q, rng))
    return found


def all_equal(one: Any, row: Any) -> bool:
    return (
        all(map(np.array_equal, one, row)) if isinstance(one, tuple) else np.array_equal(one, row)
    )


def test_every_mechanism_compared_is_one_of_the_library() -> None:
    assert {name for name, _ in COMPARED} <= {case.name for case in cases.LIBRARY}


@pytest.mark.parametrize(("name", "level", "names"), [comparison(*x) for x in COMPARED])
def test_a_batch_equals_its_single_calls(name, level, names, monkeypatch) -> None:
    monkeypatch.setenv("ESLABON_OPTIMIZATION", level)
    m = es.load(name)
    states, different, compared = motions(m), [], 0
    for quantity in names:
        if quantity.startswith("coupling_forces") and not m.couplings:
            continue
        formula = quantities.quantity(m, quantity)
        options = (
            {"frame": m.frames[0].name if m.frames else m.bodies[-1].name}
            if "frame" in formula.options
            else {}
        )
        f = evaluate(m, formula, prepare=constraint_structure, **options)
        arrays = [np.stack([getattr(state, x) for state in states]) for x in formula.input_names]
        batch = f(*arrays)
        for k in range(STATES):
            row = tuple(x[k] for x in batch) if isinstance(batch, tuple) else batch[k]
            compared += 1
            if not all_equal(f(*(x[k] for x in arrays)), row):
                different.append((quantity, k))
    assert not different
    assert compared >= STATES * min(len(names), len(QUANTITIES) - 2)
