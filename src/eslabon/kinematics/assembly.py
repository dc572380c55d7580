"""Closing loops, for whole batches at once: assembly from prescribed joints or from the pose of a frame.

Newton's steps on the loops' residuals are native code: damped least squares over the coordinates that are free, with
redundant rows left in. A far target is approached along the straight way from where the guess stands, so that the
mechanism stays on its branch; each of the short ways is closed again before the next.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from eslabon.errors import AssemblyError, ModelError, SingularityError, SingularityWarning
from eslabon.graph.native.arguments import as_floats
from eslabon.kinematics.closure import (
    CLOSED,
    RANK,
    close,
    constraint,
    constraint_jacobian,
    generic,
    jacobian_at,
    partition,
    row_names,
    tidy,
)
from eslabon.kinematics.frames import chosen_frame, placement
from eslabon.kinematics.tree import coordinate_rates, relative
from eslabon.model import Mechanism
from eslabon.model.joints import Fixed

Floats = np.ndarray
STRIDE = 0.25  # radians or metres that a prescribed joint moves between two closings
ROUND_OFF = 1e-13


@dataclass(frozen=True)
class Prescription:
    """What is given: joints by name, or the pose of a frame."""

    joints: tuple[str, ...] = ()
    frame: str | None = None

    def coordinates(self, m: Mechanism) -> list[int]:
        return [k for name in self.joints for k in range(m.nq)[m.coordinates[name]]]

    def velocities(self, m: Mechanism) -> list[int]:
        return [k for name in self.joints for k in range(m.nv)[m.velocities[name]]]


@lru_cache(maxsize=256)
def _stepper(m: Mechanism, given: Prescription) -> Callable[..., tuple[Floats, Floats]]:
    """(q, target, damping) -> the next q and the residual of this one."""
    import casadi

    from eslabon.formulations.factor import factors
    from eslabon.graph import native

    q, mu = casadi.SX.sym("q", m.nq), casadi.SX.sym("mu")
    R, p = casadi.SX.sym("R", 3, 3), casadi.SX.sym("p", 3)
    rows = [casadi.SX(constraint(m, q))]
    if given.frame is not None:
        rows.append(casadi.SX(Fixed().residual(*relative((R, p), placement(m, q, chosen_frame(m, given.frame))))))
    phi, N = casadi.vertcat(*rows), coordinate_rates(m, q)
    free = [k for k in range(m.nv) if k not in given.velocities(m)]
    J = casadi.mtimes(casadi.jacobian(phi, q), N)[:, free]
    normal = casadi.sparsify(casadi.mtimes(J.T, J) + mu * casadi.SX.eye(len(free)))
    step = factors(normal).solve(-casadi.mtimes(J.T, phi))
    longest = casadi.fmax(1.0, casadi.mmax(casadi.fabs(step))) if free else 1  # no joint turns over a radian at once
    full = casadi.SX(m.nv, 1)
    if free:
        full[free] = step / longest
    moved = casadi.SX(q + casadi.mtimes(N, full))
    for joint in m.joints:
        if joint.nq != joint.nv:
            place = range(m.nq)[m.coordinates[joint.name]][-4:]
            moved[list(place)] = moved[list(place)] / casadi.norm_2(moved[list(place)])
    f = casadi.Function("closing", [q, R, p, mu], casadi.cse([moved, phi]))
    arguments = [
        native.Argument("q", (m.nq,), "coordinates"),
        native.Argument("R"),
        native.Argument("p"),
        native.Argument("mu", ()),
    ]
    return native.compile(f, inputs=arguments, name="closing", owner=m.name)


def _solve(
    m: Mechanism, given: Prescription, q: Floats, R: Floats, p: Floats, iterations: int = 60
) -> tuple[Floats, Floats]:
    """Closed postures from a batch of starts, (k, nq), and what is left open in each."""
    step = _stepper(m, given)
    q = q.copy()
    damping = np.full(len(q), 1e-4)
    trial, phi = step(q, R, p, damping)
    size = np.abs(phi).max(axis=-1, initial=0.0)
    active = np.flatnonzero(size > ROUND_OFF)
    for _ in range(iterations):
        if not len(active):
            break
        following, after = step(trial[active], R[active], p[active], damping[active])
        left = np.abs(after).max(axis=-1, initial=0.0)
        better = left < size[active]  # NaN is not better
        good, bad = active[better], active[~better]
        q[good], size[good], damping[good] = trial[good], left[better], damping[good] * 1e-2
        trial[good] = following[better]
        damping[bad] = np.maximum(damping[bad] * 30.0, 1e-9)
        stuck = (damping[bad] > 1e6) | (size[bad] < 1e-12)
        if len(bad):
            trial[bad] = step(q[bad], R[bad], p[bad], damping[bad])[0]
        active = np.concatenate([good[size[good] > ROUND_OFF], bad[~stuck]])
    return q, size


def assemble(
    m: Mechanism, values: Any = None, guess: Any = None, *, joints: tuple[str, ...] | None = None, pose: Any = None,
    frame: str | None = None, strict: bool = True,
) -> Floats:  # fmt: skip
    """Full coordinates that close the loops, for prescribed joints (the actuated ones, or `joints`) or a frame's pose."""
    given, values = _prescription(m, values, joints, pose, frame)
    start = as_floats(m_home(m) if guess is None else guess, "guess")
    if start.shape[-1:] != (m.nq,):
        raise ModelError(
            f"guess has {start.shape[-1] if start.ndim else 0} values in its last axis; {m.name} has {m.nq} coordinates."
        )
    core = 2 if given.frame is not None else 1
    lead = np.broadcast_shapes(values.shape[:-core], start.shape[:-1])
    start = np.broadcast_to(start, (*lead, m.nq)).reshape(-1, m.nq).copy()
    begin = start.copy()
    goal = np.broadcast_to(values, (*lead, *values.shape[-core:])).reshape(len(start), *values.shape[-core:])
    q, size = _by_pose(m, given, start, goal) if core == 2 else _by_joints(m, given, start, goal)
    if strict and not np.all(size < CLOSED):
        _refuse(m, given, q, size, goal)
    if core == 1:
        _warn_of_other_branches(m, given, begin, q)
    return q.reshape(*lead, m.nq)


def _warn_of_other_branches(m: Mechanism, given: Prescription, begin: Floats, end: Floats) -> None:
    """The branch of a posture is the sign of the determinant of its passive columns: where it differs, say so."""
    free = [k for k in range(m.nv) if k not in given.velocities(m)]
    rows = partition(m).rows
    if len(free) != len(rows) or not rows:
        return
    jacobian = _jacobian(m)
    signs = [np.sign(np.linalg.det(jacobian(q)[:, rows][:, :, free])) for q in (begin, end)]
    other = int((signs[0] * signs[1] < 0).sum())
    if other:
        which = "the posture" if len(end) == 1 else f"{other} of {len(end)} postures"
        warnings.warn(
            f"on the way to {which} {m.name} has passed a singular posture, and may stand on another branch than its guess; "
            "give a guess on the branch you want, or see m.assembly_modes.",
            SingularityWarning,
            stacklevel=4,
        )


@lru_cache(maxsize=256)
def _jacobian(m: Mechanism) -> Callable[[Floats], Floats]:
    import casadi

    from eslabon.graph import native

    q = casadi.SX.sym("q", m.nq)
    f = casadi.Function("closure_jacobian", [q], [casadi.cse(casadi.SX(constraint_jacobian(m, q)))])
    return native.compile(f, inputs=[native.Argument("q", (m.nq,), "coordinates")], owner=m.name)


@lru_cache(maxsize=256)
def _home(m: Mechanism) -> tuple[float, ...]:
    return tuple(close(m))


def m_home(m: Mechanism) -> Floats:
    """The closed posture nearest to the description's home."""
    return np.array(_home(m)) if m.closed else m.home()


def _prescription(
    m: Mechanism, values: Any, joints: tuple[str, ...] | None, pose: Any, frame: str | None
) -> tuple[Prescription, Floats]:
    if pose is not None:
        if values is not None or joints is not None:
            raise ModelError("assemble takes joint values or the pose of a frame, not both.")
        T = as_floats(pose, "pose")
        if T.shape[-2:] != (4, 4) or not np.all(np.isfinite(T)):
            raise ModelError(f"pose must be finite numbers of shape (..., 4, 4); it has shape {T.shape}.")
        return Prescription(frame=chosen_frame(m, frame).name), T
    names = m.actuated if joints is None else tuple(joints)
    given = Prescription(tuple(m.joint(name).name for name in names))
    count = len(given.coordinates(m))
    if not count and joints is None and m.closed:
        raise ModelError(
            f"{m.name} has no actuated joints; name the joints you prescribe, as in joints=('{m.joints[0].name}',)."
        )
    x = as_floats([] if values is None else values, "the prescribed values")
    if x.shape[-1:] != (count,):
        raise ModelError(
            f"the prescribed joints {', '.join(names)} have {count} coordinates; {x.shape[-1] if x.ndim else 0} values were given."
        )
    if not np.all(np.isfinite(x)):
        raise ModelError("the prescribed values are not all finite numbers.")
    return given, x


def _by_joints(m: Mechanism, given: Prescription, q: Floats, goal: Floats) -> tuple[Floats, Floats]:
    """From where the guesses stand to the goal, in strides."""
    places = given.coordinates(m)
    begin = q[:, places].copy()
    far = np.abs(goal - begin).max(axis=-1, initial=0.0)
    strides = max(1, int(np.ceil(far.max(initial=0.0) / STRIDE)))
    still = np.broadcast_to(np.eye(3), (len(q), 3, 3)), np.zeros((len(q), 3))
    size = np.full(len(q), np.inf)
    for k in range(1, strides + 1):
        share = np.minimum(1.0, k * STRIDE / np.maximum(far, 1e-300))[:, None]
        q[:, places] = goal if k == strides else begin + share * (goal - begin)
        q, size = _solve(m, given, tidy(m, q), *still)
    return q, size


def _by_pose(m: Mechanism, given: Prescription, q: Floats, T: Floats) -> tuple[Floats, Floats]:
    q, size = _solve(m, given, q, np.ascontiguousarray(T[:, :3, :3]), np.ascontiguousarray(T[:, :3, 3]))
    rng = np.random.default_rng(0)
    for k in range(20):  # other starts for those that did not close
        lost = np.flatnonzero(~(size < CLOSED))
        if not len(lost):
            break
        away = tidy(m, q[lost] + rng.normal(size=(len(lost), m.nq)) * (0.1 + 0.1 * k))
        again, left = _solve(
            m, given, away, np.ascontiguousarray(T[lost, :3, :3]), np.ascontiguousarray(T[lost, :3, 3])
        )
        better = left < size[lost]
        q[lost[better]], size[lost[better]] = again[better], left[better]
    return q, size


def _refuse(m: Mechanism, given: Prescription, q: Floats, size: Floats, goal: Floats) -> None:
    """Say which loop stays open, by how much, and what could be reached."""
    k = int(np.argmax(np.where(np.isfinite(size), size, np.inf)))
    phi = _stepper(m, given)(q[k], np.eye(3), np.zeros(3), 1e-6)[1] if given.frame is None else None
    many = f" ({int((~(size < CLOSED)).sum())} of {len(size)} postures; this is number {k})" if len(size) > 1 else ""
    if phi is None:
        raise AssemblyError(
            f"{m.name} cannot bring '{given.frame}' to this pose{many}: {size[k]:.3g} (m or rad) is left; try a guess nearer to it."
        )
    worst = row_names(m)[int(np.nanargmax(np.abs(phi)))]
    wanted = ", ".join(f"{x:.6g}" for x in goal[k])
    try:
        near = close(m, q[k], restarts=0)[given.coordinates(m)]
        hint = f"; the nearest that closes is about {', '.join(f'{x:.4g}' for x in near)}"
    except AssemblyError:
        hint = ""
    raise AssemblyError(
        f"{m.name} cannot be assembled with {', '.join(given.joints)} at {wanted}{many}: loop '{worst}' is left open by "
        f"{np.nanmax(np.abs(phi)):.3g} (m or rad){hint}."
    )


def assembly_modes(m: Mechanism, values: Any, *, joints: tuple[str, ...] | None = None, starts: int = 400) -> Floats:
    """The different ways the mechanism closes for prescribed joint values, (ways, nq), the one nearest home first."""
    given, x = _prescription(m, values, joints, None, None)
    if x.ndim != 1:
        raise ModelError("assembly_modes takes one set of values; call it for each.")
    rng = np.random.default_rng(0)
    home = m_home(m)
    q = np.array([home, *(tidy(m, rng.uniform(-np.pi, np.pi, m.nq)) for _ in range(starts))])
    for joint in m.joints:  # lengths stay in reach
        if joint.kind.kind == "prismatic":
            q[1:, m.coordinates[joint.name]] = home[m.coordinates[joint.name]] * rng.uniform(0.3, 1.7, (starts, 1))
    q[:, given.coordinates(m)] = x
    still = np.broadcast_to(np.eye(3), (len(q), 3, 3)), np.zeros((len(q), 3))
    q, size = _solve(m, given, q, *still, iterations=100)
    found: list[Floats] = []
    for posture in q[size < CLOSED]:
        if not any(_same(m, posture, other) for other in found):
            found.append(posture)
    if not found:
        _refuse(m, given, q[:1], size[:1], x[None])
    return np.array(sorted(found, key=lambda p: float(np.abs(_difference(m, p, home)).max())))


def _difference(m: Mechanism, q: Floats, other: Floats) -> Floats:
    """How far apart two postures are, turns counted within half a turn and quaternions up to sign."""
    d = q - other
    for joint in m.joints:
        place = m.coordinates[joint.name]
        if joint.kind.kind in ("revolute", "universal"):
            d[place] = (d[place] + np.pi) % (2 * np.pi) - np.pi
        elif joint.nq != joint.nv and q[place][-4:] @ other[place][-4:] < 0:
            d[place][-4:] = q[place][-4:] + other[place][-4:]
    return d


def _same(m: Mechanism, q: Floats, other: Floats) -> bool:
    return bool(np.abs(_difference(m, q, other)).max() < 1e-6)


# -- velocities and accelerations -------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _completer(m: Mechanism, given: Prescription) -> Callable[..., tuple[Floats, ...]]:
    """(q, va, aa) -> v, a of all joints, what is left of the velocity and acceleration equations, and the least pivot."""
    import casadi

    from eslabon.formulations.factor import factors
    from eslabon.graph import native

    fixed = given.velocities(m)
    free = [k for k in range(m.nv) if k not in fixed]
    q, va, aa = casadi.SX.sym("q", m.nq), casadi.SX.sym("va", len(fixed)), casadi.SX.sym("aa", len(fixed))
    v = casadi.SX.sym("v", m.nv)
    N = coordinate_rates(m, q)
    phi, along = casadi.SX(constraint(m, q)), casadi.mtimes(N, v)
    J = casadi.sparsify(casadi.mtimes(casadi.jacobian(phi, q), N))
    gamma = -casadi.jtimes(casadi.jtimes(phi, q, along), q, along)
    solver = factors(casadi.sparsify(casadi.mtimes(J[:, free].T, J[:, free])))

    def solved(right: Any) -> Any:
        """J_free x = right in least squares, once refined: what the square of J loses, the second step gives back."""
        x = solver.solve(casadi.mtimes(J[:, free].T, right))
        return x + solver.solve(casadi.mtimes(J[:, free].T, right - casadi.mtimes(J[:, free], x)))

    def whole(own: Any, others: Any) -> Any:
        made = casadi.SX(m.nv, 1)
        made[fixed], made[free] = own, others
        return casadi.densify(made)

    speed = whole(va, solved(-casadi.mtimes(J[:, fixed], va)))
    right = casadi.substitute(casadi.densify(gamma), v, speed)
    rate = whole(aa, solved(right - casadi.mtimes(J[:, fixed], aa)))
    left = casadi.vertcat(casadi.mtimes(J, speed), casadi.mtimes(J, rate) - right)
    pivots = casadi.vertcat(*solver.inverse)
    quality = (
        1
        / casadi.mmax(casadi.fabs(pivots))
        / casadi.mmax(casadi.fabs(casadi.diag(casadi.mtimes(J[:, free].T, J[:, free]))))
    )
    f = casadi.Function("completing", [q, va, aa], casadi.cse([speed, rate, casadi.mmax(casadi.fabs(left)), quality]))
    nouns = [native.Argument("q", (m.nq,), "coordinates")] + [
        native.Argument(n, (len(fixed),), "prescribed velocities") for n in ("va", "aa")
    ]
    outputs = [
        native.Argument("v", (m.nv,)),
        native.Argument("a", (m.nv,)),
        native.Argument("left", ()),
        native.Argument("quality", ()),
    ]
    return native.compile(f, inputs=nouns, outputs=outputs, name="completing", owner=m.name)


def complete(
    m: Mechanism, values: Any, va: Any, aa: Any, guess: Any = None, *, joints: tuple[str, ...] | None = None
) -> tuple[Floats, Floats, Floats]:
    """Full q, v, a from the prescribed joints' motion (Yime, eqs. 30-36)."""
    if not m.closed:
        raise ModelError(f"{m.name} has no loops: the joints' motion is already complete.")
    q = assemble(m, values, guess, joints=joints)
    given = Prescription(m.actuated if joints is None else tuple(joints))
    _check_determined(m, given)
    v, a, left, quality = _completer(m, given)(q, va, aa)
    worst = float(np.nanmax(np.where(np.isfinite(left), left, np.inf)))
    if not np.nanmin(quality) > 1e-12:  # squared, as the quality is
        raise SingularityError(
            f"{m.name} is at a singular posture for {', '.join(given.joints)} (or so near that nothing can be said): the other "
            "joints' velocities do not follow from theirs; prescribe other joints or another posture."
        )
    if not worst < 1e-6 * max(1.0, float(np.abs(a).max(initial=0.0)), float(np.abs(v).max(initial=0.0)) ** 2):
        raise AssemblyError(
            f"the motion prescribed for {', '.join(given.joints)} tears {m.name}'s loops by {worst:.3g} (m or rad a second or "
            "second squared): they cannot all move so at once; prescribe fewer."
        )
    return q, v, a


@lru_cache(maxsize=256)
def _check_determined(m: Mechanism, given: Prescription) -> None:
    """Refuse too few prescribed joints, naming a motion they leave open."""
    free = [k for k in range(m.nv) if k not in given.velocities(m)]
    J = jacobian_at(m, generic(m))[:, free]
    _, size, V = np.linalg.svd(J)
    rank = int((size > RANK * size.max(initial=0.0)).sum())
    if rank < len(free):
        motion = np.abs(V[-1])
        owner = next(j.name for j in m.joints if free[int(motion.argmax())] in range(m.nv)[m.velocities[j.name]])
        raise ModelError(
            f"{', '.join(given.joints) or 'no joint'} does not determine the motion of {m.name}: {len(free) - rank} more "
            f"freedom{'s' * (len(free) - rank > 1)} stay open, such as that of '{owner}'; prescribe it too."
        )


def project(m: Mechanism, q: Any, v: Any = None, a: Any = None) -> tuple[Floats, ...]:
    """The nearest q that closes the loops, and the v and a nearest to the given ones that keep them closed."""
    q = assemble(m, np.zeros(0), q, joints=())
    if v is None:
        return (q,)
    made = _projector(m)(q, v, np.zeros(m.nv) if a is None else a)
    return (q, made[0]) if a is None else (q, *made)


@lru_cache(maxsize=256)
def _projector(m: Mechanism) -> Callable[..., tuple[Floats, ...]]:
    """(q, v, a) -> v - J^+ J v and a + J^+ (gamma - J a)."""
    import casadi

    from eslabon.formulations.factor import factors
    from eslabon.graph import native
    from eslabon.kinematics.closure import equations

    rows = partition(m).rows
    q, v, a = casadi.SX.sym("q", m.nq), casadi.SX.sym("v", m.nv), casadi.SX.sym("a", m.nv)
    _, J, gamma = equations(m, q, v, rows)
    solver = factors(casadi.sparsify(casadi.mtimes(J, J.T)))

    def onto(x: Any, right: Any) -> Any:
        for _ in range(2):  # the second step gives back what squaring J loses
            x = x + casadi.mtimes(J.T, solver.solve(right - casadi.mtimes(J, x)))
        return casadi.densify(x)

    speed = onto(v, casadi.SX.zeros(len(rows)))
    rate = onto(a, casadi.substitute(casadi.densify(gamma), v, speed))
    f = casadi.Function("projecting", [q, v, a], casadi.cse([speed, rate]))
    inputs = [native.Argument("q", (m.nq,), "coordinates")] + [
        native.Argument(n, (m.nv,), "velocities") for n in ("v", "a")
    ]
    return native.compile(f, inputs=inputs, name="projecting", owner=m.name)


def residual(m: Mechanism, q: Any) -> Floats:
    """The largest residual of all loops and couplings, `(...)`."""
    left = _stepper(m, Prescription())(q, np.eye(3), np.zeros(3), 1.0)[1]
    return np.abs(left).max(axis=-1, initial=0.0)
