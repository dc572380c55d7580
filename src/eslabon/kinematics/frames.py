"""Pose, Jacobian, velocity and acceleration of a frame, as formulas of the mechanism.

Twists are angular part first. They are told in one of three ways, `axes`:

* "body": in the frame's own axes, at its origin (the body twist of Yime, eq. 7);
* "spatial": in the ground's axes, at the ground's origin, Ad_T of the body twist;
* "ground": in the ground's axes, at the frame's origin: angular velocity and classical velocity of the point.
"""

from __future__ import annotations

from typing import Any

from eslabon.algebra.arrays import Array, block, cross, matmul, matrix, parts, times, transpose, vector
from eslabon.errors import ModelError, suggest
from eslabon.kinematics.tree import (
    Placement,
    across,
    chain,
    compose,
    coordinate_rates,
    coordinates,
    fixed,
    velocities,
)
from eslabon.model import Frame, Mechanism

AXES = ("body", "spatial", "ground")


def chosen_frame(m: Mechanism, name: str | None) -> Frame:
    """The frame of that name; without one, the only named frame the mechanism has."""
    if name is not None:
        return m.frame(name)
    if len(m.frames) == 1:
        return m.frames[0]
    known = ", ".join(f.name for f in m.frames) or ", ".join(b.name for b in m.bodies)
    raise ModelError(
        f"{m.name} needs the name of a frame or body, as in frame={known.split(', ')[-1]!r} (it has {known})."
    )


def check_axes(axes: str) -> str:
    if axes not in AXES:
        raise ModelError(f"axes is {axes!r}{suggest(axes, AXES)}")
    return axes


def placement(m: Mechanism, q: Array, frame: Frame) -> Placement:
    """Rotation and position of a frame on the ground, by the forward recursion (Rojas, 2.6)."""
    placed: Placement | None = None
    for joint in chain(m, frame.body):
        step = across(m, q, joint)
        placed = step if placed is None else compose(placed, step)
    return fixed(frame.at) if placed is None else compose(placed, fixed(frame.at))


def pose(m: Mechanism, q: Array, frame: str | None = None) -> Array:
    """The 4x4 pose T of a frame on the ground."""
    R, p = placement(m, q, chosen_frame(m, frame))
    return block([[R, matrix([[x] for x in parts(p, 3)])], [matrix([[0.0] * 3]), matrix([[1.0]])]])


def jacobian(m: Mechanism, q: Array, frame: str | None = None, axes: str = "body") -> Array:
    """The 6 x nv Jacobian J with twist = J v, a column Ad S_j for each freedom on the way (Yime, eq. 10)."""
    chosen = chosen_frame(m, frame)
    columns = _body_columns(m, q, chosen)
    return told(m, q, chosen, axes, matrix(_by_rows(columns)))


def _by_rows(columns: list[list[Any]]) -> list[list[Any]]:
    return [list(row) for row in zip(*columns, strict=True)]


def _body_columns(m: Mechanism, q: Array, frame: Frame) -> list[list[Any]]:
    """The columns of the body Jacobian, from the frame back to the ground: (R, p) is the frame seen from each joint."""
    columns: list[list[Any]] = [[0.0] * 6 for _ in range(m.nv)]
    R, p = fixed(frame.at)
    for joint in reversed(chain(m, frame.body)):
        S = joint.kind.motion(coordinates(m, q, joint))
        for k, place in enumerate(range(m.nv)[m.velocities[joint.name]]):
            columns[place] = list(parts(seen_from((R, p), vector(*(S[i, k] for i in range(6)))), 6))
        R, p = compose(across(m, q, joint), (R, p))
    return columns


def velocity(m: Mechanism, q: Array, v: Array, frame: str | None = None, axes: str = "body") -> Array:
    """The twist of a frame."""
    chosen = chosen_frame(m, frame)
    return told(m, q, chosen, axes, _twist(m, q, v, None, chosen)[0])


def acceleration(m: Mechanism, q: Array, v: Array, a: Array, frame: str | None = None, axes: str = "body") -> Array:
    """The rate of the frame's twist, component by component in the axes it is told in (Yime, eq. 11).

    In "ground" axes the linear part is the classical acceleration of the frame's origin, R (v' + w x v).
    """
    chosen = chosen_frame(m, frame)
    V, A = _twist(m, q, v, a, chosen)
    if axes == "ground":
        w, u = parts(V, 6)[:3], parts(V, 6)[3:]
        A = A + vector(0.0, 0.0, 0.0, *cross(w, u))
    return told(m, q, chosen, axes, A)


def _twist(m: Mechanism, q: Array, v: Array, a: Array | None, frame: Frame) -> tuple[Array, Array]:
    """Twist and its rate in the frame's own axes, outward: A = Ad A + S a + S' v + ad_V S v (Yime, 3)."""
    V, A = vector(*[0.0] * 6), vector(*[0.0] * 6)
    for joint in chain(m, frame.body):
        own, rates = coordinates(m, q, joint), velocities(m, v, joint)
        here = across(m, q, joint)
        S = joint.kind.motion(own)
        relative = times(S, rates) if joint.nv else vector(*[0.0] * 6)
        V = seen_from(here, V) + relative
        if a is not None:
            A = seen_from(here, A) + bracket(V, relative)
            if joint.nv:
                A = A + times(S, velocities(m, a, joint)) + times(joint.kind.motion_rate(own, rates), rates)
    last = fixed(frame.at)
    return seen_from(last, V), seen_from(last, A)


def seen_from(here: Placement, V: Array) -> Array:
    """A twist carried to a frame that stands at `here`: Ad of the inverse pose."""
    R, p = here
    back, twist = transpose(R), parts(V, 6)
    at_origin = (x + y for x, y in zip(twist[3:], cross(twist[:3], parts(p, 3)), strict=True))
    return vector(*parts(times(back, vector(*twist[:3])), 3), *parts(times(back, vector(*at_origin)), 3))


def bracket(V: Array, W: Array) -> Array:
    """ad_V W (Yime, eq. 14)."""
    (w, v), (x, y) = ((parts(T, 6)[:3], parts(T, 6)[3:]) for T in (V, W))
    linear = (a + b for a, b in zip(cross(v, x), cross(w, y), strict=True))
    return vector(*cross(w, x), *linear)


def told(m: Mechanism, q: Array, frame: Frame, axes: str, M: Array) -> Array:
    """A body twist, or a matrix of body twists, told in other axes."""
    if check_axes(axes) == "body":
        return M
    R, p = placement(m, q, frame)
    zero = matrix([[0.0] * 3] * 3)
    if axes == "ground":
        return matmul(block([[R, zero], [zero, R]]), M)
    x, y, z = parts(p, 3)
    lift = matmul(matrix([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]), R)
    return matmul(block([[R, zero], [lift, R]]), M)


def position_hessian(m: Mechanism, q: Array, frame: str | None = None) -> Array:
    """Second derivatives of a frame's position in the ground (Rojas, eq. 2.6.36), as a 3 nv x nv matrix.

    Entry (i, j, k) is the rate of the i-th component of the velocity that freedom j gives the frame's origin, along
    freedom k: p'' = J a + H v v.
    """
    import casadi

    J = jacobian(m, q, frame, axes="ground")[3:, :]
    rates = coordinate_rates(m, q)
    rows = [casadi.mtimes(casadi.jacobian(casadi.SX(J[i, :]).T, q), rates) for i in range(3)]
    return casadi.vertcat(*rows)
