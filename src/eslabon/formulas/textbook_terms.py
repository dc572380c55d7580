"""The equations of motion as textbooks print them: terms, the formulas that give them, sentences.

With loops a tree obeys M v' + h = Q + J^T lambda with Phi = 0 and J v' = gamma. Partitioned
velocities (Wehage and Haug) leave v_e = K v_i + K_t with the velocity coefficients
K = -Phi_e^-1 Phi_i (Paul), v_e' = K v_i' + d, and by virtual work M_r v_i' + h_r = Q_r, in which no
multiplier is left (Díaz, eq. 4 corrected). These are printed in stages, each in the results of the
one before: gamma, the velocity coefficients, then the terms that these reduce.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from eslabon.compiler.formula import NOTHING, Argument, Formula
from eslabon.errors import ModelError
from eslabon.formulas.inputs import STATE, TAU, Q, V
from eslabon.formulas.kinematics import closure
from eslabon.formulas.kinematics.symbols import zeros
from eslabon.formulas.motion_state import MotionState, StateFunction
from eslabon.formulas.quantities import FORMULATION, STRUCTURE, Options, quantity
from eslabon.formulas.structure import Partition, Structure
from eslabon.model import Model
from eslabon.numerics.scalars import Expression, casadi

CRAMER_ROWS = 4  # rows of a matrix up to which Cramer's rule is the shortest solution
MOTION = "equations_of_motion"
INDEPENDENT = ("velocity_coefficients", "reduced_equations")  # said in independent velocities


def equations_of_motion(s: MotionState, tau: Expression) -> list[Expression]:
    """M, h, Q, and of the retained constraint rows Phi, J, gamma and Phi_t."""
    return [
        *s.equations,
        s.actuation(tau),
        *closure.equations_in_units(s.m, s.q, s.v, s.structure.rows),
    ]


def independent_rows(
    m: Model, q: Expression, v: Expression, *, structure: Structure
) -> list[Expression]:
    """gamma and Phi_t of the independent rows."""
    return list(closure.equations_in_units(m, q, v, structure.partition.rows)[2:])


def dependent_velocities(
    m: Model,
    q: Expression,
    gamma: Expression,
    rate: Expression | None = None,
    *,
    structure: Structure,
) -> list[Expression]:
    """K, d and K_t for given gamma and Phi_t."""
    p = structure.partition
    J = closure.equations_in_units(m, q, None, p.rows).J
    i, e = list(p.independent), list(p.dependent)
    rate = casadi.SX(len(e), 1) if rate is None else rate
    solution = _solve_briefly(J[:, e], casadi.horzcat(-J[:, i], gamma, -rate))
    return casadi.horzsplit(solution, [0, len(i), len(i) + 1, len(i) + 2])


def reduced_equations(
    s: MotionState, tau: Expression, K: Expression, d: Expression
) -> list[Expression]:
    """M_r = N^T M N, h_r = N^T (h + M [0; d]) and Q_r = N^T Q with N = [1; K]."""
    (M, h), i, e = s.equations, list(s.partition.independent), list(s.partition.dependent)
    N, drift = zeros(s.m.nv, len(i)), zeros(s.m.nv)
    N[i, :], N[e, :], drift[e, :] = casadi.SX.eye(len(i)), K, d
    return [N.T @ M @ N, N.T @ (h + M @ drift), N.T @ s.actuation(tau)]


def _solve_briefly(A: Expression, b: Expression) -> Expression:
    """A^-1 b, by Cramer's rule where that is short."""
    if not 0 < A.shape[0] <= CRAMER_ROWS:
        return casadi.solve(A, b) if A.shape[0] else b
    return casadi.adj(A) @ b / casadi.det(A)


# What is printed ----------------------------------------------------------------------------------


def default_quantity(m: Model) -> str:
    """What is printed where no quantity is named."""
    return MOTION if m.closed else "inverse_dynamics"


def printed_formulas(m: Model, name: str, partition: Partition | None) -> list[Formula]:
    """What is asked for, last, and the formulas it is written in.

    The partition is that of a closed chain's velocities.
    """
    timed = m.rheonomic
    if name == MOTION:
        closed = ("Phi", "J", "gamma", *(["Phi_t"] * timed)) if m.closed else ()
        inputs, outputs = (Q, V, TAU), ("M", "h", "Q", *closed)
        function = StateFunction(equations_of_motion)
        return [_terms(m, MOTION, function, inputs, outputs, FORMULATION)]
    if name not in INDEPENDENT:
        return [quantity(m, name)]
    if partition is None:
        raise ModelError(
            f"{m.name} has no loops, so all its velocities are independent; ask for its {MOTION}."
        )
    i, e = len(partition.independent), len(partition.dependent)
    rows = [Argument(name, (e,)) for name in ("gamma", *(["Phi_t"] * timed))]
    coefficients = [Argument("K", (e, i)), Argument("d", (e,))]
    names = tuple(x.name for x in rows), ("K", "d", *(["K_t"] * timed)), ("M_r", "h_r", "Q_r")
    reduced = StateFunction(reduced_equations)
    made = [
        _terms(m, "independent_rows", independent_rows, (Q, V), names[0]),
        _terms(m, "dependent_velocities", dependent_velocities, (Q, *rows), names[1]),
        _terms(m, "reduced_equations", reduced, (Q, V, TAU, *coefficients), names[2], FORMULATION),
    ]
    return made[: 2 + INDEPENDENT.index(name)]


def _terms(
    m: Model,
    name: str,
    function: Callable[..., Any],
    inputs: tuple[Argument, ...],
    outputs: tuple[str, ...],
    options: Options = NOTHING,
) -> Formula:
    needs = STRUCTURE if m.closed else ()
    results = tuple(map(Argument, outputs))
    return Formula(name, function, inputs, results, options, timed=True, needs=needs)


def earlier_results(formula: Formula) -> dict[int, str]:
    """Which inputs are results of earlier formulas."""
    return {k: x.name for k, x in enumerate(formula.inputs) if x not in STATE}


def statement(m: Model, name: str, partition: Partition | None) -> tuple[str, str]:
    """What the terms belong to, in words and in LaTeX.

    The names of results and of velocities stand in braces.
    """
    if name not in (MOTION, *INDEPENDENT):
        return "", ""
    if partition is None:
        sentences = ["{M} v' + {h} = {Q}"]
    elif name == MOTION:
        sentences = ["{M} v' + {h} = {Q} + {J}^T lambda", "{J} v' = {gamma}", "{Phi} = 0"]
    else:
        sentences = ["{M_r} v_i' + {h_r} = {Q_r}"] if name == "reduced_equations" else []
        sentences += [f"v_e = {{K}} v_i{' + {K_t}' * m.rheonomic}", "v_e' = {K} v_i' + {d}"]
        for half, places in (("v_i", partition.independent), ("v_e", partition.dependent)):
            sentences.append(f"{half} = ({', '.join(f'{{v{k + 1}}}' for k in places)})")
    latex = r", \quad ".join(sentences).replace("lambda", r"\lambda")
    return ", ".join(sentences), re.sub(r"\bv(_\w)?'", r"\\dot{v}\1", latex)
