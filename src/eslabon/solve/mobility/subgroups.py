"""Hervé's displacement subgroups, found from the screws that generate them (Rojas, 2.3).

A set of joints moves inside the smallest subgroup of the rigid motions that contains theirs. Its Lie algebra is the
smallest space of twists that contains the joint screws and is closed under the bracket, and there are twelve kinds of
such spaces. Twists are columns of a 6 x k matrix, angular part first, all in the same frame. Ranks need a scale, so
give lengths in units of the mechanism's size, seen from its middle (`screws` does so), and unit columns.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from eslabon.displays import displayed
from eslabon.numerics import bracket, hat, vee

Vector = tuple[float, float, float]

# A singular value above the first is not zero and one below the second is round-off; between them the gap decides.
NONZERO, NOISE = 1e-4, 1e-12
# A pitch is nothing below this part of the mechanism's size: a screw of a micrometre a turn on a robot of ten metres.
NO_PITCH = 1e-8

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


def rank(values: np.ndarray, scale: float | None = None) -> int:
    """How many singular values are not zero, measured against the largest of them or a given scale.

    Where some are neither clearly large nor clearly round-off, the largest ratio of neighbours separates them.

    >>> rank(np.array([2.0, 0.3, 1e-15])), rank(np.array([1.0, 3e-5, 2e-10])), rank(np.array([1e-16]), scale=1.0)
    (2, 2, 0)
    """
    s = np.sort(np.abs(values))[::-1]
    size = scale or (s[0] if s.size else 0.0)
    if not size:
        return 0
    s = np.concatenate([[1.0], s / size, [NOISE]])
    surely, perhaps = int(np.sum(s[1:] > NONZERO)), int(np.sum(s[1:] > NOISE))
    return max(range(surely, perhaps + 1), key=lambda r: s[r] / max(s[r + 1], NOISE))


def span(columns: np.ndarray, scale: float | None = None) -> np.ndarray:
    """An orthonormal basis of the space the columns span."""
    if not columns.size:
        return columns[:, :0]
    U, s, _ = np.linalg.svd(columns, full_matrices=False)
    return U[:, : rank(s, scale)]


def kernel(matrix: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the vectors that the matrix takes to zero."""
    if not matrix.size:
        return np.eye(matrix.shape[1])
    _, s, Vt = np.linalg.svd(matrix)
    return Vt[rank(s) :].T


def intersection(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """An orthonormal basis of what two spaces, given by orthonormal bases, have in common.

    >>> planar = np.eye(6)[:, [2, 3, 4]]  # turning about z, moving along x and y
    >>> other = np.eye(6)[:, [0, 4, 5]]  # turning about x, moving along y and z
    >>> np.abs(intersection(planar, other).T).round(9)
    array([[0., 0., 0., 0., 1., 0.]])
    """
    return span(A @ kernel(np.hstack([A, -B]))[: A.shape[1]])


def algebra(twists: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the smallest Lie algebra that contains the twists: their span, closed under brackets."""
    basis = span(twists)
    while True:
        products = (
            (bracket(basis.T) @ basis).transpose(1, 0, 2).reshape(6, -1) if basis.size else basis
        )
        grown = span(np.hstack([basis, products]))
        if grown.shape[1] == basis.shape[1]:
            return basis
        basis = grown


@displayed
@dataclass(frozen=True)
class Subgroup:
    """One of the twelve subgroups of the rigid motions.

    Attributes
    ----------
    symbol : str
        R, P, H, C, E and S are those of the lower pairs; T2 and T3 translations, Y (Rojas' g_V) translation in a plane
        with a screw normal to it, X Schoenflies' motions, I the identity and D all rigid motions.
    axis : tuple of float, optional
        The unit direction of the line, of the plane's normal, or of the rotation.
    point : tuple of float, optional
        A point of the line (the one nearest to the origin), or the centre.
    pitch : float, optional
        The advance a radian of a screw.
    basis : ndarray
        An orthonormal basis of its Lie algebra, 6 x dimension.
    """

    symbol: str
    axis: Vector | None = None
    point: Vector | None = None
    pitch: float | None = None
    basis: np.ndarray = field(default_factory=lambda: np.zeros((6, 0)), repr=False, compare=False)

    @property
    def dimension(self) -> int:
        return SUBGROUPS[self.symbol][0]

    @property
    def name(self) -> str:
        """What its motions are, in words."""
        return SUBGROUPS[self.symbol][1]

    @property
    def brief(self) -> str:
        """Its symbol and direction, as in 'E normal to (0, 0, 1)'."""
        return (
            self.symbol
            if self.axis is None
            else f"{self.symbol} {SUBGROUPS[self.symbol][2]} {_text(self.axis)}"
        )

    def placed(self, centre: np.ndarray, length: float) -> Subgroup:
        """The same subgroup, found with lengths in units of `length` from `centre`, where it stands in the world."""
        point = self.point
        if point is not None:
            there = centre + length * np.array(point)
            if self.axis is not None:  # of a line's points the one nearest to the new origin
                there -= np.array(self.axis) * np.dot(self.axis, there)
            point = _vector(there)
        return replace(self, point=point, pitch=None if self.pitch is None else length * self.pitch)

    def __str__(self) -> str:
        words = [self.name]
        if self.axis is not None:
            words.append(f"{SUBGROUPS[self.symbol][2]} {_text(self.axis)}")
        if self.point is not None:
            words.append(f"{'through' if self.axis else 'centred at'} {_text(self.point)}")
        if self.pitch is not None:
            words.append(f"pitch {self.pitch:.6g}")
        return f"{self.symbol}: {', '.join(words)}"


def subgroup(twists: np.ndarray) -> Subgroup:
    """The smallest subgroup that contains the motions with these twists (Rojas, 2.3, groups 1 to 12).

    The kind follows from how many of its twists are independent and how many of these are translations: rotations
    about 0, 1 or 3 directions can be had (never 2, as two generate the third), and dimension 5 does not occur.

    >>> parallel = np.array([[0, 0, 1, 0, 0, 0], [0, 0, 1, 0, -1, 0], [0, 0, 1, 2, 0, 0.0]]).T
    >>> print(subgroup(parallel))
    E: planar motion, normal to (0, 0, 1)
    >>> subgroup(parallel[:, :2]).symbol, subgroup(parallel[:, :1]).symbol
    ('E', 'R')
    """
    basis = algebra(np.asarray(twists, dtype=float).reshape(6, -1))
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


def _translations(basis: np.ndarray, slides: np.ndarray) -> Subgroup:
    symbol = ("I", "P", "T2", "T3")[slides.shape[1]]
    if symbol == "P":
        return Subgroup(symbol, axis=_direction(slides[:, 0]), basis=basis)
    if symbol == "T2":
        return Subgroup(symbol, axis=_direction(np.cross(*slides.T)), basis=basis)
    return Subgroup(symbol, basis=basis)


def _about_one_direction(
    basis: np.ndarray, e: np.ndarray, v: np.ndarray, slides: np.ndarray
) -> Subgroup:
    """The subgroups whose rotations share the direction e; (e, v) is one of their screws."""
    axis, pitch = _direction(e), float(e @ v)
    point = _vector(hat(e) @ v)
    screw = None if abs(pitch) < NO_PITCH else pitch
    match slides.shape[1]:
        case 0:
            return Subgroup("H" if screw else "R", axis, point, screw, basis)
        case 1:
            return Subgroup("C", axis, point, None, basis)
        case 2:
            return Subgroup("Y" if screw else "E", axis, None, screw, basis)
        case _:
            return Subgroup("X", axis, None, None, basis)


def _direction(u: np.ndarray) -> Vector:
    """The unit vector of a line: of its two senses the one whose largest component is positive."""
    u = u / np.linalg.norm(u)
    largest = u[np.flatnonzero(np.abs(u) > np.abs(u).max() - 1e-9)[0]]
    return _vector(u * np.sign(largest))


def _vector(u: np.ndarray) -> Vector:
    x, y, z = (float(c) for c in u)
    return x, y, z


def _text(u: Vector) -> str:
    return f"({', '.join(f'{c:.4g}' for c in np.round(u, 9) + 0.0)})"
