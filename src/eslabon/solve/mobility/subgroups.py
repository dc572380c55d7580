"""Hervé's displacement subgroups, found from the screws that generate them (Rojas, 2.3).

A set of joints moves inside the smallest subgroup of the rigid motions that contains their motions.
The Lie algebra of that subgroup is the smallest space of twists that contains the joint screws and
is closed under the bracket. There are twelve kinds of such spaces. Twists are columns of a 6 x k
matrix, angular part first, all in the same frame.

Ranks need a scale: `joint_screws` gives unit screws seen from the middle of the mechanism, with
lengths in units of its size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from eslabon.answers import Answer, Column, Table, quantities_table
from eslabon.arguments import Floats, finite, positive
from eslabon.errors import InputError
from eslabon.numerics import bracket, hat, vee

Vector = tuple[float, float, float]

# A singular value above the first is not zero, one below the second is round-off; between the two
# the largest gap decides.
NONZERO, NOISE = 1e-4, 1e-12
# Pitches below this part of the mechanism's size count as none: a micrometre a turn on a robot of
# ten metres.
NO_PITCH = 1e-8
# Components of a vector below this part of its scale are printed as zero.
PRINTED_ZERO = 1e-9

# symbol: dimension, what its motions are, what its axis is
SUBGROUPS: dict[str, tuple[int, str, str]] = {
    "I": (0, "no motion", ""),
    "R": (1, "rotation about a line", "along"),
    "P": (1, "translation along a line", "along"),
    "H": (1, "screw motion along a line", "along"),
    "C": (2, "rotation about and translation along a line", "along"),
    "T2": (2, "translation in a plane", "normal to"),
    "E": (3, "planar motion", "normal to"),
    "S": (3, "rotation about a point", ""),
    "T3": (3, "translation in space", ""),
    "Y": (3, "translation in a plane with a screw normal to it", "screw along"),
    "X": (4, "translation in space with rotation about one direction (Schoenflies)", "about"),
    "D": (6, "every rigid motion", ""),
}


# --- spaces of twists -----------------------------------------------------------------------------


def rank(values: Floats, scale: float | None = None) -> int:
    """The number of singular values that are not zero, against the largest of them or a scale.

    Where some are neither clearly large nor clearly round-off, the largest ratio of neighbours
    separates them.

    >>> rank(np.array([2.0, 0.3, 1e-15])), rank(np.array([1.0, 3e-5, 2e-10]))
    (2, 2)
    >>> rank(np.array([1e-16]), scale=1.0)
    0
    """
    s = np.sort(np.abs(values))[::-1]
    size = scale or (s[0] if s.size else 0.0)
    if not size:
        return 0
    s = np.concatenate([[1.0], s / size, [NOISE]])
    surely, perhaps = int(np.sum(s[1:] > NONZERO)), int(np.sum(s[1:] > NOISE))
    return max(range(surely, perhaps + 1), key=lambda r: s[r] / max(s[r + 1], NOISE))


def span(columns: Floats, scale: float | None = None) -> Floats:
    """An orthonormal basis of the space that the columns span."""
    if not columns.size:
        return columns[:, :0]
    U, s, _ = np.linalg.svd(columns, full_matrices=False)
    return U[:, : rank(s, scale)]


def kernel(matrix: Floats) -> Floats:
    """An orthonormal basis of the null space."""
    if not matrix.size:
        return np.eye(matrix.shape[1])
    _, s, Vt = np.linalg.svd(matrix)
    return Vt[rank(s) :].T


def intersection(A: Floats, B: Floats) -> Floats:
    """An orthonormal basis of the intersection of two spaces, which are given by such bases.

    >>> planar = np.eye(6)[:, [2, 3, 4]]  # rotation about z, translation along x and y
    >>> other = np.eye(6)[:, [0, 4, 5]]  # rotation about x, translation along y and z
    >>> np.abs(intersection(planar, other).T).round(9)
    array([[0., 0., 0., 0., 1., 0.]])
    """
    return span(A @ kernel(np.hstack([A, -B]))[: A.shape[1]])


def unit_columns(A: Floats) -> Floats:
    """The columns with length 1; they may be so long that their squares are no numbers.

    >>> unit_columns(np.array([[3e200], [4e200]])).T
    array([[0.6, 0.8]])
    """
    if not A.size:
        return A
    length = column_lengths(A)
    return A / np.where(length > 0, length, 1.0)


def column_lengths(A: Floats) -> Floats:
    """The lengths of columns, whose squares may be no numbers."""
    largest = np.abs(A).max(axis=0, initial=0.0)
    unit = np.where(largest > 0, largest, 1.0)
    return unit * np.linalg.norm(A / unit, axis=0)


def algebra(twists: Floats) -> Floats:
    """An orthonormal basis of the smallest Lie algebra that contains the twists: their span, closed
    under the bracket."""
    basis = span(twists)
    while True:
        products = (
            (bracket(basis.T) @ basis).transpose(1, 0, 2).reshape(6, -1) if basis.size else basis
        )
        grown = span(np.hstack([basis, products]))
        if grown.shape[1] == basis.shape[1]:
            return basis
        basis = grown


# --- subgroups ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Subgroup(Answer):
    """One of the twelve subgroups of the rigid motions.

    Attributes
    ----------
    symbol : str
        R, P, H, C, E and S are those of the lower pairs; T2 and T3 are translations, Y (Rojas' g_V)
        is translation in a plane with a screw normal to it, X are Schoenflies' motions, I is the
        identity and D contains all rigid motions.
    axis : tuple of float, optional
        The unit vector along the line, normal to the plane, or along the axis of rotation.
    point : tuple of float, optional
        The point of the line that is nearest to the origin, or the centre.
    pitch : float, optional
        The advance of a screw in a radian.
    length : float
        The unit of length in which ranks were decided.
    basis : ndarray
        An orthonormal basis of its Lie algebra, 6 x dimension, in the frame and the unit of length
        in which ranks were decided.

    >>> import eslabon as es
    >>> found = es.load("five_bar").mobility().subgroup
    >>> found.symbol, found.dimension, found.name
    ('E', 3, 'planar motion')
    >>> found.generators[0]
    'rotation about (0, 0, 1)'
    """

    symbol: str
    axis: Vector | None = None
    point: Vector | None = None
    pitch: float | None = None
    length: float = field(default=1.0, repr=False, compare=False)
    basis: Floats = field(default_factory=lambda: np.zeros((6, 0)), repr=False, compare=False)

    @property
    def dimension(self) -> int:
        """The number of independent motions."""
        return SUBGROUPS[self.symbol][0]

    @property
    def name(self) -> str:
        """What its motions are, in words."""
        return SUBGROUPS[self.symbol][1]

    @property
    def brief(self) -> str:
        """Its symbol and direction, as in 'E normal to (0, 0, 1)'."""
        if self.axis is None:
            return self.symbol
        return f"{self.symbol} {SUBGROUPS[self.symbol][2]} {_text(self.axis)}"

    @property
    def generators(self) -> tuple[str, ...]:
        """Independent motions of which all others are made, as many as the dimension, in words."""
        through = "" if self.point is None else f" through {_text(self.point, self.length)}"
        turns, slides = self._directions()
        words = [f"rotation about {_text(u)}{through}" for u in turns]
        if self.axis is not None and self.pitch is not None:
            words = [f"screw motion about {_text(self.axis)}{through}, pitch {self.pitch:.6g}"]
        return (*words, *(f"translation along {_text(u)}" for u in slides))

    def _directions(self) -> tuple[list[Vector], list[Vector]]:
        """The directions of independent rotations, and of independent translations."""
        frame = [_vector(u) for u in np.eye(3)]
        if self.axis is None:
            return frame * (self.symbol in "SD"), frame * (self.symbol in ("T3", "D"))
        slides = {"P": [self.axis], "C": [self.axis], "X": frame}
        turns = [self.axis] * (self.symbol not in ("P", "T2"))
        across = _across(self.axis) if self.symbol in ("T2", "E", "Y") else []
        return turns, slides.get(self.symbol, across)

    def placed(self, centre: Floats, length: float) -> Subgroup:
        """The same subgroup, found from `centre` with lengths in units of `length`, in the world's
        frame and metres."""
        point = self.point
        if point is not None:
            there = centre + length * np.array(point)
            if self.axis is not None:  # of a line's points the one nearest to the new origin
                there -= np.array(self.axis) * np.dot(self.axis, there)
            point = _vector(there)
        pitch = None if self.pitch is None else length * self.pitch
        return replace(self, point=point, pitch=pitch, length=length * self.length)

    def contents(self) -> Iterator[Table]:
        yield quantities_table(
            [
                (Column("symbol"), self.symbol),
                (Column("motions"), self.name),
                (Column("dimension"), self.dimension),
                (Column("axis"), self.axis),
                (Column("point", "m"), self.point),
                (Column("pitch", "m/rad"), self.pitch),
                (Column("generators"), "; ".join(self.generators)),
            ]
        )

    def __str__(self) -> str:
        words = [self.name]
        if self.axis is not None:
            words.append(f"{SUBGROUPS[self.symbol][2]} {_text(self.axis)}")
        if self.point is not None:
            place = _text(self.point, self.length)
            words.append(f"{'through' if self.axis else 'centred at'} {place}")
        if self.pitch is not None:
            words.append(f"pitch {self.pitch:.6g}")
        return f"{self.symbol}: {', '.join(words)}"


def subgroup(twists: Any, *, centre: Any = (0.0, 0.0, 0.0), length: float = 1.0) -> Subgroup:
    """The smallest displacement subgroup that contains the motions with these twists.

    The kind follows from the number of independent twists in its Lie algebra and how many of these
    are translations (Rojas, 2.3, groups 1 to 12): rotations have 0, 1 or 3 independent directions
    (never 2, as two generate the third), and dimension 5 does not occur.

    Parameters
    ----------
    twists : array_like
        One twist (6,), or several as columns (6, k): angular part first, then the velocity of the
        point at the origin.
    centre, length : array_like, float
        A point in the middle of the mechanism, and its size. Ranks are decided for twists seen from
        there, in units of this length; give them where the mechanism is not of the order of 1.

    >>> import numpy as np
    >>> import eslabon as es
    >>> parallel = np.array([[0, 0, 1, 0, 0, 0], [0, 0, 1, 0, -1, 0], [0, 0, 1, 2, 0, 0.0]]).T
    >>> print(es.structure.subgroup(parallel))
    E: planar motion, normal to (0, 0, 1)
    >>> subgroup(parallel[:, :2]).symbol, subgroup(parallel[:, :1]).symbol
    ('E', 'R')
    """
    columns, middle = finite(twists, "twists"), finite(centre, "centre")
    length = positive(length, "length")
    if columns.shape[:1] != (6,) or columns.ndim > 2:
        raise InputError(
            "twists are columns of six numbers, angular part first; the array has shape "
            f"{columns.shape}."
        )
    if middle.shape != (3,):
        raise InputError(f"centre is a point (3,); the array has shape {middle.shape}.")
    columns = columns.reshape(6, -1)
    w, v = columns[:3], columns[3:]
    seen = np.vstack([w, (v + np.cross(w.T, middle).T) / length])
    return classified(unit_columns(seen)).placed(middle, length)


def classified(twists: Floats) -> Subgroup:
    """The smallest subgroup of twists whose lengths are of the order of 1."""
    basis = algebra(twists)
    U, s, Vt = np.linalg.svd(basis[:3], full_matrices=True)
    turns = rank(s, scale=1.0) if s.size else 0
    slides = basis[3:] @ Vt[turns:].T  # the translations among its motions
    if turns == 0:
        return _translations(basis, slides)
    if turns == 1:
        return _about_one_direction(basis, U[:, 0], (basis[3:] @ Vt[0]) / s[0], slides)
    if slides.shape[1]:
        return Subgroup("D", basis=basis)
    centre = vee(basis[3:] @ np.linalg.inv(basis[:3]))  # v = c x w for every w
    return Subgroup("S", point=_vector(centre), basis=basis)


def _translations(basis: Floats, slides: Floats) -> Subgroup:
    symbol = ("I", "P", "T2", "T3")[slides.shape[1]]
    if symbol == "P":
        return Subgroup(symbol, axis=_direction(slides[:, 0]), basis=basis)
    if symbol == "T2":
        return Subgroup(symbol, axis=_direction(np.cross(*slides.T)), basis=basis)
    return Subgroup(symbol, basis=basis)


def _about_one_direction(basis: Floats, e: Floats, v: Floats, slides: Floats) -> Subgroup:
    """The subgroups whose rotations share the direction e; (e, v) is one of their screws."""
    axis, pitch = _direction(e), float(e @ v)
    point = _vector(hat(e) @ v)
    screw = None if abs(pitch) < NO_PITCH else pitch
    match slides.shape[1]:
        case 0:
            return Subgroup("H" if screw else "R", axis, point, screw, basis=basis)
        case 1:
            return Subgroup("C", axis, point, basis=basis)
        case 2:
            return Subgroup("Y" if screw else "E", axis, None, screw, basis=basis)
        case _:
            return Subgroup("X", axis, basis=basis)


def _direction(u: Floats) -> Vector:
    """The unit vector of a line: of its two senses the one whose largest component is positive."""
    u = u / np.linalg.norm(u)
    largest = u[np.flatnonzero(np.abs(u) > np.abs(u).max() - 1e-9)[0]]
    return _vector(u * np.sign(largest))


def _across(axis: Sequence[float]) -> list[Vector]:
    """Two unit vectors at right angles to an axis and to one another."""
    e = np.asarray(axis, dtype=float)
    first = np.cross(np.eye(3)[(int(np.abs(e).argmax()) + 1) % 3], e)
    return [_direction(first), _direction(np.cross(e, first))]


def _vector(u: Floats) -> Vector:
    x, y, z = (float(c) for c in u)
    return x, y, z


def _text(u: Sequence[float] | Floats, length: float = 1.0) -> str:
    """A vector for people, without the round-off of zero at its scale."""
    shown = (0.0 if abs(c) < PRINTED_ZERO * length else c for c in u)
    return f"({', '.join(f'{c:.4g}' for c in shown)})"
