"""What a mechanism is made of, as tables."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields
from pathlib import PurePath
from typing import Any

from eslabon.model import Joint, Model, ParameterExpression, Pose
from eslabon.model.constraints import ClosureKind
from eslabon.model.fields import AXIS_NAMES, KIND_UNITS
from eslabon.sheets import Sheet, shown


def sheets(m: Model) -> Iterator[Sheet]:
    """The tables of what a mechanism is made of, those that have rows."""
    places = ("at [m]", "rpy [deg]", "second at [m]", "second rpy [deg]")
    made = (
        Sheet("parameters", ("name", "value", "defined as"),
            [(n, m._values[n], str(x) if isinstance(x, ParameterExpression) else "") for n, x in m.description.parameters]),
        Sheet("bodies", ("name", "mass [kg]", "centre of mass [m]", "inertia [kg m²]"),
            [(b.name, b.mass, b.com, b.inertia if any(b.inertia[3:]) else b.inertia[:3]) for b in m.bodies],
            optional=("centre of mass [m]", "inertia [kg m²]")),
        Sheet("joints", ("name", "kind", "parent", "child", "at [m]", "rpy [deg]", "home", "more"),
            [(f"{j.name} *" if j.name in m.actuated else j.name, _kind(j.kind), j.parent, j.child, *_pose(j.at),
              j.home, _more(j)) for j in m.joints],
            caption="* actuated" if m.actuated else "", prose=("more",), optional=(*places, "home")),
        Sheet("loops", ("name", "kind", "first", "at [m]", "rpy [deg]", "second", "second at [m]", "second rpy [deg]"),
            [(x.name, _kind(x.kind), x.first.body, *_pose(x.first.at), x.second.body, *_pose(x.second.at)) for x in m.loops],
            optional=places),
        Sheet("couplings", ("name", "law"),
            [(c.name, f"{c.joint} = " + (f"{shown(c.ratio)} {c.source} + " if c.source else "") + str(c.offset))
             for c in m.description.couplings]),
        Sheet("springs", ("name", "first", "at [m]", "second", "second at [m]", "stiffness [N/m]", "damping [N s/m]", "length [m]"),
            [(s.name, s.first.body, s.first.at.position, s.second.body, s.second.at.position, s.stiffness, s.damping, s.length)
             for s in m.springs], optional=(*places, "damping [N s/m]", "length [m]")),
        Sheet("wrenches", ("name", "body", "at [m]", "axes", "force [N]", "moment [N m]"),
            [(w.name, w.body, w.at, w.axes, "given by the caller" if w.given else w.force or (), w.moment or ()) for w in m.wrenches],
            optional=(*places, "force [N]", "moment [N m]")),
        Sheet("frames", ("name", "body", "at [m]", "rpy [deg]"), [(f.name, f.body, *_pose(f.at)) for f in m.frames], optional=places),
        Sheet("shapes", ("name", "body", "kind", "size [m]", "at [m]", "rpy [deg]", "colour", "file"),
            [(x.name, x.body, x.kind, x.size, *_pose(x.at), x.colour, PurePath(x.file).name) for x in m.shapes],
            optional=(*places, "size [m]")),
        Sheet("modes", ("name", "coordinates"), [(name, tuple(q.tolist())) for name, q in m.modes.items()], prose=("coordinates",)),
        Sheet("totals", ("gravity [m/s²]", "coordinates", "velocities", "actuators", "mass [kg]"),
            [(shown(m.gravity), m.nq, m.nv, m.nu, sum(b.mass for b in m.bodies))]),
    )  # fmt: skip
    return (sheet for sheet in made if sheet.rows)


def _pose(at: Pose) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    return at.position, tuple(map(math.degrees, at.rpy))


def _kind(kind: ClosureKind) -> str:
    axes = ", ".join(AXIS_NAMES.get(axis) or f"({shown(axis)})" for axis in kind.axes)
    data = "".join(
        f", {shown(getattr(kind, f.name))} {KIND_UNITS[f.name]}" for f in fields(kind) if f.name in KIND_UNITS
    )
    return f"{kind.kind} {axes}{data}".strip()


def _more(j: Joint) -> str:
    """The optional data a joint has, in words."""
    said = []
    if j.limits is not None:
        said.append("limits " + ", ".join(f"{shown(a)} to {shown(b)}" for a, b in j.limits))
    names = ("velocity_limit", "effort_limit", "viscous", "coulomb", "stiffness", "rest", "motor_inertia", "gear_ratio")
    said += [f"{name.replace('_', ' ')} {shown(x)}" for name in names if (x := getattr(j, name)) is not None]
    return "; ".join(said)
