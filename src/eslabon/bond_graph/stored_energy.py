"""The energy that storages hold: half the product of linear ones, and the integral of any other law
from zero, found by bisection until Gauss's rule agrees with itself on both halves."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import Floats, finite, mapping
from eslabon.bond_graph.definitions import Reader
from eslabon.bond_graph.elements import DOMAINS, Element
from eslabon.bond_graph.graph import Graph
from eslabon.bond_graph.graph_formulas import T, U, X, storages
from eslabon.bond_graph.graph_values import checked_arguments, function
from eslabon.bond_graph.state_equations import Evaluation, stacked
from eslabon.compiler.formula import Argument, Formula
from eslabon.numerics.scalars import Expression, casadi

AGREED = 1e-12  # of the sum of the absolute values
DEEPEST = 60  # bisections of a path
NODES, WEIGHTS = (np.polynomial.legendre.leggauss(20)[k] / 2 for k in range(2))


def with_laws(g: Graph) -> tuple[Element, ...]:
    """The storages with a law."""
    return tuple(x for x in storages(g) if x.law is not None and not is_heat(g, x))


def energies(g: Graph, x: Expression, u: Expression, t: Expression) -> list[Expression]:
    """What each linear storage holds, nothing for others; and the energy variables of the
    others."""
    e = Evaluation.of_state(g, x, u, t)
    linear = [_held(e, x) for x in storages(g)]
    own = [e.energies(x)[0] for x in with_laws(g)]
    return e.loops.settled([stacked(linear), stacked(own)])


def _held(e: Evaluation, x: Element) -> Expression:
    """What a storage holds, nothing if it has a law; heat is an energy itself."""
    if is_heat(e.g, x):
        return sum(e.energies(x), casadi.SX(0))
    return casadi.SX(0) if x.law is not None else e.held_by(x)


def is_heat(g: Graph, x: Element) -> bool:
    """Whether the flow at an element's bonds is a power itself, as that of heat is."""
    domain = g.domains.get(g.ports[x.name][-1].bond.name)
    return domain is not None and not DOMAINS[domain].true


def co_energies(g: Graph, energy: Expression) -> Expression:
    """Co-energy variables of the storages with a law."""
    value = Reader(g.definitions, g.values.__getitem__)
    own = [x.field.answers(x, energy[k], [x.letter], value) for k, x in enumerate(with_laws(g))]
    return casadi.densify(stacked(own))


ENERGIES = Formula(
    "stored_energies",
    energies,
    (X, U, T),
    (
        Argument("energies", lambda g, **_: (len(storages(g)),)),
        Argument("energy_variables", lambda g, **_: (len(with_laws(g)),)),
    ),
    rare=True,
)
CO_ENERGIES = Formula(
    "co_energies",
    co_energies,
    (Argument("energy", lambda g, **_: (len(with_laws(g)),)),),
    (Argument("co_energies", lambda g, **_: (len(with_laws(g)),)),),
    rare=True,
)


def stored_energies(
    g: Graph,
    x: ArrayLike,
    u: ArrayLike | None,
    t: ArrayLike,
    parameters: Mapping[str, ArrayLike] | None = None,
) -> Floats:
    """What each storage holds, (..., storages), in the order of `storages`.

    >>> import eslabon as es
    >>> g = es.BondGraph(
    ...     "stop", {"v": "1", "m": "I: 1", "k": {"kind": "C", "law": "1e4*(abs(q-0.5)+q-0.5)/2"}},
    ...     ["v -> m", "v -> k"])
    >>> round(float(stored_energies(g, [0.0, 0.6], None, 0.0)[1]), 9)      # 1e4 * 0.1**2 / 2
    50.0
    """
    held, variables = function(g, ENERGIES, parameters)(*checked_arguments(g, x, u, t))
    if not variables.shape[-1]:
        return held
    given = [finite(x, name) for name, x in mapping(parameters, "parameters").items()]
    batch = np.broadcast_shapes(held.shape[:-1], *(np.shape(x) for x in given))
    ends = np.broadcast_to(variables, (*batch, variables.shape[-1])).reshape(
        -1, variables.shape[-1]
    )
    rows = [np.broadcast_to(x, batch).ravel() for x in given]
    law = function(g, CO_ENERGIES, parameters, bind=False)

    def f(lanes: np.ndarray, y: Floats) -> Floats:
        made: Floats = law(y, *(x[lanes][:, None] for x in rows))
        return made

    found = integral(f, ends).reshape(*batch, -1)
    total = np.array(np.broadcast_to(held, (*batch, held.shape[-1])))
    total[..., [k for k, x in enumerate(storages(g)) if x in with_laws(g)]] = found
    return total


def integral(f: Callable[[np.ndarray, Floats], Floats], ends: Floats) -> Floats:
    """The integrals of f(y) from 0 to y, (lanes, laws); f takes lanes and points (lanes, points,
    laws)."""

    def rule(lanes: np.ndarray, a: Floats, b: Floats) -> tuple[Floats, Floats]:
        at = (a + b)[:, None] / 2 + (b - a)[:, None] * NODES
        terms = f(lanes, at[..., None] * ends[lanes, None, :]) * ends[lanes, None, :]
        weights = (b - a)[:, None, None] * WEIGHTS[:, None]
        return (weights * terms).sum(axis=1), (weights * np.abs(terms)).sum(axis=1)

    lanes = np.arange(len(ends))
    a, b = np.zeros(len(ends)), np.ones(len(ends))
    whole, size = rule(lanes, a, b)
    total, goal = np.zeros_like(ends), AGREED * size
    for _ in range(DEEPEST):
        middle = (a + b) / 2
        left, right = rule(lanes, a, middle)[0], rule(lanes, middle, b)[0]
        done = (np.abs(left + right - whole) <= goal[lanes]).all(axis=-1) | ~np.isfinite(
            left + right
        ).all(axis=-1)
        np.add.at(total, lanes[done], (left + right)[done])
        if done.all():
            return total
        o = ~done
        lanes, whole = np.concatenate([lanes[o]] * 2), np.concatenate([left[o], right[o]])
        a, b = np.concatenate([a[o], middle[o]]), np.concatenate([middle[o], b[o]])
    np.add.at(total, lanes, whole)
    return total
