"""What assembly and completion say: warnings of crossings, and why something is refused."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from eslabon.arguments import Floats
from eslabon.compiler.evaluate import evaluate
from eslabon.errors import AssemblyError, ModelError, SingularityError, report_singularity
from eslabon.formulas.kinematics.closure import row_names
from eslabon.model import Model
from eslabon.model.scale import velocity_scales
from eslabon.numerics.continuation import Crossing
from eslabon.numerics.tolerances import ACCEPTED_VIOLATION, ROUND_OFF, SINGULAR
from eslabon.solve.constraints.closed_configurations import (
    generic,
    jacobian_at,
    residuals_at,
    unclosed,
    violation_text,
)
from eslabon.solve.constraints.passive_spins import passive_spins
from eslabon.solve.designs import DESCRIBED, Designs
from eslabon.solve.determinacy import determinacy
from eslabon.solve.kernels import MISSED
from eslabon.solve.problem import Problem
from eslabon.solve.rates import Rates
from eslabon.solve.solve_options import Options


def violations(m: Model, q: Any, designs: Designs = DESCRIBED) -> Floats:
    """The largest violation of closure in any loop or coupling, `(...)`: radians, or metres over
    L."""
    return np.asarray(np.abs(residuals_at(m, q, designs)).max(axis=-1, initial=0.0))


def describe_prescribed(problem: Problem) -> str:
    if problem.rows:
        return f"this target of {', '.join(repr(frame) for frame in problem.frames)}"
    return f"these values of {', '.join(problem.held)}"


def report_crossings(
    m: Model,
    problem: Problem,
    crossings: list[Crossing],
    lanes: int,
    continuation: bool,
    singular: str,
) -> None:
    """Where singular configurations were passed, so that the branch may be another, say so."""
    if not crossings:
        return
    first = min(crossings, key=lambda c: (c.lane, c.row))
    at = f" (near {_shown(m, problem, first.values)})" if problem.held else ""
    if continuation:
        where = f"between rows {first.row - 1} and {first.row}" if first.row else "before row 0"
        sentence = (
            f"{where} of the motion {m.name} passes a singular configuration{at}, where its branches "
            "meet; it continues on the same branch, and the other is equally possible."
        )
    else:
        count = len({c.lane for c in crossings})
        which = "the configuration" if lanes == 1 else f"{count} of {lanes} configurations"
        sentence = (
            f"on the way to {which} {m.name} has passed a singular configuration{at}, and may stand on "
            "another branch than its guess; give a guess on the branch you want, or see m.assembly_modes."
        )
    report_singularity(singular, sentence)


def _shown(m: Model, problem: Problem, values: Floats) -> str:
    numbers = ", ".join(f"{x + 0.0:.4g}" for x in values[: len(problem.coordinates(m))])
    return f"{', '.join(problem.held)} = {numbers}"


def refuse(
    m: Model, problem: Problem, q: Floats, size: Floats, goal: Floats, designs: Designs,
    end: Floats | None = None,
) -> NoReturn:  # fmt: skip
    """Say which loop stays open, by how much, in which design, and where the branch ends."""
    q = np.where(np.isfinite(q), q, m.home())
    open_ = np.flatnonzero(unclosed(m, size))
    k, total = int(open_[0]), len(size)
    many = f" ({len(open_)} of {total} configurations; this is number {k})" if total > 1 else ""
    own = designs[k] if designs.names else DESCRIBED
    name = f"{m.name}{own.told}"
    if problem.rows:
        native = evaluate(m, MISSED, own.names, problem=problem)
        distance, angle = (float(y) for y in native(q[k], goal[k], *own.inputs))
        frames = ", ".join(repr(frame) for frame in problem.frames)
        raise AssemblyError(
            f"{name} cannot bring {frames} to this target{many}: it misses it by {distance:.3g} m and "
            f"{angle:.3g} rad; try a guess nearer to it."
        )
    phi = np.abs(residuals_at(m, q[k], own))
    phi = np.where(np.isfinite(phi), phi, np.inf)
    held = f"with {_shown(m, problem, goal[k])}" if problem.held else "from this guess"
    advice = "; give a guess nearer to a closed configuration"
    if problem.held:
        ends = "" if end is None else f"this branch ends near {_shown(m, problem, end)}; "
        advice = f"; {ends}m.assembly_modes finds other ways to close"
    raise AssemblyError(
        f"{name} cannot be assembled {held}{many}: loop '{row_names(m)[int(phi.argmax())]}' is left open "
        f"by {violation_text(m, phi, design=own)}{advice}."
    )


def refuse_passive(m: Model, problem: Problem) -> None:
    """Name a motion that the prescribed joints leave open; passive spins are none."""
    count = determinacy(m, problem).open - len(passive_spins(m))
    if count <= 0:
        return
    free = problem.free(m)
    J = jacobian_at(m, generic(m))[:, free] / velocity_scales(m)[free]
    motion = np.abs(np.linalg.svd(J)[2][-1])
    place = free[int(motion.argmax())]
    owner = next(j.name for j in m.joints if place in range(m.nv)[m.velocities[j.name]])
    names = ", ".join(problem.held)
    does = "do" if len(problem.held) > 1 else "does"
    raise ModelError(
        f"{names or 'what drives it'} {does} not determine the motion of "
        f"{m.name}: {count} more {'degree of freedom stays' if count == 1 else 'degrees of freedom stay'} "
        f"open, such as that of '{owner}'; prescribe it too, or with passive='minimum_norm' let it move as "
        "little as it can."
    )


def check_rates(m: Model, problem: Problem, made: Rates, o: Options) -> None:
    """Report singular configurations, and refuse a motion that the mechanism cannot make."""
    singular = o.singular or "error"
    least = float(np.min(made.condition, initial=1.0))
    if least < SINGULAR or np.isnan(made.condition).any():
        report_singularity(
            singular,
            f"{m.name} is at a singular configuration for {describe_prescribed(problem)} (the reciprocal condition number "
            f"is {least:.2g}): the other velocities do not follow; prescribe other values, or pass "
            "singular='warn' for the minimum-norm velocities.",
        )
    scales = velocity_scales(m)
    speed = np.abs(made.v * scales).max(axis=-1, initial=0.0)
    change = np.maximum(np.abs(made.a * scales).max(axis=-1, initial=0.0), speed**2)
    bad = ~(made.acceleration_slip <= ACCEPTED_VIOLATION * change)
    bad |= ~(made.slip <= ACCEPTED_VIOLATION * speed)
    # What rounds to rest, such as the velocities of a structure, is rest.
    bad &= np.maximum(made.slip, made.acceleration_slip) > ROUND_OFF
    bad &= np.isfinite(made.v).all(axis=-1)
    if (
        problem.rows and singular != "error"
    ):  # the minimum-norm motion of a target need not be exact
        bad &= made.condition >= SINGULAR
    if not bad.any():
        return
    k = int(bad.argmax())
    worst = float(max(made.slip[k], made.acceleration_slip[k]))
    if made.condition[k] < SINGULAR:
        raise SingularityError(
            f"branches of {m.name} meet at a singular configuration, and the minimum-norm velocities keep "
            f"to none of them (they violate the prescribed motion by {worst:.3g}); take configurations "
            "beside it, or follow a motion through it."
        )
    raise AssemblyError(
        f"{m.name} cannot move as prescribed: the motion of {describe_prescribed(problem)} violates its loops or joints by "
        f"{worst:.3g} (rad, or metres over its size, a second or second squared); prescribe less."
    )
