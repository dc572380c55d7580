"""Who waits is told what for after a second, where somebody can read it, and Ctrl-C ends the waiting."""

from __future__ import annotations

import _thread
import io
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event

import pytest

import eslabon as es
from eslabon import progress
from eslabon.progress import announce, preserve_interrupts, run_interruptibly


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C as it is for whoever sits in front: a process in the background may have been told to ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class AtOnce:
    """A timer that does not wait."""

    def __init__(self, _: float, say) -> None:
        self.start, self.cancel = say, lambda: None


def watched(monkeypatch) -> Terminal:
    """A terminal in front of which somebody has no patience."""
    made = Terminal()
    monkeypatch.setattr(progress, "Timer", AtOnce)
    monkeypatch.setattr(sys, "stderr", made)
    return made


def test_a_terminal_is_told_and_left_clean(monkeypatch) -> None:
    terminal = watched(monkeypatch)
    with announce("working"):
        assert terminal.getvalue() == "eslabon: working ..."
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_a_notebook_is_told(monkeypatch, capsys) -> None:
    monkeypatch.setattr(progress, "Timer", AtOnce)
    monkeypatch.setitem(sys.modules, "ipykernel", progress)
    with announce("working"):
        pass
    assert capsys.readouterr().err == "eslabon: working ...\n"


def test_a_file_is_not_told(monkeypatch, capsys) -> None:
    monkeypatch.setattr(progress, "Timer", AtOnce)
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    with announce("working"):
        pass
    assert capsys.readouterr().err == ""


def test_short_work_says_nothing(monkeypatch) -> None:
    made = Terminal()
    monkeypatch.setattr(sys, "stderr", made)
    monkeypatch.setattr(progress, "PATIENCE", 1e6)
    with announce("working"):
        pass
    assert made.getvalue() == ""


def test_who_waits_for_code_is_told_which(tmp_path, monkeypatch) -> None:
    terminal = watched(monkeypatch)
    monkeypatch.setenv("ESLABON_CACHE", str(tmp_path))
    m = es.load("elbow")
    m.energy(m.home(), [0.0, 0.0])
    assert "compiling energy of elbow" in terminal.getvalue()
    m.equations("mass_matrix")
    assert "writing equations of elbow" in terminal.getvalue()


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_does_not_wait_for_work_outside_of_python() -> None:
    done, finished = Event(), Event()

    def work() -> None:
        _thread.interrupt_main()
        done.wait()
        finished.set()

    with pytest.raises(KeyboardInterrupt):
        run_interruptibly(work)
    assert not finished.is_set()
    done.set()
    assert finished.wait(60)


@pytest.mark.usefixtures("ctrl_c")
def test_a_ctrl_c_that_got_lost_is_raised_at_the_end() -> None:
    before = signal.getsignal(signal.SIGINT)
    reached = []

    def swallowed() -> None:
        with preserve_interrupts():
            with suppress(KeyboardInterrupt), preserve_interrupts():  # as by code in C
                signal.raise_signal(signal.SIGINT)
            reached.append("the end")

    with pytest.raises(KeyboardInterrupt):
        swallowed()
    assert reached == ["the end"]
    with preserve_interrupts():
        pass
    assert signal.getsignal(signal.SIGINT) is before


def test_errors_come_to_whoever_waits() -> None:
    with pytest.raises(ZeroDivisionError):
        run_interruptibly(lambda: 1 // 0)


COMPILING = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # which may be ignored in the background
import eslabon as es
from eslabon import progress
progress.PATIENCE = 0.0
m = es.load("stewart_gough")
q = m.home()
try:
    m.linearize(q)
except KeyboardInterrupt:
    print("stopped")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_ctrl_c_ends_compiling(tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    environment = {**os.environ, "ESLABON_CACHE": str(tmp_path)}
    run = subprocess.Popen(
        [sys.executable, "-c", COMPILING], stdout=subprocess.PIPE, stderr=theirs, env=environment
    )
    os.close(theirs)
    said = b""
    while b"compiling linear_model" not in said:
        said += os.read(ours, 1000)
    run.send_signal(signal.SIGINT)
    out, _ = run.communicate()
    os.close(ours)
    assert out == b"stopped\n"
