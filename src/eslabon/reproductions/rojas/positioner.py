"""The positioner with three revolute joints of section 2.5: its formulas come out as closed forms."""

from __future__ import annotations

from typing import Any

import eslabon as es
from eslabon.reproductions.comparison import Section
from eslabon.reproductions.verdicts import formula

# As printed (L545-573). The d1, d2 of these formulas are the d2, d3 of the thesis' own table 2.5.7.
POSITION = {
    "x": "d1*c1*c2 + d2*(c1*c2*c3 - s1*s3)",
    "y": "d1*s1*c2 + d2*(s1*c2*c3 + c1*s3)",
    "z": "d1*s2 + d2*s2*c3",
}
ROTATION = (
    ("c1*c2*c3 - s1*s3", "-c1*s2", "c1*c2*s3 + s1*c3"),
    ("s1*c2*c3 + c1*c3", "-s1*s2", "s1*c2*s3 - c1*c3"),
    ("s2*c3", "c2", "s2*s3"),
)
TWICE_VECT = ("c1*c3 + (1 - s1*s3)*c2", "c1*c2*s3 + (s1 - s2)*c3", "s1*c2*c3 + c1*(s2 + s3)")
TRACE = "c1*c2*c3 - (s1 - s2)*s3 - s1*s2"
COS_PHI = f"({TRACE} - 1)/2"

LETTER = "The last factor must be s3; with c3 the matrix is no rotation. The formula of y, which holds it, has s3."
HALF = "vect(Q) = e sin(phi), so these are half of 2.5.15a; the print repeats 2.5.15a and has lost the factor 1/2."


def names() -> dict[str, Any]:
    """What c1, s1, ... and the lengths of the print stand for in the equations of the model."""
    import sympy

    angles = [sympy.Symbol(f"q{k}", real=True) for k in (1, 2, 3)]
    made = {f"c{k}": sympy.cos(q) for k, q in enumerate(angles, start=1)}
    made |= {f"s{k}": sympy.sin(q) for k, q in enumerate(angles, start=1)}
    return made | {f"d{k}": sympy.Symbol(f"d{k + 1}", real=True) for k in (1, 2)}


def sections() -> tuple[Section, ...]:
    pose = es.load("rojas_3r").equations("pose").expanded()[0]
    letters, Q = names(), pose[:3, :3]
    rows = [
        formula(f"{n} (2.5.12)", text, pose[k, 3], letters)
        for k, (n, text) in enumerate(POSITION.items())
    ]
    rows += [
        formula(f"Q({i + 1},{j + 1}) (2.5.13)", text, Q[i, j], letters, reason=LETTER)
        for i, line in enumerate(ROTATION)
        for j, text in enumerate(line)
    ]
    twice = (Q[2, 1] - Q[1, 2], Q[0, 2] - Q[2, 0], Q[1, 0] - Q[0, 1])
    rows += [
        formula(f"2 vect {k + 1} (2.5.15a)", text, twice[k], letters)
        for k, text in enumerate(TWICE_VECT)
    ]
    rows.append(formula("tr Q (2.5.15b)", TRACE, Q.trace(), letters))
    rows.append(formula("cos phi (2.5.15c)", COS_PHI, (Q.trace() - 1) / 2, letters))
    rows += [
        formula(f"e{k + 1} sin phi (2.5.15d)", text, twice[k] / 2, letters, reason=HALF)
        for k, text in enumerate(TWICE_VECT)
    ]
    text = (
        "Position and orientation of the hand, from `m.equations('pose')` of rojas_3r, with c1 = cos(theta1) and so "
        "on. Equal means that SymPy reduces the difference to zero. The print calls d1, d2 what its table 2.5.7 calls "
        "d2, d3; the computed column has the table's names."
    )
    return (Section("2.5 The 3R positioner", text, tuple(rows)),)
