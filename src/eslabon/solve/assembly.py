"""Assembly: full coordinates from prescribed ones, with every loop closed, on the branch of the
guess.

The mechanism is moved from where the guess stands along a straight way of what is prescribed
(`solver.follow`), so that it stays on its branch; what no way leads to is sought directly, which is
reported. `complete` adds velocities and accelerations, `project` brings states onto the loops.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from eslabon.arguments import Floats, flag, states
from eslabon.errors import ModelError
from eslabon.model import Model
from eslabon.solve.assembly_messages import check_rates, refuse_passive
from eslabon.solve.batches import flattened
from eslabon.solve.branch_assembly import NearBranch, assembled, moving_designs
from eslabon.solve.configurations import Configurations
from eslabon.solve.designs import DESCRIBED, Designs, designs_of
from eslabon.solve.driven import at_instants
from eslabon.solve.joint_motion import JointMotion
from eslabon.solve.prescribed import actuated, as_configuration, rates_of
from eslabon.solve.problem import CLOSURE_ALONE, Problem
from eslabon.solve.rates import Rates, completed, rates
from eslabon.solve.rigid_points import check_rigid_points
from eslabon.solve.rows import PointRows
from eslabon.solve.solve_options import Options, read_options


def assemble(
    m: Model, given: Any = None, guess: Any = None, *, report: bool = False, **options: Any
) -> Any:
    """Full coordinates that close the loops; see `Mechanism.assemble`."""
    if report is False and not options and type(given) is type(guess) is np.ndarray:
        near = NearBranch.of(m, actuated(m))(guess, given, True)
        if near is not None:
            return near
    flag(report, "report")
    m, problem, x, o = at_instants(m, given, read_options("assemble", options))
    found = assembled(m, problem, x, as_configuration(m, guess), o, strict=not report)
    return found if report else found.q


def complete(
    m: Model, given: Any = None, velocity: Any = None, acceleration: Any = None, guess: Any = None, *,
    report: bool = False, **options: Any,
) -> Any:  # fmt: skip
    """Full q, v, a from the motion of what is prescribed (Yime, 30-36); see
    `Mechanism.complete`."""
    flag(report, "report")
    asked = read_options("complete", options)
    own, problem, x, o = at_instants(m, given, asked)
    if not m.closed and not problem.rows:
        raise ModelError(f"{m.name} has no loops: the joints' motion is already complete.")
    pair = ((velocity, "velocity"), (acceleration, "acceleration"))
    first, second = (rates_of(m, problem, y, name) for y, name in pair)
    if not report:
        _check_rigidity(m, problem, x, first, second)
    if not report and o.passive == "refuse" and not problem.rows:
        refuse_passive(own, problem)
    placed = _placed(own, problem, x, as_configuration(own, guess), o, strict=not report)
    designs = moving_designs(own, problem, designs_of(own, o.parameters))
    lead, (q, first, second, p) = flattened(
        configurations=(placed.q, 1), velocity=(first, 1), acceleration=(second, 1),
        parameters=(designs.values, 1),
    )  # fmt: skip
    made = _rates_at(m, problem, q, first, second, Designs(designs.names, p))
    if not report:
        check_rates(m, problem, made, asked)
    q, v, a, slip, condition = (
        y.reshape((*lead, *y.shape[1:]))[()] for y in (q, *made[:3], made.condition)
    )
    if not report:
        return q, v, a
    condition = 1 / np.maximum(condition, np.finfo(float).tiny)
    return JointMotion(q, v, a, placed.distance, placed.angle, slip, condition, None, m)


def _check_rigidity(
    m: Model, problem: Problem, x: Floats, velocity: Floats, acceleration: Floats
) -> None:
    """Refuse velocities and accelerations of points that are not those of one rigid frame (Rojas,
    3.5.2)."""
    place = len(problem.velocities(m))
    for rows, value in problem.values_of(m, x):
        if isinstance(rows, PointRows):
            own = slice(place, place + rows.rate_size)
            where, first, second = (
                y.reshape(*y.shape[:-1], -1, 3)
                for y in (value, velocity[..., own], acceleration[..., own])
            )
            check_rigid_points(np.array(rows.points), where, first, second)
        place += rows.rate_size


def _rates_at(
    m: Model, problem: Problem, q: Floats, first: Floats, second: Floats, designs: Designs
) -> Rates:
    if not m.nv:
        nothing, still = np.zeros((len(q), 0)), np.zeros(len(q))
        return Rates(nothing, nothing, still, still, np.ones(len(q)))
    if problem.rows or m.rheonomic:
        return rates(m, problem, q, first, second, designs)
    return completed(m, problem, q, first, second, designs)


def _placed(
    m: Model, problem: Problem, x: Floats, guess: Floats, o: Options, strict: bool
) -> Configurations:
    """The configurations of a motion: of joints by assembly, of targets by inverse kinematics,
    unless their rows are a motion."""
    from eslabon.solve.inverse_kinematics import reached

    o = replace(o, singular=o.singular or "warn")
    if problem.rows and not o.continuation:
        return reached(m, problem, x, guess, o, strict=strict)
    return assembled(m, problem, x, guess, o, strict)


def project(
    m: Model, q: Any, v: Any = None, a: Any = None, **options: Any
) -> Floats | tuple[Floats, ...]:
    """The nearest q that closes the loops, and the v and a nearest to the given ones that keep them
    closed; see `Mechanism.project`."""
    if v is None and a is not None:
        raise ModelError(
            "project takes q, q and v, or q, v and a: accelerations make no sense without velocities."
        )
    pairs = ((v, "v"), (a, "a"))
    near = [states(x, n, m.nv, m.name, "velocities") for x, n in pairs if x is not None]
    start = states(q, "q", m.nq, m.name)
    own, problem, x, o = at_instants(m, {}, read_options("project", options))
    found = assembled(own, problem, x, start, o, strict=True).q
    if v is None:
        return found
    designs = designs_of(own, o.parameters).moving(own)
    names = ("configurations", "velocities", "accelerations")
    given = {name: (x, 1) for name, x in zip(names, (found, *near), strict=False)}
    lead, (flat, *near, p) = flattened(**given, parameters=(designs.values, 1))
    if m.nv and m.closed:
        near = list(nearest_rates(m, flat, *near, designs=Designs(designs.names, p)))
    return tuple(np.array(x).reshape(*lead, x.shape[-1]) for x in (flat, *near))


def nearest_rates(
    m: Model, q: Floats, v: Floats, a: Floats | None = None, *, designs: Designs = DESCRIBED
) -> tuple[Floats, ...]:
    """v - J^+ (J v + Phi_t), and a + J^+ (gamma - J a): nearest in comparable velocities."""
    none, accelerations = np.zeros((len(q), 0)), np.zeros_like(v) if a is None else a
    made = rates(m, CLOSURE_ALONE, q, none, none, designs, near=(v, accelerations))
    return (made.v,) if a is None else (made.v, made.a)
