"""QR with column pivoting: which columns of a small matrix are independent.

LAPACK's is as good, but SciPy takes a fifth of a second to import, and breaks ties by round-off: two equal columns, which
symmetric mechanisms have, are taken in an order that depends on the machine.
"""

from __future__ import annotations

import numpy as np

from eslabon.numerics.tolerances import COINCIDENT


def pivoted(A: np.ndarray) -> tuple[list[int], np.ndarray]:
    """The order in which columns are taken, each the largest of those left without what those taken before span, the first of
    those that are as large, and how large they are then: |R_kk| of A P = Q R (Businger and Golub, 1965).

    >>> pivoted(np.array([[1.0, 3.0, 2.0], [0.0, 0.0, 1.0]]))
    ([1, 2, 0], array([3., 1.]))
    """
    R, order = np.array(A, dtype=float), list(range(A.shape[1]))
    sizes = np.zeros(min(R.shape))
    for k in range(len(sizes)):
        left = np.linalg.norm(R[k:, k:], axis=0)
        tied = [k + int(j) for j in np.flatnonzero(left >= (1 - COINCIDENT) * left.max())]
        taken = min(tied, key=order.__getitem__)
        R[:, [k, taken]] = R[:, [taken, k]]
        order[k], order[taken] = order[taken], order[k]
        sizes[k] = left[taken - k]
        if sizes[k] > 0:
            normal = R[k:, k].copy()
            normal[0] += np.copysign(sizes[k], normal[0])
            normal /= np.linalg.norm(normal)
            R[k:, k:] -= 2 * np.outer(normal, normal @ R[k:, k:])
    return order, sizes
