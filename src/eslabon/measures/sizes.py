"""The size of a mechanism in many designs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from eslabon.arguments import Floats
from eslabon.mechanism import Mechanism
from eslabon.model.expressions import Expression, dependency_order


def sizes(m: Mechanism, parameters: Mapping[str, Floats]) -> Floats:
    """A length typical of each design, as `solvers.assembly.prescription.size` has it: the longest reach between two joints of a
    body, or one metre.

    >>> import eslabon as es
    >>> sizes(es.load("five_bar"), {"L2": np.array([0.04, 0.2])})
    array([0.1, 0.2])
    """
    d = m.description
    values: dict[str, Any] = {**m.parameters, **parameters}
    for name in dependency_order(dict(d.parameters)):
        if name not in values:
            values[name] = _number(dict(d.parameters)[name], values)
    places = [j.at.position for j in d.joints]
    places += [end.at.position for loop in d.loops for end in (loop.first, loop.second)]
    lead = np.broadcast_shapes(*(np.shape(x) for x in parameters.values()))
    lengths = [np.sqrt(sum(_number(x, values) ** 2 for x in place)) for place in places]
    longest = np.max([np.broadcast_to(x, lead) for x in lengths], axis=0, initial=0.0) if lengths else np.zeros(lead)
    return np.where(longest > 0, longest, 1.0)


def _number(x: Any, values: Mapping[str, Any]) -> Any:
    return x.evaluate(values) if isinstance(x, Expression) else x
