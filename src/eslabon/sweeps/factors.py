"""What the variance of a value is attributed to: variables, or groups of them that say one thing together, and linear models of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from eslabon.arguments import Floats
from eslabon.errors import InputError
from eslabon.sweeps.distributions import Play
from eslabon.sweeps.variables import Variable, factors


@dataclass(frozen=True)
class Direction:
    """A way in which a factor varies: a parameter, at values of others, and its standard deviation this way."""

    parameter: str
    std: float
    at: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Factor:
    """A variable, or a clearance with its coordinates."""

    name: str
    variables: tuple[Variable, ...]

    @property
    def clearance(self) -> bool:
        """Whether it is the place of a pin or ball in its clearance."""
        return isinstance(self.variables[0].distribution, Play)

    @property
    def directions(self) -> tuple[Direction, ...]:
        """The uncorrelated ways in which it varies. Of a clearance these are right-angled directions, in each of which the centre
        of a disc of radius R has the variance R^2/4, that of a ball R^2/5."""
        first, *angles = self.variables
        if not self.clearance:
            return (Direction(first.name, first.std),)
        std = first.high / (len(self.variables) + 2) ** 0.5
        right = np.pi / 2
        ways = (
            [(0.0,), (right,)] if len(angles) == 1 else [(0.0, right), (right, right), (0.0, 0.0)]
        )
        return tuple(Direction(first.name, std, tuple((x.name, a) for x, a in zip(angles, way, strict=True))) for way in ways)  # fmt: skip

    @property
    def centre(self) -> dict[str, float]:
        """Its mean; of a clearance no shift at all."""
        return {x.name: 0.0 if self.clearance else x.mean for x in self.variables}

    def standardized(self, designs: Mapping[str, Floats]) -> list[Floats]:
        """Its directions in samples, each with mean 0 and standard deviation 1."""
        own = [designs[x.name] for x in self.variables]
        if not self.clearance:
            return [(own[0] - self.variables[0].mean) / self.variables[0].std]
        r, phi = own[0] / self.directions[0].std, own[1]
        across = r * np.sin(own[2]) if len(own) == 3 else r
        return [
            across * np.cos(phi),
            across * np.sin(phi),
            *([r * np.cos(own[2])] if len(own) == 3 else []),
        ]


def factors_of(variables: Sequence[Variable]) -> tuple[Factor, ...]:
    """The factors of a sweep, whose variances are known."""
    made = tuple(
        Factor(name, tuple(variables[k] for k in places))
        for name, places in factors(variables).items()
    )
    for factor in made:
        for x in factor.variables:
            if not np.isfinite(x.std) or x.std == 0:
                raise InputError(f"{x.name} has the standard deviation {x.std}, by which nothing can be attributed to it; take a distribution with a finite one.")  # fmt: skip
    return made


@dataclass(frozen=True)
class Regression:
    """A linear model of samples: what a standard deviation of each factor changes, in each of its directions; and the variance of
    the value, that of the model with the factors' known variances and of what it leaves."""

    effects: tuple[tuple[float, ...], ...]
    left: float

    @property
    def variance(self) -> float:
        return sum(x * x for own in self.effects for x in own) + self.left

    @property
    def explained(self) -> float:
        """The share of the variance that is linear."""
        return 1 - self.left / self.variance if self.variance else 1.0


def regression(chosen: Sequence[Factor], designs: Mapping[str, Floats], y: Floats) -> Regression:
    """Least squares of a value over all factors."""
    columns = [factor.standardized(designs) for factor in chosen]
    A = np.column_stack([np.ones(len(y)), *(x for own in columns for x in own)])
    if len(y) < 2 * A.shape[1]:
        raise InputError(f"{len(y)} designs are too few for a linear model of {A.shape[1] - 1} factors; take more samples.")  # fmt: skip
    coefficients = np.linalg.lstsq(A, y, rcond=None)[0]
    rest = iter(coefficients[1:].tolist())
    effects = tuple(tuple(next(rest) for _ in own) for own in columns)
    return Regression(effects, float(np.var(y - A @ coefficients)))
