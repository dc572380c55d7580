"""Timing side by side: every contender once a round, round after round, so that a noisy machine disturbs all alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Timing:
    """The median time of a call, and the median over rounds of its ratio to the first contender's."""

    seconds: float
    ratio: float


def seconds_of(call: Callable[[], object], repeat: int) -> float:
    start = time.perf_counter()
    for _ in range(repeat):
        call()
    return (time.perf_counter() - start) / repeat


def side_by_side(
    calls: dict[str, Callable[[], object]], rounds: int = 15, budget: float = 0.02
) -> dict[str, Timing]:
    """Time the calls; the first one is what the others are compared with."""
    repeat = {}
    for name, call in calls.items():
        call()
        once = min(seconds_of(call, 1) for _ in range(3))
        repeat[name] = max(1, int(budget / max(once, 1e-9)))
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            times[name].append(seconds_of(call, repeat[name]))
    first = next(iter(calls))
    return {
        name: Timing(
            statistics.median(t),
            statistics.median(x / y for x, y in zip(t, times[first], strict=True)),
        )
        for name, t in times.items()
    }
