"""The command line, as a person uses it."""

import subprocess
import sys

import pytest

import eslabon as es


def run(*arguments, folder=None, ok=True):
    done = subprocess.run(
        [sys.executable, "-m", "eslabon", *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=120,
        check=False,
    )
    assert (done.returncode == 0) == ok, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout if ok else done.stderr


def test_list_names_the_whole_library():
    shown = run("list")
    assert all(name in shown for name in es.robots())


def test_show_prints_tables_mobility_and_warnings():
    shown = run("show", "puma560")
    for word in ("link3", "revolute z", "0.4318", "6 degrees of freedom", "warning: body 'link1'"):
        assert word in shown


def test_show_a_file_and_draw_it(tmp_path):
    es.load("five_bar").save(tmp_path / "mine.toml")
    shown = run("show", "mine.toml", "--svg", "mine.svg", folder=tmp_path)
    assert "five_bar" in shown
    assert (tmp_path / "mine.svg").read_text().startswith("<svg")


def test_demo_says_where_to_look(tmp_path):
    shown = run("demo", folder=tmp_path)
    for word in (
        "planar_3rrr",
        "platform",
        "vertex1",
        "3 degrees of freedom",
        "108.031",
        "0.000629369",
        "loops open by at most",
        "out/topology.svg",
        "out/swing.png",
    ):
        assert word in shown
    assert {p.name for p in (tmp_path / "out").iterdir()} == {
        "topology.svg",
        "driven.png",
        "reactions.png",
        "swing.png",
    }


def test_pose_in_degrees():
    shown = run("pose", "elbow", "--q", "90,0", "--degrees", "--frame", "tool")
    assert "rpy deg      0 0 90" in shown
    assert "position m   0 2 0" in shown
    assert run("pose", "puma560").count("\n") == 6


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("show", "pumma560"), "did you mean 'puma560'?"),
        (("show", "none.toml"), "none.toml: there is no such file."),
        (("pose", "puma560", "--q", "1 2 x"), "--q takes numbers"),
        (("pose", "puma560", "--q", "1 2"), "q has 2 values in its last axis; puma560 has 6 coordinates."),
        (("pose", "puma560", "--frame", "tol"), "did you mean 'tool'?"),
        (("show", "elbow", "--svg", "/proc/none/x.svg"), "cannot be written"),
    ],
)
def test_a_mistake_is_one_sentence(arguments, sentence):
    said = run(*arguments, ok=False)
    assert said.startswith("eslabon: ")
    assert sentence in said
    assert said.count("\n") == 1
