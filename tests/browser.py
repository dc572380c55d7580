"""A real Chromium for the tests of pages, and a record of what went wrong in it.

A test asks for the fixture `tab` and looks at a page:

    def test_the_page(tab, tmp_path):
        tab.page.goto((tmp_path / "page.html").as_uri())
        ...
        assert not tab.complaints

Run as a program (as `make test` does), this file has apt-get install a Chromium where there is none and it may. Where
there is none in the end, the tests that need it are skipped by name; with ESLABON_BROWSER_TESTS=required they fail.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:  # a third of a second, for the tests that need it
    from playwright.sync_api import Browser, Page

NAMES = ("chromium", "chromium-browser", "google-chrome")
INSTALL = "install it (apt-get install chromium, or playwright install chromium), or name one by ESLABON_CHROMIUM"
PATIENCE = (
    300_000  # milliseconds, a fuse: a machine with much else to do shows a page after half a minute
)
ARGUMENTS = (
    "--no-sandbox",  # the sandbox of a container is the container
    "--disable-dev-shm-usage",  # /dev/shm is 64 MB in many containers
    *(
        "--disable-quic",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
    ),
    # WebGL by software: the same pictures with and without a graphics card
    *(
        "--use-gl=angle",
        "--use-angle=swiftshader",
        "--enable-unsafe-swiftshader",
        "--ignore-gpu-blocklist",
    ),
)


@dataclass
class Tab:
    """A page, and what was heard of it since it was opened."""

    page: Page
    console: list[tuple[str, str]] = field(
        default_factory=list
    )  # kind ("log", "warning", "error", ...), text
    errors: list[str] = field(default_factory=list)  # exceptions that nobody caught
    failed: list[str] = field(
        default_factory=list
    )  # requests that were not answered, or by 4xx and 5xx

    def __post_init__(self) -> None:
        self.page.on("console", lambda message: self.console.append((message.type, message.text)))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on(
            "requestfailed",
            lambda request: self.failed.append(f"{request.url} ({request.failure})"),
        )
        self.page.on("response", self._answered)

    def _answered(self, response: Any) -> None:
        if response.status >= 400:
            self.failed.append(f"{response.url} ({response.status})")

    @property
    def complaints(self) -> list[str]:
        """All that went wrong: errors on the console, exceptions and failed requests."""
        return [text for kind, text in self.console if kind == "error"] + self.errors + self.failed


def executable() -> str | None:
    """The Chromium to use: $ESLABON_CHROMIUM, one on the path, or playwright's own (None stands for it too)."""
    chosen = os.environ.get("ESLABON_CHROMIUM")
    return chosen or next(filter(None, map(shutil.which, NAMES)), None)


def missing(reason: str) -> None:
    """Skip a test for want of a browser, or fail it where one has to be there."""
    if os.environ.get("ESLABON_BROWSER_TESTS") == "required":
        pytest.fail(f"{reason}, and ESLABON_BROWSER_TESTS=required", pytrace=False)
    pytest.skip(reason)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless Chromium; without one the test that asks is skipped."""
    from playwright.sync_api import Error, sync_playwright

    with sync_playwright() as playwright:
        path = executable()
        if not Path(path or playwright.chromium.executable_path).is_file():
            missing(f"no Chromium{f' at {path}' if path else ''}: {INSTALL}")
        try:
            browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        except Error as error:
            missing(f"Chromium at {path} does not start ({str(error).splitlines()[0]}): {INSTALL}")
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(browser: Browser, width: int = 1200, height: int = 800, **options: Any) -> Iterator[Tab]:
    """A tab that shares nothing with others; options are those of playwright's `Browser.new_context`."""
    context = browser.new_context(viewport={"width": width, "height": height}, **options)
    context.set_default_timeout(PATIENCE)
    try:
        yield Tab(context.new_page())
    finally:
        context.close()


def install() -> None:
    """Chromium by apt-get, where this is a machine that lets us; what fails is said and does no harm."""
    if (
        executable() is not None
        or not shutil.which("apt-get")
        or getattr(os, "geteuid", lambda: 1)() != 0
    ):
        return
    print("No Chromium for the tests in a browser; apt-get installs one.", flush=True)
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in ("update", "install -y --no-install-recommends chromium"):
        try:
            done = subprocess.run(
                ["apt-get", "-qq", *command.split()],
                env=environment,
                capture_output=True,
                text=True,
                timeout=300,
            )
        except subprocess.TimeoutExpired:
            print(
                f"apt-get {command} takes more than five minutes; the tests in a browser are skipped."
            )
            return
        if done.returncode:
            said = (done.stderr.strip() or "no reason given").splitlines()[-1]
            print(f"apt-get {command} failed ({said}); the tests in a browser are skipped.")
            return


if __name__ == "__main__":
    sys.exit(install())
