"""Steps of RK4 a second of mechanisms with loops, one trajectory and 64 of them, on one thread.

Every step ends on the constraint manifold: the closure error is the largest residual over the run, in m or rad. Steps of
0.02 ms from a state in slow motion, under gravity, with no actuator forces."""

from __future__ import annotations

from pathlib import Path

from versions import Version, cell, in_turns, lines, median, ratio, versions

MECHANISMS = ("planar_3rrr", "delta", "stewart_gough")
GOALS = {("planar_3rrr", 1): 500_000}  # steps a second
TWICE = ("delta", "stewart_gough")  # which are to make twice the base's


def text(base: Path | None = None, rounds: int = 7, steps: int = 20_000) -> str:
    compared = versions(base)
    made = [row(compared, rounds, name, n, steps // (1 if n == 1 else 10)) for name in MECHANISMS for n in (1, 64)]
    header = "mechanism | trajectories | steps/s | base, steps/s | times faster | closure | base, closure | goal | met"
    return f"{__doc__}\n\n{lines(header, made)}\n"


def row(compared: list[Version], rounds: int, name: str, count: int, steps: int) -> list[str]:
    answers = in_turns(compared, rounds, work="simulate", name=name, trajectories=count, steps=steps)
    now, before, faster = answers["now"], answers.get("base", []), ratio(answers, "seconds")
    speed, goal, met = median(now, "speed"), "", ""
    if (name, count) in GOALS:
        least = GOALS[name, count]
        goal, met = f"{least:,} steps/s", "yes" if speed >= least else "**no**"
    elif name in TWICE and faster is not None:
        goal, met = "2 times", "yes" if faster >= 2 else "**no**"
    return [
        name, str(count), f"{speed:,.0f}", cell(median(before, "speed"), ",.0f"),
        cell(faster, ".2f"), cell(median(now, "closure"), ".1e"), cell(median(before, "closure"), ".1e"), goal, met,
    ]  # fmt: skip


if __name__ == "__main__":
    import sys

    print(text(Path(sys.argv[1]) if sys.argv[1:] else None))
