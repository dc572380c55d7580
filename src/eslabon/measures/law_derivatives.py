"""What a law of control does to small motions: its derivatives by the configuration, the velocities and its own states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.calls import inlined
from eslabon.mechanism import Mechanism
from eslabon.model.configuration import coordinate_rates
from eslabon.motion.simulation.native_laws import columns
from eslabon.numerics.scalars import casadi
from eslabon.systems.linear.linear_model import LinearModel


@dataclass(frozen=True, eq=False)
class LawDerivatives:
    """tau and z' of a law tau, z' = law(t, q, v, z), differentiated at t = 0 by q (along the velocities), v and z."""

    function: Any  # a casadi.Function of q, v, z
    z: Floats

    @classmethod
    def of(cls, m: Mechanism, law: Any) -> LawDerivatives:
        """Of a law for a mechanism with the same joints."""
        law.graph(m)  # or a sentence
        z0 = np.zeros(0) if law.state is None else np.atleast_1d(law.state)
        t, q, v, z = (
            casadi.SX.sym(name, size)
            for name, size in (("t", 1), ("q", m.nq), ("v", m.nv), ("z", len(z0)))
        )
        found = columns(law.law, [t, q, v, *([z] if len(z0) else [])], bool(len(z0)))
        found = inlined([casadi.substitute(x, t, 0.0) for x in found])
        along = coordinate_rates(m, q)
        parts = [
            [casadi.jacobian(x, q) @ along, casadi.jacobian(x, v), casadi.jacobian(x, z)]
            for x in found
        ]
        if len(found) == 1:
            parts.append([casadi.SX(0, n) for n in (m.nv, m.nv, 0)])
        flat = [casadi.densify(x) for row in parts for x in row]
        return cls(casadi.Function("law_derivatives", [q, v, z], flat), z0)

    def closed_loop(self, lm: LinearModel) -> Floats:
        """A of the closed loop in the states of the linear model and those of the law, (..., n, n)."""
        lead, n, k = lm.batch, lm.A.shape[-1], len(self.z)
        closed = np.zeros((*lead, n + k, n + k))
        places = np.concatenate([lm.position_map, np.zeros_like(lm.position_map)], axis=-1)
        for at in np.ndindex(lead):
            q, v = (np.broadcast_to(x, (*lead, x.shape[-1]))[at] for x in (lm.q, lm.v))
            found = [np.array(x) for x in self.function(q, v, self.z)]
            to_x, to_v = (
                np.broadcast_to(x, (*lead, *x.shape[-2:]))[at] for x in (places, lm.velocity_map)
            )
            (tau_x, tau_z), (z_x, z_z) = (
                (a @ to_x + b @ to_v, c) for a, b, c in (found[:3], found[3:])
            )
            B = np.broadcast_to(lm.B, (*lead, *lm.B.shape[-2:]))[at]
            closed[at] = np.block([[lm.A[at] + B @ tau_x, B @ tau_z], [z_x, z_z]])
        return closed
