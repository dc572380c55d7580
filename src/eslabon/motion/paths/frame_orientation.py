"""How a frame stands along a curve: fixed, turning between given orientations, or following the
curve.

An orientation gives, at the parameter s, the rotation R, its rate w (the angular velocity for ds/dt
= 1, in the ground's axes: R' = ŵ R) and the derivative w' of that rate. A law s(t) makes of them ω
= w ds/dt and dω/dt = w' (ds/dt)² + w d²s/dt².
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from eslabon.displays import displayed
from eslabon.errors import suggest
from eslabon.motion.paths import path_arguments
from eslabon.motion.paths.arc_length import Indices, Primitive, panel_of
from eslabon.motion.paths.path_arguments import Floats, PathError
from eslabon.motion.paths.space_curve import (
    STRAIGHT,
    Curve,
    apparatus,
    dot,
    require_curved,
    smooth_panels,
    tangent,
    torsion_rate,
    turn_rate,
)
from eslabon.numerics import rotation_about, rotation_from_invariants


@displayed(line=True)
class Attitude(NamedTuple):
    """A rotation (..., 3, 3), its rate by s (..., 3) in the ground's axes, and the derivative of
    that rate by s.

    >>> import numpy as np
    >>> import eslabon as es
    >>> attitude = es.paths.fixed(np.eye(3))(0.5)
    >>> attitude.rotation.shape, attitude.rate
    ((3, 3), array([0., 0., 0.]))
    """

    rotation: Floats
    rate: Floats
    rate_change: Floats


@displayed
@dataclass(frozen=True, eq=False, repr=False)
class Orientation:
    """A rotation that depends on s: call it with parameters of any shape to get its `Attitude`.

    >>> import eslabon as es
    >>> es.paths.turning([es.algebra.rotation_z(0.0), es.algebra.rotation_z(1.0)])
    <Orientation: one turn>
    """

    name: str
    at: Callable[[Floats], Attitude]

    def __call__(self, s: ArrayLike) -> Attitude:
        return self.at(path_arguments.numbers(s, "s"))

    def __repr__(self) -> str:
        return f"<Orientation: {self.name}>"

    def turned(self, rotation: ArrayLike) -> Orientation:
        """The orientation of a tool that stands on this frame, turned by a fixed rotation: R(s)
        times it.

        >>> from eslabon.numerics import rotation_y
        >>> from eslabon.motion.paths import line
        >>> tool = minimal(line([0, 0, 0], [1, 0, 0])).turned(rotation_y(np.pi / 2))
        >>> tool(0.5).rotation[:, 2]  # the tool's z along the line
        array([1., 0., 0.])
        """
        tool = path_arguments.rotations(rotation, "the tool's rotation")

        def at(s: Floats) -> Attitude:
            attitude = self.at(s)
            return attitude._replace(rotation=attitude.rotation @ tool)

        return Orientation(f"{self.name}, turned", at)


# --- given orientations ------------------------------------------------------------------------------------------


def fixed(rotation: ArrayLike) -> Orientation:
    """The same orientation everywhere.

    >>> fixed(np.eye(3))(0.5).rate
    array([0., 0., 0.])
    """
    R = path_arguments.rotations(rotation, "the orientation")
    if R.ndim != 2:
        raise PathError(f"a fixed orientation is one 3x3 matrix; its shape is {R.shape}.")

    def at(s: Floats) -> Attitude:
        still = np.zeros((*s.shape, 3))
        return Attitude(np.broadcast_to(R, (*s.shape, 3, 3)), still, still)

    return Orientation("fixed orientation", at)


def turning(orientations: ArrayLike, knots: ArrayLike | None = None) -> Orientation:
    """Turning from orientation to orientation, the short way.

    Two are joined by one turn at constant rate (slerp); more by a spline whose angular velocity and
    acceleration are continuous; let each be well within half a turn of the next, or SciPy's spline
    settles only roughly.

    Parameters
    ----------
    orientations : array_like, n x 3 x 3
        The rotation matrices.
    knots : array_like, n The parameters at which they are met, increasing, scaled to 0 ... 1;
        evenly spaced if left out.

    >>> from eslabon.numerics import rotation_z
    >>> turning([np.eye(3), rotation_z(1.0)])(0.25).rate.round(12)
    array([0., 0., 1.])
    """
    from scipy.spatial.transform import Rotation, RotationSpline

    R = path_arguments.rotations(orientations, "the orientations")
    if R.ndim != 3 or len(R) < 2:
        raise PathError(
            f"turning needs at least two 3x3 matrices in a list; the shape is {R.shape}."
        )
    u = (
        np.linspace(0, 1, len(R))
        if knots is None
        else path_arguments.increasing(knots, len(R), "knots")
    )
    spline = RotationSpline((u - u[0]) / (u[-1] - u[0]), Rotation.from_matrix(R))

    def at(s: Floats) -> Attitude:
        flat = s.reshape(-1)
        R = spline(flat).as_matrix().reshape(*s.shape, 3, 3)
        # SciPy's rates are in the turning axes; those of the acceleration carry over alike, for ω ×
        # ω = 0.
        w, dw = ((R @ spline(flat, order).reshape(*s.shape, 3, 1))[..., 0] for order in (1, 2))
        return Attitude(R, w, dw)

    return Orientation("one turn" if len(R) == 2 else f"turning through {len(R)} orientations", at)


# --- the Frenet frame --------------------------------------------------------------------------------------------

# How many places of each panel are looked at for a vanishing curvature, and what part of the
# greatest is none.
PLACES = 17
VANISHING = 1e-6

# How far the frame may turn across a joint of two pieces.
JUMP = 1e-5


def frenet(curve: Curve) -> Orientation:
    """The frame R = [e_t, e_n, e_b] of tangent, normal and binormal (Rojas, 3.6).

    With the Darboux vector δ = τ e_t + κ e_b its rate is w = |p'| δ, and w' = (e_t·p'') δ + |p'|
    (τ' e_t + κ' e_b); the print swaps two components of ω and has γ̇ for γ̈. The frame does not
    exist where the curve is straight or has an inflection: a PathError that names the place.

    >>> from eslabon.motion.paths import helix
    >>> spring = helix([0, 0, 0], [1, 0, 0], [0, 0, 1], angle=2.0, pitch=1.0)
    >>> frenet(spring)(0.5).rate.round(12) + 0.0
    array([0., 0., 2.])
    """
    _refuse_inflections(curve)
    _refuse_jumps(curve)

    def at(s: Floats) -> Attitude:
        f = apparatus(curve, s)
        e_t, e_b = f.frame[..., 0], f.frame[..., 2]
        darboux = f.torsion[..., None] * e_t + f.curvature[..., None] * e_b
        change = torsion_rate(curve, s, f)[..., None] * e_t + f.curvature_rate[..., None] * e_b
        growth, speed = dot(e_t, curve.derivative(s, 2))[..., None], f.speed[..., None]
        return Attitude(f.frame, speed * darboux, growth * darboux + speed * change)

    return Orientation("Frenet frame", at)


def _refuse_inflections(curve: Curve) -> None:
    """A PathError if the tangent stops turning anywhere, also between the places looked at."""
    from scipy.optimize import minimize_scalar

    def rate(s: Any) -> Any:
        return np.linalg.norm(
            turn_rate(curve.derivative(np.asarray(s), 1), curve.derivative(np.asarray(s), 2)),
            axis=-1,
        )

    knots = smooth_panels(curve)
    s = (knots[:-1, None] + np.diff(knots)[:, None] * np.linspace(1e-9, 1 - 1e-9, PLACES)).reshape(
        -1
    )
    found = rate(s)
    require_curved(curve, s, found)
    lowest = (found[1:-1] <= np.minimum(found[:-2], found[2:])) & (found[1:-1] < 0.1 * found.max())
    for k in np.flatnonzero(lowest) + 1:
        low = minimize_scalar(
            rate, bounds=(s[k - 1], s[k + 1]), method="bounded", options={"xatol": 1e-12}
        )
        require_curved(
            curve, np.array([low.x]), np.where(low.fun < VANISHING * found.max(), 0.0, 1.0)
        )


def _refuse_jumps(curve: Curve) -> None:
    """A PathError if the frame jumps from one piece to the next, as from an arc to one that bends
    the other way."""
    for s in curve.breaks[1:-1]:
        before, after = apparatus(curve, np.array([s - 1e-9, s + 1e-9])).frame
        if np.abs(after - before).max() > JUMP:
            raise PathError(
                f"the Frenet frame of the {curve.name} jumps at {path_arguments.place(s)}, where the curve bends another way; "
                'use orientation="minimal", the rotation-minimising frame.'
            )


# --- the rotation-minimising frame -------------------------------------------------------------------------------


class MinimalFrame:
    """R(s) = (turn about e_t by ψ) (shortest turn from the panel's first tangent to e_t) R(panel's
    first knot).

    The shortest turn from a unit vector a to e_t spins about e_t at -(a × e_t)·e_t' / (1 + a·e_t);
    ψ is the integral of its opposite, so that nothing is left of the spin. Panels are short, so the
    two vectors never are opposite.
    """

    def __init__(self, curve: Curve, normal: Floats | None) -> None:
        self.curve = curve
        self.knots = smooth_panels(curve)
        self.tangents = tangent(curve, self.knots)
        self.spin = Primitive(self._spin, self.knots)
        frames = [_first_frame(curve, normal)]
        for step in self._step(np.arange(len(self.knots) - 1), self.knots[1:]):
            frames.append(step @ frames[-1])
        self.frames = np.stack(frames)

    def _spin(self, s: Floats, panel: Indices) -> Floats:
        first, e_t = self.tangents[panel], tangent(self.curve, s)
        rate = np.cross(turn_rate(self.curve.derivative(s, 1), self.curve.derivative(s, 2)), e_t)
        return np.asarray(dot(np.cross(first, e_t), rate) / (1 + dot(first, e_t)))

    def _step(self, panel: Indices, s: Floats) -> Floats:
        """The turn from a panel's first knot to s."""
        first, e_t = self.tangents[panel], tangent(self.curve, s)
        shortest = np.concatenate([dot(first, e_t)[..., None], np.cross(first, e_t)], axis=-1)
        return np.asarray(
            rotation_about(e_t, self.spin.over(panel, s)) @ rotation_from_invariants(shortest)
        )

    def at(self, s: Floats) -> Attitude:
        panel = panel_of(self.knots, s)
        p1, p2, p3 = (self.curve.derivative(s, order) for order in (1, 2, 3))
        rate, square = turn_rate(p1, p2), dot(p1, p1)
        change = turn_rate(p1, p3) - (2 * dot(p1, p2) / square)[..., None] * rate
        return Attitude(self._step(panel, s) @ self.frames[panel], rate, change)


def minimal(curve: Curve, normal: ArrayLike | None = None) -> Orientation:
    """The rotation-minimising frame [e_t, n, b], which follows the tangent and never spins about it
    (Bishop, 1975).

    Its rate is w = p' × p'' / |p'|². Where the curve is straight the frame stands still, and an
    inflection does it no harm. On a closed curve it comes back turned about the tangent.

    Parameters
    ----------
    curve : Curve
        The curve to follow.
    normal : array_like, 3, optional Where the second axis points at the start, as nearly as the
        tangent lets it. Left out, it is the curve's own normal if it has one there, and otherwise
        square to the coordinate axis farthest from the tangent.

    >>> from eslabon.motion.paths import arc
    >>> minimal(arc([0, 0, 0], [1, 0, 0], [0, 0, 1], np.pi))(0.5).rotation.round(12) + 0.0
    array([[-1.,  0.,  0.],
           [ 0., -1.,  0.],
           [ 0.,  0.,  1.]])
    """
    frame = MinimalFrame(
        curve, None if normal is None else path_arguments.direction(normal, "the normal")
    )
    return Orientation("minimal frame", frame.at)


def _first_frame(curve: Curve, normal: Floats | None) -> Floats:
    start = np.array(0.0)
    e_t = tangent(curve, start)
    if normal is None:
        about = turn_rate(curve.derivative(start, 1), curve.derivative(start, 2))
        bent = np.linalg.norm(about) > STRAIGHT
        normal = np.cross(about, e_t) if bent else np.cross(e_t, np.eye(3)[np.argmin(np.abs(e_t))])
    across = normal - (normal @ e_t) * e_t
    if np.linalg.norm(across) <= path_arguments.SAME * np.linalg.norm(normal):
        raise PathError("the normal lies along the curve's first tangent; give one across it.")
    second = across / np.linalg.norm(across)
    return np.stack([e_t, second, np.cross(e_t, second)], axis=-1)


# --- whatever a user gives ---------------------------------------------------------------------------------------

FOLLOWING = {"frenet": frenet, "minimal": minimal}


def orientation_along(curve: Curve, given: Orientation | str | ArrayLike | None) -> Orientation:
    """An orientation from its name, a rotation matrix, or a list of them; without any, the ground's
    own axes."""
    if isinstance(given, Orientation):
        return given
    if isinstance(given, str):
        if given not in FOLLOWING:
            raise PathError(f"no orientation is called {given!r}{suggest(given, FOLLOWING)}")
        return FOLLOWING[given](curve)
    made = np.eye(3) if given is None else path_arguments.numbers(given, "the orientation")
    return fixed(made) if made.ndim <= 2 else turning(made)
