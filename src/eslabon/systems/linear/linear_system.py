"""Linear systems as users give them: a linear model, python-control's state space, or plain arrays (A, B)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from eslabon.arguments import Floats, finite
from eslabon.errors import InputError, format_value


class System(NamedTuple):
    """x' = A x + B u, y = C x, with names of states, inputs and outputs; B or C may be missing. In discrete time, as a state
    space of python-control may be, it has a step."""

    A: Floats
    B: Floats | None
    C: Floats | None
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    step: float | None = None

    @property
    def size(self) -> int:
        return len(self.A)

    def combination(self, weights: Any) -> str:
        """A combination of states in a sentence, its largest terms only."""
        size = np.abs(weights).max()
        terms = [
            (weights[k] / size, self.states[k])
            for k in range(self.size)
            if np.abs(weights[k]) > 0.05 * size
        ]
        texts = [
            name if np.isclose(x, 1) else f"-{name}" if np.isclose(x, -1) else f"{x:.2g} {name}"
            for x, name in terms
        ]
        return " + ".join([*texts[:4], *(["..."] if len(texts) > 4 else [])]).replace("+ -", "- ")


def with_inputs(system: Any) -> tuple[System, Floats]:
    """A system that has inputs: a linear model, or arrays (A, B), and its B."""
    made = _of(system, "B", "(A, B)")
    assert made.B is not None
    return made, made.B


def with_outputs(system: Any) -> tuple[System, Floats]:
    """A system that has outputs: a linear model, or arrays (A, C), and its C."""
    made = _of(system, "C", "(A, C)")
    assert made.C is not None
    return made, made.C


def _of(system: Any, second: str, pair: str) -> System:
    if isinstance(system, tuple | list) and not hasattr(system, "A"):
        if len(system) != 2:
            raise InputError(
                f"a linear system is a linear model or a pair {pair}; {len(system)} arrays were given."
            )
        given = {"A": system[0], second: system[1]}
    elif hasattr(system, "A") and hasattr(system, second):
        given = {name: getattr(system, name) for name in "ABC" if hasattr(system, name)}
    else:
        raise InputError(
            f"a linear system is a linear model or a pair {pair}; it is {format_value(system)}."
        )
    arrays = {name: finite(x, name) for name, x in given.items()}
    A = arrays["A"]
    if A.ndim > 2:
        raise InputError(
            f"A has shape {A.shape}: this is many linear models; take one of them, as in lm[0]."
        )
    if A.ndim != 2 or A.shape[0] != A.shape[1] or not A.size:
        raise InputError(f"A is a square matrix of at least one state; its shape is {A.shape}.")
    n = len(A)
    for name, axis in (("B", 0), ("C", 1)):
        if name in arrays and (arrays[name].ndim != 2 or arrays[name].shape[axis] != n):
            need = f"({n}, inputs)" if name == "B" else f"(outputs, {n})"
            raise InputError(
                f"{name} has shape {arrays[name].shape}; {need} is expected with {n} states."
            )
    if not arrays[second].size:
        raise InputError(
            f"the linear system has no {'inputs' if second == 'B' else 'outputs'}: {second} is empty."
        )
    B, C = arrays.get("B"), arrays.get("C")
    return System(
        A, B, C, _names(system, ("state_labels", "states"), "x", n),
        _names(system, ("input_labels", "inputs"), "u", 0 if B is None else B.shape[1]),
        _names(system, ("output_labels", "outputs"), "y", 0 if C is None else C.shape[0]), _step(system),
    )  # fmt: skip


def _step(system: Any) -> float | None:
    """The step of a state space in discrete time; python-control's True is a step nobody named."""
    step = getattr(system, "dt", None)
    return None if step is None or (not isinstance(step, bool) and step == 0) else float(step)


def _names(system: Any, words: tuple[str, ...], letter: str, count: int) -> tuple[str, ...]:
    for word in words:
        names = getattr(system, word, None)
        if isinstance(names, tuple | list) and len(names) == count:
            return tuple(map(str, names))
    return tuple(f"{letter}{k + 1}" for k in range(count))
