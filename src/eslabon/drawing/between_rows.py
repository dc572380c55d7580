"""Configurations between the rows of a motion, as films and players need them."""

from __future__ import annotations

import numpy as np

from eslabon.arguments import Floats
from eslabon.model import Model
from eslabon.model.configuration import difference, integrate, normalize
from eslabon.numerics.tolerances import ACCEPTED_VIOLATION, COINCIDENT
from eslabon.solve.constraints.closed_configurations import close_from


def configurations_at(m: Model, t: Floats, q: Floats, times: Floats) -> Floats:
    """The configurations of a motion q `(rows, nq)` at other times within those of its rows.

    Between two rows they lie on the way that constant velocities take, brought back onto the loops; where these do not close
    there, since rows are too far apart, the nearer row is given.

    >>> import eslabon as es
    >>> m = es.load("five_bar")
    >>> rows = m.assemble([[2.0, 1.0], [2.2, 1.1]])
    >>> q = configurations_at(m, np.array([0.0, 1.0]), rows, np.array([0.0, 0.5]))
    >>> bool(np.array_equal(q[0], rows[0])), float(abs(m.constraint(q[1])).max()) < 1e-6, q[1, [0, 2]].round(2)
    (True, True, array([2.1 , 1.05]))
    """
    before = np.clip(np.searchsorted(t, times, side="right") - 1, 0, max(len(t) - 2, 0))
    if len(t) == 1:
        return np.asarray(q[before])
    part = ((times - t[before]) / (t[before + 1] - t[before]))[:, None]
    row = q[before + (part[:, 0] > 0.5)]
    between = np.asarray(
        integrate(m, q[before], part * np.asarray(difference(m, q[before + 1], q[before])))
    )
    between = np.where(np.abs(part - np.round(part)) < COINCIDENT, row, normalize(m, between))
    if m.rheonomic or not m.closed:
        return between
    closed, error = close_from(m, between)
    return np.where((np.sqrt(error) < ACCEPTED_VIOLATION)[:, None], closed, row)
