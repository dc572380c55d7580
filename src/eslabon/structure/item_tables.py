"""What a mechanism is made of, as tables: a column for each declared field of the items, so that a new one is shown too."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import PurePath
from typing import Any

from eslabon.model import Coupling, Model, ParameterExpression, Pose
from eslabon.model.constraints import ClosureKind
from eslabon.model.fields import (
    Coordinates,
    Intervals,
    Kind,
    MeshFile,
    Moments,
    PerVelocity,
    Placement,
    Quantity,
    Side,
    Size,
    Spec,
    Vector,
)
from eslabon.model.items import ITEMS
from eslabon.model.parsing import AXIS_NAMES, KIND_UNITS
from eslabon.model.schema import specs_of
from eslabon.sheets import Sheet, shown

WORDS = {"com": "centre of mass"}
Cells = Mapping[str, Any]  # what stands in a row, by the titles of its columns
TELLING = ("mass [kg]", "stiffness [N/m]")  # columns that say something where all is zero, too
IN_WORDS = (PerVelocity, Intervals)  # fields that few joints have: they share a column


def sheets(m: Model) -> Iterator[Sheet]:
    """The tables of what a mechanism is made of, those that have rows."""
    defined = [
        (n, m.values[n], str(x) if isinstance(x, ParameterExpression) else "")
        for n, x in m.description.parameters
    ]
    made = (
        Sheet("parameters", ("name", "value", "defined as"), defined),
        *(_sheet(m, section) for section in sorted(ITEMS, key="modes".__eq__)),
        Sheet("totals", ("gravity [m/s²]", "coordinates", "velocities", "actuators", "mass [kg]"),
            [(shown(m.gravity), m.nq, m.nv, m.nu, sum(b.mass for b in m.bodies))]),
    )  # fmt: skip
    return (sheet for sheet in made if sheet.rows)


def _sheet(m: Model, section: str) -> Sheet:
    """The items of a section; what is zero by default is left out where it is so of all of them."""
    if section == "modes":
        return Sheet("modes", ("name", "coordinates"), [(n, tuple(q.tolist())) for n, q in m.modes.items()], prose=("coordinates",))  # fmt: skip
    described = section == "couplings"  # their offsets may be functions of the time
    rows = [_row(m, x) for x in getattr(m.description if described else m, section)]
    columns = tuple(dict.fromkeys(title for row in rows for title in row))
    numbers = tuple(title for title in columns if title.endswith("]") or title == "home")
    return Sheet(
        section, columns, [tuple(row.get(title, "") for title in columns) for row in rows],
        caption="* actuated" if section == "joints" and m.actuated else "", prose=("more",),
        optional=tuple(title for title in numbers if title not in TELLING),
    )  # fmt: skip


def _row(m: Model, item: Any) -> Cells:
    """An item, field by field."""
    specs = dict(specs_of(type(item)))
    cells: dict[str, Any] = {
        "name": f"{item.name} *"
        if item.section == "joints" and item.name in m.actuated
        else item.name
    }
    if isinstance(item, Coupling):
        cells["law"] = _law(item)
        specs = {
            name: spec
            for name, spec in specs.items()
            if name not in ("joint", "source", "ratio", "offset")
        }
    for name, spec in specs.items():
        if not isinstance(spec, IN_WORDS):
            cells |= _cells(name, spec, getattr(item, name))
    if any(isinstance(spec, IN_WORDS) for spec in specs.values()):
        cells["more"] = _more(item, specs)
    if getattr(item, "given", False):  # a wrench that the caller gives
        cells["force [N]"] = "given by the caller"
    return cells


def _cells(name: str, spec: Spec, value: Any) -> Cells:
    """What stands in the columns of a field."""
    title = WORDS.get(name, name)
    match spec:
        case Kind():
            return {title: _kind(value)}
        case Placement():
            return _pose("", value)
        case Side():
            prefix = "" if name == "first" else f"{name} "
            place = _pose(prefix, value.at)
            return {
                title: value.body,
                **({f"{prefix}at [m]": value.at.position} if spec.point else place),
            }
        case Moments():
            return {f"{title} [{spec.unit}]": value if any(value[3:]) else value[:3]}
        case Quantity() | Vector():
            return {
                f"{title} [{spec.unit}]" if spec.unit else title: () if value is None else value
            }
        case Size():
            return {f"{title} [m]": value}
        case MeshFile():
            return {title: PurePath(value).name}
        case Coordinates():
            return {}
    return {title: value}


def _pose(prefix: str, at: Pose) -> Cells:
    return {f"{prefix}at [m]": at.position, f"{prefix}rpy [deg]": tuple(map(math.degrees, at.rpy))}


def _law(c: Coupling) -> str:
    return f"{c.joint} = " + (f"{shown(c.ratio)} {c.source} + " if c.source else "") + str(c.offset)


def _kind(kind: ClosureKind) -> str:
    axes = ", ".join(AXIS_NAMES.get(axis) or f"({shown(axis)})" for axis in kind.axes)
    data = "".join(
        f", {shown(getattr(kind, f.name))} {KIND_UNITS[f.name]}"
        for f in fields(kind)
        if f.name in KIND_UNITS
    )
    return f"{kind.kind} {axes}{data}".strip()


def _more(item: Any, specs: Mapping[str, Spec]) -> str:
    """The optional data an item has, in words."""
    said = []
    for name, spec in specs.items():
        value = getattr(item, name)
        if value is not None and isinstance(spec, Intervals):
            said.append(f"{name} " + ", ".join(f"{shown(a)} to {shown(b)}" for a, b in value))
        elif value is not None and isinstance(spec, PerVelocity):
            said.append(f"{name.replace('_', ' ')} {shown(value)}")
    return "; ".join(said)
