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
    like, a universal joint about the inner x axis and then the outer y axis (CARDAN is an older name of that one).
"""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from typing import Any

import yaml

from eslabon.errors import ReadError, suggest

KEYS = ("closed_loop", "type", "name_mot", "joint_name", "joint_type")
OLD_KEYS = ("name_closedloop", "closed_loop_number", "rotule_name", "Lidmot", "Lidvmot")
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
    kinds: Mapping[str, tuple[str, Any]] = field(default_factory=dict)  # joint name -> kind and axes
    motors: tuple[str, ...] | str | None = None  # names; a plain text is a part of them


def read_closures(urdf: Path, loops: Any = None) -> Closures:
    """The closures of a URDF: from the YAML of the same name (None), from another one, from code, or none (False)."""
    if loops is False:
        return Closures()
    if loops is None:
        beside = [p for p in (urdf.with_suffix(".yaml"), urdf.with_suffix(".yml")) if p.is_file()]
        if len(beside) > 1:
            raise ReadError(
                f"both {beside[0].name} and {beside[1].name} stand beside it; name one of them with loops=."
            )
        return _from_file(beside[0], " (loops=False leaves the file alone)") if beside else Closures()
    if isinstance(loops, str | Path):
        return _from_file(Path(loops))
    if isinstance(loops, list | tuple):
        loops = {"closed_loop": list(loops)}
    if not isinstance(loops, Mapping):
        raise ReadError(f"loops is a YAML file, a list of pairs of frames, or False; it is {shown(loops)}.")
    return _closures(loops, "loops")


class _Loader(yaml.BaseLoader):
    """Everything is text, so that a joint may be called `on` or `1`; a key given twice is an error."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key in (key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if key in seen:
                raise yaml.YAMLError(f"the key {key!r} is given twice")
            seen.add(key)
        return super().construct_mapping(node, deep)


def _from_file(path: Path, otherwise: str = "") -> Closures:
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise ReadError(f"{path.name}: the file has {path.stat().st_size} bytes; a list of loops is smaller.")
        data = yaml.load(path.read_bytes(), Loader=_Loader)
    except OSError as error:
        raise ReadError(f"the loops of '{path}' cannot be read: {error.strerror}.") from None
    except yaml.YAMLError as error:
        raise ReadError(f"{path.name}: this is not valid YAML: {' '.join(str(error).split())}.") from None
    except RecursionError:
        raise ReadError(f"{path.name}: the lists are nested too deeply.") from None
    if not isinstance(data, dict):
        raise ReadError(f"{path.name}: this has no keys such as closed_loop{otherwise}; it is {shown(data)}.")
    return _closures(data, path.name, otherwise)


def _closures(data: Mapping[Any, Any], where: str, otherwise: str = "") -> Closures:
    for key in data:
        if key in OLD_KEYS:
            raise ReadError(f"{where}: the key '{key}' is of an older form; list the names under {', '.join(KEYS)}.")
        if key not in KEYS:
            raise ReadError(f"{where}: the key {shown(key)} is not known{otherwise}{suggest(str(key), KEYS)}")
    names = _texts(data.get("joint_name"), f"{where}: joint_name")
    types = _one_each(data.get("joint_type"), names, f"{where}: joint_type", "joint_name")
    motors = data.get("name_mot")
    return Closures(
        where,
        cuts=_cuts(data, where),
        kinds={name: _joint_type(name, text, where) for name, text in zip(names, types, strict=True)},
        motors=motors if motors is None or (isinstance(motors, str) and motors) else tuple(_texts(motors, f"{where}: name_mot")),
    )  # fmt: skip


def _cuts(data: Mapping[Any, Any], where: str) -> tuple[CutJoint, ...]:
    entries = data.get("closed_loop") or []
    if not isinstance(entries, list | tuple):
        raise ReadError(f"{where}: closed_loop is a list of pairs of frames; it is {shown(entries)}.")
    types = _one_each(data.get("type", "6d"), entries, f"{where}: type", "closed_loop")
    for text in types:
        if text.lower() not in CUT_KINDS:
            raise ReadError(f"{where}: the type {shown(text)} of a loop is not known; it is '3d' or '6d'.")
    return tuple(_cut(entry, text, where) for entry, text in zip(entries, types, strict=True))


def _cut(entry: Any, text: str, where: str) -> CutJoint:
    """A pair of frames, or a mapping with `frames` and whatever else the cut joint needs."""
    entry = entry if isinstance(entry, Mapping) else {"frames": entry}
    for key in entry:
        if key not in CUT_KEYS:
            raise ReadError(f"{where}: a loop has the unknown key {shown(key)}{suggest(str(key), CUT_KEYS)}")
    frames = entry.get("frames")
    if not isinstance(frames, list | tuple) or len(frames) != 2 or not all(isinstance(f, str) for f in frames):
        raise ReadError(f"{where}: a loop is a pair of frame names, as in ['a', 'b']; it is {shown(frames)}.")
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
    if text.upper() not in JOINT_TYPES:
        hint = suggest(text.upper(), JOINT_TYPES)
        raise ReadError(f"{where}: the joint_type {shown(text)} of the joint '{name}' is not known{hint}")
    return JOINT_TYPES[text.upper()]


def _texts(value: Any, what: str) -> list[str]:
    """A list of names; one name may stand alone, and nothing is no name."""
    items = [value] if isinstance(value, str) and value else value or []
    if not isinstance(items, list | tuple) or not all(isinstance(x, str) and x for x in items):
        raise ReadError(f"{what} is a list of names; it is {shown(value)}.")
    return list(items)


def _one_each(value: Any, owners: Any, what: str, of: str) -> list[str]:
    """A text for each owner; a single one serves them all."""
    texts = _texts(value, what)
    if isinstance(value, str):
        return texts * len(owners)
    if len(texts) != len(owners):
        raise ReadError(f"{what} has {len(texts)} entries and {of} has {len(owners)}; give one for each.")
    return texts


def shown(value: Any) -> str:
    """A value in a sentence, cut short: a hostile file can make its full text endless."""
    short = reprlib.Repr()
    short.maxlevel, short.maxstring = 2, 60
    return short.repr(value)
