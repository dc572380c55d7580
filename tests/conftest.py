"""What all tests share: generators, mechanisms, artifacts, how graphs are evaluated, a browser, a budget of CPU time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import artifacts
import budget
import randomness
from browser import Tab, chromium, opened
from evaluation import SparingCompiler

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from eslabon import Mechanism

artifacts.cache_folder()  # for this process and for those that tests start
randomness.load_profile()
SparingCompiler().install()


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """A generator of the test's own: the same numbers whatever ran before it."""
    return randomness.seeded(request.node.nodeid)


@pytest.fixture(scope="session")
def library() -> Callable[[str], Mechanism]:
    """A mechanism of the library, one in a process, with all that was compiled for it.

    A test that counts traces, patches a method or alters a memory loads its own by `es.load`.
    """
    import eslabon as es

    return cache(es.load)


@pytest.fixture(scope="session")
def artifact() -> Callable[..., Any]:
    """`artifact(name, sources, make)`: see `artifacts.make_once`."""
    return artifacts.make_once


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


def pytest_runtest_logstart() -> None:
    budget.start()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    report = yield
    budget.attach(report, item)
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    budget.add(report)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    budget.summarize(terminalreporter)
