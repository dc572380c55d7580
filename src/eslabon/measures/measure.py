"""What every measure is: named columns of numbers for many designs at once, and a reason where there is none."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from eslabon.arguments import Floats, instance
from eslabon.compiler.source_digest import code_digest
from eslabon.displays import displayed
from eslabon.mechanism import Mechanism


@displayed
@dataclass(frozen=True, eq=False)
class Measured:
    """The values of columns for n designs, `(n,)` or, with a row for each of k states, `(n, k)`, and by the number of a design why
    it has none: its values are NaN then.

    >>> import numpy as np
    >>> import eslabon as es
    >>> es.measures.Quantity("energy", q=[0.3, 0.2], v=[1.0, 0.0]).measured(es.load("elbow"), {"m1": np.array([0.1, -1.0])})
    <Measured: energy.kinetic, energy.potential of 2 designs, 1 failed>
    """

    values: Mapping[str, Floats]
    reasons: Mapping[int, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        count = len(next(iter(self.values.values()), ()))
        failed = f", {len(self.reasons)} failed" if self.reasons else ""
        return f"<Measured: {', '.join(self.values)} of {count} design{'s' * (count != 1)}{failed}>"


def as_mechanism(m: Any) -> Mechanism:
    """The mechanism itself, or a sentence for whatever else is given in its place."""
    return instance(m, "m", Mechanism, "a mechanism, as es.load gives one")


class Measure(ABC):
    """A measure of designs. A subclass is a frozen dataclass: its fields are all that it depends on besides the mechanism.

    `name` is what its columns are called: `name` itself, and `name.part` for its parts.

    >>> import eslabon as es
    >>> dict(es.measures.NaturalFrequency([1.2]).columns(es.load("four_bar_spring")))
    {'natural_frequency': 'rad/s'}
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """What its columns are called."""

    @abstractmethod
    def columns(self, m: Mechanism) -> Mapping[str, str]:
        """The names of its columns and their units, in their order; refuses what the mechanism cannot be asked."""

    @abstractmethod
    def measured(self, m: Mechanism, designs: Mapping[str, Floats]) -> Measured:
        """Its values for designs, parameters `(n,)` by name. A design that fails does not stop the others: it has a reason."""

    def with_columns(self, m: Mechanism, designs: Mapping[str, Floats]) -> Measure:
        """The same with its columns settled, where the mechanism as it is described does not tell them: by some designs."""
        return self

    def states(self) -> int:
        """How many rows a design has: one, unless it is measured at each of several states."""
        return 1

    def together(self) -> int:
        """How many designs are measured at once at most: fewer where each takes long, since a chunk is finished or lost."""
        return 4096

    def fingerprint(self) -> str:
        """Tells this measure from every other one, in any process: its class and its fields."""
        values = [(x.name, getattr(self, x.name)) for x in fields(self)]  # type: ignore[arg-type]
        return code_digest(type(self), values, lasting=True)

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is type(self)
            and isinstance(other, Measure)
            and other.fingerprint() == self.fingerprint()
        )

    def __hash__(self) -> int:
        return hash(self.fingerprint())

    def __repr__(self) -> str:
        return f"<{type(self).__name__}{self._told()}>"

    def _told(self) -> str:
        """What a line says of it besides its kind."""
        return ""
