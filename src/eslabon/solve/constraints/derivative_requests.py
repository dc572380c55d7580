"""Which formula gives a derivative: by an argument, by a parameter or by several; frozen, or along
the closed configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eslabon.arguments import choice, names, text
from eslabon.compiler.evaluate import function_of
from eslabon.compiler.formula import Formula, requested
from eslabon.errors import ModelError, format_value
from eslabon.formulas.quantities import along_closed, along_frozen, quantity
from eslabon.model import Model
from eslabon.solve.constraints.constraint_structure import constraint_structure
from eslabon.solve.constraints.held_motion import held_motion
from eslabon.solve.constraints.state_checks import checked

ALONG = (
    "frozen",
    "closed",
)  # a derivative by a parameter holds all arguments, or what keeps loops closed


def derived(
    m: Model, formula: Formula, by: Any, along: str, held: Any
) -> tuple[Formula, str | None]:
    """The formula of a derivative, and what is left to differentiate it by: by an argument or one
    parameter the graph is differentiated as it is; along the closed configuration, and by several
    parameters, there is a formula for it."""
    choice(along, "along", ALONG)
    if along == "frozen" and held is not None:
        raise ModelError('held says what does not follow along="closed"; give along="closed" too.')
    if along == "frozen" and isinstance(by, str):
        return formula, text(by, "by")
    parameter = _parameters(m, formula, by, along)
    if along == "closed":
        return along_closed(m, formula, parameter, held_motion(m, held)), None
    return along_frozen(
        m, formula, parameter if isinstance(parameter, tuple) else (parameter,)
    ), None


def _parameters(m: Model, formula: Formula, by: Any, along: str) -> str | tuple[str, ...]:
    """One parameter, or several, which are no arguments; a parameter may have the name of an
    argument."""
    for name in names(by, "by"):
        if name in formula.input_names and name not in m.parameters:
            said = (
                "several at once are parameters"
                if along == "frozen"
                else 'along="closed" is for derivatives by a parameter'
            )
            raise ModelError(
                f"{said} of {m.name} ({', '.join(m.parameters)}); '{name}' is an argument of {formula.name}: differentiate by "
                "it alone, and leave along out."
            )
    named = parameters_of(m, by)
    return by if isinstance(by, str) else named


def parameters_of(m: Model, by: Any) -> tuple[str, ...]:
    """The names of parameters to differentiate by, each once."""
    named = names(by, "by")
    if not named or len(set(named)) < len(named):
        raise ModelError(
            f"by names parameters, each once, as in by=('L1', 'L2'); it is {format_value(by)}."
        )
    m.check_parameters(named)
    return named


def derivative_at(
    m: Model,
    name: str,
    by: Any,
    along: str,
    held: Any,
    parameters: Mapping[str, Any],
    *arrays: Any,
    **options: Any,
) -> Any:
    """The numbers of a derivative at states, and for values of parameters."""
    formula, left = derived(m, quantity(m, name, following=along == "closed"), by, along, held)
    request = requested(m, formula, options, tuple(parameters), (), left, constraint_structure)
    f = checked(m, request) if formula.checks else function_of(m, request)
    return f(*arrays, *parameters.values())
