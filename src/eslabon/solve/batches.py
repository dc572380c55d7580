"""Batches: arrays with any leading axes as rows of one batch."""

from __future__ import annotations

from math import prod

import numpy as np

from eslabon.arguments import Floats
from eslabon.errors import InputError


def flattened(**given: tuple[Floats, int]) -> tuple[tuple[int, ...], list[Floats]]:
    """The leading axes that arrays have together, and the arrays with one leading axis instead, as
    long as all of these.

    Each array comes with the number of axes that are its own.

    >>> lead, (q, v) = flattened(configurations=(np.zeros((2, 1, 3)), 1), velocities=(np.ones((4, 2)), 1))
    >>> lead, q.shape, v.shape
    ((2, 4), (8, 3), (8, 2))
    """
    lead = leading(**given)
    cores = [x.shape[x.ndim - own :] for x, own in given.values()]
    pairs = zip(given.values(), cores, strict=True)
    return lead, [
        np.broadcast_to(x, (*lead, *core)).reshape(prod(lead), *core) for (x, _), core in pairs
    ]


def leading(**given: tuple[Floats, int]) -> tuple[int, ...]:
    """The leading axes that arrays have together."""
    leads = [x.shape[: x.ndim - own] for x, own in given.values()]
    try:
        return np.broadcast_shapes(*leads)
    except ValueError:
        told = " and ".join(f"{name} {shape}" for name, shape in zip(given, leads, strict=True))
        raise InputError(
            f"the leading axes of {told} do not fit together; give one of each for all, or one for each."
        ) from None


def joined(values: list[Floats], what: str) -> Floats:
    """Values (..., n) of several things one after the other, their leading axes together.

    >>> joined([np.zeros((2, 1)), np.ones(3)], "targets").shape
    (2, 4)
    """
    if not values:
        return np.zeros(0)
    try:
        lead = np.broadcast_shapes(*(x.shape[:-1] for x in values))
    except ValueError:
        shapes = " and ".join(str(x.shape[:-1]) for x in values)
        raise InputError(
            f"the leading axes of the {what}, {shapes}, do not fit together."
        ) from None
    return np.concatenate([np.broadcast_to(x, (*lead, x.shape[-1])) for x in values], axis=-1)
