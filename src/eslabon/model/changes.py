"""Another mechanism from one that is there: a change of its description, checked as whatever is
built or read.

Every function takes models and gives a description. Expressions of parameters stay expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np

from eslabon.arguments import known_words, mapping, names, text
from eslabon.errors import ModelError, format_value, suggest
from eslabon.model.fields import specs_of
from eslabon.model.items import (
    GROUND,
    ITEMS,
    Body,
    Coupling,
    Description,
    Frame,
    Item,
    Joint,
    Mode,
    Shape,
)
from eslabon.model.joints import KINDS, Fixed, JointKind
from eslabon.model.model import Model
from eslabon.model.parameter_expressions import (
    NumberLike,
    ParameterExpression,
    leaves,
    rename_parameters,
)
from eslabon.model.parameter_units import number_with_unit
from eslabon.model.parsing import (
    MomentsLike,
    NumbersLike,
    PoseLike,
    TripleLike,
    as_list,
    coordinates_of,
    six_moments,
    triple,
)
from eslabon.model.poses import ORIGIN, Pose, in_parent_frame, welded
from eslabon.model.schema import bodies_of, keys_of, make_item, move_item, rename_item
from eslabon.numerics.rotations import rpy_from_rotation
from eslabon.numerics.tolerances import COINCIDENT

SECTIONS: Mapping[str, str] = {kind.word: section for section, kind in ITEMS.items()}


# -- one item --------------------------------------------------------------------------------------


def with_item(m: Model, kind: str, name: str, changed: Mapping[str, object]) -> Description:
    """One body, joint or frame with other fields, named as the Builder names them; the others
    stay."""
    if kind == "joint" and "motor" in changed:
        several = as_list(changed["motor"], "motor") or [changed["motor"]]
        if len(several) > 2:
            raise ModelError(
                f"joint '{name}': motor is its inertia, or (inertia, gear ratio); it is {format_value(changed['motor'])}."
            )
        rest = {key: x for key, x in changed.items() if key != "motor"}
        changed = {**rest, **dict(zip(("motor_inertia", "gear_ratio"), several, strict=False))}
    item, section = ITEMS[SECTIONS[kind]], SECTIONS[kind]
    known_words(changed, keys_of(item), f"a {kind} has no field")
    getattr(m, kind)(name)  # or a sentence
    d = m.description
    old = next((x for x in getattr(d, section) if x.name == name), None)
    if old is None:
        raise ModelError(f"'{name}' is not a {kind} that could be changed.")
    kept = {key: getattr(old, key) for key in specs_of(item)}
    if isinstance(old, Joint):
        kept |= _kind_fields(old.kind, changed)
    new = make_item(item, name, {**kept, **changed})
    return _replace_items(
        d, **{section: tuple(new if x is old else x for x in getattr(d, section))}
    )


def _kind_fields(old: JointKind, changed: Mapping[str, object]) -> dict[str, object]:
    """Kind, axis and pitch as the Builder takes them; what the new kind has in common with the old
    one stays."""
    if not changed.keys() & {"kind", "axis", "pitch"} or isinstance(changed.get("kind"), JointKind):
        return {"kind": old}
    kind = changed.get("kind", old.kind)
    needed = (
        [f.name for f in fields(KINDS[kind])] if isinstance(kind, str) and kind in KINDS else []
    )
    pitch = getattr(old, "pitch", None) if "pitch" in needed else None
    same = old.axes and len(old.axes) == len([key for key in needed if key != "pitch"])
    return {
        "kind": kind,
        "pitch": pitch,
        "axis": (old.axes if len(old.axes) > 1 else old.axes[0]) if same else None,
    }


def with_frame(
    m: Model, name: str, body: str | None = None, at: PoseLike | None = None
) -> Description:
    """A frame more, or a frame elsewhere."""
    if isinstance(name, str) and any(frame.name == name for frame in m.description.frames):
        given = {"body": body, "at": at}
        return with_item(m, "frame", name, {key: x for key, x in given.items() if x is not None})
    if body is None:
        raise ModelError(
            f"{m.name} has no frame {format_value(name)} yet; name the body that carries it."
        )
    return replace(
        m.description,
        frames=(*m.description.frames, make_item(Frame, name, {"body": body, "at": at})),
    )


def with_shape(m: Model, name: str, given: Mapping[str, object]) -> Description:
    """A shape more, or a shape with other fields."""
    if any(shape.name == name for shape in m.description.shapes):
        return with_item(m, "shape", name, given)
    for key in ("body", "kind"):
        if key not in given:
            raise ModelError(f"{m.name} has no shape {format_value(name)} yet; give its {key}.")
    known_words(given, keys_of(Shape), "a shape has no field")
    return replace(m.description, shapes=(*m.description.shapes, make_item(Shape, name, given)))


def with_actuated(m: Model, joints: Collection[str]) -> Description:
    """Motors at these joints and at no other."""
    return replace(m.description, actuated=names(joints, "joints"))


def with_gravity(m: Model, gravity: TripleLike) -> Description:
    return replace(m.description, gravity=triple(gravity, "gravity", "m/s²"))


def with_payload(
    m: Model,
    frame: str,
    mass: NumberLike,
    com: TripleLike = ORIGIN,
    inertia: MomentsLike | None = None,
) -> Description:
    """A load welded to the body that carries a frame; its centre of mass, and its inertia about it,
    are in that frame."""
    place, d = _find_frame(m, frame), m.description
    if place.body == GROUND:
        raise ModelError(
            f"the frame '{frame}' is fixed to the ground, where a payload weighs on nothing; name another."
        )
    what = f"the payload on '{frame}'"
    load = Body(
        place.body,
        number_with_unit(mass, f"{what}: mass", "kg"),
        triple(com, f"{what}: com", "m"),
        six_moments(inertia, what),
    )
    if isinstance(load.mass, float) and load.mass < 0:
        raise ModelError(f"{what}: the mass is {load.mass:g}; it cannot be negative.")
    heavier = (
        welded(b, in_parent_frame(place.at, load)) if b.name == place.body else b for b in d.bodies
    )
    return replace(d, bodies=tuple(heavier))


def _find_frame(m: Model, frame: str) -> Frame:
    """A frame of the description, a body's own among them."""
    m.frame(frame)  # or a sentence
    return next((f for f in m.description.frames if f.name == frame), Frame(frame, frame))


# -- fewer items -----------------------------------------------------------------------------------


def without(m: Model, *unwanted: str, kind: str | None = None) -> Description:
    """The mechanism without items of these names; a joint or body goes with all that hangs on it
    and is tied to it."""
    if kind is not None:
        known_words([kind], SECTIONS, "there is no kind of item")
    d, gone = m.description, {word: set[str]() for word in SECTIONS}
    for name in unwanted:
        word = _kind_of(m, name, kind)
        gone[word].add(name)
        for j in d.joints:
            if name == {"joint": j.name, "body": j.child}.get(word):
                gone["body"] |= _carried_bodies(d, j.child)
    return _keep_items(
        d, lambda word, item: item.name not in gone[word] and not bodies_of(item) & gone["body"]
    )


def _kind_of(m: Model, name: str, kind: str | None) -> str:
    """What a name stands for: one kind of item, the one asked for if there are several."""
    named = {
        word: {x.name for x in getattr(m.description, s)}
        for word, s in SECTIONS.items()
        if kind in (None, word)
    }
    found = [word for word, several in named.items() if text(name, "a name") in several]
    if not found:
        known = sorted(set[str]().union(*named.values()))
        raise ModelError(f"{m.name} has no {kind or 'item'} '{name}'{suggest(name, known)}")
    if len(found) > 1 and not (set(found) == {"body", "joint"} and m.joint(name).child == name):
        raise ModelError(f"'{name}' is a {' and a '.join(found)}; say which with kind=.")
    return found[0]


def _carried_bodies(d: Description, body: str) -> set[str]:
    """A body and all that it carries; the joints of a description stand parents first."""
    found = {body}
    for j in d.joints:
        if j.parent in found:
            found.add(j.child)
    return found


def _keep_items(d: Description, stays: Callable[[str, Item], bool]) -> Description:
    """The description with the items that stay, and nothing said of joints that do not."""
    kept = {word: tuple(x for x in getattr(d, s) if stays(word, x)) for word, s in SECTIONS.items()}
    joints = {j.name for j in kept["joint"]}
    kept["coupling"] = tuple(
        c for c in kept["coupling"] if {c.joint, c.source or c.joint} <= joints
    )
    kept["mode"] = _modes_of_joints(kept["mode"], joints)
    actuated = tuple(name for name in d.actuated if name in joints)
    return _replace_items(d, actuated=actuated, **{s: kept[word] for word, s in SECTIONS.items()})


def _modes_of_joints(modes: Iterable[Mode], joints: Collection[str]) -> tuple[Mode, ...]:
    """The modes as far as they place some joints."""
    made = (
        Mode(x.name, tuple((joint, q) for joint, q in x.coordinates if joint in joints))
        for x in modes
    )
    return tuple(mode for mode in made if mode.coordinates)


def _replace_items(d: Description, **items: Any) -> Description:
    return replace(d, **items)


def subtree(m: Model, body: str, name: str | None = None) -> Description:
    """A body with its joint and all that it carries; the body it hung on is the ground now. What
    ties it to other bodies stays behind."""
    m.body(body)
    d = m.description
    inside, base = _carried_bodies(d, body), m.carriers[body].parent

    def belongs(word: str, x: Item) -> bool:
        if word in ("coupling", "mode"):
            return True  # as far as their joints are taken
        touched = {x.name} if word == "body" else bodies_of(x)
        return bool(touched & inside) and touched <= {*inside, base}

    return _move_to_body(
        replace(_keep_items(d, belongs), name=body if name is None else name), base, GROUND, Pose()
    )


def lock_joints(m: Model, joints: Mapping[str, NumbersLike]) -> Description:
    """Some joints made rigid at given coordinates. A coupling goes with its two joints, which must
    agree with it."""
    at: dict[str, tuple[float, ...]] = {}
    for name, value in mapping(joints, "joints").items():
        at[name] = _coordinates(m, m.joint(name), value)
    d = m.description
    for c in m.couplings:
        if c.source is None:
            if c.joint in at:
                raise ModelError(
                    f"'{c.joint}' is driven by '{c.name}'; take the drive out before you lock it."
                )
            continue
        if len(both := {c.joint, c.source} & at.keys()) == 1:
            (other,) = {c.joint, c.source} - both
            raise ModelError(
                f"'{both.pop()}' is coupled to '{other}' by '{c.name}'; lock both, or take the coupling out."
            )
        if both and abs(gap := at[c.joint][0] - c.ratio * at[c.source][0] - c.offset) > COINCIDENT:
            raise ModelError(
                f"the coupling '{c.name}' is missed by {gap:.3g}; lock its two joints where they keep it."
            )
    left = _keep_items(d, lambda _, x: not isinstance(x, Coupling) or x.joint not in at)
    rigid = (_fixed_joint(j, at[j.name]) if j.name in at else j for j in d.joints)
    moving = [j.name for j in d.joints if j.name not in at]
    return replace(
        left,
        joints=tuple(rigid),
        modes=_modes_of_joints(d.modes, moving),
        actuated=tuple(name for name in d.actuated if name not in at),
    )


def _coordinates(m: Model, j: Joint, value: NumbersLike) -> tuple[float, ...]:
    values = coordinates_of(j.kind, value, f"the coordinates of '{j.name}'")
    if any(isinstance(x, ParameterExpression) for x in values):
        raise ModelError(
            f"'{j.name}' is locked at plain numbers; it was given {format_value(value)}."
        )
    return tuple(np.ravel(j.kind.normalize(np.array(values, dtype=float))).tolist())


def _fixed_joint(j: Joint, q: tuple[float, ...]) -> Joint:
    """A fixed joint in place of one at the coordinates q."""
    if any(isinstance(x, ParameterExpression) for x in leaves(j.kind)):
        raise ModelError(
            f"joint '{j.name}' has an axis or pitch made of parameters; lock it with plain numbers there."
        )
    R, p = j.kind.transform(np.array(q))
    outer = Pose(triple(p, j.name, "m"), triple(rpy_from_rotation(R), j.name, "rad"))
    return Joint(j.name, Fixed(), j.parent, j.child, j.at @ outer)


# -- two mechanisms --------------------------------------------------------------------------------


def join(a: Model, b: Model, at: str, prefix: str = "", name: str | None = None) -> Description:
    """The mechanism `b` with its ground at a frame of `a`. Names of `b` that `a` has too get the
    prefix; parameters of one name and definition, and modes of one name, are the same. Gravity is
    that of `a`."""
    place, first = _find_frame(a, at), a.description
    second = _rename_items(b.description, _clashes(first, b.description, text(prefix, "prefix")))
    second = _move_to_body(second, GROUND, place.body, place.at)
    modes = {mode.name: mode.coordinates for mode in first.modes}
    for mode in second.modes:
        modes[mode.name] = (*modes.get(mode.name, ()), *mode.coordinates)
    sections = {s: (*getattr(first, s), *getattr(second, s)) for s in SECTIONS.values()}
    return replace(
        first,
        **{**sections, "modes": tuple(Mode(key, x) for key, x in modes.items())},
        name=f"{first.name}_{second.name}" if name is None else name,
        parameters=tuple({**dict(first.parameters), **dict(second.parameters)}.items()),
        actuated=(*first.actuated, *second.actuated),
        note="\n".join(note for note in (first.note, second.note) if note),
    )


def _rooms() -> list[list[str]]:
    """The kinds of items that share their names; modes of one name are one."""
    rooms: dict[str, list[str]] = {}
    for kind in ITEMS.values():
        rooms.setdefault(kind.room, []).append(kind.word)
    return [words for room, words in rooms.items() if room != "mode"]


def _names(d: Description, room: Iterable[str]) -> set[str]:
    return {x.name for word in room for x in getattr(d, SECTIONS[word])}


def _clashes(a: Description, b: Description, prefix: str) -> dict[str, dict[str, str]]:
    """By room, new names for what both have."""
    found = {room[0]: sorted(_names(a, room) & _names(b, room)) for room in _rooms()}
    own = dict(a.parameters)
    found["parameter"] = [key for key, value in b.parameters if key in own and own[key] != value]
    for word, clashing in found.items():
        if clashing and not prefix:
            raise ModelError(
                f"both {a.name} and {b.name} have the {word} '{clashing[0]}'; give a prefix, as in prefix='b_'."
            )
    return {word: {x: prefix + x for x in clashing} for word, clashing in found.items()}


def _rename_items(d: Description, new: Mapping[str, Mapping[str, str]]) -> Description:
    """The description with other names, wherever they stand."""
    names = {word: new[words[0]] for words in _rooms() for word in words} | {"mode": {}}
    d = _replace_items(
        d, **{s: tuple(rename_item(x, names) for x in getattr(d, s)) for s in SECTIONS.values()}
    )
    parameters = new["parameter"]
    d = replace(
        d,
        actuated=tuple(new["joint"].get(j, j) for j in d.actuated),
        parameters=tuple((parameters.get(key, key), value) for key, value in d.parameters),
    )
    return rename_parameters(d, parameters) if parameters else d


def _move_to_body(d: Description, old: str, body: str, at: Pose) -> Description:
    """What stood on one body stands on a frame of another."""
    if (old, at) == (body, Pose()):
        return d

    return _replace_items(
        d,
        **{s: tuple(move_item(x, old, body, at) for x in getattr(d, s)) for s in SECTIONS.values()},
    )
