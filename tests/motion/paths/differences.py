"""Derivatives by central differences, for comparison only."""

import numpy as np

STEP = 1e-3


def derivative(f, x, step=STEP):
    """f' by four neighbours: the error is step⁴ f⁽⁵⁾/30 and rounding eps |f|/step, below 1e-10 for f of order 100."""
    x = np.asarray(x, dtype=float)
    return (f(x - 2 * step) - 8 * f(x - step) + 8 * f(x + step) - f(x + 2 * step)) / (12 * step)


def away_from(breaks, x, margin=3 * STEP):
    """Those x between whose neighbours no break lies."""
    return x[np.abs(x[:, None] - np.asarray(breaks)).min(axis=1) > margin]


def angular(R, dR):
    """The vector w of R' R^T, and how far that is from skew."""
    W = dR @ np.swapaxes(R, -1, -2)
    return np.stack([W[..., 2, 1], W[..., 0, 2], W[..., 1, 0]], axis=-1), np.abs(
        W + np.swapaxes(W, -1, -2)
    ).max()
