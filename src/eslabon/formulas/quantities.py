"""The table of everything that can be asked of a mechanism.

    f = evaluate(m, quantity(m, "jacobian"), frame="tool")    # the function behind the verb

A row holds a function, its inputs, the shapes of its outputs and its options. Quantities of
dynamics are functions of a `MotionState`, and one row serves trees and closed chains.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property, partial
from typing import Any

from eslabon.compiler.formula import NOTHING, Argument, Formula, Prepare
from eslabon.errors import ModelError, format_value, suggest
from eslabon.formulas import dynamics
from eslabon.formulas.derivatives import linearization, parameter_derivatives, state_derivatives
from eslabon.formulas.guards import INPUT_GUARDS
from eslabon.formulas.inputs import TAU, WRENCH, A, Q, V
from eslabon.formulas.kinematics import closure, frames
from eslabon.formulas.motion_state import MotionState, StateFunction
from eslabon.model import Model
from eslabon.model.memory import per_model
from eslabon.numerics.scalars import Expression
from eslabon.numerics.tolerances import ACCEPTED_VIOLATION, MASSLESS, POORLY_CONDITIONED

Shape = tuple[int, ...]
Options = Mapping[str, Any]

CLOSURE_CHECKS = (
    Argument("residual", (), bound=("<=", ACCEPTED_VIOLATION)),
    Argument("condition", (), bound=(">", POORLY_CONDITIONED)),
)
# The part of a parameter's change that no motion makes up for.
OPENING = Argument("opening", (), bound=("<=", ACCEPTED_VIOLATION))
STRUCTURE = ("structure",)  # what formulas are told of a mechanism's numbers when they are traced
MASS_CHECKS = (Argument("condition", (), bound=(">", MASSLESS)),)


class Checks(Enum):
    """What is returned after the values of a quantity, for trees and for closed chains."""

    NONE = (), ()
    CLOSURE = (), CLOSURE_CHECKS
    MASS = MASS_CHECKS, CLOSURE_CHECKS

    def of(self, closed: bool) -> tuple[Argument, ...]:
        """The checks of a tree or of a closed chain."""
        return self.value[closed]


def constraints(m: Model) -> int:
    """The number of scalar closure equations."""
    return sum(loop.kind.rows for loop in m.description.loops) + len(m.description.couplings)


def _of_prescribed_motion(
    function: Callable[..., list[Expression]], s: MotionState, a: Expression
) -> list[Expression]:
    """A quantity of a motion, at given accelerations."""
    return function(s, dynamics.prescribed_motion(s, a))


def _of_motion_under_forces(
    function: Callable[..., list[Expression]], s: MotionState, tau: Expression
) -> list[Expression]:
    """A quantity of a motion, under given actuator forces."""
    return function(s, dynamics.motion_under_forces(s, tau))


@dataclass(frozen=True, eq=False)
class Quantity:
    """A row of the table.

    Attributes
    ----------
    name : what it is called.
    function : gives the values and then the checks, as `Formula.function`.
    inputs, outputs, external, timed, derivative : as those of `Formula`.
    options : what may be chosen, with the values it has if left out.
    loop_options : what may be chosen besides where there are loops.
    checks : what is returned after the values.
    of_loops : whether a tree has no such quantity.
    """

    name: str
    function: Callable[..., Any]
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    options: Options = field(default_factory=lambda: NOTHING)
    loop_options: Options = field(default_factory=lambda: NOTHING)
    external: Argument | None = None
    checks: Checks = Checks.NONE
    timed: bool = False
    derivative: Callable[..., Any] | None = None
    of_loops: bool = False

    def formula(self, closed: bool) -> Formula:
        """The formula of a tree or of a closed chain."""
        return self._of_closed_chain if closed else self._of_tree

    @cached_property
    def _of_tree(self) -> Formula:
        return self._formula(self.options, self.checks.of(closed=False), self.timed)

    @cached_property
    def _of_closed_chain(self) -> Formula:
        checks = self.checks.of(closed=True)
        return self._formula({**self.options, **self.loop_options}, checks, self.timed or checks)

    def _formula(self, options: Options, checks: tuple[Argument, ...], timed: Any) -> Formula:
        return Formula(
            self.name,
            self.function,
            self.inputs,
            self.outputs,
            options,
            self.external,
            checks=checks,
            guards=INPUT_GUARDS,
            timed=bool(timed),
            derivative=self.derivative,
            needs=STRUCTURE if checks else (),
        )


def _output(name: str, shape: Callable[[Model], Shape]) -> Argument:
    return Argument(name, lambda m, **_: shape(m))


def _kinematic(
    function: Callable[..., Any],
    inputs: tuple[Argument, ...],
    shape: Callable[[Model], Shape],
    options: Options = NOTHING,
    name: str = "",
    timed: bool = False,
) -> Quantity:
    """A quantity of a model and symbols, which needs no forces."""
    name = name or function.__name__
    return Quantity(name, function, inputs, (_output(name, shape),), options, timed=timed)


def _dynamic(
    name: str,
    function: Callable[..., Any],
    inputs: tuple[Argument, ...],
    shape: Callable[[Model], Shape] | tuple[Argument, ...],
    checks: Checks = Checks.NONE,
    derivative: Callable[..., Any] | None = None,
    **more: Any,
) -> Quantity:
    """A quantity of a motion state, under wrenches if it has checks or says so."""
    outputs = shape if isinstance(shape, tuple) else (_output(name, shape),)
    differentiated = None if derivative is None else StateFunction(derivative, by=True)
    given = {"external": WRENCH} if checks is not Checks.NONE else {}
    return Quantity(
        name,
        StateFunction(function),
        inputs,
        outputs,
        checks=checks,
        derivative=differentiated,
        **{**given, **more},
    )


FRAME: Options = {"frame": None}
AXES: Options = {"frame": None, "axes": "body"}
FORMULATION: Options = {"formulation": None}
# With loops also how they are imposed, and which coordinates are independent; None: the best known.
PARTITION: Options = {"partition": None}
CONSTRAINTS: Options = {"constraints": None, **PARTITION}
WEIGHTED: Options = {"constraints": None, "weights": None, **PARTITION}


def _nv(m: Model) -> Shape:
    return (m.nv,)


def _nu(m: Model) -> Shape:
    return (m.nu,)


def _nv_by_nv(m: Model) -> Shape:
    return (m.nv, m.nv)


def _twist(m: Model) -> Shape:
    return (6,)


def _wrenches(m: Model) -> Shape:
    return (len(m.joints) + len(m.loops), 6)


def _couplings(m: Model) -> Shape:
    return (len(m.couplings),)


def _states(m: Model, prepare: Prepare, **_: Any) -> int:
    """The number of states of a linear model: independent coordinates and their velocities."""
    return 2 * len(prepare(m)["structure"].partition.independent)


STATE_MATRIX = (Argument("state_matrix", lambda m, **given: (_states(m, **given),) * 2),)
INPUT_MATRIX = (Argument("input_matrix", lambda m, **given: (_states(m, **given), m.nu)),)


FORCES_BY = tuple(_output(f"tau_by_{x}", lambda m: (m.nu, m.nv)) for x in "qva")
ACCELERATIONS_BY = (
    _output("a_by_q", _nv_by_nv),
    _output("a_by_v", _nv_by_nv),
    _output("a_by_tau", lambda m: (m.nv, m.nu)),
)
HYBRID = (_output("forces", _nu), _output("accelerations", _nv))


def _table(*rows: Quantity) -> dict[str, Quantity]:
    return {row.name: row for row in rows}


QUANTITIES = _table(
    _kinematic(frames.pose, (Q,), lambda m: (4, 4), FRAME),
    _kinematic(frames.jacobian, (Q,), lambda m: (6, m.nv), AXES),
    _kinematic(frames.velocity, (Q, V), _twist, AXES),
    _kinematic(frames.acceleration, (Q, V, A), _twist, AXES),
    _kinematic(frames.position_hessian, (Q,), lambda m: (3, m.nv, m.nv), FRAME),
    _dynamic(
        "inverse_dynamics",
        dynamics.inverse_dynamics,
        (Q, V, A),
        _nu,
        Checks.CLOSURE,
        state_derivatives.of_inverse_dynamics,
        options=FORMULATION,
        loop_options=WEIGHTED,
    ),
    _dynamic(
        "forward_dynamics",
        dynamics.forward_dynamics,
        (Q, V, TAU),
        _nv,
        Checks.MASS,
        state_derivatives.of_forward_dynamics,
        options=FORMULATION,
        loop_options=CONSTRAINTS,
    ),
    _dynamic(
        "inverse_dynamics_derivatives",
        state_derivatives.inverse_dynamics_derivatives,
        (Q, V, A),
        FORCES_BY,
        Checks.CLOSURE,
        loop_options={**FORMULATION, **WEIGHTED},
    ),
    _dynamic(
        "forward_dynamics_derivatives",
        state_derivatives.acceleration_derivatives,
        (Q, V, TAU),
        ACCELERATIONS_BY,
        Checks.MASS,
        loop_options=PARTITION,
    ),
    _dynamic("mass_matrix", dynamics.mass_matrix, (Q,), _nv_by_nv, options=FORMULATION),
    _dynamic("coriolis_matrix", dynamics.coriolis_matrix, (Q, V), _nv_by_nv, options=FORMULATION),
    _dynamic("gravity_forces", dynamics.gravity_forces, (Q,), _nv),
    _dynamic("energy", dynamics.energy, (Q, V), lambda m: (2,)),
    _dynamic(
        "reactions",
        partial(_of_prescribed_motion, dynamics.reactions),
        (Q, V, A),
        _wrenches,
        Checks.CLOSURE,
        loop_options={**FORMULATION, **CONSTRAINTS},
    ),
    _dynamic(
        "reactions_under_forces",
        partial(_of_motion_under_forces, dynamics.reactions),
        (Q, V, TAU),
        _wrenches,
        Checks.MASS,
        options=FORMULATION,
        loop_options=CONSTRAINTS,
    ),
    _dynamic(
        "hybrid_dynamics",
        dynamics.hybrid_dynamics,
        (Q, V, A),
        HYBRID,
        Checks.MASS,
        options=FORMULATION,
        loop_options=CONSTRAINTS,
    ),
    _dynamic("regressor", dynamics.regressor, (Q, V, A), lambda m: (m.nv, 10 * len(m.bodies))),
    _dynamic(
        "state_matrix",
        linearization.state_matrix,
        (Q, V, TAU),
        STATE_MATRIX,
        Checks.MASS,
        loop_options=PARTITION,
    ),
    _dynamic(
        "input_matrix",
        linearization.input_matrix,
        (Q, V, TAU),
        INPUT_MATRIX,
        Checks.MASS,
        loop_options=PARTITION,
    ),
    _kinematic(closure.constraint, (Q,), lambda m: (constraints(m),), timed=True),
    _kinematic(closure.constraint_jacobian, (Q,), lambda m: (constraints(m), m.nv), timed=True),
    _dynamic(
        "coupling_forces",
        partial(_of_prescribed_motion, dynamics.coupling_forces),
        (Q, V, A),
        _couplings,
        Checks.CLOSURE,
        loop_options={**FORMULATION, **CONSTRAINTS},
        of_loops=True,
    ),
    _dynamic(
        "coupling_forces_under_forces",
        partial(_of_motion_under_forces, dynamics.coupling_forces),
        (Q, V, TAU),
        _couplings,
        Checks.MASS,
        loop_options={**FORMULATION, **CONSTRAINTS},
        of_loops=True,
    ),
)


# What follows a parameter along the closed configuration, and is given elsewhere.
FOLLOWING = _table(
    _kinematic(frames.configuration, (Q,), lambda m: (m.nq,)),
    _kinematic(frames.velocities_of_joints, (Q, V), _nv, name="velocities"),
    _kinematic(frames.accelerations_of_joints, (Q, V, A), _nv, name="accelerations"),
)


# What has derivatives by parameters, and is no formula: it is found from singular vectors, or from
# the vectors of poles.
SPECTRAL = dict.fromkeys(("conditions", "poles", "natural_frequencies", "damping_ratios"))


def quantity(m: Model, name: str, following: bool | None = None) -> Formula:
    """The formula behind a name, for a tree or for a closed mechanism.

    `following` says of a derivative whether joints follow a parameter; then theirs are known too.
    """
    rows = {**QUANTITIES, **(FOLLOWING if following else {})}
    known = {word: row for word, row in rows.items() if m.closed or not row.of_loops}
    if not isinstance(name, str) or name not in known:
        if isinstance(name, str) and name in FOLLOWING:
            raise ModelError(
                f"'{name}' of {m.name} is what is given; how it follows a parameter is "
                f"m.derivative('{name}', parameter, ..., along=\"closed\")."
            )
        words = [*known, *((*FOLLOWING, *SPECTRAL) if following is not None else ())]
        raise ModelError(
            f"there is no quantity {format_value(name)} of {m.name}{suggest(name, words)}"
        )
    if name.startswith("coupling_forces") and not m.couplings:
        raise ModelError(
            f"{m.name} has no couplings; the forces of its loops are among its reactions."
        )
    return known[name].formula(m.closed)


def along_closed(m: Model, of: Formula, parameter: str | tuple[str, ...], held: Any) -> Formula:
    """The formula of the derivative of another by a parameter, or by several as a last axis.

    The derivative is along the closed configuration, and `held` is the motion that stays. A
    mechanism has one such formula, whichever of its variants asks.
    """
    return _along_closed(m.variant_of or m, of, parameter, held)


@per_model
def _along_closed(m: Model, of: Formula, parameter: str | tuple[str, ...], held: Any) -> Formula:
    function, checks = (
        partial(parameter_derivatives.along_closed, of=of),
        (CLOSURE_CHECKS[0], OPENING, CLOSURE_CHECKS[1]),
    )
    return replace(
        of,
        name=f"{of.name}_along_closed",
        function=function,
        outputs=_by_several(of, parameter),
        needs=STRUCTURE,
        checks=checks,
        options={**of.options, "parameter": parameter, "held": held},
        derivative=None,
        timed=True,
    )


def along_frozen(m: Model, of: Formula, parameter: tuple[str, ...]) -> Formula:
    """The formula of the derivative of another by several parameters, as a last axis, with its
    arguments held."""
    return _along_frozen(m.variant_of or m, of, parameter)


@per_model
def _along_frozen(m: Model, of: Formula, parameter: tuple[str, ...]) -> Formula:
    return replace(
        of,
        name=f"{of.name}_along_frozen",
        function=partial(parameter_derivatives.along_frozen, of=of),
        outputs=_by_several(of, parameter),
        options={**of.options, "parameter": parameter},
        derivative=None,
    )


def _by_several(of: Formula, parameter: str | tuple[str, ...]) -> tuple[Argument, ...]:
    """The values of a formula, with an axis more for several parameters."""
    if isinstance(parameter, str):
        return of.outputs
    return tuple(
        replace(x, shape=lambda m, shape=x.shape, **more: (*shape(m, **more), len(parameter)))
        for x in of.outputs
    )
