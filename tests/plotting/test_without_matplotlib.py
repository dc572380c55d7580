"""Without matplotlib every figure ends in one sentence, and the rest works."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import eslabon as es
from eslabon.cli import main
from eslabon.errors import MissingDependencyError
from eslabon.plotting import new_figure, save_figure
from eslabon.reproductions import figures_of


@pytest.fixture
def without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.usefixtures("without_matplotlib")
def test_every_figure_says_what_to_install(tmp_path: Path) -> None:
    m = es.load("five_bar")
    for draw in (
        m.workspace(samples=20).plot,
        es.load("elbow").simulate([0.1, 0.2], None, 0.1).plot,
        lambda: figures_of("yime", tmp_path),
        new_figure,
    ):
        with pytest.raises(MissingDependencyError, match=r"pip install 'eslabon\[plot\]'"):
            draw()


@pytest.mark.usefixtures("without_matplotlib")
def test_a_report_says_that_it_draws_no_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["eslabon", "reproduce", "yime"])
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code
    assert "No figures are drawn: figures need matplotlib" in " ".join(
        capsys.readouterr().out.split()
    )


def test_a_figure_is_saved_where_there_was_no_folder(tmp_path: Path) -> None:
    figure = new_figure()
    figure.subplots().plot([0, 1], [1, 0])
    for name, head in (("a.png", b"\x89PNG"), ("b.svg", b"<?xml"), ("c.pdf", b"%PDF")):
        assert save_figure(figure, tmp_path / "new" / name).read_bytes().startswith(head)
    with pytest.raises(es.ReadError, match="cannot be written"):
        save_figure(figure, tmp_path / "new" / "a.png" / "below")
