"""Bond graphs: Stanford's arm of 54 bonds from its text to native state equations and simulated, and linear ladder circuits
beside BondGraphTools.

The first call is made in a new process with an empty cache folder; imports of what it needs count, that of eslabon does not.
What is compared first: A and B of the ladders with those read from BondGraphTools' state equations, and a run at 1 kHz with one
of SciPy's at a tolerance of 1e-10.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from report import same
from timing import side_by_side
from versions import cell, lines

import eslabon as es

ARM, INPUTS, GOAL, RUN = "morales_stanford", [2.0, 10.0, 5.0, -0.5], 2.0, 0.05
SECTIONS = (1, 5, 10)
FIRST = f"""
import time
import eslabon as es
start = time.perf_counter()
es.BondGraph.load("{ARM}").rates([0.1] * 7, [1.0] * 4)
print(time.perf_counter() - start)
"""
SHORT = "BondGraphTools is not installed here, so that its times are left out: pip install BondGraphTools."
REMARK = """
BondGraphTools gives equations in SymPy and has no native code; its simulations need scikits.odes, which pip did not find here. It has no
modulated elements, so that the arm itself cannot be put into it.
"""


def text(base: Path | None = None, rounds: int = 5) -> str:
    """The section of the page; an earlier version has nothing to compare with."""
    rows = [*_arm(rounds), *_ladders()]
    header = "what | ours | BondGraphTools | times faster | goal | met"
    remark = REMARK.strip() if _peer() else SHORT
    return f"{__doc__.strip()}\n\n{lines(header, rows)}\n\n{remark}\n"


def _arm(rounds: int) -> list[list[str]]:
    first = statistics.median(_first_call() for _ in range(rounds))
    g = es.BondGraph.load(ARM)

    def run():
        return g.simulate(None, 10.0, INPUTS, method="rk4", step=1e-3)

    close = g.simulate(None, np.linspace(0, 10, 11), INPUTS, rtol=1e-10, atol=1e-12)
    same(f"{ARM}, run", run().x[::1000], close.x, 1e-7)
    x, u = np.random.default_rng(0).uniform(0.1, 0.5, (1000, 7)), np.array(INPUTS)
    timed = {
        "10 s at 1 kHz by rk4, after that": side_by_side({"ours": run}, rounds=9)["ours"].seconds,
        "rates, one state": side_by_side({"ours": lambda: g.rates(x[0], u)})["ours"].seconds,
        "rates, of 1,000 states each": side_by_side({"ours": lambda: g.rates(x, u)})["ours"].seconds
        / len(x),
        "A, B, C, D at a state": side_by_side({"ours": lambda: g.linearize(x[0], u)})[
            "ours"
        ].seconds,
    }
    goals = {"10 s at 1 kHz by rk4, after that": RUN}
    made = [_row(f"{ARM}: text to native state equations, cold", first, None, GOAL)]
    return made + [
        _row(f"{ARM}: {what}", seconds, None, goals.get(what)) for what, seconds in timed.items()
    ]


def _first_call() -> float:
    with TemporaryDirectory() as folder:
        environment = {**os.environ, "ESLABON_CACHE": folder}
        done = subprocess.run(
            [sys.executable, "-c", FIRST],
            capture_output=True,
            text=True,
            env=environment,
            check=True,
        )
    return float(done.stdout)


# -- ladders ----------------------------------------------------------------------------------------------------------


def ladder(sections: int) -> es.BondGraph:
    """Sections of R and L in series and C across, fed by a voltage."""
    elements, bonds, last = {"V": "Se"}, [], "V"
    for k in range(sections):
        elements |= {
            f"s{k}": "1",
            f"R{k}": f"R: {2 + k}",
            f"L{k}": f"I: {0.1 * (k + 1)}",
            f"p{k}": "0",
            f"C{k}": "C: 0.5",
        }
        bonds += [f"{last} -> s{k} -> R{k}", f"s{k} -> L{k}", f"s{k} -> p{k} -> C{k}"]
        last = f"p{k}"
    elements["load"] = "R: 50"
    return es.BondGraph(f"ladder_{sections}", elements, [*bonds, f"{last} -> load"])


def theirs(sections: int):
    """The same in BondGraphTools; equations are derived when they are asked for."""
    bgt = _peer()
    model, last = bgt.new(name=f"ladder_{sections}"), bgt.new("Se", name="V")
    bgt.add(model, last)
    for k in range(sections):
        made = {"s": bgt.new("1"), "p": bgt.new("0"), "R": bgt.new("R", name=f"R{k}", value=2 + k)}
        made |= {
            "L": bgt.new("I", name=f"L{k}", value=0.1 * (k + 1)),
            "C": bgt.new("C", name=f"C{k}", value=0.5),
        }
        bgt.add(model, *made.values())
        bgt.connect(last, made["s"])
        for name in "RLp":
            bgt.connect(made["s"], made[name])
        bgt.connect(made["p"], made["C"])
        last = made["p"]
    load = bgt.new("R", name="load", value=50)
    bgt.add(model, load)
    bgt.connect(last, load)
    return model


def _compared(sections: int, g: es.BondGraph) -> None:
    """A and B, with the states in the order of elements L0, C0, L1, ..."""
    import sympy

    model = theirs(sections)
    names = list(model.state_vars)
    own = [storage.element.name for storage in g.causality().integral]
    at = [own.index(element.name) for element, _ in model.state_vars.values()]
    x, u = sympy.symbols(names), sympy.Symbol("u_0")
    solved = sympy.solve(
        model.constitutive_relations, sympy.symbols([f"d{n}" for n in names]), dict=True
    )[0]
    rates = sympy.Matrix([solved[sympy.Symbol(f"d{n}")] for n in names])
    lm = g.linearize(np.zeros(g.order), [0.0])
    same(f"ladder of {sections}, A", lm.A[np.ix_(at, at)], np.array(rates.jacobian(x), dtype=float))
    same(f"ladder of {sections}, B", lm.B[at], np.array(rates.diff(u), dtype=float))


def _ladders() -> list[list[str]]:
    rows = []
    for n in SECTIONS:
        calls = {"ours": lambda n=n: ladder(n).equations()}
        if _peer():
            _compared(n, ladder(n))
            calls["BondGraphTools"] = lambda n=n: theirs(n).constitutive_relations
        timed = side_by_side(calls, rounds=3, budget=0.001)
        what = f"ladder of {n} section{'s' * (n > 1)}: elements to state equations, in symbols"
        rows.append(_row(what, timed["ours"].seconds, timed.get("BondGraphTools")))
    return rows


def _peer():
    """BondGraphTools, which says on import that it cannot simulate."""
    from contextlib import redirect_stdout
    from io import StringIO

    try:
        with redirect_stdout(StringIO()):
            import BondGraphTools
    except ImportError:
        return None
    return BondGraphTools


def _row(what: str, ours: float, peer=None, goal: float | None = None) -> list[str]:
    verdict = "" if goal is None else ("yes" if ours <= goal else "**no**")
    times = ("", "") if peer is None else (_time(peer.seconds), f"{peer.ratio:.1f}")
    return [what, _time(ours), *times, cell(goal, "g") + (" s" if goal else ""), verdict]


def _time(seconds: float) -> str:
    return (
        f"{seconds:.2f} s"
        if seconds > 0.5
        else f"{seconds * 1e3:.1f} ms"
        if seconds > 1e-3
        else f"{seconds * 1e6:.2f} µs"
    )


if __name__ == "__main__":
    print(text(rounds=3))
