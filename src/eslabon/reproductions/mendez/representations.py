"""Section 6: quaternions beside rotation matrices, and the formulations beside one another, in operations and in round-off."""

from __future__ import annotations

import numpy as np

from eslabon.mechanism import Floats
from eslabon.numerics import quaternion_about, quaternion_product, rotation_from_quaternion
from eslabon.reproductions.document_figures import Figure, Panel
from eslabon.reproductions.mendez.chains import random_chain
from eslabon.reproductions.mendez.errata import rotation_counts

LENGTHS = range(1, 7)  # bodies of a chain
STEPS = 2000  # rotations that are composed
CAPTION = (
    "Multiplications and additions, counted. To compose rotations quaternions take fewer, to turn vectors matrices do. In the inverse "
    "dynamics of a random chain the recursion of Newton and Euler grows with the number of bodies; D and C from quaternions, as from "
    "Lagrange's equations, with a power of it. Composed in single precision, a quaternion loses its length and a matrix, somewhat "
    "more, its right angles; the paper does not say that either must be restored."
)


def figure() -> Figure:
    turn, compose = rotation_counts()
    n = np.array([float(k) for k in LENGTHS])
    quaternions, matrices = "quaternions", "matrices"
    panels = [
        Panel("Composing n rotations", "operations", n, {quaternions: sum(compose[0]) * n, matrices: sum(compose[1]) * n}, "n"),
        Panel("Turning n vectors", "operations", n, {quaternions: sum(turn[0]) * n, matrices: sum(turn[1]) * n}, "n"),
        Panel("Inverse dynamics of n bodies", "operations", n, _formulations(), "n", "y"),
        Panel("Composed in single precision", "departure", np.arange(1.0, STEPS + 1), _drift(), "rotations", "y"),
    ]  # fmt: skip
    return Figure("representations", "Quaternions and matrices", panels, caption=CAPTION)


def _formulations() -> dict[str, Floats]:
    """Operations of inverse dynamics for chains of one body and more."""
    names = {"quaternion": "quaternions", "lagrange": "Lagrange", "newton_euler": "Newton-Euler"}
    chains = [random_chain(np.random.default_rng(7), ["revolute"] * k) for k in LENGTHS]
    counts = {
        name: [m.operations("inverse_dynamics", formulation=f) for m in chains]
        for f, name in names.items()
    }
    return {
        name: np.array([float(c.multiplications + c.additions) for c in found])
        for name, found in counts.items()
    }


def _drift() -> dict[str, Floats]:
    """What a product of many rotations has lost of its length, and of its right angles."""
    rng = np.random.default_rng(0)
    q, R, lost = np.array([1, 0, 0, 0], np.float32), np.eye(3, dtype=np.float32), []
    for axis, angle in zip(rng.normal(size=(STEPS, 3)), rng.uniform(-1, 1, STEPS), strict=True):
        p = quaternion_about(axis, angle)
        q = np.asarray(quaternion_product(p.astype(np.float32), q), np.float32)
        R = rotation_from_quaternion(p).astype(np.float32) @ R
        wide = R.astype(float)
        lost.append(
            (
                abs(float(np.linalg.norm(q.astype(float))) - 1),
                float(np.abs(wide.T @ wide - np.eye(3)).max()),
            )
        )
    length, angles = np.maximum(np.array(lost), 1e-9).T
    return {"length of the quaternion": length, "right angles of the matrix": angles}
