"""Yime, Saltarén and Roldán, "Análisis dinámico inverso de robots paralelos: un tutorial con álgebra de Lie", RIAI 20, 2023.

The three examples: five-bar, spatial four-bar, planar 3-RRR. The paper shows its results as curves, which are lost; so
the compiled dynamics are held against its data and sentences, against values recomputed from its data by other programs,
and against its own equations followed number by number (`yime_equations`), in which its slips can be put back. L123 is line
123 of the scanned text.
"""

from __future__ import annotations

from functools import cache

from eslabon.reproductions.document import Document, Equation
from eslabon.reproductions.document_figures import Picture
from eslabon.reproductions.report import Report
from eslabon.reproductions.yime import (
    joint_tables,
    published_torque,
    slips,
    spatial_four_bar,
    yime_constraints,
    yime_five_bar,
    yime_planar_3rrr,
)

DOCUMENT = Document(
    authors=("E. Yime", "R. Saltarén", "J. Roldán"),
    title="Análisis dinámico inverso de robots paralelos: un tutorial con álgebra de Lie",
    where="Revista Iberoamericana de Automática e Informática Industrial 20, 2023",
    does=(
        "A tutorial on the inverse dynamics of parallel robots that needs vectors and matrices only. Every joint is a motion subspace; "
        "twists and accelerations are carried from body to body by the adjoint; a loop is cut at a joint, whose constraints are written "
        "as covectors; and the torques of the motors follow from the principle of virtual work.",
        "It is worked through for three mechanisms: a five-bar, a spatial four-bar and a planar 3-RRR.",
    ),
    equations=(
        Equation(
            r"\mathbf V_i = \mathrm{Ad}_{i,i-1}\,\mathbf V_{i-1} + \mathbf S_i\,\dot q_i, \qquad "
            r"\dot{\mathbf V}_i = \mathrm{Ad}_{i,i-1}\,\dot{\mathbf V}_{i-1} + \mathbf S_i\,\ddot q_i + \mathrm{ad}_{\mathbf V_i}\mathbf S_i\,\dot q_i"
            r" + \dot{\mathbf S}_i\,\dot q_i",
            "Twists and accelerations from one body to the next; the rate of S is zero but for universal and spherical joints.",
        ),
        Equation(
            r"\mathbf\Phi_a\,\dot{\mathbf q}_a + \mathbf\Phi_p\,\dot{\mathbf q}_p = \mathbf 0, \qquad "
            r"\boldsymbol\rho = -\mathbf\Phi_p^{-1}\mathbf\Phi_a",
            "The passive rates follow from the active ones; the print loses the minus sign in two of its three examples.",
        ),
        Equation(
            r"\boldsymbol\tau_a = \begin{bmatrix}\mathbf 1 & \boldsymbol\rho^T\end{bmatrix} \sum_i \mathbf J_i^T "
            r"\left(\mathbf I_i\dot{\mathbf V}_i - \mathrm{ad}^T_{\mathbf V_i}\mathbf I_i\mathbf V_i - \mathbf F_{ext} - \mathbf F_g\right)",
            "Virtual work: the wrenches of all bodies, taken to the active coordinates. Weight and external wrenches have the same sign.",
        ),
    ),
    commands=(
        "eslabon show five_bar",
        'eslabon torques planar_3rrr --actuated "30 30 30" --v "6 6 6" --degrees',
    ),
    python='m = es.load("planar_3rrr")\nq, v, a = m.complete(np.radians([30, 30, 30]), np.radians([6, 6, 6]), [0, 0, 0])\n'
    'm.inverse_dynamics(q, v, a, "lie")',
)
TEXT = (
    "The curves of figures 4 to 17 are lost. Printed are data, start angles, one torque and sentences; each is set beside "
    "what eslabon computes. Values called recomputed were got from the printed data by other programs. Every motion is also "
    "worked out by the paper's own equations, number by number. SI units."
)


def report() -> Report:
    """The three examples, what the paper says of them, and what is wrong in its formulas."""
    parts = (
        yime_five_bar,
        spatial_four_bar,
        published_torque,
        yime_planar_3rrr,
        joint_tables,
        yime_constraints,
        slips,
    )
    return Report(
        "yime",
        DOCUMENT,
        TEXT,
        tuple(section for part in parts for section in part.sections()),
        figures,
    )


@cache
def figures() -> tuple[Picture, ...]:
    """Figures 4 to 7, 9 to 12 and 14 to 17 anew, and the four torques of the spatial four-bar."""
    return (
        yime_five_bar.figure(),
        spatial_four_bar.figure(),
        yime_planar_3rrr.figure(),
        published_torque.figure(),
    )
