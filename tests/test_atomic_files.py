"""A file is written whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from eslabon.atomic_files import check_writable, move_into_place, write
from eslabon.errors import ReadError


def test_an_old_file_survives_a_failed_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "deep" / "a.txt", "old")

    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(ReadError, match="No space left on device"):
        write(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(path.parent) == ["a.txt"]


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need a privilege on Windows")
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = write(tmp_path / "target", "old"), tmp_path / "link"
    link.symlink_to(target)
    write(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


@pytest.mark.parametrize("name", ["a\0b", "x" * 300, ""])
def test_what_cannot_be_a_file_is_a_sentence(name: str, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="cannot be written"):
        write(f"{tmp_path}/{name}", "text")


def test_a_place_that_cannot_be_written_to_is_refused_before_the_work(tmp_path: Path) -> None:
    check_writable(tmp_path / "new" / "a.html")
    assert os.listdir(tmp_path / "new") == []
    old = write(tmp_path / "file", "old")
    check_writable(old)
    assert old.read_text() == "old"
    read_only = (
        ["/proc/none.html"] if Path("/proc").is_dir() else []
    )  # a folder that nobody can write to
    for place in (tmp_path, old / "below.html", *read_only):
        with pytest.raises(ReadError, match="cannot be written"):
            check_writable(place)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_a_file_keeps_its_permissions_and_a_private_one_is_private_from_the_start(
    tmp_path: Path,
) -> None:
    path = write(tmp_path / "a.txt", "old")
    path.chmod(0o640)
    assert stat.S_IMODE(write(path, "new").stat().st_mode) == 0o640
    with move_into_place(tmp_path / "b.txt", 0o600) as file:
        assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == 0o600
        assert os.listdir(tmp_path).count("b.txt") == 0
    assert stat.S_IMODE((tmp_path / "b.txt").stat().st_mode) == 0o600
