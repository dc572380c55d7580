"""Orders that round-off does not decide: mirror images of a mechanism tie, and ties keep their order."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import Floats
from eslabon.numerics.tolerances import COINCIDENT

__all__ = ["stable_order"]


def stable_order(values: ArrayLike) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Return the indices that sort values in ascending order; values that coincide keep their order.

    Two neighbours coincide if they differ by less than `COINCIDENT` of the largest finite magnitude.

    >>> stable_order([2.0, 1.0 + 1e-15, 1.0]).tolist()
    [1, 2, 0]
    """
    given: Floats = np.asarray(values, dtype=float)
    x = np.where(np.isnan(given), np.inf, given)
    order = np.argsort(x, kind="stable")
    finite = np.abs(x[np.isfinite(x)])
    with np.errstate(invalid="ignore"):  # inf - inf: two values that are infinite tie
        apart = np.diff(x[order]) > COINCIDENT * finite.max(initial=0.0)
    rank = np.empty(len(x), dtype=np.intp)
    rank[order] = np.concatenate([[0], np.cumsum(apart)])[: len(x)]
    return np.argsort(rank, kind="stable")
