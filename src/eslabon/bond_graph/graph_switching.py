"""Graphs whose laws jump, such as friction mu*sign(f), with their choices as an input.

Choices of the rates are frozen within a step, and change where a surface is reached; where both
sides push back the state slides along it, with a mode between -1 and 1 (`compiler.switching`,
`motion.simulation.mode_switches`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.bond_graph.graph import Graph
from eslabon.bond_graph.graph_formulas import BOND_VARIABLES, T, U, X, bonds, input_names, order
from eslabon.bond_graph.graph_values import BondVariables, places
from eslabon.bond_graph.state_equations import Evaluation
from eslabon.compiler.calls import free_symbols, inlined
from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.formula import Argument, Formula
from eslabon.compiler.switching import Switching, switching
from eslabon.numerics.scalars import Expression, casadi

JUMP = 1e-7  # of the rates: what round-off of a square root leaves of a law that does not jump
TRIES, NEWTON = 3, 20  # states on a surface; iterations to each


def _rates_of(g: Graph) -> tuple[Any, list[Expression]] | None:
    """The rates, efforts and flows as functions of x, u, t and free symbols; None where an
    algebraic loop is iterated."""
    x, u, t = (
        casadi.SX.sym(name, size)
        for name, size in (("x", order(g)), ("u", len(input_names(g))), ("t", 1))
    )
    e = Evaluation.of_state(g, x, u, t)
    made = [casadi.densify(e.rates), *bonds(e)]
    if e.loops.made:
        return None
    free = free_symbols([x, u, t], made)
    return casadi.Function("rates", [x, u, t, *free], made), free


def choices_of(g: Graph) -> Switching | None:
    """Where the rates of a graph choose, if they jump there; None where they do not."""
    if "switching" not in g.memory:
        found = _rates_of(g)
        made = switching(found[0]) if found is not None else None
        g.memory["switching"] = made if made is not None and any(_jumps(made)) else None
    known: Switching | None = g.memory["switching"]
    return known


def _jumps(found: Switching) -> Iterator[bool]:
    """Of each surface whether rates differ on its two sides: those of sign(e)*sqrt(abs(e)) do
    not."""
    symbols = found.surfaces.sx_in()
    g = found.surfaces.call(symbols, True, False)[0]
    slopes = casadi.Function("slopes", symbols, [casadi.jacobian(g, symbols[0])])
    rng = np.random.default_rng(0)
    for k in range(len(found.names)):
        sizes = [
            _jump(found, slopes, k, [rng.normal(size=s.shape) for s in symbols[:3]])
            for _ in range(TRIES)
        ]
        yield max(sizes) > JUMP


def _jump(found: Switching, slopes: Any, k: int, at: list[Floats]) -> float:
    """How much rates differ across a surface at a state on it, near a given one, as a share of
    them."""
    modes = found.choices(*at).full().ravel()
    for _ in range(NEWTON):
        slope = slopes(*at, modes).full()[k]
        if not slope.any() or not np.isfinite(slope).all():
            break
        at[0] = at[0] - (float(found.surfaces(*at, modes)[k]) * slope / (slope @ slope))[:, None]
    ends = []
    for side in (1.0, -1.0):
        modes[k] = side
        ends.append(np.nan_to_num(found.function(*at, modes)[0].full()))
    return float(np.abs(ends[0] - ends[1]).max() / max(np.abs(ends).max(), 1e-300))


def follow_inputs(found: Switching) -> bool:
    """Whether surfaces move with inputs, whose rates nobody knows."""
    symbols = found.surfaces.sx_in()
    g = found.surfaces.call(symbols, True, False)[0]
    return bool(casadi.depends_on(g, symbols[1]))


def frozen_rates(
    g: Graph, x: Expression, u: Expression, t: Expression, modes: Expression, size: int = 0
) -> Expression:
    """x' with frozen choices."""
    f, free = _found(g)
    return f.function.call([x, u, t, *free, modes], True, False)[0]


def frozen_bond_variables(
    g: Graph, x: Expression, u: Expression, t: Expression, modes: Expression, size: int = 0
) -> list[Expression]:
    """Efforts and flows of all bonds with frozen choices."""
    f, free = _found(g)
    return list(f.function.call([x, u, t, *free, modes], True, False)[1:])


def surfaces(
    g: Graph,
    x: Expression,
    u: Expression,
    t: Expression,
    modes: Expression,
    rates: Expression,
    size: int = 0,
) -> list[Expression]:
    """The functions whose signs are the modes, and their rates along those of the state."""
    f, free = _found(g)
    made = inlined(f.surfaces.call([x, u, t, *free, modes], True, False)[0])
    along = casadi.jtimes(made, casadi.vertcat(x, t), casadi.vertcat(rates, 1))
    return [made, casadi.densify(along)]


def _found(g: Graph) -> tuple[Switching, list[Expression]]:
    found = _rates_of(g)
    assert found is not None  # who asks has looked
    return switching(found[0]), found[1]


def _modes(_: Graph, size: int = 0) -> tuple[int]:
    return (size,)


MODES = Argument("modes", _modes)
FROZEN = Formula(
    "frozen_graph_rates", frozen_rates, (X, U, T, MODES), (Argument("rates", X.shape),), {"size": 0}
)
FROZEN_BOND_VARIABLES = Formula(
    "frozen_bond_variables",
    frozen_bond_variables,
    (X, U, T, MODES),
    BOND_VARIABLES.outputs,
    {"size": 0},
    rare=True,
)
SURFACES = Formula(
    "graph_surfaces",
    surfaces,
    (X, U, T, MODES, Argument("rates", lambda g, **_: (order(g),))),
    (Argument("g"), Argument("g_rate")),
    {"size": 0},
    rare=True,
)  # fmt: skip


@dataclass(frozen=True)
class SwitchedGraph:
    """The rates of a graph with modes as an input, under inputs that are known in time."""

    g: Graph
    found: Switching
    u: Callable[[float], Any]
    counted: Callable[..., Any]  # gives the rates, and counts them

    @property
    def names(self) -> tuple[str, ...]:
        return self.found.names

    def _given(self, t: Any) -> Floats:
        if np.ndim(t) == 0:
            return np.asarray(self.u(float(t)), dtype=float)
        return np.array([self.u(float(s)) for s in t], dtype=float)

    def rates(self, t: float, x: Floats, modes: Floats) -> Floats:
        f = evaluate(self.g, FROZEN, size=self.found.size)
        made: Floats = self.counted(f)(x, self._given(t), t, modes)
        return made

    def surfaces(self, t: Any, x: Floats, modes: Floats, rates: Floats) -> tuple[Floats, Floats]:
        f = evaluate(self.g, SURFACES, size=self.found.size)
        made: tuple[Floats, Floats] = f(x, self._given(t), t, modes, rates)
        return made

    def choices(self, t: float, x: Floats) -> Floats:
        made: Floats = self.found.choices(x, self._given(t), t).full().ravel()
        return made

    def settled(self, modes: Floats) -> Floats:
        return self.found.settled(modes)


def frozen_variables(g: Graph, x: Floats, u: Floats, t: Floats, modes: Floats) -> BondVariables:
    """Efforts and flows along a run with its modes: those of friction that holds are what it
    holds."""
    found = choices_of(g)
    assert found is not None
    e, f = evaluate(g, FROZEN_BOND_VARIABLES, size=found.size)(x, u, t, modes)
    return BondVariables(e, f, *places(g))
