"""A study says what the verbs say, in every section that applies, and in a sentence where one cannot be."""

import csv
import json
import re

import numpy as np
import pytest

import eslabon as es
from eslabon.studies.sections import SECTIONS
from random_mechanisms import random_closed

ALWAYS = [
    name for name in SECTIONS if name != "many_designs"
]  # which a study has if it is given a sweep


@pytest.fixture(scope="module")
def five_bar(artifact):
    sources = "src/**/*.py", "src/**/*.toml"
    return artifact("study-five_bar", sources, lambda: es.study("five_bar", at=[2.0, 1.0]))


def table(study, section, name):
    return {key: np.array(values, dtype=object) for key, values in study[section][name].items()}


@pytest.mark.slow(reason="makes the study that the others look at")
def test_a_study_of_a_parallel_robot_has_every_section(five_bar):
    assert [section.name for section in five_bar.sections] == [*ALWAYS, "timings"]
    assert not five_bar.troubles
    for section in five_bar.sections:
        assert section.pieces
        assert f'id="{section.name}"' in five_bar.html


def test_the_numbers_are_those_of_the_verbs(five_bar):
    m = es.load("five_bar")
    q = m.assemble([2.0, 1.0])
    assert five_bar["what_it_is"]["dof"] == m.dof == 2
    assert five_bar["what_it_is"]["start"]["theta2"] == 2.0
    lm = m.linearize(q)
    A = np.array([five_bar["near_a_point"]["A"][state] for state in lm.states], dtype=float).T
    assert np.allclose(A, lm.A)
    moved, forces = five_bar["how_it_moves"], five_bar["what_drives_it"]["forces"]
    Q, V, acceleration = (
        np.column_stack([moved[name][f"{j.name} [{unit}]"] for j in m.joints])
        for name, unit in (
            ("coordinates", "rad"),
            ("velocities", "rad/s"),
            ("accelerations", "rad/s²"),
        )
    )
    tau = np.column_stack([forces[f"{name}.tau [N m]"] for name in m.actuated])
    assert np.allclose(m.inverse_dynamics(Q, V, acceleration), tau, atol=1e-12)
    assert np.abs(m.constraint(Q)).max() < 1e-9


def test_the_formulations_agree(five_bar):
    found = table(five_bar, "what_drives_it", "agreement")
    assert len(found["formulation"]) == 8
    assert max(found["of the largest value"]) < 1e-8


def test_the_motion_is_from_rest_to_rest(five_bar):
    moved = five_bar["how_it_moves"]["velocities"]
    speeds = np.column_stack([x for name, x in moved.items() if name != "t [s]"])
    assert np.abs(speeds[[0, -1]]).max() < 1e-12
    assert np.abs(speeds).max() > 0.1


def test_closed_loops_settle(five_bar):
    control = five_bar["control"]
    for name in ("regulated", "tracked"):
        found = control[name]
        assert found["largest_error_at_end"] < 0.05 * found["largest_error_at_start"]
    assert control["observed"]["largest_error_at_end"] < 1e-3


def test_a_page_loads_nothing(five_bar):
    outside = re.sub(r'srcdoc="[^"]*"', "", five_bar.html)
    assert not re.search(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//""", outside)
    assert not re.search(r"url\(\s*['\"]?https?:|@import", outside)
    assert len(five_bar.html) < 5_000_000


def test_ids_are_unique(five_bar):
    ids = re.findall(r'\sid="([^"]+)"', re.sub(r'srcdoc="[^"]*"', "", five_bar.html))
    assert len(ids) == len(set(ids))


def test_page_json_and_csv_have_the_same_numbers(five_bar, tmp_path):
    page = five_bar.save(tmp_path)
    assert page == tmp_path / "five_bar_study.html"
    data = json.loads(page.with_suffix(".json").read_text())
    rows = list(csv.reader((tmp_path / "five_bar_study" / "what_drives_it_actuators.csv").open()))
    own = data["sections"]["what_drives_it"]["actuators"]
    assert [float(row[2]) for row in rows[1:]] == own["peak"]
    assert f"{own['peak'][0]:.6g}" in page.read_text()


# -- mechanisms of every size -----------------------------------------------------------------------------------------


def small(**options):
    b = es.Builder("small", **options)
    return b.body("bar", mass=1.0, com=(0.2, 0, 0), inertia=(0, 0.01, 0.01))


def test_one_body_without_actuators_is_let_go():
    m = small(gravity=(0, -9.81, 0)).joint("q", "revolute", "ground", "bar").actuate().build()
    made = es.study(m)
    assert not made.troubles
    assert made["how_it_moves"]["motion"] == "let_go"
    energy = made["what_drives_it"]["energy"]
    assert np.ptp(energy["total [J]"]) < 1e-6 * np.max(energy["kinetic [J]"])
    assert "nothing to control" in made.html


def test_what_cannot_move_has_statics_only():
    m = small().joint("weld", "fixed", "ground", "bar").build()
    made = es.study(m)
    assert not made.troubles
    assert made["what_drives_it"]["reactions"]["largest force [N]"] == pytest.approx([9.81])
    assert "does not move" in made.html


def test_a_body_in_the_air():
    m = small().joint("float", "free", "ground", "bar").actuate().build()
    made = es.study(
        m, sections=["how_it_moves", "what_drives_it", "near_a_point", "control", "bond_graph"]
    )
    assert "mistake of the library" not in made.html


def test_an_underactuated_mechanism_is_simulated():
    made = es.study(
        "cart_pole", sections=["how_it_moves", "what_drives_it", "near_a_point", "control"]
    )
    assert not made.troubles
    assert made["how_it_moves"]["motion"] == "simulated"
    assert made["what_drives_it"]["agreement_of"] == "accelerations"
    assert made["control"]["regulated"]["largest_error_at_end"] < 0.05


def test_a_random_mechanism_of_many_joint_kinds():
    m, _ = random_closed(
        np.random.default_rng(0), ["spherical", "universal", "prismatic", "revolute"], ["spherical"]
    )
    made = es.study(
        m.with_actuated(["joint0"]),
        sections=["what_it_is", "how_it_moves", "what_drives_it", "near_a_point", "control"],
    )
    assert "mistake of the library" not in made.html
    assert [section.name for section in made.sections][-1] == "control"


# -- choices ----------------------------------------------------------------------------------------------------------


def test_a_motion_of_a_table(tmp_path):
    t = np.linspace(0, 1, 41)
    rows = [f"{x},{0.3 * np.sin(x)},{0.2 * x**2}" for x in t]
    file = tmp_path / "measured.csv"
    file.write_text("\n".join(["t [s],theta1.q [rad],theta2.q [rad]", *rows]))
    made = es.study("elbow", motion=file, sections=["how_it_moves", "what_drives_it"])
    speed = np.array(made["how_it_moves"]["velocities"]["theta2 [rad/s]"])
    assert np.allclose(speed, 0.4 * t, atol=1e-6)
    assert made["how_it_moves"]["motion"] == "given"


def test_a_saved_motion_and_one_of_arrays(tmp_path):
    m = es.load("double_pendulum")
    run = m.simulate([0.3, 0.0], None, np.linspace(0, 0.5, 21))
    run.save(tmp_path / "swing.csv")
    for motion in (tmp_path / "swing.csv", run, (run.t, run.q, run.v, run.a)):
        made = es.study(m, motion=motion, sections=["what_drives_it"])
        tau = np.array(made["what_drives_it"]["forces"]["q1.tau [N m]"])
        assert np.abs(tau).max() < 1e-7  # nothing drove it


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"sections": ["controll"]}, "no section 'controll'; did you mean 'control'"),
        ({"sections": []}, "at least one section"),
        ({"motion": "rest_to_res"}, "no motion 'rest_to_res'; did you mean 'rest_to_rest'"),
        ({"motion": "gone.csv"}, "gone.csv: it cannot be read"),
        ({"motion": 3}, "a motion is a Trajectory"),
        ({"at": [0.1]}, "'at' has 1 numbers; elbow has 2 coordinates"),
        ({"at": "folded"}, "no mode of elbow"),
        ({"at": {"theta9": 1.0}}, "no joint 'theta9'"),
        ({"tip": "hand"}, "hand"),
        ({"language": "sp"}, "no language 'sp'"),
        ({"output": "study.pdf"}, "study.pdf: a study is written to a page"),
    ],
)
def test_bad_choices_end_in_a_sentence(options, sentence):
    with pytest.raises(es.EslabonError, match=re.escape(sentence)):
        es.study("elbow", **options)


def test_what_cannot_be_assembled_says_so_and_the_study_goes_on():
    b = small().joint("q", "revolute", "ground", "bar").actuate("q")
    b.loop("tie", "spherical", "ground", "bar", first=(5, 0, 0), second=(0.4, 0, 0))
    made = es.study(b.build())
    assert len(made.sections) == len(ALWAYS) + 1
    assert {"what_it_is", "how_it_moves", "what_drives_it", "near_a_point", "control"} <= set(
        made.troubles
    )
    assert "mistake of the library" not in made.html
    assert "Who is joined to whom" in made.html
