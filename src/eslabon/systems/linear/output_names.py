"""The names of what is measured: joints, frames and reactions, with a dash for each derivative by
the time.

"theta1", "theta1'", "theta1''" a joint's position, velocity and acceleration, passive joints too
"ball.wx" one of several velocities of a joint, and the small displacement along it "tool",
"tool.x", "tool'", "tool.rz'" a frame: small rotations and displacements rx, ry, rz, x, y, z, and
its twist "reaction(theta1)", "reaction(pin).fx" the wrench of a joint or loop: mx, my, mz, fx, fy,
fz "positions", "velocities", "states" of the actuated joints, and all states of the model
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from eslabon.arguments import names as names_of
from eslabon.errors import ModelError, suggest
from eslabon.formulas.derivatives.measured_outputs import Output
from eslabon.model import GROUND, Model
from eslabon.model.configuration import velocity_names

DISPLACEMENT = ("rx", "ry", "rz", "x", "y", "z")
WRENCH = ("mx", "my", "mz", "fx", "fy", "fz")
WORDS = ("positions", "velocities", "states")
Named = list[tuple[str, Output]]


def measured(m: Model, given: Any, independent: Sequence[int]) -> Named:
    """The outputs that names stand for, each with the name of its component."""
    if given is None:
        given = ("positions",) if m.nu else ("states",)
    found: Named = []
    for name in names_of(given, "outputs"):
        found += _words(m, name, independent) if name in WORDS else _one(m, name)
    twice = [name for name, count in Counter(name for name, _ in found).items() if count > 1]
    if twice:
        raise ModelError(f"outputs name {', '.join(twice)} twice; once is enough.")
    return found


def _words(m: Model, word: str, independent: Sequence[int]) -> Named:
    names, actuated = velocity_names(m), m.actuated_velocities
    if word == "states":
        return [
            (names[k] + "'" * order, Output("joint", "", k, order))
            for order in (0, 1)
            for k in independent
        ]
    order = WORDS.index(word)
    return [(names[k] + "'" * order, Output("joint", "", k, order)) for k in actuated]


def _one(m: Model, text: str) -> Named:
    plain = text.rstrip("'")
    order = len(text) - len(plain)
    if order > 2:
        raise ModelError(
            f"the output {text!r} is a third derivative; positions, velocities and accelerations are there."
        )
    if match := re.fullmatch(r"reaction\((.+)\)(?:\.(\w+))?", plain):
        return _reaction(m, text, match[1], match[2], order)
    dashes = "'" * order
    single = {name: (k,) for k, name in enumerate(velocity_names(m))}
    joints = {
        **single,
        **{j.name: tuple(range(m.nv)[m.velocities[j.name]]) for j in m.joints if j.nv},
    }
    if plain in joints:
        return [
            (velocity_names(m)[k] + dashes, Output("joint", "", k, order)) for k in joints[plain]
        ]
    frame, _, component = plain.rpartition(".")
    frames = [*(f.name for f in m.frames), *(b.name for b in m.bodies)]
    if plain in frames:
        return [
            (f"{plain}.{c}{dashes}", Output("frame", plain, k, order))
            for k, c in enumerate(DISPLACEMENT)
        ]
    if frame in frames and component in DISPLACEMENT:
        return [(text, Output("frame", frame, DISPLACEMENT.index(component), order))]
    known = [*joints, *frames, *WORDS]
    raise ModelError(
        f"there is no output {text!r} of {m.name}: it is no joint that moves, frame, component of a frame such as 'tool.x', "
        f"or 'reaction(joint)'{suggest(plain, [x for x in known if x != GROUND])}"
    )


def _reaction(m: Model, text: str, name: str, component: str | None, order: int) -> Named:
    known = [j.name for j in m.joints] + [loop.name for loop in m.loops]
    if name not in known:
        raise ModelError(
            f"{m.name} has no joint or loop '{name}' whose reaction could be an output{suggest(name, known)}"
        )
    if order:
        raise ModelError(
            f"the output {text!r} is the rate of a reaction, which a linear model does not have."
        )
    if component is not None and component not in WRENCH:
        raise ModelError(
            f"a reaction has no component '{component}' in {text!r}{suggest(component, WRENCH)}"
        )
    places = range(6) if component is None else [WRENCH.index(component)]
    return [(f"reaction({name}).{WRENCH[k]}", Output("reaction", name, k)) for k in places]


def state_names(m: Model, independent: Sequence[int]) -> tuple[str, ...]:
    """Positions, then velocities."""
    names = [velocity_names(m)[k] for k in independent]
    return (*names, *(f"{name}'" for name in names))


def actuator_names(m: Model) -> tuple[str, ...]:
    """The forces of the actuators, named by what they act on."""
    return tuple(f"tau({velocity_names(m)[k]})" for k in m.actuated_velocities)
