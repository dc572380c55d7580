"""The thesis' counts of multiplications and additions (4.2, 4.4, 4.5) beside those of the graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

import eslabon as es
from eslabon.export.operation_counts import count
from eslabon.language import Verbatim, phrase
from eslabon.numerics.scalars import casadi
from eslabon.reproductions.comparison import Exhibit, Row, Section
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

# Methods for n = 6 as the thesis compares them, with multiplications and additions, and ours that does the same work.
METHODS = (
    ("Newton-Euler, Luh et al.", 852, 730, "inverse_dynamics", "newton_euler"),
    ("the thesis, forward dynamics", 1217, 921, "forward_dynamics", None),
    ("forward, Walker and Orin", 1627, 1261, "forward_dynamics", None),
)
RECURSIVE_LAGRANGE = ("Lagrange, Hollerbach", "2195", "1719")
FORMULATIONS = ("newton_euler", "lie", "gibbs_appell", "lagrange", "quaternion")
ROBOTS = ("general 6R", "rojas_t3", "puma560")

# What the thesis' procedure for eq. 4.3.33 consists of, by the places of its items in MULTIPLICATIONS and ADDITIONS.
ITEMS = {
    "I_i A_i": (0,), "R_i": (1,), "A_iw": (2,), "d²r_i/dtheta²": (3,), "dR_i/dt": (4,), "I(theta)": (5, 6), "C(theta, theta')": (7,),
}  # fmt: skip


@cache
def robot(name: str) -> es.Mechanism:
    """A mechanism of the library, or an arm in which no number is special, gravity's direction included."""
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
    made = es.from_dh(table, name="general_6r")
    return es.Mechanism(replace(made.description, gravity=(2.0, -3.0, -9.0)))


def operations(name: str, quantity: str, formulation: str | None) -> Any:
    return robot(name).operations(quantity, **({"formulation": formulation} if formulation else {}))


def value(text: str, n: int = 6) -> float:
    """A formula of n for n = 6."""
    import sympy

    return float(sympy.parse_expr(text).doit().subs(sympy.Symbol("n"), n))


def sections() -> tuple[Section, ...]:
    return formulas(), procedure(), counts()


def formulas() -> Section:
    rows: list[Row] = [
        number(what, text, value(formula), reason=LUH) for what, text, formula in FORMULAS
    ]
    rows.append(number("its items, mult. (L1854)", "1896", sum(map(value, MULTIPLICATIONS))))
    rows.append(
        number("its items, add. (L1854)", "1370", sum(map(value, ADDITIONS)), reason=_slip())
    )
    text = (
        "The thesis' own formulas evaluated for n = 6, and the items it lists in words added up. All are whole numbers. Its "
        "first item is printed with a binomial of n over 2, where n/2 (n + 1) is meant."
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
    return phrase(
        "Eq. 4.4.4 exceeds the items listed before it by {apart}: they add to the sum of 13 j² - 15 j + {each}, the "
        "print has 13 j² - 15 (j - 1). An item may be damaged; if the items are right, S_I is {inverse:.0f} and S_6 {forward:.0f}.",
        apart=Verbatim(apart),
        each=15 - each,
        inverse=value(str(listed)),
        forward=value(str(listed)) + 61 - 510,
    )


# -- the thesis' procedure --------------------------------------------------------------------------------------------


def procedure() -> Section:
    """Every item of the procedure, counted on the graph of a general arm."""
    rows, before, parts = [], (0, 0), _general_arm()
    inputs = parts.pop("given")
    done: list[Any] = []
    for item, places in ITEMS.items():
        done += parts[item]
        total = count(casadi.Function("items", inputs, done))
        printed = [sum(value(texts[k]) for k in places) for texts in (MULTIPLICATIONS, ADDITIONS)]
        found = (total.multiplications - before[0], total.additions - before[1])
        rows.append(_no_more(item, printed, found))
        before = (total.multiplications, total.additions)
    rows.append(_no_more("all of eq. 4.3.33", (1896, 1370), before))
    text = (
        "Eq. 4.3.33 traced as the thesis says (L1854), item after item, for a general arm of n = 6: every number of the links is "
        "a symbol or one that is not special. Given is what its inverse kinematics has computed before: rotations, axes, "
        "positions, angular velocities, dA/dt, and R and dR/dt of the hand. As in the thesis, products with masses and "
        "the sums over links are not counted. A row agrees if the graph needs no more; the difference is its excess."
    )
    return Section(
        "4.4 The thesis' procedure on a general arm",
        text,
        tuple(rows),
        ("mult. and add.", "the thesis", "counted"),
    )


def _no_more(what: str, printed: Sequence[float], found: Sequence[int]) -> Row:
    excess = max(y - x for x, y in zip(printed, found, strict=True))
    theirs, ours = (f"{a:.0f} and {b:.0f}" for a, b in (printed, found))
    return statement(what, theirs, ours, excess, tolerance=0)


def _general_arm(n: int = 6) -> dict[str, list[Any]]:
    """By item, the matrices of the procedure for all links, and under "given" the symbols they start from."""
    rng, sym, cross = np.random.default_rng(0), casadi.SX.sym, casadi.cross
    P, own = (
        [sym(f"{name}{i}", 3, k) for i in range(n)] for name, k in (("P", 3), ("e", n))
    )  # rotations; axes in link i
    hand, hand_rate, A_rate, s, w = (
        sym(name, 3, n) for name in ("R", "R_rate", "A_rate", "s", "w")
    )
    rate = sym("rate", n)
    axes = [casadi.SX([0, 0, 1]), *(x[:, 2] for x in P[:-1])]
    parts: dict[str, list[Any]] = {item: [] for item in ITEMS}
    for i in range(n):
        A, links = casadi.horzcat(*axes[: i + 1]), range(i + 1)
        half, rho = casadi.SX(rng.normal(size=(3, 3))), casadi.SX(rng.normal(size=3))
        IA = P[i] @ ((half + half.T) @ own[i][:, : i + 1])
        R, R_rate = hand, hand_rate
        if i < n - 1:
            back = P[i] @ (s[:, i + 1] - rho)
            R = casadi.horzcat(*(hand[:, j] - cross(axes[j], back) for j in links))
            second = {(j, k): cross(axes[min(j, k)], R[:, max(j, k)]) for j in links for k in links}
            R_rate = casadi.horzcat(*(sum(second[j, k] * rate[k] for k in links) for j in links))
            parts["d²r_i/dtheta²"] += second.values()
        turning = axes[0] * rate[0] if i == 0 else w[:, i]
        A_w = casadi.horzcat(*(cross(axis, turning) for axis in axes[: i + 1]))
        change = casadi.horzcat(
            casadi.SX(3, 1), A_rate[:, 1 : i + 1]
        )  # the first axis stands still
        for item, made in zip(
            ("I_i A_i", "R_i", "A_iw", "dR_i/dt"), (IA, R, A_w, R_rate), strict=True
        ):
            parts[item].append(made)
        parts["I(theta)"] += [casadi.triu(R.T @ R), casadi.triu(A.T @ IA)]
        parts["C(theta, theta')"] += [R.T @ R_rate, IA.T @ change, A_w.T @ IA]
    parts["given"] = [*P, *own, hand, hand_rate, A_rate, s, w, rate]
    return parts


# -- whole algorithms -------------------------------------------------------------------------------------------------


def counts() -> Section:
    rows: list[Row] = []
    lines: list[tuple[str, ...]] = [(*RECURSIVE_LAGRANGE, *("-",) * 6)]
    for method, products, sums, quantity, formulation in METHODS:
        pairs = [
            (f.multiplications, f.additions)
            for f in (operations(name, quantity, formulation) for name in ROBOTS)
        ]
        lines.append((method, str(products), str(sums), *(str(k) for pair in pairs for k in pair)))
        rows.append(_no_more(method, (products, sums), pairs[0]))
    columns = (
        "n = 6",
        "mult",
        "add",
        *(
            phrase("{name} {kind}", name=name, kind=kind)
            for name in ("6R", "T3", "PUMA")
            for kind in ("mult", "add")
        ),
    )
    every = []
    for formulation in FORMULATIONS:
        found = [operations(name, "inverse_dynamics", formulation) for name in ROBOTS]
        every.append(
            (formulation, *(str(k) for f in found for k in (f.multiplications, f.additions)))
        )
    text = (
        "Multiplications and additions, sines and cosines apart: the thesis' numbers, which are for any arm, beside "
        "`m.operations()` of a general 6R arm, in which no length, angle or inertia is special and gravity has any direction. A "
        "row agrees if ours are no more. Ours start from the angles and regroup inertias once, beforehand; forward dynamics takes 15 divisions besides. Recursive "
        "Lagrange as Hollerbach has it is not among our formulations. Below also rojas_t3 and puma560, whose zeros and right "
        "angles save more than half; our Lagrange counts the kinematics too, which the thesis leaves out (section above)."
    )
    exhibits = (
        Exhibit(columns, tuple(lines), "The thesis' numbers beside ours"),
        Exhibit(
            (columns[0], *columns[3:]), tuple(every), "Inverse dynamics in all five formulations"
        ),
    )
    return Section(
        "4.4, 4.5 Operations counted",
        text,
        tuple(rows),
        ("mult. and add.", "the thesis", "general 6R"),
        exhibits,
    )
