"""Designs: values of some parameters of a mechanism, one set for each configuration of a batch.

Native code takes them as its last inputs, so that thousands of designs share the code of one
mechanism.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from eslabon.arguments import Floats, finite, mapping
from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.formula import Argument, Formula
from eslabon.errors import InputError, ModelError
from eslabon.formulas.kinematics.closure import constraint
from eslabon.formulas.kinematics.frames import chosen_frame, placement
from eslabon.model import Model
from eslabon.model.configuration import velocity_units
from eslabon.model.memory import per_model
from eslabon.model.scale import characteristic_length, row_units
from eslabon.model.validation import TIME, margin
from eslabon.numerics.scalars import casadi

M = TypeVar("M", bound=Model)


@dataclass(frozen=True, eq=False)
class Designs:
    """The names of parameters, and their values (..., names); without names the mechanism is as it
    is described."""

    names: tuple[str, ...] = ()
    values: Floats = field(default_factory=lambda: np.zeros(0))

    def __getitem__(self, at: Any) -> Designs:
        """Some of the designs."""
        return Designs(self.names, self.values[at])

    @property
    def lead(self) -> tuple[int, ...]:
        """The leading axes."""
        return self.values.shape[:-1]

    @property
    def inputs(self) -> tuple[Floats, ...]:
        """What native code takes behind its own inputs."""
        return tuple(self.values[..., k] for k in range(len(self.names)))

    def along(self, axes: int = 1) -> Designs:
        """The same for arrays with more axes of their own, such as the times of a motion."""
        return Designs(self.names, self.values[(..., *(None,) * axes, slice(None))])

    def reshaped(self, *lead: int) -> Designs:
        """The same with other leading axes."""
        return Designs(self.names, self.values.reshape(*lead, len(self.names)))

    def over(self, *lead: int) -> Designs:
        """The same for each configuration of a batch."""
        return Designs(self.names, np.broadcast_to(self.values, (*lead, len(self.names))))

    def own(self, m: Model) -> Designs:
        """The mechanism's own values of the same parameters."""
        return Designs(
            self.names, np.array([m.parameters[name] for name in self.names], dtype=float)
        )

    def chosen(self, names: tuple[str, ...]) -> Designs:
        """Some of the parameters."""
        return Designs(names, self.values[..., [self.names.index(name) for name in names]])

    def moving(self, m: Model, frame: str | None = None) -> Designs:
        """Those of the parameters that change a configuration: that the loops, or the place of a
        frame, depend on."""
        return self.chosen(depended_on(m, self.names, frame)) if self.names else self

    def mechanism(self, m: M) -> M:
        """The mechanism of a single design."""
        return (
            m.variant(**dict(zip(self.names, self.values.tolist(), strict=True)))
            if self.names
            else m
        )

    def __str__(self) -> str:
        """A single design, as in "L2 = 0.05, L3 = 0.1"."""
        return ", ".join(
            f"{name} = {x:.6g}" for name, x in zip(self.names, self.values, strict=True)
        )

    @property
    def told(self) -> str:
        """A single design as a part of a sentence, behind the mechanism's name."""
        return f" with {self}" if self.names else ""


DESCRIBED = Designs()


def designs_of(m: Model, parameters: Any, limits: bool = False) -> Designs:
    """What users give as `parameters`, checked: names that the mechanism has, in their order,
    values that it can take, arrays that fit together; where limits of joints are to be kept, such
    as these do not depend on."""
    given = mapping(parameters, "parameters")
    m.check_parameters(tuple(given))
    if TIME in given and TIME not in m.parameters:
        raise ModelError(f"{m.name}: the time is no parameter; give it to the call, as t=0.5.")
    values = {name: finite(x, f"parameter '{name}'") for name, x in sorted(given.items())}
    if not values:
        return DESCRIBED
    try:
        together = np.stack(np.broadcast_arrays(*values.values()), axis=-1)
    except ValueError:
        told = ", ".join(f"{name} {x.shape}" for name, x in values.items())
        raise InputError(
            f"the values of parameters do not fit together: they have the shapes {told}; give one of each for all, or one for each."
        ) from None
    made = Designs(tuple(values), together)
    if limits and (names := limiting(m, made.names)):
        raise ModelError(
            f"limits of joints of {m.name} depend on {', '.join(names)}: pass limits=False, or ask m.variant(...) of one design after "
            "the other."
        )
    _refuse_inadmissible(m, made)
    return made


def one_design(m: M, parameters: Any, verb: str) -> M:
    """The mechanism with the parameters' values, for a verb that answers for one design at a
    time."""
    designs = designs_of(m, parameters)
    if designs.lead:
        first = designs.names[0]
        raise ModelError(
            f"{verb} answers for one design at a time, and parameters has the leading axes {designs.lead}; ask it of each, as in "
            f"[m.variant({first}=x).{verb}(...) for x in values]."
        )
    return designs.mechanism(m)


def _refuse_inadmissible(m: Model, designs: Designs) -> None:
    margins = np.ravel(evaluate(m, MARGINS, designs.names)(*designs.inputs))
    if np.all(margins >= 0):
        return
    worst = designs.values.reshape(margins.size, len(designs.names))[int(np.argmin(margins >= 0))]
    wrong = Designs(designs.names, worst)
    wrong.mechanism(m)  # which says what is wrong
    raise ModelError(f"{m.name} cannot be{wrong.told}.")


def margins(m: Model) -> Any:
    """How far the values of parameters are from what a mechanism cannot have."""
    return margin(m)


MARGINS = Formula("margins", margins, (), (Argument("margin", ()),), rare=True)


def characteristic_lengths(m: Model, designs: Designs) -> Floats:
    """The characteristic length of each design."""
    if not designs.names:
        return np.full(designs.lead, characteristic_length(m))
    return np.asarray(evaluate(m, LENGTH, designs.names)(*designs.inputs))


def row_scales_of(m: Model, designs: Designs) -> Floats:
    """The scales of the rows of the closure equations of each design, (..., rows)."""
    return _scales_of(m, designs, row_units(m), "m")


def velocity_scales_of(m: Model, designs: Designs) -> Floats:
    """The scales of the velocities of each design, (..., nv)."""
    return _scales_of(m, designs, velocity_units(m), "m/s")


def _scales_of(m: Model, designs: Designs, units: tuple[str, ...], sliding: str) -> Floats:
    slides = np.array([unit == sliding for unit in units], dtype=bool)
    if not slides.any():
        return np.ones(len(units))
    return np.where(slides, 1 / characteristic_lengths(m, designs)[..., None], 1.0)


LENGTH = Formula(
    "characteristic_length", characteristic_length, (), (Argument("length", ()),), rare=True
)


@per_model
def depended_on(m: Model, names: tuple[str, ...], frame: str | None = None) -> tuple[str, ...]:
    """Those of some parameters that closed loops, or the place of a frame, depend on; masses and
    inertias are none."""
    q = casadi.SX.sym("q", m.nq)

    def places(m: Model) -> Any:
        at = [*placement(m, q, chosen_frame(m, frame))] if frame is not None else []
        return casadi.vertcat(
            *(casadi.vec(casadi.SX(x)) for x in (*([constraint(m, q)] if m.closed else []), *at))
        )

    return symbols_in(m, names, places)


@per_model
def limiting(m: Model, names: tuple[str, ...]) -> tuple[str, ...]:
    """Those of some parameters that limits of joints depend on."""
    return symbols_in(
        m,
        names,
        lambda m: casadi.vertcat(*(x for j in m.joints for pair in j.limits or () for x in pair)),
    )


def symbols_in(
    m: Model, names: tuple[str, ...], expression: Callable[[Model], Any]
) -> tuple[str, ...]:
    """Those of some parameters that an expression of the model depends on."""
    values = {name: casadi.SX.sym(name) for name in names}
    made = casadi.SX(expression(m.with_symbols(values).with_time(casadi.SX.sym("t"))))
    return tuple(name for name, x in values.items() if made.numel() and casadi.depends_on(made, x))
