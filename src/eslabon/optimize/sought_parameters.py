"""The parameters that a design is sought over: what every search for a design has in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from eslabon.arguments import Floats
from eslabon.mechanism import Mechanism


@dataclass(frozen=True, eq=False)
class SoughtParameters:
    """A mechanism, and the range of each parameter that is sought."""

    m: Mechanism
    over: Mapping[str, tuple[float, float]]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.over)

    @cached_property
    def bounds(self) -> tuple[Floats, Floats]:
        """The least and the greatest values of the parameters."""
        lower, upper = np.array(list(self.over.values()), dtype=float).T
        return lower, upper

    @cached_property
    def described(self) -> Floats:
        """The parameters as they are."""
        return np.array([self.m.parameters[name] for name in self.names])
