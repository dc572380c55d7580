"""This version of the package and an earlier one, each in a process of its own, measured in turns."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

HERE = Path(__file__).parent
Answers = dict[str, list[dict[str, Any]]]  # of each version, those of all rounds


class Version:
    """A checkout of the project, and a process that measures it."""

    def __init__(self, name: str, checkout: Path) -> None:
        self.name, self.source = name, checkout / "src"
        if not (self.source / "eslabon").is_dir():
            raise SystemExit(f"{checkout} is no checkout of eslabon: it has no src/eslabon.")
        self._process: subprocess.Popen[str] | None = None

    def start(self, **environment: str) -> subprocess.Popen[str]:
        made = {**os.environ, "PYTHONPATH": str(self.source), **environment}
        command = [sys.executable, "-W", "ignore", str(HERE / "probe.py")]
        return subprocess.Popen(
            command, stdin=-1, stdout=-1, stderr=subprocess.DEVNULL, text=True, env=made
        )

    def ask(self, **request: Any) -> dict[str, Any]:
        """The answer of a process that lives on, warm."""
        self._process = self._process or self.start()
        return _answer(self._process, request)

    def ask_anew(
        self, environment: Mapping[str, str] = MappingProxyType({}), **request: Any
    ) -> dict[str, Any]:
        """The answer of a new process with an empty cache."""
        with (
            TemporaryDirectory() as folder,
            self.start(ESLABON_CACHE=folder, **environment) as process,
        ):
            answer = _answer(process, request)
            process.stdin.close()
            return answer


def _answer(process: subprocess.Popen[str], request: dict[str, Any]) -> dict[str, Any]:
    print(json.dumps(request), file=process.stdin, flush=True)
    return json.loads(process.stdout.readline() or '{"error": "the process ended"}')


def versions(base: Path | None) -> list[Version]:
    """This one, and the one to compare with."""
    return [Version("now", HERE.parent), *([Version("base", base)] if base else [])]


def in_turns(
    compared: Sequence[Version], rounds: int, anew: bool = False, **request: Any
) -> Answers:
    """Every version once a round; one that cannot answer has no answers."""
    made: Answers = {v.name: [] for v in compared}
    for _ in range(rounds):
        for v in compared:
            answer = (v.ask_anew if anew else v.ask)(**request)
            if "error" in answer and v.name == "now":
                raise SystemExit(f"{request}: {answer['error']}")
            made[v.name] += [] if "error" in answer else [answer]
    return made


def median(answers: list[dict[str, Any]], key: str, scale: float = 1.0) -> float | None:
    values = [a[key] for a in answers if key in a]
    return scale * statistics.median(values) if values else None


def ratio(answers: Answers, key: str) -> float | None:
    """The median over rounds of the base's figure by this version's."""
    if len(answers.get("base", ())) != len(answers["now"]):
        return None
    return statistics.median(
        b[key] / a[key] for a, b in zip(answers["now"], answers["base"], strict=True)
    )


def lines(header: str, rows: list[list[str]]) -> str:
    """A table in Markdown; the header's columns are parted by |."""
    columns = [c.strip() for c in header.split("|")]
    made = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    return "\n".join(made + [f"| {' | '.join(row)} |" for row in rows])


def cell(value: float | None, pattern: str) -> str:
    return "" if value is None else format(value, pattern)
