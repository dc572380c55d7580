"""What many tests look at is made once: by whichever worker comes first, for all workers and for later runs.

An artifact is kept in the cache folder of the tests under its name and the content of the files that it is made from.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import TypeVar

from filelock import FileLock

ROOT = Path(__file__).parents[1]
T = TypeVar("T")


def cache_folder() -> Path:
    """Where compiled code and artifacts of the tests are kept; `make test COLD=1` starts from an empty one."""
    return Path(os.environ.setdefault("ESLABON_CACHE", str(ROOT / "build" / "test-cache")))


def keep_bytecode() -> None:
    """Keep Python's bytecode in build/ where it may not stand beside the sources, as many containers have it.

    Tests start some hundred processes; without bytecode each compiles this package, Matplotlib or Dask anew.
    """
    if sys.dont_write_bytecode:
        sys.dont_write_bytecode = False
        sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = str(ROOT / "build" / "bytecode")
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@cache
def digest_of(*patterns: str) -> str:
    """A fingerprint of all files of the project that match, by path and content."""
    digest = hashlib.sha256()
    for path in sorted({p for pattern in patterns for p in ROOT.glob(pattern) if p.is_file()}):
        digest.update(f"{path.relative_to(ROOT)}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:24]


def make_once(name: str, sources: Iterable[str], make: Callable[[], T]) -> T:
    """What `make` returns, pickled for all others who ask for the same name and sources."""
    path = cache_folder() / "artifacts" / f"{name}-{digest_of(*sources)}.pickle"
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{path}.lock"):
        if path.exists():
            found: T = pickle.loads(path.read_bytes())
            return found
        made = make()
        part = path.with_suffix(".part")
        part.write_bytes(pickle.dumps(made))
        part.replace(path)
        return made
