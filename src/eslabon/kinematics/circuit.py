"""Once around a loop: the relative motion of a cut joint's two frames, by the joints between them and no others.

The walk starts at the second frame, goes inward to the body both ends stand on, then outward to the first frame, and
keeps where the second frame stands in the frame it has reached. That pose turns a joint's twists into the second frame,
so that the Jacobian costs little more than the pose; differentiating the residual by all coordinates costs ten times as
much, and finds zeros only as numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi

from eslabon.algebra.arrays import is_symbolic
from eslabon.kinematics.tree import Placement, across, chain, coordinates, fixed, velocities
from eslabon.model import Joint, JointKind, Loop, Mechanism

SX = Any  # casadi.SX
Path = list[tuple[Joint, bool]]  # joints, and whether each is passed toward the ground


@dataclass(frozen=True)
class Circuit:
    """The second frame in the first, and its relative twist J v = V with V' = J v' + drift, in the second frame."""

    R: SX
    p: SX
    J: SX
    V: SX
    drift: SX


def circuits(m: Mechanism, q: SX, v: SX) -> list[Circuit]:
    """The relative motion of every loop's frames."""
    paths = [_path(m, loop) for loop in m.loops]
    passed = {joint.name: joint for path in paths for joint, _ in path}
    poses = {name: _leaned(across(m, q, joint)) for name, joint in passed.items()}
    return [_walked(m, q, v, loop, path, poses) for loop, path in zip(m.loops, paths, strict=True)]


def _path(m: Mechanism, loop: Loop) -> Path:
    """The joints from the second frame to the first."""
    first, second = (chain(m, end.body) for end in (loop.first, loop.second))
    common = sum(a.name == b.name for a, b in zip(first, second, strict=False))
    return [(joint, True) for joint in reversed(second[common:])] + [(joint, False) for joint in first[common:]]


def _walked(m: Mechanism, q: SX, v: SX, loop: Loop, path: Path, poses: dict[str, Placement]) -> Circuit:
    R, p = _leaned(fixed(loop.second.at))
    J, V, drift = casadi.SX(6, m.nv), casadi.SX(6, 1), casadi.SX(6, 1)
    for joint, inward in path:
        Q, t = poses[joint.name]
        if not inward:
            R, p = _product(Q.T, R), _product(Q.T, p - t)
        if joint.nv:
            own, rates = coordinates(m, q, joint), velocities(m, v, joint)
            S = _seen(R, p, joint.kind.motion(own))
            S = S if inward else -S
            twist = _product(S, rates)
            J[:, m.velocities[joint.name]] = S
            drift = _lean(drift - _bracket(V, twist))
            V = _lean(V + twist)
            change = joint.kind.motion_rate(own, rates)
            if is_symbolic(change):  # otherwise the twists are fixed in the body, and the change is zero
                change = _seen(R, p, _product(change, rates))
                drift = _lean(drift + change if inward else drift - change)
        if inward:
            R, p = _product(Q, R), _lean(_product(Q, p) + t)
    Q, t = _leaned(fixed(loop.first.at))
    return Circuit(_product(Q.T, R), _product(Q.T, p - t), J, V, drift)


def held(kind: JointKind, x: Circuit) -> tuple[SX, SX, SX]:
    """The residual of a cut joint, its Jacobian J and gamma: the second derivative is J v' - gamma.

    The residual is differentiated by the pose alone, R' = R skew(w) and p' = R u for the twist (w, u).
    """
    R, p, V = casadi.SX.sym("R", 3, 3), casadi.SX.sym("p", 3), casadi.SX.sym("V", 6)
    pose = casadi.vertcat(casadi.vec(R), p)
    turning = [casadi.vec(casadi.mtimes(R, casadi.skew(casadi.SX.eye(3)[:, k]))) for k in range(3)]
    rates = casadi.diagcat(casadi.horzcat(*turning), R)
    residual = casadi.SX(kind.residual(R, p))
    G = casadi.mtimes(casadi.jacobian(residual, pose), rates)
    change = casadi.jtimes(casadi.mtimes(G, V), pose, casadi.mtimes(rates, V))
    seen = [casadi.densify(value) for value in (x.R, x.p, x.V)]
    residual, G, change = (_lean(y) for y in casadi.substitute([residual, G, change], [R, p, V], seen))
    return residual, _product(G, x.J), _lean(-change - _product(G, x.drift))


def _seen(R: SX, p: SX, twists: Any) -> SX:
    """Twists of a frame, as those of the frame that stands at (R, p) in it and moves with it."""
    twists = _lean(twists)
    spin, slide = twists[:3, :], twists[3:, :]
    return casadi.vertcat(_product(R.T, spin), _product(R.T, slide - casadi.mtimes(casadi.skew(p), spin)))


def _bracket(V: SX, T: SX) -> SX:
    """How a twist T changes in a frame that moves with the twist V, but for its sign."""
    (w, u), (spin, slide) = (V[:3], V[3:]), (T[:3], T[3:])
    return casadi.vertcat(casadi.cross(w, spin), casadi.cross(w, slide) + casadi.cross(u, spin))


def _lean(x: Any) -> SX:
    return casadi.sparsify(x if isinstance(x, casadi.SX) else casadi.SX(x))


def _leaned(placed: Placement) -> Placement:
    return _lean(placed[0]), _lean(placed[1])


def _product(a: SX, b: SX) -> SX:
    return casadi.sparsify(casadi.mtimes(a, b))
