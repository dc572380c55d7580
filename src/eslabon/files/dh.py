"""Serial arms from tables of Denavit and Hartenberg.

Standard (distal, Rojas 2.5):  T_i = Rz(theta) Tz(d) Tx(a) Rx(alpha), frame i at the far end of
link i.
Modified (proximal, Craig):    T_i = Rx(alpha) Tx(a) Rz(theta) Tz(d), frame i at joint i, with the
alpha and a of the link before.

Masses, centres of mass and inertias are given in frame i of the convention in use.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

from eslabon.arguments import flag, known_words, mapping
from eslabon.errors import EslabonError, ModelError, format_value, located
from eslabon.model import KINDS, Body, Builder, Description, Joint, Pose
from eslabon.model.parameter_expressions import number
from eslabon.model.parameter_units import has_unit, number_with_unit
from eslabon.model.parsing import as_list, pose, six_moments, triple
from eslabon.model.poses import ORIGIN, in_parent_frame

COLUMNS = {"theta": "rad", "d": "m", "a": "m", "alpha": "rad"}  # with their units
BODY_KEYS = ("mass", "com", "inertia")
JOINT_KEYS = tuple(
    f.name for f in fields(Joint) if f.name not in ("name", "kind", "parent", "child", "at")
)
ANGLES = ("rpy", "offset", "angle", "theta", "alpha")  # whatever the joint does
TURNING = [
    name for name, kind in KINDS.items() if {c.unit for c in kind.coordinates} == {"rad"}
]  # angles alone
LETTERS = {"R": "revolute", "P": "prismatic"}


def from_dh(
    rows: Iterable[Sequence[Any] | Mapping[str, Any]],
    convention: str = "standard",
    *,
    name: str = "arm",
    gravity: Sequence[Any] = (0.0, 0.0, -9.81),
    parameters: Mapping[str, Any] | None = None,
    degrees: bool = False,
    base: Any = None,
    tool: Any = None,
    note: str = "",
) -> Description:
    """A serial arm from a Denavit-Hartenberg table.

    Each row is ``(theta, d, a, alpha)`` or a mapping with those keys (missing ones are zero), and
    then also ``kind`` ("revolute" or "prismatic"; "R" or "P"), ``name`` of the link and ``joint``
    (by default link1, joint1, ...), ``mass``, ``com`` and ``inertia`` of the link, and the optional
    data of a joint such as ``limits``. In a row, the theta of a revolute and the d of a prismatic
    joint are what is added to its coordinate. ``base`` is the pose of the first frame on the
    ground, ``tool`` that of the frame "tool" in the last one. With ``degrees=True`` theta and alpha
    are in degrees, but for texts with a unit of their own such as "90 deg".

    >>> import eslabon as es
    >>> rows = [(0, 0, 1.0, 0), {"a": 0.8, "mass": 2.0, "com": (-0.4, 0, 0)}]
    >>> arm = es.from_dh(rows, name="planar_2r")
    >>> arm
    <Mechanism planar_2r: 2 bodies, 2 joints, 0 loops, 2 actuators>
    """
    b = Builder(name, gravity, note)
    for parameter, value in mapping(parameters, "parameters").items():
        b.parameter(parameter, value)
    add_dh(b, rows, convention, degrees=degrees, base=base, tool=tool)
    return b.describe()


def add_dh(
    b: Builder,
    rows: Iterable[Any],
    convention: str = "standard",
    *,
    degrees: bool = False,
    base: Any = None,
    tool: Any = None,
) -> None:
    """Hang the arm of a table on the ground of a mechanism in the making."""
    if convention not in ("standard", "modified"):
        raise ModelError(
            f"the convention {format_value(convention)} is not known; it is 'standard' or 'modified'."
        ).at("dh", "convention")
    standard, degrees = convention == "standard", flag(degrees, "degrees")
    table = []
    for k, row in enumerate(as_list(rows, "the table") or (), start=1):
        with _row_of_table(k):
            table.append(_row(row, k, degrees))
    if not table:
        raise ModelError(
            "the table has no rows; give a list with one (theta, d, a, alpha) a joint."
        ).at("dh", "links")
    with located("dh", "base"):
        before = pose(base, "base")  # the part of the transform that the link before has left over
    parent = "ground"
    for k, row in enumerate(table, start=1):
        with _row_of_table(k):
            before = _add_link(b, row, k, parent, before, standard)
        parent, _ = names_of_row(row, k)
    with located("dh", "tool"):
        at = pose(tool, "tool")
    b.frame("tool", parent, before @ at)


def names_of_row(row: Mapping[str, Any], k: int) -> tuple[Any, Any]:
    """What the link and the joint of row k are called."""
    return row.get("name", f"link{k}"), row.get("joint", f"joint{k}")


@contextmanager
def _row_of_table(k: int) -> Iterator[None]:
    """Mistakes inside are at a key of row k, whatever item is made of it."""
    try:
        yield
    except EslabonError as error:
        key = error.place[2:] if error.place[:1] in (("bodies",), ("joints",)) else error.place
        raise error.at("dh", "links", str(k), *key) from None


def _add_link(
    b: Builder, row: Mapping[str, Any], k: int, parent: str, before: Pose, standard: bool
) -> Pose:
    """A link on its joint; the part of the transform that it leaves to the next one."""
    link, joint = names_of_row(row, k)
    theta, d, a, alpha = (row[c] for c in COLUMNS)
    slides = row["kind"] == "prismatic"
    ahead = Pose() if standard else Pose((a, 0.0, 0.0), (alpha, 0.0, 0.0))
    turn = Pose((0.0, 0.0, d if slides or not standard else 0.0), (0.0, 0.0, theta))
    beyond = Pose((a, 0.0, 0.0 if slides else d), (alpha, 0.0, 0.0)) if standard else Pose()
    with located("com"):
        com = triple(row.get("com", ORIGIN), f"row {k} of the table: com", "m")
    with located("inertia"):
        moments = six_moments(row.get("inertia"), f"row {k} of the table: inertia")
    moved = in_parent_frame(beyond, Body(link, com=com, inertia=moments))
    b.body(link, row.get("mass", 0.0), moved.com, moved.inertia)
    b.joint(
        joint,
        row["kind"],
        parent,
        link,
        at=before @ (ahead @ turn),
        axis="z",
        **{key: row[key] for key in JOINT_KEYS if key in row},
    )
    return beyond


def _row(row: Any, k: int, degrees: bool) -> dict[str, Any]:
    """A row as a mapping of known keys, its four numbers in radians."""
    what = f"row {k} of the table"
    if not isinstance(row, Mapping):
        values = as_list(row, what) or ()
        if len(values) != 4:
            raise ModelError(
                f"{what} needs four numbers (theta, d, a, alpha) or a mapping; it is {format_value(row)}."
            )
        row = dict(zip(COLUMNS, values, strict=True))
    kind = row.get("kind", "revolute")
    kind = LETTERS.get(kind, kind) if isinstance(kind, str) else kind
    if kind not in LETTERS.values():
        raise ModelError(
            f"{what}: the kind {format_value(kind)} is not known; a table has revolute and prismatic joints."
        ).at("kind")
    made = {**in_radians(row, kind, what), "kind": kind}
    known = (*COLUMNS, "kind", "name", "joint", *BODY_KEYS, *JOINT_KEYS)
    for key in made:
        with located(str(key)):
            known_words([key], known, f"{what} has the unknown key")
    for column, unit in COLUMNS.items():
        value = made.get(column, 0.0)
        with located(column):
            if degrees and unit == "rad" and f"{column}_deg" not in row:
                value = _degrees(value, f"{what}: {column}")
            made[column] = number_with_unit(value, f"{what}: {column}", unit)
    return made


def in_radians(table: Mapping[str, Any], kind: Any, what: str) -> dict[str, Any]:
    """The table with `key_deg` entries turned into `key` entries."""
    made: dict[str, Any] = {}
    for key, value in table.items():
        plain = key.removesuffix("_deg") if isinstance(key, str) else key
        if plain in made or (plain != key and plain in table):
            raise ModelError(f"{what} gives both {plain} and {plain}_deg; keep one.").at(plain)
        if plain != key and plain not in ANGLES and kind not in TURNING:
            kind = kind if isinstance(kind, str) else format_value(kind)
            raise ModelError(
                f"{what}: {key} is in degrees, and a {kind} joint does not only turn; write {plain} in SI units."
            ).at(plain)
        with located(str(plain)):
            made[plain] = value if plain == key else _degrees(value, f"{what}: {key}")
    return made


def _degrees(value: Any, what: str) -> Any:
    if isinstance(value, list | tuple):
        return [_degrees(x, what) for x in value]
    if has_unit(value) or (isinstance(value, float) and abs(value) == float("inf")):
        return value  # a unit of its own tells more than the key
    return number(value, what) * number("deg")
