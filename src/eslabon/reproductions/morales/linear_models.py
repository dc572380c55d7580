"""Section 5.3: the linear models of both arms, from the printed formulas and as they are (figures 5.5 and 5.10)."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.bond_graph.bond_graph import BondGraph
from eslabon.bond_graph.linear_model_of_graph import GraphModel
from eslabon.language import phrase
from eslabon.numerics.scalars import casadi
from eslabon.reproductions.comparison import THESIS, Exhibit, Row, Section
from eslabon.reproductions.document_figures import Figure, Panel
from eslabon.reproductions.verdicts import figures as figures_of
from eslabon.reproductions.verdicts import greatest, last_unit, number, resolution, statement

PUMA_A = (
    ("-15.0", "0", "0", "0"),
    ("0", "-40.0", "0", "-10.0"),
    ("5.0", "0", "0", "0"),
    ("0", "10.0", "0", "0"),
)  # (5.73)
POINT = {  # L3109
    "p13": "0", "p12": "0", "q3": "0.5086", "q53": "0.1689", "f2": "3.8589e-5", "f24": "-3.7287e-5", "f31": "-0.25",
    "f50": "-6.9441e-4",
}  # fmt: skip
STANFORD_A = (  # (5.80), the rows with more than one entry
    ("-25.0", "-1.2064e-6", "-1.0428e-5", "-8.4633e-6", "-5.0", "0", "5.7107e-7"),
    ("9.048e-7", "-20.0", "-7.6872e-6", "6.2387e-6", "-6.819e-7", "-10.0", "-5.431e-7"),
    ("1.3036e-5", "1.2812e-5", "0", "8.988e-5", "-1.8792e-6", "0", "-3.3333"),
    ("0", "0", "0", "-13.333", "0", "0", "0"),
    ("5.0", "0", "0", "0", "0", "0", "0"),
    ("0", "6.6667", "0", "0", "0", "0", "0"),
    ("0", "0", "4.0", "0", "0", "0", "0"),
)
INERTIA = (
    "Lemma 5.6 leaves out E of (2.46): the inertias in derivative causality move with this joint, and all of its row is divided by "
    "{E:.4g}."
)
SPRING = "(5.41) has (1/c2) f24 (...) where -1/c2 + k3 stands; with the spring of joint 2 it is -1/c2, divided by E = {E:.4g}."
STEPPED = (
    "States after a small step of the sources at a steady state: of the nonlinear graph, of its exact linear model, which lies on it, "
    "and of the model with the printed A."
)
COUPLED = (
    "(5.55) and (5.59) are not the derivatives of h1 to h6 of (4.136)-(4.141), which have the wrong sign of tyx in them; E is left out, "
    "and with it the rate of the platform's velocity, which acts through E."
)


# -- PUMA -------------------------------------------------------------------------------------------------------------


def puma_printed(p: Any) -> Floats:
    """(5.72)."""
    return np.array(
        [
            [-p["R2"] / p["i2"], 0, 0, 0],
            [0, -p["R1"] / p["i1"], 0, -1 / p["c1"]],
            [1 / p["i2"], 0, 0, 0],
            [0, 1 / p["i1"], 0, 0],
        ]
    )


@cache
def puma_linear() -> GraphModel:
    """At the first steady state; with ix = iy it is the same at all."""
    g = BondGraph.load("morales_puma")
    rest = g.steady_state([2.0, 1.0])
    return g.linearize(rest.x, rest.u)


def puma() -> Section:
    g = BondGraph.load("morales_puma")
    p, formulas, right = g.parameters, puma_printed(g.parameters), puma_linear().A
    E = g.junction_structure().fields(puma_linear().x, puma_linear().u)["E"]
    rows: list[Row] = [_from_formulas("A (5.73) from (5.72)", PUMA_A, formulas, np.zeros((4, 4)))]
    for i, j in _entries(PUMA_A, right):
        reason = phrase(SPRING if (i, j) == (0, 2) else INERTIA, E=E[i, i])
        rows.append(_entry(i, j, PUMA_A[i][j], right[i, j], reason, "(5.73)"))
    C = 1 / p["i2"]
    rows.append(
        statement(
            "C (5.44)",
            "(1/i2, 0, 0, 0)",
            "the same",
            greatest(output(g, puma_linear())[0] - [C, 0, 0, 0]),
        )
    )
    text = (
        "The printed numbers follow from the printed formulas; the exact Jacobian of the graph's state equations is beside them, "
        "entry by entry. With ix = iy the PUMA is linear, and its model the same at every state."
    )
    shown = _matrix("A of the graph", right)
    return Section("5.3.4 PUMA: the linear model", text, tuple(rows), THESIS, (shown, _poles({
        "printed A": formulas, "A of the graph": right})))  # fmt: skip


def output(g: BondGraph, lm: GraphModel, *names: str) -> Floats:
    """C of flows of inertias with integral causality, f2 if none are named: their momenta by their inertias."""
    made = np.zeros((max(len(names), 1), g.order))
    for k, name in enumerate(names or ("f2",)):
        storage = next(s for s in g.causality().integral if s.port.bond.name == name[1:])
        made[k, lm.states.index(storage.name)] = 1 / g.parameters[storage.element.name]
    return made


# -- Stanford ---------------------------------------------------------------------------------------------------------


def stanford_formulas(p: Any, x: Any) -> Any:
    """(5.60) with (5.55) and (5.59), as they stand in the print; x has the names of L3109."""
    s, c = casadi.sin(x["q3"]), casadi.cos(x["q3"])
    q, mx, my, mz, f2, f24, f31, f50 = (
        x["q53"],
        p["mx"],
        p["my"],
        p["mz"],
        x["f2"],
        x["f24"],
        x["f31"],
        x["f50"],
    )
    h1 = x["p12"] * c - x["p13"] * s + q**2 * mx * f24 * s * c
    h2, h3, h8, h9, h13 = (
        q * mz * f2,
        q * mz * f2 * s,
        q * my * f24 * c**2,
        q * mx * f24 * s * c**2,
        mz * f2 * c,
    )
    G1 = q * mz * f2 * f24 - q * mx * f24**2 * s**2 + q * mz * f2 * f31 * c
    G2 = -2 * q**2 * mx * f24**2 * s**2 - q * mz * f2 * f50 - q * mz * f2 * f31 * c
    G3 = (
        x["p13"] * f2 * c
        + x["p12"] * f2 * s
        + q**2 * mx * f24 * f2 * s**2
        - q * my * f24 * f50 * s * c
    )
    G3 += -2 * q * my * f24 * f31 * s * c - 2 * q * mx * f24 * f31 * s**3
    G4 = (
        2 * q**2 * mx * f24 * s**2
        - q * my * f24 * f50 * s * c
        - q * my * f24 * f31 * s * c
        - q * mx * f24 * f31 * s**3
    )
    G5 = mz * f2 * f31 * s - q * my * f24**2 * s * c
    G6 = q * mz * f2**2 - q * my * f24**2 * s * c
    i1, i2, i3, ig = p["i1"], p["i2"], p["i3"], p["ig"]
    rows = [
        [-p["R2"] / i2, h1 / i1, -h2 / i3, -h3 / ig, G1 - 1 / p["c2"], 0, G2],
        [-h1 / i2, -p["R1"] / i1, h8 / i3, -h9 / ig, G3, -1 / p["c1"], G4],
        [h2 / i2, -h8 / i1, 0, h13 / ig, G5, 0, G6 - 1 / p["c3"]],
        [0, 0, 0, -p["R3"] / ig, 0, 0, 0],
        [1 / i2, 0, 0, 0, 0, 0, 0],
        [0, 1 / i1, 0, 0, 0, 0, 0],
        [0, 0, 1 / i3, 0, 0, 0, 0],
    ]
    return casadi.vertcat(*(casadi.horzcat(*row) for row in rows))


@cache
def stanford_printed() -> tuple[Floats, Floats]:
    """A from the printed formulas at the printed point, and what half a unit of the point's last digits changes in it."""
    symbols = casadi.SX.sym("point", len(POINT))
    at = dict(zip(POINT, casadi.vertsplit(symbols), strict=True))
    A = casadi.densify(stanford_formulas(BondGraph.load("morales_stanford").parameters, at))
    f = casadi.Function("A", [symbols], [A, casadi.jacobian(casadi.vec(A), symbols)])
    value, slopes = (np.array(x) for x in f([float(x) for x in POINT.values()]))
    units = np.array([last_unit(x) / 2 if float(x) else 0.0 for x in POINT.values()])
    return value, (np.abs(slopes) @ units).reshape(7, 7, order="F")


@cache
def stanford_linear(name: str) -> GraphModel:
    """The Jacobian at the printed point, under the sources that hold its positions; q23 = 0, which nothing depends on."""
    g = BondGraph.load(name)
    p, x = g.parameters, {key: float(text) for key, text in POINT.items()}
    u = g.inverse_statics(
        {"q3": x["q3"], "q53": x["q53"], "q23": 0.0}, {"e30": p["R3"] * x["f31"]}
    ).u
    at = [
        p["i2"] * x["f2"],
        p["i1"] * x["f24"],
        p["i3"] * x["f50"],
        p["ig"] * x["f31"],
        x["q3"],
        0.0,
        x["q53"],
    ]
    return g.linearize(at, u)


def stanford() -> tuple[Section, Section]:
    formulas, noise = stanford_printed()
    rows = []
    for i, j in _entries(STANFORD_A, formulas):
        rows.append(
            number(
                f"A({i + 1},{j + 1}) (5.80)", STANFORD_A[i][j], formulas[i, j], noise=noise[i, j]
            )
        )
    text = (
        "The 7 x 7 matrix from (5.55), (5.59) and (5.60) as they stand in the print, slips included, at the point of L3109. The "
        "point has four or five digits; half a unit of their last ones counts as noise. All other entries are 0."
    )
    first = Section(
        "5.4.4 Stanford: A of (5.80) from the printed formulas",
        text,
        tuple(rows),
        THESIS,
        (point(),),
    )
    constant, varying = (stanford_linear(f"morales_stanford{x}").A for x in ("_constant", ""))
    g, x = BondGraph.load("morales_stanford"), stanford_linear("morales_stanford").x
    E = g.junction_structure().fields(x, np.zeros(4))["E"]
    rows = []
    for i, j in _entries(STANFORD_A, varying):
        plain = (i, j) in ((0, 0), (0, 4), (1, 1), (1, 5), (2, 6))
        rows.append(
            _entry(
                i,
                j,
                STANFORD_A[i][j],
                varying[i, j],
                phrase(INERTIA, E=E[i, i]) if plain else COUPLED,
            )
        )
    text = (
        "The exact Jacobian at the same point, of the graph with (4.169)-(4.171), from which the printed formulas start, and with the "
        "right sign of tyx. The point itself is one of the graph with n = r = s = 2, whose matrix is shown too; the print agrees with "
        "neither."
    )
    shown = (
        _matrix("n = mz f2, r = mx f24 sin q3, s = my f24 cos q3", varying),
        _matrix("n = r = s = 2", constant),
    )
    poles = _poles(
        {"printed A": formulas, "with (4.169)-(4.171)": varying, "n = r = s = 2": constant}
    )
    return first, Section("5.4.4 Stanford: the right A", text, tuple(rows), THESIS, (*shown, poles))


def point() -> Exhibit:
    """The printed point beside the equilibrium that it seems to approach; the sources are not printed."""
    rest = BondGraph.load("morales_stanford_constant").steady_state([2.5, 0.0, 1.0, -0.5])
    variables = BondGraph.load("morales_stanford_constant").bond_variables(rest.x, rest.u)
    lines = []
    for name in ("q3", "q53", "f31", "f2", "f24", "f50"):
        value = rest[name] if name in rest.states else variables[name]
        lines.append((name, POINT[name], f"{float(value):.6g}"))
    return Exhibit(
        ("", "L3109", "equilibrium"),
        tuple(lines),
        "The point, and the equilibrium under e1 = 2.5, e52 = 1, e30 = -0.5, n = 2",
    )


# -- what is shown ----------------------------------------------------------------------------------------------------


def _entries(printed: Any, right: Floats) -> list[tuple[int, int]]:
    """Where a printed or a right entry is not zero."""
    n = len(printed)
    return [
        (i, j)
        for i in range(n)
        for j in range(n)
        if float(printed[i][j]) or abs(right[i, j]) > 1e-9
    ]


def _entry(i: int, j: int, printed: str, right: float, reason: str, where: str = "(5.80)") -> Row:
    """An entry whose formula is in question: not a number that a lost digit could spoil."""
    off = abs(right - float(printed))
    what = f"A({i + 1},{j + 1}) {where}"
    return statement(
        what, printed, figures_of(right), off, tolerance=resolution(printed), reason=reason
    )


def _from_formulas(what: str, printed: Any, formulas: Floats, noise: Floats) -> Row:
    numbers = np.array([[float(x) for x in row] for row in printed])
    units = np.array([[resolution(x) for x in row] for row in printed])
    off = greatest(np.maximum(0.0, np.abs(formulas - numbers) - units - noise))
    return statement(what, "all entries", "the same", off)


def _matrix(title: str, A: Floats) -> Exhibit:
    columns = tuple(str(k + 1) for k in range(len(A)))
    return Exhibit(
        columns,
        tuple(tuple(f"{x + 0.0:.4g}" for x in np.where(abs(row) < 1e-12, 0, row)) for row in A),
        title,
    )


def _poles(matrices: dict[str, Floats]) -> Exhibit:
    """Eigenvalues, a line each."""
    return Exhibit(
        ("", "poles, 1/s"),
        tuple((title, poles_text(np.linalg.eigvals(A))) for title, A in matrices.items()),
    )


def poles_text(poles: Any) -> str:
    """Poles from the slowest, pairs once."""
    shown = []
    for x in sorted(poles, key=lambda x: (-x.real, x.imag)):
        if x.imag > 1e-9:
            shown.append(f"{0.0 if abs(x.real) < 1e-12 else x.real:.4g} ± {x.imag:.4g}i")
        elif abs(x.imag) <= 1e-9:
            shown.append(f"{0.0 if abs(x) < 1e-9 else x.real:.4g}")
    return ", ".join(shown)


# -- figures ----------------------------------------------------------------------------------------------------------


def responses(
    g: BondGraph,
    u: Floats,
    du: Floats,
    matrices: dict[str, Floats],
    t: Floats,
    B: dict[str, Floats],
) -> dict[str, Floats]:
    """States after a step of the sources at a steady state: of the graph, and of linear models with that state added."""
    from scipy.signal import StateSpace, lsim

    rest = g.steady_state(u)
    made = {"nonlinear": g.simulate(rest.x, t, np.asarray(u) + du, rtol=1e-9, atol=1e-11).x}
    for title, A in matrices.items():
        n = len(A)
        _, x, _ = lsim(
            StateSpace(A, B[title], np.eye(n), np.zeros((n, len(du)))), np.tile(du, (len(t), 1)), t
        )
        made[title] = rest.x + x
    return made


def figures() -> list[Figure]:
    g, lm = BondGraph.load("morales_puma"), puma_linear()
    u, du, t = np.array([4.0, 3.0]), np.array([0.2, 0.2]), np.linspace(0, 8, 801)
    B = {"linear": lm.B, "as printed": np.eye(4)[:, :2]}
    runs = responses(g, u, du, {"linear": lm.A, "as printed": puma_printed(g.parameters)}, t, B)
    made = [
        _compared("figure_5_5_puma", "Figure 5.5: PUMA, 0.2 N m more at both joints", g, t, runs)
    ]
    g = BondGraph.load("morales_stanford_constant")
    u, du, t = (
        np.array([2.5, 5.0, 1.0, -0.5]),
        np.array([0.1, 0.1, 0.1, 0.0]),
        np.linspace(0, 12, 1201),
    )
    rest = g.steady_state(u)
    exact = g.linearize(rest.x, rest.u)
    B = {"linear": exact.B, "as printed": np.eye(7)[:, :4]}
    runs = responses(g, u, du, {"linear": exact.A, "as printed": stanford_printed()[0]}, t, B)
    title = "Figure 5.10: Stanford arm, 0.1 N m and 0.1 N more at the joints"
    made.append(_compared("figure_5_10_stanford", title, g, t, runs))
    return made


def _compared(name: str, title: str, g: BondGraph, t: Floats, runs: dict[str, Floats]) -> Figure:
    """A panel for each state that moves."""
    panels = []
    for k, state in enumerate(g.states):
        if state != "p31":  # the platform's velocity, which does not change
            label = f"{state} [{g.unit(state)}]"
            panels.append(Panel(state, label, t, {which: x[:, k] for which, x in runs.items()}))
    return Figure(name, title, panels, caption=STEPPED)


def sections() -> tuple[Section, ...]:
    return puma(), *stanford()
