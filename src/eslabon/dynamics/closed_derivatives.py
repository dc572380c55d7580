"""Derivatives by a parameter along the closed configuration: what is held stays, and all else follows, so that loops stay
closed.

Of a quantity f(q, v, a, p) the whole derivative is f_p + f_q q' + f_v v' + f_a a', with q', v' and a' from the closure
equations of the dependent velocities (e), the independent ones being held:

    J_e q_e' = -Phi_p,   J_e v_e' = -d(J v + Phi_t),   J_e a_e' = -d(J a - gamma),

d being the change with q', v' and p. `coordinates` are changes along the velocities, so that quaternions need no care.
"""

from __future__ import annotations

from typing import Any

import casadi

from eslabon.dynamics.loops import residual, violation
from eslabon.formulations.constrained import Square
from eslabon.formulations.symbols import SX, zeros
from eslabon.graph.calls import inlining
from eslabon.graph.evaluator import Formula
from eslabon.kinematics.closure import Partition
from eslabon.kinematics.tree import coordinate_rates
from eslabon.model import Model


def along_closed(m: Model, *own: SX, of: Formula, parameter: str, held: Partition, **options: Any) -> list[SX]:
    """The values of a formula differentiated by a parameter along the closed configuration; then by how much the state
    violates closure, and how far it is from one at which what is held determines nothing."""
    value, given = m.symbols.get(parameter), dict(zip(of.input_names, own, strict=True))
    known = value is not None
    value = value if known else casadi.SX.sym(parameter)
    varied = m.with_symbols({**m.symbols, parameter: value})
    if of.prepare is None:
        options.pop("structure")
    with inlining():
        found = of.function(varied, *own, **options)
        steps, checks = following(varied, given, value, held)
    values = [casadi.densify(casadi.SX(x)) for x in (found if isinstance(found, list) else [found])]
    arguments = casadi.vertcat(*given.values(), value)
    direction = casadi.vertcat(*(steps[name] for name in given), casadi.SX(1))
    count = len(of.outputs) - of.checks
    made = [casadi.jtimes(casadi.vec(x), arguments, direction).reshape(x.shape) for x in values[:count]]
    made += checks
    return made if known else list(casadi.substitute(made, [value], [casadi.SX(m.parameters[parameter])]))


def following(m: Model, given: dict[str, SX], value: SX, p: Partition) -> tuple[dict[str, SX], list[SX]]:
    """How the coordinates, velocities and accelerations of a closed state change with a parameter; forces do not. Also the
    violation of closure and the condition."""
    steps = {name: zeros(x.numel()) for name, x in given.items()}
    if not m.closed:
        return steps, [zeros(1), casadi.SX(1)]
    q, v, a = (given.get(name) for name in "qva")
    e, along = list(p.dependent), coordinate_rates(m, q)
    phi, J, gamma, rate = residual(m, q, zeros(m.nv) if v is None else v, p)
    dependent, residuals = Square(J[:, e]), [phi]
    moved = zeros(m.nv)
    moved[e, :] = -dependent.solve(casadi.jacobian(phi[list(p.rows), :], value))
    steps["q"] = along @ moved
    if v is not None:
        speed = J @ v + rate
        residuals.append(speed)
        steps["v"][e, :] = -dependent.solve(
            casadi.jtimes(speed, casadi.vertcat(q, value), casadi.vertcat(steps["q"], 1))
        )
    if a is not None:
        left = J @ a - gamma
        residuals.append(left)
        state, direction = casadi.vertcat(q, v, value), casadi.vertcat(steps["q"], steps["v"], 1)
        steps["a"][e, :] = -dependent.solve(casadi.jtimes(left, state, direction))
    return steps, [violation(*residuals), dependent.condition]
