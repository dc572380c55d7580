"""Joint stops: springs with dampers that push a joint back where it is beyond its limits.

Beyond a limit by p the stop pushes with max(0, k p + c dp/dt): it never pulls. The energy of the
mechanism and of its stops, with k p^2 / 2 in each, changes by -c (dp/dt)^2 while a stop pushes, and
falls with p where it lets go: no impact gains any.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import Floats, finite
from eslabon.compiler.evaluate import evaluate
from eslabon.displays import displayed
from eslabon.errors import InputError, format_value
from eslabon.formulas.dynamics import mass_matrix
from eslabon.formulas.kinematics.symbols import zeros
from eslabon.formulas.motion_state import MotionState
from eslabon.formulas.quantities import quantity
from eslabon.model import Model
from eslabon.model.configuration import limits
from eslabon.numerics.scalars import Expression, casadi
from eslabon.solve.constraints.closed_configurations import close
from eslabon.solve.designs import DESCRIBED, Designs, depended_on, symbols_in

SWING = 0.3  # rad, by which the spring of a stop swings in a step
STEP = 1e-3  # s, where a run has no step of its own
DAMPING = 0.5  # of critical: an impact gives back a sixth of its speed
LIGHTEST = 1e-6  # of the largest inertia: what a joint that moves less counts as


@displayed
@dataclass(frozen=True)
class Stops:
    """The stops of the joints that have limits.

    Parameters
    ----------
    stiffness : N m/rad or N/m, one number or one for each velocity; None: that with which the joint
        swings by 0.3 rad a step (a millisecond where there is no step), stiff but well resolved.
        Its inertia is that which it shows in the home configuration while the other joints are
        free, 1 / (M^-1)_ii. Large forces at light joints need more. Many designs of one run have
        one stiffness: where their inertia differs, it is given.
    damping : N m s/rad or N s/m likewise; None: half of critical with the same inertia.

    >>> import eslabon as es
    >>> m = es.load("double_pendulum").with_joint("q1", limits=(-0.3, 2.0))
    >>> bumper = es.simulate.Stops(stiffness=2000.0, damping=5.0)
    >>> run = m.simulate([0.0, 0.0], [-3.0, 0.0], 0.5, stops=bumper, method="rk4", step=1e-3)
    >>> bool(-0.5 < run["q1"].q.min() < -0.3)
    True
    """

    stiffness: ArrayLike | None = None
    damping: ArrayLike | None = None


class Stop(NamedTuple):
    """Of one coordinate: its place in q and in v, which of its limits there are, stiffness and
    damping. Where the limits are, the model says."""

    coordinate: int
    velocity: int
    lower: bool
    upper: bool
    stiffness: float
    damping: float


def stops_of(
    m: Model, given: Any, step: float | None, designs: Designs = DESCRIBED
) -> tuple[Stop, ...]:
    """The stops that a user asked for, one and the same for all designs."""
    if given is False or given is None:
        return ()
    if not isinstance(given, Stops) and given is not True:
        raise InputError(
            f"stops is True, False or Stops(stiffness, damping); it is {format_value(given)}."
        )
    asked = given if isinstance(given, Stops) else Stops()
    lower, upper = limits(m)
    places = [
        (m.coordinates[j.name].start + k, m.velocities[j.name].start + k)
        for j in m.joints if j.limits for k in range(j.nv)
    ]  # fmt: skip
    held = [(q, v) for q, v in places if np.isfinite([lower[q], upper[q]]).any()]
    if not held:
        raise InputError(
            f"no joint of {m.name} has limits that a stop could hold; leave stops out."
        )
    inertia, frequency = (
        _inertia(m if designs.lead else designs.mechanism(m)),
        SWING / (step or STEP),
    )
    k = _by_velocity(m, "stiffness", asked.stiffness, inertia * frequency**2)
    c = _by_velocity(m, "damping", asked.damping, 2 * DAMPING * np.sqrt(k * inertia))
    if designs.lead and (asked.stiffness is None or asked.damping is None):
        _refuse_inertias(m, designs.names, k, c)
    ends = np.isfinite(lower), np.isfinite(upper)
    return tuple(
        Stop(q, v, bool(ends[0][q]), bool(ends[1][q]), float(k[v]), float(c[v])) for q, v in held
    )


def _refuse_inertias(m: Model, names: tuple[str, ...], k: Floats, c: Floats) -> None:
    """Refuse to choose one stiffness for designs whose inertia at home is another in each."""

    def shown_at_home(m: Model) -> Expression:
        homes = [casadi.SX(x) for j in m.joints for x in j.home or ()]
        at_rest = MotionState.at_rest(m, casadi.SX.sym("q", m.nq))
        return casadi.vertcat(*homes, casadi.vec(casadi.SX(mass_matrix(at_rest))))

    if changing := sorted({*symbols_in(m, names, shown_at_home), *depended_on(m, names)}):
        one = ", ".join(
            f"{word}=[{', '.join(f'{x:.4g}' for x in values)}]"
            for word, values in (("stiffness", k), ("damping", c))
        )
        raise InputError(
            f"the stiffness and damping that are chosen for stops follow the inertia of {m.name}, which {', '.join(changing)} "
            f"{'changes' if len(changing) == 1 else 'change'} from design to design; give those of all, such as stops=Stops({one})."
        )


def _inertia(m: Model) -> Floats:
    """What each joint shows at home while the others are free."""
    M = evaluate(m, quantity(m, "mass_matrix"))(close(m) if m.closed else m.home())
    least = LIGHTEST * np.diag(M).max()
    return np.maximum(1 / np.diag(np.linalg.inv(M + 1e-3 * least * np.eye(m.nv))), least)


def _by_velocity(m: Model, name: str, given: ArrayLike | None, default: Floats) -> Floats:
    if given is None:
        return default
    values = finite(given, name)
    if values.shape not in ((), (m.nv,)) or (values < 0).any():
        raise InputError(
            f"the {name} of stops is not less than zero, one number or {m.nv}; it is {format_value(given)}."
        )
    return np.broadcast_to(values, m.nv)


def _beyond(m: Model, q: Expression, stop: Stop) -> list[tuple[int, Expression]]:
    """By how much a coordinate is beyond its limits, and which way that is; less than zero where it
    is not."""
    joint = next(
        j
        for j in m.joints
        if m.coordinates[j.name].start <= stop.coordinate < m.coordinates[j.name].stop
    )
    lower, upper = (joint.limits or ())[stop.coordinate - m.coordinates[joint.name].start]
    ends = [
        (sign, end)
        for sign, end, there in ((1, upper, stop.upper), (-1, lower, stop.lower))
        if there
    ]
    return [(sign, sign * (q[stop.coordinate] - end)) for sign, end in ends]


def stop_forces(m: Model, q: Expression, v: Expression, stops: tuple[Stop, ...]) -> Expression:
    """What stops push with, along the velocities."""
    force = zeros(m.nv)
    for stop in stops:
        for sign, p in _beyond(m, q, stop):
            push = casadi.fmax(0, stop.stiffness * p + stop.damping * sign * v[stop.velocity])
            force[stop.velocity] -= sign * casadi.if_else(p > 0, push, 0)
    return force


def stop_energy(m: Model, q: Expression, stops: tuple[Stop, ...]) -> Expression:
    """What the springs of stops hold."""
    return sum(
        (s.stiffness / 2 * casadi.fmax(0, p) ** 2 for s in stops for _, p in _beyond(m, q, s)),
        casadi.SX(0),
    )
