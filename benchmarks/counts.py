"""Operations of a graph, multiplications and additions together, and the time of a state in a batch of 10,000 on one thread,
beside an earlier version: none is to be worse."""

from __future__ import annotations

from pathlib import Path

from versions import cell, in_turns, lines, median, ratio, versions

ASKED = {
    "puma560": ("pose", "jacobian", "inverse_dynamics", "forward_dynamics", "mass_matrix"),
    "panda_like": ("jacobian", "inverse_dynamics", "forward_dynamics", "mass_matrix"),
    "five_bar": ("inverse_dynamics", "forward_dynamics", "mass_matrix"),
    "planar_3rrr": ("inverse_dynamics", "forward_dynamics", "reactions"),
    "diaz_3rrr": ("inverse_dynamics", "forward_dynamics"),
    "delta": ("inverse_dynamics", "forward_dynamics"),
    "stewart_gough": ("inverse_dynamics", "forward_dynamics"),
}


def text(base: Path | None = None, rounds: int = 9, count: int = 10_000) -> str:
    compared, made = versions(base), []
    for name, verbs in ASKED.items():
        for verb in verbs:
            answers = in_turns(compared, rounds, work="batch", name=name, verb=verb, count=count)
            now, before = answers["now"], answers.get("base", [])
            made.append(
                [f"{name}: {verb}", cell(median(now, "operations"), ",.0f"), cell(median(before, "operations"), ",.0f"),
                 cell(median(now, "seconds", 1e9), ",.0f"), cell(median(before, "seconds", 1e9), ",.0f"),
                 cell(ratio(answers, "seconds"), ".2f")]
            )  # fmt: skip
    header = "quantity | operations | base | ns a state | base, ns | times faster"
    return f"{__doc__}\n\n{lines(header, made)}\n"


if __name__ == "__main__":
    import sys

    print(text(Path(sys.argv[1]) if sys.argv[1:] else None))
