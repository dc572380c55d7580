"""Joints that the parser of ROS (urdfdom) does not read, as chains of hinges and slides with
massless links between them.

A ball joint is three hinges about z, y and x, whose angles are yaw, pitch and roll: the same motion
but for pitches of a quarter turn, where the hinges lose a degree of freedom. A screw is a hinge and
a slide that mimics it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, count
from typing import Any

from eslabon.model import Body, Coupling, Description, Joint, JointKind, Model, Pose
from eslabon.model.fields import Intervals, PerCoordinate, PerVelocity, specs_of
from eslabon.model.items import Mode
from eslabon.model.joints import Cylindrical, Helical, Prismatic, Revolute, Spherical, Universal
from eslabon.model.parameter_expressions import substitute
from eslabon.numerics.rotations import rotation_from_quaternion, rpy_from_rotation

UNREAD = (
    Spherical,
    Universal,
    Cylindrical,
    Helical,
)  # planar and floating joints are in the standard
Z, Y, X = (0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0)
# What a joint says of each of its coordinates or velocities.
DATA = tuple(
    name
    for name, spec in specs_of(Joint).items()
    if isinstance(spec, PerCoordinate | PerVelocity | Intervals)
)


def unread_joints(m: Model) -> Iterator[str]:
    """The joints of kinds that are not in the standard, by name and kind."""
    return (f"'{j.name}' ({j.kind.kind})" for j in m.joints if isinstance(j.kind, UNREAD))


def lost_with_hinges(m: Model) -> Iterator[str]:
    """The ball joints whose limits, friction or motors no hinge has: they are about the axes of the
    body."""
    data = [name for name in DATA if name != "home"]
    for j in m.joints:
        if isinstance(j.kind, Spherical) and any(getattr(j, name) is not None for name in data):
            yield j.name


def as_hinges(m: Model) -> Model:
    """The same mechanism with chains of hinges and slides in place of the joints that urdfdom does
    not read."""
    d = m.description
    chains = {j.name: _chain(j) for j in d.joints if isinstance(j.kind, UNREAD)}
    taken = {x.name for x in (*d.bodies, *d.frames, *d.joints, *d.loops, *d.couplings)}
    bodies, joints, couplings = list(d.bodies), list[Joint](), list(d.couplings)
    new: dict[str, list[str]] = {}  # the joints of each chain
    for j in d.joints:
        if j.name not in chains:
            joints.append(j)
            continue
        names = [
            j.name if suffix == "" else _free(f"{j.name}_{suffix}", taken)
            for suffix, _ in chains[j.name]
        ]
        links = [j.parent, *(_free(f"{name}_link", taken) for name in names[:-1]), j.child]
        bodies += [Body(link) for link in links[1:-1]]
        data = _data(j, m)
        for k, (name, (_, kind)) in enumerate(zip(names, chains[j.name], strict=True)):
            at, own = j.at if k == 0 else Pose(), {key: x[k] for key, x in data.items()}
            joints.append(Joint(name, kind, links[k], links[k + 1], at, **own))
        if isinstance(j.kind, Helical):
            couplings.append(
                Coupling(_free(f"{j.name}_thread", taken), names[1], j.name, j.kind.pitch)
            )
        new[j.name] = names
    follow = {c.joint for c in couplings[len(d.couplings) :]}  # the slides of screws
    actuated = tuple(name for x in d.actuated for name in new.get(x, [x]) if name not in follow)
    made = replace(d, bodies=tuple(bodies), joints=tuple(joints), couplings=tuple(couplings))
    return Model(replace(made, actuated=actuated, modes=_modes(m, d, new)))


def _chain(j: Joint) -> list[tuple[str, JointKind]]:
    """The hinges and slides of a joint, in the order of its coordinates, each with the end of its
    name."""
    kind = j.kind
    if isinstance(kind, Spherical):
        return [(name, Revolute(axis)) for name, axis in (("z", Z), ("y", Y), ("x", X))]
    if isinstance(kind, Universal):
        return [("first", Revolute(kind.first)), ("second", Revolute(kind.second))]
    first = "" if isinstance(kind, Helical) else "angle"
    return [(first, Revolute(kind.axes[0])), ("slide", Prismatic(kind.axes[0]))]


def _data(j: Joint, m: Model) -> dict[str, list[Any]]:
    """What a joint says of its coordinates and velocities, for each hinge or slide."""
    found = {name: getattr(j, name) for name in DATA if getattr(j, name) is not None}
    if isinstance(j.kind, Spherical):
        home = m.joint(j.name).home
        return {} if home is None else {"home": [(x,) for x in _hinge_angles(home)]}
    if isinstance(j.kind, Helical):
        slides = {"home": tuple(j.kind.pitch * x for x in j.home)} if j.home is not None else {}
        return {name: [values, slides.get(name)] for name, values in found.items()}
    return {name: [(x,) for x in values] for name, values in found.items()}


def _hinge_angles(quaternion: tuple[float, ...]) -> tuple[float, ...]:
    """The angles about z, y and x that a ball joint's quaternion is."""
    roll, pitch, yaw = rpy_from_rotation(rotation_from_quaternion(quaternion)).tolist()
    return yaw, pitch, roll


def _modes(m: Model, d: Description, new: dict[str, list[str]]) -> tuple[Mode, ...]:
    """The modes with the coordinates of hinges and slides."""
    made = []
    for mode in substitute(d.modes, m.values):
        coordinates: list[tuple[str, tuple[Any, ...]]] = []
        for name, values in mode.coordinates:
            kind, own = m.joint(name).kind, values
            if isinstance(kind, Spherical):
                own = _hinge_angles(values)
            elif isinstance(kind, Helical):
                own = (*values, kind.pitch * values[0])
            coordinates += (
                zip(new[name], ((x,) for x in own), strict=True) if name in new else [(name, own)]
            )
        made.append(replace(mode, coordinates=tuple(coordinates)))
    return tuple(made)


def _free(name: str, taken: set[str]) -> str:
    """A name that nothing has."""
    candidates = chain((name,), (f"{name}{k}" for k in count(2)))
    found = next(x for x in candidates if x not in taken)
    taken.add(found)
    return found
