"""Pole assignment by Sylvester's form (Rojas, 5.6), and the gains of least norm among all (Keel,
1985)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.answers import Answer
from eslabon.arguments import MAX_SEED, Floats, choice, count, finite
from eslabon.errors import InputError, SingularityError, format_value
from eslabon.systems.linear.linear_system import LinearSystem, format_pole, format_poles
from eslabon.systems.linear.numerical_failures import explained
from eslabon.systems.linear.ranks import require_controllable

METHODS = ("sylvester", "minimum_norm")
TRIALS = 24  # random G, of which the one with the best conditioned T is taken
DESCENTS = 3  # of the best conditioned ones, from which smaller gains are looked for
STEPS = 200  # of a descent at most
REFUSED = 1e100  # gains of a G whose T is singular
SINGULAR = 1e14  # a condition number of T: beyond it the gains are round-off
LIMITS = (SINGULAR, 1e12, 1e10, 1e8)  # of a descent, the next where the poles came out elsewhere
SAME = 1e-9  # of the size of poles: these are one


@dataclass(frozen=True, eq=False, repr=False)
class PlacedPoles(Answer):
    """Gains of u = -K x, and the poles they give.

    Attributes
    ----------
    K : (inputs, states).
    poles : of A - B K, as they came out, by their size.
    condition : the condition number of the eigenvectors, or of Sylvester's T: how much round-off
        and wrong models move the poles.

    >>> import eslabon as es
    >>> placed = es.control.place(([[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]]), [-1, -2])
    >>> placed.K.round(6), placed.poles.real.round(6)
    (array([[2., 3.]]), array([-1., -2.]))
    """

    K: Floats
    poles: np.ndarray[Any, np.dtype[np.complex128]]
    condition: float
    method: str

    def __repr__(self) -> str:
        size = f"condition number {self.condition:.2g}"
        return f"<PlacedPoles by {self.method}: {format_poles(self.poles)}; {size}>"


@explained("pole placement")
def place(
    system: Any, poles: ArrayLike, *, method: str = "sylvester", G: ArrayLike | None = None, seed: int = 0
) -> PlacedPoles:  # fmt: skip
    """Gains K with which u = -K x gives a system x' = A x + B u the poles that are asked for.

    With any G, and Lambda that has the poles, T follows from Sylvester's equation A T - T Lambda =
    B G, and K = G T^-1 (Bhattacharyya and de Souza, 1982; Rojas, 5.6, where the sign of G is that
    of u = K x). Lambda is real: a pair of conjugate poles is a 2x2 block; poles that repeat more
    often than there are inputs form Jordan blocks. Where a pole is also one of A, other gains move
    A's first.

    With several inputs many gains give the same poles. "sylvester" takes the random G whose T is
    best conditioned. "minimum_norm" goes on from the best ones to a local minimum of the Frobenius
    norm of K, by the derivative dK = (dG - K dT) T^-1 with A dT - dT Lambda = B dG (after Keel,
    Fleming and Bhattacharyya, 1985): small gains ask for small forces. The condition number says
    what they cost: poles that model errors move more.

    Parameters
    ----------
    system : an `es.LinearModel`, python-control's state space, or arrays (A, B).
    poles : as many as there are states; complex ones with their conjugates.
    method : "sylvester" or "minimum_norm".
    G : (inputs, states), in place of random ones; with "minimum_norm" where the descent begins.
    seed : of the random ones.

    >>> place(([[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]]), [-1, -2]).K.round(9)
    array([[2., 3.]])
    >>> place(([[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]]), [-1 + 1j, -2])
    Traceback (most recent call last):
    ...
    eslabon.errors.InputError: the complex pole at s = -1+1i has no conjugate among the poles; a real system has both or none.
    """
    made = LinearSystem.from_any(system, need="AB")
    asked = _poles(poles, len(made.A))
    choice(method, "method", METHODS)
    require_controllable(made)
    given, start = _given(G, made.B), count(seed, "seed", most=MAX_SEED)
    limits = LIMITS if method == "minimum_norm" else (None,)
    miss: SingularityError | None = None
    for limit in limits:
        K, condition = _sylvester(made, asked, given, np.random.default_rng(start), limit)
        found = made.closed_by(K).poles
        miss = _miss(asked, found)
        if miss is None:
            return PlacedPoles(K, found, condition, method)
    assert miss is not None
    raise miss


# What cannot be
# ------------------------------------------------------------------------------------------------------


def _poles(poles: ArrayLike, n: int) -> np.ndarray[Any, Any]:
    """The poles, each complex one next to its conjugate, real ones last."""
    try:
        given = np.asarray(poles, dtype=complex)
    except (TypeError, ValueError):
        raise InputError(
            f"poles are numbers, real or complex; they are {format_value(poles)}."
        ) from None
    if given.ndim != 1 or len(given) != n:
        raise InputError(
            f"{given.size} poles are asked for; the system has {n} states, and as many poles."
        )
    if not np.isfinite(given).all():
        raise InputError("a pole is not finite.")
    near = SAME * max(1.0, float(np.abs(given).max()))
    given = np.where(np.abs(given.imag) <= near, given.real + 0j, given)
    upper, lower = [s for s in given if s.imag > 0], [s for s in given if s.imag < 0]
    for s in upper:
        match = [k for k, other in enumerate(lower) if abs(other - s.conjugate()) <= near]
        if not match:
            raise InputError(
                f"the complex pole at {format_pole(s)} has no conjugate among the poles; a real system has both or none."
            )
        lower.pop(match[0])
    if lower:
        raise InputError(
            f"the complex pole at {format_pole(lower[0])} has no conjugate among the poles; a real system has both or none."
        )
    pairs = [x for s in upper for x in (s, s.conjugate())]
    return np.array([*pairs, *(s for s in given if s.imag == 0)])


def _given(G: ArrayLike | None, B: Floats) -> Floats | None:
    if G is None:
        return None
    made = finite(G, "G")
    if made.shape != B.T.shape:
        raise InputError(
            f"G has shape {made.shape}; {B.T.shape} is expected, a column for each state."
        )
    return made


def _miss(asked: np.ndarray, found: np.ndarray) -> SingularityError | None:
    """An error for gains whose poles are not those asked for; a pole that repeats r times may be
    off by the r-th root of round-off."""
    from scipy.optimize import linear_sum_assignment

    size = max(1.0, float(np.abs(asked).max()))
    often = max(Counter(_rounded(asked, size)).values())
    apart = np.abs(asked[:, None] - found[None, :])
    rows, columns = linear_sum_assignment(apart)
    worst = int(apart[rows, columns].argmax())
    off = apart[rows[worst], columns[worst]] / size
    if off <= max(1e-5, 10 * 1e-12 ** (1 / often)):
        return None
    return SingularityError(
        f"the pole at {format_pole(asked[rows[worst]])} cannot be placed: it came out at "
        f"{format_pole(found[columns[worst]])}, so badly conditioned is this; ask for poles farther apart, nearer to those of the "
        "system, or add inputs."
    )


def _rounded(poles: np.ndarray, size: float) -> list[complex]:
    return [complex(round(s.real / size, 7), round(s.imag / size, 7)) for s in poles]


# Methods
# -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Sylvester:
    """Sylvester's equation A T - T Lambda = B G, whose T and G give the gains G T^-1.

    States are scaled so that they have about one size; `first` are gains that A has already, and
    total gains are those of the system as it was given. `limit` bounds the condition number of T.
    """

    A: Floats
    B: Floats
    form: Floats
    first: Floats
    scale: Floats
    limit: float = SINGULAR

    def gains(self, G: Floats) -> tuple[Floats, Floats, float]:
        """G T^-1, T and its condition number; infinite where there is no T or it is singular."""
        from scipy.linalg import solve_sylvester

        size = float(np.linalg.norm(self.form, 2)) or 1.0
        try:
            T = solve_sylvester(self.A / size, -self.form / size, self.B @ G / size)
            condition = float(np.linalg.cond(T)) if np.isfinite(T).all() else np.inf
            if condition < self.limit:
                return np.linalg.solve(T.T, G.T).T, T, condition
        except np.linalg.LinAlgError:  # no Schur form, or a T that is singular to the last digit
            pass
        return np.zeros_like(G), np.zeros_like(self.A), np.inf

    def total(self, K: Floats) -> Floats:
        """The gains of the system as it was given."""
        made: Floats = (self.first + K) / self.scale
        return made

    def residuals(self, entries: Floats) -> Floats:
        """The total gains for the entries of G, whose squares are to be least."""
        K, _, condition = self.gains(entries.reshape(self.B.T.shape))
        return self.total(K).ravel() if condition < self.limit else np.full(K.size, REFUSED)

    def slopes(self, entries: Floats) -> Floats:
        """Their derivatives by the entries of G: dK = (dG - K dT) T^-1."""
        K, T, _ = self.gains(entries.reshape(self.B.T.shape))
        n, inputs = self.B.shape
        dG = np.eye(inputs * n).reshape(inputs, n, inputs * n)
        moved = dG - np.einsum("ij,jkx->ikx", K, self._T_slopes)
        dK = np.einsum("ikx,kj->ijx", moved, np.linalg.inv(T)) / self.scale[:, None]
        return dK.reshape(inputs * n, inputs * n)

    @cached_property
    def _T_slopes(self) -> Floats:
        """dT by the entries of G, with A dT - dT Lambda = B dG: the same for every G, by the
        Kronecker form."""
        n, inputs = self.B.shape
        one = np.eye(n)
        whole = np.kron(self.A, one) - np.kron(one, self.form.T)
        return np.linalg.solve(whole, np.kron(self.B, one)).reshape(n, n, inputs * n)


def _sylvester(
    system: LinearSystem,
    poles: np.ndarray,
    G: Floats | None,
    rng: np.random.Generator,
    limit: float | None,
) -> tuple[Floats, float]:
    """K and the condition number of T, for the best conditioned of several G, or for that of least
    gains within a limit."""
    from scipy.linalg import matrix_balance

    A, (scale, _) = matrix_balance(system.A, permute=False, separate=True)
    B = system.B / scale[:, None]
    first = _apart(A, B, poles, rng)
    form = _real_form(poles, int(np.linalg.matrix_rank(B)))
    equation = _Sylvester(A - B @ first, B, form, first, scale)
    trials = [G] if G is not None else list(rng.standard_normal((TRIALS, *B.T.shape)))
    conditions = [equation.gains(trial)[2] for trial in trials]
    order = np.argsort(conditions, kind="stable")
    if not conditions[order[0]] < SINGULAR:
        raise SingularityError(
            "Sylvester's T is singular for " + ("this G; leave it out, and good ones are looked for." if G is not None else
            "every G that was tried, so that these poles cannot be placed; ask for others.")
        )  # fmt: skip
    best = trials[order[0]]
    if limit is not None:
        equation = replace(equation, limit=max(limit, 10 * conditions[order[0]]))
        starts = [trials[k] for k in order[:DESCENTS] if conditions[k] < equation.limit]
        best = min(
            (_descended(equation, start) for start in starts),
            key=lambda x: float(np.linalg.norm(equation.residuals(x.ravel()))),
        )
    K, _, condition = equation.gains(best)
    return equation.total(K), condition


def _descended(equation: _Sylvester, G: Floats) -> Floats:
    """The G, downhill from one, that has the least gains: by Levenberg's and Marquardt's steps,
    which do not feel how long the columns of T are."""
    from scipy.optimize import least_squares

    found = least_squares(
        equation.residuals, G.ravel(), jac=equation.slopes, method="lm", x_scale="jac", max_nfev=STEPS
    )  # fmt: skip
    return np.asarray(found.x).reshape(G.shape)


def _apart(A: Floats, B: Floats, poles: np.ndarray, rng: np.random.Generator) -> Floats:
    """Gains after which no pole of the system is one that is asked for; none, if that is so
    already."""
    size = max(1e-300, float(np.abs(poles).max()), float(np.abs(np.linalg.eigvals(A)).max()))
    K = np.zeros_like(B.T)
    for k in range(20):
        own = np.linalg.eigvals(A - B @ K)
        if np.abs(own[:, None] - poles[None, :]).min() > 1e-3 * size:
            break
        push = rng.standard_normal(B.T.shape)
        K = np.asarray(push * (0.3 * 1.3**k * size / (float(np.linalg.norm(B @ push, 2)) or 1.0)))
    return K


def _real_form(poles: np.ndarray, inputs: int) -> Floats:
    """Lambda: real poles on the diagonal and pairs in 2x2 blocks; of a pole that repeats, at most
    as many blocks for themselves as there are inputs, and the others chained to them."""
    n, k = len(poles), 0
    form = np.zeros((n, n))
    seen: dict[complex, list[int]] = {}
    size = max(1.0, float(np.abs(poles).max()))
    while k < n:
        s, wide = poles[k], 2 if poles[k].imag else 1
        block = np.array([[s.real, s.imag], [-s.imag, s.real]])[:wide, :wide]
        form[k : k + wide, k : k + wide] = block
        places = seen.setdefault(_rounded(np.array([s]), size)[0], [])
        if len(places) >= inputs:
            before = places[len(places) - inputs]
            form[before : before + wide, k : k + wide] = size * np.eye(wide)
        places.append(k)
        k += wide
    return form
