"""The command line, as a person uses it."""

import subprocess
import sys

import pytest

import eslabon as es
from eslabon.cli import main
from small_mechanisms import SMALL


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
        "loop closure violated by at most",
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


def refused(monkeypatch, capsys, *arguments):
    """What a wrong command says: one sentence and the exit code 2."""
    monkeypatch.setattr(sys, "argv", ["eslabon", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    said = capsys.readouterr().err
    assert end.value.code == 2
    assert said.startswith("eslabon: ")
    assert said.endswith((".\n", "?\n"))
    assert said.count("\n") == 1
    return said


WRONG = [
    (("show", "pumma560"), "did you mean 'puma560'?"),
    (("show", "none.toml"), "none.toml: there is no such file."),
    (("show", "none.urdf"), "none.urdf: there is no such file."),
    (("show", ""), "the library has no mechanism ''"),
    (("show", "folder.toml"), "the file cannot be read"),
    (("show", "noise.toml"), "the file cannot be read"),
    (("show", "noise.urdf"), "noise.urdf"),
    (("show", "empty.toml"), "the file needs a name"),
    (("show", "two\nlines"), "the library has no mechanism"),
    (("show", "x" * 5000), "the library has no mechanism"),
    (("pose", "puma560", "--q", "1 2 x"), "--q takes finite numbers"),
    (("pose", "puma560", "--q", "1 2 3 4 5 nan"), "--q takes finite numbers"),
    (("pose", "puma560", "--q", "1,2,3,4,5,-inf"), "--q takes finite numbers"),
    (("pose", "puma560", "--q", "1 2"), "q has 2 values in its last axis; puma560 has 6 coordinates."),
    (("pose", "puma560", "--q", ""), "q has 0 values in its last axis; puma560 has 6 coordinates."),
    (("pose", "puma560", "--q", "1 2 3 4 5 6 7", "--degrees"), "q has 7 values"),
    (("pose", "puma560", "--degrees"), "give --q too"),
    (("pose", "puma560", "--frame", "tol"), "did you mean 'tool'?"),
    (("pose", "puma560", "--frame", ""), "no frame or body ''"),
    (("pose", "puma560", "--q"), "requires an argument"),
    (("pose", "puma560", "--quiet"), "No such option"),
    (("pose",), "Missing argument"),
    (("show", "elbow", "elbow"), "unexpected extra argument"),
    (("show", "elbow", "--svg", "/proc/none/x.svg"), "cannot be written"),
    (("show", "elbow", "--svg", "folder.toml"), "cannot be written"),
    (("show", "elbow", "--svg", "empty.toml/x.svg"), "cannot be written"),
    (("reproduce", "rojass"), "did you mean 'rojas'?"),
    (("reproduce",), "Missing argument"),
    (("dance",), "No such command 'dance'"),
]


@pytest.mark.parametrize(
    ("arguments", "sentence"), WRONG, ids=lambda x: " ".join(x)[:30] if isinstance(x, tuple) else ""
)
def test_a_mistake_is_one_sentence(arguments, sentence, monkeypatch, capsys, tmp_path):
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "empty.toml").touch()
    for name in ("noise.toml", "noise.urdf"):
        (tmp_path / name).write_bytes(b"\x00\xff\x01")
    monkeypatch.chdir(tmp_path)
    assert sentence in refused(monkeypatch, capsys, *arguments)


def test_from_the_shell_it_is_the_same():
    said = run("show", "pumma560", ok=False)
    assert said == "eslabon: the library has no mechanism 'pumma560'; did you mean 'puma560'?\n"
    assert "Usage" in run()


def test_a_configuration_that_does_not_close_is_said():
    assert "This configuration violates loop closure by 0.0909" in run("pose", "five_bar", "--q", "1 1 1 1")


def test_small_mechanisms_are_shown(tmp_path, monkeypatch, capsys):
    for name, make in SMALL.items():
        path = make().save(tmp_path / f"{name}.toml")
        monkeypatch.setattr(sys, "argv", ["eslabon", "show", str(path), "--svg", str(tmp_path / f"{name}.svg")])
        with pytest.raises(SystemExit) as end:
            main()
        assert not end.value.code
        assert name in capsys.readouterr().out
