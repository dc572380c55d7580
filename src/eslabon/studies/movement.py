"""The motion that a study follows: one that it is given, or one that suits the mechanism.

A mechanism with actuators goes from rest to rest and back, within its limits and away from singular configurations. What the
actuators do not determine follows its own dynamics. Without actuators it is let go; what cannot move stands still.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from eslabon.errors import (
    EslabonError,
    InputError,
    ModelError,
    SingularityWarning,
    suggest,
)
from eslabon.language import phrase
from eslabon.mechanism import Mechanism
from eslabon.model.configuration import (
    difference,
    integrate,
    limits,
    values_by_joint,
    velocity_units,
)
from eslabon.model.scale import characteristic_length
from eslabon.motion.motion_forms import as_trajectory, require_span
from eslabon.motion.paths import joint_path, septic
from eslabon.motion.trajectory import Trajectory
from eslabon.solve.workspace.sampled_workspace import spanning_joints
from eslabon.studies.choices import configuration, instant

NAMED = ("rest_to_rest", "let_go", "still")
FRAMES = 121
SECONDS = 4.0  # there and back
TURN, SHIFT = (
    0.6,
    0.2,
)  # how far joints go, in rad and in sizes of the mechanism, where nothing forbids it
ROOM = 0.4  # of the way to a limit
SMALLER = (1.0, 0.6, 0.35, 0.2, 0.1, 0.04, 0.01)  # amplitudes that are tried
WEIGHTS = (1.0, 0.7, 0.85, 0.55, 0.9, 0.65)  # so that joints do not all move alike
GOOD, VERY_GOOD = 0.5, 0.8  # of the reciprocal condition number at the start


@dataclass(frozen=True, eq=False)
class Movement:
    """A motion of all joints with the actuators' forces: `t` (n,), `q`, `v`, `a`, `tau` (n, ...).

    `kind` is one of `NAMED`, "simulated" (driven, with joints that follow their own dynamics), or "given"; `title` says it in
    words. `energy` is kept by a mechanism that is let go without friction.
    """

    kind: str
    title: str
    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray | None
    reason: str = ""  # why there are no forces, where there are none
    simulated: Trajectory | None = None

    def times(self, m: Mechanism) -> dict[str, Any]:
        """The times as verbs take them, where constraints depend on it."""
        return {"t": self.t} if m.rheonomic else {}


def movement(m: Mechanism, given: Any, q0: np.ndarray, tip: str | None) -> Movement:
    """The motion that is asked for, or the one that suits the mechanism."""
    if given is None:
        return _default(m, q0, tip)
    if isinstance(given, str) and given in NAMED:
        return {"rest_to_rest": _rest_to_rest, "let_go": _let_go, "still": _still}[given](
            m, q0, tip
        )
    if isinstance(given, str) and given in m.modes:
        return _to_mode(m, q0, given)
    return _given(m, q0, given)


def _default(m: Mechanism, q0: np.ndarray, tip: str | None) -> Movement:
    if m.nv == 0 or (m.dof == 0 and not m.rheonomic):
        return _still(m, q0, tip)
    if m.rheonomic or not m.nu or not spanning_joints(m):
        return _let_go(m, q0, tip)
    try:
        return _rest_to_rest(m, q0, tip)
    except (
        EslabonError
    ):  # actuated joints that turn by quaternions beside others that nothing drives, for instance
        return _let_go(m, q0, tip)


# -- from rest to rest ------------------------------------------------------------------------------------------------


def _rest_to_rest(m: Mechanism, q0: np.ndarray, tip: str | None) -> Movement:
    """There and back, by the largest amplitude that stays clear of limits and singular configurations."""
    joints = spanning_joints(m) if m.nu and not m.rheonomic else ()
    if not joints:
        raise ModelError(
            f"{m.name} has no actuators that drive it from rest to rest; let it go, by motion='let_go'."
        )
    reach = _reach(m, q0, joints)
    best: tuple[float, np.ndarray] | None = None
    for amplitude in SMALLER:
        for signs in _signs(len(reach)):
            score = _score(m, q0, joints, amplitude * signs * reach, tip)
            if score is not None and (best is None or score > best[0]):
                best = score, amplitude * signs * reach
            if best is not None and best[0] >= VERY_GOOD:
                break
        if best is not None and (best[0] >= GOOD or amplitude == SMALLER[-1]):
            break
    if best is None:
        raise ModelError(
            f"no motion of the actuators of {m.name} was found that closes its loops; give one by 'motion'."
        )
    return _driven(m, q0, joints, best[1], "rest_to_rest", phrase("from rest to rest and back"))


def _signs(n: int) -> Iterator[np.ndarray]:
    """A few ways to combine joints that go up and joints that go down."""
    weights = np.resize(WEIGHTS, n)
    tried = list(product((1.0, -1.0), repeat=min(n, 3)))
    for signs in tried:
        yield weights * np.resize(signs, n)


def _reach(m: Mechanism, q0: np.ndarray, joints: tuple[str, ...]) -> np.ndarray:
    """How far each velocity of the driven joints goes where limits allow it, the side with more room being the positive one."""
    units, reach = velocity_units(m), []
    lower, upper = limits(m)
    for name in joints:
        places, own = range(m.nq)[m.coordinates[name]], range(m.nv)[m.velocities[name]]
        for i, k in enumerate(own):
            far = TURN if units[k] == "rad/s" else SHIFT * characteristic_length(m)
            if not m.joint(name).kind.has_quaternion:
                down, up = q0[places[i]] - lower[places[i]], upper[places[i]] - q0[places[i]]
                reach.append(min(far, ROOM * up) if up >= down else -min(far, ROOM * down))
            else:
                reach.append(far)
    return np.array(reach)


def _course(delta: np.ndarray) -> tuple[np.ndarray, ...]:
    """Times, and displacements, velocities and accelerations of the driven joints: there and back."""
    half = joint_path([np.zeros(len(delta)), delta], septic(SECONDS / 2))
    t = np.linspace(0.0, SECONDS, FRAMES)
    out, back = t[t <= SECONDS / 2], t[t > SECONDS / 2]
    x, v, a = (np.concatenate(parts) for parts in zip(half(out), half(SECONDS - back), strict=True))
    v[len(out) :] *= -1
    return t, x, v, a


def _full(m: Mechanism, joints: tuple[str, ...], x: np.ndarray) -> np.ndarray:
    """Displacements of driven joints among those of all."""
    made = np.zeros((*x.shape[:-1], m.nv))
    made[..., [k for name in joints for k in range(m.nv)[m.velocities[name]]]] = x
    return made


def _coordinates(
    m: Mechanism, q0: np.ndarray, joints: tuple[str, ...], x: np.ndarray
) -> np.ndarray:
    """Coordinates of the driven joints for their displacements."""
    q = np.asarray(integrate(m, np.broadcast_to(q0, (*x.shape[:-1], m.nq)), _full(m, joints, x)))
    return q[..., [k for name in joints for k in range(m.nq)[m.coordinates[name]]]]


def _score(
    m: Mechanism, q0: np.ndarray, joints: tuple[str, ...], delta: np.ndarray, tip: str | None
) -> float | None:
    """How far from singular configurations the way stays, beside its start; None where it cannot be gone."""
    x = np.linspace(0.0, 1.0, 13)[:, None] * delta
    lower, upper = limits(m)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SingularityWarning)
            if m.closed:
                given = values_by_joint(m, joints, _coordinates(m, q0, joints, x))
                q = m.assemble(given, q0, continuation=True, singular="error")
            else:
                q = np.asarray(integrate(m, np.broadcast_to(q0, (13, m.nq)), _full(m, joints, x)))
                if not ((q >= lower - 1e-9) & (q <= upper + 1e-9)).all():
                    return None
            found = m.conditions(q, tip or m.bodies[-1].name)
    except EslabonError:
        return None
    kinds = (found.parallel, found.serial if tip else found.parallel)
    return float(min((k / max(k[0], 1e-3)).min() for k in kinds))


def _driven(
    m: Mechanism, q0: np.ndarray, joints: tuple[str, ...], delta: np.ndarray, kind: str, title: str
) -> Movement:
    t, x, v, a = _course(delta)
    determined = sum(m.joint(name).kind.dof for name in joints) == m.dof
    if not determined:
        return _partly_driven(m, q0, title, t, _coordinates(m, q0, joints, x), v, a, joints)
    if m.closed:
        given = values_by_joint(m, joints, _coordinates(m, q0, joints, x))
        q, v, a = m.complete(given, v, a, q0, continuation=True)
    else:
        q = np.asarray(integrate(m, np.broadcast_to(q0, (len(t), m.nq)), _full(m, joints, x)))
        v, a = _full(m, joints, v), _full(m, joints, a)
    return _with_forces(m, kind, title, t, q, v, a)


def _partly_driven(
    m: Mechanism, q0: np.ndarray, title: str, t: np.ndarray, qa: np.ndarray, va: np.ndarray, aa: np.ndarray,
    joints: tuple[str, ...],
) -> Movement:  # fmt: skip
    """The actuators follow the motion, by computed torque; what they do not determine follows its own dynamics."""
    from eslabon.systems.control import computed_torque

    if set(joints) != set(m.actuated):  # more actuators than the motion has
        raise ModelError(
            f"the actuators of {m.name} do not determine a motion from rest to rest; give one by 'motion'."
        )
    law = computed_torque(m, (t, qa, va, aa), frequency=15.0)
    run = m.simulate(q0, None, t, law)
    title = phrase(
        "{motion}, with joints that no actuator moves following their own dynamics", motion=title
    )
    return Movement("simulated", title, run.t, run.q, run.v, run.a, run.tau, simulated=run)


def _with_forces(
    m: Mechanism, kind: str, title: str, t: np.ndarray, q: np.ndarray, v: np.ndarray, a: np.ndarray
) -> Movement:
    """A motion with the forces of the actuators that make it, where they can."""
    try:
        at: dict[str, Any] = {"t": t} if m.rheonomic else {}
        return Movement(kind, title, t, q, v, a, m.inverse_dynamics(q, v, a, **at))
    except EslabonError as error:
        return Movement(kind, title, t, q, v, a, None, str(error))


def _to_mode(m: Mechanism, q0: np.ndarray, name: str) -> Movement:
    """From rest to rest between the start and a named configuration."""
    joints = spanning_joints(m)
    if not joints:
        raise ModelError(f"{m.name} has no actuators that could drive it to its mode '{name}'.")
    way = difference(m, m.modes[name], q0)
    delta = way[[k for joint in joints for k in range(m.nv)[m.velocities[joint]]]]
    return _driven(
        m,
        q0,
        joints,
        delta,
        "rest_to_rest",
        phrase("from rest to its mode {name} and back", name=name),
    )


# -- without actuators ------------------------------------------------------------------------------------------------


def _let_go(m: Mechanism, q0: np.ndarray, tip: str | None) -> Movement:
    """Free motion from rest; from a neighbouring configuration where it would rest, with a push where nothing moves it."""
    if m.nv == 0:
        return _still(m, q0, tip)
    t = np.linspace(0.0, SECONDS, FRAMES)
    if m.rheonomic:
        run = m.simulate(q0, None, t)
        return Movement(
            "simulated",
            phrase("driven by its constraints"),
            run.t,
            run.q,
            run.v,
            run.a,
            run.tau,
            simulated=run,
        )
    q, v, title = q0, np.zeros(m.nv), phrase("let go from rest")
    if _rests(m, q):
        q = _beside(m, q0)
        title = phrase("let go from rest beside its equilibrium")
    if _rests(m, q):  # nothing pulls at it
        v = 0.5 * np.where([u == "rad/s" for u in velocity_units(m)], 1.0, characteristic_length(m))
        q, v = m.project(q0, v) if m.closed else (q0, v)
        title = phrase("pushed, and then left to itself")
    run = m.simulate(q, v, t)
    return Movement("let_go", title, run.t, run.q, run.v, run.a, run.tau, simulated=run)


def _rests(m: Mechanism, q: np.ndarray) -> bool:
    a = m.forward_dynamics(q, np.zeros(m.nv), np.zeros(m.nu))
    return bool(np.abs(a).max(initial=0.0) < 1e-6)


def _beside(m: Mechanism, q0: np.ndarray) -> np.ndarray:
    """A configuration a little away."""
    step = (
        0.3
        * np.where([u == "rad/s" for u in velocity_units(m)], 1.0, 0.3 * characteristic_length(m))
        * np.resize(WEIGHTS, m.nv)
    )
    if m.closed:
        _, step = m.project(q0, step)
    q = np.asarray(integrate(m, q0, step))
    return m.project(q) if m.closed else np.clip(q, *limits(m))


def _still(m: Mechanism, q0: np.ndarray, tip: str | None) -> Movement:
    """One instant at rest."""
    rest = np.zeros((1, m.nv))
    return _with_forces(m, "still", phrase("at rest"), np.zeros(1), q0[None], rest, rest)


# -- given ------------------------------------------------------------------------------------------------------------


def _given(m: Mechanism, q0: np.ndarray, given: Any) -> Movement:
    """A motion in any form, with the actuators' forces that make it."""
    title = phrase("the given motion")
    if isinstance(given, str | Path):
        path = Path(given)
        if path.suffix.lower() not in (".csv", ".npz"):
            known = [*NAMED, *m.modes]
            raise InputError(
                f"there is no motion '{given}'{suggest(str(given), known, '')} (known: {', '.join(known)}, or a .csv or .npz file)."
            )
        title = phrase("the motion of {file}", file=path.name)
    motion = as_trajectory(m, given, samples=FRAMES)
    if motion.held:
        return _with_forces(m, "given", title, motion.t, *motion.completed(q0).in_rows)
    motion = require_span(motion).completed(q0)
    if motion.batch:
        raise InputError(f"{motion!r} is no single motion; choose one, as in motion[0].")
    if "tau" in motion.groups and (m.nu < m.dof or not isinstance(given, str | Path)):
        q, v, a = motion.in_rows
        return Movement("given", title, motion.t, q, v, a, motion.tau)
    return _with_forces(m, "given", title, motion.t, *motion.in_rows)


__all__ = ["NAMED", "Movement", "configuration", "instant", "movement"]
