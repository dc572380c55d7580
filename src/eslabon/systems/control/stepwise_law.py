"""Laws that step from sample to sample: what a computer runs once a period."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from eslabon.model import Model
from eslabon.motion.simulation.native_laws import Law
from eslabon.motion.simulation.sampled_laws import Sampled
from eslabon.systems.control.control_law import ControlLaw

if TYPE_CHECKING:
    from eslabon.export.c_source import CSource


@dataclass(frozen=True, eq=False, repr=False)
class StepwiseLaw(ControlLaw):
    """(tau, next x) = law(t, q, v, x). Its graph is kept, whatever states it starts from: a filter's takes longer to trace than
    many a run takes."""

    kept: dict[str, Law] = field(kw_only=True, default_factory=dict)
    changed: ClassVar[str] = "x_next"

    def graph(self, m: Model) -> Law:
        if m.digest not in self.kept:
            self.kept[m.digest] = super().graph(m)
        assert self.state is not None
        return replace(self.kept[m.digest], state=self.state)


def stepwise(function: Any, m: Model, title: str) -> StepwiseLaw:
    """Such a law of one function, which is not going to change."""
    return StepwiseLaw(function, m=m, title=title)


def c_source(law: ControlLaw | Sampled, name: str | None) -> CSource:
    """A law as C, in continuous time or from sample to sample."""
    if isinstance(law, ControlLaw):
        return law.c_source(name)
    assert isinstance(law.law, StepwiseLaw)
    return law.law.with_state(law.state).c_source(name)
