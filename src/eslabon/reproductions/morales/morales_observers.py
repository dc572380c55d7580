"""Section 5.4: both observers, why they do not observe as printed, and observers that do (figures 5.13 and 5.16)."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.bond_graph.bond_graph import BondGraph
from eslabon.bond_graph.graph_formulas import DEPENDENCE
from eslabon.bond_graph.graph_runs import Response
from eslabon.bond_graph.graph_values import value
from eslabon.bond_graph.linear_model_of_graph import GraphModel
from eslabon.bond_graph.observer_graph import ObserverGraph
from eslabon.language import phrase, plural
from eslabon.reproductions.comparison import THESIS, Exhibit, Row, Section
from eslabon.reproductions.document_figures import Figure, Panel
from eslabon.reproductions.morales.linear_models import (
    STANFORD_A,
    output,
    poles_text,
    puma_linear,
    puma_printed,
    stanford_printed,
)
from eslabon.reproductions.verdicts import greatest, number, statement
from eslabon.systems.control.observers import luenberger
from eslabon.systems.linear.ranks import observability

PUMA_POLES = ("-1.5146e-28", "-2.6795", "-5.0", "-37.32")  # L3052
STANFORD_POLES = ("-1.1792", "-4.2265", "13.33", "-15.773", "-23.32")  # L3121, besides the pair
PAIR = ("-8.2132e-8", "3.6515")
ZERO = 1e-12  # below which a pole of numbers of this size is nothing
AT = np.array(
    [2.5, 5.0, 1.0, -0.5]
)  # sources of the Stanford arm; e25 is not printed, and nothing depends on it
ALL = ("f2", "f24", "f50")  # the velocities of the three joints
LOST_SPRING = "Without the spring -1/c2 of joint 2 in (5.73), q3 acts on nothing: no gain moves the pole at 0, and an error of q3 stays for ever."
AT_REST = (
    "At rest the gyrators that lead from joint 2 to the other joints have the modulus 0. The thesis counts causal paths, whatever "
    "their gains are."
)
UNDAMPED = (
    "Joint 3 has no friction, and at rest next to nothing leads from it to f2: its pair stays at the imaginary axis, whatever the "
    "gains, here with a time constant of {days:.0f} days. An error of q53 is as good as there for ever."
)
MINUS = "The minus sign is lost; it is -R3/ig, which the gains do not move."
DEVIATIONS = (
    "Deviations from rest after a step of the sources, and their estimates from another start: of the printed model and its observer, "
    "some of whose estimates never arrive, and of the graph and the observer designed here, which do."
)
NO_PATH = "None of the paths of (5.79) reaches p31, the platform, so that the print itself does not show it."


def printed_gains(n: int) -> Floats:
    """(5.76), (5.83)."""
    return np.full((n, 1), -2.0 if n == 4 else -0.1)


def through_graph(g: BondGraph, lm: GraphModel) -> Floats:
    """A - E^-1 H C: the printed gains as gyrators and transformers of the observer's graph (procedure 5.2), dependent storages
    in it too."""
    E: Floats = value(g, DEPENDENCE, lm.x, lm.u, 0.0)
    made: Floats = lm.A - np.linalg.solve(E, printed_gains(g.order)) @ output(g, lm)
    return made


@cache
def stanford_linear(name: str = "morales_stanford") -> GraphModel:
    g = BondGraph.load(name)
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
    g = BondGraph.load("morales_puma")
    A, lm = puma_printed(g.parameters), puma_linear()
    C = output(g, lm)
    F = A - printed_gains(4) @ C
    poles = np.sort(np.linalg.eigvals(F).real)[::-1]
    rows: list[Row] = [
        number(phrase("pole {k} (L3052)", k=k + 1), text, x, noise=ZERO)
        for k, (text, x) in enumerate(zip(PUMA_POLES, poles, strict=True))
    ]
    bad = int(np.sum(poles > -1e-9))
    rows.append(
        statement(
            "A - H C (5.75), (5.76)",
            "Hurwitz",
            plural(bad, "{n} pole at 0", "{n} poles at 0"),
            float(bad),
            reason=LOST_SPRING,
        )
    )
    ranks = [observability((M, C)).rank for M in (A, lm.A)]
    says = phrase("rank {one} of 4 with (5.73), {two} with the right A", one=ranks[0], two=ranks[1])
    rows.append(
        statement(
            "observed from f3 (L3011)", "all four states", says, float(4 - ranks[1]), reason=AT_REST
        )
    )
    left = greatest(error_after(through_graph(g, lm), np.array([0, 0, 0.1, 0.1]), 10.0)[2:]) / 0.1
    rows.append(
        statement(
            "converges in ten seconds (L3061)",
            "figure 5.13",
            phrase("{x:.1f} % left: the graph", x=100 * left),
            left,
            tolerance=0.02,
        )
    )
    graph, plain = (
        poles_text(np.linalg.eigvals(M))
        for M in (through_graph(g, lm), lm.A - printed_gains(4) @ C)
    )
    text = phrase(
        "Poles of the printed A - H C with H = -2. The observer drawn as a bond graph has the dependent inertias and the spring in "
        "it, though the matrix has not: as E^-1 (... + H) its poles are {graph}, so that the simulation may well have converged. With "
        "the same gains straight in the right model, A - H C, the poles would be {plain}.",
        graph=graph,
        plain=plain,
    )
    return Section("5.4.3 PUMA: the printed observer", text, tuple(rows), THESIS)


def stanford() -> Section:
    """L3073 to 3140."""
    A, spread = np.array([[float(x) for x in row] for row in STANFORD_A]), stanford_printed()[1]
    C = np.eye(7)[:1] / BondGraph.load("morales_stanford").parameters["i2"]
    F = A - printed_gains(7) @ C
    poles, noise = noisy_poles(F, spread)
    pair = int(np.argmax(poles.imag))
    rows: list[Row] = [
        number("pair, real part (L3121)", PAIR[0], poles[pair].real, noise=noise[pair]),
        number("pair, imaginary part (L3121)", PAIR[1], poles[pair].imag, noise=noise[pair]),
    ]
    real = [k for k in np.argsort(-poles.real) if abs(poles[k].imag) < 1e-9]
    for k, text in zip(real, STANFORD_POLES, strict=True):
        reason = MINUS if float(text) > 0 else ""
        rows.append(
            number(f"pole {text} (L3121)", text, poles[k].real, noise=noise[k], reason=reason)
        )
    left = max(abs(error_after(F, np.eye(7)[6] * 0.1, t)[6]) for t in np.linspace(998, 1000, 41))
    rows.append(
        statement("it converges (L3130)", "yes", phrase("{x:.0f} % left after 1000 s", x=100 * left / 0.1), left / 0.1, tolerance=0.02,
                  reason=phrase(UNDAMPED, days=-1 / poles[pair].real / 86400))
    )  # fmt: skip
    right, constant = (stanford_linear(f"morales_stanford{x}") for x in ("", "_constant"))
    ranks = [observability((lm.A, C)).rank for lm in (right, constant)]
    says = phrase("rank {one} of 7; {two} with n = r = s = 2", one=ranks[0], two=ranks[1])
    rows.append(
        statement(
            "observed from f3 (L3075)",
            "all seven states",
            says,
            float(7 - ranks[0]),
            reason=phrase("{first} {second}", first=AT_REST, second=NO_PATH),
        )
    )
    g, h = BondGraph.load("morales_stanford"), BondGraph.load("morales_stanford_constant")
    varied, held = (
        poles_text(np.linalg.eigvals(through_graph(*x))) for x in ((g, right), (h, constant))
    )
    text = phrase(
        "Poles of the printed A - H C with H = -0.1. As a graph, with E, the observer's are {varied} with (4.169)-(4.171) and "
        "{held} with n = r = s = 2: only constant gyrators, which load the joints by the platform's velocity, let joint 3 be "
        "seen from joint 2.",
        varied=varied,
        held=held,
    )
    return Section("5.4.4 Stanford: the printed observer", text, tuple(rows), THESIS)


def noisy_poles(F: Floats, spread: Floats) -> tuple[Any, Floats]:
    """Eigenvalues, and to first order how far those of the entries' errors move them."""
    from scipy.linalg import eig

    poles, left, right = eig(F, left=True)
    products = np.abs(np.einsum("ik,ik->k", left.conj(), right))
    return poles, np.einsum("ik,ij,jk->k", np.abs(left), spread, np.abs(right)) / products


# -- observers that do ------------------------------------------------------------------------------------------------


@cache
def observer(name: str, *measured: str) -> ObserverGraph:
    """The graph with an observer, for small deviations from a steady state: every pole placed, or from f2 alone those of the
    PUMA's joint 2, while the error of joint 1 dies out by itself."""
    plant = BondGraph.load(name)
    rest = plant.steady_state(AT[: len(plant.inputs)] if plant.order == 7 else [2.0, 1.0])
    g = plant.with_detectors(**{f"y{k + 1}": flow for k, flow in enumerate(measured)})
    if measured != ("f2",):
        return g.observer_graph(
            [-3.0, -4.0, -5.0, -6.0, -7.0, -8.0, -9.0][: plant.order], x=rest.x, u=rest.u
        )
    lm, own = g.linearize(rest.x, rest.u), [0, 2]  # p2 and q3
    gains = np.zeros((4, 1))
    gains[own] = luenberger((lm.A[np.ix_(own, own)], lm.B[own], lm.C[:, own]), [-3.0, -4.0]).gains
    return g.observer_graph(gains=gains, x=rest.x, u=rest.u)


def watched(made: ObserverGraph, t: Floats) -> Response:
    """The graph from its steady state under a step of the sources, its observer from another start."""
    name = made.plant.name
    rest = BondGraph.load(name).steady_state(AT if len(made.states) == 7 else [2.0, 1.0])
    off = np.where(
        [x == "p31" for x in made.states],
        0.0,
        np.where([x[0] == "p" for x in made.states], 0.02, 0.05),
    )
    step = np.array([0.2, 0.2]) if len(made.states) == 4 else np.array([0.1, 0.1, 0.1, 0.0])
    return made.simulate(rest.x, rest.x + off, t, rest.u + step)


def working() -> Section:
    observers = {
        "PUMA, from f2": observer("morales_puma", "f2"),
        "PUMA, from f2, f24": observer("morales_puma", "f2", "f24"),
        "Stanford, from f2, f24, f50": observer("morales_stanford", *ALL),
        "the same, n = r = s = 2": observer("morales_stanford_constant", *ALL),
    }
    lines, gains = [], []
    for title, own in observers.items():
        errors = np.abs(own.errors(watched(own, np.array([0.0, 1.0, 10.0])))).max(axis=-1)
        lines.append((title, poles_text(own.poles), f"{errors[0]:.2f}", f"{errors[-1]:.1e}"))
        for k, column in enumerate(own.port_gains.T):
            numbers = ", ".join(f"{x + 0.0:.3g}" for x in np.where(abs(column) < 1e-9, 0, column))
            gains.append((phrase("{title}: {output}", title=title, output=ALL[k]), numbers))
    pair = max(x.pole.imag for x in _lost() if x.pole.real > -1e-9)
    text = phrase(
        "Luenberger observers of the right models as bond graphs, run with the nonlinear graph itself after a step of the sources. "
        "From f2 alone the PUMA's joint 1 cannot be observed, but its error dies out by itself. Of the Stanford arm none can be made "
        "from f2 alone: the swing of joint 3, p50 and q53, at {pair:.4f} rad/s does not show in it and does not die out; with f50 too "
        "it can, and with f24 every pole can be placed.",
        pair=pair,
    )
    shown = Exhibit(
        ("observer", "poles, 1/s", "greatest error, 0 s", "10 s"),
        tuple(lines),
        "Errors from another start",
    )
    moduli = Exhibit(
        ("from", "H by states"), tuple(gains), "Moduli of the gyrators and transformers, by states"
    )
    return Section("5.4 Observers that do", text, (), THESIS, (shown, moduli))


def _lost() -> Any:
    lm = stanford_linear()
    g = BondGraph.load("morales_stanford")
    return observability((lm.A, output(g, lm))).lost_modes


# -- figures ----------------------------------------------------------------------------------------------------------


def printed_run(
    A: Floats, F: Floats, start: Floats, du: Floats, t: Floats
) -> tuple[Floats, Floats]:
    """The printed plant from zero under a step, and the estimate, whose error starts elsewhere."""
    from scipy.signal import StateSpace, lsim

    n, u = len(A), np.tile(du, (len(t), 1))
    _, x, _ = lsim(StateSpace(A, np.eye(n)[:, : len(du)], np.eye(n), np.zeros((n, len(du)))), u, t)
    _, errors, _ = lsim(
        StateSpace(F, np.zeros((n, 1)), np.eye(n), np.zeros((n, 1))), None, t, X0=start
    )
    return x, x + errors


def figures() -> list[Figure]:
    puma, stanford = observer("morales_puma", "f2"), observer("morales_stanford", *ALL)
    title = "estimates from another start"
    return [
        _compared("figure_5_13_puma", phrase("Figure 5.13: PUMA, {title}", title=title), puma,
               puma_printed(BondGraph.load("morales_puma").parameters)),
        _compared("figure_5_16_stanford", phrase("Figure 5.16: Stanford arm, {title}", title=title), stanford, stanford_printed()[0]),
    ]  # fmt: skip


def _compared(name: str, title: str, made: ObserverGraph, A: Floats) -> Figure:
    """For each state the deviation from rest and its estimate, as printed and as it works."""
    n, t = len(A), np.linspace(0, 12, 601)
    C = np.eye(n)[:1] / made.plant.parameters["i2"]
    run = watched(made, t)
    first = np.array([run[state][0] for state in made.states])
    start = np.array([run[state][0] for state in made.estimates]) - first
    step = run.u[0] - BondGraph.load(made.plant.name).steady_state(AT if n == 7 else [2.0, 1.0]).u
    was, seen = printed_run(A, A - printed_gains(n) @ C, start, step, t)
    panels = []
    for k, (state, hat) in enumerate(zip(made.states, made.estimates, strict=True)):
        if state != "p31":  # the platform's, which does not move
            curves = {
                "printed": was[:, k],
                "its estimate": seen[:, k],
                "graph": run[state] - first[k],
                "its observer": run[hat] - first[k],
            }
            panels.append(Panel(state, f"{state} [{made.plant.unit(state)}]", t, curves))
    return Figure(name, title, panels, caption=DEVIATIONS)
