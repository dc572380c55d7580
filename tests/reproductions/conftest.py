"""The reports on the documents for all tests that look at them, each made once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from eslabon.reproductions import Report, reproduce


@pytest.fixture(scope="session")
def report(artifact: Callable[..., Any]) -> Callable[[str], Report]:
    """A document's report, by its short name."""
    return cache(
        lambda name: artifact(
            f"report-{name}", ("src/**/*.py", "src/**/*.toml"), lambda: reproduce(name)
        )
    )
