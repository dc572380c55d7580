"""Record this checkout and, if there is a base, compare: what `make baseline` runs.

    python benchmarks/baseline/run.py
    python benchmarks/baseline/run.py --base ../before            a checkout, by its own recorder
    python benchmarks/baseline/run.py --base before.json.gz       a recording made earlier

Each recording starts from an empty cache below build/, and leaves the developer's own alone.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OUTPUT = ROOT / "build" / "baseline"


def environment(checkout: Path, cache: Path) -> dict[str, str]:
    """A checkout's own source and recorder, and a cache of its own."""
    paths = os.pathsep.join(str(checkout / folder) for folder in ("src", "benchmarks"))
    return {
        **os.environ,
        "PYTHONPATH": paths,
        "ESLABON_CACHE": str(cache),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def record(checkout: Path, name: str, more: Sequence[str] = ()) -> Path:
    """The recording of a checkout, made by its own recorder."""
    if not (checkout / "benchmarks" / "baseline" / "record.py").exists():
        raise SystemExit(
            f"{checkout} has no benchmarks/baseline/record.py; "
            "give a checkout with a recorder, or a recording."
        )
    path, cache = OUTPUT / f"{name}.json.gz", OUTPUT / f"cache_{name}"
    shutil.rmtree(cache, ignore_errors=True)
    print(f"Recording {checkout} into {path}", flush=True)
    command = [sys.executable, "-m", "baseline.record", str(path), *more]
    subprocess.run(command, cwd=checkout, env=environment(checkout, cache), check=True)
    shutil.rmtree(cache, ignore_errors=True)
    return path


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument(
        "--base", type=Path, help="an earlier checkout, or a recording that ends in .json.gz"
    )
    options.add_argument("--processes", type=int, default=2)
    options.add_argument(
        "--only", nargs="+", default=(), metavar="SUBJECT", help="not all subjects"
    )
    given = options.parse_args()
    OUTPUT.mkdir(parents=True, exist_ok=True)
    if given.base is not None and not given.base.exists():
        raise SystemExit(
            f"{given.base} does not exist; "
            "BASE is an earlier checkout, or a recording that ends in .json.gz."
        )
    more = ["--processes", str(given.processes), *(["--only", *given.only] if given.only else ())]
    new = record(ROOT, "new", more)
    if given.base is None:
        return 0
    base = given.base.resolve()
    before = base if base.is_file() else record(base, "base", more)
    command = [sys.executable, "-m", "baseline.compare", str(before), str(new)]
    return subprocess.run(command, env=environment(ROOT, OUTPUT / "cache_new")).returncode


if __name__ == "__main__":
    sys.exit(main())
