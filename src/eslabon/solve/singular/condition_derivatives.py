"""How reciprocal condition numbers change with parameters of a mechanism: from singular vectors, d sigma = u^T dA v, where dA is
the derivative of the Jacobian, frozen or along the closed configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from eslabon.arguments import choice
from eslabon.compiler.evaluate import evaluate
from eslabon.displays import displayed
from eslabon.errors import SINGULAR_CHOICES, report_singularity
from eslabon.formulas.quantities import quantity
from eslabon.model import Model
from eslabon.numerics.tolerances import RANK
from eslabon.solve.constraints.closure_violation import check_closed
from eslabon.solve.constraints.derivative_requests import derivative_at, parameters_of
from eslabon.solve.constraints.independent_coordinates import partition, retained_rows
from eslabon.solve.designs import Designs, row_scales_of, velocity_scales_of
from eslabon.solve.singular.conditions import (
    PARTS,
    driven_motions,
    frame_if_any,
    in_designs,
    lengths_of_units,
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

    The unit of lengths stays: that of `m.conditions` where it is given as `length`, else the size of the design as it is.

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
            return (
                f"<ConditionDerivatives by {by}: {' x '.join(map(str, np.shape(self.parallel)))}>"
            )
        return f"<ConditionDerivatives by {by}: parallel {self.parallel:.3g}, serial {self.serial:.3g}>"


@dataclass(frozen=True)
class Jacobians:
    """A mechanism's Jacobians at configurations (k, nq), and their derivatives by parameters, with one more axis."""

    m: Model
    q: Floats
    by: tuple[str, ...]
    along: str
    held: Any
    designs: Designs

    def of(self, name: str, **options: Any) -> tuple[Floats, Floats]:
        names, inputs = self.designs.names, self.designs.inputs
        values = evaluate(self.m, quantity(self.m, name), parameters=names, **options)(
            self.q, *inputs
        )
        given = dict(zip(names, inputs, strict=True))
        return values, derivative_at(
            self.m, name, self.by, self.along, self.held, given, self.q, **options
        )


def condition_derivatives(
    m: Model, by: Any, q: Any, *, frame: str | None = None, part: str = "all", along: str = "frozen", held: Any = None,
    parameters: Mapping[str, Any] | None = None, singular: str | None = None, length: float | None = None,
) -> ConditionDerivatives:  # fmt: skip
    """The derivatives of the conditions of configurations `(..., nq)`; arguments as in `m.conditions` and `m.derivative`.

    At a singular configuration, and where singular values meet that part, there is none: an error, or NaN with
    `singular` "warn" or "ignore".
    """
    how = choice("error" if singular is None else singular, "singular", SINGULAR_CHOICES)
    rows, chosen = PARTS[choice(part, "part", PARTS)], frame_if_any(m, frame)
    named = parameters_of(m, by)
    lead, flat, designs = in_designs(m, q, parameters)
    check_closed(m, flat, "the derivative of conditions", designs)
    known = Jacobians(m, flat, named, along, held, designs)
    motions, moved, parallel = _driven(known, how)
    serial = np.zeros((len(flat), moved.shape[-1]))
    if chosen is not None and m.nv:
        unit = np.ones((len(flat), 6, 1))
        unit[:, 3:] = lengths_of_units(m, designs, length)[..., None, None]
        J, dJ = known.of("jacobian", frame=chosen, axes="aligned")
        J, dJ = (J / unit)[:, rows], (dJ / unit[..., None])[:, rows]
        changed = np.einsum("nijk,njl->nilk", dJ, motions) + np.einsum("nij,njlk->nilk", J, moved)
        own = driven_motions(m, flat, designs).scales[:, None, :]
        rank = reachable_twists(m, chosen, part).rank
        serial = _slopes(m, "serial", J @ motions / own, changed / own[..., None], rank, how)
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
        own = row_scales_of(m, known.designs)[..., None]  # held, as the characteristic length is
        J, dJ = known.of("constraint_jacobian")
        J, dJ = (
            (J * own)[:, list(retained_rows(m))],
            (dJ * own[..., None])[:, list(retained_rows(m))],
        )
        speeds = np.broadcast_to(velocity_scales_of(m, known.designs), (n, m.nv))[:, None, e]
        parallel = _slopes(
            m, "parallel", J[:, :, e] / speeds, dJ[:, :, e] / speeds[..., None], None, how
        )
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
    if bad := np.flatnonzero(
        np.isnan(made).any(axis=-1) & np.isfinite(A).all(axis=(1, 2))
    ).tolist():
        which = f" (configuration {bad[0]})" if len(A) > 1 else ""
        why = (
            "it is singular there"
            if kinks[bad[0]]
            else "singular values meet there that the parameter parts"
        )
        report_singularity(
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
            values = (
                np.linalg.eigvalsh((block + block.T) / 2)
                if np.isfinite(block).all()
                else np.full(1, np.nan)
            )
            alike = np.ptp(values) <= 1e-6 * max(float(np.abs(inner[k, ..., j]).max()), 1e-300)
            made[k, j] = values.mean() if alike else np.nan
    return made
