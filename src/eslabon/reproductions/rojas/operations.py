"""The thesis' counts of multiplications and additions (4.2, 4.4, 4.5) beside those of the graphs."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import eslabon as es
from eslabon.reproductions.report import Exhibit, Row, Section
from eslabon.reproductions.verdicts import number, statement

# What the thesis lists in words for eq. 4.3.33 (L1854), as SymPy texts; i runs over the joints, n is their number.
MULTIPLICATIONS = (
    "18*n/2*(n + 1)", "3*(n - 1)*(n + 1)", "3*n*(n - 1)",
    "Sum(3*(i - 2)*(i - 1), (i, 1, n))", "Sum(3*(i - 1)**2, (i, 1, n))",
    "Sum(3*i*(i + 1)/2, (i, 1, n))", "Sum(3*i*(i - 1)/2, (i, 1, n))", "3*Sum(3*(i**2 - 1), (i, 1, n))",
)  # fmt: skip
ADDITIONS = (
    "12*n/2*(n + 1)", "(n - 1)*(5 + 3*n)", "3*n*(n - 1)/2",
    "Sum(2*(i - 2)*(i - 1), (i, 1, n))", "Sum(3*(i - 2)*(i - 1), (i, 1, n))",
    "Sum(2*i*(i + 1)/2, (i, 1, n))", "Sum(i*(i - 1), (i, 1, n))", "3*Sum(2*(i**2 - 1), (i, 1, n))",
)  # fmt: skip

# The formulas it prints, with the number it gives for n = 6.
FORMULAS = (
    ("M_I (4.4.3, L1856)", "1896", "15*n**2 + 6*n - 3 + Sum(i*(18*i - 15), (i, 1, n))"),
    ("S_I (4.4.4, L1858)", "1370", "21*n**2/2 + 13*n/2 - 5 + Sum(13*i**2 - 15*(i - 1), (i, 1, n))"),
    ("M_C, Cholesky (4.5.2, L1919)", "86", "n**3/6 + 3*n**2/2 - 2*n/3"),
    ("S_C, Cholesky (4.5.2, L1919)", "61", "n**3/6 + n**2 - 11*n/6"),
    ("products of C (L1950)", "765", "Sum(9*(i**2 - 1), (i, 1, n))"),
    ("additions of C (L1952)", "510", "Sum(6*(i**2 - 1), (i, 1, n))"),
    ("M_6, forward (L1950)", "1217", "86 + 1896 - 765"),
    ("S_6, forward (L1952)", "921", "61 + 1370 - 510"),
    ("Newton-Euler, mult. (L1485)", "852", "150*n - 48"),
    ("Newton-Euler, add. (L1862)", "730", "131*n - 48"),
)
LUH = "The additions of Luh, Walker and Paul's method are 131 n - 48 = 738 in the literature (Hollerbach 1980)."

# Methods for n = 6, with multiplications and additions, and which of ours does the same work.
METHODS = (
    ("Newton-Euler, Luh et al.", 852, 730, "inverse_dynamics", "newton_euler"),
    ("Lagrange, Hollerbach", 2195, 1719, "inverse_dynamics", "lagrange"),
    ("the thesis, I and C explicit", 1896, 1370, "inverse_dynamics", "lagrange"),
    ("the thesis, forward dynamics", 1217, 921, "forward_dynamics", None),
    ("forward, Walker and Orin", 1627, 1261, "forward_dynamics", None),
)
FORMULATIONS = ("newton_euler", "lie", "gibbs_appell", "lagrange", "quaternion")
ROBOTS = ("rojas_t3", "puma560", "general 6R")


@cache
def robot(name: str) -> es.Mechanism:
    """A mechanism of the library, or an arm in which no number is special, for which the thesis counts."""
    if name != "general 6R":
        return es.load(name)
    rng = np.random.default_rng(0)
    table = []
    for theta, d, a, alpha in rng.uniform(0.2, 1.2, (6, 4)):
        half = rng.normal(size=(3, 3))
        solid = half @ half.T
        I = np.trace(solid) * np.eye(3) - solid
        table.append(
            {"theta": theta, "d": d, "a": a, "alpha": alpha, "mass": rng.uniform(1, 9), "com": rng.normal(size=3), "inertia": I}
        )  # fmt: skip
    return es.from_dh(table, name="general_6r")


def operations(name: str, quantity: str, formulation: str | None) -> Any:
    return robot(name).operations(quantity, **({"formulation": formulation} if formulation else {}))


def value(text: str, n: int = 6) -> float:
    """A formula of n for n = 6."""
    import sympy

    return float(sympy.parse_expr(text).doit().subs(sympy.Symbol("n"), n))


def sections() -> tuple[Section, ...]:
    return formulas(), counts()


def formulas() -> Section:
    rows: list[Row] = [number(what, text, value(formula), reason=LUH) for what, text, formula in FORMULAS]
    rows.append(number("its items, mult. (L1854)", "1896", sum(map(value, MULTIPLICATIONS))))
    rows.append(number("its items, add. (L1854)", "1370", sum(map(value, ADDITIONS)), reason=_slip()))
    text = (
        "The thesis' own formulas evaluated for n = 6, and the items it lists in words added up. All are whole numbers."
    )
    return Section("4.4, 4.5 Formulas for the number of operations", text, tuple(rows))


def _slip() -> str:
    """Where the listed additions and eq. 4.4.4 part, found by subtracting them as polynomials of n."""
    import sympy

    n = sympy.Symbol("n")
    listed = sum(sympy.parse_expr(text).doit() for text in ADDITIONS)
    printed = sympy.parse_expr(FORMULAS[1][2]).doit()
    apart = sympy.factor(sympy.expand(printed - listed))
    each = sympy.simplify(apart / n)
    return (
        f"Eq. 4.4.4 exceeds the items listed before it by {apart}: they add to the sum of 13 j² - 15 j + {15 - each}, the "
        f"print has 13 j² - 15 (j - 1). An item may be damaged; if the items are right, S_I is {value(str(listed)):.0f} and "
        f"S_6 {value(str(listed)) + 61 - 510:.0f}."
    )


def counts() -> Section:
    rows, lines = [], []
    for method, products, sums, quantity, formulation in METHODS:
        found = [operations(name, quantity, formulation) for name in ROBOTS]
        pairs = [(f.multiplications, f.additions) for f in found]
        lines.append((method, str(products), str(sums), *(str(k) for pair in pairs for k in pair)))
        excess = max(max(p - products, s - sums) for p, s in pairs[:2])
        ours = " / ".join(f"{p} and {s}" for p, s in pairs[:2])
        rows.append(statement(method, f"{products} and {sums}", ours, excess, tolerance=-1))
    columns = ("n = 6", "mult", "add", *(f"{name} {kind}" for name in ("T3", "puma", "6R") for kind in ("mult", "add")))
    every = []
    for formulation in FORMULATIONS:
        found = [operations(name, "inverse_dynamics", formulation) for name in ROBOTS]
        every.append((formulation, *(str(k) for f in found for k in (f.multiplications, f.additions))))
    text = (
        "Multiplications and additions, sines and cosines apart: the thesis' table beside `m.operations()` of rojas_t3 and "
        "puma560. A row agrees if ours are fewer, both of both robots; the difference is our greatest excess. Our Lagrange "
        "forms I and C explicitly, as the thesis does; forward dynamics takes 15 divisions besides. The thesis counts for any "
        "arm, ours use the zeros and right angles of the robot; the last columns are those of a 6R arm without any. There "
        "Newton-Euler still takes fewer and forward dynamics about as many, but Lagrange more than the thesis says: it leaves "
        "out what its inverse kinematics has computed before (rotations, axes, the Jacobian of the hand, L1854), and ours "
        "counts from the angles."
    )
    exhibits = (
        Exhibit(columns, tuple(lines), "The thesis' table beside ours"),
        Exhibit((columns[0], *columns[3:]), tuple(every), "Inverse dynamics in all five formulations"),
    )
    return Section("4.4, 4.5 Operations counted", text, tuple(rows), ("", "the thesis", "rojas_t3 / puma560"), exhibits)
