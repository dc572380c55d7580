"""A. A. Rojas Salgado, "Dinámica de sistemas articulados de cuerpos rígidos", doctoral thesis, UNAM, 1987.

Chapters 2 to 5: kinematics, the move of the T3 robot, its linear model, perturbed motion and modal control. L1234 is line 1234
of the scanned text.
"""

from __future__ import annotations

from functools import cache

from eslabon.reproductions.document import Document, Equation
from eslabon.reproductions.document_figures import Picture
from eslabon.reproductions.report import Report
from eslabon.reproductions.rojas import (
    contents,
    derivation,
    histories,
    iterations,
    modal_gains,
    modal_responses,
    nonlinear_control,
    operations,
    path_synthesis,
    perturbed_path,
    positioner,
    rojas_loops,
    straight_line,
)
from eslabon.reproductions.rojas.rojas_tables import MIDDLE, START

DOCUMENT = Document(
    authors=("A. A. Rojas Salgado",),
    title="Dinámica de sistemas articulados de cuerpos rígidos",
    where="doctoral thesis, UNAM, 1987",
    does=(
        "The thesis gives one method for the kinematics, dynamics and linear control of serial robots, from the linear invariants of the "
        "rotation: its axial vector and its trace. The pose of the hand makes seven equations for six joints, one of them redundant on "
        "purpose, which are solved by Newton-Gauss; rates and accelerations follow from the same factors.",
        "The dynamics is Lagrange's in Kane's form, checked against Newton and Euler's. Its derivatives are written out to linearize the "
        "robot about a trajectory, and with them the gains of a modal control are computed. All numbers are of one robot, a Cincinnati "
        "Milacron T3, along one straight line.",
    ),
    equations=(
        Equation(
            r"\mathbf R = \lambda_0\mathbf 1 + \frac{\boldsymbol\lambda\otimes\boldsymbol\lambda}{1+\lambda_0} + \mathbf 1\times\boldsymbol\lambda, \qquad "
            r"\boldsymbol\lambda = \mathrm{vect}\,\mathbf R, \quad \lambda_0 = \tfrac12(\mathrm{tr}\,\mathbf R - 1)",
            "A rotation by its linear invariants, e sin φ and cos φ.",
        ),
        Equation(
            r"\mathbf f(\boldsymbol\theta) = \begin{bmatrix} 2\,\mathrm{vect}\,\mathbf P_6 - 2\,\mathrm{vect}\,\mathbf R\\"
            r" \mathrm{tr}\,\mathbf P_6 - \mathrm{tr}\,\mathbf R\\ \sum_i \mathbf a_i - \mathbf p\end{bmatrix} = \mathbf 0, \qquad "
            r"\mathbf J\,\Delta\boldsymbol\theta = -\mathbf f \qquad (3.3.1.9)",
            "Inverse kinematics: seven equations for six joints, by Newton-Gauss.",
        ),
        Equation(
            r"\boldsymbol\tau = \mathbf I(\boldsymbol\theta)\,\ddot{\boldsymbol\theta} + \mathbf C(\boldsymbol\theta,\dot{\boldsymbol\theta})\,\dot{\boldsymbol\theta}"
            r" + \mathbf b(\boldsymbol\theta) \qquad (4.3.33)",
            "The torques.",
        ),
        Equation(
            r"\delta\mathbf f^* = \mathbf U\,\delta\ddot{\boldsymbol\theta} + \mathbf V\,\delta\dot{\boldsymbol\theta} + \mathbf W\,\delta\boldsymbol\theta, \qquad "
            r"\mathbf U = \mathbf I, \quad \mathbf V = \frac{\partial\boldsymbol\tau}{\partial\dot{\boldsymbol\theta}}, \quad "
            r"\mathbf W = \frac{\partial\boldsymbol\tau}{\partial\boldsymbol\theta} \qquad (5.4.1)",
            "The linear model about a motion. The thesis' V is right, its W is not.",
        ),
        Equation(
            r"\mathbf K_p = \mathbf I\,\mathbf\Omega^2 - \mathbf W, \quad \mathbf K_d = 2\,\mathbf I\,\mathbf\Psi\mathbf\Omega - \mathbf V \quad\Rightarrow\quad "
            r"\delta\ddot{\boldsymbol\theta} + 2\mathbf\Psi\mathbf\Omega\,\delta\dot{\boldsymbol\theta} + \mathbf\Omega^2\,\delta\boldsymbol\theta = \mathbf 0",
            "Modal control: with these gains every joint is an oscillator of its own.",
        ),
    ),
    commands=("eslabon show rojas_t3", "eslabon linearize rojas_t3"),
    python='m = es.load("rojas_t3")\nm.inverse_dynamics(m.home(), np.zeros(6), np.zeros(6), "lagrange")\n'
    "m.linearize(m.home(), a=np.zeros(6)).W",
)
TEXT = (
    "A printed value agrees if it is within half a unit of its last digit, plus the noise of the thesis' single "
    "precision where a section states it. It is damaged if one digit, letter or mark makes it right."
)


def report() -> Report:
    """Everything of the thesis that can be recomputed, in its order."""
    third = (
        iterations.start(),
        rojas_loops.seven(),
        iterations.six_and_seven(),
        iterations.spurious(),
        rojas_loops.hexiflex(),
    )
    fourth = (*straight_line.sections(), *operations.sections())
    matrices = (modal_gains.matrices(at) for at in (START, MIDDLE))
    linear = (*derivation.sections(), *matrices, *perturbed_path.sections(), derivation.shares())
    sections = (
        contents.section(),
        *positioner.sections(),
        *third,
        *fourth,
        *linear,
        *modal_gains.sections(),
        nonlinear_control.section(),
    )
    return Report("rojas", DOCUMENT, TEXT, sections, figures)


@cache
def figures() -> tuple[Picture, ...]:
    """Figures 3.3.3 to 3.3.5, 3.6.1, 4.4.1 to 4.4.8 and 5.4.2 anew, the linear and true response of table 5.4.2 over the whole
    motion, and what the gains of section 5.6 do, on the linear model and on the nonlinear robot."""
    return (
        iterations.figure(),
        path_synthesis.figure(),
        *histories.figures(),
        modal_responses.figure(),
        nonlinear_control.figure(),
    )
