"""Which values the numbers of a model may take, with the sentence for those they may not: on numbers and symbols alike.

Values given for one call are not checked one by one in Python: the least of the margins is computed beside the result, and
where it is negative, or no number, `check_numbers` finds the sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import hypot
from typing import TYPE_CHECKING, Any

import numpy as np

from eslabon.errors import ModelError
from eslabon.model.items import Body, Joint, Loop
from eslabon.model.parameter_expressions import leaves
from eslabon.model.schema import bounded_numbers
from eslabon.numerics.scalars import casadi, is_symbolic
from eslabon.numerics.tolerances import INPUT_DIGITS, ROUND_OFF

if TYPE_CHECKING:
    from eslabon.model.model import Model

LARGEST = 1e100  # of any number: what an expression has no value for is beyond
NEGATIVE = "is {:g}; it cannot be negative."


def requirements(m: Model) -> Iterator[tuple[Any, ...]]:
    """What must not be negative, whose it is, and the sentence about it with the numbers it shows."""
    for item in (*m.bodies, *m.joints, *m.loops, *m.springs):
        owner = f"{item.word} '{item.name}'"
        for key, x in bounded_numbers(item):
            yield x, owner, f"the {key.replace('_', ' ')} {NEGATIVE}", x
        if isinstance(item, Joint | Loop):
            yield from ((margin, owner, why) for margin, why in item.kind.requirements())
    for j in m.joints:
        owner = f"joint '{j.name}'"
        for lower, upper in j.limits or ():
            yield (
                upper - lower,
                owner,
                "the lower limit {:g} is above the upper {:g}; exchange them.",
                lower,
                upper,
            )
        for ratio in j.gear_ratio or ():
            yield (
                ratio * ratio - ROUND_OFF**2,
                owner,
                "the gear ratio is zero; it is motor turns a joint turn.",
            )
    for c in m.couplings:
        yield (
            c.ratio * c.ratio - ROUND_OFF**2,
            f"coupling '{c.name}'",
            f"the ratio is zero; make the joint '{c.joint}' fixed.",
        )


def check_numbers(m: Model) -> None:
    """Refuse numbers that no mechanism has."""
    for sentence in inadmissible(m):
        raise ModelError(sentence)


def inadmissible(m: Model) -> Iterator[str]:
    """The numbers that no mechanism has, a sentence each."""
    for margin, owner, why, *values in requirements(m):
        if margin < 0:
            yield f"{owner}: {why.format(*values) if values else why}"
    for body, moments in zip(m.bodies, principal_moments(m.bodies), strict=True):
        if moments[0] < -_round_off(body, moments):
            yield (
                f"body '{body.name}': the inertia has the negative principal value {moments[0]:g}; "
                "check its entries and that it is about the centre of mass."
            )
    for shape in m.shapes:
        if shape.kind != "mesh" and min(shape.size) <= 0:  # a mesh may be mirrored
            yield f"shape '{shape.name}': the size {min(shape.size):g} is not positive; give lengths in metres."
        elif 0.0 in shape.size:
            yield f"shape '{shape.name}': a scale of zero makes the mesh flat; 1 is the size that its file has."
    for j in m.joints:
        if (
            j.home is not None
            and (squared := j.kind.length(np.array(j.home))) is not None
            and abs(squared - 1) > 2 * INPUT_DIGITS
        ):
            yield f"joint '{j.name}': home's quaternion has the length {squared**0.5:g}; it must be 1."


def margin(m: Model) -> Any:
    """The least of all margins of a model with symbols, a CasADi scalar: zero or more where its parameters are admissible."""
    # A home is where a mechanism starts from, and nothing in a call depends on it.
    joints = tuple(replace(joint, home=None) for joint in m.joints)
    items = (m.gravity, m.bodies, joints, m.loops, m.couplings, m.springs, m.wrenches, m.frames)
    margins = [LARGEST - abs(x) for x in leaves(items) if is_symbolic(x)]
    margins += [x for x, *_ in requirements(m)] + [
        x for body in m.bodies for x in _inertia_margins(body)
    ]
    least = casadi.SX(1.0)
    for x in margins:
        if is_symbolic(x):
            # A margin that is no number counts as a violation, which `fmin` alone would pass over.
            least = casadi.if_else(x >= 0, casadi.fmin(least, x), -1.0)
    return least


def _inertia_margins(body: Body) -> Iterator[Any]:
    """A symmetric matrix has no negative principal value where no coefficient of its characteristic polynomial is."""
    if not is_symbolic(*body.inertia):
        return
    I = casadi.SX(body.inertia_matrix())
    size = casadi.sqrt(casadi.sumsqr(I))
    I = I / casadi.if_else(size > 0, size, 1.0) + INPUT_DIGITS * casadi.SX.eye(3)
    minors = (I[i, i] * I[j, j] - I[i, j] * I[j, i] for i, j in ((0, 1), (0, 2), (1, 2)))
    yield from (casadi.trace(I), sum(minors), casadi.det(I))


def principal_moments(bodies: Sequence[Body]) -> np.ndarray:
    """The principal moments of bodies, a row each, smallest first."""
    xx, yy, zz, xy, xz, yz = (
        np.array([body.inertia for body in bodies], dtype=float).reshape(-1, 6).T
    )
    largest = (
        np.abs([xx, yy, zz, xy, xz, yz]).max(axis=0) + np.finfo(float).tiny
    )  # scaled, so that nothing overflows
    matrices = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) / largest
    return np.linalg.eigvalsh(np.moveaxis(matrices, -1, 0)) * largest[:, None]


def _round_off(body: Body, moments: Any) -> float:
    """What the moments may miss by: their last published digit, and round-off of the m d^2 they were moved by."""
    distance = hypot(*body.com)
    return float(INPUT_DIGITS * np.abs(moments).max()) + ROUND_OFF * body.mass * distance * distance


def plausibility_warnings(m: Model) -> Iterator[str]:
    """What is legal and yet looks like a slip."""
    for body, (small, middle, large) in zip(m.bodies, principal_moments(m.bodies), strict=True):
        if large > small + middle + _round_off(body, (small, middle, large)):
            yield (
                f"body '{body.name}' has the principal moments {small:.4g}, {middle:.4g}, {large:.4g}, and no solid "
                "body can: the largest exceeds the sum of the others. Published tables often give only the moments that matter."
            )
        if body.mass == 0 and large > 0:
            yield f"body '{body.name}' has moments of inertia and no mass."
    for j in m.joints:
        for value, (lower, upper) in zip(j.home or (), j.limits or (), strict=False):
            if not lower <= value <= upper:
                yield f"joint '{j.name}' starts at {value:.4g}, outside its limits {lower:.4g} to {upper:.4g}."
