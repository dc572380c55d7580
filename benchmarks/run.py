"""Run every benchmark in one go and write docs/benchmarks.md."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import drift
import inverse_kinematics
import loops
import simulation
from report import machine, table

import dynamics
import kinematics

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
SECTIONS = {
    "Kinematics": kinematics,
    "Dynamics of trees": dynamics,
    "Inverse kinematics": inverse_kinematics,
    "Closed chains": loops,
    "Simulation": simulation,
    "Drift of loops": drift,
}
INTRODUCTION = """# Benchmarks

`make bench` writes this page. Every figure is a median over rounds in which all contenders take turns, results are
compared before anything is timed, and a ratio is the median over rounds of the peer's time by ours, so that a noisy machine
disturbs both alike. Peers are called from Python the ordinary way.

"""


def main() -> None:
    start, parts = time.time(), [INTRODUCTION, f"Measured on: {machine()}\n"]
    for title, section in SECTIONS.items():
        print(title, flush=True)
        rows = section.rows()
        for row in rows:
            print(" ", row, flush=True)
        parts.append(f"\n## {title}\n\n{section.__doc__.strip()}\n\n{table(rows)}\n")
        remarks = getattr(section, "REMARKS", "")
        parts.append(f"\n{remarks.strip()}\n" if remarks else "")
    PAGE.write_text("".join(parts), encoding="utf-8")
    print(f"{PAGE} written in {time.time() - start:.0f} s")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    main()
