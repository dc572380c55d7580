"""What each body, and motors, springs, friction and wrenches, contribute to U, V and W of a linear
model (Rojas, 5.5)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eslabon.answers import Answer, figure
from eslabon.arguments import Floats, instance, known_words
from eslabon.compiler.formula import Argument
from eslabon.errors import InputError
from eslabon.formulas.derivatives.body_contributions import linear_contributions
from eslabon.formulas.inputs import TAU, WRENCH, Q, V
from eslabon.formulas.motion_state import StateFunction
from eslabon.formulas.quantities import Checks, Quantity
from eslabon.formulas.structure import Partition
from eslabon.model import Model
from eslabon.systems.linear.linear_model import LinearModel

MATRICES = ("U", "V", "W")


@dataclass(frozen=True, eq=False, repr=False)
class Contributions(Answer):
    """U, V and W of a linear model as sums over their sources.

    Attributes
    ----------
    name : the mechanism's.
    sources : the names of the bodies; then those of "motors", "springs" (of joints and between
        points, with their dampers), "friction", "wrenches" and "actuators" that there are. Forces
        of actuators add to W only where they act on dependent joints.
    coordinates : the names of the independent velocities.
    U, V, W : `(..., sources, n, n)`; their sums over the sources are the linear model's.
    weight : `(..., bodies, n, n)`, the part of W that each body has by its weight.

    >>> import eslabon as es
    >>> shares = es.load("double_pendulum").linearize([0.3, 0.4]).contributions()
    >>> shares.sources
    ('bar1', 'bar2')
    """

    name: str
    sources: tuple[str, ...]
    coordinates: tuple[str, ...]
    U: Floats
    V: Floats
    W: Floats
    weight: Floats

    def of(self, source: str) -> tuple[Floats, Floats, Floats]:
        """U, V and W of one source."""
        known_words(
            (source,), self.sources, f"the linear model of {self.name} has no contribution of"
        )
        k = self.sources.index(source)
        return self.U[..., k, :, :], self.V[..., k, :, :], self.W[..., k, :, :]

    def __getitem__(self, index: Any) -> Contributions:
        """Some of many states."""
        if self.U.ndim == 3:
            raise InputError(
                f"{self!r} are those of one state, and there are no others to choose from."
            )
        values = (x[index] for x in (self.U, self.V, self.W, self.weight))
        return Contributions(self.name, self.sources, self.coordinates, *values)

    def table(self, row: str | None = None, column: str | None = None) -> str:
        """For each source its entry of U, V and W that says how the force of one coordinate answers
        to another; without names the largest entry of each matrix.

        >>> import eslabon as es
        >>> lm = es.load("double_pendulum").linearize([0.3, 0.4], [1.0, 2.0])
        >>> print(contributions(lm).table("q1", "q2"))
                     U        V         W
        bar1         0        0         0
        bar2   0.79386  -1.1683  0.067307
        total  0.79386  -1.1683  0.067307
        """
        if self.U.ndim > 3:
            raise InputError(
                f"{self!r}: choose one state first, as contributions[3], then ask for its table()."
            )
        if (row is None) != (column is None):
            raise InputError("table takes the names of a row and of a column, or neither.")
        every = [np.concatenate([x, x.sum(axis=0)[None]]) for x in (self.U, self.V, self.W)]
        if row is None or column is None:
            values = [[_largest(x) for x in each] for each in every]
        else:
            i, j = (self._place(name) for name in (row, column))
            values = [list(each[:, i, j]) for each in every]
        return _text((*self.sources, "total"), MATRICES, zip(*values, strict=True))

    def _place(self, name: str) -> int:
        known_words((name,), self.coordinates, f"the linear model of {self.name} has no coordinate")
        return self.coordinates.index(name)

    def plot(self, theme: str | None = None, path: str | Path | None = None) -> Any:
        """A matplotlib figure: for U, V and W a bar for each source, as long as its largest entry;
        of W also that of its weight alone."""
        return figure(self, theme=theme, path=path)

    def __repr__(self) -> str:
        shape = self.U.shape[:-3]
        many = f"{'x'.join(map(str, shape))} states, " if shape else ""
        return f"<Contributions to U, V, W of {self.name}: {many}{', '.join(self.sources)}>"


def contributions(lm: LinearModel) -> Contributions:
    """What each source adds to the matrices of a linear model, at all its states in one native
    call.

    With body i alone, tau_i = J_i^T (I_i a_i + v_i x* I_i v_i - weight), and U, V and W of it are
    its derivatives in the independent coordinates; with loops the multipliers that go with tau_i
    count too.

    >>> import eslabon as es
    >>> m = es.load("five_bar")
    >>> lm = m.linearize(m.assemble([2.0, 1.0]))
    >>> made = contributions(lm)
    >>> made.sources, bool(abs(made.W.sum(axis=-3) - lm.W).max() < 1e-12)
    (('link2', 'link3', 'link5', 'link4'), True)
    """
    instance(lm, "lm", LinearModel, "a linear model, as m.linearize gives one")
    m, call = lm.layout.model, lm.layout.request
    sources = _sources(m, lm.layout.partition, call.external)
    options = {"partition": lm.layout.partition, "sources": sources}
    values = call(CONTRIBUTIONS.formula(m.closed), options, lm.q, lm.v, lm.tau)
    return Contributions(m.name, (*(b.name for b in m.bodies), *sources), lm.coordinates, *values)


def _sources(m: Model, p: Partition, external: Iterable[str]) -> tuple[str, ...]:
    """What there is besides bodies."""

    def any_joint(*fields: str) -> bool:
        return any(getattr(j, field) is not None for j in m.joints for field in fields)

    there = {
        "motors": any_joint("motor_inertia"),
        "springs": any_joint("stiffness") or bool(m.springs),
        "friction": any_joint("viscous", "coulomb"),
        "wrenches": bool(m.wrenches) or any(True for _ in external),
        "actuators": not set(m.actuated_velocities) <= set(p.independent),
    }
    return tuple(name for name, here in there.items() if here)


def _shape(m: Model, partition: Partition, sources: tuple[str, ...], **_: Any) -> tuple[int, ...]:
    n = len(partition.independent)
    return (len(m.bodies) + len(sources), n, n)


def _weight_shape(m: Model, partition: Partition, **_: Any) -> tuple[int, ...]:
    n = len(partition.independent)
    return (len(m.bodies), n, n)


CONTRIBUTIONS = Quantity(
    "linear_contributions",
    StateFunction(linear_contributions),
    (Q, V, TAU),
    (*(Argument(x, _shape) for x in MATRICES), Argument("weight", _weight_shape)),
    {"partition": None, "sources": ()},
    external=WRENCH,
    checks=Checks.MASS,
)


# -- how it looks -----------------------------------------------------------------------------------------------------


def _largest(x: Floats) -> float:
    return float(x.flat[np.abs(x).argmax()]) if x.size else 0.0


def _text(names: Iterable[str], columns: Iterable[str], rows: Iterable[Iterable[float]]) -> str:
    cells = [
        ["", *columns],
        *([name, *(f"{x + 0.0:.5g}" for x in row)] for name, row in zip(names, rows, strict=True)),
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = (
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in cells
    )
    return "\n".join(line.rstrip() for line in lines)
