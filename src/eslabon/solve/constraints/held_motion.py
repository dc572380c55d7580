"""What is held where a parameter of a mechanism changes: joints, frames or parts of their poses;
whether that determines how all else follows, and whether the mechanism can hold so much."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from eslabon.arguments import Floats
from eslabon.arguments import names as names_of
from eslabon.compiler.evaluate import evaluate
from eslabon.errors import ModelError, format_value, suggest
from eslabon.formulas.quantities import quantity
from eslabon.formulas.structure import HeldMotion
from eslabon.model import Model
from eslabon.model.configuration import velocity_names
from eslabon.model.memory import per_model
from eslabon.model.scale import characteristic_length, velocity_scales
from eslabon.numerics.subspaces import independent_rows, null_space
from eslabon.numerics.tolerances import RANK
from eslabon.solve.constraints.closed_configurations import around, comparable_jacobian_at
from eslabon.solve.constraints.independent_coordinates import (
    partition,
    partition_at,
    partition_by,
    velocities_of,
)
from eslabon.solve.designs import DESCRIBED, Designs

Directions = tuple[tuple[float, ...], ...]
JOINT, PARTS = "joint", ("pose", "position", "orientation", "planar")
ROWS = ("rx", "ry", "rz", "x", "y", "z")


def held_motion(m: Model, held: Any) -> HeldMotion:
    """What stays, as users say it: names of joints or of their velocities, of frames, or {frame:
    part}; left out, the actuated joints."""
    if held is None:
        return _actuated(m)
    named = _named(m, held)
    joints = tuple(name for name, part in named if part == JOINT)
    frames = tuple((name, _directions(m, name, part)) for name, part in named if part != JOINT)
    if not frames:
        p = partition_by(m, joints, "elimination")
        return HeldMotion(p.rows, p.independent, p.dependent)
    return _with_frames(m, joints, frames)


@per_model
def _actuated(m: Model) -> HeldMotion:
    p = partition(m)
    if set(p.independent) != set(m.actuated_velocities) and m.closed:
        raise ModelError(
            f"the {len(m.actuated)} actuated joints of {m.name} are not the coordinates that determine its "
            f"{len(p.independent)} degrees of freedom; say which are held, as in "
            f"held={tuple(velocity_names(m)[k] for k in p.independent)}."
        )
    return HeldMotion(p.rows, p.independent, p.dependent)


def _named(m: Model, held: Any) -> list[tuple[str, Any]]:
    """Each name with what is held of it; of a joint and a frame of one name it is the joint, unless
    a part is given."""
    if isinstance(held, Mapping):
        return [
            (name, part)
            for name, part in zip(names_of(dict(held), "held"), held.values(), strict=True)
        ]
    moving = {*velocity_names(m), *(j.name for j in m.joints if j.nv)}
    frames = {f.name for f in m.frames} | {b.name for b in m.bodies}
    named = names_of(held, "held")
    for name in named:
        if name not in moving and name not in frames:
            raise ModelError(
                f"{m.name} has no joint that moves and no frame '{name}'{suggest(name, moving | frames)}"
            )
    return [(name, JOINT if name in moving else "pose") for name in named]


def _directions(m: Model, frame: str, part: Any) -> Directions:
    """The rows of a frame's twist that a part of its pose has, in the ground's axes at its
    origin."""
    m.frame(frame)
    one = np.eye(6)
    if part == "planar":
        from eslabon.model.plane_of_motion import plane_directions

        first, second = (np.array(x) for x in plane_directions(m))
        C = np.zeros((3, 6))
        C[0, :3], C[1, 3:], C[2, 3:] = np.cross(first, second), first, second
    elif isinstance(part, str) and part in PARTS:
        C = one[{"pose": slice(0, 6), "position": slice(3, 6), "orientation": slice(0, 3)}[part]]
    else:
        chosen = (part,) if isinstance(part, str) else part
        if not isinstance(chosen, tuple | list) or not chosen or any(x not in ROWS for x in chosen):
            raise ModelError(
                f"held: of the frame '{frame}' there are {', '.join(map(repr, PARTS))}, or rows of its pose such as "
                f"('x', 'y', 'rz'); it is {format_value(part)}{suggest(part, (*PARTS, *ROWS), '.') if isinstance(part, str) else '.'}"
            )
        C = one[sorted({ROWS.index(x) for x in chosen})]
    return tuple(tuple(row) for row in (C + 0.0).tolist())


@per_model
def _with_frames(
    m: Model, joints: tuple[str, ...], frames: tuple[tuple[str, Directions], ...]
) -> HeldMotion:
    """Held joints and frames, refused where they leave something open, or are more than the
    mechanism can hold."""
    held = velocities_of(m, joints, "held")
    others = tuple(k for k in range(m.nv) if k not in held)
    given = HeldMotion((), held, others, frames=frames)
    listed = " and ".join([*joints, *(f"'{name}'" for name, _ in frames)])
    near = list(around(m))
    found = _determined(m, given, near)
    if found.rank < found.freedoms:
        raise ModelError(
            f"held: {listed} {'leaves' if len(joints) + len(frames) == 1 else 'leave'} {found.freedoms - found.rank} of the "
            f"{found.freedoms} degrees of freedom of {m.name} open, such as the motion of '{found.loose}'; hold more of it, as in "
            f"held={{{frames[0][0]!r}: 'pose', {found.loose!r}: 'joint'}}."
        )
    if found.span > found.rank:
        raise ModelError(
            f"held: {listed} would hold {found.span} motions, and {m.name} has {found.freedoms} degrees of freedom; hold a "
            f"part, as in held={{{frames[0][0]!r}: 'position'}} or {{{frames[0][0]!r}: ('x', 'y')}}."
        )
    for q in near:
        if (made := held_at(m, q, given)) is not None:
            return made
    raise ModelError(
        f"held: {listed} determines nothing near the home of {m.name}; hold other joints or frames."
    )


class Determined(NamedTuple):
    """How many independent motions what is held has at a time, how many in all, how many degrees of
    freedom there are, and a velocity that is left open."""

    rank: int
    span: int
    freedoms: int
    loose: str


def _determined(m: Model, given: HeldMotion, near: list[Floats]) -> Determined:
    """By the motions that loops leave free at several configurations."""
    motions, most, open_, freedoms = [], -1, np.zeros(m.nv), 0
    for q in near:
        free = null_space(_closure_rows(m, q))
        held = np.concatenate([np.eye(m.nv)[list(given.independent)], _frame_rows(m, q, given)])
        motions.append(held @ free)
        _, sizes, W = np.linalg.svd(motions[-1])
        count = _count(sizes)
        if count > most:
            most, open_, freedoms = count, free @ W[-1], free.shape[1]
    span = np.linalg.svd(np.concatenate(motions, axis=-1), compute_uv=False)
    loose = velocity_names(m)[int(np.abs(open_).argmax())]
    return Determined(most, _count(span), freedoms, loose)


def _count(sizes: Floats) -> int:
    """How many motions are held, of which a unit velocity is one."""
    return int((sizes > RANK * max(1.0, sizes.max(initial=0.0))).sum())


def _closure_rows(m: Model, q: Floats, design: Designs = DESCRIBED) -> Floats:
    """The closure Jacobian by comparable velocities; a tree has no rows."""
    return comparable_jacobian_at(m, q, design) if m.closed else np.zeros((0, m.nv))


def _frame_rows(m: Model, q: Floats, given: HeldMotion, design: Designs = DESCRIBED) -> Floats:
    """The rows of the frames' Jacobians that are held, lengths over L, by comparable velocities."""
    unit, rows = np.repeat([1.0, 1 / characteristic_length(m)], 3)[:, None], [np.zeros((0, m.nv))]
    for frame, C in given.frames:
        J = evaluate(
            m, quantity(m, "jacobian"), parameters=design.names, frame=frame, axes="aligned"
        )(q, *design.inputs)
        rows.append(np.array(C) @ (unit * J))
    return np.concatenate(rows) / velocity_scales(m)


def held_at(
    m: Model, q: Floats, given: HeldMotion, design: Designs = DESCRIBED
) -> HeldMotion | None:
    """The same held, by the rows that suit a configuration of a design best; None where it does not
    determine the others there."""
    if not given.frames:
        p = partition_at(m, q, given.independent, design)
        same = set(p.independent) == set(given.independent)
        return HeldMotion(p.rows, p.independent, p.dependent) if same else None
    rows_held = [_closure_rows(m, q, design), _frame_rows(m, q, given, design)]
    stacked = np.concatenate(rows_held)[:, list(given.dependent)]
    rows = independent_rows(stacked)
    return replace(given, rows=tuple(sorted(rows))) if len(rows) == len(given.dependent) else None
