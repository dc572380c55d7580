"""Inertial parameters: what the joint forces are linear in, and which combinations of it motion can
tell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from eslabon.answers import Answer, Block, Column, Table
from eslabon.arguments import Floats
from eslabon.compiler.evaluate import evaluate
from eslabon.formulas.quantities import quantity
from eslabon.model import Model, as_model
from eslabon.model.configuration import normalize

RANK = 1e-8  # of a column of unit length: what is left of a dependent one, or of one that no measurement could tell from others
NAMES = ("m", "mx", "my", "mz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")


def inertial_parameters(m: Model) -> Floats:
    """Ten numbers a body: mass, mass times centre of mass, and the inertia about the body's frame.

    >>> import eslabon as es
    >>> es.identification.inertial_parameters(es.load("elbow"))[:2]
    array([1. , 0.5])
    """
    rows = []
    for body in as_model(m).bodies:
        c = np.array(body.com, dtype=float)
        J = np.asarray(body.inertia_matrix()) + body.mass * (c @ c * np.eye(3) - np.outer(c, c))
        rows.append(
            [body.mass, *(body.mass * c), J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
        )
    return np.array(rows).ravel()


def parameter_names(m: Model) -> list[str]:
    return [f"{name}({body.name})" for body in m.bodies for name in NAMES]


@dataclass(frozen=True, repr=False)
class BaseParameters(Answer):
    """The fewest combinations of parameters that give every joint force: `values = regrouping @
    pi`.

    The regressor's columns in `columns` times `values` are the joint forces; `expressions` says
    each value in words. Of a mechanism with loops they give the actuators' forces, which tell less
    than the forces of all joints would. `sizes` are the root mean squares of these columns over
    random motions.

    >>> import eslabon as es
    >>> found = es.load("double_pendulum").base_parameters()
    >>> found.expressions[0], len(found.values)
    ('mx(bar1)', 6)
    """

    columns: tuple[int, ...]
    regrouping: Floats
    values: Floats
    expressions: tuple[str, ...]
    sizes: Floats

    def __len__(self) -> int:
        return len(self.columns)

    def contents(self) -> Iterator[Block]:
        """The parameters in words, and their values."""
        columns = (
            Column("combination of inertial parameters", kind="prose"),
            Column("value", "SI"),
        )
        yield Table(columns, list(zip(self.expressions, map(float, self.values), strict=True)))

    def __repr__(self) -> str:
        return f"<BaseParameters: {len(self)} of {self.regrouping.shape[1]} parameters; see .expressions>"


def base_parameters(m: Model, samples: int | None = None) -> BaseParameters:
    """Base parameters of the tree, by the rank of the regressor over random motions (Gautier and
    Khalil); none where nothing moves. Its loops, if it has some, are left open:
    `eslabon.identification` has what they leave."""
    rng = np.random.default_rng(0)
    count = samples or 4 * len(m.bodies) + 10
    q = normalize(m, rng.normal(size=(count, m.nq)))
    v, a = rng.normal(size=(2, count, m.nv))
    Y = evaluate(m, quantity(m, "regressor"))(q, v, a).reshape(count * m.nv, 10 * len(m.bodies))
    return regrouped(Y, inertial_parameters(m), parameter_names(m))


def regrouped(Y: Floats, values: Floats, names: list[str]) -> BaseParameters:
    """The base parameters of a regressor, (rows, parameters), over many motions.

    Columns are taken in their order, from the ground outward, and kept when they are independent of
    those before, so that what cannot be told apart is counted with the body nearer to the ground.
    """
    scale = np.linalg.norm(Y, axis=0)
    seen = scale > 1e-12 * scale.max(initial=0.0)  # what moves nothing leaves round-off only
    kept = _independent_columns(np.where(seen, Y / np.where(seen, scale, 1.0), 0.0))
    regrouping = _regrouping(Y, kept)
    words = tuple(_words(row, names) for row in regrouping)
    sizes = scale[kept] / np.sqrt(max(1, len(Y)))
    return BaseParameters(tuple(kept), regrouping, regrouping @ values, words, sizes)


def _independent_columns(Y: Floats) -> list[int]:
    """The columns that are independent of those before them."""
    from scipy.linalg import qr

    (R,) = qr(Y, mode="r")
    R = R[: min(Y.shape)]
    kept: list[int] = []
    basis = np.zeros((R.shape[0], 0))
    for k in range(R.shape[1]):
        left = R[:, k]
        for _ in range(2):  # twice is enough
            left = left - basis @ (basis.T @ left)
        length = np.linalg.norm(left)
        if length > RANK:
            kept.append(k)
            basis = np.column_stack([basis, left / length])
    return kept


def _regrouping(Y: Floats, kept: list[int]) -> Floats:
    """How much of every column counts with those that are kept."""
    from scipy.linalg import qr, solve_triangular

    others = [k for k in range(Y.shape[1]) if k not in kept]
    Q, T = qr(Y[:, kept], mode="economic")
    mixed = solve_triangular(T, Q.T @ Y[:, others])
    mixed[np.abs(mixed) < RANK * max(1.0, np.abs(mixed).max(initial=0.0))] = 0.0
    regrouping = np.zeros((len(kept), Y.shape[1]))
    regrouping[range(len(kept)), kept] = 1.0
    regrouping[:, others] = mixed
    return regrouping


def _words(row: Floats, names: list[str]) -> str:
    factors = ((f"{x:.6g}", name) for x, name in zip(row, names, strict=True) if x)
    terms = [
        name if factor == "1" else f"-{name}" if factor == "-1" else f"{factor} {name}"
        for factor, name in factors
    ]
    return " + ".join(terms).replace("+ -", "- ")
