"""The table of everything that can be asked of a mechanism: by which formula, of what, in which shape, with which options.

    f = evaluate(m, quantity(m, "jacobian"), frame="tool")    # the native function that the verb of that name calls

Reading the table loads no CasADi, which code kept on disk does not need.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from eslabon.compiler.formula import NOTHING, Argument, Formula
from eslabon.coordinates.massless import structure
from eslabon.errors import ModelError, format_value, suggest
from eslabon.formulas.constrained import loops, trees
from eslabon.formulas.derivatives import linearization, parameter_derivatives, state_derivatives
from eslabon.formulas.guards import INPUT_GUARDS
from eslabon.formulas.inputs import TAU, WRENCH, A, Q, V
from eslabon.formulas.kinematics import closure, frames
from eslabon.model import Model
from eslabon.model.memory import per_model
from eslabon.numerics.tolerances import ACCEPTED_VIOLATION, MASSLESS, POORLY_CONDITIONED

Shape = tuple[int, ...]


def constraints(m: Model) -> int:
    """The number of scalar closure equations."""
    return sum(loop.kind.rows for loop in m.description.loops) + len(m.description.couplings)


def degrees_of_freedom(m: Model) -> int:
    """The number of independent velocities."""
    return len(structure(m).partition.independent)


CLOSURE = (
    Argument("residual", (), bound=("<=", ACCEPTED_VIOLATION)),
    Argument("condition", (), bound=(">", POORLY_CONDITIONED)),
)
# The part of a parameter's change that no motion makes up for.
OPENING = Argument("opening", (), bound=("<=", ACCEPTED_VIOLATION))
MASS = (Argument("condition", (), bound=(">", MASSLESS)),)


def structure_of(m: Model) -> Mapping[str, Any]:
    """What formulas of dynamics are to know of a mechanism's numbers: found when they are traced."""
    return {"structure": structure(m)}


def _output(name: str, shape: Callable[[Model], Shape]) -> Argument:
    return Argument(name, lambda m, **_: shape(m))


def _formula(
    function: Callable[..., Any],
    inputs: tuple[Argument, ...],
    shape: Callable[[Model], Shape] | tuple[Argument, ...],
    options: Mapping[str, Any] = NOTHING,
    *,
    name: str = "",
    external: Argument | None = None,
    checks: tuple[Argument, ...] = (),
    timed: bool = False,
    derivative: Callable[..., Any] | None = None,
) -> Formula:
    """A quantity: by default it is called as its function is, and so is its one output."""
    name = name or function.__name__
    outputs = shape if isinstance(shape, tuple) else (_output(name, shape),)
    return Formula(
        name,
        function,
        inputs,
        outputs,
        options,
        external,
        structure_of if checks else None,
        checks,
        INPUT_GUARDS,
        timed=timed or checks == CLOSURE,
        derivative=derivative,
    )


FRAME: Mapping[str, Any] = {"frame": None}
AXES: Mapping[str, Any] = {"frame": None, "axes": "body"}
FORMULATION: Mapping[str, Any] = {"formulation": None}
# With loops also how they are imposed, and which coordinates are independent; None: the best known.
CONSTRAINTS: Mapping[str, Any] = {"formulation": None, "constraints": None}
PARTITION: Mapping[str, Any] = {"partition": None}
SOLVED: Mapping[str, Any] = {**CONSTRAINTS, **PARTITION}
WEIGHTED: Mapping[str, Any] = {**CONSTRAINTS, "weights": None, **PARTITION}


def _nv(m: Model) -> Shape:
    return (m.nv,)


def _nu(m: Model) -> Shape:
    return (m.nu,)


def _nv_by_nv(m: Model) -> Shape:
    return (m.nv, m.nv)


def _twist(m: Model) -> Shape:
    return (6,)


def _joint_wrenches(m: Model) -> Shape:
    return (len(m.joints), 6)


def _state_matrix(m: Model) -> Shape:
    return (2 * degrees_of_freedom(m),) * 2


def _input_matrix(m: Model) -> Shape:
    return (2 * degrees_of_freedom(m), m.nu)


FORCES_BY = tuple(_output(f"tau_by_{x}", lambda m: (m.nu, m.nv)) for x in "qva")
ACCELERATIONS_BY = (
    _output("a_by_q", _nv_by_nv),
    _output("a_by_v", _nv_by_nv),
    _output("a_by_tau", lambda m: (m.nv, m.nu)),
)
HYBRID = (_output("forces", _nu), _output("accelerations", _nv))


def _table(*formulas: Formula) -> dict[str, Formula]:
    return {formula.name: formula for formula in formulas}


QUANTITIES = _table(
    _formula(frames.pose, (Q,), lambda m: (4, 4), FRAME),
    _formula(frames.jacobian, (Q,), lambda m: (6, m.nv), AXES),
    _formula(frames.velocity, (Q, V), _twist, AXES),
    _formula(frames.acceleration, (Q, V, A), _twist, AXES),
    _formula(frames.position_hessian, (Q,), lambda m: (3, m.nv, m.nv), FRAME),
    _formula(
        trees.inverse_dynamics,
        (Q, V, A),
        _nu,
        FORMULATION,
        external=WRENCH,
        derivative=state_derivatives.of_inverse_dynamics,
    ),
    _formula(
        trees.forward_dynamics,
        (Q, V, TAU),
        _nv,
        FORMULATION,
        external=WRENCH,
        checks=MASS,
        derivative=state_derivatives.of_forward_dynamics,
    ),
    _formula(
        state_derivatives.tree_force_derivatives,
        (Q, V, A),
        FORCES_BY,
        name="inverse_dynamics_derivatives",
        external=WRENCH,
    ),
    _formula(
        state_derivatives.acceleration_derivatives,
        (Q, V, TAU),
        ACCELERATIONS_BY,
        name="forward_dynamics_derivatives",
        external=WRENCH,
        checks=MASS,
    ),
    _formula(trees.mass_matrix, (Q,), _nv_by_nv),
    _formula(trees.coriolis_matrix, (Q, V), _nv_by_nv),
    _formula(trees.gravity_forces, (Q,), _nv),
    _formula(trees.energy, (Q, V), lambda m: (2,)),
    _formula(trees.reactions, (Q, V, A), _joint_wrenches, external=WRENCH),
    _formula(
        trees.reactions_under_forces,
        (Q, V, TAU),
        _joint_wrenches,
        FORMULATION,
        external=WRENCH,
        checks=MASS,
    ),
    _formula(loops.hybrid_dynamics, (Q, V, A), HYBRID, SOLVED, external=WRENCH, checks=CLOSURE),
    _formula(trees.regressor, (Q, V, A), lambda m: (m.nv, 10 * len(m.bodies))),
    _formula(
        linearization.state_matrix,
        (Q, V, TAU),
        _state_matrix,
        PARTITION,
        external=WRENCH,
        checks=CLOSURE,
    ),
    _formula(
        linearization.input_matrix,
        (Q, V, TAU),
        _input_matrix,
        PARTITION,
        external=WRENCH,
        checks=CLOSURE,
    ),
    _formula(closure.constraint, (Q,), lambda m: (constraints(m),), timed=True),
    _formula(closure.constraint_jacobian, (Q,), lambda m: (constraints(m), m.nv), timed=True),
)


def _wrenches(m: Model) -> Shape:
    return (len(m.joints) + len(m.loops), 6)


def _couplings(m: Model) -> Shape:
    return (len(m.couplings),)


# The same questions asked of a mechanism with loops, and those that only loops raise.
CLOSED = _table(
    _formula(loops.inverse_dynamics, (Q, V, A), _nu, WEIGHTED, external=WRENCH, checks=CLOSURE),
    _formula(
        loops.forward_dynamics,
        (Q, V, TAU),
        _nv,
        SOLVED,
        external=WRENCH,
        checks=CLOSURE,
        derivative=state_derivatives.of_forward_dynamics,
    ),
    _formula(
        state_derivatives.closed_force_derivatives,
        (Q, V, A),
        FORCES_BY,
        WEIGHTED,
        name="inverse_dynamics_derivatives",
        external=WRENCH,
        checks=CLOSURE,
    ),
    _formula(
        state_derivatives.acceleration_derivatives,
        (Q, V, TAU),
        ACCELERATIONS_BY,
        PARTITION,
        name="forward_dynamics_derivatives",
        external=WRENCH,
        checks=CLOSURE,
    ),
    _formula(loops.reactions, (Q, V, A), _wrenches, SOLVED, external=WRENCH, checks=CLOSURE),
    _formula(
        loops.reactions_under_forces,
        (Q, V, TAU),
        _wrenches,
        SOLVED,
        external=WRENCH,
        checks=CLOSURE,
    ),
    _formula(loops.coupling_forces, (Q, V, A), _couplings, SOLVED, external=WRENCH, checks=CLOSURE),
    _formula(
        loops.coupling_forces_under_forces,
        (Q, V, TAU),
        _couplings,
        SOLVED,
        external=WRENCH,
        checks=CLOSURE,
    ),
)


# What follows a parameter along the closed configuration, and is given elsewhere.
FOLLOWING = _table(
    _formula(frames.configuration, (Q,), lambda m: (m.nq,)),
    _formula(frames.velocities_of_joints, (Q, V), _nv, name="velocities"),
    _formula(frames.accelerations_of_joints, (Q, V, A), _nv, name="accelerations"),
)


# What has derivatives by parameters, and is no formula: it is found from singular vectors, or from the vectors of poles.
SPECTRAL = dict.fromkeys(("conditions", "poles", "natural_frequencies", "damping_ratios"))


def quantity(m: Model, name: str, following: bool | None = None) -> Formula:
    """The formula behind a name, for a tree or for a closed mechanism; where joints follow a parameter, theirs too. `following`
    says of a derivative whether they do."""
    known = {**QUANTITIES, **(CLOSED if m.closed else {}), **(FOLLOWING if following else {})}
    if not isinstance(name, str) or name not in known:
        if isinstance(name, str) and name in FOLLOWING:
            raise ModelError(
                f"'{name}' of {m.name} is what is given; how it follows a parameter is m.derivative('{name}', "
                'parameter, ..., along="closed").'
            )
        words = [*known, *((*FOLLOWING, *SPECTRAL) if following is not None else ())]
        raise ModelError(
            f"there is no quantity {format_value(name)} of {m.name}{suggest(name, words)}"
        )
    if name.startswith("coupling_forces") and not m.couplings:
        raise ModelError(
            f"{m.name} has no couplings; the forces of its loops are among its reactions."
        )
    return known[name]


def along_closed(m: Model, of: Formula, parameter: str | tuple[str, ...], held: Any) -> Formula:
    """The formula of the derivative of another by a parameter, or by several as a last axis, along the closed configuration:
    `held` is the motion that stays. A mechanism has one, whichever of its variants asks."""
    return _along_closed(m.variant_of or m, of, parameter, held)


@per_model
def _along_closed(m: Model, of: Formula, parameter: str | tuple[str, ...], held: Any) -> Formula:
    function, checks = (
        partial(parameter_derivatives.along_closed, of=of),
        (CLOSURE[0], OPENING, CLOSURE[1]),
    )
    return replace(
        of,
        name=f"{of.name}_along_closed",
        function=function,
        outputs=_by_several(of, parameter),
        prepare=structure_of,
        checks=checks,
        options={**of.options, "parameter": parameter, "held": held},
        derivative=None,
        timed=True,
    )


def along_frozen(m: Model, of: Formula, parameter: tuple[str, ...]) -> Formula:
    """The formula of the derivative of another by several parameters, as a last axis, with its arguments held."""
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
