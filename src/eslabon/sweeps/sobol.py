"""Sobol indices of a sweep drawn as Saltelli does, by SciPy, with confidence intervals by bootstrap.

    S_i = V(E(y | x_i)) / V(y),    ST_i = 1 - V(E(y | all but x_i)) / V(y)

The first says what is left of the variance less if x_i were known, the total what x_i adds by itself and together with others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eslabon.arguments import Floats

RESAMPLES = 499


@dataclass(frozen=True, eq=False)
class SobolIndices:
    """First-order and total indices (values, factors), and the ends of their confidence intervals."""

    first: Floats
    total: Floats
    first_interval: tuple[Floats, Floats]
    total_interval: tuple[Floats, Floats]


def sobol_indices(y: Floats, confidence: float, seed: int) -> SobolIndices:
    """Of values (values, samples, 2 + factors), the samples a power of two: those at A, at B, and at A with one factor from B."""
    from scipy.stats import bootstrap

    _, n, block = y.shape
    if block == 3:  # one factor is all there is
        ones = np.where(y[:, :, :2].std(axis=(1, 2), keepdims=False) > 0, 1.0, 0.0)[:, None]
        return SobolIndices(ones, ones, (ones, ones), (ones, ones))
    made = _indices(y)
    drawn = bootstrap(
        (np.arange(n),), lambda rows: _indices(y[:, rows]), n_resamples=RESAMPLES, confidence_level=confidence,
        method="percentile", vectorized=False, rng=np.random.default_rng(seed),
    ).confidence_interval  # fmt: skip
    low, high = np.asarray(drawn.low), np.asarray(drawn.high)
    return SobolIndices(made[0], made[1], (low[0], high[0]), (low[1], high[1]))


def _indices(y: Floats) -> Floats:
    """(first and total, values, factors)."""
    from scipy.stats import sobol_indices as scipy_indices

    values, n, block = y.shape
    parts: Any = {"f_A": y[:, :, 0], "f_B": y[:, :, 1], "f_AB": np.moveaxis(y[:, :, 2:], 2, 0)}
    found = scipy_indices(func=parts, n=n)
    return np.array(
        [np.reshape(x, (values, block - 2)) for x in (found.first_order, found.total_order)]
    )
