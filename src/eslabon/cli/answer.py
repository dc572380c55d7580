"""What a command returns, and how it is written: tables for people, JSON and CSV for programs."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.text import Text

from eslabon.sheets import Sheet, plain

PATIENCE = 1.0  # seconds before a person is told that work goes on


@dataclass
class Answer:
    """`shown` is what a person reads: sheets, and anything that rich prints. JSON is `data`, CSV are the `records`; left
    out, both are the sheets. `notes` are sentences beside it, on stderr where the answer is for a program."""

    shown: list[Any] = field(default_factory=list)
    data: Any = None
    records: list[Sheet] | None = None
    notes: list[str] = field(default_factory=list)
    code: int = 0  # the exit code

    @property
    def sheets(self) -> list[Sheet]:
        return (
            [part for part in self.shown if isinstance(part, Sheet)]
            if self.records is None
            else self.records
        )


def printed(answer: Answer, form: str) -> int:
    """Write an answer as a "table", "json" or "csv"; the exit code."""
    console = Console(highlight=False, soft_wrap=False)
    if form == "table":
        for part in answer.shown:
            if isinstance(part, str):
                console.print(Text(part), soft_wrap=True)
            else:
                console.print(part)
    elif form == "json":
        tables = {sheet.title: sheet.records() for sheet in answer.sheets}
        data = answer.data or (tables if len(tables) > 1 else next(iter(tables.values()), None))
        sys.stdout.write(_json(plain(data)) + "\n")
    else:
        # Several tables have a comment with their title, and a blank line between them.
        titled = [
            f"# {s.title}\n{s.csv()}" if len(answer.sheets) > 1 else s.csv() for s in answer.sheets
        ]
        sys.stdout.write("\n".join(titled))
    aside = console if form == "table" else Console(stderr=True, highlight=False)
    for note in answer.notes:
        aside.print(Text(note, style="yellow"))
    return answer.code


def _json(value: Any, margin: str = "\n") -> str:
    """JSON, indented, with a line for each vector."""
    inner = margin + "  "
    if isinstance(value, dict) and value:
        return (
            "{"
            + ",".join(
                f"{inner}{json.dumps(k, ensure_ascii=False)}: {_json(x, inner)}"
                for k, x in value.items()
            )
            + margin
            + "}"
        )
    if isinstance(value, list) and any(isinstance(x, list | dict) for x in value):
        return "[" + ",".join(inner + _json(x, inner) for x in value) + margin + "]"
    return json.dumps(value, ensure_ascii=False)


@contextmanager
def patience(what: str) -> Iterator[None]:
    """A sign that work goes on, on a terminal, for what takes more than a second."""
    if not sys.stderr.isatty():
        yield
        return
    status = Console(stderr=True).status(f"{what} ...")
    timer = threading.Timer(PATIENCE, status.start)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()  # it may be starting the sign just now
        status.stop()
