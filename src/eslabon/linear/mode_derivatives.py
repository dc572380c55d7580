"""How poles, natural frequencies and damping ratios change with a parameter: of a simple pole the derivative is y A' x / y x, with the
left and right vectors y and x of A."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eslabon.arguments import Floats, choice, names
from eslabon.displays import displayed
from eslabon.errors import SINGULAR_WORDS, ModelError, tell_of_singularity
from eslabon.linear.linearize import linearize
from eslabon.linear.model_derivatives import model_derivative
from eslabon.model import Model

if TYPE_CHECKING:
    from eslabon.linear.modes import Modes

Complex = NDArray[np.complex128]
SAME = 1e-6  # of the largest pole: a double one is found to half its digits only
ROUND_OFF = 1e-12  # of A
NOTHING = 1e-6  # of the largest change: a repeated pole that does not part


@displayed
@dataclass(frozen=True, eq=False, repr=False)
class ModeDerivatives:
    """How the poles of a linear model, or of many, change with a parameter, in the order of `modes.poles`.

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
        """The changes of the natural frequencies, rad/s; zero for poles that are and stay at zero."""
        size, p = self.modes.frequencies, self.modes.poles
        away = np.where(size > 0, (p.conj() * self.poles).real / np.where(size > 0, size, 1.0), np.abs(self.poles))
        return np.asarray(away)

    @property
    def hertz(self) -> Floats:
        """The same in cycles a second."""
        return self.frequencies / (2 * np.pi)

    @property
    def damping(self) -> Floats:
        """The changes of the damping ratios."""
        size = np.where(self.modes.frequencies > 0, self.modes.frequencies, 1.0)
        made = -self.poles.real / size + self.modes.poles.real * self.frequencies / size**2
        return np.where(self.modes.frequencies > 0, made, 0.0)

    def __repr__(self) -> str:
        name, many = self.modes.lm.name, self.modes.batch
        if many:
            return f"<ModeDerivatives of {'x'.join(map(str, many))} linear models of {name} by {self.parameter}>"
        upper = np.flatnonzero(self.modes.poles.imag > 0)
        told = ", ".join(f"{self.frequencies[k]:.4g} at {self.modes.frequencies[k]:.4g} rad/s" for k in upper)
        return f"<ModeDerivatives of {name} by {self.parameter}: {told or 'no oscillation'}>"


def mode_derivatives(
    modes: Modes, parameter: str, following: str = "forces", held: Any = None, singular: str = "error"
) -> ModeDerivatives:
    """The derivatives of the poles of modes by a parameter."""
    how, lm = choice(singular, "singular", SINGULAR_WORDS), modes.lm
    dA = model_derivative(lm, parameter, following, held)["A"]
    return ModeDerivatives(modes, parameter, pole_derivatives(modes, dA, parameter, how))


OF_MODES = {"poles": "poles", "natural_frequencies": "frequencies", "damping_ratios": "damping"}


def derivative_of_modes(
    m: Model, quantity: str, by: Any, q: Any, v: Any = None, tau: Any = None, *, along: str = "frozen", held: Any = None,
    following: str | None = None, singular: str | None = None, **options: Any,
) -> Any:  # fmt: skip
    """The derivatives of poles, natural frequencies (rad/s) or damping ratios of a state, `(..., 2n)`, in the order of
    `m.linearize(q, v, tau).modes().poles`; by several parameters these are the last axis. Options are those of `linearize`."""
    if choice(along, "along", ("frozen", "closed")) != "closed":
        raise ModelError(f'{quantity} are those of a mechanism that keeps its loops closed; give along="closed".')
    modes = linearize(m, q, v, tau, **options).modes()
    follow = following or ("forces" if tau is None else "nothing")
    found = [mode_derivatives(modes, name, follow, held, singular or "error") for name in names(by, "by")]
    made = [getattr(x, OF_MODES[quantity]) for x in found]
    return made[0] if isinstance(by, str) else np.stack(made, axis=-1)


def pole_derivatives(modes: Modes, dA: Floats, parameter: str, how: str) -> Complex:
    """The derivatives of the poles of modes where those of A are known."""
    lm, lanes, n = modes.lm, prod(modes.batch), 2 * modes.lm.dof
    A, changed = lm.A.reshape(lanes, n, n), dA.reshape(lanes, n, n)
    poles, zeros = modes.poles.reshape(lanes, n), modes.zero.reshape(lanes, n).sum(axis=-1)
    made = np.zeros((lanes, n), dtype=complex)
    if n:
        values, X = np.linalg.eig(A)
        scale = np.abs(poles).max(axis=-1)
        apart = np.abs(values[:, :, None] - values[:, None, :]) + np.where(np.eye(n) > 0, np.inf, 0.0)
        simple = (apart > SAME * scale[:, None, None]).all(axis=(1, 2)) & (zeros < 2)
        own = np.zeros((lanes, n), dtype=complex)
        own[simple] = np.einsum("lij,ljk,lki->li", np.linalg.inv(X[simple]), changed[simple], X[simple])
        for k in np.flatnonzero(~simple):
            own[k] = _with_repeated(A[k], changed[k], values[k], int(zeros[k]), float(scale[k]) or 1.0)
        nearest = np.abs(values[:, None, :] - poles[:, :, None]).argmin(axis=-1)
        made = np.take_along_axis(own, nearest, axis=-1)
    if (lost := np.isnan(made)).any():
        at = tuple(np.argwhere(lost)[0])
        which = f" (model {at[0]})" if lanes > 1 else ""
        tell_of_singularity(
            how, f"poles of {lm.name} meet at {poles[at]:.6g} rad/s{which}, and part when '{parameter}' changes, so that they have no "
            'derivative there; take a state or a parameter beside it, or let them be NaN with singular="ignore".')  # fmt: skip
    return made.reshape(*modes.batch, n)


def _with_repeated(A: Floats, dA: Floats, values: Complex, zeros: int, scale: float) -> Complex:
    """The derivatives of all poles of one model, some of which are repeated: NaN where these part."""
    comparable = np.repeat([1.0, scale], len(values) // 2)  # velocities in units that make A comparable
    A, dA = (x / comparable[:, None] * comparable for x in (A, dA))
    made = np.full(len(values), np.nan, dtype=complex)
    order = list(np.argsort(np.abs(values)))
    if zeros:
        made[order[:zeros]] = _of_group(A, dA, 0j, zeros, scale)
    left = order[zeros:]
    while left:
        group, before = [left[0]], 0
        while len(group) > before:  # what is the same as any of them is of the group
            before = len(group)
            group = [k for k in left if min(abs(values[k] - values[j]) for j in group) <= SAME * scale]
        left = [k for k in left if k not in group]
        made[group] = _of_group(A, dA, complex(np.mean(values[group])), len(group), scale)
    return made


def _of_group(A: Floats, dA: Floats, pole: complex, count: int, scale: float) -> complex:
    """The one derivative that equal poles have, by their invariant subspaces: A' seen in these is a multiple of one, or, of a
    defective pole, only adds to what makes it so."""
    off = A - pole * np.eye(len(A))
    U, _, Vh = np.linalg.svd(np.linalg.matrix_power(off / scale, count))
    right, left = Vh[-count:].conj().T, U[:, -count:].conj().T
    left = np.linalg.solve(left @ right, left)
    rest, change = left @ off @ right, left @ dA @ right
    mean = complex(np.trace(change) / count)
    change = change - mean * np.eye(count)
    slight = max(NOTHING * float(np.abs(dA).max()), ROUND_OFF * float(np.abs(A).max()))
    if np.abs(change).max() <= slight:
        return mean
    # A rigid-body motion goes on as it is where displacements lead to nothing, before and after.
    _, sizes, W = np.linalg.svd(rest)
    still = W[sizes <= 1e-3 * scale].conj().T
    onto = change - still @ (still.conj().T @ change)
    kept = max(float(np.abs(change @ still).max(initial=0.0)), float(np.abs(onto).max(initial=0.0)))
    return mean if 0 < still.shape[1] < count and kept <= slight else complex("nan")
