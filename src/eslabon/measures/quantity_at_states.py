"""Any quantity of the table at given states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from eslabon.arguments import Floats, choice, finite, text
from eslabon.compiler.formula import Formula
from eslabon.errors import InputError, ModelError, format_value
from eslabon.formulas.quantities import quantity as formula_of
from eslabon.measures.along_motion import filled, mean_in_time
from eslabon.measures.assembled_designs import States, assembled
from eslabon.measures.given_motion import given_motion
from eslabon.measures.measure import Measure, Measured, as_mechanism
from eslabon.measures.native_batches import Designs, in_blocks, number_of, threads
from eslabon.measures.quantity_columns import Part, parts_of
from eslabon.mechanism import Mechanism
from eslabon.verbs import CALL_WORDS, options_of

REDUCTIONS = ("peak", "rms", "mean", "least", "greatest")
REFUSED = ("parameters", "out", "threads", "t")  # of what every verb takes
UNDER_FORCES = "_under_forces"


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Quantity(Measure):
    """A quantity of the table, such as "inverse_dynamics", "mass_matrix", "energy", "reactions" or "pose", at given states.

    Parameters
    ----------
    quantity : its name: that of the verb, or with "_under_forces" of a verb that takes tau.
    q, v, a, tau : one state or several (k, ...), as the verb takes them. With loops the states are whole ones, or those of the
        actuated joints. Where a parameter moves the loops, the actuated joints' states are kept and the others follow in each
        design; other parameters leave whole states as they are.
    motion : in place of q, v and a, as in `AlongMotion`: a joint path, or arrays (t, q, v, a).
    samples, joints, guess, passive : as in `AlongMotion`.
    reduce : what is told of several states: "peak" (of the size), "rms", "mean" (in time, where there is any), "least" or
        "greatest". Left out, a design has a row for each state.
    options : those of the verb, such as `frame`, `axes`, `formulation`, `external`.

    >>> import numpy as np
    >>> import eslabon as es
    >>> m = es.load("elbow")
    >>> weight = es.measures.Quantity("gravity_forces", q=[0.0, 0.0])
    >>> weight.measured(m, {"m2": np.array([0.1, 0.2])}).values["gravity_forces.theta1"].round(3)
    array([6.376, 7.848])
    >>> far = es.measures.Quantity("pose", q=np.linspace([0.0, 0.0], [0.0, 3.0], 7), frame="tool", reduce="greatest")
    >>> far.measured(m, {"a2": np.array([0.5, 1.0])}).values["greatest_pose.x"]
    array([1.5, 2. ])
    """

    quantity: str
    motion: Any
    tau: Floats | None
    reduce: str | None
    options: Mapping[str, Any]

    def __init__(
        self, quantity: str, q: Any = None, v: Any = None, a: Any = None, *, tau: Any = None, motion: Any = None,
        reduce: str | None = None, samples: int = 101, joints: Any = None, guess: Any = None, passive: str = "refuse",
        **options: Any,
    ) -> None:  # fmt: skip
        if (q is None) == (motion is None) or (
            motion is not None and (v is not None or a is not None)
        ):
            raise ModelError(
                f"{format_value(quantity)} needs states: q, and v and a where it depends on them, or a motion; one of the two."
            )
        states = {"q": q, "v": v, "a": a} if motion is None else motion
        for word in options:
            if word in REFUSED:
                raise ModelError(
                    f"a measure gives {word} to {quantity} by itself; leave {word} out."
                )
        made = given_motion(states, samples, joints=joints, guess=guess, passive=passive)
        own = {
            "quantity": text(quantity, "a quantity"), "motion": made, "options": dict(sorted(options.items())),
            "tau": None if tau is None else np.atleast_2d(finite(tau, "tau")),
            "reduce": None if reduce is None else choice(reduce, "reduce", REDUCTIONS),
        }  # fmt: skip
        for name, value in own.items():
            object.__setattr__(self, name, value)

    @property
    def name(self) -> str:
        return f"{self.reduce}_{self.quantity}" if self.reduce else self.quantity

    def states(self) -> int:
        return 1 if self.reduce else len(self.motion)

    def columns(self, m: Mechanism) -> Mapping[str, str]:
        self.motion.check(as_mechanism(m))
        self._formula(m)
        return {self._column(part): part.unit for part in self.parts(m)}

    def measured(self, m: Mechanism, designs: Designs) -> Measured:
        columns = self.columns(m)
        return in_blocks(
            lambda own: self._block(m, own, columns),
            designs,
            columns,
            len(self.motion),
            self.states(),
        )

    def _block(self, m: Mechanism, designs: Designs, columns: Mapping[str, str]) -> Measured:
        states = assembled(m, designs, self.motion)
        return filled(
            columns,
            number_of(designs),
            states,
            self._values(states) if len(states.rows) else {},
            self.states(),
        )

    def _formula(self, m: Mechanism) -> Formula:
        """The formula, if the mechanism has it and the states and options are its own."""
        formula = formula_of(m, self.quantity)
        options_of(
            m, formula, {name: x for name, x in self.options.items() if name not in CALL_WORDS}
        )
        if ("tau" in formula.input_names) != (self.tau is not None):
            raise ModelError(
                f"{self.quantity} takes the actuators' forces; give tau too."
                if self.tau is None
                else f"{self.quantity} does not depend on the actuators' forces; leave tau out."
            )
        if self.tau is not None and (
            self.tau.shape[1] != m.nu or len(self.tau) not in (1, len(self.motion))
        ):
            raise InputError(
                f"tau has shape {self.tau.shape}; a row for each of the {len(self.motion)} states and a value for each of the "
                f"{m.nu} actuators of {m.name} are expected."
            )
        return formula

    def parts(self, m: Mechanism) -> list[Part]:
        """The numbers that its columns are, in their order."""
        return parts_of(as_mechanism(m), formula_of(m, self.quantity))

    def _column(self, part: Part) -> str:
        return (
            f"{self.name}{part.name}" if part.name.startswith("[") else f"{self.name}.{part.name}"
        )

    def _values(self, states: States) -> Mapping[str, Floats]:
        m = states.m
        formula = formula_of(m, self.quantity)
        arrays = [self.tau if x == "tau" else getattr(states, x) for x in formula.input_names]
        verb = self.quantity.removesuffix(UNDER_FORCES)
        forces = {"tau": arrays.pop()} if verb != self.quantity else {}
        made = getattr(m, verb)(
            *arrays, **forces, parameters=states.parameters, threads=threads(), **self.options
        )
        outputs = [
            x.reshape(*x.shape[:2], -1) for x in (made if isinstance(made, tuple) else (made,))
        ]
        return {
            self._column(p): self._reduced(outputs[p.output][..., p.place]) for p in self.parts(m)
        }

    def _reduced(self, x: Floats) -> Floats:
        """(designs, states) as it is told of each design."""
        match self.reduce:
            case "peak":
                return np.abs(x).max(axis=1)
            case "rms":
                return np.sqrt(mean_in_time(self.motion.t, x**2))
            case "mean":
                return mean_in_time(self.motion.t, x)
            case "least":
                return x.min(axis=1)
            case "greatest":
                return x.max(axis=1)
        return x if len(self.motion) > 1 else x[:, 0]

    def _told(self) -> str:
        return f": {self.name} at {len(self.motion)} state{'s' * (len(self.motion) != 1)}"
