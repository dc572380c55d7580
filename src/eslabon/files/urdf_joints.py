"""The joints of a URDF, in and out: kinds, axes, limits, friction, ``<mimic>``, ``<group_state>``
and transmissions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from xml.etree.ElementTree import Element, SubElement

from eslabon import model
from eslabon.arguments import known_words
from eslabon.errors import ReadError, located, suggest
from eslabon.files.diagnostics import Diagnostics
from eslabon.files.urdf_elements import (
    TYPES,
    add_origin,
    add_pitch,
    axis_of,
    elements_by_name,
    kind_of,
    numbers,
    pitch_of,
    pose_of,
)
from eslabon.files.urdf_loops import YAML, Closures
from eslabon.files.xml_elements import XmlElement
from eslabon.model import Builder, Coupling, Joint
from eslabon.model.joints import OneAxis

# An effort or velocity limit that is none: the parser of ROS wants a number, and not inf
UNBOUNDED = 1e30
DATA = (
    "axis",
    "axis2",
    "limit",
    "dynamics",
    "joint_properties",
    "safety_controller",
    "screw_thread_pitch",
)
# Where the fields of a joint stand in its element
FIELDS = {
    "kind": (),
    "at": ("origin",),
    "rpy": ("origin",),
    "pitch": ("screw_thread_pitch",),
    "limits": ("limit",),
    "velocity_limit": ("limit",),
    "effort_limit": ("limit",),
    "viscous": ("dynamics",),
    "coulomb": ("dynamics",),
}
# In plugins of Gazebo: joints that follow others, and loads of a fluid
ACTING = ("mimicJoint", "mimic_joint", "air_density", "fluid_density", "uniform_fluid_density")
FULL_TURN = 6.28  # rad; limits of a continuous joint that leave it as much mean none
State = Mapping[str, tuple[float, ...]]  # coordinates by joint
Joints = Mapping[str, XmlElement]


# -- reading ---------------------------------------------------------------------------------------


def joint_data(
    name: str, joint: XmlElement, closures: Closures, diagnostics: Diagnostics
) -> dict[str, Any]:
    """A joint's kind, place and data, as the Builder takes them; without what is wrong when
    mistakes are collected."""
    kind = kind_of(joint)
    made: dict[str, Any] = {"kind": kind}
    with diagnostics.reading():
        made["at"] = pose_of(joint.child("origin"))
    if name in closures.kinds and kind != "fixed":
        # limits and friction in the file are those of the placeholder
        joint.pass_over(*DATA)
        made["kind"], made["axis"] = closures.kinds[name]
        return made
    if kind == "fixed":  # exporters write the data of joints that were made fixed
        joint.pass_over(*DATA)
        return made
    with diagnostics.reading():
        made["axis"] = _axes(joint, kind)
    made["pitch"] = pitch_of(joint, kind)
    if len(model.KINDS[kind].velocities) == 1:
        with diagnostics.reading():
            made |= _limits(joint, diagnostics)
    with diagnostics.reading():
        made |= _friction(joint)
    joint.children("safety_controller")
    return made


def add_joint(
    b: Builder,
    name: str,
    joint: XmlElement,
    ends: tuple[str, str],
    closures: Closures,
    home: tuple[float, ...] | None,
    diagnostics: Diagnostics,
) -> None:
    """A joint, or the two revolute ones with a cross between them that a universal joint is if a
    motor drives one axis."""
    data, split = joint_data(name, joint, closures, diagnostics), closures.axis_motors(name)
    parent, child = ends
    diagnostics.source.write_down(("joints", name), joint.place, FIELDS)
    if split is None:
        diagnostics.add_item(
            b, "joints", name, {**data, "parent": parent, "child": child, "home": home}
        )
        return
    (first, second), (inner, outer) = split, data["axis"]
    b.body(first)
    b.joint(first, "revolute", parent, first, at=data.get("at"), axis=inner)
    b.joint(second, "revolute", first, child, axis=outer)


def add_cut_joint(
    b: Builder, name: str, joint: XmlElement, ends: tuple[str, str], diagnostics: Diagnostics
) -> None:
    """A joint that closes a loop, since its child hangs on another one. What belongs to its motion
    is left out."""
    kind = kind_of(joint)
    data = {"axis": _axes(joint, kind), "pitch": pitch_of(joint, kind)}
    b.loop(name, kind, *ends, pose_of(joint.child("origin")), **data)
    diagnostics.source.write_down(("loops", name), joint.place, FIELDS)


def _axes(joint: XmlElement, kind: str) -> Any:
    """The axis of the kinds that have one, x by default, or the two of a universal joint."""
    if kind == "universal":
        first, second = (axis_of(joint.child(tag)) for tag in ("axis", "axis2"))
        if (first is None) != (second is None):
            raise joint.error(
                f"{joint.what}: a universal joint has an <axis> and an <axis2>, or neither (x, then y)."
            )
        return ("x", "y") if first is None else (first, second)
    if not issubclass(model.KINDS[kind], OneAxis):
        joint.pass_over("axis")  # exporters write one for every joint
        return None
    return axis_of(joint.child("axis")) or (1.0, 0.0, 0.0)


def _limits(joint: XmlElement, diagnostics: Diagnostics) -> dict[str, Any]:
    limit = joint.child("limit")
    given = {
        key: limit.limit(key) for key in ("lower", "upper", "velocity", "effort") if limit.has(key)
    }
    made = {
        f"{key}_limit": given[key]
        for key in ("velocity", "effort")
        if given.get(key, math.inf) < UNBOUNDED
    }
    if given.keys() & {"lower", "upper"}:
        lower, upper = given.get("lower", 0.0), given.get("upper", 0.0)
        if joint.text_of("type") == "continuous":
            if 0 < upper - lower < FULL_TURN:
                diagnostics.leave_out(
                    f"{joint.what} is continuous, and its <limit> lower and upper is not read; "
                    "make it revolute if it has limits.",
                    *limit.place,
                )
            return made
        if lower <= upper:
            return {"limits": (lower, upper), **made}
        diagnostics.warn(
            f"{joint.what}: the lower limit {lower:g} is above the upper {upper:g}, which is read as no limit; "
            "take both away, or exchange them.",
            *limit.place,
        )
    return made


def _friction(joint: XmlElement) -> dict[str, Any]:
    """Viscous and Coulomb friction; <joint_properties> is what exporters of an older habit call
    <dynamics>."""
    dynamics, older = joint.child("dynamics"), joint.child("joint_properties")
    given = dynamics if dynamics.present else older
    keys = {"viscous": "damping", "coulomb": "friction"}
    return {name: given.number(key) for name, key in keys.items() if given.has(key)}


def add_mimics(
    b: Builder, joints: Joints, cut: Iterable[str], diagnostics: Diagnostics
) -> set[str]:
    """A coupling for each joint that mimics another; the names of those that do."""
    found: set[str] = set()
    for name, joint in joints.items():
        with diagnostics.reading(*joint.place):
            mimic = joint.child("mimic")
            if not mimic.present:
                continue
            source = mimic.text_of("joint")
            with located(*mimic.place):
                known_words([source], joints, f"{joint.what} mimics the unknown joint", ReadError)
            ratio, offset = (
                mimic.numbers(key, 1, (default,))[0]
                for key, default in (("multiplier", 1.0), ("offset", 0.0))
            )
            if joint.attrib.get("type") == "fixed":
                # exporters that freeze a gripper leave it behind
                diagnostics.warn(
                    f"{joint.what} is fixed and cannot mimic '{source}'; the <mimic> is left out.",
                    *mimic.place,
                )
                continue
            if lost := [x for x in (name, source) if x in cut]:
                diagnostics.leave_out(
                    f"{joint.what} mimics '{source}', and '{lost[0]}' is cut and has no coordinate; "
                    "the <mimic> is left out.",
                    *mimic.place,
                )
                continue
            coupling = f"{name} mimics {source}"
            b.couple(coupling, name, source, ratio, offset)
            diagnostics.source.write_down(("couplings", coupling), mimic.place)
            found.add(name)
    return found


def read_states(robot: XmlElement, diagnostics: Diagnostics) -> dict[str, State]:
    """Coordinates by joint of every <group_state>, as SRDF writes them."""
    made: dict[str, State] = {}
    for name, state in elements_by_name(robot, "group_state", diagnostics).items():
        with diagnostics.reading(*state.place):
            joints = state.children("joint")
            made[name] = {j.text_of("name"): j.all_numbers("value") for j in joints}
            diagnostics.source.write_down(("modes", name), state.place)
    return made


def driven_joints(robot: XmlElement, joints: Joints, diagnostics: Diagnostics) -> tuple[str, ...]:
    """The joints that a <transmission>, or a command interface of <ros2_control>, names.

    Motors are taken at the joint: gears, offsets, motors that drive several joints together and
    further limits stay unread, unless they say what holds anyway."""
    controls, found = robot.children("ros2_control"), dict[str, None]()
    drives = [x for owner in (robot, *controls) for x in owner.children("transmission")]
    for drive in drives:
        drive.children("actuator")
        _pass_over_simple_type(drive)
        parts = [joint for element in drive.iter() for joint in element.children("joint")]
        found |= dict.fromkeys(_known_joints(drive, parts, joints, diagnostics))
    for control in controls:
        parts = control.children("joint")
        for part in parts:
            _pass_over_what_holds(part, joints)
        commanded = [part for part in parts if _is_commanded(part)]
        found |= dict.fromkeys(_known_joints(control, commanded, joints, diagnostics))
    return tuple(found)


def _known_joints(
    drive: XmlElement, parts: Iterable[XmlElement], joints: Joints, diagnostics: Diagnostics
) -> Iterator[str]:
    for part in parts:
        if name := part.optional_text("name"):
            if name not in joints:
                hint = suggest(name, joints, "; it is left out.")
                diagnostics.leave_out(
                    f"{drive.what} drives the unknown joint '{name}'{hint}", *part.place
                )
            yield name


def _is_commanded(joint: XmlElement) -> bool:
    words = {e.word for e in joint}
    return "command_interface" in words or "state_interface" not in words


def _pass_over_simple_type(drive: XmlElement) -> None:
    """Of a drive with one motor and one joint; of any other type not all is read."""
    if _is_simple(drive.get("type")):
        drive.optional_text("type")
    drive.marks.passed_over |= {
        e for e in drive if e.word in ("type", "plugin") and _is_simple(e.text)
    }


def _is_simple(kind: str | None) -> bool:
    return not (kind or "").strip() or "simple" in str(kind).lower()


def _pass_over_what_holds(part: XmlElement, joints: Joints) -> None:
    """The parameters of a joint in <ros2_control> that say what its own element says too, or no
    more than that: a joint that it mimics, and limits of commands that are not narrower."""
    joint = joints.get(part.optional_text("name"), XmlElement("joint"))
    parameters = {e.get("name", ""): e for e in part if e.word == "param"}
    mimicked = (parameters["mimic"].text or "") if "mimic" in parameters else None
    mimics = joint.find("mimic")
    repeated = mimics is not None and mimics.get("joint") == (mimicked or "").strip()
    part.marks.passed_over |= {
        e for name, e in parameters.items() if repeated or name not in ("mimic", "multiplier")
    }
    limit = joint.find("limit")
    for command in part.children("command_interface"):
        ends = _command_range(command.get("name", ""), {} if limit is None else limit.attrib)
        for e in command:
            side = {"min": 0, "max": 1}.get(e.get("name", ""))
            if side is None or _is_not_narrower(e.text, side, ends):
                command.marks.passed_over.add(e)


def _command_range(command: str, limit: Mapping[str, str]) -> tuple[float, float]:
    """What the <limit> of a joint leaves to a command of that name."""
    try:
        if command == "position" and limit:
            return float(limit.get("lower", 0)), float(limit.get("upper", 0))
        largest = float(limit.get(command, math.inf))
    except ValueError:  # the joint itself says what is wrong
        return -math.inf, math.inf
    return -largest, largest


def _is_not_narrower(text: str | None, side: int, ends: tuple[float, float]) -> bool:
    try:
        value = float(text or "")
    except ValueError:
        return False
    return value <= ends[0] if side == 0 else value >= ends[1]


def pass_over_plugins(robot: XmlElement) -> None:
    """Pass over plugins of Gazebo, but for the parts of them that constrain or load."""
    for gazebo in robot.children("gazebo"):
        for plugin in gazebo.children("plugin"):
            plugin.marks.passed_over |= {e for e in plugin if e.word not in ACTING}


def actuate(
    b: Builder,
    joints: Joints,
    moving: list[str],
    mimics: set[str],
    closures: Closures,
    transmitted: tuple[str, ...] | None,
    diagnostics: Diagnostics,
) -> None:
    """Motors where the YAML says; without it at every joint of a tree that moves, floats not and
    mimics none, and of what elements of the URDF close at the joints that have a transmission."""
    for name in closures.kinds:
        if name not in moving:
            sentence = f"joint_name names '{name}', and no moving joint has that name"
            _warn(closures, sentence, name, moving, "joint_name", diagnostics)
    driven = [name for name in moving if closures.kinds.get(name, ("",))[0] != "fixed"]
    if closures.motors is not None:
        axes = [axis for name in driven for axis in closures.axis_motors(name) or (name,)]
        b.actuate(*_motors(closures, axes, diagnostics))
    elif transmitted is not None:
        b.actuate(*(name for name in driven if name in transmitted))
    elif not closures.cuts:
        b.actuate(
            *(n for n in driven if n not in mimics and joints[n].attrib.get("type") != "floating")
        )


def _motors(closures: Closures, driven: list[str], diagnostics: Diagnostics) -> Iterator[str]:
    asked = closures.motors or ()
    part = isinstance(asked, str)
    for name in [asked] if isinstance(asked, str) else dict.fromkeys(asked):
        found = [x for x in driven if (name in x if part else name == x)]
        if not found:
            has = "'s name contains it" if part else " has that name"
            sentence = f"name_mot names '{name}', and no moving joint{has}"
            _warn(closures, sentence, name, driven, "name_mot", diagnostics)
        yield from found


def _warn(
    closures: Closures,
    sentence: str,
    word: str,
    known: list[str],
    key: str,
    diagnostics: Diagnostics,
) -> None:
    hint = suggest(word, known, "; it is left out.")
    diagnostics.warn(f"{closures.where}{sentence}{hint}", YAML, key)


# -- writing ---------------------------------------------------------------------------------------


def write_joint(robot: Element, j: Joint, parent: str, coupling: Coupling | None) -> None:
    kind = j.kind.kind
    word = "continuous" if kind == "revolute" and not j.limits else kind
    made = write_jointed(robot, j.name, word, parent, j.child)
    add_origin(made, "origin", j.at)
    for tag, axis in zip(("axis", "axis2"), j.kind.axes, strict=False):
        SubElement(made, tag, xyz=numbers(axis))
    add_pitch(made, j.kind)
    if j.nv != 1:
        return
    limits = {"velocity": j.velocity_limit, "effort": j.effort_limit}
    if j.limits or any(limits.values()) or kind == "prismatic":
        ends = zip(("lower", "upper"), (j.limits or ((),))[0], strict=False)
        bounds = {key: numbers([x]) for key, x in ends}
        SubElement(
            made, "limit", bounds | {key: numbers(x or [UNBOUNDED]) for key, x in limits.items()}
        )
    friction = {"damping": j.viscous, "friction": j.coulomb}
    if any(friction.values()):
        SubElement(made, "dynamics", {key: numbers(x) for key, x in friction.items() if x})
    if coupling is not None:
        ratio, offset = numbers([coupling.ratio]), numbers([coupling.offset])
        SubElement(made, "mimic", joint=str(coupling.source), multiplier=ratio, offset=offset)


def write_jointed(robot: Element, name: str, kind: str, parent: str, child: str) -> Element:
    """A joint between two links, without its place and data."""
    made = SubElement(robot, "joint", name=name, type=TYPES.get(kind, kind))
    SubElement(made, "parent", link=parent)
    SubElement(made, "child", link=child)
    return made


def write_states(robot: Element, states: Mapping[str, State]) -> None:
    for name, state in states.items():
        made = SubElement(robot, "group_state", name=name, group="all")
        for joint, values in state.items():
            SubElement(made, "joint", name=joint, value=numbers(values))
