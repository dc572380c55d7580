"""What a call from Python costs beyond its kernel, the native function called directly, in microseconds.

A call has its arrays alone, or also a frame, a frame and axes, a formulation, `threads=1`, `out=` or `parameters=`; the last
column is the derivative of the same quantity by q. Calls are written out as users write them, m.pose(q, frame="tool"). The goal is 0.4 in every place. {base}"""

from __future__ import annotations

import statistics
from pathlib import Path

from probe import INPUTS
from versions import in_turns, lines, versions

MECHANISMS = ("puma560", "scara", "five_bar")
OF_LOOPS = ("constraint", "constraint_jacobian", "hybrid_dynamics")
FRAMED = ("pose", "jacobian", "velocity", "acceleration", "position_hessian")
FORMULATED = ("inverse_dynamics", "forward_dynamics", "hybrid_dynamics")
GOAL = 0.4


def variants(name: str, verb: str) -> list[str]:
    """What a verb of a mechanism can be given."""
    made = ["arrays"]
    made += (
        ["frame"] * (verb in FRAMED)
        + ["axes"] * (verb in FRAMED[1:4])
        + ["formulation"] * (verb in FORMULATED)
    )
    made += ["threads", "out"] + ["parameters"] * (name != "puma560")
    return [*made, "derivative"]


def above(answers: list[dict[str, float]]) -> float:
    """Microseconds above the kernel, the median over rounds."""
    return statistics.median(1e6 * (a["call"] - a["kernel"]) for a in answers)


def text(
    base: Path | None = None,
    rounds: int = 15,
    budget: float = 0.005,
    names: tuple[str, ...] = MECHANISMS,
) -> str:
    compared, worst, made = versions(base), 0.0, []
    columns = (
        "arrays",
        "frame",
        "axes",
        "formulation",
        "threads",
        "out",
        "parameters",
        "derivative",
    )
    for name in names:
        for verb in INPUTS:
            if verb in OF_LOOPS and name != "five_bar":
                continue
            cells, kernel = dict.fromkeys(columns, ""), 0.0
            for variant in variants(name, verb):
                answers = in_turns(
                    compared,
                    rounds,
                    work="call",
                    name=name,
                    verb=verb,
                    variant=variant,
                    budget=budget,
                )
                now, before = answers["now"], answers.get("base")
                worst = max(worst, above(now))
                cells[variant] = f"{above(now):.2f}" + (f" ({above(before):.1f})" if before else "")
                kernel = kernel or statistics.median(1e6 * a["kernel"] for a in now)
            made.append([f"{name}: {verb}", f"{kernel:.2f}", *cells.values()])
    said = f"\n\nThe largest is {worst:.2f}; the goal of {GOAL} is {'met' if worst <= GOAL else '**not** met'}.\n"
    told = "In brackets: the base." if base else ""
    return (
        __doc__.format(base=told)
        + "\n\n"
        + lines("call | kernel | " + " | ".join(columns), made)
        + said
    )


if __name__ == "__main__":
    import sys

    print(text(Path(sys.argv[1]) if sys.argv[1:] else None))
