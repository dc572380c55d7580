"""Names and units of what is measured."""

from __future__ import annotations

from eslabon.model import Model
from eslabon.model.configuration import velocity_columns

FORCE = {"rad/s": "N m", "m/s": "N"}  # by the unit of the velocity that it does work with


def actuator_units(m: Model) -> dict[str, str]:
    """The actuators by the names of what they act on, with the units of their forces.

    >>> import eslabon as es
    >>> actuator_units(es.load("cart_pole"))
    {'x': 'N'}
    """
    columns = velocity_columns(m)
    return {str(columns[k]): FORCE[columns[k].unit] for k in m.actuated_velocities}


def of_each(name: str, units: dict[str, str]) -> dict[str, str]:
    """The columns of a measure of several things: the largest of all, where they have one unit, and each."""
    own = set(units.values())
    largest = {name: own.pop()} if len(own) == 1 else {}
    return {**largest, **{f"{name}.{each}": unit for each, unit in units.items()}}
