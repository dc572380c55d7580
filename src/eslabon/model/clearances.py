"""Clearance in pin and ball joints: the pin's centre anywhere in the clearance circle, as
parameters of the mechanism.

The pin is taken to rest against its bore, or to float in it, at an unknown place that does not
change during a motion (quasi-static contact). A pin's centre shifts in the plane normal to its
axis, a ball's in space. The shift is said in polar coordinates, so that its parameters are
independent of one another where its place is equally likely all over the circle.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from eslabon.arguments import names as names_of
from eslabon.errors import ModelError, suggest
from eslabon.model.constraints import Vector
from eslabon.model.free_numbers import free_name
from eslabon.model.items import Description, Joint, Loop
from eslabon.model.model import Model
from eslabon.model.parameter_expressions import ParameterExpression, call, leaves, parameter
from eslabon.model.poses import Number, Pose
from eslabon.numerics.scalars import dot

PLAY, DIRECTION, POLAR = "play", "direction", "polar"


def clearance_names(m: Model, name: str) -> tuple[str, ...]:
    """The parameters of the clearance of a joint or loop: how far the centre is off, in which
    direction about the axis (or about z), and for a ball its angle from z."""
    kind = _joint_with_clearance(m, name).kind
    words = (PLAY, DIRECTION, POLAR)[: len(kind.clearance_directions())]
    return tuple(free_name(f"{name}.{word}") for word in words)


def with_clearance(m: Model, joints: Iterable[str]) -> Description:
    """Joints and loops whose centres can shift, by parameters that are zero."""
    d = m.description
    for name in dict.fromkeys(names_of(joints, "joints")):
        names = clearance_names(m, name)
        known = dict(d.parameters)
        if all(x in known for x in names):
            continue  # it has it already
        if taken := next((x for x in names if x in known), None):
            raise ModelError(
                f"{d.name} has a parameter '{taken}' already, which stands elsewhere; rename it first."
            )
        d = replace(d, parameters=(*d.parameters, *((x, 0.0) for x in names)))
        shift = _shift(_joint_with_clearance(m, name).kind.clearance_directions(), *names)
        d = replace(
            d,
            joints=tuple(replace(j, at=j.at @ shift) if j.name == name else j for j in d.joints),
            loops=tuple(
                replace(x, first=replace(x.first, at=x.first.at @ shift)) if x.name == name else x
                for x in d.loops
            ),
        )
    return d


def _shift(directions: Sequence[Vector], play: str, direction: str, polar: str = "") -> Pose:
    """Where the centre is: play (cos, sin) in a plane, and in space with the angle from the third
    direction."""
    r, phi = parameter(play), parameter(direction)
    across = r * call("sin", parameter(polar)) if polar else r
    along: list[Number] = [across * call("cos", phi), across * call("sin", phi)]
    along += [r * call("cos", parameter(polar))] if polar else []
    x, y, z = (dot([u[k] for u in directions], along) for k in range(3))
    return Pose((x, y, z))


def _joint_with_clearance(m: Model, name: str) -> Joint | Loop:
    """A joint or loop that can have a clearance."""
    both: tuple[Joint | Loop, ...] = (*m.joints, *m.loops)
    known = {item.name: item for item in both}
    item = known.get(name)
    if item is None:
        raise ModelError(f"{m.name} has no joint or loop {name!r}{suggest(name, known)}")
    what = f"{'loop' if isinstance(item, Loop) else 'joint'} '{name}'"
    if not item.kind.clearance_directions():
        raise ModelError(
            f"{what} is {item.kind.kind}; a clearance is that of a pin or ball: revolute, cylindrical, universal, spherical."
        )
    described: tuple[Joint | Loop, ...] = (*m.description.joints, *m.description.loops)
    written = next(x for x in described if x.name == name)
    if len(item.kind.clearance_directions()) == 2 and any(
        isinstance(x, ParameterExpression) for x in leaves(written.kind)
    ):
        raise ModelError(
            f"{what} has an axis made of parameters; give it a plain axis before it gets a clearance."
        )
    return item
