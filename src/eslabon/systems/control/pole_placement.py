"""Pole assignment: Sylvester's form (Rojas, 5.6), and SciPy's methods beside it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import MAX_SEED, Floats, choice, count, finite
from eslabon.displays import displayed
from eslabon.errors import InputError, SingularityError, format_value
from eslabon.systems.linear.linear_system import System, with_inputs
from eslabon.systems.linear.numerical_failures import explained
from eslabon.systems.linear.ranks import kalman_rank, shown_pole

METHODS = ("sylvester", "YT", "KNV0")
TRIALS = 24  # random G, of which the one with the best conditioned T is taken
SINGULAR = 1e14  # a condition number of T: beyond it the gains are round-off
SAME = 1e-9  # of the size of poles: these are one


@displayed
@dataclass(frozen=True, eq=False, repr=False)
class PlacedPoles:
    """Gains of u = -K x, and the poles they give.

    Attributes
    ----------
    K : (inputs, states).
    poles : of A - B K, as they came out.
    condition : the condition number of the eigenvectors, or of Sylvester's T: how much round-off and wrong models move the poles.

    >>> import eslabon as es
    >>> placed = es.control.place(([[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]]), [-1, -2])
    >>> placed.K.round(6), placed.poles.real.round(6)
    (array([[2., 3.]]), array([-2., -1.]))
    """

    K: Floats
    poles: np.ndarray[Any, np.dtype[np.complex128]]
    condition: float
    method: str

    def __repr__(self) -> str:
        listed = ", ".join(shown_pole(s)[4:] for s in self.poles[:6]) + ", ..." * (
            len(self.poles) > 6
        )
        return f"<PlacedPoles by {self.method}: {listed}; condition number {self.condition:.2g}>"


@explained("pole placement")
def place(
    system: Any, poles: ArrayLike, *, method: str = "sylvester", G: ArrayLike | None = None, seed: int = 0
) -> PlacedPoles:  # fmt: skip
    """Gains K with which u = -K x gives a system x' = A x + B u the poles that are asked for.

    With any G, and Lambda that has the poles, T follows from Sylvester's equation A T - T Lambda = B G, and K = G T^-1
    (Bhattacharyya and de Souza, 1982; Rojas, 5.6, where the sign of G is that of u = K x). Of random G the one whose T is best conditioned is taken. Lambda is real: a pair of
    conjugate poles is a 2x2 block; poles that repeat more often than there are inputs form Jordan blocks. Where a pole is also one of A, other
    gains move A's first.

    Parameters
    ----------
    system : an `es.LinearModel`, python-control's state space, or arrays (A, B).
    poles : as many as there are states; complex ones with their conjugates.
    method : "sylvester", or SciPy's "YT" and "KNV0" (Kautsky, Nichols and Van Dooren), which make the eigenvectors as orthogonal as they can.
    G : (inputs, states) for "sylvester", in place of random ones.
    seed : of the random ones.

    >>> place(([[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]]), [-1, -2]).K.round(9)
    array([[2., 3.]])
    >>> place(([[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]]), [-1 + 1j, -2])
    Traceback (most recent call last):
    ...
    eslabon.errors.InputError: the complex pole at s = -1+1i has no conjugate among the poles; a real system has both or none.
    """
    made, B = with_inputs(system)
    asked = _poles(poles, made.size)
    choice(method, "method", METHODS)
    _require_controllable(made, B)
    if method == "sylvester":
        K, condition = _sylvester(
            made.A,
            B,
            asked,
            _given(G, B),
            np.random.default_rng(count(seed, "seed", most=MAX_SEED)),
        )
    elif G is not None:
        raise InputError(
            f"G belongs to Sylvester's form; leave it out, or leave out method={method!r}."
        )
    else:
        K, condition = _scipy(made.A, B, asked, method)
    found = np.linalg.eigvals(made.A - B @ K).astype(complex)
    _require_placed(asked, found)
    return PlacedPoles(K, found[np.lexsort((found.imag, found.real))], condition, method)


# What cannot be ------------------------------------------------------------------------------------------------------


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
                f"the complex pole at {shown_pole(s)} has no conjugate among the poles; a real system has both or none."
            )
        lower.pop(match[0])
    if lower:
        raise InputError(
            f"the complex pole at {shown_pole(lower[0])} has no conjugate among the poles; a real system has both or none."
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


def _require_controllable(system: System, B: Floats) -> None:
    found = kalman_rank(system, system.A, B, "controllable")
    if lost := found.lost_modes:
        each = "; ".join(f"{shown_pole(mode.pole)} (of {mode.states})" for mode in lost)
        raise SingularityError(
            f"no feedback moves the mode{'s' * (len(lost) > 1)} at {each}: the inputs {', '.join(system.inputs)} do not act on "
            f"{'them' if len(lost) > 1 else 'it'} (the left eigenvector is orthogonal to B); add an input that does, or leave it out of the model."
        )


def _require_placed(asked: np.ndarray, found: np.ndarray) -> None:
    """Refuse gains whose poles are not those asked for; a pole that repeats r times may be off by the r-th root of round-off."""
    from scipy.optimize import linear_sum_assignment

    size = max(1.0, float(np.abs(asked).max()))
    often = max(Counter(_rounded(asked, size)).values())
    apart = np.abs(asked[:, None] - found[None, :])
    rows, columns = linear_sum_assignment(apart)
    worst = int(apart[rows, columns].argmax())
    off = apart[rows[worst], columns[worst]] / size
    if not off <= max(1e-5, 10 * 1e-12 ** (1 / often)):
        raise SingularityError(
            f"the pole at {shown_pole(asked[rows[worst]])} cannot be placed: it came out at "
            f"{shown_pole(found[columns[worst]])}, so badly conditioned is this; ask for poles farther apart, nearer to those of the "
            "system, or add inputs."
        )


def _rounded(poles: np.ndarray, size: float) -> list[complex]:
    return [complex(round(s.real / size, 7), round(s.imag / size, 7)) for s in poles]


# Methods -------------------------------------------------------------------------------------------------------------


def _scipy(A: Floats, B: Floats, poles: np.ndarray, method: str) -> tuple[Floats, float]:
    from scipy.signal import place_poles

    try:
        found = place_poles(A, B, poles, method=method)
    except ValueError as error:
        raise InputError(
            f"{method} cannot place these poles ({error}); use method='sylvester'."
        ) from None
    return np.asarray(found.gain_matrix), float(np.linalg.cond(found.X))


def _sylvester(
    A: Floats, B: Floats, poles: np.ndarray, G: Floats | None, rng: np.random.Generator
) -> tuple[Floats, float]:
    """K = G T^-1 with A T - T Lambda = B G, for the best of several G."""
    from scipy.linalg import matrix_balance

    A, (scale, _) = matrix_balance(A, permute=False, separate=True)  # T in states of about one size
    B = B / scale[:, None]
    first = _apart(A, B, poles, rng)
    trials: list[Floats] = [G] if G is not None else list(rng.standard_normal((TRIALS, *B.T.shape)))
    form = _real_form(poles, int(np.linalg.matrix_rank(B)))
    K, condition = _best_gains(A - B @ first, B, form, trials)
    if K is None:
        raise SingularityError(
            "Sylvester's T is singular for " + ("this G; leave it out, and good ones are looked for." if G is not None else
            "every G that was tried, so that these poles cannot be placed; ask for others.")
        )  # fmt: skip
    return (first + K) / scale, condition


def _best_gains(
    A: Floats, B: Floats, form: Floats, trials: list[Floats]
) -> tuple[Floats | None, float]:
    """G T^-1 for the G whose T is best conditioned, and the condition number; None if every T is singular."""
    from scipy.linalg import solve_sylvester

    best, least = None, SINGULAR
    size = float(np.linalg.norm(form, 2)) or 1.0
    for G in trials:
        try:
            T = solve_sylvester(A / size, -form / size, B @ G / size)
            condition = float(np.linalg.cond(T)) if np.isfinite(T).all() else np.inf
            if condition < least:
                best, least = np.linalg.solve(T.T, G.T).T, condition
        except np.linalg.LinAlgError:  # no Schur form, or a T that is singular to the last digit
            continue
    return best, least


def _apart(A: Floats, B: Floats, poles: np.ndarray, rng: np.random.Generator) -> Floats:
    """Gains after which no pole of the system is one that is asked for; none, if that is so already."""
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
    """Lambda: real poles on the diagonal and pairs in 2x2 blocks; of a pole that repeats, at most as many blocks for themselves
    as there are inputs, and the others chained to them."""
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
