"""Quantities between their samples: polynomials in time for numbers and, as native tables, for
symbols.

`Interpolant` is a table of polynomials. A `TimeFunction` gives the coordinates, velocities and
accelerations of a motion at any time: of polynomials, of a formula, or of one configuration.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.operators import row_at, row_of, table_handle
from eslabon.displays import displayed
from eslabon.errors import InputError
from eslabon.model import Model
from eslabon.model.configuration import coordinate_velocities, difference, integrate, normalize
from eslabon.motion.law_data import Datum, LawData, matrix
from eslabon.motion.paths.joint_path import JointPath
from eslabon.numerics.scalars import casadi

if TYPE_CHECKING:
    from scipy.interpolate import PPoly

FIRST_PIECES, MOST_PIECES = 16, 512  # of the table of a path, to begin with and at most
TABLE_ERROR = 1e-8  # of the range of a path: how near its table comes
ENDLESS = (-np.inf, np.inf)


@displayed(line=True)
class State(NamedTuple):
    """Coordinates, velocities and accelerations."""

    q: Any
    v: Any
    a: Any


@dataclass(frozen=True, eq=False)
class Interpolant:
    """Piecewise polynomials in time of one or several numbers.

    Before the first knot the value there holds, after the last one likewise; a symbol's derivatives
    are zero then.

    >>> import casadi
    >>> t = casadi.SX.sym("t")
    >>> ramp = Interpolant.hermite(np.array([0.0, 1.0, 3.0]), np.array([0.0, 1.0, 3.0]), np.ones(3))
    >>> f = casadi.Function("f", [t], ramp.at_symbol(t, 1))
    >>> [[float(x) for x in f(at)] for at in (-1.0, 0.5, 2.0, 4.0)]
    [[0.0, 0.0], [0.5, 1.0], [2.0, 1.0], [3.0, 0.0]]
    >>> float(ramp.at(2.0)), float(ramp.at(2.0, order=1))
    (2.0, 1.0)
    """

    polynomials: PPoly

    @classmethod
    def hermite(cls, t: Floats, *derivatives: Floats) -> Interpolant:
        """Through values and derivatives at times: cubic with one derivative, quintic with two."""
        from scipy.interpolate import BPoly, PPoly

        given = np.stack(derivatives, axis=1)  # (times, orders, entries)
        return cls(PPoly.from_bernstein_basis(BPoly.from_derivatives(t, given)))

    @classmethod
    def monotone(cls, t: Floats, values: Floats) -> Interpolant:
        """Cubic polynomials that stay between the values at their ends (PCHIP): a spline would
        swing where gains change at once, as a regulator's do before the end."""
        from scipy.interpolate import PchipInterpolator, PPoly

        made = PchipInterpolator(t, values)
        return cls(PPoly(made.c, made.x))

    @classmethod
    def of_path(cls, path: JointPath) -> Interpolant:
        """Quintic polynomials of a path, their pieces halved until they are near."""
        pieces = FIRST_PIECES
        while True:
            table = _path_table(path, pieces)
            t = table.knots
            between = (t[1:] + t[:-1]) / 2
            q = path.position(between)
            size = max(1e-300, float(np.ptp(q, axis=0).max(initial=0.0)))
            near = np.abs(table.at(between) - q).max() <= TABLE_ERROR * size
            if near or pieces >= MOST_PIECES:
                return table
            pieces *= 2

    # -- as data of compiled code (`motion.law_data`) -----------------------------------------------------

    @cached_property
    def _table(self) -> Floats:
        """A row for each piece: where it begins, and its coefficients."""
        knots, c = self.knots, self.polynomials.c
        coefficients = c.transpose(1, 0, *range(2, c.ndim)).reshape(len(knots) - 1, -1)
        return np.ascontiguousarray(np.concatenate([knots[:-1, None], coefficients], axis=1))

    @property
    def data(self) -> Floats:
        """Where the table stands, how many rows it has, the first and the last time."""
        return np.array([*table_handle(self._table), *self.span])

    @property
    def structure(self) -> Any:
        """All but the numbers: code for one table serves others, of more pieces too."""
        c = self.polynomials.c
        return c.shape[0], math.prod(c.shape[2:])

    @property
    def content(self) -> Any:
        """The numbers themselves."""
        return self._table, self.span

    def symbolic(self, data: Any) -> TableSymbols | Self:
        """The table for symbols of `data`; itself, a constant, without."""
        coefficients, entries = self.structure
        return self if data is None else TableSymbols(coefficients, entries, data)

    @property
    def knots(self) -> Floats:
        """The times between which it is one polynomial."""
        return np.asarray(self.polynomials.x)

    @property
    def span(self) -> tuple[float, float]:
        """The first and the last time."""
        return float(self.knots[0]), float(self.knots[-1])

    def at(self, t: Any, order: int = 0) -> Floats:
        """The values, or their derivative of that order, at times within the span."""
        return np.asarray(self.polynomials(t, order))

    def at_symbol(self, t: Any, order: int = 0) -> list[Any]:
        """The values at a symbolic time, and their derivatives up to an order, a column each. The
        coefficients of the piece are looked up in a native table."""
        start, end = self.span
        within = casadi.fmin(casadi.fmax(t, start), end)
        piece = sum((within >= float(x) for x in self.knots[1:-1]), casadi.SX(0))
        return _at_piece(row_of(self._table, piece), self.structure[1], t, (start, end), order)


@dataclass(frozen=True, eq=False)
class TableSymbols:
    """An `Interpolant` in compiled code whose numbers are data: so many coefficients of so many
    entries."""

    coefficients: int
    entries: int
    data: Any  # address, rows, first and last time

    @property
    def span(self) -> tuple[Any, Any]:
        """The first and the last time."""
        return self.data[2], self.data[3]

    def at_symbol(self, t: Any, order: int = 0) -> list[Any]:
        """The values at a symbolic time, and their derivatives up to an order, a column each."""
        start, end = self.span
        within = casadi.fmin(casadi.fmax(t, start), end)
        row = row_at(self.data[:2], within, 1 + self.coefficients * self.entries)
        return _at_piece(row, self.entries, t, (start, end), order)


def _at_piece(row: Any, entries: int, t: Any, span: tuple[Any, Any], order: int) -> list[Any]:
    """A polynomial of a table, from its row, and its derivatives, which are zero outside the
    span."""
    start, end = span
    first, *own = casadi.vertsplit(row, [0, *range(1, row.numel() + 1, entries)])
    local = casadi.fmin(casadi.fmax(t, start), end) - first
    made = [_horner(own, local)]
    inside = casadi.logic_and(t >= start, t <= end)
    for _ in range(order):
        degree = len(own) - 1
        own = [(degree - k) * c for k, c in enumerate(own[:-1])]
        made.append(inside * _horner(own, local))
    return made


def _horner(coefficients: list[Any], x: Any) -> Any:
    value = coefficients[0]
    for c in coefficients[1:]:
        value = value * x + c
    return value


def _path_table(path: JointPath, pieces: int) -> Interpolant:
    """A path by about so many polynomials, which end where its acceleration jumps: with the one
    before the jump."""
    from scipy.interpolate import PPoly

    breaks = path.breaks
    parts = pieces * np.diff(breaks) / (breaks[-1] - breaks[0])
    counts = np.maximum(1, np.ceil(parts - 1e-9)).astype(int)
    smooth = []
    for a, b, count in zip(breaks[:-1], breaks[1:], counts, strict=True):
        t = np.linspace(a, b, count + 1)
        smooth.append(
            Interpolant.hermite(t, *path(np.append(t[:-1], np.nextafter(b, a)))).polynomials
        )
    knots = np.concatenate([*(table.x[:-1] for table in smooth), breaks[-1:]])
    return Interpolant(PPoly(np.concatenate([table.c for table in smooth], axis=1), knots))


# -- motions in time -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TimeFunction:
    """A motion at any time of its span: `numbers` of times; `formula` of a symbolic time and of its
    parts, a configuration or tables, or symbols for these."""

    span: tuple[float, float]
    numbers: Callable[[Floats], State]
    formula: Callable[..., State]
    parts: tuple[Datum, ...] = ()

    @cached_property
    def numbers_of_parts(self) -> LawData:
        """What the formula takes as data."""
        return LawData({str(k): part for k, part in enumerate(self.parts)})

    def symbols(self, t: Any, data: Any = None) -> State:
        """The motion at a symbolic time, its parts constants, or symbols for their data."""
        return self.formula(t, *vars(self.numbers_of_parts.symbolic(data)).values())


def held_configuration(q: Floats, velocities: int) -> TimeFunction:
    """One configuration at all times."""
    rest = np.zeros(velocities)

    def formula(t: Any, q: Any) -> State:
        return State(casadi.SX(q), casadi.SX.zeros(velocities), casadi.SX.zeros(velocities))

    def numbers(t: Floats) -> State:
        return State(*(np.broadcast_to(x, (*t.shape, len(x))).copy() for x in (q, rest, rest)))

    return TimeFunction(ENDLESS, numbers, formula, (matrix(q),))


def coordinates_in_time(table: Interpolant) -> TimeFunction:
    """The motion of coordinates whose rates are the velocities, from their polynomials."""
    return TimeFunction(
        table.span,
        lambda t: State(table.at(t), table.at(t, 1), table.at(t, 2)),
        lambda t, table: State(*table.at_symbol(t, 2)),
        (table,),
    )


def orientations_in_time(m: Model, t: Floats, q: Floats, v: Floats, a: Floats) -> TimeFunction:
    """The motion of coordinates with quaternions among them: these are interpolated and brought
    back to unit length, and go with velocities from a table of their own."""
    q = normalize(m, q)
    for k in range(
        1, len(q)
    ):  # of the two quaternions of an orientation, the one nearer to the last
        q[k] = integrate(m, q[k - 1], difference(m, q[k], q[k - 1]))
    table = Interpolant.hermite(t, q, coordinate_velocities(m, q, v))
    speeds = Interpolant.hermite(t, v, a)

    def formula(time: Any, table: Any, speeds: Any) -> State:
        speed, rate = speeds.at_symbol(time, 1)
        start, end = speeds.span
        inside = casadi.logic_and(time >= start, time <= end)
        return State(normalize(m, table.at_symbol(time)[0]), inside * speed, inside * rate)

    def numbers(time: Floats) -> State:
        return State(normalize(m, table.at(time)), speeds.at(time), speeds.at(time, 1))

    return TimeFunction(table.span, numbers, formula, (table, speeds))


def formula_in_time(function: Callable[[Any], Any]) -> TimeFunction:
    """The motion that a function of a symbolic time gives; its rates are exact derivatives."""
    from eslabon.compiler.program import read

    t = casadi.SX.sym("t")
    try:
        given = function(t)
        q = casadi.SX(
            casadi.vertcat(*given) if isinstance(given, list | tuple | np.ndarray) else given
        )
        program = read(casadi.Function("motion", [t], [q]))
        if any(math.isnan(i.value) for i in program.instructions):
            raise ValueError("a number in it is NaN")  # what CasADi gives for the value of a symbol
    except Exception as error:
        raise InputError(
            f"the motion cannot be called with a symbol ({type(error).__name__}: {str(error).splitlines()[0]}); write it "
            "with arithmetic and casadi's functions, or give samples (t, q, v, a)."
        ) from error
    v = casadi.jacobian(q, t)
    rates = [casadi.densify(x) for x in (q, v, casadi.jacobian(v, t))]
    f = casadi.Function("motion", [t], rates)

    def numbers(times: Floats) -> State:
        made = f(casadi.DM(times.reshape(1, -1)))
        return State(*(np.array(x).T.reshape(*times.shape, -1) for x in made))

    return TimeFunction(ENDLESS, numbers, lambda t: State(*f(t)))
