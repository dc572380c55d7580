"""Inertial parameters: what the joint forces are linear in, and which combinations of it motion can tell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eslabon.model import Model
from eslabon.model.configuration import normalize
from eslabon.quantities import evaluate

NAMES = ("m", "mx", "my", "mz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")


def inertial_parameters(m: Model) -> np.ndarray:
    """Ten numbers a body: mass, mass times centre of mass, and the inertia about the body's frame."""
    rows = []
    for body in m.bodies:
        c = np.array(body.com, dtype=float)
        J = np.asarray(body.inertia_matrix()) + body.mass * (c @ c * np.eye(3) - np.outer(c, c))
        rows.append([body.mass, *(body.mass * c), J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]])
    return np.array(rows).ravel()


def parameter_names(m: Model) -> list[str]:
    return [f"{name}({body.name})" for body in m.bodies for name in NAMES]


@dataclass(frozen=True, repr=False)
class BaseParameters:
    """The fewest combinations of inertial parameters that give every joint force: `values = regrouping @ pi`.

    The regressor's columns in `columns` times `values` are the joint forces; `expressions` says each value in words.
    """

    columns: tuple[int, ...]
    regrouping: np.ndarray
    values: np.ndarray
    expressions: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.columns)

    def __repr__(self) -> str:
        return f"<BaseParameters: {len(self)} of {self.regrouping.shape[1]} inertial parameters; see .expressions>"


def base_parameters(m: Model, samples: int | None = None) -> BaseParameters:
    """Base parameters by the rank of the regressor over random motions (Gautier and Khalil); none where nothing moves.

    Columns are taken from the ground outward and kept when they are independent of those before, so that what cannot be
    told apart is counted with the body nearer to the ground.
    """
    from scipy.linalg import qr, solve_triangular

    rng = np.random.default_rng(0)
    count = samples or 4 * len(m.bodies) + 10
    q = normalize(m, rng.normal(size=(count, m.nq)))
    v, a = rng.normal(size=(2, count, m.nv))
    Y = evaluate(m, "regressor")(q, v, a).reshape(count * m.nv, 10 * len(m.bodies))
    scale = np.linalg.norm(Y, axis=0)
    seen = scale > 1e-12 * scale.max()  # what moves nothing leaves round-off only
    _, R = qr(np.where(seen, Y / np.where(seen, scale, 1.0), 0.0), mode="economic")
    kept = _independent(R)
    others = [k for k in range(Y.shape[1]) if k not in kept]
    Q, T = qr(Y[:, kept], mode="economic")
    mixed = solve_triangular(T, Q.T @ Y[:, others])
    mixed[np.abs(mixed) < 1e-9 * max(1.0, np.abs(mixed).max(initial=0.0))] = 0.0
    regrouping = np.zeros((len(kept), Y.shape[1]))
    regrouping[range(len(kept)), kept] = 1.0
    regrouping[:, others] = mixed
    names = parameter_names(m)
    words = tuple(_words(row, names) for row in regrouping)
    return BaseParameters(tuple(kept), regrouping, regrouping @ inertial_parameters(m), words)


def _independent(R: np.ndarray) -> list[int]:
    """The columns of a triangular factor that are independent of those before them."""
    kept: list[int] = []
    basis = np.zeros((R.shape[0], 0))
    for k in range(R.shape[1]):
        left = R[:, k]
        for _ in range(2):  # twice is enough
            left = left - basis @ (basis.T @ left)
        length = np.linalg.norm(left)
        if length > 1e-9:
            kept.append(k)
            basis = np.column_stack([basis, left / length])
    return kept


def _words(row: np.ndarray, names: list[str]) -> str:
    terms = [(f"{x:.6g} {name}" if x != 1 else name) for x, name in zip(row, names, strict=True) if x]
    return " + ".join(terms).replace("+ -", "- ")
