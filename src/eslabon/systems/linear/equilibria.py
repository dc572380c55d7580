"""What `equilibrium` gives: configurations at rest, or in steady motion, with their forces and
their stability."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eslabon.answers import Answer, Block, Column, Message, Table
from eslabon.errors import InputError
from eslabon.model import Model
from eslabon.model.configuration import coordinate_names, velocity_names

Floats = NDArray[np.float64]

ROWS, COLUMNS = 12, 8  # of a table
MOST = 40  # rows, and columns, of one in a notebook


@dataclass(frozen=True, eq=False, repr=False)
class Equilibrium(Answer):
    """An equilibrium or a steady motion; or many, with leading axes, of which `eq[k]` is one.
    `m.linearize(eq.q, eq.v, eq.tau)` is the linear model about it.

    Attributes
    ----------
    m : the mechanism.
    q, v : the configuration (..., nq) and the constant velocities (..., nv), zero at rest.
    tau : the actuators' forces (..., nu).
    stability : "stable", "unstable", "marginal" (neutral to first order), "gyroscopic" (held by the
        motion alone, which damping upsets in time) or "undetermined" (at a singular configuration),
        with the forces tau constant.
    energy : the potential energy, of weight and springs.
    poles : those of small motions about it, (..., 2 dof), by size; infinite where a motion moves no
        mass.
    family : the dimension of the continuum of equilibria that it is one of; zero where it stands
        alone, or was not searched for.
    residual : the largest force that is left, in N or N m.
    searched : whether these are what a search found (`all=True`), which may have missed some.

    >>> import eslabon as es
    >>> rest = es.load("double_pendulum").equilibrium([0.0, 0.0])
    >>> rest.stability, rest.tau.round(6)
    ('stable', array([0., 0.]))
    """

    m: Model
    q: Floats
    v: Floats
    tau: Floats
    stability: Any
    energy: Any
    poles: Any
    family: Any
    residual: Any
    searched: bool = False

    @property
    def stable(self) -> Any:
        """Whether it is stable; of many, a truth value for each."""
        found = self.stability == "stable"
        return found if np.ndim(found) else bool(found)

    @property
    def batch(self) -> tuple[int, ...]:
        """The leading axes."""
        return self.q.shape[:-1]

    def __len__(self) -> int:
        self._several()
        return self.batch[0]

    def __getitem__(self, index: Any) -> Equilibrium:
        self._several()
        own = {f.name: getattr(self, f.name)[index] for f in fields(self)[1:-1]}
        return replace(self, **own)

    def __iter__(self) -> Iterator[Equilibrium]:
        return (self[k] for k in range(len(self)))

    def _several(self) -> None:
        if not self.batch:
            raise InputError(f"this is one equilibrium of {self.m.name}, not several.")

    def chosen(self, energy: float) -> Equilibrium:
        """The different ones, stable ones first and then by energy: of a continuum, whose members
        have one energy (to this accuracy), the first."""
        kept: list[int] = []
        for k in range(len(self)):
            same = [
                j
                for j in kept
                if self.family[j] == self.family[k] > 0
                and abs(self.energy[j] - self.energy[k]) <= energy
            ]
            if not any(self.stability[j] == self.stability[k] for j in same):
                kept.append(k)
        order = sorted(
            kept, key=lambda k: (self.stability[k] != "stable", round(float(self.energy[k]), 9))
        )
        return replace(self[np.array(order, dtype=int)], searched=True)

    def contents(self) -> Iterator[Block]:
        """A row for each equilibrium."""
        if len(self.batch) <= 1:
            heads, columns = _columns(self, MOST)
            rows = list(zip(*columns, strict=True))
            yield Table(tuple(map(Column, heads)), rows[:MOST])
            if len(rows) > MOST:
                yield Message("and {n} more", n=len(rows) - MOST)
        if self.searched and self.batch:
            yield Message("Found by a search; more restarts may find more.")

    def __str__(self) -> str:
        return repr(self)

    def __repr__(self) -> str:
        return _table(self)


def _table(eq: Equilibrium) -> str:
    """A line for each equilibrium."""
    moving = bool(np.any(eq.v))
    noun = (
        "steady motion"
        if moving
        else "equilibrium"
        if not eq.batch or np.size(eq.stability) == 1
        else "equilibria"
    )
    many = np.size(eq.stability)
    words = {
        w: int((np.ravel(eq.stability) == w).sum()) for w in dict.fromkeys(np.ravel(eq.stability))
    }
    told = ", ".join(f"{number} {word}" if many > 1 else word for word, number in words.items())
    how = ", found by a search" if eq.searched and eq.batch else ""
    title = f"<{many:,} {noun + 's' * (moving and many > 1)} of {eq.m.name}{how}: {told or 'none'}>"
    if len(eq.batch) > 1 or many > ROWS or not many:
        return title
    heads, columns = _columns(eq, COLUMNS)
    widths = [max(map(len, [head, *column])) for head, column in zip(heads, columns, strict=True)]
    rows_ = [heads, *(list(row) for row in zip(*columns, strict=True))]
    lines = [
        "  ".join(x.rjust(w) for x, w in zip(row, widths, strict=True)).rstrip() for row in rows_
    ]
    return "\n".join([title[1:-1], *(f"  {line}" for line in lines)])


def _columns(eq: Equilibrium, most: int) -> tuple[list[str], list[list[str]]]:
    """Headings and columns of a table with so many coordinates, and so many forces, at most."""
    many = np.size(eq.stability)
    named = [
        (eq.q, coordinate_names(eq.m)),
        (eq.tau, [f"tau({velocity_names(eq.m)[k]})" for k in eq.m.actuated_velocities]),
    ]
    heads, columns = (
        ["stability", "energy"],
        [list(np.ravel(eq.stability)), [f"{x:.6g}" for x in np.ravel(eq.energy)]],
    )
    for values, names in named:
        rows = values.reshape(many, -1)
        for k, name in enumerate(names[:most]):
            heads.append(name)
            columns.append([f"{x + 0.0:.6g}" for x in rows[:, k].round(12)])
        if len(names) > most:
            heads.append("...")
            columns.append(["..."] * many)
    heads.append("family")
    columns.append([f"{x}-parameter" if x else "" for x in np.ravel(eq.family)])
    kept = [k for k, column in enumerate(columns) if any(column)]
    return [heads[k] for k in kept], [columns[k] for k in kept]
