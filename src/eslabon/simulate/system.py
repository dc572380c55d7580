"""What is integrated: a mechanism with all that is the same at all times, and its formulas as native functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.graph.evaluator import Formula, evaluate, requested
from eslabon.kinematics.closure import Partition
from eslabon.model import Model
from eslabon.model.configuration import coordinate_velocities
from eslabon.quantities import QUANTITIES, quantity
from eslabon.simulate import motion_equations
from eslabon.simulate.control import Law, Table
from eslabon.simulate.projection import project

Shape = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class System:
    """The mechanism, wrenches on its bodies, its parameters' values, and how its equations are written."""

    m: Model
    external: Mapping[str, Floats] = field(default_factory=dict)
    parameters: Mapping[str, Floats] = field(default_factory=dict)
    formulation: str | None = None
    constraints: str | None = None
    partition: Partition | None = None

    @property
    def batch(self) -> Shape:
        """The leading axes of all that was given."""
        wrenches = [w.shape[:-1] for w in self.external.values()]
        return np.broadcast_shapes(*wrenches, *(p.shape for p in self.parameters.values()))

    def pick(self, batch: Shape, index: Any) -> System:
        """The system of some trajectories of a batch."""
        wrenches = {name: np.broadcast_to(w, (*batch, 6))[index] for name, w in self.external.items()}
        values = {name: np.asarray(np.broadcast_to(p, batch)[index]) for name, p in self.parameters.items()}
        return replace(self, external=wrenches, parameters=values)

    # -- formulas -----------------------------------------------------------------------------------------------

    def function(self, formula: Formula, along: bool = False, **options: Any) -> Callable[..., Any]:
        """The native function of a formula, wrenches and parameters put in; `along` the times of a motion, for which
        they have no axis."""
        words = {"formulation": self.formulation, "constraints": self.constraints}
        options |= {name: word for name, word in words.items() if name in formula.options}
        external = self.external if formula.external else {}
        f = evaluate(self.m, formula, tuple(self.parameters), tuple(external), **options)
        constants = [*(w[..., None, :] if along else w for w in external.values())]
        constants += [p[..., None] if along else p for p in self.parameters.values()]
        return lambda *arrays, **keywords: f(*arrays, *constants, **keywords)

    def rates(self, law: Law | None = None) -> Callable[..., Floats]:
        """dx/dt of t, x and the actuators' forces beside the law's."""
        if self.constraints != "elimination":
            return self.function(motion_equations.RATES, law=law)
        return self._eliminated(law)

    def _eliminated(self, law: Law | None) -> Callable[..., Floats]:
        """dx/dt with the dependent coordinates eliminated, of which others are chosen where these go bad."""
        from eslabon.solvers.closure_checks import checked

        m, names = self.m, tuple(self.external)
        words = {"formulation": self.formulation, "constraints": "elimination", "partition": self.partition}
        accelerations = checked(m, requested(m, quantity(m, "forward_dynamics"), words, (), names), np.inf)
        forces = None if law is None else evaluate(m, motion_equations.FORCES, law=law)

        def rates(t: float, x: Floats, tau: Floats) -> Floats:
            x = project(m, x)
            q, v = x[..., : m.nq], x[..., m.nq :]
            tau = tau if forces is None else tau + forces(t, q, v)
            a = accelerations(q, v, tau, *self.external.values())
            return np.concatenate([coordinate_velocities(m, q, v), a], axis=-1)

        return rates

    # -- what follows from a motion -----------------------------------------------------------------------------

    def accelerations(self, q: Floats, v: Floats, tau: Floats) -> Floats:
        """Forward dynamics along a motion, (..., times, nv)."""
        a: Floats = self.function(motion_equations.ACCELERATIONS, along=True)(q, v, tau)
        return a

    def energy(self, q: Floats, v: Floats) -> Floats:
        """Kinetic and potential energy along a motion, (..., times, 2)."""
        both: Floats = self.function(QUANTITIES["energy"], along=True)(q, v)
        return both


def forces_along(m: Model, control: Table | Law | None, t: Floats, q: Floats, v: Floats) -> Floats:
    """The forces of a control that is no Python function at the states of a motion, (..., times, nu)."""
    if isinstance(control, Law):
        forces: Floats = evaluate(m, motion_equations.FORCES, law=control)(np.broadcast_to(t, q.shape[:-1]), q, v)
        return forces
    given = np.zeros(m.nu) if control is None else control.at(t)
    return np.array(np.broadcast_to(given, (*q.shape[:-1], m.nu)))
