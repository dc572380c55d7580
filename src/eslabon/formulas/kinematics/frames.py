"""Pose, Jacobian, velocity and acceleration of a frame, as formulas of the mechanism.

Twists are angular part first, in one of three `axes`:

* "body": in the frame's own axes, at its origin (the body twist of Yime, eq. 7);
* "spatial": in the ground's axes, at the ground's origin, Ad_T of the body twist;
* "aligned": in the ground's axes, at the frame's origin: angular velocity and classical velocity of
  the point.
"""

from __future__ import annotations

from collections import deque

from eslabon.arguments import choice
from eslabon.errors import ModelError
from eslabon.formulas.kinematics.tree import (
    chain,
    coordinate_rates,
    coordinates,
    joint_transform,
    velocities,
)
from eslabon.model import GROUND, Frame, Model
from eslabon.numerics.scalars import Expression, block, casadi, components, concatenate, matrix
from eslabon.numerics.spatial import (
    RigidTransform,
    ad,
    angular_and_linear,
    cross,
    twist_to_child,
    twist_to_parent,
)

AXES = ("body", "spatial", "aligned")


def chosen_frame(m: Model, name: str | None) -> Frame:
    """The frame of that name; without one the only named frame that moves, else the only leaf of
    the mechanism.

    A leaf is a body that moves, carries no other and is held by no loop. Nothing fixed to the
    ground is ever chosen.
    """
    if name is not None:
        return m.frame(name)
    moving = moving_bodies(m)
    named = [f for f in m.frames if f.body in moving]
    inner = {j.parent for j in m.joints} | {
        end.body for loop in m.loops for end in (loop.first, loop.second)
    }
    choices = named or [m.frame(b.name) for b in m.bodies if b.name in moving - inner]
    if len(choices) == 1:
        return choices[0]
    known = [f.name for f in m.frames] + [b.name for b in m.bodies]
    example = named[-1].name if named else _farthest_body(m) or known[-1]
    raise ModelError(
        f"{m.name} needs the name of a frame or body, as in frame={example!r} "
        f"(it has {', '.join(known)})."
    )


def moving_bodies(m: Model) -> set[str]:
    """The bodies that a joint can move; the others are fixed to the ground."""
    moving: set[str] = set()
    for j in m.joints:  # parents come first
        if j.nv or j.parent in moving:
            moving.add(j.child)
    return moving


def default_frame(m: Model) -> str | None:
    """The frame that a picture or a report follows if none is named; None where nothing moves.

    It is the frame of `chosen_frame`; where that cannot tell, the moving body farthest from the
    ground.

    >>> import eslabon as es
    >>> default_frame(es.load("planar_3rrr")), default_frame(es.load("diaz_four_bar"))
    ('centre', 'bar2')
    """
    try:
        return chosen_frame(m, None).name
    except ModelError:
        return _farthest_body(m)


def _farthest_body(m: Model) -> str | None:
    """The moving body with most joints between it and the ground, counted over loops too; the last
    of several."""
    neighbours: dict[str, set[str]] = {}
    for a, b in [(j.parent, j.child) for j in m.joints] + [
        (x.first.body, x.second.body) for x in m.loops
    ]:
        neighbours.setdefault(a, set()).add(b)
        neighbours.setdefault(b, set()).add(a)
    distance, queue = {GROUND: 0}, deque([GROUND])
    while queue:
        body = queue.popleft()
        for other in sorted(neighbours.get(body, set()) - distance.keys()):
            distance[other] = distance[body] + 1
            queue.append(other)
    moving = moving_bodies(m)
    candidates = [b.name for b in reversed(m.bodies) if b.name in moving]
    return max(candidates, key=lambda name: distance.get(name, 0), default=None)


def placement(m: Model, q: Expression, frame: Frame) -> RigidTransform:
    """Rotation and position of a frame on the ground, by the forward recursion (Rojas, 2.6)."""
    placed: RigidTransform | None = None
    for joint in chain(m, frame.body):
        step = joint_transform(m, q, joint)
        placed = step if placed is None else placed @ step
    return frame.at.transform() if placed is None else placed @ frame.at.transform()


def pose(m: Model, q: Expression, frame: str | None = None) -> Expression:
    """The 4x4 pose T of a frame on the ground."""
    R, p = placement(m, q, chosen_frame(m, frame))
    return block(
        [[R, matrix([[x] for x in components(p, 3)])], [matrix([[0.0] * 3]), matrix([[1.0]])]]
    )


def jacobian(m: Model, q: Expression, frame: str | None = None, axes: str = "body") -> Expression:
    """The 6 x nv Jacobian J with twist = J v, a column Ad S_j for each velocity on the way (Yime,
    eq. 10)."""
    chosen = chosen_frame(m, frame)
    J, here = (
        casadi.SX(6, m.nv),
        chosen.at.transform(),
    )  # the frame, seen from each joint on the way back to the ground
    for joint in reversed(chain(m, chosen.body)):
        if joint.nv:
            J[:, m.velocities[joint.name]] = twist_to_child(
                here, casadi.SX(joint.kind.motion(coordinates(m, q, joint)))
            )
        here = joint_transform(m, q, joint) @ here
    return _in_axes(here, axes, J)


def velocity(
    m: Model, q: Expression, v: Expression, frame: str | None = None, axes: str = "body"
) -> Expression:
    """The twist of a frame."""
    chosen = chosen_frame(m, frame)
    return _in_axes(placement(m, q, chosen), axes, _twist(m, q, v, None, chosen)[0])


def acceleration(
    m: Model,
    q: Expression,
    v: Expression,
    a: Expression,
    frame: str | None = None,
    axes: str = "body",
) -> Expression:
    """The rate of the frame's twist, component by component in the axes it is given in (Yime, eq.
    11).

    In "aligned" axes the linear part is the classical acceleration of the frame's origin, R (v' + w
    x v).
    """
    chosen = chosen_frame(m, frame)
    V, A = _twist(m, q, v, a, chosen)
    if choice(axes, "axes", AXES) == "aligned":
        w, u = angular_and_linear(V)
        A = A + concatenate(0 * w, cross(w, u))
    return _in_axes(placement(m, q, chosen), axes, A)


def _twist(
    m: Model, q: Expression, v: Expression, a: Expression | None, frame: Frame
) -> tuple[Expression, Expression]:
    """Twist and its rate in the frame's own axes, outward: A = Ad A + S a + S' v + ad_V S v (Yime,
    3)."""
    V, A = casadi.SX(6, 1), casadi.SX(6, 1)
    for joint in chain(m, frame.body):
        here = joint_transform(m, q, joint)
        V, A = twist_to_child(here, V), twist_to_child(here, A)
        if not joint.nv:
            continue
        own, rates = coordinates(m, q, joint), velocities(m, v, joint)
        S = casadi.SX(joint.kind.motion(own))
        A = A + ad(V, S @ rates)
        V = V + S @ rates
        if a is not None:
            A = A + S @ velocities(m, a, joint) + joint.kind.motion_rate(own, rates) @ rates
    at = frame.at.transform()
    return twist_to_child(at, V), twist_to_child(at, A)


def _in_axes(here: RigidTransform, axes: str, twists: Expression) -> Expression:
    """Body twists of a frame that stands `here`, in other axes."""
    if choice(axes, "axes", AXES) == "body":
        return twists
    R, p = here
    return twist_to_parent(RigidTransform(R, 0 * p if axes == "aligned" else p), twists)


def position_hessian(m: Model, q: Expression, frame: str | None = None) -> Expression:
    """Second derivatives of a frame's position in the ground (Rojas, eq. 2.6.36), as a 3 nv x nv
    matrix.

    Entry (i, j, k) is the rate of the i-th component of the velocity that velocity j gives the
    frame's origin, along velocity k: p'' = J a + H v v.
    """
    J, rates = jacobian(m, q, frame, axes="aligned")[3:, :], coordinate_rates(m, q)
    return casadi.vertcat(*(casadi.jacobian(J[i, :].T, q) @ rates for i in range(3)))


def configuration(m: Model, q: Expression) -> Expression:
    """The coordinates themselves, of which only derivatives along the closed configuration are of
    interest."""
    return q


def velocities_of_joints(m: Model, q: Expression, v: Expression) -> Expression:
    """The velocities themselves."""
    return v


def accelerations_of_joints(m: Model, q: Expression, v: Expression, a: Expression) -> Expression:
    """The accelerations themselves."""
    return a
