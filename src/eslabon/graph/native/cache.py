"""Object code on disk: a folder of files that any number of processes may read and write at once.

A file is written under another name and moved into place, so that it is whole or not there; it carries a checksum, so
that what is damaged later is as good as not there. Nothing in here may stop a computation: what fails becomes a
warning, once.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from eslabon.graph.native.machine import host

MAGIC = b"eslabon native 1\n"
LIMIT = 512 * 2**20  # bytes; the oldest files go first
SELDOM = (
    "04"  # names are random: one file in 64 looks whether there are too many, which takes as long as there are files
)
ABANDONED = 3600  # seconds after which a file half written belongs to a process that was killed


class NativeWarning(UserWarning):
    """Native code works less well than it could: no LLVM, or a cache that cannot be written."""


class Entry(NamedTuple):
    """A compiled function: plain facts about it, and its object code."""

    facts: dict[str, Any]
    code: bytes


def folder() -> Path:
    """$ESLABON_CACHE, or `eslabon` in the user's cache folder as the platform has it."""
    if chosen := os.environ.get("ESLABON_CACHE"):
        return Path(chosen)
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")) / "eslabon" / "Cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "eslabon"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "eslabon"


@cache
def _circumstances() -> bytes:
    """All that the code depends on besides the graph: processor, compiler, and this room's version.

    The version is the text of its files, which is never forgotten to be changed with them.
    """
    h = hashlib.sha256(repr(host()).encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        h.update(source.read_bytes())
    return h.digest()


def _path(key: str) -> Path:
    return folder() / (hashlib.sha256(_circumstances() + key.encode()).hexdigest()[:40] + ".native")


def fetch(key: str) -> Entry | None:
    """What was stored under a key by this version for this processor, if it is there and undamaged."""
    path = _path(key)
    try:
        data = path.read_bytes()
    except OSError:
        return None
    entry = _decoded(data)
    if entry is not None:
        with contextlib.suppress(OSError):
            os.utime(path)  # recently used: among the last to be pruned
    return entry


def store(key: str, entry: Entry) -> None:
    """Keep an entry for other processes."""
    import tempfile  # not needed by those who only read

    path = _path(key)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
        try:
            with open(handle, "wb") as file:
                file.write(_encoded(entry))
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
        if path.name < SELDOM:
            prune(path.parent)
    except OSError as error:
        warn_once(f"compiled code is not kept, since {path.parent} cannot be written ({error.strerror}); "
              "set ESLABON_CACHE to a folder that can.")  # fmt: skip


def code(key: str, facts: dict[str, Any], make: Callable[[], bytes], use: bool = True) -> bytes:
    """The code kept under a key if it is that of these facts' identity; else it is made, and kept unless `use` is off."""
    kept = fetch(key) if use else None
    made = kept.code if kept is not None and kept.facts["identity"] == facts["identity"] else make()
    if use and (kept is None or kept.facts != facts):
        store(key, Entry(facts, made))
    return made


def prune(where: Path, limit: int = LIMIT) -> None:
    """Delete the files used least recently until three quarters of the limit are left, if it is exceeded."""
    files = []
    for file in os.scandir(where):
        with contextlib.suppress(OSError):  # another process may have deleted it
            if file.name.endswith(".native"):
                files.append((file.stat().st_mtime, file.stat().st_size, file.path))
            elif file.name.endswith(".part") and time.time() - file.stat().st_mtime > ABANDONED:
                os.unlink(file.path)
    total = sum(size for _, size, _ in files)
    if total <= limit:
        return
    for _, size, path in sorted(files):
        if total <= 0.75 * limit:
            return
        with contextlib.suppress(OSError):
            os.unlink(path)
            total -= size


def _encoded(entry: Entry) -> bytes:
    facts = json.dumps(entry.facts).encode()
    payload = len(facts).to_bytes(8, "little") + facts + entry.code
    return MAGIC + hashlib.sha256(payload).digest() + payload


def _decoded(data: bytes) -> Entry | None:
    start = len(MAGIC) + 32
    payload = data[start:]
    if data[: len(MAGIC)] != MAGIC or hashlib.sha256(payload).digest() != data[len(MAGIC) : start]:
        return None
    end = 8 + int.from_bytes(payload[:8], "little")
    return Entry(json.loads(payload[8:end]), payload[end:])


@cache
def warn_once(sentence: str) -> None:
    """A `NativeWarning`, unless the same has been said before."""
    warnings.warn(sentence, NativeWarning, stacklevel=4)
