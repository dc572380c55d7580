"""A study shows a sweep where it has one: from its file, from a table, or from what to ask."""

from __future__ import annotations

import csv
import json
import re
import tomllib
from html import unescape

import numpy as np
import pytest

import eslabon as es
from eslabon.language import watched
from eslabon.studies.study_file import read_study, save_study

MOTION = {"points": [[2.0, 1.0], [2.2, 0.9]], "time": 0.3}
ASKED = {
    "quantity": "peak_torque",
    "over": {"L3": (0.03, 0.12)},
    "samples": 16,
    "options": {"motion": MOTION},
}


@pytest.fixture(scope="module")
def table():
    """Some of its designs cannot be assembled."""
    motion = es.paths.joint_path(MOTION["points"], es.paths.quintic(MOTION["time"]))
    return es.sweep(es.load("five_bar"), "peak_torque", {"L3": (0.03, 0.12)}, 16, motion=motion)


@pytest.fixture(scope="module")
def made(table, tmp_path_factory):
    page = tmp_path_factory.mktemp("study") / "five_bar.html"
    return es.study("five_bar", sections=["many_designs"], sweep=table, output=page), page


def test_the_section_has_ranges_percentiles_ends_and_reasons(made, table):
    study, _ = made
    found = study["many_designs"]
    assert (found["designs"], found["failed"]) == (16, table.contents.failed)
    assert 0 < found["failed"] < 16
    known = table["peak_torque"][np.isfinite(table["peak_torque"])]
    assert found["values"]["median"][0] == pytest.approx(np.median(known))
    assert found["values"]["nominal"][0] == pytest.approx(table.nominal("peak_torque"))
    k = int(np.nanargmin(table["peak_torque"]))
    assert (found["ends"]["point"][0], found["ends"]["L3 [m]"][0]) == (k, table["L3"][k])
    assert sum(found["failures"]["designs"]) == found["failed"]
    assert not study.troubles


def test_page_json_and_csv_are_of_one_source(made, table):
    study, page = made
    data = json.loads(page.with_suffix(".json").read_text())["sections"]["many_designs"]
    assert data["values"] == study["many_designs"]["values"]
    with (page.with_suffix("") / "many_designs_table.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0][:2] == ["point", "L3 [m]"]
    assert [float(row[1]) for row in rows[1:]] == pytest.approx(table["L3"])
    html = page.read_text()
    assert "<svg" in html
    assert f"{np.nanmax(table['peak_torque']):.4g}" in html
    assert table.contents.reasons[0].sentence[:40] in unescape(html)


def test_what_to_ask_gives_the_same(made):
    study, _ = made
    again = es.study("five_bar", sections=["many_designs"], sweep=ASKED)
    assert again["many_designs"]["values"] == study["many_designs"]["values"]


def test_a_measure_along_a_motion_follows_that_of_the_study():
    motion = es.paths.joint_path(MOTION["points"], es.paths.quintic(MOTION["time"]))
    asked = {"quantity": ["peak_torque", "condition"], "over": {"m2": "±10 %"}, "samples": 4}
    own = es.study("five_bar", motion=motion, sections=["many_designs"], sweep=asked)[
        "many_designs"
    ]
    assert "condition" in own["values"]["value"]
    _, q, v, a = motion.sample(n=601)
    m = es.load("five_bar")
    tau = m.inverse_dynamics(*m.complete(q, v, a))
    torque = dict(zip(own["values"]["value"], own["values"]["nominal"], strict=True))
    peak = torque["peak_torque"]
    assert peak == pytest.approx(np.abs(tau).max(), rel=1e-3)


def test_without_a_sweep_a_study_has_no_such_section():
    assert [s.name for s in es.study("elbow", sections=["what_it_is"]).sections] == ["what_it_is"]
    asked = es.study("elbow", sections=["many_designs"])
    assert "give one, as sweep={...} or as [sweep]" in asked.troubles["many_designs"][0]


@pytest.mark.parametrize(
    ("sweep", "sentence"),
    [
        (3, "a study's sweep is a table that es.sweep gave, or what to ask of it"),
        ({"over": {"L2": (0.03, 0.05)}}, "a study's sweep needs 'quantity'"),
        (
            {"quantiy": "peak_torque"},
            "a study's sweep has no key 'quantiy'; did you mean 'quantity'",
        ),
        ({**ASKED, "options": 3}, "options gives values by name"),
        ({**ASKED, "over": {"L33": (1, 2)}}, "there is no parameter 'L33'; did you mean 'L3'"),
        ({**ASKED, "quantity": ["peak_torque", 3]}, "a quantity of a sweep is a text; it is 3"),
        (
            {**ASKED, "options": {"motion": {"points": [[0, 1]]}}},
            "a motion of a sweep has points and a time",
        ),
    ],
)
def test_what_is_no_sweep_is_said_at_once(sweep, sentence):
    """Before the other sections take their time."""
    with pytest.raises(es.EslabonError, match=re.escape(sentence)):
        es.study("five_bar", sweep=sweep)


def test_in_spanish_nothing_stays_english(table):
    from studies.test_spanish_study import ENGLISH, text

    with watched() as usage:
        made = es.study("five_bar", sections=["many_designs"], sweep=table, language="es")
    assert not usage.missing
    assert not [line for line in text(made.html).splitlines() if ENGLISH.search(line)]
    assert "Muchos diseños" in made.html
    assert f"fallaron ({table.contents.failed})" in made.html


# -- files -----------------------------------------------------------------------------------------------------------


def test_a_file_finds_its_folder_and_motions_beside_it(tmp_path):
    file = tmp_path / "arm.toml"
    file.write_text(
        'mechanism = "elbow"\n[sweep]\nquantity = "peak_torque"\nover = { a1 = [0.5, 1.5], theta1.viscous = "±5 %" }\n'
        'options = { motion = "swing.csv" }\n'
    )
    sweep = read_study(file).choices["sweep"]
    assert sweep["over"] == {
        "a1": [0.5, 1.5],
        "theta1.viscous": "±5 %",
    }  # a name with a dot, and not a table
    assert sweep["folder"] == str(tmp_path / "arm_sweep")
    assert sweep["options"] == {"motion": str(tmp_path / "swing.csv")}
    again = save_study(tmp_path / "deep" / "er.toml", "elbow", None, read_study(file).choices)
    said = tomllib.loads(again.read_text())["sweep"]
    assert (said["folder"], said["options"]["motion"]) == ("../arm_sweep", "../swing.csv")
    assert {**read_study(again).choices["sweep"], "folder": 0, "options": 0} == {
        **sweep,
        "folder": 0,
        "options": 0,
    }


def test_a_distribution_in_a_file_is_no_name_with_a_dot(tmp_path):
    file = tmp_path / "arm.toml"
    file.write_text(
        'mechanism = "elbow"\n[sweep]\nquantity = "peak_torque"\n[sweep.over]\n'
        'a1 = { distribution = "norm", loc = 1.0, scale = 0.01 }\n'
    )
    assert read_study(file).choices["sweep"]["over"] == {
        "a1": {"distribution": "norm", "loc": 1.0, "scale": 0.01}
    }
