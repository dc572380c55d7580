"""Which designs a sweep looks at: points of the unit cube, block by block, always the same ones for a seed."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from eslabon.arguments import MAX_SEED, Floats, choice, count
from eslabon.errors import InputError, format_value
from eslabon.sweeps.variables import Variable, factors

METHODS = ("grid", "random", "latin_hypercube", "sobol", "halton", "saltelli")
SAMPLES = 1000
PER_AXIS = 21


@dataclass(frozen=True)
class Sampling:
    """The points of a sweep: a method, the variables, how many points (of a grid: along each axis), and a seed.

    >>> import eslabon as es
    >>> _, variables = es.sweeps.variables_of(es.load("five_bar"), {"L2": "3..5 cm"})
    >>> Sampling("grid", variables, (3,), 0).designs(0, 3)["L2"]
    array([0.03, 0.04, 0.05])
    """

    method: str
    variables: tuple[Variable, ...]
    counts: tuple[int, ...]
    seed: int

    @property
    def points(self) -> int:
        """How many designs there are."""
        return prod(self.counts)

    def designs(self, first: int, last: int) -> dict[str, Floats]:
        """The designs from one number up to another: values of all variables by name, each as if all had been drawn at once."""
        if self.method == "grid":
            places = np.unravel_index(np.arange(first, last), self.counts)
            each = zip(self.variables, places, self.counts, strict=True)
            return {x.name: x.on_grid(n)[k] for x, k, n in each}
        u = self._rows(first, last)
        return {x.name: x.values_at(u[:, k]) for k, x in enumerate(self.variables)}

    def _rows(self, first: int, last: int) -> Floats:
        """Rows of the unit cube."""
        from scipy.stats import qmc

        dimensions = len(self.variables)
        if self.method == "random":  # one stream of numbers, entered anywhere
            bits = np.random.PCG64(self.seed)
            bits.advance(first * dimensions)
            return np.random.Generator(bits).random((last - first, dimensions))
        if self.method == "latin_hypercube":
            return self._hypercube[first:last]
        if self.method == "saltelli":
            return self._exchanged(first, last)
        return self._sequence(
            qmc.Sobol if self.method == "sobol" else qmc.Halton, dimensions, first, last
        )

    def _sequence(self, engine: Any, dimensions: int, first: int, last: int) -> Floats:
        """Rows of a sequence of low discrepancy."""
        with warnings.catch_warnings():  # of numbers of points that are no power of two
            warnings.simplefilter("ignore", UserWarning)
            drawn = engine(dimensions, rng=np.random.default_rng(self.seed))
            return (drawn.fast_forward(first) if first else drawn).random(last - first)

    def _exchanged(self, first: int, last: int) -> Floats:
        """Rows as Saltelli (2010) draws them: two independent samples A and B row by row, and behind each pair the row of A with one
        factor after the other taken from B."""
        from scipy.stats import qmc

        groups = factors(self.variables).values()
        d, block = len(self.variables), 2 + len(groups)
        start, stop = first // block, -(-last // block)
        both = self._sequence(qmc.Sobol, 2 * d, start, stop)
        rows = np.repeat(both[:, None, :d], block, axis=1)
        rows[:, 1] = both[:, d:]
        for k, group in enumerate(groups):
            rows[:, 2 + k, group] = both[:, d:][:, group]
        return rows.reshape(-1, d)[first - start * block : last - start * block]

    @cached_property
    def _hypercube(self) -> Floats:
        """All rows of a Latin hypercube, which cannot be drawn one by one."""
        from scipy.stats import qmc

        return qmc.LatinHypercube(len(self.variables), rng=np.random.default_rng(self.seed)).random(
            self.points
        )


def sampling_of(variables: Sequence[Variable], samples: Any, method: Any, seed: Any) -> Sampling:
    """The points that a user asks for. Left out, the method is a grid where all variables have levels, else a Sobol sequence."""
    levels = all(x.levels for x in variables)
    method = choice("grid" if levels else "sobol", "method", METHODS) if method is None else choice(method, "method", METHODS)  # fmt: skip
    seed = count(seed, "seed", most=MAX_SEED)
    if method == "saltelli":
        rows = count(256 if samples is None else samples, "samples", 2)
        if rows & (rows - 1):
            near = 1 << rows.bit_length() - 1
            raise InputError(f"samples of method 'saltelli' is a power of two; take {near} or {2 * near} in place of {rows}.")  # fmt: skip
        return Sampling(method, tuple(variables), (rows * (2 + len(factors(variables))),), seed)
    if method != "grid":
        return Sampling(
            method,
            tuple(variables),
            (count(SAMPLES if samples is None else samples, "samples", 1),),
            seed,
        )
    samples = samples.tolist() if isinstance(samples, np.ndarray) else samples
    several = (
        samples
        if isinstance(samples, Sequence) and not isinstance(samples, str)
        else [samples] * len(variables)
    )
    if len(several) != len(variables):
        raise InputError(
            f"samples of a grid is one number, or one for each of the {len(variables)} variables; it is {format_value(samples)}."
        )
    return Sampling(method, tuple(variables), tuple(map(_along, variables, several)), seed)


def _along(x: Variable, samples: Any) -> int:
    """How many points a grid has along an axis."""
    if x.levels:
        return len(x.levels)
    return count(PER_AXIS if samples is None else samples, "samples", 1)
