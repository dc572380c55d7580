"""What a person sees who waits: a bar for long runs, a line for work that cannot tell how far it is; and Ctrl-C ends both."""

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
def announced(work: str) -> Iterator[None]:
    """Say what is being done, on a terminal or in a notebook, if it takes longer than a second.

    >>> with announced("compiling pose of puma560"):
    ...     pass
    """
    terminal = sys.stderr.isatty()
    if not terminal and "ipykernel" not in sys.modules:  # nobody waits in front of a file
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
def interrupts_kept() -> Iterator[None]:
    """Raise KeyboardInterrupt at the end if Ctrl-C was pressed and the error got lost on the way: code in C that calls Python, such
    as CasADi's when it converts arguments, takes it for its own."""
    if (
        current_thread() is not main_thread()
        or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield  # somebody else looks after it
        return
    pressed = []

    def noted(number: int, frame: FrameType | None) -> None:
        pressed.append(number)
        signal.default_int_handler(number, frame)

    signal.signal(signal.SIGINT, noted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if pressed:
        raise KeyboardInterrupt


def interruptible(work: Callable[[], T]) -> T:
    """What a function gives whose work is done outside of Python, where no Ctrl-C reaches it: the caller is free at once, and
    the work goes on by itself to its end.

    >>> interruptible(lambda: 6 * 7)
    42
    """
    if current_thread() is not main_thread():  # which alone is told of Ctrl-C
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
        worker.join(0.1)  # not for ever: Windows looks for Ctrl-C only between two waits
    if errors:
        raise errors[0]
    return made[0]


class Progress:
    """How far a run is. `show` is True, False, or None: on a terminal, after some seconds.

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
        """Time since the run began."""
        return time.perf_counter() - self.start

    def update(self, fraction: float, note: str = "") -> None:
        """Say how much of the run is done, and what else there is to say of it."""
        if self._wanted and self._bar is None and self.seconds >= self._wait:
            self._bar = self._made()
        if self._bar is not None:
            self._bar.update(self._task, completed=fraction, note=note)

    def _made(self) -> Any:
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
