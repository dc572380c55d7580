"""Appendix A.3: a link behind a gear, whose coefficients follow from its bond graph."""

from __future__ import annotations

from typing import Any

from eslabon.bond_graph.bond_graph import BondGraph
from eslabon.reproductions.comparison import THESIS, Section
from eslabon.reproductions.morales.matrices import letters
from eslabon.reproductions.verdicts import formula

SQUARE = (
    "Kinetic energy (A.20) has n²: the inertia behind a gear counts by the square of its ratio."
)
DAMPING = "(A.24) has n²: friction behind a gear counts by the square of its ratio."


def graph() -> BondGraph:
    """A motor, a gear with theta_l = theta_m / n, and the link with its weight as a law of the angle."""
    return BondGraph(
        "geared_link",
        {
            "u": "Se", "motor": "1", "Jm": "I: Jm", "Bm": "R: Bm", "gear": "TF: 1/n", "link": "1", "Jl": "I: Jl", "Bl": "R: Bl",
            "weight": {"kind": "C", "law": "Mgl*sin(q)", "state": "theta"},
        },
        ["u -> motor -> Jm", "motor -> Bm", "motor -> gear -> link -> Jl", "link -> Bl", "link -> weight"],
        {"Jm": 0.1, "Bm": 0.2, "n": 5.0, "Jl": 2.0, "Bl": 0.4, "Mgl": 3.0},
    )  # fmt: skip


def coefficients() -> tuple[dict[str, Any], dict[str, Any]]:
    """J, B and C of J theta_m'' + B theta_m' + C sin(theta_m/n) = u: from the rate of the motor's momentum Jm theta_m'."""
    import sympy

    g = graph()
    (found,) = g.equations().expanded()
    n = letters(*g.parameters, *g.states, *g.inputs)
    momentum, source = n["p2"], n["e1"]
    acceleration = sympy.expand(sympy.together(found[0]) / n["Jm"])
    J = sympy.simplify(1 / acceleration.diff(source))
    B = sympy.simplify(-J * acceleration.diff(momentum) * n["Jm"])
    C = sympy.simplify(-J * acceleration.subs({source: 0, momentum: 0}) / sympy.sin(n["theta"]))
    return {"J": J, "B": B, "C": C}, n


def sections() -> tuple[Section, ...]:
    found, names = coefficients()
    rows = (
        formula("inertia (A.23)", "Jm + Jl/n", found["J"], names, reason=SQUARE),
        formula("J (A.26)", "Jm + Jl/n**2", found["J"], names),
        formula("B (A.26)", "Bm + Bl/n", found["B"], names, reason=DAMPING),
        formula("C (A.26)", "Mgl/n", found["C"], names),
    )
    text = (
        "J theta_m'' + B theta_m' + C sin(theta_m/n) = u from the bond graph of motor, gear and link; the link's inertia depends on "
        "the motor's."
    )
    return (Section("A.3 A link behind a gear", text, rows, THESIS),)
