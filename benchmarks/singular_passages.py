"""Errors of motions through singular configurations over the tolerance, beside the same integrator on the exact reduced equation.

Windows of N parallelograms fall as one pendulum and lie flat again and again, where N ranks are lost at once; the rods of a
change-point four-bar come to lie in one line, on a curved branch. Eight starting speeds each, DOP853, atol = rtol / 100.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import eslabon as es

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from motion.simulation.change_points import (
    alone,
    change_point,
    change_point_equation,
    change_point_state,
    falling_windows,
    pendulum_rate,
)

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "singular_passages.svg"
TOLERANCES = tuple(10.0**-k for k in range(4, 13))
WINDOW_SPEEDS = (-0.7, -1.0, -1.3, -1.7, -2.3, -3.1, -4.0, -5.0)  # rad/s
CRANK_SPEEDS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0)
STEEPEST = 3.0  # by what the worst error may rise from a tolerance to the next tighter one

Start = Callable[[float], tuple[es.Mechanism, np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Case:
    """A mechanism that passes: how it starts at a speed, the equation of its first coordinate, and where that starts."""

    name: str
    start: Start
    rate: Callable[[float, float], float]
    angle: float
    speeds: tuple[float, ...]
    seconds: float


@dataclass(frozen=True)
class Errors:
    """For tolerances and speeds: errors in rad and evaluations, ours and those on the one equation."""

    ours: np.ndarray
    ideal: np.ndarray
    evaluations: np.ndarray
    ideal_evaluations: np.ndarray

    @property
    def worst(self) -> np.ndarray:
        return self.ours.max(axis=1)

    @property
    def above(self) -> int:
        """Runs that miss by more than 100 rtol^(7/8) and than three times the one equation."""
        bound = 100 * np.array(TOLERANCES)[:, None] ** (7 / 8)
        return int(np.sum(~(self.ours <= np.maximum(bound, 3 * self.ideal))))

    @property
    def rises(self) -> tuple[float, float]:
        """The largest ratio of worst errors from a tolerance to the next tighter one: ours and on the one equation."""
        ours, ideal = (x.max(axis=1) for x in (self.ours, self.ideal))
        return float((ours[1:] / ours[:-1]).max()), float((ideal[1:] / ideal[:-1]).max())


def _falling(count: int) -> Start:
    def start(speed: float) -> tuple[es.Mechanism, np.ndarray, np.ndarray]:
        m, q, v = falling_windows(count, np.pi / 2, speed)
        return m, q, v

    return start


def _turning(speed: float) -> tuple[es.Mechanism, np.ndarray, np.ndarray]:
    q, v = change_point_state(2.0, speed)
    return change_point(), change_point().project(q), v


def cases() -> list[Case]:
    """Windows, and the four-bar."""
    made = [
        Case(f"{n} windows", _falling(n), pendulum_rate(n), np.pi / 2, WINDOW_SPEEDS, seconds)
        for n, seconds in ((2, 6.0), (3, 6.0), (10, 4.0), (40, 3.0))
    ]
    rate = change_point_equation()[0]
    return [*made, Case("change-point four-bar", _turning, rate, 2.0, CRANK_SPEEDS, 2.5)]


def errors(case: Case, tolerances: tuple[float, ...] = TOLERANCES) -> Errors:
    """Of all tolerances and speeds."""
    exact = {v: alone(case.rate, case.angle, v, case.seconds)[0] for v in case.speeds}

    def ours(rtol: float, speed: float) -> tuple[float, float]:
        m, q, v = case.start(speed)
        words: dict[str, Any] = {"rtol": rtol, "atol": rtol / 100, "singular": "ignore"}
        motion = m.simulate(q, v, case.seconds, **words)
        return abs(motion.q[-1, 0] - exact[speed]), motion.statistics.evaluations

    def ideal(rtol: float, speed: float) -> tuple[float, float]:
        angle, evaluations = alone(case.rate, case.angle, speed, case.seconds, rtol)
        return abs(angle - exact[speed]), evaluations

    both = [
        np.array([[run(rtol, v) for v in case.speeds] for rtol in tolerances])
        for run in (ours, ideal)
    ]
    return Errors(both[0][..., 0], both[1][..., 0], both[0][..., 1], both[1][..., 1])


def text(base: Path | None) -> str:
    """A section of the page; the picture is written beside it."""
    found = {case: errors(case) for case in cases()}
    picture(found)
    shown = slice(0, None, 2)
    lines = [
        f"| mechanism | {' | '.join(f'{x:.0e}' for x in TOLERANCES[shown])} | above | rise | evaluations |",
        f"|---|{'---|' * len(TOLERANCES[shown])}---|---|---|",
    ]
    for case, e in found.items():
        pairs = zip(e.worst[shown], e.ideal.max(axis=1)[shown], strict=True)
        cells = [f"{ours:.1e} ({ideal:.1e})" for ours, ideal in pairs]
        ratio = e.evaluations.mean() / e.ideal_evaluations.mean()
        over = f"{e.above} of {e.ours.size}"
        lines.append(
            f"| {case.name} | {' | '.join(cells)} | {over} | {e.rises[0]:.2f} ({e.rises[1]:.2f}) | {ratio:.2f} |"
        )
    image = f"![errors over tolerances, beside one equation](images/{PICTURE.name})"
    return "\n".join([f"{str(__doc__).strip()}\n\n{EXPLAINED.strip()}\n\n{image}\n", *lines, ""])


EXPLAINED = """
The worst error of eight speeds in rad after three to six seconds, in brackets that of the one equation. "Above" counts runs
that miss by more than 100 rtol^(7/8) and by more than three times the one equation; "rise" is the largest ratio of worst errors
from a tolerance to one ten times tighter; "evaluations" are those of the rates, neighbours counted, over those of the one equation.
In the picture one equation is dashed, and the bound is grey.
"""


def picture(found: dict[Case, Errors]) -> None:
    """Worst errors over tolerances, as an .svg that is the same for the same numbers."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "eslabon"
    figure = Figure(figsize=(7.2, 4.6), layout="constrained")
    ax = figure.subplots()
    rtol = np.array(TOLERANCES)
    ax.loglog(rtol, 100 * rtol ** (7 / 8), color="0.75", linewidth=6, label="100 rtol$^{7/8}$")
    for k, (case, e) in enumerate(found.items()):
        ax.loglog(rtol, e.worst, "o-", color=f"C{k}", markersize=4, label=case.name)
        ax.loglog(rtol, e.ideal.max(axis=1), "--", color=f"C{k}", linewidth=1)
    ax.invert_xaxis()
    ax.set_xlabel("relative tolerance")
    ax.set_ylabel("worst error of eight motions [rad]")
    ax.grid(alpha=0.3)
    ax.legend(fontsize=9)
    figure.savefig(PICTURE, metadata={"Date": None})
