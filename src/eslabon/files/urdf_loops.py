"""Closed loops of a URDF: elements of its dialects, in and out, and the YAML of public models of
parallel robots.

**Elements.** A row of `DIALECTS` says which element closes a loop and where its parts stand. The
one that is read and written is ``<constraint>``, as proposed to the parser of ROS in 2026:

    <constraint name="elbow" type="revolute">
      <parent link="upper"/> <parent_origin xyz="0.3 0 0" rpy="0 0 0"/> <parent_axis xyz="0 0 1"/>
      <child link="lower"/>  <child_origin xyz="0.5 0 0" rpy="0 0 0"/>  <child_axis xyz="0 0 1"/>
    </constraint>

It is a cut joint between two links. The types are those of joints. Origins and axes may stand
inside of ``<parent>`` and ``<child>`` too, as ``<origin>`` and ``<axis>``; left out, an origin is
the link's own and an axis is x. A universal joint turns about the parent's axis and then about the
child's. Of other kinds the child's axis is brought onto the parent's: where a joint does not turn
about its axis, the child's frame is turned by the smallest rotation that does that.

**YAML.** A URDF is a tree. The models of Gepetto's example-parallel-robots cut the loops and say in
a second file how to close them; the keys, and what their loader makes of them:

``closed_loop``
    pairs of frames to bring together. A frame has the name of a link or of a joint, and a joint's
    frame is its child's.
``type``
    "3d" (the points meet: a spherical cut joint) or "6d" (the frames meet: a fixed one), one for
    all or one each; "6d" if left out.
``name_mot``
    the joints that have motors, by name; a plain text instead of a list means every joint whose
    name contains it.
``joint_name``, ``joint_type``
    joints that are something else than the revolute placeholder in the URDF: SPHERICAL, FIXED, or
    UJOINT_XY and the like, a universal joint about the first axis at the place and then about the
    second (CARDAN is an older name of XY). A motor on one axis of a universal joint is called
    `name_X`, as their loader calls the two revolute joints it makes.

The first models have other keys, which go by parts of names:

``name_closedloop``, ``closed_loop_number``
    the loops 1, 2, ... are the pairs of frames with this text and that number in their names, up to
    the last number if it is given; "frame" may not be in the names, for exporters call the fixed
    joints of such links that.
``rotule_name``
    every joint whose name contains it is spherical.
``Lidmot``, ``Lidvmot``
    the motors by their places in another program's coordinates: no use here, so ``name_mot`` must
    be there too.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, SubElement

import numpy as np
import yaml

from eslabon import model
from eslabon.arguments import Floats, known_words
from eslabon.errors import Place, ReadError, format_value, located, suggest
from eslabon.files.diagnostics import Diagnostics, SourceText
from eslabon.files.urdf_elements import (
    TYPES,
    Axis,
    add_origin,
    add_pitch,
    axis_of,
    kind_of,
    numbers,
    pitch_of,
    pose_of,
)
from eslabon.files.xml_elements import XmlElement
from eslabon.model import Builder, Loop, Pose
from eslabon.model.constraints import perpendicular
from eslabon.model.joints import OneAxis
from eslabon.numerics import rigid_motions
from eslabon.numerics.rotations import rotation_from_quaternion
from eslabon.numerics.tolerances import ROUND_OFF

# -- elements --------------------------------------------------------------------------------------

Paths = tuple[str, ...]  # ways of elements to a part, the first of which is written


class LoopDialect(NamedTuple):
    """An element that closes a loop: where in it the links, origins and axes of its two sides
    stand."""

    element: str
    links: tuple[str, str]  # elements with the attribute `link`
    origins: tuple[Paths, Paths]
    axes: tuple[Paths, Paths]

    def known(self) -> tuple[str, ...]:
        """The elements that may stand in it."""
        paths = (
            *self.links,
            *(path for sides in (self.origins, self.axes) for x in sides for path in x),
        )
        words = (path.partition("/")[0] for path in paths)
        return tuple(dict.fromkeys((*words, "screw_thread_pitch")))


DIALECTS = (
    LoopDialect(
        "constraint",
        ("parent", "child"),
        (("parent_origin", "parent/origin"), ("child_origin", "child/origin")),
        (("parent_axis", "parent/axis"), ("child_axis", "child/axis")),
    ),
)


def add_loop_element(
    b: Builder, dialect: LoopDialect, name: str, element: XmlElement, bodies: Mapping[str, str]
) -> None:
    """The loop that an element closes; `bodies` are the links by name."""
    for part in element:
        with located(*part.place):
            word = f"{element.what} has the unknown element"
            known_words([part.word], dialect.known(), word, ReadError)
    kind = kind_of(element)
    (parent, first, inner), (child, second, outer) = (
        _side(element, dialect, side, bodies) for side in (0, 1)
    )
    if kind == "universal":
        b.loop(name, kind, parent, child, first, second, axis=(inner, outer))
    elif issubclass(model.KINDS[kind], OneAxis):
        turned = rigid_motions.pose(
            second.rotation() @ _smallest_rotation(inner, outer), second.translation()
        )
        at = second if inner == outer else turned
        b.loop(name, kind, parent, child, first, at, axis=inner, pitch=pitch_of(element, kind))
    else:
        b.loop(name, kind, parent, child, first, second)


def _side(
    element: XmlElement, dialect: LoopDialect, side: int, bodies: Mapping[str, str]
) -> tuple[str, Pose, Axis]:
    """A body, and the place and axis of the cut joint on it."""
    end = element.child(dialect.links[side])
    link = end.text_of("link")
    with located(*end.place):
        known_words([link], bodies, f"{element.what} has the unknown link", ReadError)
    origin, axis = _part(element, dialect.origins[side]), _part(element, dialect.axes[side])
    return bodies[link], pose_of(origin), axis_of(axis) or (1.0, 0.0, 0.0)


def _part(element: XmlElement, paths: Paths) -> XmlElement:
    """The one part that one of the paths leads to; an empty one if none does."""
    found = []
    for path in paths:
        part = element
        for word in path.split("/"):
            part = part.child(word)
        found.append(part)
    there = [part for part in found if part.present]
    if len(there) > 1:
        words = " and a ".join(f"<{path.replace('/', '>/<')}>" for path in paths)
        raise there[1].error(f"{element.what} has a {words}; keep one.")
    return there[0] if there else found[0]


def _smallest_rotation(a: Axis, b: Axis) -> Floats:
    """R with R a = b."""
    cosine = float(np.dot(a, b))
    about = np.cross(a, b) if cosine > -1 + ROUND_OFF else perpendicular(a)[0]
    return rotation_from_quaternion(np.array([1 + max(cosine, -1.0), *about]))


def write_loop(robot: Element, dialect: LoopDialect, loop: Loop, names: Mapping[str, str]) -> None:
    """A loop as an element; `names` are those of the links, by body."""
    kind = loop.kind.kind
    made = SubElement(robot, dialect.element, name=loop.name, type=TYPES.get(kind, kind))
    ends = (loop.first, loop.second)
    for tag, end in zip(dialect.links, ends, strict=True):
        SubElement(made, tag, link=names[end.body])
    axes = loop.kind.axes * 2 if len(loop.kind.axes) == 1 else loop.kind.axes or (None, None)
    for side, (end, axis) in enumerate(zip(ends, axes, strict=True)):
        add_origin(made, dialect.origins[side][0], end.at)
        if axis is not None:
            SubElement(made, dialect.axes[side][0], xyz=numbers(axis))
    add_pitch(made, loop.kind)


# -- YAML, and the same in code --------------------------------------------------------------------

YAML = "closures"  # what places in the YAML, or in the argument loops=, begin with
KEYS = ("closed_loop", "type", "name_mot", "joint_name", "joint_type")
PLACES = ("Lidmot", "Lidvmot")
OLDER_KEYS = ("name_closedloop", "closed_loop_number", "rotule_name", *PLACES)
CUT_KEYS = ("frames", "kind", "axis", "pitch", "name")
CUT_KINDS = {"3d": "spherical", "6d": "fixed"}
JOINT_TYPES: dict[str, tuple[str, Any]] = {
    "SPHERICAL": ("spherical", None),
    "FIXED": ("fixed", None),
    "CARDAN": ("universal", ("x", "y")),
    **{f"UJOINT_{a}{b}": ("universal", (a.lower(), b.lower())) for a, b in permutations("XYZ", 2)},
}
LARGEST_FILE = 200_000  # bytes; a hundred loops take ten thousand, and the parser is a slow one
Data = Mapping[Any, Any]  # of YAML or code: anything may stand in it
Types = dict[str, tuple[str, Any]]  # by the name of a joint its kind and axes


@dataclass(frozen=True)
class CutJoint:
    """Two frames that a joint of some kind holds together."""

    name: str
    kind: str
    frames: tuple[str, str]
    axis: Any = None
    pitch: Any = None
    place: Place = ()


@dataclass(frozen=True)
class Closures:
    """What a tree needs to become the closed mechanism; `where` begins the sentences about what
    code gives."""

    where: str = ""
    cuts: tuple[CutJoint, ...] = ()
    kinds: Types = field(default_factory=dict)
    motors: tuple[str, ...] | str | None = None  # names; a plain text is a part of them

    def axis_motors(self, joint: str) -> tuple[str, str] | None:
        """The names of a universal joint's two axes, if there is a motor at one of them alone."""
        kind, axes = self.kinds.get(joint, ("", None))
        if kind != "universal" or not self.motors:
            return None
        first, second = (f"{joint}_{axis.upper()}" for axis in axes)
        if isinstance(self.motors, str):
            asked = self.motors not in joint and (self.motors in first or self.motors in second)
        else:
            asked = first in self.motors or second in self.motors
        return (first, second) if asked else None


def read_closures(
    loops: Any, joints: Collection[str], frames: Collection[str], diagnostics: Diagnostics
) -> Closures:
    """The closures of a URDF with these moving joints and frames: from the YAML of the same name
    (None), from another one, from code, or none (False)."""
    urdf = diagnostics.source.path
    if loops is False:
        return Closures()
    if loops is None:
        beside = [p for p in (urdf.with_suffix(".yaml"), urdf.with_suffix(".yml")) if p.is_file()]
        if len(beside) > 1:
            raise ReadError(
                f"both {beside[0].name} and {beside[1].name} stand beside it; name one of them with loops=."
            )
        if not beside:
            _warn_of_another_name(urdf, diagnostics)
            return Closures()
        hint = " (loops=False leaves the file alone)"
        data = _read_yaml(beside[0], hint, diagnostics.source)
        return _LoopKeys(data, "", diagnostics, joints, frames).closures(hint)
    if isinstance(loops, str | Path):
        data = _read_yaml(Path(loops), "", diagnostics.source)
        return _LoopKeys(data, "", diagnostics, joints, frames).closures()
    if isinstance(loops, list | tuple):
        loops = {"closed_loop": list(loops)}
    if not isinstance(loops, Mapping):
        raise ReadError(
            f"loops is a YAML file, a list of pairs of frames, or False; it is {format_value(loops)}."
        )
    return _LoopKeys(loops, "loops: ", diagnostics, joints, frames).closures()


def _warn_of_another_name(urdf: Path, diagnostics: Diagnostics) -> None:
    """The public loader's YAML is robot.yaml whatever the URDF is called; unread, its robot would
    be a tree."""
    other = urdf.with_name("robot.yaml")
    if (
        urdf.with_name("robot.urdf").exists()
        or not other.is_file()
        or other.stat().st_size > LARGEST_FILE
    ):
        return
    if b"closed_loop" in other.read_bytes():
        diagnostics.warn(
            "robot.yaml beside it lists loops and is not read, for its name is another; "
            "give it with loops=, or loops=False for the tree."
        )


class _Loader(yaml.BaseLoader):
    """Everything is text, so that a joint may be called `on` or `1`; a key given twice is an
    error."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if key.value in seen:
                sentence = f"the key {key.value!r} is given twice"
                raise yaml.MarkedYAMLError(problem=sentence, problem_mark=key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def _read_yaml(path: Path, otherwise: str, source: SourceText) -> Data:
    """What a YAML file says; `otherwise` is what to do if another file was meant."""
    source.lines_from(lambda: {(YAML,): 1}, path)
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise ReadError(
                f"the file has {path.stat().st_size} bytes; a list of loops is smaller."
            ).at(YAML)
        loader = _Loader(path.read_bytes())
        node = loader.get_single_node()
        data = None if node is None else loader.construct_document(node)
    except (OSError, ValueError) as error:  # the latter for a NUL in the path
        if isinstance(error, ReadError):
            raise
        why = getattr(error, "strerror", None) or error
        raise ReadError(f"the loops of {str(path)!a} cannot be read: {why}.") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = source.line(mark.line + 1, path) if mark else (YAML,)
        said = " ".join(str(error).split())
        raise ReadError(f"this is not valid YAML: {said}.").at(*place) from None
    except RecursionError:
        raise ReadError("the lists are nested too deeply.").at(YAML) from None
    if not isinstance(data, dict) or not isinstance(node, yaml.MappingNode):
        raise ReadError(
            f"this has no keys such as closed_loop{otherwise}; it is {format_value(data)}."
        ).at(YAML)
    source.lines_from(lambda: dict(_yaml_lines(node)), path)
    return data


def _yaml_lines(document: yaml.MappingNode) -> Iterator[tuple[Place, int]]:
    """The lines of the keys of a file, and of the entries in lists under them, numbered from 1."""
    for key, value in document.value:
        if isinstance(key, yaml.ScalarNode):
            yield (YAML, key.value), key.start_mark.line + 1
            if isinstance(value, yaml.SequenceNode):
                for k, entry in enumerate(value.value, start=1):
                    yield (YAML, key.value, str(k)), entry.start_mark.line + 1


class _LoopKeys(NamedTuple):
    """The keys of a YAML file or of a mapping in code, for a URDF with these moving joints and
    frames."""

    data: Data
    where: str
    diagnostics: Diagnostics
    joints: Collection[str]
    frames: Collection[str]

    def closures(self, otherwise: str = "") -> Closures:
        data, where, reading = self.data, self.where, self.diagnostics.reading
        for key in data:
            with reading(YAML, str(key)):
                word = f"{where}this{otherwise} has the unknown key"
                known_words([key], (*KEYS, *OLDER_KEYS), word, ReadError)
        cuts: tuple[CutJoint, ...] = ()
        kinds: Types = {}
        motors = data.get("name_mot")
        with reading(YAML, "joint_name"):
            kinds |= self._types()
        with reading(YAML, "closed_loop" if "closed_loop" in data else "name_closedloop"):
            cuts = self._cuts()
        with reading(YAML, "rotule_name"):
            kinds = self._balls() | kinds
        with reading(YAML, "name_mot"):
            self._check_places()
            if motors is not None and not (isinstance(motors, str) and motors):
                motors = tuple(self._texts("name_mot"))
        return Closures(where, cuts, kinds, motors)

    def _error(self, sentence: str, *place: str) -> ReadError:
        return ReadError(f"{self.where}{sentence}").at(YAML, *place)

    def _types(self) -> Types:
        """The joints that are something else than the URDF says."""
        names = self._texts("joint_name")
        for name, count in Counter(names).items():
            if count > 1:
                raise self._error(
                    f"joint_name names the joint '{name}' twice; keep one, with its joint_type.",
                    *("joint_name", str(len(names) - names[::-1].index(name))),
                )
        made: Types = {}
        for k, (name, text) in enumerate(
            zip(names, self._one_each("joint_type", names, "joint_name"), strict=True), start=1
        ):
            with located(YAML, "joint_type", str(k)):
                word = f"{self.where}the joint '{name}' has the unknown joint_type"
                known_words([text.upper()], JOINT_TYPES, word, ReadError)
            made[name] = JOINT_TYPES[text.upper()]
        return made

    def _check_places(self) -> None:
        for key in PLACES:
            if key in self.data and self.data.get("name_mot") is None:
                raise self._error(
                    f"{key} numbers the motors in another program's order; name them under name_mot.",
                    key,
                )
            if key in self.data:
                self.diagnostics.warn(
                    f"{self.where}{key} is left out: name_mot gives the motors by name.", YAML, key
                )

    def _part_of_names(self, key: str) -> str:
        value = self.data.get(key, "")
        if not isinstance(value, str) or (key in self.data and not value):
            raise self._error(
                f"{key} is a part of names, a text; it is {format_value(value)}.", key
            )
        return value

    def _balls(self) -> Types:
        """The joints that `rotule_name` makes spherical."""
        part = self._part_of_names("rotule_name")
        found = {name: JOINT_TYPES["SPHERICAL"] for name in self.joints if part and part in name}
        if part and not found:
            hint = suggest(part, self.joints, "; name the spherical joints under joint_name.")
            raise self._error(
                f"rotule_name is '{part}', and no moving joint's name contains it{hint}",
                "rotule_name",
            )
        return found

    def _cuts(self) -> tuple[CutJoint, ...]:
        data, entries = self.data, self.data.get("closed_loop") or []
        if part := self._part_of_names("name_closedloop"):
            if entries:
                raise self._error(
                    "closed_loop and the older name_closedloop both give the loops; keep closed_loop.",
                    "name_closedloop",
                )
            if not isinstance(data.get("type", "6d"), str):
                raise self._error(
                    f"with name_closedloop one type serves all loops; it is {format_value(data['type'])}.",
                    "type",
                )
            entries = self._numbered_pairs(part, data.get("closed_loop_number", 0))
        elif "closed_loop_number" in data:
            raise self._error(
                "closed_loop_number goes with name_closedloop; take it away, or give that too.",
                "closed_loop_number",
            )
        if not isinstance(entries, list | tuple):
            raise self._error(
                f"closed_loop is a list of pairs of frames; it is {format_value(entries)}.",
                "closed_loop",
            )
        types = self._one_each("type", entries, "closed_loop", "6d")
        return tuple(
            self._cut(entry, text, k)
            for k, (entry, text) in enumerate(zip(entries, types, strict=True), start=1)
        )

    def _numbered_pairs(self, part: str, last: Any) -> list[list[str]]:
        """The pairs of frames with a part and the same number in their names; 0 for the last number
        takes them all."""
        if not re.fullmatch(r"-?\d{1,6}", str(last)):
            raise self._error(
                f"closed_loop_number is the number of loops; it is {format_value(last)}.",
                "closed_loop_number",
            )
        count = max(0, int(last))
        pairs: dict[int, list[str]] = {}
        for name in dict.fromkeys(self.frames):
            number = re.search(re.escape(part) + r"(\d{1,6})(?!\d)", name)
            if number and "frame" not in name and int(number[1]) <= (count or math.inf):
                pairs.setdefault(int(number[1]), []).append(name)
        wanted = range(1, count + 1) if count else sorted(pairs)
        for k in wanted:
            if len(pairs.get(k, [])) != 2:
                names = ", ".join(f"'{name}'" for name in pairs.get(k, [])[:4]) or "none"
                raise self._error(
                    f"name_closedloop asks for two frames with '{part}{k}' in their names; found: {names}; "
                    "list the pairs under closed_loop.",
                    "name_closedloop",
                )
        if not pairs:
            raise self._error(
                f"name_closedloop is '{part}', and no frame has it and a number in its name; "
                "list the pairs of frames under closed_loop.",
                "name_closedloop",
            )
        return [pairs[k] for k in wanted]

    def _cut(self, entry: Any, text: str, k: int) -> CutJoint:
        """A pair of frames, or a mapping with `frames` and whatever else the cut joint needs."""
        self._check_type(text, k)
        place = ("closed_loop", str(k)) if "closed_loop" in self.data else ("name_closedloop",)
        entry = entry if isinstance(entry, Mapping) else {"frames": entry}
        with located(YAML, *place):
            known_words(entry, CUT_KEYS, f"{self.where}a loop has the unknown key", ReadError)
        frames = entry.get("frames")
        if (
            not isinstance(frames, list | tuple)
            or len(frames) != 2
            or not all(isinstance(f, str) for f in frames)
        ):
            raise self._error(
                f"a loop is a pair of frame names, as in ['a', 'b']; it is {format_value(frames)}.",
                *place,
            )
        kind = str(entry.get("kind", text))
        first, second = frames
        return CutJoint(
            str(entry.get("name", f"{first}_{second}")),
            CUT_KINDS.get(kind.lower(), kind),
            (first, second),
            entry.get("axis"),
            entry.get("pitch"),
            (YAML, *place),
        )

    def _check_type(self, text: str, k: int) -> None:
        if text.lower() == "planar":  # three rows of the six: a linkage in a plane needs no more
            raise self._error(
                "the type 'planar' of a loop is of an older form; a linkage in a plane closes with '6d'.",
                *("type", str(k)),
            )
        if text.lower() not in CUT_KINDS:
            raise self._error(
                f"the type {format_value(text)} of a loop is not known; it is '3d' or '6d'.",
                *("type", str(k)),
            )

    def _texts(self, key: str, default: Any = None) -> list[str]:
        """A list of names; one name may stand alone, and nothing is no name."""
        value = self.data.get(key, default)
        items = [value] if isinstance(value, str) and value else value or []
        if not isinstance(items, list | tuple) or not all(isinstance(x, str) and x for x in items):
            raise self._error(f"{key} is a list of names; it is {format_value(value)}.", key)
        return list(items)

    def _one_each(self, key: str, owners: Any, of: str, default: Any = None) -> list[str]:
        """A text for each owner; a single one serves them all."""
        texts = self._texts(key, default)
        if isinstance(self.data.get(key, default), str) and texts:
            return texts * len(owners)
        if len(texts) != len(owners):
            raise self._error(
                f"{key} has {len(texts)} entries and {of} has {len(owners)}; give one for each.",
                key,
            )
        return texts
