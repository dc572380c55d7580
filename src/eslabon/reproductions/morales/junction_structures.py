"""Sections 4.3.6, 4.3.8 and 4.4: the junction structures S and J of both arms, entry by entry."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from eslabon.bond_graph.bond_graph import BondGraph
from eslabon.reproductions.comparison import THESIS, Row, Section
from eslabon.reproductions.morales.matrices import arranged, block, letters, read
from eslabon.reproductions.verdicts import formula, greatest, statement

SPRING = "The spring c1 (bond 23) acts on joint 1; without this entry q23 would not act on anything, and S11 is not skew."
TURNED = (
    "The momenta p12 = ix f12 and p13 = iy f13 act through the gyrators of the ring, one of them through sin q3 and the other "
    "through cos q3: the graph gives this, and only with it is the model Euler-Lagrange's (below)."
)
SIGNS = "An inertia has the flow of its junction and takes an effort from it, as (4.80) has it too (f8 = f2); both signs are turned."
ANGLE = "The modulus of tfx is sin q3 and that of tfy cos q3 (4.77), and the sign is turned as in the other couplings."
RING = "With sin q3 and cos q3 in place of q3."
NAMES = {
    "x_d (4.74)": ("p8 p12 q12 q19", "xd", "iy and i are inertias, at bonds 13 and 19."),
    "z_d (4.75)": ("f8 f12 f12 f19", "zd", "The inertia iy is at bond 13."),
    "D_out (4.75)": ("e6 f21", "D_out", "R1 is given the flow f21, and answers with the effort."),
}
OTHER_NUMBERS = {
    "44": "50",
    "53": "31",
    "25": "23",
    "43": "53",
    "20": "19",
    "32": "42",
    "35": "43",
    "40": "48",
}
FIRST = ("2", "24", "44", "53"), ("3", "25", "43")  # inertias and compliances of figure 4.25
SECOND = ("8", "12", "13", "20", "32", "35", "40")


@cache
def symbolic(name: str, preference: str, of: str) -> Any:
    """A block as a SymPy matrix; the transformer tyx with the printed sign."""
    g = BondGraph.load(name)
    import sympy

    return g.junction_structure(preference).symbolic(of).subs(sympy.Symbol("tyx", real=True), 1)


# -- PUMA -------------------------------------------------------------------------------------------------------------


def puma() -> Section:
    """Equations 4.74 to 4.96."""
    key = BondGraph.load("morales_puma").junction_structure().key
    rows = []
    for what, (printed, of, reason) in NAMES.items():
        wrong = sum(a != b for a, b in zip(printed.split(), key[of], strict=True))
        rows.append(
            statement(what, printed.replace(" ", ", "), ", ".join(key[of]), wrong, reason=reason)
        )
    names = letters("p12", "p13", "q3")
    right = symbolic("morales_puma", "integral", "S11")
    names["h1"] = right[1, 0]
    S11 = ("0 -h1 -1 0", "h1 0 0 0", "1 0 0 0", "0 1 0 0")
    rows += block("S11 (4.82)", S11, right, names, {(2, 4): SPRING})
    rows.append(
        formula("h1 (4.81)", "p13*cos(q3) + p12*sin(q3)", names.pop("h1"), names, reason=TURNED)
    )
    ends = ("0 0", "0 0")
    blocks = {
        "S12 (4.83)": ("S12", ("-1 0", "0 -1", *ends)),
        "S13 (4.84)": ("S13", ("1 0", "0 1", *ends)),
        "S14 (4.85)": ("S14", ("-1 0 0 0", "0 -sin(q3) -cos(q3) -1", "0 0 0 0", "0 0 0 0")),
        "S21 (4.86)": ("S21", ("1 0 0 0", "0 1 0 0")),
        "S31 of z_d (4.87)": ("Z1", ("1 0 0 0", "0 sin(q3) 0 0", "0 cos(q3) 0 0", "0 1 0 0")),
        "S22 (4.88)": ("S22", ends),
        "S23 (4.88)": ("S23", ends),
    }
    for what, (of, lines) in blocks.items():
        rows += block(what, lines, symbolic("morales_puma", "integral", of), names)
    text = (
        "25 bonds, numbered as in figure 4.17, which is lost: the graph morales_puma is what the printed matrices, bond numbers "
        "and causal paths leave. Its own junction structure is beside the printed one, entry by entry, as SymPy reduces the "
        "difference; entries that agree share a row."
    )
    return Section(
        "4.3.6 PUMA: the junction structure S", text, (*rows, dependent("morales_puma")), THESIS
    )


def dependent(name: str) -> Row:
    """E of equations 4.95 and 4.147 at a random state."""
    g = BondGraph.load(name).with_parameters(ix=0.7, iy=1.1)
    p, x = g.parameters, np.random.default_rng(0).uniform(0.2, 0.8, g.order)
    at = dict(zip(g.states, x, strict=True))
    s, c, q53 = np.sin(at["q3"]), np.cos(at["q3"]), at.get("q53", 0.0)
    printed = np.eye(g.order)
    printed[0, 0] += (p["iz"] + q53**2 * p.get("my", 0.0)) / p["i2"]
    printed[1, 1] += (
        p["ix"] * s**2 + p["iy"] * c**2 + p["i"] + p.get("mz", 0.0) * (q53 * c) ** 2
    ) / p["i1"]
    if g.order == 7:
        printed[0, 3] = q53 * p["my"] * c / p["ig"]
        printed[2, 2] += p["mx"] / p["i3"]
        printed[2, 3] = p["mx"] * s / p["ig"]
    found = g.junction_structure().fields(x, np.zeros(len(g.inputs)))["E"]
    where = "(4.147), (4.148)" if g.order == 7 else "(4.95), (4.96)"
    return statement(
        f"E {where}",
        "1 - S14 Fd^-1 S31 F",
        "the same, at a random state",
        greatest(found - printed),
    )


def puma_derivative() -> Section:
    """Equations 4.196 to 4.206."""
    J = BondGraph.load("morales_puma").junction_structure("derivative")
    order = ("2", "8", "12", "13", "19", "24")
    zd, rates = [f"f{k}" for k in order] + ["e3", "e23"], [f"e{k}" for k in order] + ["f3", "f23"]
    names = letters("p12", "p13", "q3")
    zeros = "0 0 0 0 0 0"
    J11 = (
        *(f"{zeros} -1 0",) * 2, *(f"{zeros} 0 -q3",) * 2, *(f"{zeros} 0 -1",) * 2,
        "1 1 0 0 0 0 0 p12*q3-p13*q3", "0 0 q3 q3 1 1 -p12*q3+p13*q3 0",
    )  # fmt: skip
    right = arranged(
        symbolic("morales_puma", "derivative", "J11"), zd, rates, (J.key["zd"], J.key["xd_rate"])
    )
    reasons = {(i, j): SIGNS for i in range(1, 9) for j in range(1, 9)}
    reasons |= dict.fromkeys(((3, 8), (4, 8), (8, 3), (8, 4)), ANGLE) | dict.fromkeys(
        ((7, 8), (8, 7)), RING
    )
    rows = block("J11 (4.202)", J11, right, names, reasons)
    ends = {
        "J12 (4.203)": ("J12", "D_out", ("-1 0", "0 -1")),
        "J13 (4.204)": ("J13", "u", ("1 0", "0 1")),
    }
    for what, (of, columns, lines) in ends.items():
        found = arranged(
            symbolic("morales_puma", "derivative", of),
            zd,
            J.key[columns],
            (J.key["zd"], J.key[columns]),
        )
        rows += block(what, (*("0 0",) * 6, *lines), found, names)
    rows.append(
        statement(
            "J13 (4.204): rows",
            "9",
            "8",
            1.0,
            reason="z_d has eight entries; a row of zeros is too many.",
        )
    )
    found = arranged(
        symbolic("morales_puma", "derivative", "J21"),
        J.key["D_in"],
        rates,
        (J.key["D_in"], J.key["xd_rate"]),
    )
    rows += block("J21 (4.205)", (f"{zeros} 1 0", f"{zeros} 0 1"), found, names)
    text = "All storages in derivative causality, as steady states need it; entries in the order of (4.196)."
    return Section("4.4.3 PUMA: the junction structure J", text, tuple(rows), THESIS)


# -- Stanford ---------------------------------------------------------------------------------------------------------

H = {  # (4.136)-(4.141)
    "h1": "p12*cos(q3) - p13*sin(q3) + r*q53**2*cos(q3)", "h2": "n*q53*sin(q3)",
    "h3": "s*q53*sin(q3)*cos(q3) - r*q53*cos(q3)**2", "h4": "s*q53*cos(q3)", "h5": "q53*cos(q3)", "h6": "n*cos(q3)",
}  # fmt: skip


def stanford() -> Section:
    """Equations 4.124 to 4.148."""
    names = letters("p12", "p13", "q3", "q53", "n", "r", "s")
    names |= {h: read(text, names) for h, text in H.items()}
    zero = "0 0 0 0 0 0 0"
    printed = {
        "S11 (4.129)": ("S11", (
            "0 h1 -n*q53 -h2 -1 0 0", "-h1 0 h4 h3 0 -1 0", "n*q53 -h4 0 h6 0 0 -1", zero, "1 0 0 0 0 0 0", "0 1 0 0 0 0 0",
            "0 0 1 0 0 0 0",
        )),
        "S12 (4.130)": ("S12", ("-1 0 0", "0 -1 0", "0 0 0", "0 0 -1", *("0 0 0",) * 3)),
        "S13 (4.131)": ("S13", ("1 0 0 0", "0 1 0 0", "0 0 1 0", "0 0 0 1", *("0 0 0 0",) * 3)),
        "S14 (4.132)": ("S14", ("-1 0 0 0 -q53 0 0", "0 -sin(q3) -cos(q3) -1 0 0 -h5", "0 0 0 0 0 -1 0", *(zero,) * 4)),
        "S21 (4.133)": ("S21", ("1 0 0 0 0 0 0", "0 1 0 0 0 0 0", "0 0 0 1 0 0 0")),
        "S31 of z_d (4.134)": ("Z1", (
            "1 0 0 0 0 0 0", "0 sin(q3) 0 0 0 0 0", "0 cos(q3) 0 0 0 0 0", "0 1 0 0 0 0 0", "q53 0 0 cos(q3) 0 0 0",
            "0 0 1 sin(q3) 0 0 0", "0 h5 0 0 0 0 0",
        )),
        "S22 (4.135)": ("S22", ("0 0 0",) * 3),
        "S24 (4.135)": ("S24", (zero,) * 3),
    }  # fmt: skip
    rows: list[Row] = []
    for what, (of, lines) in printed.items():
        rows += block(what, lines, symbolic("morales_stanford_constant", "integral", of), names)
    rows += [dependent("morales_stanford"), resistance()]
    text = (
        "54 bonds, numbered as in figure 4.20, which is lost; morales_stanford and morales_stanford_constant are rebuilt from "
        "the matrices and paths. Compared is the topology, with the printed sign of the transformer tyx, +q53, and letters n, r, "
        "s for the gyrators of the translation; that sign is wrong, as the comparison with Euler and Lagrange shows."
    )
    return Section("4.3.8 Stanford: the junction structure S", text, tuple(rows), THESIS)


def resistance() -> Row:
    """L of (4.127): R3 is given the flow f54 (4.126), so that it answers with R3 f54."""
    g = BondGraph.load("morales_stanford")
    L = g.junction_structure().fields(np.full(7, 0.3), np.zeros(4))["L"]
    p = g.parameters
    error = greatest(np.diag(L) - [p["R2"], p["R1"], 1 / p["R3"]])
    reason = "D_in has the flow f54 (4.126), so that R3 answers with R3 f54; (5.56) has it right."
    return statement("L (4.127)", "diag(R2, R1, 1/R3)", "diag(R2, R1, R3)", error, reason=reason)


def stanford_derivative() -> Section:
    """Equations 4.211 to 4.228."""
    J = BondGraph.load("morales_stanford_constant").junction_structure("derivative")
    names = letters("p12", "p13", "q3", "q53", "n", "r", "s")
    names["q46"] = names["q53"]
    h = {"h1": "p13*sin(q3)", "h2": "p12*cos(q3)", "h3": "q46**2*r*cos(q3)", "h5": "q46*s*cos(q3)",
         "h6": "q46*n*sin(q3)", "h7": "q46*s*cos(q3)*sin(q3)", "h8": "n*cos(q3)", "h9": "q46*r*cos(q3)**2"}  # fmt: skip
    names |= {name: read(text, names) for name, text in h.items()}
    inertias, compliances = (tuple(OTHER_NUMBERS.get(k, k) for k in own) for own in FIRST)
    others = tuple(OTHER_NUMBERS.get(k, k) for k in SECOND)
    z1, rate1 = (
        [f"f{k}" for k in inertias] + [f"e{k}" for k in compliances],
        [f"e{k}" for k in inertias] + [f"f{k}" for k in compliances],
    )
    z2, rate2 = [f"f{k}" for k in others], [f"e{k}" for k in others]

    def found(of: str, rows: list[str], columns: Any) -> Any:
        own = {"J1": J.key["zd"], "J2": J.key["D_in"]}[of[:2]]
        across = {"1": J.key["xd_rate"], "2": J.key["D_out"], "3": J.key["u"]}[of[2]]
        return arranged(
            symbolic("morales_stanford_constant", "derivative", of), rows, columns, (own, across)
        )

    zero = "0 0 0 0 0 0 0"
    D_in, D_out, u = list(J.key["D_in"]), list(J.key["D_out"]), list(J.key["u"])
    rows = block("J11, first (4.220)", (
        "0 0 0 0 1 0 0", "0 0 0 0 0 1 0", "0 0 0 0 0 0 1", zero, "-1 0 0 0 0 h2-h1+h3 -n*q46", "0 -1 0 0 h1-h2-h3 0 h5",
        "0 0 -1 0 n*q46 -h5 0"), found("J11", z1, rate1), names)  # fmt: skip
    rows += block("J12, first (4.221)", (*("0 0 0",) * 3, "0 0 1", "-1 0 -h6", "0 -1 h7-h9", "0 0 h8"),
                  found("J12", z1, D_out), names)  # fmt: skip
    rows += block(
        "J13, first (4.222)",
        (*("0 0 0 0",) * 4, "1 0 0 0", "0 1 0 0", "0 0 1 0"),
        found("J13", z1, u),
        names,
    )
    upper, lower = found("J11", z1, rate2), found("J11", z2, rate1)
    differences = [x for x in lower - upper.T if x != 0]
    reason = "J11 as a whole is skew-symmetric, as power is conserved: the second block is minus the transpose."
    rows.append(
        statement(
            "J11, second (4.223)",
            "(J11 of 1, 2)^T",
            "-(J11 of 1, 2)^T",
            float(len(differences)),
            reason=reason,
        )
    )
    rows += block(
        "J12, second (4.224)",
        (*("0 0 0",) * 4, "0 0 cos(q3)", "0 0 sin(q3)", "0 0 0"),
        found("J12", z2, D_out),
        names,
    )
    shifted = "The frictions are given f3, f25 and -e53: all three entries stand one column too far to the right."
    rows += block("J21, first (4.225)", ("0 0 0 0 0 1 0", "0 0 0 0 0 0 1", "0 0 0 0 -1 0 0"), found("J21", D_in, rate1), names,
                  {(i, j): shifted for i in (1, 2, 3) for j in range(1, 8)})  # fmt: skip
    rows += block("J23 (4.226)", ("0 0 0 0", "0 0 0 0", "0 0 0 1"), found("J23", D_in, u), names)
    del names["h8"]
    rows.append(formula("h8 (4.228)", "n*cos(q46)", found("J12", z1, D_out)[6, 2], names,
                        reason="The platform acts on joint 3 through n cos q3, the modulus of the transformer tgy."))  # fmt: skip
    text = (
        "Figure 4.25 numbers its bonds anew (c1 at 25, c3 at 43 or 46, i3 at 44, ig at 53, R at 5, 22, 54); the print's own order "
        "is kept. h4 of (4.228) occurs nowhere."
    )
    return Section("4.4.4 Stanford: the junction structure J", text, tuple(rows), THESIS)
