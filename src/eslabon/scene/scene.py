"""The scene of a model: its skeleton, its size, the plane it moves in if there is one, and its solids."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from eslabon.model import GROUND, Model
from eslabon.model.memory import per_model
from eslabon.model.plane_of_motion import plane_of_motion
from eslabon.scene.marks import Link, Mark, SpringMark, links, marks, matrix_of, springs
from eslabon.scene.placing import body_poses, moved
from eslabon.scene.solids import Part, parts_of

Floats = np.ndarray[Any, np.dtype[np.float64]]


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
        return plane_of_motion(self.m)

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
