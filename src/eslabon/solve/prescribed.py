"""What users prescribe, as a problem and its values: an array of the actuated joints' coordinates,
a mapping of joints, a target of a frame, or a list of targets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from eslabon.arguments import Floats, finite, states
from eslabon.errors import InputError, ModelError
from eslabon.model import Model
from eslabon.model.memory import per_model
from eslabon.solve.batches import joined
from eslabon.solve.constraints.closed_configurations import close
from eslabon.solve.problem import Problem
from eslabon.solve.target import Target, read_targets


def prescribed(m: Model, given: Any) -> tuple[Problem, Floats]:
    """The problem, and its values (..., size)."""
    if isinstance(given, Target):
        given = [given]
    if isinstance(given, list | tuple) and any(isinstance(x, Target) for x in given):
        rows, values = read_targets(m, given)
        return Problem(rows=rows), values
    if isinstance(given, Mapping):
        return _joints(m, given)
    problem = actuated(m)
    size = problem.size(m)
    if not size and m.closed and m.nv and not m.rheonomic and given is not None and np.size(given):
        raise ModelError(
            f"{m.name} has no actuated joints; name the joints you prescribe, as in "
            f"{{'{m.joints[0].name}': 0.5}}."
        )
    x = np.atleast_1d(finite([] if given is None else given, "the array of prescribed values"))
    if x.shape[-1] != size:
        _refuse_size(m, problem, x)
    return problem, x


def _refuse_size(m: Model, problem: Problem, x: Floats) -> None:
    names = ", ".join(problem.held) or "(none)"
    if not problem.held and m.closed:
        names = f"(none); name the joints you prescribe, as in {{'{m.joints[0].name}': 0.5}}"
    size = problem.size(m)
    raise ModelError(
        f"the actuated joints of {m.name}, {names}, have {size} coordinates; {x.shape[-1]} values were "
        "given."
    )


@per_model
def actuated(m: Model) -> Problem:
    """The actuated joints prescribed."""
    return Problem(held=tuple(m.actuated))


def _joints(m: Model, given: Mapping[Any, Any]) -> tuple[Problem, Floats]:
    """Joints by name: of one coordinate a number or an array, of several (..., nq)."""
    problem = Problem(held=tuple(m.joint(name).name for name in given))
    values = [_values(x, name, m.joint(name).nq) for name, x in given.items()]
    return problem, joined(values, "joints")


def rates_of(m: Model, problem: Problem, given: Any, name: str) -> Floats:
    """Velocities or accelerations of what is prescribed: an array (..., n) in its order, or a
    mapping of its joints; zeros if left out."""
    size = problem.rate_size(m)
    if given is None:
        return np.zeros(size)
    if isinstance(given, Mapping):
        if tuple(given) != problem.held or problem.rows:
            known = ", ".join(problem.held) or "none"
            raise InputError(
                f"{name} as a mapping names the prescribed joints ({known}), in their order; it names "
                f"{', '.join(map(str, given))}."
            )
        parts = [_values(x, f"{name} of '{n}'", m.joint(n).nv) for n, x in given.items()]
        return joined(parts, name)
    made = finite(given, name)
    if made.ndim < 1 or made.shape[-1] != size:
        what = ", ".join(problem.held) if not problem.rows else "what is prescribed"
        raise InputError(
            f"{name} has {size} numbers, the rates of {what or 'no joint'}, or is a batch (..., {size}); "
            f"it has shape {made.shape}."
        )
    return made


def _values(x: Any, name: str, size: int) -> Floats:
    made = finite(x, f"the value of '{name}'")
    if size == 1:
        return made[..., None]
    if made.ndim < 1 or made.shape[-1] != size:
        raise InputError(
            f"'{name}' has {size} numbers, or is a batch (..., {size}); it has shape {made.shape}."
        )
    return made


def as_configuration(m: Model, given: Any) -> Floats:
    """A configuration, or a batch of them, as users say it: None is the closed home, a text the
    name of a mode."""
    if given is None:
        return home(m)
    if isinstance(given, str):
        return m.configuration(given)
    return states(given, "guess", m.nq, m.name)


def home(m: Model) -> Floats:
    """The closed configuration nearest to the description's home."""
    return _home(m).copy() if m.closed else m.home()


@per_model
def _home(m: Model) -> Floats:
    return close(m)
