"""What a mechanism refuses of the numbers that users give: parameters no mechanism can have,
quaternions of length zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.formula import Argument, Guard, Request
from eslabon.errors import InputError, ModelError
from eslabon.formulas.inputs import Q
from eslabon.model import Model
from eslabon.model.configuration import lengths_of_quaternions
from eslabon.model.validation import margin
from eslabon.numerics.scalars import casadi
from eslabon.numerics.tolerances import INPUT_DIGITS

SHORTEST = INPUT_DIGITS**2  # the least squared length of a quaternion that is an orientation


def _has_parameters(m: Model, request: Request) -> bool:
    return bool(request.parameters)


def _margin(m: Model, request: Request, own: Sequence[Any]) -> Any:
    return margin(m)


def _refuse_parameters(
    m: Model, request: Request, arrays: Sequence[Floats], margins: Floats
) -> None:
    """Say what is wrong with the first values that no mechanism has."""
    if np.all(margins >= 0):
        return
    names, at = request.parameters, np.unravel_index(np.argmin(margins >= 0), np.shape(margins))
    given = [float(np.broadcast_to(x, np.shape(margins))[at]) for x in arrays[-len(names) :]]
    values = dict(zip(names, given, strict=True))
    own = {name: x for name, x in values.items() if name in m.parameters}
    m.with_parameters(**own)  # which says what is wrong, unless it is wrong in this formula alone
    raise ModelError(f"{m.name} has no {request.formula.name} with {values}.")


def _has_quaternions(m: Model, request: Request) -> bool:
    return Q in request.formula.inputs and m.nq > m.nv  # a quaternion is a coordinate more


def _shortest(m: Model, request: Request, own: Sequence[Any]) -> Any:
    q = own[request.formula.inputs.index(Q)]
    return casadi.mmin(casadi.vertcat(*lengths_of_quaternions(m, q).values()))


def _refuse_quaternion(
    m: Model, request: Request, arrays: Sequence[Floats], lengths: Floats
) -> None:
    """Name the joint whose quaternion has no length."""
    if not np.any(lengths <= SHORTEST):
        return
    q = np.broadcast_to(arrays[request.formula.inputs.index(Q)], (*np.shape(lengths), m.nq))
    own = lengths_of_quaternions(m, q[np.unravel_index(np.nanargmin(lengths), np.shape(lengths))])
    joint = min(own, key=lambda name: float(own[name]))
    which = f" in state {int(np.nanargmin(lengths))}" if np.ndim(lengths) else ""
    raise InputError(
        f"{request.formula.name}: the quaternion of '{joint}' has length zero{which}, which is no "
        "orientation; the identity is (1, 0, 0, 0)."
    )


# The least of the margins by which parameters are admissible, such as a mass.
ADMISSIBLE_PARAMETERS = Guard(
    Argument("admissible", (), bound=(">=", 0.0)), _has_parameters, _margin, _refuse_parameters
)
UNIT_QUATERNIONS = Guard(
    Argument("quaternion", (), bound=(">", SHORTEST)),
    _has_quaternions,
    _shortest,
    _refuse_quaternion,
)
INPUT_GUARDS = (ADMISSIBLE_PARAMETERS, UNIT_QUATERNIONS)
