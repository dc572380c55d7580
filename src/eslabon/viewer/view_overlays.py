"""What can be shown with a mechanism on request: frames, centres of mass, forces and reactions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.drawing.drawn_solids import Placed, rgb
from eslabon.errors import EslabonError
from eslabon.scene import moved, reaction_arrows

if TYPE_CHECKING:
    from eslabon.viewer.exhibit import Exhibit

LONGEST = 0.3  # of the mechanism's size: the longest arrow
FADING = 0.97  # of the largest force so far, from one look to the next: the scale follows slowly
GLASS = 0.4  # how opaque bodies are while one looks into them
NAMES = ("frames", "centres of mass", "forces", "reactions")


class Overlays:
    """The additions to a mechanism in a scene; `shown` are the names of those that are seen."""

    def __init__(self, placed: Placed, shown: set[str]) -> None:
        self.placed, self.shown, self.scale = placed, shown, {"forces": 0.0, "reactions": 0.0}
        self.nodes: dict[str, list[Any]] = {
            "frames": self._frames(),
            "centres of mass": self._coms(),
        }
        self.arrows = {
            name: self._arrows(name, role)
            for name, role in (("forces", "force"), ("reactions", "reaction"))
        }
        self.show()

    def _frames(self) -> list[Any]:
        """The frames of the ground and of the bodies, thin, and those with names, with their names."""
        scene, add, size = self.placed.scene, self.placed.server.scene, self.placed.scene.size
        made: list[Any] = []
        for body in scene.bodies:
            name = f"{self.placed.node(body)}/own_frame"
            made.append(
                add.add_frame(
                    name, axes_length=size / 14, axes_radius=size / 700, origin_radius=size / 400
                )
            )
        for label, body, at in scene.frames:
            name = f"{self.placed.node(body)}/frame_{label.replace('/', '_')}"
            made.append(
                add.add_frame(
                    name,
                    axes_length=size / 8,
                    axes_radius=size / 350,
                    origin_radius=size / 200,
                    wxyz=_turn(at),
                    position=at[:3, 3],
                )
            )
            made.append(add.add_label(f"{name}/label", label, anchor="bottom-left"))
        return made

    def _coms(self) -> list[Any]:
        """A ball of the mass it stands for at each centre of mass."""
        scene = self.placed.scene
        largest = max((mass for mass, _ in scene.coms.values()), default=1.0)
        return [
            self.placed.server.scene.add_icosphere(
                f"{self.placed.node(body)}/com", radius=scene.size / 30 * max((mass / largest) ** (1 / 3), 0.3),
                color=rgb(self.placed.theme.role("com")), position=at, opacity=0.75, cast_shadow=False,
            )
            for body, (mass, at) in scene.coms.items()
        ]  # fmt: skip

    def _arrows(self, name: str, role: str) -> Any:
        size = self.placed.scene.size
        return self.placed.server.scene.add_arrows(
            self.placed.node(name), np.zeros((0, 2, 3)), rgb(self.placed.theme.role(role)),
            shaft_radius=size / 220, head_radius=size / 80, head_length=size / 28, visible=False,
        )  # fmt: skip

    def show(self) -> None:
        """Show what is to be seen; bodies are glass around their centres of mass."""
        for solid in self.placed.solids.values():
            solid.opacity = GLASS if "centres of mass" in self.shown else None
        for name, nodes in self.nodes.items():
            for node in nodes:
                node.visible = name in self.shown

    def update(self, exhibit: Exhibit) -> None:
        """The arrows of the moment."""
        for name, node in self.arrows.items():
            points, forces = np.zeros((2, 0, 3))
            if name in self.shown:
                points, forces = _forces(exhibit) if name == "forces" else _reactions(exhibit)
            ends = self._drawn(name, points, forces)
            if len(ends) or node.visible:
                node.points, node.visible = ends.astype(np.float32), bool(len(ends))

    def _drawn(self, name: str, points: Floats, forces: Floats) -> Floats:
        """Arrows (n, 2, 3) with their heads where the forces act, all to one scale; what is too short to be seen is left out."""
        sizes = np.linalg.norm(forces, axis=-1)
        self.scale[name] = max(float(sizes.max(initial=0.0)), FADING * self.scale[name])
        if not self.scale[name]:
            return np.zeros((0, 2, 3))
        seen = sizes > 0.02 * self.scale[name]
        ways = forces[seen] * (LONGEST * self.placed.scene.size / self.scale[name])
        at = points[seen]
        return (
            np.stack([at - ways, at], axis=1)
            if name == "forces"
            else np.stack([at, at + ways], axis=1)
        )


def _turn(pose: Floats) -> Floats:
    from eslabon.numerics.rotations import quaternion_from_rotation

    return np.asarray(quaternion_from_rotation(pose[:3, :3]))


def _forces(exhibit: Exhibit) -> tuple[Floats, Floats]:
    """Weights at the centres of mass, and what pushes from outside."""
    m, poses = exhibit.m, exhibit.poses
    gravity, points, forces = np.array(m.gravity, dtype=float), [], []
    for k, body in enumerate(m.bodies):
        if float(body.mass):
            points.append(moved(poses[k + 1], np.array([body.com], dtype=float))[0])
            forces.append(float(body.mass) * gravity)
        if exhibit.run is not None and (wrench := exhibit.run.wrenches[body.name]).any():
            turn, moment, force = poses[k + 1][:3, :3], wrench[:3], wrench[3:]
            arm = np.cross(force, moment) / max(
                float(force @ force), 1e-300
            )  # where the line of the force passes
            points.append(poses[k + 1][:3, 3] + turn @ arm)
            forces.append(turn @ force)
    return np.array(points).reshape(-1, 3), np.array(forces).reshape(-1, 3)


def _reactions(exhibit: Exhibit) -> tuple[Floats, Floats]:
    try:
        arrows = reaction_arrows(exhibit.m, exhibit.q, exhibit.reactions())
    except EslabonError:  # a singular configuration has none
        return np.zeros((0, 3)), np.zeros((0, 3))
    return np.asarray(arrows.points), np.asarray(arrows.forces)
