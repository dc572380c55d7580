"""Progress of long work: a bar for runs, a line for work of unknown length; Ctrl-C ends both."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread, Timer, current_thread, main_thread
from types import FrameType
from typing import Any, Self, TypeVar

from eslabon.arguments import flag

PATIENCE = 1.0  # seconds before a bar or a line appears
T = TypeVar("T")


@contextmanager
def announce(work: str) -> Iterator[None]:
    """Print what is being done if it takes longer than a second, in a terminal or a notebook.

    >>> with announce("compiling pose of puma560"):
    ...     pass
    """
    terminal = sys.stderr.isatty()
    if not terminal and "ipykernel" not in sys.modules:  # output to a file: nobody waits
        yield
        return
    said = []

    def say() -> None:
        said.append(work)
        print(f"eslabon: {work} ...", end="" if terminal else "\n", file=sys.stderr, flush=True)

    timer = Timer(PATIENCE, say)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if said and terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


@contextmanager
def preserve_interrupts() -> Iterator[None]:
    """Raise KeyboardInterrupt at the end if Ctrl-C was pressed and its exception was swallowed.

    C code that calls Python swallows it, for example CasADi where it converts arguments.
    """
    if (
        current_thread() is not main_thread()
        or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield  # another handler is responsible
        return
    pressed = []

    def note(number: int, frame: FrameType | None) -> None:
        pressed.append(number)
        signal.default_int_handler(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if pressed:
        raise KeyboardInterrupt


def run_interruptibly(work: Callable[[], T]) -> T:
    """Run a function whose work is done outside of Python, where Ctrl-C does not reach it.

    On Ctrl-C the caller is free at once; the work continues in its thread to its end.

    >>> run_interruptibly(lambda: 6 * 7)
    42
    """
    if current_thread() is not main_thread():  # only that one receives Ctrl-C
        return work()
    made: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            made.append(work())
        except BaseException as error:
            errors.append(error)

    worker = Thread(target=run, daemon=True)
    worker.start()
    while worker.is_alive():
        worker.join(0.1)  # in short waits: Windows checks for Ctrl-C only between two
    if errors:
        raise errors[0]
    return made[0]


class Progress:
    """A progress bar. `show` is True, False or None: in a terminal, after a second.

    >>> with Progress("pendulum", False) as progress:
    ...     progress.update(0.5)
    """

    def __init__(self, title: str, show: bool | None) -> None:
        self.start = time.perf_counter()
        self._title = title
        self._bar: Any = None
        self._task: Any = None
        self._wanted = sys.stderr.isatty() if show is None else flag(show, "progress")
        self._wait = PATIENCE if show is None else 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    @property
    def seconds(self) -> float:
        """Seconds since the run began."""
        return time.perf_counter() - self.start

    def update(self, fraction: float, note: str = "") -> None:
        """Show which fraction of the run is done, and a note."""
        if self._wanted and self._bar is None and self.seconds >= self._wait:
            self._bar = self._new_bar()
        if self._bar is not None:
            self._bar.update(self._task, completed=fraction, note=note)

    def _new_bar(self) -> Any:
        from rich.console import Console
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[note]}"),
            TimeRemainingColumn(),
        )
        bar = Bar(*columns, console=Console(stderr=True), transient=True)
        self._task = bar.add_task(self._title, total=1.0, note="")
        bar.start()
        return bar
