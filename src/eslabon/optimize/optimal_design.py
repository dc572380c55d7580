"""Optimal design: the parameters of a mechanism for which an objective along a motion is least."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from eslabon.arguments import MAX_SEED, Floats, count, flag, positive
from eslabon.errors import EslabonError, InputError, ModelError, format_value
from eslabon.mechanism import Mechanism
from eslabon.model.configuration import velocity_columns
from eslabon.model.free_numbers import parameter_units
from eslabon.model.parameter_expressions import ParameterExpression, number
from eslabon.numerics.units import check_range, number_in_si, range_in_si
from eslabon.optimize.design_problem import FINER, DesignProblem
from eslabon.optimize.design_quantities import demands_of, quantity_of
from eslabon.optimize.optimum import Checks, Optimum
from eslabon.optimize.prescribed_motion import prescribed

SAME = 1e-6  # of the width of a range: optima that differ by less are one


def design(
    m: Mechanism,
    objective: str | Callable[..., Any],
    over: Mapping[str, Any],
    motion: Any = None,
    *,
    subject_to: Mapping[str, Any] | None = None,
    summary: str | None = None,
    frame: str | None = None,
    part: str | None = None,
    guess: Any = None,
    samples: int = 41,
    starts: int = 8,
    seed: int = 0,
    limits: bool = True,
    tolerance: float = 0.02,
    iterations: int = 200,
    hessian: str = "exact",
    progress: bool | None = None,
) -> Optimum:
    """The parameters for which an objective is least, found by IPOPT with exact derivatives from several starts, and verified.

    Parameters
    ----------
    objective : "peak_torque", "rms_torque", "peak_power" (of the actuator that has most), "energy_consumption" (what the
        actuators take, without what they might give back), "peak_reaction" (the greatest force in a joint), "mass"; "condition"
        and "dexterity", the least reciprocal condition numbers of the loops and of the frame's motion, which are made as great as
        can be; or a function that is traced with a `DesignState` of CasADi symbols.
    over : the parameters that are sought, each with its range: (least, most) in SI units, ("30 mm", "80 mm") or "30..80 mm".
    motion : what every design does: a path of the actuated joints (`es.paths.joint_path`), or of a frame (`es.paths.along`), of
        which `part` ("position", "pose", "orientation") is followed by `frame`.
    subject_to : named quantities within bounds, {"condition": (0.2, None), "mass": (None, 0.5)}, and functions of the state that
        keep theirs at every instant, {"reach": (lambda s: ..., least, most)}.
    summary : what becomes of a function along the motion: its "mean", "peak", "rms" or "integral".
    guess : near which configuration the motion begins, with the parameters as they are.
    samples : instants at which the program has the motion; the verification has four times as many.
    starts, seed : the mechanism as it is, and points of a Sobol sequence within the ranges, each as near as the mechanism can
        still make the motion on the straight way there.
    limits : whether joints stay within their limits.
    tolerance : by which part what is measured may differ from what is claimed, and from bounds.
    hessian : "exact", or "approximate" where second derivatives of a large mechanism take too long.

    Each optimum that IPOPT claims is assembled anew by the plain verbs, at more instants, and refused where it is not what was
    claimed (`.checks`); the best of those that remain is returned. A mechanism keeps its branch: determinants of small matrices
    keep their sign, and configurations assembled anew must be those of the optimiser.

    >>> import eslabon as es
    >>> m = es.load("five_bar")
    >>> path = es.paths.joint_path([[2.0, 1.0], [1.7, 1.3]], es.paths.cycloidal(0.3))
    >>> best = es.optimize.design(m, "peak_torque", {"L3": (0.08, 0.12), "L4": (0.08, 0.12)}, path, samples=15, starts=2)
    >>> best.checks.passed, bool(best.improvement > 0.1)
    (True, True)
    """
    if not isinstance(m, Mechanism):
        raise InputError(f"a design is one of a mechanism; it was given {format_value(m)}.")
    asked, demands = quantity_of(m, objective, summary, "objective"), demands_of(m, subject_to)
    ranges = ranges_of(m, over)
    if motion is None and any(
        q.moving and not callable(objective)
        for q in (asked, *(d.quantity for d in demands if not d.everywhere))
    ):
        raise ModelError(
            f"{asked.name} is asked along a motion; give motion=, such as es.paths.joint_path(...) of the actuated joints."
        )
    if motion is None and (frame is not None or part is not None):
        raise ModelError("frame and part say of what a motion is; give motion= too.")
    given = None if motion is None else prescribed(m, motion, frame, part, guess)
    problem = DesignProblem(
        m, ranges, given, asked, demands, count(samples, "samples", 3), guess, flag(limits, "limits"), positive(tolerance, "tolerance")
    )  # fmt: skip
    return _solved(problem, count(starts, "starts", 1), count(seed, "seed", most=MAX_SEED), {"iterations": iterations, "hessian": hessian, "progress": progress})  # fmt: skip


def ranges_of(m: Mechanism, over: Any) -> dict[str, tuple[float, float]]:
    """Ranges of parameters in SI units, checked."""
    if not isinstance(over, Mapping) or not over:
        raise InputError(
            f"over gives ranges of parameters, as in over={{'L2': (0.03, 0.08)}}; it is {format_value(over)}."
        )
    m.check_parameters(over)
    return {
        name: _range(said, f"over[{name!r}]", parameter_units(m)[name])
        for name, said in over.items()
    }


def _range(said: Any, what: str, unit: str | None) -> tuple[float, float]:
    if isinstance(said, str) and (ends := range_in_si(said, what, unit)):
        return check_range(ends, what)
    if not isinstance(said, list | tuple | np.ndarray) or len(said) != 2:
        raise InputError(
            f"{what} is a range, (least, most) or '30..80 mm'; it is {format_value(said)}."
        )
    least, most = (_end(x, what, unit) for x in said)
    return check_range((least, most), what)


def _end(x: Any, what: str, unit: str | None) -> float:
    """A number, one with a unit, or an expression as files have it, "40*mm"."""
    if isinstance(x, str) and "*" in x:
        made = number(x, what)
        if isinstance(made, ParameterExpression):
            raise InputError(
                f"{what} has the end {format_value(x)}; it is to be a number, or a text such as '40 mm'."
            )
        return float(made)
    return number_in_si(x, what, unit)


class Verified:
    """The verdicts on optima; of starts that came to the same one, one is looked at."""

    def __init__(self, problem: DesignProblem) -> None:
        self.problem = problem
        self._found: list[tuple[Floats, Checks | str]] = []

    def __call__(self, values: Mapping[str, Floats], value: float) -> str | None:
        """Why an optimum is refused, in a sentence."""
        verdict = self._verdict(values)
        if verdict is None:
            verdict = self._looked_at(values, value)
            self._found.append((_optimum(values), verdict))
        return (
            verdict
            if isinstance(verdict, str)
            else "; ".join(f"{c}" for c in verdict if not c.passed) or None
        )

    def checks(self, values: Mapping[str, Floats]) -> Checks:
        """The checks of an optimum that was accepted."""
        verdict = self._verdict(values)
        assert isinstance(verdict, Checks)
        return verdict

    def _verdict(self, values: Mapping[str, Floats]) -> Checks | str | None:
        lower, upper = self.problem.bounds
        size = np.concatenate([upper - lower, np.ones(len(_optimum(values)) - len(lower))])
        same = (v for x, v in self._found if (np.abs(x - _optimum(values)) <= SAME * size).all())
        return next(same, None)

    def _looked_at(self, values: Mapping[str, Floats], value: float) -> Checks | str:
        problem = self.problem
        try:
            own = problem.m.variant(
                **dict(zip(problem.names, map(float, values["parameters"]), strict=True))
            )
            return problem.checked(own, problem.objective.told(value), values.get("q"))
        except EslabonError as error:
            return str(error)


def _optimum(values: Mapping[str, Floats]) -> Floats:
    """What tells one optimum from another: its parameters, and the configuration in which its motion begins."""
    return np.concatenate(
        [values["parameters"], *(values[name][0] for name in ("q",) if name in values)]
    )


def _solved(problem: DesignProblem, starts: int, seed: int, options: Mapping[str, Any]) -> Optimum:
    verified = Verified(problem)
    found = problem.program.solve(problem.starts(starts, seed), verify=verified, **options)
    parameters = dict(zip(problem.names, map(float, found.values["parameters"]), strict=True))
    checks, made = verified.checks(found.values), problem.m.with_parameters(**parameters)
    before = _before(problem)
    figure = (
        None
        if problem.given is None or not made.nu
        else partial(_torques, problem, made, found.values.get("q"))
    )
    return Optimum(
        made, parameters, problem.objective.name, problem.objective.unit, checks[0].measured, before, checks, found.starts.told(problem.objective.told), problem.m,
        figure, problem.objective.sense,
    )  # fmt: skip


def _before(problem: DesignProblem) -> float:
    """The objective of the mechanism as it is described."""
    t, _, rows = problem.measured(
        problem.m, None if problem.given is None else problem.nominal[0][0]
    )
    return problem.objective.number(rows[0], t)


def _torques(problem: DesignProblem, made: Mechanism, q: Floats | None, theme: str | None) -> Any:
    """The actuators' forces along the motion, before and after."""
    from eslabon.plotting import axis_label, curves, panels

    assert problem.given is not None
    t = np.linspace(0.0, problem.given.duration, FINER * (problem.samples - 1) + 1)
    nominal = problem.nominal[0][0]
    runs = {"before": (problem.m, nominal), "optimum": (made, nominal if q is None else q[0])}
    tau = {
        word: m.inverse_dynamics(*problem.given.states(m, t, start))
        for word, (m, start) in runs.items()
    }
    columns = [velocity_columns(made)[k] for k in made.actuated_velocities]
    figure, axes = panels(
        len(columns),
        theme=theme,
        bottom=axis_label("t", "s"),
        title=f"{made.name}: forces of the actuators",
    )
    for k, (ax, column) in enumerate(zip(axes, columns, strict=True)):
        unit = {"rad/s": "N m", "m/s": "N"}[column.unit]
        curves(
            ax,
            t,
            {word: x[:, k] for word, x in tau.items()},
            unit=unit,
            title=str(column),
            styles={"before": {"linestyle": "--"}},
        )
    return figure
