"""A sweep from the shell: its tables and files, confirmation of large ones, interruption, and what is refused."""

from __future__ import annotations

import csv
import json
import sys
from importlib import import_module

import numpy as np
import pytest

import eslabon as es
from eslabon.cli import main
from test_docs import blocks

sweep_module = import_module("eslabon.sweeps.sweep")
FILE = """
mechanism = "elbow"
[sweep]
quantity = "peak_torque"
samples = 24
chunk = 8
seed = 3
[sweep.over]
a1 = ["500 mm", "1.5 m"]
theta1.viscous = [0.0, 0.5]
[sweep.options]
motion = { points = [[0.0, 0.5], [0.6, 1.2]], time = 0.5 }
"""


@pytest.fixture
def typed(tmp_path, monkeypatch, capsys):
    """Types words after `eslabon`: the exit code, and what is printed and said."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "study.toml").write_text(FILE)

    def type_in(*words):
        monkeypatch.setattr(sys, "argv", ["eslabon", *words])
        with pytest.raises(SystemExit) as end:
            main()
        said = capsys.readouterr()
        return end.value.code or 0, said.out, said.err

    return type_in


@pytest.fixture(scope="module")
def table():
    motion = es.paths.joint_path([[0.0, 0.5], [0.6, 1.2]], es.paths.quintic(0.5))
    over = {"a1": (0.5, 1.5), "theta1.viscous": (0.0, 0.5)}
    return es.sweep(es.load("elbow"), "peak_torque", over, 24, seed=3, motion=motion)


def test_the_file_says_what_the_call_in_python_says(typed, table):
    code, said, _ = typed("sweep", "study.toml", "--json", "--output", "all.parquet")
    assert code == 0
    found = json.loads(said)
    assert (found["mechanism"], found["designs"], found["failed"]) == ("elbow", 24, 0)
    import pyarrow.parquet

    theirs = pyarrow.parquet.read_table("all.parquet")
    for name in (*table.parameters, *table.values):
        np.testing.assert_array_equal(theirs[name].to_numpy(), table[name])
    values = {row["value"]: row for row in found["values"]}
    torque = table["peak_torque"]
    assert values["peak_torque"]["median"] == pytest.approx(np.median(torque))
    assert values["peak_torque"]["nominal"] == pytest.approx(table.nominal("peak_torque"))
    ends = {(row["value"], row["which"]): row for row in found["ends"]}
    best = ends["peak_torque", "least"]
    assert (best["point"], best["a1"]) == (np.argmin(torque), table["a1"][np.argmin(torque)])


def test_tables_figures_and_the_parts_in_a_folder(typed, table):
    code, said, _ = typed(
        "sweep", "study.toml", "--plot", "designs.png", "--theme", "dark", "--output", "all.csv"
    )
    assert code == 0
    assert "Sweep of elbow: 24 designs" in said
    assert "what was varied" in said
    assert "failed" not in said
    with open("designs.png", "rb") as file:
        assert file.read(4) == b"\x89PNG"
    with open("all.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["peak_torque"]) for row in rows] == pytest.approx(table["peak_torque"])
    assert len(es.sweeps.read("study_sweep")) == 24  # beside the file, if no place is named
    _, said, _ = typed("sweep", "study.toml", "--csv", "--folder", "elsewhere")
    assert said.startswith("value,unit,least,5 %,median")
    assert len(es.sweeps.read("elsewhere")) == 24


def test_an_interrupted_sweep_says_how_to_go_on_and_goes_on(typed, table, monkeypatch):
    run, seen = sweep_module.run_chunk, []

    def interrupted(task, chunk, designs):
        seen.append(chunk.number)
        if len(seen) == 3:
            raise KeyboardInterrupt
        return run(task, chunk, designs)

    monkeypatch.setattr(sweep_module, "run_chunk", interrupted)
    code, said, told = typed("sweep", "study.toml")
    assert code == 130
    assert said == ""
    assert "The sweep was stopped after 16 of 24 points" in told
    assert "`eslabon sweep study.toml` goes on from there" in told
    code, said, _ = typed("sweep", "study.toml")
    assert code == 0
    assert seen == [0, 1, 2, 2]  # nothing twice but what was not finished
    np.testing.assert_array_equal(
        es.sweeps.read("study_sweep")["peak_torque"], table["peak_torque"]
    )


def test_a_large_sweep_is_confirmed(typed, tmp_path, monkeypatch):
    (tmp_path / "study.toml").write_text(FILE.replace("chunk = 8", "most = 20"))
    code, _, told = typed("sweep", "study.toml")
    assert code == 2
    assert "The sweep has 24 points, more than most = 20; give --yes to run it" in " ".join(
        told.split()
    )
    assert not (tmp_path / "study_sweep").exists()
    answers = iter([False, True])
    asked = []
    monkeypatch.setattr("eslabon.cli.sweep_command.on_terminal", lambda: True)
    monkeypatch.setattr("typer.confirm", lambda text, **_: asked.append(text) or next(answers))
    assert typed("sweep", "study.toml")[0] == 2
    assert typed("sweep", "study.toml")[0] == 0
    assert asked == ["The sweep has 24 points, more than most = 20. Run it?"] * 2
    assert typed("sweep", "study.toml", "--yes", "--folder", "again")[0] == 0


def test_designs_that_fail_are_told(typed, tmp_path):
    text = 'mechanism = "five_bar"\n[sweep]\nquantity = "condition"\nsamples = 20\n[sweep.over]\nL3 = [0.03, 0.1]\n'
    (tmp_path / "study.toml").write_text(
        text + "[sweep.options]\nmotion = [[2.0, 1.0], [2.2, 0.9]]\n"
    )
    code, said, _ = typed("sweep", "study.toml", "--json")
    found = json.loads(said)
    assert code == 0
    assert 0 < found["failed"] < 20
    assert sum(row["designs"] for row in found["failures"]) == found["failed"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("[sweep]", "[sweeps]"), "study.toml: a study has no key 'sweeps'; did you mean 'sweep'?"),
        (("samples = 24", "sample = 24"), "[sweep] has no key 'sample'; did you mean 'samples'?"),
        (
            ("samples = 24", 'samples = "many"'),
            "[sweep]: 'samples' is a whole number or a list; it is 'many'",
        ),
        (("samples = 24", "samples = 0"), "samples is a whole number, at least 1; it is 0."),
        (('quantity = "peak_torque"', ""), "[sweep] needs 'quantity', as in quantity ="),
        (('quantity = "peak_torque"', 'quantity = "peak_torqe"'), "did you mean 'peak_torque'?"),
        (
            ('a1 = ["500 mm", "1.5 m"]', "a11 = [0.5, 1.5]"),
            "there is no parameter 'a11'; did you mean 'a1'?",
        ),
        (('a1 = ["500 mm", "1.5 m"]', "a1 = [1.5, 1.5]"), "is an empty range, from 1.5 to 1.5"),
        (
            ('a1 = ["500 mm", "1.5 m"]', 'a1 = ["500 kg", "1.5 m"]'),
            "is in kg, and the parameter is in m",
        ),
        (("time = 0.5", "tim = 0.5"), "a motion of a sweep has no key 'tim'; did you mean 'time'?"),
        (("time = 0.5", "time = -1"), "the motion's time is a number greater than zero"),
        (("motion =", "motoin ="), "peak_torque has no option 'motoin'; did you mean 'motion'?"),
        (("chunk = 8", 'method = "sobl"'), "did you mean 'sobol'?"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_in_a_sentence(typed, tmp_path, change, sentence):
    (tmp_path / "study.toml").write_text(FILE.replace(*change))
    code, said, told = typed("sweep", "study.toml")
    assert (code, said) == (2, "")
    assert sentence in " ".join(told.split())


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["elbow"], "elbow: a sweep is described by a study file"),
        (["nowhere.toml"], "nowhere.toml: it cannot be read"),
        (["plain.toml"], "plain.toml: it has no table [sweep]"),
        (["study.toml", "--output", "all.xlsx"], "a table is saved as .parquet or .csv"),
        (["study.toml", "--kind", "map"], "--kind is about what --plot draws"),
        (["study.toml", "--kind", "maps", "--plot", "x.png"], "did you mean 'map'?"),
        (["study.toml", "--plot", "x.gif"], "figures are written as .png, .svg or .pdf"),
        (["study.toml", "--theme", "dark"], "--theme is about what --plot draws"),
        (["study.toml", "--folder", "study.toml"], "study.toml is a file"),
        (["study.toml", "--samples", "0"], "samples is a whole number, at least 1"),
    ],
)
def test_what_is_typed_wrong_is_said_in_a_sentence(typed, tmp_path, words, sentence):
    (tmp_path / "plain.toml").write_text('mechanism = "elbow"\n')
    code, said, told = typed("sweep", *words)
    assert (code, said) == (2, "")
    assert sentence in " ".join(told.split())
    assert not (tmp_path / "study_sweep").exists()  # before any work


def test_the_help_names_the_table(typed):
    code, said, _ = typed("sweep", "--help")
    assert code == 0
    assert "a table `sweep`" in " ".join(said.replace("│", " ").split())


def test_the_file_of_the_how_to_page_runs(typed, tmp_path):
    (tmp_path / "study.toml").write_text(blocks("docs/howto/many_designs.md", "toml")[0])
    code, said, _ = typed("sweep", "study.toml", "--samples", "8", "--json")
    assert code == 0
    assert json.loads(said)["designs"] == 8


def test_where_every_design_fails_the_exit_code_says_so(typed, tmp_path):
    text = 'mechanism = "five_bar"\n[sweep]\nquantity = "condition"\nsamples = 5\n[sweep.over]\nL3 = [0.03, 0.04]\n'
    (tmp_path / "study.toml").write_text(
        text + "[sweep.options]\nmotion = [[2.0, 1.0], [2.2, 0.9]]\n"
    )
    code, said, _ = typed("sweep", "study.toml", "--plot", "none.png")
    assert code == 1
    assert "5 designs, 5 failed" in said
    assert "all 5 designs of the first chunk failed" in " ".join(said.split())


def test_the_folder_of_another_sweep_is_refused(typed):
    assert typed("sweep", "study.toml")[0] == 0
    code, _, told = typed("sweep", "study.toml", "--samples", "30")
    assert code == 2
    assert (
        "study_sweep has the results of another sweep: the number of samples differs"
        in " ".join(told.split())
    )
