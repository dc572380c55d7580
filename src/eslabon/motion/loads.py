"""What acts on a mechanism besides its weight and its actuators, and the values of its parameters:
the same at all times."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.formula import Formula
from eslabon.model import Model
from eslabon.solve.designs import DESCRIBED, Designs

if TYPE_CHECKING:
    from eslabon.motion.simulation.joint_stops import Stop

Shape = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Loads:
    """Of one trajectory, or of many.

    Attributes
    ----------
    external : wrenches (..., 6) on bodies or frames, in their axes, by name.
    parameters : values (...) in place of the mechanism's own, by name.
    stops : those of its joints, which push back where a limit is passed.
    """

    external: Mapping[str, Floats] = field(default_factory=dict)
    parameters: Mapping[str, Floats] = field(default_factory=dict)
    stops: tuple[Stop, ...] = ()

    @property
    def batch(self) -> Shape:
        """The leading axes of all of it."""
        wrenches = [w.shape[:-1] for w in self.external.values()]
        return np.broadcast_shapes(*wrenches, *(p.shape for p in self.parameters.values()))

    @cached_property
    def designs(self) -> Designs:
        """The values of the parameters, a design for each trajectory."""
        if not self.parameters:
            return DESCRIBED
        values = np.stack(np.broadcast_arrays(*self.parameters.values()), axis=-1)
        return Designs(tuple(self.parameters), values)

    def pick(self, batch: Shape, index: Any) -> Self:
        """Those of some trajectories of a batch."""
        wrenches = {
            name: np.broadcast_to(w, (*batch, 6))[index] for name, w in self.external.items()
        }
        values = {
            name: np.asarray(np.broadcast_to(p, batch)[index])
            for name, p in self.parameters.items()
        }
        return replace(self, external=wrenches, parameters=values)

    def along(self) -> Self:
        """The same beside arrays that have an axis of times."""
        return replace(
            self,
            external={name: w[..., None, :] for name, w in self.external.items()},
            parameters={name: p[..., None] for name, p in self.parameters.items()},
        )

    def function(
        self, m: Model, formula: Formula, numbers: Sequence[Floats] = (), **options: Any
    ) -> Callable[..., Any]:
        """The native function of a formula with wrenches, parameters and stops put in, and the
        numbers that options bring, such as those of a law."""
        if "stops" in formula.options:
            options["stops"] = self.stops
        external = self.external if formula.external else {}
        f = evaluate(m, formula, tuple(self.parameters), tuple(external), **options)
        constants = [*numbers, *external.values(), *self.parameters.values()]
        if not constants:
            return f
        return lambda *arrays, **keywords: f(*arrays, *constants, **keywords)


NO_LOADS = Loads()
