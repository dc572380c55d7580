"""What is integrated: a mechanism with all that is the same at all times, and its formulas as native functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.formula import Formula, requested
from eslabon.compiler.switching import ModeLayout
from eslabon.errors import ModelError
from eslabon.formulas.formulations.formulation import Formulation
from eslabon.formulas.quantities import quantity
from eslabon.formulas.structure import Partition
from eslabon.model import Model
from eslabon.model.configuration import coordinate_velocities
from eslabon.model.validation import TIME
from eslabon.motion.simulation import equations_of_motion
from eslabon.motion.simulation.acting_forces import Acting
from eslabon.motion.simulation.actuation import Table
from eslabon.motion.simulation.branch_neighbours import Branch, project_along_branch
from eslabon.motion.simulation.controller_memory import within
from eslabon.motion.simulation.joint_stops import Stop
from eslabon.motion.simulation.native_laws import Law, law_at
from eslabon.solve.constraints.constraint_structure import constraint_structure
from eslabon.solve.designs import DESCRIBED, Designs

if TYPE_CHECKING:
    from eslabon.motion.simulation.branch_rates import BranchRates

Shape = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class System:
    """The mechanism, wrenches on its bodies, its parameters' values, how its equations are written, the limits of its actuators'
    forces, and the stops of its joints."""

    m: Model
    external: Mapping[str, Floats] = field(default_factory=dict)
    parameters: Mapping[str, Floats] = field(default_factory=dict)
    formulation: Formulation | None = None
    constraints: str | None = None
    partition: Partition | None = None
    limit: tuple[float, ...] = ()
    stops: tuple[Stop, ...] = ()
    friction: str = "smooth"

    @property
    def batch(self) -> Shape:
        """The leading axes of all that was given."""
        wrenches = [w.shape[:-1] for w in self.external.values()]
        return np.broadcast_shapes(*wrenches, *(p.shape for p in self.parameters.values()))

    @cached_property
    def designs(self) -> Designs:
        """The values of its parameters, a design for each trajectory."""
        if not self.parameters:
            return DESCRIBED
        return Designs(
            tuple(self.parameters),
            np.stack(np.broadcast_arrays(*self.parameters.values()), axis=-1),
        )

    def projected(self, x: Floats, t: Any) -> Floats:
        """States (..., n) on the constraint manifold, each trajectory on that of its design."""
        return project_along_branch(self.m, x, t, self.designs)

    def pick(self, batch: Shape, index: Any) -> System:
        """The system of some trajectories of a batch."""
        wrenches = {
            name: np.broadcast_to(w, (*batch, 6))[index] for name, w in self.external.items()
        }
        values = {
            name: np.asarray(np.broadcast_to(p, batch)[index])
            for name, p in self.parameters.items()
        }
        return replace(self, external=wrenches, parameters=values)

    # -- formulas -----------------------------------------------------------------------------------------------

    def function(self, formula: Formula, along: bool = False, **options: Any) -> Callable[..., Any]:
        """The native function of a formula, wrenches and parameters put in; `along` the times of a motion, for which
        they have no axis."""
        for name in ("formulation", "constraints", "limit", "stops", "friction"):
            if name in formula.options:
                options[name] = getattr(self, name)
        external = self.external if formula.external else {}
        f = evaluate(self.m, formula, tuple(self.parameters), tuple(external), **options)
        numbers = law_numbers(options.get("law"), options.get("acting"))
        vectors = [*numbers, *external.values()]
        constants = [*(w[..., None, :] if along and w.ndim > 1 else w for w in vectors)]
        constants += [p[..., None] if along else p for p in self.parameters.values()]
        if not constants:
            return f
        return lambda *arrays, **keywords: f(*arrays, *constants, **keywords)

    def switched_forces(self, law: Law | None, limited: bool) -> SwitchedForces | None:
        """The forces that act, if they have choices that may freeze; `limited`, if effort limits are among these."""
        acting = Acting(law, self.limit if limited else (), self.stops, self.friction)
        if acting == Acting():
            return None
        layout = acting.layout(self.m, tuple(self.parameters))
        return SwitchedForces(self, acting, layout) if layout.names else None

    def pushed_rates(self) -> Callable[..., Any]:
        """d(q, v)/dt of t, (q, v) and the forces of actuators and along all velocities; of a mechanism with loops also the
        `rank_distance` of the constraints."""
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
        """The same of a mechanism with loops, or at the stages of a fixed step, and the `rank_distance` of the constraints."""
        if self.constraints != "elimination":
            of = equations_of_motion
            return self.function(of.LOOP_STAGE_RATES if stages else of.LOOP_RATES, law=law)
        rates, branch = self._eliminated(law), Branch(self.m, self.designs)
        return lambda t, x, tau: (rates(t, x, tau), branch.distance(t, x[: self.m.nq]))

    def _eliminated(self, law: Law | None) -> Callable[..., Floats]:
        """dx/dt with the dependent coordinates eliminated, of which others are chosen where these go bad."""
        from eslabon.solve.constraints.state_checks import checked

        m, names = self.m, tuple(self.external)
        words = {
            "formulation": self.formulation,
            "constraints": "elimination",
            "partition": self.partition,
        }
        timed = (TIME,) if m.rheonomic else ()
        inputs = (*timed, *self.parameters)
        formula = quantity(m, "forward_dynamics")
        request = requested(m, formula, words, inputs, names, prepare=constraint_structure)
        accelerations = checked(m, request, np.inf)

        def rates(t: float, x: Floats, tau: Floats) -> Floats:
            x = self.projected(x, t)
            q, v, own = x[..., : m.nq], x[..., m.nq : m.nq + m.nv], x[..., m.nq + m.nv :]
            given, own = (0.0, own) if law is None else law_at(m, law, t, q, v, own)
            forces, time = within(tau + given, self.limit), (t,) * len(timed)
            a = accelerations(
                q, v, forces, *self.external.values(), *time, *self.parameters.values()
            )
            return np.concatenate([coordinate_velocities(m, q, v), a, own], axis=-1)

        return rates

    # -- what follows from a motion -----------------------------------------------------------------------------

    def along(self, formula: Formula, t: Floats, q: Floats, v: Floats, *others: Floats) -> Floats:
        """What a formula says along a motion, (..., times, numbers)."""
        made: Floats = self.function(formula, along=True)(
            np.broadcast_to(t, q.shape[:-1]), q, v, *others
        )
        return made

    def accelerations(self, t: Floats, q: Floats, v: Floats, tau: Floats) -> Floats:
        """The accelerations along a motion, (..., times, nv)."""
        return self.along(equations_of_motion.ACCELERATIONS, t, q, v, tau)

    def coupling_forces(self, t: Floats, q: Floats, v: Floats, tau: Floats) -> Floats:
        """The forces of couplings along a motion, (..., times, couplings)."""
        return self.along(equations_of_motion.COUPLING_FORCES, t, q, v, tau)

    def reactions(self, t: Floats, q: Floats, v: Floats, a: Floats, tau: Floats) -> Floats:
        """The wrenches of joints, then of cut joints, along a motion, (..., times, joints, 6): of a tree they follow from the
        accelerations, with loops from the actuators' forces, since a motion may leave to no actuator what moves it."""
        from eslabon.solve.constraints.state_checks import checked

        m, external = self.m, tuple(self.external)
        if m.closed and self.stops:
            raise ModelError(
                f"{m.name} has loops, and joint stops push on them: their reactions are not found; simulate it without stops."
            )
        formula = quantity(m, "reactions_under_forces" if m.closed else "reactions")
        timed = (TIME,) if m.rheonomic else ()
        inputs = (*timed, *self.parameters)
        request = requested(m, formula, {}, inputs, external, prepare=constraint_structure)
        call: Any = checked(m, request)
        wrenches = [w[..., None, :] for w in self.external.values()]
        values = [np.broadcast_to(t, q.shape[:-1])] * len(timed) + [
            p[..., None] for p in self.parameters.values()
        ]
        made: Floats = call(q, v, tau if m.closed else a, *wrenches, *values)
        return made

    def energy(self, q: Floats, v: Floats) -> Floats:
        """Kinetic and potential energy along a motion, (..., times, 2)."""
        both: Floats = self.function(
            equations_of_motion.ENERGY if self.stops else quantity(self.m, "energy"), along=True
        )(q, v)
        return both


def law_numbers(law: Law | None, acting: Acting | None = None) -> list[Floats]:
    """The numbers of a law, as one more array of a call; nothing where there are none."""
    law = law if acting is None else acting.law
    return [law.numbers.data] if law is not None and law.data_size else []


@dataclass(frozen=True, eq=False)
class SwitchedForces:
    """The forces that act on a system, with choices that are frozen: native functions of t, x, tau and modes."""

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
        """dx/dt of t, x, tau and modes, of which there may be several (..., size); of a mechanism with loops by its rates
        near rank loss."""
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
    """What a control that is no Python function asks for at the states of a motion, (..., times, nu)."""
    if isinstance(control, Law):
        return law_at(m, control, t, q, v, state, along=True)[0]
    given = np.zeros(m.nu) if control is None else control.at(t)
    return np.array(np.broadcast_to(given, (*q.shape[:-1], m.nu)))
