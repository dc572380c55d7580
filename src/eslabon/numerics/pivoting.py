"""QR with column pivoting: which columns of a small matrix are independent.

LAPACK's routine breaks ties by round-off: equal columns, which symmetric mechanisms have, are taken
in an order that depends on the machine. SciPy also takes a fifth of a second to import.
"""

from __future__ import annotations

import numpy as np

from eslabon.numerics.tolerances import COINCIDENT


def pivot_columns(A: np.ndarray) -> tuple[list[int], np.ndarray]:
    """The order P of the columns and |R_kk| of A P = Q R (Businger and Golub, 1965).

    Each column is the longest of the remaining ones after projection off those taken before.

    >>> pivot_columns(np.array([[1.0, 3.0, 2.0], [0.0, 0.0, 1.0]]))
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
