"""Which values parameters may take, as expressions: what `check_numbers` says of numbers, for symbols.

Values given for one call are not checked one by one in Python: the least of these margins is computed beside the result, and
where it is negative, or no number, `check_numbers` finds the sentence.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from eslabon.algebra.arrays import is_symbolic
from eslabon.model.items import Body
from eslabon.model.model import Model
from eslabon.model.validation import ROUNDING

LARGEST = 1e100  # of any number: what an expression has no value for is beyond
LEAST = 1e-24  # of a squared axis or ratio that is not to be zero
NOT_NEGATIVE = ("velocity_limit", "effort_limit", "viscous", "coulomb", "stiffness", "motor_inertia")


def margin(m: Model) -> Any:
    """The least of all margins of a model with symbols, a CasADi scalar: zero or more where its parameters are admissible."""
    import casadi

    least = casadi.SX(1.0)
    for x in _margins(m):
        if is_symbolic(x):
            # A margin that is no number counts as a violation, which `fmin` alone would pass over.
            least = casadi.if_else(x >= 0, casadi.fmin(least, x), -1.0)
    return least


def _numbers(item: Any) -> Iterator[Any]:
    """Every number inside dataclasses and tuples."""
    if isinstance(item, tuple):
        for x in item:
            yield from _numbers(x)
    elif dataclasses.is_dataclass(item):
        for field in dataclasses.fields(item):
            yield from _numbers(getattr(item, field.name))
    else:
        yield item


def _margins(m: Model) -> Iterator[Any]:
    items = (m.gravity, m.bodies, m.joints, m.loops, m.couplings, m.springs, m.wrenches, m.frames)
    yield from (LARGEST - abs(x) for x in _numbers(items) if is_symbolic(x))
    for body in m.bodies:
        yield body.mass
        yield from _inertia_margins(body)
    for kind in (*(j.kind for j in m.joints), *(x.kind for x in m.loops)):
        for axis in kind.axes:
            yield sum(x * x for x in axis) - LEAST
        yield getattr(kind, "pitch", 1.0) ** 2 - LEAST
    for j in m.joints:
        yield from (upper - lower for lower, upper in j.limits or ())
        yield from (value for what in NOT_NEGATIVE for value in getattr(j, what) or ())
        yield from (ratio**2 - LEAST for ratio in j.gear_ratio or ())
    for spring in m.springs:
        yield from (spring.stiffness, spring.damping, spring.length)
    yield from (coupling.ratio**2 - LEAST for coupling in m.couplings)


def _inertia_margins(body: Body) -> Iterator[Any]:
    """A symmetric matrix has no negative principal value where no coefficient of its characteristic polynomial is."""
    if not any(is_symbolic(x) for x in body.inertia):
        return
    import casadi

    I = casadi.SX(body.inertia_matrix())
    size = casadi.sqrt(casadi.sumsqr(I))
    I = I / casadi.if_else(size > 0, size, 1.0) + ROUNDING * casadi.SX.eye(3)
    minors = (I[i, i] * I[j, j] - I[i, j] * I[j, i] for i, j in ((0, 1), (0, 2), (1, 2)))
    yield from (casadi.trace(I), sum(minors), casadi.det(I))
