"""Linear models for the design of gains along a motion: without the slope that Coulomb friction has
at rest."""

from __future__ import annotations

from copy import copy
from typing import Any

from eslabon.arguments import Floats
from eslabon.model import Model
from eslabon.model.changes import with_item
from eslabon.model.memory import per_model
from eslabon.systems.linear.linear_model import LinearModel
from eslabon.systems.linear.linearize import linearize


def gliding(m: Model, state: Any, t: Floats) -> LinearModel:
    """The linear models at states q, v, a of a motion, with the forces that go with it.

    Coulomb friction changes its sign over a velocity so small (`dynamics.applied.CREEP`) that at
    rest it looks like a damper of hundreds of N m s, which is gone as soon as anything moves: gains
    must not count on it. The forces have it.
    """
    time = t if m.rheonomic else None
    lm = linearize(_without_coulomb(m), state.q, state.v, a=state.a, t=time)
    if any(j.coulomb is not None for j in m.joints):
        lm = copy(lm)
        lm.tau = linearize(m, state.q, state.v, a=state.a, t=time).tau
    return lm


@per_model
def _without_coulomb(m: Model) -> Model:
    for joint in m.joints:
        if joint.coulomb is not None:
            m = type(m)(with_item(m, "joint", joint.name, {"coulomb": None}))
    return m
