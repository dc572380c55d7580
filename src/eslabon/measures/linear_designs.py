"""Linear models of many designs: about a configuration that is held, or about where each rests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eslabon.arguments import Floats, finite, states
from eslabon.errors import InputError, ModelError
from eslabon.measures.assembled_designs import assembled
from eslabon.measures.given_motion import JointStates, given_motion
from eslabon.measures.measure import as_mechanism
from eslabon.measures.native_batches import Designs, Rows, number_of
from eslabon.mechanism import Mechanism
from eslabon.systems.linear.linear_model import LinearModel


@dataclass(frozen=True, eq=False)
class OperatingPoint:
    """A configuration `at` which a mechanism is held, or, without one, the equilibrium next to a `guess` under forces `tau`."""

    at: JointStates | None
    tau: Floats | None
    guess: Any

    def check(self, m: Mechanism) -> None:
        """Refuse what is no configuration of a mechanism, or no forces of its actuators."""
        as_mechanism(m)
        if self.at is not None:
            self.at.check(m)
        elif self.tau is not None:
            states(self.tau, "tau", m.nu, m.name, "actuators")

    def of(self, m: Mechanism) -> LinearModel:
        """The linear model of one mechanism."""
        as_mechanism(m)
        if self.at is not None:
            return m.linearize(self.at.completed(m)[0][0])
        found = m.equilibrium(tau=self.tau, guess=self.guess)
        return m.linearize(found.q, None, found.tau)

    def models(
        self, m: Mechanism, designs: Designs
    ) -> tuple[Rows, LinearModel | None, dict[int, str]]:
        """Numbers of designs with their linear models in one batch, and of others why they have none."""
        if self.at is None:
            given = dict(designs)
            rest = m.equilibrium(tau=self.tau, guess=self.guess, parameters=given)
            return (
                np.arange(number_of(designs)),
                m.linearize(rest.q, None, rest.tau, parameters=given),
                {},
            )
        found = assembled(m, designs, self.at)
        own = {name: x[:, 0] for name, x in found.parameters.items()}
        return (
            found.rows,
            m.linearize(found.q[:, 0], parameters=own) if len(found.rows) else None,
            found.reasons,
        )


def operating_point(at: Any, tau: Any, guess: Any) -> OperatingPoint:
    """What users give, as arrays."""
    if at is not None and (tau is not None or guess is not None):
        raise ModelError(
            "at is a configuration that is held; tau and guess are for a mechanism that rests: leave them, or at, out."
        )
    held = None if at is None else given_motion(at)
    if held is not None and (
        not isinstance(held, JointStates) or len(held) != 1 or held.t is not None
    ):
        raise InputError("at is one configuration, of all joints or of the actuated ones.")
    forces = None if tau is None else finite(tau, "tau")
    return OperatingPoint(
        held, forces, guess if guess is None or isinstance(guess, str) else finite(guess, "guess")
    )
