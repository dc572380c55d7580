"""CPU seconds of the tests, by folder, beside the limits in budget.toml.

Counted are this process and the processes that a test started and waited for. The table is printed after every run of
whole folders. A run with ESLABON_BUDGET=strict, as `make budget` has it, fails where a folder takes more than
1.3 times its limit or a test without the mark `slow` more than five seconds; other runs only tell, since CPU seconds
depend on the machine and no test may.
"""

from __future__ import annotations

import os
import sys
import time
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

LIMITS = Path(__file__).with_name("budget.toml")
TOLERANCE = 1.3  # of a folder's limit
SLOW = 5.0  # CPU seconds of one test, above which it needs a reason

_mark = 0.0
_by_folder: defaultdict[str, float] = defaultdict(float)
_by_test: defaultdict[str, float] = defaultdict(float)
_with_reason: set[str] = set()


def cpu_seconds() -> float:
    """Of this process and its children."""
    spent = time.process_time()
    if sys.platform != "win32":
        import resource

        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent += children.ru_utime + children.ru_stime
    return spent


def start() -> None:
    """A test begins."""
    global _mark
    _mark = cpu_seconds()


def attach(report: pytest.TestReport, item: pytest.Item) -> None:
    """Give a report the CPU time of its phase, by which it also reaches the process that prints."""
    global _mark
    now = cpu_seconds()
    report.user_properties.append(("cpu", now - _mark))
    if item.get_closest_marker("slow"):
        report.user_properties.append(("slow", True))
    _mark = now


def add(report: pytest.TestReport) -> None:
    """Count a phase of a test."""
    for name, value in report.user_properties:
        if name == "cpu":
            _by_folder[folder_of(report.nodeid)] += value
            _by_test[report.nodeid] += value
        elif name == "slow":
            _with_reason.add(report.nodeid)


def folder_of(nodeid: str) -> str:
    """`tests/control`, `tests/test_cli.py`, `src` for all doctests."""
    parts = nodeid.split("::")[0].split("/")
    return parts[0] if parts[0] in ("src", "docs_build") else "/".join(parts[:2])


def read_limits() -> dict[str, int]:
    """The limit of every folder that was run."""
    data = tomllib.loads(LIMITS.read_text(encoding="utf-8"))
    return {folder: data["cpu_seconds"].get(folder, data["others"]) for folder in _by_folder}


def excesses(limits: dict[str, int]) -> list[str]:
    """Folders beyond their limits, and slow tests without a reason."""
    found = [
        f"{folder} takes {spent:.0f} CPU s, and has a limit of {limits[folder]}"
        for folder, spent in _by_folder.items()
        if spent > TOLERANCE * limits[folder]
    ]
    return found + [
        f"{test} takes {spent:.1f} CPU s: make it quicker, or mark it slow with a reason"
        for test, spent in _by_test.items()
        if spent > SLOW and test not in _with_reason
    ]


def summarize(reporter: Any) -> None:
    """Print the table, and fail a strict run that is beyond its budget."""
    if reporter.config.getoption("verbose") < 0 and len(_by_test) < 100:
        return  # somebody tries one file
    limits = read_limits()
    reporter.section("CPU seconds (limit)")
    for folder, spent in sorted(_by_folder.items(), key=lambda x: -x[1]):
        reporter.write_line(f"{spent:8.1f} ({limits[folder]:>4})  {folder}")
    reporter.write_line(f"{sum(_by_folder.values()):8.1f} ({sum(limits.values()):>4})  in all")
    beyond = excesses(limits)
    for sentence in beyond:
        reporter.write_line(f"over budget: {sentence}")
    if beyond and os.environ.get("ESLABON_BUDGET") == "strict":
        reporter._session.exitstatus = pytest.ExitCode.TESTS_FAILED
