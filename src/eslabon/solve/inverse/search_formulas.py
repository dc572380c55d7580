"""What inverse kinematics has in native code: steps towards a target, what is missing to it, and a whole near solution."""

from __future__ import annotations

from typing import Any

import numpy as np

from eslabon.compiler.calls import subroutine
from eslabon.compiler.formula import Argument, Formula
from eslabon.formulas.inputs import Q
from eslabon.formulas.kinematics.tree import chain
from eslabon.model import Model
from eslabon.model.configuration import normalize, periodic
from eslabon.numerics.least_squares import DAMPING, LOOK
from eslabon.numerics.scalars import casadi
from eslabon.solve.damped_step import damped_step
from eslabon.solve.given_poses import EXACT
from eslabon.solve.inverse.tasks import Task
from eslabon.solve.ranges import SLACK


def moving_velocities(m: Model, frame: str) -> list[int]:
    """The places in v of the joints between the ground and a frame."""
    return [k for j in chain(m, m.frame(frame).body) for k in range(m.nv)[m.velocities[j.name]]]


def search_steps(
    m: Model,
    q: Any,
    best: Any,
    error: Any,
    x: Any,
    damping: Any,
    goal: Any,
    lower: Any,
    upper: Any,
    task: Task,
) -> list[Any]:
    """`LOOK` damped steps: where they lead, the best configuration met and its error, and how many began above the goal."""
    step, taken = _step(m, task), casadi.SX(0)
    for _ in range(LOOK):
        taken += error > goal
        following, now = step(q, x, damping, lower, upper)
        better, wild = now < error, casadi.logic_not(now < np.inf)
        best, error = casadi.if_else(better, q, best), casadi.if_else(better, now, error)
        q = casadi.if_else(wild, best + 0.25 * (q - best), following)
    return [q, best, error, taken]


def _step(m: Model, task: Task) -> Any:
    """One step as a function that native code contains once."""

    def step(q: Any, x: Any, damping: Any, lower: Any, upper: Any) -> list[Any]:
        r, J = task.residual(m, q, x), task.jacobian(m, q)
        made = damped_step(m, q, r, J, damping, lower, upper, moving_velocities(m, task.frame))
        return [casadi.densify(made.q), made.error]

    return subroutine("inverse_kinematics_step", step, m.nq, task.size, 1, m.nq, m.nq)


def missed(m: Model, q: Any, x: Any, task: Task) -> list[Any]:
    """What is missing to the target, in metres and radians, by the forward kinematics."""
    return list(task.missed(task.residual(m, q, x)))


def near_solution(
    m: Model, q: Any, pose: Any, tolerance: Any, goal: Any, lower: Any, upper: Any, task: Task
) -> list[Any]:
    """The configuration that a few steps from a near one lead to, what it misses, the steps, and whether there is no more
    to say: the pose is one, the frame is there, and the joints are within their limits without a whole turn."""
    q, R, p = normalize(m, q), pose[:3, :3], pose[:3, 3]
    x = task.of_placement(R, p)
    _, best, error, taken = search_steps(
        m, q, q, casadi.SX(np.inf), x, DAMPING, goal, lower, upper, task
    )
    distance, angle = missed(m, best, x, task)
    turned = casadi.fabs(best - q)[np.flatnonzero(periodic(m.nominal)).tolist()]
    sound = [
        casadi.mmax(casadi.fabs(casadi.mtimes(R, R.T) - casadi.SX.eye(3))) < EXACT,
        casadi.det(R) > 0,
        casadi.mmax(casadi.fabs(pose[3, :] - casadi.DM([[0, 0, 0, 1]]))) <= 0,
        casadi.fmax(distance, angle) <= tolerance,
        error <= goal,
        casadi.mmin(casadi.vertcat(*(casadi.fmin(y - lower, upper - y) for y in (q, best))))
        >= -SLACK,
        casadi.mmax(casadi.vertcat(0, turned)) < np.pi,
    ]
    return [best, distance, angle, taken, casadi.mmin(casadi.vertcat(*sound))]


def _coordinates(*names: str) -> tuple[Argument, ...]:
    return tuple(Argument(name, lambda m, task: (m.nq,)) for name in names)


def _numbers(*names: str) -> tuple[Argument, ...]:
    return tuple(Argument(name, ()) for name in names)


TARGET = Argument("x", lambda m, task: (task.size,))
SEARCH_STEPS = Formula(
    "inverse_kinematics_steps",
    search_steps,
    (Q, *_coordinates("best"), *_numbers("error"), TARGET, *_numbers("damping", "goal"), *_coordinates("lower", "upper")),
    (*_coordinates("q", "best"), *_numbers("error", "taken")),
    {"task": None},
)  # fmt: skip
MISSED = Formula("missed", missed, (Q, TARGET), _numbers("distance", "angle"), {"task": None})
NEAR_SOLUTION = Formula(
    "near_solution",
    near_solution,
    (Q, Argument("pose", (4, 4)), *_numbers("tolerance", "goal"), *_coordinates("lower", "upper")),
    (*_coordinates("q"), *_numbers("distance", "angle", "taken")),
    {"task": None},
    checks=(Argument("sound", (), bound=(">", 0.5)),),
)
