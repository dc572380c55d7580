"""URDF: a robot as ROS and its friends write it, with closed loops from a YAML file beside it (see `loops_yaml`).

Links become bodies, joints become joints; what does not matter to rigid-body dynamics (visual, collision, gazebo,
transmission, ...) is passed over. The XML is parsed with defusedxml, which refuses entities and DTDs.

Where the specification leaves room:

* The root link is a body on the ground, held by a joint called ``root_joint`` of the kind ``base`` says. A root called
  ``ground``, or ``world`` if it has no inertia, is the ground itself, and ``world`` stays as a frame's name.
* A revolute or prismatic joint whose ``<limit>`` gives neither lower nor upper has no limits. (By the letter both are 0
  and the joint could not move; every program that leaves them out means no limits.) If one is given, the other is 0.
* With loops, a joint's angles that are quarter turns rounded to four decimals or more (1.5708, 3.14159) are quarter
  turns, and a warning says so: a linkage whose axes are parallel but for rounding does not close. Without loops all
  numbers are as written, so that results compare to those of other programs.
* Without motors named in the YAML every joint of a tree has one, except those that float, those that mimic another
  joint, and the root's.
* Joint types beyond the standard are those of Drake: ``ball``, ``universal`` (about x, then y, unless ``<axis>`` and
  ``<axis2>`` say otherwise) and ``screw`` with ``<screw_thread_pitch value>`` in metres a turn; also ``spherical``,
  ``helical`` and ``cylindrical`` as other names or kinds of the same sort.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import ParseError

import defusedxml.ElementTree
import numpy as np
from defusedxml import DefusedXmlException

from eslabon import model
from eslabon.algebra.rotations import rotation_from_quaternion, rpy_from_rotation
from eslabon.errors import ModelWarning, ReadError, shown, suggest
from eslabon.model import GROUND, Builder, Description, Pose
from eslabon.model.joints import OneAxis
from eslabon.read.loops_yaml import Closures, read_closures, spelled_out

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

KINDS = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "floating": "free",
    "planar": "planar",
    "ball": "spherical",
    "spherical": "spherical",
    "universal": "universal",
    "screw": "helical",
    "helical": "helical",
    "cylindrical": "cylindrical",
}
BASES = ("fixed", "free", "planar")
MOMENTS = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
# What Drake closes loops and couples bodies with: not read, and too much to lose without a word.
FOREIGN = ("loop_joint", "ball_constraint", "weld_constraint", "distance_constraint", "linear_bushing_rpy")

Ends = Mapping[str, tuple[str, str]]  # a joint's parent and child links


def read_urdf(path: Path, *, loops: Any = None, base: str = "fixed") -> Description:
    """The mechanism a URDF file describes.

    `loops` closes it: a YAML file's path, a list of pairs of frames or of ``{"frames": (a, b), "kind": "spherical"}``
    (any joint kind; "3d" and "6d" as in the YAML, 6d by default), a mapping with the YAML's keys, or False for none;
    left out, the YAML of the same name beside the URDF if there is one. `base` is how the root link stands on the
    ground: "fixed", "free" or "planar"; a moving base has no motor.
    """
    if base not in BASES:
        raise ReadError(f"base is {shown(base)}; it is 'fixed', 'free' or 'planar'.")
    robot = _parse(path.read_bytes())
    closures = read_closures(path, loops)
    links, joints = _named(robot, "link"), _named(robot, "joint")
    ends = {name: _ends(name, joint, links) for name, joint in joints.items()}
    root = _root(links, ends)
    ground = root if _is_ground(root, links, base) else None
    moving = [name for name, joint in joints.items() if _kind(name, joint) != "fixed"]
    closures = spelled_out(closures, moving, [*links, *joints])
    if closures.cuts:
        _round_turns(joints, path.name)

    b = Builder(robot.get("name") or path.stem, note=f"Read from {path.name}.")
    _add_bodies(b, links, root, ground, joints, base)
    for name, joint in joints.items():
        parent, child = (GROUND if link == ground else link for link in ends[name])
        _add_joint(b, name, parent, child, _joint(name, joint, closures), closures.axis_motors(name))
    mimics = _add_mimics(b, joints)
    _add_loops(b, closures, links, ends, ground)
    _actuate(b, joints, moving, mimics, closures)
    return b.describe()


def _add_bodies(
    b: Builder, links: Mapping[str, Element], root: str, ground: str | None, joints: Mapping[str, Element], base: str
) -> None:
    """The bodies, and the joint that carries the root."""
    for name, link in links.items():
        if name != ground:
            b.body(name, **_inertial(name, link))
    if ground is None:
        taken = (f"root_joint{k}" for k in ("", *range(2, len(joints) + 3)))
        b.joint(next(name for name in taken if name not in joints), base, GROUND, root)
    elif ground != GROUND:
        b.frame(ground, GROUND)


# -- the XML ------------------------------------------------------------------------------------------------------


def _parse(text: bytes) -> Element:
    """The <robot> element of a file."""
    if not text.strip():
        raise ReadError("the file is empty; a URDF starts with <robot name=...>.")
    try:
        robot = defusedxml.ElementTree.fromstring(text, forbid_dtd=True)
    except DefusedXmlException:
        raise ReadError("the XML has a DTD or entities, and those are refused; take the DOCTYPE away.") from None
    except (ParseError, ValueError, LookupError) as error:  # the last two: encodings nobody knows
        raise ReadError(f"this is not well-formed XML: {error}.") from None
    if _tag(robot) != "robot":
        raise ReadError(f"the first element is <{_tag(robot)}>; a URDF starts with <robot name=...>.")
    for element in robot:
        if element.tag.startswith("{") and element.tag.split("}")[0].endswith("xacro"):
            raise ReadError(f"this is a xacro file (it has <xacro:{_tag(element)}>); expand it with xacro first.")
        if _tag(element) in FOREIGN:
            warnings.warn(
                f"the URDF has a <{_tag(element)}>, which is not read; close the loop with loops=.",
                ModelWarning,
                stacklevel=2,
            )
    return robot


def _tag(element: Element) -> str:
    """The name of an element without its namespace: <drake:joint> is a joint like any other."""
    return element.tag.rpartition("}")[2]


def _named(robot: Element, tag: str) -> dict[str, Element]:
    """The elements of a kind by name, in their order."""
    found: dict[str, Element] = {}
    for k, element in enumerate((e for e in robot if _tag(e) == tag), start=1):
        name = _attribute(element, "name", f"{tag} number {k}")
        if name in found:
            raise ReadError(f"the {tag} '{name}' is defined twice; give one of them another name.")
        found[name] = element
    return found


def _only(parent: Element, tag: str, what: str) -> Element | None:
    """The child of that name, if there is one."""
    found = [e for e in parent if _tag(e) == tag]
    if len(found) > 1:
        raise ReadError(f"{what} has {len(found)} elements <{tag}>; keep one.")
    return found[0] if found else None


def _attribute(element: Element, key: str, what: str) -> str:
    value = element.get(key)
    if value is None or not value.strip():
        raise ReadError(f'{what} has no {key}; write it as <{_tag(element)} {key}="...">.')
    return value


def _number(text: str, what: str) -> float:
    """A number as XML writes it; infinite ones are for the caller to judge."""
    try:
        value = float(text.replace("_", "?"))  # Python would take 1_000
    except ValueError:
        raise ReadError(f"{what} is {shown(text)}; it must be a number.") from None
    if math.isnan(value):
        raise ReadError(f"{what} is not a number (nan); give it a value.")
    return value


def _finite(text: str, what: str) -> float:
    value = _number(text, what)
    if math.isinf(value):
        raise ReadError(f"{what} is {shown(text)}; give a finite number.")
    return value


def _numbers(element: Element | None, key: str, count: int, what: str) -> tuple[float, ...] | None:
    """The so many numbers of an attribute, if it is there."""
    text = None if element is None else element.get(key)
    if element is None or text is None:
        return None
    label = f"{what}: the {key} of <{_tag(element)}>"
    values = tuple(_finite(part, label) for part in text.split())
    if len(values) != count:
        raise ReadError(f"{label} needs {count} number{'s' * (count != 1)}; it is {shown(text)}.")
    return values


# -- links --------------------------------------------------------------------------------------------------------


def _inertial(name: str, link: Element) -> dict[str, Any]:
    """Mass, centre of mass and inertia in the link's own axes; without <inertial> the link is massless."""
    what = f"link '{name}'"
    inertial = _only(link, "inertial", what)
    if inertial is None:
        return {}
    at = _pose(inertial, f"{what}: <inertial>")
    mass, inertia = (_only(inertial, tag, what) for tag in ("mass", "inertia"))
    made: dict[str, Any] = {"com": at.position}
    if mass is not None:
        made["mass"] = _finite(_attribute(mass, "value", f"{what}: <mass>"), f"{what}: the mass")
    if inertia is not None:
        entries = (_finite(_attribute(inertia, k, f"{what}: <inertia>"), f"{what}: {k}") for k in MOMENTS)
        made["inertia"] = _turned(tuple(entries), at)
    return made


def _turned(moments: tuple[float, ...], at: Pose) -> Any:
    """R I R^T: the inertia in the link's axes from that in the axes of its own origin."""
    if at.rpy == (0.0, 0.0, 0.0):
        return moments
    xx, yy, zz, xy, xz, yz = moments
    R = at.rotation()
    with np.errstate(all="ignore"):  # what overflows is refused by the model
        I = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
        return (I + I.T) / 2


def _pose(owner: Element, what: str) -> Pose:
    """The <origin> of an element: xyz with rpy or, since URDF 1.1, quat_xyzw."""
    origin = _only(owner, "origin", what)
    xyz, rpy = _numbers(origin, "xyz", 3, what), _numbers(origin, "rpy", 3, what)
    quaternion = _numbers(origin, "quat_xyzw", 4, what)
    if quaternion is not None:
        if rpy is not None:
            raise ReadError(f"{what}: the <origin> has rpy and quat_xyzw; keep one.")
        length = math.hypot(*quaternion)
        if not 1e-12 < length < 1e12:
            raise ReadError(f"{what}: the quat_xyzw of <origin> has the length {length:g}; it must be 1.")
        x, y, z, w = (n / length for n in quaternion)
        rpy = tuple(float(angle) for angle in rpy_from_rotation(rotation_from_quaternion(np.array([w, x, y, z]))))
    zero = (0.0, 0.0, 0.0)
    return Pose(xyz or zero, rpy or zero)  # type: ignore[arg-type]


# -- joints -------------------------------------------------------------------------------------------------------


def _joint(name: str, joint: Element, closures: Closures) -> dict[str, Any]:
    """A joint's kind, place and data, as the Builder takes them."""
    what = f"joint '{name}'"
    kind, at = _kind(name, joint), _pose(joint, what)
    if name in closures.kinds and kind != "fixed":
        # limits and friction in the file are those of the placeholder
        kind, axis = closures.kinds[name]
        return {"kind": kind, "at": at, "axis": axis}
    return {
        "kind": kind,
        "at": at,
        "axis": _axes(joint, kind, what),
        "pitch": _pitch(joint, what) if kind == "helical" else None,
        **(_limits(joint, what) if len(model.KINDS[kind].velocities) == 1 else {}),
        **(_friction(joint, what) if kind != "fixed" else {}),
    }


def _add_joint(
    b: Builder, name: str, parent: str, child: str, data: dict[str, Any], split: tuple[str, str] | None
) -> None:
    """A joint, or the two revolute ones with a cross between them that a universal joint is if a motor drives one axis."""
    if split is None:
        b.joint(name, parent=parent, child=child, **data)
        return
    (first, second), (inner, outer) = split, data["axis"]
    b.body(first)
    b.joint(first, "revolute", parent, first, at=data["at"], axis=inner)
    b.joint(second, "revolute", first, child, axis=outer)


def _round_turns(joints: Mapping[str, Element], where: str) -> None:
    """Quarter turns in the joints' rpy as exact as they are meant, where they are rounded."""
    rounded: dict[str, str] = {}
    for name, joint in joints.items():
        origin = _only(joint, "origin", f"joint '{name}'")
        texts = origin.get("rpy", "").split() if origin is not None else []
        for text in texts:
            if (exact := _quarter_turns(text)) is not None:
                rounded[text] = repr(exact)
        if origin is not None and rounded.keys() & set(texts):
            origin.set("rpy", " ".join(rounded.get(text, text) for text in texts))
    if rounded:
        few = ", ".join(list(rounded)[:4]) + ", ..." * (len(rounded) > 4)
        sentence = (
            f"{where}: the angles {few} of joints are read as the quarter turns they round, so that the loops close."
        )
        warnings.warn(sentence, ModelWarning, stacklevel=3)


def _quarter_turns(text: str) -> float | None:
    """The whole number of quarter turns, not none, that a text gives to at least four decimals but not exactly."""
    digits = re.fullmatch(r"[+-]?\d{1,3}\.(\d{4,14})", text)
    if not digits:
        return None
    exact = round(float(text) / (math.pi / 2)) * (math.pi / 2)
    off = abs(float(text) - exact)
    return exact if exact and 1e-15 < off < 10.0 ** -len(digits[1]) else None


def _kind(name: str, joint: Element) -> str:
    text = _attribute(joint, "type", f"joint '{name}'")
    if text not in KINDS:
        raise ReadError(f"joint '{name}': the type {shown(text)} is not known{suggest(text, KINDS)}")
    return KINDS[text]


def _axes(joint: Element, kind: str, what: str) -> Any:
    """The axis of the kinds that have one, x by default, or the two of a universal joint."""
    first, second = (_axis(joint, tag, what) for tag in ("axis", "axis2"))
    if kind == "universal":
        if (first is None) != (second is None):
            raise ReadError(f"{what}: a universal joint has an <axis> and an <axis2>, or neither of them (x, then y).")
        return ("x", "y") if first is None else (first, second)
    return (first or (1.0, 0.0, 0.0)) if issubclass(model.KINDS[kind], OneAxis) else None


def _axis(joint: Element, tag: str, what: str) -> tuple[float, ...] | None:
    """A direction of unit length; a zero one is left for the model to refuse."""
    axis = _numbers(_only(joint, tag, what), "xyz", 3, what)
    length = math.hypot(*axis) if axis else 0.0
    return tuple(x / length for x in axis) if axis and length > 1e-12 else axis


def _pitch(joint: Element, what: str) -> float:
    """Metres a radian, from Drake's metres a turn."""
    thread = _only(joint, "screw_thread_pitch", what)
    if thread is None:
        raise ReadError(f'{what}: a screw needs its pitch, in metres a turn: <screw_thread_pitch value="...">.')
    value = _attribute(thread, "value", f"{what}: <screw_thread_pitch>")
    return _finite(value, f"{what}: the pitch") / (2 * math.pi)


def _limits(joint: Element, what: str) -> dict[str, Any]:
    limit = _only(joint, "limit", what)
    if limit is None:
        return {}
    given = {
        key: _number(limit.attrib[key], f"{what}: the {key} limit")
        for key in ("lower", "upper", "velocity", "effort")
        if key in limit.attrib
    }
    made = {f"{key}_limit": given[key] for key in ("velocity", "effort") if given.get(key, math.inf) != math.inf}
    if given.keys() & {"lower", "upper"} and joint.get("type") != "continuous":
        return {"limits": (given.get("lower", 0.0), given.get("upper", 0.0)), **made}
    return made


def _friction(joint: Element, what: str) -> dict[str, Any]:
    """Viscous and Coulomb friction; <joint_properties> is what exporters of an older habit call <dynamics>."""
    dynamics = _only(joint, "dynamics", what)
    if dynamics is None:
        dynamics = _only(joint, "joint_properties", what)
    if dynamics is None:
        return {}
    keys = {"viscous": "damping", "coulomb": "friction"}
    return {
        name: _finite(dynamics.attrib[key], f"{what}: the {key}")
        for name, key in keys.items()
        if key in dynamics.attrib
    }


def _add_mimics(b: Builder, joints: Mapping[str, Element]) -> set[str]:
    """A coupling for each joint that mimics another; the names of those that do."""
    found = set()
    for name, joint in joints.items():
        what = f"joint '{name}'"
        mimic = _only(joint, "mimic", what)
        if mimic is None:
            continue
        source = _attribute(mimic, "joint", f"{what}: <mimic>")
        if source not in joints:
            raise ReadError(f"{what} mimics the joint '{source}', and there is none{suggest(source, joints)}")
        if joint.get("type") == "fixed":
            # exporters that freeze a gripper leave it behind
            sentence = f"{what} is fixed and cannot mimic '{source}'; the <mimic> is left out."
            warnings.warn(sentence, ModelWarning, stacklevel=2)
            continue
        (ratio,) = _numbers(mimic, "multiplier", 1, what) or (1.0,)
        (offset,) = _numbers(mimic, "offset", 1, what) or (0.0,)
        b.couple(f"{name} mimics {source}", name, source, ratio, offset)
        found.add(name)
    return found


# -- the tree and its closures --------------------------------------------------------------------------------------


def _ends(name: str, joint: Element, links: Mapping[str, Element]) -> tuple[str, str]:
    """The parent and child links of a joint."""
    what = f"joint '{name}'"

    def end(tag: str) -> str:
        element = _only(joint, tag, what)
        if element is None:
            raise ReadError(f'{what} has no {tag}; add <{tag} link="...">.')
        link = _attribute(element, "link", f"{what}: <{tag}>")
        if link not in links:
            raise ReadError(f"{what}: the {tag} link '{link}' is not defined{suggest(link, links, '; add the link.')}")
        return link

    return end("parent"), end("child")


def _root(links: Mapping[str, Element], ends: Ends) -> str:
    """The one link that no joint carries."""
    if not links:
        raise ReadError("the robot has no links; add at least one <link>.")
    carried = {child for _, child in ends.values()}
    roots = [name for name in links if name not in carried]
    if not roots:
        raise ReadError("no link is the root: every link is some joint's child, so they hang in a circle; cut a joint.")
    if len(roots) > 1:
        first, *others = (f"'{name}'" for name in roots[:4])
        more = f" and {len(roots) - 4} more" * (len(roots) > 4)
        raise ReadError(
            f"the links {first}, {', '.join(others)}{more} are all roots: no joint has them as its child; "
            f"join all but one to the robot."
        )
    return roots[0]


def _is_ground(root: str, links: Mapping[str, Element], base: str) -> bool:
    """Whether the root link stands for the ground and not for a body."""
    stands = root == GROUND or (root == "world" and _only(links[root], "inertial", "link 'world'") is None)
    if stands and base != "fixed":
        raise ReadError(
            f"the root link '{root}' stands for the ground and cannot be {base}; take it and its joint away, "
            "or leave base out."
        )
    return stands


def _add_loops(b: Builder, closures: Closures, links: Mapping[str, Element], ends: Ends, ground: str | None) -> None:
    def body(frame: str) -> str:
        """The link of a frame: a link's own name, or that of the joint that carries it."""
        carried = ends[frame][1] if frame in ends else None
        if frame in links and carried not in (None, frame):
            raise ReadError(
                f"{closures.where}: the frame '{frame}' is the name of a link and of the joint of another one, "
                f"'{carried}'; rename one of them."
            )
        if frame not in links and carried is None:
            hint = suggest(frame, [*links, *ends], "; name a link or a joint.")
            raise ReadError(f"{closures.where}: no link or joint has the name of the frame '{frame}'{hint}")
        link = carried or frame
        return GROUND if link == ground else link

    for cut in closures.cuts:
        first, second = (body(frame) for frame in cut.frames)
        b.loop(cut.name, cut.kind, first, second, axis=cut.axis, pitch=cut.pitch)


def _actuate(
    b: Builder, joints: Mapping[str, Element], moving: list[str], mimics: set[str], closures: Closures
) -> None:
    """Motors where the YAML says; without it at every joint of a tree that moves, floats not and mimics none."""
    for name in closures.kinds:
        if name not in moving:
            _warn(closures, f"joint_name names '{name}', and no moving joint has that name", name, moving)
    driven = [name for name in moving if closures.kinds.get(name, ("",))[0] != "fixed"]
    if closures.motors is not None:
        b.actuate(*_motors(closures, [axis for name in driven for axis in closures.axis_motors(name) or (name,)]))
    elif not closures.cuts:
        b.actuate(*(n for n in driven if n not in mimics and joints[n].get("type") != "floating"))


def _motors(closures: Closures, driven: list[str]) -> Iterator[str]:
    asked = closures.motors or ()
    if isinstance(asked, str):
        found = [name for name in driven if asked in name]
        if not found:
            _warn(closures, f"name_mot is '{asked}', and no moving joint's name contains it", asked, driven)
        yield from found
        return
    for name in dict.fromkeys(asked):
        if name in driven:
            yield name
        else:
            _warn(closures, f"name_mot names '{name}', and no moving joint has that name", name, driven)


def _warn(closures: Closures, sentence: str, word: str, known: list[str]) -> None:
    hint = suggest(word, known, "; it is left out.")
    warnings.warn(f"{closures.where}: {sentence}{hint}", ModelWarning, stacklevel=2)
