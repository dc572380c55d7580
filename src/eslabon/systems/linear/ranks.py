"""Controllability and observability: Kalman's rank with its singular values, and each mode by
Popov, Belevitch and Hautus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from eslabon.answers import Answer, Block, Column, Table, answer, cell_text
from eslabon.arguments import Floats
from eslabon.errors import SingularityError
from eslabon.numerics.tolerances import COINCIDENT
from eslabon.systems.linear.linear_system import LinearSystem, format_pole, format_poles, growth
from eslabon.systems.linear.numerical_failures import explained

NOTHING = 1e-12  # of the largest singular value of Kalman's matrix: zero but for round-off
GONE, LITTLE = (
    1e-10,
    1e-7,
)  # distances of a mode from losing rank that are zero but for round-off, and that may be so
ALIKE = 1e-6  # of the size of A: round-off takes poles that repeat so far apart, and not their mean


@answer
class ModeRank(NamedTuple):
    """A mode: its pole, how often it repeats, how far [A - s 1, B] is from losing rank there, as a
    share of its size, how much rank it lost, and the combination of states that is lost, or nearest
    to it."""

    pole: complex
    multiplicity: int
    distance: float
    lost: int
    states: str

    @property
    def doubtful(self) -> bool:
        """Whether round-off decides if it is lost."""
        return GONE < self.distance <= LITTLE


@dataclass(frozen=True, eq=False, repr=False)
class KalmanRank(Answer):
    """How much of a linear system its inputs reach, or its outputs show.

    Attributes
    ----------
    kind : "controllable" or "observable".
    size : the number of states.
    rank : of [B, A B, ..., A^(n-1) B], or of its counterpart with C, states scaled so that A is
        balanced and the time so that its norm is one.
    singular_values : of this matrix, as shares of the largest.
    modes : each with its distance from losing rank there (PBH), in the order of the poles.
    doubtful : whether round-off decides: a mode is neither clearly lost nor clearly not, or modes
        and rank disagree.
    period : of a system in discrete time.

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
    period: float | None = None

    @property
    def full(self) -> bool:
        """Whether every mode is reached, or seen: by PBH, which round-off hurts least."""
        return not self.lost_modes

    @property
    def lost_modes(self) -> tuple[ModeRank, ...]:
        """The modes that no input reaches, or no output shows."""
        return tuple(mode for mode in self.modes if mode.lost)

    def contents(self) -> Iterator[Block]:
        """The modes, and whether each is reached or seen."""
        columns = ("pole", "multiplicity", "distance", "lost", "states")
        rows = [(cell_text(mode.pole), *mode[1:]) for mode in self.modes]
        yield Table(
            (*map(Column, columns[:-1]), Column("states", kind="prose")), rows, repr(self)[1:-1]
        )

    def __repr__(self) -> str:
        words = "completely" if self.full else "not completely"
        lost = "".join(
            f"; not the mode at {format_pole(mode.pole, self.period)} ({mode.states})"
            for mode in self.lost_modes
        )
        doubt = ", numerically doubtful" if self.doubtful else ""
        least = f"least singular value {self.singular_values[-1]:.2g} of the largest"
        return f"<{words} {self.kind}: rank {self.rank} of {self.size}{doubt}, {least}{lost}>"


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
    made = LinearSystem.from_any(system, need="AB")
    return kalman_rank(made, made.A, made.B, "controllable")


@explained("the observability")
def observability(system: Any) -> KalmanRank:
    """How much of a system its outputs show: controllability of (A^T, C^T).

    Parameters
    ----------
    system : an `es.LinearModel`, python-control's state space, or arrays (A, C).

    >>> observability(([[0.0, 1.0], [0.0, 0.0]], [[0.0, 1.0]]))
    <not completely observable: rank 1 of 2, least singular value 0 of the largest; not the mode at s = 0 (x1)>
    """
    made = LinearSystem.from_any(system, need="AC")
    return kalman_rank(made, made.A.T, made.C.T, "observable")


def kalman_rank(system: LinearSystem, A: Floats, B: Floats, kind: str) -> KalmanRank:
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
    return KalmanRank(kind, len(A), rank, share, modes, doubtful, system.period)


def require_controllable(system: LinearSystem) -> None:
    """Refuse inputs that do not move a mode."""
    lost = kalman_rank(system, system.A, system.B, "controllable").lost_modes
    if lost:
        many = len(lost) > 1
        raise SingularityError(
            f"no feedback moves the mode{'s' * many} at {_listed(system, lost)}: the inputs {', '.join(system.inputs)} do not act "
            f"on {'them' if many else 'it'} (the left eigenvector is orthogonal to B); add an input that does, or leave it out of "
            "the model."
        )


def require_stabilizable(system: LinearSystem) -> None:
    """Refuse inputs that do not move a mode which does not die out by itself."""
    lost = [
        mode
        for mode in kalman_rank(system, system.A, system.B, "controllable").lost_modes
        if not _dies_out(mode.pole, system)
    ]
    if lost:
        raise SingularityError(
            f"no gains stabilize the mode at {_listed(system, lost)}: the inputs {', '.join(system.inputs)} do not act on it."
        )


def require_observable(system: LinearSystem, decaying: bool = False) -> None:
    """Refuse outputs that do not show a mode; with `decaying` those are allowed that die out by
    themselves."""
    for mode in kalman_rank(system, system.A.T, system.C.T, "observable").lost_modes:
        if not (decaying and _dies_out(mode.pole, system)):
            raise SingularityError(
                f"the mode with the pole {format_poles([mode.pole])} (of {mode.states}) cannot be observed from the outputs "
                f"{', '.join(system.outputs)}; measure something that it moves."
            )


def _dies_out(pole: complex, system: LinearSystem) -> bool:
    """Whether a motion dies out by itself, and not by round-off of A only."""
    size = 1.0 if system.period else max(1.0, float(np.abs(system.A).max()))
    limit = 1.0 if system.period else 0.0
    return bool(growth(pole, system.period) < limit - COINCIDENT * size)


def _listed(system: LinearSystem, modes: Sequence[ModeRank]) -> str:
    return "; ".join(
        f"{format_pole(mode.pole, system.period)} (of {mode.states})" for mode in modes
    )


class Scaled(NamedTuple):
    """A system in states, inputs and a time of about one size: neither rank nor modes depend on
    it."""

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


def _modes(system: LinearSystem, made: Scaled) -> tuple[ModeRank, ...]:
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
    """The vectors of a subspace that have a one where the others have zeros; of complex ones the
    larger of both parts."""
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
