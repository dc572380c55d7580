"""What is integrated: a mechanism with all that is the same at all times, and its formulas as
native functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.formula import Formula, requested
from eslabon.compiler.switching import ModeLayout
from eslabon.formulas.formulations.formulation import Formulation
from eslabon.formulas.quantities import quantity
from eslabon.formulas.structure import Partition
from eslabon.model import Model
from eslabon.model.configuration import coordinate_velocities
from eslabon.model.validation import TIME
from eslabon.motion.loads import NO_LOADS, Loads, Shape
from eslabon.motion.simulation import equations_of_motion
from eslabon.motion.simulation.acting_forces import Acting
from eslabon.motion.simulation.actuation import Table
from eslabon.motion.simulation.branch_neighbours import Branch, project_along_branch
from eslabon.motion.simulation.controller_memory import within
from eslabon.motion.simulation.native_laws import Law, law_at
from eslabon.solve.constraints.constraint_structure import constraint_structure
from eslabon.solve.designs import Designs

if TYPE_CHECKING:
    from eslabon.motion.simulation.branch_rates import BranchRates


@dataclass(frozen=True, eq=False)
class System:
    """The mechanism, what acts on it, how its equations are written, and the limits of its
    actuators' forces."""

    m: Model
    loads: Loads = NO_LOADS
    formulation: Formulation | None = None
    constraints: str | None = None
    partition: Partition | None = None
    limit: tuple[float, ...] = ()
    friction: str = "smooth"

    @property
    def designs(self) -> Designs:
        """The values of its parameters, a design for each trajectory."""
        return self.loads.designs

    def projected(self, x: Floats, t: Any) -> Floats:
        """States (..., n) on the constraint manifold, each trajectory on that of its design."""
        return project_along_branch(self.m, x, t, self.designs)

    def pick(self, batch: Shape, index: Any) -> System:
        """The system of some trajectories of a batch."""
        return replace(self, loads=self.loads.pick(batch, index))

    # -- formulas -----------------------------------------------------------------------------------------------

    def function(self, formula: Formula, **options: Any) -> Callable[..., Any]:
        """The native function of a formula, all that acts put in."""
        for name in ("formulation", "constraints", "limit", "friction"):
            if name in formula.options:
                options[name] = getattr(self, name)
        numbers = law_numbers(options.get("law"), options.get("acting"))
        return self.loads.function(self.m, formula, numbers, **options)

    def switched_forces(self, law: Law | None, limited: bool) -> SwitchedForces | None:
        """The forces that act, if they have choices that may freeze; `limited`, if effort limits
        are among these."""
        acting = Acting(law, self.limit if limited else (), self.loads.stops, self.friction)
        if acting == Acting():
            return None
        layout = acting.layout(self.m, tuple(self.loads.parameters))
        return SwitchedForces(self, acting, layout) if layout.names else None

    def pushed_rates(self) -> Callable[..., Any]:
        """d(q, v)/dt of t, (q, v) and the forces of actuators and along all velocities; of a
        mechanism with loops also the `rank_distance` of the constraints."""
        of, closed = equations_of_motion, self.m.closed
        if self.constraints != "elimination":
            return self.function(of.LOOP_PUSHED_RATES if closed else of.PUSHED_RATES)
        eliminated, branch = self._eliminated(None), Branch(self.m, self.designs)
        return lambda t, x, tau, push: (
            eliminated(t, x, tau),
            branch.distance(t, x[: self.m.nq]),
        )

    def rates(self, law: Law | None = None) -> Callable[..., Floats]:
        """dx/dt of t, x and the actuators' forces beside the law's."""
        if self.constraints != "elimination":
            return self.function(equations_of_motion.RATES, law=law)
        return self._eliminated(law)

    def loop_rates(
        self, law: Law | None = None, stages: bool = False
    ) -> Callable[..., tuple[Floats, Any]]:
        """The same of a mechanism with loops, or at the stages of a fixed step, and the
        `rank_distance` of the constraints."""
        if self.constraints != "elimination":
            of = equations_of_motion
            return self.function(of.LOOP_STAGE_RATES if stages else of.LOOP_RATES, law=law)
        rates, branch = self._eliminated(law), Branch(self.m, self.designs)
        return lambda t, x, tau: (rates(t, x, tau), branch.distance(t, x[: self.m.nq]))

    def _eliminated(self, law: Law | None) -> Callable[..., Floats]:
        """dx/dt with the dependent coordinates eliminated, of which others are chosen where these
        go bad."""
        from eslabon.solve.constraints.state_checks import checked

        m, names = self.m, tuple(self.loads.external)
        external, parameters = self.loads.external, self.loads.parameters
        words = {
            "formulation": self.formulation,
            "constraints": "elimination",
            "partition": self.partition,
        }
        timed = (TIME,) if m.rheonomic else ()
        inputs = (*timed, *self.loads.parameters)
        formula = quantity(m, "forward_dynamics")
        request = requested(m, formula, words, inputs, names, prepare=constraint_structure)
        accelerations = checked(m, request, np.inf)

        def rates(t: float, x: Floats, tau: Floats) -> Floats:
            x = self.projected(x, t)
            q, v, own = x[..., : m.nq], x[..., m.nq : m.nq + m.nv], x[..., m.nq + m.nv :]
            given, own = (0.0, own) if law is None else law_at(m, law, t, q, v, own)
            forces, time = within(tau + given, self.limit), (t,) * len(timed)
            a = accelerations(q, v, forces, *external.values(), *time, *parameters.values())
            return np.concatenate([coordinate_velocities(m, q, v), a, own], axis=-1)

        return rates


def law_numbers(law: Law | None, acting: Acting | None = None) -> list[Floats]:
    """The numbers of a law, as one more array of a call; nothing where there are none."""
    law = law if acting is None else acting.law
    return [law.numbers.data] if law is not None and law.data_size else []


@dataclass(frozen=True, eq=False)
class SwitchedForces:
    """The forces that act on a system, with choices that are frozen: native functions of t, x, tau
    and modes."""

    system: System
    acting: Acting
    layout: ModeLayout

    @cached_property
    def choices(self) -> Callable[..., Floats]:
        """The modes that hold by themselves, of t, x and tau."""
        return self._function(equations_of_motion.CHOICES)

    @cached_property
    def forces(self) -> Callable[..., tuple[Floats, Floats, Floats, Floats]]:
        """Commanded, of actuators, along all velocities, and the rates of a law's states."""
        return self._function(equations_of_motion.FROZEN_FORCES)

    @cached_property
    def surfaces(self) -> Callable[..., tuple[Floats, Floats]]:
        """The functions whose signs are the modes, and their rates."""
        return self._function(equations_of_motion.SURFACES)

    @cached_property
    def jacobian(self) -> Callable[..., Floats]:
        """The derivative of dx/dt by x."""
        return self._function(equations_of_motion.FROZEN_JACOBIAN)

    def rates(self, branch: BranchRates | None) -> Callable[..., Floats]:
        """dx/dt of t, x, tau and modes, of which there may be several (..., size); of a mechanism
        with loops by its rates near rank loss."""
        if branch is None:
            made = self._function(equations_of_motion.SWITCHED_RATES)
            quick: Callable[..., Floats] = getattr(made, "native", made)
            return quick

        def beside(t: float, x: Floats, tau: Floats, modes: Floats) -> Floats:
            if modes.ndim > 1:
                return np.array([beside(t, x, tau, own) for own in modes])
            at, n = branch.project(x, t), self.system.m.nq + self.system.m.nv
            _, actuators, push, own = self.forces(t, at, tau, modes)
            return np.concatenate([branch.under_forces(t, x[:n], actuators, push), own])

        if self.system.constraints == "elimination":
            return beside
        plain = self._function(equations_of_motion.LOOP_SWITCHED_RATES)

        def rates(t: float, x: Floats, tau: Floats, modes: Floats) -> Floats:
            found, distance = plain(t, x, tau, modes)
            return beside(t, x, tau, modes) if branch.comes_near(distance) else found

        return rates

    def _function(self, formula: Formula) -> Any:
        return self.system.function(formula, acting=self.acting, size=self.layout.size)


def forces_along(
    m: Model, control: Table | Law | None, t: Floats, q: Floats, v: Floats, state: Floats
) -> Floats:
    """What a control that is no Python function asks for at the states of a motion, (..., times,
    nu)."""
    if isinstance(control, Law):
        return law_at(m, control, t, q, v, state, along=True)[0]
    given = np.zeros(m.nu) if control is None else control.at(t)
    return np.array(np.broadcast_to(given, (*q.shape[:-1], m.nu)))
