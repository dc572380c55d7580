"""A row of the benchmark page, and the check that comes before it: both sides computed the same numbers."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import version

import numpy as np
from timing import Timing


def same(what: str, ours: np.ndarray, theirs: np.ndarray, tolerance: float = 1e-10) -> None:
    """Refuse to compare the speed of different results."""
    error = np.abs(np.asarray(ours) - np.asarray(theirs)).max() / max(1.0, np.abs(theirs).max())
    if not error < tolerance:
        raise SystemExit(f"{what}: the results differ by {error:.2g}; there is nothing to time.")


@dataclass(frozen=True)
class Row:
    """One comparison: times, how many times faster than a peer we are to be, and how many times we are."""

    what: str
    timings: dict[str, Timing]
    target: float | None
    peer: str
    per: int = 1
    unit: str = ""

    def time(self, seconds: float) -> str:
        seconds /= self.per
        if self.unit == "s":
            return f"{seconds:.2f} s"
        return f"{seconds * 1e6:.2f} µs" if seconds > 1e-6 else f"{seconds * 1e9:.0f} ns"

    @property
    def ratio(self) -> float:
        return self.timings[self.peer].ratio

    def cells(self) -> list[str]:
        peers = ", ".join(
            f"{name} {self.time(t.seconds)}" for name, t in self.timings.items() if name != "ours"
        )
        wanted = "" if self.target is None else f"{self.target:g}"
        verdict = "" if self.target is None else ("yes" if self.ratio >= self.target else "**no**")
        ratio = f"{self.ratio:.1f}" if self.unit != "s" else ""
        return [self.what, self.time(self.timings["ours"].seconds), peers, ratio, wanted, verdict]

    def __str__(self) -> str:
        return " | ".join(self.cells())


def table(rows: list[Row]) -> str:
    lines = ["| what | ours | peers | times faster | target | met |", "|---|---|---|---|---|---|"]
    return "\n".join(lines + [f"| {' | '.join(row.cells())} |" for row in rows])


def machine() -> str:
    packages = ("eslabon", "numpy", "casadi", "llvmlite", "pin", "mujoco")
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        model = next(
            (line.split(":")[1].strip() for line in f if line.startswith("model name")),
            platform.processor(),
        )
        f.seek(0)
        cores = sum(line.startswith("processor") for line in f)
    versions = ", ".join(f"{p} {version(p)}" for p in packages)
    return f"{model}, {cores} cores, Python {platform.python_version()}; {versions}."
