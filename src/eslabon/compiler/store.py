"""Object code on disk: a folder of files that any number of processes may read and write at once.

A file is written under another name and moved into place, so that it is whole or not there; it
carries a checksum, so that what is damaged later is as good as not there, and its key, so that it
is used for nothing else. What another user can have written is not run. Nothing in here may stop a
computation: what fails becomes a warning, once.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from eslabon.atomic_files import move_into_place
from eslabon.compiler.llvm.machine import host, optimization
from eslabon.compiler.source_digest import source_digest

MAGIC = b"eslabon native 2\n"
LIMIT = 512 * 2**20  # bytes; the oldest files go first
SELDOM = "04"  # names are random: one file in 64 looks whether there are too many, which takes as long as there are files
ABANDONED = 3600  # seconds after which a file half written belongs to a process that was killed


class NativeWarning(UserWarning):
    """Native code works less well than it could: no LLVM, or a cache that cannot be written or
    trusted."""


class Entry(NamedTuple):
    """A compiled function: plain facts about it, and its object code."""

    facts: dict[str, Any]
    code: bytes


def folder() -> Path:
    """$ESLABON_CACHE, or `eslabon` in the user's cache folder as the platform has it."""
    if chosen := os.environ.get("ESLABON_CACHE"):
        return _absolute(chosen)
    if sys.platform == "win32" and (local := os.environ.get("LOCALAPPDATA")):
        return Path(local) / "eslabon" / "Cache"
    if sys.platform not in ("win32", "darwin") and os.path.isabs(
        above := os.environ.get("XDG_CACHE_HOME", "")
    ):
        return Path(above) / "eslabon"
    try:
        home = Path.home()
    except RuntimeError:  # no HOME and no such user, as in many containers
        return _without_home()
    if sys.platform == "win32":
        return home / "AppData" / "Local" / "eslabon" / "Cache"
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "eslabon"


@cache
def _absolute(chosen: str) -> Path:
    """A path as it is seen where it is first used: a process that goes to another folder keeps its
    code."""
    return Path(os.path.abspath(chosen))


def _without_home() -> Path:
    import tempfile

    user = f"-{os.getuid()}" if hasattr(os, "getuid") else ""
    place = Path(tempfile.gettempdir()) / f"eslabon{user}"
    warn_once(
        f"compiled code is kept in {place}, since this user has no home folder; set ESLABON_CACHE to a folder that stays."
    )
    return place


# Whose code it is
# ----------------------------------------------------------------------------------------------------


def _doubt(status: os.stat_result) -> str:
    """Why code that is there is not run: it may be another user's."""
    if os.name != "posix":
        return ""
    if status.st_uid not in (0, os.geteuid()):
        return "belongs to another user"
    writers = not stat.S_ISLNK(status.st_mode) and status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return "can be written by other users" if writers else ""


def _is_trusted(place: Path) -> bool:
    """Whether code is taken from a folder and kept there; links are followed, and may not be
    another user's either."""
    try:
        seen = [place.lstat(), place.stat()]
    except OSError:  # not there yet, or out of reach: whoever writes finds out
        return True
    doubt = next(
        filter(None, map(_doubt, seen)), "" if stat.S_ISDIR(seen[1].st_mode) else "is a file"
    )
    if doubt:
        warn_once(
            f"compiled code is neither taken from {place} nor kept there, since it {doubt}; set ESLABON_CACHE to a folder that "
            "only you can write to."
        )
    return not doubt


def _read(path: Path) -> bytes | None:
    """The bytes of a file that no other user can have written."""
    try:
        with open(path, "rb") as file:
            doubt = _doubt(os.fstat(file.fileno()))
            if not doubt:
                return file.read()
    except OSError:
        return None
    warn_once(
        f"a file in {path.parent} {doubt}, so that the code in it is compiled again; delete what is in there, or set "
        "ESLABON_CACHE to another folder."
    )
    return None


# Entries
# -------------------------------------------------------------------------------------------------------------


def _circumstances() -> dict[str, Any]:
    """All that code depends on besides the graph: what made the graph, what compiles it, and the
    processor."""
    return {**_surroundings(), "optimization": optimization()}


@cache
def _surroundings() -> dict[str, Any]:
    return {"casadi": _casadi_version(), "source": source_digest([__name__]), **asdict(host())}


def _casadi_version() -> str:
    """Its version, by the name of the folder that came with it: to import it, or what reads such
    folders, takes longer than all else here."""
    spec = find_spec("casadi")
    places = [] if spec is None else [Path(x).parent for x in spec.submodule_search_locations or ()]
    found = [x.name for place in places for x in place.glob("casadi-*.dist-info")]
    if len(found) == 1:
        return found[0].removeprefix("casadi-").removesuffix(".dist-info")
    casadi: Any = import_module("casadi")
    return str(casadi.__version__)


def _origin(key: str) -> dict[str, Any]:
    """What an entry says of itself, and must say to be used."""
    return {"key": key, **_circumstances()}


def _path(key: str) -> Path:
    return folder() / (hashlib.sha256(repr(_origin(key)).encode()).hexdigest()[:40] + ".native")


def fetch(key: str) -> Entry | None:
    """What was stored under a key by this version for this processor, if it is there, undamaged and
    nobody else's."""
    try:
        path = _path(key)
    except OSError:  # no folder at all
        return None
    data = _read(path) if _is_trusted(path.parent) else None
    entry = None if data is None else _decoded(data, _origin(key))
    if entry is not None:
        with contextlib.suppress(OSError):
            os.utime(path)  # recently used: among the last to be pruned
    return entry


def store(key: str, entry: Entry) -> None:
    """Keep an entry for other processes."""
    where = "the cache folder"
    try:
        path = _path(key)
        where = f"{path.parent}"
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if _is_trusted(path.parent):
            _write(path, _encoded(entry, _origin(key)))
    except OSError as error:
        if isinstance(error, FileExistsError) and not _is_trusted(path.parent):
            return
        warn_once(f"compiled code is not kept, since {where} cannot be written ({error.strerror or error}); "
              "set ESLABON_CACHE to a folder that can.")  # fmt: skip


def _write(path: Path, data: bytes) -> None:
    """A file that is whole or not there, and that this user alone can read and write."""
    with move_into_place(path, 0o600) as file:
        file.write(data)
    if path.name < SELDOM:
        prune(path.parent)


def entry(
    key: str,
    facts: dict[str, Any],
    make: Callable[[], tuple[dict[str, Any], bytes]],
    use: bool = True,
) -> Entry:
    """The entry kept under a key if it is that of these facts' identity; else it is made, with more
    facts, and kept unless `use` is off."""
    kept = fetch(key) if use else None
    if kept is not None and kept.facts["identity"] == facts["identity"]:
        made = Entry({**kept.facts, **facts}, kept.code)
    else:
        more, code = make()
        made = Entry({**facts, **more}, code)
    if use and (kept is None or kept.facts != made.facts):
        store(key, made)
    return made


def prune(where: Path, limit: int = LIMIT) -> None:
    """Delete the files used least recently until three quarters of the limit are left, if it is
    exceeded."""
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


def _encoded(entry: Entry, origin: dict[str, Any]) -> bytes:
    about = json.dumps({"origin": origin, "facts": entry.facts}).encode()
    payload = len(about).to_bytes(8, "little") + about + entry.code
    return MAGIC + hashlib.sha256(payload).digest() + payload


def _decoded(data: bytes, origin: dict[str, Any] | None = None) -> Entry | None:
    """An undamaged entry, and if an origin is given, one of that origin, whatever its file is
    called."""
    start = len(MAGIC) + 32
    payload = data[start:]
    if data[: len(MAGIC)] != MAGIC or hashlib.sha256(payload).digest() != data[len(MAGIC) : start]:
        return None
    end = 8 + int.from_bytes(payload[:8], "little")
    about = json.loads(payload[8:end])
    return (
        Entry(about["facts"], payload[end:])
        if origin is None or about["origin"] == origin
        else None
    )


@cache
def warn_once(sentence: str) -> None:
    """A `NativeWarning`, unless the same has been said before."""
    warnings.warn(sentence, NativeWarning, stacklevel=4)
