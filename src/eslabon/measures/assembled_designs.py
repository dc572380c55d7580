"""States of many designs: what is given of a motion, completed in each design as far as its loops close."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.evaluate import evaluate
from eslabon.errors import EslabonError
from eslabon.measures.native_batches import Designs, Rows, chosen, in_halves, number_of, threads
from eslabon.mechanism import Mechanism
from eslabon.solve.designs import MARGINS


class Given(Protocol):
    """What is given of states: of the joints, or of a frame."""

    def completed(self, m: Mechanism) -> tuple[Floats, Floats, Floats]:
        """q, v and a of all joints of a mechanism, (k, nq) and (k, nv)."""

    def in_designs(self, m: Mechanism, designs: Designs) -> Completed:
        """The same for designs, whose parameters move the states: (designs, k, ...)."""

    def moved_by(self, m: Mechanism, names: Iterable[str]) -> tuple[str, ...]:
        """Those of some parameters that the completed states depend on."""


@dataclass(frozen=True, eq=False)
class Completed:
    """q, v and a of designs, (designs, k, ...), and by number why some have none; what these hold means nothing."""

    q: Floats
    v: Floats
    a: Floats
    reasons: dict[int, str]


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
        return getattr(self.m, verb)(
            *arrays, parameters=self.parameters, threads=threads(), **options
        )


def assembled(m: Mechanism, designs: Designs, given: Given) -> States:
    """The states of designs, completed once for designs that differ in nothing that moves them."""
    wrong = inadmissible(m, designs)
    if not wrong:
        return _assembled(m, designs, given)
    rows = np.array([k for k in range(number_of(designs)) if k not in wrong], dtype=int)
    if not len(rows):
        return States(m, rows, *_nothing(m), {}, wrong)
    found = _assembled(m, chosen(designs, rows), given)
    return replace(
        found,
        rows=rows[found.rows],
        reasons=wrong | {int(rows[k]): why for k, why in found.reasons.items()},
    )


def inadmissible(m: Mechanism, designs: Designs) -> dict[int, str]:
    """Designs that no mechanism can be, such as those of a negative mass, and why.

    >>> import eslabon as es
    >>> inadmissible(es.load("elbow"), {"m1": np.array([1.0, -1.0])})
    {1: "body 'link1': the mass is -1; it cannot be negative."}
    """
    names, reasons = tuple(sorted(designs)), {}
    margins = np.ravel(evaluate(m, MARGINS, names)(*(designs[name] for name in names)))
    for k in np.flatnonzero(~(margins >= 0)).tolist():
        try:
            variant(m, designs, k)
            reasons[k] = f"no {m.name} can have these values."
        except EslabonError as error:
            reasons[k] = str(error)
    return reasons


def _assembled(m: Mechanism, designs: Designs, given: Given) -> States:
    moving, n = given.moved_by(m, designs), number_of(designs)
    every = np.arange(n)
    if not moving:
        try:
            q, v, a = (x[None] for x in given.completed(m))
        except EslabonError as error:
            return States(m, every[:0], *_nothing(m), {}, dict.fromkeys(range(n), str(error)))
        return States(m, every, q, v, a, _spread(designs), {})
    values, own = np.unique(
        np.stack([designs[name] for name in moving], axis=-1), axis=0, return_inverse=True
    )
    own = own.reshape(n)
    found = _completed(m, {name: values[:, k] for k, name in enumerate(moving)}, given)
    reasons = {int(k): found.reasons[own[k]] for k in every if own[k] in found.reasons}
    rows = np.array([k for k in every if int(k) not in reasons], dtype=int)
    if not len(rows):
        return States(m, rows, *_nothing(m), {}, reasons)
    place = own[rows]
    alike = len(place) == len(found.q) and bool((place == np.arange(len(place))).all())
    q, v, a = (x if alike else x[place] for x in (found.q, found.v, found.a))
    return States(m, rows, q, v, a, _spread(chosen(designs, rows)), reasons)


def _completed(m: Mechanism, designs: Designs, given: Given) -> Completed:
    """Where all designs together cannot be asked, such as those that no mechanism can be, half of them are."""
    parts = list(in_halves(lambda own: given.in_designs(m, own), designs))
    if len(parts) == 1 and isinstance(parts[0][1], Completed):
        return parts[0][1]
    reasons: dict[int, str] = {}
    sizes = next((x.q.shape[1] for _, x in parts if isinstance(x, Completed)), 0)
    q, v, a = (np.full((number_of(designs), sizes, size), np.nan) for size in (m.nq, m.nv, m.nv))
    for rows, found in parts:
        if isinstance(found, Completed):
            reasons.update({int(rows[k]): why for k, why in found.reasons.items()})
            q[rows], v[rows], a[rows] = found.q, found.v, found.a
        else:
            reasons[int(rows[0])] = str(found)
    return Completed(q, v, a, reasons)


def _nothing(m: Mechanism) -> tuple[Floats, Floats, Floats]:
    """No states at all."""
    return np.zeros((0, 0, m.nq)), np.zeros((0, 0, m.nv)), np.zeros((0, 0, m.nv))


def _spread(designs: Designs) -> dict[str, Floats]:
    return {name: values[:, None] for name, values in designs.items()}


def variant(m: Mechanism, designs: Designs, k: int) -> Mechanism:
    """The mechanism of one design, on the code of all."""
    return m.variant(**{name: float(x[k]) for name, x in designs.items()})


def one_by_one(m: Mechanism, designs: Designs, given: Given) -> Completed:
    """The states of designs, of each as a mechanism of its own."""
    made: list[tuple[Floats, ...] | None] = []
    reasons: dict[int, str] = {}
    for k in range(number_of(designs)):
        try:
            made.append(given.completed(variant(m, designs, k)))
        except EslabonError as error:
            made.append(None)
            reasons[k] = str(error)
    known: tuple[Floats, ...] = next((x for x in made if x is not None), _nothing(m))
    missing = tuple(np.full_like(x, np.nan) for x in known)
    q, v, a = (np.stack([(missing if x is None else x)[i] for x in made]) for i in range(3))
    return Completed(q, v, a, reasons)
