"""The reports on the documents for all tests that look at them: each is made once, by one worker of a run, and read by the others."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from eslabon.reproductions import Report, reproduce

PATIENCE = 300.0  # seconds, after which a worker makes the report itself


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Report]:
    """A document's report, by its short name."""
    alone = "PYTEST_XDIST_WORKER" not in os.environ
    shared = tmp_path_factory.getbasetemp().parent  # by all workers
    return cache(lambda name: reproduce(name) if alone else _shared(name, shared))


def _shared(name: str, folder: Path) -> Report:
    made = folder / f"{name}.pickle"
    try:
        (folder / f"{name}.begun").touch(exist_ok=False)
    except FileExistsError:
        return _awaited(made, name)
    found = reproduce(name)
    (folder / f"{name}.part").write_bytes(pickle.dumps(found))
    (folder / f"{name}.part").rename(made)
    return found


def _awaited(made: Path, name: str) -> Report:
    """What another worker makes; if it does not come, our own."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if made.exists():
            found: Report = pickle.loads(made.read_bytes())
            return found
        time.sleep(0.1)
    return reproduce(name)
