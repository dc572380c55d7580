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
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError

import defusedxml.ElementTree
import numpy as np
from defusedxml import DefusedXmlException

from eslabon import model
from eslabon.algebra.rotations import rotation_from_quaternion, rpy_from_rotation
from eslabon.arguments import known_words
from eslabon.errors import ModelWarning, ReadError, shown, suggest
from eslabon.model import GROUND, Body, Builder, Description, Pose
from eslabon.model.items import ORIGIN
from eslabon.model.joints import OneAxis
from eslabon.read.loops_yaml import Closures, read_closures

SAME = ("revolute", "prismatic", "fixed", "planar", "spherical", "universal", "helical", "cylindrical")
OTHERS = {"continuous": "revolute", "floating": "free", "ball": "spherical", "screw": "helical"}
KINDS = {**dict(zip(SAME, SAME, strict=True)), **OTHERS}
BASES = ("fixed", "free", "planar")
MOMENTS = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
# What Drake closes loops and couples bodies with: not read, and too much to lose without a word.
FOREIGN = ("loop_joint", "ball_constraint", "weld_constraint", "distance_constraint", "linear_bushing_rpy")

Ends = Mapping[str, tuple[str, ...]]  # a joint's parent and child links


@dataclass(frozen=True)
class Tag:
    """An element of the file, the link or joint it belongs to, and how sentences call it."""

    element: Element
    owner: str
    what: str
    there: bool = True

    def child(self, tag: str) -> Tag:
        """The only child of that name; an empty one if it is not there."""
        found = [e for e in self.element if _name(e) == tag]
        if len(found) > 1:
            raise ReadError(f"{self.owner} has {len(found)} elements <{tag}>; keep one.")
        return Tag(found[0] if found else Element(tag), self.owner, f"{self.owner}: <{tag}>", bool(found))

    def __contains__(self, key: str) -> bool:
        return key in self.element.attrib

    def text(self, key: str) -> str:
        value = self.element.get(key)
        if value is None or not value.strip():
            raise ReadError(f'{self.what} has no {key}; write it as <{_name(self.element)} {key}="...">.')
        return value

    def numbers(self, key: str, count: int, default: tuple[float, ...] | None = None) -> tuple[float, ...]:
        """So many numbers of an attribute; without a default it must be there."""
        if default is not None and key not in self:
            return default
        values = self.text(key).split()
        if len(values) != count:
            raise ReadError(
                f"{self.what} {key} needs {count} number{'s' * (count != 1)}; it is {shown(' '.join(values))}."
            )
        made = tuple(self._number(text, key) for text in values)
        if not all(map(math.isfinite, made)):
            raise ReadError(f"{self.what} {key} is {shown(' '.join(values))}; give a finite number.")
        return made

    def number(self, key: str) -> float:
        return self.numbers(key, 1)[0]

    def limit(self, key: str) -> float:
        """A number that may be infinite."""
        return self._number(self.text(key), key)

    def _number(self, text: str, key: str) -> float:
        try:
            value = float(text.replace("_", "?"))  # Python would take 1_000
        except ValueError:
            value = math.nan
        if math.isnan(value):
            raise ReadError(f"{self.what} {key} is {shown(text)}; it must be a number.")
        return value


Tags = Mapping[str, Tag]


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
    links, joints = _named(robot, "link"), _named(robot, "joint")
    ends = {name: _ends(joint, links) for name, joint in joints.items()}
    root = _root(links, ends)
    ground = root if _is_ground(root, links, base) else None
    moving = [name for name, joint in joints.items() if _kind(joint) != "fixed"]
    closures = read_closures(path, loops, moving, [*links, *joints])
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


def _add_bodies(b: Builder, links: Tags, root: str, ground: str | None, joints: Tags, base: str) -> None:
    """The bodies, and the joint that carries the root."""
    for name, link in links.items():
        if name != ground:
            b.body(name, **_inertial(link))
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
    if _name(robot) != "robot":
        raise ReadError(f"the first element is <{_name(robot)}>; a URDF starts with <robot name=...>.")
    for element in robot:
        name = _name(element)
        if element.tag.startswith("{") and element.tag.split("}")[0].endswith("xacro"):
            raise ReadError(f"this is a xacro file (it has <xacro:{name}>); expand it with xacro first.")
        if name in FOREIGN:
            sentence = f"the URDF has a <{name}>, which is not read; close the loop with loops=."
            warnings.warn(sentence, ModelWarning, stacklevel=2)
    return robot


def _name(element: Element) -> str:
    """The name of an element without its namespace: <drake:joint> is a joint like any other."""
    return element.tag.rpartition("}")[2]


def _named(robot: Element, tag: str) -> dict[str, Tag]:
    """The elements of a kind by name, in their order."""
    found: dict[str, Tag] = {}
    for k, element in enumerate((e for e in robot if _name(e) == tag), start=1):
        name = Tag(element, "", f"{tag} number {k}").text("name")
        if name in found:
            raise ReadError(f"the {tag} '{name}' is defined twice; give one of them another name.")
        found[name] = Tag(element, f"{tag} '{name}'", f"{tag} '{name}'")
    return found


# -- links --------------------------------------------------------------------------------------------------------


def _inertial(link: Tag) -> dict[str, Any]:
    """Mass, centre of mass and inertia in the link's own axes; what is not given is zero."""
    inertial = link.child("inertial")
    at, mass, inertia = _pose(inertial), inertial.child("mass"), inertial.child("inertia")
    made: dict[str, Any] = {"com": at.position}
    if mass.there:
        made["mass"] = mass.number("value")
    if inertia.there:
        made["inertia"] = moments = tuple(inertia.number(key) for key in MOMENTS)
        if at.rpy != ORIGIN:
            R = at.rotation()
            with np.errstate(all="ignore"):  # what overflows is refused by the model
                I = R @ Body("", inertia=moments).inertia_matrix() @ R.T
                made["inertia"] = (I + I.T) / 2
    return made


def _pose(owner: Tag) -> Pose:
    """The <origin> of an element: xyz with rpy or, since URDF 1.1, quat_xyzw."""
    origin = owner.child("origin")
    xyz, rpy = origin.numbers("xyz", 3, ORIGIN), origin.numbers("rpy", 3, ORIGIN)
    if "quat_xyzw" in origin:
        if "rpy" in origin:
            raise ReadError(f"{origin.what} has rpy and quat_xyzw; keep one.")
        x, y, z, w = origin.numbers("quat_xyzw", 4)
        if not 1e-12 < (length := math.hypot(x, y, z, w)) < 1e12:
            raise ReadError(f"{origin.what} quat_xyzw has the length {length:g}; it must be 1.")
        rpy = tuple(rpy_from_rotation(rotation_from_quaternion(np.array([w, x, y, z]) / length)).tolist())
    return Pose(xyz, rpy)  # type: ignore[arg-type]


# -- joints -------------------------------------------------------------------------------------------------------


def _joint(name: str, joint: Tag, closures: Closures) -> dict[str, Any]:
    """A joint's kind, place and data, as the Builder takes them."""
    kind, at = _kind(joint), _pose(joint)
    if name in closures.kinds and kind != "fixed":
        # limits and friction in the file are those of the placeholder
        kind, axis = closures.kinds[name]
        return {"kind": kind, "at": at, "axis": axis}
    return {
        "kind": kind,
        "at": at,
        "axis": _axes(joint, kind),
        # Drake's pitch is in metres a turn
        "pitch": joint.child("screw_thread_pitch").number("value") / (2 * math.pi) if kind == "helical" else None,
        **(_limits(joint) if len(model.KINDS[kind].velocities) == 1 else {}),
        **(_friction(joint) if kind != "fixed" else {}),
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


def _round_turns(joints: Tags, where: str) -> None:
    """Quarter turns in the joints' rpy as exact as they are meant, where they are rounded."""
    rounded: dict[str, str] = {}
    for joint in joints.values():
        origin = joint.child("origin").element
        texts = origin.get("rpy", "").split()
        for text in texts:
            if (exact := _quarter_turns(text)) is not None:
                rounded[text] = repr(exact)
        if rounded.keys() & set(texts):
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


def _kind(joint: Tag) -> str:
    known_words([text := joint.text("type")], KINDS, f"{joint.what} has the unknown type", ReadError)
    return KINDS[text]


def _axes(joint: Tag, kind: str) -> Any:
    """The axis of the kinds that have one, x by default, or the two of a universal joint."""
    first, second = (_axis(joint.child(tag)) for tag in ("axis", "axis2"))
    if kind == "universal":
        if (first is None) != (second is None):
            raise ReadError(f"{joint.what}: a universal joint has an <axis> and an <axis2>, or neither (x, then y).")
        return ("x", "y") if first is None else (first, second)
    return (first or (1.0, 0.0, 0.0)) if issubclass(model.KINDS[kind], OneAxis) else None


def _axis(tag: Tag) -> tuple[float, ...] | None:
    """A direction of unit length; a zero one is left for the model to refuse."""
    axis = tag.numbers("xyz", 3) if "xyz" in tag else None
    length = math.hypot(*axis) if axis else 0.0
    return tuple(x / length for x in axis) if axis and length > 1e-12 else axis


def _limits(joint: Tag) -> dict[str, Any]:
    limit = joint.child("limit")
    given = {key: limit.limit(key) for key in ("lower", "upper", "velocity", "effort") if key in limit}
    made = {f"{key}_limit": given[key] for key in ("velocity", "effort") if given.get(key, math.inf) != math.inf}
    if given.keys() & {"lower", "upper"} and joint.text("type") != "continuous":
        return {"limits": (given.get("lower", 0.0), given.get("upper", 0.0)), **made}
    return made


def _friction(joint: Tag) -> dict[str, Any]:
    """Viscous and Coulomb friction; <joint_properties> is what exporters of an older habit call <dynamics>."""
    dynamics, older = joint.child("dynamics"), joint.child("joint_properties")
    given = dynamics if dynamics.there else older
    keys = {"viscous": "damping", "coulomb": "friction"}
    return {name: given.number(key) for name, key in keys.items() if key in given}


def _add_mimics(b: Builder, joints: Tags) -> set[str]:
    """A coupling for each joint that mimics another; the names of those that do."""
    found = set()
    for name, joint in joints.items():
        mimic = joint.child("mimic")
        if not mimic.there:
            continue
        source = mimic.text("joint")
        known_words([source], joints, f"{joint.what} mimics the unknown joint", ReadError)
        if joint.text("type") == "fixed":
            # exporters that freeze a gripper leave it behind
            sentence = f"{joint.what} is fixed and cannot mimic '{source}'; the <mimic> is left out."
            warnings.warn(sentence, ModelWarning, stacklevel=2)
            continue
        (ratio,), (offset,) = mimic.numbers("multiplier", 1, (1.0,)), mimic.numbers("offset", 1, (0.0,))
        b.couple(f"{name} mimics {source}", name, source, ratio, offset)
        found.add(name)
    return found


# -- the tree and its closures --------------------------------------------------------------------------------------


def _ends(joint: Tag, links: Tags) -> tuple[str, ...]:
    """The parent and child links of a joint."""
    ends = tuple(joint.child(tag).text("link") for tag in ("parent", "child"))
    known_words(ends, links, f"{joint.what} joins the unknown link", ReadError)
    return ends


def _root(links: Tags, ends: Ends) -> str:
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


def _is_ground(root: str, links: Tags, base: str) -> bool:
    """Whether the root link stands for the ground and not for a body."""
    stands = root == GROUND or (root == "world" and not links[root].child("inertial").there)
    if stands and base != "fixed":
        raise ReadError(
            f"the root link '{root}' stands for the ground and cannot be {base}; take it and its joint away, "
            "or leave base out."
        )
    return stands


def _add_loops(b: Builder, closures: Closures, links: Tags, ends: Ends, ground: str | None) -> None:
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


def _actuate(b: Builder, joints: Tags, moving: list[str], mimics: set[str], closures: Closures) -> None:
    """Motors where the YAML says; without it at every joint of a tree that moves, floats not and mimics none."""
    for name in closures.kinds:
        if name not in moving:
            _warn(closures, f"joint_name names '{name}', and no moving joint has that name", name, moving)
    driven = [name for name in moving if closures.kinds.get(name, ("",))[0] != "fixed"]
    if closures.motors is not None:
        b.actuate(*_motors(closures, [axis for name in driven for axis in closures.axis_motors(name) or (name,)]))
    elif not closures.cuts:
        b.actuate(*(n for n in driven if n not in mimics and joints[n].text("type") != "floating"))


def _motors(closures: Closures, driven: list[str]) -> Iterator[str]:
    asked = closures.motors or ()
    part = isinstance(asked, str)
    for name in [asked] if isinstance(asked, str) else dict.fromkeys(asked):
        found = [x for x in driven if (name in x if part else name == x)]
        if not found:
            has = "'s name contains it" if part else " has that name"
            _warn(closures, f"name_mot names '{name}', and no moving joint{has}", name, driven)
        yield from found


def _warn(closures: Closures, sentence: str, word: str, known: list[str]) -> None:
    hint = suggest(word, known, "; it is left out.")
    warnings.warn(f"{closures.where}: {sentence}{hint}", ModelWarning, stacklevel=2)
