"""What acts on a mechanism besides its motors: wrenches, springs between points, and the joints'
own springs and friction."""

from __future__ import annotations

from collections.abc import Mapping

from eslabon.errors import ModelError, suggest
from eslabon.formulas.kinematics.symbols import column, constant, gravity, symbolic_transform, zeros
from eslabon.formulas.kinematics.tree import (
    coordinate_rates,
    coordinates,
    placements,
    velocities,
)
from eslabon.model import GROUND, End, Model, Pose, Spring, Wrench
from eslabon.numerics.scalars import Expression, casadi
from eslabon.numerics.spatial import RigidTransform, cross

Wrenches = Mapping[str, Expression]  # moment and force, by the name of what they act on
# rad/s or m/s, over which Coulomb friction changes its sign: a jump would stop every adaptive
# method. It is not scaled by the characteristic length, which is an expression where lengths are
# parameters: friction, its derivatives and the columns of identification would depend on them.
CREEP = 1e-3
# m^2, added to the square of a spring's length so that it has a direction, and derivatives, at zero
# too
TOUCHING = 1e-60


def wrenches(
    m: Model, q: Expression, v: Expression, external: Mapping[str, Expression]
) -> dict[str, Expression]:
    """By body, the moment and force on it in its own axes about its own origin: the model's and the
    caller's."""
    total = given_wrenches(m, q, external)
    for body, wrench in spring_wrenches(m, q, v).items():
        _add(total, body, wrench)
    return total


def given_wrenches(
    m: Model, q: Expression, external: Mapping[str, Expression]
) -> dict[str, Expression]:
    """Those that are told: the model's own, and the caller's on bodies, frames and open
    wrenches."""
    total: dict[str, Expression] = {}
    if not (m.wrenches or external):
        return total
    placed = placements(m, q)
    for wrench in m.wrenches:
        value = external.get(wrench.name, zeros(6))
        force, moment = (value[3:], value[:3]) if wrench.given else _constant(wrench)
        back = constant(placed[wrench.body][0]).T if wrench.axes == GROUND else casadi.SX.eye(3)
        _add(total, wrench.body, _about_origin(column(wrench.at), back @ force, back @ moment))
    known = {w.name for w in m.wrenches}
    for name, value in external.items():
        if name not in known:
            frame = m.frame(name)
            R, at = symbolic_transform(frame.at.transform())
            _add(total, frame.body, _about_origin(at, R @ value[3:], R @ value[:3]))
    return total


def spring_wrenches(m: Model, q: Expression, v: Expression) -> dict[str, Expression]:
    """Those of springs between points, with their dampers."""
    total: dict[str, Expression] = {}
    if not m.springs:
        return total
    placed = placements(m, q)
    for spring in m.springs:
        pull = _pull(m, spring, q, v, placed)
        for end, sign in ((spring.first, 1), (spring.second, -1)):
            turned = constant(placed[end.body][0]).T @ (sign * pull)
            _add(total, end.body, _about_origin(column(end.at.position), turned, zeros(3)))
    return total


def _add(total: dict[str, Expression], body: str, wrench: Expression) -> None:
    if body != GROUND:
        total[body] = total.get(body, zeros(6)) + wrench


def _about_origin(at: Expression, force: Expression, moment: Expression) -> Expression:
    """The wrench of a force and a moment at a point of a body."""
    return casadi.vertcat(moment + cross(at, force), force)


def check_external(m: Model, names: tuple[str, ...]) -> None:
    """Refuse names that are no body, frame or wrench left open for the caller."""
    places = [w.name for w in m.wrenches if w.given]
    for name in names:
        if name in places:
            continue
        if name in (w.name for w in m.wrenches):
            raise ModelError(
                f"{m.name}: the wrench '{name}' is constant; a body, a frame or a wrench without "
                "values takes one."
            )
        if name == GROUND:
            raise ModelError(
                f"{m.name}: a wrench on the ground moves nothing; name a body or a frame."
            )
        known = [*places, *(f.name for f in m.frames), *(b.name for b in m.bodies)]
        if name not in known:
            raise ModelError(
                f"{m.name} has no body, frame or open wrench '{name}'{suggest(name, known)}"
            )


def _constant(wrench: Wrench) -> tuple[Expression, Expression]:
    force, moment = (column(x or (0.0, 0.0, 0.0)) for x in (wrench.force, wrench.moment))
    return force, moment


def _pull(
    m: Model, spring: Spring, q: Expression, v: Expression, placed: Mapping[str, RigidTransform]
) -> Expression:
    """The force on the first end of a spring, along the span between its ends: (k (1 - rest /
    length) + c rate / length) span. Where the ends coincide it is zero: there a compressed spring
    is in balance, if an unstable one, for no direction is better than another."""
    span, k = _span(spring, placed), spring.stiffness
    share = k - k * spring.length / _length(span) if _nonzero(spring.length) else k
    if _nonzero(spring.damping):
        along = casadi.jtimes(span, q, coordinate_rates(m, q) @ v)
        share += spring.damping * casadi.dot(span, along) / _squared_length(span)
    return share * span


def _span(spring: Spring, placed: Mapping[str, RigidTransform]) -> Expression:
    """From the first end of a spring to its second."""
    return _point(spring.second, placed) - _point(spring.first, placed)


def _squared_length(span: Expression) -> Expression:
    return casadi.dot(span, span) + TOUCHING


def _length(span: Expression) -> Expression:
    return casadi.sqrt(_squared_length(span))


def _point(end: End, placed: Mapping[str, RigidTransform]) -> Expression:
    R, p = placed[end.body]
    return constant(p) + constant(R) @ column(end.at.position)


def _nonzero(x: object) -> bool:
    return not (isinstance(x, float) and x == 0.0)


def joint_resistance(m: Model, q: Expression, v: Expression) -> Expression:
    """What joints oppose to their motion: springs, viscous and Coulomb friction.

    Coulomb friction is F tanh(v / CREEP): F sign(v) to the last digit above 0.02 rad/s, and a stiff
    creep where a joint would stick.
    """
    force = zeros(m.nv)
    for joint in m.joints:
        place, own, rates = (
            m.velocities[joint.name],
            coordinates(m, q, joint),
            velocities(m, v, joint),
        )
        if joint.stiffness is not None:
            rest = joint.rest if joint.rest is not None else (0.0,) * joint.nv
            force[place] += column(joint.stiffness) * (own - column(rest))
        if joint.viscous is not None:
            force[place] += column(joint.viscous) * rates
        if joint.coulomb is not None:
            force[place] += column(joint.coulomb) * casadi.tanh(rates / CREEP)
    return force


def motor_inertia(m: Model) -> Expression:
    """For each velocity the inertia of its motor seen at the joint, n^2 J (Morales, A.19)."""
    spare = zeros(m.nv)
    for joint in m.joints:
        if joint.motor_inertia is not None:
            ratios = joint.gear_ratio or (1.0,) * joint.nv
            values = [J * n * n for J, n in zip(joint.motor_inertia, ratios, strict=True)]
            spare[m.velocities[joint.name]] = column(values)
    return spare


def potential(m: Model, q: Expression) -> Expression:
    """Potential energy: weight, joint springs and springs between points."""
    placed, total = placements(m, q), zeros(1)
    for body in m.bodies:
        total -= body.mass * casadi.dot(gravity(m), _point(End(body.name, Pose(body.com)), placed))
    for joint in m.joints:
        if joint.stiffness is not None:
            stretch = coordinates(m, q, joint) - column(joint.rest or (0.0,) * joint.nv)
            total += casadi.dot(column(joint.stiffness), stretch**2) / 2
    for spring in m.springs:
        total += spring.stiffness / 2 * (_length(_span(spring, placed)) - spring.length) ** 2
    return total
