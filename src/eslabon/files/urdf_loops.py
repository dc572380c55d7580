"""Closed loops beside a URDF: the YAML of the public "extended URDF" models of parallel robots, or the same in code.

A URDF is a tree. The models of Gepetto's example-parallel-robots cut the loops and say in a second file how to close
them; the keys, and what their loader makes of them:

``closed_loop``
    pairs of frames to bring together. A frame has the name of a link or of a joint, and a joint's frame is its child's.
``type``
    "3d" (the points meet: a spherical cut joint) or "6d" (the frames meet: a fixed one), one for all or one each;
    "6d" if left out.
``name_mot``
    the joints that have motors, by name; a plain text instead of a list means every joint whose name contains it.
``joint_name``, ``joint_type``
    joints that are something else than the revolute placeholder in the URDF: SPHERICAL, FIXED, or UJOINT_XY and the
    like, a universal joint about the first axis at the place and then about the second (CARDAN is an older name of XY).
    A motor on one axis of a universal joint is called `name_X`, as their loader calls the two revolute joints it makes.

The first models have other keys, which go by parts of names:

``name_closedloop``, ``closed_loop_number``
    the loops 1, 2, ... are the pairs of frames with this text and that number in their names, up to the last number
    if it is given; "frame" may not be in the names, for exporters call the fixed joints of such links that.
``rotule_name``
    every joint whose name contains it is spherical.
``Lidmot``, ``Lidvmot``
    the motors by their places in another program's coordinates: no use here, so ``name_mot`` must be there too.
"""

from __future__ import annotations

import math
import re
import warnings
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from typing import Any

import yaml

from eslabon.arguments import known_words
from eslabon.errors import ModelWarning, ReadError, format_value, suggest

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


@dataclass(frozen=True)
class CutJoint:
    """Two frames that a joint of some kind holds together."""

    name: str
    kind: str
    frames: tuple[str, str]
    axis: Any = None
    pitch: Any = None


@dataclass(frozen=True)
class Closures:
    """What a tree needs to become the closed mechanism."""

    where: str = "loops"
    cuts: tuple[CutJoint, ...] = ()
    kinds: Mapping[str, tuple[str, Any]] = field(
        default_factory=dict
    )  # joint name -> kind and axes
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
    urdf: Path, loops: Any, joints: Collection[str], frames: Collection[str]
) -> Closures:
    """The closures of a URDF with these moving joints and frames: from the YAML of the same name (None), from another
    one, from code, or none (False)."""
    if loops is False:
        return Closures()
    if loops is None:
        beside = [p for p in (urdf.with_suffix(".yaml"), urdf.with_suffix(".yml")) if p.is_file()]
        if len(beside) > 1:
            raise ReadError(
                f"both {beside[0].name} and {beside[1].name} stand beside it; name one of them with loops=."
            )
        if not beside:
            _warn_of_another_name(urdf)
            return Closures()
        return _closures(
            *_from_file(beside[0], " (loops=False leaves the file alone)"), joints, frames
        )
    if isinstance(loops, str | Path):
        return _closures(*_from_file(Path(loops)), joints, frames)
    if isinstance(loops, list | tuple):
        loops = {"closed_loop": list(loops)}
    if not isinstance(loops, Mapping):
        raise ReadError(
            f"loops is a YAML file, a list of pairs of frames, or False; it is {format_value(loops)}."
        )
    return _closures(loops, "loops", "", joints, frames)


def _warn_of_another_name(urdf: Path) -> None:
    """The public loader's YAML is robot.yaml whatever the URDF is called; unread, its robot would be a tree."""
    other = urdf.with_name("robot.yaml")
    if (
        urdf.with_name("robot.urdf").exists()
        or not other.is_file()
        or other.stat().st_size > LARGEST_FILE
    ):
        return
    if b"closed_loop" in other.read_bytes():
        sentence = f"{urdf.name}: robot.yaml beside it lists loops and is not read, for its name is another; "
        warnings.warn(
            sentence + "give it with loops=, or loops=False for the tree.",
            ModelWarning,
            stacklevel=2,
        )


class _Loader(yaml.BaseLoader):
    """Everything is text, so that a joint may be called `on` or `1`; a key given twice is an error."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key in (key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if key in seen:
                raise yaml.YAMLError(f"the key {key!r} is given twice")
            seen.add(key)
        return super().construct_mapping(node, deep)


def _from_file(path: Path, otherwise: str = "") -> tuple[Mapping[Any, Any], str, str]:
    """What a YAML file says, its name, and what to do if another file was meant."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise ReadError(
                f"{path.name}: the file has {path.stat().st_size} bytes; a list of loops is smaller."
            )
        data = yaml.load(path.read_bytes(), Loader=_Loader)
    except (OSError, ValueError) as error:  # the latter for a NUL in the path
        why = getattr(error, "strerror", None) or error
        raise ReadError(f"the loops of {str(path)!a} cannot be read: {why}.") from None
    except yaml.YAMLError as error:
        raise ReadError(
            f"{path.name}: this is not valid YAML: {' '.join(str(error).split())}."
        ) from None
    except RecursionError:
        raise ReadError(f"{path.name}: the lists are nested too deeply.") from None
    if not isinstance(data, dict):
        raise ReadError(
            f"{path.name}: this has no keys such as closed_loop{otherwise}; it is {format_value(data)}."
        )
    return data, path.name, otherwise


def _closures(
    data: Mapping[Any, Any],
    where: str,
    otherwise: str,
    joints: Collection[str],
    frames: Collection[str],
) -> Closures:
    known_words(
        data, (*KEYS, *OLDER_KEYS), f"{where}: this{otherwise} has the unknown key", ReadError
    )
    names = _texts(data.get("joint_name"), f"{where}: joint_name")
    for name, count in Counter(names).items():
        if count > 1:
            raise ReadError(
                f"{where}: joint_name names the joint '{name}' twice; keep one, with its joint_type."
            )
    types = _one_each(data.get("joint_type"), names, f"{where}: joint_type", "joint_name")
    motors = data.get("name_mot")
    _check_places(data, where)
    return Closures(
        where,
        cuts=_cuts(data, where, frames),
        kinds=_balls(data, where, joints)
        | {name: _joint_type(name, text, where) for name, text in zip(names, types, strict=True)},
        motors=motors
        if motors is None or (isinstance(motors, str) and motors)
        else tuple(_texts(motors, f"{where}: name_mot")),
    )


def _check_places(data: Mapping[Any, Any], where: str) -> None:
    for key in PLACES:
        if key in data and data.get("name_mot") is None:
            raise ReadError(
                f"{where}: {key} numbers the motors in another program's order; name them under name_mot."
            )
        if key in data:
            warnings.warn(
                f"{where}: {key} is left out: name_mot gives the motors by name.",
                ModelWarning,
                stacklevel=2,
            )


def _part_of_names(data: Mapping[Any, Any], key: str, where: str) -> str:
    value = data.get(key, "")
    if not isinstance(value, str) or (key in data and not value):
        raise ReadError(f"{where}: {key} is a part of names, a text; it is {format_value(value)}.")
    return value


def _balls(
    data: Mapping[Any, Any], where: str, joints: Collection[str]
) -> dict[str, tuple[str, Any]]:
    """The joints that `rotule_name` makes spherical."""
    part = _part_of_names(data, "rotule_name", where)
    found = {name: JOINT_TYPES["SPHERICAL"] for name in joints if part and part in name}
    if part and not found:
        hint = suggest(part, joints, "; name the spherical joints under joint_name.")
        raise ReadError(
            f"{where}: rotule_name is '{part}', and no moving joint's name contains it{hint}"
        )
    return found


def _cuts(data: Mapping[Any, Any], where: str, frames: Collection[str]) -> tuple[CutJoint, ...]:
    entries = data.get("closed_loop") or []
    if part := _part_of_names(data, "name_closedloop", where):
        if entries:
            raise ReadError(
                f"{where}: closed_loop and the older name_closedloop both give the loops; keep closed_loop."
            )
        if not isinstance(data.get("type", "6d"), str):
            raise ReadError(
                f"{where}: with name_closedloop one type serves all loops; it is {format_value(data['type'])}."
            )
        entries = _numbered_pairs(part, data.get("closed_loop_number", 0), where, frames)
    elif "closed_loop_number" in data:
        raise ReadError(
            f"{where}: closed_loop_number goes with name_closedloop; take it away, or give that too."
        )
    if not isinstance(entries, list | tuple):
        raise ReadError(
            f"{where}: closed_loop is a list of pairs of frames; it is {format_value(entries)}."
        )
    types = _one_each(data.get("type", "6d"), entries, f"{where}: type", "closed_loop")
    return tuple(
        _cut(entry, _known_type(text, where), where)
        for entry, text in zip(entries, types, strict=True)
    )


def _numbered_pairs(part: str, last: Any, where: str, frames: Collection[str]) -> list[list[str]]:
    """The pairs of frames with a part and the same number in their names; 0 for the last number takes them all."""
    if not re.fullmatch(r"-?\d{1,6}", str(last)):
        raise ReadError(
            f"{where}: closed_loop_number is the number of loops; it is {format_value(last)}."
        )
    count = max(0, int(last))
    pairs: dict[int, list[str]] = {}
    for name in dict.fromkeys(frames):
        number = re.search(re.escape(part) + r"(\d{1,6})(?!\d)", name)
        if number and "frame" not in name and int(number[1]) <= (count or math.inf):
            pairs.setdefault(int(number[1]), []).append(name)
    wanted = range(1, count + 1) if count else sorted(pairs)
    for k in wanted:
        if len(pairs.get(k, [])) != 2:
            names = ", ".join(f"'{name}'" for name in pairs.get(k, [])[:4]) or "none"
            raise ReadError(
                f"{where}: name_closedloop asks for two frames with '{part}{k}' in their names; found: {names}; "
                "list the pairs under closed_loop."
            )
    if not pairs:
        raise ReadError(
            f"{where}: name_closedloop is '{part}', and no frame has it and a number in its name; "
            "list the pairs of frames under closed_loop."
        )
    return [pairs[k] for k in wanted]


def _known_type(text: str, where: str) -> str:
    if (
        text.lower() == "planar"
    ):  # three rows of the six: all that a linkage in a plane needs of a 6d loop
        raise ReadError(
            f"{where}: the type 'planar' of a loop is of an older form; a linkage in a plane closes with '6d'."
        )
    if text.lower() not in CUT_KINDS:
        raise ReadError(
            f"{where}: the type {format_value(text)} of a loop is not known; it is '3d' or '6d'."
        )
    return text


def _cut(entry: Any, text: str, where: str) -> CutJoint:
    """A pair of frames, or a mapping with `frames` and whatever else the cut joint needs."""
    entry = entry if isinstance(entry, Mapping) else {"frames": entry}
    known_words(entry, CUT_KEYS, f"{where}: a loop has the unknown key", ReadError)
    frames = entry.get("frames")
    if (
        not isinstance(frames, list | tuple)
        or len(frames) != 2
        or not all(isinstance(f, str) for f in frames)
    ):
        raise ReadError(
            f"{where}: a loop is a pair of frame names, as in ['a', 'b']; it is {format_value(frames)}."
        )
    kind = str(entry.get("kind", text))
    first, second = frames
    return CutJoint(
        str(entry.get("name", f"{first}_{second}")),
        CUT_KINDS.get(kind.lower(), kind),
        (first, second),
        entry.get("axis"),
        entry.get("pitch"),
    )


def _joint_type(name: str, text: str, where: str) -> tuple[str, Any]:
    known_words(
        [text.upper()],
        JOINT_TYPES,
        f"{where}: the joint '{name}' has the unknown joint_type",
        ReadError,
    )
    return JOINT_TYPES[text.upper()]


def _texts(value: Any, what: str) -> list[str]:
    """A list of names; one name may stand alone, and nothing is no name."""
    items = [value] if isinstance(value, str) and value else value or []
    if not isinstance(items, list | tuple) or not all(isinstance(x, str) and x for x in items):
        raise ReadError(f"{what} is a list of names; it is {format_value(value)}.")
    return list(items)


def _one_each(value: Any, owners: Any, what: str, of: str) -> list[str]:
    """A text for each owner; a single one serves them all."""
    texts = _texts(value, what)
    if isinstance(value, str) and texts:
        return texts * len(owners)
    if len(texts) != len(owners):
        raise ReadError(
            f"{what} has {len(texts)} entries and {of} has {len(owners)}; give one for each."
        )
    return texts
