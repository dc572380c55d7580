"""A sweep that a test can stop in the middle, and what workers are asked."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import eslabon as es

COMPILED: Counter[str] = Counter()
OVER = {"L2": (0.03, 0.06), "m2": (0.005, 0.02)}


def slow(m: es.Mechanism) -> dict[str, float]:
    """Something of every design that takes a while, so that there is time to kill it."""
    time.sleep(0.02)
    q, v, a = m.complete([2.0, 1.0], [1.0, 0.5], [0.0, 0.0])
    tau = m.inverse_dynamics(q, v, a)
    if m.parameters["L2"] > 0.058:
        raise ValueError("too long")
    return {"first": tau[0], "second": tau[1]}


def run(folder: Path | str | None, cluster: object = None) -> es.sweeps.SweepTable:
    return es.sweep(
        es.load("five_bar"),
        slow,
        OVER,
        samples=60,
        chunk=3,
        folder=folder,
        cluster=cluster,
        progress=False,
    )


def count_compilations() -> None:
    """From here on this process counts how often it loads each native function from disk, or makes it where it is not there."""
    from eslabon.compiler import native

    native.load = _counted(native.load)


def _counted(load):
    def counted(key, *more, **others):
        COMPILED[key] += 1
        return load(key, *more, **others)

    return counted


def compilations() -> dict[str, int]:
    return dict(COMPILED)
