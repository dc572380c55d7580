"""Closed loops inside a URDF: ``<constraint>`` elements, as proposed to its parser in 2026.

    <constraint name="elbow" type="revolute">
      <parent link="upper"/> <parent_origin xyz="0.3 0 0" rpy="0 0 0"/> <parent_axis xyz="0 0 1"/>
      <child link="lower"/>  <child_origin xyz="0.5 0 0" rpy="0 0 0"/>  <child_axis xyz="0 0 1"/>
    </constraint>

It is a cut joint between two links. The types are those of joints. Origins and axes may stand inside of ``<parent>`` and
``<child>`` too, as ``<origin>`` and ``<axis>``; left out, an origin is the link's own and an axis is x. A universal joint
turns about the parent's axis and then about the child's. Of other kinds the child's axis is brought onto the parent's:
where a joint does not turn about its axis, the child's frame is turned by the smallest rotation that does that.
"""

from __future__ import annotations

import math

import numpy as np

from eslabon import model
from eslabon.arguments import known_words
from eslabon.errors import ReadError
from eslabon.files.xml_elements import Axis, Tag, axis_of, kind_of, name_of, pose
from eslabon.model import Builder, Pose
from eslabon.model.constraints import perpendicular
from eslabon.model.joints import OneAxis
from eslabon.numerics import rigid_motions
from eslabon.numerics.rotations import rotation_from_quaternion
from eslabon.numerics.tolerances import ROUND_OFF

SIDES = ("parent", "child")
PARTS = ("origin", "axis")
KNOWN = (*SIDES, *(f"{side}_{part}" for side in SIDES for part in PARTS), "screw_thread_pitch")


def add_constraint(b: Builder, name: str, constraint: Tag, bodies: dict[str, str]) -> None:
    """The loop that a <constraint> element closes; `bodies` are the links by name."""
    known_words(
        map(name_of, constraint.element),
        KNOWN,
        f"{constraint.what} has the unknown element",
        ReadError,
    )
    kind = kind_of(constraint)
    (parent, first, inner), (child, second, outer) = (
        _side(constraint, side, bodies) for side in SIDES
    )
    if kind == "universal":
        b.loop(name, kind, parent, child, first, second, axis=(inner, outer))
    elif issubclass(model.KINDS[kind], OneAxis):
        turned = rigid_motions.pose(
            second.rotation() @ _smallest_rotation(inner, outer), second.translation()
        )
        at = second if inner == outer else turned
        pitch = (
            constraint.child("screw_thread_pitch").number("value") / (2 * math.pi)
            if kind == "helical"
            else None
        )
        b.loop(name, kind, parent, child, first, at, axis=inner, pitch=pitch)
    else:
        b.loop(name, kind, parent, child, first, second)


def _side(constraint: Tag, side: str, bodies: dict[str, str]) -> tuple[str, Pose, Axis]:
    """A body, and the place and axis of the cut joint on it."""
    end = constraint.child(side)
    known_words(
        [link := end.text("link")], bodies, f"{constraint.what} has the unknown link", ReadError
    )

    def part(tag: str) -> Tag:
        within, beside = end.child(tag), constraint.child(f"{side}_{tag}")
        if within.there and beside.there:
            raise ReadError(
                f"{constraint.what} has a <{tag}> in <{side}> and a <{side}_{tag}>; keep one."
            )
        return within if within.there else beside

    return bodies[link], pose(part("origin")), axis_of(part("axis")) or (1.0, 0.0, 0.0)


def _smallest_rotation(a: Axis, b: Axis) -> np.ndarray:
    """R with R a = b."""
    cosine = float(np.dot(a, b))
    about = np.cross(a, b) if cosine > -1 + ROUND_OFF else perpendicular(a)[0]
    return rotation_from_quaternion(np.array([1 + max(cosine, -1.0), *about]))
