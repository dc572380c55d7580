"""Rigid bodies on a tree of joints as a bond graph (Morales, 4.2; Karnopp, Margolis and Rosenberg,
9).

Each body has 1-junctions for the components of its twist in its own axes, an inertia field on them,
and the two rings of Euler's junction structure: three gyrators between the angular velocities,
whose moduli are the components of the angular momentum h, and a multiport gyrator from the angular
to the linear velocities, modulated by the momentum p:

    h' = moment - w x h - v x p,    p' = force - w x p.

A joint is a multiport transformer, V = X(q) V_parent + S(q) v, modulated by its own coordinates.
Its velocities v are flows of residual sinks: states without an inertia of their own, since all
inertias depend on them. Its coordinates are displacements on compliances that are infinite unless
the joint has a spring; quaternions get their rates by a transformer. What cannot move is left out,
so that the graph of a planar mechanism is planar.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from eslabon.bond_graph.graph_drawing import Drawing, identifier
from eslabon.errors import ModelError
from eslabon.formulas.kinematics.symbols import symbolic_transform
from eslabon.formulas.kinematics.tree import coordinates, placements
from eslabon.model import GROUND, Body, Joint, Model
from eslabon.model.configuration import coordinate_names, coordinate_rates, velocity_names
from eslabon.model.parameter_expressions import Number, parameter
from eslabon.model.validation import TIME
from eslabon.numerics.rigid_motions import inertia_matrix
from eslabon.numerics.scalars import Expression, casadi, is_symbolic
from eslabon.numerics.spatial import RigidTransform, motion_transform, skew

COMPONENTS = ("wx", "wy", "wz", "vx", "vy", "vz")
RING = (
    (0, 1, 2),
    (1, 2, 0),
    (2, 0, 1),
)  # from one angular velocity to the next, by the third component of h
GRAVITY = ("sources", "platform")
ROUND_OFF = 4e-16


def displacement_names(m: Model) -> list[str]:
    """The states that are coordinates."""
    return _unique(f"q_{identifier(name)}" for name in coordinate_names(m))


def speed_names(m: Model) -> list[str]:
    """The states that are velocities."""
    return _unique(f"v_{identifier(name)}" for name in velocity_names(m))


def _unique(names: Iterable[str]) -> list[str]:
    """The names, those that repeat with underscores behind them: `a-b` and `a.b` are one
    identifier."""
    made: list[str] = []
    for name in names:
        while name in made:
            name += "_"
        made.append(name)
    return made


class TreeDrawing(Drawing):
    """The graph of a mechanism's tree. `ends` are bodies that something besides their own mass acts
    on."""

    def __init__(self, m: Model, ends: Iterable[str] = (), gravity: str = "sources") -> None:
        super().__init__(m.name, m.description.parameters)
        if TIME in m.parameters:
            raise ModelError(
                f"{m.name}: parameter '{TIME}' has the name of the time, as bond graphs know it; rename it."
            )
        self.plain = m
        self.t = casadi.SX.sym(TIME)
        symbols = {name: casadi.SX.sym(name) for name in m.parameters} | (
            {TIME: self.t} if m.rheonomic else {}
        )
        self.m = m.with_symbols(symbols) if symbols else m
        self.q = casadi.vertcat(
            casadi.SX(0, 1), *(casadi.SX.sym(name) for name in displacement_names(m))
        )
        self.moving: dict[str, list[int]] = {
            GROUND: []
        }  # components of each body's twist that are not always zero
        self.junctions: dict[tuple[str, int], str] = {}
        self.joint_junctions: dict[str, list[str]] = {}
        self.speeds: dict[str, str] = {}  # the same by the name of each velocity
        self._ends = set(ends)
        for place, joint in enumerate(self.m.joints):
            self._velocities(place, joint)
        if gravity == "platform":
            self._platform()
        for place, (joint, body) in enumerate(zip(self.m.joints, self.m.bodies, strict=True)):
            self._joint(joint)
            self._body(body)
            if gravity == "sources":
                self._weight(place, body)

    # -- joints -------------------------------------------------------------------------------------------------

    def _velocities(self, place: int, joint: Joint) -> None:
        """The velocities of a joint with the sinks that make them states, and the coordinates they
        change."""
        speeds = speed_names(self.plain)[self.plain.velocities[joint.name]]
        places = displacement_names(self.plain)[self.plain.coordinates[joint.name]]
        made = self.joint_junctions[joint.name] = []
        for name, column in zip(speeds, joint.kind.velocities, strict=True):
            own = name.removeprefix("v_")
            junction = self.element(
                f"speed_{own}", "1", domain="rotation" if column.unit == "rad/s" else "translation"
            )
            sink = self.element(f"motion_{own}", "rSf", state=(name,))
            self.bond(junction, sink, f"{own}_motion")
            made.append(junction)
            self.speeds[own] = junction
        compliances = [
            self.element(f"position_{name.removeprefix('q_')}", "C", law=law, state=(name,))
            for name, law in zip(places, self.spring_laws(place, joint), strict=True)
        ]
        if len(places) == len(speeds):
            for junction, compliance in zip(made, compliances, strict=True):
                self.bond(junction, compliance)
        elif places:
            rates = coordinate_rates(self.m, self.q)[
                self.plain.coordinates[joint.name], self.plain.velocities[joint.name]
            ]
            self.two_port("MTF", f"rates_{identifier(joint.name)}", made, rates, compliances)

    def spring_laws(self, place: int, joint: Joint) -> list[Number]:
        """What a joint's springs oppose to its coordinates: nothing, as long as rigid bodies alone
        are drawn."""
        return [0.0] * joint.nq

    def _joint(self, joint: Joint) -> None:
        """The child's twist by the parent's and the joint's velocities."""
        body, parent = joint.child, self.moving[joint.parent]
        self.moving[body] = []
        if body not in self._carrying:
            return
        own = coordinates(self.m, self.q, joint)
        seat = _tidy(joint.at.transform())
        X = motion_transform(symbolic_transform(seat @ joint.kind.transform(own)))
        S = casadi.SX(joint.kind.motion(own)) if joint.nv else casadi.SX(6, 0)
        whole = casadi.sparsify(casadi.horzcat(X[:, parent], S))
        self.moving[body] = alive = sorted(set(whole.sparsity().row()))
        if not alive:
            return
        for k in alive:
            name = f"{identifier(body)}_{COMPONENTS[k]}"
            self.junctions[body, k] = self.element(
                name, "1", domain="rotation" if k < 3 else "translation"
            )
        into = [
            *(self.junctions[joint.parent, k] for k in parent),
            *self.joint_junctions[joint.name],
        ]
        self.two_port(
            "MTF", f"joint_{identifier(joint.name)}", into, whole[alive, :], self.twist(body)
        )

    def twist(self, body: str) -> list[str]:
        """The junctions of a body's twist."""
        return [self.junctions[body, k] for k in self.moving[body]]

    @cached_property
    def _carrying(self) -> set[str]:
        """Bodies that have mass, carry mass, or that something acts on."""
        found = {b.name for b in self.m.bodies if _inertia(b).nnz()} | self._ends
        for joint in reversed(self.m.joints):
            if joint.child in found:
                found.add(joint.parent)
        return found

    # -- bodies -------------------------------------------------------------------------------------------------

    def _body(self, body: Body) -> None:
        """The inertia field and the rings."""
        alive, inertia = self.moving[body.name], _inertia(body)
        own = casadi.sparsify(inertia[alive, alive])
        if not own.nnz():
            return
        field = self.element(f"inertia_{identifier(body.name)}", "I", self.definitions.matrix(own))
        flows = {
            k: self.bond(
                self.junctions[body.name, k], field, f"{identifier(body.name)}_{COMPONENTS[k]}"
            )
            for k in alive
        }
        momentum = casadi.SX(6, 1)
        for k in range(6):  # of a component that does not move, by those that do
            name = flows[k].signal_name("p") if k in alive else ""
            parts = [
                inertia[k, j] * casadi.SX.sym(flows[j].signal_name("f"))
                for j in alive
                if inertia[k, j].nnz()
            ]
            momentum[k] = casadi.SX.sym(name) if name else sum(parts, casadi.SX(0))
        self._rings(body.name, casadi.sparsify(momentum))

    def _rings(self, body: str, momentum: Expression) -> None:
        """Euler's junction structure."""
        alive = self.moving[body]
        for k, (a, b, c) in enumerate(RING):
            if a in alive and b in alive and momentum[c].nnz():
                gyrator = self.element(
                    f"ring_{identifier(body)}_{'zxy'[k]}", "MGY", self.value(momentum[c])
                )
                self.bond(self.junctions[body, a], gyrator)
                self.bond(gyrator, self.junctions[body, b])
        turning, sliding = [k for k in alive if k < 3], [k for k in alive if k >= 3]
        M = (
            skew(momentum[3:])[[k - 3 for k in sliding], turning]
            if turning and sliding
            else casadi.SX(0, 0)
        )
        into, out = ([self.junctions[body, k] for k in own] for own in (turning, sliding))
        self.two_port("MGY", f"ring_{identifier(body)}", into, M, out)

    # -- gravity ------------------------------------------------------------------------------------------------

    @cached_property
    def pulled(self) -> list[int]:
        """The directions in which gravity pulls."""
        return [k for k, g in enumerate(self.m.gravity) if not (isinstance(g, float) and g == 0.0)]

    @cached_property
    def placed(self) -> dict[str, RigidTransform]:
        """Where all bodies stand, by the coordinates' symbols."""
        return {body: symbolic_transform(pose) for body, pose in placements(self.m, self.q).items()}

    def _weight(self, place: int, body: Body) -> None:
        """A source for each direction in which gravity pulls, on the velocity of the centre of mass
        in it."""
        told, g = self.plain.description.bodies[place], self.plain.description.gravity
        if isinstance(body.mass, float) and body.mass == 0.0:
            return
        rows = self.point_velocity(body.name, body.com)[self.pulled, :]
        names = [f"weight_{identifier(body.name)}_{'xyz'[k]}" for k in self.pulled]
        self.act({body.name: rows}, names, [told.mass * g[k] for k in self.pulled], "fall_")

    def _platform(self) -> None:
        """A ground that accelerates against gravity: a source of the velocity -g t (Morales,
        4.39-4.45)."""
        self.moving[GROUND] = [k + 3 for k in self.pulled]
        for k in self.pulled:
            junction = self.element(f"ground_v{'xyz'[k]}", "1", domain="translation")
            source = self.element(
                f"platform_{'xyz'[k]}", "Sf", -self.plain.description.gravity[k] * parameter(TIME)
            )
            self.bond(source, junction)
            self.junctions[GROUND, k + 3] = junction

    # -- what acts on bodies ------------------------------------------------------------------------------------

    def point_velocity(self, body: str, at: Sequence[Any]) -> Expression:
        """The 3 x 6 matrix from a body's twist to the velocity of one of its points in the ground's
        axes."""
        R = self.placed[body][0]
        c = casadi.vertcat(*at)
        return casadi.sparsify(casadi.horzcat(-R @ skew(casadi.SX(c)), R))

    def seen(self, name: str, rows: Mapping[str, Expression], out: Sequence[str]) -> list[str]:
        """Elements bonded to what matrices make of bodies' twists, a row for each; those that are
        bonded come back."""
        into = [self.junctions[body, k] for body in rows for k in self.moving[body]]
        return self.two_port("MTF", name, into, self._whole(rows), out)

    def _whole(self, rows: Mapping[str, Expression]) -> Expression:
        """The columns of what moves, side by side."""
        return casadi.sparsify(
            casadi.horzcat(*(own[:, self.moving[body]] for body, own in rows.items()))
        )

    def act(
        self,
        rows: Mapping[str, Expression],
        names: Sequence[str],
        efforts: Sequence[Number | None],
        junction: str,
    ) -> None:
        """A source of effort, or an input, for each row of what matrices make of bodies' twists."""
        used = sorted(set(self._whole(rows).sparsity().row()))
        places = [self.element(f"{junction}{names[i]}", "1") for i in used]
        self.seen(
            f"{junction}{next(iter(rows))}",
            {body: own[used, :] for body, own in rows.items()},
            places,
        )
        for i, place in zip(used, places, strict=True):
            source = self.element(names[i], "Se", efforts[i])
            self.bond(source, place, names[i] if efforts[i] is None else "")

    def wrench(self, body: str) -> list[int]:
        """Inputs for the components of a wrench on a body, in its own axes about its own origin:
        those that it can move in."""
        for k in self.moving[body]:
            self.bond(
                self.element(f"wrench_{identifier(body)}_{COMPONENTS[k]}", "Se"),
                self.junctions[body, k],
            )
        return self.moving[body]


def _inertia(body: Body) -> Expression:
    """The 6x6 inertia about the origin of a body's frame."""
    com, moments = casadi.SX(casadi.vertcat(*body.com)), casadi.SX(body.inertia_matrix())
    made: Expression = inertia_matrix(casadi.SX(body.mass), com, moments)
    return made


def _tidy(placed: RigidTransform) -> RigidTransform:
    """A constant pose with zeros where round-off left something."""
    R, p = placed
    if is_symbolic(R, p):
        return placed
    size = np.abs(p).max(initial=0.0)
    return RigidTransform(
        np.where(np.abs(R) < ROUND_OFF, 0.0, R), np.where(np.abs(p) < ROUND_OFF * size, 0.0, p)
    )
