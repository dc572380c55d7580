"""Loops closed again while parameters change: continuation in the parameters.

The parameters are inputs of native code that is compiled once, so that a slider of a length needs no other mechanism's code.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.evaluate import evaluate
from eslabon.errors import AssemblyError
from eslabon.model import Model
from eslabon.model.configuration import integrate, normalize
from eslabon.numerics.tolerances import CONVERGED
from eslabon.solve.assembly.prescription import Prescription
from eslabon.solve.constraints.closed_configurations import CLOSURE

STEP = 0.02  # of a parameter's value
STEPS = 100
NEWTON = 12
LARGEST = 0.5  # rad or m, of a correction


def reclosed(
    m: Model,
    old: Mapping[str, float],
    new: Mapping[str, float],
    q: Floats,
    held: tuple[str, ...] = (),
) -> Floats:
    """The closed configuration that q becomes as the parameters go from old to new values, straight; the joints `held` keep
    their coordinates if the loops close with that, else all joints move, as little as they can.

    >>> import eslabon as es
    >>> m = es.load("five_bar")
    >>> q, p = m.assemble([2.0, 1.0]), dict(m.parameters)
    >>> longer = p | {"L2": 1.05 * p["L2"]}
    >>> there = reclosed(m, p, longer, q, m.actuated)
    >>> bool(abs(m.with_parameters(**longer).constraint(there)).max() < 1e-9), bool(abs(there - q)[[0, 2]].max() == 0)
    (True, True)
    """
    changed = [name for name in new if new[name] != old[name]]
    if not m.closed or not changed:
        return q
    begin, end = (np.array([values[name] for name in new], dtype=float) for values in (old, new))
    largest = max(
        abs(new[name] - old[name]) / max(abs(new[name]), abs(old[name])) for name in changed
    )
    parts = np.linspace(0.0, 1.0, 1 + int(np.clip(np.ceil(largest / STEP), 1, STEPS)))[1:]
    columns = [Prescription(held).free(m), list(range(m.nv))]
    for free in columns:
        there: Floats | None = q
        for part in parts:
            if there is not None:
                there = _corrected(m, tuple(new), begin + part * (end - begin), there, free)
        if there is not None:
            return there
    raise AssemblyError(
        f"{m.name} does not close any more on its branch with {', '.join(changed)} so changed."
    )


def _corrected(
    m: Model, names: tuple[str, ...], values: Floats, q: Floats, free: list[int]
) -> Floats | None:
    """Newton's method, by least steps along the free velocities; None where it does not lead to a closed configuration nearby."""
    closure, start = evaluate(m, CLOSURE, names), q
    for _ in range(NEWTON):
        phi, J = closure(q, *values)
        if np.abs(phi).max(initial=0.0) < CONVERGED / 10:
            return q
        step = np.zeros(m.nv)
        step[free] = -np.linalg.lstsq(J[:, free], phi, rcond=1e-9)[0]
        if not np.abs(step).max(initial=0.0) < LARGEST:
            return None
        q = np.asarray(normalize(m, integrate(m, q, step)))
    phi, _ = closure(q, *values)
    return (
        q
        if np.abs(phi).max(initial=0.0) < CONVERGED and np.abs(q - start).max() < 4 * LARGEST
        else None
    )
