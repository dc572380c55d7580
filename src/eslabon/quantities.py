"""The table of everything that can be asked of a mechanism: by which formula, of what, in which shape, with which options.

f = evaluate(m, "jacobian", frame="tool")    # the native function that the verb of that name calls
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from types import ModuleType
from typing import Any

from eslabon.compiler import evaluator
from eslabon.compiler.evaluator import NOTHING, Formula
from eslabon.compiler.signature import Argument
from eslabon.errors import ModelError, shown, suggest
from eslabon.model import Model

Size = Callable[[Model], tuple[int, ...]]


def _room(name: str) -> ModuleType:
    """A room of formulas. It loads CasADi, which code kept on disk does not need: so only when a formula is traced."""
    from eslabon.dynamics import derivatives, linearized, loops, trees
    from eslabon.kinematics import closure, frames

    rooms = (frames, closure, trees, loops, derivatives, linearized)
    return {room.__name__.rpartition(".")[2]: room for room in rooms}[name]


def constraints(m: Model) -> int:
    """The number of scalar closure equations."""
    return sum(loop.kind.rows for loop in m.description.loops) + len(m.description.couplings)


def degrees_of_freedom(m: Model) -> int:
    """The number of independent velocities."""
    return len(structure_of(m)["structure"].partition.independent)


POOR = 1e-8  # of the reciprocal condition number, squared, of a closed mechanism: there may be better coordinates
MASSLESS = 1e-13  # of the reciprocal condition number of a mass matrix
CLOSURE = (Argument("residual", (), bound=("<=", 1e-6)), Argument("condition", (), bound=(">", POOR)))
OPENED = 1e-6  # the part of a parameter's change that no motion makes up for
OPENING = Argument("opening", (), bound=("<=", OPENED))
MASS = (Argument("condition", (), bound=(">", MASSLESS)),)


def structure_of(m: Model) -> Mapping[str, Any]:
    from eslabon.coordinates.massless import structure

    return {"structure": structure(m)}


def _formula(
    name: str, room: str, inputs: str, shape: Size | Mapping[str, Size], options: Mapping[str, Any] = NOTHING,
    external: bool = False, checks: tuple[Argument, ...] = (), derivative: str = "",
    function: str = "",
) -> Formula:  # fmt: skip
    sizes = shape if isinstance(shape, Mapping) else {name: shape}
    values = [Argument(x, lambda m, size=size, **_: size(m)) for x, size in sizes.items()]
    return Formula(
        name, lambda *x, **more: getattr(_room(room), function or name)(*x, **more), tuple(inputs.split()), (*values, *checks), options,
        external, structure_of if checks else None, len(checks), guarded=True,
        timed=checks == CLOSURE or room == "closure",
        derivative=(lambda *x, **more: getattr(_room("derivatives"), derivative)(*x, **more)) if derivative else None,
    )  # fmt: skip


FRAME: Mapping[str, Any] = {"frame": None}
AXES: Mapping[str, Any] = {"frame": None, "axes": "body"}
FORMULATION: Mapping[str, Any] = {"formulation": None}
# With loops also how they are imposed, and which coordinates are independent; None: the best known.
CONSTRAINTS: Mapping[str, Any] = {"formulation": None, "constraints": None}
SOLVED: Mapping[str, Any] = {**CONSTRAINTS, "partition": None}
WEIGHTED: Mapping[str, Any] = {**CONSTRAINTS, "weights": None, "partition": None}

PARTITION: Mapping[str, Any] = {"partition": None}


def _state_matrix(m: Model) -> tuple[int, ...]:
    return (2 * degrees_of_freedom(m),) * 2


def _input_matrix(m: Model) -> tuple[int, ...]:
    return (2 * degrees_of_freedom(m), m.nu)


FORCES_BY: Mapping[str, Size] = {f"tau_by_{x}": lambda m: (m.nu, m.nv) for x in "qva"}
ACCELERATIONS_BY: Mapping[str, Size] = {
    "a_by_q": lambda m: (m.nv, m.nv), "a_by_v": lambda m: (m.nv, m.nv), "a_by_tau": lambda m: (m.nv, m.nu)
}  # fmt: skip
HYBRID: Mapping[str, Size] = {"forces": lambda m: (m.nu,), "accelerations": lambda m: (m.nv,)}

QUANTITIES = {
    formula.name: formula
    for formula in (
        _formula("pose", "frames", "q", lambda m: (4, 4), FRAME),
        _formula("jacobian", "frames", "q", lambda m: (6, m.nv), AXES),
        _formula("velocity", "frames", "q v", lambda m: (6,), AXES),
        _formula("acceleration", "frames", "q v a", lambda m: (6,), AXES),
        _formula("position_hessian", "frames", "q", lambda m: (3, m.nv, m.nv), FRAME),
        _formula("inverse_dynamics", "trees", "q v a", lambda m: (m.nu,), FORMULATION, True, (), "of_inverse_dynamics"),
        _formula(
            "forward_dynamics", "trees", "q v tau", lambda m: (m.nv,), FORMULATION, True, MASS, "of_forward_dynamics"
        ),
        _formula(
            "inverse_dynamics_derivatives",
            "derivatives",
            "q v a",
            FORCES_BY,
            NOTHING,
            True,
            function="tree_force_derivatives",
        ),
        _formula(
            "forward_dynamics_derivatives",
            "derivatives",
            "q v tau",
            ACCELERATIONS_BY,
            NOTHING,
            True,
            MASS,
            function="acceleration_derivatives",
        ),
        _formula("mass_matrix", "trees", "q", lambda m: (m.nv, m.nv)),
        _formula("coriolis_matrix", "trees", "q v", lambda m: (m.nv, m.nv)),
        _formula("gravity_forces", "trees", "q", lambda m: (m.nv,)),
        _formula("energy", "trees", "q v", lambda m: (2,)),
        _formula("reactions", "trees", "q v a", lambda m: (len(m.joints), 6), external=True),
        _formula("reactions_under_forces", "trees", "q v tau", lambda m: (len(m.joints), 6), FORMULATION, True, MASS),
        _formula("hybrid_dynamics", "loops", "q v a", HYBRID, SOLVED, True, CLOSURE),
        _formula("regressor", "trees", "q v a", lambda m: (m.nv, 10 * len(m.bodies))),
        _formula("state_matrix", "linearized", "q v tau", _state_matrix, PARTITION, True, CLOSURE),
        _formula("input_matrix", "linearized", "q v tau", _input_matrix, PARTITION, True, CLOSURE),
        _formula("constraint", "closure", "q", lambda m: (constraints(m),)),
        _formula("constraint_jacobian", "closure", "q", lambda m: (constraints(m), m.nv)),
    )
}


def _wrenches(m: Model) -> tuple[int, ...]:
    return (len(m.joints) + len(m.loops), 6)


def _couplings(m: Model) -> tuple[int, ...]:
    return (len(m.couplings),)


# The same questions asked of a mechanism with loops, and those that only loops raise.
CLOSED = {
    formula.name: formula
    for formula in (
        _formula("inverse_dynamics", "loops", "q v a", lambda m: (m.nu,), WEIGHTED, True, CLOSURE),
        _formula(
            "forward_dynamics", "loops", "q v tau", lambda m: (m.nv,), SOLVED, True, CLOSURE, "of_forward_dynamics"
        ),
        _formula(
            "inverse_dynamics_derivatives",
            "derivatives",
            "q v a",
            FORCES_BY,
            WEIGHTED,
            True,
            CLOSURE,
            function="closed_force_derivatives",
        ),
        _formula(
            "forward_dynamics_derivatives",
            "derivatives",
            "q v tau",
            ACCELERATIONS_BY,
            {"partition": None},
            True,
            CLOSURE,
            function="acceleration_derivatives",
        ),
        _formula("reactions", "loops", "q v a", _wrenches, SOLVED, True, CLOSURE),
        _formula("reactions_under_forces", "loops", "q v tau", _wrenches, SOLVED, True, CLOSURE),
        _formula("coupling_forces", "loops", "q v a", _couplings, SOLVED, True, CLOSURE),
        _formula("coupling_forces_under_forces", "loops", "q v tau", _couplings, SOLVED, True, CLOSURE),
    )
}


# What follows a parameter along the closed configuration, and is given elsewhere.
FOLLOWING = {
    formula.name: formula
    for formula in (
        _formula("configuration", "frames", "q", lambda m: (m.nq,)),
        _formula("velocities", "frames", "q v", lambda m: (m.nv,), function="velocities_of_joints"),
        _formula("accelerations", "frames", "q v a", lambda m: (m.nv,), function="accelerations_of_joints"),
    )
}


# What has derivatives by parameters, and is no formula: it is found from singular vectors, or from the vectors of poles.
SPECTRAL = ("conditions", "poles", "natural_frequencies", "damping_ratios")


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
        raise ModelError(f"there is no quantity {shown(name)} of {m.name}{suggest(name, words)}")
    if name.startswith("coupling_forces") and not m.couplings:
        raise ModelError(f"{m.name} has no couplings; the forces of its loops are among its reactions.")
    return known[name]


@cache
def along_closed(of: Formula, parameter: str | tuple[str, ...], held: Any) -> Formula:
    """The formula of the derivative of another by a parameter, or by several as a last axis, along the closed configuration:
    `held` is the motion that stays. There is one, whichever variant of a mechanism asks."""
    values = _by_several(of, parameter)
    return replace(
        of, name=f"{of.name}_along_closed", function=_derived("along_closed", of), outputs=(*values, CLOSURE[0], OPENING, CLOSURE[1]),
        prepare=structure_of, checks=3, options={**of.options, "parameter": parameter, "held": held}, derivative=None, timed=True,
    )  # fmt: skip


@cache
def along_frozen(of: Formula, parameter: tuple[str, ...]) -> Formula:
    """The formula of the derivative of another by several parameters, as a last axis, with its arguments held."""
    checks = of.outputs[len(of.outputs) - of.checks :]
    return replace(
        of, name=f"{of.name}_along_frozen", function=_derived("along_frozen", of),
        outputs=(*_by_several(of, parameter), *checks), options={**of.options, "parameter": parameter}, derivative=None,
    )  # fmt: skip


def _derived(name: str, of: Formula) -> Callable[..., Any]:
    """A function of `dynamics.closed_derivatives` for a formula."""

    def function(*arguments: Any, **options: Any) -> Any:
        from eslabon.dynamics import closed_derivatives

        return getattr(closed_derivatives, name)(*arguments, of=of, **options)

    function.__qualname__ = f"{name}.{of.name}"  # which is part of the key
    return function


def _by_several(of: Formula, parameter: str | tuple[str, ...]) -> tuple[Argument, ...]:
    """The values of a formula, with an axis more for several parameters."""
    values = of.outputs[: len(of.outputs) - of.checks]
    if isinstance(parameter, str):
        return values
    return tuple(replace(x, shape=lambda m, shape=x.shape, **more: (*shape(m, **more), len(parameter))) for x in values)


def evaluate(m: Model, name: str, **options: Any) -> Callable[..., Any]:
    """The native function of a quantity."""
    return evaluator.evaluate(m, quantity(m, name), **options)
