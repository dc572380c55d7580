"""What the bodies of an MJCF file look like: the geoms that MuJoCo's own viewer shows at first, as
shapes.

A mesh stays in its file. MuJoCo centres meshes and turns them into their principal axes; that is
undone, so that the file as it is stands in its place. Planes and height fields, which have no end
or no shape here, are passed over, an ellipsoid is a capsule or a sphere of about its size, and a
mesh without a file of a common format the box around it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from eslabon.numerics.rigid_motions import pose, pose_inverse
from eslabon.numerics.rotations import rotation_from_quaternion

HIDDEN = 3  # the first group of geoms that the viewer does not show: collision geometry, by custom
GREY = (0.5, 0.5, 0.5, 1.0)  # of a geom without a colour
FORMATS = (".stl", ".obj")
AXES = (  # rotations that bring z to x, y and z
    np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]),
    np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]),
    np.eye(3),
)
Matrix = np.ndarray[Any, Any]


class Geoms:
    """The geoms of a compiled model, by MuJoCo's numbers."""

    def __init__(self, mujoco: ModuleType, mj: Any, path: Path) -> None:
        self.mujoco, self.mj, self.path = mujoco, mj, path

    def shapes(self) -> Iterator[tuple[int, str, dict[str, Any]]]:
        """The body's number, the geom's name, and the rest as the Builder takes it."""
        mj = self.mj
        for g in range(mj.ngeom):
            if mj.geom_group[g] >= HIDDEN or not mj.geom_rgba[g, 3]:
                continue
            kind = (
                str(self.mujoco.mjtGeom(int(mj.geom_type[g])).name).removeprefix("mjGEOM_").lower()
            )
            place = pose(rotation_from_quaternion(mj.geom_quat[g]), mj.geom_pos[g])
            if given := self._form(g, kind, place):
                body = int(mj.geom_bodyid[g])
                yield (
                    body,
                    mj.geom(g).name or f"{mj.body(body).name}_geom{g}",
                    {**given, "colour": self._colour(g)},
                )

    def _form(self, g: int, kind: str, at: Matrix) -> dict[str, Any] | None:
        """Kind, size and place; MuJoCo's sizes are halves."""
        size = self.mj.geom_size[g].tolist()
        if kind == "box":
            return {"kind": kind, "size": [2 * x for x in size], "at": at}
        if kind in ("cylinder", "capsule"):
            return {"kind": kind, "size": [size[0], 2 * size[1]], "at": at}
        if kind == "sphere":
            return {"kind": kind, "size": size[0], "at": at}
        if kind == "ellipsoid":
            return _ellipsoid(size, at)
        return self._mesh(g, at) if kind == "mesh" else None

    def _mesh(self, g: int, at: Matrix) -> dict[str, Any]:
        mj, k = self.mj, int(self.mj.geom_dataid[g])
        address = mj.mesh_pathadr[k]
        file = mj.paths[address:].split(b"\0")[0].decode() if address >= 0 else ""
        moved = self._reference(k)
        if not file.lower().endswith(FORMATS) or moved is None:
            middle, half = mj.geom_aabb[g, :3], mj.geom_aabb[g, 3:]
            return {
                "kind": "box",
                "size": np.maximum(2 * half, 1e-9).tolist(),
                "at": at @ pose(np.eye(3), middle),
            }
        centred = pose(rotation_from_quaternion(mj.mesh_quat[k]), mj.mesh_pos[k])
        return {
            "kind": "mesh",
            "size": mj.mesh_scale[k].tolist(),
            "at": at @ pose_inverse(centred) @ moved,
            "file": str((self.path.parent / file).resolve()),
        }

    def _reference(self, k: int) -> Matrix | None:
        """How refpos and refquat move what is in the file: s R^T (x - p); None where a pose cannot
        say it."""
        spec, scale = self._spec.meshes[k], self.mj.mesh_scale[k]
        R = rotation_from_quaternion(np.array(spec.refquat) / np.linalg.norm(spec.refquat)).T
        if np.ptp(scale) and not np.allclose(R, np.eye(3)):
            return None
        return pose(R, -R @ (scale * spec.refpos))

    @cached_property
    def _spec(self) -> Any:
        """The model as it is written, which says what the compiled one has forgotten."""
        return self.mujoco.MjSpec.from_file(str(self.path))

    def _colour(self, g: int) -> str:
        """The geom's colour, or that of its material; none if it has neither."""
        mj, rgba = self.mj, self.mj.geom_rgba[g]
        if np.allclose(rgba, GREY):
            if mj.geom_matid[g] < 0:
                return ""
            rgba = mj.mat_rgba[mj.geom_matid[g]]
        red, green, blue = (round(255 * min(max(float(x), 0.0), 1.0)) for x in rgba[:3])
        return f"#{red:02x}{green:02x}{blue:02x}"


def _ellipsoid(size: list[float], at: Matrix) -> dict[str, Any]:
    """A capsule along the longest axis that is as long and, on the average, as thick; a sphere if
    it is none."""
    longest = int(np.argmax(size))
    radius = float(np.mean(np.delete(size, longest)))
    length = 2 * (size[longest] - radius)
    if length <= 0.1 * radius:
        return {"kind": "sphere", "size": float(np.mean(size)), "at": at}
    return {
        "kind": "capsule",
        "size": [radius, length],
        "at": at @ pose(AXES[longest], np.zeros(3)),
    }
