"""The first call of a kind: traced and compiled in a new process, with an empty cache folder.

What comes before it (the mechanism read or built, its loops closed) is not counted. The size is that of the instructions in
the largest piece of machine code it makes, which for RK4 is the step."""

from __future__ import annotations

from pathlib import Path

from versions import cell, in_turns, lines, median, ratio, versions

# What is called first, and the goal in seconds.
FIRST = {("stewart_gough", "rk4"): 2.5, ("delta", "rk4"): None, ("planar_3rrr", "rk4"): None,
    ("chain160", "forward_dynamics"): 4.0, ("chain160", "mass_matrix"): 4.0}  # fmt: skip


def text(base: Path | None = None, rounds: int = 3) -> str:
    made = []
    for (name, verb), goal in FIRST.items():
        answers = in_turns(versions(base), rounds, anew=True, work="first", name=name, verb=verb)
        now, before = answers["now"], answers.get("base", [])
        seconds = median(now, "seconds")
        verdict = "" if goal is None else ("yes" if seconds <= goal else "**no**")
        made.append(
            [f"{name}: {verb}", cell(seconds, ".2f"), cell(median(before, "seconds"), ".2f"),
             cell(ratio(answers, "seconds"), ".1f"), cell(goal, "g"), verdict,
             cell(median(now, "code", 1e-3), ",.0f"), cell(median(before, "code", 1e-3), ",.0f")]
        )  # fmt: skip
    header = "first call | s | base, s | times faster | goal, s | met | machine code, kB | base, kB"
    return f"{__doc__}\n\n{lines(header, made)}\n"


if __name__ == "__main__":
    import sys

    print(text(Path(sys.argv[1]) if sys.argv[1:] else None))
