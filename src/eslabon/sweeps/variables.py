"""What is varied, and how: `over` of a sweep in the words of its user, as variables with quantile functions.

over = {
    "L2": (0.1, 0.3),                        # a range, in SI units
    "L3": "10..30 cm",                       # with a unit; ("10 cm", "30 cm") too
    "L4": [0.1, 0.15, 0.2],                  # levels; two numbers are a range, an array is levels
    "L5": "±0.1 mm",                         # about what the parameter is; "±2 %" of it; "100 ± 0.1 mm" of another value
    "m2": "±0.05 kg normal",                 # normal: the tolerance is 3 sigma, and what is beyond it is rejected
    "m3": scipy.stats.norm(0.4, 0.01),       # any frozen distribution of SciPy
    "theta2.coulomb": (0, 0.1),              # a number that is no parameter: m.free_numbers() lists them
    "tip.clearance": "0.05 mm",              # play of a pin or ball joint, anywhere within the clearance's radius
}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eslabon.arguments import Floats, count, floats, instance, mapping
from eslabon.errors import InputError, ModelError, format_value, suggest
from eslabon.mechanism import Mechanism
from eslabon.model.clearances import clearance_names
from eslabon.model.free_numbers import DEVIATION, PAYLOAD, free_name, parameter_units
from eslabon.numerics.units import (
    check_range,
    has_tolerance,
    number_in_si,
    range_in_si,
    tolerance_in_si,
)
from eslabon.sweeps.distributions import (
    Distribution,
    Frozen,
    Levels,
    Play,
    PolarAngle,
    Tolerance,
    Uniform,
    frozen,
    levels,
    named,
)

CLEARANCE = ".clearance"
SHAPES: Mapping[str, Any] = {"uniform": Uniform, "normal": Tolerance}


@dataclass(frozen=True)
class Variable:
    """A parameter that is varied: its name, SI unit ("" for a mere number or where it is not known), value in the description, and
    distribution. Variables of one `group` say one thing together, as the polar coordinates of a clearance do; an `uncertain` one has a
    tolerance or a distribution, where others are for the designer to choose.

    >>> import eslabon as es
    >>> from eslabon.sweeps import variables_of
    >>> m, (L2,) = variables_of(es.load("five_bar"), {"L2": "3..6 cm"})
    >>> L2.values_at([0.0, 0.5]), L2.nominal, L2.unit
    (array([0.03 , 0.045]), 0.04, 'm')
    """

    name: str
    unit: str
    nominal: float
    distribution: Distribution
    group: str = ""
    uncertain: bool = False

    def values_at(self, u: Any) -> Floats:
        """The quantiles at u in [0, 1): what samples of the unit interval become."""
        return self.distribution.ppf(floats(u, "u"))

    @property
    def levels(self) -> tuple[float, ...] | None:
        """The values it takes, if these were given one by one."""
        return self.distribution.values if isinstance(self.distribution, Levels) else None

    def on_grid(self, points: int) -> Floats:
        """Values for a grid: its levels, or so many from end to end; of a distribution without ends equally likely ones.

        >>> import eslabon as es
        >>> m, (L2,) = variables_of(es.load("five_bar"), {"L2": "3..6 cm"})
        >>> L2.on_grid(3)
        array([0.03 , 0.045, 0.06 ])
        """
        points = count(points, "the points of a grid", 1)
        if self.levels is not None:
            return np.array(self.levels)
        if isinstance(self.distribution, Frozen):
            return self.values_at((np.arange(points) + 0.5) / points)
        return (
            np.linspace(self.low, self.high, points)
            if points > 1
            else np.array([self.distribution.mean])
        )

    @property
    def low(self) -> float:
        """The least value it takes."""
        return self.distribution.low

    @property
    def high(self) -> float:
        """The greatest value it takes."""
        return self.distribution.high

    @property
    def mean(self) -> float:
        """Its mean."""
        return self.distribution.mean

    @property
    def std(self) -> float:
        """Its standard deviation."""
        return self.distribution.std

    @property
    def variance(self) -> float:
        """The square of its standard deviation."""
        return self.std**2

    def describe(self) -> str:
        """All that its values depend on, digit for digit, the same in any process.

        >>> import eslabon as es
        >>> m, (L2,) = variables_of(es.load("five_bar"), {"L2": "3..6 cm"})
        >>> L2.describe()
        'L2 [m] = ...'
        """
        return f"{self.name} [{self.unit}] = {self.distribution.describe()}"

    def __repr__(self) -> str:
        return f"<Variable {self.describe()}>"


def factors(variables: Sequence[Variable]) -> dict[str, list[int]]:
    """What variance is attributed to: each variable by its name, or those of a group together; with their places."""
    found: dict[str, list[int]] = {}
    for k, x in enumerate(variables):
        found.setdefault(x.group or x.name, []).append(k)
    return found


def variables_of(m: Mechanism, over: Mapping[str, Any]) -> tuple[Mechanism, tuple[Variable, ...]]:
    """What is varied of a mechanism, and the mechanism: with new parameters where numbers of items, or clearances, are to vary.

    >>> import eslabon as es
    >>> from eslabon.sweeps import variables_of
    >>> m, variables = variables_of(es.load("puma560"), {"link2.mass": "±5 %", "q1.coulomb": (0.0, 2.0)})
    >>> variables[0]
    <Variable link2_mass [kg] = uniform(16.529999999999998, 18.27)>
    >>> m.parameters
    {'link2_mass': 17.4, 'q1_coulomb': 0.0}
    """
    if not mapping(over, "over"):
        raise InputError("over is empty; say what is to vary, as in over={'L2': (0.1, 0.3)}.")
    freed = instance(m, "m", Mechanism, "a mechanism, as es.load gives one")
    for key in sorted(
        over, key=lambda key: key.endswith((CLEARANCE, PAYLOAD, DEVIATION))
    ):  # of which other numbers come to depend
        freed = _freed(freed, key)
    made = tuple(x for key, said in over.items() for x in _variables(freed, key, said))
    for k, x in enumerate(made):
        if any(x.name == other.name for other in made[:k]):
            raise InputError(f"over varies '{x.name}' twice; say once how it is to vary.")
    _check_admissible(freed, made)
    return freed, made


def _freed(m: Mechanism, key: str) -> Mechanism:
    """The mechanism with a parameter for what a key of `over` means."""
    if key in m.parameters:
        return m
    if key.endswith(CLEARANCE):
        return m.with_clearance(key.removesuffix(CLEARANCE))
    if key in dict(m.description.parameters):
        m.check_parameters([key])  # says what it is defined by
    if "." in key:
        return m.with_free(key)
    hint = f"; {m.name} has {', '.join(m.parameters) or 'no parameters'}, and m.free_numbers() lists numbers of its items."
    raise ModelError(
        f"over: there is no parameter {format_value(key)}{suggest(key, m.parameters, hint)}"
    )


def _variables(m: Mechanism, key: str, said: Any) -> tuple[Variable, ...]:
    if key.endswith(CLEARANCE) and key not in m.parameters:
        return _clearance(m, key, said)
    name = key if key in m.parameters else free_name(key)
    unit, nominal = parameter_units(m)[name], m.parameters[name]
    made = _distribution(said, f"over[{key!r}]", unit, nominal)
    uncertain = isinstance(made, Frozen | Tolerance) or (
        isinstance(said, str) and has_tolerance(said)
    )
    return (Variable(name, unit or "", nominal, made, uncertain=uncertain),)


def _clearance(m: Mechanism, key: str, said: Any) -> tuple[Variable, ...]:
    """The polar coordinates of the centre of a pin or ball that is equally likely all over its clearance."""
    joint, what = key.removesuffix(CLEARANCE), f"over[{key!r}]"
    radius = (
        number_in_si(said, what, "m") if isinstance(said, str | int | float | np.number) else np.nan
    )
    if not 0 < radius < np.inf:
        raise InputError(f"{what} is the radius that the centre can shift by, as in 5e-5 or '0.05 mm'; it is {format_value(said)}.")  # fmt: skip
    names = clearance_names(m, joint)
    spread: tuple[Distribution, ...] = (
        Play(radius, len(names)),
        Uniform(0.0, 2 * np.pi),
        PolarAngle(),
    )
    return tuple(Variable(name, unit, 0.0, x, key, True) for name, unit, x in zip(names, ("m", "rad", "rad"), spread, strict=False))  # fmt: skip


# -- what is said of one ------------------------------------------------------------------------------------------------


def _distribution(said: Any, what: str, unit: str | None, nominal: float) -> Distribution:
    """A range, levels, a text, a table of a file, or a distribution of SciPy."""
    if hasattr(said, "ppf") or hasattr(said, "icdf"):
        return frozen(said, what)
    if isinstance(said, Mapping):
        return named(said, what)
    if isinstance(said, str):
        return _text(said, what, unit, nominal)
    if isinstance(said, np.ndarray):
        return levels(said, what)
    if isinstance(said, Sequence):
        values = [number_in_si(x, what, unit) for x in said]
        if len(values) == 2:
            return Uniform(*check_range((values[0], values[1]), what))
        if len(values) > 2:
            return levels(values, what)
        raise InputError(
            f"{what} is a range of two numbers, or three levels and more; it is {format_value(said)}."
        )
    raise InputError(
        f"{what} is a range (low, high), three or more levels, a text such as '10..30 cm' or '±0.1 mm', or a distribution of SciPy; "
        f"it is {format_value(said)}."
    )


def _text(said: str, what: str, unit: str | None, nominal: float) -> Distribution:
    """A text: "10..30 cm", "±0.1 mm", "±2 %", "100 ± 0.1 mm", each with "normal" or "uniform" behind it."""
    rest, shape = said.replace("−", "-").strip(), "uniform"
    if (words := rest.rsplit(maxsplit=1))[-1] in SHAPES and len(words) == 2:
        rest, shape = words
    ends = range_in_si(rest, what, unit) or tolerance_in_si(rest, what, unit, nominal)
    if ends:
        return SHAPES[shape](*check_range(ends, what))
    raise InputError(f"{what} is {format_value(said)}, which is no range; write '10..30 cm', '±0.1 mm', '±2 % normal' or '100 ± 0.1 mm'.")  # fmt: skip


def _check_admissible(m: Mechanism, variables: Sequence[Variable]) -> None:
    """Refuse what the mechanism cannot be at the ends of a range; of a distribution of SciPy, in its middle: tails may fail. Where
    it has no home, as a linkage that does not reach, is no reason: such designs are recorded one by one."""
    d = m.description
    homeless = type(m)(replace(d, modes=(), joints=tuple(replace(j, home=None) for j in d.joints)))
    for x in variables:
        values = (
            x.values_at([0.5]) if isinstance(x.distribution, Frozen) else np.array([x.low, x.high])
        )
        for value in x.levels or values.tolist():
            try:
                homeless.with_parameters(**{x.name: value})
            except ModelError as error:
                raise InputError(
                    f"over: {x.name} takes the value {value:g}, and then {error}"
                ) from None
