"""Everything in the README is run: its calls and its shell lines. Its numbers are those of the benchmarks.

`test_docs` runs its example, and `test_spanish` compares the Spanish README with the English one."""

import re
import shlex
import tomllib
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import eslabon as es
from eslabon.cli import app

HERE = Path(__file__).parents[1]
READMES = ("README.md", "README.es.md")
TEXT = (HERE / "README.md").read_text(encoding="utf-8")
BENCHMARKS = (HERE / "docs" / "benchmarks.md").read_text(encoding="utf-8")


def questions() -> dict[str, list[str]]:
    """Each question of the table with the code of its answer."""
    rows = re.findall(r"^\| ([^|]+\?) \| (.+) \|$", TEXT, flags=re.M)
    return {question: re.findall(r"`([^`]+)`", answer) for question, answer in rows}


def state_of_a_five_bar() -> dict:
    """The names that the table uses, for a mechanism with a loop and motors with limits."""
    m = (
        es.load("five_bar")
        .with_joint("theta2", effort_limit=0.01)
        .with_joint("theta5", effort_limit=0.01)
    )
    q, v, a = m.complete([2.0, 1.0], [0.1, 0.2], [0.0, 0.0])
    path = es.paths.joint_path([[2.0, 1.0], [1.7, 1.3]], es.paths.cycloidal(0.3))
    return {
        "m": m, "q": q, "v": v, "a": a, "tau": m.inverse_dynamics(q, v, a), "T": m.pose(q),
        "q0": q, "v0": v, "q1": m.assemble([1.9, 1.1]), "t": 0.1, "law": lambda t, q, v: [0.0, 0.0],
        "box": {"x": (-0.1, 0.1), "y": (0.02, 0.1)}, "over": {"L2": (0.035, 0.045)}, "path": path,
    }  # fmt: skip


def recording_of_a_pendulum() -> dict:
    m = es.load("double_pendulum")
    t = np.linspace(0, 5, 501)
    q, v, a = es.identification.excitation(m, duration=5.0, starts=1).states(t)
    tau = m.inverse_dynamics(q, v, a) + 0.02 * np.random.default_rng(0).standard_normal((501, 2))
    return {"m": m, "data": {"t": t, "q": q, "v": v, "a": a, "tau": tau}}


OTHER_MECHANISMS = {  # where a five-bar does not suit
    "What are its masses and friction?": recording_of_a_pendulum,
    "How does it run elsewhere?": lambda: {
        "m": es.load("puma560")
    },  # a URDF holds all that a serial arm has
}


@pytest.mark.parametrize("question", questions())
def test_every_call_of_the_table_runs(question, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = OTHER_MECHANISMS.get(question, state_of_a_five_bar)()
    for code in questions()[question]:
        assert eval(code, {"es": es}, names) is not None


def test_the_table_has_calls():
    assert len(questions()) >= 12
    assert all(questions().values())
    assert not set(OTHER_MECHANISMS) - set(questions())


def test_the_kinds_of_control_exist():
    """Computed torque, LQR, Kalman, adaptive: what the table says after `es.control`."""
    (answer,) = re.findall(r"`es\.control`: (.*) \|", TEXT)
    for kind in answer.split(", "):
        assert any(kind.lower().replace(" ", "_") in name.lower() for name in es.control.__all__), (
            kind
        )


def shell_lines() -> list[str]:
    return re.findall(r"`(eslabon [^`]+)`", TEXT)


@pytest.mark.parametrize("line", shell_lines())
def test_every_shell_line_runs(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("webbrowser.open", lambda *_, **__: True)
    monkeypatch.setattr(
        "eslabon.viewer.browser_view.View.wait", lambda view: view.stop()
    )  # not until Ctrl-C
    ran = CliRunner().invoke(app, shlex.split(line)[1:])
    if ran.exception is not None and not isinstance(ran.exception, SystemExit):
        raise ran.exception
    assert ran.exit_code == 0
    assert ran.stdout.strip()


def test_there_are_shell_lines():
    assert {shlex.split(line)[1] for line in shell_lines()} == {"study", "view", "torques"}


def test_the_make_targets_exist():
    targets = re.findall(r"^(\w+):", (HERE / "Makefile").read_text(encoding="utf-8"), flags=re.M)
    named = re.findall(r"^    make (\w+)", TEXT, flags=re.M)
    assert named == ["demo", "test"]
    assert set(named) <= set(targets)


@pytest.mark.parametrize("page", [*READMES, "docs/index.md", "docs/tutorial.md", "docs/install.md"])
def test_the_extras_exist(page):
    project = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = re.findall(r"\.\[([\w,]+)\]", (HERE / page).read_text(encoding="utf-8"))
    assert named
    assert {extra for extras in named for extra in extras.split(",")} <= set(
        project["optional-dependencies"]
    )


# -- numbers ----------------------------------------------------------------------------------------------------------


def row(*cells: str) -> list[str]:
    """The cells of the row of the benchmarks that begins with these."""
    (found,) = re.findall(
        rf"^\| {re.escape(' | '.join(cells))} \| (.*) \|$", BENCHMARKS, flags=re.M
    )
    return found.split(" | ")


def microseconds(time: str) -> str:
    """As the README writes a time: in microseconds, with one decimal."""
    number, unit = re.findall(r"([\d.]+) (ns|µs)", time)[0]
    return f"{float(number) * {'ns': 1e-3, 'µs': 1.0}[unit]:.1f} µs"


def metres(closure: str) -> str:
    """As the README writes a gap: with one digit."""
    return re.sub(r"e-0?", "e-", f"{float(closure):.0e} m")


@pytest.mark.parametrize("page", READMES)
def test_the_numbers_are_those_of_the_benchmarks(page):
    ours, peer, *_ = row("planar_3rrr: forward dynamics with loops, one state")
    contenders = ("ours", "pinocchio, Baumgarte 1e4, 2e2", "mujoco, stiff")
    gaps = [metres(row("planar_3rrr", contender)[1]) for contender in contenders]
    expected = [microseconds(ours), f"Pinocchio {microseconds(peer)}", *gaps]
    text = " ".join((HERE / page).read_text(encoding="utf-8").split())
    places = [text.find(number) for number in expected]
    assert -1 not in places, dict(zip(expected, places, strict=True))
    assert places == sorted(places)


@pytest.mark.parametrize("page", READMES)
def test_no_other_number_is_claimed(page):
    """A time or a gap that is not in the benchmarks would not be noticed by the test above."""
    text = (HERE / page).read_text(encoding="utf-8")
    assert len(re.findall(r"\d µs", text)) == 2
    assert len(re.findall(r"\de-\d+ m\b", text)) == 3
