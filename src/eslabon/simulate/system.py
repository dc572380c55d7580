"""A mechanism with all that drives it, and the graphs and machine code of it that a run needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from eslabon.graph import native
from eslabon.graph import trace as graphs
from eslabon.graph.native.arguments import Argument, Floats
from eslabon.graph.trace import Quantity, Request
from eslabon.quantities import QUANTITIES
from eslabon.simulate import equations
from eslabon.simulate.control import Called, Control, Table, Traced

Shape = tuple[int, ...]
_MEMORY: dict[str, Any] = {}  # machine code of this process; a law's is in the law
KEPT = 64  # pieces of code


@dataclass(frozen=True, eq=False)
class System:
    """What is integrated: the mechanism under its control, wrenches on its bodies, and its parameters' values."""

    m: Any  # the mechanism that users hold
    control: Control
    external: Mapping[str, Floats]
    parameters: Mapping[str, Floats]
    hold: bool = False  # whether forces are asked for once a step, and held
    formulation: str | None = None  # of the accelerations
    _made: dict[str, Any] = field(default_factory=dict, repr=False)

    # -- what is the same at all times --------------------------------------------------------------------------

    @property
    def constants(self) -> list[Floats]:
        """Wrenches and parameters, in the order of the graphs' inputs."""
        return [*self.external.values(), *self.parameters.values()]

    @property
    def batch(self) -> Shape:
        """The leading axes of all that was given."""
        forces = [self.control.values.shape[:-2]] if isinstance(self.control, Table) else []
        wrenches = [w.shape[:-1] for w in self.external.values()]
        return np.broadcast_shapes(*forces, *wrenches, *(p.shape for p in self.parameters.values()))

    def pick(self, batch: Shape, index: tuple[int, ...]) -> System:
        """The system of one trajectory of a batch."""

        def one(x: Floats, core: Shape) -> Floats:
            return np.array(np.broadcast_to(x, batch + core)[index])

        control = self.control
        if isinstance(control, Table):
            control = Table(control.times, one(control.values, control.values.shape[-2:]), control.kind)
        wrenches = {name: one(w, (6,)) for name, w in self.external.items()}
        values = {name: one(p, ()) for name, p in self.parameters.items()}
        return replace(self, control=control, external=wrenches, parameters=values)

    # -- graphs -------------------------------------------------------------------------------------------------

    def request(self, quantity: Quantity) -> Request:
        """The quantity with this system's wrenches and parameters as inputs."""
        chosen = self.formulation is not None and quantity in (equations.RATES, equations.ACCELERATIONS)
        options = (("formulation", self.formulation),) if chosen else ()
        external = tuple(self.external) if quantity.external else ()
        return Request(quantity, options, tuple(self.parameters), None, external)

    def graph(self, quantity: Quantity) -> Any:
        """A quantity as a `casadi.Function` of its own inputs and the constants."""
        return graphs.trace(self.m, self.request(quantity))

    def native(self, quantity: Quantity) -> Any:
        """A quantity as machine code of its own inputs and the constants."""
        return self.code(quantity.name, lambda: graphs.native(self.m, self.request(quantity)))

    def code(self, name: str, make: Callable[[], Any]) -> Any:
        """Machine code that this process has made before for the same mechanism and law, or makes now."""
        if name not in self._made:
            memory = self.control.memory if isinstance(self.control, Traced) else _MEMORY
            key = f"{name} {self.hold} {self.request(equations.RATES).key(self.m)}"
            memory[key] = memory.pop(key, None) or make()
            if len(memory) > KEPT:
                del memory[next(iter(memory))]
            self._made[name] = memory[key]
        return self._made[name]

    def symbols(self) -> list[Any]:
        """Symbols for the constants."""
        import casadi

        wrenches = [casadi.SX.sym(f"wrench_{k}", 6) for k in range(len(self.external))]
        return wrenches + [casadi.SX.sym(name) for name in self.parameters]

    @property
    def arguments(self) -> list[Argument]:
        """The constants' names and shapes, for native code."""
        wrenches = [Argument(name, (6,)) for name in self.external]
        return wrenches + [Argument(name, ()) for name in self.parameters]

    @property
    def rates(self) -> Any:
        """dx/dt in machine code, of q, v, tau and the constants; under a traced law, of t, q, v and the constants."""
        if self.explicit:
            return self._explicit_rates()
        if not isinstance(self.control, Traced):
            return self.native(equations.RATES)
        return self.code("rates under law", lambda: self._compiled(self._under_law(), (self.n,)))

    @property
    def explicit(self) -> bool:
        """Whether the explicit equations of Gibbs and Appell are asked for, whose division of the velocities must be able
        to change on the way."""
        return self.m.closed and self.formulation == "gibbs_appell"

    def _explicit_rates(self) -> Any:
        m, turning, names = self.m, self.native(equations.COORDINATE_VELOCITIES), tuple(self.external)

        def rates(q: Floats, v: Floats, tau: Floats, *wrenches: Floats) -> Floats:
            loads = {"external": dict(zip(names, wrenches, strict=True))} if names else {}
            # Stages of a method stand a little off the loops, which is for the end of the step to mend.
            a = m.forward_dynamics(q, v, tau, "gibbs_appell", tolerance=np.inf, **loads)
            return np.concatenate([turning(q, v), a], axis=-1)

        if not isinstance(self.control, Traced):
            return rates
        law = self.control.native(m)
        return lambda t, q, v, *wrenches: rates(q, v, law(t, q, v), *wrenches)

    @property
    def jacobian(self) -> Any:
        """The derivative of dx/dt by x, of the same arguments."""
        if not isinstance(self.control, Traced):
            return self.native(equations.JACOBIAN)
        return self.code("jacobian under law", lambda: self._compiled(self._slope(), (self.n, self.n)))

    def _under_law(self) -> Any:
        """The rates as a graph of t, q, v, the law's forces put in."""
        import casadi

        assert isinstance(self.control, Traced)
        law, f, constants = self.control.graph(self.m), self.graph(equations.RATES), self.symbols()
        t, q, v = (casadi.SX.sym(s, n) for s, n in (("t", 1), ("q", self.m.nq), ("v", self.m.nv)))
        return casadi.Function("rates", [t, q, v, *constants], [f(q, v, law(t, q, v), *constants)])

    def _slope(self) -> Any:
        import casadi

        f = self._under_law()
        t, q, v, *constants = f.sx_in()
        value = casadi.jacobian(f(t, q, v, *constants), casadi.vertcat(q, v))
        return casadi.Function("rates_jacobian", [t, q, v, *constants], [casadi.cse(casadi.densify(value))])

    def _compiled(self, f: Any, shape: Shape) -> Any:
        """A graph of t, q, v and the constants as machine code."""
        own = [Argument("t", ()), Argument("q", (self.m.nq,)), Argument("v", (self.m.nv,))]
        outputs = [Argument(f.name(), shape)]
        return native.compile(f, inputs=[*own, *self.arguments], outputs=outputs, owner=self.m.name)

    @property
    def n(self) -> int:
        """The length of the state."""
        return self.m.nq + self.m.nv

    # -- what follows from a motion -----------------------------------------------------------------------------

    def forces(self, t: Floats, q: Floats, v: Floats) -> Floats:
        """The actuators' forces along a motion, (..., times, nu)."""
        shape = (*q.shape[:-1], self.m.nu)
        if self.control is None:
            return np.zeros(shape)
        if isinstance(self.control, Table):
            return np.array(np.broadcast_to(self.control.at(t), shape))
        if isinstance(self.control, Traced):
            return self.control.native(self.m)(np.broadcast_to(t, q.shape[:-1]), q, v)
        return self._called_forces(self.control, t, q, v)

    def _called_forces(self, law: Called, t: Floats, q: Floats, v: Floats) -> Floats:
        rows = [law(float(time), q[..., k, :], v[..., k, :]) for k, time in enumerate(t)]
        return np.stack([np.broadcast_to(row, (*q.shape[:-2], self.m.nu)) for row in rows], axis=-2)

    def accelerations(self, q: Floats, v: Floats, tau: Floats) -> Floats:
        """Forward dynamics along a motion, (..., times, nv)."""
        return self._along(equations.ACCELERATIONS, q, v, tau)

    def energy(self, q: Floats, v: Floats) -> Floats:
        """Kinetic and potential energy along a motion, (..., times, 2)."""
        return self._along(QUANTITIES["energy"], q, v)

    def momenta(self, q: Floats, v: Floats) -> Floats:
        """p = M v for states (..., nv)."""
        return self.native(equations.MOMENTA)(q, v, *self.parameters.values())

    def velocities(self, q: Floats, p: Floats) -> Floats:
        """v along a motion for which the momenta are known."""
        return self._along(equations.VELOCITIES, q, p)

    def _along(self, quantity: Quantity, *arrays: Floats) -> Floats:
        """A quantity at every time of a motion: constants have no axis for the times."""
        wrenches = [w[..., None, :] for w in self.external.values()] if quantity.external else []
        return self.native(quantity)(*arrays, *wrenches, *(p[..., None] for p in self.parameters.values()))
