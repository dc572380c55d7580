"""Steady states, through derivative causality: z = B*(x) u (Morales, 4.194), solved where it is implicit.

The unknowns are the energy variables of all storages. `steady_state` finds them for given inputs; `inverse_statics` finds
inputs that hold given states, such as joint positions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import Floats, finite, known_words, mapping, text
from eslabon.bond_graph.causality import causality
from eslabon.bond_graph.graph import Graph
from eslabon.bond_graph.graph_formulas import BOND_VARIABLES, RATES, STEADY, input_names, order
from eslabon.bond_graph.graph_values import inputs as inputs_of
from eslabon.compiler.evaluate import evaluate
from eslabon.displays import displayed
from eslabon.errors import InputError, ModelError, SingularityError

ITERATIONS, HALVINGS = 100, 30
SOLVED = 1e-10  # of the co-energy variables, relative to their size
MOVING = 1e-7
SINGULAR = 1e-13  # reciprocal condition number of the equations, scaled row by row


@displayed(line=True)
@dataclass(frozen=True)
class SteadyState:
    """States x (..., n) and inputs u (..., nu) at rest; `energy` has the energy variables of all storages by name."""

    x: Floats
    u: Floats
    energy: Mapping[str, Floats]
    states: tuple[str, ...]
    inputs: tuple[str, ...]

    def __getitem__(self, name: str) -> Any:
        """A state, another energy variable, or an input by its name."""
        known = {**self.energy, **{n: self.u[..., k] for k, n in enumerate(self.inputs)}}
        known_words([text(name, "what is asked of a steady state")], known, "a steady state has no")
        return known[name]

    def _ipython_key_completions_(self) -> list[str]:
        return [*self.energy, *self.inputs]


def steady_state(
    g: Graph, u: ArrayLike | None = None, guess: ArrayLike | None = None, t: float = 0.0
) -> SteadyState:
    """The state in which nothing changes under inputs.

    Parameters
    ----------
    u : inputs (..., nu).
    guess : a state (n,) or (..., n) near the answer, for graphs with several; zero if left out.

    >>> import eslabon as es
    >>> rest = es.BondGraph.load("morales_puma").steady_state([2.0, 1.0])
    >>> rest["q3"], rest["q23"]
    (array(0.4), array(0.1))
    """
    given = inputs_of(g, u)
    known = _known(g)
    start = np.zeros((*given.shape[:-1], len(known)))
    if guess is not None:
        near = finite(guess, "guess")
        own = causality(g).states
        if near.shape[-1:] != (len(own),):
            raise ModelError(f"guess has shape {near.shape}; {g.name} has {len(own)} states.")
        start = np.broadcast_to(
            start, (*np.broadcast_shapes(near.shape[:-1], start.shape[:-1]), len(known))
        ).copy()
        start[..., [known.index(name) for name in own]] = near
        given = np.broadcast_to(given, (*start.shape[:-1], given.shape[-1]))
    return _solved(g, start, given, list(range(len(known))), [], t)


def inverse_statics(
    g: Graph,
    states: Mapping[str, ArrayLike],
    inputs: Mapping[str, ArrayLike] | None = None,
    t: float = 0.0,
) -> SteadyState:
    """Inputs that hold some energy variables, such as joint positions, at rest (Morales, 4.4.3).

    Parameters
    ----------
    states : values of energy variables by name, as many as inputs are left open.
    inputs : the other inputs.

    >>> import eslabon as es
    >>> g = es.BondGraph.load("morales_stanford_constant")
    >>> held = g.inverse_statics({"q53": 0.5, "q3": 0.3, "q23": 0.6}, {"e30": -0.5})
    >>> held.u.round(4)                                   # e1, e25, e52 and e30: joints 2, 1 and 3, gravity
    array([ 1.4261,  5.8424,  2.1443, -0.5   ])
    """
    held, fixed = mapping(states, "states"), mapping(inputs, "inputs")
    known, names = _known(g), input_names(g)
    known_words(held, known, f"{g.name} has no energy variable")
    known_words(fixed, names, f"{g.name} has no input")
    open_inputs = [k for k, name in enumerate(names) if name not in fixed]
    if len(open_inputs) != len(held):
        raise ModelError(
            f"{len(held)} states are held and {len(open_inputs)} inputs are left open "
            f"({', '.join(names[k] for k in open_inputs) or 'none'}); there must be as many of the one as of the other."
        )
    numbers = {name: finite(x, name) for name, x in {**held, **fixed}.items()}
    batch = np.broadcast_shapes(*(x.shape for x in numbers.values()))
    X, u = np.zeros((*batch, len(known))), np.zeros((*batch, len(names)))
    for name, x in numbers.items():
        if name in held:
            X[..., known.index(name)] = x
        else:
            u[..., names.index(name)] = x
    open_states = [k for k, name in enumerate(known) if name not in held]
    return _solved(g, X, u, open_states, open_inputs, t)


def _known(g: Graph) -> tuple[str, ...]:
    """The energy variables in the order of the equations."""
    c = causality(g, "derivative")
    if not (*c.states, *c.dependent):
        raise ModelError(f"{g.name} has no storages, and so no state at all.")
    return (*c.states, *c.dependent)


def _solved(
    g: Graph, X: Floats, u: Floats, open_states: list[int], open_inputs: list[int], t: float
) -> SteadyState:
    """Newton's iteration with step halving, for a batch at once."""
    f, batch = evaluate(g, STEADY), X.shape[:-1]
    X, u = (
        np.array(a).reshape(math.prod(batch), a.shape[-1])
        for a in (X, np.broadcast_to(u, (*batch, u.shape[-1])))
    )
    time = finite(t, "t")
    if time.ndim or not len(X):
        raise InputError(
            f"a steady state is that of one time and of at least one set of inputs; t has shape {time.shape}."
        )

    def equations(X: Floats, u: Floats) -> tuple[Floats, Floats, Floats]:
        rest, by_X, by_u = f(X, u, time)
        J = np.concatenate([by_X[..., open_states], by_u[..., open_inputs]], axis=-1)
        scale = np.abs(J).max(axis=-1, initial=1e-300)
        return rest / scale, J / scale[..., None], rest

    def moved(step: Floats, length: Floats) -> tuple[Floats, Floats]:
        there, given = X.copy(), u.copy()
        there[:, open_states] -= length[:, None] * step[:, : len(open_states)]
        given[:, open_inputs] -= length[:, None] * step[:, len(open_states) :]
        return there, given

    for _ in range(ITERATIONS):
        rest, J, _ = equations(X, u)
        if not np.isfinite(J).all() or not np.isfinite(rest).all():
            raise SingularityError(
                f"{g.name} has no finite values on the way to a steady state; give a guess near it."
            )
        step = np.einsum("kij,kj->ki", np.linalg.pinv(J, rcond=1e-15), rest)
        length, size = np.ones(len(X)), np.abs(rest).max(axis=-1, initial=0.0)
        for _ in range(HALVINGS):
            worse = np.abs(equations(*moved(step, length))[0]).max(axis=-1, initial=0.0)
            worse = ~(worse <= size)
            if not worse.any():
                break
            length[worse] /= 2
        X, u = moved(step, np.where(worse, 0.0, length))
        if np.all(np.abs(step) <= 1e-14 * (1 + np.abs(X).max(initial=0.0))) or worse.all():
            break
    _refuse(g, *equations(X, u)[:2], X)
    found = _state(g, X.reshape(*batch, -1), u.reshape(*batch, u.shape[-1]))
    _refuse_motion(g, found, time)
    return found


def _refuse(g: Graph, rest: Floats, J: Floats, X: Floats) -> None:
    """What is no steady state, or one of many."""
    c = causality(g, "derivative")
    sizes = np.linalg.svd(J, compute_uv=False)
    lost = sizes.min(axis=-1, initial=np.inf) <= SINGULAR * sizes.max(axis=-1, initial=0.0)
    stay = f" ({', '.join(c.states)} keep integral causality in any assignment)" if c.states else ""
    if lost.any():
        raise SingularityError(f"{g.name} has no steady state, or a whole family of them{stay}.")
    if np.abs(rest).max(initial=0.0) > SOLVED * (1 + np.abs(X).max(initial=0.0)):
        raise SingularityError(f"{g.name}: no steady state was found; give a guess near it.")


def _refuse_motion(g: Graph, found: SteadyState, t: Floats) -> None:
    """The same state seen with integral causality: its rates vanish, up to round-off of the efforts and flows in them."""
    if not order(g):
        return
    try:
        sizes = evaluate(g, BOND_VARIABLES)(found.x, found.u, t)
    except ModelError:  # an effort that follows from the rate of an input, which here is zero
        sizes = found.x, found.u
    size = 1 + max(np.abs(numbers).max(initial=0.0) for numbers in sizes)
    if not np.abs(evaluate(g, RATES)(found.x, found.u, t)).max(initial=0.0) <= MOVING * size:
        raise SingularityError(f"{g.name}: no steady state was found; give a guess near it.")


def _state(g: Graph, X: Floats, u: Floats) -> SteadyState:
    known, own = _known(g), causality(g).states
    energy = {name: X[..., k] for k, name in enumerate(known)}
    x = np.stack([energy[name] for name in own], axis=-1) if own else X[..., :0]
    return SteadyState(x, u, energy, own, input_names(g))
