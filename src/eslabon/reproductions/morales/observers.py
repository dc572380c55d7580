"""Section 5.4: both observers, why they do not observe as printed, and observers that do (figures 5.13 and 5.16)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import eslabon as es
from eslabon.arguments import Floats
from eslabon.bond_graph.linear import LinearGraph
from eslabon.control.observers import Observer, luenberger
from eslabon.control.ranks import observability
from eslabon.reproductions.figures import Panel, sheet
from eslabon.reproductions.morales.linear_models import output, poles_text, puma_linear, puma_printed, stanford_printed
from eslabon.reproductions.report import THESIS, Exhibit, Row, Section
from eslabon.reproductions.verdicts import greatest, number, statement

PUMA_POLES = ("-1.5146e-28", "-2.6795", "-5.0", "-37.32")  # L3052
STANFORD_POLES = ("-1.1792", "-4.2265", "13.33", "-15.773", "-23.32")  # L3121, besides the pair
PAIR = ("-8.2132e-8", "3.6515")
ZERO = 1e-12  # below which a pole of numbers of this size is nothing
AT = np.array([2.5, 5.0, 1.0, -0.5])  # sources of the Stanford arm; e25 is not printed, and nothing depends on it
ALL = ("f2", "f24", "f50")  # the velocities of the three joints
LOST_SPRING = (
    "Without the spring -1/c2 of joint 2 in (5.73), q3 acts on nothing: no gain moves the pole at 0, and an error of q3 stays for ever."
)
AT_REST = (
    "At rest the gyrators that lead from joint 2 to the other joints have the modulus 0. The thesis counts causal paths, whatever "
    "their gains are."
)
UNDAMPED = (
    "Joint 3 has no friction, and at rest nothing leads from it to f2: its pair stays on the imaginary axis, whatever the gains. An "
    "error of 0.1 in q53 is {left:.3f} after 1000 s."
)
MINUS = "The minus sign is lost; it is -R3/ig, which the gains do not move."
NO_PATH = "None of the paths of (5.79) reaches p31, the platform, so that the print itself does not show it."


def printed_gains(n: int) -> Floats:
    """(5.76), (5.83)."""
    return np.full((n, 1), -2.0 if n == 4 else -0.1)


def through_graph(g: es.BondGraph, lm: LinearGraph) -> Floats:
    """A - E^-1 H C: the printed gains as gyrators and transformers of the observer's graph (procedure 5.2), dependent storages
    in it too."""
    E = g.junction_structure().fields(lm.x, lm.u)["E"]
    made: Floats = lm.A - np.linalg.solve(E, printed_gains(g.order)) @ output(g, lm)
    return made


@cache
def stanford_linear(name: str = "morales_stanford") -> LinearGraph:
    g = es.BondGraph.load(name)
    rest = g.steady_state(AT)
    return g.linearize(rest.x, rest.u)


def sections() -> tuple[Section, ...]:
    return puma(), stanford(), working()


# -- as printed -------------------------------------------------------------------------------------------------------


def error_after(F: Floats, start: Floats, t: float) -> Floats:
    """The error of an observer, e' = F e."""
    from scipy.linalg import expm

    made: Floats = expm(F * t) @ start
    return made


def puma() -> Section:
    """L3005 to 3071."""
    g = es.BondGraph.load("morales_puma")
    A, lm = puma_printed(g.parameters), puma_linear()
    C = output(g, lm)
    F = A - printed_gains(4) @ C
    poles = np.sort(np.linalg.eigvals(F).real)[::-1]
    rows: list[Row] = [
        number(f"pole {k + 1} (L3052)", text, x, noise=ZERO) for k, (text, x) in enumerate(zip(PUMA_POLES, poles, strict=True))
    ]
    bad = int(np.sum(poles > -1e-9))
    rows.append(statement("A - H C (5.75), (5.76)", "Hurwitz", f"{bad} pole at 0", float(bad), reason=LOST_SPRING))
    ranks = [observability((M, C)).rank for M in (A, lm.A)]
    says = f"rank {ranks[0]} of 4 with (5.73), {ranks[1]} with the right A"
    rows.append(statement("observed from f3 (L3011)", "all four states", says, float(4 - ranks[1]), reason=AT_REST))
    left = greatest(error_after(through_graph(g, lm), np.array([0, 0, 0.1, 0.1]), 10.0)[2:]) / 0.1
    rows.append(
        statement("converges in ten seconds (L3061)", "figure 5.13", f"{100 * left:.1f} % left: the graph", left, tolerance=0.02)
    )
    text = (
        "Poles of the printed A - H C with H = -2. The observer drawn as a bond graph has the dependent inertias and the spring in "
        "it, though the matrix has not: as E^-1 (... + H) its poles are {graph}, so that the simulation may well have converged. With "
        "the same gains straight in the right model, A - H C, the poles would be {plain}."
    ).format(graph=poles_text(np.linalg.eigvals(through_graph(g, lm))),
             plain=poles_text(np.linalg.eigvals(lm.A - printed_gains(4) @ C)))  # fmt: skip
    return Section("5.4.3 PUMA: the printed observer", text, tuple(rows), THESIS)


def stanford() -> Section:
    """L3073 to 3140."""
    A, spread = stanford_printed()
    C = np.eye(7)[:1] / es.BondGraph.load("morales_stanford").parameters["i2"]
    F = A - printed_gains(7) @ C
    poles, noise = noisy_poles(F, spread)
    pair = int(np.argmax(poles.imag))
    rows: list[Row] = [
        number("pair, real part (L3121)", PAIR[0], poles[pair].real, noise=noise[pair]),
        number("pair, imaginary part (L3121)", PAIR[1], poles[pair].imag, noise=noise[pair]),
    ]
    real = [k for k in np.argsort(-poles.real) if abs(poles[k].imag) < 1e-9]
    for k, text in zip(real, STANFORD_POLES, strict=True):
        rows.append(number(f"pole {text} (L3121)", text, poles[k].real, noise=noise[k], reason=MINUS))
    left = greatest(error_after(F, np.eye(7)[6] * 0.1, np.arange(990, 1001).mean())[6]) / 0.1
    left = max(abs(error_after(F, np.eye(7)[6] * 0.1, t)[6]) for t in np.linspace(998, 1000, 41))
    rows.append(
        statement("converges (L3130)", "figure 5.16", "an undamped pair", float(np.max(poles.real) > -1e-3),
                  reason=UNDAMPED.format(left=left))
    )  # fmt: skip
    right, constant = (stanford_linear(f"morales_stanford{x}") for x in ("", "_constant"))
    ranks = [observability((lm.A, C)).rank for lm in (right, constant)]
    says = f"rank {ranks[0]} of 7; {ranks[1]} with n = r = s = 2"
    rows.append(statement("observed from f3 (L3075)", "all seven states", says, float(7 - ranks[0]), reason=f"{AT_REST} {NO_PATH}"))
    g, h = es.BondGraph.load("morales_stanford"), es.BondGraph.load("morales_stanford_constant")
    text = (
        "Poles of the printed A - H C with H = -0.1. As a graph, with E, the observer's are {graph} with (4.169)-(4.171) and "
        "{constant} with n = r = s = 2: only constant gyrators, which load the joints by the platform's velocity, let joint 3 be "
        "seen from joint 2."
    ).format(graph=poles_text(np.linalg.eigvals(through_graph(g, right))),
             constant=poles_text(np.linalg.eigvals(through_graph(h, constant))))  # fmt: skip
    return Section("5.4.4 Stanford: the printed observer", text, tuple(rows), THESIS)


def noisy_poles(F: Floats, spread: Floats) -> tuple[Any, Floats]:
    """Eigenvalues, and to first order how far those of the entries' errors move them."""
    from scipy.linalg import eig

    poles, left, right = eig(F, left=True)
    products = np.abs(np.einsum("ik,ik->k", left.conj(), right))
    return poles, np.einsum("ik,ij,jk->k", np.abs(left), spread, np.abs(right)) / products


# -- observers that do ------------------------------------------------------------------------------------------------


@cache
def puma_observer() -> Observer:
    """From f2 alone: gains for joint 2, and none for joint 1, whose error dies out by itself."""
    g, lm = es.BondGraph.load("morales_puma"), puma_linear()
    own = [0, 2]  # p2 and q3
    C = output(g, lm)
    joint = luenberger((lm.A[np.ix_(own, own)], lm.B[own], C[:, own]), [-3.0, -4.0])
    gains = np.zeros((4, 1))
    gains[own] = joint.gains
    return luenberger((lm.A, lm.B, C), gains=gains)


@cache
def full_observer(name: str) -> Observer:
    """From the velocities of all joints, every pole placed."""
    g = es.BondGraph.load(name)
    lm = puma_linear() if g.order == 4 else stanford_linear(name)
    C = output(g, lm, *(ALL[:2] if g.order == 4 else ALL))
    return luenberger((lm.A, lm.B, C), [-3.0, -4.0, -5.0, -6.0, -7.0, -8.0, -9.0][: g.order])


def working() -> Section:
    observers = {
        "PUMA, from f2": puma_observer(),
        "PUMA, from f2, f24": full_observer("morales_puma"),
        "Stanford, from f2, f24, f50": full_observer("morales_stanford"),
        "the same, n = r = s = 2": full_observer("morales_stanford_constant"),
    }
    lines, gains = [], []
    for title, own in observers.items():
        left = greatest(error_after(own.F, np.full(own.size, 0.1), 10.0)) / 0.1
        lines.append((title, poles_text(own.poles), f"{left:.1e}"))
        for k, column in enumerate(own.gains.T):
            gains.append((f"{title}: {ALL[k]}", ", ".join(f"{x + 0.0:.4g}" for x in np.where(abs(column) < 1e-9, 0, column))))
    lost = [f"{x.states} at {x.pole.imag:+.4f}i" for x in _lost() if x.pole.real > -1e-9 and x.pole.imag > 0]
    text = (
        "Luenberger observers of the right models. From f2 alone the PUMA's joint 1 cannot be observed, but its error dies out by "
        "itself. The Stanford arm's cannot be made from f2 alone: the mode of {lost} does not show and does not die out; the "
        "velocities of all joints, or of joints 2 and 3, do."
    ).format(lost=" and ".join(lost))
    shown = Exhibit(("observer", "poles, 1/s", "error after 10 s"), tuple(lines), "Errors of 0.1 in all states, what is left of the greatest")
    return Section("5.4 Observers that do", text, (), THESIS, (shown, Exhibit(("from", "gains, by states"), tuple(gains), "Gains")))


def _lost() -> Any:
    lm = stanford_linear()
    g = es.BondGraph.load("morales_stanford")
    return observability((lm.A, output(g, lm))).lost_modes


# -- figures ----------------------------------------------------------------------------------------------------------


def estimated(A: Floats, B: Floats, F: Floats, start: Floats, du: Floats, t: Floats) -> tuple[Floats, Floats]:
    """The plant from zero under a step, and the estimate, whose error starts elsewhere."""
    from scipy.signal import StateSpace, lsim

    n = len(A)
    _, x, _ = lsim(StateSpace(A, B, np.eye(n), np.zeros((n, len(du)))), np.tile(du, (len(t), 1)), t)
    errors = np.stack([error_after(F, start, float(s)) for s in t])
    return x, x + errors


def figures(folder: Path, suffix: str) -> list[Path]:
    g, lm = es.BondGraph.load("morales_puma"), puma_linear()
    A, t = puma_printed(g.parameters), np.linspace(0, 12, 601)
    made = [_sheet(folder / f"figure_5_13_puma.{suffix}", "Figure 5.13: PUMA, estimates from another start", g, t, np.array([0.2, 0.2]),
                   (A, np.eye(4)[:, :2], A - printed_gains(4) @ output(g, lm)),
                   (lm.A, lm.B, puma_observer().F), np.array([0.02, 0.02, 0.05, 0.05]))]  # fmt: skip
    g, lm, A = es.BondGraph.load("morales_stanford"), stanford_linear(), stanford_printed()[0]
    made.append(_sheet(folder / f"figure_5_16_stanford.{suffix}", "Figure 5.16: Stanford arm, estimates from another start", g, t,
                       np.array([0.1, 0.1, 0.1, 0.0]), (A, np.eye(7)[:, :4], A - printed_gains(7) @ output(g, lm)),
                       (lm.A, lm.B, full_observer("morales_stanford").F), np.array([0.02, 0.02, 0.02, 0.0, 0.05, 0.05, 0.05])))  # fmt: skip
    return made


def _sheet(
    path: Path, title: str, g: es.BondGraph, t: Floats, du: Floats, printed: Any, right: Any, start: Floats
) -> Path:
    """For each state the deviation and its estimate, as printed and as it works."""
    was, seen = estimated(*printed, start, du, t)
    now, found = estimated(*right, start, du, t)
    panels = []
    for k, name in enumerate(g.states):
        if name != "p31":
            curves = {"printed": was[:, k], "its estimate": seen[:, k], "right": now[:, k], "estimate": found[:, k]}
            panels.append(Panel(name, g.unit(name), t, curves))
    return sheet(path, title, panels)
