"""Checks of states in the verbs of dynamics: closed loops, regular configurations, motions with
mass.

The native code compares its own checks with their bounds; the handler here gets the states that do
not keep them. A state that violates loop closure is refused. Where the independent coordinates have
become a poor choice, others are selected by pivoting. A motion without mass is named. At a singular
configuration there is an error, or, on request, the minimum-norm solution and a warning.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.evaluate import evaluate, function_of, refuse_guards
from eslabon.compiler.formula import Argument, Formula, Request, in_family
from eslabon.compiler.function import Function
from eslabon.errors import AssemblyError, ModelError, SingularityError, report_singularity
from eslabon.formulas.dynamics import equations_of_all_rows
from eslabon.formulas.inputs import TAU, WRENCH, Q, V
from eslabon.formulas.motion_state import StateFunction
from eslabon.formulas.quantities import constraints
from eslabon.formulas.structure import HeldMotion, Partition
from eslabon.model import Model
from eslabon.model.configuration import velocity_names
from eslabon.model.scale import velocity_scales
from eslabon.numerics.subspaces import null_space, pseudo_inverse
from eslabon.numerics.tolerances import (
    ACCEPTED_VIOLATION,
    INPUT_DIGITS,
    POORLY_CONDITIONED,
    RANK,
    SINGULAR,
)
from eslabon.solve.constraints.held_motion import held_at
from eslabon.solve.constraints.independent_coordinates import (
    partition,
    partition_at,
    redundancy_is_constant,
)
from eslabon.solve.constraints.massless_motions import (
    comparable_mass,
    largest_inertia,
    massless,
    stiffening,
    unresisted,
)
from eslabon.solve.constraints.passive_spins import announce_spins, spin_motions
from eslabon.solve.designs import Designs

# What has an answer at a singular configuration.
MINIMUM_NORM = ("inverse_dynamics", "forward_dynamics")
# What is given all accelerations, those of passive spins among them.
PRESCRIBED = (
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "reactions",
    "coupling_forces",
)
# What is written in independent coordinates.
LINEAR = (
    "linear_model",
    "linear_model_of_tree",
    "linear_model_of_plain_tree",
    "linear_sensitivity",
    "state_matrix",
    "input_matrix",
)
# What needs the inverse of the mass matrix.
OF_MASS = (
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "hybrid_dynamics",
    "reactions_under_forces",
    *LINEAR,
)

EQUATIONS = Formula(
    "all_equations",
    StateFunction(equations_of_all_rows),
    (Q, V, TAU),
    (
        Argument("M", lambda m, **_: (m.nv, m.nv)),
        Argument("force", lambda m, **_: (m.nv,)),
        Argument("J", lambda m, **_: (constraints(m), m.nv)),
        Argument("gamma", lambda m, **_: (constraints(m),)),
    ),
    external=WRENCH,
    rare=True,
)


def checked(
    m: Model, request: Request, tolerance: float | None = None, singular: str | None = None
) -> Function:
    """The request as a call, with the caller's tolerance and treatment of singular
    configurations."""
    name = request.formula.name
    if tolerance is not None and not m.closed:
        raise ModelError(f"{m.name} has no loops that {name} could violate; leave tolerance out.")
    if singular not in (None, "error") and not (
        m.closed and name in MINIMUM_NORM and request.by is None
    ):
        raise ModelError(
            f"{name} of {m.name} has no answer at a singular configuration; leave singular out."
        )
    call: Function = function_of(m, request)
    if name in PRESCRIBED:
        announce_spins(m.variant_of or m)
    accepted = ACCEPTED_VIOLATION if tolerance is None else tolerance
    handler = BoundViolationHandler(m, in_family(m, request), accepted, singular or "error")
    return call.with_checks({"residual": accepted}, handler)


@dataclass(frozen=True, eq=False)
class BoundViolationHandler:
    """Answers, or refuses, the states of a request that do not keep its bounds."""

    m: Model
    request: Request
    tolerance: float
    singular: str

    @property
    def name(self) -> str:
        """The quantity, of which this may be a derivative."""
        return self.request.formula.name.removesuffix("_along_closed").removesuffix("_along_frozen")

    @property
    def verb(self) -> str:
        """What users asked for."""
        if self.name != self.request.formula.name:
            return f"the derivative of {self.name}"
        return "linearize" if self.name.startswith(("linear", "holding_forces")) else self.name

    def __call__(self, arrays: list[Any], results: list[Floats]) -> list[Floats]:
        """The values of all states of a call, of which some do not keep the bounds. What is given
        no number has none."""
        m, count = self.m, self.request.values
        found = refuse_guards(m, self.request, arrays, results)
        values, residual, condition = found[:count], np.array(found[count]), np.array(found[-1])
        states = [
            np.broadcast_to(x, condition.shape + argument.shape).reshape(
                condition.size, *argument.shape
            )
            for x, argument in zip(arrays, self.request.inputs(m), strict=True)
        ]
        known = np.all([np.isfinite(x).all(axis=tuple(range(1, x.ndim))) for x in states], axis=0)
        rows = [x.reshape(condition.size, *x.shape[condition.ndim :]) for x in values]
        for x in rows:
            x[~known] = np.nan
        if m.closed and not np.all(residual.ravel()[known] <= self.tolerance):
            self._refuse_violation(np.where(known, residual.ravel(), 0.0))
        checks = [np.array(x).ravel() for x in found[count:-1]]
        self._improve(
            states, [*rows, *checks], np.where(known, np.nan_to_num(condition.ravel()), np.inf)
        )
        if (
            self._chosen == "held"
        ):  # judged last, since it says nothing where the held motion determines nothing
            self._refuse_opening(np.where(known, checks[-1], 0.0))
        return values

    def _improve(self, states: list[Floats], values: list[Floats], conditions: Floats) -> None:
        """Better values, in their place, where the mass matrix, the partitioning or the
        configuration is poor."""
        if self.name in OF_MASS:
            self._refuse_massless(states, conditions)
        if not self.m.closed and not self._frames:
            return
        if self.reselects:
            self._reselect(states, values, conditions)
        bad = np.flatnonzero(~(conditions > SINGULAR))
        if len(bad) and self._frames:
            self._refuse_held()
        if len(bad) and self.given is not None:
            self._refuse_choice(states[0][bad[0]], self._design(states, bad[0]), self.given)
        if len(bad) and self.singular == "error":
            raise SingularityError(
                f"{self.verb}: {self.m.name} is at a singular configuration, or too near one for an answer (reciprocal "
                f"condition number {conditions.min():.2g}, {SINGULAR:g} is the least); its actuators or its loops "
                "lose a direction there."
            )
        if len(bad):
            which = f" in {len(bad)} of {conditions.size} states" if conditions.size > 1 else ""
            report_singularity(
                self.singular, f"{self.verb}: {self.m.name} is at a singular configuration{which}; the minimum-norm "
                "solution is given.")  # fmt: skip
        for k in bad:
            values[0][k] = self._minimum_norm([x[k] for x in states])

    def _design(self, states: list[Floats], k: int) -> Designs:
        """The parameters of a state, which are the last of its inputs."""
        names = self.request.parameters
        return Designs(names, np.array([float(x[k]) for x in states[len(states) - len(names) :]]))

    def _refuse_choice(self, q: Floats, design: Designs, given: Partition) -> None:
        """Refuse a state at which the caller's independent coordinates do not determine the others,
        but different ones do."""
        suited = partition_at(self.m, q, given.independent, design).independent
        if set(suited) != set(given.independent):
            names = velocity_names(self.m)
            left = ", ".join(names[k] for k in suited if k not in given.independent)
            other = (
                "hold"
                if self._chosen == "held"
                else "leave independent out, so that others are selected, or name"
            )
            raise SingularityError(
                f"{self.verb}: the {'held' if self._chosen == 'held' else 'independent'} "
                f"{', '.join(names[k] for k in given.independent)} cannot determine {left} of {self.m.name} at this configuration; "
                f"{other} {', '.join(names[k] for k in suited)}."
            )

    def _refuse_held(self) -> NoReturn:
        """Refuse a state at which frames that are held do not determine the joints."""
        held = ", ".join(f"'{frame}'" for frame, _ in self._frames)
        raise SingularityError(
            f"{self.verb}: to hold {held} does not determine how the joints of {self.m.name} follow at this configuration, which "
            "is singular for it, or nearly so; hold joints, or another part of the frame's pose."
        )

    def _refuse_violation(self, residual: Floats) -> NoReturn:
        at = f" (state {int(np.argmax(residual))})" if residual.size > 1 else ""
        given = (
            "with these parameters (m.with_parameters(...) has them), "
            if self.request.parameters
            else ""
        )
        raise AssemblyError(
            f"{self.verb}: the given motion violates loop closure of {self.m.name} by {np.max(residual):.3g}{at} in position, "
            f"velocity or acceleration, more than the tolerance {self.tolerance:g}; {given}complete it from the actuated "
            "joints with m.complete, or project it onto the constraints with m.project."
        )

    def _refuse_opening(self, opening: Floats) -> None:
        """Refuse a parameter that opens redundant loops, whatever the joints do."""
        if np.all(opening <= ACCEPTED_VIOLATION):
            return
        by = dict(self.request.options)["parameter"]
        one = (
            f"a change of '{by}' alone"
            if isinstance(by, str)
            else f"a change of each of {', '.join(by)} alone"
        )
        if self._frames:
            raise AssemblyError(
                f"{self.verb}: {self.m.name} cannot follow {one} and hold {', '.join(repr(f) for f, _ in self._frames)}, since "
                "that moves the frame in a direction that no joint makes up for; hold a part of its pose, or joints."
            )
        raise AssemblyError(
            f"{self.verb}: {self.m.name} cannot follow {one}, since "
            "its constraints are redundant and would not close any more; differentiate by a parameter that changes all "
            'the lengths that go together, or take along="frozen".'
        )

    def _refuse_massless(self, states: list[Floats], conditions: Floats) -> None:
        """Name the motion that moves no mass, where there is one."""
        for k in np.flatnonzero(~(conditions > self._least)):
            M, _, J, _ = self._equations([x[k] for x in states])
            if self.name == "hybrid_dynamics":
                J = np.concatenate([J, np.eye(self.m.nv)[list(self.m.actuated_velocities)]])
            name = unresisted(self.m, M, J)
            if name is not None:
                at = f" (state {k})" if len(conditions) > 1 else ""
                raise massless(self.m, name, self.verb, f" at this configuration{at}")

    @property
    def _least(self) -> float:
        """The bound of the condition, which says what it is a condition of."""
        bound = self.request.formula.checks[-1].bound
        return 0.0 if bound is None else bound[1]

    @property
    def given(self) -> Partition | None:
        """The partition by the caller's choice of independent coordinates, which is kept to."""
        chosen: Partition | None = dict(self.request.options).get(self._chosen)
        return chosen

    @property
    def _chosen(self) -> str:
        """The option that says which velocities are independent."""
        return "held" if "held" in dict(self.request.options) else "partition"

    @property
    def _frames(self) -> tuple[Any, ...]:
        """The frames that are held where a parameter changes."""
        return self.given.frames if isinstance(self.given, HeldMotion) else ()

    # -- other independent coordinates ---------------------------------------------------------------------------------

    @cached_property
    def reselects(self) -> bool:
        """Whether the answer depends on which rows or velocities count as independent, so that
        others may do better."""
        if self.name in (*LINEAR, "holding_forces") or self._chosen == "held":
            return (
                self.given is not None
            )  # the same velocities from other rows; other velocities make another model
        if not redundancy_is_constant(self.m):
            return True
        if self.name in ("inverse_dynamics", "reactions"):
            return self.m.nu > len(partition(self.m).independent)
        return dict(self.request.options).get("constraints") == "elimination"

    def _reselect(self, states: list[Floats], values: list[Floats], conditions: Floats) -> None:
        """Better values, and their condition, where the independent coordinates are a poor choice;
        each partitioning serves all states that it suits, and is compiled once."""
        # The hybrid problem is of the actuated velocities, and no others.
        preferred = self.m.actuated_velocities if self.name == "hybrid_dynamics" else ()
        preferred = preferred if self.given is None else self.given.independent
        waiting = np.flatnonzero(~(conditions > POORLY_CONDITIONED))
        while len(waiting):
            options = self._choices(
                states[0][waiting[0]], self._design(states, waiting[0]), preferred
            )
            if options is None:
                waiting = waiting[1:]  # the caller's choice does not determine the others here
                continue
            call: Any = function_of(self.m, replace(self.request, options=tuple(options.items())))
            found = call.all_outputs(*(x[waiting] for x in states))
            condition = found[self.request.values + len(self.request.formula.checks) - 1]
            better = condition > np.nan_to_num(
                conditions[waiting], nan=-1.0
            )  # NaN: as singular as can be
            conditions[waiting[better]] = condition[better]
            for value, made in zip(values, found, strict=False):
                value[waiting[better]] = made[better]
            waiting = waiting[1:][~better[1:]]  # the first has had the partitioning that suits it

    def _choices(
        self, q: Floats, design: Designs, preferred: tuple[int, ...]
    ) -> dict[str, Any] | None:
        """The request's options with a partitioning that suits a configuration; None where the
        caller's does not."""
        options = dict(self.request.options)
        if self._chosen == "held":
            if (held := held_at(self.m, q, options["held"], design)) is None:
                return None
            if options.get("partition", "") is None and self.name not in LINEAR and self.m.closed:
                options["partition"] = partition_at(self.m, q, self.m.actuated_velocities, design)
            return {**options, "held": held}
        chosen = partition_at(self.m, q, preferred, design)
        if self.given is not None and set(chosen.independent) != set(self.given.independent):
            return None
        return {**options, "partition": chosen}

    # -- the slow, rank-revealing way -----------------------------------------------------------------------------------

    def _equations(self, state: list[Floats]) -> tuple[Floats, ...]:
        numbers = evaluate(self.m, EQUATIONS, self.request.parameters, self.request.external)
        forces = state[2] if TAU in self.request.formula.inputs else np.zeros(self.m.nu)
        return numbers(*state[:2], forces, *state[3:])

    def _minimum_norm(self, state: list[Floats]) -> Floats:
        """The minimum-norm solution at a singular configuration, from singular values."""
        M, force, J, gamma = self._equations(state)
        if self.name == "forward_dynamics":
            return self._accelerations(M, force, J, gamma)
        return self._forces(self._without_work_in_spins(M, M @ state[2] - force, state), J)

    def _without_work_in_spins(self, M: Floats, needed: Floats, state: list[Floats]) -> Floats:
        """The forces of a prescribed motion in which passive spins follow their own dynamics."""
        W = spin_motions(self.m, state[0], self._design([x[None] for x in state], 0))
        scale, unit = velocity_scales(self.m), largest_inertia(self.m)
        MW = comparable_mass(self.m, M) @ W / unit
        return needed - scale * (MW @ (pseudo_inverse(W.T @ MW) @ (W.T @ (needed / scale))))

    def _accelerations(self, M: Floats, force: Floats, J: Floats, gamma: Floats) -> Floats:
        """Udwadia and Kalaba's: a + M^-1/2 (J M^-1/2)^+ (gamma - J a)."""
        rho = stiffening(self.m)
        M, force = M + rho * J.T @ J, force + rho * J.T @ gamma
        values, vectors = np.linalg.eigh(M)
        root = vectors / np.sqrt(values)
        a = root @ (root.T @ force)
        a = a + root @ np.linalg.pinv(J @ root, rcond=np.sqrt(RANK)) @ (gamma - J @ a)
        left = float(np.abs(J @ a - gamma).max(initial=0.0))
        if not left < ACCEPTED_VIOLATION * max(1.0, float(np.abs(gamma).max(initial=0.0))):
            report_singularity(
                "error",
                f"forward_dynamics: no acceleration of {self.m.name} keeps its loops closed at these "
                f"velocities (it violates them by {left:.3g}): branches meet at this configuration, "
                "and the motion keeps to none.",
            )
        return a

    def _forces(self, needed: Floats, J: Floats) -> Floats:
        """The least actuator forces that do the work of `needed` in every motion that keeps the
        loops closed."""
        scale, places = velocity_scales(self.m), list(self.m.actuated_velocities)
        motions = null_space(J / scale, np.sqrt(RANK)).T
        work, A = motions @ (needed / scale), motions[:, places] / scale[places]
        forces = np.linalg.lstsq(A, work, rcond=np.sqrt(RANK))[0]
        left = float(np.abs(A @ forces - work).max(initial=0.0))
        if not left <= INPUT_DIGITS * float(np.abs(needed / scale).max(initial=0.0)):
            report_singularity(
                "error",
                f"inverse_dynamics: at this singular configuration no actuators' forces give "
                f"{self.m.name} this motion ({left:.3g} N m is missing in a direction they do not "
                "reach).",
            )
        return np.asarray(forces)
