"""The command line, as a person uses it."""

import csv
import json
import os
import shlex
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import eslabon as es
from eslabon.cli import app, main
from eslabon.cli.app import EXAMPLES
from eslabon.cli.typed import paths, sources
from eslabon.sheets import Sheet
from small_mechanisms import SMALL

STUDY = """
mechanism = "elbow"
[sweep]
quantity = "peak_torque"
over = { a1 = [0.5, 1.5] }
options = { motion = { points = [[0.0, 0.5], [0.6, 1.2]], time = 0.5 } }
"""
QUICK = [name for name in EXAMPLES if name not in ("reproduce", "demo", "study", "view")]


@pytest.fixture(autouse=True)
def terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")


def run(*arguments, folder=None, ok=True):
    """In a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "eslabon", *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=600,
        check=False,
    )
    assert (done.returncode == 0) == ok, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout if ok else done.stderr


def said(*arguments, code=0):
    """In this one."""
    result = CliRunner().invoke(app, list(arguments))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code
    return result.stdout


def data(*arguments):
    return json.loads(said(*arguments, "--json"))


@pytest.fixture
def example(tmp_path, monkeypatch):
    """The words of a command's example, in a folder where its files are."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(STUDY)
    es.Builder("one").body("a", 1.0, (1, 0, 0)).joint("q", "revolute", "ground", "a").build().save(
        "robot.urdf"
    )
    return lambda name: shlex.split(EXAMPLES[name])[1:]


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.slow(reason="some commands compile large mechanisms")
def test_the_example_of_every_command_runs(name, example):
    assert said(*example(name)).strip()
    assert EXAMPLES[name].split()[1] in said(name, "--help")
    json.loads(said(*example(name), "--json"))
    rows = list(csv.reader(said(*example(name), "--csv").splitlines()))
    if name not in ("show", "linearize"):  # which have several tables
        assert len({len(row) for row in rows}) == 1
    assert rows


def test_list_names_the_whole_library():
    assert [entry["name"] for entry in data("list")] == es.robots()


def test_show_prints_tables_mobility_and_warnings():
    shown = said("show", "puma560")
    for word in ("link3", "revolute z", "0.4318", "6 degrees of freedom", "warning: body 'link1'"):
        assert word in shown


@pytest.mark.parametrize(
    "name", ["puma560", "delta", "stewart_gough", "andrews_squeezer", "bricard", "four_bar_spring"]
)
def test_tables_keep_to_the_terminal_and_split_no_name(name):
    shown, m = said("show", name), es.load(name)
    assert max(map(len, shown.splitlines())) <= 80
    words = {word for line in shown.splitlines() for word in line.split()}
    assert {item.name for item in (*m.bodies, *m.joints, *m.loops)} <= words
    assert {j.kind.kind for j in m.joints} <= words


def test_a_wide_table_goes_on_below_under_its_first_column():
    import io

    from rich.console import Console

    names = [f"coordinate{k}" for k in range(20)]
    rows = [(k, *(k + i / 7 for i in range(20)), 0.0) for k in range(3)]
    sheet = Sheet("", ("t", *names, "nothing"), rows, optional=("nothing",))
    text = io.StringIO()
    Console(file=text, width=50).print(sheet)
    lines = text.getvalue().splitlines()
    assert max(map(len, lines)) <= 50
    assert all(sum(name in line.split() for line in lines) == 1 for name in names)
    heads = [line.split() for line in lines if "coordinate" in line]
    assert all(head[0] == "t" for head in heads)
    assert lines[-1] == "Zero in all rows: nothing."
    assert "nothing" in sheet.csv()


@pytest.mark.parametrize(
    ("words", "heads"),
    [
        (("torques", "double_pendulum", "--q", "0 0"), {"force"}),
        (("simulate", "double_pendulum", "--q", "0 0", "--time", "0.1"), {"energy", "q1", "q2"}),
        (("pose", "elbow", "--q", "0 0"), {"x", "y", "z"}),
        (("linearize", "double_pendulum", "--q", "0 0"), {"q1", "q2", "damping", "tau(q1)"}),
    ],
)
def test_a_column_of_zeros_that_was_asked_for_is_printed(words, heads):
    shown = said(*words)
    assert "Zero in all rows" not in shown
    assert heads <= {word for line in shown.splitlines() for word in line.split()}


def test_show_a_file_and_draw_it(tmp_path):
    es.load("five_bar").save(tmp_path / "mine.toml")
    assert "five_bar" in said(
        "show", str(tmp_path / "mine.toml"), "--svg", str(tmp_path / "mine.svg")
    )
    assert (tmp_path / "mine.svg").read_text().startswith("<svg")


# -- what is computed is what the library computes ----------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*URDF has no place for", "ignore:.*does not read the joints")
@pytest.mark.parametrize("ending", ["", ".toml", ".urdf"])
def test_pose_closes_the_loops_of_names_and_files(ending, tmp_path):
    m = es.load("delta")
    source = str(m.save(tmp_path / f"delta{ending}")) if ending else "delta"
    found = data("pose", source, "--actuated", "10 20 30", "--degrees", "--frame", "centre")
    q = m.assemble(np.radians([10, 20, 30]))
    np.testing.assert_allclose(found["matrix"], m.pose(q), atol=1e-9)
    np.testing.assert_allclose(np.hstack(list(found["q"].values())), q, atol=1e-9)


def test_inverse_kinematics_undo_the_pose(tmp_path):
    for name, options in (("puma560", ("--solutions", "4")), ("stewart_gough", ())):
        m = es.load(name)
        T = m.pose(m.project(m.home()) if m.closed else m.home())
        T[:3, 3] += 0.01
        row = [*T[:3, 3], *es.algebra.rpy_from_rotation(T[:3, :3])]
        place, turn = (" ".join(map(repr, map(float, x))) for x in (row[:3], row[3:]))
        found = data("ik", name, "--position", place, "--rpy", turn, *options)["solutions"]
        assert found
        for q in found:
            np.testing.assert_allclose(m.pose(np.hstack(list(q.values()))), T, atol=1e-8)


def test_a_position_alone_may_be_reached():
    for name, place in (("panda_like", [0.3, 0.2, 0.5]), ("five_bar", [0.05, 0.08, 0.0])):
        (q,) = data("ik", name, "--position", " ".join(map(str, place)))["solutions"]
        np.testing.assert_allclose(
            es.load(name).pose(np.hstack(list(q.values())))[:3, 3], place, atol=1e-9
        )


@pytest.mark.parametrize("target", ["0.02 0.09", "0.02 0.09 -70"])
def test_a_planar_target_is_reached(target):
    m = es.load("planar_3rrr")
    (q,) = data("ik", m.name, "--planar", target, "--degrees")["solutions"]
    T, (x, y, *angle) = m.pose(np.hstack(list(q.values()))), map(float, target.split())
    np.testing.assert_allclose(T[:2, 3], (x, y), atol=1e-9)
    if angle:
        np.testing.assert_allclose(np.degrees(np.arctan2(T[1, 0], T[0, 0])), angle[0], atol=1e-6)


@pytest.fixture
def driven(tmp_path):
    """A crank that is driven, and an actuated joint at its end, as a file."""
    b = (
        es.Builder("driven")
        .body("crank", 1.0, (0.5, 0, 0), (0.1, 0.1, 0.1))
        .body("arm", 2.0, (0.3, 0.1, 0), (0.1, 0.1, 0.1))
    )
    b.joint("q1", "revolute", "ground", "crank", axis="z").joint(
        "q2", "revolute", "crank", "arm", at=(1, 0, 0), axis="z"
    )
    path = tmp_path / "driven.toml"
    b.actuate("q2").drive("motor", "q1", "0.2 + 3*t + t**2").frame(
        "tip", "arm", at=(1, 0, 0)
    ).build().save(path)
    return str(path)


def test_driven_mechanisms_are_asked_at_a_time(driven):
    for command in ("pose", "torques"):
        with pytest.raises(es.InputError, match=r"depend on the time; give it, as --time 0\.5"):
            said(command, driven)
    m, t = es.load(driven), 0.5
    q, v, a = [0.2 + 3 * t + t**2, 0.3], [3 + 2 * t, 0.4], [2.0, 0.1]
    at = ("--actuated", "0.3", "--time", str(t))
    np.testing.assert_allclose(data("pose", driven, *at)["matrix"], m.pose(q), atol=1e-9)
    found = data("torques", driven, *at, "--v", "0.4", "--a", "0.1")["tau"]
    np.testing.assert_allclose(list(found.values()), m.inverse_dynamics(q, v, a, t=t), atol=1e-9)
    found = data(
        "torques", driven, "--time", str(t)
    )  # at home, moving as little as the drive allows
    np.testing.assert_allclose(np.hstack(list(found["v"].values())), [v[0], 0], atol=1e-9)
    for start in (0.0, t):
        found = data("simulate", driven, "--start", str(start), "--time", "0.2")
        times = np.array(found["t"])
        np.testing.assert_allclose(times[[0, -1]], [start, start + 0.2])
        np.testing.assert_allclose(found["q"]["q1"], 0.2 + 3 * times + times**2, atol=1e-7)


@pytest.mark.parametrize("name", ["delta", "puma560"])
def test_torques_are_the_inverse_dynamics(name):
    m = es.load(name)
    qa, va, aa = (np.linspace(0.1, 0.3, m.nu) * k for k in (1, 2, 3))
    texts = [" ".join(map(repr, map(float, x))) for x in (qa, va, aa)]
    found = data("torques", name, "--actuated", texts[0], "--v", texts[1], "--a", texts[2])["tau"]
    state = m.complete(qa, va, aa) if m.closed else (qa, va, aa)
    np.testing.assert_allclose(list(found.values()), m.inverse_dynamics(*state), atol=1e-9)


def test_simulate_moves_and_saves(tmp_path):
    path = tmp_path / "swing.csv"
    found = data(
        "simulate",
        "double_pendulum",
        "--q",
        "60 30",
        "--degrees",
        "--time",
        "0.5",
        "--out",
        str(path),
    )
    motion = es.Trajectory.load(path)
    np.testing.assert_allclose(motion["q2"].q, found["q"]["q2"])
    assert len(found["t"]) == 11
    assert "deg" in said(
        "simulate", "double_pendulum", "--q", "60 30", "--degrees", "--method", "rk4"
    )


def test_workspace_gives_every_configuration(tmp_path):
    joint = es.load("five_bar").actuated[0]
    found = data("workspace", "five_bar", "--samples", "50", "--range", f"{joint} 1.5 2.5")
    assert len(found["configurations"]) == found["reached"]
    assert all(1.5 <= row[joint] <= 2.5 for row in found["configurations"])
    said("workspace", "elbow", "--samples", "20", "--plot", str(tmp_path / "w.png"))
    assert (tmp_path / "w.png").stat().st_size > 1000


def test_a_workspace_is_mapped_by_working_mode(tmp_path):
    asked = (
        "workspace",
        "planar_3rrr",
        "--map",
        "x -0.25 0.25",
        "--map",
        "y -0.25 0.25",
        "--map",
        "angle 20",
        "--degrees",
        "--shape",
        "20 12",
    )
    over = {"x": (-0.25, 0.25), "y": (-0.25, 0.25), "angle": np.radians(20)}
    exact = es.load("planar_3rrr").workspace_map(over=over, shape=(20, 12))
    found = data(*asked)
    assert [row["mode"] for row in found["modes"]] == list(exact.modes)
    assert len(found["poses"]) == exact.reached.sum()
    assert found["fixed"]["angle"] == pytest.approx(over["angle"])
    told = said(*asked, "--mode=+-+", "--plot", str(tmp_path / "map.svg"))
    assert "1 working mode" in told
    assert "<svg" in (tmp_path / "map.svg").read_text()


def test_c_is_printed_or_written(tmp_path):
    assert "void elbow_jacobian" in said("c", "elbow", "jacobian")
    assert len(data("c", "elbow", "jacobian", "--out", str(tmp_path))) == 2
    assert (tmp_path / "elbow_jacobian.c").is_file()


def test_equations_as_latex_or_with_values():
    assert r"\cos" in said("equations", "elbow", "pose", "--latex")
    assert "a1" not in said("equations", "elbow", "mass_matrix", "--values")


@pytest.mark.parametrize("name", ["elbow", "four_bar_spring"])
def test_equations_without_a_quantity_are_those_of_the_library(name):
    assert said("equations", name).split() == str(es.load(name).equations()).split()


def test_long_equations_are_printed_on_demand(monkeypatch):
    monkeypatch.setattr("eslabon.verbs.PRINTED_OPERATIONS", 10)
    with pytest.raises(es.ModelError, match="too many"):
        said("equations", "elbow")
    assert said("equations", "elbow", "--long")


def test_check_tells_and_exits(tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text(
        'name = "bad"\n[bodies.a]\nmas = 1\n[joints.q]\nkind = "revolute"\nparent = "ground"\nchild = "b"\n'
    )
    shown = said("check", str(path), code=1)
    assert f"{path}:3: error: bodies.a has the unknown key 'mas'; did you mean 'mass'?" in shown
    assert shown.endswith("2 errors.\n")
    assert "nothing is wrong" in said("check", str(es.load("elbow").save(tmp_path / "good.toml")))
    unread = tmp_path / "unread.urdf"
    unread.write_text(
        '<robot name="r"><link name="a"/>\n<loop name="c"/></robot>', encoding="utf-8"
    )
    assert "unread.urdf:2: warning: the URDF has a <loop>" in said("check", str(unread))
    assert "unread.urdf:2: error" in said("check", str(unread), "--strict", code=1)


def test_workspaces_tell_how_far_they_are(monkeypatch):
    from eslabon.progress import Progress

    told = []
    monkeypatch.setattr(Progress, "update", lambda self, fraction: told.append(fraction))
    es.load("five_bar").workspace(samples=3000)
    assert told == sorted(told)
    assert len(told) > 1
    assert 0 < told[0] <= told[-1] <= 1


# -- the shell ----------------------------------------------------------------------------------------------------


def test_names_files_and_frames_are_completed(tmp_path, monkeypatch):
    (tmp_path / "delicate.urdf").touch()
    (tmp_path / "delicate.txt").touch()
    (tmp_path / "den").mkdir()
    monkeypatch.chdir(tmp_path)
    assert list(sources("de")) == ["delta", "delicate.urdf", "den/"]
    assert list(paths(f"{tmp_path}/del")) == [f"{tmp_path}/delicate.urdf"]

    def completed(line):
        words = {
            "_ESLABON_COMPLETE": "complete_bash",
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(line.split())),
        }
        script = "from eslabon.cli import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, **words},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout.split()

    assert "stewart_gough" in completed("eslabon show ")
    assert completed("eslabon pose delta --frame ") == [
        *(f.name for f in es.load("delta").frames),
        *(b.name for b in es.load("delta").bodies),
    ]


@pytest.mark.slow(reason="makes a whole study")
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
        "out/planar_3rrr_study.html",
        "eslabon --help",
    ):
        assert word in shown
    assert ".md" not in shown  # an installed package has no files of the repository
    assert {p.name for p in (tmp_path / "out").iterdir()} == {
        "planar_3rrr_study.html",
        "planar_3rrr_study.json",
        "planar_3rrr_study",
    }


def test_pose_in_degrees():
    found = data("pose", "elbow", "--q", "90,0", "--degrees", "--frame", "tool")
    np.testing.assert_allclose(found["rpy_deg"], [0, 0, 90], atol=1e-12)
    np.testing.assert_allclose(found["position"], [0, 2, 0], atol=1e-12)


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
    (
        ("pose", "puma560", "--q", "1 2"),
        "q has 2 values in its last axis; puma560 has 6 coordinates.",
    ),
    (("pose", "puma560", "--q", ""), "q has 0 values in its last axis; puma560 has 6 coordinates."),
    (("pose", "puma560", "--q", "1 2 3 4 5 6 7", "--degrees"), "q has 7 values"),
    (("pose", "puma560", "--degrees"), "give --q or --actuated too"),
    (("pose", "puma560", "--frame", "tol"), "did you mean 'tool'?"),
    (("pose", "puma560", "--frame", ""), "no frame or body ''"),
    (("pose", "puma560", "--q"), "requires an argument"),
    (("pose", "puma560", "--quiet"), "No such option"),
    (("pose",), "Missing argument"),
    (("show", "elbow", "elbow"), "unexpected extra argument"),
    (("show", "elbow", "--svg", "/proc/none/x.svg"), "cannot be written"),
    (("show", "elbow", "--svg", "folder.toml"), "cannot be written"),
    (("show", "elbow", "--svg", "empty.toml/x.svg"), "cannot be written"),
    (("pose", "puma560", "--q", "0 0 0 0 0 0", "--actuated", "0"), "give one of them"),
    (("pose", "delta", "--actuated", "0 0"), "--actuated takes 3 numbers; 2 are given."),
    (("pose", "delta", "--json", "--csv"), "give one of them"),
    (("ik", "puma560"), "the target is --position"),
    (("ik", "five_bar", "--planar", "0 0", "--rpy", "0 0 0"), "the target is --position"),
    (("ik", "five_bar", "--planar", "0"), "--planar takes 2 or 3 numbers"),
    (("pose", "elbow", "--time", "1"), "do not depend on the time; leave --time out"),
    (("ik", "puma560", "--position", "9 9 9"), "puma560"),
    (("torques", "delta", "--v", "1 2"), "--v takes 18 numbers; 2 are given."),
    (("simulate", "elbow", "--time", "-1"), "--time is a number of seconds greater than zero"),
    (("simulate", "elbow", "--method", "euler"), "method is"),
    (("simulate", "elbow", "--rows", "1"), "--rows"),
    (("simulate", "elbow", "--plot", "x.doc"), "figures are written as"),
    (("equations", "elbow", "mas_matrix"), "did you mean 'mass_matrix'?"),
    (("c", "elbow", "jacobian", "--frame", "tol"), "did you mean 'tool'?"),
    (("workspace", "five_bar", "--range", "theta 0 1"), "no actuated joint"),
    (("workspace", "elbow", "--range", "theta1 0"), "takes 2 numbers"),
    (("workspace", "elbow", "--map", "x"), "--map takes a coordinate and one value"),
    (("workspace", "elbow", "--map", "x 0 1", "--map", "x 0 1"), "names 'x' twice"),
    (("workspace", "elbow", "--map", "x 0 1", "--map", "yy 0 1"), "did you mean 'y'"),
    (("workspace", "elbow", "--map", "x 0 1", "--map", "y 0 1", "--shape", "2.5"), "shape"),
    (("workspace", "elbow", "--map", "x 0 1", "--samples", "9"), "--samples is for random samples"),
    (("workspace", "elbow", "--shape", "9"), "--shape is for a map"),
    (("convert", "elbow", "elbow.sdf"), "let the name end in .toml or .urdf"),
    (("convert", "elbow", "elbow.toml", "--repair"), "takes no options"),
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
    assert "This configuration violates loop closure by 0.0909" in said(
        "pose", "five_bar", "--q", "1 1 1 1"
    )


def test_small_mechanisms_are_shown(tmp_path, monkeypatch, capsys):
    for name, make in SMALL.items():
        path = make().save(tmp_path / f"{name}.toml")
        monkeypatch.setattr(
            sys, "argv", ["eslabon", "show", str(path), "--svg", str(tmp_path / f"{name}.svg")]
        )
        with pytest.raises(SystemExit) as end:
            main()
        assert not end.value.code
        assert name in capsys.readouterr().out


def test_a_simulation_that_passes_limits_says_so(tmp_path):
    for limits, told in (((-0.5, 0.5), True), ((-9.0, 9.0), False)):
        b = es.Builder("arm", gravity=(0, -9.81, 0)).body("arm", mass=1.0, com=(0.5, 0, 0))
        b.joint("q", "revolute", "ground", "arm", limits=limits).build().save(tmp_path / "arm.toml")
        said = (
            CliRunner()
            .invoke(app, ["simulate", str(tmp_path / "arm.toml"), "--time", "0.5"])
            .output
        )
        assert ("beyond its limits" in said) == told
