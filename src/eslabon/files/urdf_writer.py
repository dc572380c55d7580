"""A mechanism as URDF: numbers in place of parameters, loops as ``<constraint>`` elements (`eslabon.files.urdf_constraints`).

A frame becomes a link without mass on a fixed joint. Joint kinds beyond the standard have the names of Drake's URDF, or
ours: `eslabon.files.urdf` reads all of them, and `urdf_hinges` does without them. What URDF has no place for is listed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, count
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from eslabon.files.mesh_paths import named_from
from eslabon.model import GROUND, Body, Coupling, Joint, Model, Pose, Shape
from eslabon.model.closures import CLOSURES
from eslabon.model.constraints import ClosureKind
from eslabon.model.parameter_expressions import substitute
from eslabon.model.poses import ORIGIN

TYPES = {"free": "floating", "spherical": "ball", "helical": "screw"}
GRAVITY = (0.0, 0.0, -9.81)
UNBOUNDED = (
    1e30  # an effort or velocity limit that is none: the parser of ROS wants a number, and not inf
)
WORLD = "world"
OF_ONE = ("limits", "velocity_limit", "effort_limit", "viscous", "coulomb")
LOST = ("stiffness", "motor_inertia", "gear_ratio")  # of joints


def to_urdf(m: Model, folder: Path | None = None) -> str:
    """The text of a mechanism; meshes are named from `folder`."""
    robot = Element("robot", name=m.name)
    ground, couplings = _ground_link(m), _mimics(m)
    shapes = named_from(m.shapes, folder)
    _add_visuals(SubElement(robot, "link", name=ground), (x for x in shapes if x.body == GROUND))
    names = {GROUND: ground, **{b.name: b.name for b in m.bodies}}
    for body in m.bodies:
        _add_visuals(_add_body(robot, body), (x for x in shapes if x.body == body.name))
    for joint in m.joints:
        _add_joint(robot, joint, names[joint.parent], couplings.get(joint.name))
    taken = {joint.name for joint in m.joints}
    for frame in (f for f in m.frames if f.name != ground):
        SubElement(robot, "link", name=frame.name)
        candidates = chain((f"{frame.name}_frame",), (f"{frame.name}_frame{k}" for k in count(2)))
        taken.add(name := next(x for x in candidates if x not in taken))
        made = _jointed(robot, "joint", name, "fixed", (names[frame.body], frame.name))
        _add_origin(made, "origin", frame.at)
    for loop in (x for x in m.loops if x.kind.kind not in CLOSURES):
        ends = (loop.first, loop.second)
        made = _jointed(
            robot, "constraint", loop.name, loop.kind.kind, tuple(names[end.body] for end in ends)
        )
        axes = loop.kind.axes * 2 if len(loop.kind.axes) == 1 else loop.kind.axes or (None, None)
        for side, end, axis in zip(("parent", "child"), ends, axes, strict=True):
            _add_origin(made, f"{side}_origin", end.at)
            if axis is not None:
                SubElement(made, f"{side}_axis", xyz=_text(axis))
        _add_pitch(made, loop.kind)
    for name in m.actuated if m.loops else ():  # of a tree every joint is driven
        SubElement(SubElement(robot, "transmission", name=f"{name}_drive"), "joint", name=name)
    homes = {j.name: j.home for j in m.joints if j.home is not None}
    modes = {
        mode.name: dict(mode.coordinates) for mode in substitute(m.description.modes, m.values)
    }
    for state, coordinates in {**({"home": homes} if homes else {}), **modes}.items():
        made = SubElement(robot, "group_state", name=state, group="all")
        for name, values in coordinates.items():
            SubElement(made, "joint", name=name, value=_text(values))
    indent(robot)
    return '<?xml version="1.0"?>\n' + tostring(robot, encoding="unicode") + "\n"


def _ground_link(m: Model) -> str:
    """The name of the root link: `world`, as is the custom, unless a body or a frame elsewhere has it."""
    there = Pose()
    elsewhere = any(f.name == WORLD and (f.body != GROUND or f.at != there) for f in m.frames)
    return GROUND if WORLD in m.body_places or elsewhere else WORLD


def _mimics(m: Model) -> dict[str, Coupling]:
    """By joint, the coupling that its <mimic> says. A joint can have only one, so that of several others are turned round:
    a = r b + c is b = a / r - c / r. Where couplings form more than one circle some find no place."""
    given = [c for c in m.couplings if c.source is not None]
    places: dict[str, Coupling] = {}

    def place(c: Coupling, tried: set[str]) -> bool:
        for joint in (c.joint, str(c.source)):
            if joint not in tried:
                tried.add(joint)
                if joint not in places or place(places[joint], tried):
                    places[joint] = c
                    return True
        return False

    for c in given:
        place(c, set())
    return {
        joint: c
        if joint == c.joint
        else replace(c, joint=joint, source=c.joint, ratio=1 / c.ratio, offset=-c.offset / c.ratio)
        for joint, c in places.items()
    }


def not_written(m: Model) -> Iterator[str]:
    """What the mechanism has and its URDF has not."""
    mimics = _mimics(m)
    items: dict[str, Iterable[str]] = {
        "the parameters (their values are put in)": m.parameters,
        "the constraints": (x.name for x in m.loops if x.kind.kind in CLOSURES),
        "the driving constraints": (c.name for c in m.couplings if c.source is None),
        "the couplings, of which a joint can have only one,": (
            c.name
            for c in m.couplings
            if c.source is not None and c.name not in {x.name for x in mimics.values()}
        ),
        "the springs": (s.name for s in m.springs),
        "the wrenches": (w.name for w in m.wrenches),
        "stiffness, motor inertia and gear ratio of the joints": (
            j.name for j in m.joints if any(getattr(j, key) is not None for key in LOST)
        ),
        "friction and limits, which are only written of one degree of freedom, of the joints": (
            j.name for j in m.joints if j.nv > 1 and any(getattr(j, key) for key in OF_ONE)
        ),
    }
    if tuple(m.gravity) != GRAVITY:
        yield f"the gravity {_text(m.gravity)}"
    driven = [j.name for j in m.joints if j.nv and j.name not in mimics]
    if not m.loops and list(m.actuated) != driven:
        yield "which joints are actuated"
    for what, names in items.items():
        if listed := ", ".join(names):
            yield f"{what} {listed}"


def _add_body(robot: Element, body: Body) -> Element:
    link = SubElement(robot, "link", name=body.name)
    if body.mass or any(body.inertia):
        inertial = SubElement(link, "inertial")
        _add_origin(inertial, "origin", Pose(body.com))
        SubElement(inertial, "mass", value=_text([body.mass]))
        keys = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
        SubElement(
            inertial,
            "inertia",
            {key: _text([x]) for key, x in zip(keys, body.inertia, strict=True)},
        )
    return link


def _add_visuals(link: Element, shapes: Iterable[Shape]) -> None:
    for shape in (part for x in shapes for part in _standard(x)):
        visual = SubElement(link, "visual", name=shape.name)
        _add_origin(visual, "origin", shape.at)
        _add_geometry(SubElement(visual, "geometry"), shape)
        if shape.colour:
            material = SubElement(visual, "material", name=shape.colour)
            rgb = (int(shape.colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
            SubElement(material, "color", rgba=_text((*rgb, 1.0)))


def _standard(shape: Shape) -> Iterator[Shape]:
    """A shape of those that every reader of URDF knows: a capsule is a cylinder between two spheres."""
    if shape.kind != "capsule":
        yield shape
        return
    radius, length = shape.size
    yield replace(shape, kind="cylinder")
    for end, z in (("lower", -length / 2), ("upper", length / 2)):
        yield replace(
            shape,
            name=f"{shape.name}_{end}",
            kind="sphere",
            size=(radius,),
            at=shape.at @ Pose((0.0, 0.0, z)),
        )


def _add_geometry(geometry: Element, shape: Shape) -> None:
    if shape.kind == "box":
        SubElement(geometry, "box", size=_text(shape.size))
    elif shape.kind == "mesh":
        name = (
            shape.file
            if "://" in shape.file or not Path(shape.file).is_absolute()
            else f"file://{shape.file}"
        )
        SubElement(geometry, "mesh", filename=name, scale=_text(shape.size))
    else:
        keys = ("radius", "length")
        SubElement(
            geometry,
            shape.kind,
            {key: _text([x]) for key, x in zip(keys, shape.size, strict=False)},
        )


def _add_joint(robot: Element, j: Joint, parent: str, coupling: Coupling | None) -> None:
    kind = j.kind.kind
    made = _jointed(
        robot,
        "joint",
        j.name,
        "continuous" if kind == "revolute" and not j.limits else kind,
        (parent, j.child),
    )
    _add_origin(made, "origin", j.at)
    for tag, axis in zip(("axis", "axis2"), j.kind.axes, strict=False):
        SubElement(made, tag, xyz=_text(axis))
    _add_pitch(made, j.kind)
    if j.nv != 1:
        return
    limits = {"velocity": j.velocity_limit, "effort": j.effort_limit}
    if j.limits or any(limits.values()) or kind == "prismatic":
        bounds = {
            key: _text([x])
            for key, x in zip(("lower", "upper"), (j.limits or ((),))[0], strict=False)
        }
        SubElement(
            made, "limit", bounds | {key: _text(x or [UNBOUNDED]) for key, x in limits.items()}
        )
    friction = {"damping": j.viscous, "friction": j.coulomb}
    if any(friction.values()):
        SubElement(made, "dynamics", {key: _text(x) for key, x in friction.items() if x})
    if coupling is not None:
        values = {"multiplier": [coupling.ratio], "offset": [coupling.offset]}
        given = {"joint": str(coupling.source)} | {key: _text(x) for key, x in values.items()}
        SubElement(made, "mimic", given)


def _jointed(robot: Element, tag: str, name: str, kind: str, links: tuple[str, ...]) -> Element:
    made = SubElement(robot, tag, name=name, type=TYPES.get(kind, kind))
    for side, link in zip(("parent", "child"), links, strict=True):
        SubElement(made, side, link=link)
    return made


def _add_origin(owner: Element, tag: str, at: Pose) -> None:
    parts = {"xyz": at.position, "rpy": at.rpy}
    if at != Pose():
        SubElement(owner, tag, {key: _text(x) for key, x in parts.items() if x != ORIGIN})


def _add_pitch(owner: Element, kind: ClosureKind) -> None:
    if hasattr(kind, "pitch"):
        SubElement(owner, "screw_thread_pitch", value=_text([kind.pitch * 2 * math.pi]))


def _text(values: Iterable[float]) -> str:
    return " ".join(repr(float(x)) for x in values)
