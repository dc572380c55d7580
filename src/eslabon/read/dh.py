"""Serial arms from tables of Denavit and Hartenberg.

Standard (distal, Rojas 2.5):  T_i = Rz(theta) Tz(d) Tx(a) Rx(alpha), frame i at the far end of link i.
Modified (proximal, Craig):    T_i = Rx(alpha) Tx(a) Rz(theta) Tz(d), frame i at joint i, with the alpha and a of the
link before. Masses, centres of mass and inertias are given in frame i of the convention in use.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from eslabon.algebra.rotations import rpy_from_rotation
from eslabon.arguments import known_words, mapping
from eslabon.errors import ModelError, shown
from eslabon.model import KINDS, Builder, Description, Joint, Pose
from eslabon.model.builder import listed, pose, six_moments, triple
from eslabon.model.expressions import Number, call, number
from eslabon.model.items import Triple

COLUMNS = ("theta", "d", "a", "alpha")
BODY_KEYS = ("mass", "com", "inertia")
JOINT_KEYS = tuple(f.name for f in fields(Joint) if f.name not in ("name", "kind", "parent", "child", "at"))
ANGLES = ("rpy", "offset", "theta", "alpha")  # whatever the joint does
TURNING = [name for name, kind in KINDS.items() if {c.unit for c in kind.coordinates} == {"rad"}]  # angles alone
LETTERS = {"R": "revolute", "P": "prismatic"}


def from_dh(
    rows: Iterable[Sequence[Any] | Mapping[str, Any]], convention: str = "standard", *, name: str = "arm",
    gravity: Sequence[Any] = (0.0, 0.0, -9.81), parameters: Mapping[str, Any] | None = None, degrees: bool = False,
    base: Any = None, tool: Any = None, note: str = "",
) -> Description:  # fmt: skip
    """A serial arm from a Denavit-Hartenberg table.

    Each row is ``(theta, d, a, alpha)`` or a mapping with those keys (missing ones are zero), and then also ``kind``
    ("revolute" or "prismatic"; "R" or "P"), ``name`` of the link and ``joint`` (by default link1, joint1, ...),
    ``mass``, ``com`` and ``inertia`` of the link, and the optional data of a joint such as ``limits``. In a row, the
    theta of a revolute and the d of a prismatic joint are what is added to its coordinate. ``base`` is the pose of the
    first frame on the ground, ``tool`` that of the frame "tool" in the last one. With ``degrees=True`` theta and alpha
    are in degrees.

    >>> import eslabon as es
    >>> arm = es.from_dh([(0, 0, 1.0, 0), {"a": 0.8, "mass": 2.0, "com": (-0.4, 0, 0)}], name="planar_2r")
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
        raise ModelError(f"the convention {shown(convention)} is not known; it is 'standard' or 'modified'.")
    standard = convention == "standard"
    table = [_row(row, k, degrees) for k, row in enumerate(listed(rows) or (), start=1)]
    if not table:
        raise ModelError("the table has no rows; give a list with one (theta, d, a, alpha) a joint.")
    before, parent = pose(base, "base"), "ground"  # the part of the transform that the link before has left over
    for k, row in enumerate(table, start=1):
        link, joint = row.get("name", f"link{k}"), row.get("joint", f"joint{k}")
        theta, d, a, alpha = (row[c] for c in COLUMNS)
        slides = row["kind"] == "prismatic"
        ahead = Pose() if standard else Pose((a, 0.0, 0.0), (alpha, 0.0, 0.0))
        turn = Pose((0.0, 0.0, d if slides or not standard else 0.0), (0.0, 0.0, theta))
        at = _compose(before, _compose(ahead, turn))
        beyond = Pose((a, 0.0, 0.0 if slides else d), (alpha, 0.0, 0.0)) if standard else Pose()
        b.body(link, **_carried(row, beyond, f"row {k} of the table"))
        b.joint(joint, row["kind"], parent, link, at=at, axis="z", **{k: row[k] for k in JOINT_KEYS if k in row})
        before, parent = beyond, link
    b.frame("tool", parent, _compose(before, pose(tool, "tool")))


def _row(row: Any, k: int, degrees: bool) -> dict[str, Any]:
    """A row as a mapping of known keys, its four numbers in radians."""
    what = f"row {k} of the table"
    if not isinstance(row, Mapping):
        values = listed(row) or ()
        if len(values) != 4:
            raise ModelError(f"{what} needs four numbers (theta, d, a, alpha) or a mapping; it is {shown(row)}.")
        row = dict(zip(COLUMNS, values, strict=True))
    kind = row.get("kind", "revolute")
    kind = LETTERS.get(kind, kind) if isinstance(kind, str) else kind
    if kind not in LETTERS.values():
        raise ModelError(f"{what}: the kind {shown(kind)} is not known; a table has revolute and prismatic joints.")
    made = {**in_radians(row, kind, what), "kind": kind}
    known_words(made, (*COLUMNS, "kind", "name", "joint", *BODY_KEYS, *JOINT_KEYS), f"{what} has the unknown key")
    for column in COLUMNS:
        unit = number("deg") if degrees and column in ("theta", "alpha") and f"{column}_deg" not in row else 1.0
        made[column] = number(made.get(column, 0.0), f"{what}: {column}") * unit
    return made


def in_radians(table: Mapping[str, Any], kind: Any, what: str) -> dict[str, Any]:
    """The table with `key_deg` entries turned into `key` entries."""
    made: dict[str, Any] = {}
    for key, value in table.items():
        plain = key.removesuffix("_deg") if isinstance(key, str) else key
        if plain in made or (plain != key and plain in table):
            raise ModelError(f"{what} gives both {plain} and {plain}_deg; keep one.")
        if plain != key and plain not in ANGLES and kind not in TURNING:
            kind = kind if isinstance(kind, str) else shown(kind)
            raise ModelError(
                f"{what}: {key} is in degrees, and a {kind} joint does not only turn; write {plain} in SI units."
            )
        made[plain] = value if plain == key else _degrees(value, f"{what}: {key}")
    return made


def _degrees(value: Any, what: str) -> Any:
    if isinstance(value, list | tuple):
        return [_degrees(x, what) for x in value]
    if isinstance(value, float) and abs(value) == float("inf"):
        return value
    return number(value, what) * number("deg")


def _carried(row: Mapping[str, Any], frame: Pose, what: str) -> dict[str, Any]:
    """Mass, centre of mass and inertia taken from the table's frame, which stands turned about x, to the body's own."""
    (x, y, z), alpha = frame.position, frame.rpy[0]
    c, s = call("cos", alpha), call("sin", alpha)
    cx, cy, cz = triple(row.get("com", (0.0, 0.0, 0.0)), f"{what}: com")
    xx, yy, zz, xy, xz, yz = six_moments(row.get("inertia"), f"{what}: inertia")
    return {
        "mass": row.get("mass", 0.0),
        "com": (x + cx, y + c * cy - s * cz, z + s * cy + c * cz),
        "inertia": (
            xx,
            c * c * yy + s * s * zz - 2.0 * c * s * yz,
            s * s * yy + c * c * zz + 2.0 * c * s * yz,
            c * xy - s * xz,
            s * xy + c * xz,
            c * s * (yy - zz) + (c * c - s * s) * yz,
        ),
    }


def _compose(first: Pose, second: Pose) -> Pose:
    """One pose after another, with parameters where the first one only turns about x and the second about z."""
    if first == Pose():
        return second
    if second == Pose():
        return first
    if all(isinstance(n, float) for p in (first, second) for n in (*p.position, *p.rpy)):
        R = first.rotation()
        p = R @ second.translation() + first.translation()
        return Pose(triple(p, "a pose"), triple(rpy_from_rotation(R @ second.rotation()), "a pose"))
    (alpha, pitch, yaw), (roll, pitch2, theta) = first.rpy, second.rpy
    if (pitch, yaw, roll, pitch2) != (0.0,) * 4:
        raise ModelError("a base or tool that is turned about several axes needs plain numbers, without parameters.")
    c, s = call("cos", alpha), call("sin", alpha)
    (x, y, z), (ax, ay, az) = second.position, first.position
    return Pose((ax + x, ay + c * y - s * z, az + s * y + c * z), _x_then_z(alpha, theta))


def _x_then_z(alpha: Number, theta: Number) -> Triple:
    """Roll, pitch and yaw of Rx(alpha) Rz(theta)."""
    if theta == 0.0:
        return (alpha, 0.0, 0.0)
    if alpha == 0.0:
        return (0.0, 0.0, theta)
    ca, sa, ct, st = (call(f, x) for x in (alpha, theta) for f in ("cos", "sin"))
    return (call("atan2", sa * ct, ca), call("asin", -sa * st), call("atan2", ca * st, ct))
