"""States of many designs: what is given of a motion, completed in each design as far as its loops close."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from eslabon.arguments import Floats
from eslabon.errors import AssemblyError, EslabonError
from eslabon.kinematics.closure import row_names
from eslabon.measures.native_batches import Designs, Rows, chosen, number_of, threads
from eslabon.mechanism import Mechanism
from eslabon.model.expressions import Expression, dependency_order, leaves

OPEN = 1e-6  # m or rad: what violates loop closure by more is not assembled


class Given(Protocol):
    """What is given of states: of the joints, or of a frame."""

    def completed(self, m: Mechanism, guess: Any) -> tuple[Floats, Floats, Floats]:
        """q, v and a of all joints, (k, nq) and (k, nv)."""

    def moved_by(self, m: Mechanism, names: Iterable[str]) -> tuple[str, ...]:
        """Those of some parameters that the completed states depend on."""


@dataclass(frozen=True, eq=False)
class States:
    """k states of each design that can be assembled: q, v and a (designs, k, ...), or (1, k, ...) where all have the same.

    `rows` are the numbers of these designs, `parameters` their values (designs, 1), and `reasons` why others have none.
    """

    m: Mechanism
    rows: Rows
    q: Floats
    v: Floats
    a: Floats
    parameters: dict[str, Floats]
    reasons: dict[int, str]

    def of(self, verb: str, *names: str, **options: Any) -> Any:
        """A verb of the mechanism in all states of all designs, by one native call: (designs, k, ...)."""
        arrays = (getattr(self, name) for name in names)
        return getattr(self.m, verb)(*arrays, parameters=self.parameters, threads=threads(), **options)


def assembled(m: Mechanism, designs: Designs, given: Given) -> States:
    """The states of designs, completed once for designs that differ in nothing that moves them."""
    moving = given.moved_by(m, designs)
    n = number_of(designs)
    if not moving:
        try:
            q, v, a = (x[None] for x in given.completed(m, None))
        except EslabonError as error:
            return _none(m, designs, str(error))
        return States(m, np.arange(n), q, v, a, _spread(designs), {})
    places = np.stack([designs[name] for name in moving], axis=-1)
    different, own = np.unique(places, axis=0, return_inverse=True)
    states, why = _completed(m, moving, different, given)
    own = own.reshape(n)
    good = np.array([k not in why for k in range(len(different))])
    rows = np.flatnonzero(good[own])
    if not len(rows):
        return _none(m, designs, *(why[int(k)] for k in own))
    place = (np.cumsum(good) - 1)[own[rows]]
    q, v, a = (x[place] for x in states)
    reasons = {int(k): why[int(own[k])] for k in np.flatnonzero(~good[own])}
    return States(m, rows, q, v, a, _spread(chosen(designs, rows)), reasons)


def _none(m: Mechanism, designs: Designs, *why: str) -> States:
    """No states at all."""
    n = number_of(designs)
    q, v = np.zeros((0, 0, m.nq)), np.zeros((0, 0, m.nv))
    said = why if len(why) == n else why * n
    return States(m, np.zeros(0, dtype=int), q, v, v, {}, dict(enumerate(said)))


def _spread(designs: Designs) -> dict[str, Floats]:
    return {name: values[:, None] for name, values in designs.items()}


def _completed(
    m: Mechanism, names: tuple[str, ...], values: Floats, given: Given
) -> tuple[list[Floats], dict[int, str]]:
    """q, v and a of the designs that can be assembled, and why the others cannot."""
    try:
        guess = given.completed(m, None)[0]
    except EslabonError:  # the mechanism as it is described may be one of those that cannot
        guess = None
    made, why = [], {}
    for k, row in enumerate(values):
        try:
            made.append(given.completed(variant(m, dict(zip(names, row.tolist(), strict=True))), guess))
        except EslabonError as error:
            why[k] = str(error)
    return [np.stack(x) for x in zip(*made, strict=True)], why


def variant(m: Mechanism, design: dict[str, float]) -> Mechanism:
    """The mechanism of one design, on the code of all."""
    return m.variant(**design)


def require_assembled(m: Mechanism, q: Floats) -> None:
    """Refuse configurations (k, nq) that a solver left open, and say which loop and by how much."""
    left = np.abs(m.constraint(q)).reshape(len(q), -1)
    worst = left.max(axis=0, initial=0.0)
    if np.all(worst <= OPEN):
        return
    k = int(np.argmax(np.where(np.isfinite(worst), worst, np.inf)))
    name, many = (
        row_names(m)[k],
        f" in {int((~(left <= OPEN)).any(axis=1).sum())} of {len(q)} states" if len(q) > 1 else "",
    )
    what = "loop" if name in [loop.name for loop in m.loops] else "coupling"
    raise AssemblyError(f"cannot be assembled: {what} '{name}' is left open by {worst[k]:.3g} (m or rad){many}.")


# -- what moves with a parameter --------------------------------------------------------------------------------------


def depended_on(m: Mechanism, items: Any, names: Iterable[str]) -> tuple[str, ...]:
    """Those of some parameters that the numbers of items depend on, directly or by other parameters.

    >>> import eslabon as es
    >>> m = es.load("planar_3rrr")
    >>> depended_on(m, m.description.loops, ["L", "r_ee", "m_link"])
    ('L', 'r_ee')
    """
    definitions = dict(m.description.parameters)
    origins: dict[str, set[str]] = {}
    for name in dependency_order(definitions):
        x = definitions.get(name)
        origins[name] = {name}.union(*(origins[y] for y in x.names())) if isinstance(x, Expression) else {name}
    used = {y for x in leaves(items) if isinstance(x, Expression) for y in x.names()}
    found = set().union(*(origins.get(y, {y}) for y in used))
    return tuple(name for name in names if name in found)


def placing(m: Mechanism) -> tuple[Any, ...]:
    """All of a mechanism that its closed configurations depend on: where joints are, how far they go, loops, couplings, modes."""
    d = m.description
    return (*((j.kind, j.at, j.home, j.limits) for j in d.joints), d.loops, d.couplings, d.modes)
