"""What the equations of motion are linear in: ten numbers a body, friction, offsets and motor
inertias of joints.

A body's numbers are mass, mass times centre of mass, and the inertia about the body's frame. They
belong to a body that can be where the pseudo-inertia, the second moments of its mass in homogeneous
coordinates, is positive semidefinite:

    P = [[Sigma, m c], [m c^T, m]],    Sigma = tr(J)/2 1 - J    (Traversaro and others, 2016; Wensing, Kim and Slotine, 2018)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from eslabon.arguments import Floats, flag, floats, instance, known_words, names
from eslabon.errors import InputError, ModelError, format_value, suggest
from eslabon.model import Model, as_model
from eslabon.model.configuration import velocity_names
from eslabon.model.items import Body, Description, Joint
from eslabon.solve.constraints.constraint_structure import structure
from eslabon.systems.identification.inertial_parameters import inertial_parameters
from eslabon.systems.identification.inertial_parameters import parameter_names as inertial_names

PLACES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))  # of the last six in a matrix
FRICTION = ("viscous", "coulomb", "offset")


class Terms(NamedTuple):
    """Which velocities have a term of each kind, by their places."""

    viscous: tuple[int, ...] = ()
    coulomb: tuple[int, ...] = ()
    offset: tuple[int, ...] = ()
    motor_inertia: tuple[int, ...] = ()

    def listed(self) -> list[tuple[str, int]]:
        """Kind and place of each term, in the order of their parameters."""
        return [
            (kind, place)
            for kind, places in zip(self._fields, self, strict=True)
            for place in places
        ]


NO_TERMS = Terms()


def terms_of(m: Model, friction: Any, motors: bool) -> Terms:
    """The terms that `identify` is asked for: kinds of friction at the independent and the actuated
    joints, or, by kind, at joints that are named; and motor inertias at the actuated ones."""
    usual = tuple(sorted({*structure(m).partition.independent, *m.actuated_velocities}))
    made: dict[str, tuple[int, ...]] = {}
    if isinstance(friction, Mapping):
        known_words(friction, FRICTION, "friction has no kind")
        made = {kind: _places(m, joints, kind) for kind, joints in friction.items()}
    else:
        kinds = names(() if friction is None else friction, "friction")
        known_words(kinds, FRICTION, "friction has no kind")
        made = {kind: m.actuated_velocities if kind == "offset" else usual for kind in kinds}
    loose = [k for k in made.get("offset", ()) if k not in m.actuated_velocities]
    if loose:
        raise ModelError(
            f"an offset is that of an actuator's measured force; {velocity_names(m)[loose[0]]} has none."
        )
    return Terms(**made, motor_inertia=m.actuated_velocities if flag(motors, "motors") else ())


def _places(m: Model, joints: Any, kind: str) -> tuple[int, ...]:
    found: list[int] = []
    for name in names(joints, kind):
        if name not in m.velocities or not m.joint(name).nv:
            known = [j.name for j in m.joints if j.nv]
            raise ModelError(
                f"{m.name} has no joint {format_value(name)} that moves{suggest(name, known)}"
            )
        found += range(m.nv)[m.velocities[name]]
    return tuple(dict.fromkeys(found))


def parameter_names(m: Model, terms: Terms = NO_TERMS) -> list[str]:
    """A name for each parameter, such as 'mx(link2)' and 'viscous(joint2)'.

    >>> import eslabon as es
    >>> es.identification.parameter_names(es.load("elbow"))[:4]
    ['m(link1)', 'mx(link1)', 'my(link1)', 'mz(link1)']
    """
    instance(terms, "terms", Terms, "what es.identification.identify fits beside the inertias")
    own = velocity_names(as_model(m))
    return inertial_names(m) + [f"{kind.replace('_', ' ')}({own[k]})" for kind, k in terms.listed()]


# -- numbers of a model -----------------------------------------------------------------------------------------------


def model_parameters(m: Model, terms: Terms) -> Floats:
    """The model's own values of all parameters; it has no offsets."""
    values = {kind: np.zeros(m.nv) for kind in terms._fields}
    for j in m.joints:
        place = m.velocities[j.name]
        ratios = np.array(j.gear_ratio or (1.0,) * j.nv)
        values["viscous"][place] = j.viscous or 0.0
        values["coulomb"][place] = j.coulomb or 0.0
        values["motor_inertia"][place] = np.array(j.motor_inertia or (0.0,) * j.nv) * ratios**2
    return np.array([*inertial_parameters(m), *(values[kind][k] for kind, k in terms.listed())])


def described(m: Model, terms: Terms, theta: Floats) -> Description:
    """The model's description with these numbers in place of its own; offsets are the measurement's
    and not the model's."""
    d, bodies, joints = m.description, {}, {j.name: j for j in m.joints}
    for body, pi in zip(m.bodies, theta[: 10 * len(m.bodies)].reshape(-1, 10), strict=True):
        bodies[body.name] = _body(body.name, pi)
    owners = {k: j.name for j in m.joints for k in range(m.nv)[m.velocities[j.name]]}
    for (kind, k), value in zip(terms.listed(), theta[10 * len(m.bodies) :], strict=True):
        if kind != "offset":
            j = joints[owners[k]]
            joints[j.name] = _with_term(j, kind, k - m.velocities[j.name].start, float(value))
    new = (
        tuple(replace(old, **_terms_of_joint(joints[old.name])) for old in d.joints)
        if any(terms)
        else d.joints
    )
    return replace(d, bodies=tuple(bodies[b.name] for b in d.bodies), joints=new)


def _with_term(j: Joint, kind: str, place: int, value: float) -> Joint:
    values = list(getattr(j, kind) or (0.0,) * j.nv)
    values[place] = (
        value / (j.gear_ratio or (1.0,) * j.nv)[place] ** 2 if kind == "motor_inertia" else value
    )
    changed: dict[str, Any] = {kind: tuple(values)}
    return replace(j, **changed)


def _terms_of_joint(j: Joint) -> dict[str, Any]:
    return {kind: getattr(j, kind) for kind in ("viscous", "coulomb", "motor_inertia")}


def _body(name: str, pi: Floats) -> Body:
    """A body from its ten numbers, without the round-off that would make its second moments about
    its centre negative; what has no mass has its centre at the origin."""
    P = pseudo_inertias(pi)[0]
    mass = float(P[3, 3])
    c = P[:3, 3] / mass if mass > 0 else np.zeros(3)
    values, vectors = np.linalg.eigh(P[:3, :3] - mass * np.outer(c, c))
    spread = (vectors * np.maximum(values, 0.0)) @ vectors.T
    J = np.trace(spread) * np.eye(3) - spread
    return Body(
        name,
        mass,
        (float(c[0]), float(c[1]), float(c[2])),
        tuple(float(J[place]) for place in PLACES),
    )


# -- bodies that can be -----------------------------------------------------------------------------------------------


def _units() -> Floats:
    """The pseudo-inertia of each of the ten parameters, (10, 4, 4): P = sum of pi_k units_k."""
    E = np.zeros((10, 4, 4))
    E[0, 3, 3] = 1.0
    for k in range(3):
        E[1 + k, k, 3] = E[1 + k, 3, k] = 1.0
    for k, (i, j) in enumerate(PLACES):
        J = np.zeros((3, 3))
        J[i, j] = J[j, i] = 1.0
        E[4 + k, :3, :3] = np.trace(J) / 2 * np.eye(3) - J
    return E


UNITS = _units()


def pseudo_inertias(pi: Floats) -> Floats:
    """The pseudo-inertia of each body, (bodies, 4, 4), of inertial parameters, ten a body.

    >>> import eslabon as es, numpy as np
    >>> bool((np.linalg.eigvalsh(pseudo_inertias(es.load("double_pendulum").inertial_parameters())) > -1e-12).all())
    True
    """
    values = floats(pi, "pi")
    if not values.size or values.size % 10:
        raise InputError(f"pi has ten numbers for each body; its shape is {values.shape}.")
    return np.einsum("bk,kij->bij", values.reshape(-1, 10), UNITS)


def reference_inertias(m: Model) -> Floats:
    """The pseudo-inertias that a change is measured by: the model's own, made possible where
    published numbers are not, and a little more, for bodies without extent or mass in the model may
    have some."""
    own = pseudo_inertias(inertial_parameters(m))
    mass = float(np.mean([body.mass for body in m.bodies])) or 1.0
    spread = float(np.mean(np.trace(own[:, :3, :3], axis1=1, axis2=2))) / 3 / mass
    at = max(
        (float(np.linalg.norm(np.asarray(j.at.translation(), dtype=float))) for j in m.joints),
        default=0.0,
    )
    size = spread if spread > 0 else (at or 1.0) ** 2 / 12
    unit = np.sqrt(mass * np.array([size, size, size, 1.0]))
    values, vectors = np.linalg.eigh(own / np.outer(unit, unit))
    made = (vectors * (np.maximum(values, 0.0) + 0.05)[:, None, :]) @ np.swapaxes(vectors, -1, -2)
    return made * np.outer(unit, unit)
