"""Morales Bieze, thesis on bond graphs of robots in three dimensions (UMSNH, 2011): the PUMA and the Stanford arm.

All of its figures are lost, the graphs too: `morales_puma` and `morales_stanford` are rebuilt from its bond numbers, matrices and
causal paths, and generate these. L123 is line 123 of the scanned text.
"""

from __future__ import annotations

from functools import cache

from eslabon.language import phrase
from eslabon.reproductions.document import Document, Equation
from eslabon.reproductions.document_figures import GraphFigure, Picture
from eslabon.reproductions.morales import (
    euler_ring,
    geared_link,
    linear_models,
    morales_causal_paths,
    morales_lagrange,
    morales_observers,
    robot_forms,
    steady_states,
)
from eslabon.reproductions.morales import junction_structures as junctions
from eslabon.reproductions.report import Report

DOCUMENT = Document(
    authors=("T. E. Morales Bieze",),
    title="Modelado en tres dimensiones y obtención del estado estacionario en bond graph de los robots PUMA y Stanford, su "
    "linealización y observadores de estados lineales",
    where="master's thesis, Universidad Michoacana de San Nicolás de Hidalgo, 2011",
    does=(
        "The thesis models a PUMA with two joints and a Stanford arm with three as bond graphs, from Euler's ring of gyrators for a body "
        "that turns in space. Reading the junction structure of the graph gives the state equations, which are compared with Euler and "
        "Lagrange's.",
        "With all storages in derivative causality the same graphs give the steady states, and so the sources that hold a given position. "
        "Causal paths lead to linear models, and with them to Luenberger observers, drawn as bond graphs too.",
    ),
    equations=(
        Equation(
            r"\begin{bmatrix}\dot{\mathbf x}\\ \mathbf D_{in}\\ \mathbf y\end{bmatrix} = \mathbf S(\mathbf x)"
            r"\begin{bmatrix}\mathbf z\\ \mathbf D_{out}\\ \mathbf u\\ \dot{\mathbf x}_d\end{bmatrix}, \qquad "
            r"\mathbf z = \mathbf F\mathbf x, \quad \mathbf D_{out} = \mathbf L\,\mathbf D_{in}, \quad \mathbf z_d = \mathbf F_d\,\mathbf x_d",
            "The junction structure: what storages, resistances and sources give to one another, conserving power.",
        ),
        Equation(
            r"\mathbf E\,\dot{\mathbf x} = \mathbf A(\mathbf x)\,\mathbf x + \mathbf B\,\mathbf u, \qquad "
            r"\mathbf E = \mathbf 1 - \mathbf S_{14}\mathbf F_d^{-1}\mathbf S_{31}\mathbf F",
            "The state equations; E is what storages in derivative causality add to the inertia of a joint.",
        ),
        Equation(
            r"\mathbf z_{ss} = \mathbf B^*(\mathbf x)\,\mathbf u, \qquad \mathbf B^* = \mathbf J_{13} + \mathbf J_{12}\mathbf M_d\mathbf J_{23}",
            "The steady state, from the graph with derivative causality.",
        ),
        Equation(
            r"\mathbf M\ddot{\boldsymbol\theta} + \mathbf C\,[\dot\theta_i^2] + \mathbf B\,[\dot\theta_i\dot\theta_j] = \boldsymbol\tau",
            "Euler and Lagrange's equations, with squares and products of the rates apart.",
        ),
        Equation(
            r"\dot{\hat{\mathbf x}} = \mathbf A\hat{\mathbf x} + \mathbf B\mathbf u + \mathbf H(\mathbf y - \mathbf C\hat{\mathbf x})",
            "The observer; its error has the poles of A - H C.",
        ),
    ),
    python='g = es.BondGraph.load("morales_puma")\nrest = g.steady_state([2.0, 1.0])\nprint(g.linearize(rest.x, rest.u).A)',
)
GRAPHS = (
    ("4.17", "PUMA", "morales_puma", "integral"),
    ("4.20", "Stanford", "morales_stanford", "integral"),
    ("4.23", "PUMA", "morales_puma", "derivative"),
    ("4.25", "Stanford", "morales_stanford", "derivative"),
)
INTEGRAL = (
    "Rebuilt from the printed bond numbers, matrices and causal paths, with integral causality preferred: half arrows show where power "
    "counts as positive; a stroke stands at the end that receives the effort."
)
DERIVATIVE = "The same with derivative causality preferred, as steady states need it; bonds have the numbers of the first graph."
TEXT = (
    "What the thesis prints, beside what the graphs give: junction structures entry by entry, Euler and Lagrange's equations, "
    "steady states, linear models, observers. Nearly all printed numbers follow from the printed formulas; where these are wrong, "
    "it is said why, and what is right. SI units."
)


def report() -> Report:
    """Chapters 4 and 5, and of the appendix the example."""
    sections = (
        *euler_ring.sections(),
        junctions.puma(),
        junctions.stanford(),
        *morales_lagrange.sections(),
        *robot_forms.sections(),
        junctions.puma_derivative(),
        junctions.stanford_derivative(),
        *steady_states.sections(),
        *morales_causal_paths.sections(),
        *linear_models.sections(),
        *morales_observers.sections(),
        *geared_link.sections(),
    )
    return Report("morales", DOCUMENT, TEXT, sections, figures)


@cache
def figures() -> tuple[Picture, ...]:
    """The graphs of figures 4.17, 4.20, 4.23 and 4.25, and the curves of figures 4.24, 4.26, 4.27, 5.5, 5.10, 5.13 and 5.16."""
    curves = [
        figure
        for module in (steady_states, linear_models, morales_observers)
        for figure in module.figures()
    ]
    return *graphs(), *curves


def graphs() -> list[GraphFigure]:
    made = []
    for label, robot, name, causality in GRAPHS:
        title = phrase("Figure {label}: bond graph of the {robot}", label=label, robot=robot)
        file = f"figure_{label.replace('.', '_')}_{name}"
        made.append(
            GraphFigure(
                file, title, name, causality, INTEGRAL if causality == "integral" else DERIVATIVE
            )
        )
    return made
