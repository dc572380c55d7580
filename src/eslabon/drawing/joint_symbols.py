"""The symbols of joints in a plane, as kinematic diagrams have them, by what a joint leaves free.

A symbol is outlines in the frame of the body it moves with, in units of the radius r that links have:

    turns            a pin: a ring                     turns about two or three axes    a ring with a cross, a ball
    slides           a block on its rail               turns and slides                 a ring in a frame
    rigid            a square                          a constraint that is no joint    a rhomb
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from eslabon.arguments import Floats
from eslabon.model import GROUND
from eslabon.scene import Mark
from eslabon.scene.primitives import hull

FAR = 8.0  # of the radius: a slide that stays this far from its start is a cylinder with a rod
TURN = np.linspace(0.0, 2 * np.pi, 41)


class Outline(NamedTuple):
    """A closed outline, or a line, on the body that it moves with."""

    body: str
    points: Floats  # (n, 2), in the plane of that body
    fill: str = "paper"  # "paper", "colour", "" for a line
    below: bool = False  # whether it lies under the links


class Placed(NamedTuple):
    """A joint in the planes of its bodies: where its two halves are, and its first sliding direction on each."""

    mark: Mark
    on_parent: Floats
    on_child: Floats
    along_parent: Floats | None
    along_child: Floats | None


def symbol(joint: Placed, r: float) -> Iterator[Outline]:
    """The outlines of a joint."""
    mark, at = joint.mark, joint.on_child
    turns, slides = len(mark.rotations), len(mark.translations)
    filled = "colour" if mark.role == "actuated" else "paper"
    if slides == 1:
        yield from _slider(joint, r, filled)
    elif slides > 1:
        yield Outline(mark.child, at + box(1.7 * r, 1.7 * r), "paper")
        yield Outline(mark.child, at + ring(0.9 * r), filled)
    elif turns:
        yield Outline(mark.child, at + ring((1.0 if turns < 3 else 1.25) * r), filled)
        if turns == 2:
            yield from (Outline(mark.child, at + bar, "") for bar in cross(1.6 * r))
        elif turns == 3:
            yield Outline(mark.child, at + ring(0.6 * r), "colour")
    elif mark.kind == "fixed":
        yield Outline(mark.child, at + box(0.8 * r, 0.8 * r), "colour")
    else:
        yield Outline(
            mark.child, at + 1.1 * r * np.array([[1, 0], [0, 1], [-1, 0], [0, -1], [1, 0]]), filled
        )


def _slider(joint: Placed, r: float, filled: str) -> Iterator[Outline]:
    mark, (low, high) = joint.mark, joint.mark.reach
    along, out = joint.along_parent, joint.along_child
    assert along is not None
    assert out is not None
    if is_cylinder(mark, r):
        near, stroke = (low, high - low) if low > 0 else (high, low - high)
        end = joint.on_child - (stroke + 3 * r * np.sign(stroke)) * out
        yield Outline(mark.child, strip(joint.on_child, end, 0.35 * r), "colour", below=True)
        yield Outline(
            mark.parent,
            strip(joint.on_parent, joint.on_parent + near * along, 0.8 * r),
            filled,
            below=True,
        )
        return
    yield Outline(mark.parent, joint.on_parent + np.outer([low, high], along), "", below=True)
    block = box(2.3 * r, 1.5 * r) @ np.array([out, [-out[1], out[0]]])
    yield Outline(mark.child, joint.on_child + block, filled)
    if len(mark.rotations):
        yield Outline(mark.child, joint.on_child + ring(0.8 * r), "paper")


def is_cylinder(mark: Mark, r: float) -> bool:
    """Whether a slide between moving bodies stays so far on one side that it is drawn as a cylinder with its rod."""
    low, high = mark.reach
    return (
        GROUND not in (mark.parent, mark.child)
        and min(abs(low), abs(high)) > FAR * r
        and low * high > 0
    )


def ring(radius: float) -> Floats:
    return radius * np.column_stack([np.cos(TURN), np.sin(TURN)])


def box(half_length: float, half_width: float) -> Floats:
    return np.array([[1, 1], [-1, 1], [-1, -1], [1, -1], [1, 1]]) * [half_length, half_width]


def cross(half: float) -> Iterator[Floats]:
    yield half * np.array([[-1.0, 0.0], [1.0, 0.0]])
    yield half * np.array([[0.0, -1.0], [0.0, 1.0]])


def strip(start: Floats, end: Floats, half_width: float) -> Floats:
    """A narrow rectangle from point to point."""
    along = (end - start) / (np.linalg.norm(end - start) + 1e-300)
    side = half_width * np.array([-along[1], along[0]])
    return np.array([start + side, end + side, end - side, start - side, start + side])


def hull_of_discs(points: Floats, radius: float) -> Floats:
    """The outline around discs at points: a disc, a bar with round ends, or a plate with round corners."""
    rim = (points[:, None] + ring(radius)[None, :-1]).reshape(-1, 2)
    corners = rim[hull(rim)]
    return np.concatenate([corners, corners[:1]])


def support(at: Floats, direction: Floats, r: float) -> tuple[Floats, list[Floats]]:
    """A support of the ground: a triangle from a pin, away along a direction, and the hatching under it."""
    side = np.array([-direction[1], direction[0]])
    foot = at + 3.2 * r * direction
    triangle = np.array([at, foot + 1.9 * r * side, foot - 1.9 * r * side, at])
    return triangle, hatching(foot - 2.7 * r * side, foot + 2.7 * r * side, direction, r)


def hatching(start: Floats, end: Floats, direction: Floats, r: float) -> list[Floats]:
    """A line and short strokes on one side of it: what stands still."""
    length = float(np.linalg.norm(end - start))
    along = (end - start) / length
    count = max(2, round(length / (1.05 * r)))
    starts = start + np.outer((np.arange(count) + 0.9) * length / (count + 0.3), along)
    stroke = 1.0 * r * direction - 0.8 * r * along
    return [np.array([start, end]), *(np.array([p, p + stroke]) for p in starts)]
