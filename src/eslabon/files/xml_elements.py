"""The XML of a URDF: its elements with their lines, the numbers in them, and what is wrong with them in a sentence."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from xml.etree.ElementTree import Element, ParseError, TreeBuilder

import numpy as np
from defusedxml import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from eslabon.arguments import known_words
from eslabon.errors import ModelWarning, ReadError, format_value
from eslabon.files.findings import Findings
from eslabon.model import Pose
from eslabon.model.poses import ORIGIN
from eslabon.numerics.rotations import rotation_from_quaternion, rpy_from_rotation
from eslabon.numerics.tolerances import ROUND_OFF

SAME = (
    "revolute",
    "prismatic",
    "fixed",
    "planar",
    "spherical",
    "universal",
    "helical",
    "cylindrical",
)
OTHERS = {"continuous": "revolute", "floating": "free", "ball": "spherical", "screw": "helical"}
KINDS = {**dict(zip(SAME, SAME, strict=True)), **OTHERS}
# What Drake closes loops and couples bodies with: not read, and too much to lose without a word.
FOREIGN = (
    "loop_joint",
    "ball_constraint",
    "weld_constraint",
    "distance_constraint",
    "linear_bushing_rpy",
)


@dataclass(frozen=True)
class Tag:
    """An element of the file, the link or joint it belongs to, and how sentences call it."""

    element: Element
    owner: str
    what: str
    there: bool = True

    def child(self, tag: str) -> Tag:
        """The only child of that name; an empty one if it is not there."""
        found = [e for e in self.element if name_of(e) == tag]
        if len(found) > 1:
            raise ReadError(f"{self.owner} has {len(found)} elements <{tag}>; keep one.")
        return Tag(
            found[0] if found else Element(tag), self.owner, f"{self.owner}: <{tag}>", bool(found)
        )

    @property
    def line(self) -> int:
        """Where it begins in the file."""
        return getattr(self.element, "line", 0)

    @property
    def parts(self) -> dict[str, int]:
        """The names of all elements in it, and the line of the first of each."""
        inner = [e for e in self.element.iter() if e is not self.element]
        return {name_of(e): getattr(e, "line", 0) for e in reversed(inner)}

    def drop(self, part: str) -> None:
        """Take the elements of that name away."""
        for parent in [*self.element.iter()]:
            for element in [e for e in parent if name_of(e) == part]:
                parent.remove(element)

    def __contains__(self, key: str) -> bool:
        return key in self.element.attrib

    def text(self, key: str) -> str:
        value = self.element.get(key)
        if value is None or not value.strip():
            raise ReadError(
                f'{self.what} has no {key}; write it as <{name_of(self.element)} {key}="...">.'
            )
        return value

    def numbers(
        self, key: str, count: int, default: tuple[float, ...] | None = None
    ) -> tuple[float, ...]:
        """So many numbers of an attribute; without a default it must be there."""
        if default is not None and key not in self:
            return default
        values = self.text(key).split()
        if len(values) != count:
            raise ReadError(
                f"{self.what} {key} needs {count} number{'s' * (count != 1)}; it is {format_value(' '.join(values))}."
            )
        made = tuple(self._number(text, key) for text in values)
        if not all(map(math.isfinite, made)):
            raise ReadError(
                f"{self.what} {key} is {format_value(' '.join(values))}; give a finite number."
            )
        return made

    def list(self, key: str) -> tuple[float, ...]:
        """All numbers of an attribute."""
        return self.numbers(key, len(self.text(key).split()))

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
            raise ReadError(f"{self.what} {key} is {format_value(text)}; it must be a number.")
        return value


Tags = Mapping[str, Tag]
Axis = tuple[float, ...]  # three numbers, of unit length


class _Element(Element):
    """An element that knows its line."""

    line = 0


def _tree(text: bytes) -> Element:
    def element(tag: str, attributes: dict[str, str]) -> Element:
        made = _Element(tag, attributes)
        made.line = parser.parser.CurrentLineNumber
        return made

    parser = DefusedXMLParser(target=TreeBuilder(element_factory=element), forbid_dtd=True)
    parser.feed(text)
    return parser.close()


def parse(text: bytes) -> Element:
    """The <robot> element of a file."""
    if not text.strip():
        raise ReadError("the file is empty; a URDF starts with <robot name=...>.")
    try:
        robot = _tree(text)
    except DefusedXmlException:
        raise ReadError(
            "the XML has a DTD or entities, and those are refused; take the DOCTYPE away."
        ) from None
    except (ParseError, ValueError, LookupError) as error:  # the last two: encodings nobody knows
        raise ReadError(f"this is not well-formed XML: {error}.") from None
    if name_of(robot) != "robot":
        raise ReadError(
            f"the first element is <{name_of(robot)}>; a URDF starts with <robot name=...>."
        )
    for element in robot:
        name = name_of(element)
        if element.tag.startswith("{") and element.tag.split("}")[0].endswith("xacro"):
            raise ReadError(
                f"this is a xacro file (it has <xacro:{name}>); expand it with xacro first."
            )
        if name in FOREIGN:
            sentence = f"the URDF has a <{name}>, which is not read; close the loop with loops=."
            warnings.warn(sentence, ModelWarning, stacklevel=2)
    return robot


def name_of(element: Element) -> str:
    """The name of an element without its namespace: <drake:joint> is a joint like any other."""
    return element.tag.rpartition("}")[2]


def children(robot: Element, tag: str, findings: Findings) -> dict[str, Tag]:
    """The elements of a kind by name, in their order."""
    found: dict[str, Tag] = {}
    for k, element in enumerate((e for e in robot if name_of(e) == tag), start=1):
        made = Tag(element, "", f"{tag} number {k}")
        with findings.of("", line=made.line):
            name = made.text("name")
            if name in found:
                raise ReadError(
                    f"the {tag} '{name}' is defined twice; give one of them another name."
                )
            found[name] = Tag(element, f"{tag} '{name}'", f"{tag} '{name}'")
            findings.lines[tag, name] = made.line
            findings.lines |= {(tag, name, part): line for part, line in made.parts.items()}
    return found


# What the elements may hold that matters here; others, such as those of simulators, are passed over.
READ = {
    "robot": ("link", "joint", "constraint", "transmission", "material", "gazebo", "group_state", "ros2_control"),
    "link": ("inertial", "visual", "collision"),
    "inertial": ("origin", "mass", "inertia"),
    "joint": ("origin", "parent", "child", "axis", "axis2", "limit", "dynamics", "mimic", "calibration",
        "safety_controller", "joint_properties", "screw_thread_pitch"),
}  # fmt: skip


def misspelled(robot: Element) -> Iterator[tuple[str, int]]:
    """Elements that are passed over but look like one that would be read, and their lines."""
    for owner in robot.iter():
        known = READ.get(name_of(owner), ())
        for name, line in ((name_of(e), getattr(e, "line", 0)) for e in owner if known):
            near = get_close_matches(name, known, n=1, cutoff=0.75)
            if near and name not in known:
                place = (
                    f"{name_of(owner)} '{owner.get('name')}'"
                    if owner.get("name")
                    else f"<{name_of(owner)}>"
                )
                yield f"{place}: <{name}> is passed over; did you mean <{near[0]}>?", line


# -- what stands in the elements ------------------------------------------------------------------------------------


def kind_of(joint: Tag) -> str:
    known_words(
        [text := joint.text("type")], KINDS, f"{joint.what} has the unknown type", ReadError
    )
    return KINDS[text]


def axis_of(tag: Tag) -> Axis | None:
    """A direction of unit length; a zero one is left for the model to refuse."""
    axis = tag.numbers("xyz", 3) if "xyz" in tag else None
    length = math.hypot(*axis) if axis else 0.0
    return tuple(x / length for x in axis) if axis and length > ROUND_OFF else axis


def pose(origin: Tag) -> Pose:
    """An <origin>: xyz with rpy or, since URDF 1.1, quat_xyzw."""
    xyz, rpy = origin.numbers("xyz", 3, ORIGIN), origin.numbers("rpy", 3, ORIGIN)
    if "quat_xyzw" in origin:
        if "rpy" in origin:
            raise ReadError(f"{origin.what} has rpy and quat_xyzw; keep one.")
        x, y, z, w = origin.numbers("quat_xyzw", 4)
        if not ROUND_OFF < (length := math.hypot(x, y, z, w)) < 1 / ROUND_OFF:
            raise ReadError(f"{origin.what} quat_xyzw has the length {length:g}; it must be 1.")
        rpy = tuple(
            rpy_from_rotation(rotation_from_quaternion(np.array([w, x, y, z]) / length)).tolist()
        )
    return Pose(xyz, rpy)  # type: ignore[arg-type]
