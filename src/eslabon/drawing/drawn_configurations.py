"""Which configurations are drawn: what a caller gives, as rows of coordinates, or a sentence."""

from __future__ import annotations

from typing import Any

import numpy as np

from eslabon.arguments import Floats, states
from eslabon.errors import InputError
from eslabon.model import Model
from eslabon.model.configuration import lengths_of_quaternions, normalize
from eslabon.solve.constraints.closed_configurations import close


def configurations(m: Model, q: Any) -> Floats:
    """Rows `(n, nq)` of one configuration or of many; of None the home, of a text the mode of that name, both closed."""
    if q is None or isinstance(q, str):
        start = m.home() if q is None else m.configuration(q)
        return (close(m, start) if m.closed and m.nv else start)[None]
    rows = states(q, "q", m.nq, m.name)
    if rows.ndim > 2:
        raise InputError(
            f"q has the shape {rows.shape}; draw one configuration ({m.nq},) or a row of them (n, {m.nq}), as in q[0]."
        )
    if not rows.size and m.nq:
        raise InputError("q holds no configuration; give at least one.")
    rows = rows.reshape(-1, m.nq) if m.nq else np.zeros((1, 0))
    for joint, squared in lengths_of_quaternions(m, rows).items():
        if np.min(squared) < 1e-12:
            raise InputError(
                f"the quaternion of '{joint}' in q has the length zero, which is no orientation."
            )
    return np.asarray(normalize(m, rows), dtype=float)
