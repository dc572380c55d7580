"""The equations of motion behind a graph's state equations, term by term."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import Floats, finite, states
from eslabon.bond_graph.graph import Graph
from eslabon.bond_graph.graph_values import function
from eslabon.bond_graph.motion_terms import MOTION_TERMS, displacements, products, velocities
from eslabon.displays import displayed


@displayed
@dataclass(frozen=True, eq=False, repr=False)
class MotionTerms:
    """M f' + B [f_j f_k] + C [f_j^2] + D f + G = Q u, with leading axes for a batch.

    Attributes
    ----------
    M : (..., n, n), the mass matrix; columns of what active bonds carry need not be symmetric.
    B : (..., n, n (n - 1) / 2), Coriolis terms, a column for each pair in `products`.
    C : (..., n, n), centrifugal terms.
    D : (..., n, n), friction, and gyrators with a constant modulus.
    G : (..., n), gravity and springs.
    Q : (..., n, nu), of the inputs.
    velocities, products : the flows f, and the pairs that the columns of B belong to.
    """

    M: Floats
    B: Floats
    C: Floats
    D: Floats
    G: Floats
    Q: Floats
    velocities: tuple[str, ...]
    products: tuple[tuple[str, str], ...]

    def accelerations(self, f: ArrayLike, u: ArrayLike) -> Floats:
        """f' of flows (..., n) and inputs (..., nu)."""
        v = states(f, "f", len(self.velocities), "the equations of motion", "flows")
        given = states(u, "u", self.Q.shape[-1], "the equations of motion", "inputs")
        pairs = [tuple(self.velocities.index(name) for name in pair) for pair in self.products]
        crossed = (
            np.stack([v[..., j] * v[..., k] for j, k in pairs], axis=-1) if pairs else v[..., :0]
        )
        force = np.einsum("...ij,...j->...i", self.Q, given) - self.G
        for matrix, column in ((self.B, crossed), (self.C, v**2), (self.D, v)):
            force = force - np.einsum("...ij,...j->...i", matrix, column)
        return np.linalg.solve(self.M, force[..., None])[..., 0]

    def __repr__(self) -> str:
        return f"<MotionTerms of the flows {', '.join(self.velocities)}: M, B, C, D, G, Q>"


def motion_terms(g: Graph, q: ArrayLike, t: ArrayLike = 0.0) -> MotionTerms:
    """The terms of the equations of motion at displacements.

    Parameters
    ----------
    q : (..., nq), the states that are displacements, in their order.

    >>> import eslabon as es
    >>> g = es.BondGraph.load("morales_puma").with_parameters(ix=2.0, R1=0.0, R2=0.0)
    >>> terms = g.motion_terms([0.5, 0.0])
    >>> terms.velocities, terms.products
    (('f2', 'f24'), (('f2', 'f24'),))
    >>> terms.M.round(4)                                      # i2 + iz and i1 + ix sin^2 + iy cos^2 + i
    array([[1.2   , 0.    ],
           [0.    , 2.3298]])
    >>> print(terms.B.round(4), terms.C.round(4))             # k = (ix - iy) sin cos: 2 k f2 f24 and -k f24^2
    [[0.    ]
     [0.8415]] [[ 0.     -0.4207]
     [ 0.      0.    ]]
    """
    names = displacements(g)
    at = states(q, "q", len(names), g.name, "displacements")
    M, B, C, D, G, Q = function(g, MOTION_TERMS)(at, finite(t, "t"))
    return MotionTerms(M, B, C, D, G, Q, velocities(g), products(g))
