"""The first call of a kind: traced and compiled in a new process, with an empty cache folder.

What comes before it (the mechanism read or built, its loops closed) is not counted. The size is that of the instructions in
the largest piece of machine code it makes, which for RK4 is the step.

    python benchmarks/first_calls.py                                        # the tables of docs/benchmarks.md
    python benchmarks/first_calls.py ../earlier                             # beside an earlier checkout
    python benchmarks/first_calls.py --everyday linearize,plot --of delta   # the second table alone, some of its calls
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from probe import EVERYDAY
from versions import Version, cell, in_turns, lines, median, ratio, versions

# What is called first, and the goal in seconds.
FIRST = {("stewart_gough", "rk4"): 2.5, ("delta", "rk4"): None, ("planar_3rrr", "rk4"): None,
    ("chain160", "forward_dynamics"): 4.0, ("chain160", "mass_matrix"): 4.0}  # fmt: skip
EVERYDAY_GOAL = 2.0  # seconds
SLOWEST = 3  # named for each verb

# Of a mechanism and a verb; a text says why it was refused.
Seconds = dict[tuple[str, str], float | str]


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
    about = (__doc__ or "").partition("\n\n    ")[0]
    return f"{about}\n\n{lines(header, made)}\n\n{everyday_text(base)}"


def everyday_text(
    base: Path | None = None,
    verbs: Sequence[str] = tuple(EVERYDAY),
    names: Sequence[str] = (),
    rounds: int = 1,
) -> str:
    """Everyday calls of the library's mechanisms: the slowest of each verb, and all that miss the goal."""
    found, loop = everyday(versions(base), verbs, names or library(), rounds)
    now, before = found["now"], found.get("base", {})
    summary = [_slowest(verb, now, before) for verb in verbs]
    late = sorted(
        (k for k in now if _number(now[k], EVERYDAY_GOAL) > EVERYDAY_GOAL),
        key=lambda k: -float(now[k]),
    )
    missed = [
        [f"{name}: {verb}", _told(now[name, verb]), _told(before.get((name, verb), ""))]
        for name, verb in late
    ]
    refused = [f"{name}: {verb}" for (name, verb), x in now.items() if isinstance(x, str)]
    return (
        "Everyday calls at home of every mechanism of the library, each in a new process with an empty cache folder: CPU seconds "
        "from the loaded mechanism to the answer, with all imports, bytecode of the sources at hand. How fast the processor is, and how "
        f"busy others keep it, says a loop in Python that adds up ten million numbers: {loop:.2f} s of CPU, the median after all calls.\n\n"
        + lines("verb | mechanisms | median, s | base, s | slowest, s | base, s", summary)
        + f"\n\nOver {EVERYDAY_GOAL:g} s: "
        + (f"\n\n{lines('call | s | base, s', missed)}\n" if missed else "none.\n")
        + (f"\nRefused: {', '.join(refused)}.\n" if refused else "")
    )


def library() -> list[str]:
    import eslabon as es

    return es.robots()


def everyday(
    compared: Sequence[Version], verbs: Sequence[str], names: Sequence[str], rounds: int
) -> tuple[dict[str, Seconds], float]:
    """The least of a few rounds of every call, each in a new process, the versions in turns; and the median of the loop that
    measures the processor."""
    found: dict[str, Seconds] = {v.name: {} for v in compared}
    loops: list[float] = []
    with TemporaryDirectory() as bytecode:
        environment = {"PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""}
        for version in compared:
            version.ask_anew(environment, work="bytecode")
        for name, verb, _ in product(names, verbs, range(rounds)):
            for version in compared:
                made = version.ask_anew(environment, work="everyday", name=name, verb=verb)
                own = found[version.name]
                if "error" in made:
                    own[name, verb] = made["error"]
                    continue
                own[name, verb] = min(made["seconds"], _number(own.get((name, verb), ""), np.inf))
                loops.append(made["loop"])
                print(
                    f"{version.name:5} {name:18} {verb:30} {made['seconds']:.2f}  (loop {made['loop']:.2f})",
                    flush=True,
                )
    return found, statistics.median(loops) if loops else np.nan


def _slowest(verb: str, now: Seconds, before: Seconds) -> list[str]:
    names = sorted(
        (n for n, v in now if v == verb and not isinstance(now[n, v], str)),
        key=lambda n: -now[n, verb],
    )
    worst = ", ".join(f"{n} {_told(now[n, verb])}" for n in names[:SLOWEST])
    earlier = ", ".join(
        f"{n} {_told(before[n, verb])}" for n in names[:SLOWEST] if (n, verb) in before
    )
    numbers = [
        float(before[n, verb]) for n in names if not isinstance(before.get((n, verb), ""), str)
    ]
    middle = [
        f"{statistics.median(x):.2f}" if x else ""
        for x in ([float(now[n, verb]) for n in names], numbers)
    ]
    return [verb, str(len(names)), *middle, worst, earlier]


def _number(x: float | str, otherwise: float) -> float:
    return otherwise if isinstance(x, str) else x


def _told(x: float | str) -> str:
    return x if isinstance(x, str) else f"{x:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description="First calls, in new processes with empty caches.")
    parser.add_argument(
        "base", type=Path, nargs="?", help="a checkout of an earlier version to compare with"
    )
    parser.add_argument(
        "--everyday", help=f"some of {', '.join(EVERYDAY)}, parted by commas, or all"
    )
    parser.add_argument(
        "--of", help="mechanisms of the library, parted by commas; left out, every one"
    )
    parser.add_argument("--rounds", type=int, default=1)
    asked = parser.parse_args()
    if not asked.everyday and not asked.of:
        print(text(asked.base))
        return
    verbs = list(EVERYDAY) if asked.everyday in (None, "all") else asked.everyday.split(",")
    print(everyday_text(asked.base, verbs, asked.of.split(",") if asked.of else (), asked.rounds))


if __name__ == "__main__":
    main()
