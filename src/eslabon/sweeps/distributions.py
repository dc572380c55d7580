"""How values of one parameter are spread: ranges, levels, tolerances, clearances, and any frozen distribution of SciPy.

Each is a small frozen class with `ppf`, the quantile function by which samples of the unit interval become values, its ends, its
mean and standard deviation, and a text that tells it from every other one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from eslabon.arguments import Floats, finite
from eslabon.errors import InputError, format_value

INNER = 2.0**-40  # how near to 0 and 1 a quantile of what has no ends is taken
SIGMAS = 3.0  # a tolerance on a drawing is taken as so many standard deviations of what is made


class Distribution(Protocol):
    """What every distribution answers."""

    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def mean(self) -> float: ...
    @property
    def std(self) -> float: ...
    def ppf(self, u: Floats) -> Floats: ...
    def describe(self) -> str: ...


@dataclass(frozen=True)
class Uniform:
    """Equally likely everywhere in a range."""

    low: float
    high: float

    @property
    def mean(self) -> float:
        return (self.low + self.high) / 2

    @property
    def std(self) -> float:
        return (self.high - self.low) / 12**0.5

    def ppf(self, u: Floats) -> Floats:
        return np.clip(self.low + u * (self.high - self.low), self.low, self.high)

    def describe(self) -> str:
        return f"uniform({self.low!r}, {self.high!r})"


@dataclass(frozen=True)
class Tolerance:
    """Normal, with a third of the tolerance as its standard deviation, and cut off at the tolerance: parts beyond it are rejected."""

    low: float
    high: float

    @property
    def mean(self) -> float:
        return (self.low + self.high) / 2

    @property
    def std(self) -> float:
        from scipy.special import ndtr

        density = np.exp(-(SIGMAS**2) / 2) / (2 * np.pi) ** 0.5
        return float(
            (self.high - self.low)
            / (2 * SIGMAS)
            * (1 - 2 * SIGMAS * density / (2 * ndtr(SIGMAS) - 1)) ** 0.5
        )

    def ppf(self, u: Floats) -> Floats:
        from scipy.special import ndtr, ndtri

        inside = ndtr(-SIGMAS) + u * (2 * ndtr(SIGMAS) - 1)
        return np.clip(
            self.mean + (self.high - self.low) / (2 * SIGMAS) * ndtri(inside), self.low, self.high
        )

    def describe(self) -> str:
        return f"normal_tolerance({self.low!r}, {self.high!r})"


@dataclass(frozen=True)
class Levels:
    """A few values, each as likely as any other."""

    values: tuple[float, ...]

    @property
    def low(self) -> float:
        return min(self.values)

    @property
    def high(self) -> float:
        return max(self.values)

    @property
    def mean(self) -> float:
        return float(np.mean(self.values))

    @property
    def std(self) -> float:
        return float(np.std(self.values))

    def ppf(self, u: Floats) -> Floats:
        place = np.minimum(np.asarray(u) * len(self.values), len(self.values) - 1).astype(int)
        return np.array(self.values)[place]

    def describe(self) -> str:
        return f"levels({', '.join(map(repr, self.values))})"


@dataclass(frozen=True)
class Play:
    """How far a point is from the centre that is equally likely all over a disc (of 2 dimensions) or ball (3)."""

    high: float
    dimensions: int
    low: float = 0.0

    @property
    def mean(self) -> float:
        return self.high * self.dimensions / (self.dimensions + 1)

    @property
    def std(self) -> float:
        n = self.dimensions
        return self.high * (n / (n + 2) - (n / (n + 1)) ** 2) ** 0.5

    def ppf(self, u: Floats) -> Floats:
        return np.asarray(self.high * np.asarray(u) ** (1 / self.dimensions))

    def describe(self) -> str:
        return f"play({self.high!r}, {self.dimensions})"


@dataclass(frozen=True)
class PolarAngle:
    """The angle from an axis of a direction that is equally likely all over the sphere."""

    low: float = 0.0
    high: float = float(np.pi)

    @property
    def mean(self) -> float:
        return float(np.pi / 2)

    @property
    def std(self) -> float:
        return float((np.pi**2 / 4 - 2) ** 0.5)

    def ppf(self, u: Floats) -> Floats:
        return np.arccos(1 - 2 * np.asarray(u))

    def describe(self) -> str:
        return "polar_angle()"


@dataclass(frozen=True, eq=False)
class Frozen:
    """A frozen distribution of SciPy, in SI units, such as `scipy.stats.norm(0.1, 1e-4)`."""

    made: Any

    @property
    def low(self) -> float:
        return float(self.made.support()[0])

    @property
    def high(self) -> float:
        return float(self.made.support()[1])

    @property
    def mean(self) -> float:
        return float(self.made.mean())

    @property
    def std(self) -> float:
        return float(self.made.std())

    def ppf(self, u: Floats) -> Floats:
        values = np.asarray(self.made.ppf(u), dtype=float)
        ends = ~np.isfinite(values)  # 0 and 1 of what has no ends
        if ends.any():
            values = np.where(ends, self.made.ppf(np.clip(u, INNER, 1 - INNER)), values)
        return values

    def describe(self) -> str:
        """Name and arguments; of a distribution that SciPy does not know by that name, what its quantiles are too."""
        import scipy.stats

        family = self.made.dist
        said = [
            *map(_digits, self.made.args),
            *(f"{key}={_digits(x)}" for key, x in sorted(self.made.kwds.items())),
        ]
        told = f"{family.name}({', '.join(said)})"
        if type(family) is type(getattr(scipy.stats, family.name or "", None)):
            return told
        quantiles = " ".join(f"{x:.9g}" for x in self.ppf(np.linspace(0.0, 1.0, 33)[1:-1]))
        return f"{told} #{hashlib.sha256(quantiles.encode()).hexdigest()[:12]}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Frozen) and self.describe() == other.describe()

    def __hash__(self) -> int:
        return hash(self.describe())


def _digits(x: Any) -> str:
    return repr(x.item() if isinstance(x, np.generic) else x)


def frozen(made: Any, what: str) -> Frozen:
    """A distribution of SciPy, or a sentence."""
    if hasattr(
        made, "icdf"
    ):  # they are pickled without their numbers, which then are others in another process
        raise InputError(f"{what} is a distribution of SciPy's new kind; take the frozen one, as in scipy.stats.norm(0.1, 1e-4).")  # fmt: skip
    if not all(hasattr(made, key) for key in ("dist", "args", "kwds")):
        raise InputError(
            f"{what} is a family of distributions; give its numbers, as in scipy.stats.norm(0.1, 1e-4)."
        )
    if any(np.ndim(x) for x in (*made.args, *made.kwds.values())):
        raise InputError(f"{what} is several distributions at once; give one of plain numbers.")
    one = Frozen(made)
    try:
        middle = one.ppf(np.array([0.25, 0.5, 0.75]))
    except Exception as error:  # whatever a foreign distribution does
        raise InputError(f"{what} is a distribution without quantiles: {str(error).splitlines()[0] if str(error) else error!r}.") from None  # fmt: skip
    if middle.shape != (3,) or not np.isfinite(middle).all():
        raise InputError(
            f"{what} is a distribution of numbers that it cannot have, for its quantiles are not finite."
        )
    return one


def named(table: Any, what: str) -> Frozen:
    """A distribution of SciPy by its name and its numbers, as a file says it: {distribution = "norm", loc = 0.1, scale = 1e-4}."""
    import scipy.stats

    from eslabon.errors import suggest

    rest = dict(table)
    name = rest.pop("distribution", None)
    known = [key for key in dir(scipy.stats) if isinstance(getattr(scipy.stats, key), scipy.stats.rv_continuous | scipy.stats.rv_discrete)]  # fmt: skip
    if name not in known:
        raise InputError(f"{what}: SciPy has no distribution {format_value(name)}{suggest(name, known, '; scipy.stats lists them.')}")  # fmt: skip
    numbers = {key: float(finite(x, f"{what}: {key}")) for key, x in rest.items()}
    try:
        return frozen(getattr(scipy.stats, name)(**numbers), what)
    except TypeError as error:
        raise InputError(
            f"{what}: {name} has other numbers than {', '.join(rest) or 'none'}: {error}."
        ) from None


def levels(values: Sequence[float] | Floats, what: str) -> Levels:
    """Values one by one."""
    array = finite(values, what)
    if array.ndim != 1 or not array.size:
        raise InputError(
            f"{what} are levels in one row, at least one; they have the shape {array.shape}."
        )
    if len(np.unique(array)) != array.size:
        raise InputError(f"{what}: a level stands there twice; give each once.")
    return Levels(tuple(array.tolist()))
