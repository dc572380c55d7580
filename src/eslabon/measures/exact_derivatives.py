"""Derivatives of measures by parameters of the mechanism, exact: those of the graph along the closed configuration, and the chain
rule through what a measure makes of them.

A peak has the derivative that the quantity has where it peaks. Measures that a design is simulated for, or that a function in
Python computes, have none here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.coordinates.partition import partition, retained_rows
from eslabon.measures.along_motion import AlongMotion
from eslabon.measures.condition import Condition
from eslabon.measures.energy_consumption import EnergyConsumption
from eslabon.measures.given_motion import FrameMotion, JointStates
from eslabon.measures.measure import Measure
from eslabon.measures.peak_power import PeakPower
from eslabon.measures.peak_reaction import PeakReaction
from eslabon.measures.peak_torque import PeakTorque
from eslabon.measures.quantity_at_states import UNDER_FORCES, Quantity
from eslabon.measures.rms_torque import RmsTorque
from eslabon.measures.several_measures import Several, renamed_column
from eslabon.mechanism import Mechanism
from eslabon.quantities import quantity as formula_of

Slopes = dict[str, Floats]  # by column, one number for each parameter


@singledispatch
def exact_derivatives(measure: Measure, m: Mechanism, parameters: Sequence[str]) -> Slopes:
    """The derivatives of a measure's columns by parameters at the values that the mechanism has: (parameters,) by column; columns
    without an exact derivative are left out.

    >>> import eslabon as es
    >>> m = es.load("five_bar")
    >>> swing = es.paths.joint_path([[2.0, 1.0], [2.3, 0.8]], es.paths.quintic(0.2))
    >>> exact_derivatives(es.measures.PeakTorque(swing), m, ["L2", "m3"])["peak_torque"].round(4)
    array([0.119 , 0.0726])
    """
    return {}


@dataclass(frozen=True)
class Motion:
    """The states of a measure in one design, and how quantities along them change with parameters."""

    m: Mechanism
    given: JointStates | FrameMotion
    parameters: tuple[str, ...]
    q: Floats
    v: Floats
    a: Floats

    @classmethod
    def of(cls, measure: Any, m: Mechanism, parameters: Sequence[str]) -> Motion:
        return cls(m, measure.motion, tuple(parameters), *measure.motion.completed(m, None))

    def both(self, verb: str, *names: str, **options: Any) -> tuple[Floats, Floats]:
        """A quantity (k, ...) and its derivatives (parameters, k, ...)."""
        arrays = [getattr(self, name) for name in names]
        return getattr(self.m, verb)(*arrays, **options), self.slopes(verb, arrays, **options)[0]

    def slopes(self, quantity: str, arrays: Sequence[Floats], **options: Any) -> list[Floats]:
        """Derivatives (parameters, k, ...) of each output of a quantity, what is given of the motion being held."""
        found = self.m.derivative(quantity, self.parameters, *arrays, **self._held(), **options)
        return [np.moveaxis(x, -1, 0) for x in listed(found)]

    def _held(self) -> dict[str, Any]:
        if isinstance(self.given, FrameMotion):
            from eslabon.kinematics.frames import chosen_frame

            return {"along": "closed", "held": {chosen_frame(self.m, self.given.frame).name: self.given.part}}
        return {"along": "closed", "held": self.given.prescribed(self.m)[0]} if self.m.closed else {}

    def power(self) -> tuple[Floats, Floats]:
        """What each actuator gives, (k, actuators), and its derivatives."""
        tau, slopes = self.both("inverse_dynamics", "q", "v", "a")
        driven = list(self.m.actuated_velocities)
        if self._held():
            slopes = slopes * self.v[:, driven] + tau * self.slopes("velocities", [self.q, self.v])[0][..., driven]
        else:
            slopes = slopes * self.v[:, driven]
        return tau * self.v[:, driven], slopes


def listed(x: Any) -> list[Floats]:
    """The outputs of a quantity, one or several."""
    return list(x) if isinstance(x, tuple) else [x]


def reduced(how: str, t: Floats | None, x: Floats, dx: Floats) -> tuple[Floats, Floats]:
    """What is told of a series x (k, ...), and its derivatives from dx (parameters, k, ...)."""
    if how in ("peak", "least", "greatest"):
        size = {"peak": np.abs(x), "least": -x, "greatest": x}[how]
        at = np.argmax(size, axis=0)[None]
        value, slope = np.take_along_axis(x, at, 0)[0], np.take_along_axis(dx, at[None], 1)[:, 0]
        sign = np.sign(value) if how == "peak" else 1.0
        return sign * value, sign * slope
    if how == "rms":
        value = np.sqrt(_mean(t, x**2))
        with np.errstate(invalid="ignore", divide="ignore"):
            return value, np.where(value > 0, _mean(t, x * dx, 1) / value, 0.0)
    return _mean(t, x), _mean(t, dx, 1)


def _mean(t: Floats | None, x: Floats, axis: int = 0) -> Floats:
    if t is None:
        return np.asarray(x.mean(axis=axis))
    return np.asarray(np.trapezoid(x, t, axis=axis) / (t[-1] - t[0]))


def _columns(measure: AlongMotion, m: Mechanism, value: Floats, slopes: Floats) -> Slopes:
    """Columns of parts (parameters, parts), and of the largest of them where there is one."""
    largest, parts = measure.name, [c for c in measure.columns(m) if c not in (measure.name, f"{measure.name}.total")]
    made = {column: slopes[:, k] for k, column in enumerate(parts)}
    return {largest: slopes[:, int(np.argmax(value))], **made} if largest in measure.columns(m) else made


@exact_derivatives.register
def _(measure: PeakTorque, m: Mechanism, parameters: Sequence[str]) -> Slopes:
    x = Motion.of(measure, m, parameters).both("inverse_dynamics", "q", "v", "a")
    return _columns(measure, m, *reduced("peak", measure.motion.t, *x))


@exact_derivatives.register
def _(measure: RmsTorque, m: Mechanism, parameters: Sequence[str]) -> Slopes:
    x = Motion.of(measure, m, parameters).both("inverse_dynamics", "q", "v", "a")
    return _columns(measure, m, *reduced("rms", measure.motion.t, *x))


@exact_derivatives.register
def _(measure: PeakPower, m: Mechanism, parameters: Sequence[str]) -> Slopes:
    power, slopes = Motion.of(measure, m, parameters).power()
    total = reduced("peak", None, power.sum(axis=-1), slopes.sum(axis=-1))[1]
    return {**_columns(measure, m, *reduced("peak", None, power, slopes)), f"{measure.name}.total": total}


@exact_derivatives.register
def _(measure: EnergyConsumption, m: Mechanism, parameters: Sequence[str]) -> Slopes:
    power, slopes = Motion.of(measure, m, parameters).power()
    kept = np.where(power > 0, 1.0, measure.regeneration)
    energy = np.trapezoid(kept * slopes, measure.motion.t, axis=1)
    total, *each = measure.columns(m)
    return {total: energy.sum(axis=1), **{column: energy[:, k] for k, column in enumerate(each)}}


@exact_derivatives.register
def _(measure: PeakReaction, m: Mechanism, parameters: Sequence[str]) -> Slopes:
    wrenches, slopes = Motion.of(measure, m, parameters).both("reactions", "q", "v", "a")
    places = measure.places(m)
    largest, *columns = measure.columns(m)
    made: list[tuple[Floats, Floats]] = []
    for part in (slice(3, 6), slice(0, 3)):
        x, dx = wrenches[:, places, part], slopes[:, :, places, part]
        size = np.linalg.norm(x, axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            made.append(reduced("peak", None, size, np.where(size > 0, (x * dx).sum(axis=-1) / size, 0.0)))
    (force, df), (_, dn) = made
    each = np.stack([df, dn], axis=-1).reshape(len(parameters), -1)
    return {largest: df[:, int(np.argmax(force))], **{column: each[:, k] for k, column in enumerate(columns)}}


@exact_derivatives.register
def _(measure: Condition, m: Mechanism, parameters: Sequence[str]) -> Slopes:
    """Singular values change by u . dJ v. Only of loops: the serial kind weighs lengths by the size of the design."""
    if not measure.parallel(m):
        return {}
    J, dJ = Motion.of(measure, m, parameters).both("constraint_jacobian", "q")
    rows, passive = list(retained_rows(m)), list(partition(m).dependent)
    J, dJ = J[..., rows, :][..., passive], dJ[..., rows, :][..., passive]
    u, s, w = np.linalg.svd(J, full_matrices=False)
    ds = np.einsum("kis,pkij,ksj->pks", u, dJ, w)
    value = s[:, -1] / s[:, 0]
    slope = (ds[..., -1] - value * ds[..., 0]) / s[:, 0]
    return {measure.name: reduced(measure.reduce, measure.motion.t, value, slope)[1]}


@exact_derivatives.register
def _(measure: Quantity, m: Mechanism, parameters: Sequence[str]) -> Slopes:
    if measure.states() > 1:
        return {}
    motion, verb = Motion.of(measure, m, parameters), measure.quantity.removesuffix(UNDER_FORCES)
    if verb != measure.quantity or measure.tau is not None:
        return {}
    arrays = [getattr(motion, x) for x in formula_of(m, measure.quantity).input_names]
    outputs = listed(getattr(m, verb)(*arrays, **measure.options))
    changes = motion.slopes(verb, arrays, **measure.options)
    made = {}
    for column, part in zip(measure.columns(m), measure.parts(m), strict=True):
        x = outputs[part.output].reshape(len(measure.motion), -1)[:, part.place]
        dx = changes[part.output].reshape(len(parameters), len(measure.motion), -1)[..., part.place]
        made[column] = reduced(measure.reduce or "mean", measure.motion.t if measure.reduce else None, x, dx)[1]
    return made


@exact_derivatives.register
def _(measure: Several, m: Mechanism, parameters: Sequence[str]) -> Slopes:
    made: Slopes = {}
    for key, each in measure.measures.items():
        found = exact_derivatives(each, m, parameters)
        made |= {renamed_column(key, each.name, column): x for column, x in found.items()}
    return made
