"""Controllability and observability: Kalman's rank with its singular values, and each mode by Popov, Belevitch and Hautus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from eslabon.arguments import Floats
from eslabon.displays import displayed
from eslabon.systems.linear.linear_system import System, with_inputs, with_outputs
from eslabon.systems.linear.numerical_failures import explained

NOTHING = 1e-12  # of the largest singular value of Kalman's matrix: zero but for round-off
GONE, LITTLE = (
    1e-10,
    1e-7,
)  # distances of a mode from losing rank that are zero but for round-off, and that may be so
ALIKE = 1e-6  # of the size of A: round-off takes poles that repeat so far apart, and not their mean


@displayed
class ModeRank(NamedTuple):
    """A mode: its pole, how often it repeats, how far [A - s 1, B] is from losing rank there, as a share of its size, how much
    rank it lost, and the combination of states that is lost, or nearest to it."""

    pole: complex
    multiplicity: int
    distance: float
    lost: int
    states: str

    @property
    def doubtful(self) -> bool:
        """Whether round-off decides if it is lost."""
        return GONE < self.distance <= LITTLE


@displayed(also=("full",))
@dataclass(frozen=True, eq=False, repr=False)
class KalmanRank:
    """How much of a linear system its inputs reach, or its outputs show.

    Attributes
    ----------
    kind : "controllable" or "observable".
    size : the number of states.
    rank : of [B, A B, ..., A^(n-1) B], or of its counterpart with C, states scaled so that A is balanced and the time so that its norm is one.
    singular_values : of this matrix, as shares of the largest.
    modes : each with its distance from losing rank there (PBH), in the order of the poles.
    doubtful : whether round-off decides: a mode is neither clearly lost nor clearly not, or modes and rank disagree.

    >>> import eslabon as es
    >>> found = es.control.controllability(es.load("cart_pole").linearize([0.0, 0.0]))
    >>> found.rank, found.full
    (4, True)
    """

    kind: str
    size: int
    rank: int
    singular_values: Floats
    modes: tuple[ModeRank, ...]
    doubtful: bool

    @property
    def full(self) -> bool:
        """Whether every mode is reached, or seen: by PBH, which round-off hurts least."""
        return not self.lost_modes

    @property
    def lost_modes(self) -> tuple[ModeRank, ...]:
        """The modes that no input reaches, or no output shows."""
        return tuple(mode for mode in self.modes if mode.lost)

    def __repr__(self) -> str:
        words = "completely" if self.full else "not completely"
        lost = "".join(
            f"; not the mode at {shown_pole(mode.pole)} ({mode.states})" for mode in self.lost_modes
        )
        doubt = ", numerically doubtful" if self.doubtful else ""
        least = f"least singular value {self.singular_values[-1]:.2g} of the largest"
        return f"<{words} {self.kind}: rank {self.rank} of {self.size}{doubt}, {least}{lost}>"


def shown_pole(s: complex) -> str:
    """A pole in a sentence.

    >>> shown_pole(-1 + 0j), shown_pole(-1 + 2j)
    ('s = -1', 's = -1+2i')
    """
    s = complex(round(s.real, 12), round(s.imag, 12))
    return (
        f"s = {s.real:.6g}"
        if abs(s.imag) < 1e-9 * max(1.0, abs(s))
        else f"s = {s.real:.6g}{s.imag:+.6g}i"
    )


@explained("the controllability")
def controllability(system: Any) -> KalmanRank:
    """How much of a system its inputs reach.

    Parameters
    ----------
    system : an `es.LinearModel`, python-control's state space, or arrays (A, B).

    >>> import numpy as np
    >>> controllability((np.diag([-1.0, -2.0]), [[1.0], [0.0]]))
    <not completely controllable: rank 1 of 2, least singular value 0 of the largest; not the mode at s = -2 (x2)>
    >>> controllability(([[0.0, 1.0], [-1.0, 0.0]], [[0.0], [1.0]])).full
    True
    """
    made, B = with_inputs(system)
    return kalman_rank(made, made.A, B, "controllable")


@explained("the observability")
def observability(system: Any) -> KalmanRank:
    """How much of a system its outputs show: controllability of (A^T, C^T).

    Parameters
    ----------
    system : an `es.LinearModel`, python-control's state space, or arrays (A, C).

    >>> observability(([[0.0, 1.0], [0.0, 0.0]], [[0.0, 1.0]]))
    <not completely observable: rank 1 of 2, least singular value 0 of the largest; not the mode at s = 0 (x1)>
    """
    made, C = with_outputs(system)
    return kalman_rank(made, made.A.T, C.T, "observable")


def kalman_rank(system: System, A: Floats, B: Floats, kind: str) -> KalmanRank:
    """The rank of (A, B)."""
    made = scaled(A, B)
    blocks = [made.B]
    for _ in range(len(A) - 1):
        blocks.append(made.A @ blocks[-1])
    sizes = np.linalg.svd(np.hstack(blocks), compute_uv=False)
    share = sizes / (sizes[0] or 1.0)
    modes, rank = _modes(system, made), int((share > NOTHING).sum())
    doubtful = any(mode.doubtful for mode in modes) or (rank == len(A)) != (
        not any(mode.lost for mode in modes)
    )
    return KalmanRank(kind, len(A), rank, share, modes, doubtful)


class Scaled(NamedTuple):
    """A system in states, inputs and a time of about one size: neither rank nor modes depend on it."""

    A: Floats
    B: Floats
    states: Floats  # the unit of each state
    time: float  # the unit of poles


def scaled(A: Floats, B: Floats) -> Scaled:
    from scipy.linalg import matrix_balance

    balanced, (units, _) = matrix_balance(A, permute=False, separate=True)
    pushed = B / units[:, None]
    columns = np.linalg.norm(pushed, axis=0)
    speed = float(np.linalg.norm(balanced, 2)) or 1.0
    return Scaled(balanced / speed, pushed / np.where(columns > 0, columns, 1.0), units, speed)


def _modes(system: System, made: Scaled) -> tuple[ModeRank, ...]:
    """For each pole s the singular values of [A - s 1, B], both of size one."""
    modes = []
    for s, often in _distinct(np.linalg.eigvals(made.A)):
        left, size, _ = np.linalg.svd(np.hstack([made.A - s * np.eye(len(made.A)), made.B]))
        lost = int((size <= GONE).sum())
        nearest = left[:, -max(1, lost) :].conj() / made.states[:, None]
        words = " and ".join(system.combination(w) for w in _simplest(nearest))
        modes.append(ModeRank(s * made.time, often, float(size[-1]), lost, words))
    return tuple(modes)


def _simplest(basis: np.ndarray[Any, Any]) -> list[Floats]:
    """The vectors of a subspace that have a one where the others have zeros; of complex ones the larger of both parts."""
    from scipy.linalg import qr

    places = qr(basis.T, mode="r", pivoting=True)[1][: basis.shape[1]]
    vectors = (basis @ np.linalg.inv(basis[places])).T
    return [w.real if np.abs(w.real).max() >= np.abs(w.imag).max() else w.imag for w in vectors]


def _distinct(poles: np.ndarray[Any, Any]) -> list[tuple[complex, int]]:
    """Poles that repeat by their mean, and how often, the slowest last."""
    left, made = list(poles), []
    while left:
        alike = [s for s in left if abs(s - left[0]) <= ALIKE]
        left = [s for s in left if abs(s - left[0]) > ALIKE]
        made.append((complex(np.mean(alike)), len(alike)))
    return sorted(made, key=lambda x: (x[0].real, x[0].imag))
