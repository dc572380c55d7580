"""What the tests of this room share: a cache folder of their own."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's cache is left alone; tests of one worker share a folder."""
    monkeypatch.setenv("ESLABON_CACHE", str(tmp_path_factory.getbasetemp() / "native-cache"))
