"""The configuration of a whole model: what each joint kind says of its coordinates, for all joints
at once.

q is an array (..., nq) or a CasADi column, v of size nv likewise. Configurations form a manifold:
where quaternions are among the coordinates, nq exceeds nv, and `integrate`, `difference` and
`normalize` take the place of +, - and nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from eslabon.answers import answer
from eslabon.model.items import Joint
from eslabon.model.model import Model
from eslabon.numerics.scalars import (
    A,
    Array,
    Computed,
    Expression,
    casadi,
    concatenate,
    is_symbolic,
    transpose,
)


def coordinates(m: Model, q: A, joint: Joint) -> A:
    """A joint's own coordinates."""
    place = m.coordinates[joint.name]
    return (
        q[place, :] if is_symbolic(q) else q[..., place]
    )  # CasADi's q[0:0] of one coordinate is 1x0, not 0x1


def velocities(m: Model, v: A, joint: Joint) -> A:
    """A joint's own velocities; of accelerations and forces likewise."""
    place = m.velocities[joint.name]
    return v[place, :] if is_symbolic(v) else v[..., place]


def values_by_joint(m: Model, joints: tuple[str, ...], x: np.ndarray) -> dict[str, np.ndarray]:
    """Coordinates (..., n) of some joints, one joint after the other, as a mapping of the joints: of one
    coordinate a number or an array, of several (..., nq)."""
    made, place = {}, 0
    for name in joints:
        count = m.joint(name).nq
        made[name] = x[..., place] if count == 1 else x[..., place : place + count]
        place += count
    return made


def coordinate_rates(m: Model, q: A) -> A:
    """The matrix N(q) of dq/dt = N v, (..., nq, nv): the identity but for quaternions."""
    if is_symbolic(q):
        own, v = casadi.SX.sym("q", m.nq), casadi.SX.sym("v", m.nv)
        N = casadi.jacobian(coordinate_velocities(m, own, v), v)
        return casadi.substitute(
            N, own, casadi.densify(casadi.SX(q))
        )  # which may have calls, that have no derivatives
    units = np.broadcast_to(np.eye(m.nv), (*np.shape(q)[:-1], m.nv, m.nv))
    return transpose(coordinate_velocities(m, np.asarray(q)[..., None, :], units))


def coordinate_velocities(m: Model, q: A, v: A) -> A:
    """dq/dt = N v."""
    return _jointwise(m, "coordinate_rates", (q, coordinates), (v, velocities))


def integrate(m: Model, q: A, v: A) -> A:
    """The configuration that the constant velocities v lead to in a unit of time: q + v, exact for
    quaternions.

    >>> import numpy as np
    >>> from eslabon.model import Builder
    >>> from eslabon.model.configuration import integrate
    >>> ball = Builder("ball").body("a").joint("j", "spherical", "ground", "a").build()
    >>> integrate(ball, ball.neutral(), np.array([np.pi, 0.0, 0.0])).round(15)
    array([0., 1., 0., 0.])
    """
    return _jointwise(m, "integrate", (q, coordinates), (v, velocities))


def difference(m: Model, q1: A, q0: A) -> A:
    """The velocities that lead from q0 to q1 in a unit of time, angles the short way round and
    quaternions up to sign."""
    return _jointwise(m, "difference", (q1, coordinates), (q0, coordinates))


def displacement_rates(m: Model, v: Expression) -> Expression:
    """The matrix K of d(delta)/dt = delta v + K delta, for small displacements delta along the
    velocities, as a CasADi matrix: -ad of a body's twist where velocities are one, else zero."""
    K = casadi.SX(m.nv, m.nv)
    for joint in m.joints:
        own = joint.kind.displacement_rate(velocities(m, v, joint))
        if own is not None:
            K[m.velocities[joint.name], m.velocities[joint.name]] = own
    return K


def normalize(m: Model, q: A) -> A:
    """The configuration brought back onto its manifold: quaternions of unit length."""
    if not any(j.kind.has_quaternion for j in m.joints):
        return q
    return _jointwise(m, "normalize", (q, coordinates))


def lengths_of_quaternions(m: Model, q: A) -> dict[str, Any]:
    """By joint, the squared length of its quaternion: zero is no orientation."""
    found = {j.name: j.kind.length(coordinates(m, q, j)) for j in m.joints if j.kind.has_quaternion}
    return {name: x for name, x in found.items() if x is not None}


def _jointwise(m: Model, method: str, *arguments: tuple[Array, Callable[..., Array]]) -> Computed:
    """What each joint's kind makes of its own part of every argument, joined in the order of the
    joints."""
    if is_symbolic(*(x for x, _ in arguments)):
        arguments = tuple((casadi.SX(x), part) for x, part in arguments)
    else:
        arguments = tuple((np.asarray(x, dtype=float), part) for x, part in arguments)
    moving = [j for j in m.joints if j.nv]
    if not moving:
        return (
            arguments[0][0]
            if is_symbolic(arguments[0][0])
            else np.broadcast_arrays(*(x for x, _ in arguments))[0]
        )
    return concatenate(
        *(getattr(j.kind, method)(*(part(m, x, j) for x, part in arguments)) for j in moving)
    )


def limits(m: Model) -> tuple[np.ndarray, np.ndarray]:
    """The lower and upper limits of the coordinates, infinite where there are none."""
    pairs = [pair for j in m.joints for pair in (j.limits or ((-np.inf, np.inf),) * j.nq)]
    lower, upper = np.array(pairs, dtype=float).reshape(-1, 2).T.copy()
    return lower, upper


def periodic(m: Model) -> np.ndarray:
    """Which coordinates are angles that look alike after a whole turn."""
    return np.array([c.periodic for j in m.joints for c in j.kind.coordinates], dtype=bool)


def free_to_turn(m: Model) -> np.ndarray:
    """Which of them can be turned about alone: a turn of a coupled or driven joint moves other joints,
    or leaves it elsewhere than its drive has it."""
    tied = {name for c in m.couplings for name in (c.joint, c.source)}
    alone = [j.name not in tied for j in m.joints for _ in j.kind.coordinates]
    return periodic(m) & np.array(alone, dtype=bool)


def angles(m: Model) -> np.ndarray:
    """Which coordinates are angles, those of screws among them."""
    return np.array([unit == "rad" for unit in coordinate_units(m)], dtype=bool)


def lengths(m: Model) -> np.ndarray:
    """Which coordinates are lengths."""
    return np.array([unit == "m" for unit in coordinate_units(m)], dtype=bool)


@answer
class SignalColumn(NamedTuple):
    """One number of a configuration or a velocity: the joint it belongs to, its name beside the
    joint's, and its unit."""

    joint: str
    name: str
    unit: str

    def __str__(self) -> str:
        return f"{self.joint}.{self.name}" if self.name else self.joint


def coordinate_columns(m: Model) -> tuple[SignalColumn, ...]:
    """What each coordinate is; units are "rad", "m", or "" for the components of quaternions."""
    return tuple(SignalColumn(j.name, c.name, c.unit) for j in m.joints for c in j.kind.coordinates)


def velocity_columns(m: Model) -> tuple[SignalColumn, ...]:
    """What each velocity is; units are "rad/s" or "m/s"."""
    return tuple(SignalColumn(j.name, c.name, c.unit) for j in m.joints for c in j.kind.velocities)


def coordinate_names(m: Model) -> tuple[str, ...]:
    """A name for each coordinate: its joint's, with the coordinate's own where the joint has
    several.

    >>> from eslabon.model import Builder
    >>> from eslabon.model.configuration import coordinate_names
    >>> coordinate_names(Builder("one").body("a").joint("j", "cylindrical", "ground", "a").build())
    ('j.angle', 'j.slide')
    """
    return tuple(map(str, coordinate_columns(m)))


def velocity_names(m: Model) -> tuple[str, ...]:
    """A name for each velocity, as `coordinate_names`."""
    return tuple(map(str, velocity_columns(m)))


def coordinate_units(m: Model) -> tuple[str, ...]:
    """The unit of each coordinate."""
    return tuple(c.unit for c in coordinate_columns(m))


def velocity_units(m: Model) -> tuple[str, ...]:
    """The unit of each velocity."""
    return tuple(c.unit for c in velocity_columns(m))
