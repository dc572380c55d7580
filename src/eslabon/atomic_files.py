"""Files that are written completely or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from eslabon.errors import ReadError, file_name


def write(path: str | Path, content: str | bytes) -> Path:
    """Write a file, or replace one, by `replace_file`. Text is encoded in UTF-8."""
    with replace_file(path) as file:
        file.write(
            content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
        )
    return Path(path)


def check_writable(path: str | Path) -> None:
    """Raise a `ReadError` if a file cannot be written there, before minutes of work are lost."""
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
def replace_file(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file to write bytes into, which replaces the one at `path` when all is written.

    The new file stands beside the target and is renamed over it when it is safe on disk. If
    anything fails, or the process is killed, the old file is unchanged. Parent folders are created,
    symbolic links followed, and the permissions of the old file kept. A device such as /dev/stdout
    is written to directly. Errors of the system raise `ReadError`.

    >>> from tempfile import mkdtemp
    >>> target = Path(mkdtemp()) / "numbers.txt"
    >>> with replace_file(target) as file:
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
        with move_into_place(target) as file:
            yield file
            if mode is not None:
                os.chmod(file.name, stat.S_IMODE(mode))
            file.flush()
            os.fsync(file.fileno())
        _sync(target.parent)
    except OSError as error:
        raise _refusal(path, error) from None


@contextmanager
def move_into_place(target: Path, mode: int = 0o666) -> Iterator[IO[bytes]]:
    """Open a new file beside `target`; rename it over `target` at the end, or delete it on failure.

    Other processes see either the old file or the complete new one. Unlike `replace_file`, it does
    not force the file onto the disk and raises `OSError`.
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
    import secrets

    return target.with_name(f".{target.name[:50]}.{secrets.token_hex(4)}.part")


def _refusal(path: str | Path, error: OSError) -> ReadError:
    return ReadError(
        f"{file_name(path)}: it cannot be written ({error.strerror or error}); "
        "choose another place or name."
    )


def _target(path: str | Path) -> tuple[Path, int | None]:
    """The file at a path, with links followed, and its mode if it exists."""
    try:
        target = Path(os.path.realpath(path))
        mode = target.stat().st_mode
    except FileNotFoundError:
        return target, None
    except (ValueError, TypeError) as error:  # NUL or a lone surrogate in the name; or no name
        raise OSError(str(error)) from None
    if stat.S_ISDIR(mode):
        raise OSError("it is a folder, not a file")
    if not os.access(target, os.W_OK):
        raise OSError("it is there already and may not be changed")
    return target, mode


def _sync(folder: Path) -> None:
    """Force the new name onto the disk, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
