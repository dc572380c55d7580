"""How reciprocal condition numbers change with parameters of a mechanism: from singular vectors, d
sigma = u^T dA v, where dA is the derivative of the Jacobian, frozen or along the closed
configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from eslabon.answers import Answer, Block, Column, Table
from eslabon.arguments import Floats, choice
from eslabon.compiler.evaluate import evaluate, function_of
from eslabon.compiler.formula import Formula, requested
from eslabon.errors import SINGULAR_CHOICES, report_singularity
from eslabon.formulas.quantities import quantity
from eslabon.model import Model
from eslabon.numerics.tolerances import COINCIDENT, INPUT_DIGITS, RANK
from eslabon.solve.constraints.closure_violation import check_closed
from eslabon.solve.constraints.constraint_structure import constraint_structure
from eslabon.solve.constraints.derivative_requests import derived, parameters_of
from eslabon.solve.constraints.independent_coordinates import partition, retained_rows
from eslabon.solve.constraints.state_checks import checked
from eslabon.solve.designs import Designs, row_scales_of
from eslabon.solve.singular.actuated_motions import (
    input_scales,
    input_velocities,
    lengths_of_units,
    measured_bodies,
    passive_velocities,
    speed_units,
)
from eslabon.solve.singular.conditions import (
    PARTS,
    frame_if_any,
    in_designs,
    reachable_twists,
)
from eslabon.solve.singular.error_motions import ERROR_MOTIONS, ErrorMotions, error_terms
from eslabon.solve.singular.parallel_condition import PassiveInverse, parallel_derivative


@dataclass(frozen=True, eq=False, repr=False)
class ConditionDerivatives(Answer):
    """How the reciprocal condition numbers of `m.conditions` change, one for each configuration; by
    several parameters these are the last axis.

    The unit of lengths stays: that of `m.conditions` where it is given as `length`, else the size
    of the design as it is.

    >>> import eslabon as es
    >>> m = es.load("five_bar")
    >>> m.derivative("conditions", "L3", m.assemble([2.0, 1.0]), along="closed")
    <ConditionDerivatives by L3: parallel -0.0571, serial 8.19>
    """

    parallel: Floats
    serial: Floats
    by: str | tuple[str, ...]

    def contents(self) -> Iterator[Block]:
        names = (self.by,) if isinstance(self.by, str) else self.by
        values = [np.asarray(x) for x in (self.parallel, self.serial)]
        several = [x if not isinstance(self.by, str) else x[..., None] for x in values]
        rows = [(name, *(x[..., k] for x in several)) for k, name in enumerate(names)]
        yield Table((Column("by"), Column("parallel"), Column("serial")), rows)

    def __repr__(self) -> str:
        by = self.by if isinstance(self.by, str) else ", ".join(self.by)
        if np.ndim(self.parallel):
            return (
                f"<ConditionDerivatives by {by}: {' x '.join(map(str, np.shape(self.parallel)))}>"
            )
        return f"<ConditionDerivatives by {by}: parallel {self.parallel:.3g}, serial {self.serial:.3g}>"


@dataclass(frozen=True)
class Jacobians:
    """A mechanism's Jacobians at configurations (k, nq), and their derivatives by parameters, with
    one more axis."""

    m: Model
    q: Floats
    by: tuple[str, ...]
    along: str
    held: Any
    designs: Designs

    def of(self, formula: Formula, **options: Any) -> tuple[Floats, Floats]:
        names, inputs = self.designs.names, self.designs.inputs
        values = evaluate(self.m, formula, parameters=names, **options)(self.q, *inputs)
        slopes, left = derived(self.m, formula, self.by, self.along, self.held)
        request = requested(self.m, slopes, options, names, (), left, constraint_structure)
        call = checked(self.m, request) if slopes.checks else function_of(self.m, request)
        return values, call(self.q, *inputs)


def condition_derivatives(
    m: Model,
    by: Any,
    q: Any,
    *,
    frame: str | None = None,
    part: str = "all",
    along: str = "frozen",
    held: Any = None,
    parameters: Mapping[str, Any] | None = None,
    singular: str | None = None,
    length: float | None = None,
) -> ConditionDerivatives:
    """The derivatives of the conditions of configurations `(..., nq)`; arguments as in
    `m.conditions` and `m.derivative`.

    At a singular configuration, and where singular values meet that part, there is none: an error,
    or NaN with `singular` "warn" or "ignore".
    """
    how = choice("error" if singular is None else singular, "singular", SINGULAR_CHOICES)
    choice(part, "part", PARTS)
    chosen, named = frame_if_any(m, frame), parameters_of(m, by)
    lead, flat, designs = in_designs(m, q, parameters)
    check_closed(m, flat, "the derivative of conditions", designs)
    known = Jacobians(m, flat, named, along, held, designs)
    unit = np.broadcast_to(lengths_of_units(m, designs, length), (len(flat),))
    parallel = _parallel(known, unit, how)
    serial = np.zeros((len(flat), len(named)))
    if chosen is not None and m.nv:
        serial = _serial(known, _driven_motions(known), chosen, part, unit, how)
    shape = lead if isinstance(by, str) else (*lead, len(named))
    return ConditionDerivatives(
        parallel.reshape(shape)[()], serial.reshape(shape)[()], by if isinstance(by, str) else named
    )


class Motions(NamedTuple):
    """N with v = N times the driven independent velocities, (k, nv, n), and its derivatives, (k,
    nv, n, parameters)."""

    N: Floats
    dN: Floats


def _driven_motions(known: Jacobians) -> Motions:
    """Of J N = 0 the derivative is J_e dN_e = -dJ N."""
    m, p, n = known.m, partition(known.m), len(known.q)
    i, e = list(p.independent), list(p.dependent)
    N, dN = np.zeros((n, m.nv, len(i))), np.zeros((n, m.nv, len(i), len(known.by)))
    N[:, i, range(len(i))] = 1.0
    if m.closed:
        own = row_scales_of(m, known.designs)[..., None]  # held, as the characteristic length is
        J, dJ = known.of(quantity(m, "constraint_jacobian"))
        kept = list(retained_rows(m))
        J, dJ = (J * own)[:, kept], (dJ * own[..., None])[:, kept]
        inverse = np.linalg.pinv(J[:, :, e], rcond=RANK)
        N[:, e] = -inverse @ J[:, :, i]
        dN[:, e] = -np.einsum("nij,njlk->nilk", inverse, np.einsum("nijk,njl->nilk", dJ, N))
    driven = [k not in passive_velocities(m) for k in p.independent]
    return Motions(N[:, :, driven], dN[:, :, driven])


def _moved(A: Floats, dA: Floats, motions: Motions) -> tuple[Floats, Floats]:
    """A N and its derivatives."""
    slopes = np.einsum("nijk,njl->nilk", dA, motions.N) + np.einsum("nij,njlk->nilk", A, motions.dN)
    return A @ motions.N, slopes


def _rates(known: Jacobians, motions: Motions, unit: Floats) -> tuple[Floats, Floats]:
    """The comparable rates of the inputs in the motions N, and their derivatives."""
    scales, inputs = input_scales(known.m, unit)[..., None], list(input_velocities(known.m))
    return motions.N[:, inputs] * scales, motions.dN[:, inputs] * scales[..., None]


def _parallel(known: Jacobians, unit: Floats, how: str) -> Floats:
    """The derivatives of the parallel condition."""
    m, measured = known.m, measured_bodies(known.m)
    if not m.closed:
        return np.zeros((len(known.q), len(known.by)))
    J, dJ = known.of(quantity(m, "constraint_jacobian"))
    made, changed = known.of(ERROR_MOTIONS, measured=measured)
    x = error_terms(m, ErrorMotions(*made), J, measured, unit)
    dx = error_terms(m, ErrorMotions(*changed), dJ, measured, unit)
    passive = PassiveInverse.of(x.constraints)
    slopes = parallel_derivative(x, dx, passive, measured)
    _report(m, "parallel", slopes, ~passive.held, np.isfinite(J).all(axis=(1, 2)), how)
    return slopes


def _serial(
    known: Jacobians, motions: Motions, frame: str, part: str, unit: Floats, how: str
) -> Floats:
    """Those of the serial one: of the matrix J N A^+, where A^+ gives the motion for rates of the
    inputs. Its derivative is
    -A^+ dA A^+ + (A^T A)^-1 dA^T (1 - A A^+)."""
    m, rows = known.m, PARTS[part]
    lengths = np.ones((len(known.q), 6, 1))
    lengths[:, 3:] = unit[:, None, None]
    J, dJ = known.of(quantity(m, "jacobian"), frame=frame, axes="aligned")
    J, dJ = (J / lengths)[:, rows], (dJ / lengths[..., None])[:, rows]
    JN, dJN = _moved(J, dJ, motions)
    A, dA = _rates(known, motions, unit)
    back = np.linalg.pinv(A, rcond=RANK)
    rest = np.eye(A.shape[1]) - A @ back
    both = back @ np.swapaxes(back, -1, -2)
    dback = np.einsum("nij,nljk,nlm->nimk", both, dA, rest)
    dback -= np.einsum("nij,njlk,nlm->nimk", back, dA, back)
    slopes = np.einsum("nijk,njl->nilk", dJN, back) + np.einsum("nij,njlk->nilk", JN, dback)
    rank = reachable_twists(m, frame, part).rank
    size = np.linalg.norm(J * speed_units(m, unit)[:, None, :], axis=(1, 2))
    return _slopes(m, "serial", JN @ back, slopes, rank, size, how)


def _slopes(
    m: Model, kind: str, A: Floats, dA: Floats, number: int, size: Floats, how: str
) -> Floats:
    """The derivatives of least over largest singular value, of the `number` that are other than
    zero in general."""
    U, sizes, Vt = np.linalg.svd(A, full_matrices=False)
    sizes = sizes[:, :number]
    if not sizes.shape[-1]:
        return np.zeros((len(A), dA.shape[-1]))
    inner = np.einsum("nji,njlk,nml->nimk", U, dA, Vt)  # u^T dA v of all pairs
    most, least = sizes[:, 0, None], sizes[:, -1, None]
    top, bottom = _of_value(sizes, inner, 0), _of_value(sizes, inner, sizes.shape[-1] - 1)
    still = most[:, 0] <= RANK * size  # nothing moves at all
    with np.errstate(divide="ignore", invalid="ignore"):
        made = np.where(still[:, None], 0.0, (bottom - top * least / most) / most)
        kinks = ~still & ~(least[:, 0] > RANK * most[:, 0])
    made[kinks] = np.nan
    _report(m, kind, made, kinks, np.isfinite(A).all(axis=(1, 2)), how)
    return made


def _report(m: Model, kind: str, made: Floats, singular: Any, finite: Any, how: str) -> None:
    """Report the first configuration that has no derivative."""
    if bad := np.flatnonzero(np.isnan(made).any(axis=-1) & finite).tolist():
        which = f" (configuration {bad[0]})" if len(made) > 1 else ""
        why = "singular values meet there that the parameter parts"
        if singular[bad[0]]:
            why = "it is singular there"
        report_singularity(
            how,
            f"the {kind} condition of {m.name} has no derivative at this configuration{which}: {why}. "
            'Take one beside it, or let it be NaN with singular="ignore".',
        )


def _of_value(sizes: Floats, inner: Floats, place: int) -> Floats:
    """The derivatives of the singular value at a place; where others are the same, the one
    derivative that all have, or NaN."""
    made = inner[:, place, place].copy()
    same = np.abs(sizes - sizes[:, place, None]) <= COINCIDENT * sizes[:, :1]
    for k in np.flatnonzero(same.sum(axis=-1) > 1):
        together = np.flatnonzero(same[k])
        for j in range(made.shape[-1]):
            block = inner[k][np.ix_(together, together)][..., j]
            values = (
                np.linalg.eigvalsh((block + block.T) / 2)
                if np.isfinite(block).all()
                else np.full(1, np.nan)
            )
            alike = np.ptp(values) <= INPUT_DIGITS * float(np.abs(inner[k, ..., j]).max())
            made[k, j] = values.mean() if alike else np.nan
    return made
