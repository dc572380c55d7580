"""What follows from the states of a motion and from what acts on it: accelerations, forces of
couplings, reactions, energy."""

from __future__ import annotations

from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.formula import Formula, requested
from eslabon.errors import ModelError
from eslabon.formulas.quantities import quantity
from eslabon.model import Model
from eslabon.model.validation import TIME
from eslabon.motion.loads import Loads
from eslabon.motion.simulation import equations_of_motion
from eslabon.solve.constraints.constraint_structure import constraint_structure
from eslabon.solve.constraints.state_checks import checked


def along(
    m: Model, loads: Loads, formula: Formula, t: Floats, q: Floats, v: Floats, *others: Floats
) -> Floats:
    """What a formula says along a motion, (..., times, numbers)."""
    f = loads.along().function(m, formula)
    made: Floats = f(np.broadcast_to(t, q.shape[:-1]), q, v, *others)
    return made


def accelerations(m: Model, loads: Loads, t: Floats, q: Floats, v: Floats, tau: Floats) -> Floats:
    """The accelerations along a motion, (..., times, nv)."""
    return along(m, loads, equations_of_motion.ACCELERATIONS, t, q, v, tau)


def coupling_forces(m: Model, loads: Loads, t: Floats, q: Floats, v: Floats, tau: Floats) -> Floats:
    """The forces of couplings along a motion, (..., times, couplings)."""
    return along(m, loads, equations_of_motion.COUPLING_FORCES, t, q, v, tau)


def reactions(
    m: Model, loads: Loads, t: Floats, q: Floats, v: Floats, a: Floats, tau: Floats
) -> Floats:
    """The wrenches of joints, then of cut joints, along a motion, (..., times, joints, 6): of a
    tree they follow from the accelerations, with loops from the actuators' forces, since a motion
    may leave to no actuator what moves it."""
    if m.closed and loads.stops:
        raise ModelError(
            f"{m.name} has loops, and joint stops push on them: their reactions are not found; simulate it without stops."
        )
    formula = quantity(m, "reactions_under_forces" if m.closed else "reactions")
    timed = (TIME,) if m.rheonomic else ()
    names = (*timed, *loads.parameters)
    request = requested(m, formula, {}, names, tuple(loads.external), prepare=constraint_structure)
    call: Any = checked(m, request)
    times, held = [np.broadcast_to(t, q.shape[:-1])] * len(timed), loads.along()
    values = [*held.external.values(), *times, *held.parameters.values()]
    made: Floats = call(q, v, tau if m.closed else a, *values)
    return made


def energy(m: Model, loads: Loads, q: Floats, v: Floats) -> Floats:
    """Kinetic and potential energy along a motion, (..., times, 2), with that of joint stops."""
    formula = equations_of_motion.ENERGY if loads.stops else quantity(m, "energy")
    both: Floats = loads.along().function(m, formula)(q, v)
    return both
