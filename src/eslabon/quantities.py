"""The table of everything that can be asked of a mechanism: which formula, of what, in which shape."""

from __future__ import annotations

from eslabon.graph.trace import Quantity
from eslabon.kinematics import frames

QUANTITIES = {
    quantity.name: quantity
    for quantity in (
        Quantity("pose", ("q",), frames.pose, lambda m: (4, 4)),
        Quantity("jacobian", ("q",), frames.jacobian, lambda m: (6, m.nv)),
        Quantity("velocity", ("q", "v"), frames.velocity, lambda m: (6,)),
        Quantity("acceleration", ("q", "v", "a"), frames.acceleration, lambda m: (6,)),
        Quantity("position_hessian", ("q",), frames.position_hessian, lambda m: (3, m.nv, m.nv)),
    )
}
