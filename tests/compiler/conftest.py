"""What the tests of this room share: a cache folder of their own."""

from __future__ import annotations

import pytest

from eslabon.compiler.llvm import machine


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's cache is left alone; tests of one worker share a folder."""
    monkeypatch.setenv("ESLABON_CACHE", str(tmp_path_factory.getbasetemp() / "native-cache"))


@pytest.fixture
def levels(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The levels at which objects are made. Threads compile too, so that one patch holds for the whole test."""
    found: list[int] = []
    make = machine._object
    monkeypatch.setattr(
        machine, "_object", lambda text, level: found.append(level) or make(text, level)
    )
    return found
