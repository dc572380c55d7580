"""A mechanism as tables for the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from eslabon.model import Expression, Joint, Model, Pose
from eslabon.model.builder import NAMED_AXES
from eslabon.model.constraints import ClosureKind
from eslabon.structure import mobility, topology_text

LETTERS = {axis: letter for letter, axis in reversed(NAMED_AXES.items())}


def describe(m: Model) -> RenderableType:
    """Everything the description says, what follows from its structure, and what looks odd."""
    parts: list[RenderableType] = [Text(m.name, style="bold"), Text(m.note.strip(), style="dim")]
    parts += [Text(topology_text(m)), *_tables(m), Text(str(mobility(m)))]
    parts += [Text(f"warning: {sentence}", style="yellow") for sentence in m.suspicions]
    return Group(*(p for part in parts if str(part) for p in (part, Text(""))))


def _tables(m: Model) -> Iterator[Table]:
    d = m.description
    values = m._values
    yield from _table(
        "parameters", ("name", "value", "defined as"),
        ((n, _n(values[n]), str(x) if isinstance(x, Expression) else "") for n, x in d.parameters),
    )  # fmt: skip
    yield from _table(
        "bodies", ("name", "mass kg", "centre of mass m", "inertia kg m² (xx yy zz xy xz yz)"),
        ((b.name, _n(b.mass), _v(b.com), _v(b.inertia if any(b.inertia[3:]) else b.inertia[:3])) for b in m.bodies),
    )  # fmt: skip
    yield from _table(
        "joints", ("name", "kind", "parent", "child", "at m", "rpy deg", "home", "more"),
        ((f"{j.name} *" if j.name in m.actuated else j.name, _kind(j.kind), j.parent, j.child, *_pose(j.at), _home(j),
          _more(j)) for j in m.joints),
        caption="* actuated" if m.actuated else None,
    )  # fmt: skip
    yield from _table(
        "loops", ("name", "kind", "first", "at m", "rpy deg", "second", "at m", "rpy deg"),
        ((x.name, _kind(x.kind), x.first.body, *_pose(x.first.at), x.second.body, *_pose(x.second.at)) for x in m.loops),
    )  # fmt: skip
    yield from _table(
        "couplings", ("name", "law"),
        ((c.name, f"{c.joint} = " + (f"{_n(c.ratio)} {c.source} + " if c.source else "") + str(c.offset))
         for c in m.description.couplings),
    )  # fmt: skip
    yield from _table(
        "springs", ("name", "first", "at m", "second", "at m", "N/m", "N s/m", "length m"),
        ((s.name, s.first.body, _v(s.first.at.position), s.second.body, _v(s.second.at.position), _n(s.stiffness),
          _n(s.damping), _n(s.length)) for s in m.springs),
    )  # fmt: skip
    yield from _table(
        "wrenches", ("name", "body", "at m", "axes", "force N", "moment N m"),
        ((w.name, w.body, _v(w.at), w.axes, "given by the caller" if w.given else _v(w.force or ()), _v(w.moment or ()))
         for w in m.wrenches),
    )  # fmt: skip
    yield from _table("frames", ("name", "body", "at m", "rpy deg"), ((f.name, f.body, *_pose(f.at)) for f in m.frames))
    yield from _table("", ("gravity m/s²", "coordinates", "velocities", "actuators", "total mass kg"), [
        (_v(m.gravity), str(m.nq), str(m.nv), str(m.nu), _n(sum(b.mass for b in m.bodies)))
    ])  # fmt: skip


def _table(
    title: str, columns: Iterable[str], rows: Iterable[Iterable[str]], caption: str | None = None
) -> Iterator[Table]:
    """The table, unless it is empty. Columns without any entry are left out."""
    filled = [list(row) for row in rows]
    if not filled:
        return
    made = Table(
        title=title or None,
        title_justify="left",
        title_style="bold",
        caption=caption,
        caption_justify="left",
        box=None,
        pad_edge=False,
    )
    keep = [(k, name) for k, name in enumerate(columns) if any(row[k] for row in filled)]
    for _, name in keep:
        made.add_column(name, overflow="fold")
    for row in filled:
        made.add_row(*(escape(row[k]) for k, _ in keep))
    yield made


def _n(x: Any) -> str:
    return f"{x:.6g}"


def _v(values: Iterable[Any]) -> str:
    return " ".join(_n(x) for x in values)


def _pose(at: Pose) -> tuple[str, str]:
    turned = any(at.rpy)
    return _v(at.position) if any(at.position) else "", _v(math.degrees(a) for a in at.rpy) if turned else ""


UNITS = {"pitch": "m/rad", "length": "m", "angle": "rad", "offset": "m"}


def _kind(kind: ClosureKind) -> str:
    axes = ", ".join(LETTERS.get(axis) or f"({_v(axis)})" for axis in kind.axes)
    data = "".join(f", {_n(getattr(kind, f.name))} {UNITS[f.name]}" for f in fields(kind) if f.name in UNITS)
    return f"{kind.kind} {axes}{data}".strip()


def _home(j: Joint) -> str:
    return "" if j.home is None else _v(j.home)


def _more(j: Joint) -> str:
    """The optional data a joint has, in words."""
    said = []
    if j.limits is not None:
        said.append("limits " + ", ".join(f"{_n(a)} to {_n(b)}" for a, b in j.limits))
    names = ("velocity_limit", "effort_limit", "viscous", "coulomb", "stiffness", "rest", "motor_inertia", "gear_ratio")
    said += [f"{name.replace('_', ' ')} {_v(x)}" for name in names if (x := getattr(j, name)) is not None]
    return "; ".join(said)
