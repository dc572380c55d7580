"""Velocities and accelerations of all joints from those that are given, and states brought onto the loops."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from eslabon.errors import AssemblyError, ModelError, SingularityError, tell_of_singularity
from eslabon.kinematics.assembly.assemble import assemble
from eslabon.kinematics.assembly.prescription import Prescription, by_joints
from eslabon.kinematics.closure import RANK, equations, generic, jacobian_at, partition, row_names, serving_rows, steady
from eslabon.model import Mechanism

Floats = np.ndarray
SINGULAR = 1e-12  # of a posture's quality, which is squared


def complete(
    m: Mechanism, values: Any, va: Any, aa: Any, guess: Any = None, *, joints: tuple[str, ...] | None = None,
    along: bool = False, idle: str = "refuse", singular: str | None = None,
) -> tuple[Floats, Floats, Floats]:  # fmt: skip
    """Full q, v, a from the prescribed joints' motion (Yime, eqs. 30-36).

    `singular` says what becomes of singular postures: "error", "warn" (the least velocities are given) or "ignore"; left
    out, a singular posture is an error, and one that is passed between two rows a warning.
    """
    if not m.closed:
        raise ModelError(f"{m.name} has no loops: the joints' motion is already complete.")
    if idle not in ("refuse", "rest"):
        raise ModelError(f"idle is 'refuse' or 'rest'; it is {idle!r}.")
    given = by_joints(m, joints)
    if _left_open(m, given) and idle != "rest":
        _refuse_idle(m, given)
    q = assemble(m, values, guess, joints=joints, along=along, singular=singular or "warn")
    v, a, left, quality = _completer(m, given)(q, va, aa)
    if not np.nanmin(quality, initial=1.0) > SINGULAR:
        tell_of_singularity(
            singular or "error", f"{m.name} is at a singular posture for {', '.join(given.joints)} (or so near that nothing can be said): "
            "the other joints' velocities do not follow from theirs; prescribe other joints or another posture.")  # fmt: skip
        v, a, left = _rank_by_rank(m, given, q, va, aa, (v, a, left), ~(quality > SINGULAR))
    _check_torn(m, given, v, a, left, quality)
    return q, v, a


def _check_torn(m: Mechanism, given: Prescription, v: Floats, a: Floats, left: Floats, quality: Floats) -> None:
    """Refuse a motion that the loops do not allow."""
    worst = float(np.nanmax(np.where(np.isfinite(left), left, np.inf), initial=0.0))
    if not worst < 1e-6 * max(1.0, float(np.abs(a).max(initial=0.0)), float(np.abs(v).max(initial=0.0)) ** 2):
        if not np.nanmin(quality, initial=1.0) > SINGULAR:
            raise SingularityError(
                f"branches of {m.name} meet at a singular posture, and the least velocities keep to none of them (the loops "
                f"would tear by {worst:.3g}); take postures beside it, or follow a motion through it."
            )
        raise AssemblyError(
            f"the motion prescribed for {', '.join(given.joints)} tears {m.name}'s loops by {worst:.3g} (m or rad a second or "
            "second squared): they cannot all move so at once; prescribe fewer."
        )


@lru_cache(maxsize=256)
def _left_open(m: Mechanism, given: Prescription) -> int:
    """How many freedoms the prescribed joints leave open."""
    free = given.free(m)
    size = np.linalg.svd(jacobian_at(m, generic(m))[:, free], compute_uv=False)
    return len(free) - int((size > RANK * size.max(initial=0.0)).sum())


def _refuse_idle(m: Mechanism, given: Prescription) -> None:
    """Name a motion that the prescribed joints leave open."""
    free, count = given.free(m), _left_open(m, given)
    motion = np.abs(np.linalg.svd(jacobian_at(m, generic(m))[:, free])[2][-1])
    owner = next(j.name for j in m.joints if free[int(motion.argmax())] in range(m.nv)[m.velocities[j.name]])
    raise ModelError(
        f"{', '.join(given.joints) or 'no joint'} does not determine the motion of {m.name}: {count} more "
        f"{'freedom stays' if count == 1 else 'freedoms stay'} open, such as that of '{owner}'; prescribe it too, or with "
        "idle='rest' let what nothing drives, such as the spin of a rod, move as little as it can."
    )


@lru_cache(maxsize=256)
def _completer(m: Mechanism, given: Prescription) -> Callable[..., tuple[Floats, ...]]:
    """(q, va, aa) -> v, a of all joints, what is left of the velocity and acceleration equations, and the least pivot."""
    from eslabon.graph.trace import kept

    return kept(m, f"completing {given}", lambda key: _made_completer(m, given, key))


def _made_completer(m: Mechanism, given: Prescription, key: str) -> Callable[..., tuple[Floats, ...]]:
    import casadi

    from eslabon.formulations.constrained import Square
    from eslabon.graph import native

    fixed, free = given.velocities(m), given.free(m)
    q, va, aa = casadi.SX.sym("q", m.nq), casadi.SX.sym("va", len(fixed)), casadi.SX.sym("aa", len(fixed))
    v = casadi.SX.sym("v", m.nv)
    open_ways = _left_open(m, given)
    rows = partition(m).rows if open_ways else tuple(range(len(row_names(m))))
    _, J, gamma = equations(m, q, v, rows)
    A = J[:, free]
    # With open ways the least motion is sought: A A^T is invertible, not A^T A.
    solver = Square(A.T if open_ways else A)

    def whole(own: Any, others: Any) -> Any:
        made = casadi.SX(m.nv, 1)
        made[fixed], made[free] = own, others
        return casadi.densify(made)

    solved = solver.solve_transposed if open_ways else solver.solve
    speed = whole(va, solved(-casadi.mtimes(J[:, fixed], va)))
    right = casadi.substitute(casadi.densify(gamma), v, speed)
    rate = whole(aa, solved(right - casadi.mtimes(J[:, fixed], aa)))
    left = casadi.vertcat(casadi.mtimes(J, speed), casadi.mtimes(J, rate) - right)
    made = casadi.cse([speed, rate, casadi.mmax(casadi.fabs(casadi.densify(left))), solver.quality])
    f = casadi.Function("completing", [q, va, aa], made)
    nouns = [native.Argument("q", (m.nq,), "coordinates")] + [
        native.Argument(n, (len(fixed),), "prescribed velocities") for n in ("va", "aa")
    ]
    outputs = [
        native.Argument("v", (m.nv,)),
        native.Argument("a", (m.nv,)),
        native.Argument("left", ()),
        native.Argument("quality", ()),
    ]
    return native.compile(f, inputs=nouns, outputs=outputs, name="completing", owner=m.name, key=key)


def _rank_by_rank(
    m: Mechanism, given: Prescription, q: Floats, va: Any, aa: Any, made: tuple[Floats, ...], bad: Floats
) -> tuple[Floats, Floats, Floats]:
    """At singular postures: the least velocities and accelerations that keep the loops closed, by singular values."""
    v, a, left = (np.array(x) for x in made)
    fixed, free = given.velocities(m), given.free(m)
    rows = _rows(m)
    for k in map(tuple, np.argwhere(bad)):
        own = [np.broadcast_to(np.asarray(x, dtype=float), (*q.shape[:-1], len(fixed)))[k] for x in (va, aa)]
        J = rows(q[k], np.zeros(m.nv))[0]
        inverse = np.linalg.pinv(J[:, free], rcond=1e-6)
        v[k][fixed], a[k][fixed] = own
        v[k][free] = -inverse @ J[:, fixed] @ own[0]
        gamma = rows(q[k], v[k])[1]
        a[k][free] = inverse @ (gamma - J[:, fixed] @ own[1])
        left[k] = max(np.abs(J @ v[k]).max(initial=0.0), np.abs(J @ a[k] - gamma).max(initial=0.0))
    return v, a, left


@lru_cache(maxsize=256)
def _rows(m: Mechanism) -> Callable[[Floats, Floats], tuple[Floats, Floats]]:
    """(q, v) -> J and gamma of all rows, number by number."""
    import casadi

    q, v = casadi.SX.sym("q", m.nq), casadi.SX.sym("v", m.nv)
    _, J, gamma = equations(m, q, v, tuple(range(len(row_names(m)))))
    f = casadi.Function("rows", [q, v], [casadi.densify(J), casadi.densify(gamma)])

    def evaluate(x: Floats, y: Floats) -> tuple[Floats, Floats]:
        J, gamma = f(x, y)
        return np.array(J), np.array(gamma).ravel()

    return evaluate


def project(m: Mechanism, q: Any, v: Any = None, a: Any = None) -> Floats | tuple[Floats, ...]:
    """The nearest q that closes the loops, and the v and a nearest to the given ones that keep them closed."""
    if v is None and a is not None:
        raise ModelError("project takes q, q and v, or q, v and a: accelerations make no sense without velocities.")
    q = assemble(m, np.zeros(0), q, joints=())
    if v is None:
        return q
    made = _projector(m)(q, v, np.zeros(m.nv) if a is None else a)
    return (q, made[0]) if a is None else (q, *made)


@lru_cache(maxsize=256)
def _projector(m: Mechanism) -> Callable[..., tuple[Floats, ...]]:
    """(q, v, a) -> v - J^+ J v and a + J^+ (gamma - J a)."""
    from eslabon.graph.trace import kept

    return kept(m, "projecting", lambda key: _made_projector(m, key))


def _made_projector(m: Mechanism, key: str) -> Callable[..., tuple[Floats, ...]]:
    import casadi

    from eslabon.formulations.factor import factors
    from eslabon.graph import native

    rows = serving_rows(m)
    q, v, a = casadi.SX.sym("q", m.nq), casadi.SX.sym("v", m.nv), casadi.SX.sym("a", m.nv)
    _, J, gamma = equations(m, q, v, rows)
    square = casadi.mtimes(J, J.T)
    if not steady(m):  # rows that depend on others do so differently everywhere: a little ease lets them all stay
        sizes = (jacobian_at(m, generic(m)) ** 2).sum(axis=1)
        square += casadi.diag(casadi.SX((1e-12 * np.maximum(sizes, 1e-6 * sizes.max(initial=0.0))).tolist()))
    solver = factors(casadi.sparsify(square))

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
    return native.compile(f, inputs=inputs, name="projecting", owner=m.name, key=key)
