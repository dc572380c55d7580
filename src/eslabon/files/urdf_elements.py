"""What many elements of a URDF share, in and out: kinds of joints, axes, poses, numbers; and which
elements are harmless."""

from __future__ import annotations

import math
from collections.abc import Iterable
from difflib import get_close_matches
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from eslabon.arguments import known_words
from eslabon.errors import ReadError, located
from eslabon.files.diagnostics import Diagnostics
from eslabon.files.xml_elements import Unread, XmlElement, unread
from eslabon.model import Pose
from eslabon.model.constraints import ClosureKind
from eslabon.model.poses import ORIGIN
from eslabon.numerics.rotations import rotation_from_quaternion, rpy_from_rotation
from eslabon.numerics.tolerances import ROUND_OFF

Axis = tuple[float, ...]  # three numbers, of unit length
KINDS = {
    **{kind: kind for kind in ("revolute", "prismatic", "fixed", "planar", "spherical", "universal", "helical", "cylindrical")},
    "continuous": "revolute", "floating": "free", "ball": "spherical", "screw": "helical",
}  # fmt: skip
TYPES = {"free": "floating", "spherical": "ball", "helical": "screw"}  # as they are written

CLOSING = (  # elements of other dialects that close loops
    "loop", "loop_joint", "loop_constraint", "ball_constraint", "weld_constraint", "distance_constraint", "linear_bushing_rpy",
)  # fmt: skip
DRIVES = ("transmission", "ros2_control")  # elements that say how motors act
# What does not matter to the motion of rigid bodies, by the element it is in; attributes have an @.
HARMLESS = {
    "robot": (
        "material", "collision_filter_group", "disable_collisions", "group", "end_effector", "sensor", "@version", "@name",
    ),
    "link": (
        "visual", "collision", "sensor", "contact", "self_collision_checking", "verbose", "material", "audio_source",
        "daeMeshes", "@type", "@drawOrder",
    ),
    "joint": ("calibration", "hardwareInterface", "state_interface", "@drawOrder", "@role"),
    "gazebo": (
        "material", "visual", "collision", "sensor", "selfCollide", "self_collide", "laserRetro",
        "mu1", "mu2", "mu", "fdir1", "kp", "kd", "minDepth", "maxContacts", "maxVel", "provideFeedback",
        "disableFixedJointLumping", "preserveFixedJoint", "canonicalBody", "genTexCoord", "@reference",
    ),
    "plugin": ("@name", "@filename"),
    "transmission": ("hardwareInterface", "motorTorqueConstant", "pulsesPerRevolution", "@name"),
    "actuator": ("hardwareInterface", "motorTorqueConstant", "pulsesPerRevolution", "@name", "@role"),
    "ros2_control": ("hardware", "gpio", "sensor", "@name", "@type", "@rw_rate", "@is_async", "@thread_priority"),
    "command_interface": ("@name", "@data_type", "@size"),
    "safety_controller": ("@k_velocity", "@k_position"),
    "group_state": ("@group",),
}  # fmt: skip
# Elements and attributes that change nothing if they have this value, false being 0 and true 1.
NEUTRAL = {
    "mechanicalReduction": 1.0, "mechanical_reduction": 1.0, "offset": 0.0,
    "static": 0.0, "kinematic": 0.0, "gravity": 1.0, "turnGravityOff": 0.0, "enable_wind": 0.0,
    "dampingFactor": 0.0, "springStiffness": 0.0, "springReference": 0.0,
}  # fmt: skip


def elements_by_name(
    robot: XmlElement, tag: str, diagnostics: Diagnostics
) -> dict[str, XmlElement]:
    """The elements of a kind by name, in their order."""
    found: dict[str, XmlElement] = {}
    for k, element in enumerate(robot.children(tag), start=1):
        with diagnostics.reading(*element.place):
            name = element.optional_text("name")
            if not name.strip():
                raise element.error(
                    f'{tag} number {k} has no name; write it as <{tag} name="...">.'
                )
            if name in found:
                raise element.error(
                    f"the {tag} '{name}' is defined twice; give one of them another name."
                )
            found[name] = element
    return found


def kind_of(joint: XmlElement) -> str:
    with located(*joint.place):
        text = joint.attrib.get("type", "")
        known_words(
            [text] if text.strip() else [], KINDS, f"{joint.what} has the unknown type", ReadError
        )
    return KINDS[joint.text_of("type")]


def axis_of(element: XmlElement) -> Axis | None:
    """A direction of unit length; a zero one is left for the model to refuse."""
    axis = element.numbers("xyz", 3) if element.has("xyz") else None
    length = math.hypot(*axis) if axis else 0.0
    return tuple(x / length for x in axis) if axis and length > ROUND_OFF else axis


def pose_of(origin: XmlElement) -> Pose:
    """An <origin>: xyz with rpy or, since URDF 1.1, quat_xyzw."""
    xyz, rpy = origin.numbers("xyz", 3, ORIGIN), origin.numbers("rpy", 3, ORIGIN)
    if origin.has("quat_xyzw"):
        if origin.has("rpy"):
            raise origin.error(f"{origin.what} has rpy and quat_xyzw; keep one.")
        x, y, z, w = origin.numbers("quat_xyzw", 4)
        if not ROUND_OFF < (length := math.hypot(x, y, z, w)) < 1 / ROUND_OFF:
            raise origin.error(f"{origin.what} quat_xyzw has the length {length:g}; it must be 1.")
        rpy = tuple(
            rpy_from_rotation(rotation_from_quaternion(np.array([w, x, y, z]) / length)).tolist()
        )
    return Pose(xyz, rpy)  # type: ignore[arg-type]


def pitch_of(element: XmlElement, kind: str) -> float | None:
    """The pitch of a screw, in metres a radian: Drake's is in metres a turn."""
    if kind != "helical":
        return None
    return element.child("screw_thread_pitch").number("value") / (2 * math.pi)


def add_origin(owner: Element, tag: str, at: Pose) -> None:
    parts = {"xyz": at.position, "rpy": at.rpy}
    if at != Pose():
        SubElement(owner, tag, {key: numbers(x) for key, x in parts.items() if x != ORIGIN})


def add_pitch(owner: Element, kind: ClosureKind) -> None:
    if hasattr(kind, "pitch"):
        SubElement(owner, "screw_thread_pitch", value=numbers([kind.pitch * 2 * math.pi]))


def numbers(values: Iterable[float]) -> str:
    return " ".join(repr(float(x)) for x in values)


def leave_out_unread(robot: XmlElement, diagnostics: Diagnostics) -> None:
    """Say of the elements and attributes that were neither read nor are harmless that they are left
    out: of each when mistakes are collected, else of the first of a kind."""
    kinds: dict[tuple[str, str, str], list[Unread]] = {}
    for found in unread(robot, HARMLESS):
        place = found.element.place
        if not _is_neutral(found) and not any(
            place[:length] in diagnostics.abandoned for length in range(1, len(place) + 1)
        ):
            owner = "" if found.element.parent is None else found.element.parent.word
            kinds.setdefault((owner, found.element.word, found.attribute), []).append(found)
    for same in kinds.values():
        for found in same if diagnostics.collect else same[:1]:
            more = "" if diagnostics.collect or len(same) == 1 else f" ({len(same)} times in all)"
            diagnostics.leave_out(_unread_sentence(found, more), *found.element.place)


def _is_neutral(found: Unread) -> bool:
    """Whether what was not read says only what holds without it."""
    element, attribute = found
    text = (element.attrib.get(attribute) if attribute else element.text) or ""
    try:
        value = float({"false": "0", "true": "1"}.get(text.strip().lower(), text))
    except ValueError:
        return False
    # a motor may be mounted the other way round
    return abs(value) == NEUTRAL.get(attribute or element.word, math.nan)


def _unread_sentence(found: Unread, more: str) -> str:
    element, attribute = found
    owner = element.parent
    advice = "what it says is left out."
    if not attribute and (
        element.word in CLOSING or (element.word == "joint" and owner is not None)
    ):
        advice = "close the loop with loops=."
    if set(DRIVES) & {step.partition("[")[0] for step in element.place}:
        advice = "motors are taken at the joint."
    if attribute:
        what, known, form = (
            f"{element.what}: the attribute {attribute}",
            element.marks.attributes,
            "{}",
        )
    elif owner is None or owner.parent is None:
        known, form = set() if owner is None else owner.marks.children, "<{}>"
        what = f"the URDF has a <{element.word}>, which"
    else:
        name = f' name="{element.get("name", "")}"' if element.word == "param" else ""
        what, known, form = f"{owner.what}: <{element.word}{name}>", owner.marks.children, "<{}>"
    near = get_close_matches(attribute or element.word, sorted(known), n=1, cutoff=0.75)
    hint = f"; did you mean {form.format(near[0])}?" if near else f"; {advice}"
    return f"{what} is not read{more}{hint}"
