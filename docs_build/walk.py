"""The way of a state through `forward_dynamics`: which files, wings and frames a call visits, by sys.setprofile.

    python docs_build/walk.py                    the table of docs/design.md: cold, warm and second call of five_bar

Every call is made in a process of its own. Cold starts from an empty cache, warm from the cache that cold left. Frames are those of
the package itself, from the loaded mechanism to the answer, without those of imports.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

PACKAGE = Path(__file__).parents[1] / "src" / "eslabon"
NAME = "five_bar"


class Walk:
    """Counts the frames of the package that are entered."""

    def __init__(self) -> None:
        self.frames: Counter[str] = Counter()
        self._imports = 0

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        file, name = frame.f_code.co_filename, frame.f_code.co_name
        if name == "_find_and_load" and event in ("call", "return"):
            self._imports += 1 if event == "call" else -1
        if event == "call" and not self._imports and file.startswith(f"{PACKAGE}{os.sep}"):
            self.frames[str(Path(file).relative_to(PACKAGE))] += 1

    @property
    def line(self) -> str:
        wings = {Path(file).parts[0].removesuffix(".py") for file in self.frames}
        return f"{len(self.frames)} | {len(wings)} | {sum(self.frames.values())}"


def walked(call: Any) -> Walk:
    """The walk of one call."""
    walk = Walk()
    sys.setprofile(walk)
    try:
        call()
    finally:
        sys.setprofile(None)
    return walk


def walk_twice() -> list[Walk]:
    """The first and the second call of this process."""
    import numpy as np

    import eslabon as es

    m = es.load(NAME)
    q, v, tau = m.home(), np.zeros(m.nv), np.zeros(m.nu)
    return [walked(lambda: m.forward_dynamics(q, v, tau)) for _ in range(2)]


def main() -> None:
    if sys.argv[1:] == ["--here"]:
        first, second = walk_twice()
        print(f"{first.line}\n{second.line}")
        print(", ".join(f"`{x}`" for x in sorted(first.frames)))
        return
    with tempfile.TemporaryDirectory() as cache:
        command, places = (
            [sys.executable, __file__, "--here"],
            {**os.environ, "ESLABON_CACHE": cache},
        )
        cold, warm = (
            subprocess.check_output(command, env=places, text=True).splitlines() for _ in range(2)
        )
    print("| call | files | wings | frames |\n|---|---|---|---|")
    for name, line in (("first, cold", cold[0]), ("first, warm", warm[0]), ("second", warm[1])):
        print(f"| {name} | {line} |")
    print(f"\nWarm: {warm[2]}.")


if __name__ == "__main__":
    main()
