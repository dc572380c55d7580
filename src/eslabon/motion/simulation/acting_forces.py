"""The forces that act on a mechanism besides its own, as one graph of the state: actuators, stops,
sharp Coulomb friction.

All that may jump or bend in a run stands here, so that `compiler.switching` finds it: the control
law, effort limits, joint stops and Coulomb friction. The mechanics that carry these forces are
smooth.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from eslabon.compiler.calls import derived, free_symbols
from eslabon.compiler.formula import Formula, remembered, requested
from eslabon.compiler.switching import ModeLayout, Switching, kept_layout, switching
from eslabon.formulas.inputs import Q
from eslabon.formulas.kinematics.symbols import zeros
from eslabon.model import Model
from eslabon.motion.simulation.controller_memory import within
from eslabon.motion.simulation.joint_stops import Stop, stop_forces
from eslabon.motion.simulation.native_laws import Law
from eslabon.numerics.scalars import Expression, casadi


class Forces(NamedTuple):
    """What a law commands, what the actuators give, forces along all velocities besides, and rates
    of the law's states."""

    commanded: Expression
    actuators: Expression
    push: Expression
    law_rates: Expression


@dataclass(frozen=True)
class Acting:
    """What determines these forces, beside the forces `tau` that are known in time: options of
    formulas."""

    law: Law | None = None
    limit: tuple[float, ...] = ()
    stops: tuple[Stop, ...] = ()
    friction: str = "smooth"

    @property
    def data_size(self) -> int:
        """How many numbers the law has."""
        return 0 if self.law is None else self.law.data_size

    def with_data(self, data: Expression) -> Acting:
        """The same with symbols in place of the law's numbers."""
        return self if self.law is None else replace(self, law=self.law.with_data(data))

    def forces(self, m: Model, t: Expression, x: Expression, tau: Expression) -> Forces:
        """As functions of the state."""
        q, v, own = x[: m.nq], x[m.nq : m.nq + m.nv], x[m.nq + m.nv :, :]
        given, own = (0, own) if self.law is None else self.law(t, q, v, own)
        commanded, push = tau + given, stop_forces(m, q, v, self.stops)
        if self.friction == "sharp":
            push = push - sharp_friction(m, v)
        made = commanded, within(commanded, self.limit), push, own
        return Forces(*(casadi.densify(casadi.SX(y)) for y in made))

    def switching(self, m: Model) -> tuple[Switching, list[Expression]]:
        """Where they choose, as functions of t, q, v, the law's states, tau and the symbols among
        the parameters."""
        symbols = [casadi.SX.sym(name, size) for name, size in self._inputs(m)]
        t, *state, tau = symbols
        made = list(self.forces(m, t, casadi.vertcat(*state), tau))
        free = free_symbols(symbols, made)
        return switching(casadi.Function("forces", [*symbols, *free], made)), free

    def layout(self, m: Model, parameters: tuple[str, ...]) -> ModeLayout:
        """The modes of these forces, from memory or beside the compiled code; parameters are
        symbols."""
        base, names = m.variant_of or m, (*parameters, *m.varied)
        request = requested(base, LAYOUT, {"acting": self}, tuple(dict.fromkeys(names)))

        def made() -> ModeLayout:
            symbols = {name: casadi.SX.sym(name) for name in request.parameters}
            own = self.with_data(casadi.SX.sym("data", self.data_size)) if self.data_size else self
            return own.switching(base.with_symbols(symbols) if symbols else base)[0]

        place = ("modes", request.identity)
        return remembered(m, place, lambda: kept_layout(request.key(base), made))

    def choices(self, m: Model, t: Expression, x: Expression, tau: Expression) -> Expression:
        """The modes that hold by themselves."""
        found, free = self.switching(m)
        return found.choices.call([t, *self._parts(m, x), tau, *free], True, False)[0]

    def frozen(
        self, m: Model, t: Expression, x: Expression, tau: Expression, modes: Expression
    ) -> Forces:
        """The forces with their choices frozen."""
        found, free = self.switching(m)
        return Forces(*found.function.call([t, *self._parts(m, x), tau, *free, modes], True, False))

    def surfaces(
        self, m: Model, t: Expression, x: Expression, tau: Expression, modes: Expression, rates: Expression
    ) -> list[Expression]:  # fmt: skip
        """The functions g whose signs are the modes, and dg/dt along rates of the state."""
        found, free = self.switching(m)
        own = casadi.SX.sym("t"), casadi.SX.sym("x", x.numel())
        values = [own[0], *self._parts(m, own[1]), tau, *free, modes]
        g = found.surfaces.call(values, True, False)[0]

        def along(plain: list[Expression]) -> list[Expression]:
            return [casadi.jtimes(plain[0], casadi.vertcat(*own), casadi.vertcat(1, rates))]

        both = [g, casadi.densify(derived(along, [g])[0])]
        made: list[Expression] = casadi.substitute(both, [*own], [t, x])
        return made

    def _inputs(self, m: Model) -> list[tuple[str, int]]:
        own = 0 if self.law is None else self.law.size
        return [("t", 1), ("q", m.nq), ("v", m.nv), ("x", own), ("tau", m.nu)]

    def _parts(self, m: Model, x: Expression) -> list[Expression]:
        parts: list[Expression] = casadi.vertsplit(x, [0, m.nq, m.nq + m.nv, x.numel()])
        return parts


LAYOUT = Formula(
    "mode_layout", Acting.choices, (Q,), (), {"acting": None}
)  # for keys: never compiled


def sharp_friction(m: Model, v: Expression) -> Expression:
    """F sign(v) of every joint with Coulomb friction, along the velocities."""
    force = zeros(m.nv)
    for joint in m.joints:
        if joint.coulomb is not None:
            place = m.velocities[joint.name]
            force[place] = casadi.vertcat(*joint.coulomb) * casadi.sign(v[place])
    return force


def without_coulomb(m: Model) -> Model:
    """The mechanism without the Coulomb friction of its joints."""
    joints = tuple(replace(j, coulomb=None) for j in m.description.joints)
    return m.from_description(replace(m.description, joints=joints), m.symbols)
