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
from eslabon.model.parameter_expressions import substitute

# What a joint says of each of its coordinates or velocities.
DATA = tuple(
    name
    for name, spec in specs_of(Joint).items()
    if isinstance(spec, PerCoordinate | PerVelocity | Intervals)
)


def _is_read(kind: JointKind) -> bool:
    """Whether urdfdom reads joints of a kind: hinges, slides, and planar and floating joints, which
    are in the standard."""
    return len(kind.hinges()) == 1


def unread_joints(m: Model) -> Iterator[str]:
    """The joints of kinds that are not in the standard, by name and kind."""
    return (f"'{j.name}' ({j.kind.kind})" for j in m.joints if not _is_read(j.kind))


def lost_with_hinges(m: Model) -> Iterator[str]:
    """The ball joints whose limits, friction or motors no hinge has: they are about the axes of the
    body."""
    data = [name for name in DATA if name != "home"]
    for j in m.joints:
        is_ball = j.kind.has_quaternion and not _is_read(j.kind)
        if is_ball and any(getattr(j, name) is not None for name in data):
            yield j.name


def as_hinges(m: Model) -> Model:
    """The same mechanism with chains of hinges and slides in place of the joints that urdfdom does
    not read."""
    d = m.description
    chains = {j.name: j.kind.hinges() for j in d.joints if not _is_read(j.kind)}
    taken = {x.name for x in (*d.bodies, *d.frames, *d.joints, *d.loops, *d.couplings)}
    bodies, joints, couplings = list(d.bodies), list[Joint](), list(d.couplings)
    new: dict[str, list[str]] = {}  # the joints of each chain
    for j in d.joints:
        if j.name not in chains:
            joints.append(j)
            continue
        hinges = chains[j.name]
        names = [
            j.name if hinge.suffix == "" else _free(f"{j.name}_{hinge.suffix}", taken)
            for hinge in hinges
        ]
        links = [j.parent, *(_free(f"{name}_link", taken) for name in names[:-1]), j.child]
        bodies += [Body(link) for link in links[1:-1]]
        data = _data(j, m)
        for k, (name, hinge) in enumerate(zip(names, hinges, strict=True)):
            at, own = j.at if k == 0 else Pose(), {key: x[k] for key, x in data.items()}
            joints.append(Joint(name, hinge.kind, links[k], links[k + 1], at, **own))
            if hinge.ratio is not None:
                thread = _free(f"{j.name}_thread", taken)
                couplings.append(Coupling(thread, name, names[0], hinge.ratio))
        new[j.name] = names
    follow = {c.joint for c in couplings[len(d.couplings) :]}  # the slides of screws
    actuated = tuple(name for x in d.actuated for name in new.get(x, [x]) if name not in follow)
    made = replace(d, bodies=tuple(bodies), joints=tuple(joints), couplings=tuple(couplings))
    return Model(replace(made, actuated=actuated, modes=_modes(m, d, new)))


def _data(j: Joint, m: Model) -> dict[str, list[Any]]:
    """What a joint says of its coordinates and velocities, for each hinge or slide: of one that
    follows another only where it stands at home, and of those of a ball joint no more either."""
    hinges = j.kind.hinges()
    made: dict[str, list[Any]] = {}
    for name in DATA:
        said = getattr(m.joint(j.name) if j.kind.has_quaternion else j, name)
        if said is None:
            continue
        if name == "home":
            made[name] = [(x,) for x in j.kind.hinge_coordinates(said)]
        elif not j.kind.has_quaternion:
            values = iter(said)
            made[name] = [(next(values),) if h.ratio is None else None for h in hinges]
    return made


def _modes(m: Model, d: Description, new: dict[str, list[str]]) -> tuple[Mode, ...]:
    """The modes with the coordinates of hinges and slides."""
    made = []
    for mode in substitute(d.modes, m.values):
        coordinates: list[tuple[str, tuple[Any, ...]]] = []
        for name, values in mode.coordinates:
            if name in new:
                own = m.joint(name).kind.hinge_coordinates(values)
                coordinates += zip(new[name], ((x,) for x in own), strict=True)
            else:
                coordinates.append((name, values))
        made.append(replace(mode, coordinates=tuple(coordinates)))
    return tuple(made)


def _free(name: str, taken: set[str]) -> str:
    """A name that nothing has."""
    candidates = chain((name,), (f"{name}{k}" for k in count(2)))
    found = next(x for x in candidates if x not in taken)
    taken.add(found)
    return found
