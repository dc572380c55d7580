"""What every curve in space answers: its derivatives, length, curvature and torsion (Rojas, 3.6).

A curve p(s) runs from s = 0 to 1. Primes are derivatives by s.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from eslabon.displays import displayed
from eslabon.errors import format_value
from eslabon.motion.paths.arc_length import Primitive, panels
from eslabon.motion.paths.path_arguments import Floats, PathError, numbers, place, whole

# A tangent that turns less than this many radians per unit of s does not turn: what rounding leaves
# of a straight line.
STRAIGHT = 1e-9

HIGHEST_ORDER = 4
WHOLE = np.array([0.0, 1.0])


@displayed(also=("length",))
@dataclass(frozen=True, eq=False, repr=False)
class Curve:
    """A curve p(s), 0 <= s <= 1: call it with parameters, and with the order of the derivative, up
    to the fourth.

    `derivative(s, order)` gives that derivative, the value for 0, at parameters of any shape.
    Between the parameters `breaks`, from 0 to 1, all derivatives are continuous. `even` says that
    |p'| is the same everywhere. `knots` are the parameters of a spline's points, or of the joints
    of a chain, which has its curves as `pieces`.

    >>> import eslabon as es
    >>> line = es.paths.line([0, 0, 0], [3, 4, 0])
    >>> line(0.5), line.length
    (array([1.5, 2. , 0. ]), 5.0)
    """

    name: str
    derivative: Callable[[Floats, int], Floats]
    breaks: Floats = field(default_factory=lambda: WHOLE)
    even: bool = False
    knots: Floats | None = None
    pieces: tuple[Curve, ...] = ()

    def __call__(self, s: ArrayLike, order: int = 0) -> Floats:
        wanted = whole(
            order,
            0,
            HIGHEST_ORDER,
            "a curve has its value and four derivatives, order 0 to 4; order",
        )
        return self.derivative(numbers(s, "s"), wanted)

    def __repr__(self) -> str:
        return f"<Curve: {self.name}, {self.length:.6g} m long>"

    @cached_property
    def length(self) -> float:
        """The length of the curve.

        >>> from eslabon.motion.paths import line
        >>> line([0, 0, 0], [3, 4, 0]).length
        5.0
        """
        return float(self.travelled.totals[-1])

    @cached_property
    def travelled(self) -> Primitive:
        """The length from the start to s, as a function of s.

        >>> import numpy as np
        >>> from eslabon.motion.paths import arc
        >>> float(arc([0, 0, 0], [1, 0, 0], [0, 0, 1], np.pi).travelled(0.5).round(9))
        1.570796327
        """

        knots, _ = panels(
            lambda s: self.derivative(s, 1), lambda s: self.derivative(s, 2), self.breaks
        )
        return Primitive(lambda s, _: np.linalg.norm(self.derivative(s, 1), axis=-1), knots)

    def tangent(self, s: ArrayLike) -> Floats:
        """The unit tangent e_t = p'/|p'|.

        >>> from eslabon.motion.paths import line
        >>> line([0, 0, 0], [3, 4, 0]).tangent(0.5)
        array([0.6, 0.8, 0. ])
        """
        return tangent(self, numbers(s, "s"))

    def curvature(self, s: ArrayLike) -> Floats:
        """The curvature κ = |p' × p''| / |p'|³, in 1/m (Rojas, 3.6); zero where the curve is
        straight.

        >>> import numpy as np
        >>> from eslabon.motion.paths import arc
        >>> float(arc([0, 0, 0], [2, 0, 0], [0, 0, 1], np.pi).curvature(0.5).round(9))
        0.5
        """
        p1, p2 = self(s, 1), self(s, 2)
        tangent(self, numbers(s, "s"))  # without one there is no curvature either
        return np.linalg.norm(np.cross(p1, p2), axis=-1) / np.linalg.norm(p1, axis=-1) ** 3

    def torsion(self, s: ArrayLike) -> Floats:
        """The torsion τ = p'·(p'' × p''') / |p' × p''|², in 1/m (Rojas, 3.6); a PathError where the
        curve is straight."""
        return apparatus(self, numbers(s, "s")).torsion

    def curvature_rate(self, s: ArrayLike) -> Floats:
        """The derivative κ' of the curvature by s; a PathError where the curve is straight."""
        return apparatus(self, numbers(s, "s")).curvature_rate

    def torsion_rate(self, s: ArrayLike) -> Floats:
        """The derivative τ' of the torsion by s; a PathError where the curve is straight."""
        return torsion_rate(self, numbers(s, "s"), apparatus(self, numbers(s, "s")))

    def part(self, start: float, end: float) -> Curve:
        """The curve from one parameter to another; backwards if `end` is less than `start`.

        >>> from eslabon.motion.paths import line
        >>> line([0, 0, 0], [4, 0, 0]).part(0.5, 0.25)([0, 1])
        array([[2., 0., 0.],
               [1., 0., 0.]])
        """
        a, b = numbers([start, end], "the part of the curve")
        if a == b:
            raise PathError(f"the part of a curve needs two different ends; both are {a:g}.")
        stretch, mapped = b - a, (self.breaks - a) / (b - a)
        inner = mapped[(mapped > 0.0) & (mapped < 1.0)]
        return Curve(
            f"{self.name} {'reversed' if (a, b) == (1.0, 0.0) else 'in part'}",
            lambda s, order: stretch**order * self.derivative(a + stretch * s, order),
            np.unique([0.0, *inner, 1.0]),
            self.even,
        )

    def reversed(self) -> Curve:
        """The curve run backwards.

        >>> from eslabon.motion.paths import line
        >>> line([0, 0, 0], [3, 4, 0]).reversed()(0.0)
        array([3., 4., 0.])
        """
        return self.part(1.0, 0.0)


# --- tangent, curvature, torsion ---------------------------------------------------------------------------------


def dot(a: Floats, b: Floats) -> Any:
    """The scalar product over the last axis."""
    return np.einsum("...i,...i->...", a, b)


def tangent(curve: Curve, s: Floats) -> Floats:
    """The unit tangent; a PathError where p' vanishes."""
    p1 = curve.derivative(s, 1)
    speed = np.linalg.norm(p1, axis=-1)
    still = s[speed == 0.0]
    if still.size:
        raise PathError(
            f"the {curve.name} has no tangent at {place(still.flat[0])}, for its derivative is zero there; "
            "give a fixed or interpolated orientation."
        )
    return np.asarray(p1 / speed[..., None])


def as_curve(curve: Any) -> Curve:
    """The curve itself, or a sentence."""
    if not isinstance(curve, Curve):
        raise PathError(
            f"a curve is expected, such as paths.line(a, b); this is {format_value(curve)}."
        )
    return curve


def smooth_panels(curve: Curve) -> Floats:
    """Knots between which the tangent turns little; a PathError where it turns at once."""

    as_curve(curve)

    def turning(s: Floats) -> Floats:
        return turn_rate(curve.derivative(s, 1), curve.derivative(s, 2))

    knots, jumps = panels(lambda s: tangent(curve, s), turning, curve.breaks)
    if jumps.size:
        raise PathError(
            f"the {curve.name} has a cusp or corner near {place(jumps[0])}; take the parts on either side of it and "
            "join their paths with then."
        )
    return knots


def turn_rate(p1: Floats, p2: Floats) -> Floats:
    """The vector p' × p'' / |p'|²: how fast the tangent turns, and about what."""
    return np.asarray(np.cross(p1, p2) / dot(p1, p1)[..., None])


class Apparatus(NamedTuple):
    """The frame [e_t, e_n, e_b] of a curve, |p'|, curvature and torsion, and the derivative of the
    curvature by s."""

    frame: Floats
    speed: Floats
    curvature: Floats
    torsion: Floats
    curvature_rate: Floats


def apparatus(curve: Curve, s: Floats) -> Apparatus:
    """The Frenet apparatus of a curve (Rojas, 3.6), with κ' = (e_n·p''' - 3 (p'·p'') κ) / |p'|²."""
    e_t = tangent(curve, s)
    p1, p2, p3 = (curve.derivative(s, order) for order in (1, 2, 3))
    require_curved(curve, s, np.linalg.norm(turn_rate(p1, p2), axis=-1))
    about = np.cross(p1, p2)
    size, speed = np.linalg.norm(about, axis=-1), np.linalg.norm(p1, axis=-1)
    e_b = about / size[..., None]
    e_n = np.cross(e_b, e_t)
    curvature, torsion = size / speed**3, dot(about, p3) / size**2
    curvature_rate = (dot(e_n, p3) - 3 * dot(p1, p2) * curvature) / speed**2
    return Apparatus(np.stack([e_t, e_n, e_b], axis=-1), speed, curvature, torsion, curvature_rate)


def torsion_rate(curve: Curve, s: Floats, at: Apparatus) -> Floats:
    """τ' = (p' × p'')·p'''' / (|p'|⁶ κ²) - 6 (p'·p'') τ / |p'|² - 2 κ' τ / κ; the print drops a τ
    and a prime (3.6)."""
    p1, p2, p4 = (curve.derivative(s, order) for order in (1, 2, 4))
    return np.asarray(
        dot(np.cross(p1, p2), p4) / (at.speed**6 * at.curvature**2)
        - 6 * dot(p1, p2) * at.torsion / at.speed**2
        - 2 * at.curvature_rate * at.torsion / at.curvature
    )


def require_curved(curve: Curve, s: Floats, size: Floats) -> None:
    """A PathError where the tangent does not turn."""
    straight = s[size <= STRAIGHT]
    if straight.size:
        raise PathError(
            f"the {curve.name} is straight at {place(straight.flat[0])}, where no Frenet frame exists; "
            'use orientation="minimal", the rotation-minimising frame.'
        )
