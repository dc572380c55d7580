"""Díaz, Provenzano, Vergara and Chacón, "Dinámica directa de robots paralelos utilizando las ecuaciones de Gibbs-Appell".

Both examples are integrated as the paper does it: only the independent coordinates and rates are states, the dependent
ones follow from the loops at every evaluation, and the accelerations come from the explicit Gibbs-Appell equations. All
curves are lost, and of table 1 one row is left. L123 is line 123 of the scanned text.
"""

from __future__ import annotations

from functools import cache

from eslabon.reproductions.diaz import diaz_planar_3rrr, four_bar, table_1
from eslabon.reproductions.document import Document, Equation
from eslabon.reproductions.document_figures import Picture
from eslabon.reproductions.report import Report

DOCUMENT = Document(
    authors=("M. A. Díaz", "S. E. Provenzano", "M. J. Vergara", "R. D. Chacón"),
    title="Dinámica directa de robots paralelos utilizando las ecuaciones de Gibbs-Appell",
    where="paper, Universidad de Los Andes, Mérida",
    does=(
        "The paper solves the forward dynamics of parallel robots by the explicit Gibbs-Appell equations: the legs are cut from the "
        "platform, their mass matrix is that of open chains, and the loops enter only when the dependent accelerations are eliminated. "
        "So the few independent coordinates are integrated alone, and the loops stay closed.",
        "Two examples show it: a four-bar, driven by the torque that inverse dynamics gives for a constant speed, and a planar 3-RRR "
        "under constant torques; a table compares the work with that of Lagrange multipliers.",
    ),
    equations=(
        Equation(
            r"\dot{\mathbf q}_e = -\mathbf\Phi_e^{-1}\mathbf\Phi_i\,\dot{\mathbf q}_i = -\mathbf X\,\dot{\mathbf q}_i \qquad (3)",
            "The dependent rates follow from the independent ones by the Jacobian of the loops.",
        ),
        Equation(
            r"\mathbf S = \mathbf D_{ii} + \mathbf X^T\mathbf D_{ee}\mathbf X - \mathbf D_{ie}\mathbf X - \mathbf X^T\mathbf D_{ei}"
            r" \qquad (4)",
            "The mass matrix of the independent coordinates, from the blocks of that of the legs; the print has the last block turned.",
        ),
        Equation(
            r"\mathbf S\,\ddot{\mathbf q}_i = \mathbf f_i - \mathbf X^T\mathbf f_e + (\mathbf X^T\mathbf D_{ee} - \mathbf D_{ie})\,"
            r"\mathbf\Phi_e^{-1}\mathbf b, \qquad \ddot{\mathbf q}_e = \mathbf\Phi_e^{-1}\mathbf b - \mathbf X\,\ddot{\mathbf q}_i",
            "The accelerations: first of the independent coordinates, then of the dependent ones.",
        ),
        Equation(
            r"\begin{bmatrix}\mathbf D & \mathbf\Phi_q^T\\ \mathbf\Phi_q & \mathbf 0\end{bmatrix}"
            r"\begin{bmatrix}\ddot{\mathbf q}\\ \boldsymbol\lambda\end{bmatrix} = \begin{bmatrix}\mathbf f\\ \mathbf b\end{bmatrix}",
            "The form with multipliers, to which the paper compares its own.",
        ),
    ),
    commands=("eslabon show diaz_3rrr", "eslabon simulate diaz_four_bar --time 1"),
    python='m = es.load("diaz_3rrr")\nq = m.home()\n'
    'm.forward_dynamics(q, 0 * q, [0.1, 0.1, -0.1], "gibbs_appell", "elimination")',
)
TEXT = (
    "The five figures are lost, and of table 1 one row is left. Printed are data and start angles; centres of mass, gravity "
    "of example 1 and base of example 2 are not, and are inferred (see `eslabon show diaz_four_bar`, `diaz_3rrr`). Values "
    "called recomputed were got from the same data by other programs. SI units."
)


def report() -> Report:
    """Both examples and table 1."""
    sections = (*four_bar.sections(), *diaz_planar_3rrr.sections(), *table_1.sections())
    return Report("diaz", DOCUMENT, TEXT, sections, figures)


@cache
def figures() -> tuple[Picture, ...]:
    """Figures 2 and 4 anew, and the work and closure of both forms."""
    return four_bar.figure(), diaz_planar_3rrr.figure(), table_1.figure()
