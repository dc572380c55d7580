"""What all tests share, those in docstrings of src/ too, which is why it stands here: generators, mechanisms, artifacts, how
graphs are compiled, a browser, a budget of CPU time. The modules are in tests/."""

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

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from eslabon import Mechanism

artifacts.cache_folder()  # for this process and for those that tests start
artifacts.keep_bytecode()
randomness.load_profile()


# The compiler's own tests, those of all mechanisms of the library and of the installed package compile as users do. Elsewhere
# LLVM's quick level serves: the bits are the same (tests/compiler/test_assembly.py), a formula that is met once takes a third
# less time, and all folders share the code of the library's mechanisms. ESLABON_OPTIMIZATION, if it is set, holds for all
# tests; the nightly run sets the users' level.
AS_FOR_USERS = (
    "tests/compiler",
    "tests/export",
    "tests/robots",
    "tests/test_smoke.py",
    "tests/test_wheel.py",
)
CHOSEN_LEVEL = os.environ.get("ESLABON_OPTIMIZATION")


def optimization_of(item: pytest.Item) -> str:
    """LLVM's level for a test, by where the test stands."""
    return CHOSEN_LEVEL or ("1" if budget.folder_of(item.nodeid) in AS_FOR_USERS else "0")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    os.environ["ESLABON_OPTIMIZATION"] = optimization_of(item)


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

    loaded = cache(lambda name, level: es.load(name))
    return lambda name: loaded(name, os.environ["ESLABON_OPTIMIZATION"])


@pytest.fixture(scope="session")
def artifact() -> Callable[..., Any]:
    """`artifact(name, sources, make)`: see `artifacts.make_once`."""
    return artifacts.make_once


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
