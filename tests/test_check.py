"""What is wrong in a file is told at once, each mistake with its line; what is right is not refused."""

import re
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eslabon as es
from eslabon.files import library_text
from eslabon.files.toml_lines import toml_lines
from eslabon.files.urdf_visuals import meshes
from randomness import examples

DATA = Path(__file__).parent / "files" / "data"

TOML = """name = "bad"
note = \"\"\"
a text with
mass = 1
\"\"\"
actuated = ["q1", "q7"]
colour = "red"

[parameters]
L = 0.5

[bodies.rod]
mass = "L*k"
com = [0, 0]
inertai = [1, 2, 3]

[bodies.lonely]
mass = -1

[joints.q1]
kind = "revolute"
parent = "ground"
child = "rod"
axis = "w"
home = "L +"

[joints]
q2 = { kind = "prismatic", parent = "rod", child = "rdo" }

[loops.close]
kind = "spherical"
first = { body = "rod", at = [1, 0] }
second = { body = "ground" }
"""

URDF = """<robot name="bad">
  <link name="base"/>
  <link name="arm">
    <inertail/>
    <inertial>
      <mass value="-2"/>
      <inertia ixx="1" iyy="x" izz="1" ixy="0" ixz="0" iyz="0"/>
    </inertial>
    <visual><geometry><mesh filename="package://bad/arm.stl"/></geometry></visual>
  </link>
  <link name="hand"/>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="arm"/>
    <axis xyz="0 0 0"/>
    <limit lower="one" upper="2"/>
  </joint>
  <joint name="wrist" type="revolut">
    <parent link="arm"/><child link="hand"/>
  </joint>
  <joint name="finger" type="revolute">
    <parent link="hnd"/><child link="arm"/>
  </joint>
</robot>
"""


def found(path):
    return {(f.level, f.line): f.sentence for f in es.check(path)}


def test_all_mistakes_of_a_toml_file_have_their_lines(tmp_path):
    (tmp_path / "bad.toml").write_text(TOML)
    told = found(tmp_path / "bad.toml")
    expected = {
        6: "'q7'", 7: "'colour'", 13: "'k'", 14: "com needs 3 numbers", 15: "did you mean 'inertia'?", 18: "negative",
        24: "axis 'w'", 25: "home", 28: "'rdo'", 32: "first",
    }  # fmt: skip
    assert {line for _, line in told} == set(expected)
    assert all(word in told["error", line] for line, word in expected.items())


def test_all_mistakes_of_a_urdf_file_have_their_lines(tmp_path):
    (tmp_path / "bad.urdf").write_text(URDF)
    told = found(tmp_path / "bad.urdf")
    expected = {
        ("error", 6): "mass is -2", ("error", 7): "iyy is 'x'", ("error", 14): "axis is zero", ("error", 15): "lower is 'one'",
        ("error", 17): "did you mean 'revolute'?", ("error", 21): "did you mean 'hand'?",
        ("warning", 4): "did you mean <inertial>?", ("warning", 9): "package://bad/arm.stl",
    }  # fmt: skip
    assert told.keys() == expected.keys()
    assert all(word in told[place] for place, word in expected.items())


# Each mistake stands on a line that ends in a comment with an arrow, and each such line has one.
NAMED_LIKE_KEYS = {
    "body": """
[bodies.mass]
mass = 1
com = [0, 0]  # <-
[bodies.com]
mass = -1  # <-
com = [0, 0, 0]
[joints.q]
kind = "revolute"
parent = "ground"
child = "mass"
[joints.p]
kind = "revolute"
parent = "mass"
child = "com"
""",
    "joint": """
[bodies.a]
mass = 1
[bodies.b]
mass = 1
[joints.kind]
kind = "revolute"
parent = "ground"
child = "a"
axis = [0, 1]  # <-
limits = [-1, 1]
[joints.axis]
kind = "revolute"
parent = "a"
child = "b"
axis = "z"
limits = [1]  # <-
home = "x +"  # <-
""",
    "loop and frame": """
[bodies.first]
mass = 1
[joints.limits]
kind = "revolute"
parent = "ground"
child = "first"
[loops.second]
kind = "revolute"
axis = "w"  # <-
first = { body = "first" }
second = { body = "ground", at = [1, 0, 0] }
[loops.kind]
kind = "spherical"
first.body = "first"
first.at = [1, 2]  # <-
second.body = "ground"
[frames.at]
body = "first"
rpy = [0, 0]  # <-
""",
    "one name in two sections": """
[bodies.a]
mass = 1
com = [1, 0]  # <-
[joints.a]
kind = "revolute"
parent = "ground"
child = "a"
[loops.b]
kind = "spherical"
first = { body = "a", at = [1, 0, 0] }
second = { body = "grund" }  # <-
[frames.b]
body = "a"
at = [1]  # <-
[modes.a]
a = [0, 1]  # <-
""",
    "inline tables": """
[bodies]
mass = { com = [0, 0, 0], mass = 1 }
com = { mass = 1, com = [0, 0] }  # <-
[joints]
q = { kind = "revolute", parent = "ground", child = "mass" }
kind = { kind = "revolute", parent = "mass", child = "com", home = "1/0" }  # <-
""",
    "dotted keys": """
bodies.mass.mass = 1
bodies.com.mass = 2
bodies.mass.com = [0, 0]  # <-
joints."q.1".kind = "revolute"
joints."q.1".parent = "ground"
joints."q.1".child = "mass"
joints.axis.kind = "revolute"
joints.axis.child = "com"
joints.axis.home_deg = [1, 2]  # <-
joints.axis.parent = "mass"
""",
    "table of Denavit and Hartenberg": """
[[dh.links]]
a = 1
mass = 1
[[dh.links]]
name = "mass"
com = [0, 0, 0]
mass = -1  # <-
[[dh.links]]
joint = "a"
a = 1
weight = 3  # <-
limits_deg = [10]  # <-
com = [0, 1]  # <-
[frames.hand]
body = "link1"
[frames.foot]
body = "link2"  # <-
""",
    "table of Denavit and Hartenberg in one list": """
[dh]
convention = "modified"
links = [
  { a = 1, mass = 1 },
  { a = 1, d = "x y", name = "a" },  # <-
  { a = 1, inertia = [-1, 1, 1], name = "d" },  # <-
]
""",
    "lists of several lines": """
note = '''
[bodies.mass]
com = 1
'''
[bodies.mass]
inertia = [
  1, # mass = 3
  2, 3,
]
com = [  # <-
  0,
  1,
]
[joints."com = ["]
kind = "revolute"
axis = [
  0,
  0,
  1,
]
parent = "ground"
child = "mas"  # <-
""",
    "expressions": """
[parameters]
mass = 2
com = "mass/(mass - 2)"  # <-
[bodies.mass]
mass = "mass"
com = ["mass", "weight", 0]  # <-
[bodies.com]
mass = "mass - 3"  # <-
[bodies.rod]  # <-
com = ["1/(mass - 2)", 0, 0]  # <-
[joints.q]
kind = "helical"
pitch = "mass - 2"  # <-
parent = "ground"
child = "mass"
[joints.p]
kind = "revolute"
parent = "ground"
child = "com"
rpy = [0, "angle", 0]  # <-
at = [0, 0, "mass"]
""",
}


@pytest.mark.parametrize("case", NAMED_LIKE_KEYS)
def test_every_mistake_is_found_on_its_own_line(tmp_path, case):
    text = f'name = "x"\n{NAMED_LIKE_KEYS[case].strip()}\n'
    (tmp_path / "x.toml").write_text(text)
    errors = [f for f in es.check(tmp_path / "x.toml") if f.level == "error"]
    expected = [k for k, line in enumerate(text.splitlines(), start=1) if "# <-" in line]
    assert sorted({f.line for f in errors}) == expected, errors


LIKE = """<robot name="mass">
  <link name="mass"><inertial><mass value="1"/></inertial></link>
  <link name="inertia">
    <inertial>
      <mass value="1"/>
      <origin xyz="0 0"/><!-- <- -->
    </inertial>
  </link>
  <link name="origin">
    <inertial>
      <origin xyz="0 0 0"/>
      <mass value="1"/>
      <inertia ixx="1" iyy="-1" izz="1" ixy="0" ixz="0" iyz="0"/><!-- <- -->
    </inertial>
  </link>
  <joint name="limit" type="revolute">
    <parent link="mass"/><child link="inertia"/>
    <axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="-2"/><!-- <- -->
  </joint>
  <joint name="axis" type="revolute">
    <parent link="inertia"/><child link="origin"/>
    <limit lower="1" upper="2" effort="2"/>
    <axis xyz="0 0 0"/><!-- <- -->
    <dynamics damping="x"/><!-- <- -->
  </joint>
</robot>
"""


def test_elements_of_one_name_are_told_apart(tmp_path):
    (tmp_path / "x.urdf").write_text(LIKE)
    errors = [f for f in es.check(tmp_path / "x.urdf") if f.level == "error"]
    expected = [k for k, line in enumerate(LIKE.splitlines(), start=1) if "<!-- <- -->" in line]
    assert sorted(f.line for f in errors) == expected, errors


def test_an_error_has_its_place():
    b = es.Builder("x").body("mass", com=(0, 0, 1)).joint("q", "revolute", "ground", "mass")
    for change, place in (
        (lambda: b.body("com", com=(0, 1)), ("bodies", "com", "com")),
        (lambda: es.Builder("y").body("a").build(), ()),
        (lambda: es.load("elbow").with_parameters(m1=-1.0), ("bodies", "link1", "mass")),
        (lambda: b.frame("f", "nobody").build(), ("frames", "f", "body")),
    ):
        with pytest.raises(es.EslabonError) as caught:
            change()
        assert caught.value.place == place


def test_home_off_the_loops_is_said_at_the_loop(tmp_path):
    path = es.load("five_bar").save(tmp_path / "five_bar.toml")
    lines = path.read_text().splitlines()
    home = next(k for k, line in enumerate(lines) if line.startswith("home"))
    lines[home] = "home = 0.1"
    path.write_text("\n".join(lines))
    (finding,) = (f for f in es.check(path) if "violates loop closure" in f.sentence)
    assert lines[finding.line - 1] == "[loops.tip]"


def test_mistakes_of_the_yaml_beside_are_found_there(tmp_path):
    for name in ("legs.urdf", "legs.yaml"):
        shutil.copy(DATA / name, tmp_path)
    yaml = tmp_path / "legs.yaml"
    yaml.write_text(yaml.read_text().replace("name_mot", "name_mto"))
    (finding,) = (f for f in es.check(tmp_path / "legs.urdf") if f.level == "error")
    assert finding.file == str(yaml)
    assert "name_mto" in yaml.read_text().splitlines()[finding.line - 1]


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.toml", 'name = "a"\n[bodies\n', 2),
        ("a.urdf", '<robot name="a">\n<link>\n</robot>', 3),
        (
            "a.xml",
            '<mujoco>\n<worldbody>\n<body><joint type="hing"/></body></worldbody></mujoco>',
            3,
        ),
    ],
)
def test_text_that_cannot_be_parsed_says_where(tmp_path, name, text, line):
    (tmp_path / name).write_text(text)
    (finding,) = es.check(tmp_path / name)
    assert (finding.level, finding.line) == ("error", line)


def test_a_file_that_is_not_there(tmp_path):
    (finding,) = es.check(tmp_path / "none.toml")
    assert finding.sentence == "there is no such file."


def test_the_library_and_the_examples_have_no_errors(tmp_path):
    for name in ("five_bar", "puma560_drives", "rssr", "four_bar_spring", "delta"):
        path = tmp_path / f"{name}.toml"
        path.write_text(library_text(name))
        assert not [f for f in es.check(path) if f.level == "error"], name
    for path in DATA.glob("*.urdf"):
        assert not [f for f in es.check(path) if f.level == "error"], path


def test_what_is_odd_is_a_warning(tmp_path):
    b = (
        es.Builder("odd")
        .body("a", 1.0, (0.5, 0, 0))
        .joint("q", "revolute", "ground", "a", home=2.0, limits=(-1, 1))
    )
    b.parameter("spare", 1.0)
    with pytest.warns(es.ModelWarning):
        path = b.actuate().build().save(tmp_path / "odd.toml")
    told = [f.sentence for f in es.check(path)]
    assert any("outside its limits" in s for s in told)
    assert any("'spare' is used nowhere" in s for s in told)
    assert any("no joint is actuated" in s for s in told)


def agree(path):
    """A check finds an error if and only if a load refuses the file."""
    errors = [f for f in es.check(path) if f.level == "error"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            es.load(path)
        except es.EslabonError as error:
            assert errors, error
        else:
            assert not errors


WORDS = [
    "",
    "0",
    "-1",
    "nan",
    "[",
    "{",
    "=",
    '"',
    "\n",
    "[bodies]",
    "true",
    "t",
    "*",
    "1/0",
    "{a=1}",
    "[[1]]",
    "ground",
]


@examples(25)
@given(st.data())
def test_a_toml_file_is_refused_if_and_only_if_an_error_is_found(tmp_path_factory, data):
    name = data.draw(st.sampled_from(["five_bar", "elbow", "four_bar_spring", "puma560_drives"]))
    text = library_text(name)
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text) - 1))
        stop = min(len(text), start + data.draw(st.sampled_from([0, 1, 3, 10, 100])))
        text = (
            text[:start] + data.draw(st.sampled_from([*WORDS, text[start:stop] * 2])) + text[stop:]
        )
    path = tmp_path_factory.mktemp("garbled") / "x.toml"
    path.write_text(text)
    agree(path)


@examples(40)
@given(st.data())
def test_a_urdf_file_is_refused_if_and_only_if_an_error_is_found(tmp_path_factory, data):
    source = data.draw(st.sampled_from(sorted(DATA.glob("*.urdf"))))
    text = source.read_text()
    words = re.findall(r'[\w.-]+="[^"]*"', text)
    old, other = data.draw(st.sampled_from(words)), data.draw(st.sampled_from(words))
    key, value = (
        old.partition("=")[0],
        data.draw(st.sampled_from(["", "-1", "0 0 0", "x", other.partition("=")[2].strip('"')])),
    )
    path = tmp_path_factory.mktemp("garbled") / source.name
    path.write_text(text.replace(old, f'{key}="{value}"', 1))
    if (beside := source.with_suffix(".yaml")).is_file():
        shutil.copy(beside, path.parent)
    agree(path)


def test_a_wrong_entry_of_the_yaml_has_its_line(tmp_path):
    for name in ("legs.urdf", "legs.yaml"):
        shutil.copy(DATA / name, tmp_path)
    (tmp_path / "legs.yaml").write_text(
        "closed_loop:\n  - [a, b]\n  - [nothing, hip]\njoint_name:\n  - one\n  - two\njoint_type:\n  - SPHERICAL\n  - BALL\n"
    )
    errors = [f for f in es.check(tmp_path / "legs.urdf") if f.level == "error"]
    lines = {f.line: f.sentence for f in errors if f.file.endswith("legs.yaml")}
    assert "BALL" in lines[9]
    assert "'a'" in lines[2]
    assert "'nothing'" in lines[3]


def test_lines_of_keys():
    lines = toml_lines(TOML)
    written = TOML.splitlines()
    for path, line in lines.items():
        assert path[-1] in written[line - 1] or path[:-1] in lines
    assert ("bodies", "rod", "mass") in lines
    assert ("joints", "q2", "child") in lines
    assert ("mass",) not in lines


def test_meshes_are_found_in_packages(tmp_path, monkeypatch):
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    (tmp_path / "ws" / "bad" / "urdf").mkdir(parents=True)
    urdf = tmp_path / "elsewhere.urdf"
    urdf.write_text(URDF)
    stl = tmp_path / "ws" / "bad" / "arm.stl"
    stl.touch()
    assert meshes(urdf)[0].file is None
    assert meshes(urdf, [tmp_path / "ws"])[0].file == stl
    assert meshes(urdf, {"bad": tmp_path / "ws" / "bad"})[0].file == stl
    inside = stl.parent / "urdf" / "bad.urdf"
    inside.write_text(URDF)
    assert meshes(inside)[0].file == stl
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "ws"))
    (mesh,) = meshes(urdf)
    assert mesh.file == stl
    assert (mesh.link, mesh.use, mesh.line) == ("arm", "visual", 9)
    np.testing.assert_array_equal(mesh.scale, np.ones(3))
