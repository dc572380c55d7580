"""Run every benchmark in one go and write docs/benchmarks.md.

python benchmarks/run.py                        # beside the peers
python benchmarks/run.py --base ../earlier      # and beside an earlier checkout (`git worktree add ../earlier <commit>`)
python benchmarks/run.py --only calls,steps     # some parts; the page keeps the others
"""

from __future__ import annotations

import argparse
import importlib
import time
from pathlib import Path
from types import ModuleType

from report import machine, table

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
SECTIONS = {
    "kinematics": "Kinematics",
    "dynamics": "Dynamics of trees",
    "inverse_kinematics": "Inverse kinematics",
    "loops": "Closed chains",
    "derivatives": "Derivatives of dynamics",
    "linearization": "Linear models",
    "bond_graphs": "Bond graphs",
    "simulation": "Simulation",
    "drift": "Drift of loops",
    "singular_passages": "Singular passages",
    "steps": "Steps with loops",
    "designs": "Many designs",
    "calls": "Cost of a call",
    "first_calls": "First calls and machine code",
    "counts": "Operations and batches",
}
INTRODUCTION = """# Benchmarks

`make bench` writes this page. Every figure is a median over rounds in which all contenders take turns, results are
compared before anything is timed, and a ratio is the median over rounds of the peer's time by ours, so that a noisy machine
disturbs both alike. Peers are called from Python the ordinary way. "Base" is an earlier version of eslabon (`make bench
BASE=path` names its checkout), measured in the same run by a process of its own.

"""


def measured(title: str, section: ModuleType, base: Path | None) -> str:
    """A section of the page: rows beside peers, or a text that compares versions."""
    if hasattr(section, "text"):
        return f"\n## {title}\n\n{section.text(base)}"
    rows = section.rows()
    remarks = getattr(section, "REMARKS", "").strip()
    return f"\n## {title}\n\n{section.__doc__.strip()}\n\n{table(rows)}\n" + (
        f"\n{remarks}\n" if remarks else ""
    )


def written() -> dict[str, str]:
    """The parts that the page has."""
    found = PAGE.read_text(encoding="utf-8").split("\n## ")[1:] if PAGE.exists() else []
    names = {title: name for name, title in SECTIONS.items()}
    titles = [part.partition("\n")[0] for part in found]
    return {
        names[t]: f"\n## {part.rstrip()}\n"
        for t, part in zip(titles, found, strict=True)
        if t in names
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Write docs/benchmarks.md, or some parts of it anew."
    )
    parser.add_argument(
        "--base", type=Path, help="a checkout of an earlier version to compare with"
    )
    parser.add_argument("--only", help=f"some of {', '.join(SECTIONS)}, parted by commas")
    asked = parser.parse_args()
    chosen = asked.only.split(",") if asked.only else list(SECTIONS)
    if unknown := set(chosen) - set(SECTIONS):
        parser.error(
            f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}"
        )
    start, parts = time.time(), written()
    for name in chosen:
        parts[name] = measured(SECTIONS[name], importlib.import_module(name), asked.base)
        print(parts[name], flush=True)
        body = "".join(parts[x] for x in SECTIONS if x in parts)
        PAGE.write_text(f"{INTRODUCTION}Measured on: {machine()}\n{body}", encoding="utf-8")
    print(f"{PAGE} written in {time.time() - start:.0f} s")


if __name__ == "__main__":
    main()
