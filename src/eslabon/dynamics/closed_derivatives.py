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

from eslabon.formulations.constrained import Square
from eslabon.formulations.symbols import SX, zeros
from eslabon.graph.calls import inlining
from eslabon.graph.evaluator import Formula
from eslabon.kinematics import closure
from eslabon.kinematics.closure import Partition, Structure
from eslabon.kinematics.tree import coordinate_rates
from eslabon.model import Model


def along_closed(m: Model, *own: SX, of: Formula, parameter: str, held: Partition | None, **options: Any) -> list[SX]:
    """The values of a formula differentiated by a parameter along the closed configuration, then its checks."""
    structure: Structure = options["structure"]
    value = m.symbols.get(parameter)
    known = value is not None
    if not known:
        value = casadi.SX.sym(parameter)
    varied = m.with_symbols({**m.symbols, parameter: value})
    if of.prepare is None:
        options.pop("structure")
    with inlining():
        found = of.function(varied, *own, **options)
        made = [casadi.SX(x) for x in (found if isinstance(found, list) else [found])]
        given = dict(zip(of.input_names, own, strict=True))
        steps = following(varied, given, value, held or structure.partition)
    arguments = casadi.vertcat(*given.values(), value)
    direction = casadi.vertcat(*(steps[name] for name in given), casadi.SX(1))
    count = len(of.outputs) - of.checks
    made[:count] = [
        casadi.jtimes(casadi.vec(casadi.densify(x)), arguments, direction).reshape(x.shape) for x in made[:count]
    ]
    made = made[: len(of.outputs)]
    return made if known else list(casadi.substitute(made, [value], [casadi.SX(m.parameters[parameter])]))


def following(m: Model, given: dict[str, SX], value: SX, p: Partition) -> dict[str, SX]:
    """How the coordinates, velocities and accelerations of a closed state change with a parameter; forces do not."""
    steps = {name: zeros(x.numel()) for name, x in given.items()}
    if not m.closed or "q" not in given:
        return steps
    q, v, a = (given.get(name) for name in "qva")
    e, along = list(p.dependent), coordinate_rates(m, q)
    phi, J, gamma, rate = closure.equations(m, q, v, p.rows)
    dependent = Square(J[:, e])
    moved = zeros(m.nv)
    moved[e, :] = -dependent.solve(casadi.jacobian(phi, value))
    steps["q"] = along @ moved
    if v is not None:
        changed = casadi.jtimes(J @ v + rate, casadi.vertcat(q, value), casadi.vertcat(steps["q"], 1))
        steps["v"][e, :] = -dependent.solve(changed)
    if a is not None:
        state, direction = casadi.vertcat(q, v, value), casadi.vertcat(steps["q"], steps["v"], 1)
        steps["a"][e, :] = -dependent.solve(casadi.jtimes(J @ a - gamma, state, direction))
    return steps
