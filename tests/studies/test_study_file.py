"""A study from the shell, and from a file that makes it again."""

import json
import sys

import pytest

import eslabon as es
from eslabon.cli import main
from eslabon.studies.study_file import is_study, read_study, save_study


def typed(monkeypatch, capsys, *words):
    """The exit code, and what is printed."""
    monkeypatch.setattr(sys, "argv", ["eslabon", *words])
    with pytest.raises(SystemExit) as end:
        main()
    said = capsys.readouterr()
    return end.value.code or 0, " ".join((said.out + said.err).split())


def test_the_command_writes_page_numbers_and_tables(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    sections = ("--section", "what_it_is", "--section", "near_a_point")
    code, said = typed(
        monkeypatch,
        capsys,
        "study",
        "elbow",
        "--at",
        "30 40",
        "--degrees",
        *sections,
        "--save-study",
        "again.toml",
    )
    assert code == 0
    assert "What it is" in said
    data = json.loads((tmp_path / "out" / "elbow_study.json").read_text())
    assert data["sections"]["what_it_is"]["start"]["theta1"] == pytest.approx(0.5235987756)
    assert (tmp_path / "out" / "elbow_study" / "near_a_point_A.csv").is_file()
    code, _ = typed(monkeypatch, capsys, "study", "again.toml", "--output", "other.html")
    again = json.loads((tmp_path / "other.json").read_text())
    assert code == 0
    assert again["sections"]["near_a_point"]["A"] == data["sections"]["near_a_point"]["A"]


def test_troubles_show_in_the_exit_code(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, said = typed(
        monkeypatch,
        capsys,
        "study",
        "elbow",
        "--section",
        "how_it_moves",
        "--output",
        str(tmp_path / "x.html"),
    )
    assert code == 1
    assert "figures need matplotlib" in said
    assert "could not be computed, in: how_it_moves" in said
    assert "figures need matplotlib" in (tmp_path / "x.html").read_text()


def test_a_study_file_tells_its_mechanism_from_beside_it(tmp_path):
    es.load("elbow").save(tmp_path / "arm.toml")
    file = tmp_path / "s.toml"
    file.write_text(
        'mechanism = "arm.toml"\nmotion = "m.csv"\nat = { theta1 = 0.2 }\noutput = "pages"\n'
    )
    found = read_study(file)
    assert is_study(file)
    assert not is_study(tmp_path / "arm.toml")
    assert found.mechanism == str(tmp_path / "arm.toml")
    assert found.choices == {"motion": str(tmp_path / "m.csv"), "at": {"theta1": 0.2}}
    assert found.output == str(tmp_path / "pages")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('mechanism = "elbow"\ntipp = "tool"', "no key 'tipp'; did you mean 'tip'"),
        ('mechanism = "elbow"\nsections = "control"', "'sections' is a list; it is 'control'"),
        ("mechanism = 3", "'mechanism' is a text"),
        ('tip = "tool"', "names its mechanism"),
        ("mechanism = ", "no TOML"),
    ],
)
def test_a_wrong_study_file_ends_in_a_sentence(tmp_path, text, sentence):
    file = tmp_path / "s.toml"
    file.write_text(text)
    with pytest.raises(es.ReadError, match=sentence):
        read_study(file)


def test_a_study_is_saved_as_toml(tmp_path):
    with pytest.raises(es.ReadError, match=r"\.toml"):
        save_study(tmp_path / "s.json", "elbow", None, {})
    file = save_study(tmp_path / "s.toml", "elbow", None, {"tip": "tool", "at": [0.1, 0.2]})
    assert read_study(file).choices == {"tip": "tool", "at": [0.1, 0.2]}
