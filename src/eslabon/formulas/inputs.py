"""The inputs of a mechanism's formulas: coordinates, velocities, accelerations, actuators' forces,
wrenches on bodies."""

from __future__ import annotations

from typing import Any

from eslabon.compiler.formula import Argument, Tangent
from eslabon.model import Model
from eslabon.model.configuration import coordinate_rates


def _coordinates(m: Model, **_: Any) -> tuple[int]:
    return (m.nq,)


def _velocities(m: Model, **_: Any) -> tuple[int]:
    return (m.nv,)


def _forces(m: Model, **_: Any) -> tuple[int]:
    return (m.nu,)


def _count(m: Model) -> int:
    return m.nv


# Derivatives by coordinates are taken along velocities, so that quaternions need no care.
Q = Argument("q", _coordinates, "coordinates", tangent=Tangent(_count, coordinate_rates))
V = Argument("v", _velocities, "velocities")
A = Argument("a", _velocities, "velocities")
TAU = Argument("tau", _forces, "actuators")
STATE = (Q, V, A, TAU)
WRENCH = Argument("wrench", (6,), "components of a wrench", group="external")
