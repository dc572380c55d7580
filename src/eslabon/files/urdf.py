"""URDF: a robot as ROS and its friends write it, with closed loops from a YAML file beside it (see `loops_yaml`).

Links become bodies, joints become joints, visuals become shapes (`urdf_visuals`); what else does not matter to rigid-body
dynamics (collision, gazebo, ...) is passed over. The XML is parsed with defusedxml, which refuses entities and DTDs.

Where the specification leaves room:

* The root link is a body on the ground, held by a joint called ``root_joint`` of the kind ``base`` says. A root called
  ``ground``, or ``world`` if it has no inertia, is the ground itself, and ``world`` stays as a frame's name.
* A revolute or prismatic joint whose ``<limit>`` gives neither lower nor upper has no limits. (By the letter both are 0
  and the joint could not move; every program that leaves them out means no limits.) If one is given, the other is 0.
* With loops, a joint's angles that are quarter turns rounded to four decimals or more (1.5708, 3.14159) are quarter
  turns, and a warning says so: a linkage whose axes are parallel but for rounding does not close. Without loops all
  numbers are as written, so that results compare to those of other programs.
* A ``<group_state>``, as in SRDF, is a mode; that of the name ``home`` is where the joints start.
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
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from eslabon import model
from eslabon.arguments import flag, known_words
from eslabon.errors import ModelError, ModelWarning, ReadError, depth_of_user, format_value, suggest
from eslabon.files.findings import Findings
from eslabon.files.meshes import Packages
from eslabon.files.urdf_constraints import add_constraint
from eslabon.files.urdf_loops import Closures, read_closures
from eslabon.files.urdf_visuals import add_visuals
from eslabon.files.xml_elements import (
    KINDS,
    Tag,
    Tags,
    axis_of,
    children,
    kind_of,
    misspelled,
    name_of,
    parse,
    pose,
)
from eslabon.model import GROUND, Body, Builder, Description
from eslabon.model.admissible import principal_moments
from eslabon.model.joints import OneAxis
from eslabon.model.poses import ORIGIN
from eslabon.numerics.tolerances import INPUT_DIGITS

HOME = "home"  # the <group_state> that joints start from; others are modes
BASES = ("fixed", "free", "planar")
SLIGHT = 0.1  # of the largest moment: how negative one may be and still be repaired
UNBOUNDED = (
    1e30  # an effort or velocity limit that is none: the parser of ROS wants a number, and not inf
)
MOMENTS = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
Ends = Mapping[str, tuple[str, ...]]  # a joint's parent and child links


def read_urdf(
    path: Path,
    findings: Findings | None = None,
    *,
    loops: Any = None,
    base: str = "fixed",
    repair: bool = False,
    packages: Packages = None,
) -> Description:
    """The mechanism a URDF file describes.

    `loops` closes it: a YAML file's path, a list of pairs of frames or of ``{"frames": (a, b), "kind": "spherical"}``
    (any joint kind; "3d" and "6d" as in the YAML, 6d by default), a mapping with the YAML's keys, or False for none, not
    even the file's own ``<constraint>`` elements; left out, the YAML of the same name beside the URDF if there is one.
    `base` is how the root link stands on the ground: "fixed", "free" or "planar"; a moving base has no motor. With
    `repair` missing entries of inertias and slightly negative moments are zero; the note and a warning list them. `packages`
    are folders, or folders by name, where meshes of ``package://`` are (`eslabon.files.meshes`).
    """
    findings = findings or Findings()
    if base not in BASES:
        raise ReadError(f"base is {format_value(base)}; it is 'fixed', 'free' or 'planar'.")
    repairs: list[str] | None = [] if flag(repair, "repair") else None
    robot = parse(path.read_bytes())
    links, joints = children(robot, "link", findings), children(robot, "joint", findings)
    if findings.gather:
        findings.odd += misspelled(robot)
    ends = _all_ends(joints, links, findings)
    joints = {name: joints[name] for name in ends}
    root, ground = next(iter(links), GROUND), None
    with findings.of(""):
        root = _root(links, ends)
        ground = root if _is_ground(root, links, base) else None
    bodies = _body_names(links, ground)
    moving = [
        name
        for name, joint in joints.items()
        if KINDS.get(joint.element.get("type", "")) != "fixed"
    ]
    closures = Closures()
    with findings.of(""):
        closures = read_closures(path, loops, moving, [*links, *joints])
    constraints = {} if loops is False else children(robot, "constraint", findings)
    if closures.cuts or constraints:
        _round_turns({**joints, **constraints}, path.name)

    b, states = Builder(robot.get("name") or path.stem), _states(robot, findings)
    _add_bodies(b, links, bodies, root, joints, base, repairs, findings)
    for name, joint in joints.items():
        parent, child = (bodies[link] for link in ends[name])
        add = partial(
            _add_joint, b, name, joint, parent, child, closures, states.get(HOME, {}).get(name)
        )
        findings.read(add, joint, ("parent", "child"), "joint", name)
    mimics = _add_mimics(b, joints, findings)
    _add_loops(b, closures, links, ends, bodies, findings)
    for name, constraint in constraints.items():
        with findings.of(name, "constraint", name):
            add_constraint(b, name, constraint, bodies)
    for name, state in states.items():
        if name != HOME:
            with findings.of(name, "group_state", name):
                b.mode(name, state)
    add_visuals(b, robot, links, bodies, path, findings, packages)
    _actuate(b, joints, moving, mimics, closures, _driven(robot) if constraints else None)
    return replace(b.describe(), note=_note(path.name, links, bodies, ground, repairs))


def _all_ends(joints: Tags, links: Tags, findings: Findings) -> dict[str, tuple[str, ...]]:
    """The parent and child links of the joints."""
    ends = {}
    for name, joint in joints.items():
        with findings.of(name, "joint", name):
            own = tuple(joint.child(tag).text("link") for tag in ("parent", "child"))
            known_words(own, links, f"{joint.what} joins the unknown link", ReadError)
            ends[name] = own
    return ends


def _body_names(links: Tags, ground: str | None) -> dict[str, str]:
    """What each link is called here: `ground` is the fixed frame's name, and a moving link of that name gets another."""
    taken = (f"ground_link{k}" for k in ("", *range(2, len(links) + 3)))
    other = next(name for name in taken if name not in links)
    return {name: GROUND if name == ground else other if name == GROUND else name for name in links}


def _note(
    file: str, links: Tags, bodies: Mapping[str, str], ground: str | None, repairs: list[str] | None
) -> str:
    """Where the numbers come from, and what was changed; repairs are a warning too."""
    if repairs:
        warnings.warn(
            f"{file}: repaired: {'; '.join(repairs)}.", ModelWarning, stacklevel=depth_of_user()
        )
    changed = [f"Repaired: {'; '.join(repairs)}."] if repairs else []
    if GROUND in links and ground != GROUND:
        changed.append(
            f"The link 'ground' is called '{bodies[GROUND]}', for 'ground' is the fixed frame's name."
        )
    return " ".join([f"Read from {file}.", *changed])


def _states(robot: Element, findings: Findings) -> dict[str, dict[str, tuple[float, ...]]]:
    """Coordinates by joint of every <group_state>, as SRDF writes them."""
    return {
        name: {
            (j := Tag(e, state.what, f"{state.what}: <joint>")).text("name"): j.list("value")
            for e in state.element
        }
        for name, state in children(robot, "group_state", findings).items()
    }


def _driven(robot: Element) -> tuple[str, ...]:
    """The joints that a <transmission>, or a command interface of <ros2_control>, names."""
    drives = [e for e in robot if name_of(e) in ("transmission", "ros2_control")]
    named = [j for e in drives for j in e.iter() if name_of(j) == "joint" and j.get("name")]
    interfaces = [(j.attrib["name"], {name_of(x) for x in j}) for j in named]
    return tuple(
        dict.fromkeys(
            name
            for name, has in interfaces
            if "command_interface" in has or "state_interface" not in has
        )
    )


def _add_bodies(
    b: Builder,
    links: Tags,
    bodies: Mapping[str, str],
    root: str,
    joints: Tags,
    base: str,
    repairs: list[str] | None,
    findings: Findings,
) -> None:
    """The bodies, and the joint that carries the root."""
    for name, link in links.items():
        if bodies[name] != GROUND:
            findings.read(
                partial(_add_body, b, bodies[name], link, repairs), link, (), "link", name
            )
    if GROUND not in bodies.values():
        taken = (f"root_joint{k}" for k in ("", *range(2, len(joints) + 3)))
        b.joint(
            next(name for name in taken if name not in joints), base, GROUND, bodies.get(root, root)
        )
    elif root != GROUND:
        b.frame(root, GROUND)


# -- links --------------------------------------------------------------------------------------------------------


def _add_body(b: Builder, name: str, link: Tag, repairs: list[str] | None) -> None:
    b.body(name, **_inertial(link, repairs))


def _inertial(link: Tag, repairs: list[str] | None) -> dict[str, Any]:
    """Mass, centre of mass and inertia in the link's own axes; what is not given is zero."""
    inertial = link.child("inertial")
    at, mass, inertia = (
        pose(inertial.child("origin")),
        inertial.child("mass"),
        inertial.child("inertia"),
    )
    made: dict[str, Any] = {"com": at.position}
    if mass.there:
        made["mass"] = _entry(mass, "value", repairs)
    if inertia.there:
        moments = tuple(_entry(inertia, key, repairs) for key in MOMENTS)
        made["inertia"] = moments = _admissible(moments, link.what, repairs)
        if at.rpy != ORIGIN:
            R = at.rotation()
            with np.errstate(all="ignore"):  # what overflows is refused by the model
                I = R @ Body("", inertia=moments).inertia_matrix() @ R.T
                made["inertia"] = (I + I.T) / 2
    return made


def _entry(tag: Tag, key: str, repairs: list[str] | None) -> float:
    """A number of mass or inertia; where it is not there and may be repaired, zero."""
    if repairs is not None and not tag.element.get(key, "").strip():
        repairs.append(f"{tag.what} has no {key}, which is 0 now")
        return 0.0
    return tag.number(key)


def _admissible(
    moments: tuple[float, ...], what: str, repairs: list[str] | None
) -> tuple[float, ...]:
    """The moments without a negative principal one, if that is so small that it may be a slip of rounding or of a mesh."""
    least, *_, largest = principal_moments([Body("", inertia=moments)])[0]
    if not -SLIGHT * abs(largest) <= least < -INPUT_DIGITS * abs(largest):
        return moments
    if repairs is None:
        raise ModelError(
            f"{what}: the inertia has the negative principal value {least:g}; check its entries and that it is about the "
            "centre of mass, or set it to zero with repair=True."
        )
    repairs.append(f"{what}: the negative principal moment of inertia {least:g} is 0 now")
    values, axes = np.linalg.eigh(Body("", inertia=moments).inertia_matrix())
    I = axes * np.maximum(values, 0.0) @ axes.T
    return (*np.diag(I).tolist(), float(I[0, 1]), float(I[0, 2]), float(I[1, 2]))


# -- joints -------------------------------------------------------------------------------------------------------


def _joint(name: str, joint: Tag, closures: Closures) -> dict[str, Any]:
    """A joint's kind, place and data, as the Builder takes them."""
    kind, at = kind_of(joint), pose(joint.child("origin"))
    if name in closures.kinds and kind != "fixed":
        # limits and friction in the file are those of the placeholder
        kind, axis = closures.kinds[name]
        return {"kind": kind, "at": at, "axis": axis}
    return {
        "kind": kind,
        "at": at,
        "axis": _axes(joint, kind),
        # Drake's pitch is in metres a turn
        "pitch": joint.child("screw_thread_pitch").number("value") / (2 * math.pi)
        if kind == "helical"
        else None,
        **(_limits(joint) if len(model.KINDS[kind].velocities) == 1 else {}),
        **(_friction(joint) if kind != "fixed" else {}),
    }


def _add_joint(
    b: Builder,
    name: str,
    joint: Tag,
    parent: str,
    child: str,
    closures: Closures,
    home: tuple[float, ...] | None,
) -> None:
    """A joint, or the two revolute ones with a cross between them that a universal joint is if a motor drives one axis."""
    data, split = _joint(name, joint, closures), closures.axis_motors(name)
    if split is None:
        b.joint(name, parent=parent, child=child, home=home, **data)
        return
    (first, second), (inner, outer) = split, data["axis"]
    b.body(first)
    b.joint(first, "revolute", parent, first, at=data["at"], axis=inner)
    b.joint(second, "revolute", first, child, axis=outer)


def _round_turns(joints: Tags, where: str) -> None:
    """Quarter turns in the joints' rpy as exact as they are meant, where they are rounded."""
    rounded: dict[str, str] = {}
    for origin in (
        e
        for joint in joints.values()
        for e in joint.element.iter()
        if name_of(e).endswith("origin")
    ):
        texts = origin.get("rpy", "").split()
        for text in texts:
            if (exact := _quarter_turns(text)) is not None:
                rounded[text] = repr(exact)
        if rounded.keys() & set(texts):
            origin.set("rpy", " ".join(rounded.get(text, text) for text in texts))
    if rounded:
        few = ", ".join(list(rounded)[:4]) + ", ..." * (len(rounded) > 4)
        sentence = f"{where}: the angles {few} of joints are read as the quarter turns they round, so that the loops close."
        warnings.warn(sentence, ModelWarning, stacklevel=3)


def _quarter_turns(text: str) -> float | None:
    """The whole number of quarter turns, not none, that a text gives to at least four decimals but not exactly."""
    digits = re.fullmatch(r"[+-]?\d{1,3}\.(\d{4,14})", text)
    if not digits:
        return None
    exact = round(float(text) / (math.pi / 2)) * (math.pi / 2)
    off = abs(float(text) - exact)
    return exact if exact and np.finfo(float).eps < off < 10.0 ** -len(digits[1]) else None


def _axes(joint: Tag, kind: str) -> Any:
    """The axis of the kinds that have one, x by default, or the two of a universal joint."""
    first, second = (axis_of(joint.child(tag)) for tag in ("axis", "axis2"))
    if kind == "universal":
        if (first is None) != (second is None):
            raise ReadError(
                f"{joint.what}: a universal joint has an <axis> and an <axis2>, or neither (x, then y)."
            )
        return ("x", "y") if first is None else (first, second)
    return (first or (1.0, 0.0, 0.0)) if issubclass(model.KINDS[kind], OneAxis) else None


def _limits(joint: Tag) -> dict[str, Any]:
    limit = joint.child("limit")
    given = {
        key: limit.limit(key) for key in ("lower", "upper", "velocity", "effort") if key in limit
    }
    made = {
        f"{key}_limit": given[key]
        for key in ("velocity", "effort")
        if given.get(key, math.inf) < UNBOUNDED
    }
    if given.keys() & {"lower", "upper"} and joint.text("type") != "continuous":
        return {"limits": (given.get("lower", 0.0), given.get("upper", 0.0)), **made}
    return made


def _friction(joint: Tag) -> dict[str, Any]:
    """Viscous and Coulomb friction; <joint_properties> is what exporters of an older habit call <dynamics>."""
    dynamics, older = joint.child("dynamics"), joint.child("joint_properties")
    given = dynamics if dynamics.there else older
    keys = {"viscous": "damping", "coulomb": "friction"}
    return {name: given.number(key) for name, key in keys.items() if key in given}


def _add_mimics(b: Builder, joints: Tags, findings: Findings) -> set[str]:
    """A coupling for each joint that mimics another; the names of those that do."""
    found = set()
    for name, joint in joints.items():
        with findings.of(name, "joint", name):
            mimic = joint.child("mimic")
            if not mimic.there:
                continue
            source = mimic.text("joint")
            known_words([source], joints, f"{joint.what} mimics the unknown joint", ReadError)
            if joint.text("type") == "fixed":
                # exporters that freeze a gripper leave it behind
                sentence = (
                    f"{joint.what} is fixed and cannot mimic '{source}'; the <mimic> is left out."
                )
                warnings.warn(sentence, ModelWarning, stacklevel=2)
                continue
            (ratio,), (offset,) = (
                mimic.numbers("multiplier", 1, (1.0,)),
                mimic.numbers("offset", 1, (0.0,)),
            )
            b.couple(f"{name} mimics {source}", name, source, ratio, offset)
            found.add(name)
    return found


# -- the tree and its closures --------------------------------------------------------------------------------------


def _root(links: Tags, ends: Ends) -> str:
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


def _is_ground(root: str, links: Tags, base: str) -> bool:
    """Whether the root link stands for the ground and not for a body."""
    stands = root == GROUND or (root == "world" and not links[root].child("inertial").there)
    if stands and base != "fixed":
        raise ReadError(
            f"the root link '{root}' stands for the ground and cannot be {base}; take it and its joint away, "
            "or leave base out."
        )
    return stands


def _add_loops(
    b: Builder,
    closures: Closures,
    links: Tags,
    ends: Ends,
    bodies: Mapping[str, str],
    findings: Findings,
) -> None:
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
            raise ReadError(
                f"{closures.where}: no link or joint has the name of the frame '{frame}'{hint}"
            )
        return bodies[carried or frame]

    for cut in closures.cuts:
        with findings.of(cut.name):
            first, second = (body(frame) for frame in cut.frames)
            b.loop(cut.name, cut.kind, first, second, axis=cut.axis, pitch=cut.pitch)


def _actuate(
    b: Builder,
    joints: Tags,
    moving: list[str],
    mimics: set[str],
    closures: Closures,
    transmitted: tuple[str, ...] | None,
) -> None:
    """Motors where the YAML says; without it at every joint of a tree that moves, floats not and mimics none, and of what
    <constraint> elements close at the joints that have a transmission."""
    for name in closures.kinds:
        if name not in moving:
            _warn(
                closures,
                f"joint_name names '{name}', and no moving joint has that name",
                name,
                moving,
            )
    driven = [name for name in moving if closures.kinds.get(name, ("",))[0] != "fixed"]
    if closures.motors is not None:
        b.actuate(
            *_motors(
                closures,
                [axis for name in driven for axis in closures.axis_motors(name) or (name,)],
            )
        )
    elif transmitted is not None:
        b.actuate(*(name for name in driven if name in transmitted))
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
