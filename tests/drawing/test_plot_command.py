"""eslabon plot: a picture from the shell, and sentences."""

import json

import pytest
from typer.testing import CliRunner

import eslabon as es
from eslabon.cli import app


def run(*typed):
    return CliRunner().invoke(app, ["plot", *typed])


def test_a_picture_in_a_mode(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    m = es.load("five_bar")
    m.with_mode("wide", m.assemble([2.4, 0.7])).save("wide.toml")
    done = run(
        "wide.toml",
        "--mode",
        "wide",
        "--reactions",
        "--coms",
        "--frame",
        "link3",
        "--size",
        "4 3",
        "--json",
    )
    told = json.loads(done.stdout)
    assert told["figure"] == "five_bar.png"
    assert (tmp_path / "five_bar.png").stat().st_size > 5000
    assert told["q"]["theta2"] == pytest.approx(2.4)
    assert run("puma560", "--view", "20 -40", "--theme", "dark", "--out", "arm.svg").exit_code == 0
    assert (tmp_path / "arm.svg").read_text().startswith("<?xml")


def test_a_simulation_as_a_film(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    typed = ["simulate", "double_pendulum", "--q", "1 0", "--time", "0.2", "--animate", "swing.gif"]
    done = CliRunner().invoke(app, typed)
    assert "Animation: swing.gif" in done.stdout
    assert (tmp_path / "swing.gif").read_bytes().startswith(b"GIF89a")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (("five_bar", "--mode", "wide"), "no mode 'wide'"),
        (("five_bar", "--mode", "wide", "--q", "1 2 3 4"), "give one of them"),
        (("five_bar", "--q", "1 2"), "q has 2 values"),
        (("five_bar", "--view", "behind"), "'front'"),
        (("five_bar", "--view", "1 2 3"), "--view takes 2 numbers"),
        (("five_bar", "--size", "4"), "--size takes 2 numbers"),
        (("five_bar", "--theme", "blue"), "'light' or 'dark'"),
        (("five_bar", "--frame", "pont"), "'point'"),
        (("five_bar", "--out", "x.bmp"), ".png"),
    ],
)
def test_nonsense_ends_in_a_sentence(typed, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(es.EslabonError) as error:
        raise run(*typed).exception
    assert said in str(error.value)
