"""What a law of control does to small motions: its derivatives by the configuration, the velocities and its own states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.calls import derived
from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.formula import Argument, Formula
from eslabon.formulas.inputs import Q, V
from eslabon.mechanism import Mechanism
from eslabon.model import Model
from eslabon.model.configuration import coordinate_rates
from eslabon.motion.simulation.native_laws import Law
from eslabon.numerics.scalars import Expression, casadi
from eslabon.systems.linear.linear_model import LinearModel


def law_derivatives(
    m: Model, q: Expression, v: Expression, z: Expression, law: Law
) -> list[Expression]:
    """tau and z' of a law tau, z' = law(t, q, v, z), differentiated at t = 0 by q (along the velocities), v and z."""
    along = coordinate_rates(m, q)

    def slopes(found: list[Expression]) -> list[Expression]:
        return [
            slope
            for x in found
            for slope in (casadi.jacobian(x, q) @ along, casadi.jacobian(x, v), casadi.jacobian(x, z))
        ]  # fmt: skip

    forces, rates = law(casadi.SX(0), q, v, z)
    return [casadi.densify(x) for x in derived(slopes, [forces, rates])]


DERIVATIVES = Formula(
    "law_derivatives", law_derivatives, (Q, V, Argument("z", lambda m, law: (law.size,))),
    (
        Argument("tau_q", lambda m, law: (m.nu, m.nv)), Argument("tau_v", lambda m, law: (m.nu, m.nv)),
        Argument("tau_z", lambda m, law: (m.nu, law.size)), Argument("z_q", lambda m, law: (law.size, m.nv)),
        Argument("z_v", lambda m, law: (law.size, m.nv)), Argument("z_z", lambda m, law: (law.size, law.size)),
    ),
    {"law": None}, rare=True,
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class LawDerivatives:
    """A law about which small motions are looked at."""

    m: Mechanism
    law: Law

    @classmethod
    def of(cls, m: Mechanism, law: Any) -> LawDerivatives:
        """Of a law for a mechanism with the same joints."""
        return cls(m, law.graph(m))

    @property
    def z(self) -> Floats:
        """The law's states at the start."""
        return self.law.state

    def closed_loop(self, lm: LinearModel) -> Floats:
        """A of the closed loop in the states of the linear model and those of the law, (..., n, n)."""
        numbers = [self.law.numbers.data] if self.law.data_size else []
        f = evaluate(self.m, DERIVATIVES, law=self.law)
        tau_q, tau_v, tau_z, z_q, z_v, z_z = f(lm.q, lm.v, self.z, *numbers)
        to_q = np.concatenate([lm.position_map, np.zeros_like(lm.position_map)], axis=-1)
        tau_x, z_x = (a @ to_q + b @ lm.velocity_map for a, b in ((tau_q, tau_v), (z_q, z_v)))
        blocks = [[lm.A + lm.B @ tau_x, lm.B @ tau_z], [z_x, z_z]]
        lead = np.broadcast_shapes(*(x.shape[:-2] for row in blocks for x in row))
        rows = [
            np.concatenate([np.broadcast_to(x, (*lead, *x.shape[-2:])) for x in row], axis=-1)
            for row in blocks
        ]
        return np.concatenate(rows, axis=-2)
