"""Steady states: f(x, u, t) = 0 where E x' = f, in integral causality, for one set of inputs or
many.

`steady_state` finds them for given inputs; `inverse_statics` finds inputs that hold given states,
such as joint positions. The search starts at the guess; where it is caught, it starts again
elsewhere, and then follows the inputs from zero. What it finds may be one of a family: then the
member nearest to the guess is given, and the directions of the family with it.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import Floats, finite, known_words, mapping, text
from eslabon.bond_graph.causality import causality
from eslabon.bond_graph.graph import Graph
from eslabon.bond_graph.graph_formulas import STATICS, input_names, order
from eslabon.bond_graph.graph_values import inputs as inputs_of
from eslabon.compiler.evaluate import evaluate
from eslabon.displays import displayed
from eslabon.errors import (
    InputError,
    ModelError,
    SingularityError,
    SingularityWarning,
    user_stacklevel,
)
from eslabon.numerics.constrained_least_squares import RefinementSettings, Terms, refine
from eslabon.numerics.tolerances import ROUND_OFF


@dataclass(frozen=True)
class SearchSettings:
    """How a steady state is looked for, in unknowns and equations of comparable size.

    Attributes
    ----------
    solved : what is left of the equations, relative to their terms.
    flat : singular values of a family's directions, relative to the largest.
    restarts : other starts, where a search is caught.
    stages : on the way from zero inputs.
    search : of each search.
    """

    solved: float = 1e-9
    flat: float = 1e-9
    restarts: int = 8
    stages: int = 8
    search: RefinementSettings = RefinementSettings(  # noqa: RUF009 - frozen
        steps=200, longest=1e6, rank=1e-12, damping=1e-3, tries=30, closed=1e-15
    )


SETTINGS = SearchSettings()


@displayed(line=True)
@dataclass(frozen=True)
class SteadyState:
    """States x (..., n) and inputs u (..., nu) at rest; `energy` has the energy variables of all
    storages by name.

    `family` (..., k, n) are the directions in which x may change and be at rest still, none (k = 0)
    of an isolated state; rows are zero where a state of a batch has fewer.
    """

    x: Floats
    u: Floats
    energy: Mapping[str, Floats]
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    family: Floats

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
    """The state in which nothing changes under inputs, nearest to the guess where there is a family
    of them.

    Parameters
    ----------
    u : inputs (..., nu).
    guess : a state (n,) or (..., n) near the answer, for graphs with several; zero if left out.

    >>> import eslabon as es
    >>> rest = es.BondGraph.load("morales_puma").steady_state([2.0, 1.0])
    >>> rest["q3"].round(6), rest["q23"].round(6)
    (np.float64(0.4), np.float64(0.1))
    """
    given, n = inputs_of(g, u), order(g)
    start = np.zeros((*given.shape[:-1], n))
    if guess is not None:
        near = finite(guess, "guess")
        if near.shape[-1:] != (n,):
            raise ModelError(f"guess has shape {near.shape}; {g.name} has {n} states.")
        shape = np.broadcast_shapes(near.shape[:-1], start.shape[:-1])
        start, given = (np.broadcast_to(a, (*shape, a.shape[-1])) for a in (near, given))
    return _found(g, start, given, {}, [], t)


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
    c, names = causality(g.nominal), input_names(g)
    known_words(held, (*c.states, *c.dependent), f"{g.name} has no energy variable")
    known_words(fixed, names, f"{g.name} has no input")
    open_inputs = [k for k, name in enumerate(names) if name not in fixed]
    if len(open_inputs) != len(held):
        raise ModelError(
            f"{len(held)} states are held and {len(open_inputs)} inputs are left open "
            f"({', '.join(names[k] for k in open_inputs) or 'none'}); there must be as many of the one as of the other."
        )
    numbers = {name: finite(x, name) for name, x in {**held, **fixed}.items()}
    batch = np.broadcast_shapes(*(x.shape for x in numbers.values()))
    x, u = np.zeros((*batch, len(c.states))), np.zeros((*batch, len(names)))
    for name, value in numbers.items():
        if name in c.states:
            x[..., c.states.index(name)] = value
        elif name in names:
            u[..., names.index(name)] = value
    return _found(g, x, u, {name: numbers[name] for name in held}, open_inputs, t)


def _found(
    g: Graph, x: Floats, u: Floats, held: Mapping[str, Floats], open_inputs: list[int], t: float
) -> SteadyState:
    """The answer for a batch, with its sentences."""
    time, batch = finite(t, "t"), x.shape[:-1]
    if not order(g):
        raise ModelError(f"{g.name} has no states, and so no steady state.")
    if sinks := [s.name for s in g.elements.values() if s.holds]:
        raise ModelError(
            f"{g.name}: steady states with residual sinks ({', '.join(sinks)}) are not looked for here; of a mechanism with loops, "
            "ask the mechanism for its equilibrium."
        )
    lanes = math.prod(batch)
    if time.ndim or not lanes:
        raise InputError(
            f"a steady state is that of one time and of at least one set of inputs; t has shape {time.shape}."
        )
    values = [np.broadcast_to(v, batch).ravel() for v in held.values()]
    asked = np.stack(values, axis=-1) if values else np.zeros((lanes, 0))
    rows = (np.reshape(x, (lanes, -1)), np.reshape(u, (lanes, -1)), asked)
    problem = _Statics(g, tuple(held), tuple(open_inputs), time, *rows)
    y, good = problem.solve()
    if not good.all():
        raise SingularityError(problem.complaint(y))
    y, family = problem.nearest(y)
    if family.shape[-2]:
        warnings.warn(
            f"{g.name} has a whole family of steady states here; `family` of the one that is nearest to the guess has its directions.",
            SingularityWarning,
            stacklevel=user_stacklevel(),
        )
    return problem.answer(y, family, batch)


Equations = tuple[Floats, Floats]  # what must vanish (lanes, rows), by unknowns (lanes, rows, n)


@dataclass(frozen=True, eq=False)
class _Statics:
    """The equations f = 0 and X_held = asked in the unknowns x and the open inputs, lane by
    lane."""

    g: Graph
    held: tuple[str, ...]
    open_inputs: tuple[int, ...]
    t: Floats
    x: Floats
    u: Floats
    asked: Floats

    @property
    def n(self) -> int:
        return self.x.shape[-1]

    @property
    def start(self) -> Floats:
        return np.concatenate([self.x, self.u[:, list(self.open_inputs)]], axis=-1)

    def select(self, lanes: np.ndarray, part: float = 1.0) -> _Statics:
        """Some lanes, with a part of their inputs."""
        return replace(self, x=self.x[lanes], u=part * self.u[lanes], asked=self.asked[lanes])

    def inputs_at(self, y: Floats) -> Floats:
        u = np.array(self.u)
        u[:, list(self.open_inputs)] = y[:, self.n :]
        return u

    def equations(self, y: Floats) -> Equations:
        """The rows at unknowns, of a batch."""
        c = causality(self.g.nominal)
        names = (*c.states, *c.dependent)
        f, by_x, by_u, energy, energy_by_x, energy_by_u = evaluate(self.g, STATICS)(
            y[:, : self.n], self.inputs_at(y), self.t
        )
        places = [names.index(name) for name in self.held]
        free = list(self.open_inputs)
        rest = np.concatenate([f, energy[:, places] - self.asked], axis=-1)
        by_states = np.concatenate([by_x, energy_by_x[:, places]], axis=-2)
        by_inputs = np.concatenate([by_u, energy_by_u[:, places]], axis=-2)[..., free]
        return rest, np.concatenate([by_states, by_inputs], axis=-1)

    def scales(self) -> Equations:
        """Sizes of rows and columns, lane by lane, that make them comparable whatever their units
        are: of the derivatives at the start and at some places around it."""
        rng = np.random.default_rng(0)
        largest: Floats = np.zeros((1, 1, 1))
        for size in (0.0, 0.1, 0.5, 1.0):
            away = size * rng.normal(size=self.start.shape[-1]) * (1 + np.abs(self.start))
            J = np.abs(np.nan_to_num(self.equations(self.start + away)[1], posinf=0.0, neginf=0.0))
            largest = np.maximum(largest, J)
        rows = np.ones((len(self.x), largest.shape[1]))
        columns = np.ones((len(self.x), largest.shape[2]))
        for _ in range(4):
            size = np.sqrt((largest * rows[..., None] * columns[:, None]).max(axis=-1, initial=0.0))
            rows = rows / np.where(size > 0, size, 1.0)
            size = np.sqrt((largest * rows[..., None] * columns[:, None]).max(axis=-2, initial=0.0))
            columns = columns / np.where(size > 0, size, 1.0)
        return rows, columns

    def solve(self) -> tuple[Floats, np.ndarray]:
        """Unknowns and whether they are solutions: from the start, from others, and along the
        inputs from zero."""
        scales = self.scales()
        y, good = self.descend(self.start, *scales)
        rng = np.random.default_rng(1)
        for k in range(SETTINGS.restarts):
            lost = np.flatnonzero(~good)
            if not len(lost):
                return y, good
            away = rng.normal(size=y.shape[-1]) * (0.3 + 0.4 * k)
            part, own = self.select(lost), [scale[lost] for scale in scales]
            y[lost], good[lost] = part.descend(part.start + away * own[1], *own)
        for lane in np.flatnonzero(~good):
            y[lane], good[lane] = self.along_inputs(int(lane), [scale[[lane]] for scale in scales])
        return y, good

    def along_inputs(self, lane: int, scales: list[Floats]) -> tuple[Floats, bool]:
        """A solution that is followed from zero inputs."""
        at, good = self.start[[lane]], np.array([True])
        for part in np.linspace(0.0, 1.0, SETTINGS.stages + 1):
            stage = self.select(np.array([lane]), part)
            at, good = stage.descend(at, *scales)
            if not good.all():
                break
        return at[0], bool(good[0])

    def descend(self, y: Floats, rows: Floats, columns: Floats) -> tuple[Floats, np.ndarray]:
        """The end of a search, and whether it is a solution."""
        equations = _Scaled(self, rows, columns)
        with np.errstate(all="ignore"):
            z = refine(equations, y / columns, SETTINGS.search).q
            z[np.abs(z) <= ROUND_OFF * np.abs(z).max(axis=-1, keepdims=True, initial=0.0)] = 0.0
            rest, J = equations.at(z, np.arange(len(z)))
        size = np.einsum("kij,kj->ki", np.abs(J), np.abs(z)) + np.abs(rest)
        largest = 1e-3 * size.max(axis=-1, keepdims=True, initial=0.0)
        return z * columns, (np.abs(rest) <= SETTINGS.solved * np.maximum(size, largest)).all(
            axis=-1
        )

    def nearest(self, y: Floats) -> tuple[Floats, Floats]:
        """The member of each family that is nearest to the guess, and the directions of x in it."""
        rows, columns = self.scales()
        equations = _Scaled(self, rows, columns)
        flat, _ = equations.flat(y / columns)
        if not flat.any():
            return y, np.zeros((len(y), 0, self.n))
        wanted = self.start / columns
        moved = refine(replace(equations, wanted=wanted), y / columns, SETTINGS.search).q * columns
        closer, good = self.descend(moved, rows, columns)
        y = np.where(good[:, None], closer, y)
        flat, Vt = equations.flat(y / columns)
        count = int(flat.sum(axis=-1).max(initial=0))
        kept = (Vt * flat[..., None])[:, Vt.shape[1] - count :] * columns[:, None]
        length = np.linalg.norm(kept, axis=-1, keepdims=True)
        return y, (kept / np.where(length > 0, length, 1.0))[..., : self.n]

    def complaint(self, y: Floats) -> str:
        """Why there is none."""
        c = causality(self.g.nominal, "derivative")
        rows, columns = self.scales()
        J = np.nan_to_num(self.equations(y)[1] * rows[..., None] * columns[:, None])
        sizes = np.linalg.svd(J, compute_uv=False)
        stay = (
            f" ({', '.join(c.states)} keep integral causality in any assignment)"
            if c.states
            else ""
        )
        if (sizes.min(axis=-1, initial=np.inf) <= SETTINGS.flat * sizes.max(axis=-1)).any():
            return f"{self.g.name} has no steady state, or a whole family of them{stay}."
        return f"{self.g.name}: no steady state was found; give a guess near it."

    def answer(self, y: Floats, family: Floats, batch: tuple[int, ...]) -> SteadyState:
        c = causality(self.g.nominal)
        u = self.inputs_at(y)
        energy = evaluate(self.g, STATICS)(y[:, : self.n], u, self.t)[3]
        by_name = {
            name: energy[:, k].reshape(batch) for k, name in enumerate((*c.states, *c.dependent))
        }
        return SteadyState(
            y[:, : self.n].reshape(*batch, -1),
            u.reshape(*batch, u.shape[-1]),
            by_name,
            c.states,
            input_names(self.g),
            family.reshape(*batch, *family.shape[-2:]),
        )


@dataclass(frozen=True, eq=False)
class _Scaled:
    """The equations in unknowns and rows of comparable size, for the refinement; with `wanted` the
    nearest solution to it."""

    statics: _Statics
    rows: Floats
    columns: Floats
    wanted: Floats | None = None

    @property
    def free(self) -> Floats:
        return np.ones(self.columns.shape[-1])

    def at(self, z: Floats, lanes: np.ndarray) -> Equations:
        rest, J = self.statics.select(lanes).equations(z * self.columns[lanes])
        return rest * self.rows[lanes], J * self.rows[lanes][..., None] * self.columns[lanes][
            :, None
        ]

    def terms(self, q: Floats, lanes: np.ndarray) -> Terms:
        phi, J = self.at(q, lanes)
        n = q.shape[-1]
        sums = np.abs(phi).sum(axis=-1) + np.abs(J).sum(axis=(-2, -1))
        wild = np.asarray(~np.isfinite(sums))
        J = np.where(wild[:, None, None], 0.0, J)
        phi = np.where(wild[:, None], np.inf, phi)
        one = np.broadcast_to(np.eye(n), (len(q), n, n))
        r = q[:, :0] if self.wanted is None else q - self.wanted[lanes]
        Jr = one[:, :0] if self.wanted is None else one
        made = (r, Jr, phi, J, np.zeros_like(phi), one)
        return Terms(*(np.array(x) for x in made))  # which the refinement writes into

    def moved(self, q: Floats, way: Floats) -> Floats:
        return q + way

    def at_limits(self, q: Floats) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(q.shape, dtype=bool), np.zeros(q.shape, dtype=bool)

    def flat(self, z: Floats) -> tuple[np.ndarray, Floats]:
        """Which directions change nothing, and all directions, by rows."""
        J = np.nan_to_num(self.at(z, np.arange(len(z)))[1])
        _, size, Vt = np.linalg.svd(J)
        size = np.pad(size, [(0, 0), (0, Vt.shape[-1] - size.shape[-1])])
        return size <= SETTINGS.flat * np.maximum(size.max(axis=-1, keepdims=True), 1e-300), Vt
