"""Whether a state that a caller gives keeps the loops closed: one measure, one tolerance.

Verbs of dynamics measure it by the same formula in their native code
(`formulas/kinematics/closure.py`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.formula import Argument, Formula
from eslabon.errors import AssemblyError, ModelError
from eslabon.formulas.kinematics.closure import equations, row_names, violation
from eslabon.formulas.kinematics.symbols import zeros
from eslabon.model import Model
from eslabon.numerics.scalars import Expression
from eslabon.numerics.tolerances import ACCEPTED_VIOLATION
from eslabon.solve.constraints.closed_configurations import residuals_at, violation_text
from eslabon.solve.designs import DESCRIBED, Designs


def violations(m: Model, x: Expression) -> list[Expression]:
    """By how much the configuration and the velocities of a state violate loop closure."""
    phi, J, _, rate = equations(m, x[: m.nq], None, tuple(range(len(row_names(m)))))
    v = x[m.nq :]
    return [violation(m, phi), violation(m, zeros(0), J @ v + rate, v)]


STATE = Argument("x", lambda m: (m.nq + m.nv,))
VIOLATIONS = Formula(
    "violations",
    violations,
    (STATE,),
    (Argument("position", ()), Argument("velocity", ())),
    rare=True,
)


def violation_of(phi: Floats) -> Floats:
    """By how much configurations violate loop closure, from their comparable residuals (...,
    rows)."""
    return np.linalg.norm(phi, axis=-1)


def accepts(violation: Floats | float) -> Any:
    """Whether a violation is one of a closed configuration or state; NaN is not."""
    return violation <= ACCEPTED_VIOLATION


def check_closed(m: Model, q: Floats, verb: str, designs: Designs = DESCRIBED) -> None:
    """Refuse configurations (k, nq) that violate loop closure."""
    if not m.closed:
        return
    if m.rheonomic:
        raise ModelError(
            f"the constraints of {m.name} depend on the time; ask {verb} of m.at_time(t)."
        )
    phi = residuals_at(m, q, designs)
    left = violation_of(phi)
    if np.all(accepts(left)):
        return
    k = int(np.argmax(np.where(np.isfinite(left), left, np.inf)))
    at = f" (configuration {k})" if len(q) > 1 else ""
    name = f"{m.name}{designs[k].told if designs.names else ''}"
    own = violation_text(m, phi[k], design=designs[k] if designs.names else designs)
    raise AssemblyError(
        f"{verb}: the configuration violates loop closure of {name} by {own}{at}; assemble it, "
        "or project it onto the constraint manifold with m.project."
    )
