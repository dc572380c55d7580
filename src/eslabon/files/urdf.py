"""URDF, in and out: a robot as ROS and its friends write it, with closed loops inside it or beside
it (`urdf_loops`).

Links become bodies, joints become joints (`urdf_joints`), visuals become shapes (`urdf_visuals`).
Elements and attributes that are neither read nor harmless to the motion of rigid bodies
(`urdf_elements.HARMLESS`) are left out with a warning, or refused where ``strict=True`` asks for
that. The XML is parsed with defusedxml, which refuses entities and DTDs.

Where the specification leaves room:

* The root link is a body on the ground, held by a joint called ``root_joint`` of the kind ``base``
  says. A root called ``ground``, or ``world`` if it has no inertia, is the ground itself, and
  ``world`` stays as a frame's name.
* A revolute or prismatic joint whose ``<limit>`` gives neither lower nor upper has no limits. (By
  the letter both are 0 and the joint could not move; every program that leaves them out means no
  limits.) If one is given, the other is 0. A lower limit above the upper one is read as no limit,
  as several exporters mean it, and a warning says so.
* A ``world`` that a joint hangs on and that no ``<link>`` declares is the ground; a warning says
  so.
* A link that is the child of several joints hangs on one of them; the others are cut and close
  loops (`spanning_tree`).
* With loops, a joint's angles that are quarter turns rounded to four decimals or more (1.5708,
  3.14159) are quarter turns, and a warning says so: a linkage whose axes are parallel but for
  rounding does not close. Without loops all numbers are as written, so that results compare to
  those of other programs.
* A ``<group_state>``, as in SRDF, is a mode; that of the name ``home`` is where the joints start.
* Without motors named in the YAML every joint of a tree has one, except those that float, those
  that mimic another joint, and the root's; of a mechanism with loops those joints that a
  ``<transmission>`` names.
* Joint types beyond the standard are those of Drake: ``ball``, ``universal`` (about x, then y,
  unless ``<axis>`` and ``<axis2>`` say otherwise) and ``screw`` with ``<screw_thread_pitch value>``
  in metres a turn; also ``spherical``, ``helical`` and ``cylindrical`` as other names or kinds of
  the same sort.

Written, numbers stand in place of parameters, loops are ``<constraint>`` elements, and a frame is a
link without mass on a fixed joint. Joints that the parser of ROS does not read have the names of
Drake's URDF, or are hinges (`urdf_hinges`)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import chain, count
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np

from eslabon.arguments import known_words
from eslabon.errors import ModelError, ReadError, format_value, located, suggest
from eslabon.files.diagnostics import Diagnostics
from eslabon.files.meshes import named_from
from eslabon.files.options import UrdfOptions, UrdfWriteOptions
from eslabon.files.spanning_tree import DirectedJoint, spanning_tree
from eslabon.files.urdf_elements import (
    KINDS,
    add_origin,
    elements_by_name,
    leave_out_unread,
    numbers,
    pose_of,
)
from eslabon.files.urdf_hinges import as_hinges, lost_with_hinges, unread_joints
from eslabon.files.urdf_joints import (
    actuate,
    add_cut_joint,
    add_joint,
    add_mimics,
    driven_joints,
    pass_over_plugins,
    read_states,
    write_joint,
    write_jointed,
    write_states,
)
from eslabon.files.urdf_loops import DIALECTS, Closures, add_loop_element, read_closures, write_loop
from eslabon.files.urdf_visuals import add_visuals, check_meshes, write_visuals
from eslabon.files.xml_elements import XmlElement, read_xml
from eslabon.model import GROUND, Body, Builder, Coupling, Description, Model, Pose
from eslabon.model.closures import CLOSURES
from eslabon.model.parameter_expressions import substitute
from eslabon.model.poses import ORIGIN
from eslabon.model.validation import (
    nearest_inertia,
    principal_moments,
    round_off_moment,
)
from eslabon.numerics.tolerances import INPUT_DIGITS

WORLD = "world"
HOME = "home"  # the <group_state> that joints start from; others are modes
# Of the way to the farthest point of a body: the radius of the sphere that a repaired point mass is
BALL = 0.1
MOMENTS = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
GRAVITY = (0.0, 0.0, -9.81)
OF_ONE = ("limits", "velocity_limit", "effort_limit", "viscous", "coulomb")
LOST = ("stiffness", "motor_inertia", "gear_ratio")  # of joints, when written
# Where the fields of a body stand in its link
FIELDS = {
    "mass": ("inertial", "mass"),
    "com": ("inertial", "origin"),
    "inertia": ("inertial", "inertia"),
}
Elements = Mapping[str, XmlElement]  # by name
Ends = Mapping[str, tuple[str, str]]  # a joint's parent and child links


# -- reading ---------------------------------------------------------------------------------------


def read_urdf(options: UrdfOptions, diagnostics: Diagnostics) -> Description:
    """The mechanism that the URDF file of the diagnostics' source describes."""
    path, base = diagnostics.source.path, options.base
    repairs: list[str] | None = [] if options.repair else None
    robot = _robot(path, diagnostics)
    links, joints = (elements_by_name(robot, tag, diagnostics) for tag in ("link", "joint"))
    links = _with_world(robot, links, joints, diagnostics)
    ends = _all_ends(joints, links, diagnostics)
    joints = {name: joints[name] for name in ends}
    root, ground = next(iter(links), GROUND), None
    with diagnostics.reading():
        root = _root(links, ends)
        ground = root if _is_ground(root, links, base) else None
    bodies = _body_names(links, ground)
    transmitted = driven_joints(robot, joints, diagnostics)
    carrying, cut = _tree(ends, root, transmitted)
    moving = [
        name for name in carrying if KINDS.get(joints[name].attrib.get("type", "")) != "fixed"
    ]
    closures = Closures()
    with diagnostics.reading():
        closures = read_closures(options.loops, moving, [*links, *joints], diagnostics)
    loops = {
        dialect: elements_by_name(robot, dialect.element, diagnostics)
        for dialect in DIALECTS
        if options.loops is not False
    }
    if options.loops is False:
        robot.pass_over(*(dialect.element for dialect in DIALECTS))
    if closures.cuts or cut or any(loops.values()):
        _round_turns([joints, *loops.values()], diagnostics)

    b, states = Builder(robot.attrib.get("name") or path.stem), read_states(robot, diagnostics)
    _add_bodies(b, links, bodies, root, joints, ends, base, repairs, diagnostics)
    for name in carrying:
        joint, home = joints[name], states.get(HOME, {}).get(name)
        parent, child = (bodies[link] for link in ends[name])
        with diagnostics.reading(*joint.place, item=("joints", name)):
            add_joint(b, name, joint, (parent, child), closures, home, diagnostics)
    for name in cut:
        joint, (parent, child) = joints[name], ends[name]
        kept = next(x for x in carrying if ends[x][1] == child)
        diagnostics.warn(
            f"the link '{child}' is the child of the joints '{kept}' and '{name}'; '{name}' is cut and closes a loop.",
            *joint.place,
        )
        with diagnostics.reading(*joint.place, item=("loops", name)):
            add_cut_joint(b, name, joint, (bodies[parent], bodies[child]), diagnostics)
    mimics = add_mimics(b, joints, cut, diagnostics)
    _add_loops(b, closures, links, ends, bodies, diagnostics)
    for dialect, elements in loops.items():
        for name, element in elements.items():
            with diagnostics.reading(*element.place, item=("loops", name)):
                add_loop_element(b, dialect, name, element, bodies)
                diagnostics.source.write_down(("loops", name), element.place)
    for name, state in states.items():
        if name != HOME:
            with diagnostics.reading("modes", name, item=("modes", name)):
                b.mode(name, {joint: x for joint, x in state.items() if joint not in cut})
    add_visuals(b, robot, links, bodies, diagnostics, options.packages)
    closed = bool(cut) or any(loops.values())
    actuate(b, joints, moving, mimics, closures, transmitted if closed else None, diagnostics)
    pass_over_plugins(robot)
    _read_virtual_joints(robot, base, diagnostics)
    leave_out_unread(robot, diagnostics)
    if diagnostics.collect:
        check_meshes(links, diagnostics, options.packages)
    return replace(b.describe(), note=_note(links, bodies, ground, repairs, diagnostics))


def _robot(path: Path, diagnostics: Diagnostics) -> XmlElement:
    """The <robot> element of a file."""
    robot = read_xml(path.read_bytes(), diagnostics.source)
    if robot.word != "robot":
        raise robot.error(
            f"the first element is <{robot.word}>; a URDF starts with <robot name=...>."
        )
    for element in robot:
        namespace, _, name = element.tag.rpartition("}")
        if namespace.endswith("xacro"):
            sentence = f"this is a xacro file (it has <xacro:{name}>); expand it with xacro first."
            raise ReadError(sentence).at(*element.place)
    return robot


def _read_virtual_joints(robot: XmlElement, base: str, diagnostics: Diagnostics) -> None:
    """How SRDF says that the root stands on the ground: the option `base` must say it too."""
    for joint in robot.children("virtual_joint"):
        kind = joint.optional_text("type")
        robot.marks.passed_over.add(joint)
        if KINDS.get(kind, kind) != base:
            diagnostics.leave_out(
                f"{joint.what} is {format_value(kind)} and is not read; the base is {base}, "
                "as the option base= says.",
                *joint.place,
            )


def _with_world(
    robot: XmlElement,
    links: dict[str, XmlElement],
    joints: Elements,
    diagnostics: Diagnostics,
) -> dict[str, XmlElement]:
    """The links, and the link `world` where a joint hangs on it and nobody declared it."""
    parents = [parent for joint in joints.values() for parent in joint.children("parent")]
    there = [parent for parent in parents if parent.attrib.get("link") == WORLD]
    if WORLD in links or not there:
        return links
    sentence = "no link is called 'world', and a joint hangs on it; it is read as the ground."
    diagnostics.warn(sentence, *there[0].place)
    world = XmlElement("link", {"name": WORLD})
    world.parent = robot
    return {WORLD: world, **links}


def _all_ends(
    joints: Elements, links: Elements, diagnostics: Diagnostics
) -> dict[str, tuple[str, str]]:
    """The parent and child links of the joints."""
    ends = {}
    for name, joint in joints.items():
        with diagnostics.reading(*joint.place, item=("joints", name)):
            sides = [joint.child(tag) for tag in ("parent", "child")]
            own = [side.text_of("link") for side in sides]
            for side, link in zip(sides, own, strict=True):
                with located(*side.place):
                    known_words([link], links, f"{joint.what} joins the unknown link", ReadError)
            ends[name] = (own[0], own[1])
    return ends


def _tree(ends: Ends, root: str, driven: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The joints that carry their child, and those that are cut since another one does."""
    if len({child for _, child in ends.values()}) == len(ends):
        return list(ends), []
    return spanning_tree([DirectedJoint(name, *own) for name, own in ends.items()], root, driven)


def _body_names(links: Elements, ground: str | None) -> dict[str, str]:
    """What each link is called here: `ground` is the fixed frame's name, and a moving link of that
    name gets another."""
    taken = (f"ground_link{k}" for k in ("", *range(2, len(links) + 3)))
    other = next(name for name in taken if name not in links)
    return {name: GROUND if name == ground else other if name == GROUND else name for name in links}


def _note(
    links: Elements,
    bodies: Mapping[str, str],
    ground: str | None,
    repairs: list[str] | None,
    diagnostics: Diagnostics,
) -> str:
    """Where the numbers come from, and what was changed; repairs are a warning too."""
    changed = []
    if repairs:
        diagnostics.warn(f"repaired: {'; '.join(repairs)}.")
        changed.append(f"Repaired: {'; '.join(repairs)}.")
    if GROUND in links and ground != GROUND:
        changed.append(
            f"The link 'ground' is called '{bodies[GROUND]}', for 'ground' is the fixed frame's name."
        )
    return " ".join([f"Read from {diagnostics.source.path.name}.", *changed])


def _add_bodies(
    b: Builder,
    links: Elements,
    bodies: Mapping[str, str],
    root: str,
    joints: Elements,
    ends: Ends,
    base: str,
    repairs: list[str] | None,
    diagnostics: Diagnostics,
) -> None:
    """The bodies, and the joint that carries the root."""
    extents = _extents(links, joints, ends)
    for name, link in links.items():
        diagnostics.source.write_down(("bodies", bodies[name]), link.place, FIELDS)
        if bodies[name] != GROUND:
            with diagnostics.reading(*link.place, item=("bodies", bodies[name])):
                data = _inertial(link, extents[name], repairs, diagnostics)
                diagnostics.add_item(b, "bodies", bodies[name], data)
    if GROUND not in bodies.values():
        taken = (f"root_joint{k}" for k in ("", *range(2, len(joints) + 3)))
        b.joint(
            next(name for name in taken if name not in joints), base, GROUND, bodies.get(root, root)
        )
    elif root != GROUND:
        b.frame(root, GROUND)
        diagnostics.source.write_down(("frames", root), links[root].place)


# -- links -----------------------------------------------------------------------------------------


def _extents(links: Elements, joints: Elements, ends: Ends) -> dict[str, float]:
    """How far a link reaches from its origin: to the joints it carries and to its centre of mass;
    of one that says nothing of that, as far as the farthest does."""
    found = dict.fromkeys(links, 0.0)
    with suppress(ReadError):  # the link or joint itself is about to say what is wrong
        for name, link in links.items():
            origin = link.child("inertial").child("origin")
            found[name] = math.hypot(*origin.numbers("xyz", 3, ORIGIN))
        for name, joint in joints.items():
            parent = ends[name][0]
            reach = math.hypot(*joint.child("origin").numbers("xyz", 3, ORIGIN))
            found[parent] = max(found[parent], reach)
    farthest = max(found.values(), default=0.0) or 1.0
    return {name: x or farthest for name, x in found.items()}


def _inertial(
    link: XmlElement, extent: float, repairs: list[str] | None, diagnostics: Diagnostics
) -> dict[str, Any]:
    """Mass, centre of mass and inertia in the link's own axes; what is not given is zero."""
    inertial = link.child("inertial")
    at, mass, inertia = Pose(), inertial.child("mass"), inertial.child("inertia")
    with diagnostics.reading():
        at = pose_of(inertial.child("origin"))
    made: dict[str, Any] = {"com": at.position}
    if mass.present:
        with diagnostics.reading():
            made["mass"] = _entry(mass, "value", repairs)
    if inertia.present or (repairs is not None and made.get("mass")):
        with diagnostics.reading(*inertia.place):
            moments: tuple[float, ...] = (0.0,) * 6
            if inertia.present:
                moments = tuple(_entry(inertia, key, repairs) for key in MOMENTS)
            body = Body("", made.get("mass", 0.0), at.position, moments)
            made["inertia"] = moments = _admissible(body, extent, link.what, repairs)
            if at.rpy != ORIGIN:
                R = at.rotation()
                with np.errstate(all="ignore"):  # what overflows is refused by the model
                    I = R @ Body("", inertia=moments).inertia_matrix() @ R.T
                    made["inertia"] = (I + I.T) / 2
    return made


def _entry(element: XmlElement, key: str, repairs: list[str] | None) -> float:
    """A number of mass or inertia; where it is not there and may be repaired, zero."""
    if repairs is not None and not element.optional_text(key).strip():
        repairs.append(f"{element.what} has no {key}, which is 0 now")
        return 0.0
    return element.number(key)


def _admissible(
    body: Body, extent: float, what: str, repairs: list[str] | None
) -> tuple[float, ...]:
    """The moments without round-off; if they may be repaired, those of a solid body, and what was
    changed is listed."""
    noise = round_off_moment(body, extent)
    moments = tuple(0.0 if abs(x) <= noise else x for x in body.inertia)
    xx, yy, zz, xy, xz, yz = moments
    rows = (xx - abs(xy) - abs(xz), yy - abs(xy) - abs(yz), zz - abs(xz) - abs(yz))
    if repairs is None and min(rows) >= 0:  # by Gershgorin's circles no principal value is negative
        return moments
    values = principal_moments([Body("", inertia=moments)])[0]
    small, middle, large = values
    slack = INPUT_DIGITS * np.abs(values).max()
    if repairs is None:
        if small < -slack:
            raise ModelError(
                f"{what}: the inertia has the negative principal value {small:g}; check its entries and that it is about "
                "the centre of mass, or take the nearest inertia that a body can have with repair=True."
            )
        return moments
    if small < -slack or large > small + middle + slack:
        I = nearest_inertia(Body("", inertia=moments).inertia_matrix())
        moments = (*np.diag(I).tolist(), float(I[0, 1]), float(I[0, 2]), float(I[1, 2]))
        new = principal_moments([Body("", inertia=moments)])[0]
        why = "is negative" if small < -slack else "exceeds the sum of the others"
        repairs.append(
            f"{what}: the principal moments of inertia {_listed(values)}, of which one {why}, are {_listed(new)} now"
        )
    if body.mass > 0 and not any(moments):
        radius = BALL * extent
        moments = (0.4 * body.mass * radius * radius,) * 3 + (0.0,) * 3
        repairs.append(
            f"{what} has a mass and no inertia, which is that of a solid sphere of radius {radius:.4g} m now"
        )
    return moments


def _listed(values: Iterable[float]) -> str:
    return ", ".join(f"{x:.4g}" for x in values)


# -- joints and loops ------------------------------------------------------------------------------


def _round_turns(sections: list[Any], diagnostics: Diagnostics) -> None:
    """Quarter turns in the rpy of joints and loops as exact as they are meant, where they are
    rounded."""
    rounded: dict[str, str] = {}
    for origin in (
        e
        for elements in sections
        for joint in elements.values()
        for e in joint.iter()
        if e.word.endswith("origin")
    ):
        texts = origin.get("rpy", "").split()
        for text in texts:
            if (exact := _quarter_turns(text)) is not None:
                rounded[text] = repr(exact)
        if rounded.keys() & set(texts):
            origin.set("rpy", " ".join(rounded.get(text, text) for text in texts))
    if rounded:
        few = ", ".join(list(rounded)[:4]) + ", ..." * (len(rounded) > 4)
        diagnostics.warn(
            f"the angles {few} of joints are read as the quarter turns they round, so that the loops close."
        )


def _quarter_turns(text: str) -> float | None:
    """The whole number of quarter turns, not none, that a text gives to at least four decimals but
    not exactly."""
    digits = re.fullmatch(r"[+-]?\d{1,3}\.(\d{4,14})", text)
    if not digits:
        return None
    exact = round(float(text) / (math.pi / 2)) * (math.pi / 2)
    off = abs(float(text) - exact)
    return exact if exact and np.finfo(float).eps < off < 10.0 ** -len(digits[1]) else None


def _root(links: Elements, ends: Ends) -> str:
    """The one link that no joint carries."""
    if not links:
        raise ReadError("the robot has no links; add at least one <link>.")
    carried = {child for _, child in ends.values()}
    roots = [name for name in links if name not in carried]
    if not roots:
        raise ReadError(
            "no link is the root: every link is some joint's child, so they hang in a circle; cut a joint."
        )
    if len(roots) > 1:
        first, *others = (f"'{name}'" for name in roots[:4])
        more = f" and {len(roots) - 4} more" * (len(roots) > 4)
        raise ReadError(
            f"the links {first}, {', '.join(others)}{more} are all roots: no joint has them as its child; "
            f"join all but one to the robot."
        )
    return roots[0]


def _is_ground(root: str, links: Elements, base: str) -> bool:
    """Whether the root link stands for the ground and not for a body."""
    stands = root == GROUND or (root == WORLD and not links[root].child("inertial").present)
    if stands and base != "fixed":
        raise ReadError(
            f"the root link '{root}' stands for the ground and cannot be {base}; take it and its joint away, "
            "or leave base out."
        )
    return stands


def _add_loops(
    b: Builder,
    closures: Closures,
    links: Elements,
    ends: Ends,
    bodies: Mapping[str, str],
    diagnostics: Diagnostics,
) -> None:
    """The loops of the YAML, or of code."""

    def body(frame: str) -> str:
        """The link of a frame: a link's own name, or that of the joint that carries it."""
        carried = ends[frame][1] if frame in ends else None
        if frame in links and carried not in (None, frame):
            raise ReadError(
                f"{closures.where}the frame '{frame}' is the name of a link and of the joint of another one, "
                f"'{carried}'; rename one of them."
            )
        if frame not in links and carried is None:
            hint = suggest(frame, [*links, *ends], "; name a link or a joint.")
            raise ReadError(
                f"{closures.where}no link or joint has the name of the frame '{frame}'{hint}"
            )
        return bodies[carried or frame]

    for cut in closures.cuts:
        with diagnostics.reading(*cut.place, item=("loops", cut.name)):
            first, second = (body(frame) for frame in cut.frames)
            diagnostics.source.write_down(("loops", cut.name), cut.place)
            b.loop(cut.name, cut.kind, first, second, axis=cut.axis, pitch=cut.pitch)


# -- writing ---------------------------------------------------------------------------------------


def write_urdf(m: Model, options: UrdfWriteOptions, diagnostics: Diagnostics) -> str:
    """The text of a mechanism, which the file of the diagnostics' source is to have."""
    made = as_hinges(m) if options.hinges else m
    _lose(made, diagnostics)
    if options.hinges and (balls := list(lost_with_hinges(m))):
        diagnostics.lose("limits, friction, springs and motors of the ball joints", *balls)
    if unread := ", ".join(unread_joints(made)):
        diagnostics.warn(
            f"the parser of ROS (urdfdom) does not read the joints {unread}; save(..., hinges=True) writes them as "
            "hinges and slides."
        )
    return to_urdf(made, diagnostics.source.path.parent)


def to_urdf(m: Model, folder: Path | None = None) -> str:
    """The text of a mechanism; meshes are named from `folder`."""
    robot = Element("robot", name=m.name)
    ground, couplings = _ground_link(m), _mimics(m)
    shapes = named_from(m.shapes, folder)
    write_visuals(SubElement(robot, "link", name=ground), (x for x in shapes if x.body == GROUND))
    names = {GROUND: ground, **{b.name: b.name for b in m.bodies}}
    for body in m.bodies:
        write_visuals(_write_body(robot, body), (x for x in shapes if x.body == body.name))
    for joint in m.joints:
        write_joint(robot, joint, names[joint.parent], couplings.get(joint.name))
    taken = {joint.name for joint in m.joints}
    for frame in (f for f in m.frames if f.name != ground):
        SubElement(robot, "link", name=frame.name)
        candidates = chain((f"{frame.name}_frame",), (f"{frame.name}_frame{k}" for k in count(2)))
        taken.add(name := next(x for x in candidates if x not in taken))
        made = write_jointed(robot, name, "fixed", names[frame.body], frame.name)
        add_origin(made, "origin", frame.at)
    for loop in (x for x in m.loops if x.kind.kind not in CLOSURES):
        write_loop(robot, DIALECTS[0], loop, names)
    for name in m.actuated if m.loops else ():  # of a tree every joint is driven
        SubElement(SubElement(robot, "transmission", name=f"{name}_drive"), "joint", name=name)
    homes = {j.name: j.home for j in m.joints if j.home is not None}
    modes = {
        mode.name: dict(mode.coordinates)
        for mode in substitute(m.description.modes, m.values)
        if mode.name != HOME
    }
    write_states(robot, {**({HOME: homes} if homes else {}), **modes})
    indent(robot)
    return '<?xml version="1.0"?>\n' + tostring(robot, encoding="unicode") + "\n"


def _ground_link(m: Model) -> str:
    """The name of the root link: `world`, as is the custom, unless a body or a frame elsewhere has
    it."""
    there = Pose()
    elsewhere = any(f.name == WORLD and (f.body != GROUND or f.at != there) for f in m.frames)
    return GROUND if WORLD in m.body_places or elsewhere else WORLD


def _mimics(m: Model) -> dict[str, Coupling]:
    """By joint, the coupling that its <mimic> says. A joint can have only one, so that of several
    others are turned round: a = r b + c is b = a / r - c / r. Where couplings form more than one
    circle some find no place."""
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


def _write_body(robot: Element, body: Body) -> Element:
    link = SubElement(robot, "link", name=body.name)
    if body.mass or any(body.inertia):
        inertial = SubElement(link, "inertial")
        add_origin(inertial, "origin", Pose(body.com))
        SubElement(inertial, "mass", value=numbers([body.mass]))
        entries = zip(MOMENTS, body.inertia, strict=True)
        SubElement(inertial, "inertia", {key: numbers([x]) for key, x in entries})
    return link


def _lose(m: Model, diagnostics: Diagnostics) -> None:
    """What the mechanism has and its URDF has not."""
    if tuple(m.gravity) != GRAVITY:
        diagnostics.lose(f"the gravity {numbers(m.gravity)}")
    mimics = _mimics(m)
    written = {c.name for c in mimics.values()}
    driven = [j.name for j in m.joints if j.nv and j.name not in mimics]
    if not m.loops and list(m.actuated) != driven:
        diagnostics.lose("which joints are actuated")
    items = {
        "the parameters (their values are put in)": list(m.parameters),
        "the constraints": [x.name for x in m.loops if x.kind.kind in CLOSURES],
        "the driving constraints": [c.name for c in m.couplings if c.source is None],
        "the couplings, of which a joint can have only one,": [
            c.name for c in m.couplings if c.source is not None and c.name not in written
        ],
        "the mode, whose name is that of where joints start:": [
            mode.name for mode in m.description.modes if mode.name == HOME
        ],
        "the springs": [s.name for s in m.springs],
        "the wrenches": [w.name for w in m.wrenches],
        "stiffness, motor inertia and gear ratio of the joints": [
            j.name for j in m.joints if any(getattr(j, key) is not None for key in LOST)
        ],
        "friction and limits, which are only written of one degree of freedom, of the joints": [
            j.name for j in m.joints if j.nv > 1 and any(getattr(j, key) for key in OF_ONE)
        ],
    }
    for what, names in items.items():
        if names:
            diagnostics.lose(what, *names)
