"""Derivatives of measures by parameters of the mechanism, exact: those of the graph along the closed configuration, and the chain
rule through what a measure makes of them.

A peak has the derivative that the quantity has where it peaks, a natural frequency that of its pole. Measures that a design is
simulated for, or that a function in Python computes, have none here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from eslabon.arguments import Floats
from eslabon.errors import AssemblyError
from eslabon.formulas.quantities import quantity as formula_of
from eslabon.measures.along_motion import AlongMotion
from eslabon.measures.assembled_designs import assembled
from eslabon.measures.closed_loop_damping import ClosedLoopDamping
from eslabon.measures.condition import Condition
from eslabon.measures.energy_consumption import EnergyConsumption
from eslabon.measures.given_motion import FrameMotion, JointStates
from eslabon.measures.measure import Measure
from eslabon.measures.natural_frequency import UNITS, NaturalFrequency
from eslabon.measures.peak_power import PeakPower
from eslabon.measures.peak_reaction import PeakReaction
from eslabon.measures.peak_torque import PeakTorque
from eslabon.measures.quantity_at_states import UNDER_FORCES, Quantity
from eslabon.measures.rms_torque import RmsTorque
from eslabon.measures.several_measures import Several, renamed_column
from eslabon.mechanism import Mechanism
from eslabon.model.scale import characteristic_length
from eslabon.numerics.scalars import casadi
from eslabon.systems.linear.linear_model import LinearModel
from eslabon.systems.linear.model_derivatives import model_derivative

Slopes = dict[str, Floats]  # by column, one number for each parameter


def exact_derivatives(
    measure: Measure, m: Mechanism, parameters: Sequence[str], at: Mapping[str, float] | None = None
) -> Slopes:
    """The derivatives of a measure's columns by parameters, in the design that has values `at` of some, and else those of the
    mechanism: (parameters,) by column; columns without an exact derivative are left out.

    >>> import eslabon as es
    >>> m = es.load("five_bar")
    >>> swing = es.paths.joint_path([[2.0, 1.0], [2.3, 0.8]], es.paths.quintic(0.2))
    >>> exact_derivatives(es.measures.PeakTorque(swing), m, ["L2", "m3"])["peak_torque"].round(4)
    array([0.119 , 0.0726])
    """
    own = {name: m.parameters[name] for name in parameters}
    return _derivatives(measure, m, Design(tuple(parameters), {**own, **(at or {})}))


class Design(NamedTuple):
    """By which parameters, and the values of some of them."""

    by: tuple[str, ...]
    at: Mapping[str, float]


@singledispatch
def _derivatives(measure: Measure, m: Mechanism, design: Design) -> Slopes:
    return {}


@dataclass(frozen=True)
class Motion:
    """The states of a measure in one design, and how quantities along them change with parameters."""

    m: Mechanism
    given: JointStates | FrameMotion
    design: Design
    q: Floats
    v: Floats
    a: Floats

    @classmethod
    def of(cls, measure: Any, m: Mechanism, design: Design) -> Motion:
        states = assembled(
            m, {name: np.array([x]) for name, x in design.at.items()}, measure.motion
        )
        for why in states.reasons.values():
            raise AssemblyError(why)
        return cls(m, measure.motion, design, states.q[0], states.v[0], states.a[0])

    def both(self, verb: str, *names: str, **options: Any) -> tuple[Floats, Floats]:
        """A quantity (k, ...) and its derivatives (parameters, k, ...)."""
        arrays = [getattr(self, name) for name in names]
        return self.values(verb, arrays, **options)[0], self.slopes(verb, arrays, **options)[0]

    def values(self, verb: str, arrays: Sequence[Floats], **options: Any) -> list[Floats]:
        """Each output of a quantity, (k, ...)."""
        return listed(getattr(self.m, verb)(*arrays, parameters=dict(self.design.at), **options))

    def slopes(self, quantity: str, arrays: Sequence[Floats], **options: Any) -> list[Floats]:
        """Derivatives (parameters, k, ...) of each output of a quantity, what is given of the motion being held."""
        own = {"parameters": dict(self.design.at), **self._held(), **options}
        return [
            np.moveaxis(x, -1, 0)
            for x in listed(self.m.derivative(quantity, self.design.by, *arrays, **own))
        ]

    def _held(self) -> dict[str, Any]:
        if isinstance(self.given, FrameMotion):
            from eslabon.formulas.kinematics.frames import chosen_frame

            return {
                "along": "closed",
                "held": {chosen_frame(self.m, self.given.frame).name: self.given.part},
            }
        return (
            {"along": "closed", "held": self.given.prescribed(self.m)[0]} if self.m.closed else {}
        )

    def power(self) -> tuple[Floats, Floats]:
        """What each actuator gives, (k, actuators), and its derivatives."""
        tau, slopes = self.both("inverse_dynamics", "q", "v", "a")
        driven = list(self.m.actuated_velocities)
        if self._held():
            slopes = (
                slopes * self.v[:, driven]
                + tau * self.slopes("velocities", [self.q, self.v])[0][..., driven]
            )
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
    largest, parts = (
        measure.name,
        [c for c in measure.columns(m) if c not in (measure.name, f"{measure.name}.total")],
    )
    made = {column: slopes[:, k] for k, column in enumerate(parts)}
    return (
        {largest: slopes[:, int(np.argmax(value))], **made}
        if largest in measure.columns(m)
        else made
    )


@_derivatives.register
def _(measure: PeakTorque, m: Mechanism, design: Design) -> Slopes:
    x = Motion.of(measure, m, design).both("inverse_dynamics", "q", "v", "a")
    return _columns(measure, m, *reduced("peak", measure.motion.t, *x))


@_derivatives.register
def _(measure: RmsTorque, m: Mechanism, design: Design) -> Slopes:
    x = Motion.of(measure, m, design).both("inverse_dynamics", "q", "v", "a")
    return _columns(measure, m, *reduced("rms", measure.motion.t, *x))


@_derivatives.register
def _(measure: PeakPower, m: Mechanism, design: Design) -> Slopes:
    power, slopes = Motion.of(measure, m, design).power()
    total = reduced("peak", None, power.sum(axis=-1), slopes.sum(axis=-1))[1]
    return {
        **_columns(measure, m, *reduced("peak", None, power, slopes)),
        f"{measure.name}.total": total,
    }


@_derivatives.register
def _(measure: EnergyConsumption, m: Mechanism, design: Design) -> Slopes:
    power, slopes = Motion.of(measure, m, design).power()
    kept = np.where(power > 0, 1.0, measure.regeneration)
    energy = np.trapezoid(kept * slopes, measure.motion.t, axis=1)
    total, *each = measure.columns(m)
    return {total: energy.sum(axis=1), **{column: energy[:, k] for k, column in enumerate(each)}}


@_derivatives.register
def _(measure: PeakReaction, m: Mechanism, design: Design) -> Slopes:
    wrenches, slopes = Motion.of(measure, m, design).both("reactions", "q", "v", "a")
    places = measure.places(m)
    largest, *columns = measure.columns(m)
    made: list[tuple[Floats, Floats]] = []
    for part in (slice(3, 6), slice(0, 3)):
        x, dx = wrenches[:, places, part], slopes[:, :, places, part]
        size = np.linalg.norm(x, axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            made.append(
                reduced("peak", None, size, np.where(size > 0, (x * dx).sum(axis=-1) / size, 0.0))
            )
    (force, df), (_, dn) = made
    each = np.stack([df, dn], axis=-1).reshape(len(design.by), -1)
    return {
        largest: df[:, int(np.argmax(force))],
        **{column: each[:, k] for k, column in enumerate(columns)},
    }


@_derivatives.register
def _(measure: Condition, m: Mechanism, design: Design) -> Slopes:
    """Only of the parallel kind, and by parameters that do not change the characteristic length, which is held."""
    if not measure.parallel(m) or _changes_the_length(m, design):
        return {}
    motion = Motion.of(measure, m, design)
    at = dict(design.at)
    value = m.conditions(motion.q, parameters=at).parallel
    slopes = m.derivative(
        "conditions", design.by, motion.q, parameters=at, **motion._held()
    ).parallel
    return {measure.name: reduced(measure.reduce, measure.motion.t, value, slopes.T)[1]}


def _changes_the_length(m: Mechanism, design: Design) -> bool:
    """Whether the characteristic length of a design depends on one of the parameters."""
    p = casadi.SX.sym("p", len(design.by))
    own = m.with_parameters(**{k: x for k, x in design.at.items() if k not in design.by})
    length = characteristic_length(
        own.with_symbols(dict(zip(design.by, casadi.vertsplit(p), strict=True)))
    )
    at = [design.at.get(name, m.parameters[name]) for name in design.by]
    slope = casadi.Function("slope", [p], [casadi.jacobian(casadi.SX(length), p)])
    return bool(np.any(slope(at).full()))


@_derivatives.register
def _(measure: Quantity, m: Mechanism, design: Design) -> Slopes:
    if measure.states() > 1:
        return {}
    motion, verb = Motion.of(measure, m, design), measure.quantity.removesuffix(UNDER_FORCES)
    if verb != measure.quantity or measure.tau is not None:
        return {}
    arrays = [getattr(motion, x) for x in formula_of(m, measure.quantity).input_names]
    outputs = motion.values(verb, arrays, **measure.options)
    changes = motion.slopes(verb, arrays, **measure.options)
    made = {}
    for column, part in zip(measure.columns(m), measure.parts(m), strict=True):
        x = outputs[part.output].reshape(len(measure.motion), -1)[:, part.place]
        dx = changes[part.output].reshape(len(design.by), len(measure.motion), -1)[..., part.place]
        made[column] = reduced(
            measure.reduce or "mean", measure.motion.t if measure.reduce else None, x, dx
        )[1]
    return made


# -- of linear models -------------------------------------------------------------------------------------------------


class Linear(NamedTuple):
    """The linear model of one design, and how it changes: with the forces that hold it, or with where it rests."""

    lm: LinearModel
    following: str
    held: Any

    @classmethod
    def of(cls, measure: Any, m: Mechanism, design: Design) -> Linear:
        _, lm, why = measure.at.models(m, {name: np.array([x]) for name, x in design.at.items()})
        if lm is None:
            raise AssemblyError(next(iter(why.values())))
        held = measure.at.at
        if held is None:
            return cls(lm, "coordinates", None)
        return cls(lm, "forces", held.prescribed(m)[0] if m.closed else None)


@_derivatives.register
def _(measure: NaturalFrequency, m: Mechanism, design: Design) -> Slopes:
    lm, following, held = Linear.of(measure, m, design)
    modes = lm.modes()
    poles, zero = np.ravel(modes.poles), np.ravel(modes.zero)
    oscillating = (poles.imag > 0) & ~zero
    if oscillating.sum() <= max(measure.modes()):
        return {}
    order = np.argsort(np.where(oscillating, np.abs(poles), np.inf))
    slopes = np.stack(
        [np.ravel(modes.derivative(name, following, held).frequencies) for name in design.by]
    )
    columns = measure.columns(m)
    return {column: slopes[:, order[k]] / UNITS[measure.unit] for column, k in zip(columns, measure.modes(), strict=True)}  # fmt: skip


@_derivatives.register
def _(measure: ClosedLoopDamping, m: Mechanism, design: Design) -> Slopes:
    """Of poles of A - B K, with gains that all designs keep; each changes by y (A' - B' K) x / y x."""
    from scipy.linalg import eig

    K = measure.gains(m)
    if K is None:
        return {}
    lm, following, held = Linear.of(measure, m, design)
    size = lm.A.shape[-1]
    poles, left, right = eig((lm.A - lm.B @ K).reshape(size, size), left=True)
    changes = [model_derivative(lm, name, following, held) for name in design.by]
    C = np.stack([(x["A"] - x["B"] @ K).reshape(size, size) for x in changes])
    across = np.einsum("ik,ik->k", left.conj(), right)
    slopes = np.einsum("ik,pij,jk->pk", left.conj(), C, right) / across
    length = np.abs(poles)
    ratios = -slopes.real / length + poles.real * (poles.conj() * slopes).real / length**3
    worst, slowest = int(np.argmin(-poles.real / length)), int(np.argmax(poles.real))
    damping, decay = measure.columns(m)
    return {damping: ratios[:, worst], decay: -slopes[:, slowest].real}


@_derivatives.register
def _(measure: Several, m: Mechanism, design: Design) -> Slopes:
    made: Slopes = {}
    for key, each in measure.measures.items():
        found = _derivatives(each, m, design)
        made |= {renamed_column(key, each.name, column): x for column, x in found.items()}
    return made
