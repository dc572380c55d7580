"""A mechanism as python-control's nonlinear system, for its simulation, trim and linearization."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eslabon.arguments import Floats
from eslabon.compiler.evaluate import evaluate
from eslabon.compiler.formula import Argument, Formula
from eslabon.errors import ModelError
from eslabon.formulas.inputs import TAU, Q
from eslabon.model import Model, as_model
from eslabon.model.configuration import coordinate_names, values_by_joint, velocity_names
from eslabon.motion.simulation.equations_of_motion import RATES
from eslabon.solve.assembly import assemble
from eslabon.solve.constraints.constraint_structure import constraint_structure, structure
from eslabon.solve.constraints.massless_motions import refuse_massless
from eslabon.solve.prescribed import as_configuration
from eslabon.systems.linear.linear_system import python_control
from eslabon.systems.linear.output_names import actuator_names

Function = Callable[[float, Floats, Floats, Any], Floats]


def nonlinear_system(m: Model, guess: ArrayLike | str | None = None) -> Any:
    """The equations of motion as a `control.NonlinearIOSystem`.

    Inputs are the actuators' forces, outputs the positions and velocities of all joints. The states
    of a tree are q and v. Those of a mechanism with loops are the positions and velocities of its
    independent joints, so that every state keeps the loops closed: the others are assembled from
    them, on the branch of the guess and from where they were last.

    Parameters
    ----------
    m : the mechanism.
    guess : with loops, a configuration, or the name of a mode, to start from; the closed home if
        left out.

    >>> import eslabon as es
    >>> system = es.load("cart_pole").to_control_nonlinear()
    >>> system.state_labels, system.input_labels
    (['x', 'theta', "x'", "theta'"], ['tau(x)'])
    """
    control = python_control("to_control_nonlinear")
    if not as_model(m).nv:
        raise ModelError(f"{m.name} has no joint that moves: there is nothing to simulate.")
    refuse_massless(m)
    if not m.closed and guess is not None:
        raise ModelError(f"{m.name} has no loops, which a guess would close; leave it out.")
    states, update, output = _closed(m, guess) if m.closed else _tree(m)
    return control.NonlinearIOSystem(
        update, output, inputs=_undotted(actuator_names(m)), states=_undotted(states), name=_undotted([m.name])[0],
        outputs=_undotted(_named(coordinate_names(m), velocity_names(m))),
    )  # fmt: skip


def _undotted(names: Iterable[str]) -> list[str]:
    """Names of signals: python-control keeps dots for those of subsystems."""
    return [name.replace(".", "_") for name in names]


def _named(positions: tuple[str, ...], velocities: tuple[str, ...]) -> list[str]:
    return [*positions, *(f"{name}'" for name in velocities)]


def _tree(m: Model) -> tuple[list[str], Function, Function]:
    rates = evaluate(m, RATES)

    def update(t: float, x: Floats, u: Floats, params: Any) -> Floats:
        made: Floats = rates(t, x, np.atleast_1d(u))
        return made

    return (
        _named(coordinate_names(m), velocity_names(m)),
        update,
        lambda t, x, u, params: np.asarray(x),
    )


def _closed(m: Model, guess: ArrayLike | str | None) -> tuple[list[str], Function, Function]:
    if m.rheonomic:
        raise ModelError(
            f"the constraints of {m.name} depend on the time, for which to_control_nonlinear has no place; simulate it here."
        )
    joints = independent_joints(m)
    positions = [k for name in joints for k in range(m.nq)[m.coordinates[name]]]
    velocities = [k for name in joints for k in range(m.nv)[m.velocities[name]]]
    n, near, motion = len(positions), {"q": as_configuration(m, guess)}, evaluate(m, MOTION)

    def configuration(x: Floats) -> Floats:
        given = values_by_joint(m, joints, np.array(x[:n]))
        near["q"] = assemble(m, given, near["q"], limits=False, singular="ignore")
        return near["q"]

    def update(t: float, x: Floats, u: Floats, params: Any) -> Floats:
        _, a = motion(configuration(x), _sorted(x[n:]), np.atleast_1d(u))
        return np.concatenate([x[n:], a[velocities]])

    def output(t: float, x: Floats, u: Floats, params: Any) -> Floats:
        q = configuration(x)
        return np.concatenate([q, motion(q, _sorted(x[n:]), np.zeros(m.nu))[0]])

    order = np.argsort(velocities)

    def _sorted(v: Floats) -> Floats:
        """In the order of the partition."""
        return np.asarray(v)[order]

    q_names, v_names = coordinate_names(m), velocity_names(m)
    names = _named(tuple(q_names[k] for k in positions), tuple(v_names[k] for k in velocities))
    return names, update, output


def independent_joints(m: Model) -> tuple[str, ...]:
    """The joints whose motion determines all others, the actuated ones first."""
    places = structure(m).partition.independent
    if not places:
        raise ModelError(f"the loops of {m.name} leave it no motion: there is nothing to simulate.")
    names = [*m.actuated, *(j.name for j in m.joints if j.name not in m.actuated)]
    made = tuple(name for name in names if set(range(m.nv)[m.velocities[name]]) & set(places))
    for name in made:
        if m.joint(name).kind.has_quaternion or not set(range(m.nv)[m.velocities[name]]) <= set(
            places
        ):
            raise ModelError(
                f"'{name}' of {m.name} is independent in a part of its motion or turns by a quaternion, so that no plain "
                "coordinates are independent; actuate single joints that determine the motion."
            )
    return made


def independent_motion(m: Model, q: Any, own: Any, tau: Any, *, structure: Any) -> list[Any]:
    """Velocities and accelerations of all joints from the independent velocities and the actuators'
    forces."""
    from eslabon.formulas.constrained.independent_motion import IndependentMotion
    from eslabon.formulas.dynamics import forward_dynamics
    from eslabon.formulas.kinematics.closure import equations
    from eslabon.formulas.motion_state import Method, MotionState

    p = structure.partition
    v = IndependentMotion(equations(m, q, None, p.rows).J, p.independent, p.dependent).whole(own)
    s = MotionState(m, q, v, Method(structure=structure))
    return [v, forward_dynamics(s, tau)[0]]


MOTION = Formula(
    "motion_of_independent_states", independent_motion,
    (Q, Argument("own", lambda m: (len(structure(m).partition.independent),), "independent velocities"), TAU),
    (Argument("v", lambda m: (m.nv,)), Argument("a", lambda m: (m.nv,))), prepare=constraint_structure,
)  # fmt: skip
