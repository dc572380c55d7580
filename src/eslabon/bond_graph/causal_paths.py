"""Causal paths and loops as users see them: bonds in sequence, the kind of path, and its gain in
symbols and numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import LARGEST, Floats, choice, count, finite, flag, known_words, names
from eslabon.bond_graph.causality import PREFERENCES, causality
from eslabon.bond_graph.elements import Element
from eslabon.bond_graph.graph import Graph
from eslabon.bond_graph.graph_values import inputs, state
from eslabon.bond_graph.signal_flow import FACTORS, Route, at_most, loops, routes, signal_flow
from eslabon.compiler.evaluate import evaluate
from eslabon.displays import displayed
from eslabon.errors import InputError, SingularityError, format_value
from eslabon.export.equations import equations
from eslabon.numerics.scalars import casadi

LIMIT = 2_000


@displayed(only=("bonds", "variables", "elements", "kind", "power"))
@dataclass(frozen=True, eq=False, repr=False)
class CausalPath:
    """A causal path (Morales, 5.2), or a loop, which comes back to the variable it begins with.

    Attributes
    ----------
    bonds : in sequence; that of an element on the way comes twice.
    variables : the efforts and flows on the way, with p or q of storages that it leads through.
    elements : the transformers, gyrators, resistors, storages and modulated sources on the way.
    """

    graph: Graph
    preference: str
    route: Route

    @property
    def bonds(self) -> tuple[str, ...]:
        return tuple(bond for bond, letter in self.route.variables if letter in "ef")

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(
            self.graph.bonds[bond].signal_name(letter) for bond, letter in self.route.variables
        )

    @cached_property
    def elements(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(x.name for x in self.route.passed()))

    @property
    def closed(self) -> bool:
        """Whether it is a loop."""
        return self.route.variables[0] == self.route.variables[-1]

    @property
    def kind(self) -> str:
        """ "simple" where one kind of variable is followed; "mixed direct" where a gyrator changes
        it; "mixed indirect" where the path leads through R, C, I or a modulated source."""
        passed = self.route.passed()
        if not all(x.conducts for x in passed):
            return "mixed indirect"
        return "mixed direct" if any(x.turns for x in passed) else "simple"

    @property
    def power(self) -> int:
        """The power of s in the gain: -1 for each storage in integral causality on the way, +1 in
        derivative causality."""
        return self.route.power

    @cached_property
    def gain(self) -> Any:
        """The gain as a SymPy expression of the parameters, the graph's variables and, through
        storages, s."""
        import sympy

        factor = casadi.densify(self.route.factor)
        free = casadi.symvar(factor)
        f = casadi.Function(
            "gain", [casadi.vertcat(casadi.SX(0, 1), *free)], [factor], ["moduli"], ["gain"]
        )
        (made,) = equations(f, {"moduli": [x.name() for x in free]} if free else None).expanded()
        return (
            sympy.sympify(made[0] if hasattr(made, "shape") else made)
            * sympy.Symbol("s") ** self.power
        )

    def at(
        self, x: ArrayLike, u: ArrayLike | None = None, t: ArrayLike = 0.0, s: complex = 1.0
    ) -> np.ndarray[Any, Any]:
        """The gain at states (..., n) and inputs (..., nu), for a value of s."""
        if (
            isinstance(s, bool)
            or not isinstance(s, int | float | complex | np.number)
            or not abs(s) <= LARGEST
        ):
            raise InputError(f"s is a finite number, real or complex; it is {format_value(s)}.")
        if s == 0 and self.power < 0:
            raise SingularityError(
                f"the gain of this path has s^{self.power} and is not finite at s = 0."
            )
        factor: np.ndarray[Any, Any] = path_factors([self], x, u, t)[..., 0]
        return factor * s**self.power

    def modulated_by_states(self) -> bool:
        """Whether a transformer or a gyrator on the way has a modulus that depends on the graph's
        variables."""
        return any(_varies(self.graph, x) for x in self.route.passed())

    def __repr__(self) -> str:
        noun = "loop" if self.closed else "path"
        return f"<{self.kind} causal {noun} {' -> '.join(self.bonds)}>"


def _varies(g: Graph, x: Element) -> bool:
    return x.conducts and any(n in g.signals for n in g.definitions.names_in(x.value))


def path_factors(
    paths: Iterable[CausalPath], x: ArrayLike, u: ArrayLike | None, t: ArrayLike
) -> Floats:
    """The gains of paths of one graph without their powers of s, (..., paths)."""
    own = list(paths)
    g, preference = own[0].graph, own[0].preference
    flow = signal_flow(g.nominal, preference)
    place = {edge: k for k, edge in enumerate(flow.edges)}
    numbers = evaluate(g, FACTORS, preference=preference)(state(g, x), inputs(g, u), finite(t, "t"))
    along = [
        [place[edge] for edge in zip(p.route.variables, p.route.variables[1:], strict=False)]
        for p in own
    ]
    return np.stack([numbers[..., k].prod(axis=-1) for k in along], axis=-1)


def causal_paths(
    g: Graph,
    start: str | Iterable[str] | None = None,
    end: str | Iterable[str] | None = None,
    *,
    indirect: bool = False,
    preference: str = "integral",
    limit: int = LIMIT,
) -> tuple[CausalPath, ...]:
    """The causal paths from elements to elements, shortest first.

    Parameters
    ----------
    start, end : elements by name or by the name of their bond; left out, all sources, I, C and R,
        and all of I, C, R and detectors.
    indirect : whether paths may also lead through R, C, I and modulated sources; otherwise the
        gains between two elements add up to their entry of the junction structure.
    preference : "integral" or "derivative" causality of storages.
    limit : more paths than this are refused.

    >>> import eslabon as es
    >>> puma = es.BondGraph.load("morales_puma")
    >>> path, other = puma.causal_paths("i2", "i1")
    >>> path
    <mixed direct causal path 2 -> 4 -> 5 -> 7 -> 10 -> 16 -> 18 -> 22 -> 24>
    >>> path.gain, other.gain                               # T3 and T1 of (5.30); they add up to S11[2, 1]
    (p13*sin(q3), -p12*cos(q3))
    >>> puma.causal_paths("tau2", "c2", indirect=True)[0].gain
    1/(i2*s)
    """
    choice(preference, "the preferred causality", PREFERENCES)
    most, through = count(limit, "limit", 1), flag(indirect, "indirect")
    ends = [
        x for x in g.elements.values() if x.has_state or x.dissipates or x.is_source or x.measures
    ]
    begin = _elements(g, start, "start", [x for x in ends if not x.measures])
    finish = _elements(g, end, "end", [x for x in ends if not x.is_source])
    found = (r for x in begin for y in finish for r in routes(g.nominal, x, y, preference, through))
    return tuple(
        CausalPath(g, preference, r) for r in at_most(g.nominal, found, most, "causal paths")
    )


def nonlinear_paths(g: Graph, limit: int = LIMIT) -> tuple[CausalPath, ...]:
    """The paths between different storages in integral causality through elements modulated by
    states (procedure 5.1, step 1).

    >>> import eslabon as es
    >>> len(es.BondGraph.load("morales_puma").nonlinear_paths()), len(es.BondGraph.load("morales_stanford").nonlinear_paths())
    (4, 14)
    """
    own = list(dict.fromkeys(s.element.name for s in causality(g.nominal).integral))
    if not own:
        return ()
    found = causal_paths(g, own, own, limit=limit)
    return tuple(p for p in found if p.bonds[0] != p.bonds[-1] and p.modulated_by_states())


def causal_loops(
    g: Graph, *, indirect: bool = True, preference: str = "integral", limit: int = LIMIT
) -> tuple[CausalPath, ...]:
    """The closed causal paths that trace no bond twice in the same direction (Mason loops),
    shortest first.

    Without `indirect` only those inside the junction structure: through junctions, transformers and
    gyrators alone.

    >>> import eslabon as es
    >>> g = es.BondGraph("rlc", {"V": "Se", "j": "1", "L": "I: L", "R": "R: R", "C": "C: C"},
    ...     ["V -> j -> L", "j -> R", "j -> C"], {"L": 0.5, "R": 2.0, "C": 0.1})
    >>> [loop.gain for loop in g.causal_loops()]              # their characteristic polynomial: 1 - the sum
    [-R/(L*s), -1/(C*L*s**2)]
    """
    choice(preference, "the preferred causality", PREFERENCES)
    made = loops(g.nominal, preference, flag(indirect, "indirect"), count(limit, "limit", 1))
    return tuple(CausalPath(g, preference, r) for r in made)


def _elements(
    g: Graph, given: str | Iterable[str] | None, what: str, every: list[Element]
) -> list[Element]:
    """Elements by their names or their bonds'."""
    if given is None:
        return every
    ends = {x.name: x for x in every}
    by_bond = {p.bond.name: x for x in every for p in g.ports[x.name]}
    wanted = [given] if isinstance(given, str) else names(given, what)
    known_words(wanted, {**by_bond, **ends}, f"{g.name} has no causal paths from or to")
    return list(dict.fromkeys(ends[name] if name in ends else by_bond[name] for name in wanted))
