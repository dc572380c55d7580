"""One damped Gauss-Newton step toward a task's target, as native code that takes it for a whole batch."""

from __future__ import annotations

from typing import Any

from eslabon.graph.evaluator import Formula
from eslabon.graph.native.signature import Argument
from eslabon.kinematics.tree import chain
from eslabon.model import Model
from eslabon.solvers.damped_step import damped_step
from eslabon.solvers.inverse.tasks import Task


def moving_velocities(m: Model, frame: str) -> list[int]:
    """The places in v of the joints between the ground and a frame."""
    return [k for j in chain(m, m.frame(frame).body) for k in range(m.nv)[m.velocities[j.name]]]


def search_step(m: Model, q: Any, damping: Any, x: Any, lower: Any, upper: Any, task: Task) -> list[Any]:
    """The next configuration, and the error of this one."""
    r, J = task.residual(m, q, x), task.jacobian(m, q)
    made = damped_step(m, q, r, J, damping, lower, upper, moving_velocities(m, task.frame))
    return [made.q, made.error]


SEARCH_STEP = Formula(
    "inverse_kinematics_step",
    search_step,
    (
        "q",
        Argument("damping", ()),
        Argument("x", lambda m, task: (task.size,)),
        *(Argument(name, lambda m, task: (m.nq,)) for name in ("lower", "upper")),
    ),
    (Argument("q", lambda m, task: (m.nq,)), Argument("error", ())),
    {"task": None},
)
