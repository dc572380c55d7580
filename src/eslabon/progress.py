"""A bar for runs that take longer than a person waits without asking."""

from __future__ import annotations

import sys
import time
from typing import Any, Self

from eslabon.arguments import flag

PATIENCE = 1.0  # seconds before a bar appears


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
