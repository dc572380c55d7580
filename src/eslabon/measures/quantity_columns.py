"""The columns that a quantity of the table makes: a name and a unit for each of its numbers."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np

from eslabon.compiler.formula import Formula, requested
from eslabon.formulas.kinematics.closure import row_names
from eslabon.measures.labels import FORCE, actuator_units
from eslabon.model import Model
from eslabon.model.configuration import velocity_columns
from eslabon.solve.constraints.constraint_structure import constraint_structure

TWIST = {"wx": "rad/s", "wy": "rad/s", "wz": "rad/s", "vx": "m/s", "vy": "m/s", "vz": "m/s"}
WRENCH = {"mx": "N m", "my": "N m", "mz": "N m", "fx": "N", "fy": "N", "fz": "N"}
ANY = "SI"  # what mixes units, number by number


class Part(NamedTuple):
    """One number of a quantity: its name beside the quantity's, its unit, and its place among the numbers of an output."""

    name: str
    unit: str
    output: int
    place: int


def parts_of(m: Model, formula: Formula) -> list[Part]:
    """The numbers of a quantity, by name where they have one and else by their places, counted from one.

    >>> import eslabon as es
    >>> from eslabon.formulas.quantities import quantity
    >>> m = es.load("elbow")
    >>> [part.name for part in parts_of(m, quantity(m, "energy"))]
    ['kinetic', 'potential']
    """
    found: list[Part] = []
    request = requested(m, formula, prepare=constraint_structure)
    for number, output in enumerate(request.outputs(m)[: request.values]):
        size = output.shape
        own = _named(m, output.name) or [
            (f"[{','.join(str(k + 1) for k in at)}]", ANY) for at in np.ndindex(*size)
        ]
        prefix = f"{output.name}." if len(formula.outputs) > 1 else ""
        found += [
            Part(prefix + name, unit, number, place)
            for place, (name, unit) in enumerate(own)
            if name
        ]
    return found


def _named(m: Model, output: str) -> list[tuple[str, str]]:
    """Names and units of the numbers of an output, in their order; those without a name are constants."""
    velocities = {str(c): c.unit for c in velocity_columns(m)}
    wrenches = [*(j.name for j in m.joints), *(loop.name for loop in m.loops if m.closed)]
    forces = {name: FORCE[unit] for name, unit in velocities.items()}
    match output:
        case "pose":
            return _pose()
        case "velocity":
            return [*TWIST.items()]
        case "acceleration":
            return [(name, f"{unit}²") for name, unit in TWIST.items()]
        case "jacobian":
            return [
                (f"{x}.{y}", _ratio(a, b))
                for (x, a), (y, b) in product(TWIST.items(), velocities.items())
            ]
        case "inverse_dynamics" | "forces":
            return [*actuator_units(m).items()]
        case "forward_dynamics" | "accelerations":
            return [(name, f"{unit}²") for name, unit in velocities.items()]
        case "gravity_forces":
            return [*forces.items()]
        case "energy":
            return [("kinetic", "J"), ("potential", "J")]
        case "mass_matrix" | "coriolis_matrix":
            units = MASS if output == "mass_matrix" else DAMPING
            return [
                (f"{x}.{y}", units[a[0], b[0]])
                for (x, a), (y, b) in product(velocities.items(), repeat=2)
            ]
        case "reactions" | "reactions_under_forces":
            return [(f"{x}.{y}", unit) for x, (y, unit) in product(wrenches, WRENCH.items())]
        case "coupling_forces" | "coupling_forces_under_forces":
            return [
                (c.name, FORCE[velocity_columns(m)[m.velocities[c.joint].start].unit])
                for c in m.couplings
            ]
        case "constraint":
            rows = row_names(m)
            return [
                (f"{name}[{rows[:k].count(name) + 1}]", "m or rad") for k, name in enumerate(rows)
            ]
    return []


MASS = {("r", "r"): "kg m²", ("r", "m"): "kg m", ("m", "r"): "kg m", ("m", "m"): "kg"}
DAMPING = {("r", "r"): "N m s", ("r", "m"): "N s", ("m", "r"): "N s", ("m", "m"): "N s/m"}


def _ratio(a: str, b: str) -> str:
    return "" if a == b else "m/rad" if a == "m/s" else "rad/m"


def _pose() -> list[tuple[str, str]]:
    """The rows of the rotation and the position; the last row is constant."""
    rows = [
        [(f"R{i}{j}", "") for j in "123"] + [(x, "m")] for i, x in zip("123", "xyz", strict=True)
    ]
    return [*(each for row in rows for each in row), *[("", "")] * 4]
