"""No room has a look of its own: colours, legends and parameters of matplotlib are those of `eslabon.plotting`."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import eslabon

ROOMS = Path(eslabon.__file__).parent
OWN_LOOK = {
    r"\bpyplot\b": "a figure is made by new_figure or panels",
    r"rc_context|rcParams": "parameters are those of a theme: see look",
    r"\bax(es)?\.legend\(": "legend stands beside the data",
    r"colou?r=\"(C\d|0?\.\d+|black|white|red|green|blue|gr[ae]y)\"": "a colour has a role, or its place among the curves",
    r"cmap=\"": "colour_map stands out from the paper of its theme",
}


@pytest.mark.parametrize("pattern", OWN_LOOK)
def test_there_is_one_look(pattern):
    files = [p for p in ROOMS.rglob("*.py") if p.relative_to(ROOMS).parts[0] != "plotting"]
    assert len(files) > 100
    found = [
        f"{path.relative_to(ROOMS)}:{k}: {OWN_LOOK[pattern]}"
        for path in files
        for k, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        if re.search(pattern, line)
    ]
    assert not found


def plots():
    """Every method that plots, with the names of its arguments."""
    for path in sorted(ROOMS.rglob("*.py")):
        for owner in ast.walk(ast.parse(path.read_text("utf-8"))):
            for node in owner.body if isinstance(owner, ast.ClassDef) else ():
                if isinstance(node, ast.FunctionDef) and node.name == "plot":
                    given = node.args
                    names = {a.arg for a in (*given.args, *given.kwonlyargs)} | (
                        {"theme", "path"} if given.kwarg else set()
                    )
                    yield f"{path.relative_to(ROOMS)}: {owner.name}", names


def test_every_plot_has_a_theme_and_can_be_written():
    found = dict(plots())
    assert len(found) > 12
    assert not {where for where, names in found.items() if not {"theme", "path"} <= names}


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_a_plot_is_written(tmp_path, suffix):
    motion = eslabon.load("double_pendulum").simulate([0.1, 0.2], None, 0.1)
    figure = motion.plot("energy", theme="dark", path=tmp_path / f"energy{suffix}")
    assert figure.theme.name == "dark"
    assert (tmp_path / f"energy{suffix}").stat().st_size > 1000


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["simulate", "elbow", "--time", "1", "--panel", "phase"],
            "--panel is about what --plot draws",
        ),
        (
            ["simulate", "elbow", "--time", "1", "--theme", "dark"],
            "--theme is about what --plot or --animate draws",
        ),
        (["workspace", "elbow", "--theme", "dark"], "--theme is about what --plot draws"),
        (
            ["workspace", "elbow", "--samples", "5", "--plot", "x.png", "--theme", "drak"],
            "did you mean 'dark'",
        ),
    ],
)
def test_the_shell_refuses_what_would_say_nothing(words, sentence, monkeypatch, capsys, tmp_path):
    from eslabon.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["eslabon", *words])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code
    said = capsys.readouterr()
    assert sentence in " ".join((said.out + said.err).split())
