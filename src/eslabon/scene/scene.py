"""The scene of a model: its skeleton, its size, the plane it moves in if there is one, and its solids."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from eslabon.model import GROUND, Model
from eslabon.model.memory import per_model
from eslabon.scene.marks import Link, Mark, SpringMark, links, marks, matrix_of, springs
from eslabon.scene.placing import body_poses, moved
from eslabon.scene.solids import Part, parts_of

Floats = np.ndarray[Any, np.dtype[np.float64]]
PARALLEL = 1e-9  # of the sine, or cosine, of an angle


@dataclass(frozen=True, eq=False)
class Scene:
    """All that can be drawn of a mechanism, in the frames of its bodies."""

    m: Model
    size: float

    @property
    def bodies(self) -> tuple[str, ...]:
        """The ground and the bodies, in the order of their poses."""
        return (GROUND, *(b.name for b in self.m.bodies))

    @cached_property
    def joints(self) -> tuple[Mark, ...]:
        """The joints of the tree, then the cut joints."""
        return marks(self.m, self.size)

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """The ground and the bodies with the points where something is attached to them."""
        return links(self.m, self.size)

    @cached_property
    def springs(self) -> tuple[SpringMark, ...]:
        return springs(self.m)

    @cached_property
    def coms(self) -> dict[str, tuple[float, Floats]]:
        """Mass and centre of mass of each body that has a mass."""
        return {
            b.name: (float(b.mass), np.array(b.com, dtype=float))
            for b in self.m.bodies
            if float(b.mass) > 0
        }

    @cached_property
    def frames(self) -> tuple[tuple[str, str, Floats], ...]:
        """Name, body and pose of each named frame."""
        return tuple((f.name, f.body, matrix_of(f.at)) for f in self.m.frames)

    @cached_property
    def plane(self) -> Floats | None:
        """For a mechanism that moves in a plane the directions right, up and normal to it, as rows in the ground's axes."""
        return _plane(self.m, self.joints)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The solids: what the model says its bodies look like, and neat primitives for those of which it says nothing."""
        return parts_of(self.m, self.links, self.joints, self.size, shapes=True)

    @cached_property
    def primitives(self) -> tuple[Part, ...]:
        """The neat primitives of all bodies."""
        return parts_of(self.m, self.links, self.joints, self.size, shapes=False)


@per_model
def scene_of(m: Model) -> Scene:
    """The scene of a model with its own parameters' values."""
    poses = body_poses(m, m.home())
    reach = [poses[:, :3, 3]]
    for link, pose in zip(links(m, 1.0), poses, strict=True):
        reach.append(moved(pose, link.points))
    extent = float(np.linalg.norm(np.ptp(np.concatenate(reach), axis=0)))
    return Scene(m, extent if extent > 1e-6 else 1.0)


def _plane(m: Model, joints: tuple[Mark, ...]) -> Floats | None:
    """A tree whose joints turn about parallel axes, and slide across them, moves in a plane whatever its loops are."""
    places = dict(zip((GROUND, *(b.name for b in m.bodies)), body_poses(m, m.home()), strict=True))
    turns, slides = [np.zeros((0, 3))], [np.zeros((0, 3))]
    for j in joints[: len(m.joints)]:
        if j.freedom.pitch > PARALLEL:
            return None  # a screw leaves the plane that it turns in
        turns.append(j.rotations @ places[j.child][:3, :3].T)
        slides.append(j.translations @ (places[j.parent] @ j.on_parent)[:3, :3].T)
    turning, sliding = np.concatenate(turns), np.concatenate(slides)
    if not len(turning) and not len(sliding):
        return None
    normal = turning[0] if len(turning) else _across(sliding)
    parallel = np.abs(np.cross(turning, normal)).max(initial=0.0) < PARALLEL
    if not parallel or np.abs(sliding @ normal).max(initial=0.0) > PARALLEL:
        return None
    return _facing(normal, np.array(m.gravity, dtype=float))


def _across(sliding: Floats) -> Floats:
    """A direction across all slides, if there is one; of many the nearest to z."""
    _, s, rows = np.linalg.svd(sliding)
    free = rows[int((s > PARALLEL).sum()) :]
    if not len(free):
        return np.array([0.0, 0.0, 1.0])
    nearest = free.T @ free @ np.array([0.0, -1e-3, 1.0])
    return np.asarray(nearest / np.linalg.norm(nearest))


def _facing(normal: Floats, gravity: Floats) -> Floats:
    """Right, up and normal, so that gravity points down the page, and the larger axes right and up."""
    for up in (-gravity, np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0])):
        up = up - normal * (up @ normal)
        if np.linalg.norm(up) > 1e-6 * max(1.0, float(np.linalg.norm(gravity))):
            break
    up = up / np.linalg.norm(up)
    right = np.cross(up, normal)
    if right[np.abs(right).argmax()] < 0:
        right, normal = -right, -normal
    return np.array([right, up, normal])
