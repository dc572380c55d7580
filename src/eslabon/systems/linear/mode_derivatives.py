"""How poles, natural frequencies and damping ratios change with a parameter: of a simple pole the
derivative is y A' x / y x, with the left and right vectors y and x of A."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eslabon.answers import Answer
from eslabon.arguments import Floats, choice, names
from eslabon.errors import SINGULAR_CHOICES, ModelError, report_singularity
from eslabon.model import Model
from eslabon.systems.linear.linearize import linearize
from eslabon.systems.linear.model_derivatives import model_derivative

if TYPE_CHECKING:
    from eslabon.systems.linear.modes import Modes

Complex = NDArray[np.complex128]
Ints = NDArray[np.int64]
SAME = 1e-6  # of the largest pole: a double one is found to half its digits only
ROUND_OFF = 1e-12  # of A
NOTHING = 1e-6  # of the largest change: a repeated pole that does not part


@dataclass(frozen=True, eq=False, repr=False)
class ModeDerivatives(Answer):
    """How the poles of a linear model, or of many, change with a parameter, in the order of
    `modes.poles`.

    Attributes
    ----------
    poles : (..., 2n), complex.
    frequencies, hertz : of the natural frequencies |pole|, in rad/s and Hz.
    damping : of the damping ratios.

    >>> import eslabon as es
    >>> modes = es.load("double_pendulum").linearize([0.0, 0.0]).modes()
    >>> modes.derivative("g").frequencies[0].round(4), (modes.frequencies[0] / 2 / 9.81).round(4)
    (np.float64(0.1366), np.float64(0.1366))
    """

    modes: Modes
    parameter: str
    poles: Complex

    @property
    def frequencies(self) -> Floats:
        """The changes of the natural frequencies, rad/s; zero for poles that are and stay at
        zero."""
        size, p = self.modes.frequencies, self.modes.poles
        away = np.where(
            size == 0,
            np.abs(self.poles),
            (p.conj() * self.poles).real / np.where(size == 0, 1.0, size),
        )
        return np.asarray(away)

    @property
    def hertz(self) -> Floats:
        """The same in cycles a second."""
        return self.frequencies / (2 * np.pi)

    @property
    def damping(self) -> Floats:
        """The changes of the damping ratios."""
        none = self.modes.frequencies == 0
        size = np.where(none, 1.0, self.modes.frequencies)
        return np.where(
            none, 0.0, -self.poles.real / size + self.modes.poles.real * self.frequencies / size**2
        )

    def __repr__(self) -> str:
        name, many = self.modes.lm.name, self.modes.batch
        if many:
            return f"<ModeDerivatives of {'x'.join(map(str, many))} linear models of {name} by {self.parameter}>"
        upper = np.flatnonzero(self.modes.poles.imag > 0)
        told = ", ".join(
            f"{self.frequencies[k]:.4g} at {self.modes.frequencies[k]:.4g} rad/s" for k in upper
        )
        return f"<ModeDerivatives of {name} by {self.parameter}: {told or 'no oscillation'}>"


def mode_derivatives(
    modes: Modes,
    parameter: str,
    following: str = "forces",
    held: Any = None,
    singular: str = "error",
) -> ModeDerivatives:
    """The derivatives of the poles of modes by a parameter."""
    how, lm = choice(singular, "singular", SINGULAR_CHOICES), modes.lm
    dA = model_derivative(lm, parameter, following, held)["A"]
    return ModeDerivatives(modes, parameter, pole_derivatives(modes, dA, parameter, how))


OF_MODES = {"poles": "poles", "natural_frequencies": "frequencies", "damping_ratios": "damping"}


def derivative_of_modes(
    m: Model, quantity: str, by: Any, q: Any, v: Any = None, tau: Any = None, *, along: str = "frozen", held: Any = None,
    following: str | None = None, singular: str | None = None, **options: Any,
) -> Any:  # fmt: skip
    """The derivatives of poles, natural frequencies (rad/s) or damping ratios of a state, `(...,
    2n)`, in the order of `m.linearize(q, v, tau).modes().poles`; by several parameters these are
    the last axis. Options are those of `linearize`."""
    if choice(along, "along", ("frozen", "closed")) != "closed":
        raise ModelError(
            f'{quantity} are those of a mechanism that keeps its loops closed; give along="closed".'
        )
    modes = linearize(m, q, v, tau, **options).modes()
    follow = following or ("forces" if tau is None else "nothing")
    found = [
        mode_derivatives(modes, name, follow, held, singular or "error") for name in names(by, "by")
    ]
    made = [getattr(x, OF_MODES[quantity]) for x in found]
    return made[0] if isinstance(by, str) else np.stack(made, axis=-1)


def pole_derivatives(modes: Modes, dA: Floats, parameter: str, how: str) -> Complex:
    """The derivatives of the poles of modes where those of A are known."""
    lm, lanes, n = modes.lm, prod(modes.batch), 2 * modes.lm.dof
    known = (
        np.isfinite(modes.poles).reshape(lanes, n).all(axis=-1)
    )  # what is given no number has none
    A, changed = (np.where(known[:, None, None], x.reshape(lanes, n, n), 0.0) for x in (lm.A, dA))
    poles, zeros = modes.poles.reshape(lanes, n), modes.zero.reshape(lanes, n).sum(axis=-1)
    made = np.zeros((lanes, n), dtype=complex)
    if n:
        values, X = np.linalg.eig(A)
        poles = np.where(known[:, None], poles, 0.0)
        scale = np.abs(poles).max(axis=-1)
        apart = np.abs(values[:, :, None] - values[:, None, :]) + np.where(
            np.eye(n) > 0, np.inf, 0.0
        )
        simple = (apart > SAME * scale[:, None, None]).all(axis=(1, 2)) & (zeros < 2)
        own = np.zeros((lanes, n), dtype=complex)
        own[simple] = np.einsum(
            "lij,ljk,lki->li", np.linalg.inv(X[simple]), changed[simple], X[simple]
        )
        if len(rest := np.flatnonzero(~simple)):
            own[rest] = _with_repeated(
                A[rest], changed[rest], values[rest], zeros[rest], scale[rest]
            )
        nearest = np.abs(values[:, None, :] - poles[:, :, None]).argmin(axis=-1)
        made = np.take_along_axis(own, nearest, axis=-1)
    lost = np.isnan(made)
    made[~known] = np.nan
    if lost.any():
        at = tuple(np.argwhere(lost)[0])
        which = f" (model {at[0]})" if lanes > 1 else ""
        report_singularity(
            how, f"poles of {lm.name} meet at {poles[at]:.6g} rad/s{which}, and part when '{parameter}' changes, so that they have no "
            'derivative there; take a state or a parameter beside it, or let them be NaN with singular="ignore".')  # fmt: skip
    return made.reshape(*modes.batch, n)


def _with_repeated(A: Floats, dA: Floats, values: Complex, zeros: Ints, scale: Floats) -> Complex:
    """The derivatives of all poles of models (k, n, n) of which some are repeated: NaN where these
    part. Models whose poles are repeated in the same way are one batch."""
    scale = np.where(scale > 0, scale, 1.0)
    unit = np.repeat(
        np.stack([np.ones_like(scale), scale], axis=-1), values.shape[-1] // 2, axis=-1
    )
    A, dA = (
        x / unit[:, :, None] * unit[:, None, :] for x in (A, dA)
    )  # velocities in units that make A comparable
    groups = _groups(values, zeros, scale)
    made = np.full(values.shape, np.nan, dtype=complex)
    for kind in np.unique(groups, axis=0):
        lanes = np.flatnonzero((groups == kind).all(axis=-1))
        for group in np.unique(kind):
            places = np.flatnonzero(kind == group)
            poles = np.where(zeros[lanes] > group, 0.0, values[lanes][:, places].mean(axis=-1))
            made[np.ix_(lanes, places)] = _of_group(
                A[lanes], dA[lanes], poles, len(places), scale[lanes]
            )[:, None]
    return made


def _groups(values: Complex, zeros: Ints, scale: Floats) -> Ints:
    """Which poles are one and the same, by the place that the first of them has in the order of
    their sizes: those at zero, and those that others between them join."""
    n = values.shape[-1]
    order = np.argsort(np.abs(values), axis=-1)
    place = np.argsort(order, axis=-1)
    none = place < zeros[:, None]
    near = np.abs(values[:, :, None] - values[:, None, :]) <= SAME * scale[:, None, None]
    joined = np.where(
        none[:, :, None] | none[:, None, :], none[:, :, None] & none[:, None, :], near
    )
    first = place
    for _ in range(n):
        first = np.where(joined, first[:, None, :], n).min(axis=-1)
    return first


def _of_group(A: Floats, dA: Floats, pole: Complex, count: int, scale: Floats) -> Complex:
    """The one derivative that equal poles of models have, by their invariant subspaces: A' seen in
    these is a multiple of one, or, of a defective pole, only adds to what makes it so; NaN where it
    is neither."""
    one = np.eye(count)
    off = A - pole[:, None, None] * np.eye(A.shape[-1])
    U, _, Vh = np.linalg.svd(np.linalg.matrix_power(off / scale[:, None, None], count))
    right, left = _adjoint(Vh[:, -count:]), _adjoint(U[:, :, -count:])
    left = np.linalg.solve(left @ right, left)
    rest, change = left @ off @ right, left @ dA @ right
    mean = np.trace(change, axis1=-2, axis2=-1) / count
    change = change - mean[:, None, None] * one
    slight = np.maximum(NOTHING * _largest(dA), ROUND_OFF * _largest(A))
    # A rigid-body motion goes on as it is where displacements lead to nothing, before and after.
    _, sizes, W = np.linalg.svd(rest)
    still = sizes <= 1e-3 * scale[:, None]
    P = _adjoint(W) @ (still[:, :, None] * W)  # onto those displacements
    kept = np.maximum(_largest(change @ P), _largest(change - P @ change))
    rigid = (still.sum(axis=-1) > 0) & (still.sum(axis=-1) < count) & (kept <= slight)
    return np.asarray(np.where((_largest(change) <= slight) | rigid, mean, np.nan))


def _adjoint(A: Any) -> Any:
    return np.swapaxes(A, -1, -2).conj()


def _largest(A: Any) -> Any:
    return np.abs(A).max(axis=(-2, -1), initial=0.0)
