"""The table of everything that can be asked of a mechanism: which formula, of what, in which shape."""

from __future__ import annotations

from eslabon.graph.trace import Quantity
from eslabon.model import Mechanism

FRAMES, CLOSURE = "eslabon.kinematics.frames", "eslabon.kinematics.closure"
DYNAMICS, CLOSED = "eslabon.dynamics.equations", "eslabon.dynamics.closed"
JUDGED = ("residual", "quality")  # how far a state tears the loops, and how far its posture is from singular


def constraints(m: Mechanism) -> int:
    """The number of scalar closure equations."""
    return sum(6 - loop.kind.nv for loop in m.description.loops) + len(m.description.couplings)


QUANTITIES = {
    quantity.name: quantity
    for quantity in (
        Quantity("pose", ("q",), FRAMES, lambda m: (4, 4)),
        Quantity("jacobian", ("q",), FRAMES, lambda m: (6, m.nv)),
        Quantity("velocity", ("q", "v"), FRAMES, lambda m: (6,)),
        Quantity("acceleration", ("q", "v", "a"), FRAMES, lambda m: (6,)),
        Quantity("position_hessian", ("q",), FRAMES, lambda m: (3, m.nv, m.nv)),
        Quantity("inverse_dynamics", ("q", "v", "a"), DYNAMICS, lambda m: (m.nu,), external=True),
        Quantity("forward_dynamics", ("q", "v", "tau"), DYNAMICS, lambda m: (m.nv,), external=True),
        Quantity("mass_matrix", ("q",), DYNAMICS, lambda m: (m.nv, m.nv)),
        Quantity("coriolis_matrix", ("q", "v"), DYNAMICS, lambda m: (m.nv, m.nv)),
        Quantity("gravity_forces", ("q",), DYNAMICS, lambda m: (m.nv,)),
        Quantity("energy", ("q", "v"), DYNAMICS, lambda m: (2,)),
        Quantity("reactions", ("q", "v", "a"), DYNAMICS, lambda m: (len(m.joints), 6), external=True),
        Quantity("reactions_under_forces", ("q", "v", "tau"), DYNAMICS, lambda m: (len(m.joints), 6), external=True),
        Quantity("regressor", ("q", "v", "a"), DYNAMICS, lambda m: (m.nv, 10 * len(m.bodies))),
        Quantity("constraint", ("q",), CLOSURE, lambda m: (constraints(m),)),
        Quantity("constraint_jacobian", ("q",), CLOSURE, lambda m: (constraints(m), m.nv)),
    )
}

# The same questions asked of a mechanism with loops.
LOOPED = {
    quantity.name: quantity
    for quantity in (
        Quantity("inverse_dynamics", ("q", "v", "a"), CLOSED, lambda m: (m.nu,), True, JUDGED),
        Quantity("forward_dynamics", ("q", "v", "tau"), CLOSED, lambda m: (m.nv,), True, JUDGED),
        Quantity("hybrid_dynamics", ("q", "v", "a"), CLOSED, lambda m: (m.nu + m.nv,), True, JUDGED),
        Quantity("reactions", ("q", "v", "a"), CLOSED, lambda m: (len(m.joints) + len(m.loops), 6), True, JUDGED),
        Quantity(
            "reactions_under_forces",
            ("q", "v", "tau"),
            CLOSED,
            lambda m: (len(m.joints) + len(m.loops), 6),
            True,
            JUDGED,
        ),
    )
}
