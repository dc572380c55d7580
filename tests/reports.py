"""The reports on the documents for all tests that look at them: each is made once, by one worker of a run, and read by the others."""

from __future__ import annotations

import os
import pickle
import tempfile
import time
from functools import cache
from pathlib import Path

from eslabon.reproductions import Report, reproduce

PATIENCE = 300.0  # seconds, after which a worker makes the report itself


@cache
def report(name: str) -> Report:
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    if run is None:
        return reproduce(name)
    folder = Path(tempfile.gettempdir()) / f"eslabon-reports-{run}"
    folder.mkdir(exist_ok=True)
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
