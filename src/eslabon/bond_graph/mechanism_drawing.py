"""The whole bond graph of a mechanism: the tree of `bonds.rigid_bodies`, and all that acts on it.

Actuators are inputs on their joints' 1-junctions, or drives: graphs with a port, such as a motor
with its amplifier or a cylinder with its valve. Motors' inertias stand behind their gears, friction
is a resistor, a spring between points a compliance whose displacement is its length. A loop is a
transformer from the twists of two bodies to what the cut joint holds, which a residual sink keeps
at zero: its effort is the multiplier, the force of the joint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from eslabon.bond_graph.graph import Graph
from eslabon.bond_graph.graph_drawing import identifier
from eslabon.bond_graph.rigid_bodies import TreeDrawing
from eslabon.errors import ModelError, format_value, suggest
from eslabon.formulas.applied_loads import CREEP, TOUCHING
from eslabon.formulas.kinematics.loop_motion import Circuit, circuits, constraint_rows
from eslabon.formulas.kinematics.symbols import symbolic_transform
from eslabon.model import GROUND, Coupling, End, Joint, Loop, Model, Spring, Wrench
from eslabon.model.parameter_expressions import Number, call, parameter
from eslabon.numerics.scalars import Expression, casadi
from eslabon.numerics.spatial import RigidTransform, motion_transform, skew
from eslabon.solve.constraints.constraint_structure import structure

AXES = ("mx", "my", "mz", "fx", "fy", "fz")


class MechanismDrawing(TreeDrawing):
    """The graph of a mechanism. `drives` are graphs with one open port, by the joint they move."""

    def __init__(self, m: Model, gravity: str, drives: Mapping[str, Graph]) -> None:
        pairs: list[tuple[End, End]] = [(x.first, x.second) for x in m.springs] + [
            (x.first, x.second) for x in m.loops
        ]
        ends = {end.body for pair in pairs for end in pair} | {w.body for w in m.wrenches}
        super().__init__(m, ends - {GROUND}, gravity)
        self.described = m.description
        driven = {identifier(name) for name in drives}
        for name, drive in drives.items():
            self._drive(name, drive)
        for place, joint in enumerate(self.m.joints):
            self._joint_elements(place, joint, driven)
        for place, spring in enumerate(self.m.springs):
            self._spring(place, spring)
        for place, wrench in enumerate(self.m.wrenches):
            self._wrench(place, wrench)
        if m.closed:
            self._closures(structure(m).partition.rows)

    # -- on joints ----------------------------------------------------------------------------------------------

    def _joint_elements(self, place: int, joint: Joint, driven: set[str]) -> None:
        """Actuator, motor behind its gear, and friction of each velocity."""
        described = self.described.joints[place]
        for k, junction in enumerate(self.joint_junctions[joint.name]):
            own = junction.removeprefix("speed_")
            if joint.name in self.plain.actuated and own not in driven:
                self.bond(self.element(f"actuator_{own}", "Se"), junction, own)
            if described.motor_inertia is not None and not _zero(described.motor_inertia[k]):
                rotor = self.element(f"rotor_{own}", "I", ((described.motor_inertia[k],),))
                ratio = described.gear_ratio[k] if described.gear_ratio else 1.0
                gear = self.element(f"gear_{own}", "TF", ratio)
                self.bond(junction, gear)
                self.bond(gear, rotor)
            viscous, coulomb = (x[k] if x else 0.0 for x in (described.viscous, described.coulomb))
            self._friction(own, viscous, coulomb)

    def spring_laws(self, place: int, joint: Joint) -> list[Number]:
        described = self.plain.description.joints[place]
        if described.stiffness is None:
            return super().spring_laws(place, joint)
        rest = described.rest or (0.0,) * joint.nq
        own = [f"{identifier(joint.name)}_{k}" for k in range(joint.nq)]
        stiffness = [
            self.constant(f"stiffness_{name}", k)
            for name, k in zip(own, described.stiffness, strict=True)
        ]
        rests = [self.constant(f"rest_{name}", x) for name, x in zip(own, rest, strict=True)]
        return [k * (parameter("q") - x) for k, x in zip(stiffness, rests, strict=True)]

    def _friction(self, own: str, viscous: Number, coulomb: Number) -> None:
        """Viscous and Coulomb friction, the latter as `dynamics.applied` has it."""
        if not _zero(coulomb):
            viscous, coulomb = (
                self.constant(f"viscous_{own}", viscous),
                self.constant(f"coulomb_{own}", coulomb),
            )
            law = viscous * parameter("f") + coulomb * call("tanh", parameter("f") / CREEP)
            self.bond(self.speeds[own], self.element(f"friction_{own}", "R", law=law))
        elif not _zero(viscous):
            self.bond(self.speeds[own], self.element(f"friction_{own}", "R", viscous))

    def _drive(self, name: str, drive: Graph) -> None:
        """A graph with a port, bonded to the velocity it moves."""
        if not isinstance(drive, Graph):
            raise ModelError(
                f"the drive of '{name}' is a bond graph with a port; it is {format_value(drive)}."
            )
        if (junction := identifier(name)) not in self.speeds:
            raise ModelError(
                f"drives names '{name}', which is no joint of {self.name} that moves{suggest(name, self.speeds)}"
            )
        ports = [x.name for x in drive.description.elements if x.is_port]
        if len(ports) != 1:
            raise ModelError(
                f"the drive of '{name}', {drive.name}, has {len(ports)} open ports; it needs one, to move the joint."
            )
        own = self.element(junction, "submodel", model=drive.description)
        inside = next(b for b in drive.description.bonds if ports[0] in (b.tail, b.head))
        outer = (f"{own}.{ports[0]}", self.speeds[junction])
        self.bond(*(outer if inside.head == ports[0] else outer[::-1]), own)

    # -- between bodies -----------------------------------------------------------------------------------------

    def _spring(self, place: int, spring: Spring) -> None:
        """A compliance and a resistor on the rate of the distance between two points."""
        described, name = self.described.springs[place], identifier(spring.name)
        stiff, damped = not _zero(described.stiffness), not _zero(described.damping)
        ends = [self._point(end) for end in (spring.first, spring.second)]
        span = ends[1] - ends[0]
        along = (span / casadi.sqrt(casadi.dot(span, span) + TOUCHING)).T
        rows: dict[str, Expression] = {}
        for end, sign in ((spring.first, -1), (spring.second, 1)):
            own = sign * (along @ self.point_velocity(end.body, end.at.position))
            rows[end.body] = rows[end.body] + own if end.body in rows else own
        parts = []
        if stiff:
            stiffness, rest = (
                self.constant(f"stiffness_{name}", described.stiffness),
                self.constant(f"rest_{name}", described.length),
            )
            law = stiffness * (parameter("q") - rest)
            parts.append(self.element(f"spring_{name}", "C", law=law, state=(f"length_{name}",)))
        if damped:
            parts.append(self.element(f"damper_{name}", "R", described.damping))
        if len(parts) == 2:
            junction = self.element(f"stretch_{name}", "1", domain="translation")
            for part in parts:
                self.bond(junction, part)
            parts = [junction]
        if parts and not self.seen(f"span_{name}", rows, parts):
            raise ModelError(
                f"{self.name}: the spring '{spring.name}' has a length that never changes; take it away."
            )

    def _point(self, end: End) -> Expression:
        R, p = self.placed[end.body]
        return p + R @ casadi.vertcat(*end.at.position)

    def _wrench(self, place: int, wrench: Wrench) -> None:
        """Sources of a moment and a force, or inputs, on the twist of a body's point in the axes of
        the wrench."""
        described, name = self.described.wrenches[place], identifier(wrench.name)
        R = self.placed[wrench.body][0] if wrench.axes == GROUND else casadi.SX.eye(3)
        rows = casadi.blockcat(
            [[R, casadi.SX(3, 3)], [-R @ skew(casadi.SX(casadi.vertcat(*wrench.at))), R]]
        )
        zero = (0.0, 0.0, 0.0)
        efforts: list[Number | None] = (
            [None] * 6
            if wrench.given
            else [*(described.moment or zero), *(described.force or zero)]
        )
        used = [k for k, x in enumerate(efforts) if not _zero(x)]
        names = [f"{name}_{AXES[k]}" for k in used]
        self.act(
            {wrench.body: casadi.sparsify(rows)[used, :]}, names, [efforts[k] for k in used], "at_"
        )

    # -- loops --------------------------------------------------------------------------------------------------

    def _closures(self, kept: Sequence[int]) -> None:
        """The independent rows of all loops and couplings."""
        start = 0
        for loop, walked in zip(self.m.loops, circuits(self.m, self.q, None).values(), strict=True):
            own = [k - start for k in kept if start <= k < start + loop.kind.rows]
            if own:
                self._loop(loop, walked, own)
            start += loop.kind.rows
        for coupling in self.m.couplings:
            if start in kept:
                self._coupling(coupling)
            start += 1

    def _loop(self, loop: Loop, walked: Circuit, own: Sequence[int]) -> None:
        """What a cut joint holds of the second body's motion relative to the first."""
        still = replace(walked, J=casadi.SX.eye(6), V=casadi.SX(6, 1), drift=casadi.SX(6, 1))
        _, G, _, varying = constraint_rows(loop.kind, still, self.t)
        second = loop.second.at.transform()
        first = loop.first.at.transform() @ RigidTransform(walked.R, walked.p)
        rows = {GROUND: casadi.SX(len(own), 6)}
        for end, frame, sign in ((loop.second, second, 1), (loop.first, first, -1)):
            X = motion_transform(symbolic_transform(frame))
            rows[end.body] = rows.get(end.body, 0) + sign * (G[own, :] @ X)
        name = identifier(loop.name)
        held_ones = [
            self._sink(f"loop_{name}_{k + 1}" if len(own) > 1 else f"loop_{name}", varying[k])
            for k in own
        ]
        self.seen(f"cut_{name}", rows, held_ones)

    def _coupling(self, c: Coupling) -> None:
        """joint = ratio source + offset, perhaps functions of the time."""
        joints = [c.joint] if c.source is None else [c.joint, c.source]
        into = [self.joint_junctions[name][0] for name in joints]
        q = casadi.vertcat(*(self.q[self.plain.coordinates[name]] for name in joints))
        modulus = casadi.horzcat(1, -casadi.SX(c.ratio))[:, : len(into)]
        varying = casadi.jacobian(casadi.dot(modulus.T, q) - c.offset, self.t)
        sink = self._sink(f"coupling_{identifier(c.name)}", varying)
        self.two_port("MTF", f"ratio_{identifier(c.name)}", into, modulus, [sink])

    def _sink(self, name: str, varying: Expression) -> str:
        """Where a row is held at zero; one that varies in time has a source of its own rate before
        it."""
        sink = self.element(name, "rSe")
        if not casadi.sparsify(varying).nnz():
            return sink
        junction = self.element(f"sum_{name}", "0")
        source = self.element(f"rate_{name}", "MSf", self.value(varying))
        self.bond(source, junction)
        self.bond(junction, sink)
        return junction


def _zero(x: Number | None) -> bool:
    return isinstance(x, float) and x == 0.0
