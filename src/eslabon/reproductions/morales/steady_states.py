"""Section 4.4: steady states of both arms, forwards and backwards, and how they are reached (figures 4.24, 4.26, 4.27)."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.bond_graph.bond_graph import BondGraph
from eslabon.bond_graph.graph_runs import Response
from eslabon.bond_graph.graph_statics import SteadyState
from eslabon.language import phrase
from eslabon.reproductions.comparison import THESIS, Exhibit, Row, Section
from eslabon.reproductions.document_figures import Figure, Panel
from eslabon.reproductions.morales.junction_structures import symbolic
from eslabon.reproductions.morales.matrices import letters, read
from eslabon.reproductions.verdicts import erratum, formula, greatest, number, statement
from eslabon.systems.linear.linear_system import slowest_pole

SETTLED = 0.01  # "reached" is said of curves: within a hundredth of the step
READ_OFF = 1e-3  # rad or m: what a curve tells
STEPS = (
    [0.0, 8.0],
    [[2.0, 1.0], [4.0, 3.0]],
)  # e1 and e25: tau2 = 2 and tau1 = 1 N m, and 2 N m more of each after 8 s
CASE_A = [2.0, 10.0, 5.0, -0.5]  # e1, e25, e52, e30, with the numbers of figure 4.20
HELD = {"q53": 0.5, "q3": 0.3, "q23": 0.6}  # case B
DELAY = 1.0
PUMA_CAPTION = (
    "From rest under steps of the sources at 0 and 8 s. The dots are the printed steady values: the springs hold the torques, and the "
    "joints stand still."
)
CASE_A_CAPTION = "The Stanford arm with constant gyrators under the sources of case A, switched on after a second."
CASE_B_CAPTION = (
    "The same under the sources that hold the printed positions, the dots, which it reaches."
)
PLUS = "(4.233), of which it is a row, has the plus sign."
OTHER = "It is the effort of c3, e43, and (4.233) has the plus sign."
SWAPPED = "B* (4.233) with h7 - h9 of (4.228) gives r cos q3 - s sin q3; with r = s = 2 both are alike, so that no number changes."
CUT = "The formula gives {right:.6f}; with cos 0.3 and sin 0.3 cut to 0.95 and 0.29 it gives {cut:.5f}."


@cache
def puma_run() -> Response:
    g = BondGraph.load("morales_puma")
    return g.simulate(None, np.linspace(0, 16, 1601), STEPS, rtol=1e-10, atol=1e-12)


@cache
def constant() -> BondGraph:
    """The Stanford arm as the thesis simulated it: constant gyrators, the printed sign of tyx."""
    return BondGraph.load("morales_stanford_constant")


def stanford_run(u: Floats, g: BondGraph | None = None, end: float = 40.0) -> Response:
    """From rest, with the sources switched on after a second."""
    t = np.linspace(0, end, int(100 * end) + 1)
    return (g or constant()).simulate(
        None, t, ([0.0, DELAY], [np.zeros(4), u]), rtol=1e-9, atol=1e-11
    )


@cache
def held() -> SteadyState:
    return constant().inverse_statics(HELD, {"e30": -0.5})


def sections() -> tuple[Section, ...]:
    return puma(), stanford_formulas(), case_a(), case_b()


# -- PUMA -------------------------------------------------------------------------------------------------------------


def puma() -> Section:
    """L2302 to 2304."""
    g, run = BondGraph.load("morales_puma"), puma_run()
    rest = g.steady_state(STEPS[1])
    variables = g.bond_variables(rest.x, rest.u)
    rows: list[Row] = []
    for k, printed in enumerate((("2", "1"), ("4", "3"))):
        for name, text in zip(("e3", "e23"), printed, strict=True):
            rows.append(
                number(
                    phrase("{name} at rest, step {k} (L2304)", name=name, k=k + 1),
                    text,
                    variables[name][k],
                )
            )
    for when, k in ((6.0, 0), (15.0, 1)):
        at = int(np.argmin(abs(run.t - when)))
        found = np.array([run["e3"][at], run["e23"][at]])
        off = greatest(found - [variables["e3"][k], variables["e23"][k]]) / 2.0
        says = f"e3 = {found[0]:.4f}, e23 = {found[1]:.4f}"
        rows.append(
            statement(
                f"reached at {when:g} s (L2304)", "the steady state", says, off, tolerance=SETTLED
            )
        )
    flows = greatest([variables["f2"], variables["f24"]])
    rows.append(statement("velocities at rest (L2304)", "0", "0", flows))
    errors = [
        greatest(np.stack([variables["e3"], variables["e23"]], axis=-1) - u)
        for u in (rest.u[:, ::-1], rest.u)
    ]
    rows.append(
        erratum("z_ss (4.210)", "e3 = e25, e23 = e1", "e3 = e1, e23 = e25", (errors[0], errors[1]),
                reason="The identity is swapped for u = (e1, e25); the values of L2304 are right.")
    )  # fmt: skip
    text = (
        "Steps of 1 and 2 N m at joints 1 and 2, and of 2 N m more at both after 8 s, from rest (the initial state is not "
        "printed). Steady values from the graph with derivative causality; reached means within 1 % of the step."
    )
    return Section("4.4.3 PUMA: steady states", text, tuple(rows), THESIS)


# -- Stanford ---------------------------------------------------------------------------------------------------------


@cache
def star() -> Any:
    """B* = J13 + J12 M_d J23 (4.187) as symbols, by rows of z_d."""
    import sympy

    J = constant().junction_structure("derivative")
    J12, J13, J23 = (
        symbolic("morales_stanford_constant", "derivative", of) for of in ("J12", "J13", "J23")
    )
    R = letters("R1", "R2", "R3")
    made = J13 + J12 * sympy.diag(R["R2"], R["R1"], 1 / R["R3"]) * J23  # J22 = 0, so that M_d = L_d
    return dict(zip(J.key["zd"], made.tolist(), strict=True))


def stanford_formulas() -> Section:
    """Equations 4.236 to 4.246."""
    names = letters("q3", "q53", "n", "r", "s", "R3", "e1", "e25", "e52", "e30", "c1", "c2", "c3")
    names |= {"q46": names["q53"], "e26": names["e25"], "q25": letters("q23")["q23"]}
    h = {
        "h6": "q46*n*sin(q3)",
        "h7": "q46*s*cos(q3)*sin(q3)",
        "h8": "n*cos(q3)",
        "h9": "q46*r*cos(q3)**2",
    }
    names |= {name: read(text, names) for name, text in h.items()}
    u = [names[x] for x in ("e1", "e25", "e52", "e30")]

    def rest(z: str) -> Any:
        return sum(a * b for a, b in zip(star()[z], u, strict=True))

    rows = [
        formula("f53 (4.237)", "e30/R3", rest("f31"), names),
        formula("e3 (4.238)", "e1-h6/R3*e30", rest("e3"), names),
        formula("e25 (4.239)", "e26-(h7-h9)/R3*e30", rest("e23"), names, reason=PLUS),
        formula("e43, printed e3 (4.240)", "e52-h8/R3*e30", rest("e53"), names, reason=OTHER),
        formula("f32 (4.241)", "cos(q3)/R3*e30", rest("f42"), names),
        formula("f35 (4.242)", "sin(q3)/R3*e30", rest("f43"), names),
        formula("e52 (4.244)", "q46/c3-n*cos(q3)/R3*e30", _solved("e53", 2, names["q53"] / names["c3"], names), names),
        formula("e1 (4.245)", "q3/c2+q46*n*sin(q3)/R3*e30", _solved("e3", 0, names["q3"] / names["c2"], names), names),
        formula("e26 (4.246)", "q25/c1+q46*cos(q3)/R3*(e30*s*cos(q3)-r*sin(q3)*e30)",
                _solved("e23", 1, names["q25"] / names["c1"], names), names, reason=SWAPPED),
    ]  # fmt: skip
    text = (
        "z_ss = B*(x) u from the graph with derivative causality, gyrators n, r, s as letters and the printed sign of tyx. "
        "Printed numbers of bonds are those of figure 4.25; computed formulas have those of figure 4.20 (e25 for e26, q53 for q46, "
        "q23 for q25)."
    )
    return Section("4.4.4 Stanford: the steady state in formulas", text, tuple(rows), THESIS)


def _solved(z: str, k: int, effort: Any, names: dict[str, Any]) -> Any:
    """The row of an effort solved for its own source."""
    row = star()[z]
    others = sum(
        a * names[x]
        for j, (a, x) in enumerate(zip(row, ("e1", "e25", "e52", "e30"), strict=True))
        if j != k
    )
    return (effort - others) / row[k]


def case_a() -> Section:
    """L2404 to 2408."""
    g = constant()
    rest = g.steady_state(CASE_A)
    run = stanford_run(np.array(CASE_A), end=80.0)
    p, back = g.parameters, g.inverse_statics({name: rest[name] for name in HELD}, {"e30": -0.5})
    rows = []
    for name, own, text, c in (
        ("e52", "e52", "4.9980", "c3"),
        ("e1", "e1", "1.9957", "c2"),
        ("e26", "e25", "10.0089", "c1"),
    ):
        rows.append(number(f"{name} (4.243)", text, float(back[own]), noise=READ_OFF / p[c]))
    off = greatest(run.end[4:] - rest.x[4:])
    joints = "q25 = {:.6f}, q3 = {:.6f}, q46 = {:.6f}".format(rest["q23"], rest["q3"], rest["q53"])
    rows.append(
        statement(
            "reached in figure 4.26",
            "a steady state",
            "within 1e-5 after 80 s",
            off,
            tolerance=1e-5,
        )
    )
    text = phrase(
        "Sources 10, 2, 5 and -0.5 after 1 s, n = r = s = 2. The equilibrium is {joints}; the thesis shows it in figure 4.26 only, "
        "which is lost, and prints the sources that (4.244)-(4.246) give for the joints' values. Read off to 0.001, these tell a "
        "source to 0.001 divided by the compliance; so far the printed ones agree with those applied.",
        joints=joints,
    )
    return Section("4.4.4 Stanford: case A", text, tuple(rows), THESIS, (gyrators(rest),))


def gyrators(rest: SteadyState) -> Exhibit:
    """What was tried: the equilibrium for each kind of gyrators."""
    lines = []
    varying = BondGraph.load("morales_stanford")
    for title, g, own in (
        ("n = r = s = 2 (L2404)", constant(), rest),
        ("n = mz f2, ... (4.169)-(4.171)", varying, varying.steady_state(CASE_A)),
        ("no platform, weights m g", BondGraph.load("morales_stanford_gravity"), None),
    ):
        found = (
            own if own is not None else g.steady_state(CASE_A[:3], guess=[0, 0, 0, 0.2, 1.0, 0.5])
        )
        slowest = slowest_pole(g.linearize(found.x, found.u).poles).real
        joints = (f"{found[name]:.6f}" for name in ("q23", "q3", "q53"))
        lines.append(
            (
                title,
                *joints,
                f"{slowest + 0.0:.4f}" if abs(slowest) > 1e-9 else "0: joint 3 swings for ever",
            )
        )
    title = "Equilibrium of case A by what the gyrators of the translation are"
    return Exhibit(
        ("gyrators", "q25", "q3", "q46", "slowest pole, real part, 1/s"), tuple(lines), title
    )


def case_b() -> Section:
    """L2421 to 2423."""
    g, found = constant(), held()
    c, s = 0.95, 0.29
    cut = 0.6 / g.parameters["c1"] + 0.5 * c / g.parameters["R3"] * (-0.5) * 2 * (c - s)
    rows = [
        number("e52 (4.247)", "2.1443", found["e52"]),
        number("e1 (4.247)", "1.4261", found["e1"]),
        number(
            "e26 (4.247)", "5.8432", found["e25"], reason=phrase(CUT, right=found["e25"], cut=cut)
        ),
    ]
    for what, u, tolerance in (
        ("exact", found.u, 1e-5),
        ("printed", np.array([1.4261, 5.8432, 2.1443, -0.5]), 5e-4),
    ):
        end = stanford_run(u, end=80.0).end[4:]
        off = greatest(end - [HELD["q3"], HELD["q23"], HELD["q53"]])
        says = f"q25 = {end[1]:.5f}, q3 = {end[0]:.5f}, q46 = {end[2]:.5f}"
        rows.append(
            statement(
                phrase("figure 4.27, {what} sources", what=what),
                "0.6, 0.3, 0.5",
                says,
                off,
                tolerance=tolerance,
            )
        )
    text = "The sources that hold q25 = 0.6, q3 = 0.3, q46 = 0.5 with e30 = -0.5, and the simulation with them from rest."
    return Section("4.4.4 Stanford: case B", text, tuple(rows), THESIS)


# -- figures ----------------------------------------------------------------------------------------------------------


def figures() -> list[Figure]:
    run = puma_run()
    torque = Panel("Torques of the springs", "torque [N m]", run.t, {"e3, joint 2": run["e3"], "e23, joint 1": run["e23"]},
                   printed=([6, 6, 15, 15], [2, 1, 4, 3]))  # fmt: skip
    speed = Panel(
        "Joint velocities",
        "rate [rad/s]",
        run.t,
        {"f2, joint 2": run["f2"], "f24, joint 1": run["f24"]},
    )
    title = "Figure 4.24: steady states of the PUMA"
    made = [Figure("figure_4_24_puma", title, [torque, speed], caption=PUMA_CAPTION)]
    printed: Any
    for label, title, u, printed, caption in (
        ("4_26", "Figure 4.26: Stanford arm, case A", np.array(CASE_A), ((), ()), CASE_A_CAPTION),
        (
            "4_27",
            "Figure 4.27: Stanford arm, case B",
            held().u,
            ([38.0] * 3, [0.6, 0.3, 0.5]),
            CASE_B_CAPTION,
        ),
    ):
        r = stanford_run(u)
        curves = {"q25, joint 1": r["q23"], "q3, joint 2": r["q3"], "q46, joint 3": r["q53"]}
        panels = [Panel("Joint positions", "position [rad, m]", r.t, curves, printed=printed)]
        panels.append(Panel("Platform velocity f31", "velocity [m/s]", r.t, {"f31": r["f31"]}))
        made.append(Figure(f"figure_{label}_stanford", title, panels, caption=caption))
    return made
