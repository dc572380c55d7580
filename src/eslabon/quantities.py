"""The table of everything that can be asked of a mechanism: which formula, of what, in which shape."""

from __future__ import annotations

from eslabon.graph.trace import Quantity

FRAMES, DYNAMICS = "eslabon.kinematics.frames", "eslabon.dynamics.equations"

QUANTITIES = {
    quantity.name: quantity
    for quantity in (
        Quantity("pose", ("q",), FRAMES, lambda m: (4, 4)),
        Quantity("jacobian", ("q",), FRAMES, lambda m: (6, m.nv)),
        Quantity("velocity", ("q", "v"), FRAMES, lambda m: (6,)),
        Quantity("acceleration", ("q", "v", "a"), FRAMES, lambda m: (6,)),
        Quantity("position_hessian", ("q",), FRAMES, lambda m: (3, m.nv, m.nv)),
        Quantity("inverse_dynamics", ("q", "v", "a"), DYNAMICS, lambda m: (m.nu,), external=True, trees=True),
        Quantity("forward_dynamics", ("q", "v", "tau"), DYNAMICS, lambda m: (m.nv,), external=True, trees=True),
        Quantity("mass_matrix", ("q",), DYNAMICS, lambda m: (m.nv, m.nv)),
        Quantity("coriolis_matrix", ("q", "v"), DYNAMICS, lambda m: (m.nv, m.nv)),
        Quantity("gravity_forces", ("q",), DYNAMICS, lambda m: (m.nv,)),
        Quantity("energy", ("q", "v"), DYNAMICS, lambda m: (2,)),
        Quantity("reactions", ("q", "v", "a"), DYNAMICS, lambda m: (len(m.joints), 6), external=True, trees=True),
        Quantity("regressor", ("q", "v", "a"), DYNAMICS, lambda m: (m.nv, 10 * len(m.bodies))),
    )
}
