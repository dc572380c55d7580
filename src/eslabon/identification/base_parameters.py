"""Base parameters: which combinations of the parameters motion can tell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eslabon.arguments import Floats, count
from eslabon.coordinates.partition import beside, generic
from eslabon.errors import ModelError
from eslabon.graph.evaluator import evaluate
from eslabon.identification.equations import INDEPENDENT_MOTION, LINEAR_EQUATIONS, independent
from eslabon.identification.parameters import NO_TERMS, Terms, model_parameters, parameter_names
from eslabon.model import Model
from eslabon.model.configuration import normalize
from eslabon.model.memory import per_model

RANK = 1e-8  # of a column of unit length: what is left of a dependent one, or of one that no measurement could tell from others
SINGULAR = 1e-6  # of the reciprocal condition number squared: configurations nearer to singular tell less of all others


@dataclass(frozen=True, repr=False)
class BaseParameters:
    """The fewest combinations of parameters that give every joint force: `values = regrouping @ pi`.

    The regressor's columns in `columns` times `values` are the joint forces; `expressions` says each value in words. Of a
    mechanism with loops they give the actuators' forces, which tell less than the forces of all joints would. `sizes` are the
    root mean squares of these columns over random motions.
    """

    columns: tuple[int, ...]
    regrouping: Floats
    values: Floats
    expressions: tuple[str, ...]
    sizes: Floats

    def __len__(self) -> int:
        return len(self.columns)

    def __repr__(self) -> str:
        return f"<BaseParameters: {len(self)} of {self.regrouping.shape[1]} parameters; see .expressions>"


def base_parameters(m: Model, samples: int | None = None, terms: Terms = NO_TERMS) -> BaseParameters:
    """Base parameters by the rank of the regressor over random motions (Gautier and Khalil); none where nothing moves.

    Columns are taken from the ground outward and kept when they are independent of those before, so that what cannot be
    told apart is counted with the body nearer to the ground. With loops the motions are those that keep them closed, and the
    regressor is that of the independent velocities, N^T Y.

    >>> import eslabon as es
    >>> base_parameters(es.load("parallelogram")).expressions
    ('mx(crank1) + 0.5 m(coupler) + mx(crank2)', 'my(crank1) + my(crank2)', 'Izz(crank1) + 0.25 m(coupler) + Izz(crank2)')
    """
    return _base(m, samples if samples is None else count(samples, "samples", 1), terms)


@per_model
def _base(m: Model, samples: int | None, terms: Terms) -> BaseParameters:
    refuse_driven(m)
    number = samples or 4 * len(m.bodies) + 10 + len(terms.listed())
    Y = _random_regressor(m, number, terms)
    names, theta = parameter_names(m, terms), model_parameters(m, terms)
    scale = np.linalg.norm(Y, axis=0)
    seen = scale > 1e-12 * scale.max(initial=0.0)  # what moves nothing leaves round-off only
    kept = _independent_columns(np.where(seen, Y / np.where(seen, scale, 1.0), 0.0))
    regrouping = _regrouping(Y, kept)
    words = tuple(_words(row, names) for row in regrouping)
    sizes = scale[kept] / np.sqrt(max(1, len(Y)))
    return BaseParameters(tuple(kept), regrouping, regrouping @ theta, words, sizes)


def refuse_driven(m: Model) -> None:
    """Refuse what is not written in independent coordinates here."""
    if m.rheonomic:
        raise ModelError(
            f"the constraints of {m.name} depend on the time; identify it without its drives, with those joints actuated."
        )


def _random_regressor(m: Model, number: int, terms: Terms) -> Floats:
    """N^T Y over random motions, row under row."""
    rng = np.random.default_rng(0)
    if not independent(m):
        return np.zeros((0, 10 * len(m.bodies) + len(terms.listed())))
    if not m.closed:
        q = normalize(m, rng.normal(size=(number, m.nq)))
        v, a = rng.normal(size=(2, number, m.nv))
    else:
        q, (vi, ai) = closed_configurations(m, number, rng), rng.normal(size=(2, number, len(independent(m))))
        v, a, condition = evaluate(m, INDEPENDENT_MOTION)(q, vi, ai)
        good = condition > min(SINGULAR, 0.5 * float(np.max(condition, initial=0.0)))
        q, v, a = q[good], v[good], a[good]
    Y = evaluate(m, LINEAR_EQUATIONS, terms=terms)(q, v, a, np.zeros((len(q), m.nu)))[0]
    return Y.reshape(-1, Y.shape[-1])


def closed_configurations(m: Model, number: int, rng: np.random.Generator) -> Floats:
    """Configurations that close the loops, about the ordinary one near home and farther and farther off."""
    q = generic(m)
    return np.array([beside(m, q, rng, far) for far in np.linspace(0.1, 1.0, number)]).reshape(number, m.nq)


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
        name if factor == "1" else f"-{name}" if factor == "-1" else f"{factor} {name}" for factor, name in factors
    ]
    return " + ".join(terms).replace("+ -", "- ")
