"""Méndez Canseco and Gudiño Lau, "Dinámica de un sistema planar de 2 GL con Cuaterniones".

The paper prints formulas and no number, so that formulas are compared: with the model's equations where SymPy can, else
on chains drawn by a seeded generator. L123 is line 123 of the scanned text.
"""

from __future__ import annotations

from functools import cache

from eslabon.reproductions.document import Document, Equation
from eslabon.reproductions.document_figures import Picture
from eslabon.reproductions.mendez import chains, errata, mendez_curves, planar_arm, representations
from eslabon.reproductions.report import Report

DOCUMENT = Document(
    authors=("M. C. Méndez Canseco", "J. Gudiño Lau"),
    title="Dinámica de un sistema planar de 2 GL con Cuaterniones",
    where="paper, Universidad Anáhuac del Sur and UNAM",
    does=(
        "The paper writes the kinematics of a chain of rigid bodies with quaternions alone: every joint turns about its current axis, the "
        "quaternions multiply, and link vectors are turned by their product. Velocity and acceleration of the tip become sums of vector "
        "products in the ground's axes.",
        "With these the energies of a planar arm of two degrees of freedom are written and put through the Euler-Lagrange equations. The "
        "matrices of the model themselves are left to the reader's software; eslabon computes them directly, for any chain.",
    ),
    equations=(
        Equation(
            r"P_m = \left(\cos\tfrac{f_m}{2},\ \sin\tfrac{f_m}{2}\,\mathbf u_{r,m}\right), \qquad "
            r"\Pi_m = P_m * P_{m-1} * \cdots * P_1, \qquad \mathbf u_{r,m} = \rho(\Pi_{m-1}, \mathbf u_m) \qquad (11)-(13)",
            "A joint turns about its axis as the joints before it have turned it; quaternions of joints multiply.",
        ),
        Equation(
            r"\mathbf L_T = \sum_m \mathbf L_m, \qquad \mathbf L_m = \Pi_m * \mathbf l_m * \overline{\Pi}_m \qquad (17)",
            "The position of the tip: every link vector turned, and all of them added. The print loses the conjugate.",
        ),
        Equation(
            r"\mathbf V = \sum_m \sum_{i \le m} \mathbf w_i \times \mathbf L_m, \qquad \mathbf w_i = \dot f_i\,\mathbf u_{r,i} \qquad (18)",
            "Its velocity.",
        ),
        Equation(
            r"\mathbf a = \sum_m \left\{ \sum_{i \le m} \left[\boldsymbol\alpha_i \times \mathbf L_m + \mathbf w_i \times (\mathbf w_i \times \mathbf L_m)\right]"
            r" + 2 \sum_{k < i \le m} \mathbf w_k \times (\mathbf w_i \times \mathbf L_m) \right\} \qquad (19)",
            "Its acceleration; the print loses the brackets.",
        ),
        Equation(
            r"\boldsymbol\tau = \mathbf D(\boldsymbol\theta)\,\ddot{\boldsymbol\theta} + \mathbf C(\boldsymbol\theta, \dot{\boldsymbol\theta})\,\dot{\boldsymbol\theta}"
            r" + \mathbf g(\boldsymbol\theta) \qquad (28)",
            "The model, whose D and C the paper leaves open.",
        ),
    ),
    commands=("eslabon show mendez_2r", "eslabon equations mendez_2r mass_matrix"),
    python='m = es.load("mendez_2r")\nm.inverse_dynamics(m.home(), [1.1, -0.7], [0.5, 0.3], "quaternion")\n'
    'print(m.equations("mass_matrix"))',
)
TEXT = (
    "The paper prints no number; its formulas are compared. Tolerance 1e-9 for what is exact and computed in doubles. A "
    "formula is damaged if marks that scans lose (dots, bars, brackets) make it right, and wrong if it takes more."
)


def report() -> Report:
    """The planar arm, the formulas for n bodies, and what is wrong in the print."""
    sections = (*planar_arm.sections(), *chains.sections(), *errata.sections())
    return Report("mendez", DOCUMENT, TEXT, sections, figures)


@cache
def figures() -> tuple[Picture, ...]:
    """The planar arm along a motion, what the errata change, its free swing, and quaternions beside matrices; the paper itself has
    sketches only."""
    return (
        mendez_curves.moving(),
        mendez_curves.slipped(),
        mendez_curves.swinging(),
        representations.figure(),
    )
