"""Results as data, and their text."""

import pickle
import re
import subprocess
import sys
from dataclasses import dataclass
from typing import NamedTuple

import casadi
import numpy as np
import pytest

import eslabon as es
from eslabon import answers
from eslabon.answers import (
    Answer,
    Column,
    Message,
    Panel,
    Source,
    Table,
    answer,
    block_text,
    cell_text,
)
from eslabon.model import Pose
from eslabon.show.presenter import notebook_html


@dataclass(frozen=True)
class Trial(Answer):
    blocks: tuple = ()

    def contents(self):
        return self.blocks


def test_numbers_stand_at_the_right_and_units_in_headings():
    table = Table(
        (Column("body"), Column("mass", "kg")), [("rod", 0.5), ("crank", 12.25)], "bodies", "all"
    )
    assert block_text(table).splitlines() == [
        "bodies",
        "body   mass [kg]",
        "rod          0.5",
        "crank      12.25",
        "all",
    ]


def test_an_optional_column_is_left_out_where_it_is_zero():
    columns = (Column("name"), Column("damping", "N s/m", optional=True))
    assert block_text(Table(columns, [("a", 0.0), ("b", 0.0)])) == "name\na\nb"
    assert "damping" in block_text(Table(columns, [("a", 0.0), ("b", 1e-9)]))


def test_all_blocks_have_a_text_and_html():
    t = np.linspace(0.0, 1.0, 5)
    trial = Trial(
        (
            Message("closed by {gap} m", gap=0.25),
            Panel("angles", t, {"q1": t**2, "q2": -t}, "rad"),
            Source("f.c", "double f(void);\n"),
            Table((Column("R"),), [(np.eye(3),)]),
        )
    )
    for word in ("closed by 0.25 m", "angles", "rad", "-1", "f.c", "double f"):
        assert word in str(trial)
        assert word in notebook_html(trial)
    assert notebook_html(trial).count("<polyline") == 2
    assert "es-matrix" in notebook_html(trial)


def test_a_message_keeps_its_template_and_can_be_sent():
    inner = Message("{n} loops", n=2)
    text = Message("{what} in {name}", what=inner, name="five_bar")
    again = pickle.loads(pickle.dumps(text))
    assert (again, again.template) == ("2 loops in five_bar", "{what} in {name}")
    words = {"2 loops": "2 lazos", "five_bar": "five_bar"}
    assert again.render("{name}: {what}", words.__getitem__) == "five_bar: 2 lazos"
    assert Message("a {brace} without values") == "a {brace} without values"


def test_a_decorated_tuple_unpacks_and_keeps_its_own_methods():
    @answer
    class Pair(NamedTuple):
        a: float
        b: float

    @answer
    class Named(NamedTuple):
        name: str

        def __str__(self):
            return self.name

    first, second = Pair(1.0, 2.0)
    assert (first, second) == (1.0, 2.0)
    assert str(Pair(1.0, 2.0)).splitlines()[1:] == ["a              1", "b              2"]
    assert "<td" in Pair(1.0, 2.0)._repr_html_()
    assert str(Named("elbow")) == "elbow"


def test_a_display_never_raises_and_unknown_blocks_are_not_shown():
    assert Trial((object(),))._repr_html_() is None


def test_the_installed_presenter_is_asked(monkeypatch):
    class Loud:
        def html(self, shown, /):
            return f"<b>{type(shown).__name__}</b>"

    monkeypatch.setattr(answers, "_presenter", None)
    assert Trial()._repr_html_() is None
    answers.install(Loud())
    assert Trial()._repr_html_() == "<b>Trial</b>"


def test_pages_are_loaded_when_something_is_first_shown():
    code = """
import sys, eslabon as es
m = es.load("elbow")
str(m.bodies[0]), str(m.joints[0])
assert "eslabon.show.presenter" not in sys.modules
m.bodies[0]._repr_html_()
assert "eslabon.show.presenter" in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


# -- results of the core ------------------------------------------------------------------------------------


@pytest.mark.parametrize("robot", ["five_bar", "stewart_gough", "four_bar_spring", "delta"])
def test_every_item_has_units_and_agrees_in_text_and_html(robot):
    m = es.load(robot)
    for item in (*m.bodies, *m.joints, *m.loops, *m.springs, *m.frames):
        (table,) = item.contents()
        html = item._repr_html_()
        for title, value, unit in table.rows:
            assert re.search(rf"^{title} +", str(item), re.MULTILINE)
            assert cell_text(value) in html
            assert unit in html
    assert {unit for title, _, unit in next(iter(m.bodies[0].contents())).rows} >= {
        "kg",
        "m",
        "kg m²",
    }


def test_angles_of_a_pose_are_shown_in_degrees():
    pose = Pose(rpy=(0.0, 0.0, np.pi / 2))
    (table,) = pose.contents()
    assert table.rows == [("at", (0.0, 0.0, 0.0), "m"), ("rpy", (0.0, 0.0, 90.0), "deg")]


def test_items_with_symbols_show_them():
    m = es.load("elbow")
    a1 = casadi.SX.sym("a1")
    traced = m.with_symbols({"a1": a1})
    assert "a1" in str(traced.joints[1])
    assert "a1" in traced.joints[1]._repr_html_()
    assert "a1" in str(m.description.joints[1])


def test_a_check_lists_its_findings(tmp_path):
    file = tmp_path / "arm.toml"
    file.write_text(
        'name = "arm"\n[bodies.a]\nmass = -1\n[joints.q]\nkind = "revolute"\nparent = "ground"\nchild = "a"\n'
    )
    report = es.check(file)
    assert report[0].level == "error"
    assert f"{file}:3: error: body 'a': the mass is -1" in str(report)
    assert "it cannot be negative" in report._repr_html_()
    level, _, line, _ = report[0]
    assert (level, line) == ("error", 3)
