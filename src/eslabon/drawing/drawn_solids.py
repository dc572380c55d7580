"""Mechanisms as solids in a scene of viser: a node for every body, its triangles below it, so that to move is to pose the bodies."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from eslabon.errors import InputError, MissingDependencyError
from eslabon.model import Model
from eslabon.numerics.rotations import quaternion_from_rotation
from eslabon.plotting import DARK, LIGHT, Theme
from eslabon.scene import Part, Scene, SpringMark, body_poses, moved, scene_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from viser import ViserServer
    from websockets.asyncio.server import ServerConnection
    from websockets.http11 import Request, Response

    RequestHandler = Callable[[ServerConnection, Request], Response | None]

Floats = np.ndarray[Any, np.dtype[np.float64]]
HOST = "127.0.0.1"
FIELD = 0.6  # rad, of the camera
ROOM = 1.12  # around what is shown
ASPECT = 1.25  # of a window that is not wide, all the same
SHARP = 0.6  # rad, between two faces that meet in an edge
COILS = 8
_STARTING = threading.Lock()  # held while a server of viser starts


# -- the server -------------------------------------------------------------------------------------------------------


def refuse_everyone(serve: RequestHandler) -> RequestHandler:
    """The guard of a server that only composes a scene and serves no page."""
    return lambda connection, request: connection.respond(403, "This server has no page to show.\n")


def open_server(
    label: str,
    port: int = 0,
    dark: bool = False,
    guard: Callable[[RequestHandler], RequestHandler] = refuse_everyone,
) -> ViserServer:
    """A server of viser that only this machine reaches, at a port (0: any that is free).

    `guard` wraps the function that answers requests, those for a WebSocket included.
    """
    try:
        import viser
    except ImportError:
        raise MissingDependencyError(
            "a view in the browser needs viser; pip install 'eslabon[view]'."
        ) from None

    class Loopback(viser.ViserServer):
        def request_share_url(self, verbose: bool = True) -> str | None:
            """What is shown stays on this machine, whatever a page asks for."""
            return None

    if port:
        _check_free(port)
    talk = logging.getLogger("websockets.server")
    if talk.level == logging.NOTSET:
        talk.setLevel(
            logging.CRITICAL
        )  # a page that is closed while it connects is nothing to trace back
    with quiet(), _guarded_requests(guard) as handlers:
        server = Loopback(host=HOST, port=port, label=label, verbose=False)
    if not handlers:
        close_server(server)
        raise MissingDependencyError(
            f"viser {viser.__version__} starts its server in a way that eslabon cannot guard; install viser 1.1."
        )
    if port and server.get_port() != port:
        close_server(server)
        raise _busy(port)
    server.gui.configure_theme(
        dark_mode=dark, show_logo=False, show_share_button=False, brand_color=(0, 114, 178)
    )
    return server


def close_server(server: ViserServer) -> None:
    """Stop a server and its threads."""
    with quiet():
        server.stop()


@contextmanager
def _guarded_requests(
    guard: Callable[[RequestHandler], RequestHandler],
) -> Iterator[list[RequestHandler]]:
    """Put a guard around what viser's server answers while it starts; the guarded handlers are the list.

    viser has no option for it, but passes its handler to `websockets.asyncio.server.serve`.
    """
    import websockets.asyncio.server as websocket_server

    handlers: list[RequestHandler] = []

    def guarded_serve(*arguments: Any, process_request: RequestHandler, **options: Any) -> Any:
        handlers.append(guard(process_request))
        return plain_serve(*arguments, process_request=handlers[-1], **options)

    with _STARTING:
        plain_serve = websocket_server.serve
        websocket_server.serve = guarded_serve  # type: ignore[assignment, misc]
        try:
            yield handlers
        finally:
            websocket_server.serve = plain_serve  # type: ignore[misc]


@contextmanager
def quiet() -> Iterator[None]:
    """Without what viser prints of its own accord."""
    import rich

    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before


def _check_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            raise _busy(port) from None


def _busy(port: int) -> InputError:
    return InputError(
        f"port {port} is taken, or not ours to take; choose another one, or leave it out for a free one."
    )


# -- mechanisms -------------------------------------------------------------------------------------------------------


@dataclass
class Placed:
    """A mechanism in a scene: `update` moves it. `name` is its node, `offset` where its ground stands."""

    server: ViserServer
    m: Model
    name: str
    theme: Theme
    scene: Scene
    offset: Floats
    primitives: bool = False
    bodies: list[Any] = field(default_factory=list)  # a node each, the ground first
    solids: dict[tuple[str, str, str], Any] = field(
        default_factory=dict
    )  # by body, role and colour
    shading: dict[tuple[str, str, str], Shading] = field(default_factory=dict)
    springs: list[Any] = field(default_factory=list)

    def node(self, item: str) -> str:
        """The name of an item's node; a slash in its own name would make another one of it."""
        return f"{self.name}/{item.replace('/', '_')}"

    def update(self, q: Any) -> None:
        """Stand at a configuration."""
        self.place(body_poses(self.m, q))

    def place(self, poses: Floats) -> None:
        """The bodies at poses (bodies + 1, 4, 4)."""
        turns = quaternion_from_rotation(poses[:, :3, :3])
        with self.server.atomic():
            for node, turn, pose in zip(self.bodies[1:], turns[1:], poses[1:], strict=True):
                node.wxyz, node.position = turn, pose[:3, 3]
            for node, spring in zip(self.springs, self.scene.springs, strict=True):
                _stretch(node, *_ends(self.scene, spring, poses), self.scene.size)

    def reshape(self, m: Model) -> bool:
        """The same mechanism with other dimensions; False where its solids are others, and it has to be added anew."""
        scene = scene_of(m)
        groups = _grouped(scene.primitives if self.primitives else scene.parts)
        if groups.keys() != self.solids.keys() or len(scene.springs) != len(self.springs):
            return False
        self.m, self.scene = m, scene
        for key, parts in groups.items():
            vertices, faces = _merged(parts)
            if not np.array_equal(faces, self.shading[key].faces):
                self.shading[key] = Shading.of(vertices, faces)
                self.solids[key].faces = self.shading[key].shaded
            self.solids[key].vertices = self.shading[key].at(vertices)
        return True

    def remove(self) -> None:
        """Take it out of the scene."""
        self.server.scene.remove_by_name(self.name)


def add_mechanism(
    server: ViserServer, m: Model, name: str, *, theme: Theme = LIGHT, offset: Sequence[float] = (0.0, 0.0, 0.0),
    primitives: bool = False,
) -> Placed:  # fmt: skip
    """A mechanism put into the scene of a server, at home: solids of the model where it has them, else, or with `primitives` for
    all bodies, neat ones between its joints."""
    scene, root = scene_of(m), "/" + name.strip("/")
    server.scene.add_frame(root, show_axes=False, position=np.asarray(offset, dtype=float))
    placed = Placed(server, m, root, theme, scene, np.asarray(offset, dtype=float), primitives)
    for body in scene.bodies:
        placed.bodies.append(server.scene.add_frame(placed.node(body), show_axes=False))
    for (body, role, colour), parts in _grouped(
        scene.primitives if primitives else scene.parts
    ).items():
        vertices, faces = _merged(parts)
        shading = placed.shading[body, role, colour] = Shading.of(vertices, faces)
        placed.solids[body, role, colour] = server.scene.add_mesh_simple(
            f"{placed.node(body)}/{role}{colour.strip('#')}", shading.at(vertices), shading.shaded,
            color=rgb(colour or theme.role(_role(role))),
        )  # fmt: skip
    vertices, faces = _coil()
    for spring in scene.springs:
        node = server.scene.add_mesh_simple(
            placed.node(f"spring {spring.name}"),
            vertices,
            faces,
            color=rgb(theme.role("spring")),
            side="double",
        )
        placed.springs.append(node)
    placed.place(body_poses(m, m.home()))
    return placed


def _role(role: str) -> str:
    return "link" if role == "shape" else role


def _grouped(parts: Sequence[Part]) -> dict[tuple[str, str, str], list[Part]]:
    """One mesh for all that moves together and has one colour."""
    groups: dict[tuple[str, str, str], list[Part]] = {}
    for part in parts:
        groups.setdefault((part.body, part.role, part.colour), []).append(part)
    return groups


def _merged(parts: Sequence[Part]) -> tuple[Floats, Floats]:
    """The triangles of several solids in one mesh."""
    starts = np.cumsum([0, *(len(part.vertices) for part in parts)])
    faces = [part.faces + start for part, start in zip(parts, starts, strict=False)]
    return np.concatenate([part.vertices for part in parts]), np.concatenate(faces)


class Shading(NamedTuple):
    """Faces, and the same faces on vertices doubled along sharp edges, so that round is shaded round and flat is flat: `origin` says
    which vertex each one was."""

    faces: Floats
    origin: Floats
    shaded: Floats

    @staticmethod
    def of(vertices: Floats, faces: Floats) -> Shading:
        import trimesh
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        solid = trimesh.Trimesh(vertices, faces, process=False)
        smooth = solid.face_adjacency[solid.face_adjacency_angles < SHARP]
        meeting = coo_array(
            (np.ones(len(smooth)), (smooth[:, 0], smooth[:, 1])), shape=(len(faces), len(faces))
        )
        surface = connected_components(meeting, directed=False)[1]
        corners = np.stack([np.repeat(surface, 3), faces.ravel()], axis=-1)
        found, places = np.unique(corners, axis=0, return_inverse=True)
        return Shading(faces, found[:, 1], places.reshape(-1, 3).astype(np.uint32))

    def at(self, vertices: Floats) -> Floats:
        return vertices[self.origin].astype(np.float32)


def rgb(colour: str) -> tuple[int, int, int]:
    """A colour as three numbers.

    >>> rgb("#d55e00")
    (213, 94, 0)
    """
    red, green, blue = bytes.fromhex(colour.lstrip("#"))
    return red, green, blue


# -- springs ----------------------------------------------------------------------------------------------------------


def _ends(scene: Scene, spring: SpringMark, poses: Floats) -> tuple[Floats, Floats]:
    """Where a spring begins and ends on the ground."""
    start = moved(poses[scene.bodies.index(spring.first)], spring.start[None])[0]
    return start, moved(poses[scene.bodies.index(spring.second)], spring.end[None])[0]


def _coil() -> tuple[Floats, Floats]:
    """A coil of unit length along z and unit radius, as a strip of triangles that a few numbers stretch."""
    turns = np.linspace(0.0, 1.0, 24 * COILS + 1)
    inner = np.clip(np.minimum(turns, 1 - turns) / 0.06, 0.0, 1.0)
    angle = 2 * np.pi * COILS * turns
    spine = np.stack([inner * np.cos(angle), inner * np.sin(angle), turns], axis=-1)
    wide = np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=-1) * 0.16
    tall = np.array([0.0, 0.0, 0.35 / COILS])
    rim = np.stack(
        [spine + wide, spine + tall / 2, spine - wide, spine - tall / 2], axis=1
    )  # four edges
    k, j = np.meshgrid(np.arange(len(turns) - 1), np.arange(4), indexing="ij")
    a, b = 4 * k + j, 4 * k + (j + 1) % 4
    faces = np.concatenate(
        [np.stack([a, b, a + 4], -1).reshape(-1, 3), np.stack([b, b + 4, a + 4], -1).reshape(-1, 3)]
    )
    return rim.reshape(-1, 3), faces


def _stretch(node: Any, start: Floats, end: Floats, size: float) -> None:
    length = max(float(np.linalg.norm(end - start)), 1e-6 * size)
    z = (end - start) / length
    x = np.cross(np.eye(3)[np.abs(z).argmin()], z)
    x /= np.linalg.norm(x)
    node.wxyz = quaternion_from_rotation(np.column_stack([x, np.cross(z, x), z]))
    node.position, node.scale = start, (size / 35, size / 35, length)


# -- the stage --------------------------------------------------------------------------------------------------------


class Extent(NamedTuple):
    """The points of what is shown, its box, and the directions right, up and towards the camera."""

    points: Floats
    low: Floats
    high: Floats
    right: Floats
    up: Floats
    normal: Floats
    flat: bool

    @property
    def centre(self) -> Floats:
        return (self.low + self.high) / 2

    @property
    def radius(self) -> float:
        return max(float(np.linalg.norm(self.high - self.low)) / 2, 1e-6)

    def camera(self, room: float = ROOM) -> tuple[Floats, Floats]:
        """From where a camera sees all of it, with some room around, and where it looks."""
        right = np.cross(self.up, self.normal) / np.linalg.norm(np.cross(self.up, self.normal))
        axes = np.stack([right, np.cross(self.normal, right), self.normal])
        seen = self.points @ axes.T
        middle = (seen.min(axis=0) + seen.max(axis=0)) / 2
        across = np.abs(seen - middle) / (np.tan(FIELD / 2) * np.array([ASPECT, 1.0, np.inf]))
        far = max(
            float((across.max(axis=1) * room + (seen - middle)[:, 2]).max()), room * self.radius
        )
        return axes.T @ middle + far * self.normal, axes.T @ middle


def extent_of(
    scenes: Sequence[Scene], poses: Sequence[Floats], offsets: Sequence[Floats]
) -> Extent:
    """The extent of mechanisms at poses (..., bodies + 1, 4, 4). A plane that all of them move in faces the camera; else z is up."""
    points = [
        (moved(pose[..., k, :, :], corners) + offset).reshape(-1, 3)
        for scene, pose, offset in zip(scenes, poses, offsets, strict=True)
        for k, corners in enumerate(_corners(scene))
        if len(corners)
    ]
    every = np.concatenate(points)
    planes = [scene.plane for scene in scenes]
    first = planes[0]
    margin = max(scene.size for scene in scenes) / 40
    low, high = every.min(axis=0) - margin, every.max(axis=0) + margin
    every = np.concatenate([every - margin, every + margin])
    if first is not None and all(p is not None and np.allclose(p, first) for p in planes):
        return Extent(every, low, high, first[0], first[1], first[2], True)
    towards = np.array([0.75, -1.0, 0.55])
    right = np.cross([0.0, 0.0, 1.0], towards) / np.linalg.norm(towards[:2])
    return Extent(
        every, low, high, right, np.array([0.0, 0.0, 1.0]), towards / np.linalg.norm(towards), False
    )


def _corners(scene: Scene) -> list[Floats]:
    """For each body the points where something is attached, and the corners of the boxes around its solids."""
    made = [[link.points] for link in scene.links]
    for part in scene.parts:
        low, high = part.vertices.min(axis=0), part.vertices.max(axis=0)
        choices = np.array(np.meshgrid([0, 1], [0, 1], [0, 1])).reshape(3, -1).T
        made[scene.bodies.index(part.body)].append(np.where(choices, high, low))
    return [np.concatenate(points) for points in made]


def set_stage(server: ViserServer, extent: Extent, theme: Theme, room: float = ROOM) -> None:
    """Camera, light and a grid: on the floor below spatial mechanisms, behind those that move in a plane."""
    scene, camera, radius = server.scene, server.initial_camera, extent.radius
    scene.world_axes.visible = False
    scene.set_up_direction(extent.up)
    camera.up, camera.fov = extent.up, FIELD
    camera.position, camera.look_at = extent.camera(room)
    camera.near, camera.far = radius / 50, 200 * radius
    axes = np.column_stack([extent.right, extent.up, extent.normal])
    below = extent.normal * (_lowest(extent, extent.normal) - 0.02 * radius)
    if not extent.flat:
        axes, below = np.eye(3), np.array([0.0, 0.0, min(_lowest(extent, extent.up), 0.0)])
    cell = _round(radius / 4)
    scene.add_grid(
        "/grid", infinite_grid=True, cell_size=cell, section_size=5 * cell, cell_thickness=0.6, section_thickness=1.0,
        fade_distance=12 * radius, cell_color=rgb(theme.grid), section_color=rgb(theme.roles["ghost"]),
        shadow_opacity=0.0 if extent.flat else 0.15, wxyz=quaternion_from_rotation(axes), position=below,
    )  # fmt: skip


def _lowest(extent: Extent, direction: Floats) -> float:
    """How far down a direction the box reaches."""
    return float(np.minimum(extent.low * direction, extent.high * direction).sum())


def _round(length: float) -> float:
    """A length of one digit, 1, 2 or 5.

    >>> _round(0.037), _round(7.0)
    (0.05, 5.0)
    """
    power = 10.0 ** np.floor(np.log10(length))
    return float(power * min((1, 2, 5, 10), key=lambda digit: abs(np.log(digit * power / length))))


THEMES = {False: LIGHT, True: DARK}
