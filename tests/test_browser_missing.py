"""Where there is no Chromium, apt-get is asked, the tests that need one say so, and nothing else happens."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import browser


def test_without_chromium_the_test_is_skipped_by_name(monkeypatch):
    monkeypatch.setenv("ESLABON_CHROMIUM", "/nowhere/chromium")
    monkeypatch.delenv("ESLABON_BROWSER_TESTS", raising=False)
    with (
        pytest.raises(
            pytest.skip.Exception, match=r"no Chromium at /nowhere/chromium: install it \(apt-get"
        ),
        browser.chromium(),
    ):
        pass


def test_where_chromium_is_required_its_want_is_a_failure(monkeypatch):
    monkeypatch.setenv("ESLABON_CHROMIUM", "/nowhere/chromium")
    monkeypatch.setenv("ESLABON_BROWSER_TESTS", "required")
    with (
        pytest.raises(pytest.fail.Exception, match="no Chromium at /nowhere/chromium"),
        browser.chromium(),
    ):
        pass


def test_a_chromium_that_does_not_start_is_none(monkeypatch, tmp_path):
    broken = program(tmp_path / "chromium", "exit 3")
    monkeypatch.setenv("ESLABON_CHROMIUM", str(broken))
    monkeypatch.delenv("ESLABON_BROWSER_TESTS", raising=False)
    with pytest.raises(pytest.skip.Exception, match="does not start"), browser.chromium():
        pass


def program(path, script):
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def bare_machine(tmp_path, monkeypatch):
    """A machine of root's whose path has nothing but a shell's echo and an apt-get to be written."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("ESLABON_CHROMIUM", raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: 0, raising=False)
    return tmp_path


@pytest.mark.skipif(sys.platform == "win32", reason="apt-get is Debian's")
def test_apt_installs_chromium_where_there_is_none(bare_machine, capsys):
    program(bare_machine / "apt-get", f'echo "$@" >> {bare_machine}/asked')
    browser.install()
    assert (bare_machine / "asked").read_text().splitlines() == [
        "-qq update",
        "-qq install -y --no-install-recommends chromium",
    ]
    program(bare_machine / "chromium", "exit 0")
    (bare_machine / "asked").unlink()
    browser.install()
    assert not (bare_machine / "asked").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="apt-get is Debian's")
def test_what_apt_refuses_is_said_and_does_no_harm(bare_machine, capsys):
    program(bare_machine / "apt-get", "echo 'E: no network' >&2; exit 100")
    browser.install()
    assert (
        "apt-get update failed (E: no network); the tests in a browser are skipped."
        in capsys.readouterr().out
    )


def test_who_may_not_install_is_left_alone(bare_machine, monkeypatch):
    program(bare_machine / "apt-get", f"touch {bare_machine}/asked")
    monkeypatch.setattr(os, "geteuid", lambda: 1000, raising=False)
    browser.install()
    assert not (bare_machine / "asked").exists()


def test_the_file_is_a_program_too():
    done = subprocess.run(
        [sys.executable, Path(browser.__file__)],
        env=os.environ | {"ESLABON_CHROMIUM": "x"},
        capture_output=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
