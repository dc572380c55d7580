"""What acts on a mechanism besides its motors: wrenches, springs between points, and the joints' own springs and friction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import casadi
import numpy as np

from eslabon.errors import ModelError, suggest
from eslabon.formulations.symbols import SX, lean, product, zeros
from eslabon.kinematics.tree import Placement, coordinate_rates, coordinates, placements, velocities
from eslabon.model import GROUND, End, Mechanism, Pose, Spring, Wrench

CREEP = 1e-3  # rad/s or m/s, over which Coulomb friction changes its sign: a jump would stop every adaptive method


def wrenches(m: Mechanism, q: SX, v: SX, external: Mapping[str, SX]) -> dict[str, SX]:
    """By body, the moment and force on it in its own axes about its own origin: the model's and the caller's."""
    if not (m.springs or m.wrenches or external):
        return {}
    placed = {name: (lean(R), lean(p)) for name, (R, p) in placements(m, q).items()}
    total: dict[str, SX] = {}

    def add(body: str, at: SX, force: SX, moment: SX) -> None:
        if body != GROUND:
            wrench = casadi.vertcat(moment + product(casadi.skew(lean(at)), force), force)
            total[body] = lean(total.get(body, zeros(6)) + wrench)

    for wrench in m.wrenches:
        value = external.get(wrench.name, zeros(6))
        force, moment = (lean(x) for x in ((value[3:], value[:3]) if wrench.given else _constant(wrench)))
        back = placed[wrench.body][0].T if wrench.axes == GROUND else np.eye(3)
        add(wrench.body, casadi.vertcat(*wrench.at), product(back, force), product(back, moment))
    known = {w.name for w in m.wrenches}
    for name, value in external.items():
        if name not in known:
            frame = m.frame(name)
            R = lean(frame.at.rotation())
            add(frame.body, lean(frame.at.translation()), product(R, value[3:]), product(R, value[:3]))
    for spring, tension, direction in _tensions(m, q, v, placed):
        for end, sign in ((spring.first, 1), (spring.second, -1)):
            force = product(placed[end.body][0].T, sign * tension * direction)
            add(end.body, casadi.vertcat(*end.at.position), force, zeros(3))
    return total


def check_external(m: Mechanism, names: tuple[str, ...]) -> None:
    """Refuse names that are no body, frame or wrench left open for the caller."""
    places = [w.name for w in m.wrenches if w.given]
    for name in names:
        if name in places:
            continue
        if name in (w.name for w in m.wrenches):
            raise ModelError(
                f"{m.name}: the wrench '{name}' is constant; a body, a frame or a wrench without values takes one."
            )
        if name == GROUND:
            raise ModelError(f"{m.name}: a wrench on the ground moves nothing; name a body or a frame.")
        known = [*places, *(f.name for f in m.frames), *(b.name for b in m.bodies)]
        if name not in known:
            raise ModelError(f"{m.name} has no body, frame or open wrench '{name}'{suggest(name, known)}")


def _constant(wrench: Wrench) -> tuple[SX, SX]:
    force, moment = (casadi.SX(casadi.vertcat(*(x or (0.0, 0.0, 0.0)))) for x in (wrench.force, wrench.moment))
    return force, moment


def _tensions(m: Mechanism, q: SX, v: SX, placed: Mapping[str, Placement]) -> Iterator[tuple[Spring, SX, SX]]:
    """Every spring with its tension and the unit vector from its first end to its second."""
    for spring in m.springs:
        length, direction = _stretch(spring.first, spring.second, placed)
        rate = casadi.jtimes(length, q, product(coordinate_rates(m, q), v)) if _nonzero(spring.damping) else 0
        yield spring, spring.stiffness * (length - spring.length) + spring.damping * rate, direction


def _stretch(first: End, second: End, placed: Mapping[str, Placement]) -> tuple[SX, SX]:
    span = _point(second, placed) - _point(first, placed)
    length = casadi.norm_2(span)
    return length, span / length


def _point(end: End, placed: Mapping[str, Placement]) -> SX:
    R, p = placed[end.body]
    return lean(p + product(R, casadi.vertcat(*end.at.position)))


def _nonzero(x: object) -> bool:
    return not (isinstance(x, float) and x == 0.0)


def joint_resistance(m: Mechanism, q: SX, v: SX) -> SX:
    """What joints oppose to their motion: springs, viscous and Coulomb friction.

    Coulomb friction is F tanh(v / CREEP): F sign(v) to the last digit above 0.02 rad/s, and a stiff creep where a joint
    would stick.
    """
    force = zeros(m.nv)
    for joint in m.joints:
        place, own, rates = m.velocities[joint.name], coordinates(m, q, joint), velocities(m, v, joint)
        if joint.stiffness is not None:
            rest = joint.rest if joint.rest is not None else (0.0,) * joint.nv
            force[place] += casadi.SX(casadi.vertcat(*joint.stiffness)) * (own - casadi.vertcat(*rest))
        if joint.viscous is not None:
            force[place] += casadi.SX(casadi.vertcat(*joint.viscous)) * rates
        if joint.coulomb is not None:
            force[place] += casadi.SX(casadi.vertcat(*joint.coulomb)) * casadi.tanh(rates / CREEP)
    return lean(force)


def motor_inertia(m: Mechanism) -> SX:
    """For each freedom the inertia of its motor seen at the joint, n^2 J (Morales, A.19)."""
    spare = zeros(m.nv)
    for joint in m.joints:
        if joint.motor_inertia is not None:
            ratios = joint.gear_ratio or (1.0,) * joint.nv
            values = [J * n * n for J, n in zip(joint.motor_inertia, ratios, strict=True)]
            spare[m.velocities[joint.name]] = casadi.vertcat(*values)
    return lean(spare)


def potential(m: Mechanism, q: SX) -> SX:
    """Potential energy: weight, joint springs and springs between points."""
    placed = {name: (lean(R), lean(p)) for name, (R, p) in placements(m, q).items()}
    g, total = casadi.vertcat(*m.gravity), zeros(1)
    for body in m.bodies:
        total -= body.mass * casadi.dot(casadi.SX(g), _point(End(body.name, Pose(body.com)), placed))
    for joint in m.joints:
        if joint.stiffness is not None:
            stretch = coordinates(m, q, joint) - casadi.vertcat(*(joint.rest or (0.0,) * joint.nv))
            total += casadi.dot(casadi.vertcat(*joint.stiffness), stretch**2) / 2
    for spring in m.springs:
        length, _ = _stretch(spring.first, spring.second, placed)
        total += spring.stiffness * (length - spring.length) ** 2 / 2
    return total
