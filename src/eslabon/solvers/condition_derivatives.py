"""How reciprocal condition numbers change with parameters of a mechanism: from singular vectors, d sigma = u^T dA v, where dA is
the derivative of the Jacobian, frozen or along the closed configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from eslabon.arguments import choice, finite, mapping, states
from eslabon.coordinates.partition import CLOSURE_TOLERANCE, RANK, partition, retained_rows
from eslabon.displays import displayed
from eslabon.errors import SINGULAR_WORDS, AssemblyError, InputError, tell_of_singularity
from eslabon.model import Model
from eslabon.quantities import evaluate
from eslabon.solvers.assembly.prescription import size
from eslabon.solvers.derived_formulas import derivative_at, parameters_of
from eslabon.solvers.singularities import (
    PARTS,
    check_closed,
    frame_if_any,
    passive_velocities,
    reachable_twists,
)

Floats = np.ndarray
SAME = 1e-9  # of the largest: singular values that count as one


@displayed
@dataclass(frozen=True, eq=False)
class ConditionDerivatives:
    """How the reciprocal condition numbers of `m.conditions` change, one for each configuration; by several parameters these are
    the last axis.

    Lengths stay in units of the mechanism's size as it is, so that a parameter does not change the unit.

    >>> import eslabon as es
    >>> m = es.load("five_bar")
    >>> m.derivative("conditions", "L3", m.assemble([2.0, 1.0]), along="closed")
    <ConditionDerivatives by L3: parallel -9.17, serial 8.19>
    """

    parallel: Floats
    serial: Floats
    by: str | tuple[str, ...]

    def __repr__(self) -> str:
        by = self.by if isinstance(self.by, str) else ", ".join(self.by)
        if np.ndim(self.parallel):
            return f"<ConditionDerivatives by {by}: {' x '.join(map(str, np.shape(self.parallel)))}>"
        return f"<ConditionDerivatives by {by}: parallel {self.parallel:.3g}, serial {self.serial:.3g}>"


@dataclass(frozen=True)
class Jacobians:
    """A mechanism's Jacobians at configurations (k, nq), and their derivatives by parameters, with one more axis."""

    m: Model
    q: Floats
    by: tuple[str, ...]
    along: str
    held: Any
    parameters: Mapping[str, Floats]

    def of(self, name: str, **options: Any) -> tuple[Floats, Floats]:
        values = evaluate(self.m, name, parameters=tuple(self.parameters), **options)(self.q, *self.parameters.values())
        changes = derivative_at(self.m, name, self.by, self.along, self.held, self.parameters, self.q, **options)
        return values, changes

    def check_closed(self) -> None:
        """Refuse configurations that violate loop closure."""
        if not self.parameters:
            check_closed(self.m, self.q, "the derivative of conditions")
            return
        left = evaluate(self.m, "constraint", parameters=tuple(self.parameters))(self.q, *self.parameters.values())
        if not np.all(np.abs(left) <= CLOSURE_TOLERANCE):
            raise AssemblyError(
                f"the derivative of conditions: with these parameters a configuration violates loop closure of {self.m.name} by "
                f"{np.abs(left).max():.3g} (m or rad); assemble it with them."
            )


def _lanes(m: Model, q: Any, parameters: Mapping[str, Any]) -> tuple[tuple[int, ...], Floats, dict[str, Floats]]:
    """The leading axes, configurations one after the other, and the parameters of each."""
    q = states(q, "q", m.nq, m.name)
    given = {name: finite(x, name) for name, x in parameters.items()}
    m.check_parameters(given)
    try:
        lead = np.broadcast_shapes(q.shape[:-1], *(x.shape for x in given.values()))
    except ValueError:
        raise InputError(
            f"the leading axes of q, {q.shape[:-1]}, and of the parameters, "
            f"{', '.join(str(x.shape) for x in given.values())}, do not fit together."
        ) from None
    flat = np.broadcast_to(q, (*lead, m.nq)).reshape(prod(lead), m.nq)
    return lead, flat, {name: np.broadcast_to(x, lead).ravel() for name, x in given.items()}


def condition_derivatives(
    m: Model, by: Any, q: Any, *, frame: str | None = None, part: str = "all", along: str = "frozen", held: Any = None,
    parameters: Mapping[str, Any] | None = None, singular: str | None = None,
) -> ConditionDerivatives:  # fmt: skip
    """The derivatives of the conditions of configurations `(..., nq)`; arguments as in `m.conditions` and `m.derivative`.

    At a singular configuration, and where singular values meet that part, there is none: an error, or NaN with
    `singular` "warn" or "ignore".
    """
    how = choice(singular or "error", "singular", SINGULAR_WORDS)
    rows, chosen = PARTS[choice(part, "part", PARTS)], frame_if_any(m, frame)
    named = parameters_of(m, by)
    lead, flat, given = _lanes(m, q, mapping(parameters, "parameters"))
    known = Jacobians(m, flat, named, along, held, given)
    known.check_closed()
    motions, moved, parallel = _driven(known, how)
    serial = np.zeros((len(flat), moved.shape[-1]))
    if chosen is not None and m.nv:
        unit = np.repeat([1.0, size(m)], 3)[rows]
        J, dJ = known.of("jacobian", frame=chosen, axes="aligned")
        J, dJ = J[:, rows] / unit[:, None], dJ[:, rows] / unit[:, None, None]
        changed = np.einsum("nijk,njl->nilk", dJ, motions) + np.einsum("nij,njlk->nilk", J, moved)
        serial = _slopes(m, "serial", J @ motions, changed, reachable_twists(m, chosen, part).rank, how)
    shape = lead if isinstance(by, str) else (*lead, len(named))
    return ConditionDerivatives(
        parallel.reshape(shape)[()], serial.reshape(shape)[()], by if isinstance(by, str) else named
    )


def _driven(known: Jacobians, how: str) -> tuple[Floats, Floats, Floats]:
    """N with v = N times the driven independent velocities, its derivatives, and those of the parallel condition.

    Of J N = 0 the derivative is J_e dN_e = -dJ N."""
    m, p, n = known.m, partition(known.m), len(known.q)
    i, e, count = list(p.independent), list(p.dependent), len(known.by)
    N = np.zeros((n, m.nv, len(i)))
    N[:, i, range(len(i))] = 1.0
    dN, parallel = np.zeros((n, m.nv, len(i), count)), np.zeros((n, count))
    if m.closed:
        J, dJ = (x[:, list(retained_rows(m))] for x in known.of("constraint_jacobian"))
        parallel = _slopes(m, "parallel", J[:, :, e], dJ[:, :, e], None, how)
        inverse = np.linalg.pinv(J[:, :, e], rcond=RANK)
        N[:, e] = -inverse @ J[:, :, i]
        dN[:, e] = -np.einsum("nij,njlk->nilk", inverse, np.einsum("nijk,njl->nilk", dJ, N))
    driven = [k not in passive_velocities(m) for k in p.independent]
    return N[:, :, driven], dN[:, :, driven], parallel


def _slopes(m: Model, kind: str, A: Floats, dA: Floats, number: int | None, how: str) -> Floats:
    """The derivatives of least over largest singular value, of the `number` that are other than zero in general."""
    U, sizes, Vt = np.linalg.svd(A, full_matrices=False)
    sizes = sizes[:, :number]
    if not sizes.shape[-1]:
        return np.zeros((len(A), dA.shape[-1]))
    inner = np.einsum("nji,njlk,nml->nimk", U, dA, Vt)  # u^T dA v of all pairs
    most, least = sizes[:, 0, None], sizes[:, -1, None]
    top, bottom = _of_value(sizes, inner, 0), _of_value(sizes, inner, sizes.shape[-1] - 1)
    still = most[:, 0] <= RANK  # nothing moves at all
    with np.errstate(divide="ignore", invalid="ignore"):
        made = np.where(still[:, None], 0.0, (bottom - top * least / most) / most)
        kinks = ~still & ~(least[:, 0] > RANK * most[:, 0])
    made[kinks] = np.nan
    if bad := np.flatnonzero(np.isnan(made).any(axis=-1) & np.isfinite(A).all(axis=(1, 2))).tolist():
        which = f" (configuration {bad[0]})" if len(A) > 1 else ""
        why = "it is singular there" if kinks[bad[0]] else "singular values meet there that the parameter parts"
        tell_of_singularity(
            how, f"the {kind} condition of {m.name} has no derivative at this configuration{which}: {why}. Take one beside it, or "
            'let it be NaN with singular="ignore".')  # fmt: skip
    return made


def _of_value(sizes: Floats, inner: Floats, place: int) -> Floats:
    """The derivatives of the singular value at a place; where others are the same, the one derivative that all have, or NaN."""
    made = inner[:, place, place].copy()
    same = np.abs(sizes - sizes[:, place, None]) <= SAME * sizes[:, :1]
    for k in np.flatnonzero(same.sum(axis=-1) > 1):
        together = np.flatnonzero(same[k])
        for j in range(made.shape[-1]):
            block = inner[k][np.ix_(together, together)][..., j]
            values = np.linalg.eigvalsh((block + block.T) / 2) if np.isfinite(block).all() else np.full(1, np.nan)
            alike = np.ptp(values) <= 1e-6 * max(float(np.abs(inner[k, ..., j]).max()), 1e-300)
            made[k, j] = values.mean() if alike else np.nan
    return made
