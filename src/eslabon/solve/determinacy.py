"""What a problem determines of a mechanism: by the ranks of its rates, where nothing is
singular."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.formula import Argument, Formula
from eslabon.formulas.inputs import Q
from eslabon.formulas.kinematics.frames import jacobian, placement
from eslabon.model import Model
from eslabon.model.configuration import integrate
from eslabon.model.memory import per_model
from eslabon.model.scale import velocity_scales
from eslabon.numerics.scalars import casadi
from eslabon.numerics.subspaces import count_nonzero_values
from eslabon.solve.constraints.closed_configurations import generic, jacobian_at
from eslabon.solve.problem import CLOSURE_ALONE, Problem


def rate_matrix(m: Model, q: Any, problem: Problem) -> Any:
    """C of the rows with d(value)/dt = C v."""
    made = [casadi.SX(0, m.nv)]
    for rows in problem.rows:
        R, _ = placement(m, q, m.frame(rows.frame))
        made.append(rows.rate(R) @ jacobian(m, q, rows.frame, axes="aligned"))
    return casadi.densify(casadi.vertcat(*made))


RATE_MATRIX = Formula(
    "rate_matrix",
    rate_matrix,
    (Q,),
    (Argument("C", lambda m, problem: (problem.rate_size(m) - len(problem.velocities(m)), m.nv)),),
    {"problem": CLOSURE_ALONE},
    rare=True,
)


@dataclass(frozen=True)
class Determinacy:
    """What a problem does to a mechanism.

    Attributes
    ----------
    open : degrees of freedom that it leaves.
    surplus : prescribed rates that others already imply.
    """

    open: int
    surplus: int


@per_model
def determinacy(m: Model, problem: Problem) -> Determinacy:
    """By the ranks of the closure Jacobian and of what is prescribed, where the mechanism is not
    singular."""
    q, scales = generic(m) if m.closed else _beside_home(m), velocity_scales(m)
    J = jacobian_at(m, q) / scales
    chosen = np.concatenate([np.eye(m.nv)[problem.velocities(m)], _rate_rows(m, problem, q)])
    together = _rank(np.concatenate([J, chosen]))
    asked = len(problem.velocities(m)) + sum(rows.rate_rank for rows in problem.rows)
    return Determinacy(m.nv - together, asked - (together - _rank(J)))


def _rate_rows(m: Model, problem: Problem, q: Floats) -> Floats:
    """C of the rows by comparable velocities, in comparable rows."""
    if not problem.rows:
        return np.zeros((0, m.nv))
    C = np.asarray(evaluate(m, RATE_MATRIX, problem=problem)(q))
    own = problem.rate_scales(m)[len(problem.velocities(m)) :, None]
    return own * C / velocity_scales(m)


def _rank(A: Any) -> int:
    return int(count_nonzero_values(np.linalg.svd(A, compute_uv=False)))


def _beside_home(m: Model) -> Floats:
    """A configuration of a tree beside home, where nothing is in line by chance."""
    away = 0.3 * np.random.default_rng(0).normal(size=m.nv) / velocity_scales(m)
    return np.asarray(integrate(m, m.home(), away))
