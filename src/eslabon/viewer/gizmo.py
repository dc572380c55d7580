"""The grip by which a frame is led: arrows and rings that a person drags."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.numerics.rotations import quaternion_from_rotation, rotation_from_quaternion
from eslabon.scene import scene_of

if TYPE_CHECKING:
    from viser import ViserServer

    from eslabon.viewer.exhibit import Exhibit


class Gizmo:
    """A grip at the exhibit's frame, shown on request. `target` is where a person has dragged it, (4, 4) on the ground.

    Of a mechanism in a plane the grip lies in it: its z is the plane's normal, whatever the frame's axes are.
    """

    def __init__(
        self, server: ViserServer, root: str, exhibit: Exhibit, asked: Callable[[], None]
    ) -> None:
        self.server, self.root, self.exhibit, self.asked = server, root, exhibit, asked
        self.handle: Any = None
        self.visible = self.dragged = self.suspended = False
        self.target, self.turned = np.eye(4), np.eye(3)

    def show(self, visible: bool) -> str:
        self.visible = visible
        self.add()
        return ""

    def suspend(self, suspended: bool) -> None:
        """Out of the way for a while, or back."""
        self.suspended = suspended
        self.add()

    def add(self) -> None:
        """Put it at the frame, in the form that suits it, or take it away."""
        self.remove()
        m, frame = self.exhibit.m, self.exhibit.session.frame
        if not self.visible or self.suspended or frame is None:
            return
        scene, task = scene_of(m), self.exhibit.session.task(frame)
        here = self.exhibit.session.pose(frame)
        axes = here[:3, :3] if task == "pose" else np.eye(3)
        if scene.plane is not None:
            axes = scene.plane.T
        self.turned = here[:3, :3].T @ axes
        self.handle = self.server.scene.add_transform_controls(
            f"{self.root}/grip", scale=0.17 * scene.size, depth_test=False, line_width=3.0,
            active_axes=(True, True, scene.plane is None), disable_rotations=task == "position",
            disable_axes=task == "orientation", disable_sliders=task == "orientation",
        )  # fmt: skip
        self.handle.on_update(self._moved)
        self.follow()

    def remove(self) -> None:
        if self.handle is not None:
            self.handle.remove()
            self.handle = None

    async def _moved(self, event: Any) -> None:
        self.dragged = event.phase != "end"
        pose = np.eye(4)
        turn = np.asarray(rotation_from_quaternion(np.array(event.target.wxyz)))
        pose[:3, :3], pose[:3, 3] = turn @ self.turned.T, event.target.position
        self.target = pose
        self.asked()

    def follow(self) -> None:
        """To where the frame stands, unless a person holds it."""
        frame = self.exhibit.session.frame
        if self.handle is None or frame is None or self.dragged:
            return
        here: Floats = self.exhibit.session.pose(frame)
        if self.exhibit.session.task(frame) == "position":
            self.turned = here[:3, :3].T @ rotation_from_quaternion(np.array(self.handle.wxyz))
        self.handle.wxyz = quaternion_from_rotation(here[:3, :3] @ self.turned)
        self.handle.position = here[:3, 3]
