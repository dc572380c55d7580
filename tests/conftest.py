"""What all tests share: how graphs are evaluated, and a browser for those that look at pages."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from browser import Tab, chromium, opened
from evaluation import SparingCompiler

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SparingCompiler().install()


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every graph is compiled, as users have it, also those of mechanisms that a test makes up."""
    monkeypatch.setenv("ESLABON_TEST_NATIVE", "all")


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most graphs are evaluated by CasADi, also those of the library, where a test asks for many that no other needs."""
    if os.environ.get("ESLABON_TEST_NATIVE") != "all":
        monkeypatch.setenv("ESLABON_TEST_NATIVE", "few")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """`-m browser` and `-m 'not browser'` choose by who asks for a browser."""
    for item in items:
        if "one_browser" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")


@pytest.fixture(scope="module")
def one_browser() -> Iterator[Browser]:
    """One Chromium for the tests of a file. Not of a session: while it runs, asyncio.run works nowhere else."""
    with chromium() as browser:
        yield browser


@pytest.fixture
def tab(one_browser: Browser) -> Iterator[Tab]:
    """A new tab of a real Chromium; `tab.page` is playwright's page, `tab.complaints` what went wrong in it."""
    with opened(one_browser) as tab:
        yield tab
