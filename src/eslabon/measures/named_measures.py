"""Measures by name, and what else can stand for one: a measure, a function, or several of these."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import Parameter, signature
from typing import Any

from eslabon.arguments import known_words, mapping
from eslabon.errors import ModelError, format_value, suggest
from eslabon.formulas.quantities import QUANTITIES
from eslabon.measures.called_function import Called
from eslabon.measures.closed_loop_damping import ClosedLoopDamping
from eslabon.measures.condition import Condition
from eslabon.measures.energy_consumption import EnergyConsumption
from eslabon.measures.measure import Measure
from eslabon.measures.natural_frequency import NaturalFrequency
from eslabon.measures.peak_power import PeakPower
from eslabon.measures.peak_reaction import PeakReaction
from eslabon.measures.peak_torque import PeakTorque
from eslabon.measures.quantity_at_states import Quantity
from eslabon.measures.reachable_workspace import ReachableWorkspace
from eslabon.measures.rms_torque import RmsTorque
from eslabon.measures.several_measures import Several
from eslabon.measures.tracking_error import TrackingError

MEASURES: Mapping[str, type[Measure]] = {
    own.name: own
    for own in (PeakTorque, RmsTorque, PeakPower, EnergyConsumption, PeakReaction, Condition, NaturalFrequency, ClosedLoopDamping, TrackingError, ReachableWorkspace)
}  # fmt: skip


def measure_of(quantity: Any, options: Mapping[str, Any] | None = None) -> Measure:
    """The measure that is meant by a name, with its options; a measure or a function stands for itself.

    Names are those of measures ("peak_torque", "condition", ...) and of quantities of the table ("inverse_dynamics", "energy",
    ...; see `Quantity`). Several, by the names of their columns, make `Several`.

    >>> measure_of("natural_frequency", {"at": [0.0, 0.0]})
    <NaturalFrequency>
    >>> measure_of("peak_torqe")
    Traceback (most recent call last):
    ...
    eslabon.errors.ModelError: there is no measure or quantity 'peak_torqe'; did you mean 'peak_torque'?
    """
    given = dict(mapping(options, "options"))
    if isinstance(quantity, str):
        return _named(quantity, given)
    made = _as_it_is(quantity)
    if given:
        raise ModelError(
            f"{', '.join(map(repr, given))}: options go with the name of a measure; {format_value(quantity)} has its own already."
        )
    return made


def _as_it_is(quantity: Any) -> Measure:
    if isinstance(quantity, Measure):
        return quantity
    if isinstance(quantity, type) and issubclass(quantity, Measure):
        raise ModelError(
            f"{quantity.__name__} is a kind of measure; say what it is of, as in {quantity.__name__}(...)."
        )
    if isinstance(quantity, Mapping):
        return Several(quantity)
    if callable(quantity):
        return Called(quantity)
    raise ModelError(
        f"what is measured is a name such as 'peak_torque', a measure of es.measures, a function f(mechanism), or several of "
        f"these by name; it is {format_value(quantity)}."
    )


def _named(name: str, options: dict[str, Any]) -> Measure:
    if name in MEASURES:
        _check_options(name, MEASURES[name], options)
        return MEASURES[name](**options)
    if name not in QUANTITIES:
        raise ModelError(
            f"there is no measure or quantity {format_value(name)}{suggest(name, [*MEASURES, *QUANTITIES])}"
        )
    return Quantity(name, **options)


def _check_options(name: str, kind: type[Measure], options: dict[str, Any]) -> None:
    """Refuse options that a measure does not have, and say which it needs."""
    own = signature(kind).parameters.values()
    if not any(p.kind is Parameter.VAR_KEYWORD for p in own):
        known_words(options, [p.name for p in own], f"{name} has no option")
    for p in own:
        if (
            p.default is Parameter.empty
            and p.kind is Parameter.POSITIONAL_OR_KEYWORD
            and p.name not in options
        ):
            raise ModelError(
                f"{name} needs {p.name}, as in es.measures.{kind.__name__}({p.name}=...)."
            )
