"""The solids that bodies and joints are drawn as: triangles in the frame of their body.

A body is a bar between two points, a plate between three or more of one plane, else a star of bars. A joint is drawn by
what it leaves free: a pin, a slider on its rail, a sleeve, a cross, a ball, a plate.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from eslabon.errors import MissingDependencyError, ModelWarning, user_stacklevel
from eslabon.model import GROUND, Model
from eslabon.model.items import Shape
from eslabon.scene import primitives
from eslabon.scene.marks import Link, Mark, matrix_of
from eslabon.scene.primitives import Solid, hull

Floats = np.ndarray[Any, np.dtype[np.float64]]
SLENDER = 70.0  # how many radii of a bar the mechanism is wide
FLAT = 1e-3  # of the size: how far points of a plate may be out of its plane


class Part(NamedTuple):
    """A solid that moves with a body: its triangles in the body's frame, and what it is."""

    name: str
    body: str
    role: str  # "link", "joint", "actuated", "cut", "ground" or "shape"
    vertices: Floats
    faces: np.ndarray[Any, np.dtype[np.int64]]
    colour: str = ""


def trimesh() -> Any:
    """The library that reads meshes, which an installation may be without."""
    try:
        import trimesh
    except ImportError:
        raise MissingDependencyError(
            "meshes need trimesh; pip install 'eslabon[plot]' brings it."
        ) from None
    return trimesh


def parts_of(
    m: Model, links: Sequence[Link], joints: Sequence[Mark], size: float, *, shapes: bool
) -> tuple[Part, ...]:
    """The solids of a mechanism; with `shapes` those of the model take the place of the primitives of their bodies."""
    radius = size / SLENDER
    own = list(_shapes(m)) if shapes else []
    clad = {part.body for part in own}
    made = [*own]
    for link in links:
        if link.body not in clad:
            role = "ground" if link.body == GROUND else "link"
            made += [_part(link.body, link.body, role, solid) for solid in _link(m, link, radius)]
    for mark in joints:
        if mark.child not in clad or mark.role == "actuated":
            made += [
                _part(mark.name, body, mark.role, solid) for body, solid in _joint(mark, radius)
            ]
    return tuple(made)


def _part(name: str, body: str, role: str, solid: Solid, colour: str = "") -> Part:
    return Part(name, body, role, *solid, colour)


# -- bodies -----------------------------------------------------------------------------------------------------------


def _link(m: Model, link: Link, radius: float) -> Iterator[Solid]:
    points = link.points
    if link.body == GROUND:
        yield from _ground(m, points, radius)
    elif len(points) == 1:
        yield ball(points[0], 1.2 * radius)
    elif len(points) == 2:
        for start, end in _elbow(points, link.axis, 3 * radius):
            yield bar(start, end, radius)
        if link.free_end:
            yield ball(points[-1], 1.6 * radius)
    elif _rank(points, FLAT * SLENDER * radius) == 1:
        along = points[np.argsort(points @ _directions(points)[0])]
        yield bar(along[0], along[-1], radius)
    elif _rank(points, FLAT * SLENDER * radius) == 2:
        yield plate(points, 1.2 * radius, _directions(points)[2])
    else:
        middle = points.mean(axis=0)
        for p in points:
            yield bar(middle, p, radius)


def _elbow(points: Floats, axis: Floats | None, least: float) -> list[tuple[Floats, Floats]]:
    """A bar from point to point, by way of the axis where it leaves that: the offset, then the length of a Denavit-Hartenberg
    link."""
    start, end = points
    along = np.zeros(3) if axis is None else axis * ((end - start) @ axis)
    across = end - start - along
    if min(np.linalg.norm(along), np.linalg.norm(across)) < least:
        return [(start, end)]
    return [(start, start + along), (start + along, end)]


def _ground(m: Model, points: Floats, radius: float) -> Iterator[Solid]:
    """A foot under every joint on the ground, and thin bars around them."""
    feet = [(j.at.translation(), j) for j in m.joints if j.parent == GROUND]
    for at, j in feet:
        axes = np.array(j.kind.axes[0] if j.kind.axes else (0.0, 0.0, 1.0), dtype=float)
        direction = np.array(j.at.rotation(), dtype=float) @ axes / np.linalg.norm(axes)
        yield tube(np.array(at, dtype=float).ravel(), direction, 2.6 * radius, 0.9 * radius)
    if len(points) > 1:
        for start, end in _around(points, FLAT * SLENDER * radius):
            yield bar(start, end, 0.45 * radius)


def _around(points: Floats, flat: float) -> Iterator[tuple[Floats, Floats]]:
    """Bars around points of a plane; from the first to the others where they lie in none, along them where in a line."""
    rank = _rank(points, flat)
    if rank == 1:
        along = points[np.argsort(points @ _directions(points)[0])]
        yield along[0], along[-1]
    elif rank == 2:
        corners = points[hull((points - points[0]) @ _directions(points)[:2].T)]
        yield from zip(corners, np.roll(corners, -1, axis=0), strict=True)
    else:
        yield from ((points[0], p) for p in points[1:])


def _directions(points: Floats) -> Floats:
    """The principal directions of points, the longest first."""
    return np.asarray(np.linalg.svd(points - points.mean(axis=0))[2])


def _rank(points: Floats, flat: float) -> int:
    """Whether points lie on a line (1), in a plane (2) or in neither (3)."""
    spread = (points - points.mean(axis=0)) @ _directions(points).T
    return int((np.ptp(spread, axis=0) > flat).sum())


# -- joints -----------------------------------------------------------------------------------------------------------


def _joint(mark: Mark, radius: float) -> Iterator[tuple[str, Solid]]:
    """The solids of a joint and the bodies that they move with."""
    turns, slides = len(mark.rotations), len(mark.translations)
    frame = mark.on_child
    axes = mark.rotations @ frame[:3, :3].T
    at, r = frame[:3, 3], 1.55 * radius
    if (turns, slides) == (1, 0):
        yield mark.child, tube(at, axes[0], r, 3.4 * radius)
        if mark.freedom.pitch > 1e-9:
            yield from (
                (mark.child, tube(at + k * radius * axes[0], axes[0], 1.35 * r, 0.4 * radius))
                for k in (-1, 0, 1)
            )
    elif slides == 1:
        yield from _slider(mark, radius)
    elif (turns, slides) == (2, 0):
        yield from ((mark.child, tube(at, axis, 0.8 * r, 4.2 * radius)) for axis in axes)
    elif (turns, slides) == (3, 0):
        yield mark.child, ball(at, 1.9 * radius)
    elif (turns, slides) == (1, 2):
        yield mark.child, tube(at, axes[0], 3 * radius, 0.5 * radius)
    elif turns + slides == 0:
        yield mark.child, block(at, np.full(3, 2.2 * radius), frame[:3, :3])


def _slider(mark: Mark, radius: float) -> Iterator[tuple[str, Solid]]:
    """A cylinder with its rod, where the two stay apart; else a block, or a sleeve if it turns too, on a thin rail."""
    outer, inner = mark.on_child, mark.on_parent
    out, along = outer[:3, :3] @ mark.translations[0], inner[:3, :3] @ mark.translations[0]
    start, end, (low, high) = inner[:3, 3], outer[:3, 3], mark.reach
    if min(abs(low), abs(high)) > 8 * radius and low * high > 0:  # a leg, or a hydraulic cylinder
        near, stroke = (low, high - low) if low > 0 else (high, low - high)
        yield mark.parent, bar(start, start + near * along, 1.25 * radius)
        yield (
            mark.child,
            bar(end, end - (stroke + 3 * radius * np.sign(stroke)) * out, 0.75 * radius),
        )
        return
    if len(mark.rotations):
        yield mark.child, tube(end, out, 1.5 * radius, 6 * radius)
    else:
        yield mark.child, block(end, radius * np.array([2.6, 2.6, 5.0]), _along(out))
    yield mark.parent, bar(start + low * along, start + high * along, 0.55 * radius)


# -- shapes of the model ----------------------------------------------------------------------------------------------


def _shapes(m: Model) -> Iterator[Part]:
    for shape in m.shapes:
        solid = _solid(shape, m)
        if solid is not None:
            T = matrix_of(shape.at)
            yield _part(
                shape.name, shape.body, "shape", solid.moved(T[:3, :3], T[:3, 3]), shape.colour
            )


def _solid(shape: Shape, m: Model) -> Solid | None:
    """A shape at the origin of its frame; None for a mesh whose file cannot be read, which is said."""
    size = [float(x) for x in shape.size]
    makers: dict[str, Callable[[], Solid | None]] = {
        "box": lambda: primitives.box(size),
        "sphere": lambda: primitives.ball(size[0]),
        "cylinder": lambda: primitives.cylinder(size[0], size[1]),
        "capsule": lambda: primitives.capsule(size[0], size[1]),
        "mesh": lambda: _mesh(shape.file, size, m),
    }
    return makers[shape.kind]()


def _mesh(file: str, scale: Sequence[float], m: Model) -> Solid | None:
    if not Path(file).is_file():
        said = f"{m.name}: the mesh {file} is not there, and its body is drawn as a bar; `eslabon check` says where it belongs."
        warnings.warn(said, ModelWarning, stacklevel=user_stacklevel())
        return None
    reader = trimesh()
    try:
        solid = reader.load(file, force="mesh")
    except Exception as error:  # whatever a reader of a foreign file says
        said = f"{m.name}: the mesh {file} cannot be read ({error}); its body is drawn as a bar."
        warnings.warn(said, ModelWarning, stacklevel=user_stacklevel())
        return None
    solid.apply_transform(np.diag([*scale, 1.0]))
    return Solid(np.array(solid.vertices, dtype=float), np.array(solid.faces, dtype=np.int64))


# -- primitives -------------------------------------------------------------------------------------------------------


def _along(direction: Any) -> Floats:
    """A rotation that takes z onto a direction."""
    z = np.asarray(direction, dtype=float) / np.linalg.norm(direction)
    x = np.cross(np.eye(3)[np.abs(z).argmin()], z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def bar(start: Floats, end: Floats, radius: float) -> Solid:
    """A rod with round ends from point to point."""
    length = float(np.linalg.norm(end - start))
    if length < 1e-9 * radius:
        return ball(start, radius)
    return primitives.capsule(radius, length, 14, 14).moved(_along(end - start), (start + end) / 2)


def tube(at: Floats, direction: Floats, radius: float, length: float) -> Solid:
    """A cylinder about a point, along a direction."""
    return primitives.cylinder(radius, length, 28).moved(_along(direction), at)


def ball(at: Floats, radius: float) -> Solid:
    return primitives.ball(radius).moved(np.eye(3), at)


def block(at: Floats, extents: Floats, R: Floats) -> Solid:
    return primitives.box(extents).moved(R, at)


def plate(points: Floats, thickness: float, normal: Floats) -> Solid:
    """The convex plate between points of a plane, with rounded corners."""
    plane, angle = _along(normal)[:, :2], np.arange(12) * np.pi / 6
    ring = thickness * np.column_stack([np.cos(angle), np.sin(angle)]) @ plane.T
    rim = (points[:, None] + ring).reshape(-1, 3)
    return primitives.prism(rim[hull(rim @ plane)] - 0.5 * thickness * normal, thickness * normal)
