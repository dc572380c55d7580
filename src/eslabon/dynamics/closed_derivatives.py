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

from eslabon.dynamics.loops import violation
from eslabon.formulations.constrained import Square
from eslabon.formulations.symbols import SX, zeros
from eslabon.graph.calls import inlining
from eslabon.graph.evaluator import Formula
from eslabon.kinematics import closure
from eslabon.kinematics.closure import Partition
from eslabon.kinematics.tree import coordinate_rates
from eslabon.model import Model

SLIGHT = 1e-3  # m or rad a unit of the parameter: less of a change of closure is not judged in proportion


def along_closed(m: Model, *own: SX, of: Formula, parameter: str, held: Partition, **options: Any) -> list[SX]:
    """The values of a formula differentiated by a parameter along the closed configuration; then by how much the state
    violates closure, and how far it is from one at which what is held determines nothing."""
    given, known = dict(zip(of.input_names, own, strict=True)), parameter in m.symbols
    value: Any = m.symbols[parameter] if known else casadi.SX.sym(parameter)
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
    if not known:
        put: Any = casadi.substitute
        made = put(made, [value], [casadi.SX(m.parameters[parameter])])
    return made


def following(m: Model, given: dict[str, SX], value: SX, p: Partition) -> tuple[dict[str, SX], list[SX]]:
    """How the coordinates, velocities and accelerations of a closed state change with a parameter; forces do not.

    Also the violation of closure; which part of Phi_p no motion makes up for, as when one length of Bennett's linkage alone
    changes; and the condition of J_e.
    """
    steps = {name: zeros(x.numel()) for name, x in given.items()}
    if not m.closed:
        return steps, [zeros(1), zeros(1), casadi.SX(1)]
    q: Any = given["q"]
    v: Any = given.get("v")
    a: Any = given.get("a")
    e, along = list(p.dependent), coordinate_rates(m, q)
    every = closure.equations(m, q, zeros(m.nv) if v is None else v, tuple(range(len(closure.row_names(m)))))
    J, gamma, rate = (x[list(p.rows), :] for x in every[1:])
    opened = casadi.densify(casadi.jacobian(every.phi, value))
    dependent, residuals = Square(J[:, e]), [every.phi]
    moved = zeros(m.nv)
    moved[e, :] = -dependent.solve(opened[list(p.rows), :])
    steps["q"] = along @ moved
    opening = casadi.norm_2(opened + every.J @ moved) / casadi.fmax(casadi.norm_2(opened), SLIGHT)
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
    return steps, [violation(*residuals), opening, dependent.condition]
