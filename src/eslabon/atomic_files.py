"""Files written whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from eslabon.errors import ReadError, file_name


def write(path: str | Path, content: str | bytes) -> Path:
    """A file with that content, whole, in the place of an older one; text is UTF-8. See `replacing`."""
    with replacing(path) as file:
        file.write(
            content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
        )
    return Path(path)


def check_writable(path: str | Path) -> None:
    """Refuse a place that cannot be written to before minutes of work are lost to it."""
    try:
        target, mode = _target(path)
        if mode is None or stat.S_ISREG(mode):
            target.parent.mkdir(parents=True, exist_ok=True)
            probe = _beside(target)
            probe.touch(exist_ok=False)
            probe.unlink()
    except OSError as error:
        raise _refusal(path, error) from None


@contextmanager
def replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """A file to write bytes into that takes the place of the one at `path` once all is written.

    It stands beside the target and is renamed over it when it is safe on disk: if anything fails, or the process is
    killed on the way, the old file is whole. Folders above it are made, a symbolic link is followed, the old file's
    permissions are kept, a device such as /dev/stdout is written to, and what the system refuses is a `ReadError`.

    >>> from tempfile import mkdtemp
    >>> target = Path(mkdtemp()) / "numbers.txt"
    >>> with replacing(target) as file:
    ...     _ = file.write(b"1 2 3")
    >>> target.read_text()
    '1 2 3'
    """
    try:
        target, mode = _target(path)
        if mode is not None and not stat.S_ISREG(mode):
            with target.open("wb") as file:
                yield file
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        with moved_into_place(target) as file:
            yield file
            if mode is not None:
                os.chmod(file.name, stat.S_IMODE(mode))
            file.flush()
            os.fsync(file.fileno())
        _sync(target.parent)
    except OSError as error:
        raise _refusal(path, error) from None


@contextmanager
def moved_into_place(target: Path, mode: int = 0o666) -> Iterator[IO[bytes]]:
    """A new file of this mode beside `target` that is renamed over it at the end, and deleted if anything fails.

    Other processes see the old file or the new one, whole. It is not forced onto the disk, and the system's refusal
    is its own `OSError`: see `replacing`.
    """
    beside = _beside(target)
    try:
        with open(beside, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            yield file
        os.replace(beside, target)
    finally:
        with suppress(OSError):
            beside.unlink()


def _beside(target: Path) -> Path:
    return target.with_name(f".{target.name[:50]}.{secrets.token_hex(4)}.part")


def _refusal(path: str | Path, error: OSError) -> ReadError:
    return ReadError(
        f"{file_name(path)}: it cannot be written ({error.strerror or error}); choose another place or name."
    )


def _target(path: str | Path) -> tuple[Path, int | None]:
    """The file that a path leads to, links followed, and its mode if there is one already."""
    try:
        target = Path(os.path.realpath(path))
        mode = target.stat().st_mode
    except FileNotFoundError:
        return target, None
    except (ValueError, TypeError) as error:  # a NUL, or half a character, in the name; or no name
        raise OSError(str(error)) from None
    if stat.S_ISDIR(mode):
        raise OSError("it is a folder, not a file")
    if not os.access(target, os.W_OK):
        raise OSError("it is there already and may not be changed")
    return target, mode


def _sync(folder: Path) -> None:
    """Make the new name safe on disk too, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
