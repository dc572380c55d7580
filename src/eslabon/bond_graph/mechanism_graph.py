"""The bond graph of a mechanism, with the verbs that speak of its coordinates."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import Floats, choice, finite, known_words, mapping, states
from eslabon.bond_graph.bond_graph import BondGraph
from eslabon.bond_graph.elements import Description
from eslabon.bond_graph.graph import Graph
from eslabon.bond_graph.rigid_bodies import GRAVITY, displacement_names, speed_names
from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.formula import Argument, Formula
from eslabon.errors import InputError, ModelError, SingularityWarning, user_stacklevel
from eslabon.formulas.inputs import Q
from eslabon.formulas.quantities import quantity
from eslabon.model import Model, as_model
from eslabon.model.configuration import integrate
from eslabon.motion.simulation.simulation_errors import SimulationError
from eslabon.numerics.scalars import casadi
from eslabon.solve.assembly import project
from eslabon.solve.constraints.closure_violation import VIOLATIONS, accepts
from eslabon.solve.constraints.constraint_structure import structure

if TYPE_CHECKING:
    from eslabon.bond_graph.graph_runs import Response

OPEN = 1e-5  # rad, or metres over L: by how much a run may leave the loops, which are not projected
SPREAD = 0.3  # rad, or metres, of configurations drawn at random about home
NEAR = 1e-2  # of the usual spread of the constraints' singular values


class MechanismGraph(BondGraph):
    """A mechanism as a bond graph; `mechanism` is the one it was drawn from.

    Its states are the velocities `v_...`, then momenta of drives, then the coordinates `q_...`,
    lengths of springs, and displacements of drives. Its inputs are the actuators' forces `e_...`
    and what drives and wrenches leave open.

    >>> import eslabon as es
    >>> graph = es.load("elbow").bond_graph()
    >>> graph.inputs, graph.coordinates(graph.state([0.5, 0.2]))
    (('e_theta1', 'e_theta2'), array([0.5, 0.2]))
    """

    mechanism: Model

    @classmethod
    def drawn(cls, m: Model, gravity: str, drives: Mapping[str, Graph] | None) -> MechanismGraph:
        """See `Mechanism.bond_graph`."""
        from eslabon.bond_graph.mechanism_drawing import MechanismDrawing

        if not as_model(m).nv:
            raise ModelError(
                f"{m.name} has no degrees of freedom; there is nothing for a bond graph to tell."
            )
        choice(gravity, "gravity", GRAVITY)
        drawing = MechanismDrawing(m, gravity, mapping(drives, "drives"))
        note = f"{m.name} as a bond graph. {m.note}".strip()
        return cls._of_mechanism(m, drawing.description(note))

    @classmethod
    def _of_mechanism(cls, m: Model, description: Description) -> Self:
        made = cls.from_description(description)
        vars(made)["mechanism"] = m
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return self._of_mechanism, (self.mechanism, self.description)

    def with_parameters(self, **values: float | str) -> Self:
        """The graph with other values of some parameters of the mechanism or its drives."""
        made = super().with_parameters(**values)
        own = {name: x for name, x in values.items() if name in self.mechanism.parameters}
        vars(made)["mechanism"] = self.mechanism.with_parameters(**own) if own else self.mechanism
        return made

    def state(self, q: ArrayLike, v: ArrayLike | None = None, **others: ArrayLike) -> Floats:
        """States `(..., n)` of coordinates and velocities; v = None is rest. Other states, by name,
        are zero unless given, but the lengths of springs, which follow from q.

        >>> import eslabon as es
        >>> g = es.load("elbow").bond_graph()
        >>> dict(zip(g.states, g.state([0.5, 0.2]).tolist()))
        {'v_theta1': 0.0, 'v_theta2': 0.0, 'q_theta1': 0.5, 'q_theta2': 0.2}
        """
        m = self.mechanism
        q = states(q, "q", m.nq, m.name, "coordinates")
        v = np.zeros(m.nv) if v is None else states(v, "v", m.nv, m.name, "velocities")
        known_words(others, self.states, f"{self.name} has no state")
        columns = dict(zip(displacement_names(m), np.moveaxis(q, -1, 0), strict=True))
        columns |= zip(speed_names(m), np.moveaxis(v, -1, 0), strict=True)
        lengths = [name for name in self.states if name.startswith("length_")]
        if lengths:
            columns |= zip(lengths, np.moveaxis(evaluate(m, LENGTHS)(q), -1, 0), strict=True)
        columns |= {name: finite(x, name) for name, x in others.items()}
        return np.stack(
            np.broadcast_arrays(*(columns.get(name, np.zeros(())) for name in self.states)), axis=-1
        )

    @property
    def has_closures(self) -> bool:
        return self.mechanism.closed

    def check_state(self, x: Floats, t: Floats) -> None:
        """Refuse states that violate loop closure, as `Mechanism.forward_dynamics` does."""
        if self.has_closures:
            for said, worst in zip(
                ("x", "the velocities of x"), self._violations(x, t), strict=True
            ):
                if not accepts(left := float(np.max(worst, initial=0.0))):
                    verb = "violate" if said[0] == "t" else "violates"
                    raise InputError(
                        f"{said} {verb} loop closure by {left:.2g}; m.project(q, v) gives a state that closes the loops."
                    )

    def _drawn_state(self, rng: np.random.Generator, size: int) -> Floats:
        """A configuration near home, with its loops closed, in motion if there are none."""
        m = self.mechanism
        q = integrate(m, m.home(), SPREAD * rng.normal(size=m.nv))
        v = np.zeros(m.nv) if m.closed else rng.normal(size=m.nv)
        if m.closed:
            q = np.asarray(project(m, q, limits=False))
        drawn = {
            name: value
            for name, value in zip(self.states, rng.uniform(0.1, 0.9, size), strict=True)
            if name not in (*displacement_names(m), *speed_names(m)) and name[:7] != "length_"
        }
        return self.state(q, v, **drawn)

    def _violations(self, x: Floats, t: Floats) -> tuple[Floats, Floats]:
        """By how much positions and velocities violate loop closure."""
        m = self.mechanism
        timed = ("t",) if m.rheonomic else ()
        state = np.concatenate([self.coordinates(x), self.velocities(x)], axis=-1)
        at = [np.broadcast_to(t, x.shape[:-1])] if timed else []
        found: tuple[Floats, Floats] = evaluate(m, VIOLATIONS, timed)(state, *at)
        return found

    def coordinates(self, x: ArrayLike) -> Floats:
        """The coordinates `(..., nq)` in states."""
        return self._named(x, displacement_names(self.mechanism))

    def velocities(self, x: ArrayLike) -> Floats:
        """The velocities `(..., nv)` in states."""
        return self._named(x, speed_names(self.mechanism))

    def _named(self, x: ArrayLike, names: list[str]) -> Floats:
        found: Floats = states(x, "x", self.order, self.name, "states")[
            ..., [self.states.index(name) for name in names]
        ]
        return found

    def simulate(
        self, x0: ArrayLike | None, t: ArrayLike, inputs: Any = None, **options: Any
    ) -> Response:
        """Integrate the state equations as any graph's; x0 = None starts at rest in the mechanism's
        home.

        Loops are held by multipliers and not projected: a run that leaves them by more than 1e-5 is
        refused, and one that comes near a singular configuration, which `Mechanism.simulate` can
        pass, is warned of.
        """
        start = (
            self.state(self.mechanism.home())
            if x0 is None
            else states(x0, "x0", self.order, self.name, "states")
        )
        run = super().simulate(start, t, inputs, **options)
        if self.mechanism.closed:
            self._check_closure(run)
        return run

    def _check_closure(self, run: Response) -> None:
        """Refuse a run whose loops were open at its start or opened on the way."""
        m, q = self.mechanism, self.coordinates(run.x)
        timed = ("t",) if m.rheonomic else ()
        at = [np.broadcast_to(run.t, q.shape[:-1])] if timed else []
        position, velocity = self._violations(run.x, run.t)
        for said, left in (("x0", position), ("the velocities of x0", velocity)):
            if not accepts(worst := float(left[..., 0].max())):
                verb = "violates" if said == "x0" else "violate"
                raise InputError(
                    f"{said} {verb} loop closure by {worst:.2g}; m.project(q, v) gives a state that closes the loops."
                )
        if not (worst := float(position.max())) <= OPEN:
            raise SimulationError(
                f"{self.name} violates loop closure by {worst:.2g} on the way; ask for a smaller rtol or step, or simulate the "
                "mechanism itself, which projects onto its loops."
            )
        J = evaluate(m, quantity(m, "constraint_jacobian"), timed)(q, *at)[
            ..., structure(m).partition.rows, :
        ]
        sizes = np.linalg.svd(J, compute_uv=False)
        spread = sizes[..., -1] / sizes[..., 0]
        if spread.min() < NEAR * np.median(spread):
            when = float(run.t[np.unravel_index(spread.argmin(), spread.shape)[-1]])
            sentence = f"{self.name} comes near a singular configuration at t = {when:g} s, where its loops hold no longer."
            warnings.warn(sentence, SingularityWarning, stacklevel=user_stacklevel())


def _lengths(m: Model, q: Any) -> Any:
    """The lengths of springs that have a stiffness."""
    from eslabon.formulas.kinematics.tree import placements

    placed, made = placements(m, q), []
    for spring in m.springs:
        if isinstance(spring.stiffness, float) and spring.stiffness == 0.0:
            continue
        ends = []
        for end in (spring.first, spring.second):
            R, p = (casadi.SX(x) for x in placed[end.body])
            ends.append(p + R @ casadi.vertcat(*end.at.position))
        made.append(casadi.norm_2(ends[1] - ends[0]))
    return casadi.vertcat(*made)


LENGTHS = Formula(
    "spring_lengths", _lengths, (Q,),
    (Argument("lengths", lambda m, **_: (sum(not (isinstance(s.stiffness, float) and s.stiffness == 0.0) for s in m.springs),)),),
    rare=True,
)  # fmt: skip
